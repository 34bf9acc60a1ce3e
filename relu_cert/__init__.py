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
    from relu_cert.api import certify, certify_group_lasso
    from relu_cert.certified import Certified
    from relu_cert.claims.model import Result, Verdict
    from relu_cert.errors import DataError, ReluCertError, TooManyPatterns, UsageError
    from relu_cert.network.fitted import FittedNetwork

_HOMES = {
    "Certified": "relu_cert.certified",
    "DataError": "relu_cert.errors",
    "FittedNetwork": "relu_cert.network.fitted",
    "ReluCertError": "relu_cert.errors",
    "Result": "relu_cert.claims.model",
    "TooManyPatterns": "relu_cert.errors",
    "UsageError": "relu_cert.errors",
    "Verdict": "relu_cert.claims.model",
    "certify": "relu_cert.api",
    "certify_group_lasso": "relu_cert.api",
}

__all__ = [
    "Certified",
    "DataError",
    "FittedNetwork",
    "ReluCertError",
    "Result",
    "TooManyPatterns",
    "UsageError",
    "Verdict",
    "certify",
    "certify_group_lasso",
]


def __getattr__(name: str) -> Any:
    """Names are loaded when they are asked for, so that `import relu_cert` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
