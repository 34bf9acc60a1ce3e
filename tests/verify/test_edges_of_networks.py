"""Given networks at their edges: penalties, biases, files, pairs, distances and kinks, one condition at a time."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from hashlib import sha256
from math import isqrt
from types import SimpleNamespace
from typing import Any

import pytest

from tests.verify.oracle.brute import mat, vec
from verify import Rejected
from verify.facts import DUAL, LAMBDA_MAX, VALUE, Facts, proved
from verify.network import check, stationary
from verify.network.check import Network, check_network, check_penalty
from verify.network.directions import apart, bounds, by_correlation
from verify.network.file import Array, compare_file, decoded, folded, read_json
from verify.network.nearest import check_nearest, largest_weight, least_linear, matched, moved_squared, pull, read_pairs
from verify.network.optimum import Known, Optimum, enclosed, enclosure, exactly, find_optimum
from verify.network.outputs import check_pruned, compared
from verify.network.own import check_own
from verify.network.stationary import check_stationary, gradient, kinks_of, nearest, of_bias, of_free, pulls
from verify.network.weights import Neuron, Weights, balanced, mergeable, merged, neuron_of, norms, read_weights
from verify.network.weights_set import WeightSet
from verify.numbers.bounds import identity, matrix
from verify.numbers.field import read_field
from verify.numbers.patterns import Patterns
from verify.optimal.ball import Ball
from verify.problem.problem import Problem
from verify.rules.polytope import Polytope
from verify.rules.value import Dual, Value
from verify.sets.neurons import Neuron as Tied
from verify.sets.solutions import OptimalSet, System
from verify.text import Limits, Node

ZERO, ONE = F(0), F(1)
NODE = Node(None, None, "here")
PLANE = Problem("relu", F(2), mat([[1, 1], [-1, 1]]), vec(3, 1))


def fields(**more: Any) -> dict[str, Node]:
    """The fields of a network of one neuron."""
    return {key: Node(value, None, key) for key, value in {"W1": ["1 2"], "w2": "3", "b2": "0", **more}.items()}


# ------------------------------------------------------------------------------------------------ weights


def test_objectives_by_hand() -> None:
    """f = (3 (1 + 2), 3 (2 - 1)) = (9, 3), J = 1/2 (36 + 4) + 5 + 9; an output bias counts 2 |b2|; dead neurons
    count in J and are none."""
    plain = read_weights(PLANE, fields())
    assert (plain.residual, plain.objective) == (vec(-6, -2), F(20 + 14))
    for b2 in (5, -5):
        found = read_weights(PLANE, fields(b2=str(b2)))
        assert found.residual == vec(-6 - b2, -2 - b2) and found.left == vec(3, 1)
        assert found.objective == F((6 + b2) ** 2 + (2 + b2) ** 2, 2) + 14 + 2 * abs(b2)
        assert (found.neurons[1].number, found.neurons[1].sign, found.neurons[1].w) == (1, b2 // 5, vec(0, 5))
    for W1, w2 in (["0 0"], "3"), (["1 2"], "0"):
        assert read_weights(PLANE, fields(W1=W1, w2=w2)).neurons == ()
    with pytest.raises(Rejected, match="not the column of ones"):
        read_weights(replace(PLANE, seen=mat([[1, 1], [-1, 2]])), fields(b2="1"))
    three = replace(PLANE, seen=mat([[1, 5, 1], [-1, 1, 1]]))
    assert read_weights(three, fields(W1=["1 2 3"], b2="1")).neurons[1].w == vec(0, 0, 1)
    with pytest.raises(Rejected, match="at least one neuron"):
        read_weights(PLANE, fields(W1=[], w2=""))


def test_free_terms_by_hand() -> None:
    """Free output biases and skip connections are taken from y, and no norm sees them."""
    columns = tuple(zip(*PLANE.Z, strict=True))
    free = replace(PLANE, free=("output-bias", "skip"), outputs=(vec(1, 1), *columns))
    found = read_weights(free, fields(b2="5", skip="1 -1"))
    assert found.left == vec(3 - 5 - 0, 1 - 5 + 2) and found.residual == vec(-2 - 9, -2 - 3)
    assert found.objective == F(11**2 + 5**2, 2) + 14 and len(found.neurons) == 1
    for constant in ((), (vec(1, 1),)):
        names = ("output-bias", "skip") if constant else ("skip",)
        without = replace(PLANE, free=names, outputs=(*constant, columns[0]))  # the last column was appended
        assert read_weights(without, fields(skip="1 0")).left == tuple(
            a - b for a, b in zip(PLANE.y, columns[0], strict=True)
        )
        for skip in ("1 -1", "0 1"):
            with pytest.raises(Rejected, match="0 for the column of ones, which is no input"):
                read_weights(without, fields(skip=skip))
    biased = replace(PLANE, free=("biases",), biases=True, outputs=(vec(1, 1),))
    assert read_weights(biased, fields(b2="5")).objective == F(11**2 + 7**2, 2) + 1 + 9


def line(w: Any, sign: int = 1, number: int = 0) -> Neuron:
    """A neuron on the plane."""
    return neuron_of(PLANE, number, sign, vec(*w))


def weights_of(*neurons: Neuron, residual: Any = (0, 0)) -> Weights:
    """A network of these neurons, with w2 = 1 or -1."""
    W1 = tuple(neuron.w for neuron in neurons)
    return Weights(W1, vec(*[one.sign for one in neurons]), ZERO, (), neurons, vec(*residual), vec(*residual), ZERO)


def test_neurons_that_can_be_merged() -> None:
    """One sign, and no row on which they are opposite; zero on a row fits to both sides."""
    right, up, left, edge = line((1, 0)), line((0, 1), number=1), line((-1, 0), number=2), line((1, 1), number=3)
    assert (right.above, right.below) == (0b01, 0b10) and (edge.above, edge.below) == (0b01, 0)
    for pair, expected in (
        ((right, edge), (0, 3)),
        ((edge, right), (3, 0)),
        ((up, edge), (1, 3)),
        ((right, up), None),
        ((up, right), None),
        ((left, right), None),
        ((left, edge), None),
        ((edge, left), None),
        ((right, line((1, 1), -1, 3)), None),
    ):
        assert mergeable(weights_of(*pair)) == expected
    found = merged(PLANE, weights_of(right, up, line((2, 0), number=4)))
    assert [(one.number, one.w) for one in found] == [(0, vec(3, 0)), (1, vec(0, 1))]


def test_sums_of_norms() -> None:
    """Exact where they are rational; compared exactly where enclosures touch."""
    three, root = line((3, 4)), line((1, 1))
    assert norms([three.squared]) == (F(5), F(5)) and norms([ZERO]) == (ZERO, ZERO)
    low, high = norms([root.squared])
    assert low**2 < 2 < high**2 and high - low < F(1, 2**100)
    assert balanced(PLANE, weights_of(three, residual=(2, 0))) == (F(12), F(12))
    assert compared([three], [line((6, 8))]) == -1 and compared([line((6, 8))], [three]) == 1
    assert compared([root, root], [line((2, 2))]) == 0 and compared([three], [three]) == 0
    near = replace(root, squared=2 + F(1, 2**400))
    assert compared([near], [root]) == 1 and compared([root], [near]) == -1


def test_pruned_networks_by_hand() -> None:
    """The same fit, independent outputs, no larger sum of norms, no zero vector."""
    two = weights_of(line((1, 0)), line((2, 0), number=1), residual=(0, 0))
    two = replace(two, left=vec(3, 0))

    def pruned(*entries: tuple[str, str]) -> Any:
        return check_pruned(PLANE, two, Node([{"sign": sign, "w": w} for sign, w in entries], None, "pruned"))

    assert (pruned(("+", "3 0")).neurons, pruned(("+", "3 0")).better) == (1, False)
    assert pruned(("+", "3/2 3/2")).better
    for entries, said in (
        ([("+", "2 0")], "the fit of the network at row 0, found a fit off by -1"),
        ([("-", "3 0")], "the fit of the network at row 0"),
        ([("+", "1 0"), ("+", "2 0")], "independent outputs, found 2 of rank 1"),
        ([("+", "4 -1")], "a larger one"),
        ([("+", "3 0"), ("+", "0 0")], "a vector other than zero"),
    ):
        with pytest.raises(Rejected, match=said):
            pruned(*entries)


# ------------------------------------------------------------------------------------------------ penalty, gap, file


@pytest.mark.parametrize(
    ("convention", "value", "batch", "good"),
    [
        *[("paper", "2", None, True), ("scnn", "1/3", None, True), ("sklearn", "2", None, True)],
        *[("pytorch", "2/3", None, True), ("pytorch-sum", "4", None, True), ("paper", "2", 6, True)],
        *[("sklearn", "2/3", 2, True), ("sklearn", "1/3", 1, True), ("sklearn", "2", 6, True)],
        *[("scnn", "2", None, False), ("pytorch", "1/3", None, False), ("paper", "1", None, False)],
        *[("sklearn", "2/3", 0, False), ("sklearn", "1/2", 4, False), ("paper", "2", 3, False)],
        *[("sklearn", "2", 7, False), ("pytorch-sum", "2", None, False), ("sklearn", "2/3", 3, False)],
    ],
)
def test_penalties_by_hand(convention: str, value: str, batch: int | None, good: bool) -> None:
    """lambda = 2 on six points: alpha, beta n, alpha n / B, weight decay n / 2 and 1/2."""
    six = Problem("relu", F(2), mat([[1]] * 6), vec(*[1] * 6))
    node = Node({"convention": convention, "value": value, "batch": batch}, None, "penalty")
    if good:
        check_penalty(six, node)
    else:
        with pytest.raises(Rejected, match=r"batch|value"):
            check_penalty(six, node)


def whole(**more: Any) -> dict[str, Any]:
    """The fact `network` of a network at rest: W1 = (0, 0), w2 = 0 and y = (0, 0)."""
    penalty = {"convention": "paper", "value": "2", "batch": None}
    zero = {"W1": ["0 0"], "w2": "0", "b2": "0", "gap": "0", "objective": "0", "stationary": [[]]}
    return {"file": {"sha256": "", "origin": ""}, "penalty": penalty, **zero, **more}


def test_frames_of_networks() -> None:
    """Hashes of 64 digits, a gap below 1, J exactly; directions and nearest rest on more."""
    flat, nothing = replace(PLANE, y=vec(0, 0)), Facts()
    assert check_network(flat, nothing, Node(whole())).gap == 0
    assert check_network(flat, nothing, Node(whole(gap="999/1000"))).gap == F(999, 1000)
    digest = "0" * 63
    known = whole(file={"sha256": digest + "f", "origin": f"{'k' * 16} {digest}a"})
    assert check_network(flat, nothing, Node(known)).sha256 == digest + "f"
    for more, said in (
        ({"gap": "1"}, "a gap from 0 to less than 1"),
        ({"gap": "-1/9"}, "a gap from 0 to less than 1"),
        ({"objective": "1"}, "J = "),
        ({"file": {"sha256": digest, "origin": ""}}, "64 lower-case"),
        ({"file": {"sha256": "", "origin": f"keras {digest}"}}, "a format and 64"),
        ({"directions": []}, "the facts dual and value"),
        ({"nearest": {}}, "the facts dual and value"),
        ({"own": {"primal": {}, "dual": {}}}, "the network has no pattern"),
    ):
        with pytest.raises(Rejected, match=said):
            check_network(flat, nothing, Node(whole(**more)))
    for half in (proved(DUAL, Dual(vec(0, 0))), proved(VALUE, Value(ZERO, ZERO, ZERO))):
        with pytest.raises(Rejected, match="the facts dual and value"):
            check_network(flat, half, Node(whole(directions=[])))
    free = replace(flat, free=("output-bias",))
    with pytest.raises(Rejected, match="unknown key 'own'"):
        check_network(free, nothing, Node(whole(own={})))
    assert check.OPTIONAL_WITH_FREE_TERMS == ("stationary", "pruned")


def file_of(weights: Weights, raw: bytes, bias: bool = False) -> None:
    """The file against the certificate's weights."""
    nothing: Any = None
    compare_file(Network(sha256(raw).hexdigest(), weights, ZERO, 0, *[nothing] * 6), raw, Limits(), bias)


