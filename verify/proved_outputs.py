"""The text of a certificate of a network with several outputs: P'Theta, the tree with quadratic leaves, both bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import isqrt
from operator import sub
from typing import Any

from verify.cover.lines import dot
from verify.cover.lines import lines_of as lines_in
from verify.cover.tree import sign_cones
from verify.errors import Declined
from verify.numbers.integers import cleared, cleared_rows
from verify.outputs.check import read_tie, shares_of, size, values_of, weights
from verify.outputs.descent import Table, leaf_of, leaves
from verify.outputs.forms import PAIRS, length_above
from verify.outputs.tree import TIE, Streams
from verify.problem.problem import Problem, square, transposed
from verify.proved import BOUND_BITS, WEIGHT_BITS, Integers, Text, complement, integers, point_of, vector, words
from verify.proved_terms import EXP_BITS, LARGE, LOG_BITS, SQUARINGS, log_above, matrix_of, terms_of
from verify.rules.logistic import value as logarithms
from verify.text import Matrix, Node, Vector

FINE = Fraction(1, 1 << 260)  # less than the slack of logarithms, so that the sum of exponentials stays below 1


def outputs_text(problem: Problem, primal: dict[str, Any], cover: dict[str, Any]) -> OutputsText:
    """What these facts say."""
    if problem.biases or (problem.logistic and problem.outputs):
        raise Declined("--proved", "several outputs without free biases, and with the softmax nothing free", "another")
    C = problem.targets
    wide = tuple((vector(one["w"]), vector(one["v"])) for one in primal["neurons"])
    stated = vector(primal["free"]) if problem.outputs else ()
    free = tuple(stated[c::C] for c in range(C)) if stated else ()
    fit = [Fraction(0)] * len(problem.y)
    for c, column in enumerate(free):
        fit[c::C] = transposed(problem.outputs, column)
    for w, v in wide:
        for k, x in enumerate(problem.output(w)):
            fit[C * k : C * (k + 1)] = [f + x * v_c for f, v_c in zip(fit[C * k : C * (k + 1)], v, strict=True)]
    theta = point_of(problem, fit, cover["theta"])
    kind = SoftmaxText if problem.logistic else OutputsText
    return kind(problem, (), cleared(theta), cover["proof"], wide, free)


@dataclass(frozen=True)
class OutputsText(Text):
    """`point` is Theta, row by row; `wide` are the neurons (w, v), `free` those of free columns, output by output."""

    wide: tuple[tuple[Vector, Vector], ...]
    free: Matrix

    def lines(self) -> Iterator[str]:
        """The whole text."""
        C, (theta, q) = self.problem.targets, self.point
        yield from self.said
        yield from self.grounds()
        yield from self.units()
        yield f"upper {len(self.balanced)} {1 << WEIGHT_BITS}"
        yield from (f"{words(w)} {words(v)}" for w, v in self.balanced)
        beta, bden = cleared_rows(self.free) if self.free else ([], 1)
        yield str(bden)
        yield from map(words, beta)
        yield from self.above()
        yield self.bounds[0].removeprefix("upper ")
        yield f"theta {q}"
        yield from (words(theta[c::C]) for c in range(C))
        yield from self.below()
        yield self.bounds[1]

    def units(self) -> Iterator[str]:
        """Of logarithms, where there are any."""
        return iter(())

    def above(self) -> Iterator[str]:
        """The logarithms of the loss of the network, likewise."""
        return iter(())

    def below(self) -> Iterator[str]:
        """Those of Theta."""
        return iter(())

    @property
    def expected(self) -> list[str]:
        """The rows, the terms, the targets, and both bounds."""
        return [*self.said, *(f"{line} accepted" for line in self.bounds)]

    @cached_property
    def said(self) -> list[str]:
        """The rows and lambda beside targets 0, the terms, and the targets, output by output. This is compared."""
        p, (rows, rden) = self.problem, cleared_rows(self.problem.seen)
        lam = (p.lam.numerator, p.lam.denominator)
        first = f"problem {p.d} {p.N} {rden} {words(x for z in rows for x in z)} 1 {words([0] * p.N)} {words(lam)}"
        y, yden = cleared(p.y)
        targets = words(x for c in range(p.targets) for x in y[c :: p.targets])
        return [first, terms_of(p, [0] * p.n, yden), f"outputs {p.targets} {targets}"]

    def grounds(self) -> Iterator[str]:
        """Lines, P'Theta, lengths of their weights, level, basis, and the tree of each sign cone."""
        p, C = self.problem, self.problem.targets
        data = lines_in(p)
        T, tden = cleared(weights(p, tuple(Fraction(t, self.point[1]) for t in self.point[0])))
        values = values_of(data, tuple(Fraction(t, tden) for t in T), C)
        yield f"lines {len(data.rows)}"
        yield from map(words, data.rows)
        pairs = zip(data.line, data.multiple, strict=True)
        yield words(x for c, m in pairs for x in (c if c >= 0 else len(data.rows), m))
        yield f"weights {tden}"
        yield from (words(T[c::C]) for c in range(C))
        yield words(length_above(w) for w in values.W)
        level = int(p.lam**2 * values.unit**2)
        basis = [tuple(integers(row)) for row in self.evidence["basis"]]
        yield f"{level} {PAIRS} basis"
        for rows in (basis, complement(basis, p.d)):
            yield str(len(rows))
            yield from map(words, rows)
        node = Node(self.evidence["tree"], None, "tree")
        ties = [read_tie(entry, len(data.rows)) for entry in Node(self.evidence["ties"], None, "ties").array()]
        told, streams = list[str](), Streams(node)
        if not basis:  # no rows but zeros: one leaf without generators
            told.append(f"L 1 0 {streams.byte('forms')}")
            leaf_of(streams.byte("codes"), streams, len(ties))
        table = Table.of(data.rows, values.W, values.M0)
        for cone, leaf in leaves(table, streams, sign_cones(basis) if basis else (), len(ties)):
            shares, whole = shares_of(cone, leaf, ties, streams)
            times, N = lifted(streams.entries(len(basis) * (len(basis) - 1) // 2), cone.generators)
            told.append(" ".join(filter(None, (f"L {whole} {len(shares)}", words(shares), str(times), *N))))
        streams.end()
        yield from inner(node, len(basis), iter(told))

    @cached_property
    def balanced(self) -> list[tuple[Integers, Integers]]:
        """(z.w)_+ v with |w| = |v|, both over 2^WEIGHT_BITS and rounded."""
        found = []
        for w, v in self.wide:
            ratio = square(v) / square(w)
            a = Fraction(isqrt(isqrt((ratio.numerator << 4 * WEIGHT_BITS) // ratio.denominator)), 1 << WEIGHT_BITS)
            if a:
                found.append(
                    ([int(x * a * (1 << WEIGHT_BITS)) for x in w], [int(x / a * (1 << WEIGHT_BITS)) for x in v])
                )
        return found

    @cached_property
    def fits(self) -> list[Vector]:
        """The predictions of `balanced`, with the coefficients of the free columns, output by output."""
        p, (rows, rden), (P, pden) = self.problem, cleared_rows(self.problem.seen), matrix_of(self.problem)
        outs = [[max(0, dot(z, w)) for z in rows] for w, _ in self.balanced]
        if P:
            outs = [[dot(row, out) for row in P] for out in outs]
        unit = (pden * rden) << 2 * WEIGHT_BITS
        found = []
        for c in range(p.targets):
            base = transposed(p.outputs, self.free[c]) if self.free else (Fraction(0),) * p.n
            made = (sum(out[k] * v[c] for out, (_, v) in zip(outs, self.balanced, strict=True)) for k in range(p.n))
            found.append(tuple(Fraction(m, unit) + b for m, b in zip(made, base, strict=True)))
        return found

    @cached_property
    def upper(self) -> Fraction:
        """The objective of `balanced`, rounded up to a multiple of 2^-BOUND_BITS."""
        penalty = sum(dot(w, w) + dot(v, v) for w, v in self.balanced)
        exact = self.loss + self.problem.lam * Fraction(penalty, 2 << 2 * WEIGHT_BITS)
        return Fraction(-(-(exact.numerator << BOUND_BITS) // exact.denominator), 1 << BOUND_BITS)

    @property
    def loss(self) -> Fraction:
        """Of `fits`."""
        C, y = self.problem.targets, self.problem.y
        return sum((square(tuple(map(sub, f, y[c::C]))) for c, f in enumerate(self.fits)), Fraction(0)) / 2

    def obstacle(self, cones: tuple[int, int] | None) -> str:
        """No more than the bounds is read."""
        return "with several outputs both bounds are proved, and no more"


@dataclass(frozen=True)
class SoftmaxText(OutputsText):
    """With the softmax: exponentials of the outputs, and logarithms of the chances Y - Theta."""

    def units(self) -> Iterator[str]:
        """Squarings and units of exponentials, and that of logarithms."""
        least = max((p.denominator.bit_length() - p.numerator.bit_length() for p in self.chances if p), default=0)
        yield f"exps {SQUARINGS} {1 << EXP_BITS + 2 * max(0, least - LARGE)} {1 << LOG_BITS}"

    def above(self) -> Iterator[str]:
        """U >= log sum_c exp f_c for each row, and E >= exp (f_c - U), output by output."""
        yield words(self.sums)
        for f in self.fits:
            yield words(exp_above(Fraction(U, 1 << LOG_BITS) - x) for U, x in zip(self.sums, f, strict=True))

    def below(self) -> Iterator[str]:
        """L >= log p, output by output."""
        C = self.problem.targets
        yield from (words(self.logs[c::C]) for c in range(C))

    @cached_property
    def chances(self) -> list[Fraction]:
        """Y - Theta, row by row."""
        theta, q = self.point
        return [y - Fraction(t, q) for y, t in zip(self.problem.y, theta, strict=True)]

    @cached_property
    def logs(self) -> Integers:
        """At least their logarithms, times 2^LOG_BITS."""
        return [log_above(p) if p > 0 else 0 for p in self.chances]

    @cached_property
    def sums(self) -> Integers:
        """At least log sum_c exp f_c, times 2^LOG_BITS: the largest f_c comes out of the logarithm."""
        found = []
        for row in zip(*self.fits, strict=True):
            top = max(row)
            total = sum(logarithms.exp_of_minus(top - x)[1] for x in row)
            found.append(-int(-top * (1 << LOG_BITS) // 1) + log_above(Fraction(total, logarithms.ONE)))
        return found

    @property
    def loss(self) -> Fraction:
        """sum log sum_c exp f_c - Y.f, with `sums`."""
        C, y = self.problem.targets, self.problem.y
        own = (a * b for c, f in enumerate(self.fits) for a, b in zip(f, y[c::C], strict=True))
        return Fraction(sum(self.sums), 1 << LOG_BITS) - sum(own, Fraction(0))

    @cached_property
    def lower(self) -> Fraction:
        """The sum of - p L."""
        return -sum((p * L for p, L in zip(self.chances, self.logs, strict=True)), Fraction(0)) / (1 << LOG_BITS)


def exp_above(x: Fraction) -> int:
    """A number above exp -x, times 2^LOG_BITS."""
    return 1 + int(Fraction(logarithms.exp_of_minus(x)[1], logarithms.ONE) * (1 + FINE) * (1 << LOG_BITS))


def lifted(N: tuple[Integers, int] | None, cone: Sequence[Sequence[int]]) -> tuple[int, list[str]]:
    """A power of two, times which the form is compared, and the entries of N times it, above the diagonal; 0: no N."""
    if N is None:
        return 0, []
    entries, power = N
    bits = [size(tuple(g)) for g in cone]
    lift = max(0, *(-(power + a + b) for a in bits for b in bits))
    shifts = (power + bits[i] + bits[j] + lift for i, j in combinations(range(len(cone)), 2))
    return 1 << lift, [f"{x}<{shift}" for x, shift in zip(entries, shifts, strict=True)]


def inner(node: Node, d: int, leaves: Iterator[str]) -> Iterator[str]:
    """The nodes of all sign cones in the order of their codes; bisections with their edge and multipliers."""
    edges = [*combinations(range(d), 2)]
    streams = Streams(node)
    for _ in range(1 << d):
        left = 1
        while left:
            code = streams.byte("codes")
            if code < len(edges):
                yield f"S {words(edges[code])} {words(streams.multiplier())}"
                left += 1
            else:
                if code == TIE:
                    streams.byte("codes")
                yield next(leaves)
                left -= 1
