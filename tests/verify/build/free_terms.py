"""A certificate of a network with free terms, made by hand, and wrong ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.verify.build import plain
from tests.verify.oracle.brute import mat, vec
from tests.verify.build.plain import Case
from verify.problem import ELASTIC


def hinge() -> Case:
    """y = -2, 2 at x = -1, 1, lambda = 1, free biases: 3/2 (x + 1)_+ - 3/2 is optimal with theta = (-1/2, 1/2), and
    p* = 7/4. For both signs a piece is on, m = xi theta, or off, m = 0."""
    Z, y = mat([[-1, 1], [1, 1]]), vec(-2, 2)
    theta, fit = vec("-1/2", "1/2"), vec("-3/2", "3/2")
    side = [["11", [], ""], ["00", [], ""]]
    raw = b"x,y\n-1,-2\n1,2\n"
    problem: dict[str, Any] = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": "1"}
    problem |= {"Z": [plain.words(row) for row in Z], "y": plain.words(y), "free": ["output-bias", "biases"]}
    facts = {
        "patterns": plain.list_patterns(Z).fact,
        "primal": {"neurons": [{"sign": "+", "w": "3/2 3/2", "norm": "3/2"}], "free": "-3/2"},
        "dual": {"theta": plain.words(theta), "multipliers": {"+": side, "-": side}},
        **plain.value_and_fit(y, Fraction(1), fit, Fraction(3, 2), theta),
    }
    return Case("a hinge with free biases", plain.certificate(problem, facts, raw, bias=True, target=1), raw)


# (reason, changes, message)
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("no free term named", {"problem.free": []}, r"problem\.free: expected some of output-bias, biases, skip"),
    ("free terms in another order", {"problem.free": ["biases", "output-bias"]}, "in this order"),
    ("a free term twice", {"problem.free": ["biases", "biases"]}, "in this order"),
    ("an unknown free term", {"problem.free": ["bias"]}, r"problem\.free\[0\]: expected .*'bias'"),
    ("free terms as a text", {"problem.free": "biases"}, r"problem\.free: expected an array"),
    ("free terms with delta", {"problem.objective": ELASTIC, "problem.delta": "1"}, "delta = 0 only"),
    ("free terms over some patterns", {"problem.patterns": ["11"]}, "over all patterns and delta = 0 only"),
    ("free biases are penalised after all", {"problem.free": ["output-bias"]}, r"norm >= \|w\|, \|w\|\^2 = 9/2"),
    ("no free term at all", {"problem.free": ...}, "unknown key 'free'"),
    (
        "a skip connection that theta sees",
        {"problem.free": ["biases", "skip"], "facts.primal.free": "-3/2 0 0"},
        "theta orthogonal to the free column 1",
    ),
    (
        "theta that sees the constant",
        {"facts.dual.theta": "-1/2 1/4"},
        r"theta orthogonal to the free column 0, found -1/4",
    ),
    ("a multiplier that sees the bias", {"facts.dual.multipliers.+[0]": ["11", [1], "3/4"]}, r"m\.1 = 0, .* found 1/4"),
    ("weights beyond lambda", {"problem.lambda": "99/100"}, r"\|Z'm\|\^2 <= 9801/10000, found 1$"),
    ("no coefficient of the constant", {"facts.primal.free": ...}, "expected the key free"),
    ("two coefficients for one constant", {"facts.primal.free": "-3/2 0"}, "expected 1 number"),
    ("another constant", {"facts.primal.free": "-1"}, r"value\.upper"),
    ("a norm without the weight", {"facts.primal.neurons[0].norm": "1"}, r"norm >= \|w\|, \|w\|\^2 = 9/4"),
    ("lambda_max of another problem", {"facts.lambda_max": {}}, "unknown key 'lambda_max'"),
    ("a cover of nothing", {"facts.cover": {}}, r"facts\.cover: expected the key"),
    ("an optimal set of another problem", {"facts.optimal_set": {}}, "unknown key 'optimal_set'"),
]
ELSEWHERE: list[tuple[str, str, dict[str, Any], str]] = [
    ("xor, planted", "biases without ones", {"problem.free": ["biases"]}, "the last column of Z is ones"),
    (
        "xor, planted, gated",
        "free terms of a gated network",
        {"problem.free": ["skip"]},
        "free terms with ReLU networks",
    ),
]
