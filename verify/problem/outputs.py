"""Several outputs: the problem, how its raw file was read, and the file read again."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from verify.errors import Rejected
from verify.problem.data import number, read_fields
from verify.problem.input import Input
from verify.problem.problem import Problem
from verify.text import Fields, Limits, Matrix, Node, Vector

OUTPUTS = "1/2|sum (Zw_j)_+ v_j' - Y|^2 + lambda*sum|w_j||v_j|"


def read_several(node: Node) -> Problem:
    """The problem of ReLU networks with several outputs."""
    fields = node.record("model", "objective", "lambda", "Z", "Y")
    fields["model"].text("relu")
    fields["objective"].text(OUTPUTS)
    lam, Z, Y = fields["lambda"].number(), fields["Z"].matrix(), fields["Y"].matrix()
    fields["lambda"].require(lam > 0, "lambda > 0")
    fields["Z"].require(Z and Z[0], "at least one row and one column")
    fields["Y"].require(len(Y) == len(Z) and len(Y[0]) > 1, f"{len(Z)} rows of at least two numbers")
    return Problem("relu", lam, Z, tuple(x for row in Y for x in row), targets=len(Y[0]))


def with_outputs(input_: Input, problem: Problem, fields: Fields) -> Input:
    """The same with the columns of several outputs: different ones, or a single one of classes, whose labels differ."""
    columns = [entry.index(2**20) for entry in fields["targets"].array()]
    labels = tuple(label.text() for label in fields["labels"].array(problem.targets)) if "labels" in fields else None
    count = problem.targets if labels is None else 1
    fields["targets"].require(len({*columns}) == len(columns) == count, f"{count} different columns")
    return replace(input_, targets=tuple(columns), labels=labels, center=fields["center"].flag())


def read_outputs(raw: bytes, input_: Input, limits: Limits, fields: int) -> tuple[Matrix, Vector, bool]:
    """The same with Y, row by row: the columns of `targets`, or a column for each of the labels, 1 for rows of this
    class; less their means where they are centred."""
    rows, names = read_fields(raw, input_, limits, fields)
    header = bool(names)
    width = len(rows[0])
    if max(input_.targets) >= width or width - len(input_.targets) + input_.bias < 1:
        raise Rejected("data", f"target columns {input_.targets} and a feature", f"{width} columns")
    if input_.labels is not None:
        found = {row[input_.targets[0]] for row in rows}
        if found != {*input_.labels} or len(found) != len(input_.labels):
            raise Rejected("certificate.input.labels", f"the {len(found)} classes of the data given", "others")
    Z, Y = [], []
    for i, row in enumerate(rows, start=1 + header):

        def at(j: int, row: list[str] = row, i: int = i) -> Fraction:
            return number(row[j], input_.numbers, f"data record {i} field {j + 1}")

        z = [at(j) for j in range(width) if j not in input_.targets]
        Z.append((*z, Fraction(1)) if input_.bias else tuple(z))
        if input_.labels is None:
            Y.append([at(j) for j in input_.targets])
        else:
            Y.append([Fraction(row[input_.targets[0]] == label) for label in input_.labels])
    if input_.center:
        means = [sum(column) / len(Y) for column in zip(*Y, strict=True)]
        Y = [[x - mean for x, mean in zip(row, means, strict=True)] for row in Y]
    return tuple(Z), tuple(x for row in Y for x in row), header
