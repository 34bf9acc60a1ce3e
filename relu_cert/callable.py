"""Packages that are functions, too: `relu_cert.path(...)` and `relu_cert.patterns(...)`.

Python binds `relu_cert.path` to the package once anything of it is imported; so the package itself can be called, and
does what the function of that name in `relu_cert.api` does.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *arguments: Any, **named: Any) -> Any:
        from relu_cert import api

        return getattr(api, self.__name__.rpartition(".")[2])(*arguments, **named)


def make_callable(name: str) -> None:
    """Let the package of that name be called."""
    sys.modules[name].__class__ = _Callable
