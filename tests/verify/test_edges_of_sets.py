"""Optimal sets at their edges: balls, classes, masses, ties, faces, corners and fields, one condition at a time."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from types import SimpleNamespace
from typing import Any

import pytest
from flint import fmpq, fmpq_mat, fmpq_poly, fmpz

from tests.verify.oracle.brute import mat, vec
from verify import Rejected
from verify.facts import COVER, DUAL, LAMBDA_MAX, MULTIPLIERS, NEURONS, SET, VALUE, Facts, proved
from verify.numbers.bounds import column, dual_basis, fraction, identity, matrix, root_above
from verify.numbers.field import Field, FieldMatrix, Number, read_field
from verify.numbers.patterns import Patterns
from verify.optimal.ball import Ball, Class, Face, Plane
from verify.path.lifted import check_inside
from verify.path.moving import Along, check_concave
from verify.path.onset import Moving
from verify.problem.problem import Problem
from verify.rules import cover as cover_rule
from verify.rules import cover_set
from verify.rules.cover import check as check_by_cover
from verify.rules.elastic.dual import check_elastic
from verify.rules.exact_set import check_exact_set
from verify.rules.faces import at_kinks, check_faces, check_idle_direction, check_leaving, check_stable
from verify.rules.lambda_max import check_lambda_max
from verify.rules.min_norm import check_min_norm
from verify.rules.polytope import check_polytope, read_bases, read_corner, support_of, walk
from verify.rules.value import Dual, Value
from verify.sets import in_field
from verify.sets.classes import read_class
from verify.sets.direct import gated, merged, read_direct
from verify.sets.in_field import InField
from verify.sets.masses import check_masses, check_set, of_class, one_sided, shared_masses
from verify.sets.neurons import Neuron, are_independent
from verify.sets.shortest import check_shortest, weights
from verify.sets.solutions import OptimalSet, System, set_rule
from verify.sets.split import check_split, read_mixed
from verify.sets.superclasses import Candidates, stretch
from verify.sets.system import chosen, restricted, tableau
from verify.sets.ties import Optimum, Tied, check_solutions, exact_system, neuron_of, tied_neurons
from verify.text import Node

ZERO, ONE = F(0), F(1)
NODE = Node(None, None, "here")
ROW = matrix(mat([[1]]), 1)


def relu(Z: Any, y: Any = None, lam: Any = 1, **more: Any) -> Problem:
    """A ReLU problem over these rows."""
    return Problem("relu", F(lam), mat(Z), vec(*(y or [1] * len(Z))), **more)


def direct(X: Any, K: Any, lam: Any = 1, y: Any = None) -> Problem:
    """A direct problem of single columns, or of one block if K is a list of its rows."""
    sizes = len(X[0])
    groups = (tuple(range(sizes)),) if K is not None else tuple((j,) for j in range(sizes))
    cones = (mat(K),) if K is not None else (None,) * sizes
    return Problem("cgl", F(lam), mat(X), vec(*(y or [1] * len(X))), groups=groups, K=cones)


def system(A: Any, g: Any, e: Any = 0, d: Any = 0, exact: bool = True, silent: Any = None) -> System:
    """Equations with the same errors in all rows."""
    rows = mat(A)
    size = len(rows[0])
    errors = (F(e),) * len(rows), (F(d),) * len(rows)
    return System(matrix(rows, size), vec(*g), *errors, tuple(range(size)), size, silent or {}, exact=exact)


# ------------------------------------------------------------------------------------------------ balls and classes


def test_rows_that_are_surely_off() -> None:
    """t_k < 0 with t_k^2 > R^2 around every centre; on the bound it is not sure."""
    problem = relu([[1], [1], [1]])
    ball = Ball(problem, vec(-2, 1, -1), ONE)
    assert ball.fine == {1: 0b110, -1: 0b111}
    assert Ball(problem, vec(-2, 2, -3), ONE, (vec(-2, 0, -3),)).fine == {1: 0b010, -1: 0b111}
    assert Ball(problem, vec(-2, 2, -3), ONE, (vec(-1, 2, -3),)).fine == {1: 0b011, -1: 0b101}


def test_gated_classes_and_blocks() -> None:
    """A pattern that is listed; its rows alone. A block has its own."""
    gated_ = replace(relu([[2], [3]]), model="gated")
    found = read_class(Ball(gated_, vec(1, 1), ZERO), {0b01: 0}, Node({"pattern": "10"}))  # type: ignore[arg-type]
    assert (found.key, found.zeros, found.B.entries(), found.bound) == ((0, 1), 0, [2, 0], 13)
    for patterns in (None, {0b10: 0}):
        with pytest.raises(Rejected, match="a pattern in D_Z"):
            read_class(Ball(gated_, vec(1, 1), ZERO), patterns, Node({"pattern": "10"}))  # type: ignore[arg-type]
    block = direct([[1, 0], [0, 1]], [[0], [1]])
    fields = {"block": 0, "kinks": [], "basis": [], "idle": [], "fixed": ""}
    class_ = read_class(Ball(block, vec(1, -2), ZERO), None, Node(fields))
    assert (class_.key, class_.zeros, class_.bound) == ((0, 0), 0, 2)


def test_kinks_that_the_ball_moves() -> None:
    """Z = (1, 1), (0, 1): mu = -t_0 between p = t_1 and 0, moved by 2 (|W|^2 |Z|^2 + 1) R^2 = 8 R^2: 1 > 8 R^2."""
    ball = Ball(relu([[1, 1], [0, 1]]), vec(1, -2), F(1, 9))
    fields = {"sign": "+", "pattern": "10", "kinks": [1], "basis": [1], "idle": [], "fixed": ""}
    assert read_class(ball, None, Node(fields)).kinks == (1,)
    with pytest.raises(Rejected, match=r"x\^2 > 1,"):
        read_class(replace(ball, R_squared=F(1, 8)), None, Node(fields))


def test_independent_constraints() -> None:
    """Multiples, positive or not, are one hyperplane; zero is none."""
    for vectors, good in (
        ([(1, 0), (2, 0)], True),
        ([(1, 0), (-1, 0)], True),
        ([(1, 0), (0, 3), (0, 0)], True),
        ([(1, 0), (0, 1), (1, 1)], False),
        ([(0, 0)], True),
        ([(2, 4), (1, 2), (3, 6)], True),
    ):
        assert are_independent(vec(*v) for v in vectors) is good


def face(idle: tuple[int, ...], kinks: tuple[int, ...] = (0,)) -> Face:
    """A face with these idle kinks."""
    return Face(kinks, (), idle, {}, identity(1), ())


def test_idle_kinks_on_their_bounds() -> None:
    """All of direct problems; relu: those without a row that looks the other way."""
    one, both = relu([[1], [2]]), relu([[1], [-2]])
    assert one_sided(one, face((0,))) == (0,) and one_sided(both, face((0,))) == ()
    assert one_sided(one, face(())) == () and one_sided(direct([[1]], [[1]]), face((0,))) == (0,)
    for problem, strict in ((one, None), (both, True)):
        assert of_class(problem, Class((1, 0), (0,), 1, ROW, ONE, face((0,))), True, F(3)).strict is strict
    plain = of_class(one, Class((1, 0), (), 0, ROW, ONE), None, F(3))
    assert (plain.strict, plain.independent, plain.weight, plain.active) == (True, True, 3, None)


def test_stretches() -> None:
    """|A x| >= sigma |x| with 1/sigma^2 = |A^+|_F^2, however large or small A is; 0 where columns are dependent, and
    nothing to stretch is stretched."""
    for size in (ONE, F(10**40), F(1, 3**400)):
        found = stretch(matrix(mat([[3 * size, 0], [0, 4 * size], [0, 0]]), 2)) / size
        assert 0 <= F(12, 5) - found < F(1, 10**30)
    assert stretch(matrix(mat([[1, 1], [1, 1]]), 2)) == stretch(matrix(mat([[1, 2]]), 2)) == ZERO
    assert stretch(fmpq_mat(2, 0)) > 0
    assert stretch(fmpq_mat(0, 2)) == ZERO  # a split of no neuron into two masses


def test_stretches_below_what_rounding_hides() -> None:
    """Entries are rounded down, which makes negative ones longer: sigma is never above the truth, by no digit."""
    for x in (F(1, 3), F(-1, 3), -1 - F(1, 2**300)):
        for n in (1, 2, 4):
            sigma = stretch(matrix([[x]] * n, 1))
            assert sigma > 0 and 0 <= n * x * x - sigma**2 < F(1, 10**60)
    near = [[ONE, ONE], [ONE, 1 + F(1, 2**256)]]  # |A (1, -1)| = 2^-256
    assert stretch(matrix(near, 2)) == ZERO
    h = F(1, 2**297)  # below a unit, and rounded up to one in each of a hundred rows
    assert stretch(matrix([[F(3, 4) - h, F(-3, 4) - h], *[[-h, -h]] * 99], 2)) == ZERO
    h = F(1, 2**167)  # the inverse that is found is not good enough
    rows = [[g - h, -g - h] for g in (F(3, 4), F(3, 4), F(-3, 4), F(-3, 4))]  # |A (1, 1)| = 4 h
    assert stretch(matrix(rows, 2)) ** 2 <= 8 * h * h


# ------------------------------------------------------------------------------------------------ masses


def candidates(bounds: list[int], R: F = ZERO, y: Any = (3, 0)) -> Candidates:
    """Two classes with outputs (1, 0) and (0, 1) at theta = (1, 1), without a lift."""
    problem = direct([[1, 0], [0, 1]], None, y=y)
    classes = [Class((0, j), (), 0, matrix(mat([[j == 0], [j == 1]]), 1), F(bound)) for j, bound in enumerate(bounds)]
    return Candidates(Ball(problem, vec(1, 1), R**2), classes, (), fmpq_mat(0, 2))


def test_errors_of_masses() -> None:
    """delta = (missed + R + eps |masses|) / (sigma - eps), eps = sqrt(S) g R with the largest g."""
    assert candidates([4, 1], F(1, 10)).moved == F(4, 10) and candidates([1, 4], F(1, 10)).moved == F(4, 10)

    def delta(masses: str, R: F = ZERO) -> F:
        return check_masses(candidates([1, 1], R, (4, 5)), {"masses": Node(masses, None, "masses")})[1]

    sigma = stretch(identity(2))
    assert 0 <= F(1, 2) - sigma**2 < F(1, 10**30)
    assert delta("3 4") == 0 and delta("0 0") == 5 / sigma and delta("3 4", F(1, 10**40)) > 0
    R = F(1, 100)
    eps = root_above(F(2)) * R
    assert delta("3 4", R) == (R + 5 * eps) / (sigma - eps)
    with pytest.raises(Rejected, match="what the ball can change"):
        delta("3 4", F(1, 2))
    assert delta("3 4", F(499, 1000)) > 0
    two = candidates([1, 1])
    three = replace(two, classes=[*two.classes, Class((0, 2), (), 0, matrix(mat([[1], [1]]), 1), F(2))])
    with pytest.raises(Rejected, match="what the ball can change"):  # dependent outputs, though nothing moves
        check_masses(three, {"masses": Node("1 1 1", None, "masses")})


def test_a_mass_on_its_error_may_be_zero() -> None:
    """Neurons are known to be active if their mass is above its error, not if it is equal to it."""
    found = candidates([1, 1], y=(4, 1))
    fields = {"lift": [], "masses": "3 1", "split": "", "forced": ""}
    nodes = {key: Node(value, None, key) for key, value in fields.items()}
    for y, active in (((4, 2), (True, True)), ((4, 1), (True, None)), ((5, 2), (True, None))):
        ball = replace(found.ball, problem=replace(found.ball.problem, y=vec(*y)))
        assert tuple(neuron.active for neuron in check_set(ball, found.classes, nodes).neurons) == active


def test_masses_that_no_other_class_shares() -> None:
    """A mass within its error may be 0: then it is not known whether the class is active, nor whether it bends."""
    found = candidates([1, 1])
    both = replace(found, classes=[replace(one, kinks=(0,)) for one in found.classes])
    for masses, active in ((vec(1, 2), [True, True]), (vec("1/2", 2), [None, True]), (vec(2, "1/4"), [True, None])):
        one = shared_masses(both, masses, F(1, 2), NODE)
        assert (one.classes, one.dimension, one.kinked, one.bends) == (2, 0, 2, active.count(True))
        assert [neuron.active for neuron in one.neurons] == active and identity(2) == one.system.F
        assert tuple(neuron.weight for neuron in one.neurons) == masses


def test_weights_of_blocks() -> None:
    """Neurons that lie in several blocks have no weight of their own, unless all is exact."""
    found = OptimalSet(1, 0, 1, 1, system([[1]], [1]))
    blocks = replace(relu([[1]]), blocks=((1, 1),))
    assert weights(relu([[1]]), found, NODE) and weights(blocks, replace(found, exact=True), NODE)
    assert weights(blocks, replace(found, bends=0), NODE)
    with pytest.raises(Rejected, match="neurons that lie in one block each, found 1 in several"):
        weights(blocks, found, NODE)


def test_rules_of_sets() -> None:
    """On the ground of multipliers they need the list of patterns, on that of a cover they do not."""
    both = OptimalSet(1, 0, 0, 0, system([[1]], [1]))
    rule = set_rule(lambda *_: both)
    assert (
        rule.listed
        and not set_rule(lambda *_: both, by=COVER).listed
        and COVER in set_rule(lambda *_: both, by=COVER).rests
    )
    assert rule.rests[0] == DUAL and rule.rests[2] == VALUE
    facts = rule.check(relu([[1]]), Facts(), NODE)
    assert facts[SET] is both and facts[NEURONS] is both


# ------------------------------------------------------------------------------------------------ ties


def optimum(problem: Problem, r: Any, bounds: Any = None) -> Optimum:
    """r* = r."""
    return Optimum(Ball(problem, vec(*r), ZERO), vec(*r), Node(bounds))


def test_what_is_known_of_tied_neurons() -> None:
    """Rows above 0 for ReLU, the pattern for gated networks, the block for direct problems; no B at kinks."""
    at = optimum(relu([[1, 0], [0, 1], [-1, 0]]), (1, 1, 1))
    tied = Tied((1, 0b11), vec(2, 0), vec(2, 0, 0), (5, 6))
    strict = at.known(Neuron((1, 0), True, True, strict=True), tied, F(3))
    assert strict.B is not None and strict.B.entries() == [1, 0, 0, 0, 0, 0] and strict.blocks == 3
    assert (strict.weight, strict.v, strict.q) == (3, vec(2, 0), vec(2, 0, 0))
    assert at.known(Neuron((1, 0), True, True, strict=None), tied, F(3)).B is None
    whole = optimum(replace(at.ball.problem, model="gated"), (1, 1, 1))
    known = whole.known(Neuron((0, 2), True, True, strict=True), Tied((0, 0b010), vec(2, 0), vec(0, 0, 0)), F(1))
    assert known.B is not None and known.B.entries() == [0, 0, 0, 1, 0, 0] and known.blocks == 1
    block = optimum(direct([[1, 2], [3, 4]], [[0], [1]]), (1, 1))
    known = block.known(Neuron((0, 0), True, True, strict=True), Tied((0, 0), vec(2, 0), vec(0, 0)), F(1))
    assert known.B is not None and known.B.entries() == [1, 2, 3, 4]


def test_tight_constraints_of_tied_neurons() -> None:
    """Lines of ReLU networks, constraints other than zero of blocks; strict where nothing is tight."""
    at = optimum(relu([[1, 0], [0, 1], [0, 0]]), (1, 1, 1))
    for v, strict, independent in (((2, 1), True, True), ((2, 0), None, True), ((0, 0), None, True)):
        found = neuron_of(at, Tied((1, 0), vec(*v), ()), True)
        assert (found.strict, found.independent) == (strict, independent)
    three = optimum(relu([[1, 0], [0, 1], [1, 1]]), (1, 1, 1))
    assert not neuron_of(three, Tied((1, 0), vec(0, 0), ()), True).independent
    block = optimum(direct([[1, 0], [0, 1]], [[0, 0], [1, 0]]), (1, 1))
    assert neuron_of(block, Tied((0, 0), vec(2, -1), ()), True).strict is True
    assert neuron_of(block, Tied((0, 0), vec(2, 0), ()), True).strict is None


def test_neurons_in_two_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """ReLU: zero on a row that is not zero; or carried by other blocks; and with positive weight."""
    at = optimum(relu([[1, 0], [0, 1], [0, 0]], y=(2, 1, 1)), (1, 1, 1))
    other = optimum(replace(at.ball.problem, model="gated"), (1, 1, 1))
    block = optimum(direct([[1, 0], [0, 1], [0, 0]], [[0], [1]], y=(2, 1, 1)), (1, 1, 1))
    for by, v, others, expected in (
        (at, vec(2, 0), (), 1),
        (at, vec(2, 1), (), 0),
        (other, vec(2, 0), (), 0),
        (other, vec(2, 1), (1,), 1),
        (block, vec(2, 0), (), 0),  # on the boundary of its cone
    ):
        idle = Tied((1, 0), vec(0, 1), vec(0, 1, 0), () if by is block else (2,))
        tied = [Tied((1, 0), v, vec(1, 0, 0), others), idle]
        monkeypatch.setattr("verify.sets.ties.tied_neurons", lambda *_, tied=tied: tied)
        fields = {"solutions": Node(["1 0"]), "farkas": Node("0 1 0")}
        found = check_solutions(by, None, NODE, fields)  # type: ignore[arg-type]
        assert (found.bends, found.kinked) == (expected, expected)
    blocks = ((1, 1), (-1, 1), (1, 3))
    found = [Tied((0, b), v, ()) for b, v in enumerate((vec(1, 0), vec(1, 0), vec(1, 0)))]
    assert [(a.key, a.others) for a in merged(blocks, found)] == [((0, 0), (2,)), ((0, 1), ())]


def test_ties_of_gated_networks() -> None:
    """Every pattern with |Z'D r| = lambda, with its output on its own rows; more is rejected."""
    problem = replace(relu([[1], [1]], lam=2), model="gated")
    at = optimum(problem, (1, 1))
    found = list(gated(at, Patterns([0b00, 0b01, 0b11], {}, 3), NODE))
    assert [(a.key, list(a.v), list(a.q)) for a in found] == [((0, 3), [2], [2, 2])]
    half = optimum(replace(problem, lam=F(1, 2)), (F(1, 2), 0))
    assert [list(a.v) for a in gated(half, Patterns([0b01], {}, 1), NODE)] == [[F(1, 2)]]
    below = gated(optimum(problem, (-1, -1)), Patterns([0b11], {}, 1), NODE)
    assert [list(a.v) for a in below] == [[-2]]
    one = list(gated(optimum(problem, (2, 0)), Patterns([0b01], {}, 1), NODE))
    assert [(a.key, list(a.q)) for a in one] == [((0, 1), [2, 0])]
    with pytest.raises(Rejected, match=r"\|v\|\^2 <= lambda\^2"):
        list(gated(optimum(problem, (2, 1)), Patterns([0b11], {}, 1), NODE))
    with pytest.raises(Rejected, match="the fact patterns"):
        tied_neurons(at, None, NODE)
    with pytest.raises(Rejected, match="the fact patterns"):
        tied_neurons(optimum(relu([[1], [1]]), (1, 1)), None, NODE)


