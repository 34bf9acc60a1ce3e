"""Networks whose outputs are sums or means over bags of rows: what is proved is true, and P is forgotten nowhere."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq, fmpq_mat

import verify
from tests.verify.build import plain
from tests.verify.build.bags import (
    LONG,
    as_bags,
    changed,
    cut,
    dense,
    image_windows,
    in_long_form,
    long_form,
    pooled,
    produced,
    restated,
    signals,
    some,
    stream,
    written,
    wrong,
)
from tests.verify.build.plain import words
from tests.verify.oracle.brute import Mat, dot, kernel, mat, vec
from verify.certificate import read
from verify.cover.check import Cover
from verify.cover.lines import lines_of, weights_of
from verify.numbers.bounds import column
from verify.optimal.ball import Ball, Class
from verify.path.moving import check_concave
from verify.problem.bags import Pooling
from verify.problem.input import Input
from verify.problem.problem import Bag, Problem
from verify.problem.variants import with_free_terms
from verify.problem.windows import read_bags, read_windows, told
from verify.rules import NAMES, load
from verify.rules.cover_set import surely_concave
from verify.sets.classes import read_class
from verify.statement import statement
from verify.text import Node

ONES = F(1)


def is_true(tree: dict[str, Any]) -> bool:
    """Whether primal and dual point are what they say, by brute force: lambda bounds the largest xi P'theta.(Zu)_+ over
    unit vectors u, piece by piece, and the bounds are those of the two points."""
    problem, facts = tree["problem"], tree["facts"]
    Z: Mat = tuple(tuple(map(F, row.split())) for row in problem["Z"])
    y, lam = vec(*problem["y"].split()), F(problem["lambda"])
    P = [[F(0)] * len(Z) for _ in y]
    for i, bag in enumerate(problem["bags"]):
        for k, m in zip(bag["rows"], bag["times"], strict=True):
            P[i][k] = F(bag["scale"]) * m
    theta = vec(*(facts["dual"] if "dual" in facts else facts["cover"])["theta"].split())
    t = tuple(dot(column, theta) for column in zip(*P, strict=True))
    fit, penalty = [F(0)] * len(y), F(0)
    for one in facts["primal"]["neurons"]:
        w = vec(*one["w"].split())
        heights = [max(dot(z, w), F(0)) for z in Z]
        fit = [f + (1 if one["sign"] == "+" else -1) * dot(row, heights) for f, row in zip(fit, P, strict=True)]
        penalty += F(one["norm"])
        if F(one["norm"]) ** 2 < dot(w, w):
            return False
    r = [a - b for a, b in zip(fit, y, strict=True)]
    lower, upper = dot(y, theta) - dot(theta, theta) / 2, dot(r, r) / 2 + lam * penalty
    stated = (F(facts["value"]["lower"]), F(facts["value"]["upper"]))
    return plain.relu_multipliers(Z, plain.list_patterns(Z), t)[1] <= lam**2 and stated == (lower, upper)


@pytest.mark.parametrize("d", [1, 2])
def test_planted_networks_are_accepted_and_true(d: int) -> None:
    """With lists of patterns, and by covers on a line: everything claimed is accepted, with the data, and the oracle
    agrees; empty bags, equal rows in different bags, antipodal rows in one bag and single bags are among them."""
    cases = some(d, 40)
    for case in cases:
        lines = verify.check(case.text, case.raw)
        assert [(line.claim, line.verdict) for line in lines] == [
            (c["claim"], "PROVED") for c in case.certificate["claims"]
        ]
        assert all("bags of rows" in line.under for line in lines)
        assert is_true(case.certificate)
    problems = [case.certificate["problem"] for case in cases]
    assert d > 1 or any(not bag["rows"] for problem in problems for bag in problem["bags"])
    assert any(len(problem["bags"]) == 1 for problem in problems)
    shared = [[k for bag in problem["bags"] for k in bag["rows"]] for problem in problems]
    assert any(len(set(rows)) < len(rows) for rows in shared)
    assert d > 1 or any(m > 1 for problem in problems for bag in problem["bags"] for m in bag["times"])


@pytest.mark.parametrize("d", [1, 2])
def test_another_matrix_beside_the_same_evidence_is_never_falsely_accepted(d: int) -> None:
    """Forged bags, without data: accepted only where the oracle finds the points feasible; both happen."""
    draw, accepted, rejected = random.Random(d), 0, 0
    for case in some(d, 40):
        for _ in range(6):
            tree = changed(case, draw)
            try:
                verify.check(json.dumps(tree).encode())
            except verify.Rejected:
                rejected += 1
                continue
            accepted += 1
            assert is_true(tree)
    assert accepted > 20
    assert rejected > 20


@pytest.mark.parametrize("path", dense(), ids=lambda path: path.stem)
def test_dense_certificates_hold_with_a_diagonal_matrix(path: Path) -> None:
    """P any diagonal and rows divided by it: the same problem. All its facts are accepted, by every rule, and so are
    its claims; with the rows as they were some fact is wrong."""
    tree = json.loads(path.read_bytes())
    n = len(tree["problem"]["Z"])
    if "moves" in str(tree["facts"].get("cover", {}).get("theta")):
        pytest.skip("theta is that of another fit")
    same = as_bags(tree, [1] * n)
    other = as_bags(tree, [k % 3 + 1 for k in range(n)])
    expected = [(claim["claim"], claim["verdict"]) for claim in same["claims"]]
    for found in (same, other):
        assert [(line.claim, line.verdict) for line in verify.check(json.dumps(found).encode())] == expected
    if n > 1 and set(tree["facts"]) != {"patterns"}:
        other["problem"]["Z"] = tree["problem"]["Z"]
        with pytest.raises(verify.Rejected):
            verify.check(json.dumps(other).encode())


@pytest.mark.parametrize("one", produced(), ids=lambda one: one[0])
def test_what_the_program_finds_is_accepted(one: tuple[str, bytes, bytes]) -> None:
    """With its data; and with a row of a bag counted once more nothing of it is."""
    _, text, raw = one
    assert {line.claim for line in verify.check(text, raw)} >= {"optimal", "fit"}
    tree = json.loads(text)
    bag = next(bag for bag in tree["problem"]["bags"] if len(bag["rows"]) > 1)
    bag["times"][0] += 1
    with pytest.raises(verify.Rejected):
        verify.check(json.dumps(tree).encode(), raw)
    scale = F(bag["scale"])
    bag["scale"] = plain.word(scale / (1 + scale) if tree["input"]["pool"] == "mean" else scale)
    with pytest.raises(verify.Rejected):
        verify.check(json.dumps(tree).encode())


# ------------------------------------------------------------------------------------------------ inequalities


def matrix_of(problem: Problem) -> Mat:
    """P in full."""
    P = [[F(0)] * problem.N for _ in range(problem.n)]
    for i, bag in enumerate(problem.bags):
        for k, m in zip(bag.rows, bag.times, strict=True):
            P[i][k] = bag.scale * m
    return tuple(map(tuple, P))


def any_problem(seed: int, d: int = 2) -> Problem:
    """Random rows in random bags, as many bags as rows: P is square, and no shape tells that it was forgotten."""
    draw = random.Random(seed)
    N = draw.randint(2, 4)
    Z = [vec(*(draw.randint(-3, 3) for _ in range(d))) for _ in range(N)]
    bags = []
    for _ in range(N):
        rows = tuple(sorted(draw.sample(range(N), draw.randint(0, N))))
        bags.append(Bag(F(draw.randint(1, 4), draw.randint(1, 3)), rows, tuple(draw.randint(1, 3) for _ in rows)))
    return Problem("relu", F(1), tuple(Z), vec(*range(N)), bags=tuple(bags))


@pytest.mark.parametrize("seed", range(30))
def test_what_the_matrix_does_to_vectors(seed: int) -> None:
    """P x, P'theta and |P a|^2 are those of the full matrix."""
    problem, draw = any_problem(seed), random.Random(seed)
    P, x = matrix_of(problem), vec(*(draw.randint(-5, 5) for _ in range(problem.N)))
    assert problem.pooled(x) == tuple(dot(row, x) for row in P)
    assert problem.spread(x) == tuple(dot(column, x) for column in zip(*P, strict=True))
    sizes = problem.pooled([abs(a) for a in x])
    assert problem.reach(dict(enumerate(x))) == dot(sizes, sizes)
    assert problem.output(x[:2]) == problem.pooled([max(dot(z, x[:2]), F(0)) for z in problem.seen])


