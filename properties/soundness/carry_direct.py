"""Metamorphic relations of direct problems, with delta and with the logistic loss, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, matmul, matvec, scale, transpose
from properties.exact.problem import CGL, Block
from properties.soundness.carry import PYTHAGOREAN, Pair
from properties.soundness.case import DirectCase
from properties.soundness.draw import any_direct
from properties.strategies import orthogonal, positive_rationals

ZERO = Fraction(0)


def _mapped(case: DirectCase, blocks: tuple[Block, ...], y: Vector, lam: Fraction) -> DirectCase:
    return replace(case, convex=CGL(blocks, y, lam * lam))


def _rows(case: DirectCase, change: Callable[[Matrix], Matrix]) -> tuple[Block, ...]:
    return tuple(Block(change(b.X), b.K) for b in case.convex.blocks)


def _scaled(draw: DrawFn, case: DirectCase) -> Pair:
    """(X, y, lambda, delta) -> (a X, b y, a b lambda, a^2 delta): w -> (b/a) w, p* -> b^2 p*. Labels stay."""
    a, b = draw(positive_rationals(5, 3)), Fraction(1) if case.logistic else draw(positive_rationals(5, 3))
    blocks = _rows(case, lambda X: tuple(scale(a, x) for x in X))
    after = _mapped(case, blocks, scale(b, case.convex.y), a * b * case.lam)
    return Pair("scale", case, replace(after, delta=a * a * case.delta), b * b, position=True)


def _permuted(draw: DrawFn, case: DirectCase) -> Pair:
    """The blocks in another order."""
    blocks = tuple(draw(st.permutations(case.convex.blocks)))
    return Pair("permute", case, _mapped(case, blocks, case.convex.y, case.lam), position=True)


def _permuted_rows(draw: DrawFn, case: DirectCase) -> Pair:
    """The rows in another order."""
    order = draw(st.permutations(range(case.convex.n)))
    blocks = _rows(case, lambda X: tuple(X[k] for k in order))
    return Pair(
        "permute rows", case, _mapped(case, blocks, tuple(case.convex.y[k] for k in order), case.lam), position=True
    )


def _rotated_rows(draw: DrawFn, case: DirectCase) -> Pair:
    """X -> Q X, y -> Q y."""
    Q = draw(orthogonal(case.convex.n))
    blocks = _rows(case, lambda X: matmul(Q, X))
    return Pair("rotate rows", case, _mapped(case, blocks, matvec(Q, case.convex.y), case.lam), position=True)


def _rotated_blocks(draw: DrawFn, case: DirectCase) -> Pair:
    """X_b -> X_b R', K_b -> R K_b: w_b -> R w_b. (The columns of X change: general position is left out.)"""
    rotated = []
    for b in case.convex.blocks:
        R: Matrix = draw(orthogonal(b.size))
        rotated.append(Block(matmul(b.X, transpose(R)), tuple(matvec(R, k) for k in b.K)))
    return Pair("rotate blocks", case, _mapped(case, tuple(rotated), case.convex.y, case.lam))


def _negated(draw: DrawFn, case: DirectCase) -> Pair:
    """y -> -y, K -> -K: w -> -w."""
    blocks = tuple(Block(b.X, tuple(scale(-1, k) for k in b.K)) for b in case.convex.blocks)
    return Pair("negate", case, _mapped(case, blocks, scale(-1, case.convex.y), case.lam), position=True)


def _repeated(draw: DrawFn, case: DirectCase) -> Pair:
    """Every constraint twice, and a zero one."""
    s = draw(positive_rationals())
    blocks = tuple(Block(b.X, (*b.K, *(scale(s, k) for k in b.K), (ZERO,) * b.size)) for b in case.convex.blocks)
    return Pair("repeat constraints", case, _mapped(case, blocks, case.convex.y, case.lam), position=True)


def _zero_block(draw: DrawFn, case: DirectCase) -> Pair:
    """A block without effect: its weights are 0 in every solution."""
    zero = Block(((ZERO,),) * case.convex.n)
    return Pair("zero block", case, _mapped(case, (*case.convex.blocks, zero), case.convex.y, case.lam))


def _zero_row(draw: DrawFn, case: DirectCase) -> Pair:
    """A row x = 0 with target t: p* -> p* + t^2/2 (logistic: p* + log 2)."""
    t = Fraction(draw(st.sampled_from([1, -1])) if case.logistic else draw(st.integers(-3, 3)))
    blocks = _rows(case, lambda X: (*X, (ZERO,) * len(X[0])))
    after = _mapped(case, blocks, (*case.convex.y, t), case.lam)
    return Pair("zero row", case, after, shift=ZERO if case.logistic else t * t / 2, logs=int(case.logistic))


def _split_row(draw: DrawFn, case: DirectCase) -> Pair:
    """(x, t) -> (c x, c t), (s x, s t) with c^2 + s^2 = 1."""
    k = draw(st.integers(0, case.convex.n - 1))
    a, b, h = draw(st.sampled_from(PYTHAGOREAN))
    c, s = Fraction(a, h), Fraction(b, h)
    blocks = _rows(case, lambda X: (*X[:k], scale(c, X[k]), *X[k + 1 :], scale(s, X[k])))
    y = case.convex.y
    return Pair("split row", case, _mapped(case, blocks, (*y[:k], c * y[k], *y[k + 1 :], s * y[k]), case.lam))


def _twice(draw: DrawFn, case: DirectCase) -> Pair:
    """All rows twice, lambda and delta twice: the same problem, p* -> 2 p*."""
    after = _mapped(case, _rows(case, lambda X: X * 2), case.convex.y * 2, 2 * case.lam)
    return Pair("points twice", case, replace(after, delta=2 * case.delta), Fraction(2))


def _block_twice(draw: DrawFn, case: DirectCase) -> Pair:
    """A block twice: p* is the same (not with delta), and there may be more solutions."""
    b = draw(st.sampled_from(case.convex.blocks))
    after = _mapped(case, (*case.convex.blocks, b), case.convex.y, case.lam)
    return Pair("block twice", case, after, value=True)


Change = Callable[[DrawFn, DirectCase], Pair]
CHANGES: tuple[Change, ...] = (
    _scaled,
    _permuted,
    _permuted_rows,
    _rotated_blocks,
    _repeated,
    _zero_block,
    _zero_row,
    _twice,
)
SQUARES: tuple[Change, ...] = (_rotated_rows, _split_row, _negated)  # not for labels: y is not rotated, nor split


@st.composite
def direct_pairs(draw: DrawFn) -> Pair:
    """A direct problem and a changed one; sometimes with delta, or with labels and the logistic loss."""
    case = draw(any_direct())
    kind = draw(st.sampled_from(["plain", "plain", "elastic", "logistic"]))
    if kind == "logistic":
        labels = tuple(Fraction(draw(st.sampled_from([1, -1]))) for _ in case.convex.y)
        case = replace(case, convex=replace(case.convex, y=labels), logistic=True)
    elif kind == "elastic":
        case = replace(case, delta=draw(positive_rationals(3, 4)))
    allowed = CHANGES + (() if case.logistic else SQUARES) + (() if case.delta else (_block_twice,))
    return draw(st.sampled_from(allowed))(draw, case)
