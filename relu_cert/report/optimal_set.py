"""The optimal set as JSON: E with its dual vectors as maps of the residual, S, the polytope, the staircase."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from relu_cert.claims.connected import applies, staircase
from relu_cert.exact import sqrt_upper
from relu_cert.prove.algebraic.model import AlgebraicTied
from relu_cert.prove.candidates import frobenius_squared
from relu_cert.prove.classes import class_map, column, to_fraction, to_vector
from relu_cert.prove.exact_optimum import tied_neurons
from relu_cert.prove.facts import Facts, NeuronClass
from relu_cert.report.text import rational

TOLD_BITS = 64


def optimal_set_json(facts: Facts) -> dict[str, Any] | None:
    """What is proved about the set of all optimal networks; None where it is not listed.

    `neurons` are E, numbered from 0: those with |v| = lambda. The true v is within `radius` of the one given, and it is
    map r* exactly, r* the optimal residual; `map` is null where r* is known exactly, and then so is v (rounded if it is
    irrational). `weights` of a vertex are alpha, exact or (with `bits`, or if irrational) about right, one for each
    neuron of the support: w = alpha v.
    """
    found = facts.polytope
    if found is None:
        return None
    return {
        "dimension": found.dimension,
        "nondegenerate": found.nondegenerate,
        "m_star": found.m_star,
        "M_star": found.M_star,
        "rank": found.rank,
        "bits": found.bits,
        "neurons": _neurons(facts),
        "S": list(found.used),
        "vertices": [
            {"support": list(support), "weights": [rational(point[a]) for a in support]}
            for support, point in zip(found.vertices, found.points, strict=True)
        ],
        "edges": [list(edge) for edge in found.edges],
        "min_norm": None
        if found.min_norm is None
        else {
            "weights": [rational(x) for x in found.min_norm.weights],
            "radius": rational(found.min_norm.radius),
        },
        "staircase": [
            {"width": step.width, "isolated": step.isolated, "others": step.others} for step in staircase(found)
        ]
        if applies(facts)
        else None,
    }


def _neurons(facts: Facts) -> list[dict[str, Any]]:
    if facts.algebraic is not None:
        return [_algebraic(one) for one in facts.algebraic.tied]
    return _exact_neurons(facts) if facts.exact_set is not None else _enclosed_neurons(facts)


def _algebraic(one: AlgebraicTied) -> dict[str, Any]:
    """v is known exactly, as a vector over the field of the certificate; here it is rounded."""
    return _named(one.sign, one.pattern, one.block) | {
        "v": [rational(x.rounded(TOLD_BITS)) for x in one.v],
        "radius": rational(sqrt_upper(Fraction(len(one.v), 1 << 2 * TOLD_BITS), 16)),
        "map": None,
    }


def _exact_neurons(facts: Facts) -> list[dict[str, Any]]:
    tied = tied_neurons(facts.problem, facts.dual, facts.lam)
    return [
        _named(one.neuron.sign, one.neuron.pattern, one.neuron.block)
        | {"v": [rational(x) for x in one.v], "radius": "0", "map": None}
        for one in tied
    ]


def _enclosed_neurons(facts: Facts) -> list[dict[str, Any]]:
    if facts.optimal_set is None:
        raise ValueError("a listed polytope belongs to an optimal set")
    return [_enclosed(facts, neuron) for neuron in facts.optimal_set.classes]


def _enclosed(facts: Facts, neuron: NeuronClass) -> dict[str, Any]:
    """v = xi P X'r*, and |v - xi P X'theta| <= |X|_F R."""
    one = class_map(facts.problem, neuron)
    sign = Fraction(neuron.sign)
    rows = [[sign * to_fraction(x) for x in row] for row in (one.P * one.X.transpose()).tolist()]
    v = to_vector(one.P * (one.X.transpose() * column(facts.dual.theta)))
    squared = frobenius_squared(tuple(tuple(to_fraction(x) for x in row) for row in one.X.tolist()))
    return _named(neuron.sign, neuron.pattern, neuron.block) | {
        "v": [rational(sign * x) for x in v],
        "radius": rational(sqrt_upper(squared * facts.fit.radius_squared, 32)),
        "map": [[rational(x) for x in row] for row in rows],
    }


def _named(sign: int, pattern: str | None, block: int | None) -> dict[str, Any]:
    return {"block": block} if block is not None else {"sign": sign, "pattern": pattern}