@pytest.mark.parametrize("seed", range(60))
def test_outputs_are_bounded_by_zeta(seed: int) -> None:
    """|P D Z u|^2 <= Zeta^2 |u|^2 for D between 0 and 1, and |P(Zu)_+ - P(Zu')_+| <= Zeta |u - u'|; and without bags
    Zeta is |Z|_F."""
    problem, draw = any_problem(seed), random.Random(seed)
    u, w = (vec(*(draw.randint(-5, 5) for _ in range(2))) for _ in range(2))
    part = [F(draw.randint(0, 4), 4) for _ in range(problem.N)]
    cut = problem.pooled([p * h for p, h in zip(part, problem.heights(u), strict=True)])
    assert dot(cut, cut) <= problem.zeta_squared * dot(u, u)
    apart = tuple(a - b for a, b in zip(problem.output(u), problem.output(w), strict=True))
    away = tuple(a - b for a, b in zip(u, w, strict=True))
    assert dot(apart, apart) <= problem.zeta_squared * dot(away, away)
    assert replace(problem, bags=()).zeta_squared == sum((dot(z, z) for z in problem.seen), F(0))


def test_zeta_is_no_larger_than_it_must_be() -> None:
    """Equal lengths along one direction attain it: the mean and the sum of rows (3, 4) and (6, 8)/2."""
    rows = mat([[3, 4], [-3, -4]])
    for scale, expected in ((F(1, 2), 25), (F(1), 100)):
        problem = Problem("relu", F(1), rows, vec(1), bags=(Bag(scale, (0, 1), (1, 1)),))
        assert problem.zeta_squared == expected
        cut = problem.pooled([h * s for h, s in zip(problem.heights(vec(3, 4)), (1, -1), strict=True)])
        assert dot(cut, cut) == expected * 25


