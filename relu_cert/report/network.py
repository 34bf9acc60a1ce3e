"""What `network` found, as JSON and as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from relu_cert.certificate import dumps
from relu_cert.checker import recheck_command
from relu_cert.claims import decide
from relu_cert.clock import INTERRUPTED
from relu_cert.data.dataset import Dataset
from relu_cert.errors import UsageError
from relu_cert.exact import Vector, norm_squared, sqrt_upper
from relu_cert.figures import at_least, at_most, count, decimal, enclosed_number, entries, one_number, short
from relu_cert.free import free_constant, free_parts, free_text, weights_of
from relu_cert.network.examine import Comparison, Distance, Examination, distance, network_certificate
from relu_cert.network.objective import (
    Interval,
    balanced_outputs,
    bias_free,
    enclosed_loss,
    least_loss,
    least_penalty,
    network_of,
)
from relu_cert.network.penalty import Conversion
from relu_cert.network.trained import TrainedNetwork, alive, slope_text
from relu_cert.prove.facts import ExactNeuron, Facts, Value
from relu_cert.report.filters import (
    Confusion,
    classes_in_lines,
    confusion,
    described,
    free_terms,
    in_words_of,
    neurons_in_lines,
)
from relu_cert.report.headline import after, of_network
from relu_cert.report.shown import Report, picked, plain, proved_to
from relu_cert.report.terminal import fold, report, shorten

SHOWN_NEURONS = 12
FAR = 2  # times the best objective: from there on the report says what can be done
SOMEWHAT = Fraction(11, 10)  # times the objective of the best network found: within that it is the bound that is far
NAMELESS = ("torch", "safetensors", "state dict")  # they hold weights, and no activation
FORMAT = "relu_cert network report"
VERSION = 1
BESIDE_A_NETWORK = ("patterns-complete", "optimal", "fit", "p-unique", "optimal-set")


@dataclass(frozen=True, repr=False)
class NetworkReport(Report):
    """One run of `network`: the network as it was read, what was found about it, and where things were written."""

    data: Dataset
    trained: TrainedNetwork
    conversion: Conversion
    comparison: Comparison
    written: tuple[tuple[str, Path], ...] = ()
    gap: Fraction = Fraction(1, 1000)  # what still counts as optimal
    own_left_out: str = ""  # why there is no program over its own patterns, where one was asked for

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        changed = ["on what its layers in front make of the data"] * bool(self.trained.before)
        changed += ["with batch normalisation folded in"] * bool(self.trained.origin.folded)
        said = of_network(self.facts.value, self.comparison.examination.J, self.gap, self.results)
        return after(" and ".join(changed), said)

    @property
    def pruned(self) -> TrainedNetwork:
        """The given network, merged, pruned and balanced: the same fit, no higher objective."""
        self.data.require_one_output("pruning")
        given = self.comparison.examination.network
        b2 = given.b2 if free_constant(given.free) else Fraction(0)
        return network_of(self.comparison.examination.pruned.neurons, self.data.d, given.free, b2, given.skip)

    @property
    def optimal(self) -> TrainedNetwork:
        """The optimal network that was found."""
        free, primal = self.facts.problem.free, self.facts.primal
        if self.data.targets > 1:
            if "skip" in free:
                raise UsageError("a network with several outputs and a skip connection is not written.")
            constants = tuple(b for b, _ in free_terms(self.facts)) if free else ()
            return balanced_outputs(primal.neurons, self.data.d, constants, self.data.targets)
        return network_of(primal.neurons, self.data.d, free, *free_parts(self.facts.problem, primal.free))

    @property
    def facts(self) -> Facts:
        """What was proved about the optimum."""
        return self.comparison.facts

    @cached_property
    def certificate_text(self) -> str:
        """The certificate file: about the optimum, then about the network."""
        said = (*decide(self.facts, BESIDE_A_NETWORK), *self.results)
        origin = self.trained.origin
        return dumps(network_certificate(self.source, self.comparison, self.conversion, origin, self.gap, said))

    @property
    def recheck(self) -> str:
        """The command that checks the certificate again, with the data and the network."""
        network = dict(self.written).get("checkable", self.trained.origin.path)
        return recheck_command(self.certificate_path, self.source.path, str(network))

    def html(self) -> str:
        """The page of `network`."""
        from relu_cert.report.html.given import network_page

        return network_page(self)

    def to_json(self) -> dict[str, Any]:
        """The object of `network --json`."""
        found, origin = self.comparison.examination, self.trained.origin
        own, closest, nearest = self.comparison.own, self.comparison.closest, self.comparison.nearest
        source, conversion = self.source, self.conversion
        several = self._several_json() if self.data.targets > 1 else {}
        content = {
            "format": FORMAT,
            "version": VERSION,
            "network": picked(origin, "path format sha256") | {"neurons": self.trained.m, "inputs": self.trained.d},
            "input": picked(source, "path sha256") | picked(self.data, "n d") | picked(source, "bias"),
            "penalty": picked(conversion, "convention value")
            | {"lambda": conversion.lam, "text": conversion.text}
            | {"biases": conversion.bias_text(self.trained), "free": conversion.free},
            "objective": found.J,
            "balanced_objective": found.P,
            "global": self._against(self.facts.value),
            "own_patterns": None if own is None else self._against(own.value),
            "stationarity": None
            if found.logistic
            else {
                "distance_squared": found.stationarity.distance_squared,
                "near_distance_squared": found.near_stationarity.distance_squared,
                "kinks": [neuron.kinks for neuron in found.stationarity.neurons],
            },
            "scale": [{"first_squared": s.first, "second_squared": s.second, "excess": s.excess} for s in found.scales],
            "merges": {"collinear": found.collinear.merges, "on_data": found.on_data.merges},
            "outputs": {"rank": found.rank, "neurons": len(found.neurons)},
            "pruned": {"neurons": len(found.pruned.neurons), "objective": found.pruned_P},
            "excluded": [i for i, excluded in enumerate(self.comparison.excluded) if excluded],
            "nearest": picked(nearest, "pairs distance_squared"),
            "alive": alive(found.network),
            "directions": self.comparison.directions,
            "nearest_optimal": None if closest is None else picked(closest, "pairs distance"),
            "claims": self.results,
            "certificate": self.certificate_path,
            "written": dict(self.written),
        } | several
        return dict(plain(content))

    def _several_json(self) -> dict[str, Any]:
        """What is told of several outputs, and not told of single neurons."""
        nothing = dict.fromkeys(("merges", "outputs", "pruned", "excluded", "nearest", "directions", "nearest_optimal"))
        return nothing | {
            "targets": self.data.outputs,
            "neurons": [{"w": one.w, "v": one.v, "norm": one.norm} for one in self.neurons],
            "output_bias": self.comparison.examination.network.offsets,
            "confusion": self.confusion,
        }

    @property
    def confusion(self) -> Confusion | None:
        """How many data points of each class (rows) the given network puts into each; None without classes."""
        return confusion(self.data, self.fit) if self.data.targets > 1 else None

    @property
    def fit(self) -> Vector:
        """The outputs of the given network on the data, row by row."""
        network, relu, C = self.comparison.examination.network, self.facts.problem.relu, self.data.targets
        return network.on(relu.Z, relu.bags)[: C * self.facts.problem.points]

    @property
    def neurons(self) -> tuple[ExactNeuron, ...]:
        """The neurons of a given network with several outputs, with upper bounds of |W1_i||w2_i|."""
        network = self.comparison.examination.network
        parts = [(weights_of(network.free, w), w, v) for w, v in zip(network.W1, network.V, strict=True)]
        return tuple(
            ExactNeuron(w=w, v=v, norm=sqrt_upper(norm_squared(seen) * norm_squared(v)))
            for seen, w, v in parts
            if any(w) and any(v)
        )

    def _outputs(self) -> Iterator[str]:
        """The given network with several outputs, neuron by neuron, and its classes."""
        if self.data.targets == 1:
            return
        lines = [line for one in neurons_in_lines(self.data, self.neurons) for line in one.split("\n")]
        yield "the given network: sum of weight * (direction . x)_+ * (outputs); directions and outputs have length 1"
        yield from shorten(lines, SHOWN_NEURONS) or ["  no neuron"]
        if any(offsets := self.comparison.examination.network.offsets):
            yield f"  output bias {entries(offsets, 6)}"
        yield from classes_in_lines(self.data, self.fit)

    def to_text(self) -> str:
        """The report for a terminal."""
        return report(
            self.headline,
            self._head(),
            self.results,
            *(fold(line, 4) for line in self._outputs()),
            *(f"{what:<12} {path}" for what, path in self.written),
            *self.certificate_lines,
        )

    @property
    def own_objective(self) -> str:
        """The objective as the library counts it, where it is a multiple of the one here."""
        conversion = self.conversion
        if conversion.times == 1 or conversion.bias_text(self.trained):
            return ""
        own = self.comparison.examination.J / conversion.times
        return f"as {conversion.convention} counts it, {decimal(own, 8)}"

    @property
    def stage(self) -> str:
        """Whose objective it is: the network's as trained, or as it is after folding."""
        return "folded" if self.trained.origin.folded else "as trained"

    @property
    def made(self) -> Iterator[tuple[str, str]]:
        """What was made of the model before it is the network of two layers that is judged here."""
        if before := len(self.trained.before):
            fixed = "its first layer is fixed" if before == 1 else f"its first {before} layers are fixed"
            yield "layers", f"{fixed}: what is made of the data there is the data here, and more is not said of that"
        if folded := self.trained.origin.folded:
            are = "is" if len(folded) == 1 else "are"
            parts = ", ".join(f"part {one}" if one.isdigit() else one for one in folded)
            of = f"{parts} {are} folded into a linear layer, as at evaluation"
            yield "batch norm", f"{of}: weights and penalty are those after that, and weight_decay was on those before"
        if self.trained.slope is None and self.trained.origin.format in NAMELESS:
            yield (
                "activation",
                "taken to be ReLU: a state dict does not name it (say the slope of a leaky one)",
            )
        if slope := self.trained.slope:
            yield "activation", f"max(t, s t) with the slope s = {slope_text(slope)}"

    def _against(self, value: Value) -> dict[str, Any]:
        away: Distance = distance(self.comparison.examination, value)
        return {
            "optimum": picked(value, "lower upper"),
            "distance": away.trained,
            "balanced_distance": away.balanced,
        }

    def _parts(self) -> Iterator[str]:
        """Loss and penalty apart, and where the network is far from the best, what would already be better."""
        found, value = self.comparison.examination, self.facts.value
        best, own = _losses(self.facts, found)
        several = self.data.targets > 1
        mine, theirs = ((decimal(x, 8), decimal(whole - x, 8)) for x, whole in ((own, found.J), (best, value.upper)))
        yield f"loss         {mine[0]} and penalty {mine[1]}; of the best network found {theirs[0]} and {theirs[1]}"
        if value.lower <= 0 or FAR * value.lower >= found.J:
            return
        if value.upper > 0 and SOMEWHAT * value.upper >= found.J:
            yield (
                "to do        more time for the bound (--seconds): no network found is much better, and the bound is "
                "far below"
            )
            return
        small = " (a small penalty leaves small losses, and these differ by large factors)" if own > found.J / 2 else ""
        yield f"to do        train on, take the network found (--optimal FILE), or ask for a larger penalty{small}"
        theta, problem = self.facts.dual.theta, self.facts.problem
        on = theta, problem.y
        least = {
            "penalty no loss": least_loss(*on, found.J - own, problem.loss),
            "loss no penalty": least_penalty(*on, own, problem.loss),
        }
        if told := [f"with no more {what} is below {at_least(x)}" for what, x in least.items() if x]:
            yield f"proved       {', '.join(told)}"
        same = found.P if several else found.pruned_P
        ways = [(f"the same neurons, balanced{'' if several else ' and pruned'}", same.upper)]
        if self.comparison.own is not None:
            ways.append(("its own patterns, trained to the end", self.comparison.own.value.upper))
        saved = [f"{name}: {float(100 * (1 - x / found.J)):.3g} % less" for name, x in ways if x < found.J]
        if saved:
            yield f"would save   {'; '.join(saved)}"

    def _head(self) -> Iterator[str]:
        found, facts = self.comparison.examination, self.facts
        name = Path(self.trained.origin.path).name or self.trained.origin.format
        of = in_words_of(self.source, count(self.trained.m, "neuron"))
        yield f"{name}: {of}, {count(self.trained.d, 'input')}"
        bias = ", the last one the bias" if self.source.bias else ""
        points = f"n = {count(self.data.n, 'point')}, d = {self.data.d}{bias}"
        yield f"data         {self.name}: {described(self.data) or points}"
        yield from (f"{what:<12} {said}" for what, said in self.made)
        if self.data.targets > 1:
            kind = "targets" if self.source.labels is None else "classes"
            yield f"outputs      {self.data.targets} {kind}: {', '.join(self.data.outputs)}"
        yield f"penalty      {self.conversion.text}"
        if text := self.conversion.bias_text(self.trained):
            yield f"biases       {text}"
        if self.conversion.decayed:
            yield "decayed      the output bias costs lambda/2 b2^2, as weight_decay does"
        if self.conversion.free:
            yield f"free         {free_text(self.conversion.free)}: without penalty, as the network was trained"
        how = self.stage
        counted = f"; {self.own_objective} {how}" if self.own_objective else ""
        yield f"objective    {short(found.J, 40)} {how}, {_shown(found.P)} balanced{counted}"
        yield from self._parts()
        over = "networks of any width" if facts.problem.unlisted else "all patterns"
        best = replace(facts.value, upper=min(facts.value.upper, found.P.upper))  # the network may be the best known
        yield f"optimum      {_value(best)} over {over}, {proved_to(best)}"
        if facts.unsettled == INTERRUPTED:
            yield "interrupted  this is the best bound proved so far"
        if (own := self.comparison.own) is not None:
            yield f"             {_value(own.value)} over the network's own, {proved_to(own.value)}"
        elif self.own_left_out:
            yield f"             not over its own patterns: {self.own_left_out}"
        if self.data.targets > 1:
            yield "             what may be merged, pruned or compared neuron by neuron is told for one output only"
        if self.comparison.closest is not None or self.data.targets > 1:
            return  # the claim network-nearest says it
        nearest, merged = self.comparison.nearest, len(found.cells.neurons)
        apart = at_most(sqrt_upper(nearest.distance_squared))
        pairs = (
            f"{len(nearest.pairs)} of its {count(merged, 'merged neuron')} pair with those of the best network found"
        )
        yield f"nearest      {in_words_of(self.source, pairs)}, at most {apart} apart"


def _losses(facts: Facts, found: Examination) -> tuple[Fraction, Fraction]:
    """The loss of the best network found, and of the given one."""
    problem = facts.problem
    size = problem.targets * problem.points  # rows of zeros for a decayed bias are penalty
    given = bias_free(found.network).on(problem.relu.Z, problem.relu.bags)
    best, own = (enclosed_loss(problem.loss, problem.y[:size], f[:size]).upper for f in (facts.primal.fit, given))
    return best, own


def _shown(interval: Interval) -> str:
    if interval.lower == interval.upper:
        return short(interval.upper, 40)
    return f"~{enclosed_number(interval.lower, interval.upper, 12)}"


def _value(value: Value) -> str:
    return one_number(value.lower, value.upper, 12)