def test_skip_connections_of_files() -> None:
    """The certificate's skip connection is the file's; none is zero."""
    with_skip = replace(weights_of(line((1, 2))), skip=vec(3, 4))
    file_of(with_skip, b'{"W1": [[1, 2]], "w2": [1], "skip": [3, 4]}')
    file_of(weights_of(line((1, 2))), b'{"W1": [[1, 2]], "w2": [1]}')
    file_of(weights_of(line((1, 2))), b'{"W1": [[1, 2]], "w2": [1], "skip": [0, 0]}')
    for weights, skip in (
        (with_skip, b""),
        (with_skip, b', "skip": [3, 5]'),
        (weights_of(line((1, 2))), b', "skip": [3, 4]'),
    ):
        with pytest.raises(Rejected, match="the weights of the file given"):
            file_of(weights, b'{"W1": [[1, 2]], "w2": [1]' + skip + b"}")


def test_folded_arrays_by_hand() -> None:
    """Shapes that fit together, names that are known, and biases only on a column of ones."""
    for kind in ("f1", "f2"):
        with pytest.raises(ValueError, match="numbers of kind"):
            decoded(b"\0" * int(kind[1]), kind, 1 if kind == "f1" else 2, False)
    W1, w2 = Array((2, 2), vec(1, 2, 3, 4)), Array((2,), vec(5, 6))
    assert folded({"W1": W1, "w2": w2}, 2, False, 1) == (mat([[1, 2], [3, 4]]), vec(5, 6), vec(0), vec(0, 0))
    b1, b2, skip = Array((2, 1), vec(7, 8)), Array((1, 1), vec(9)), Array((1, 2), vec(1, 1))
    every = {"W1": W1, "w2": w2, "b1": b1, "b2": b2, "skip": skip}
    assert folded(every, 3, True, 1) == (mat([[1, 2, 7], [3, 4, 8]]), vec(5, 6), vec(9), vec(1, 1, 0))
    for arrays, width, bias in (
        (every, 2, True),
        (every, 3, False),
        ({**every, "b1": Array((2,), vec(0, 0))}, 4, True),
        ({**every, "b1": Array((3,), vec(0, 0, 0))}, 3, True),
        ({**every, "b2": Array((2,), vec(0, 0))}, 3, True),
        ({**every, "skip": Array((3,), vec(0, 0, 0))}, 3, True),
        ({**every, "w2": Array((3,), vec(0, 0, 0))}, 3, True),
        ({**every, "W1": Array((2,), vec(1, 2))}, 3, True),
        ({**every, "W3": b2}, 3, True),
        ({"W1": W1}, 2, False),
        ({"W1": W1, "w2": w2, "b1": Array((2,), vec(0, 7))}, 2, False),
    ):
        with pytest.raises(ValueError, match=r"shape|arrays|inputs"):
            folded(arrays, width, bias, 1)
    assert folded({**every, "b1": Array((2,), vec(0, 0))}, 2, False, 1)[0] == mat([[1, 2], [3, 4]])
    three = {"W1": W1, "w2": Array((3, 2), vec(1, 2, 3, 4, 5, 6)), "b2": Array((3,), vec(7, 8, 9))}
    assert folded(three, 2, False, 3)[1:3] == (vec(1, 3, 5, 2, 4, 6), vec(7, 8, 9))
    for changed in ({"w2": Array((2, 3), vec(*range(6)))}, {"b2": Array((1,), vec(7))}, {"w2": w2}):
        with pytest.raises(ValueError, match="shape"):
            folded({**three, **changed}, 2, False, 3)


