"""What `prune` found, as text and JSON: fewer and fewer neurons, and what each one costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from relu_cert.bags import EACH
from relu_cert.data.dataset import Dataset
from relu_cert.errors import UsageError
from relu_cert.figures import count, percent_at_most
from relu_cert.network.objective import ConvexNeuron, network_of
from relu_cert.network.prune import PruningStep, Strategy
from relu_cert.network.trained import TrainedNetwork
from relu_cert.prove.facts import Value
from relu_cert.report.filters import in_words_of
from relu_cert.report.shown import Shown, picked
from relu_cert.report.terminal import fold


@dataclass(frozen=True, repr=False)
class Pruning(Shown):
    """The way down from a network: free and exact to `free`, then in floats to the zero network.

    `network` is the file of a given network; None: the optimal one, or the one found where `value` leaves a gap.
    `others` are the ways of the other strategies from the same network, for comparison. `constant`: the last neuron is
    the output bias.
    """

    data: Dataset
    lam: Fraction
    network: str | None
    strategy: Strategy
    corrected: bool
    start: tuple[ConvexNeuron, ...]
    free: tuple[ConvexNeuron, ...]
    steps: tuple[PruningStep, ...]
    written: str | None = None
    others: Mapping[Strategy, tuple[PruningStep, ...]] = field(default_factory=dict)
    value: Value | None = None
    constant: bool = False

    @property
    def optimal(self) -> bool:
        """Whether it starts from a network that is proved to be optimal."""
        return self.network is None and (self.value is None or self.value.reached)

    @property
    def whose(self) -> str:
        """Which network it starts from; where it is not proved to be the best one, how good it is."""
        if self.network is not None:
            return "this network"
        if self.value is None or self.optimal:
            return "the optimal network found"
        above = f", at most {percent_at_most(self.value.above)} above the best," if self.value.lower > 0 else ""
        return f"the network found{above}"

    @property
    def started(self) -> str:
        """How many neurons the network has; an output bias is named, not counted."""
        bias = " and the output bias" if self.constant else ""
        return f"{count(len(self.start) - self.constant, 'neuron')}{bias}"

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        gone = len(self.start) - len(self.free)
        if not self.start:
            return f"There is no neuron in {self.whose.removesuffix(',')}: nothing can be pruned; exact."
        if not gone and len(self.start) == 1 and not self.constant:
            return in_words_of(self.data.source, f"The only neuron of {self.whose} cannot be dropped; exact.")
        if not gone and self.data.bags is not EACH:  # pooled outputs may agree though no two neurons are in one cone
            words = f"None of the {self.started} of {self.whose} can be dropped with the others reweighted; exact."
            return in_words_of(self.data.source, words)
        if not gone:
            return (
                f"None of the {self.started} of {self.whose} can be merged with another, or dropped with the others "
                "reweighted; exact."
            )
        return (
            f"Of the {self.started} of {self.whose.removesuffix(',')}, {gone} can be removed without any loss; exact."
        )

    def to_text(self) -> str:
        """A line for each width."""
        lines = [
            fold(self.headline),
            "",
            f"{self.started}, {len(self.free)} after pruning that costs nothing (exact); then by {self.strategy} "
            "(floats)",
            f"{'width':>5}  {'objective':>14}  {'1/2|f - y|^2':>14}",
            *(f"{step.width:>5}  {step.objective:>14.8g}  {step.loss:>14.8g}" for step in self.steps),
        ]
        return "\n".join([*lines, *([f"written: {self.written}"] if self.written else [])])

    def html(self) -> str:
        """The page of `prune`."""
        from relu_cert.report.html.prune import prune_page

        return prune_page(self)

    def network_of_width(self, width: int | None = None) -> TrainedNetwork:
        """The pruned network of that width; by default the narrowest one that costs nothing, with exact weights."""
        wanted = len(self.free) if width is None else width
        found = [step for step in self.steps if step.width == wanted]
        if not found:
            there = ", ".join(str(step.width) for step in self.steps)
            raise UsageError(f"there is no pruned network of width {wanted}; there are widths {there}.")
        return network_of(self.free if wanted == len(self.free) else found[0].neurons(), self.data.d)

    def to_json(self) -> dict[str, Any]:
        """One object."""
        return {
            "format": "relu_cert pruning",
            "version": 1,
            "lambda": str(self.lam),
            "strategy": str(self.strategy),
            "corrected": self.corrected,
            "start": len(self.start),
            "free": self.steps[0].width,
            "steps": [picked(step, "width objective loss") for step in self.steps],
            "written": self.written,
        }
