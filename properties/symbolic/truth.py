"""What the definitions say about a claim."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Truth:
    """Whether a claim holds (None: that is not known here), and why."""

    holds: bool | None
    why: str
