"""Several outputs: their targets, how the raw file was read, and the file read again."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from verify.errors import Rejected
from verify.problem.data import number, read_fields
from verify.problem.input import Input
from verify.problem.problem import Problem
from verify.text import Fields, Limits, Matrix, Node, Vector


def read_targets(node: Node, count: int | None) -> tuple[Vector, int]:
    """Y, row by row, and the number of outputs, at least two; so many rows, if that is known."""
    Y = node.matrix()
    rows = "rows" if count is None else f"{count} rows"
    node.require(Y and len(Y) == (count or len(Y)) and len(Y[0]) > 1, f"{rows} of at least two numbers")
    return tuple(x for row in Y for x in row), len(Y[0])


def with_outputs(input_: Input, problem: Problem, fields: Fields) -> Input:
    """The same with the columns of several outputs: different ones, or a single one of classes, whose labels differ."""
    columns = [entry.index(2**20) for entry in fields["targets"].array()]
    labels = tuple(label.text() for label in fields["labels"].array(problem.targets)) if "labels" in fields else None
    count = problem.targets if labels is None else 1
    fields["targets"].require(len({*columns}) == len(columns) == count, f"{count} different columns")
    return replace(input_, targets=tuple(columns), labels=labels, center=fields["center"].flag())


def read_outputs(raw: bytes, input_: Input, limits: Limits, fields: int) -> tuple[Matrix, Vector, bool]:
    """Z, Y row by row, and whether there was a header."""
    rows, names = read_fields(raw, input_, limits, fields)
    Z, Y = read_columns(rows, input_, 1 + bool(names))
    return Z, tuple(x for row in centered(input_, Y) for x in row), bool(names)


def read_columns(rows: list[list[str]], input_: Input, start: int) -> tuple[Matrix, Matrix]:
    """Z and Y of the records from this one on: the columns of `targets`, or a column for each of the labels, 1 for rows
    of this class."""
    width = len(rows[0])
    if max(input_.targets) >= width or width - len(input_.targets) + input_.bias < 1:
        raise Rejected("data", f"target columns {input_.targets} and a feature", f"{width} columns")
    if input_.labels is not None:
        found = {row[input_.targets[0]] for row in rows}
        if found != {*input_.labels} or len(found) != len(input_.labels):
            raise Rejected("certificate.input.labels", f"the {len(found)} classes of the data given", "others")
    Z, Y = [], []
    for i, row in enumerate(rows, start):

        def at(j: int, row: list[str] = row, i: int = i) -> Fraction:
            return number(row[j], input_.numbers, f"data record {i} field {j + 1}")

        z = [at(j) for j in range(width) if j not in input_.targets]
        Z.append((*z, Fraction(1)) if input_.bias else tuple(z))
        if input_.labels is None:
            Y.append(tuple(at(j) for j in input_.targets))
        else:
            Y.append(tuple(Fraction(row[input_.targets[0]] == label) for label in input_.labels))
    return tuple(Z), tuple(Y)


def centered(input_: Input, Y: Matrix) -> Matrix:
    """The targets of all data points, less the means of their columns where that is asked for."""
    if not input_.center:
        return Y
    means = [sum(column) / len(Y) for column in zip(*Y, strict=True)]
    return tuple(tuple(x - mean for x, mean in zip(row, means, strict=True)) for row in Y)
