"""Witnesses that miss by one fact: everything else about them is right, and the checker names what is missing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from properties.exact.problem import problem
from properties.refutations import direct, network, refutations
from properties.registry import all_claims
from tests.verify.build.witnesses import encoded
from verify import Rejected, check
from verify.problem.problem import read_problem
from verify.refutations import core
from verify.refutations.paths import affine
from verify.refutations.statements import REFUTABLE
from verify.text import Node

Json = dict[str, Any]

FILES = {name.removesuffix(".refutation.json"): file["witness"] for name, file in refutations(all_claims()).items()}


def cgl(X: list[list[int]], sizes: list[int], y: list[int], lam: int, K: Any = None) -> Json:
    """A direct problem."""
    return direct(problem(X, sizes, y, lam * lam, K))


def relu(Z: list[list[int]], y: list[Any], lam: int, patterns: list[str], model: str = "relu") -> Json:
    """A network over these patterns."""
    data = tuple(tuple(map(Fraction, z)) for z in Z)
    chosen = tuple(tuple(c == "1" for c in p) for p in patterns)
    return network(model, data, tuple(map(Fraction, y)), Fraction(lam * lam), chosen)


TWINS = cgl([[1, 1]], [1, 1], [4], 1)  # alpha_1 + alpha_2 = 3
SQUARE = cgl([[1, 0], [0, 1]], [1, 1], [3, 3], 1)
LINE = ["11", "10", "01"]
BOX = [[3, 0], [-3, 0], [0, 4], [0, -4]]
CORNERS = [(3, 4), (3, -4), (-3, 4), (-3, -4)]
BOXES = relu([z for z in BOX for _ in range(4)], ["37/4"] * 8 + ["65/4"] * 8, 5, [])
BOXES["patterns"] = ["".join("1" * 4 if z[0] * v[0] + z[1] * v[1] > 0 else "0" * 4 for z in BOX) for v in CORNERS]


def on_corners(weights: list[str]) -> list[str]:
    """The four neurons of the box with these weights, the blocks of the other sign zero."""
    out = []
    for a, v in zip(weights, CORNERS, strict=True):
        out += [" ".join(str(Fraction(a) * x) for x in v), "0 0"]
    return out


def flat(patterns: list[str], weights: list[str]) -> Json:
    """Z = (1, 1, 1, 0, ...)': patterns that differ on zero rows only have the same block."""
    ones = len(patterns[0])
    Z = [[1]] * 3 + [[0]] * (ones - 3)
    w = [x for a in weights for x in (a, "0")]
    other = ["3", "0", *["0"] * (len(w) - 2)]
    return {"problem": relu(Z, [4] * 3 + [0] * (ones - 3), 3, patterns), "w": w, "other": other}


