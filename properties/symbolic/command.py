"""python -m properties check CERT [--data FILE]: every verdict of a certificate, judged by the paper's definitions.

Exit codes as those of `verify`: 0 no verdict is contradicted, and some are confirmed; 1 one is contradicted, or the
data are others; 2 nothing could be judged (another version, too large); 64 usage; 65 the data cannot be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from properties.symbolic.data import compare
from properties.symbolic.judge import Judged, Status, judge
from properties.symbolic.reader import MOST_WORK, OtherDataError, UnreadableError, read_certificate

CONTRADICTED, NOTHING, USAGE, DATA = 1, 2, 64, 65


class _UsageError(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise _UsageError(f"{message}. Try: python -m properties check --help")


def parser() -> argparse.ArgumentParser:
    """The options of `check`."""
    made = _Parser(
        prog="python -m properties check",
        description="Judge the verdicts of a certificate by the paper's definitions, in sympy alone.",
    )
    made.add_argument("certificate", metavar="CERT", help="a certificate (verify/FORMAT.md)")
    made.add_argument("--data", metavar="FILE", help="the raw data, to be compared with the certificate's problem")
    made.add_argument(
        "--most",
        type=int,
        default=MOST_WORK,
        metavar="N",
        help="systems of equations that are tried (default %(default)s)",
    )
    made.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    return made


def main(argv: Sequence[str]) -> int:
    """Run the command; the exit code."""
    try:
        options = parser().parse_args(list(argv))
        text = _read(options.certificate, USAGE)
        raw = None if options.data is None else _read(options.data, DATA)
    except _UsageError as error:
        print(f"properties: {error}", file=sys.stderr)
        return USAGE
    except _UnreadableFileError as error:
        print(f"properties: {error}", file=sys.stderr)
        return error.code
    try:
        certificate = read_certificate(text)
        if raw is not None:
            compare(certificate, raw)
        found = judge(certificate, options.most)
    except UnreadableError as error:
        print(f"properties: declined: {error}", file=sys.stderr)
        return NOTHING
    except OtherDataError as error:
        print(f"properties: contradicted: {error}", file=sys.stderr)
        return CONTRADICTED
    except (KeyError, ValueError, TypeError, IndexError, ZeroDivisionError) as error:
        print(f"properties: contradicted: the certificate does not fit its form ({error!r})", file=sys.stderr)
        return CONTRADICTED
    print(json.dumps(as_json(found), indent=1) if options.json else as_text(found))
    return exit_code(found)


def exit_code(found: Sequence[Judged]) -> int:
    """0, 1 or 2"""
    statuses = {one.status for one in found}
    if Status.CONTRADICTED in statuses:
        return CONTRADICTED
    return 0 if Status.CONFIRMED in statuses else NOTHING


def as_json(found: Sequence[Judged]) -> dict[str, object]:
    """One object: a list of judgements."""
    listed = [{"claim": j.claim, "verdict": j.verdict, "status": j.status.value, "why": j.why} for j in found]
    return {"format": "relu_cert judgement", "version": 1, "verdicts": listed}


def as_text(found: Sequence[Judged]) -> str:
    """A line for each verdict, and a count."""
    lines = [f"{one.claim:<24}{one.verdict:<11}{one.status.value:<14}{one.why}" for one in found]
    counts = Counter(one.status for one in found)
    said = ", ".join(f"{counts[status]} {status.value}" for status in Status)
    return "\n".join([*lines, "", f"{len(found)} verdicts: {said}"])


class _UnreadableFileError(Exception):
    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def _read(name: str, code: int) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise _UnreadableFileError(f"{name} cannot be read ({error.strerror})", code) from error
