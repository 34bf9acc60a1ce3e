"""Scores a checker on the corpus of files: python -m tests.verify.score [--kinds K,K] [--proved] [-- COMMAND ...]

COMMAND, or without one the checker of this repository, is scored by `verify.arena`. With --proved it is the checker
that is itself proved (verify/rocq), beside the one in Python: it speaks of the bounds alone, and of covers, leaders
and lists of pieces only, and the exit code is 0 iff they agree.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import verify
from verify import Declined, Rejected, arena, proved
from verify.arena import CORPUS, Entry, entries
from verify.text import Limits, load

__all__ = [
    "CORPUS",
    "Checker",
    "Entry",
    "beside",
    "entries",
    "judged",
    "main",
    "one_line",
    "print_beside",
    "score",
    "second",
]
Checker = Callable[["Entry"], bool]
READ = (
    "problem",
    "input",
    "facts.primal",
    "facts.cover",
    "facts.leaders",
    "facts.dual",
)  # what the proved checker looks at
ROUNDED = Fraction(1, 1 << 200)  # it rounds the network to 300 bits, and logarithms to 240
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
    "facts.primal.neurons.0.v=0 0": "a neuron without outputs adds nothing",
    "facts.primal.neurons.0.norm=-2": "norms of several outputs are not read",
    "facts.primal.neurons.0.norm=1999999999/1000000000": "norms of several outputs are not read",
    "a theta of zeros": "a piece that is there twice is there",
    "a free column that is left out is noticed by its keys": "coefficients of no column are not read",
}


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
    lower = Fraction(value["lower"])
    return lower - abs(lower) * ROUNDED <= found.lower and found.upper <= Fraction(value["upper"]) * (1 + ROUNDED)


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
    """Score the command, by `verify.arena`, or the proved checker beside the one in Python."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.score", description="Score a checker.")
    parser.add_argument("--kinds", help="these kinds of evidence only, with commas between them")
    parser.add_argument("--proved", action="store_true", help="the proved checker, beside the one in Python")
    parser.add_argument("command", nargs="*", default=[sys.executable, "-m", "verify", "--quiet"])
    options = parser.parse_args(argv)
    chosen = [] if options.kinds is None else ["--kinds", options.kinds]
    if not options.proved:
        return arena.main([*chosen, *options.command])
    return int(bool(print_beside(one for one in entries() if not chosen or one.kind in options.kinds.split(","))))


if __name__ == "__main__":
    sys.exit(main())
