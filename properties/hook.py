"""Hypothesis learns the types of `properties`: `from_type(PlantedCGL)`, or an annotated argument, draws an instance.

Hypothesis calls `register` when it is loaded (the entry point group `hypothesis`), and the modules with types call it
when they are. So neither has to load the other, and whichever comes last completes the list.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

TYPES = {
    "properties.exact.problem": {"CGL": "planted_cgl"},
    "properties.strategies.cgl": {"PlantedCGL": "planted_cgl"},
    "properties.strategies.cube": {"Cube": "planted_cube"},
    "properties.strategies.relu": {"PlantedReLU": "planted_relu"},
    "properties.strategies.variants": {
        "Gates": "gates",
        "PlantedElastic": "planted_elastic",
        "PlantedLogistic": "planted_logistic",
        "PlantedSampled": "planted_sampled",
    },
}


def register() -> None:
    """Register a strategy for every type whose module is loaded, if hypothesis is."""
    strategies: Any = sys.modules.get("hypothesis.strategies")
    if strategies is None or not hasattr(strategies, "register_type_strategy"):
        return
    for module, types in TYPES.items():
        for name, strategy in types.items():
            kind = getattr(sys.modules.get(module), name, None)
            if kind is not None:
                strategies.register_type_strategy(kind, _Later(name, strategy))


class _Later:
    """The strategy, made when it is first asked for. A CGL is the problem of a planted instance."""

    def __init__(self, name: str, strategy: str) -> None:
        self.name, self.strategy = name, strategy

    def __call__(self, kind: type) -> Any:
        made = getattr(import_module("properties.strategies"), self.strategy)()
        return made.map(lambda planted: planted.problem) if self.name == "CGL" else made
