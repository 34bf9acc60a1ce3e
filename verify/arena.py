"""python -m verify.arena [--corpus DIR] [--kinds K,K] [--seconds N] COMMAND ...

Runs any checker on a corpus of certificates: valid ones, wrong ones, and files that are none (the kind `frame`).
COMMAND is called with the name of a certificate, and `--data FILE`, `--network FILE` where these belong to it (the
latter is the file of the network, or of given coefficients). Its exit code is its answer: 0 accepted, 1 rejected, 2
declined (it says nothing about such a certificate); anything else, and what takes more than N seconds, is an error.

Exit codes: 0 all answers are right, 1 a wrong certificate or what is none was accepted, 2 none was, but some answers
are missing or a valid certificate was rejected, 64 usage.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "tests" / "verify" / "corpus"
SECONDS = 600
MALFORMED = "frame"  # the kind of what is no certificate, or does not fit its data
ANSWERS = {0: "accepted", 1: "rejected", 2: "declined"}
SIDES = {"valid": "accepted", "wrong": "rejected", "malformed": "rejected"}
Table = dict[tuple[str, str], Counter[str]]


@dataclass(frozen=True)
class Entry:
    """One certificate of the corpus, the files beside it, whether it is to be accepted, and why."""

    kind: str
    right: bool
    certificate: Path
    data: Path | None
    network: Path | None
    why: str

    @property
    def side(self) -> str:
        """Of the table."""
        return "valid" if self.right else "malformed" if self.kind == MALFORMED else "wrong"


def entries(corpus: Path = CORPUS) -> list[Entry]:
    """All of a corpus: a folder with accepted.tsv and rejected.tsv, and the files that these name."""
    found = []
    for folder in ("accepted", "rejected"):
        for line in (corpus / f"{folder}.tsv").read_text().splitlines():
            kind, certificate, *names, why = line.split("\t")
            data, network = (None if name == "-" else corpus / folder / name for name in names)
            found.append(Entry(kind, folder == "accepted", corpus / folder / certificate, data, network, why))
    return found


def answer(command: Sequence[str], entry: Entry, seconds: int) -> str:
    """What the program says: accepted, rejected, declined or error."""
    beside = (("--data", entry.data), ("--network", entry.network))
    given = [part for name, path in beside if path is not None for part in (name, str(path))]
    try:
        ran = subprocess.run(
            [*command, str(entry.certificate), *given], capture_output=True, check=False, timeout=seconds
        )
    except (OSError, subprocess.TimeoutExpired):
        return "error"
    return ANSWERS.get(ran.returncode, "error")


def score(command: Sequence[str], corpus: Iterable[Entry], seconds: int) -> tuple[Table, list[tuple[str, Entry]]]:
    """How often it said what, by side and kind; and every answer that is not right."""
    table: Table = {}
    wrong = []
    for entry in corpus:
        said = answer(command, entry, seconds)
        table.setdefault((entry.side, entry.kind), Counter())[said] += 1
        if said != SIDES[entry.side]:
            wrong.append((said, entry))
    return table, wrong


def told(table: Table, wrong: Iterable[tuple[str, Entry]]) -> list[str]:
    """The table, and a line for each answer that is not right, with the reason why the other one is."""
    columns = (*ANSWERS.values(), "error")
    lines = [f"{'':<9}  {'kind':<16}{''.join(f'{column:>10}' for column in columns)}  right"]
    for side, right in SIDES.items():
        for kind in sorted(kind for one, kind in table if one == side):
            found = table[side, kind]
            counts = "".join(f"{found[column]:>10}" for column in columns)
            lines.append(f"{side:<9}  {kind:<16}{counts}  {found[right]} of {found.total()}")
    for said, entry in wrong:
        lines.append(f"{said}: {entry.certificate.parent.name}/{entry.certificate.name}, {entry.side}: {entry.why}")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Score the command and print the table; the exit code."""
    p = argparse.ArgumentParser(prog="python -m verify.arena", description="Score a checker on a corpus.")
    p.add_argument(
        "--corpus", metavar="DIR", type=Path, default=CORPUS, help="its folder; that of a checkout if not given"
    )
    p.add_argument("--kinds", metavar="K,K", help="these kinds of evidence only, the first column of its tables")
    p.add_argument("--seconds", metavar="N", type=int, default=SECONDS, help="for each certificate")
    p.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER, help="the checker, with its options")
    options = p.parse_args(argv)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    try:
        every = entries(options.corpus)
    except (OSError, ValueError) as error:
        every = []
        print(f"no corpus in {options.corpus}: {error}", file=sys.stderr)
    chosen = [one for one in every if options.kinds is None or one.kind in options.kinds.split(",")]
    if not command or not chosen:
        print(f"{p.format_usage().strip()}: a command, and kinds that the corpus has", file=sys.stderr)
        return 64
    table, wrong = score(command, chosen, options.seconds)
    print("\n".join(told(table, wrong)))
    unsound = any(said == "accepted" for said, _ in wrong)
    return 1 if unsound else 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
