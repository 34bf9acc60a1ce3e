"""The tied neurons where r* is known exactly, in a field of real algebraic numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from verify.numbers.field import FieldMatrix, Number, read_numbers
from verify.optimal.multipliers import allowed, not_out
from verify.sets.neurons import Neuron
from verify.sets.ties import Numbers, Optimum, Tied
from verify.text import Node


@dataclass(frozen=True)
class InField(Optimum):
    """r in its field, with its `own` multipliers: those of blocks and pieces that are not out for the whole ball."""

    own: Node

    def read(self, node: Node, length: int) -> Numbers:
        """So many numbers."""
        return read_numbers(self.zero.field, node, length)

    def table(self, columns: Sequence[Numbers]) -> FieldMatrix:
        """The matrix with these columns."""
        return FieldMatrix(self.ball.problem.n, len(columns), [x for row in zip(*columns, strict=True) for x in row])

    def known(self, neuron: Neuron, tied: Tied, weight: Number) -> Neuron:
        """The neuron with its v."""
        return replace(neuron, v=tuple(tied.v))

    def pieces(self, sign: str, xi: int) -> Iterator[tuple[Node, int, Numbers]]:
        """Every piece that its multiplier of `dual` does not prove out has one entry, and no other piece has one."""
        problem, side = self.ball.problem, self.own.record("+", "-")[sign]
        n, t = problem.N, [xi * x for x in problem.spread(self.r)]
        P, needed = not_out(self.ball, xi, self.bounds.record("+", "-")[sign], None)
        columns = tuple(zip(*problem.seen, strict=True))
        for entry in side.array():
            base_node, rows_node, values_node = entry.array(3)
            base = base_node.pattern(n)
            base_node.require(base & P in needed, "a piece that is not out by its multiplier, and has no entry yet")
            needed.remove(base & P)
            m = [t[k] if base >> k & 1 else self.zero for k in range(n)]
            rows = rows_node.ascending(n)
            for k, m_k in zip(rows, self.read(values_node, len(rows)), strict=True):
                holds = allowed(m_k, t[k], bool(base >> k & 1) if P >> k & 1 else None)
                entry.require(holds, f"a value for row {k} within its bounds")
                m[k] = m_k
            yield entry, base, self.through(columns, m)
        side.require(not needed, "an entry for every piece that is not out", f"{len(needed)} pieces without")

    def blocks(self) -> Iterator[tuple[int, Node, Numbers]]:
        """Every block is out, with its rho of `dual` or none, or has rho >= 0 of its entry, or none."""
        from verify.sets.direct import is_out

        problem, entries = self.ball.problem, dict[int, Node]()
        for entry in self.own.array():
            name, rho_node = entry.array(2)
            b = name.index(len(problem.groups))
            name.require(b not in entries and problem.K[b] is not None, "blocks with constraints, each once")
            entries[b] = rho_node
        for b, bound in enumerate(self.bounds.array(len(problem.groups))):
            K = problem.K[b]
            if b not in entries and is_out(self.ball, b, bound):
                continue
            rho = self.read(entries[b], len(K[0])) if K is not None and b in entries else ()
            entry = entries.get(b, self.own)
            entry.require(all(x >= 0 for x in rho), "multipliers >= 0")
            yield b, entry, rho