@pytest.mark.parametrize("seed", range(40))
def test_slopes_move_by_what_the_matrix_makes_of_them(seed: int) -> None:
    """Over the ball p_c, l_c and l_c - p_c move by at most R |P a| of their rows, and that is attained by the residual
    along P a; also where two rows of one hyperplane are in one bag."""
    draw = random.Random(seed)
    N = draw.randint(2, 4)
    Z = tuple(vec(draw.choice([-2, -1, 1, 3]) * F(1, k + 1)) for k in range(N))  # all on one line
    rows = [tuple(sorted(draw.sample(range(N), draw.randint(1, N)))) for _ in range(3)]
    bags = tuple(Bag(F(draw.randint(1, 3), 2), r, tuple(draw.randint(1, 2) for _ in r)) for r in rows)
    problem = Problem("relu", F(1), Z, vec(1, 1, 1), bags=bags)
    ball = Ball(problem, vec(0, 0, 0), F(1))
    (plane,) = ball.planes.values()
    parts = [{k: x for k, x in plane.a.items() if x > 0}, {k: x for k, x in plane.a.items() if x < 0}]
    for squared, a in zip(ball.bends(0), [*parts, {k: abs(x) for k, x in plane.a.items()}], strict=True):
        along = problem.pooled([a.get(k, F(0)) for k in range(N)])  # the worst residual
        moved = sum((x * problem.spread(along)[k] for k, x in a.items()), F(0))
        assert moved == dot(along, along) == squared
    assert ball.bends(0)[2] >= max(ball.bends(0)[:2])


