"""Free terms of a ReLU network: columns with coefficients that are not penalised, and biases that no norm sees."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from verify.problem import Problem, dot
from verify.text import Node, Vector, show

FREE = ("output-bias", "biases", "skip")


def with_free_terms(problem: Problem, node: Node) -> Problem:
    """The problem with the terms of `free`, some of FREE in that order: ones (biases bring them: a neuron without
    weights is constant), and for a skip connection the columns of Z."""
    names = tuple(entry.text(*FREE) for entry in node.array())
    if not names or names != tuple(name for name in FREE if name in names):
        raise node.reject(f"some of {', '.join(FREE)}, in this order")
    if problem.model != "relu" or problem.patterns is not None or problem.delta:
        raise node.reject("free terms with ReLU networks over all patterns and delta = 0 only")
    biases = "biases" in names
    if biases and any(row[-1] != 1 for row in problem.Z):
        raise node.reject("biases only where the last column of Z is ones")
    constant = ((Fraction(1),) * problem.n,) if biases or "output-bias" in names else ()
    outputs = (*constant, *(zip(*problem.Z, strict=True) if "skip" in names else ()))
    return replace(problem, free=names, biases=biases, outputs=outputs)


def check_orthogonal(problem: Problem, theta: Vector, node: Node) -> None:
    """Reject unless theta is orthogonal to the columns with free coefficients."""
    for j, column in enumerate(problem.outputs):
        node.require(not (total := dot(column, theta)), f"theta orthogonal to the free column {j}", show(total))
