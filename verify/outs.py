"""That every block is out or in a class. Out: bound + |X| R < lambda, so that the block is zero in every solution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from math import lcm

from flint import fmpz_mat

from verify.classes import Ball, Class, frobenius
from verify.patterns import Patterns, mask_of
from verify.problem import SIGNS, cleared, square, times, transposed
from verify.text import Node, Vector, bit_text, show

BATCH = 4096
Row = tuple[int, list[int], int]  # a base, and the vector m = p / q


def check_outs(ball: Ball, patterns: Patterns | None, classes: Sequence[Class], multipliers: Node, out: Node) -> None:
    """Reject unless every block has a class or is out, and no block (no fine piece) has two classes."""
    problem = ball.problem
    if problem.model != "relu" and out.value is not None:
        raise out.reject("null")
    keys = {a.key for a in classes}
    if len(keys) != len(classes):
        raise out.reject("no two classes of the same block (relu: of the same sign and pattern)", "two")
    if problem.model == "cgl":
        check_direct(ball, {b for _, b in keys}, multipliers, out)
    elif patterns is None:
        raise out.reject("the fact patterns, which this rests on", "none")
    elif problem.model == "gated":
        named = {mask for _, mask in keys}
        for mask, length in lengths(ball, gated_rows(ball, patterns)):
            if mask not in named and length >= ball.out_below:
                found = f"none, and |Z'D theta|^2 = {show(length)}"
                raise out.reject(f"a class for the pattern {bit_text(mask, problem.n)}", found)
    else:
        bounds, sides = multipliers.record("+", "-"), out.record("+", "-")
        for sign, xi in SIGNS.items():
            check_side(ball, patterns, xi, [a for a in classes if a.key[0] == xi], bounds[sign], sides[sign])


def check_direct(ball: Ball, named: set[int], multipliers: Node, node: Node) -> None:
    """Every block without a class is out, with its rho of `dual` or with none."""
    problem = ball.problem
    for b, entry in enumerate(multipliers.array(len(problem.groups))):
        if b in named:
            continue
        X, K = problem.block(b), problem.K[b]
        c = transposed(X, ball.theta)
        bound = square(c)
        if entry.value is not None and K is not None:
            pushed = times(K, entry.vector(len(K[0])))
            bound = min(bound, square(tuple(c_j - x for c_j, x in zip(c, pushed, strict=True))))
        if bound >= ball.threshold(frobenius(X)):
            raise node.reject(f"a class for block {b}", f"none, and |X_b'theta - K_b rho|^2 = {show(bound)}")


def check_side(ball: Ball, patterns: Patterns, xi: int, classes: Sequence[Class], multipliers: Node, out: Node) -> None:
    """ReLU: every fine piece inside a piece that is not out has a class or exactly one entry of `out`.

    P' has the rows whose t_k is not surely negative; rows of Z that are zero tell no fine pieces apart. A class is that
    of all fine pieces that agree with its pattern off its kinks.
    """
    n, Z = ball.problem.n, ball.problem.Z
    t = tuple(xi * x for x in ball.theta)
    P = mask_of(k for k in range(n) if t[k] > 0)
    fine_P = mask_of(k for k in range(n) if not (t[k] < 0 and t[k] ** 2 > ball.R_squared))
    apart = mask_of(k for k in range(n) if fine_P >> k & 1 and any(Z[k]))
    bounds = lengths(ball, read_entries(t, multipliers.array()))
    tied = {base & P for base, length in bounds if length >= ball.out_below}
    needed = {mask & apart for mask in patterns.masks[: patterns.open_cells] if mask & P in tied}
    for a in classes:
        signed = apart & ~a.zeros
        needed = {piece for piece in needed if (piece ^ a.key[1]) & signed}
    entries = out.array()
    rows = [checked(row, t, fine_P, entry) for row, entry in zip(read_entries(t, entries), entries, strict=True)]
    for (base, length), entry in zip(lengths(ball, rows), entries, strict=True):
        if base & apart not in needed:
            raise entry.reject("a fine piece that is not out otherwise, has no class and no entry yet")
        needed.remove(base & apart)
        if length >= ball.out_below:
            raise entry.reject(f"|Z'm|^2 < {show(ball.out_below)}", show(length))
    if needed:
        missing = "".join(c if apart >> k & 1 else "*" for k, c in enumerate(bit_text(min(needed), n)))
        raise out.reject("a class or an entry for every fine piece that is not out", f"none for {missing}")


def read_entries(t: Vector, entries: Iterable[Node]) -> Iterator[Row]:
    """[base, rows, values]: m_k = t_k where base_k is 1 and 0 elsewhere, then the value for k in rows."""
    p, q = cleared(t)
    for entry in entries:
        base_node, rows_node, values_node = entry.array(3)
        base = base_node.pattern(len(t))
        rows = rows_node.ascending(len(t))
        values = values_node.vector(len(rows))
        scale = lcm(q, *(m_k.denominator for m_k in values))
        m = [p_k * (scale // q) if base >> k & 1 else 0 for k, p_k in enumerate(p)]
        for k, m_k in zip(rows, values, strict=True):
            m[k] = m_k.numerator * (scale // m_k.denominator)
        yield base, m, scale


def checked(row: Row, t: Vector, fine_P: int, node: Node) -> Row:
    """Reject unless t_k (s)_+ <= m_k s: for s >= 0 or s <= 0, as base_k is 1 or 0, on P'; for every s elsewhere."""
    base, m, scale = row
    for k, (t_k, p) in enumerate(zip(t, m, strict=True)):
        m_k = Fraction(p, scale)
        if fine_P >> k & 1:
            holds, rule = (m_k >= t_k, ">= t_k") if base >> k & 1 else (m_k <= 0, "<= 0")
        else:
            holds, rule = t_k <= m_k <= 0, "between t_k and 0"
        if not holds:
            raise node.reject(f"a value {rule} for row {k}, t_k = {show(t_k)}", show(m_k))
    return row


def gated_rows(ball: Ball, patterns: Patterns) -> Iterator[Row]:
    """m = D theta for every pattern D."""
    p, q = cleared(ball.theta)
    for mask in patterns.masks:
        yield mask, [p_k if mask >> k & 1 else 0 for k, p_k in enumerate(p)], q


def lengths(ball: Ball, rows: Iterable[Row]) -> Iterator[tuple[int, Fraction]]:
    """The base and |Z'm|^2 of every row."""
    for base, p, q in integer_products(ball, rows):
        yield base, Fraction(sum(x**2 for x in p), q**2)


def products(ball: Ball, rows: Iterable[Row]) -> Iterator[tuple[int, Vector]]:
    """The base and Z'm of every row."""
    for base, p, q in integer_products(ball, rows):
        yield base, tuple(Fraction(x, q) for x in p)


def integer_products(ball: Ball, rows: Iterable[Row]) -> Iterator[Row]:
    """The base of every row, and Z'm = p / q, by products of integer matrices."""
    entries, scale = cleared(z for row in ball.problem.Z for z in row)
    Z = fmpz_mat(ball.problem.n, ball.problem.d, entries)
    rows = iter(rows)
    while batch := list(islice(rows, BATCH)):
        Zm = (fmpz_mat([p for _, p, _ in batch]) * Z).tolist()
        for (base, _, q), p in zip(batch, Zm, strict=True):
            yield base, [int(x) for x in p], q * scale
