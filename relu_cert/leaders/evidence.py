"""The evidence `leaders` (verify/FORMAT.md): theta, and multipliers that prove it dual feasible without any pattern."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from relu_cert.exact import Vector, rational

Integers = tuple[int, ...]


@dataclass(frozen=True)
class Leader:
    """The leader `row`: c > 0 and signed weights of the rows `near` and of the normals against other centres."""

    row: int
    c: int
    near: Integers
    weights: Integers
    normals: Integers
    normal_weights: Integers


@dataclass(frozen=True)
class Triangles:
    """1 + x s_i s_j + y s_j s_k + x y s_i s_k >= 0 for signs: i, j, k (0 is the sign 1, then the leaders from 1), x and
    y for each, one after the other, and weights."""

    corners: Integers
    signs: Integers
    weights: Integers


@dataclass(frozen=True)
class CellProof:
    """A cell: nu, multipliers p and q of `rows`, `excess` and `squares` of the normals, and the leaders; kappa where
    biases are free, triangles if there are any."""

    nu: int
    rows: Integers
    p: Integers
    q: Integers
    normals: Integers
    excess: Integers
    squares: Integers
    leaders: tuple[Leader, ...]
    kappa: int | None = None
    triangles: Triangles | None = None


@dataclass(frozen=True)
class Side:
    """One sign: cell i is where centre i has the largest product with u; no centres: one cell, all of R^d."""

    centres: tuple[Integers, ...]
    cells: tuple[CellProof, ...]


@dataclass(frozen=True)
class Leaders:
    """theta = unit x integers is dual feasible, so `lower` <= p*. Numbers of a side are in units of unit / q, q the
    common denominator of Z; the weights of neighbours, p, q, excess and squares in units of unit."""

    unit: Fraction
    integers: Integers
    plus: Side
    minus: Side
    lower: Fraction

    @property
    def theta(self) -> Vector:
        """theta itself."""
        return tuple(self.unit * t for t in self.integers)


def leaders_record(found: Leaders) -> dict[str, Any]:
    """The evidence as the certificate holds it."""
    return {
        "unit": rational(found.unit),
        "theta": _text(found.integers),
        "+": _side(found.plus),
        "-": _side(found.minus),
    }


def _side(side: Side) -> dict[str, Any]:
    return {"centres": [_text(c) for c in side.centres], "cells": [_cell(cell) for cell in side.cells]}


def _cell(cell: CellProof) -> dict[str, Any]:
    record: dict[str, Any] = {
        "nu": rational(cell.nu),
        "rows": list(cell.rows),
        "p": _text(cell.p),
        "q": _text(cell.q),
        "normals": list(cell.normals),
        "excess": _text(cell.excess),
        "squares": _text(cell.squares),
        "leaders": [_leader(one) for one in cell.leaders],
    }
    if cell.kappa is not None:
        record["kappa"] = rational(cell.kappa)
    if cell.triangles is not None:
        parts = {"corners": cell.triangles.corners, "signs": cell.triangles.signs, "weights": cell.triangles.weights}
        record["triangles"] = {key: _text(numbers) for key, numbers in parts.items()}
    return record


def _leader(one: Leader) -> dict[str, Any]:
    return {
        "row": one.row,
        "c": rational(one.c),
        "near": list(one.near),
        "weights": _text(one.weights),
        "normals": list(one.normals),
        "normal_weights": _text(one.normal_weights),
    }


def _text(numbers: Integers) -> str:
    return " ".join(map(rational, numbers))
