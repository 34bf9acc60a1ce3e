"""prop:map-continuity-cgl, second part: "open iff X has full column rank" needs K = 0."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.lasso import signed_columns, solve_lasso
from properties.exact.linalg import dependencies, dot, rank, scale
from properties.exact.problem import CGL, Block, Weights, group_norm, is_optimal, problem, residual
from properties.model import HOLDS, Claim, Outcome, Property, Witness, expect, fails, first_failure, vacuous
from properties.strategies import nonzero_vector, planted_lasso

LABEL = "prop:map-continuity-cgl (open)"
STATEMENT = "W* is open on [0, infinity) only if X has full column rank."
REPAIRED = "K = 0: without full column rank W*(0) is unbounded, W*(lambda) bounded, and W* is not open at 0."


def always_zero(p: CGL) -> bool:
    """W*(lambda) = {0} for every lambda >= 0: every admissible signed column has x.y < 0, strictly."""
    return all(dot(x, p.y) < 0 for x in signed_columns(p).columns)


def check(p: CGL) -> Outcome:
    """A rank-deficient X with a singleton, constant solution map refutes the statement."""
    if rank(p.columns) == len(p.columns):
        return vacuous("full column rank")
    if always_zero(p):
        return fails("X is rank deficient, but W*(lambda) = {0} for all lambda >= 0, which is open")
    return vacuous("rank deficient, and the map is not a constant singleton")


@dataclass(frozen=True)
class Far:
    """A problem, one of its solutions, and two least-squares solutions, the second far out."""

    problem: CGL
    near: Weights
    base: Weights
    far: Weights


@st.composite
def far_points(draw: DrawFn) -> Far:
    """A lasso with dependent columns (the first is repeated if need be), and a step along a dependence."""
    p = draw(planted_lasso(constrained=False)).problem
    if not dependencies(p.columns):
        p = CGL((*p.blocks, p.blocks[0]), p.y, p.lam2)
    z = dependencies(p.columns)[0]
    base = solve_lasso(p.at(Fraction(0)))
    step = (2 * sum((abs(wb[0]) for wb in base), Fraction(0)) + 1) / max(abs(t) for t in z)
    far = tuple((wb[0] + step * t,) for wb, t in zip(base, z, strict=True))
    return Far(p, solve_lasso(p), base, far)


@st.composite
def opposed(draw: DrawFn) -> CGL:
    """w >= 0, and every column has x.y <= 0, most of them strictly."""
    y = draw(nonzero_vector(draw(st.integers(1, 3))))
    columns = [draw(nonzero_vector(len(y))) for _ in range(draw(st.integers(1, 5)))]
    signed = [scale(-1, x) if dot(x, y) > 0 else x for x in columns]
    minus = (Fraction(-1),)
    return CGL(tuple(Block(tuple((e,) for e in x), (minus,)) for x in signed), y, Fraction(1))


def least_squares(p: CGL, w: Weights) -> bool:
    """X'(y - Xw) = 0"""
    return not any(any(b.correlation(residual(p, w))) for b in p.blocks)


def check_free(f: Far) -> Outcome:
    """A solution at 0 that is farther out than every solution at lambda > 0 can be, so that none tends to it.

    Every solution at lambda > 0 has group norm at most that of any least-squares solution
    (lemma:bounded-solutions-cgl): the one here has.
    """
    p = f.problem
    return first_failure(
        expect(group_norm(f.near) <= group_norm(f.base), "a solution at lambda > 0 has a larger group norm"),
        expect(group_norm(f.base) < group_norm(f.far), "the far point is within the bound"),
        expect(least_squares(p, f.base) and least_squares(p, f.far), "this is no least-squares solution"),
        expect(is_optimal(p, f.near), "this is no solution at lambda > 0"),
        vacuous("constraints") if any(b.K for b in p.blocks) else HOLDS,
    )


CLAIM = Claim(
    LABEL,
    "Openness and column rank",
    Property(STATEMENT, st.one_of(opposed(), planted_lasso().map(lambda planted: planted.problem)), check),
    witnesses=(Witness("X = [1 1], w >= 0, y = -1", problem([[1, 1]], [1, 1], [-1], 1, [[[-1]], [[-1]]])),),
    repaired=Property(REPAIRED, far_points(), check_free),
)
