"""Small matrices want one thread: a BLAS that shares a 50 x 50 product among cores waits more than it works."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS uses one thread (where threadpoolctl is installed; else nothing changes)."""
    controller = _controller()
    return nullcontext() if controller is None else controller.limit(limits=1)


@cache
def _controller() -> Any | None:
    if find_spec("threadpoolctl") is None:
        return None
    return import_module("threadpoolctl").ThreadpoolController()
