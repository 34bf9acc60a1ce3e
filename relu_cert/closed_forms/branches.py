"""The lambdas on which given neurons are the active ones, from a proved lambda on; and which conditions end that.

With eta = 1/lambda, the neurons A on their faces and B_a their maps, the solution x = (s, alpha) is a zero of

    F(x) = (s + sum_a alpha_a B_a B_a's - eta y,  |B_a's|^2 - 1).

For a box X around x_0 let K(X) = x_0 - Y F(x_0) + (I - Y J(X))(X - x_0), Y about J(x_0)^-1, for all etas of an
interval. If K(X) lies inside of X there is one zero in X for each of them (Krawczyk). Let all weights be positive on X,
the conditions of all faces hold, and all other regions of the piece be out. Then the zero is the solution for all etas
if it is for one of them: the solution moves continuously, and is optimal as far as these conditions are strict; what is
in no region of the piece is out by the piece. A chain of boxes, each two with a common zero, leads along the path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import arb, arb_mat, ctx, fmpq_mat

from relu_cert.exact import Vector, column, middle, sqrt_upper, to_fmpq, to_fraction
from relu_cert.path.bounds import Bounds, End, bounds_of, judge_end, match_classes, proved_end
from relu_cert.path.curve import sharpened
from relu_cert.path.pieces import PathPieces
from relu_cert.path.tube import least
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import class_map, face_conditions
from relu_cert.prove.facts import NeuronClass

BITS, NODE = 256, Fraction(1, 1 << 140)  # of the numbers; half the width of boxes at one lambda
STEPS, NEWTON, INFLATIONS = 300, 12, 3
LEAST = Fraction(1, 1 << 70)  # of a step, relative
SHARES, TRIED = (Fraction(1), Fraction(1, 2)), 8  # of the rest of a piece; steps after which these are tried again


@dataclass(frozen=True)
class Start:
    """A lambda at which these neurons are active, on stable faces, and no others; x = (s, alpha), and how far its
    entries are from the true ones at most."""

    neurons: tuple[NeuronClass, ...]
    lam: Fraction
    x: Vector
    off: Fraction


def start_at(known: Bounds, end: End, lam: Fraction) -> Start | None:
    """An end of a breakpoint, proved on the ground of a piece."""
    judged = judge_end(known.problem, known, lam, end)
    if judged is None:
        return None
    active = sorted(((one, x) for one, x in zip(end.classes, end.weights, strict=True) if x), key=lambda t: _name(t[0]))
    return Start(tuple(one for one, _ in active), lam, (*end.s, *(x for _, x in active)), max(judged.R, judged.error))


def start_in(known: Bounds, number: int, lam: Fraction) -> Start | None:
    """A lambda of (a part of) a smooth piece, if on all of it the same neurons are active, on stable faces."""
    active, piece, problem = known.active(), known.piece, known.problem
    if active is None or known.beta >= 1:
        return None
    neurons = [piece.classes[a] for a in active]
    R2 = to_fmpq(known.R**2)
    faces = (one for neuron in neurons for one in face_conditions(problem, neuron, piece.S))
    if not all((x := least(row)) > 0 and x * x > moved * R2 for row, moved in faces):
        return None
    sharp = sharpened(known, lam)
    end = None if sharp is None else proved_end(number, known, lam, sharp[0], neurons, [sharp[1][a] for a in active])
    return None if end is None else start_at(known, end, lam)


def part_of(known: Bounds, lo: Fraction, hi: Fraction) -> Bounds:
    """What is known of a smooth piece on a part of it."""
    piece = known.piece
    a, b = ((1 / lo + 1 / hi) / 2 - piece.center) / piece.half_width, (1 / lo - 1 / hi) / 2 / piece.half_width

    def turned(c: Sequence[Fraction]) -> list[Fraction]:
        out = [Fraction(0)] * len(c)
        for x in reversed(c):
            out = [x * (i == 0) + a * u + b * v for i, (u, v) in enumerate(zip(out, [Fraction(0), *out], strict=False))]
        return out

    s = tuple(zip(*map(turned, zip(*piece.s, strict=True)), strict=True))
    return replace(
        known, piece=replace(piece, lo=lo, hi=hi, s=s, weights=tuple(tuple(turned(w)) for w in piece.weights))
    )


def _name(neuron: NeuronClass) -> tuple[int, str, int, tuple[int, ...]]:
    return -neuron.sign, neuron.pattern or "", neuron.block or 0, neuron.kinks


@dataclass(frozen=True)
class Branch:
    """The neurons A on the pieces of a path."""

    problem: Problem
    cover: PathPieces
    neurons: tuple[NeuronClass, ...]

    @cached_property
    def kernels(self) -> list[arb_mat]:
        """B_a B_a'"""
        B = [class_map(self.problem, one).B() for one in self.neurons]
        with ctx.workprec(BITS):
            return [arb_mat(b * b.transpose()) for b in B]

    @cached_property
    def faces(self) -> list[Vector]:
        """(c, g) with c + g.s > 0 where each neuron has its face."""
        return [row for one in self.neurons for row in faces_of(self.problem, one)]

    def reached(self, start: Start, stop: Fraction) -> tuple[Fraction, arb_mat] | None:
        """How far towards a lambda these neurons stay the active ones, and a box around x there."""
        with ctx.workprec(BITS):
            lam, node = start.lam, self._proved(start)
            if node is None:
                return None
            step, tried = stop - lam, 0
            for _ in range(STEPS):
                if lam == stop or abs(step) < LEAST * lam:
                    break
                ends = (x for p in self.cover.pieces for x in (p.lo, p.hi) if (x - lam) * step > 0)
                end = min([stop, *ends], key=lambda x: abs(x - lam))
                if tried <= 0 and (far := self._leap(lam, end)) is not None:
                    lam, node, step, tried = *far, 2 * (far[0] - lam), 0
                    continue
                tried = TRIED if tried <= 0 else tried - 1
                at = min((lam + step, end), key=lambda x: abs(x - lam))
                there = self._box(at, at, [], node.center)
                box = None if there is None else self._box(min(lam, at), max(lam, at), [node.X, there.X])
                if there is not None and box is not None and self._strict(box):
                    lam, node, step = at, there, 2 * (at - lam)
                else:
                    step = (at - lam) / 3
            return lam, node.X

    def _proved(self, start: Start) -> Box | None:
        """A narrow box around the solution at a start."""
        node = self._box(start.lam, start.lam, [], start.x)
        known = arb_mat([[to_arb(t) + arb(0, 1) * to_arb(start.off)] for t in start.x])
        return None if node is None or self._box(start.lam, start.lam, [node.X, known]) is None else node

    def _leap(self, lam: Fraction, end: Fraction) -> tuple[Fraction, Box] | None:
        """A lambda on the way to the end of a smooth piece up to which the piece itself is the proof."""
        for share in SHARES:
            far = lam + share * (end - lam)
            lo, hi = min(lam, far), max(lam, far)
            for i, piece in enumerate(self.cover.pieces):
                if piece.plain and len(piece.s) > 1 and piece.lo <= lo and hi <= piece.hi:
                    start = start_in(part_of(bounds_of(self.problem, self.cover, i), lo, hi), i, far)
                    if start is not None and same(start.neurons, self.neurons) and (node := self._proved(start)):
                        return far, node
        return None

    def broken(self, node: arb_mat, lo: Fraction, hi: Fraction) -> list[tuple[str, Any]] | None:
        """What may be no longer strict between two lambdas, `node` a box around x at one of them: ("weight", a),
        ("face", (c, g)) or ("tie", class); None if that is not known."""
        with ctx.workprec(BITS):
            box = self._box(lo, hi, [node])
            idle = None if box is None else next(self._idle(box), None)
            if box is None or idle is None or not all(box.keeps(faces_of(self.problem, one)) for one in idle):
                return None
            n = len(self.problem.y)
            out: list[tuple[str, Any]] = [("weight", a) for a in range(len(self.neurons)) if not box.X[n + a, 0] > 0]
            out += [("face", row) for row in self.faces if not box.affine(row) > 0]
            return out + [("tie", one) for one in idle]

    def _strict(self, box: Box) -> bool:
        """Whether nothing ends on a box."""
        n = len(self.problem.y)
        inside = all(box.X[n + a, 0] > 0 for a in range(len(self.neurons))) and box.keeps(self.faces)
        return inside and any(not idle for idle in self._idle(box))

    def _idle(self, box: Box) -> Iterator[list[NeuronClass]]:
        """For each piece that holds a box the other regions that may tie: on their face by its map, or else because
        their maximisers are |X|-Lipschitz."""
        n = len(self.problem.y)
        s = tuple(middle(box.X[i, 0]) for i in range(n))
        spread = sqrt_upper(sum((middle(box.X[i, 0].rad()) ** 2 for i in range(n)), NODE**2), 64)
        for i, piece in enumerate(self.cover.pieces):
            if not (piece.plain and piece.lo <= box.lo and min(box.hi, self.cover.hi) <= piece.hi):
                continue
            known = bounds_of(self.problem, self.cover, i)
            matched = match_classes(self.problem, known, s, self.neurons)
            if matched is not None:
                others = [(a, one, class_map(self.problem, one)) for a, (one, k) in enumerate(matched) if k is None]
                yield [
                    one
                    for a, one, at in others
                    if not known.out(a, at.length_squared(column(s)), spread)
                    and not (box.keeps(faces_of(self.problem, one)) and box.square(arb_mat(at.B().transpose())) < 1)
                ]

    def _F(self, x: arb_mat, eta: arb) -> arb_mat:
        n = len(self.problem.y)
        s = arb_mat([[x[i, 0]] for i in range(n)])
        first, second = s - arb_mat(column(self.problem.y)) * eta, []
        for a, G in enumerate(self.kernels):
            q = G * s
            first += q * x[n + a, 0]
            second.append((s.transpose() * q)[0, 0] - 1)
        return arb_mat([[t] for t in (*first.entries(), *second)])

    def _J(self, x: arb_mat) -> arb_mat:
        n, k = len(self.problem.y), len(self.neurons)
        s, M = arb_mat([[x[i, 0]] for i in range(n)]), _one(n)
        for a, G in enumerate(self.kernels):
            M += G * x[n + a, 0]
        Q = [(G * s).entries() for G in self.kernels]
        top = [[*row, *(q[i] for q in Q)] for i, row in enumerate(M.tolist())]
        return arb_mat(top + [[2 * t for t in q] + [arb(0)] * k for q in Q])

    def _zero(self, eta: arb, near: Sequence[Fraction]) -> arb_mat | None:
        """Newton's method."""
        x = arb_mat([[to_arb(t)] for t in near])
        for _ in range(NEWTON):
            try:
                step = arb_mat([[t.mid()] for t in self._J(x).solve(self._F(x, eta)).entries()])
            except ZeroDivisionError:
                return None
            x = arb_mat([[t.mid()] for t in (x - step).entries()])
            if all(abs(t) < to_arb(NODE) for t in step.entries()):
                return x
        return None

    def _box(self, lo: Fraction, hi: Fraction, holding: Sequence[arb_mat], near: Sequence[Fraction] = ()) -> Box | None:
        """A box with one zero for each lambda of [lo, hi], which holds the others; None if none is found."""
        lam, n = 2 / (1 / lo + 1 / hi), len(self.problem.y)
        eta, eta_0 = (1 / to_arb(lo)).union(1 / to_arb(hi)), 1 / to_arb(lam)
        x0 = self._zero(eta_0, near or [middle(t) for t in holding[0].entries()])
        within = None if x0 is None or lo == hi else self._box(lam, lam, [], [middle(t) for t in x0.entries()])
        if x0 is None or (within is None and lo < hi):
            return None
        off_0 = x0 - x0 if within is None else within.X - x0
        holding = holding if within is None else [*holding, within.X]
        try:
            Y = arb_mat([[t.mid() for t in row] for row in self._J(x0).inv().tolist()])
            moved = Y * self._F(x0, eta)
            K, X = x0 - moved, x0
            for _ in range(INFLATIONS):
                sides = [abs(t).upper() * 3 / 2 + to_arb(NODE) for t in (K - x0).entries()]
                for one in holding:
                    sides = [s.max(abs(t).upper() * 2) for s, t in zip(sides, (one - x0).entries(), strict=True)]
                off = arb_mat([[arb(0, s.upper())] for s in sides])
                X = x0 + off
                K = x0 - moved + (_one(X.nrows()) - Y * self._J(X)) * off
                if all(b.contains_interior(a) for a, b in zip(K.entries(), X.entries(), strict=True)):
                    break
            else:
                return None
            y = arb_mat([[to_arb(t)] for t in (*self.problem.y, *[Fraction(0)] * (X.nrows() - n))])
            change = (Y * self._J(X)).solve(Y * y)
            return Box(lo, hi, x0, X, change * (eta - eta_0) + off_0)
        except ZeroDivisionError:
            return None


