"""All claims: every module of `properties.claims` holds one, under the name CLAIM.

The statements about the certifier's soundness are found in the same way, as `soundness.NAME`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from hashlib import blake2b
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from properties import claims
from properties.model import Claim
from properties.soundness import statements
from relu_cert.errors import DataError, UsageError


def module_names() -> tuple[str, ...]:
    """The names of the claim modules, in the order of the ledger: alphabetical."""
    return tuple(sorted(m.name for m in iter_modules(claims.__path__)))


def soundness_names() -> tuple[str, ...]:
    """The statements about the certifier's soundness."""
    return tuple(sorted(f"soundness.{m.name}" for m in iter_modules(statements.__path__)))


def from_file(path: str) -> Mapping[str, Claim]:
    """The claims of a user's file, by names under which `load` finds them again: FILE.py, or FILE.py:NAME."""
    full = str(Path(path).resolve())
    found = {name: value for name, value in vars(_module(full)).items() if isinstance(value, Claim)}
    if not found:
        raise UsageError(
            f"{path} has no Claim; write CLAIM = Claim(label, title, Property(statement, instances, check))."
        )
    if len(found) == 1:
        return {full: next(iter(found.values()))}
    return {f"{full}:{name}": claim for name, claim in found.items()}


def short_name(name: str) -> str:
    """The name of a module or of a user's file as it can stand in the name of a file."""
    if ".py" not in name:
        return name
    path, _, variable = name.partition(".py")
    return f"{Path(path).name}{variable.replace(':', '.')}-{blake2b(path.encode(), digest_size=3).hexdigest()}"


def is_file(name: str) -> bool:
    """Whether the name means a user's file."""
    return name.endswith(".py") or ".py:" in name


def _module(path: str) -> ModuleType:
    """A user's file as a module; what goes wrong in it is told with its name."""
    key = f"claims_of_{blake2b(path.encode(), digest_size=6).hexdigest()}"
    if key in sys.modules:
        return sys.modules[key]
    if not Path(path).is_file():
        raise UsageError(f"{path}: there is no such file.")
    spec = spec_from_file_location(key, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be loaded.")
    module = module_from_spec(spec)
    sys.modules[key] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[key]
        raise DataError(f"{path} cannot be loaded: {type(error).__name__}: {error}.") from error
    return module


def load(name: str) -> Claim:
    """The claim of one module, or of a user's file."""
    if is_file(name):
        path, _, variable = name.partition(".py:")
        if variable:
            return from_file(f"{path}.py")[name]
        return next(iter(from_file(name).values()))
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
