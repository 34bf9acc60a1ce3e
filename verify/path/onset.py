"""What the superclasses of a lifted piece are, and still pieces across the lambda where the lift sets in (FORMAT.md:
`path`, *lifted* and *onset*)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from flint import fmpq_mat

from verify.numbers.bounds import column, dual_basis, matrix, root_above, rows
from verify.numbers.polynomials import at_most, off_identity
from verify.optimal.ball import Ball, Class
from verify.problem.problem import dot, square
from verify.sets.split import spanned
from verify.sets.superclasses import Candidates
from verify.text import Fields, Matrix, Node, Vector, show

Groups = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Moving:
    """A piece: the ball around s_0 (lambda = 1), the path S, the classes with their weights alpha(tau), the radius R of
    the tube and a bound `miss` of |E|; `pinned` are the places of classes of which v = P X's for all s of the tube."""

    ball: Ball
    S: fmpq_mat
    classes: Sequence[Class]
    alpha: Sequence[Vector]
    R: Fraction
    miss: Fraction
    pinned: frozenset[int] = field(default=frozenset(), kw_only=True)

    @cached_property
    def bound(self) -> Fraction:
        """g, at least |G_a| for every class."""
        return max((a.bound for a in self.classes), default=Fraction(0))

    @cached_property
    def shift(self) -> Fraction:
        """g R: what the tube can change in an output."""
        return self.bound * self.R

    @cached_property
    def missed(self) -> Fraction:
        """D: |eta y - s - sum alpha_a(tau) q_a(s)| <= D for all s within R of the path."""
        return self.miss + self.R + self.shift * total(max(at_most(alpha), Fraction(0)) for alpha in self.alpha)

    def core(self, groups: Groups) -> list[int]:
        """The superclasses with weight."""
        return [s for s, group in enumerate(groups) if any(any(self.alpha[a]) for a in group)]


def superclasses(moving: Moving, lift: Matrix, W: fmpq_mat, node: Node) -> Groups:
    """Classes that tie on all s orthogonal to L, with outputs that differ by L; in the order of their first."""
    problem, classes = moving.ball.problem, moving.classes
    if not lift:
        return [[a] for a in range(len(classes))]
    if problem.model == "relu" and len(moving.pinned) < len(classes):
        return antipodal(moving, lift)
    if problem.model == "cgl" and any(problem.K[a.key[1]] is not None for a in classes):
        raise node.reject("no lift where a class has constraints")
    return Candidates(moving.ball, classes, lift, W).members


def antipodal(moving: Moving, lift: Matrix) -> Groups:
    """relu: if L holds the columns of PZ, two classes of one sign whose regions are u and -u; else each by itself."""
    ball, classes = moving.ball, moving.classes
    if not spanned(lift, ball.pooled(ball.Z)):
        return [[a] for a in range(len(classes))]
    regions = []
    for class_ in classes:
        signed = ball.fine[class_.key[0]] & ball.nonzero & ~class_.zeros
        regions.append((class_.key[0], signed, class_.key[1] & signed))
    groups: list[list[int]] = []
    placed: set[int] = set()
    for a, (xi, signed, on) in enumerate(regions):
        if a in placed:
            continue
        other = (xi, signed, signed & ~on)
        group = [a, *[b for b in range(a + 1, len(regions)) if regions[b] == other and b not in placed][:1]]
        placed.update(group)
        groups.append(group)
    return groups


