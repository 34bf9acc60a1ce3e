"""The cover proves what the list of patterns proves: no verdict is turned round, the intervals of p* meet, the neurons
are as many. Data of every kind that made trouble, and some at random."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from properties.soundness.carry import Pair, clash
from properties.soundness.case import Answer, NetworkCase, ask, objection
from relu_cert.certificate import dumps
from relu_cert.cover import build, setting
from relu_cert.evidence import Cover, Leaders
from relu_cert.prove.facts import BallSet, PieceMultipliers
from tests.marks import long_where
from verify import VerifyError, check

Rows = list[list[int | str]]
PLANE = [(1, 0), (0, 1), (1, 1), (1, -1), (2, 1), (1, 2), (2, -1), (-1, 2), (3, 1), (1, 3), (3, -2)]
CASES: dict[str, tuple[Rows, list[int | str], str]] = {
    "one row": ([[2, -1]], [3], "1/2"),
    "one row, one column": ([[1]], [2], "1/3"),
    "one column": ([[1], [-2], [3], [-1]], [1, 2, -1, 3], "1/2"),
    "zero rows": ([[0, 0], [1, 2], [-1, 1], [0, 0]], [1, 2, -3, 4], "1/2"),
    "rank 1 in three columns": ([[1, 2, 3], [-2, -4, -6], [2, 4, 6]], [1, 2, -1], "1/2"),
    "rank 2 in three columns": ([[1, 0, 1], [0, 1, 1], [1, 1, 2], [1, -1, 0]], [2, -1, 3, 1], "1/2"),
    "fewer rows than columns": ([[1, 2, 0], [0, 1, -1]], [2, -3], "1/3"),
    "duplicate rows, other labels": ([[1, 2], [1, 2], [2, -1], [2, -1], [1, 2]], [1, -2, 3, 3, 4], "1/2"),
    "antipodal rows": ([[1, 2], [-1, -2], [3, -1], [-6, 2], [0, 1]], [1, 2, -1, 3, 2], "1/2"),
    "a box": ([[3, 0], [-3, 0], [0, 4], [0, -4]], [19, 19, 33, 33], "5"),
    "xor": ([[-1, -1], [-1, 1], [1, -1], [1, 1]], [-1, 1, 1, -1], "1/10"),
    "xor with a bias": ([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], [0, 1, 1, 0], "1/20"),
    "a cube": ([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], [1, 0, 0, 1, 0, 1, 1, 0], "1/4"),
    "a theta that is 0": ([[1, 0], [0, 1], [-1, -1]], [3, 4, 0], "1"),
    "targets 0": ([[1, 2], [3, -1], [-1, 1]], [0, 0, 0], "1"),
    "targets that cancel": ([[1, 2], [1, 2], [0, 0]], [3, -3, 1], "1"),
    "needles": ([["1", "1/100000"], ["1", "-1/100000"], ["-1", "1/99999"], ["1", "0"]], [1, 2, 3, -2], "1/2"),
    "rows nearly in a plane": (
        [[1, 0, "1/10000000"], [0, 1, "-1/10000000"], [1, 1, "1/9999999"], [-1, 1, 0], [2, -1, "1/8888888"]],
        [1, -2, 3, 2, -1],
        "1/2",
    ),
    "long entries": ([[2**100 + 1, 2**99], [-(2**100), 3], [2**99 - 5, 2**100]], [1, 2, -1], str(2**97)),
    "a line that loses its weight in a lift": (
        [["1/2", 1, 1], [-1, "1/2", 0], [0, 0, 0], [1, 0, "-1/2"]],
        ["13/2", -1, 0, 0],
        "3",
    ),
    "a tie on a plane": (  # seven convex lines and four concave ones through it
        [[1, 0, 0, 0], [0, 1, 0, 0], *([0, 0, a, b] for a, b in PLANE), *([0, 0, -a, -b] for a, b in PLANE[:4])],
        ["16/3", 4, *["-1/2"] * 4, *["1/16"] * 7, *["-1/2"] * 4],
        "5",
    ),
    "a tie on a plane, under a concave line": (
        [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], *([0, 0, a, b] for a, b in PLANE)]
        + [[0, 0, -a, -b] for a, b in PLANE[:4]],
        ["67/12", "17/4", "25/12", *["-1/2"] * 4, *["1/16"] * 7, *["-1/2"] * 4],
        "5",
    ),
    "a plane whose pattern ends at a generator": (  # a row is zero at (1, 1, 0, 0), where a bisection puts one
        [[1, 0, 0, 0], [0, 1, 0, 0], [1, -1, 0, 0], *([0, 0, a, b] for a, b in PLANE)]
        + [[0, 0, -a, -b] for a, b in PLANE[:4]],
        ["16/3", "16/3", "1/100", *["-1/2"] * 4, *["1/16"] * 7, *["-1/2"] * 4],
        "5",
    ),
    "antipodal neurons": ([[9, -7], [-1, -6], [6, 5], [6, 3], [-3, -6], [6, -9]], [3, 4, -9, 5, -1, -2], "3"),
    "a row a hair beyond its line": ([[-1, "5/3", 5], ["1/2", 0, 0], ["-1/2", "-2/3", "1/2"]], [26, 0, -2], "5"),
    "rows a hair beyond their lines": ([[1, -2], [-1, 2], [-1, 0], [1, 0], [3, 2], [-3, -2]], [4, 5, -3, 1, 4, 5], "2"),
    "twin ties": (
        [[0, -2], [0, -1], [-3, 2], [3, 0], [-1, 3], [-1, -1], [0, 0]],
        [-1, 1, -4, -3, 0, 1, 2],
        "1421267/2000000",
    ),
}


def case_of(name: str) -> NetworkCase:
    """One of CASES."""
    rows, targets, lam = CASES[name]
    return NetworkCase(
        "relu", tuple(tuple(map(Fraction, z)) for z in rows), tuple(map(Fraction, targets)), Fraction(lam)
    )


def drawn(seed: int) -> NetworkCase:
    """Small data at random, of several kinds, at a lambda that is not far from the targets."""
    random = Random(seed)
    n, d = random.randint(1, 8), random.randint(1, 3)
    size = random.choice((1, 3, 999))
    rows = [[Fraction(random.randint(-size, size), max(size // 9, 1)) for _ in range(d)] for _ in range(n)]
    rows += [list(random.choice(rows)) for _ in range(random.randint(0, 2))]
    rows += [[-2 * x for x in random.choice(rows)] for _ in range(random.randint(0, 1))]
    y = tuple(Fraction(random.choice((0, 1, random.randint(-5, 5)))) for _ in rows)
    return NetworkCase("relu", tuple(map(tuple, rows)), y, Fraction(random.randint(1, 30), random.choice((1, 10))))


def both(case: NetworkCase) -> tuple[Answer, Answer]:
    """The answers by the list and by the cover, after the checker has accepted that by the cover."""
    listed, covered = ask(case, by_list=True), ask(replace(case, cover=True))
    assert objection(covered) == ""
    assert isinstance(listed.facts.dual.multipliers, PieceMultipliers)
    assert not case.seen or isinstance(covered.facts.dual.multipliers, Cover | Leaders)
    return listed, covered


def disagreement(case: NetworkCase) -> str:
    """What the two say against each other."""
    listed, covered = both(case)
    if isinstance(listed.facts.optimal_set, BallSet) and isinstance(covered.facts.optimal_set, BallSet):
        ours, theirs = (
            {(one.sign, one.pattern) for one in answer.facts.optimal_set.classes}  # type: ignore[union-attr]
            for answer in (listed, covered)
        )
        if len(ours) != len(theirs):
            return f"{len(ours)} neurons by the list, {len(theirs)} by the cover"
    return clash(Pair("cover", case, replace(case, cover=True), position=True), listed, covered)


@pytest.mark.parametrize("name", long_where(CASES, "long entries"))
def test_list_and_cover_agree(name: str) -> None:
    """On data that made trouble."""
    assert disagreement(case_of(name)) == ""


@pytest.mark.parametrize("seed", range(40))
def test_list_and_cover_agree_at_random(seed: int) -> None:
    """On data at random."""
    assert disagreement(drawn(seed)) == ""


def test_a_theta_orthogonal_to_a_lift_is_short() -> None:
    """It follows from the network but for two entries, and none of these moves can be left out."""
    answer = ask(replace(case_of("antipodal neurons"), cover=True))
    tree = answer.certificate
    theta = tree["facts"]["cover"]["theta"]
    assert len(theta["moves"]) == len(tree["facts"]["cover_set"]["lift"]) == 2
    check(dumps(tree).encode(), answer.case.raw)
    for k in range(2):
        less = [m for i, m in enumerate(theta["moves"]) if i != k]
        changed = {
            **tree,
            "facts": {**tree["facts"], "cover": {**tree["facts"]["cover"], "theta": theta | {"moves": less}}},
        }
        with pytest.raises(VerifyError):
            check(dumps(changed).encode(), answer.case.raw)


THIN = {  # bases of all of R^d whose vectors are nearly dependent: needles, slivers, cones that are nearly half-spaces
    2: ((1000, 999), (999, 998)),
    3: ((1000, 999, 1), (999, 998, 1), (1, 1, 1000)),
    4: ((1000, 999, 0, 1), (999, 998, 0, 1), (0, 1, 500, 501), (1, 0, 501, 502)),
}


@pytest.mark.parametrize("name", ["xor", "xor with a bias", "antipodal rows", "needles", "a cube"])
def test_cones_with_nearly_dependent_generators(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """List and cover agree, and the checker accepts, where the cones of the tree begin with generators that are a
    thousandth apart."""
    case = case_of(name)
    basis = THIN[len(case.Z[0])]
    monkeypatch.setattr(setting, "row_space", lambda lines: basis)
    monkeypatch.setattr(build, "TRIED", 0)
    assert disagreement(case) == ""
    cover = ask(replace(case, cover=True)).facts.dual.multipliers
    assert isinstance(cover, Cover)
    assert cover.basis == basis


@pytest.mark.long
def test_stars_inside_stars_end_where_the_stack_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thin cones along the plane of a tie are split into stars again and again, which fills the stack faster than the
    depth grows: the walk is stuck in time, and what is proved otherwise agrees with the list."""
    monkeypatch.setattr(setting, "row_space", lambda lines: THIN[4])
    monkeypatch.setattr(build, "TRIED", 0)
    assert disagreement(case_of("a tie on a plane")) == ""


