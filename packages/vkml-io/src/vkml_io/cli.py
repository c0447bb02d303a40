"""The command `vkml-io`.

Exit codes: 0 sound, 1 findings, 2 wrong usage, 3 the file could not be read.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

from vkml_io.errors import CheckpointError
from vkml_io.summary import report_text, summarise, summary_text
from vkml_io.validation import LEVELS, validate

if TYPE_CHECKING:
    from collections.abc import Sequence

SOUND, FINDINGS, UNDECIDED = 0, 1, 3  # 2 is argparse's own


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        text, code = options.run(options)
    except CheckpointError as error:
        sys.stderr.write(f"{error}\n")
        return FINDINGS
    except OSError as error:
        sys.stderr.write(f"{options.file}: {error.strerror or error}\n")
        return UNDECIDED
    try:
        sys.stdout.write(f"{_writable(text)}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(code)


def _writable(text: str) -> str:
    """Return `text` with escapes for what the terminal or file cannot hold."""
    encoding = sys.stdout.encoding or "utf-8"
    errors = sys.stdout.errors or "strict"
    try:
        text.encode(encoding, errors)
    except UnicodeEncodeError:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text


def _info(options: argparse.Namespace) -> tuple[str, int]:
    summary = summarise(options.file)
    return json.dumps(summary) if options.json else summary_text(summary), SOUND


def _validate(options: argparse.Namespace) -> tuple[str, int]:
    report = validate(
        options.file, level=options.level, max_expansion_ratio=options.max_expansion_ratio
    )
    text = json.dumps(report.to_json()) if options.json else report_text(report)
    return text, SOUND if report.is_sound else FINDINGS


def _ratio(text: str) -> float:
    ratio = float(text)
    if not ratio >= 0:
        raise argparse.ArgumentTypeError(f"{text} limits nothing; give a number of 0 or more")
    return ratio


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vkml-io",
        description="Look at .vkml checkpoints and check them. Nothing in them is executed.",
        epilog="Exit codes: 0 sound, 1 findings, 2 wrong usage, 3 the file could not be read.",
    )
    parser.add_argument("--version", action="version", version=f"vkml-io {version('vkml-io')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    info = commands.add_parser("info", help="list the arrays and the metadata")
    info.set_defaults(run=_info)

    check = commands.add_parser("validate", help="check every byte of the file")
    check.add_argument(
        "--level", choices=LEVELS, default="values", help="how deep (default: %(default)s)"
    )
    check.add_argument(
        "--max-expansion-ratio", type=_ratio, default=100.0, metavar="N",
        help="refuse what unpacks to more than N times the file (default: %(default)s)",
    )  # fmt: skip
    check.set_defaults(run=_validate)

    for command in (info, check):
        command.add_argument("file", metavar="FILE")
        command.add_argument("--json", action="store_true", help="write JSON")
    return parser