# ------------------------------------------------------------------------------------------------ the optimal networks


def known(v: Any, sign: int = 1, error: F = ZERO, used: bool | None = True) -> Known:
    """A neuron of optimal networks."""
    return Known(sign, vec(*v), error, False, used)


def test_pairs_of_neurons() -> None:
    """One sign, each in one pair."""
    optimum = Optimum((known((1, 0)), known((0, 1)), known((0, 1), -1)), None, (), None)
    some = (line((1, 0)), line((0, 1), number=1))
    assert read_pairs(optimum, some, Node([[0, 1], [1, 0]])) == {1: 0, 0: 1}
    for pairs in ([[0, 1], [0, 0]], [[0, 1], [1, 1]], [[0, 2]]):
        with pytest.raises(Rejected, match="two neurons of one sign, each in one pair only"):
            read_pairs(optimum, some, Node(pairs))
    assert matched(optimum, some, {1: 0}, vec(2, 3, 0)) == 4 + (1 + 9) + 1
    loose = replace(optimum, neurons=(known((1, 0), error=F(1, 2)), known((0, 1))))
    assert pull(line((3, 4)), known((1, 2), error=F(1, 2))) == 11 + F(5, 2)
    assert moved_squared(PLANE, loose, vec(3, 5), vec("1/4", "1/8")) == (F(1, 2) + F(3, 2)) ** 2 + F(1, 16)


