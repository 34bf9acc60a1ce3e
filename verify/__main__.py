"""python -m verify FILE [--data RAW] [--network NET | --solution W] [--expect KEY=VALUE]... [--proved]
[--theorem FILE.v] [--quiet] [-v] [--json] [--max-bytes N] [--max-seconds N] [--max-memory MB]
python -m verify --trusted CLAIM | all

Exit codes: 0 accepted, 1 rejected, 2 declined, 64 usage, 65 the data cannot be read, 70 an error of the checker or of
the system (no child process, no file descriptor), 130 interrupted. The exit code tells even where nobody reads the
output (a closed pipe). An interpreter that cannot start has codes of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any, NoReturn

from verify.certificate import Line
from verify.certificate import read as check
from verify.child import Over, limited
from verify.claims import CLAIMS
from verify.errors import BadData, Declined, Rejected, Usage, VerifyError
from verify.problem.data import number
from verify.problem.input import ACTIVATION, BAGS
from verify.statement import statement
from verify.text import Limits

MAX_SECONDS = 3600
MAX_MEGABYTES = 4096
ERROR, INTERRUPTED = 70, 130
NOTHING = "nothing is said about the certificate"
DATA = (
    *("data", "sha256", "kind", "numbers", "bias", "target", "targets", "labels", "center", "delimiter", "header"),
    *(*BAGS, *ACTIVATION, "n", "d", "rows", "outputs"),
)
NUMBERS = (
    "lambda",
    "delta",
    "decayed",
    *ACTIVATION,
    "gap",
    "lo",
    "hi",
    "jump-lo",
    "jump-hi",
    "network-value",
    "network-gap",
    "solution-extra",
    "solution-gap",
)
GIVEN = ("network", "solution")
UNCOMPARED = ("network-origin", "solution-data", "solution-weights", "solution-extra")
FLAGS = ("bias", "header", "center")
EXPECT = """reject a certificate that states something else: lambda, model, gap, sha256, patterns, claim=NAME,
claim=NAME:REFUTED, and every other key of the statement that --json prints"""
LONGEST = 400  # characters of one value of the statement


class Parser(argparse.ArgumentParser):
    """A parser whose errors are Usage, so that they have their own exit code."""

    def error(self, message: str) -> NoReturn:
        """Called for every wrong command line."""
        raise Usage("command line", self.format_usage().strip(), message)


class Trusted(argparse.Action):
    """--trusted CLAIM: the rules, files and libraries that a verdict on the claim rests on; all: a line for each."""

    def __call__(self, p: argparse.ArgumentParser, space: object, claim: object, option: str | None = None) -> None:
        """Print and exit, as --help does."""
        from verify.trusted import table, told

        if claim not in (*CLAIMS, "all"):
            p.error(f"no claim {claim!r}")
        for line in table() if claim == "all" else told(str(claim)):
            say(line, quiet=False)
        p.exit()


def parser() -> Parser:
    """The command line."""
    p = Parser(prog="python -m verify", description="Check a certificate in exact arithmetic.", allow_abbrev=False)
    p.add_argument("file", metavar="FILE", help="the certificate")
    p.add_argument("--data", metavar="RAW", help="the raw data: hashed, read again and compared, number by number")
    p.add_argument("--network", metavar="NET", help="the network's file, .json or .npz: hashed, its weights compared")
    p.add_argument(
        "--solution", metavar="W", dest="network", help="the file of given coefficients: hashed and compared"
    )
    p.add_argument("--expect", metavar="KEY=VALUE", action="append", default=[], help=EXPECT)
    p.add_argument("--trusted", metavar="CLAIM", action=Trusted, help="print what a verdict rests on (all: a table)")
    p.add_argument("--proved", action="store_true", help="ask the proved checker, too (verify/rocq), for both bounds")
    p.add_argument("--theorem", metavar="FILE.v", help="write a file with which coqc proves them, too")
    p.add_argument("--quiet", action="store_true", help="print nothing; the exit code tells")
    p.add_argument("-v", "--verbose", action="store_true", help="also name the rule behind each accepted line")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    p.add_argument("--max-bytes", metavar="N", type=int, default=Limits.size, help="decline larger files")
    p.add_argument("--max-seconds", metavar="N", type=int, default=MAX_SECONDS, help="decline what takes longer")
    p.add_argument("--max-memory", metavar="MB", type=int, default=MAX_MEGABYTES, help="decline what needs more")
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


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Check what the command line names: the exit code, and what --json prints."""
    limits = replace(Limits(), size=arguments.max_bytes)
    try:
        data = read(arguments.data, limits.size, BadData, BadData) if arguments.data is not None else None
        network = read(arguments.network, limits.size, BadData, BadData) if arguments.network is not None else None
        certificate = read(arguments.file, limits.size, Usage, Declined)
        report = check(certificate, data, limits, network)
        stated = statement(report, data is not None, network is not None)
        for pair in arguments.expect:
            expect(stated, report.lines, *pair.split("=", 1))
        more = machine(arguments, certificate, data, limits)
    except (VerifyError, KeyboardInterrupt) as error:
        return failed(error)
    claims = [asdict(line) for line in report.lines]
    return {"code": 0, "result": "accepted", "statement": stated, "claims": claims} | more