def test_ties_of_blocks() -> None:
    """v = X'r - K rho is the projection where |v| = lambda: K'v <= 0, and no pull on a constraint that is slack."""
    problem = direct([[1, 0], [0, 1]], [[0, 1], [1, 0]], 2)

    def tied(r: Any, rho: Any) -> list[Any]:
        return [list(a.v) for a in tied_neurons(optimum(problem, r, [rho]), None, NODE)]

    assert tied((-2, 3), "3 0") == [[-2, 0]] and tied((-2, 0), "0 0") == [[-2, 0]] and tied((-1, -1), "0 0") == []
    assert tied((-2, 0), None) == [[-2, 0]]
    single = direct([[1]], [[1, 1]], 2)
    assert [list(a.v) for a in tied_neurons(optimum(single, (-2,), ["0 0"]), None, NODE)] == [[-2]]
    for r, rho in (((2, 0), "0 0"), ((0, 2), "0 0"), ((0, 0), "0 -2"), ((-1, 0), "0 1"), ((-2, 2), "2 1")):
        if rho == "2 1":
            with pytest.raises(Rejected, match=r"\|v\|\^2 <= lambda"):
                tied(r, rho)
        else:
            with pytest.raises(Rejected, match="K_b'v <= 0 and rho"):
                tied(r, rho)