def test_weights_that_are_listed_or_not() -> None:
    """With the vertices their largest entry and least value; without, what the equations prove."""
    system = System(identity(1), vec(7), vec(0), vec(1), (0,), 1, {}, exact=False)
    equations = WeightSet(system, 1, F(20))
    listed = Optimum((known((1, 0)),), ({0: F(2)}, {}), vec("1/4", 0), equations)
    assert largest_weight(listed, 0) == F(9, 4) and least_linear(listed, [F(-3)], Node("")) == F(-27, 4)
    assert least_linear(listed, [F(3)], Node("")) == 0
    alone = replace(listed, points=None, errors=())
    assert largest_weight(alone, 0) == 8 and least_linear(alone, [F(3)], Node("3")) == 18
    assert largest_weight(replace(listed, weights=None), 0) == F(9, 4)
    two = replace(listed, points=({0: F(2)}, {0: F(3)}, {}), errors=vec(0, 0, 0))
    assert largest_weight(two, 0) == 3 and least_linear(two, [F(-1)], Node("")) == -3


def test_distances_at_their_edges() -> None:
    """The zero network is optimal: |w| = 5 exactly is both bounds; no more, no less, and no negative one."""
    zero = Optimum((), ({},), vec(0), None)
    base: dict[str, Any] = {
        "weights": "",
        "hull": "",
        "pairs": [],
        "upper": "5",
        "tangent": "",
        "prices": "",
        "allowances": "0",
    }
    base |= {"mu": "", "lower": "5"}

    def distance(optimum: Optimum = zero, **more: Any) -> Any:
        return check_nearest(PLANE, optimum, (line((3, 4)),), Node({**base, **more}))

    assert (distance().lower, distance().upper) == (5, 5)
    assert distance(upper="6", lower="0").lower == 0
    more: Any
    for more, said in (
        ({"upper": "4999/1000"}, "the rest squared at least 25"),
        ({"upper": "-6"}, "the rest squared at least 25"),
        ({"lower": "5001/1000"}, "its square at most 25"),
        ({"lower": "-1"}, "a number >= 0"),
        ({"allowances": "-1"}, "numbers >= 0"),
    ):
        with pytest.raises(Rejected, match=said):
            distance(**more)
    with pytest.raises(Rejected, match="the fact polytope"):
        distance(replace(zero, points=None))