def check_onset(
    moving: Moving, lift: Matrix, groups: Groups, inverse: tuple[Matrix, Fraction, Fraction], node: Node
) -> tuple[Fraction, Fraction]:
    """Reject unless the weights of the superclasses without weight are small in every solution, and one of them ties
    only where s is orthogonal to M. How far the masses of the others, and the sum of theirs, can be from alpha."""
    fields = node.record("rows", "normal", "apart")
    n = moving.ball.problem.n
    node.require(moving.S.ncols() == 1, "a still piece")
    M = tuple(row.vector(n) for row in fields["rows"].array())
    H = fields["normal"].vector(n)
    joint = (*lift, *M)
    if (both := dual_basis(matrix(joint, n))) is None or not M:
        raise fields["rows"].reject("rows that are independent of each other and of the lift, at least one")
    for i, row in enumerate(M):
        if any(dot(row, l) for l in lift) or any((column(row).transpose() * moving.S).entries()):
            raise fields["rows"].item(i).reject("a row orthogonal to the lift and to s")
    fields["normal"].require(not any(dot(H, l) for l in lift), "a vector orthogonal to the lift")
    core, (W, pulled, beta) = moving.core(groups), inverse
    late = [s for s in range(len(groups)) if s not in core]
    node.require(late, "a superclass without weight")
    check_apart(moving, (M, superclasses(moving, joint, both, fields["rows"])), groups, late, fields)
    firsts = [moving.classes[group[0]] for group in groups]
    tilt = root_above(square(H))
    flat = max((abs(heights(moving, H, firsts[s])[0]) for s in core), default=Fraction(0)) + tilt * moving.shift
    steep = min(heights(moving, H, firsts[s])[0] for s in late) - tilt * moving.shift
    pushed = (
        abs(heights(moving, W_i, firsts[s])[0]) + root_above(square(W_i)) * moving.shift for s in late for W_i in W
    )
    omega = max(pushed, default=Fraction(0))
    share = len(core) * flat / (1 - beta)
    if steep <= share * omega:
        raise fields["normal"].reject(f"H.q > {show(share * omega)} where a superclass has no weight", show(steep))
    light = (tilt * moving.missed + share * pulled) / (steep - share * omega)
    return (pulled + omega * light) / (1 - beta), light


def check_apart(
    moving: Moving, beyond: tuple[Matrix, Groups], groups: Groups, late: Sequence[int], fields: Fields
) -> None:
    """Reject unless a superclass without weight can tie only where s is orthogonal to M; `beyond` are M and the
    superclasses of the lift with M."""
    (M, families), core = beyond, moving.core(groups)
    if len(core) + 1 != len(families) + len(M):
        expected = f"{len(families)} + {len(M)} - 1 superclasses with weight"
        raise fields["rows"].reject(expected, str(len(core)))
    place = {a: s for s, group in enumerate(groups) for a in group}
    firsts = [moving.classes[group[0]] for group in groups]

    def apart(s: int, t: int) -> Vector:
        one, other = ([heights(moving, m, firsts[p])[0] for m in M] for p in (s, t))
        return tuple(x - z for x, z in zip(one, other, strict=True))

    known: list[Vector] = []
    first_of: dict[int, int] = {}
    for family in families:
        inner = sorted({place[a] for a in family})
        active = [s for s in inner if s in core]
        fields["rows"].require(active, "a superclass with weight among those that tie on the complement of M")
        known += [apart(s, active[0]) for s in active[1:]]
        first_of |= dict.fromkeys(inner, active[0])
    lengths = total(root_above(square(m)) for m in M)
    size = len(M)
    for s, entry in zip(late, fields["apart"].array(len(late)), strict=True):
        U = [row.vector(size) for row in entry.array(size)]
        N = (*known, apart(s, first_of[s]))
        for i, U_i in enumerate(U):
            row = 2 * moving.shift * lengths * total(abs(x) for x in U_i)
            row += off_identity([[dot(U_i, apart_by)] for apart_by in zip(*N, strict=True)], i)
            entry.item(i).require(row < 1, "a row of U N - I with a sum below 1", f"up to {show(row)}")


def heights(moving: Moving, l: Sequence[Fraction], class_: Class) -> list[Fraction]:
    """l.q of a class along the path, as a polynomial."""
    return rows((column(l).transpose() * class_.B) * (class_.B.transpose() * moving.S))[0]


def total(parts: Iterable[Fraction]) -> Fraction:
    """Their sum, as a fraction."""
    return sum(parts, Fraction(0))