def test_products_with_a_matrix_by_hand() -> None:
    """P = (1/2 0 3/2; 4 -2 0): its products with all kinds of numbers, and how far its columns move."""
    P = Pooling((Bag(F(1, 2), (0, 2), (1, 3)), Bag(F(2), (0, 1), (2, -1))), 3)
    assert P.pooled(vec(F(1, 3), F(1, 5), F(1, 7))) == (F(1, 6) + F(3, 14), F(4, 3) - F(2, 5))
    assert P.pooled([1, 2, 4]) == (F(13, 2), 0)
    assert P.pooled([1j, 2j, 4j]) == (6.5j, 0)
    assert P.spread(vec(F(1, 3), F(1, 5))) == (F(1, 6) + F(4, 5), F(-2, 5), F(1, 2))
    assert P.spread([1j, 2j]) == (8.5j, -4j, 1.5j)
    assert P.pooled_columns(fmpq_mat(3, 2, [1, 0, fmpq(1, 2), 2, 0, 3])) == fmpq_mat(
        2, 2, [fmpq(1, 2), fmpq(9, 2), 3, -4]
    )
    assert P.columns == [[(0, F(1, 2)), (1, F(4))], [(1, F(-2))], [(0, F(3, 2))]]
    assert P.squares == [F(65, 4), 4, F(9, 4)]
    assert [P.reach({k: F(3)}) for k in range(3)] == [F(585, 4), 36, F(81, 4)]
    assert P.reach({0: F(1), 1: F(3)}) == F(1, 4) + 100  # |1/2| and |4| + |-6|
    assert P.reach({0: F(1), 1: F(1), 2: F(-5)}) == 64 + 36
    assert P.zeta_squared(mat([[1, 0], [2, 1], [0, 3]])) == 2 * (F(1, 2) + F(27, 2)) + 6 * (4 + 10)


def test_antipodal_rows_in_one_bag_add_up() -> None:
    """The rows z and -z in one bag: l_c - p_c = -(t_0 + t_1) moves by 2 R, and not by the root of 2."""
    problem = Problem("relu", F(1), mat([[1, 0], [-1, 0]]), vec(1), bags=(Bag(F(1), (0, 1), (1, 1)),))
    assert Ball(problem, vec(1), F(1)).bends(0) == (1, 1, 4)


def test_rows_that_are_surely_negative() -> None:
    """t_k moves by R times the length of column k of P: t = (4r, 2r) by R times the roots of 8 and 4, here R^2 = 2."""
    bags = (Bag(F(1), (0,), (2,)), Bag(F(2), (0, 1), (1, 1)))
    problem = Problem("relu", F(1), mat([[1], [2]]), vec(1, 1), bags=bags)
    for r, fine in ((F(-1), 0b11), (F(-101, 100), 0b10), (F(-141, 100), 0b10), (F(-142, 100), 0b00), (F(1), 0b11)):
        assert Ball(problem, (r, r), F(2)).fine[1] == fine
        assert Ball(problem, (-r, -r), F(2)).fine[-1] == fine


TWO = Problem(
    "relu", F(1), mat([[1, 0], [-1, 0], [0, 1]]), vec(1, 1), bags=(Bag(F(1), (0, 1), (1, 1)), Bag(F(1), (2,), (1,)))
)


def test_lines_that_are_surely_concave() -> None:
    """z and -z in one bag: w_c = 2r < 0 moves by 2 R, and stays negative iff |r| > R."""
    lines = lines_of(TWO)
    for r, sure in ((F(-1), False), (F(-101, 100), True), (F(-3, 2), True), (F(3), False)):
        ball = Ball(TWO, (r, F(0)), F(1))
        cover = Cover(lines, {1: weights_of(lines, TWO.spread(ball.theta), 1)}, (), {}, {})
        assert surely_concave(ball, cover, 1) == [sure, False]


def test_kinks_of_a_path_that_stay_concave() -> None:
    """The same along a path: l_c - p_c = -2 s > 2 R."""
    class_ = Class((1, 0b100), (0,), 0b011, fmpq_mat(2, 2), F(1))
    for s, good in ((F(-1), False), (F(-101, 100), True)):
        ball = Ball(TWO, (s, F(1)), F(1))
        if good:
            check_concave(ball, column((s, F(1))), class_, F(1), Node({}))
        else:
            with pytest.raises(verify.Rejected, match="a kink that stays concave"):
                check_concave(ball, column((s, F(1))), class_, F(1), Node({}))


