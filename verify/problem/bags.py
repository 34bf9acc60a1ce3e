"""Bags: the rows that an output sums up, (P (Zw)_+)_i = scale_i sum_j times_j (z_k.w)_+ over the rows k of bag i."""

from __future__ import annotations

from dataclasses import replace

from verify.problem.problem import Bag, Problem
from verify.text import Fields, Node

MOST_TIMES = 2**63


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
