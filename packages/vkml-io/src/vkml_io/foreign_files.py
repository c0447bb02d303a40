"""What a file that is no checkpoint looks like, for the message that refuses it.

Nothing is read but the first bytes, or the directory of the archive.
"""

from __future__ import annotations

from typing import Final

HEAD_BYTES: Final = 64
"""So many bytes at the start of a file are enough."""

_PYTORCH: Final = (
    "This looks like a PyTorch file: read it with torch.load(file, weights_only=True), and write "
    "its state dict with save(path, state_dict)"
)
_PREFIXES: Final = (
    # Pickle, protocol 2, of the number with which PyTorch before 1.6 began its files.
    (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", _PYTORCH),
    *(
        (
            bytes([0x80, protocol]),
            "This looks like a pickle, which can execute code when it is loaded: open it only if "
            "you trust its author, and write its arrays with save(path, arrays)",
        )
        for protocol in (2, 3, 4, 5)
    ),
    (
        b"version https://git-lfs.github.com/spec/",
        "This looks like a Git LFS pointer, which stands for the file: fetch that with "
        "'git lfs pull'",
    ),
    (
        b"\x93NUMPY",
        "This looks like a single .npy array: read it with numpy.load, and write it with "
        "save(path, {'name': array})",
    ),
)
_HTML_STARTS: Final = (b"<!doctype html", b"<html")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_LONGEST_SAFETENSORS_HEADER: Final = 100_000_000  # the format's own limit


def hint_of_head(head: bytes) -> str:
    """Return what a file with these first bytes looks like, as ". " and a sentence, or ""."""
    for prefix, hint in _PREFIXES:
        if head.startswith(prefix):
            return f". {hint}"
    text = head.removeprefix(_BYTE_ORDER_MARK).lstrip().lower()
    if text.startswith(_HTML_STARTS):
        return ". This looks like an HTML page: the address of the download was that of a page"
    header_size = int.from_bytes(head[:8], "little")
    if head[8:9] == b"{" and 0 < header_size <= _LONGEST_SAFETENSORS_HEADER:
        return (
            ". This looks like a safetensors file: read it with "
            "safetensors.numpy.load_file(file), and write the arrays with save(path, arrays)"
        )
    return ""


def hint_of_directory(directory: bytes) -> str:
    """Return what an archive with this directory looks like, as ". " and a sentence, or ""."""
    return f". {_PYTORCH}" if b"/data.pkl" in directory else ""