def test_prices_and_allowances() -> None:
    """p_i >= alpha_a (w_i.v_a - S_a) for neurons of one sign: here 2 (3 - S)."""
    optimum = Optimum((known((1, 0)),), ({0: F(2)},), vec(0), None)
    base = {"weights": "", "hull": "1", "pairs": [[0, 0]], "upper": "10", "tangent": "2", "mu": "", "lower": "0"}

    def distance(prices: str, allowances: str, sign: int = 1) -> Any:
        more = {"prices": prices, "allowances": allowances, "pairs": [[0, 0]] if sign > 0 else []}
        return check_nearest(PLANE, optimum, (line((3, 4), sign),), Node({**base, **more}))

    for prices, allowances in (("0", "6"), ("1", "4"), ("3", "0"), ("4", "0")):
        assert distance(prices, allowances).upper == 10
    for prices, allowances in (("0", "5999/1000"), ("1", "3"), ("2999/1000", "0")):
        with pytest.raises(Rejected, match=r"allowances.*at least"):
            distance(prices, allowances)
    assert distance("0", "0", -1).lower == 0
    with pytest.raises(Rejected, match="prices: expected numbers >= 0"):
        distance("-1", "10")


def test_distances_with_errors() -> None:
    """alpha v is off by error lambda: far from it by 3 - 2 and 4, and the errors come on top. From below |w|^2 less
    twice the allowances, the tangent, and what the slope is least at."""
    optimum = Optimum((known((1, 0)),), ({0: F(2)},), vec("1/4"), None)
    base = {"weights": "", "hull": "1", "pairs": [[0, 0]], "tangent": "2", "mu": "", "lower": "0"}
    base |= {"prices": "3", "allowances": "0"}
    spread, far = PLANE.lam / 4, 17
    for upper, good in ((F(41232, 10000) + spread, True), (F(4123, 1000) + spread, False), (F(4123, 1000), False)):
        stated = Node({**base, "upper": str(upper)})
        if good:
            assert (upper - spread) ** 2 >= far and check_nearest(PLANE, optimum, (line((3, 4)),), stated)
        else:
            with pytest.raises(Rejected, match="errors and more, the rest squared at least 17"):
                check_nearest(PLANE, optimum, (line((3, 4)),), stated)
    exact = Optimum(optimum.neurons, optimum.points, vec(0), None)
    squared = PLANE.lam**2
    least = 25 - 2 * 6 - 4 * squared + 2 * (2 * squared) * 2  # = 13 + 4 lambda^2
    good = {**base, "upper": "99", "prices": "0", "allowances": "6"}
    for lower, accepted in (
        (F(isqrt(int(least * 10**12)), 10**6), True),
        (F(isqrt(int(least * 10**12)) + 2, 10**6), False),
    ):
        stated = Node({**good, "lower": str(lower)})
        if accepted:
            assert check_nearest(PLANE, exact, (line((3, 4)),), stated).lower == lower
        else:
            with pytest.raises(Rejected, match="its square at most"):
                check_nearest(PLANE, exact, (line((3, 4)),), stated)


