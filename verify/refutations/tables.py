"""The sentences about the paper's tables, against the tables: counts, and accuracies k/m rounded to two digits."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from verify.text import Node

# A set; whether table:tuning-small has it, too, with the same Max Diff.; of table:tuning-full the points in
# the data file, Max Diff., and the entries Min L2, EP, V-MSE, T-MSE as median lower upper.
TABLE = """\
blood|-|748|0.1|0.72 0.72 0.74 0.72 0.72 0.74 0.62 0.61 0.62 0.7 0.68 0.71
breast-cancer|-|286|0.1|0.64 0.61 0.65 0.64 0.61 0.65 0.61 0.6 0.64 0.71 0.66 0.71
fertility|small|100|0.05|0.66 0.62 0.7 0.69 0.62 0.69 0.65 0.64 0.7 0.64 0.57 0.64
heart-hungarian|small|294|0.14|0.75 0.7 0.77 0.75 0.7 0.77 0.71 0.56 0.72 0.85 0.82 0.86
hepatitis|-|155|0.05|0.75 0.74 0.78 0.75 0.74 0.78 0.73 0.69 0.75 0.77 0.77 0.9
hill-valley|-|606|0.0|0.64 0.64 0.65 0.65 0.64 0.65 0.64 0.64 0.67 0.64 0.64 0.65
mammographic|small|961|0.21|0.77 0.77 0.77 0.77 0.77 0.77 0.57 0.56 0.62 0.78 0.78 0.8
monks-1|small|124|0.17|0.67 0.64 0.71 0.66 0.64 0.71 0.49 0.48 0.51 0.57 0.51 0.61
planning|small|182|0.17|0.53 0.51 0.61 0.52 0.51 0.61 0.53 0.52 0.53 0.7 0.68 0.74
spectf|small|80|0.08|0.64 0.62 0.7 0.64 0.62 0.7 0.56 0.53 0.56 0.58 0.56 0.66
horse-colic|small|300|0.26|0.75 0.75 0.76 0.59 0.57 0.61 0.74 0.73 0.75 0.85 0.85 0.85
ilpd-indian-liver|small|583|0.19|0.59 0.57 0.6 0.59 0.57 0.6 0.53 0.53 0.57 0.72 0.7 0.73
parkinsons|small|195|0.23|0.74 0.72 0.74 0.74 0.72 0.74 0.65 0.65 0.74 0.88 0.86 0.9
pima|small|768|0.2|0.68 0.66 0.68 0.68 0.66 0.68 0.68 0.64 0.7 0.87 0.86 0.88
tic-tac-toe|-|958|0.24|0.98 0.98 0.98 0.76 0.69 0.8 0.98 0.98 0.99 1.0 1.0 1.0
statlog-heart|-|270|0.14|0.71 0.7 0.73 0.71 0.7 0.73 0.7 0.67 0.73 0.84 0.83 0.86
ionosphere|-|351|0.12|0.85 0.83 0.86 0.76 0.73 0.76 0.84 0.84 0.84 0.88 0.88 0.89"""
FULL = tuple(line.split("|") for line in TABLE.splitlines())
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
    fields["tables"].require(right, "what the tables say, other than claimed")
    what = "sets with entries that 20 % test points cannot give" if sentence == "test share" else sentence
    return f"{what}: claimed {CLAIMED[sentence]}, the tables say {found}"