def test_a_ball_measures_with_the_matrix() -> None:
    """Zeta^2 is that of P, for thresholds, margins and classes; free biases take the largest row besides."""
    ball = Ball(TWO, vec(1, 1), F(1, 100))
    assert ball.zeta_squared == 5 == TWO.zeta_squared
    assert ball.threshold(ball.zeta_squared) < (1 - F(22, 100)) ** 2
    fields = {"sign": "+", "pattern": "101", "kinks": [], "basis": [], "idle": [], "fixed": ""}
    assert read_class(Ball(TWO, vec(9, 9), F(0)), None, Node(fields)).bound == 5
    assert replace(ball, problem=replace(TWO, biases=True)).zeta_squared == 5


def test_heights_and_multipliers_move_with_the_matrix() -> None:
    """z_2.v = r_1 on D = {0, 2}: it stays positive iff r_1^2 > |z_2|^2 Zeta^2 R^2 = 5 R^2."""
    fields = {"sign": "+", "pattern": "101", "kinks": [], "basis": [], "idle": [], "fixed": ""}
    for squared, good in ((F(999, 500), True), (F(2), False)):
        ball = Ball(TWO, (F(9), F(10) ** 0 * F(316228, 100000)), squared)
        if good:
            assert read_class(ball, None, Node(fields)).key == (1, 0b101)
        else:
            with pytest.raises(verify.Rejected, match="strictness that the ball cannot end"):
                read_class(replace(ball, theta=(F(9), F(316227, 100000))), None, Node(fields))


# ------------------------------------------------------------------------------------------------ what is forgotten