MISSES: dict[str, tuple[str, Json, str]] = {
    "one step": (
        "alg:pruning-solutions",
        FILES["alg_pruning_solutions"]
        | {k: FILES["alg_pruning_solutions"][k][:n] for k, n in (("iterates", 2), ("betas", 1))},
        "lead back to the first point",
    ),
    "no step": (
        "prop:pruning-correctness",
        {"problem": TWINS, "iterates": [["1", "2"]], "betas": []},
        "one step or more",
    ),
    "start at a vertex": (
        "lemma:one-step-pruning",
        {"problem": TWINS, "start": ["3", "0"], "target": ["0", "3"]},
        "support is S",
    ),
    "target in the middle": (
        "lemma:one-step-pruning",
        {"problem": TWINS, "start": ["2", "1"], "target": ["1/2", "5/2"]},
        "a minimal solution",
    ),
    "reached": (
        "lemma:one-step-pruning",
        {"problem": TWINS, "start": ["3/2", "3/2"], "target": ["3", "0"]},
        "more than twofold",
    ),
    "nothing to prune": (
        "lemma:one-step-pruning",
        {"problem": cgl([[1, 1]], [1, 1], [1], 2), "start": ["0", "0"], "target": ["0", "0"]},
        "more than twofold",
    ),
    "many betas": ("alg:pruning-solutions-nn", {"q": ["1", "1", "1"], "j": 0}, "independent outputs"),
    "independent outputs": ("alg:pruning-solutions-nn", {"q": ["1 0", "0 1"], "j": 0}, "in the span of the others"),
    "a zero output": ("alg:pruning-solutions-nn", {"q": ["1 0", "0 0"], "j": 1}, "in the span of the others"),
    "nothing dependent": ("beta~ when dependent", {"problem": SQUARE, "w": ["2", "2"], "j": 0}, "dependent active"),
    "j in the dependence": ("beta~ when dependent", {"problem": TWINS, "w": ["1", "2"], "j": 0}, "outside the span"),
    "constrained blocks": (
        "prop:unique-sol",
        FILES["prop_unique_sol"] | {"problem": cgl([[1, 0, 1, 0], [0, 1, 0, 1]], [2, 2], [6, 8], 5, [[[-1, 0]], []])},
        "blocks without constraints",
    ),
    "few columns": ("prop:unique-sol", {"problem": TWINS, "w": ["3", "0"], "other": ["0", "3"]}, "columns in any two"),
    "one solution twice": (
        "prop:unique-sol",
        FILES["prop_unique_sol"] | {"other": FILES["prop_unique_sol"]["w"]},
        "two different solutions",
    ),
    "one norm": (
        "max-l2 program",
        FILES["max_l2_program"] | {"low": FILES["max_l2_program"]["high"]},
        "solutions of different norms",
    ),
    "as many neurons": (
        "m >= m*",
        FILES["m_at_least_m_star"] | {"small": FILES["m_at_least_m_star"]["w"]},
        "more neurons",
    ),
    "as many dimensions": (
        "m* = dim span",
        FILES["m_star_dim_span"] | {"w": FILES["m_star_dim_span"]["small"]},
        "span more dimensions",
    ),
    "not of least norm": (
        "lemma:min-norm-nn",
        FILES["lemma_min_norm_nn"]
        | {"w": ["2 0" if w == "1 0" and not k % 4 else "0 0" for k, w in enumerate(FILES["lemma_min_norm_nn"]["w"])]},
        "the solution of least norm",
    ),
    "one dual": (
        "min-norm dual w.l.o.g.",
        {"problem": relu([[1]], [1], 2, ["1", "0"]), "w": ["0", "0", "0", "0"]},
        "a block with",
    ),
    "lambda_max": ("m! solutions", {"problem": relu([[1]], [2], 2, ["1", "0"]), "m": 2}, "lambda > lambda_max"),
    "width 1": ("m! solutions", {"problem": relu([[1]], [1], 2, ["1", "0"]), "m": 1}, "at least 2"),
    "some patterns only": ("m! solutions", {"problem": relu([[1]], [1], 2, ["1"]), "m": 2}, "all of D_Z"),
    "one optimum": (
        "D_Z with >=",
        {
            "problem": relu([[1]], [3], 1, ["1", "0"], "gated"),
            "w": ["2", "0"],
            "open": ["0", "1"],
            "w_open": ["0", "2"],
        },
        "two different optima",
    ),
    "a closed face": (
        "D_Z with >=",
        FILES["d_z_with_equality"] | {"open": FILES["d_z_with_equality"]["problem"]["patterns"]},
        "the patterns of the open cells",
    ),
    "no data": ("bound on |D_Z|", {"Z": ["0"]}, "Z != 0"),
    "few patterns": ("bound on |D_Z|", {"Z": ["1"]}, "more patterns than the bound"),
    "few ones": (
        "prop:relu-unique",
        {
            "problem": FILES["m_star_dim_span"]["problem"],
            "w": FILES["m_star_dim_span"]["w"],
            "other": FILES["m_star_dim_span"]["small"],
        },
        "patterns with at least p d",
    ),
    "nothing tied": (
        "prop:relu-unique",
        {"problem": relu([[1], [1]], [1, 1], 9, ["11"]), "w": ["0", "0"], "other": ["0", "0"]},
        "one tied block for each pattern",
    ),
    "the same solution": (
        "prop:relu-unique",
        {"problem": relu([[1], [1]], [3, 3], 2, ["11"]), "w": ["2", "0"], "other": ["2", "0"]},
        "two solutions",
    ),
    "on a face": ("prop:relu-unique", flat(["1111", "1110"], ["1", "2"]), "strictly inside their cones"),
    "rank p - 2": ("prop:relu-unique", flat(["11111", "11110", "11101"], ["1", "1", "1"]), "independent outputs among"),
    "by chance": (
        "prop:relu-unique",
        {"problem": BOXES, "w": on_corners(["1/2"] * 4), "other": on_corners(["1", "0", "0", "1"])},
        "whatever Z is",
    ),
    "two solutions beside": (
        "prop:local-sol-fn (hypotheses)",
        {"problem": TWINS, "w": ["3", "0"], "k": 0, "step": "1", "above": ["4", "0"], "below": ["2", "0"]},
        "unique solutions",
    ),
    "a block of two": (
        "prop:local-sol-fn (hypotheses)",
        FILES["prop_local_sol_fn_hypotheses"] | {"problem": FILES["prop_local_sol_fn"]["problem"]},
        "single columns",
    ),
    "differentiable": (
        "prop:local-sol-fn (hypotheses)",
        {"problem": SQUARE, "w": ["2", "2"], "k": 1, "step": "1", "above": ["2", "3"], "below": ["2", "1"]},
        "different slopes",
    ),
    "a bend on the way": (
        "prop:local-sol-fn (hypotheses)",
        {"problem": SQUARE, "w": ["2", "2"], "k": 1, "step": "3", "above": ["2", "5"], "below": ["2", "0"]},
        "one direction along the way",
    ),
    "an inactive block": (
        "prop:local-sol-fn",
        {"problem": cgl([[1, 0], [0, 1]], [1, 1], [3, 0], 1), "w": ["2", "0"], "k": 0},
        "E = A",
    ),
    "not unique": ("prop:local-sol-fn", {"problem": TWINS, "w": ["2", "1"], "k": 0}, "a unique solution"),
    "lambda = 1": (
        "prop:local-sol-fn",
        {"problem": cgl([[1, 0], [0, 1]], [2], [6, 8], 1), "w": ["27/5 36/5"], "k": 0},
        "a defect of first order",
    ),
    "not the whole neuron": (
        "cor:relu-continuity",
        FILES["cor_relu_continuity"] | {"W": ["3/5", "3/5"], "w2": "3/5 3/5"},
        "add up to those of w",
    ),
    "another number of features": (
        "cor:relu-continuity",
        FILES["cor_relu_continuity"] | {"W": ["3/5 0", "4/5 0"]},
        "one weight for each feature",
    ),
    "width 3": (
        "cor:relu-continuity",
        FILES["cor_relu_continuity"] | {"W": ["2/3", "2/3", "1/3"], "w2": "2/3 2/3 1/3"},
        "as many neurons as the width",
    ),
    "both in use": (
        "cor:relu-continuity",
        {
            "problem": relu([[1], [-1]], [3, 3], 2, LINE),
            "w": ["0", "0", "1", "0", "-1", "0"],
            "lower": "1",
            "w_lower": ["0", "0", "2", "0", "-2", "0"],
            "W": ["1", "-1"],
            "w2": "1 1",
        },
        "fewer neurons than the width",
    ),
    "two columns": ("prop:map-continuity-cgl (open)", {"problem": cgl([[1, 1]], [2], [-1], 1)}, "blocks of one column"),
    "full rank": (
        "prop:map-continuity-cgl (open)",
        {"problem": cgl([[1]], [1], [-1], 1, [[[-1]]])},
        "deficient column rank",
    ),
    "free columns": ("prop:map-continuity-cgl (open)", {"problem": cgl([[1, 1]], [1, 1], [-1], 1)}, "y.X_b u < 0"),
    "no shorter solution": (
        "conjecture: min-norm path",
        FILES["conjecture_min_norm_path_1"] | {"shorter": FILES["conjecture_min_norm_path_1"]["limit"]},
        "a shorter solution",
    ),
    "no neuron": (
        "prop:stationary-points",
        FILES["prop_stationary_points_1"] | {"W": "0 0"},
        "a neuron other than zero",
    ),
    "no rows": ("prop:stationary-points", FILES["prop_stationary_points_1"] | {"Z": [], "y": ""}, "expected data"),
    "in both sets": (
        "prop:stationary-points",
        {"Z": ["1"], "y": "3", "lambda": "2", "W": "1", "w2": "1"},
        "exactly one of the two sets",
    ),
    "the printed minimum": ("prop:one-neuron", {"lambda": "50", "v": "-1/200"}, "a smaller objective"),
    "rho >= 0": (
        "lemma:lagrange-dual",
        FILES["lemma_lagrange_dual"] | {"theta": "-1/2", "rho": ["0"]},
        "a dual value above",
    ),
}


@pytest.mark.parametrize("name", MISSES)
def test_near_miss(name: str) -> None:
    """Rejected, and for the fact that is missing."""
    label, witness, missing = MISSES[name]
    head = {"format": "relu_cert refutation", "version": 1, "claim": label, "statement": REFUTABLE[label].statement}
    with pytest.raises(Rejected) as error:
        check(encoded(head | {"witness": witness, "end": "relu_cert refutation"}))
    assert missing in str(error.value)


def test_affine_across_a_face() -> None:
    """Between lambda = 10 and 6 the second block's correlation changes its sign: its projection is not affine."""
    p = read_problem(Node(cgl([[1, 0], [1, 1]], [1, 1], [10, 2], 10, [[], [[-1]]])))
    ends = []
    for lam, w in ((10, 1), (9, Fraction(3, 2)), (6, 3)):
        ends.append(core.optimum(replace(p, lam=Fraction(lam)), ((Fraction(w),), (Fraction(0),)), Node(None)))
    affine(ends[0], ends[1], Node(None))
    with pytest.raises(Rejected, match="one face of the cone"):
        affine(ends[0], ends[2], Node(None))
