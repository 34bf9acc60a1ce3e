"""The text of a list of pieces: a tree of the signs of rows, in which what the list has not is shown to be flat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm

from flint import fmpq

from verify.errors import Declined, Rejected
from verify.numbers.integers import cleared
from verify.optimal.multipliers import read_entries
from verify.problem.problem import SIGNS
from verify.proved import Integers, Text, words
from verify.text import Node, mask_of

MOST_NODES = 1 << 20  # pieces times rows on which they are told apart


@dataclass(frozen=True)
class ListedText(Text):
    """The proof is the fact `dual`."""

    @cached_property
    def sides(self) -> dict[str, dict[int, list[Fraction]]]:
        """For both signs m of every piece, by the rows with t > 0 that are on."""
        (theta, q) = self.point
        found: dict[str, dict[int, list[Fraction]]] = {}
        for sign, xi in SIGNS.items():
            t = tuple(Fraction(xi * x, q) for x in theta)
            P = mask_of(k for k, t_k in enumerate(t) if t_k > 0)
            entries = Node(self.evidence["multipliers"][sign], None, "multipliers").array()
            rows = read_entries(t, P, entries)
            found[sign] = {base & P: [Fraction(x, scale) for x in m] for base, m, scale in rows}
        return found

    def grounds(self) -> Iterator[str]:
        """theta, the scale of the multipliers, and both trees."""
        theta, q = self.point
        every = (x for side in self.sides.values() for m in side.values() for x in m)
        scale = lcm(*((x * q).denominator for x in every))
        yield "listed"
        yield from self.dual()
        yield f"scale {scale}"
        for sign, xi in SIGNS.items():
            told = [k for k, t in enumerate(theta) if xi * t > 0]
            side = {base: words(int(x * q * scale) for x in m) for base, m in self.sides[sign].items()}
            if len(side) * (1 + len(told)) > MOST_NODES:
                raise Declined("--proved", f"at most {MOST_NODES} nodes of a tree of pieces", str(len(side)))
            yield from Tree(self.rows[0], told, side).below(sorted(side), 0, {})
        yield "end"

    def obstacle(self, cones: tuple[int, int] | None) -> str:
        """Why it is open whether the optimal network is unique."""
        return "a list of patterns bounds the objective only"


@dataclass(frozen=True)
class Tree:
    """The rows that are told apart one after the other, and the texts of the multipliers by the rows that are on."""

    rows: Sequence[Integers]
    told: Sequence[int]
    side: dict[int, str]
    known: list[dict[int, Fraction]] = field(default_factory=list)  # sums of rows that are 0

    def below(self, bases: Sequence[int], depth: int, sides: dict[int, int]) -> Iterator[str]:
        """The tree of these pieces, whose first rows have these signs."""
        if depth == len(self.told):
            if len(bases) != 1:
                raise Rejected("certificate.facts.dual", "an entry for every piece", f"{len(bases)} of one")
            yield f"P {self.side[bases[0]]}"
            return
        k = self.told[depth]
        on, off = [b for b in bases if b >> k & 1], [b for b in bases if not b >> k & 1]
        if on and off:
            yield f"D {k}"
            yield from self.below(on, depth + 1, {**sides, k: 1})
            yield from self.below(off, depth + 1, {**sides, k: -1})
        else:
            here = 1 if on else -1
            a = self.flat({**sides, k: -here}, k)
            numbers, _ = cleared([a.get(j, Fraction(0)) for j in range(len(self.rows))])
            yield f"O {k} {int(here > 0)} {words(numbers)}"
            yield from self.below(bases, depth + 1, {**sides, k: here})

    def flat(self, sides: dict[int, int], k: int) -> dict[int, Fraction]:
        """a with these signs, a_k not 0, and sum a_j z_j = 0: so z_k.u = 0 where rows have these sides."""
        for a in (a for a in self.known if k in a):
            for turn in (1, -1):
                if all(j in sides and turn * sides[j] * x > 0 for j, x in a.items()):
                    return {j: turn * x for j, x in a.items()}
        others = [j for j in sides if j != k]
        columns = [[sides[j] * x for x in self.rows[j]] for j in others]
        x = combination(columns, [-sides[k] * z for z in self.rows[k]])
        if x is None:
            raise Rejected("certificate.facts.dual", "an entry for every piece", f"none for a side of row {k}")
        a = {j: sides[j] * x_j for j, x_j in zip(others, x, strict=True) if x_j} | {k: Fraction(sides[k])}
        self.known.append(a)
        return a


def combination(columns: Sequence[Integers], b: Integers) -> list[Fraction] | None:
    """x >= 0 with sum x_j columns_j = b, by the simplex method with Bland's rule; None if there is none."""
    n = len(columns)
    rows = [[fmpq(c[i] if b_i >= 0 else -c[i]) for c in columns] + [fmpq(abs(b_i))] for i, b_i in enumerate(b)]
    basis = [n + i for i in range(len(b))]
    while any(row[n] for row, j in zip(rows, basis, strict=True) if j >= n):
        gains = (sum((row[j] for row, i in zip(rows, basis, strict=True) if i >= n), fmpq(0)) for j in range(n))
        if (enter := next((j for j, gain in enumerate(gains) if gain > 0), None)) is None:
            return None
        leave = min(
            (i for i, row in enumerate(rows) if row[enter] > 0), key=lambda i: (rows[i][n] / rows[i][enter], basis[i])
        )
        pivot = [x / rows[leave][enter] for x in rows[leave]]
        for i, row in enumerate(rows):
            if row[enter]:
                rows[i] = [x - row[enter] * y for x, y in zip(row, pivot, strict=True)]
        rows[leave], basis[leave] = pivot, enter
    x = [Fraction(0)] * n
    for row, j in zip(rows, basis, strict=True):
        if j < n:
            x[j] = Fraction(int(row[n].p), int(row[n].q))
    return x
