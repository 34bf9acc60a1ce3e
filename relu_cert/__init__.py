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
        certify,
        certify_group_lasso,
        certify_network,
        certify_solution,
        explore,
        group_lasso_path,
        one_neuron,
        path,
        patterns,
        prune,
    )
    from relu_cert.claims.claim import Result, Verdict
    from relu_cert.errors import DataError, ReluCertError, TooManyPatterns, UsageError
    from relu_cert.network.fitted import FittedNetwork
    from relu_cert.report.explore import Exploration
    from relu_cert.report.prune import Pruning
    from relu_cert.results.check import Certified
    from relu_cert.results.network import CertifiedNetwork
    from relu_cert.results.path import CertifiedOneNeuron, CertifiedPath
    from relu_cert.results.patterns import Patterns
    from relu_cert.results.solution import CertifiedGroupLasso, CertifiedSolution

_HOMES = {
    "Certified": "relu_cert.results.check",
    "CertifiedGroupLasso": "relu_cert.results.solution",
    "CertifiedNetwork": "relu_cert.results.network",
    "CertifiedOneNeuron": "relu_cert.results.path",
    "CertifiedPath": "relu_cert.results.path",
    "CertifiedSolution": "relu_cert.results.solution",
    "DataError": "relu_cert.errors",
    "Exploration": "relu_cert.report.explore",
    "FittedNetwork": "relu_cert.network.fitted",
    "Patterns": "relu_cert.results.patterns",
    "Pruning": "relu_cert.report.prune",
    "ReluCertError": "relu_cert.errors",
    "Result": "relu_cert.claims.claim",
    "TooManyPatterns": "relu_cert.errors",
    "UsageError": "relu_cert.errors",
    "Verdict": "relu_cert.claims.claim",
    "certify": "relu_cert.api",
    "certify_group_lasso": "relu_cert.api",
    "certify_network": "relu_cert.api",
    "certify_solution": "relu_cert.api",
    "explore": "relu_cert.api",
    "group_lasso_path": "relu_cert.api",
    "one_neuron": "relu_cert.api",
    "path": "relu_cert.api",
    "patterns": "relu_cert.api",
    "prune": "relu_cert.api",
}

__all__ = [
    "Certified",
    "CertifiedGroupLasso",
    "CertifiedNetwork",
    "CertifiedOneNeuron",
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
    "one_neuron",
    "path",
    "patterns",
    "prune",
]


def __getattr__(name: str) -> Any:
    """Names are loaded when they are asked for, so that `import relu_cert` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
