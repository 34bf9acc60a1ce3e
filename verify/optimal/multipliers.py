"""That |Proj_{C_b}(X_b' theta)| <= lambda for every block b, from multipliers.

ReLU: with t = xi P'theta, t.(Zu)_+ <= m.Zu <= |Z'm| |u| on a piece; free biases: m.1 = 0, and the norms are those of
the weights alone. Direct problems: for rho >= 0, |Proj_C(c)| <= |c - K rho|. Gated ReLU: no cone, no multiplier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from flint import fmpz_mat

from verify.errors import Rejected
from verify.numbers.integers import cleared, cleared_rows
from verify.numbers.patterns import Patterns, Row, on_bits
from verify.problem.problem import SIGNS, Problem
from verify.text import Node, Vector, bit_text, mask_of, show

if TYPE_CHECKING:
    from verify.optimal.ball import Ball

BATCH_BITS = 2**28


def check_multipliers(problem: Problem, patterns: Patterns | None, theta: Vector, most: Fraction, node: Node) -> None:
    """Reject unless the multipliers prove that theta is dual feasible for lambda^2 = most."""
    if problem.model == "cgl":
        from verify.problem.blocks import check_direct

        check_direct(problem, theta, most, node)
    elif patterns is None:
        raise node.reject("the fact patterns, which the multipliers of a network rest on", "none")
    elif problem.model == "gated":
        from verify.problem.blocks import gated_rows

        check_norms(problem, gated_rows(patterns, theta, node), most, f"{node.place} for pattern ")
    else:
        sides = node.record("+", "-")
        for sign, xi in SIGNS.items():
            t = tuple(xi * x for x in problem.spread(theta))
            check_norms(problem, piece_rows(patterns, t, sides[sign]), most, f"{sides[sign].place} entry ")


def piece_rows(patterns: Patterns, t: Vector, node: Node) -> Iterator[Row]:
    """The m of every piece: the restriction of the open cells to P = {k : t_k > 0}. Each piece has exactly one."""
    P = mask_of(k for k, t_k in enumerate(t) if t_k > 0)
    pieces = {mask & P for mask in patterns.masks[: patterns.open_cells]}
    entries = node.array()
    for row, entry in zip(read_entries(t, P, entries), entries, strict=True):
        if row[0] & P not in pieces:
            raise entry.item(0).reject("a piece of the open cells that has no entry yet")
        pieces.remove(row[0] & P)
        yield row
    if pieces:
        missing = "".join(c if P >> k & 1 else "*" for k, c in enumerate(bit_text(min(pieces), len(t))))
        raise node.reject("an entry for every piece", f"none for {missing}")


def read_entries(t: Vector, P: int, entries: Iterable[Node]) -> Iterator[Row]:
    """[base, rows, values]: m_k = t_k where base_k is 1 and 0 elsewhere, then the value for k in rows.

    Reject unless t_k (s)_+ <= m_k s: for s >= 0 or s <= 0, as base_k is 1 or 0, where k is in P; for every s elsewhere.
    """
    n = len(t)
    p, q = cleared(t)
    for entry in entries:
        base_node, rows_node, values_node = entry.array(3)
        base = base_node.pattern(n)
        rows = rows_node.ascending(n)
        values = values_node.vector(len(rows))
        scale = lcm(q, *(m_k.denominator for m_k in values))
        m = on_bits(base_node.value, p if scale == q else [p_k * (scale // q) for p_k in p])
        for k, m_k in zip(rows, values, strict=True):
            on = bool(base >> k & 1) if P >> k & 1 else None
            if not allowed(m_k, t[k], on):
                rule = f"in [{show(t[k])}, 0]" if on is None else f">= {show(t[k])}" if on else "<= 0"
                raise values_node.reject(f"a value for row {k} that is {rule}", show(m_k))
            m[k] = m_k.numerator * (scale // m_k.denominator)
        yield base, m, scale


def allowed(m_k: Fraction, t_k: Fraction, on: bool | None) -> bool:
    """Whether t_k (s)_+ <= m_k s for every s >= 0 (on), every s <= 0 (not on), or every s (None)."""
    if on is None:
        return t_k <= m_k <= 0
    return m_k >= t_k if on else m_k <= 0


def check_norms(problem: Problem, rows: Iterable[Row], squared: Fraction, place: str) -> None:
    """Reject unless |Z'm|^2 <= squared for every row m."""
    for number, (_, p, q) in enumerate(products(problem, rows)):
        if problem.biases and (left := p.pop()):
            raise Rejected(f"{place}{number}", "m.1 = 0, for the biases are free", show(Fraction(left, q)))
        length = sum(x**2 for x in p)
        if length * squared.denominator > squared.numerator * q**2:
            raise Rejected(f"{place}{number}", f"|Z'm|^2 <= {show(squared)}", show(Fraction(length, q**2)))


def products(problem: Problem, rows: Iterable[Row]) -> Iterator[Row]:
    """The base of every row, and Z'm, by products of integer matrices."""
    Z, scale = cleared_rows(problem.seen)
    for batch in batches(rows, problem.N):
        Zm = (fmpz_mat([p for _, p, _ in batch]) * fmpz_mat(Z)).tolist()
        for (base, _, q), p in zip(batch, Zm, strict=True):
            yield base, [int(x) for x in p], q * scale


def batches(rows: Iterable[Row], n: int) -> Iterator[list[Row]]:
    """The rows in lists that are not too large for memory."""
    batch: list[Row] = []
    bits = 0
    for row in rows:
        batch.append(row)
        bits += n * (64 + row[2].bit_length())
        if bits > BATCH_BITS:
            yield batch
            batch, bits = [], 0
    if batch:
        yield batch


def lengths(problem: Problem, rows: Iterable[Row]) -> Iterator[tuple[int, Fraction]]:
    """The base and |Z'm|^2 of every row."""
    for base, p, q in products(problem, rows):
        yield base, Fraction(sum(x**2 for x in p), q**2)


def not_out(ball: Ball, xi: int, multipliers: Node, patterns: Patterns | None) -> tuple[int, set[int]]:
    """ReLU: P = {k : t_k > 0}, and the pieces, restrictions to P, that the multipliers of `dual` do not prove out; with
    patterns every piece must have its multiplier, without them that is known."""
    t = tuple(xi * x for x in ball.problem.spread(ball.theta))
    P = mask_of(k for k, t_k in enumerate(t) if t_k > 0)
    rows = read_entries(t, P, multipliers.array()) if patterns is None else piece_rows(patterns, t, multipliers)
    return P, {base & P for base, length in lengths(ball.problem, rows) if length >= ball.out_below}
