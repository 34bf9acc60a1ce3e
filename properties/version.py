"""Which code reached a result: a fingerprint of the source that a statement's answer rests on."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("properties/exact", "properties/strategies", "properties/model.py", "properties/run.py")
CERTIFIER = (
    "properties/exact",
    "properties/strategies",
    "properties/soundness",
    "properties/symbolic",
    "relu_cert",
    "verify",
)


@cache
def code_version(module: str) -> str:
    """The fingerprint for a claim's module: the claim, the exact tools, the strategies; or all that soundness asks."""
    own = f"{module.partition('.py')[0]}.py" if ".py" in module else f"properties/claims/{module}.py"
    places = CERTIFIER if module.startswith("soundness.") else (*TOOLS, own)
    found = blake2b(digest_size=6)
    for place in places:
        path = ROOT / place
        for source in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            if source.exists():
                name = source.relative_to(ROOT) if source.is_relative_to(ROOT) else Path(source.name)
                found.update(name.as_posix().encode() + b"\0" + source.read_bytes())
    return found.hexdigest()
