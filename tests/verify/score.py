"""Scores a checker on the corpus of files: python -m tests.verify.score [--kinds K,K] [--proved] [-- COMMAND ...]

COMMAND is called with a certificate, and `--data FILE`, `--network FILE` where these belong to it; it accepts iff it
exits with 0. Without COMMAND, the checker of this repository is scored, and with --proved the one that is itself proved
(verify/rocq), beside it: it speaks of the bounds alone, and of covers and leaders only. Exit code 0 iff all is right.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import verify
from verify import Declined, Rejected, proved
from verify.text import Limits, load

CORPUS = Path(__file__).with_name("corpus")
Checker = Callable[["Entry"], bool]
READ = ("problem", "input", "facts.primal", "facts.cover", "facts.leaders")  # what the proved checker looks at
ROUNDED = Fraction(1, 1 << 200)  # it rounds the network to 300 bits
SAID = {
    "right": ("accepted", "declined", "rejected"),
    "wrong": ("rejected", "declined", "elsewhere", "form", "accepted"),
}
# Rejected for its form, or for what only other claims need; the bounds hold, and the proved checker accepts them.
LIMITS = {
    "a ray that its lines do not fix": "a face that no leaf names is not looked at",
    "no atoms": "without atoms the point of the zonotope is 0, which is one of its points",
    "a ray leaf of which too little is left for the margin": "the margin is for the set of solutions only",
    "a cover and a dual point of the list": "the second proof of a dual point is not read",
    "leaders and a dual point of the list": "the second proof of a dual point is not read",
    "a margin that is no index": "the margin is for the set of solutions only",
    "many ties": "a limit on the size of the text",
    "the second of equal rows has a slope": "each row has its own slope, and this one is 0",
    "the second of equal rows leads": "each row has its own leader",
    "a leader of itself": "its own weight is paid for like any other",
    "an unknown part": "what is not known is not read",
}


@dataclass(frozen=True)
class Entry:
    """One certificate of the corpus."""

    kind: str
    right: bool
    certificate: Path
    data: Path | None
    network: Path | None
    why: str


def entries() -> list[Entry]:
    """All of the corpus."""
    found = []
    for folder in ("accepted", "rejected"):
        for line in (CORPUS / f"{folder}.tsv").read_text().splitlines():
            kind, *names, why = line.split("\t")
            files = [None if name == "-" else CORPUS / folder / name for name in names]
            certificate, data, network = files
            if certificate is None:
                raise ValueError(f"{folder}: a line without a certificate")
            found.append(Entry(kind, folder == "accepted", certificate, data, network, why))
    return found


def judged(certificate: bytes, data: bytes | None, network: bytes | None) -> tuple[bool, str]:
    """Whether the checker of this repository accepts, and its words, in one line: all that is proved, or what is wrong.
    What it declines is an error."""
    try:
        found = verify.check(certificate, data, network=network)
    except Rejected as error:
        return False, one_line(str(error))
    said = [f"{line.claim} {line.verdict}: {line.proved}{f' [{line.under}]' * bool(line.under)}" for line in found]
    return True, one_line("; ".join(said))


def one_line(text: str) -> str:
    """Without line ends, in ASCII."""
    return " ".join(text.split()).encode("ascii", "replace").decode()


def score(checker: Checker, corpus: Iterable[Entry]) -> dict[str, tuple[int, int, int, int]]:
    """For each kind: accepted and to be accepted, rejected and to be rejected."""
    table: dict[str, tuple[int, int, int, int]] = {}
    for entry in corpus:
        a, b, c, d = table.get(entry.kind, (0, 0, 0, 0))
        good = checker(entry) == entry.right
        table[entry.kind] = (a + good, b + 1, c, d) if entry.right else (a, b, c + good, d + 1)
    return table


def command(words: Sequence[str]) -> Checker:
    """A program as a checker."""

    def accepts(entry: Entry) -> bool:
        beside = (("--data", entry.data), ("--network", entry.network))
        given = [part for name, path in beside if path is not None for part in (name, str(path))]
        ran = subprocess.run([*words, str(entry.certificate), *given], capture_output=True, check=False)
        return ran.returncode == 0

    return accepts


def second(entry: Entry) -> str:
    """What the proved checker says: `accepted`, `rejected`, or `declined` (`elsewhere`: what is wrong is in no part of
    the certificate that it looks at; `form`: it is one of LIMITS)."""
    text = entry.certificate.read_bytes()
    try:
        found = proved.prove(text, None if entry.data is None else entry.data.read_bytes())
    except Declined:
        return "declined"
    except Rejected:
        return "rejected"
    place = re.search(r": (?:certificate\.)?([^:]*): expected", entry.why)
    if entry.right or place is None:
        return "accepted" if within(found, load(text, Limits()).value["facts"]["value"]) else "rejected"
    reason = entry.why.partition(": certificate")[0]
    part = next((part for part in READ if re.match(rf"{part}\b(?!_)", place[1])), None)
    return "elsewhere" if part is None else "form" if reason in LIMITS else "accepted"


def within(found: proved.Bounds, value: dict[str, Any]) -> bool:
    """Whether the proved bounds are no wider than those that are stated, but for what is rounded."""
    return Fraction(value["lower"]) <= found.lower and found.upper <= Fraction(value["upper"]) * (1 + ROUNDED)


def beside(corpus: Iterable[Entry]) -> tuple[dict[str, Counter[str]], list[Entry]]:
    """For each kind what the proved checker says to the right ones and the wrong ones; and where it disagrees."""
    table: dict[str, Counter[str]] = {}
    wrong = []
    for entry in corpus:
        said = second(entry)
        table.setdefault(entry.kind, Counter())[f"{'right' if entry.right else 'wrong'} {said}"] += 1
        if said == ("rejected" if entry.right else "accepted"):
            wrong.append(entry)
    return table, wrong


def print_beside(corpus: Iterable[Entry]) -> int:
    """The table; the number of disagreements."""
    table, wrong = beside(corpus)
    for kind, found in sorted(table.items()):
        parts = []
        for side, said_of in SAID.items():
            counts = ", ".join(f"{found[f'{side} {said}']:>3} {said}" for said in said_of)
            parts.append(f"{side}: {counts}")
        print(f"{kind:<16} {'; '.join(parts)}")
    for entry in wrong:
        print(f"disagrees: {entry.certificate.relative_to(CORPUS)}: {entry.why}")
    return len(wrong)


def main(argv: Sequence[str] | None = None) -> int:
    """Score the command, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.score", description="Score a checker.")
    parser.add_argument("--kinds", help="these kinds of evidence only, with commas between them")
    parser.add_argument("command", nargs="*", default=[sys.executable, "-m", "verify", "--quiet"])
    parser.add_argument("--proved", action="store_true", help="the proved checker, beside the one in Python")
    options = parser.parse_args(argv)
    kinds = None if options.kinds is None else options.kinds.split(",")
    chosen = [entry for entry in entries() if kinds is None or entry.kind in kinds]
    table = score(command(options.command), chosen)
    for kind, (a, b, c, d) in sorted(table.items()):
        print(f"{kind:<14} accepted {a:>3} of {b:>3}, rejected {c:>3} of {d:>3}")
    wrong = print_beside(chosen) if options.proved else 0
    return int(wrong or any(a < b or c < d for a, b, c, d in table.values()))


if __name__ == "__main__":
    sys.exit(main())