def test_two_solutions_or_one() -> None:
    """Twins: two different solutions, or one with a Farkas vector; weights are known where there is one."""
    twins = direct([[1, 1]], None, y=(3,))

    def found(solutions: list[str], farkas: str, problem: Problem = twins, r: Any = (1,)) -> OptimalSet:
        nodes = {"solutions": Node(solutions, None, "solutions"), "farkas": Node(farkas, None, "farkas")}
        return check_solutions(optimum(problem, r, [None] * len(problem.groups)), None, NODE, nodes)

    both = found(["2 0", "0 2"], "")
    assert (both.classes, both.dimension, [one.weight for one in both.neurons]) == (2, 1, [0, 0])
    assert [one.active for one in both.neurons] == [True, True]
    assert [one.active for one in found(["2 0", "1 1"], "").neurons] == [True, True]
    third = direct([[1, 1, 0], [0, 0, 1]], None, y=(3, 1))
    assert [one.active for one in found(["2 0 0", "0 2 0"], "", third, (1, 1)).neurons] == [True, True, None]
    for solutions in (["2 0", "2 0"], [], ["2 0", "0 2", "1 1"]):
        with pytest.raises(Rejected, match="one solution, or two that are different"):
            found(solutions, "")
    apart = direct([[1, 0], [0, 1]], None, y=(3, 1))
    one = found(["2 0"], "0 1", apart, (1, 1))
    assert (one.dimension, [a.active for a in one.neurons], [a.weight for a in one.neurons]) == (
        0,
        [True, False],
        [2, 0],
    )
    for solutions, farkas, said in (
        (["1 0"], "0 1", "the fit y - r at row 0"),
        (["2 -1"], "0 1", "weights >= 0"),
        (["2 0"], "0 0", "h.q > 0 for the tied neuron 1"),
        (["2 0"], "1 1", "h.q = 0 for the tied neuron 0"),
        (["2 0"], "0 -1", "h.q > 0 for the tied neuron 1"),
        (["2 0"], "-1 1", "h.q = 0 for the tied neuron 0"),
    ):
        with pytest.raises(Rejected, match=said):
            found(solutions, farkas, apart, (1, 1))
    with pytest.raises(Rejected, match="2 that are dependent"):
        found(["1 1"], "0")


def test_exact_sets_are_of_exact_optima() -> None:
    """upper = lower, so that r* = theta."""
    problem = direct([[1]], None, y=(3,))
    facts = Facts({DUAL: Dual(vec(1), ZERO), VALUE: Value(F(5, 2), F(5, 2), ZERO)})
    node = Node({"solutions": ["2"], "farkas": "0"})
    assert check_exact_set(problem, Facts({**facts.proved, MULTIPLIERS: Node([None])}), node).exact


# ------------------------------------------------------------------------------------------------ faces


def test_stable_faces_are_those_of_their_neurons() -> None:
    """One block, the same sign and the same v."""
    problem = relu([[1, 1], [0, 1]])
    ball = Ball(problem, vec(1, -2), ZERO)
    entry = {"sign": "+", "pattern": "10", "kinks": [1], "basis": [1], "idle": [], "fixed": ""}
    neuron = Neuron((1, 0b01), True, True, v=vec(1, 0))
    found = check_stable(ball, None, neuron, Node(entry))
    assert found.strict is True and found.B is not None and found.face is not None
    minus = Ball(problem, vec(-1, 2), ZERO)
    below = check_stable(minus, None, replace(neuron, key=(-1, 1)), Node({**entry, "sign": "-"}))
    assert below.strict is True
    for other in (replace(neuron, key=(-1, 0b01)), replace(neuron, v=vec(2, 0)), replace(neuron, v=vec(-1, 0))):
        with pytest.raises(Rejected, match="the class of the tied neuron"):
            check_stable(ball, None, other, Node(entry))
    assert check_stable(ball, None, replace(neuron, blocks=1), Node(entry))
    with pytest.raises(Rejected, match="several blocks"):
        check_stable(ball, None, replace(neuron, blocks=2), Node(entry))
    block = Ball(direct([[1, 0], [0, 1]], [[0], [1]]), vec(1, 2), ZERO)
    kinked = {"block": 0, "kinks": [0], "basis": [0], "idle": [], "fixed": ""}
    tied = Neuron((0, 0), True, True, v=vec(1, 0))
    assert check_stable(block, None, tied, Node(kinked)).strict is True
    for wrong in (replace(tied, key=(0, 1)), replace(tied, v=vec(1, 1))):
        with pytest.raises(Rejected, match="the class of the tied neuron"):
            check_stable(block, None, wrong, Node(kinked))
    idle = direct([[1, 0], [0, 0]], [[0], [1]])
    loose = {**kinked, "basis": [], "idle": [0]}
    assert check_stable(Ball(idle, vec(1, 2), ZERO), None, tied, Node(loose)).strict is None


def test_directions_that_leave_a_face() -> None:
    """Some kink is left, not all: the others may be kept."""
    problem, theta = relu([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), vec(2, -3, -3)
    neurons = [Neuron((1, 0), True, True, v=vec(2, 0, 0), q=vec(2, 0, 0))]
    nodes = {"u": Node("0 -1 0", None, "u"), "h": Node("", None, "h")}
    assert check_leaving(problem, theta, neurons, 0, nodes).strict is False
    known = [replace(neurons[0], breaks=True)]
    assert (
        check_leaving(problem, theta, known, 0, nodes).breaks
        and not check_leaving(problem, theta, neurons, 0, nodes).breaks
    )
    direct_ = direct([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 0], [1, 0], [0, 1]])
    idle = replace(neurons[0], key=(0, 0), face=Face((0, 1), (), (0, 1), {}, identity(3), ()))
    for u, good in (("0 -1 0", True), ("0 -1 -1", True), ("1 0 0", False), ("0 1 0", False), ("0 -1 1", False)):
        nodes = {"u": Node(u, None, "u"), "h": Node("", None, "h")}
        if good:
            check_idle_direction(direct_, idle, nodes)
        else:
            with pytest.raises(Rejected, match=r"leaves the face|<= 0 at the kink"):
                check_idle_direction(direct_, idle, nodes)
    fixed = replace(idle, face=Face((0, 1), (0,), (1,), {}, identity(3), ()))
    with pytest.raises(Rejected, match="0 at the kink 0"):
        check_idle_direction(direct_, fixed, {"u": Node("0 -1 -1", None, "u"), "h": Node("", None, "h")})
    for none in (None, Face((), (), (), {}, identity(3), ())):
        with pytest.raises(Rejected, match="a neuron with kinks"):
            check_idle_direction(direct_, replace(idle, face=none), {"u": Node("0 -1 0"), "h": Node("")})
    with pytest.raises(Rejected):
        check_idle_direction(direct_, idle, {"u": Node("0 -1 0"), "h": Node("1")})


def test_rows_of_tied_neurons_that_are_on() -> None:
    """z.v > 0, however small: these rows are in B."""
    at = optimum(relu([[1, 0], [0, 1], [-1, 0]]), (1, 1, 1))
    neuron = Neuron((1, 0), True, True, strict=True)
    found = at.known(neuron, Tied((1, 0), vec("1/9", "1/2"), vec(1, 2, 3)), ONE)
    assert found.B is not None and found.B.entries() == [1, 0, 0, 1, 0, 0]


