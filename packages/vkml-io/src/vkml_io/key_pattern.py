"""Patterns of keys: `*` stands for characters but `.` and `/`, `**` for any characters."""

from __future__ import annotations

import re

# What a pattern is made of: a character with a backslash before it, stars, any other character.
_PART = re.compile(r"\\(?P<escaped>.)|(?P<deep>\*\*)|(?P<star>\*)|(?P<plain>[^\\*])", re.DOTALL)
_STAR, _DEEP = "[^./]*", ".*"


class KeyPattern:
    """A pattern, which a key fits in time that grows with the square of its length at most.

    Attributes
    ----------
    text : str
        The pattern as it was given.
    exact : str or None
        The one key that fits, if there is no star.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        # The pattern is cut at `**` into blocks, and a block at `*` into literals.
        blocks = [[""]]
        position = 0
        for part in _PART.finditer(text):
            position = part.end()
            if part["deep"]:
                blocks.append([""])
            elif part["star"]:
                blocks[-1].append("")
            else:
                blocks[-1][-1] += part["escaped"] or part["plain"]
        if position != len(text):
            raise ValueError("a backslash at the end of a pattern escapes nothing")
        self.exact = blocks[0][0] if blocks == [[blocks[0][0]]] else None
        self._regex = re.compile(_regex(blocks), re.DOTALL)

    def fits(self, key: str) -> bool:
        """Return whether `key` fits the pattern."""
        return self._regex.fullmatch(key) is not None


def _regex(blocks: list[list[str]]) -> str:
    """Return the regular expression for blocks of literals.

    Of a literal between stars the first place that fits is as good as any later one, and of a
    block before ``**`` too: atomic groups keep the search from trying the others.
    """
    regex = ""
    for number, (first, *others) in enumerate(blocks):
        start = re.escape(first) if number == 0 else f"{_DEEP}?{re.escape(first)}"
        atoms = [f"(?>{_STAR}?{re.escape(literal)})" for literal in others]
        if number < len(blocks) - 1:
            regex += f"(?>{start}{''.join(atoms)})"
        else:  # the last literal stands at the end of the key, and not at its first place
            end = f"{_STAR}{re.escape(others[-1])}" if others else ""
            regex += start + "".join(atoms[:-1]) + end
    return regex