def test_what_is_known_of_the_ground(monkeypatch: pytest.MonkeyPatch) -> None:
    """lambda >= lambda_max makes zero the only optimum, also where they are equal; R^2 = 2 (upper - lower)."""
    seen: list[Any] = []
    monkeypatch.setattr(check, "find_optimum", lambda ball, zero, *_: seen.append((zero, ball.theta, ball.R_squared)))
    monkeypatch.setattr(check, "check_directions", lambda *_: None)
    known, nothing = {DUAL: Dual(vec(1, 2)), VALUE: Value(F(2), F(5), ZERO)}, Node([])
    for largest in (9, 8, 10, None):
        more = {} if largest is None else {LAMBDA_MAX: F(largest)}
        ground: Any = Facts({**known, **more})
        check.compared(replace(PLANE, lam=F(3)), ground, Weights, {"directions": nothing})  # type: ignore[arg-type]
    assert seen == [(zero, vec(1, 2), 6) for zero in (True, True, False, False)]


def test_what_optimal_networks_look_like() -> None:
    """Those of the polytope where it is known, else those that are known to be active; |B| R around xi B'theta."""
    ball = Ball(PLANE, vec(1, 2), F(1, 4))
    B = matrix(mat([[3, 0], [0, 4]]), 2)
    tied = tuple(Tied((-1, 0), active, True, True, B) for active in (True, None, False))
    system = System(identity(3), vec(1, 1, 1), vec(0, 0, 0), vec(0, 0, 0), (0, 1, 2), 3, {}, exact=False)
    found = OptimalSet(3, 0, 0, 0, system, neurons=tied)
    optimum = find_optimum(ball, False, found, None)
    assert optimum is not None and [one.used for one in optimum.neurons] == [True, None, False]
    assert (optimum.neurons[0].v, optimum.neurons[0].error) == (vec(-3, -8), F(5, 2))
    assert not optimum.neurons[0].straight and optimum.points is None and optimum.weights is not None
    listed = find_optimum(ball, False, found, Polytope(((2,),), (), 3, (2,), 1, points=({2: ONE},), errors=(ZERO,)))
    assert listed is not None and [one.used for one in listed.neurons] == [False, False, True]
    assert (listed.points, listed.errors) == (({2: ONE},), (ZERO,))
    assert find_optimum(ball, False, None, None) is None
    exact_set = find_optimum(ball, False, replace(found, exact=True, neurons=(replace(tied[0], v=vec(7, 8)),)), None)
    assert exact_set is not None and exact_set.neurons == (Known(-1, vec(7, 8), ZERO, True, True),)
    zero = find_optimum(ball, True, found, None)
    assert zero is not None and (zero.neurons, zero.points, zero.errors) == ((), ({},), vec(0))
    one_line = enclosed(ball, Tied((1, 0), True, True, B=matrix(mat([[3, 0], [0, 0]]), 2)), True)
    assert one_line.straight and one_line.error == F(3, 2)
    nothing = enclosed(ball, Tied((1, 0), True, True), None)
    assert (nothing.v, nothing.error, nothing.straight) == (vec(0, 0), F(2), False)
    exact = exactly(Tied((-1, 0), True, True, v=vec(1, 2)), False, in_field=False)
    assert (exact.sign, exact.v, exact.error, exact.straight, exact.used) == (-1, vec(1, 2), ZERO, True, False)

    class Near:
        """A number between 1 and 2."""

        def __init__(self, low: int, high: int) -> None:
            self.low, self.high = low, high

        def __neg__(self) -> Near:
            return Near(-self.high, -self.low)

        def upper(self) -> F:
            return F(self.high)

    some: Any = [Near(1, 2), Near(-4, -1)]
    assert enclosure(some) == (vec("3/2", "-5/2"), F(4))