def test_rows_on_and_off_beside_a_kink() -> None:
    """Rows above 0 move with u, rows below do not, rows at 0 only upwards."""
    problem = relu([[1, 0], [-1, 0], [0, 1]])
    neuron = Neuron((1, 0), True, True, v=vec(2, 0))
    tight, gain, moved = at_kinks(problem, vec(5, 7, 11), neuron, vec(3, 4), NODE)
    assert (tight, gain, moved) == (mat([[0, 1]]), F(15 + 44 - 6), vec(3, 0, 4))
    assert at_kinks(problem, vec(5, 7, 11), neuron, vec(3, -4), NODE)[2] == vec(3, 0, 0)
    short = replace(neuron, v=vec("1/9", 0))
    assert at_kinks(problem, vec(5, 7, 11), short, vec(-3, -4), NODE)[2] == vec(-3, 0, 0)


def test_faces_in_order() -> None:
    """A class for each neuron, or null; neurons that leave their faces ascend."""
    problem = relu([[1, 0], [0, 1]])
    neurons = tuple(Neuron((1, 0), True, True, v=vec(*v), q=vec(0, 0)) for v in ((2, 0), (0, 2)))
    found = OptimalSet(2, 0, 0, 0, system([[1, 1]], [1]), True, neurons)
    facts = Facts({NEURONS: found, DUAL: Dual(vec(2, 2), ZERO)})

    def faces(**more: Any) -> OptimalSet:
        return check_faces(problem, facts, Node({"stable": [None, None], "leaving": [], **more}))[NEURONS]

    assert faces().neurons == neurons
    first, second = {"neuron": 0, "u": "0 -1", "h": ""}, {"neuron": 1, "u": "-1 0", "h": ""}
    assert [one.strict for one in faces(leaving=[first, second]).neurons] == [False, False]
    assert [one.strict for one in faces(leaving=[second]).neurons] == [None, False]
    for leaving in ([second, first], [first, first]):
        with pytest.raises(Rejected, match="neurons in ascending order"):
            faces(leaving=leaving)
    with pytest.raises(Rejected, match="an array of 2"):
        faces(stable=[])


# ------------------------------------------------------------------------------------------------ corners


def test_bases_are_listed_once() -> None:
    """As many classes as there are rows, each set once, and at least one."""
    one = system([[1, 1, 1]], [1])
    assert list(read_bases(one, Node([[0], [2]]))) == [(0,), (2,)]
    for bases, said in (
        ([[0], [0]], "each set of them once"),
        ([[0, 1]], "1 classes"),
        ([[]], "1 classes"),
        ([], "at least one"),
    ):
        with pytest.raises(Rejected, match=said):
            read_bases(one, Node(bases))
    short = replace(one, names=(0, 2), total=3, F=matrix(mat([[1, 1]]), 2))
    assert list(read_bases(short, Node([[0], [2]]))) == [(0,), (1,)]
    with pytest.raises(Rejected, match="classes that can be active"):
        read_bases(short, Node([[1]]))


def test_corners_within_errors() -> None:
    """Zeros are proved by silent rows: as many as there are zeros, each 0 on all the rest."""
    F_ = [[1, 1], [0, 1]]
    rows = system(F_, [1, 0], F(1, 100), F(1, 100), exact=False, silent={1: frozenset({0})})
    found = read_corner(rows, (0, 1), {0: ONE, 1: ONE}, NODE)
    assert found.zeros == {1}
    for silent in ({}, {1: frozenset()}, {1: frozenset({1})}):
        with pytest.raises(Rejected, match="positive, or 0 by silent rows"):
            read_corner(replace(rows, silent=silent), (0, 1), {0: ONE, 1: ONE}, NODE)
    exact = system(F_, [1, 0])
    assert read_corner(exact, (0, 1), {0: ONE, 1: ONE}, NODE).zeros == {1}
    with pytest.raises(Rejected, match="a tilt"):
        read_corner(exact, (0, 1), {0: ONE}, NODE)
    below = system(F_, [1, F(-1, 1000)], 0, F(1, 100), exact=False, silent={1: frozenset({0})})
    assert read_corner(below, (0, 1), {0: ONE, 1: ONE}, NODE).zeros == {1}


def test_errors_of_tilts() -> None:
    """T = F_B^-1 F_b moves by c h (1 + |T|) / (1 - size h) for columns outside of the basis, not for its own."""
    rows = system([[1, 1]], [0], F(1, 4), 0, exact=False, silent={0: frozenset({0, 1})})
    assert read_corner(rows, (0,), {0: ONE}, NODE).zeros == {0}
    for c in (F(3), F(1, 100)):
        assert read_corner(rows, (0,), {1: c}, NODE).zeros == {0}
    wide = system([[1, 1]], [0], F(1, 3), 0, exact=False, silent={0: frozenset({0, 1})})
    with pytest.raises(Rejected, match="a tilt"):
        read_corner(wide, (0,), {1: ONE}, NODE)  # 1 <= 1/3 * 2 / (2/3)
    assert read_corner(wide, (0,), {0: ONE}, NODE).zeros == {0}
    steep = system([[1, 5]], [0], F(1, 4), 0, exact=False, silent={0: frozenset({0, 1})})
    assert read_corner(steep, (0,), {1: ONE}, NODE).zeros == {0}  # 5 > 1/4 * 6 / (3/4) = 2
    flat = system([[1, F(1, 2)]], [0], F(1, 4), 0, exact=False, silent={0: frozenset({0, 1})})
    with pytest.raises(Rejected, match="a tilt"):
        read_corner(flat, (0,), {1: ONE}, NODE)  # 1/2 <= 1/4 * 3/2 / (3/4)


def test_vertices_and_edges_by_hand() -> None:
    """x + y + z = 1: three vertices, each joined to the others; bases with one support are one vertex."""
    one = system([[1, 1, 1]], [1])
    points, errors, edges = walk(one, vec(1), read_bases(one, Node([[0], [1], [2]])), NODE)
    assert (list(points), errors, edges) == ([(0,), (1,), (2,)], [0, 0, 0], ((0, 1), (0, 2), (1, 2)))
    with pytest.raises(Rejected, match=r"reached from \[0\] when 2 enters"):
        walk(one, vec(1), read_bases(one, Node([[0], [1]])), NODE)
    zero = system([[1, 1], [0, 1]], [1, 0])
    points, _, edges = walk(zero, vec(1, 1), read_bases(zero, Node([[0, 1]])), NODE)
    assert (points, edges) == ({(0,): {0: ONE}}, ())
    twice = system([[1, 1, 1, 1], [0, 1, 1, -1]], [1, 0])  # two bases of the vertex (1, 0, 0, 0)
    points, errors, edges = walk(twice, vec(1, 1), read_bases(twice, Node([[0, 1], [0, 2], [1, 3], [2, 3]])), NODE)
    assert (list(points), errors, edges) == ([(0,), (1, 3), (2, 3)], [0, 0, 0], ((0, 1), (0, 2), (1, 2)))
    node = {"bits": 0, "tilt": "1", "bases": [[0], [1], [2]], "vertices": [[0], [1], [2]], "min_norm": None}
    node |= {"edges": [[0, 1], [0, 2], [1, 2]]}
    found = check_polytope(one, Node(node))
    assert (found.rank, found.dimension, found.used, found.nondegenerate) == (1, 2, (0, 1, 2), True)
    for change, said in (
        ({"tilt": "0"}, "positive numbers"),
        ({"bits": 1}, "0, because the polytope is known exactly"),
        ({"vertices": [[0], [1]]}, "each once, in the order"),
        ({"edges": [[0, 1], [0, 2]]}, "the pairs of vertices"),
    ):
        with pytest.raises(Rejected, match=said):
            check_polytope(one, Node({**node, **change}))
    point = check_polytope(zero, Node({**node, "tilt": "1 1", "bases": [[0, 1]], "vertices": [[0]], "edges": []}))
    assert (point.rank, point.dimension, point.used) == (1, 0, (0,))
    none = System(fmpq_mat(0, 0), (), (), (), (), 0, {}, exact=True)
    empty = check_polytope(none, Node({**node, "tilt": "", "bases": [[]], "vertices": [[]], "edges": []}))
    assert (empty.rank, empty.vertices, empty.used) == (0, ((),), ())


# ------------------------------------------------------------------------------------------------ fields


def root_two() -> Field:
    """Q(sqrt 2)."""
    return read_field(Node({"polynomial": "-2 0 1", "lo": "1", "hi": "2"}))


def test_fields_at_their_edges() -> None:
    """Degree 1 to 16, an interval of length at most 1 from 0 on, different signs at its ends, few bits."""
    assert root_two().degree == 2
    fine = {"polynomial": " ".join(["-1", *["0"] * 15, "2"]), "lo": "0", "hi": "1"}
    assert read_field(Node(fine)).degree == 16 and read_field(Node({**fine, "polynomial": "-1 2"})).degree == 1
    for change, said in (
        ({"polynomial": " ".join(["-1", *["0"] * 16, "2"])}, "of degree 1 to 16"),
        ({"polynomial": "1"}, "of degree 1 to 16"),
        ({"polynomial": "-1 2 0"}, "of degree 1 to 16"),
        ({"hi": "1001/1000"}, "0 <= lo < hi <= lo"),
        ({"lo": "1"}, "0 <= lo < hi <= lo"),
        ({"lo": "-1/2", "hi": "1/2"}, "0 <= lo < hi <= lo"),
        ({"polynomial": "0 1"}, "different signs"),
        ({"polynomial": "-1 1"}, "different signs"),
        ({"polynomial": "1 1"}, "different signs"),
    ):
        with pytest.raises(Rejected, match=said):
            read_field(Node({**fine, **change}))
    for bits, good in ((4095, True), (4096, False)):
        for ends in ({"lo": f"1/{2**bits}"}, {"polynomial": "-2 3", "hi": f"{2**bits - 1}/{2**bits}"}):
            if good:
                assert read_field(Node({**fine, **ends}))
            else:
                with pytest.raises(Rejected, match="in at most 4096 bits"):
                    read_field(Node({**fine, **ends}))


