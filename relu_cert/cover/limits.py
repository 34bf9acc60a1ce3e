"""How long a proof without a list of patterns may take, what it says on its way, and why it may end early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from relu_cert.clock import Until, until

MOST_DIRECTIONS = 12  # the rank of data for a cover: what the checker takes
ENOUGH = "the gap that was asked for is proved, and no more"
MANY_FEATURES = "with so many features only a gap can be proved"
Tell = Callable[["ProgressEvent"], None]


@dataclass(frozen=True)
class Limits:
    """How long a proof may take: seconds (None: the default) and nodes; over how many processes, or which cluster; the
    file in which the work is kept. `by_list`: a list of patterns proves what it can, where there is one, and a cover is
    not asked (so that the two can be compared). `value_alone`: no claim is about the optimal set, which is not looked
    at where rows are many."""

    seconds: float | None = None
    nodes: int = 50_000_000
    jobs: int = 1
    dask: str | None = None
    state: Path | None = None
    by_list: bool = False
    value_alone: bool = False

    @property
    def until(self) -> Until:
        """When the seconds are over, if they begin now."""
        return until(self.seconds, shared=self.jobs > 1 or self.dask is not None)


@dataclass(frozen=True)
class ProgressEvent:
    """One line of the log."""

    stage: str
    neurons: int = 0
    objective: float | None = None
    bound: float | None = None
    nodes: int = 0
    open: int = 0
