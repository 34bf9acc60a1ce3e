"""What refutations rest on, at its edges: projections, patterns, optimal points, and straight ways between them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from tests.verify.oracle.brute import mat, vec
from tests.verify.test_refutation_facts import FILES
from verify import Declined, Rejected
from verify.problem.problem import OBJECTIVE, Problem
from verify.problem.variants import ELASTIC, LOGISTIC
from verify.refutations import others, paths, pruning, solutions
from verify.refutations.core import d_z, multiple, nearest, optimum, project, read_instance
from verify.refutations.others import general_loss, one_neuron
from verify.refutations.paths import affine, curvature, part
from verify.text import Node

BLOCKED = mat([[1]])  # w <= 0


def node(value: Any = None) -> Node:
    """A value, as if it was read."""
    return Node(value, None, "here")


def at(y: tuple[Any, ...], w: tuple[Any, ...], K: Any = None, Z: Any = None, lam: int = 1) -> Any:
    """An optimum on single columns."""
    X = mat([[1, 0], [0, 1]]) if Z is None else mat(Z)
    groups = tuple((j,) for j in range(len(X[0])))
    problem = Problem("cgl", Fraction(lam), X, vec(*y), groups, (K, *(None,) * (len(groups) - 1)))
    return optimum(problem, tuple(vec(x) for x in w), node())


def test_straight_ways() -> None:
    """Both ends are unique, v stays on one face, and what ties or has weight ties at both ends, in one direction."""
    here = at((3, 0), (2, 0))
    affine(here, at((4, 0), (3, 0)), node())
    affine(here, at((3, "1/2"), (2, 0)), node())
    for there, said in (
        (at((3, 2), (2, 1)), "one direction along the way, block 1"),
        (at((-3, 0), (-2, 0)), "one direction along the way, block 0"),
        (at((0, 0), (0, 0)), "one direction along the way, block 0"),
        (at(("1/2", 0), (0, 0)), "one direction along the way, block 0"),
    ):
        for ends in ((here, there), (there, here)):
            with pytest.raises(Rejected, match=said):
                affine(*ends, node())
    for way in ((at((1, 0), (0, 0)), at((-1, 0), (0, 0))), (at((1, 0), (0, 0)), here)):
        if way[1] is here:
            affine(*way, node())  # it ties at both ends, and gets weight at one
        else:
            with pytest.raises(Rejected, match="one direction along the way, block 0"):
                affine(*way, node())
    free, kept = at((-3, 0), (-2, 0), BLOCKED), at((3, 0), (0, 0), BLOCKED)
    for ends in ((free, kept), (kept, free)):
        with pytest.raises(Rejected, match="one face of the cone along the way, block 0"):
            affine(*ends, node())
    twins = at((3, 0), (1, 1), Z=[[1, 1], [0, 0]])
    for ends in ((twins, twins), (replace(twins, p=here.p), twins)):
        with pytest.raises(Rejected, match="independent outputs on E"):
            affine(*ends, node())


def test_optimal_points() -> None:
    """w_b = 0 and |v_b| <= lambda, or w_b = alpha v_b, alpha > 0 and |v_b| = lambda; nothing else."""
    found = at((3, 1), (2, 0))
    assert (found.alpha, found.E, found.active, found.value) == (vec(2, 0), [0, 1], [0], Fraction(3))
    assert found.unique and found.outputs([0]) == [vec(1, 0)]
    for y, w in (((3, 0), (1, 0)), ((3, 0), (3, 0)), ((3, 0), (-2, 0)), ((3, 2), (2, 0)), ((1, 0), (1, 0))):
        with pytest.raises(Rejected, match="an optimal point"):
            at(y, w)


def test_curvature_of_norms() -> None:
    """(I - u u') / |w_b| with |w_b| = alpha lambda: 0 for single columns."""
    assert curvature(at((6, 5), (4, 3), lam=2)) == mat([[0, 0], [0, 0]])
    problem = Problem("cgl", Fraction(5), mat([[1, 0], [0, 1]]), vec(6, 8), ((0, 1),), (None,))
    whole = optimum(problem, (vec(3, 4),), node())
    expected = [[16, -12], [-12, 9]]
    assert curvature(whole) == tuple(tuple(Fraction(x, 125) for x in row) for row in expected)


@pytest.mark.parametrize(
    ("K", "c", "v"),
    [
        ([], (1, 2), (1, 2)),
        ([[1, 0]], (3, 4), (0, 4)),
        ([[1, 0]], (-3, 4), (-3, 4)),
        ([[1, 0]], (0, 4), (0, 4)),
        ([[1, 0], [0, 1]], (3, 4), (0, 0)),
        ([[1, 0], [1, 1]], (3, -1), (0, -1)),
        ([[1, 0], [1, 1], [0, 1]], (1, 1), (0, 0)),
        ([[1, 0], [-1, 0]], (5, 7), (0, 7)),
        ([[1, 1], [1, 2], [2, 1]], (1, 1), (0, 0)),
        ([[1, 2], [2, 1]], (3, 0), ("3/5", "-6/5")),
    ],
)
def test_projections(K: list[list[int]], c: tuple[Any, ...], v: tuple[Any, ...]) -> None:
    """The nearest point of a cone, also where constraints depend on each other."""
    assert project([vec(*k) for k in K], vec(*c)) == vec(*v)


def test_limits_of_projections() -> None:
    """At most 64 constraints, and at most eight rows of which all patterns are tried."""
    assert project([vec(1)] * 64, vec(-1)) == vec(-1)
    with pytest.raises(Declined, match="at most 64 constraints"):
        project([vec(1)] * 65, vec(-1))
    with pytest.raises(Declined, match="at most 8 rows"):
        d_z(mat([[1]] * 9), node())
    with pytest.raises(Declined, match="independent vectors"):
        nearest([vec(1, 0), vec(2, 0)], vec(1, 1))


def test_patterns_that_there_are() -> None:
    """Of e_1, -e_1: both open cells, and the line between them, which is 1 on both; a row of zeros is 1 always."""
    assert d_z(mat([[1], [-1]]), node()) == {0b01: True, 0b10: True, 0b11: False}
    assert d_z(mat([[1], [2]]), node()) == {0b00: True, 0b11: True}
    assert d_z(mat([[1], [0]]), node()) == {0b10: True, 0b11: True}


def test_multiples() -> None:
    """u = t v for one t, whatever its sign; v is not 0."""
    assert multiple(vec(2, 4), vec(1, 2)) == 2 and multiple(vec(-1, -2), vec(1, 2)) == -1
    assert multiple(vec(0, 4), vec(0, 2)) == 2 and multiple(vec(0, 0), vec(1, 2)) == 0
    assert multiple(vec(2, 5), vec(1, 2)) is None and multiple(vec(0, 0), vec(0, 0)) is None


def test_parts_of_neurons() -> None:
    """A positive multiple of a neuron of the same sign."""
    images = {(1, vec(1, 0)): Fraction(1), (-1, vec(0, 1)): Fraction(1)}
    assert part(images, vec(2, 0), 1, node()) == ((1, vec(1, 0)), 2)
    assert part(images, vec(0, 3), -1, node()) == ((-1, vec(0, 1)), 3)
    for u, xi in ((vec(2, 0), -1), (vec(0, 3), 1), (vec(-2, 0), 1), (vec(1, 1), 1), (vec(0, 0), 1)):
        with pytest.raises(Rejected, match="neurons that are parts of those of w"):
            part(images, u, xi, node())


def instance(**more: Any) -> Node:
    """A network on two opposite points, with all its patterns."""
    patterns = ["10", "01", "11"]
    text = {"model": "relu", "objective": OBJECTIVE, "lambda": "1", "Z": ["1", "-1"], "y": "1 1", "patterns": patterns}
    return node({key: value for key, value in {**text, **more}.items() if value is not None})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, None),
        ({"patterns": ["11", "10", "01"]}, None),
        ({"objective": ELASTIC, "delta": "1"}, "with the plain objective"),
        ({"objective": LOGISTIC}, "with the plain objective"),
        ({"model": "gated"}, "a problem of the model relu with the plain objective"),
        ({"patterns": None}, "a network with its patterns"),
        ({"patterns": ["10", "01"]}, "all of D_Z as the patterns"),
        ({"patterns": ["10", "01", "11", "00"]}, "all of D_Z as the patterns"),
    ],
)
def test_instances(more: dict[str, Any], said: str | None) -> None:
    """Plain problems of the model that is asked for, over all of their patterns."""
    if said is None:
        assert len(read_instance(instance(**more), "relu").groups) == 6
    else:
        with pytest.raises(Rejected, match=said):
            read_instance(instance(**more), "relu")
    if more.get("patterns"):
        assert read_instance(instance(**more), "relu", complete=False).model == "cgl"