def test_powers_are_enclosed() -> None:
    """low <= 2^bits t^i <= high, as many as the degree, with an interval that starts anywhere."""
    for lo, hi in (("1", "2"), ("4/3", "3/2"), ("7/5", "17/12")):
        field = read_field(Node({"polynomial": "-2 0 1", "lo": lo, "hi": hi}))
        one, t = field.powers_of_t(64)
        assert one == (2**64, 2**64) and t[0] ** 2 < 2 * 4**64 < t[1] ** 2 and t[1] - t[0] <= 3
        assert field.lo**2 < 2 < field.hi**2 and field.hi - field.lo <= F(1, 2**64)
    cubic = read_field(Node({"polynomial": "-2 0 0 1", "lo": "1", "hi": "2"}))
    powers = cubic.powers_of_t(64)
    assert len(powers) == 3 and powers[2][0] ** 3 < 4 * 8**64 < powers[2][1] ** 3 and powers[2][1] - powers[2][0] < 16
    third = read_field(Node({"polynomial": "-1 3", "lo": "0", "hi": "1"}))
    assert third.powers_of_t(8) == [(256, 256)]
    half = read_field(Node({"polynomial": "-1 2", "lo": "0", "hi": "1"}))
    with pytest.raises(Rejected, match="not found by bisection"):
        half.powers_of_t(8)


def test_signs_of_numbers() -> None:
    """a + b sqrt 2 for both signs of both, and bounds from above."""
    field = root_two()
    for a, b, sign in ((1, 0, 1), (0, -1, -1), (-1, 1, 1), (3, -2, 1), (-3, 2, -1), (0, 0, 0), (7, -5, -1), (-7, 5, 1)):
        number = field.number(vec(a, b))
        assert number.sign() == sign and bool(number) == bool(sign)
        assert abs(number).sign() == abs(sign)
        if b:
            upper = number.upper()
            assert (field.number(vec(a, b)) - upper).sign() < 0 < (number - upper + F(1, 2**900)).sign()
    t = field.number(vec(0, 1))
    same = field.number(vec(0, 1))
    assert t * t == 2 and 1 - t == -(t - 1) and t > 1 and t >= same and t <= same and not t < same and not t > same
    assert Number(field, fmpq_poly([0, 1])) / t == 1 and t / 2 * 2 == t
    one = t / t
    assert one >= fmpz(1) and one <= fmpz(1) and not one > fmpz(1) and not one < fmpz(1)
    with pytest.raises(TypeError):
        bool(one > "1")
    with pytest.raises(ZeroDivisionError):
        t / field.number(())


def test_equations_in_a_field() -> None:
    """Gauss and Jordan: pivots, ranks, tableaus, and the equations of some of the classes."""
    field = root_two()
    t, one, zero = field.number(vec(0, 1)), field.number(vec(1)), field.number(())
    whole = FieldMatrix(3, 3, [zero, t, one, t, zero, t, t, t, one + t])
    reduced, rank = whole.rref()
    assert rank == 2 and whole.tolist()[0][0] == 0
    assert same(reduced.tolist(), ([1, 0, 1], [0, 1, t / 2], [0, 0, 0]))
    found = exact_system(FieldMatrix(2, 4, [t, zero, t, 2 * t, zero, one, one, one]), 3)
    assert not found.rational and (found.rows, found.total, found.names) == (2, 3, (0, 1, 2))
    assert found.F_error == found.g_error == (0, 0) and same(found.F.tolist(), ([1, 0, 1], [0, 1, 1]))
    assert same([found.g], [(2, 1)]) and found.exact and found.F.tolist()[0][0] != "another"
    assert [chosen(found, columns).rref()[1] for columns in ([0], [0, 1], [0, 1, 2], [])] == [1, 2, 2, 0]
    part = restricted(found, (0, 1))
    assert (part.names, part.total, part.rows) == ((0, 1), 3, 2) and same([part.g], [(2, 1)])
    assert same(tableau(found, (0, 2)) or (), ([1, 1, -1, 0], [1, 0, 1, 1]))
    dependent = replace(found, F=FieldMatrix(2, 2, [one, t, t, one + one]), g=(one, one), names=(0, 1))
    assert tableau(dependent, (0, 1)) is None


def same(rows: Any, known: Any) -> bool:
    """Whether two tables have the same numbers."""
    return all(x == z for row, line in zip(rows, known, strict=True) for x, z in zip(row, line, strict=True))


def test_tableaus_of_rationals() -> None:
    """F_B^-1 [g | F], with the inverse where there are errors; a singular basis has none, no basis an empty one."""
    exact = system([[1, 0, 1], [0, 2, 2]], (3, 4))
    assert tableau(exact, (0, 1)) == [[3, 1, 0, 1], [2, 0, 1, 1]]
    assert tableau(replace(exact, exact=False), (0, 1)) == [[3, 1, 0, 1, 1, 0], [2, 0, 1, 1, 0, fmpq(1, 2)]]
    assert tableau(system([[1, 2], [2, 4]], (1, 1)), (0, 1)) is None
    assert tableau(system([[1, 0, 0], [0, 0, 1]], (1, 1)), (0, 1)) is None
    none = System(fmpq_mat(0, 0), (), (), (), (), 0, {}, exact=True)
    assert tableau(none, ()) == [] and none.rational and exact.rational


def test_the_shortest_weights_in_a_field_by_hand() -> None:
    """alpha = (F'mu)_+ with F alpha = g: for x - t y = 1 it is (1, 0) with mu = 1, the radius may be what is left."""
    field = root_two()
    t, one = field.number(vec(0, 1)), field.number(vec(1))
    rows = System(FieldMatrix(1, 2, [one, -t]), (one,), (), (), (0, 1), 2, {}, exact=True)

    def found(weights: str, radius: str, mu: str = "1 0") -> Any:
        return check_min_norm(rows, Node({"bits": 0, "weights": weights, "radius": radius, "mu": [mu]}))

    assert found("1 0", "0").weights == vec(1, 0) and found("9/10 0", "1/10").radius == F(1, 10)
    for listed, radius, mu, said in (
        ("9/10 0", "9/100", "1 0", "for class 0"),
        ("0 0", "2", "1 0", "for class 0"),
        ("-1 0", "5", "1 0", "for class 0"),
        ("1 1", "9", "1 0", "for class 1"),
        ("1 -1", "9", "1 0", "for class 1"),
        ("2 0", "0", "2 0", "F alpha = g in row 0"),
        ("1 0", "-1", "1 0", "a number >= 0"),
    ):
        with pytest.raises(Rejected, match=said):
            found(listed, radius, mu)
    flat = replace(rows, F=FieldMatrix(1, 2, [one, field.number(())]))
    assert check_min_norm(flat, Node({"bits": 0, "weights": "1 0", "radius": "0", "mu": ["1 0"]})).radius == 0
    none = replace(rows, F=FieldMatrix(0, 1, []), g=(), total=1, names=(0,))
    assert check_min_norm(none, Node({"bits": 0, "weights": "0", "radius": "0", "mu": []})).weights == vec(0)
    with pytest.raises(Rejected, match="an array of 0"):
        check_min_norm(none, Node({"bits": 0, "weights": "0", "radius": "0", "mu": ["1"]}))


# ------------------------------------------------------------------------------------------------ others


def test_weights_of_lifted_pieces_stay_positive() -> None:
    """z = max(delta, |l| (missed + sqrt(g) light)) / (1 - beta) against each weight, with rows of any degree."""
    problem = direct([[1, 1], [1, -1]], None)
    classes = [Class((0, j), (), 0, matrix(mat([[1], [s]]), 1), F(4)) for j, s in enumerate((1, -1))]
    at = Moving(Ball(problem, vec(1, 0), ZERO), column(vec(1, 0)), classes, [vec(3), vec(3)], ZERO, ZERO)
    F_: list[Any] = [(ZERO, [vec(1), vec(1)]), (F(2), [vec(1), vec(-1)])]
    V = Node(["1/2 1/2", "1/2 -1/2"])
    for delta, light, good in ((F(2), ZERO, True), (F(3), ZERO, False), (ZERO, F(1, 2), True), (ZERO, F(3, 4), False)):
        if good:
            check_inside(at, F_, [0, 1], (delta, light), V)
        else:
            with pytest.raises(Rejected, match="its possible error"):
                check_inside(at, F_, [0, 1], (delta, light), V)
    check_inside(at, [(ZERO, [vec(1, "1/4"), vec(1)]), F_[1]], [0, 1], (ONE, ZERO), V)
    with pytest.raises(Rejected, match="rows of F V - I"):
        check_inside(at, [(ZERO, [vec(1, 4), vec(1)]), F_[1]], [0, 1], (ONE, ZERO), V)
    with pytest.raises(Rejected, match="rows of F V - I"):
        check_inside(at, [(ZERO, [vec(1), vec(1, 4)]), F_[1]], [0, 1], (ONE, ZERO), V)


