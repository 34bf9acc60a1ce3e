"""How functions are compiled here, and projections, compiled."""

from __future__ import annotations

from typing import Any

from numba import njit

from relu_cert.cover import small
from relu_cert.cover.compiled import inner

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract", "reassoc"}}
compile_ = njit(**_OPTIONS)
project = inner(small.project)
