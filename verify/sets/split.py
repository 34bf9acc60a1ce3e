"""Mixed classes, and masses split over classes, strictly inside: the lifted solution with l = 0 solves the problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from flint import fmpq, fmpq_mat

from verify.numbers.bounds import column, dual_basis, fraction, matrix, rational, root_above
from verify.optimal.ball import Class
from verify.problem.problem import dot, frobenius, square
from verify.sets.masses import of_class
from verify.sets.solutions import OptimalSet, System
from verify.sets.superclasses import Candidates, length, product, side_by_side, stretch, without
from verify.text import Fields, Matrix, Node, Vector, show


def read_mixed(found: Candidates, node: Node) -> Candidates:
    """Mixed classes have Pi G Pi = sum_s beta_s Pi G_s Pi over the superclasses of the others, sum beta_s = 1."""
    mixed: dict[int, Vector] = {}
    entries = node.array()
    node.require(entries, "at least one mixed class")
    for entry in entries:
        number, beta = entry.array(2)
        a = number.index(len(found.classes))
        number.require(not mixed or a > max(mixed), "classes in ascending order")
        mixed[a] = beta.vector()
    mixing = replace(found, mixed=mixed)
    firsts = [mixing.seen[group[0]] for group in mixing.members]
    for entry, (a, shares) in zip(entries, mixed.items(), strict=True):
        entry.require(len(shares) == len(firsts) and sum(shares) == 1, f"{len(firsts)} numbers that add up to 1")
        terms = list(zip((fmpq(-1), *map(rational, shares)), (mixing.seen[a], *firsts), strict=True))
        if sum(p * q * product(S, T) for p, S in terms for q, T in terms):
            raise entry.reject("the mixture of the superclasses that is the kernel of the class", "another matrix")
    return mixing


def check_split(found: Candidates, masses: Vector, delta: Fraction, fields: Fields) -> OptimalSet:
    """Reject unless some alpha > 0 near `split` has exactly the true masses and exactly the output y - r_L: the active
    classes have positive weight in some solution, and the others have weight 0 in all."""
    problem, classes = found.ball.problem, found.classes
    for s, mass in enumerate(masses):
        fields["masses"].require(mass > delta, f"every mass > delta = {show(delta)}", f"{show(mass)} at {s}")
    split = fields["split"].vector(len(classes))
    fields["split"].require(all(alpha >= 0 for alpha in split), "weights >= 0")
    active = [a for a, alpha in enumerate(split) if alpha]
    if any(not set(group) & set(active) for group in found.members):
        raise fields["split"].reject("a positive weight in every superclass")
    rows = check_forced(found, active, fields["forced"])
    F = split_map(found, active, rows)
    k = len(active)
    e = root_above(k * frobenius(rows)) * found.moved
    if (tau := stretch(F.transpose())) <= e:
        raise fields["split"].reject(f"|F'x| > {show(e)} |x| for all x, what the ball can change", show(tau))
    alpha = tuple(split[a] for a in active)
    target = (*masses, *(dot(row, problem.y) for row in rows))
    off = (length(F * column(alpha) - column(target)) + delta + e * root_above(square(alpha))) / (tau - e)
    for a in active:
        if split[a] <= off:
            expected = f"every positive weight > {show(off)}, its possible error"
            raise fields["split"].reject(expected, f"{show(split[a])} at {a}")
    S, zero = len(masses), Fraction(0)
    F_error = (*(zero,) * S, *(root_above(square(row)) * found.moved for row in rows))
    g_error = (*(delta,) * S, *(zero,) * len(rows))
    silent = {S + l: silent_on(found, active, row) for l, row in enumerate(rows) if not target[S + l]}
    system = System(F, target, F_error, g_error, tuple(active), len(split), silent, exact=False)
    neurons = tuple(of_class(problem, c, a in active, split[a]) for a, c in enumerate(classes))
    carried = Counter(tuple(classes[a].B.entries()) for a in active)
    count, bends = k, sum(bool(classes[a].kinks) for a in active)
    if problem.blocks:
        count, bends = len(carried), sum(blocks > 1 for blocks in carried.values())
    dimension = count - int(F.nrows())
    return OptimalSet(count, dimension, bends, bends, system, neurons=neurons, weight_error=off)


def split_map(found: Candidates, active: list[int], rows: Matrix) -> fmpq_mat:
    """F: alpha on the active classes -> (its sum over each superclass, and of beta_s alpha over the mixed classes;
    row.sum_a alpha_a q_a for each row)."""
    n = found.ball.problem.n
    shares = [
        [found.mixed[a][s] if a in found.mixed else Fraction(a in group) for a in active]
        for s, group in enumerate(found.members)
    ]
    sums = matrix(shares, len(active))
    in_L = matrix(rows, n) * side_by_side([found.outputs[a] for a in active], n)
    return fmpq_mat(len(found.members) + len(rows), len(active), [*sums.entries(), *in_L.entries()])


def check_forced(found: Candidates, active: list[int], node: Node) -> Matrix:
    """The rows of the lift that are not free or void; rejected unless `forced` proves weight 0 for classes not active.

    A void row l has l.y = 0 and l.q_a = 0 for every active class a and every residual. h is in the span of the void
    rows and h.q_a > 0 for every other class a, over the whole ball: so alpha_a = 0 in every solution. With level
    classes one solution is enough.
    """
    rows, idle = found.lift[found.free :], () if found.level else {*range(len(found.classes))} - {*active}
    void = tuple(row for row in rows if is_void(found, active, row))
    h = node.vector(found.ball.problem.n if idle else 0)
    node.require(not idle or spanned(void, column(h)), f"a vector in the span of the {len(void)} void rows of the lift")
    moved = found.moved * root_above(square(h))
    for a in idle:
        if (s := fraction((column(h).transpose() * found.outputs[a])[0, 0])) <= moved:
            raise node.reject(f"h.q > {show(moved)} for class {a}, whose split is 0", show(s))
    return tuple(row for row in rows if row not in void)


def is_void(found: Candidates, active: list[int], row: Vector) -> bool:
    """l.y = 0 and B_a'l = P_a X_a'l = 0 for every active class a."""
    return len(silent_on(found, active, row)) == len(active) and not dot(row, found.ball.problem.y)


def silent_on(found: Candidates, active: list[int], row: Vector) -> frozenset[int]:
    """The places of the active classes a with B_a'l = 0, so that l.q_a = 0 for every residual."""
    return frozenset(place for place, a in enumerate(active) if is_silent(found.classes[a], row))


def spanned(rows: Matrix, columns: fmpq_mat) -> bool:
    """Whether the rows are independent, and their span holds all columns."""
    L = matrix(rows, columns.nrows())
    W = dual_basis(L)
    return W is not None and not any(without(L, W, columns).entries())


def is_silent(class_: Class, row: Sequence[Fraction]) -> bool:
    """B'l = 0, so that l.q = 0 for every residual."""
    return not any((class_.B.transpose() * column(row)).entries())