def test_sets_without_a_lift(monkeypatch: pytest.MonkeyPatch) -> None:
    """Masses above their error are positive; kinks count, but not where every neuron lies in one block."""
    found = candidates([1, 1], y=(4, 5))
    kinked = [replace(a, kinks=(0,), face=face((), ())) for a in found.classes]
    fields = {"lift": [], "masses": "3 4", "split": "", "forced": ""}
    nodes = {key: Node(value, None, key) for key, value in fields.items()}
    plain = check_set(found.ball, found.classes, nodes)
    assert (plain.classes, plain.dimension, plain.kinked, plain.bends, plain.weight_error) == (2, 0, 0, 0, 0)
    assert [one.active for one in plain.neurons] == [True, True] and plain.system.g == vec(3, 4)
    monkeypatch.setattr("verify.sets.masses.of_class", lambda problem, a, active, weight: (active, weight))
    assert check_set(found.ball, kinked, nodes).bends == 2
    blocks = replace(found.ball, problem=replace(found.ball.problem, blocks=((1, 1), (1, 2))))
    assert (check_set(blocks, kinked, nodes).kinked, check_set(blocks, kinked, nodes).bends) == (0, 0)
    exactly = check_set(found.ball, kinked, {**nodes, "masses": Node("3 0")})  # off by 4: no mass is sure
    assert exactly.kinked == 2 and exactly.bends == 0
    assert [one[0] for one in exactly.neurons] == [None, None]  # type: ignore[index]
    for key in ("split", "forced"):
        with pytest.raises(Rejected, match=key):
            check_set(found.ball, found.classes, {**nodes, key: Node("1", None, key)})


def test_loose_kinks_that_the_ball_moves() -> None:
    """(0, 1, 1) in the span of (0, 1, 0) and (0, 0, 1): l - p = 1 there must be above R, with a part from 0 to 1."""
    Z = [[1, 1, 1], [0, 1, 0], [0, 0, 1], [0, 1, 1]]
    fields = {"sign": "+", "pattern": "1000", "kinks": [1, 2, 3], "basis": [1, 2], "idle": [], "fixed": "1/2"}
    for theta, R_squared, good in (
        ((1, -9, -9, -1), ZERO, True),
        ((1, -9, -9, -1), F(1, 100), True),
        ((1, -9, -9, F(-1, 10)), F(1, 100), False),
        ((1, -9, -9, F(-11, 100)), F(1, 100), True),
    ):
        ball = Ball(relu(Z), vec(*theta), R_squared)
        if good:
            assert read_class(ball, None, Node(fields)).kinks == (1, 2, 3)
        else:
            with pytest.raises(Rejected, match="kinks"):
                read_class(ball, None, Node(fields))


def test_loose_kinks_that_bend_up() -> None:
    """Where one side alone is looked at, p - l > 0 with l from the rows that look the other way, and a part of 1 or
    more, on the side where the line is on."""
    Z = [[1, 1, 1], [0, 1, 0], [0, 0, 1], [0, 1, 1], [0, -1, -1]]
    fields = {"sign": "+", "pattern": "10000", "kinks": [1, 2, 3], "basis": [1, 2], "idle": [], "fixed": "1"}
    for theta, part, good in (
        ((1, -9, -9, 1, 0), "1", True),
        ((1, -9, -9, 1, F(-1, 2)), "1", True),
        ((1, -9, -9, 1, -1), "1", False),
        ((1, -9, -9, 1, -2), "1", False),
        ((1, -9, -9, 1, 0), "9/10", False),
    ):
        ball, nodes = Ball(relu(Z), vec(*theta), ZERO), Node({**fields, "fixed": part})
        if good:
            assert read_class(ball, None, nodes, sides={3: 1}).kinks == (1, 2, 3)
        else:
            with pytest.raises(Rejected, match=r"kinks|fixed"):
                read_class(ball, None, nodes, sides={3: 1})


def test_rows_of_a_hyperplane() -> None:
    """p and l, and the squares of what they move by, each over the rows that look its way, short ones too."""
    plane = Plane({0: F(1), 1: F(-1, 2), 2: F(1, 3), 3: F(-2)})
    assert plane.slopes(vec(6, 8, 9, 10)) == (F(9), F(-24))
    ball = Ball(relu([[a] for a in plane.a.values()]), vec(6, 8, 9, 10), ZERO)
    assert ball.planes == {0: plane} and ball.bends(0) == (F(10, 9), F(17, 4), F(10, 9) + F(17, 4))


def test_idle_kinks_that_the_ball_moves() -> None:
    """p <= 0 <= l for every residual of the ball, for as many sides as there are rows."""
    fields = {"sign": "+", "pattern": "100", "kinks": [1], "basis": [], "idle": [1], "fixed": ""}
    Z = [[1, 0], [0, 1], [0, -1]]
    for theta, R_squared, good in (
        ((1, -1, -1), F(1, 4), True),
        ((1, -1, F(-1, 2)), F(1, 4), False),
        ((1, F(-1, 2), -1), F(1, 4), False),
        ((1, 1, -1), ZERO, False),
        ((1, -1, 1), ZERO, False),
    ):
        ball = Ball(relu(Z), vec(*theta), R_squared)
        if good:
            assert read_class(ball, None, Node(fields)).kinks == (1,)
        else:
            with pytest.raises(Rejected, match="idle"):
                read_class(ball, None, Node(fields))
    one_side = {**fields, "pattern": "10"}
    assert read_class(Ball(relu(Z[:2]), vec(1, -1), F(1, 4)), None, Node(one_side)).kinks == (1,)


def test_splits_within_errors() -> None:
    """off = (missed + delta + e |alpha|) / (tau - e); silent rows have l.y = 0 and are 0 on the classes they name."""
    problem = Problem("cgl", ONE, mat([[1, 1], [1, -1]]), vec(5, 0), groups=((0,), (1,)), K=(None, None))
    classes = [Class((0, j), (), 0, matrix(mat([[1], [s]]), 1), F(2)) for j, s in enumerate((1, -1))]
    lift = mat([[0, 1]])
    W = dual_basis(matrix(lift, 2))
    assert W is not None

    def split(alpha: str, delta: F = ZERO, R: F = ZERO, masses: Any = (4,)) -> Any:
        found = Candidates(Ball(problem, vec(1, 0), R**2), classes, lift, W)
        fields = {"split": alpha, "forced": "", "masses": ""}
        return check_split(found, vec(*masses), delta, {key: Node(value, None, key) for key, value in fields.items()})

    good, tau = split("2 2"), stretch(matrix(mat([[1, 1], [1, -1]]), 2))  # F = F'
    assert [(one.active, one.weight) for one in good.neurons] == [(True, 2)] * 2
    assert (good.classes, good.dimension, good.weight_error, good.kinked) == (2, 0, 0, 0)
    assert good.system.silent == {1: frozenset()} and good.system.g == vec(4, 0) and good.system.names == (0, 1)
    assert split("2 2", F(1, 2)).weight_error == F(1, 2) / tau and abs(tau - 1) < F(1, 10**30)
    assert split("5/2 5/2").weight_error == 1 / tau and good.system.g_error == vec(0, 0)
    e = root_above(2 * ONE) * 2 * F(1, 100)
    moved = split("2 2", ZERO, F(1, 100))
    assert moved.weight_error == e * root_above(F(8)) / (tau - e) and moved.system.F_error == (ZERO, F(1, 50))
    for alpha, delta, R, said in (
        ("2 2", F(4), ZERO, "every mass > delta"),
        ("2 2", F(2), ZERO, "every positive weight >"),
        ("2 2", 2 * tau, ZERO, "every positive weight >"),  # 2, exactly its error
        ("-1 5", ZERO, ZERO, "weights >= 0"),
        ("0 0", ZERO, ZERO, "a positive weight in every superclass"),
        ("2 2", ZERO, F(1, 2), "what the ball can change"),
    ):
        with pytest.raises(Rejected, match=said):
            split(alpha, delta, R)


def test_mixtures_by_hand() -> None:
    """diag(4, 1), diag(1, 4) and half of each: no other shares will do."""
    blocks = [[[2, 0], [0, 1]], [[1, 0], [0, 2]], [["1/2", "3/2", 0, 0], [0, 0, "1/2", "3/2"]]]
    classes = [Class((0, j), (), 0, matrix(mat(B), len(B[0])), F(9)) for j, B in enumerate(blocks)]
    problem = Problem("cgl", ONE, mat([[1, 1, 1], [1, 1, 1]]), vec(1, 1), ((0,), (1,), (2,)), (None,) * 3)
    found = Candidates(Ball(problem, vec(1, 1), ZERO), classes, (), fmpq_mat(0, 2))
    assert read_mixed(found, Node([[2, "1/2 1/2"]])).mixed == {2: vec("1/2", "1/2")}
    for shares, message in (("1/3 2/3", "another matrix"), ("1 0", "another matrix"), ("1/2 1/3", "add up to 1")):
        with pytest.raises(Rejected, match=message):
            read_mixed(found, Node([[2, shares]]))