# ------------------------------------------------------------------------------------------------ witnesses by hand


def cgl(X: list[str], y: str, lam: str = "1", K: Any = None) -> dict[str, Any]:
    """A direct problem of single columns."""
    groups = [[j] for j in range(len(X[0].split()))]
    return {
        **{"model": "cgl", "objective": OBJECTIVE, "lambda": lam, "X": X, "groups": groups},
        **{"K": [None] * len(groups) if K is None else K, "y": y},
    }


def relu(Z: list[str], y: str, lam: str, patterns: list[str]) -> dict[str, Any]:
    """A network over these patterns."""
    return {"model": "relu", "objective": OBJECTIVE, "lambda": lam, "Z": Z, "y": y, "patterns": patterns}


def refuses(check: Any, witness: dict[str, Any], said: str) -> None:
    """The witness is rejected for this."""
    with pytest.raises(Rejected, match=said):
        check(node(witness))


def test_another_loss_must_fail_in_an_active_block() -> None:
    """L = e^2 + e^4 at e = -1/2: minus the gradient of 1/2 L is 3/4, and that of L is twice as long. Where no block is
    active nothing is refuted."""
    assert general_loss(node({"problem": cgl(["1"], "3/2", "3/4"), "w": ["1"]})).endswith("Proj(X_b' grad L) = (-3/2)")
    refuses(general_loss, {"problem": cgl(["1"], "1/2", "3/4"), "w": ["0"]}, "an active block that is not alpha Proj")
    blocked = cgl(["1"], "3/2", "3/4", [["-1"]])
    assert general_loss(node({"problem": blocked, "w": ["1"]})).endswith("grad L) = (0)")


