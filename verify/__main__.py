"""python -m verify FILE [--data RAW] [--network NET] [--quiet] [--json] [--max-bytes N] [--max-seconds N]

Exit codes: 0 accepted, 1 rejected, 2 declined, 64 usage, 65 the data cannot be read, 130 interrupted. The exit code
tells even where nobody reads the output (a closed pipe).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import NoReturn

from verify import BadData, Declined, Limits, Line, Usage, VerifyError, check
from verify.refutations.statements import REFUTABLE

MAX_SECONDS = 3600
INTERRUPTED = 130


class TooLong(Exception):
    """The time is over. Not a VerifyError: nobody but `main` may catch it."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are Usage, so that they have their own exit code."""

    def error(self, message: str) -> NoReturn:
        """Called for every wrong command line."""
        raise Usage("command line", self.format_usage().strip(), message)


def parser() -> Parser:
    """The command line."""
    p = Parser(prog="python -m verify", description="Check a certificate in exact arithmetic.", allow_abbrev=False)
    p.add_argument("file", metavar="FILE", help="the certificate")
    p.add_argument("--data", metavar="RAW", help="the raw data: hashed, read again and compared, number by number")
    p.add_argument("--network", metavar="NET", help="the network's file: hashed, and its weights compared")
    p.add_argument("--quiet", action="store_true", help="print nothing; the exit code tells")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    p.add_argument("--max-bytes", metavar="N", type=int, default=Limits.size, help="decline larger files")
    p.add_argument("--max-seconds", metavar="N", type=int, default=MAX_SECONDS, help="decline what takes longer")
    return p


def read(path: str, limit: int, missing: type[VerifyError], large: type[VerifyError]) -> bytes:
    """The bytes of a file, at most `limit` of them."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise missing(path, "a file that can be read", str(error)) from None
    if len(raw) > limit:
        raise large(path, f"at most {limit} bytes", "more")
    return raw


def run(arguments: argparse.Namespace) -> list[Line]:
    """Check what the command line names."""
    if not 0 <= arguments.max_bytes < 2**32:
        raise Usage("--max-bytes", "a number of bytes below 2^32", str(arguments.max_bytes))
    if not 0 < arguments.max_seconds < 2**31:
        raise Usage("--max-seconds", "a number of seconds from 1 to 2^31", str(arguments.max_seconds))
    limits = replace(Limits(), size=arguments.max_bytes)
    with at_most(arguments.max_seconds):
        data = read(arguments.data, limits.size, BadData, BadData) if arguments.data is not None else None
        network = read(arguments.network, limits.size, BadData, BadData) if arguments.network is not None else None
        return check(read(arguments.file, limits.size, Usage, Declined), data, limits, network)


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Decline what takes longer (where the system has an alarm clock): small files can ask for years of arithmetic."""

    def over(*_: object) -> NoReturn:
        raise TooLong

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def say(text: str, arguments: argparse.Namespace | None) -> None:
    """A line for a reader, unless --quiet; on a terminal it is wrapped, and what follows is indented."""
    if arguments is None or not (arguments.quiet or arguments.json):
        plain = text.encode("ascii", "backslashreplace").decode()
        wide = get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else 0
        if 40 <= wide < len(plain):
            plain = "\n".join(wrap(plain, wide, subsequent_indent=" " * 10, break_on_hyphens=False))
        put(plain)


def put(text: str) -> None:
    """Print a line; where the reader has gone, this and all others go nowhere."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = None
    report: dict[str, object]
    try:
        arguments = parser().parse_args(argv)
        lines = run(arguments)
    except KeyboardInterrupt:
        code, report = INTERRUPTED, {"result": "interrupted", "claims": []}
        say("interrupted  nothing is said about the certificate", arguments)
    except (MemoryError, TooLong) as error:
        code, report = Declined.exit_code, {"result": Declined.outcome, "claims": []}
        what = "time (--max-seconds)" if isinstance(error, TooLong) else "memory"
        say(f"declined  file: expected less work than {what} allows, found more", arguments)
    except VerifyError as error:
        code, report = error.exit_code, {"result": error.outcome, "claims": []}
        report["error"] = {"place": error.place, "expected": error.expected, "found": error.found}
        say(f"{error.outcome}  {error}", arguments)
    else:
        code, report = 0, {"result": "accepted", "claims": [asdict(line) for line in lines]}
        width = max([17, *(len(line.claim) for line in lines)])
        for line in lines:
            say(f"accepted  {line.claim:<{width}}  {line.verdict:<9}  {line.proved}", arguments)
        if not lines:
            say("accepted  (no claim)", arguments)
        if arguments.data is None and not any(line.claim in REFUTABLE for line in lines):
            say(
                "note      Z and y are the certificate's own; --data RAW compares them with the raw data",
                arguments,
            )
    if arguments is not None and arguments.json and not arguments.quiet:
        put(json.dumps(report))
    return code


if __name__ == "__main__":
    sys.exit(main())