def test_rows_of_a_split_by_their_numbers() -> None:
    """After the masses the rows of the lift, in their order; each is silent on the classes whose outputs it misses."""
    outputs = [(1, 1, 0), (1, -1, 1), (1, 0, -1)]
    problem = Problem("cgl", ONE, mat(zip(*outputs, strict=True)), vec(4, 0, 0), ((0,), (1,), (2,)), (None,) * 3)
    classes = [Class((0, j), (), 0, column(vec(*q)), F(3)) for j, q in enumerate(outputs)]
    lift = mat([[0, 1, 0], [0, 0, 1]])
    W = dual_basis(matrix(lift, 3))
    assert W is not None
    found = Candidates(Ball(problem, vec(1, 0, 0), ZERO), classes, lift, W)
    fields = {"split": "1 1 1", "forced": "", "masses": ""}
    split = check_split(found, vec(3), ZERO, {key: Node(value, None, key) for key, value in fields.items()})
    assert split.system.silent == {1: frozenset({2}), 2: frozenset({0})}
    other = replace(found, ball=replace(found.ball, problem=replace(problem, y=vec(4, 1, 0))))
    fields["split"] = "5/3 2/3 2/3"
    split = check_split(other, vec(3), ZERO, {key: Node(value, None, key) for key, value in fields.items()})
    assert split.system.silent == {2: frozenset({0})} and split.weight_error == 0  # the first has l.y = 1


def test_kinks_from_each_side() -> None:
    """Just above p, or just below l = 0: each is asked for by itself."""
    fields = {"sign": "+", "pattern": "10", "kinks": [1], "basis": [1], "idle": [], "fixed": ""}
    problem = relu([[1, 1], [0, 1]])
    for theta, R_squared, good in (
        ((1, F(-11, 10)), F(1, 1000), True),
        ((1, F(-11, 10)), F(1, 500), False),
        ((1, F(-9, 10)), ZERO, False),
        ((1, -1), ZERO, False),
        ((-1, -2), ZERO, False),
    ):
        ball = Ball(problem, vec(*theta), R_squared)
        if good:
            assert read_class(ball, None, Node(fields)).kinks == (1,)
        else:
            with pytest.raises(Rejected, match=r"basis|pattern"):
                read_class(ball, None, Node(fields))


def test_kinks_that_are_looked_at_from_one_side() -> None:
    """Above the line mu >= p is enough, below it mu <= l = 0; here mu = -t_0."""
    fields = {"sign": "+", "pattern": "10", "kinks": [1], "basis": [1], "idle": [], "fixed": ""}
    problem = relu([[1, 1], [0, 1]])
    for theta, side, good in (
        ((1, F(-9, 10)), -1, True),
        ((1, F(-9, 10)), 1, False),
        ((1, F(-9, 10)), 0, False),
        ((1, F(-11, 10)), 1, True),
        ((1, F(-11, 10)), 0, True),
    ):
        if good:
            assert read_class(Ball(problem, vec(*theta), ZERO), None, Node(fields), sides={1: side}).kinks == (1,)
        else:
            with pytest.raises(Rejected, match="basis"):
                read_class(Ball(problem, vec(*theta), ZERO), None, Node(fields), sides={1: side})


def test_lifts_of_free_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """With free terms the lift begins with their columns, other rows are orthogonal to them, and no class is mixed."""
    found = candidates([1, 1], y=(4, 5))
    problem = replace(found.ball.problem, outputs=mat([[0, 1]]))
    ball = replace(found.ball, problem=problem)
    fields = {"lift": ["0 1"], "masses": "3", "split": "", "forced": ""}
    nodes = {key: Node(value, None, key) for key, value in fields.items()}
    monkeypatch.setattr("verify.sets.masses.check_masses", lambda *_: (vec(3, 4), ZERO))
    plain = {"ball": ball, "lift": problem.outputs, "mixed": {}, "members": [[0], [1]], "classes": found.classes}
    monkeypatch.setattr("verify.sets.masses.read_rows", lambda *_: ((), None))

    def with_(**more: Any) -> None:
        monkeypatch.setattr(
            "verify.sets.masses.Candidates", lambda *_, free: SimpleNamespace(**{**plain, "free": free, **more})
        )

    with_()
    monkeypatch.setattr("verify.sets.split.read_mixed", lambda *_: SimpleNamespace(**{**plain, "mixed": {0: ()}}))
    assert check_set(ball, found.classes, nodes).classes == 2
    with pytest.raises(Rejected, match="and no mixed class"):
        check_set(ball, found.classes, {**nodes, "mixed": NODE})
    for lift in ((), mat([[0, 2]]), mat([[1, 0], [0, 1]]), mat([[0, 1], [1, 1]])):
        with_(lift=lift)
        with pytest.raises(Rejected, match="the free columns, then rows orthogonal to them"):
            check_set(ball, found.classes, nodes)
    monkeypatch.setattr("verify.sets.split.check_split", lambda *_: "split")
    with_(lift=mat([[0, 1], [1, 0]]))
    assert check_set(ball, found.classes, nodes) == "split"
    for split, shared in (("", True), ("1", False)):  # a split of one mass may be there
        with_(members=[[0, 1]])
        monkeypatch.setattr("verify.sets.masses.shared_masses", lambda *_: "shared")
        said = check_set(ball, found.classes, {**nodes, "split": Node(split, None, "split")})
        assert said == ("shared" if shared else "split")
    with_(members=[[0], [1]])
    with pytest.raises(Rejected, match="expected 0 numbers"):
        check_set(ball, found.classes, {**nodes, "split": Node("1", None, "split")})


def test_the_support_of_the_only_solution() -> None:
    """None where there are more, or where the set is not exact."""
    neurons = (Neuron((1, 0), True, True), Neuron((1, 1), False, True))
    found = OptimalSet(2, 0, 0, 0, system([[1, 1]], [1]), True, neurons)
    assert support_of(found) == (0,)
    assert support_of(replace(found, dimension=1)) is None and support_of(replace(found, exact=False)) is None


def test_lambda_max_of_the_logistic_loss() -> None:
    """The gradient at zero is y/2: |X'y|^2 / 4."""
    problem = direct([[2]], None, y=(1,))
    for logistic, squared in ((False, "4"), (True, "1")):
        node = {"squared": squared, "multipliers": [None], "attained": {"block": 0, "u": "3"}}
        one = replace(problem, logistic=logistic)
        assert check_lambda_max(one, Facts(), Node(node))[LAMBDA_MAX] == F(squared)
        for wrong in ("4" if logistic else "1", "5", "-1", "2"):
            with pytest.raises(Rejected):
                check_lambda_max(one, Facts(), Node({**node, "squared": wrong}))
        for u in ("-3", "0"):
            with pytest.raises(Rejected, match="u"):
                check_lambda_max(one, Facts(), Node({**node, "attained": {"block": 0, "u": u}}))
    zero = {"squared": "0", "multipliers": [None], "attained": {"block": 0, "u": "0"}}
    assert check_lambda_max(replace(problem, y=vec(0)), Facts(), Node(zero))[LAMBDA_MAX] == 0