def machine(arguments: argparse.Namespace, certificate: bytes, data: bytes | None, limits: Limits) -> dict[str, str]:
    """What the proved checker says (--proved), and where the theorem was written (--theorem)."""
    found = {}
    if arguments.proved:
        from verify.proved import prove

        found["proved"] = prove(certificate, data, limits).sentence
    if arguments.theorem is not None:
        from verify.proved import theorem

        try:
            Path(arguments.theorem).write_text(theorem(certificate, data, limits))
        except OSError as error:
            raise Usage(arguments.theorem, "a file that can be written", str(error)) from None
        found["theorem"] = f"coqc -Q verify/rocq Relu {arguments.theorem}"
    return found


def expect(stated: dict[str, str], lines: Sequence[Line], key: str, value: str) -> None:
    """Reject unless the certificate states this: a key of its statement, or claim=NAME or claim=NAME:VERDICT."""
    if key == "claim":
        name, _, verdict = value.partition(":")
        found = next((line.verdict for line in lines if line.claim == name), "no such claim")
        value = verdict or "PROVED"
    elif (found := stated.get(key, "")) == "":
        raise Usage("--expect", f"one of the keys claim, {', '.join(stated)}", key)
    if key in NUMBERS and number(value, "decimal", "--expect") == number(found, "decimal", key):
        return
    if found != value:
        raise Rejected(f"--expect {key}", value, found)


def failed(error: VerifyError | KeyboardInterrupt) -> dict[str, Any]:
    """The same where nothing is accepted."""
    if isinstance(error, KeyboardInterrupt):
        return {"code": INTERRUPTED, "result": "interrupted", "claims": [], "told": NOTHING}
    parts = {"place": error.place, "expected": error.expected, "found": error.found}
    return {"code": error.exit_code, "result": error.outcome, "claims": [], "told": str(error), "error": parts}


def within(arguments: argparse.Namespace) -> dict[str, Any]:
    """The same, in a child process of limited time and memory."""
    for name, most in (("max_bytes", 2**32), ("max_seconds", 2**31), ("max_memory", 2**31)):
        if not 0 < getattr(arguments, name) < most:
            raise Usage(f"--{name.replace('_', '-')}", f"a number from 1 to {most}", str(getattr(arguments, name)))
    for pair in arguments.expect:
        if "=" not in pair:
            raise Usage("--expect", "KEY=VALUE", pair)
    try:
        return limited(lambda: run(arguments), arguments.max_seconds, arguments.max_memory << 20)
    except Over as limit:
        raise Declined("file", f"less work than {limit} allows", "more") from None


def told(report: dict[str, Any], quiet: bool, verbose: bool) -> None:
    """The report in words: first what is stated, then what is proved."""
    if "told" in report:
        say(f"{report['result']}  {report['told']}", quiet)
    for name, part in grouped(report.get("statement", {})).items():
        say(f"statement {name}: {'; '.join(part)}", quiet)
    width = max([17, *(len(line["claim"]) for line in report["claims"])])
    for line in report["claims"]:
        under = f" [{line['under']}]" if line["under"] else ""
        say(f"accepted  {line['claim']:<{width}}  {line['verdict']:<9}  {line['proved']}{under}", quiet)
        say(f"          by {line['rule']}", quiet or not verbose)
    if report["result"] == "accepted" and not report["claims"]:
        say("accepted  (no claim)", quiet)
    for key in ("proved", "theorem"):
        if key in report:
            say(f"{key:<9} {report[key]}", quiet)


def grouped(statement: dict[str, str]) -> dict[str, list[str]]:
    """The statement in few lines: the data, the problem, and the network that was given."""
    groups: dict[str, list[str]] = {}
    for key, value in statement.items():
        given = next((one for one in GIVEN if key.startswith(one)), "problem")
        name = "data" if key in DATA else given
        text = ascii(value)[1:-1] if len(value) <= LONGEST else f"{value[:LONGEST]!a}... ({len(value)} characters)"
        text += " (not compared)" * (key in UNCOMPARED)
        flags = {"true": key, "false": f"no {key}"} if key in FLAGS else {}  # a column may have such a name, too
        shown = flags.get(value, f"{key} {text}")
        groups.setdefault(name, []).append(text if key in ("data", *GIVEN, "refuted") else shown)
    return groups


def say(text: str, quiet: bool) -> None:
    """Print a line, unless nobody wants to read, wrapped on a terminal; where the reader has gone, or the disk is full,
    this and all others go nowhere, and the exit code tells what was found."""
    plain = text.encode("ascii", "backslashreplace").decode()
    wide = get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else 0
    if 40 <= wide < len(plain):
        plain = "\n".join(wrap(plain, wide, subsequent_indent=" " * 10, break_on_hyphens=False))
    try:
        if not quiet:
            print(plain, flush=True)
    except OSError as error:
        with suppress(OSError):
            if not isinstance(error, BrokenPipeError):
                print(f"verify: cannot write the report: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code, that of an error for all that nobody expects: 0 and 1 are verdicts."""
    try:
        return answer(argv)
    except Exception:
        with suppress(Exception):
            traceback.print_exc()
        return ERROR


def answer(argv: Sequence[str] | None) -> int:
    """Check what is asked, tell it, and return its exit code."""
    arguments = argparse.Namespace(quiet=False, json=False, verbose=False)
    try:
        arguments = parser().parse_args(argv)
        report = within(arguments)
    except (VerifyError, KeyboardInterrupt) as error:
        report = failed(error)
    code = int(report.pop("code"))
    told(report, arguments.quiet or arguments.json, arguments.verbose)
    if arguments.json:
        say(json.dumps(report), arguments.quiet)
    return code


if __name__ == "__main__":
    sys.exit(main())