def test_optima_in_a_field() -> None:
    """v* within its enclosure, not straight, and itself; used is what the vertices use, or what the set says."""
    field = read_field(Node({"polynomial": "-2 0 1", "lo": "1", "hi": "2"}))
    root = field.number(vec(0, 1))
    neurons = tuple(Tied((xi, 0), active, True, v=(xi * root,)) for xi, active in ((1, None), (-1, True)))
    found = OptimalSet(2, 1, 0, 0, SimpleNamespace(rational=False), True, neurons)  # type: ignore[arg-type]

    def in_field(found: OptimalSet, listed: Polytope | None) -> Optimum:
        known = find_optimum(None, False, found, listed)  # type: ignore[arg-type]
        assert known is not None and known.weights is None
        return known

    plain = in_field(found, None)
    assert [(a.sign, a.straight, a.used, a.in_field) for a in plain.neurons] == [
        (1, False, None, (root,)),
        (-1, False, True, (-root,)),
    ]
    assert plain.points is None and not plain.errors
    assert [(a.v, a.error) for a in plain.neurons] == [enclosure([root]), enclosure([-root])]
    assert not plain.neurons[0].along(vec(0)) and plain.neurons[0].along(vec(7))
    listed = Polytope(((0,),), (), 1, (0,), 1, points=({0: root},))  # type: ignore[arg-type]
    used = in_field(found, listed)
    assert [a.used for a in used.neurons] == [True, False] and used.points is not None
    assert abs(used.points[0][0] ** 2 - 2) < 1
    wide = replace(listed, points=({0: root, 1: 10**9 * root},))  # type: ignore[arg-type]
    errors = [enclosure([x])[1] for x in (root, 10**9 * root)]
    assert errors[0] < errors[1] and in_field(found, wide).errors == (errors[1],)


def test_directions_of_neurons_that_are_used() -> None:
    """Neurons of the same sign that may be used bound from below, those that are used from above."""
    ball = Ball(PLANE, vec(1, 1), ZERO)
    right, up, off = known((1, 0), used=None), known((0, 1)), known((1, 0), used=False)
    here = line((1, 0))
    for neurons, expected in (
        ((right,), (0, 2)),
        ((known((1, 0)),), (0, 0)),
        ((off,), (2, 2)),
        ((known((1, 0), -1),), (2, 2)),
        ((known((-1, 0)),), (2, 2)),
    ):
        assert bounds(ball, Optimum(neurons, None, (), None), here) == tuple(map(F, expected))
    assert bounds(ball, None, here) == (by_correlation(ball, here), 2)
    low, high = bounds(ball, Optimum((right, up), None, (), None), here)
    assert low == 0 and high**2 >= 2 > (high - F(1, 10**9)) ** 2


# ------------------------------------------------------------------------------------------------ stationary points


def test_gradients_by_hand() -> None:
    """lambda W1_i - sum a_k z_k over the rows, a = w2_i r; no lambda at a free bias."""
    a = vec(15, 21)
    assert gradient(PLANE, vec(1, 2), a, 0b01) == vec(2 - 15, 4 - 15)
    assert gradient(PLANE, vec(1, 2), a, 0b11) == vec(2 - 15 + 21, 4 - 15 - 21)
    assert gradient(replace(PLANE, biases=True), vec(1, 2), a, 0b01) == vec(2 - 15, -15)
    space = replace(PLANE, seen=mat([[1, 2, 1], [0, 1, 1]]), biases=True)
    assert gradient(space, vec(1, 2, 9), a, 0) == vec(2, 4, 0)


def test_kinks_of_given_networks() -> None:
    """Rows on which w vanishes, where the residual and the output weight are not 0."""
    weights = weights_of(line((1, 1)), residual=(5, 7))

    def kinks(weights: Weights, problem: Problem = PLANE) -> list[int]:
        return kinks_of(problem, weights.W1[0], pulls(problem, weights, 0))

    assert kinks(weights) == [1]
    assert kinks(replace(weights, residual=vec(5, 0))) == []
    assert kinks(replace(weights, w2=vec(0))) == []
    assert kinks(weights, replace(PLANE, seen=mat([[0, 0], [-1, 1]]))) == [1]


def test_gradients_of_output_biases() -> None:
    """|b2| times the squares of lambda - xi sum r, lambda - xi (ones.r), and of the other columns."""
    weights = replace(weights_of(line((1, 1)), residual=(5, 7)), b2=F(3))
    assert of_bias(PLANE, weights) == 3 * (100 + 100 + 4)
    assert of_bias(PLANE, replace(weights, b2=F(-3))) == 3 * (14**2 + 14**2 + 4)
    assert of_bias(replace(PLANE, free=("output-bias",)), weights) == 0
    assert of_free(replace(PLANE, outputs=mat([[1, 1], [1, -1]])), weights) == 12**2 + 2**2


