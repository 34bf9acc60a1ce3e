"""Marks of single cases."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def long_where(cases: Iterable[str], *names: str) -> list[object]:
    """The cases, those of these names marked as long."""
    return [pytest.param(case, marks=pytest.mark.long) if case in names else case for case in cases]