def test_a_theta_that_is_exactly_0() -> None:
    """The network is 0 at the last row, as is its target: a line without weight, and list and cover agree on it."""
    case = case_of("a theta that is 0")
    theta = ask(replace(case, cover=True)).facts.dual.theta
    assert [t == 0 for t in theta] == [False, False, True]
    assert disagreement(case) == ""


@pytest.mark.parametrize("part", [Fraction(3, 2), Fraction(999, 1000)])
@pytest.mark.parametrize("name", ["a box", "xor", "one column", "antipodal rows"])
def test_beside_lambda_max(name: str, part: Fraction) -> None:
    """Above lambda_max, and just below it."""
    case = case_of(name)
    root = Fraction(int(ask(case).facts.lambda_max.squared ** 0.5 * 2**20 + 1), 2**20)
    assert disagreement(replace(case, lam=part * root)) == ""


@pytest.mark.parametrize(
    ("name", "root"),
    [
        ("one row, one column", "2"),
        ("one column", "7"),
        ("duplicate rows, other labels", "15"),
        ("a cube", "2"),
        ("a theta that is 0", "5"),
        ("a line that loses its weight in a lift", "39/4"),
        ("a tie on a plane", "20/3"),
    ],
)
def test_at_lambda_max(name: str, root: str) -> None:
    """At a rational lambda_max the zero network is optimal and ties without weight are left."""
    case = replace(case_of(name), lam=Fraction(root))
    assert ask(case).facts.lambda_max.squared == Fraction(root) ** 2
    assert disagreement(case) == ""
