"""The derivatives of the optimal network in the object of `check --json`: exact rationals with their proved radius."""

from __future__ import annotations

from typing import Any

from relu_cert.exact import Matrix, Vector
from relu_cert.path.derivatives import Derivatives
from relu_cert.report.text import rational


def derivatives_json(found: Derivatives | None) -> dict[str, Any] | None:
    """By lambda, and by y where n is not too large: every entry is within `radius` of the true derivative.

    The fit is y - r, so dfit/dlambda = -dr/dlambda and dfit/dy = I - dr/dy; `degrees_of_freedom` is its trace.
    """
    if found is None:
        return None
    freedom, by_y, sure = found.freedom, None, None
    if found.r_y:
        by_y = {"alpha": _rows(found.alpha_y), "residual": _rows(found.r_y)}
    if found.sure is not None:
        noise, value, radius = found.sure
        sure = {"noise": rational(noise), "value": rational(value), "radius": rational(radius)}
    return {
        "radius": rational(found.radius),
        "by_lambda": {"alpha": _row(found.alpha_lam), "residual": _row(found.r_lam)},
        "by_y": by_y,
        "degrees_of_freedom": None if freedom is None else rational(freedom),
        "sure": sure,
    }


def _row(entries: Vector) -> list[str]:
    return [rational(x) for x in entries]


def _rows(entries: Matrix) -> list[list[str]]:
    return [_row(row) for row in entries]
