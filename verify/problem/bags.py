"""Bags: the rows that an output sums up, (P (Zw)_+)_i = scale_i sum_j times_j (z_k.w)_+ over the rows k of bag i."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import fmpq_mat

from verify.numbers.bounds import matrix
from verify.numbers.integers import cleared
from verify.problem.problem import Bag, Problem, square
from verify.text import Fields, Matrix, Node

MOST_TIMES = 2**63


@dataclass(frozen=True)
class Pooling:
    """P, a row for each bag, of N columns."""

    bags: tuple[Bag, ...]
    N: int

    def pooled(self, x: Sequence[Any]) -> tuple[Any, ...]:
        """P x"""
        p, q = cleared(x) if isinstance(x[0], Fraction) else (x, 1)
        sums = (sum((p[k] * m for k, m in zip(bag.rows, bag.times, strict=True)), p[0] * 0) for bag in self.bags)
        return tuple(total * (bag.scale / q) for total, bag in zip(sums, self.bags, strict=True))

    def spread(self, theta: Sequence[Any]) -> tuple[Any, ...]:
        """P'theta"""
        shares, q = [x * bag.scale for x, bag in zip(theta, self.bags, strict=True)], 1
        if whole := isinstance(shares[0], Fraction):  # else numbers of a field
            shares, q = cleared(shares)
        total = [shares[0] * 0] * self.N
        for x, bag in zip(shares, self.bags, strict=True):
            for k, m in zip(bag.rows, bag.times, strict=True):
                total[k] += x * m
        return tuple(Fraction(x, q) for x in total) if whole else tuple(total)

    def pooled_columns(self, A: fmpq_mat) -> fmpq_mat:
        """P A"""
        N, q = A.transpose().numer_denom()
        whole = ([int(x) for x in row] for row in N.tolist())
        return matrix(map(self.pooled, whole), len(self.bags)).transpose() / q

    @cached_property
    def columns(self) -> list[list[tuple[int, Fraction]]]:
        """The entries of P, column by column."""
        found: list[list[tuple[int, Fraction]]] = [[] for _ in range(self.N)]
        for i, bag in enumerate(self.bags):
            for k, m in zip(bag.rows, bag.times, strict=True):
                found[k].append((i, bag.scale * m))
        return found

    @cached_property
    def squares(self) -> list[Fraction]:
        """The squared lengths of the columns."""
        return [square(tuple(p for _, p in column)) for column in self.columns]

    def reach(self, a: Mapping[int, Fraction]) -> Fraction:
        """| |P| |a| |^2"""
        if len(a) == 1:
            ((k, a_k),) = a.items()
            return self.squares[k] * a_k**2
        moved: dict[int, Fraction] = {}
        for k, a_k in a.items():
            for i, p in self.columns[k]:
                moved[i] = moved.get(i, Fraction(0)) + abs(p * a_k)
        return square(tuple(moved.values()))

    def zeta_squared(self, Z: Matrix) -> Fraction:
        """sum_i (sum_k |P_ik|)(sum_k |P_ik| |z_k|^2) >= |P D Z|^2 for all 0 <= D <= 1."""
        sizes, total = [square(z) for z in Z], Fraction(0)
        for bag in self.bags:
            times = [abs(m) for m in bag.times]
            total += bag.scale**2 * sum(times) * sum(m * sizes[k] for k, m in zip(bag.rows, times, strict=True))
        return total


def with_bags(problem: Problem, fields: Fields) -> Problem:
    """The problem with its bags, one for each output; all rows are different, none is zero, each is in some bag."""
    node = fields["bags"]
    if problem.model != "relu" or "patterns" in fields or "delta" in fields:
        raise node.reject("bags with ReLU networks over all patterns and delta = 0 only")
    if len(set(problem.seen)) < problem.N or not all(map(any, problem.seen)):
        raise node.reject("rows of Z that are all different and not zero")
    bags = tuple(read_bag(entry, problem.N) for entry in node.array(problem.n))
    node.require(bags, "at least one bag")
    node.require({k for bag in bags for k in bag.rows} == {*range(problem.N)}, "every row of Z in some bag")
    return replace(problem, bags=bags)


def read_bag(node: Node, rows: int) -> Bag:
    """scale > 0, rows in ascending order, and for each how often it is there; with a slope in a vector, of any sign."""
    fields = node.record("scale", "rows", "times")
    scale, found = fields["scale"].number(), fields["rows"].ascending(rows)
    fields["scale"].require(scale > 0, "a scale > 0")
    if signed := isinstance(fields["times"].value, str):
        times = tuple(fields["times"].integers(len(found)))
    else:
        times = tuple(entry.index(MOST_TIMES) for entry in fields["times"].array(len(found)))
    fields["times"].require(all(times), "integers other than 0" if signed else "integers > 0")
    return Bag(scale, found, times)
