"""How functions are compiled here, and projections, compiled."""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core import event

from relu_cert import clock as compiling
from relu_cert.cover import small
from relu_cert.cover.compiled import inner

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract", "reassoc"}}
compile_ = njit(**_OPTIONS)
project = inner(small.project)


class _Tell(event.Listener):
    """Tells, once in a process, that functions are compiled: there was no code on disk."""

    told = False

    def on_start(self, event: event.Event) -> None:
        """A function is compiled."""
        if not self.told and event.data["dispatcher"].py_func.__module__.startswith(__package__):
            self.told = True
            compiling.tell()

    def on_end(self, event: event.Event) -> None:
        """It is over."""


event.register("numba:compile", _Tell())  # type: ignore[no-untyped-call]