@pytest.mark.parametrize(
    ("found", "refutes"),
    [
        ((2, True), False),
        (("1/2", True), False),
        ((2, False), True),
        ((-2, True), True),
        ((0, True), True),
        ((None, True), True),
    ],
)
def test_what_another_loss_must_miss(found: Any, refutes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """w_b = t Proj with t > 0 and |Proj| = lambda would be what is printed."""
    t, tied = found
    lam = "3/2" if tied else "3/4"
    monkeypatch.setattr(others, "multiple", lambda u, v: None if t is None else Fraction(t))
    monkeypatch.setattr(others, "optimum", lambda *_: SimpleNamespace(active=[0]))
    witness = {"problem": cgl(["1"], "3/2", lam), "w": ["1"]}
    if refutes:
        assert general_loss(node(witness)).startswith("block 0: ")
    else:
        refuses(general_loss, witness, "an active block")


def test_the_printed_dual_by_hand() -> None:
    """w in its cone, |eta| <= lambda, and a dual value above P(w): each by itself. K = 1 and rho = -1 push eta to 1."""
    good = {"problem": cgl(["1"], "2", "1", [["1"]]), "w": ["0"], "theta": "0", "rho": ["-1"]}
    refuses(others.lagrange_dual, good, "a dual value above")
    for change, said in (
        ({"w": ["1"]}, "a point of the cones"),
        ({"w": ["1/2"]}, "a point of the cones"),
        ({"rho": ["-2"]}, "<= lambda"),
        ({"rho": ["2"]}, "<= lambda"),
    ):
        refuses(others.lagrange_dual, {**good, **change}, said)
    wins = {"problem": cgl(["1"], "2", "1", [["-1"]]), "w": ["1"], "theta": "2", "rho": ["-2"]}
    assert others.lagrange_dual(node(wins)) == "the printed dual has the value 2 > 3/2 >= P(w) >= p*"
    assert others.lagrange_dual(node({**wins, "rho": ["-1"]})) and others.lagrange_dual(node({**wins, "rho": ["-3"]}))
    refuses(others.lagrange_dual, {**wins, "rho": ["-4"]}, "<= lambda")
    refuses(others.lagrange_dual, {**wins, "theta": "1", "w": ["0"], "rho": ["-1"]}, "a dual value above")


def test_stationary_networks_at_their_edges() -> None:
    """lambda > 0, a neuron with both weights; its sign counts."""
    good = {"Z": ["1"], "y": "3", "lambda": "2", "W": "1", "w2": "1"}
    for change in ({"lambda": "0"}, {"lambda": "-1"}, {"W": "0"}, {"w2": "0"}):
        refuses(others.stationary, {**good, **change}, "lambda > 0 and a neuron other than zero")
    for change in ({"lambda": "1/2"}, {"lambda": "1"}, {"w2": "-1"}, {}):
        refuses(others.stationary, {**good, **change}, "exactly one of the two sets")
    Z, y = mat([[1]]), vec(-3)
    assert others.is_member(Problem("relu", Fraction(2), Z, y), vec(1), Fraction(-1), [0, 1], node())
    assert not others.is_member(Problem("relu", Fraction(2), Z, y), vec(1), Fraction(1), [0, 1], node())
    assert not others.is_member(Problem("relu", Fraction(2), Z, vec(10)), vec(2), Fraction(4), [0, 1], node())
    assert others.is_member(Problem("relu", Fraction(2), Z, vec(6)), vec(2), Fraction(2), [0, 1], node())


def test_single_neurons_of_both_branches() -> None:
    """Above the printed jump lambda/100^2 - 1/100, below it 1/10 - lambda/100, against v; ties refute nothing."""
    assert "the printed 1/20 has the objective" in one_neuron(node({"lambda": "5", "v": "1/10"}))
    for lam, v in (("20", "-1/125"), ("5", "1/20"), ("20", "1")):
        refuses(one_neuron, {"lambda": lam, "v": v}, "a smaller objective")


def test_weights_of_the_only_neuron() -> None:
    """0 < lambda < 100, and v has the sign of its output: twice as steep it would be better."""
    assert one_neuron(node({"lambda": "1/2", "v": "12/125"}))
    for lam, v in (("1/2", "93/2000"), ("5", "17/1000"), ("20", "-1/200")):
        refuses(one_neuron, {"lambda": lam, "v": v}, "a smaller objective")
    for lam in ("0", "-1", "100", "1100/111"):
        refuses(one_neuron, {"lambda": lam, "v": "1/10"}, "0 < lambda < 100 other than the printed jump")


def test_gradients_of_the_cells_around_a_neuron() -> None:
    """W = 1 lies in the cell of the row 1 alone: with the gradient of the other one, 1 would be between -2 and 4."""
    Z, lam, W = mat([[1], [-1]]), Fraction(1), vec(1)
    assert others.is_clarke(Z, vec(1, 1), lam, W, Fraction(1), [0b01, 0b10])
    assert not others.is_clarke(Z, vec(2, 1), lam, W, Fraction(2), [0b01, 0b10])
    assert not others.is_clarke(Z, vec(1, 1), lam, W, Fraction(1), [0b10])
    assert not others.is_clarke(Z, vec(2, 5), lam, W, Fraction(2), [0b01, 0b11])
    assert not others.is_clarke(Z, vec(1, 1), lam, W, Fraction(2), [0b01])


def test_cells_on_a_ray_are_not_open() -> None:
    """Rows to both sides of a line are on together only on the line itself: the gradient is 0 there, but every open
    cell around the neuron has one with 1/2 in its first entry."""
    Z = ["1 0 0", "-1 0 0", "1 1 0", "0 1 0", "-1 -1 0", "0 0 1"]
    witness = {"Z": Z, "y": "-1/2 1/2 1 -1 -1 2", "lambda": "1", "W": "0 0 1", "w2": "1"}
    assert others.stationary(node(witness)).endswith("stationary: False; optimal for a sub-sampled program: True")


def test_ranges_of_nothing() -> None:
    """The projection on the range of zero columns is zero."""
    problem = Problem("cgl", Fraction(1), mat([[0], [0]]), vec(3, 4), ((0,),), (None,))
    assert others.on_range(problem, vec(3, 4)) == vec(0, 0)
    assert others.on_range(replace(problem, seen=mat([[1], [0]])), vec(3, 4)) == vec(3, 0)


def test_ways_in_blocks_of_two_columns() -> None:
    """One direction: parallel, not only of one length; a weight with a zero among its entries is a weight."""

    def ends(*ys: Any) -> Any:
        for y, w in ys:
            problem = Problem("cgl", Fraction(1), mat([[1, 0], [0, 1]]), vec(*y), ((0, 1),), (None,))
            yield optimum(problem, (vec(*w),), node())

    affine(*ends(((3, 0), (2, 0)), ((4, 0), (3, 0))), node())
    for pair in ((((3, 0), (2, 0)), ((0, 3), (0, 2))), (((3, 0), (2, 0)), (("1/2", 0), (0, 0)))):
        for way in (pair, pair[::-1]):
            with pytest.raises(Rejected, match="one direction along the way, block 0"):
                affine(*ends(*way), node())


def test_split_networks_on_a_straight_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the two optima of a path of networks the way is straight, which is asked for."""

    def crooked(one: Any, other: Any, where: Node) -> None:
        raise where.reject("a straight way")

    monkeypatch.setattr(paths, "affine", crooked)
    refuses(paths.network_path, dict(FILES["cor_relu_continuity"]), "a straight way")


def test_split_networks_of_two_features() -> None:
    """A neuron with a zero among its weights is not zero."""
    witness = dict(FILES["cor_relu_continuity"])
    problem = {**witness["problem"], "Z": [f"{z} 0" for z in witness["problem"]["Z"]]}
    wide = {key: [f"{w} 0" for w in witness[key]] for key in ("w", "w_lower", "W")}
    assert paths.network_path(node({**witness, "problem": problem, **wide})).startswith("p-unique on ")


def test_open_sets_of_single_columns() -> None:
    """All blocks have one column, and no block may have y.X_b u >= 0 in a direction that its cone admits."""
    witness = {"problem": cgl(["1 1"], "-1", "1", [["-1"], ["-1"]])}
    assert paths.openness(node(witness)).startswith("rank X = 1 < 2")
    refuses(paths.openness, {"problem": cgl(["1 1"], "-1", "1", [["-1"], None])}, r"y.X_b u < 0 for block 1, u = -1")
    refuses(paths.openness, {"problem": cgl(["1 1"], "1", "1", [["-1"], ["-1"]])}, r"y.X_b u < 0 for block 0, u = 1")
    refuses(paths.openness, {"problem": cgl(["1 1"], "0", "1", [["-1"], ["-1"]])}, r"y.X_b u < 0 for block 0, u = 1")
    mixed = {**cgl(["1 1 1"], "-1"), "groups": [[0], [1, 2]], "K": [["-1"], ["-1", "-1"]]}
    refuses(paths.openness, {"problem": mixed}, "blocks of one column")


def test_counts_of_no_patterns() -> None:
    """Without rows, or with many columns or rows, nothing is counted."""
    for Z in ([], [" ".join(["1"] * 9)], ["1"] * 9):
        with pytest.raises(Declined):
            solutions.count(node({"Z": Z}))
    refuses(solutions.count, {"Z": [" ".join(["1"] * 8)]}, "more patterns than the bound")


def test_projections_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the steps come to: c - v is in the polar cone, and orthogonal to v."""
    for x in (1, 5):
        monkeypatch.setattr("verify.refutations.core.nearest", lambda vectors, b, x=x: (Fraction(x),) * len(vectors))
        with pytest.raises(Declined, match="a projection after few steps"):
            project([vec(1, 0)], vec(3, 4))


def test_bounds_that_are_just_met(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many patterns as the bound has refute nothing: of one row there are two."""
    for constant, good in ((1, True), (2, False)):
        monkeypatch.setattr(solutions, "CONSTANT", constant)
        if good:
            assert solutions.count(node({"Z": ["1"]})).startswith("|D_Z| = 2 > 1 = 1 r (n/r)^r")
        else:
            refuses(solutions.count, {"Z": ["1"]}, "more patterns than the bound")


def test_any_two_blocks_have_many_columns() -> None:
    """All pairs, and there is one: 2 + 1 columns of two rows are no more than n + 1."""
    for groups in ([[0, 1], [2], [3, 4]], [[0, 1, 2, 3, 4]]):
        problem = {**cgl(["1 0 0 0 0", "0 1 0 0 0"], "1 1", "9"), "groups": groups, "K": [None] * len(groups)}
        w = [" ".join(["0"] * len(group)) for group in groups]
        refuses(solutions.group_position, {"problem": problem, "w": w, "other": w}, r"more than n \+ 1 = 3 columns")


def test_zero_networks_alone() -> None:
    """lambda > lambda_max, which is 3 here; nothing is said where they are equal."""
    for lam, good in (("4", True), ("7/2", True), ("3", False), ("2", False)):
        witness = {"problem": relu(["1"], "3", lam, ["0", "1"]), "m": 2}
        if good:
            assert solutions.permutations(node(witness)).startswith("lambda_max^2 = 9 < ")
        else:
            refuses(solutions.permutations, witness, "lambda > lambda_max")
    for m in (0, 1):
        refuses(solutions.permutations, {"problem": relu(["1"], "3", "4", ["0", "1"]), "m": m}, "at least 2")


def test_slopes_by_steps_of_any_length() -> None:
    """dw/dy is the difference over the step."""
    good = {"problem": cgl(["1"], "1"), "w": ["0"], "k": 0, "step": "1/2", "above": ["1/2"], "below": ["0"]}
    assert paths.differentiable(node(good)).endswith("(0) from below and (1) from above")


def test_active_blocks_of_min_norm_jumps() -> None:
    """Blocks that tie, and all that the limit uses."""
    witness = FILES["conjecture_min_norm_path_1"]
    assert paths.min_norm_path(node(witness)) and witness["active"] == [0]
    refuses(paths.min_norm_path, {**witness, "active": []}, "tied blocks, with all that `limit` uses")
    idle = {**witness["problem"], "X": ["0 1 1 0", "1 1 1 0"], "groups": [[0, 1], [2], [3]], "K": [None] * 3}
    wide = {**witness, "problem": idle, "limit": [*witness["limit"], "0"], "shorter": [*witness["shorter"], "0"]}
    assert paths.min_norm_path(node(wide))
    refuses(paths.min_norm_path, {**wide, "active": [0, 2]}, "tied blocks, with all that `limit` uses")


def test_split_networks_of_the_other_sign() -> None:
    """All targets turned round: the blocks of the other sign, and second weights below 0."""
    good = dict(FILES["cor_relu_continuity"])
    turned = {**good["problem"], "y": "-3 -2"}
    weights = {key: [good[key][i ^ 1] for i in range(6)] for key in ("w", "w_lower")}
    assert paths.network_path(node({**good, "problem": turned, **weights, "w2": "-3/5 -4/5"})).startswith(
        "p-unique on "
    )


def test_all_neurons_have_all_features() -> None:
    """Each neuron of a split network, not one of them."""
    good = dict(FILES["cor_relu_continuity"])
    problem = {**good["problem"], "Z": ["1 0", "-1 0"]}
    wide = {key: [f"{w} 0" for w in good[key]] for key in ("w", "w_lower")}
    refuses(paths.network_path, {**good, "problem": problem, **wide}, "one weight for each feature")


def test_outputs_outside_the_span() -> None:
    """q_j is a combination of the others, and active blocks alone take part in a dependence."""
    refuses(pruning.network, {"q": ["1 0 0", "0 1 0", "1 1 1"], "j": 2}, "in the span of the others")
    refuses(pruning.network, {"q": ["1 0", "0 1", "0 0"], "j": 2}, "in the span of the others")
    whole = Problem("cgl", Fraction(1), mat([[1, 1, 1]]), vec(3), ((0, 1), (2,)), (None, None))
    found = pruning.pruned(whole, (vec(1, 0), vec(1)), node("1 -1"))
    assert found == (vec(0, 0), vec(2))
    with pytest.raises(Rejected, match="an active dependence"):
        pruning.pruned(replace(whole, seen=mat([[1, 0, 0]])), (vec(1, 0), vec(0)), node("0 1"))


def test_points_of_all_constraints() -> None:
    """K'w <= 0 for every constraint of a block."""
    two = cgl(["1"], "2", "1", [["1 -1"]])
    refuses(others.lagrange_dual, {"problem": two, "w": ["1"], "theta": "0", "rho": ["0 0"]}, "a point of the cones")


def test_many_equal_constraints() -> None:
    """As many as there may be: the nearest point is found by few steps."""
    assert project([vec(1, 0)] * 64, vec(3, 4)) == vec(0, 4)
    assert project([vec(1, 0), vec(0, 1)] * 32, vec(3, 4)) == vec(0, 0)


def test_differentiable_at_its_edges() -> None:
    """Single columns without constraints, a step > 0, two slopes."""
    problem = cgl(["1"], "1")
    good = {"problem": problem, "w": ["0"], "k": 0, "step": "1", "above": ["1"], "below": ["0"]}
    assert paths.differentiable(node(good)).endswith("(0) from below and (1) from above")
    for change, said in (
        ({"step": "0"}, "a step > 0"),
        ({"step": "-1", "above": ["0"], "below": ["1"]}, "a step > 0"),
        ({"problem": cgl(["1"], "1", "1", [["0"]])}, "single columns, no constraints"),
        ({"step": "3", "above": ["3"], "below": ["-1"]}, "one direction along the way"),
    ):
        refuses(paths.differentiable, {**good, **change}, said)
    two = {**problem, "X": ["1 0", "0 1"], "groups": [[0, 1]], "K": [None], "y": "1 0"}
    refuses(paths.differentiable, {**good, "problem": two}, "single columns")
    mixed = {**problem, "X": ["1 0 0", "0 1 0"], "groups": [[0], [1, 2]], "K": [None] * 2, "y": "1 0"}
    refuses(paths.differentiable, {**good, "problem": mixed}, "single columns")


def test_straight_ways_from_zero_to_zero() -> None:
    """A block that ties at one end only and has no weight may turn; one that gets weight must tie at both ends."""
    tie, away = at((3, 1), (2, 0)), at((3, "1/2"), (2, 0))
    affine(tie, away, node())
    affine(away, tie, node())
    twins, zero = (at((y, 0), (w, w), Z=[[1, 1], [0, 0]]) for y, w in ((3, 1), (0, 0)))
    for ends in ((zero, twins), (twins, zero)):
        with pytest.raises(Rejected, match="independent outputs on E"):
            affine(*ends, node())


def test_jacobians_by_hand() -> None:
    """All blocks active and free, one solution; H has lambda M where the printed D has M."""
    whole = {
        "model": "cgl",
        "objective": OBJECTIVE,
        "lambda": "5",
        "X": ["1 0", "0 1"],
        "groups": [[0, 1]],
        "K": [None],
    }
    good = {"problem": {**whole, "y": "6 8"}, "w": ["3 4"], "k": 0}
    assert paths.jacobian(node(good)).startswith("the printed dw/dy_1 = ")
    refuses(paths.jacobian, {**good, "problem": {**whole, "y": "6 8", "K": [["0", "0"]]}}, "K = 0")
    refuses(paths.jacobian, {"problem": cgl(["1 0", "0 1"], "3 3"), "w": ["2", "2"], "k": 0}, "a defect of first order")
    one = {**whole, "lambda": "1", "y": "3 0"}
    refuses(paths.jacobian, {"problem": one, "w": ["2 0"], "k": 0}, "a defect of first order")
    partly = {"problem": {**whole, "lambda": "2", "y": "4 0"}, "w": ["2 0"], "k": 1}
    assert paths.jacobian(node(partly)).endswith("leaves (0, 1/3) of X'X dw + lambda M dw = X'e_2")


def test_split_networks_are_balanced() -> None:
    """No neuron of the split network is zero, and each has |W| = |w2|."""
    good = dict(FILES["cor_relu_continuity"])
    assert paths.network_path(node(good)).startswith("p-unique on ")
    for change in ({"W": ["3/5", "0"]}, {"w2": "3/5 3/5"}, {"w2": "0 4/5", "W": ["0", "4/5"]}):
        refuses(paths.network_path, {**good, **change}, "balanced neurons, none of them zero")
    refuses(paths.network_path, {**good, "W": ["3/5", "-4/5"]}, "parts of those")
    for lower in ("0", "-1", "2", "3"):
        refuses(paths.network_path, {**good, "lower": lower}, "0 < lower < lambda")


def test_choices_of_the_dual_by_hand() -> None:
    """|v_b| < lambda = |c_b|: a correlation of length lambda that the cone cuts short."""
    one = {"problem": relu(["1"], "-2", "2", ["1", "0"]), "w": ["0"] * 4}
    assert solutions.dual_choice(node(one)).startswith("block 0: |v_b|^2 = 0 < lambda^2 = 4 = |c_b|^2")
    refuses(solutions.dual_choice, {**one, "problem": relu(["1"], "-1", "2", ["1", "0"])}, "a block with")
    refuses(solutions.dual_choice, {**one, "problem": relu(["1"], "0", "2", ["1", "0"])}, "a block with")


def test_pruning_by_hand() -> None:
    """Outputs of several neurons, none below 0; a step back to the first point; a growth of more than two."""
    assert pruning.network(node({"q": ["1 0", "0 1", "2 1"], "j": 2})).endswith("the fit (3, 2) becomes (2, 3/2)")
    assert pruning.network(node({"q": ["1 0", "0 1", "2 0"], "j": 2})).startswith("beta = (2, 0)")
    for q in (["1 0", "0 -1", "1 1"], ["-1 0", "0 1", "1 1"], ["1 1"]):
        refuses(pruning.network, {"q": q, "j": 0}, "outputs >= 0 of several neurons")
    twins = {"problem": cgl(["1 1"], "4"), "start": ["1", "2"], "target": ["3", "0"]}
    assert pruning.one_step(node(twins)).startswith("a weight must grow 3-fold")
    refuses(pruning.one_step, {**twins, "start": ["3/2", "3/2"]}, "more than twofold")
    circle = {"problem": cgl(["1 1"], "4"), "iterates": [["1", "2"], ["0", "3"]], "betas": ["2 -1"]}
    refuses(pruning.circle, circle, "lead back to the first point")
    for change in ({"iterates": [["1", "2"]]}, {"betas": ["2 -1", "2 -1"]}, {"iterates": [["1", "2"]], "betas": []}):
        refuses(pruning.circle, {**circle, **change}, "one step or more")
    refuses(pruning.circle, {**circle, "iterates": [["1", "2"], ["1", "2"]]}, "the point to which the step leads")
    three = {"problem": cgl(["1 1 0", "0 0 1"], "4 3"), "w": ["1", "2", "2"], "j": 2}
    assert pruning.approximate(node(three)).startswith("3 outputs of rank 2")
    refuses(pruning.approximate, {**three, "j": 0}, "outside the span of the others")
    refuses(pruning.approximate, {**three, "w": ["3", "0", "2"], "j": 1}, "dependent active outputs")
    refuses(pruning.approximate, {**three, "w": ["3", "0", "2"], "j": 0}, "dependent active outputs")
    four = {"problem": cgl(["1 1 1 0", "0 0 0 1"], "4 3"), "w": ["1", "2", "0", "2"], "j": 2}
    refuses(pruning.approximate, four, "outside the span of the others")


def test_the_printed_dual_on_the_range() -> None:
    """1/2 |y|^2 less half the squared distance of theta from y, on the range of X alone."""
    wins = {"problem": cgl(["1", "0"], "4 0", "1", [["-1"]]), "w": ["3"], "rho": ["-4"]}
    assert (
        others.lagrange_dual(node({**wins, "theta": "3 5"}))
        == "the printed dual has the value 15/2 > 7/2 >= P(w) >= p*"
    )
    for theta in ("4 9", "2 0"):
        assert others.lagrange_dual(node({**wins, "theta": theta, "rho": ["-4" if theta[0] == "4" else "-2"]}))
    refuses(others.lagrange_dual, {**wins, "theta": "1 0", "rho": ["-1"]}, "a dual value above")


def test_sides_of_min_norm_jumps() -> None:
    """The words name the side."""
    witness = FILES["conjecture_min_norm_path_1"]
    words = paths.min_norm_path(node(witness))
    assert "at smaller lambda the only solution" in words and witness["side"] == "+"
    assert "at larger lambda the only solution" in paths.min_norm_path(node({**witness, "side": "-"}))


def test_squares_of_shortest_networks() -> None:
    """Three times the targets, lambda and weights: r is nine times as large."""
    small = FILES["lemma_min_norm_nn"]
    problem = small["problem"]

    def thrice(numbers: str) -> str:
        return " ".join(str(3 * Fraction(x)) for x in numbers.split())

    large = {**problem, "y": thrice(problem["y"]), "lambda": thrice(problem["lambda"])}
    found = [
        Fraction(solutions.min_norm_network(node(witness)).rpartition("r = ")[2])
        for witness in (small, {"problem": large, "w": [thrice(w) for w in small["w"]]})
    ]
    assert found[1] == 9 * found[0] > 0


def test_many_ties_are_declined() -> None:
    """Twelve tied blocks are tried, thirteen are not."""
    for count in (12, 13):
        X = " ".join(["1"] * count)
        w = ["1", *["0"] * (count - 1)]
        witness = {"problem": cgl([X], "2"), "start": w, "target": w}
        with pytest.raises(Rejected if count == 12 else Declined):
            pruning.one_step(node(witness))


def test_patterns_with_few_ones() -> None:
    """Every pattern has at least p d ones, not one of them."""
    problem = relu(["1", "1", "0"], "4 4 0", "2", ["110", "111"])
    w = ["1", "0", "2", "0"]
    refuses(solutions.sub_sampled, {"problem": problem, "w": w, "other": w}, "two solutions, one with all|an optimal")
    wide = {"problem": relu(["1 0", "0 1"], "1 1", "9", ["10"]), "w": ["0 0"] * 2, "other": ["0 0"] * 2}
    refuses(solutions.sub_sampled, wide, "at least p d = 2 ones")
    few = relu(["1", "0", "0"], "4 0 0", "1", ["100", "111"])
    refuses(solutions.sub_sampled, {"problem": few, "w": ["3", "0", "0", "0"], "other": w}, "at least p d|an optimal")


def test_all_tied_blocks_are_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two different solutions the first uses every block that ties."""
    problem = relu(["1", "1", "0"], "4 4 0", "2", ["110", "111"])
    witness = {"problem": problem, "w": ["0"] * 4, "other": ["0"] * 4}
    for active, w, other in (([0], 1, 2), ([0, 2], 1, 1)):
        monkeypatch.setattr(
            solutions, "read_optimum", lambda *_, a=active, w=w: SimpleNamespace(E=[0, 2], active=a, w=w)
        )
        monkeypatch.setattr(solutions, "optimum", lambda *_, w=other: SimpleNamespace(w=w))
        refuses(solutions.sub_sampled, witness, "two solutions, one with all tied blocks in use")


def test_dependences_of_two_rows() -> None:
    """Every entry of the combination is 0."""
    problem = Problem("cgl", Fraction(1), mat([[1, 1], [0, 1]]), vec(3, 0), ((0,), (1,)), (None, None))
    with pytest.raises(Rejected, match="an active dependence"):
        pruning.pruned(problem, (vec(1), vec(1)), node("1 -1"))


def test_cells_that_are_open() -> None:
    """Every row that is not zero is met on its own side: a ray alone is no open cell."""
    assert d_z(mat([[1, 0], [-1, 0], [0, 1]]), node())[0b111] is False
    assert d_z(mat([[1, 0], [-1, 0], [0, 1]]), node())[0b101] is True