PLACES: dict[str, Callable[..., Any]] = {
    "verify.problem.problem.Problem.spread": lambda self, theta: cut(theta, self.N),
    "verify.problem.problem.Problem.pooled": lambda self, x: cut(x, self.n),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_checker_that_forgets_the_matrix_is_noticed(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With P = I in one place some true certificate is rejected, and some forged one is accepted that is false."""
    draw = random.Random(5)
    trees = [(case.certificate, changed(case, draw)) for case in some(2, 40) + some(1, 40) for _ in range(3)]
    assert not any(accepts(other) and not is_true(other) for _, other in trees)
    monkeypatch.setattr(place, PLACES[place])
    assert not all(accepts(honest) for honest, _ in trees)
    if place.endswith("pooled"):  # the fit is that of the rows, and so are the bounds
        trees += [(honest, restated(copy.deepcopy(honest), rows=True)) for honest, _ in trees]
    assert any(accepts(other) and not is_true(other) for _, other in trees)


def accepts(tree: dict[str, Any]) -> bool:
    """Whether the checker accepts it."""
    try:
        verify.check(json.dumps(tree).encode())
    except (verify.VerifyError, ValueError, IndexError):
        return False
    return True


def test_a_rule_that_does_not_say_so_does_not_apply() -> None:
    """Every rule that applies to bags says so; the others do not, and Z is refused to whoever asks for it."""
    plain_problem = Problem("relu", F(1), mat([[1]]), vec(1))
    assert {name for name in NAMES if not load(name, plain_problem).bags} == {"ggp", "solution"}
    assert not load("dual", replace(plain_problem, delta=F(1))).bags
    with_bags = replace(plain_problem, bags=(Bag(F(1), (0,), (1,)),))
    assert with_bags.seen == plain_problem.Z
    with pytest.raises(TypeError, match="there are bags"):
        _ = with_bags.Z


# ------------------------------------------------------------------------------------------------ raw files


SHAPES = [
    ("2d:3x4:2x2", (3, 4), (2, 2), {}),
    ("2d:4x4:2x2:stride=2", (4, 4), (2, 2), {"stride": 2}),
    ("2d:3x3:2x3:padding=1", (3, 3), (2, 3), {"padding": 1}),
    ("2d:2x2:2x2:channels=2:padding=1:stride=2", (2, 2), (2, 2), {"channels": 2, "padding": 1, "stride": 2}),
    ("1d:3", (1, 5), (1, 3), {}),
    ("1d:2:padding=1:stride=3", (1, 6), (1, 2), {"padding": 1, "stride": 3}),
    ("1d:2:channels=3", (1, 4), (1, 2), {"channels": 3}),
]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("conv", "shape", "kernel", "options"), SHAPES, ids=[shape[0] for shape in SHAPES])
def test_windows_are_unfolded(
    conv: str, shape: tuple[int, int], kernel: tuple[int, int], options: dict[str, int], bias: bool
) -> None:
    """As a plain loop over positions, channels, rows and columns does; with a bias a 1 after each, also over zeros."""
    draw = random.Random(conv)
    length = options.get("channels", 1) * shape[0] * shape[1]
    records = mat([[draw.randint(0, 2) for _ in range(length)] for _ in range(3)])
    bags = [[(*z, *[ONES] * bias) for z in image_windows(record, shape, kernel, **options)] for record in records]
    y = vec(1, 2, 3)
    how = Input("", "csv", bias=bias, target=length, header=True, pool="mean", windows=read_windows(Node(conv)))
    expected = pooled(bags, "mean")
    stated = expected.written("mean", [*map(len, bags)])
    found = tuple(Bag(F(bag["scale"]), tuple(bag["rows"]), tuple(bag["times"])) for bag in stated["bags"])
    problem = Problem("relu", F(1), expected.Z, y, bags=found)
    assert matrix_of(problem) == expected.P
    raw = plain.table(records, y)
    assert read_bags(raw, how, verify.Limits(), problem) == (expected.Z, y, True)
    with pytest.raises(verify.Rejected, match=r"problem\.bags\[2\]: expected 'Bag"):
        read_bags(raw, how, verify.Limits(), replace(problem, bags=(*found[:2], replace(found[2], scale=F(2)))))


def test_a_convolution_is_accepted_and_told() -> None:
    """With the raw signals; the statement says how the outputs were made."""
    for pool in ("mean", "sum"):
        case = signals(pool)
        report = read(case.text, case.raw)
        assert ("p-unique", "PROVED") in [(line.claim, line.verdict) for line in report.lines]
        said = statement(report, True, False)
        assert said["outputs"] == f"3 signals, windows 2, stride 1, {pool}"
        assert (said["n"], said["rows"], said["conv"], said["pool"]) == (
            "3",
            str(len(report.problem.seen)),
            "1d:2",
            pool,
        )  # type: ignore[union-attr]


def test_images_are_told() -> None:
    """Shape, windows, stride, channels and padding stand in the statement."""
    assert (
        told({"conv": "2d:28x28:2x2:stride=2", "pool": "mean"}, 400)
        == "400 images of 28 x 28, windows 2 x 2, stride 2, mean"
    )
    words_ = "2 images of 3 x 3, 2 channels, windows 2 x 2, stride 1, zeros 1 wide around, sum"
    assert told({"conv": "2d:3x3:2x2:channels=2:padding=1", "pool": "sum"}, 2) == words_
    assert told({"bags": "set", "pool": "mean"}, 7) == "7 bags, records with the same text in column set, mean"


@pytest.mark.parametrize("one", wrong(), ids=lambda one: one[0])
def test_bags_that_are_wrong_are_rejected(one: tuple[str, bytes, bytes, str]) -> None:
    """Windows read in another way than the certificate says, bags that are none: the message names the reason."""
    _, text, raw, message = one
    with pytest.raises(verify.Rejected, match=message):
        verify.check(text, raw)


def test_facts_about_rows_alone_are_refused() -> None:
    """`ggp` does not apply, `own` is unknown, and a dense input has no pool."""
    tree = copy.deepcopy(signals().certificate)
    tree["facts"]["ggp"] = {}
    with pytest.raises(verify.Rejected, match="unknown key 'ggp'"):
        verify.check(json.dumps(tree).encode())
    plain_tree = plain.zero_network("dense", mat([[1, 2]]), vec(1), F(9)).certificate
    plain_tree["input"] |= {"conv": "1d:2", "pool": "mean"}
    with pytest.raises(verify.Rejected, match="unknown key 'conv'"):
        verify.check(json.dumps(plain_tree).encode())


@pytest.mark.parametrize("one", LONG, ids=lambda one: f"{one[0]}, {one[1]}")
def test_the_long_form(one: tuple[str, bool, str]) -> None:
    """Records with the same text in a column are one bag, wherever they stand; the text is no number."""
    case = in_long_form(*one)
    assert len(verify.check(case.text, case.raw)) == 4


# ------------------------------------------------------------------------------------------------ free terms


BAGS = [mat([[3], [-1]]), mat([[2]]), mat([[-2], [0], [1]]), mat([[1], [1]])]


def uniform(depth: int) -> bytes:
    """The codes of a tree that is bisected so often everywhere."""
    return b"\xc8" if not depth else b"\0" + 2 * uniform(depth - 1)


def free_of_penalty(free: list[str], pool: str, times_lambda: F) -> tuple[bytes, F]:
    """Only free terms fit y, which is optimal for lambda at least the largest xi t.(xw + b)_+ with |w| = 1; the cover
    is a uniform tree. The largest is known exactly: over w = 1, -1 and the b where a row is zero."""
    bags = [[(*z, ONES) for z in bag] for bag in BAGS]
    data = pooled(bags, pool)
    ones = tuple(sum(row, F(0)) for row in data.P)
    columns = {"output-bias": vec(1, 1, 1, 1), "biases": ones}
    B = list(dict.fromkeys(columns[name] for name in free))
    theta = next(t for t in kernel(B, 4) if any(t))
    t = data.spread(theta)
    kinks = [(w, -z[0] * w) for w in (1, -1) for z in data.Z]
    sums = [sum((t_k * max(z[0] * w + b, F(0)) for t_k, z in zip(t, data.Z, strict=True)), F(0)) for w, b in kinks]
    lam = max(map(abs, sums)) * times_lambda
    c = [F(k + 1) for k in range(len(B))]
    fit = tuple(sum((x * column[k] for x, column in zip(c, B, strict=True)), F(0)) for k in range(4))
    y = tuple(a + b for a, b in zip(theta, fit, strict=True))
    biases = "biases" in free
    roots, depth = (2, 6) if biases else (4, 6)
    side = {"codes": stream(roots * uniform(depth)), "multipliers": stream(bytes(roots * (2**depth - 1)))}
    side |= {"data": stream(b""), "rows": stream(b"")}
    proof = {"basis": ["1 0", "0 1"], "ties": [], "margin": 1, "+": side, "-": side}
    facts = {
        "primal": {"neurons": [], "free": words(c)},
        "cover": {"theta": words(theta), "proof": proof},
        **plain.value_and_fit(y, lam, fit, F(0), theta),
    }
    problem = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": plain.word(lam), "y": words(y), "free": free}
    problem |= data.written(pool, [*map(len, bags)])
    raw = long_form(BAGS, y)
    tree = plain.certificate(problem, facts, raw, target=2, bias=True, bags="bag", pool=pool)
    tree["facts"]["value"]["gap"] = "0"
    return written(tree, raw), lam


@pytest.mark.parametrize("pool", ["mean", "sum"])
@pytest.mark.parametrize("free", [["biases"], ["output-bias", "biases"]], ids="-".join)
def test_free_biases_bring_what_bags_make_of_ones(free: list[str], pool: str) -> None:
    """With free biases theta is orthogonal to P1, the sizes of the bags for sums, and ones come besides where an output
    bias is free; the cover proves lambda from a little above the exact bound on, and not below."""
    text, _ = free_of_penalty(free, pool, F(11, 10))
    raw = long_form(BAGS, vec(*json.loads(text)["problem"]["y"].split()))
    assert [line.verdict for line in verify.check(text, raw)] == ["PROVED", "PROVED"]
    below, _ = free_of_penalty(free, pool, F(9, 10))
    with pytest.raises(verify.Rejected, match="strict leaf"):
        verify.check(below)


def test_free_biases_of_sums_are_no_ones() -> None:
    """theta orthogonal to ones alone is refused where biases are free and outputs are sums; of means it is the same."""
    text, _ = free_of_penalty(["output-bias"], "sum", F(100))
    tree = json.loads(text)
    tree["problem"]["free"] = ["biases"]
    with pytest.raises(verify.Rejected, match="theta orthogonal to the free column 0"):
        verify.check(json.dumps(tree).encode())


def test_columns_of_free_terms() -> None:
    """Ones, P1 if it is another column, and the columns of PZ, by hand."""
    rows = mat([[5, 1], [7, 1]])
    bags = Bag(F(1), (0, 1), (1, 2)), Bag(F(1), (0,), (1,))
    for scale, free, expected in (
        (F(1), ["output-bias", "biases", "skip"], [[1, 1], [3, 1], [19, 5], [3, 1]]),
        (F(1), ["biases"], [[3, 1]]),
        (F(1, 3), ["output-bias", "biases"], [[1, 1], [1, F(1, 3)]]),
    ):
        scaled_bags = tuple(replace(bag, scale=scale) for bag in bags)
        problem = Problem("relu", F(1), rows, vec(1, 1), bags=scaled_bags)
        assert with_free_terms(problem, Node(free)).outputs == mat(expected)
    means = (Bag(F(1, 3), (0, 1), (1, 2)), Bag(F(1), (0,), (1,)))
    problem = Problem("relu", F(1), rows, vec(1, 1), bags=means)
    assert with_free_terms(problem, Node(["output-bias", "biases"])).outputs == mat([[1, 1]])


@pytest.mark.parametrize("several", (False, True))
def test_no_weight_is_on_the_sums_of_ones(several: bool) -> None:
    """Two bags of two rows and one, outputs that are sums, free biases and nothing else: a network whose neuron is off
    everywhere is stationary, though the residual is not orthogonal to P1 = (2, 1), which no weight multiplies. (The
    checker accepted a shortest subgradient of norm 4, and rejected the truth.)"""
    bags = [{"scale": "1", "rows": [0, 1], "times": [1, 1]}, {"scale": "1", "rows": [2], "times": [1]}]
    problem: dict[str, Any] = {"model": "relu", "lambda": "1", "Z": ["1 1", "2 1", "-1 1"], "bags": bags}
    problem["free"] = ["biases"]
    network: dict[str, Any] = {"W1": ["0 -1"]} | ({"W2": ["0 0"], "b2": "0 0"} if several else {"w2": "0", "b2": "0"})
    network |= {"file": {"sha256": "", "origin": ""}, "gap": "0", "objective": "5/2", "stationary": [[]]}
    network["penalty"] = {"convention": "paper", "value": "1", "batch": None}
    source: dict[str, Any] = {"sha256": "0" * 64, "kind": "csv", "numbers": "decimal", "bias": True, "delimiter": ","}
    source |= {"header": False, "bags": "0", "pool": "sum"}
    if several:
        problem |= {"objective": "1/2|sum (Zw_j)_+ v_j' - Y|^2 + lambda*sum|w_j||v_j|", "Y": ["1 0", "2 0"]}
        source |= {"targets": [2, 3], "center": False}
    else:
        problem |= {"objective": "1/2|Xw-y|^2 + lambda*sum|w_b|", "y": "1 2"}
        source["target"] = 2

    def said(verdict: str) -> list[verify.Line]:
        tree = {"format": "relu_cert certificate", "version": 2, "input": source, "problem": problem}
        tree |= {"facts": {"network": network}, "claims": [{"claim": "network-stationary", "verdict": verdict}]}
        return verify.check(json.dumps(tree | {"end": "relu_cert certificate"}).encode())

    (line,) = said("PROVED")
    assert line.proved == "the network is a Clarke stationary point of J (kinks: 0)"
    with pytest.raises(verify.Rejected, match="a positive lower bound of the distance"):
        said("REFUTED")
