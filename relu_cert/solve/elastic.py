"""The elastic variant in float64, 1/2|Xw - y|^2 + lambda sum|w_b| + delta/2 sum|w_b|^2: Newton's method (`smooth`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from relu_cert.problem.problem import Problem
from relu_cert.solve.cones import Cones
from relu_cert.solve.prepare import BlockArrays, PatternedArrays, prepare
from relu_cert.solve.smooth import Blocks, DirectBlocks, Kinks, PatternedBlocks, Step, hessian, newton
from relu_cert.solve.solution import Floats
from relu_cert.solve.threads import one_thread

_STEPS = 100
_FLOOR = 1e-15  # relative size of the gradient below which floats say nothing more


@dataclass(frozen=True)
class ElasticPoint:
    """r, the kinks of every block's projection there, and x -> H^{-1} x."""

    r: Floats
    kinks: tuple[Kinks, ...]
    newton: Callable[[Floats], Floats]


def solve_elastic(problem: Problem, lam: float) -> ElasticPoint:
    """The residual of the elastic problem (its delta > 0, its blocks written out), as exactly as floats allow.

    delta is lowered step by step from the size of the data, each solution the start of the next.
    """
    with one_thread():
        data, delta = prepare(problem), float(problem.delta)
        match data.arrays:
            case PatternedArrays() as arrays:
                blocks: Blocks = PatternedBlocks(Cones(arrays))
            case BlockArrays() as arrays:
                blocks = DirectBlocks(arrays)
            case _:
                raise ValueError("the elastic variant needs its blocks written out")
        step, small, r = Step(blocks, data.y, lam, delta), _FLOOR * float(np.linalg.norm(data.y)), data.y
        for factor in 10.0 ** np.arange(np.ceil(np.log10(max(blocks.size(), delta) / delta)), -1.0, -1.0):
            wide = replace(step, delta=delta * max(factor, 1.0))
            at, _ = newton(wide, r, lambda _: small, _STEPS, lambda H, g: _inverse(H)(g))
            r = at.r
        return ElasticPoint(r, blocks.kinks(r), _inverse(hessian(step, at)))


def _inverse(H: Floats) -> Callable[[Floats], Floats]:
    """x -> H^{-1} x for a Hessian: no eigenvalue is below 1, whatever rounding says where delta is small."""
    values, vectors = np.linalg.eigh(H)
    return lambda x: np.asarray(vectors @ ((vectors.T @ x) / np.maximum(values, 1.0)), dtype=np.float64)