def test_cells_around_a_kink(monkeypatch: pytest.MonkeyPatch) -> None:
    """w = (1, 1) is zero on the second row: the gradients there and here are the ends, weights add up to 1."""
    weights = weights_of(line((1, 1)), residual=(5, 7))
    patterns = Patterns([0b01, 0b11, 0b10], {}, 2)

    def distance(*entries: list[Any], patterns: Patterns | None = patterns) -> tuple[F, F]:
        a = pulls(PLANE, weights, 0)
        return nearest(PLANE, patterns, weights.W1[0], a, [1], Node(list(entries), None, "stationary"))

    first, second = vec(2 - 5, 2 - 5), vec(2 - 5 + 7, 2 - 5 - 7)
    assert distance([0, "1"]) == (F(18), F(18))
    assert distance([1, "1"])[1] == second[0] ** 2 + second[1] ** 2
    x = tuple((a + b) / 2 for a, b in zip(first, second, strict=True))
    length = x[0] ** 2 + x[1] ** 2
    least = min(sum(a * b for a, b in zip(x, corner, strict=True)) for corner in (first, second))
    assert distance([0, "1/2"], [1, "1/2"]) == (least**2 / length, length)
    monkeypatch.setattr(stationary, "MOST_CELLS", 2)
    assert distance([0, "1"])[0] > 0
    monkeypatch.setattr(stationary, "MOST_CELLS", 1)
    assert distance([0, "1"]) == (ZERO, F(18))
    for entries, said in (
        ([[0, "1/2"]], "add up to 1, found 1/2"),
        ([[0, "1/2"], [1, "1"]], "add up to 1, found 3/2"),
        ([[0, "1"], [1, "0"]], "a weight > 0"),
        ([[0, "2"], [1, "-1"]], "a weight > 0"),
        ([[2, "1"]], "an index below 2"),
    ):
        with pytest.raises(Rejected, match=said):
            distance(*entries)
    with pytest.raises(Rejected, match="the fact patterns"):
        distance([0, "1"], patterns=None)
    twice = weights_of(line((1, 1)), line((2, 2), number=1), residual=(5, 7))
    assert check_stationary(PLANE, patterns, twice, Node([[[0, "1"]], [[0, "1"]]])).kinks == 2
    straight = weights_of(line((1, 2)), residual=(5, 7))
    found = check_stationary(PLANE, None, straight, Node([[]]))
    assert (found.kinks, found.lower) == (0, found.upper)
    assert found.upper == (2 - 5 + 7) ** 2 + (4 - 12) ** 2 + (2 - 15 - 7) ** 2


def test_own_patterns_by_hand() -> None:
    """1(Zw >= 0) of every neuron, each once: a dual point of the one block, and the network itself."""
    one = Problem("relu", ONE, mat([[1]]), vec(3))
    weights = Weights((vec(1),), vec(2), ZERO, (), (neuron_of(one, 0, 1, vec(2)),), vec(3), vec(1), ZERO)
    fields_ = {
        "primal": {"neurons": [{"block": 0, "w": "2", "norm": "2"}]},
        "dual": {"theta": "1", "multipliers": ["0", "0"]},
    }
    own = check_own(one, weights, Node(fields_))
    assert (own.patterns, own.lower, own.upper) == (1, F(5, 2), F(5, 2))


def test_the_gradient_of_an_output_bias_counts() -> None:
    """It is added to that of the neurons."""
    still = replace(weights_of(line((1, 2)), residual=(5, 7)), b2=F(3))
    plain = check_stationary(PLANE, None, replace(still, b2=ZERO), Node([[]]))
    found = check_stationary(PLANE, None, still, Node([[]]))
    assert found.upper - plain.upper == found.lower - plain.lower == of_bias(PLANE, still) > 0


def test_opposite_directions() -> None:
    """sqrt(2 - 2 c / s) for c < 0: at 135 degrees and at 180."""
    low, high = apart(vec(1, 0), known((-1, 1)))
    assert low**2 <= 2 + F(14142135624, 10**10) and high**2 >= 2 + F(14142135623, 10**10) and high - low < F(1, 10**30)
    assert apart(vec(1, 0), known((-3, 0))) == (2, 2) and apart(vec(1, 0), known((5, 0))) == (0, 0)


def test_arrays_that_are_null() -> None:
    """Null stands for none of the known arrays, and for nothing else."""
    assert set(read_json(b'{"W1": [[1]], "w2": [1], "b1": null, "b2": null, "skip": null}', Limits())) == {"W1", "w2"}
    with pytest.raises(TypeError, match="a number is"):
        read_json(b'{"W1": [[1]], "w2": [1], "extra": null}', Limits())
