"""All claims: every module of `properties.claims` holds one, under the name CLAIM.

The statements about the certifier's soundness are found in the same way, as `soundness.NAME`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from properties import claims
from properties.model import Claim
from properties.soundness import statements


def module_names() -> tuple[str, ...]:
    """The names of the claim modules, in the order of the ledger: alphabetical."""
    return tuple(sorted(m.name for m in iter_modules(claims.__path__)))


def soundness_names() -> tuple[str, ...]:
    """The statements about the certifier's soundness."""
    return tuple(sorted(f"soundness.{m.name}" for m in iter_modules(statements.__path__)))


def load(name: str) -> Claim:
    """The claim of one module."""
    package, _, short = name.rpartition(".")
    path = f"properties.soundness.statements.{short}" if package == "soundness" else f"properties.claims.{name}"
    claim = import_module(path).CLAIM
    if not isinstance(claim, Claim):
        raise TypeError(f"{path}.CLAIM is not a Claim")
    return claim


def all_claims() -> dict[str, Claim]:
    """Module name to claim, every label once."""
    found = {name: load(name) for name in module_names()}
    labels = [c.label for c in found.values()]
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    if repeated:
        raise ValueError(f"labels used by more than one claim: {', '.join(repeated)}")
    return found
