"""The command `vkml-io`.

Exit codes: 0 sound or equal, 1 findings or differences, 2 wrong usage, 3 it could not be decided.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

from vkml_io.difference import diff
from vkml_io.digest import digest
from vkml_io.errors import CheckpointError
from vkml_io.progress_bar import ProgressBar
from vkml_io.report import LEVELS
from vkml_io.schema import SchemaError
from vkml_io.summary import difference_text, report_text, summarise, summary_text
from vkml_io.validation import validate

if TYPE_CHECKING:
    from collections.abc import Sequence

SOUND, FINDINGS, USAGE, UNDECIDED = 0, 1, 2, 3  # 2 is argparse's own too


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        text, code = options.run(options)
    except CheckpointError as error:
        _complain(str(error))
        return int(options.damaged)
    except SchemaError as error:
        _complain(f"the schema does not follow its grammar: {error}")
        return USAGE
    except OSError as error:
        _complain(f"{error.filename or options.file}: {error.strerror or error}")
        return UNDECIDED
    try:
        sys.stdout.write(f"{_writable(text)}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(code)


def _complain(text: str) -> None:
    sys.stderr.write(f"{text}\n")


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
    with ProgressBar(sys.stderr) as bar:
        report = validate(
            options.file,
            level=options.level,
            schema=options.schema,
            max_expansion_ratio=options.max_expansion_ratio,
            progress=bar,
        )
    if options.sarif:
        text = json.dumps(report.to_sarif())
    else:
        text = json.dumps(report.to_json()) if options.json else report_text(report)
    return text, SOUND if report.is_sound else FINDINGS


def _digest(options: argparse.Namespace) -> tuple[str, int]:
    with ProgressBar(sys.stderr) as bar:
        found = digest(options.file, max_expansion_ratio=options.max_expansion_ratio, progress=bar)
    if options.json:
        return json.dumps({"path": options.file, "digest": found}), SOUND
    return f"{found}  {options.file}", SOUND


def _diff(options: argparse.Namespace) -> tuple[str, int]:
    with ProgressBar(sys.stderr) as bar:
        found = diff(
            options.file,
            options.second,
            max_expansion_ratio=options.max_expansion_ratio,
            progress=bar,
        )
    if options.json:
        text = json.dumps(found.to_json())
    else:
        text = difference_text(found, options.file, options.second)
    return text, SOUND if found.is_empty else FINDINGS


def _ratio(text: str) -> float:
    ratio = float(text)
    if not ratio >= 0:
        raise argparse.ArgumentTypeError(f"{text} limits nothing; give a number of 0 or more")
    return ratio


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vkml-io",
        description="Look at .vkml checkpoints and check them. Nothing in them is executed.",
        epilog="Exit codes: 0 sound or equal, 1 findings or differences, 2 wrong usage, "
        "3 it could not be decided, for example since a file could not be read.",
    )
    parser.add_argument("--version", action="version", version=f"vkml-io {version('vkml-io')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    info = commands.add_parser("info", help="list the arrays and the metadata")
    info.set_defaults(run=_info, damaged=FINDINGS)

    check = commands.add_parser("validate", help="check every byte of the file")
    check.add_argument(
        "--level", choices=LEVELS, default="values", help="how deep (default: %(default)s)"
    )
    check.add_argument(
        "--schema", metavar="SCHEMA", help="a JSON file: the keys, dtypes and shapes to expect"
    )
    check.set_defaults(run=_validate, damaged=FINDINGS)

    hashed = commands.add_parser("digest", help="write the SHA-256 of the arrays' content")
    hashed.set_defaults(run=_digest, damaged=FINDINGS)

    compare = commands.add_parser("diff", help="say what differs between two files")
    # Of a damaged file nobody can say whether it differs.
    compare.set_defaults(run=_diff, damaged=UNDECIDED)

    for command in (info, check, hashed, compare):
        command.add_argument("file", metavar="FILE")
        form = command.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="write JSON")
        if command is check:
            form.add_argument("--sarif", action="store_true", help="write SARIF 2.1.0")
        if command is not info:
            command.add_argument(
                "--max-expansion-ratio", type=_ratio, default=100.0, metavar="N",
                help="refuse what unpacks to more than N times the file (default: %(default)s)",
            )  # fmt: skip
    compare.add_argument("second", metavar="SECOND")
    return parser
