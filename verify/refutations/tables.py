"""The sentences about the paper's tables, against the tables: counts, and accuracies k/m rounded to two digits."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from pathlib import Path

from verify.refutations.core import require
from verify.text import Node

# tables.tsv: a set; whether table:tuning-small has it, too, with the same Max Diff.; of table:tuning-full the points in
# the data file, Max Diff., and the entries Min L2, EP, V-MSE, T-MSE as median lower upper.
FULL = tuple(line.split("\t") for line in Path(__file__).with_suffix(".tsv").read_text().splitlines())
CLAIMED = {"at least 10 points": "9", "more than 20 points": "4", "no variation": "tic-tac-toe", "test share": "0"}


def impossible(points: int, entries: str) -> bool:
    """No test set of 20 % of the points, rounded down or up, has a share k/m that rounds to each of the entries."""
    half = Fraction(1, 200)
    for m in (floor(Fraction(points, 5)), ceil(Fraction(points, 5))):
        if all(ceil((Fraction(e) - half) * m) <= (Fraction(e) + half) * m for e in entries.split()):
            return False
    return True


def counted(sentence: str) -> str:
    """What the tables say in the place of the sentence."""
    differences = [Fraction(most) for _, small, _, most, _ in FULL if small == "small"]
    if sentence == "at least 10 points":
        return str(sum(d >= Fraction(1, 10) for d in differences))
    if sentence == "more than 20 points":
        return str(sum(d > Fraction(1, 5) for d in differences))
    if sentence == "no variation":
        return " ".join(name for name, _, _, most, _ in FULL if not Fraction(most))
    return str(sum(impossible(int(points), entries) for _, _, points, _, entries in FULL))


def sentences(node: Node) -> str:
    """One sentence: the tables give another number, or another name."""
    fields = node.record("sentence", "tables")
    sentence = fields["sentence"].text(*CLAIMED)
    found = counted(sentence)
    right = fields["tables"].text() == found != CLAIMED[sentence]
    require(right, fields["tables"], "what the tables say, other than claimed")
    what = "sets with entries that 20 % test points cannot give" if sentence == "test share" else sentence
    return f"{what}: claimed {CLAIMED[sentence]}, the tables say {found}"