@dataclass(frozen=True)
class Box:
    """For all lambdas between lo and hi, x is in X, and x - x_0 in `moved` (unless lo = hi)."""

    lo: Fraction
    hi: Fraction
    x0: arb_mat
    X: arb_mat
    moved: arb_mat

    @property
    def center(self) -> list[Fraction]:
        """x_0"""
        return [middle(t) for t in self.x0.entries()]

    def affine(self, row: Vector) -> arb:
        """c + g.s"""
        parts = ((self.x0[i, 0], self.moved[i, 0], to_arb(g)) for i, g in enumerate(row[1:]))
        return sum((g * (x + m) for x, m, g in parts), to_arb(row[0]))

    def keeps(self, rows: Sequence[Vector]) -> bool:
        """Whether all these are positive."""
        return all(self.affine(row) > 0 for row in rows)

    def square(self, A: arb_mat) -> arb:
        """|A s|^2"""
        s0, s, moved = (arb_mat([[x[i, 0]] for i in range(A.ncols())]) for x in (self.x0, self.X, self.moved))
        return ((A * s0).transpose() * (A * s0))[0, 0] + 2 * ((A * s).transpose() * (A * moved))[0, 0]


def faces_of(problem: Problem, neuron: NeuronClass) -> list[Vector]:
    """(c, g) with c + g.s > 0 where the neuron has its face."""
    n = len(problem.y)
    S = fmpq_mat([[int(j == i + 1) for j in range(n + 1)] for i in range(n)])
    return [tuple(map(to_fraction, row)) for row, _ in face_conditions(problem, neuron, S)]


def to_arb(x: Fraction) -> arb:
    """The number, in a ball of the working precision."""
    return arb(to_fmpq(x))


def _one(n: int) -> arb_mat:
    return arb_mat([[arb(int(i == j)) for j in range(n)] for i in range(n)])


def same(some: Sequence[NeuronClass], others: Sequence[NeuronClass], *, ordered: bool = True) -> bool:
    """Whether these are the same neurons on the same faces."""
    names = [list(map(_name, part)) for part in (some, others)]
    return names[0] == names[1] if ordered else sorted(names[0]) == sorted(names[1])
