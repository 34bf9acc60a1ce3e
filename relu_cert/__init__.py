"""relu_cert: train a two-layer ReLU network to its global optimum, and prove what was found.

>>> import relu_cert
>>> found = relu_cert.certify([[1, 0], [0, 1], [-1, -1]], [1, 2, 3], lambda_ratio="1/10")
>>> str(found.claims["optimal"].verdict)
'PROVED'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from relu_cert.api import (
        Certified,
        CertifiedGroupLasso,
        CertifiedNetwork,
        CertifiedPath,
        CertifiedSolution,
        Exploration,
        Patterns,
        Pruning,
        certify,
        certify_group_lasso,
        certify_network,
        certify_solution,
        explore,
        group_lasso_path,
        path,
        patterns,
        prune,
    )
    from relu_cert.claims.claim import Result, Verdict
    from relu_cert.errors import DataError, ReluCertError, TooManyPatterns, UsageError
    from relu_cert.network.fitted import FittedNetwork

_HOMES = {
    "relu_cert.claims.claim": ("Result", "Verdict"),
    "relu_cert.errors": ("DataError", "ReluCertError", "TooManyPatterns", "UsageError"),
    "relu_cert.network.fitted": ("FittedNetwork",),
}  # all others live in relu_cert.api

__all__ = [
    "Certified",
    "CertifiedGroupLasso",
    "CertifiedNetwork",
    "CertifiedPath",
    "CertifiedSolution",
    "DataError",
    "Exploration",
    "FittedNetwork",
    "Patterns",
    "Pruning",
    "ReluCertError",
    "Result",
    "TooManyPatterns",
    "UsageError",
    "Verdict",
    "certify",
    "certify_group_lasso",
    "certify_network",
    "certify_solution",
    "explore",
    "group_lasso_path",
    "path",
    "patterns",
    "prune",
]


def __getattr__(name: str) -> Any:
    """Names are loaded when they are asked for, so that `import relu_cert` costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = next((module for module, names in _HOMES.items() if name in names), "relu_cert.api")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
