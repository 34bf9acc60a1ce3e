"""Weights of tied neurons whose outputs are known exactly: one solution with a proof that it is the only one, or two.

Numbers are flint's rationals or those of a field. Floats choose supports and directions; what is returned is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from relu_cert.prove.algebraic.linear import Exact, product, reduced, solve
from relu_cert.prove.deepest import deepest
from relu_cert.rationals import to_fmpq

RANDOM_COSTS = 8
SHORT = 10**9
SEEMS_DIFFERENT = 1e-6  # relative; a wrong guess costs the fact, never its truth


def vertex(
    outputs: Sequence[Exact], target: Exact, cost: Sequence[float] | None = None, known: Exact | None = None
) -> Exact | None:
    """alpha >= 0 with sum alpha_a q_a = target, its outputs independent; None if none is found, or `known` again."""
    if not outputs:
        return None if any(target) else ()
    from scipy.optimize import linprog

    Q = np.array([[float(x) for x in q] for q in outputs]).T
    b = np.array([float(x) for x in target])
    size = max(float(np.abs(Q).max()), 1e-300)
    k = len(outputs)
    found = linprog(cost or np.zeros(k), A_eq=Q / size, b_eq=b / size, bounds=(0, None), method="highs-ds").x
    if found is None:
        return None
    if known is not None:
        about = np.array([float(x) for x in known])
        if np.abs(found - about).max() <= SEEMS_DIFFERENT * max(found.max(), about.max()):
            return None
    order = [int(a) for a in np.argsort(-found, kind="stable")]
    rows, pivots = reduced([[*(outputs[a][i] for a in order), right] for i, right in enumerate(target)])
    if k in pivots or any(row[k] < 0 for row in rows):
        return None
    weights = {order[j]: row[k] for row, j in zip(rows, pivots, strict=True)}
    zero = target[0] * 0
    return tuple(weights.get(a, zero) for a in range(k))


def one_or_two(outputs: Sequence[Exact], target: Exact, first: Exact) -> tuple[tuple[Exact, ...], Exact] | None:
    """The first solution with h that shows that it is the only one, or another one; None if neither is found."""
    k = len(outputs)
    rng = np.random.default_rng(0)
    costs = [[-1.0 if a == b else 0.0 for b in range(k)] for a in range(k) if not first[a]]
    costs += [list(rng.standard_normal(k)) for _ in range(RANDOM_COSTS)]
    for cost in costs:
        other = vertex(outputs, target, cost, first)
        if other is not None and other != first:
            return (first, other), ()
    h = _farkas(outputs, [a for a in range(k) if first[a]])
    return None if h is None else ((first,), h)


def _farkas(outputs: Sequence[Exact], support: Sequence[int]) -> Exact | None:
    """h with h.q = 0 on the support and h.q > 0 elsewhere: then only the support can be active. None if not found."""
    n, zero = len(outputs[0]), outputs[0][0] * 0
    others = [a for a in range(len(outputs)) if a not in support]
    if not others:
        return (zero,) * n
    Q = np.array([[float(x) for x in q] for q in outputs])
    size = max(float(np.abs(Q).max()), 1e-300)
    equal = Q[list(support)] / size if support else None
    found = deepest(-Q[others] / size, np.zeros(len(others)), [(-1, 1)] * n, 1, equal, np.zeros(len(support)))
    if found is None or found[1] <= 0:
        return None
    near = [zero + to_fmpq(Fraction(float(x)).limit_denominator(SHORT)) for x in found[0]]
    S = [outputs[a] for a in support]
    back = solve([[product(p, q) for q in S] for p in S], [product(p, near) for p in S]) if S else []
    if back is None:
        return None
    h = tuple(x - sum((c * p[i] for c, p in zip(back, S, strict=True)), zero) for i, x in enumerate(near))
    return h if all(product(h, outputs[a]) > 0 for a in others) else None
