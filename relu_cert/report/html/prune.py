"""The page of `prune`: the pruning curve, and what the network becomes on the way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.bags import EACH
from relu_cert.checker import recheck_command
from relu_cert.exact import rational
from relu_cert.figures import count, short
from relu_cert.network.prune import PruningStep
from relu_cert.report.html.functions import function_figure
from relu_cert.report.html.page import (
    Head,
    Section,
    View,
    beside,
    data_arguments,
    e,
    figures,
    floats,
    of_source,
    page,
    recaptioned,
    reproduced,
    table,
    verify_section,
    view_of,
)
from relu_cert.report.html.svg import Frame, pad_range, tick_labels, ticks
from relu_cert.report.prune import Pruning

MOST_LISTED = 200
PICTURES = 6
WORDS = {
    "residual": "the least loss of fit",
    "magnitude": "the smallest |w|",
    "gradient": "the smallest gradient score",
    "random": "a draw",
}


def prune_page(found: Pruning) -> str:
    """The report of one run of prune, as one HTML page."""
    sections = [
        Section("free", "What costs nothing", _free(found)),
        Section("curve", "The pruning curve", (figures(curve(found, "objective"), curve(found, "loss")),)),
        Section("networks", "The networks on the way", _networks(found)),
        Section("widths", "Width by width", _table(found.steps)),
        _verify(found),
    ]
    title = f"{Path(found.data.source.path).name}: pruning"
    return page(title, _head(found), sections)


def _verify(found: Pruning) -> Section:
    """The free part of the pruning of a given network is a claim of `network`; the optimal one has its certificate."""
    lam = f"--lambda {rational(found.lam)}"
    if found.network is None:
        what = "the optimal network that the pruning begins with"
        if not found.optimal:
            what = "how far such a network is from the best one (another time is another network)"
        return reproduced(f"A certificate of {what}, re-derived by an independent program:", found.data, lam)
    name = quote(found.network)
    lines = [
        f"python -m relu_cert network {name} {data_arguments(found.data)} {lam} --certificate network.cert.json",
        recheck_command("network.cert.json", found.data.source.path, found.network),
    ]
    how = "A certificate of the network and of what it can be pruned to for free, re-derived by an independent program:"
    return verify_section(how, lines, [of_source(found.data.source)])


def _head(found: Pruning) -> Head:
    origin = found.network or found.whose.removesuffix(",")
    text = f"From {origin}, {found.started}: pruned exactly while that costs nothing, then one neuron at a time."
    first = found.steps[0]
    begins = "the optimal network found" if found.optimal else "the network found"
    shown = [
        ("neurons at the start", str(len(found.start) - found.constant), Path(found.network or begins).name),
        ("after free pruning", str(len(found.free)), "the same fit, exactly"),
        ("objective there", f"{first.objective:.8g}", "rounded"),
        ("λ", short(found.lam, 14), ""),
        ("then by", str(found.strategy), WORDS[found.strategy]),
    ]
    return Head(found.headline, text, shown)


def _free(found: Pruning) -> tuple[Element, ...]:
    """What was computed in rationals; where it is a claim of a certificate, the last section says how to get that."""
    before, after = len(found.start), len(found.free)
    gone = f"{count(before - after, 'neuron')} gone" if before > after else "None is gone"
    same = f"{gone}; {count(after, 'neuron')} left, with the same fit on the data and no higher objective."
    rest = f"No output of these is a combination of the others: rank {after}. Computed in rationals."
    return e("p", same), e("p", rest)


def curve(found: Pruning, what: str) -> Element | None:
    """Objective or loss against width, from the whole network down to none; other strategies fainter."""
    if len(found.steps) < 2:
        return None
    ways = {found.strategy: found.steps, **found.others}
    values = [getattr(step, what) for steps in ways.values() for step in steps]
    if not np.isfinite(values).all():
        return None
    low, high = pad_range([0.0, *values])
    widest = len(found.start)
    frame = Frame(-0.3 - 0.02 * widest, widest + 0.3, max(low, 0.0), high, height=290.0)
    across = [(v, str(round(v))) for v, _ in tick_labels(ticks(0.0, float(widest), 8)) if v == round(v)]
    classes = [f"way w{i}" if i else "way chosen" for i in range(len(ways))]
    lines = [
        frame.line([(float(step.width), float(getattr(step, what))) for step in steps], cls, strategy)
        for (strategy, steps), cls in zip(ways.items(), classes, strict=True)
    ]
    first = found.steps[0]
    flat = getattr(first, what)
    free = [frame.line([(float(widest), flat), (float(first.width), flat)], "way free")]
    shown = [(step.width, getattr(step, what)) for step in found.steps[:MOST_LISTED]]
    dots = [frame.dot((width, value), 3.6, "vertex", f"width {width}: {value:.6g}") for width, value in shown]
    name = "The objective" if what == "objective" else "The loss ½|f − y|²"
    caption = f"{name} as neurons go, the next one chosen by {WORDS[found.strategy]} ({found.strategy}, dots)"
    caption += "; the other rules for comparison." if found.others else "."
    caption += " The first network is exact; the others, and all lines, are floats, and not proved."
    if widest > first.width:
        caption += f" From {widest} to {first.width} neurons pruning is free and exact (green)."
    return frame.picture(
        f"The {what} against the width",
        caption,
        frame.axes("neurons left", "objective" if what == "objective" else "½|f − y|²", xticks=across),
        reversed(lines),
        free if widest > first.width else [],
        dots,
        frame.legend(_emptier(frame, values), ways, classes) if found.others else [],
    )


def _emptier(frame: Frame, values: Sequence[float]) -> float:
    """Where the legend stands: at the right, unless the curves begin high there, the widest network first."""
    return frame.left + 10 if values[0] > max(values) / 2 else frame.wall - 96


def _networks(found: Pruning) -> tuple[Element | None, ...]:
    """The function at a few widths, for one or two features; none where data points are bags of rows."""
    if found.data.bags is not EACH:
        return ()
    chosen = _spaced([step for step in found.steps if step.width])
    planes = []
    for step in chosen:
        try:
            seen = _view(found, step)
        except OverflowError:
            return ()
        picture = function_figure(seen)
        if picture is not None:
            draft = "" if step is found.steps[0] else " (floats, not proved)"
            told = f"{count(step.width, 'neuron')}: ½|f − y|² = {step.loss:.5g}{draft}."
            planes.append(recaptioned(picture, told))
    return (beside(*planes),)


def _spaced(steps: Sequence[PruningStep]) -> list[PruningStep]:
    """The first, the last and a few between."""
    if len(steps) <= PICTURES:
        return list(steps)
    return [steps[round(i * (len(steps) - 1) / (PICTURES - 1))] for i in range(PICTURES)]


def _view(found: Pruning, step: PruningStep) -> View:
    fit = np.maximum(floats(found.data.Z) @ step.w.T, 0.0) @ step.signs
    return view_of(found.data, fit, step.w, step.w * step.signs[:, None])


def _table(steps: Sequence[PruningStep]) -> tuple[Element, ...]:
    rows = [(str(step.width), f"{step.objective:.10g}", f"{step.loss:.10g}") for step in steps[:MOST_LISTED]]
    note = (
        "Rounded. The first network is exact; from the second line on they are floats, and nothing is proved of them."
    )
    return table(("neurons", "objective", "½|f − y|²"), rows, "compact"), e("p", note, cls="note")
