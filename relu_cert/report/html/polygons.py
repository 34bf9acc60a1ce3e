"""Convex polygons cut by lines: a piecewise linear function on a box has exact, sharp level sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relu_cert.report.html.view import Floats

Polygon = Floats  # corners in order, one row each
SQUARE: Polygon = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def keep(polygon: Polygon, normal: Floats, constant: float) -> Polygon | None:
    """The part where normal.p + constant >= 0, or None where nothing of any area is left."""
    height = polygon @ normal + constant
    scale = float(np.abs(normal).sum() + abs(constant)) or 1.0
    height = np.where(np.abs(height) <= 1e-12 * scale, 0.0, height)
    if (height >= 0).all():
        return polygon
    if (height <= 0).all():
        return None
    corners: list[Floats] = []
    for i in range(len(polygon)):
        j = (i + 1) % len(polygon)
        if height[i] >= 0:
            corners.append(polygon[i])
        if height[i] * height[j] < 0:
            share = height[i] / (height[i] - height[j])
            corners.append(polygon[i] + share * (polygon[j] - polygon[i]))
    return np.array(corners) if len(corners) >= 3 else None


def cells(normals: Floats, constants: Floats) -> list[Polygon]:
    """The cells into which the lines normal.p + constant = 0 cut the unit square."""
    found: list[Polygon] = [SQUARE]
    for normal, constant in zip(normals, constants, strict=True):
        if not normal.any():
            continue
        pieces = []
        for polygon in found:
            for side in (1.0, -1.0):
                piece = keep(polygon, side * normal, side * constant)
                if piece is not None:
                    pieces.append(piece)
        found = pieces
    return found


def band(polygon: Polygon, normal: Floats, constant: float, low: float, high: float) -> Polygon | None:
    """The part of a cell where the affine function normal.p + constant lies between two levels."""
    part = keep(polygon, normal, constant - low)
    return None if part is None else keep(part, -normal, high - constant)


def chord(normal: Floats, constant: float) -> tuple[Floats, Floats] | None:
    """The two points where the line normal.p + constant = 0 enters and leaves the unit square."""
    ends: list[Floats] = []
    for i in range(4):
        a, b = SQUARE[i], SQUARE[(i + 1) % 4]
        at_a, at_b = float(a @ normal + constant), float(b @ normal + constant)
        if at_a == at_b or at_a * at_b > 0:
            continue
        p = a + at_a / (at_a - at_b) * (b - a)
        if not any(np.allclose(p, q, atol=1e-9) for q in ends):
            ends.append(p)
    return (ends[0], ends[1]) if len(ends) >= 2 else None


def area(corners: Sequence[Sequence[float]]) -> float:
    """The area of a polygon."""
    x, y = np.array([c[0] for c in corners]), np.array([c[1] for c in corners])
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2