def test_free_columns_of_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cover proves theta feasible if it is orthogonal to the free columns; the set has these alone as its lift."""
    monkeypatch.setattr(cover_rule, "check_cover", lambda *_: None)
    free = relu([[1], [2]], free=("output-bias",), outputs=mat([[1, 1]]))
    assert check_by_cover(free, Facts(), Node({"theta": "1 -1", "proof": {}}))[DUAL].theta == vec(1, -1)
    with pytest.raises(Rejected, match="theta orthogonal to the free column 0, found 3"):
        check_by_cover(free, Facts(), Node({"theta": "1 2", "proof": {}}))
    assert check_by_cover(relu([[1], [2]]), Facts(), Node({"theta": "1 2", "proof": {}}))[DUAL].theta == vec(1, 2)


def test_costs_of_long_blocks() -> None:
    """(s - lambda)^2 / (2 delta) for each block of `excess`, in ascending order: lambda = 1, delta = 3."""
    problem = replace(direct([[2, 3, 1]], None, y=(1,)), delta=F(3))
    fields: dict[str, Any] = {"theta": "1", "multipliers": [None] * 3, "excess": [[0, "2"], [1, "3"]]}
    assert check_elastic(problem, Facts(), Node(fields))[DUAL].cost == F(1 + 4, 6)
    for excess in ([[1, "3"], [0, "2"]], [[0, "2"], [0, "2"]], [[0, "2"], [2, "2"], [1, "3"]]):
        with pytest.raises(Rejected, match="blocks in ascending order"):
            check_elastic(problem, Facts(), Node({**fields, "excess": excess}))
    for excess in ([[1, "3"]], [[0, "2"], [1, "29/10"]]):
        with pytest.raises(Rejected, match=r"for block [01]"):
            check_elastic(problem, Facts(), Node({**fields, "excess": excess}))


def test_chances_of_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    """y_k theta_k from 0 to 1 with the logistic loss; theta from the residual, or as it is."""
    monkeypatch.setattr("verify.rules.cover.check_cover", lambda *_: None)
    problem = replace(relu([[1], [1]], (1, -1)), logistic=True)
    for theta, good in (("0 -1", True), ("1 0", True), ("1/2 -1/2", True), ("11/10 0", False), ("0 1/10", False)):
        node = Node({"theta": theta, "proof": None})
        if good:
            assert check_by_cover(problem, Facts(), node)[DUAL].theta == vec(*theta.split(" "))
        else:
            with pytest.raises(Rejected, match="0 <= y_k theta_k <= 1"):
                check_by_cover(problem, Facts(), node)
    assert check_by_cover(relu([[1]]), Facts(), Node({"theta": "9", "proof": None}))[DUAL].theta == vec(9)
    with pytest.raises(Rejected, match="one proof of the dual point"):
        check_by_cover(relu([[1]]), proved(DUAL, Dual(vec(0))), Node({"theta": "9", "proof": None}))


def test_squares_of_multiples() -> None:
    """By the side that a row looks to."""
    ball = Ball(relu([[1], [0], [F(-3, 2)], [0], [4]]), vec(0, 0, 0, 0, 0), ZERO)
    assert ball.bends(0) == (17, F(9, 4), 17 + F(9, 4))
    assert Plane({0: F(1), 2: F(-3, 2), 4: F(4)}).slopes(vec(1, 0, 2, 0, 3)) == (13, -3)
    apart = direct([[1], [-1]], [[1]])
    assert one_sided(apart, face((0,))) == (0,)


def test_lifted_weights_on_a_tube() -> None:
    """What the tube changes in the rows of the lift: |l| g R times all of V, against 1."""
    problem = direct([[1, 1], [1, -1]], None)
    classes = [Class((0, j), (), 0, matrix(mat([[1], [s]]), 1), F(4)) for j, s in enumerate((1, -1))]
    rows: list[Any] = [(ZERO, [vec(1), vec(1)]), (F(2), [vec(1), vec(-1)])]
    for R, good in ((F(1, 40), True), (F(1, 16), False)):
        at = Moving(Ball(problem, vec(1, 0), ZERO), column(vec(1, 0)), classes, [vec(99), vec(99)], R, ZERO)
        if good:
            check_inside(at, rows, [0, 1], (ZERO, ZERO), Node(["1/2 1/2", "1/2 -1/2"]))
        else:
            with pytest.raises(Rejected, match="rows of F V - I"):
                check_inside(at, rows, [0, 1], (ZERO, ZERO), Node(["1/2 1/2", "1/2 -1/2"]))


def test_stable_patterns_of_gated_networks() -> None:
    """A gated class has no face, and is strict."""
    gated_ = replace(relu([[2], [3]]), model="gated")
    neuron = Neuron((0, 1), True, True, v=vec(2))
    found = check_stable(Ball(gated_, vec(1, 1), ZERO), Patterns([1], {1: 0}, 1), neuron, Node({"pattern": "10"}))
    assert found.strict is True and found.face is None


def test_rows_that_look_one_way() -> None:
    """Multiples between 0 and 1 look the same way; direct problems have no kinks of lines."""
    assert Plane({0: F(1), 1: F(1, 2)}).slopes(vec(3, 4)) == (5, 0)
    block = Ball(direct([[1, 0], [0, 1]], [[0], [1]]), vec(1, 2), ZERO)
    fields = {"block": 0, "kinks": [0], "basis": [0], "idle": [], "fixed": ""}
    along = Along(block.problem, block.theta, block.R_squared, S=column(vec(1, 2)))
    class_ = read_direct(along, {key: Node(value_, None, key) for key, value_ in fields.items()})
    assert (class_.kinks, class_.zeros) == ((0,), 0)
    check_concave(block, column(vec(1, 2)), class_, F(99), NODE)
    check_concave(block, column(vec(1, 2)), replace(class_, kinks=(7,)), F(99), NODE)


def test_constraints_that_the_ball_moves() -> None:
    """A multiplier 2 of a constraint against |W| |X| R: 4 > 2 R^2, and a slack constraint likewise."""
    problem = direct([[1, 0], [0, 1]], [[0], [1]])
    kinked = {"block": 0, "kinks": [0], "basis": [0], "idle": [], "fixed": ""}
    free = {**kinked, "kinks": [], "basis": []}
    for theta, fields in (((1, 2), kinked), ((1, -2), free)):
        assert read_class(Ball(problem, vec(*theta), F(199, 100)), None, Node(fields)).bound == 2
        with pytest.raises(Rejected, match="strictness that the ball cannot end"):
            read_class(Ball(problem, vec(*theta), F(2)), None, Node(fields))


def test_shortest_weights_on_a_slope() -> None:
    """F_a.mu <= 0 where the weight is 0, exactly at 0 too: x = 1 and 0 y = 0 more."""
    flat = system([[1, 0]], [1], 0, 0, exact=False)
    assert check_shortest(flat, (), Node({"weights": "1 0", "radius": "0"}))
    with pytest.raises(Rejected, match="where the weight is 0"):
        check_shortest(system([[1, F(1, 100)]], [1], 0, 0, exact=False), (), Node({"weights": "1 0", "radius": "0"}))


@pytest.mark.parametrize(
    ("base", "rows", "values", "good"),
    [
        *[("10", [], "", True), ("10", [1], "-1/2", True), ("10", [1], "-1", True), ("10", [1], "0", True)],
        *[("10", [1], "-2", False), ("10", [1], "1/2", False), ("10", [0], "2", True), ("10", [0], "1/2", False)],
        *[("11", [], "", True), ("11", [1], "1/2", False), ("11", [1], "-1/2", True), ("11", [1], "-3/2", False)],
        *[("00", [], "", True), ("00", [0], "-1", True), ("00", [0], "1/9", False), ("01", [1], "1/2", False)],
    ],
)
def test_multipliers_of_pieces_in_a_field(
    base: str, rows: list[int], values: str, good: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """m >= t on rows that are on, m <= 0 on those that are off, and t <= m <= 0 where theta is not above 0."""
    monkeypatch.setattr(in_field, "not_out", lambda *_: (0b01, {int(base[0])}))
    ball = Ball(relu([[1, 0], [0, 1]]), vec(1, -1), ZERO)
    own = Node({"+": [[base, rows, values]], "-": []})
    at: Any = SimpleNamespace(ball=ball, r=vec(1, -1), own=own, bounds=own, zero=ZERO)
    at.read, at.through = (lambda node, length: node.vector(length)), (lambda A, m: tuple(m))
    if good:
        ((_, found, _),) = InField.pieces(at, "+", 1)
        assert found == int(base[::-1], 2)
    else:
        with pytest.raises(Rejected, match="within its bounds"):
            list(InField.pieces(at, "+", 1))


def test_the_worst_equation_counts() -> None:
    """Of shortest weights and of corners: the row with the largest error, not the one with the smallest."""
    two = replace(system([[1, 0], [0, 1]], [1, 1], exact=False), F_error=vec(0, "1/2"))
    with pytest.raises(Rejected, match="errors cannot make dependent"):
        check_shortest(two, (), Node({"weights": "1 1", "radius": "9"}))
    h = F(1, 100)
    for errors in (vec(0, h), vec(h, 0)):
        corner = read_corner(replace(two, F_error=errors), (0, 1), {0: ONE, 1: ONE}, NODE)
        assert fraction(corner.error) == 2 * h / (1 - 2 * h)
        corner = read_corner(replace(two, F_error=vec(0, 0), g_error=errors), (0, 1), {0: ONE, 1: ONE}, NODE)
        assert fraction(corner.error) == h
    with pytest.raises(Rejected, match="errors cannot make singular"):
        read_corner(two, (0, 1), {0: ONE, 1: ONE}, NODE)


def test_weights_that_their_errors_can_end() -> None:
    """A height that is equal to its error is not known to be positive."""
    for g, good in ((F(11, 100), True), (F(1, 10), False)):
        one, stated = system([[1]], [g], 0, F(1, 10), exact=False), Node({"weights": str(g), "radius": "9"})
        if good:
            assert check_shortest(one, (), stated)
        else:
            with pytest.raises(Rejected, match="and positive, for class 0"):
                check_shortest(one, (), stated)


def test_errors_that_just_make_outputs_dependent() -> None:
    """1 and 3, each off by 1: beta is exactly 1."""
    with pytest.raises(Rejected, match="errors cannot make dependent"):
        check_shortest(system([[1, 3]], [1], 1, 0, exact=False), (), Node({"weights": "1 1", "radius": "9"}))


def test_the_root_in_the_interval() -> None:
    """t^3 - 3 t + 1 has roots near 0.35 and 1.53: the one from 3/2 on is meant."""
    t = read_field(Node({"polynomial": "1 -3 0 1", "lo": "3/2", "hi": "2"})).powers_of_t(64)[1]
    assert F(153, 100) < F(t[0], 2**64) <= F(t[1], 2**64) < F(154, 100)


def test_ties_that_are_out_over_the_ball(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tie without a class has |v| + |Z| R < lambda, and every margin is above |Z| R: here |Z| R = 1/2, lambda = 2."""
    problem = relu([[1]], lam=2)
    class_ = Class((1, 1), (), 0, ROW, ONE, face(()))
    monkeypatch.setattr(cover_set, "checked", lambda *_: class_)
    monkeypatch.setattr(cover_set, "check_set", lambda ball, classes, fields: (ball.R_squared, classes))

    def found(squared: Any, slack: Any, entry: Any = None) -> Any:
        cover = SimpleNamespace(slack={1: F(slack), -1: F(1)}, ties=[SimpleNamespace(squared=F(squared))])
        facts = Facts({VALUE: Value(F(1), F(9, 8), ZERO), COVER: cover, DUAL: Dual(vec(1), ZERO)})
        fields = {"lift": [], "classes": [entry], "masses": "", "split": "", "forced": ""}
        return cover_set.check(problem, facts, Node(fields))

    assert found(2, F(26, 100)) == (F(1, 4), []) and found(4, 1, {}) == (F(1, 4), [class_])
    with pytest.raises(Rejected, match="the piece is not out"):
        found(F(9, 4), 1)
    with pytest.raises(Rejected, match=r"margin holds for the whole ball of residuals, found too small for \+1"):
        found(2, F(1, 4))
