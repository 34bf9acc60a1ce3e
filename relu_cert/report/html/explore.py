"""The page of `explore`: what is proved about the set of optimal networks, and how its members differ elsewhere."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.data.dataset import Dataset
from relu_cert.exact import rational, sqrt_upper
from relu_cert.figures import count, decimal, enclosed_number, short
from relu_cert.prove.polytope.walk import weight_system
from relu_cert.report.explore import ROUNDING, Exploration, Row
from relu_cert.report.html.check import verdict_section
from relu_cert.report.html.functions import curves_figure, function_figure, plane_figure
from relu_cert.report.html.optimal_set import MARKS, shadow, shadow_figure, shape, starred, stars
from relu_cert.report.html.page import (
    Floats,
    Head,
    Section,
    View,
    beside,
    e,
    figures,
    floats,
    page,
    recaptioned,
    reproduced,
    table,
    view_of,
)
from relu_cert.report.html.set_figures import set_figures
from relu_cert.report.html.svg import Frame, pad_range

MOST_VERTICES = 2000
SAME = "All four networks say the same of every validation and test point, up to rounding."
WHAT = {
    "Min L2": "of least |w|²",
    "EP": "an extreme one",
    "V-MSE": "best on the validation data",
    "T-MSE": "best on the test data",
}


def explore_page(found: Exploration) -> str:
    """The report of one run of explore, as one HTML page."""
    sections = [
        verdict_section(found.results),
        Section("networks", "Four optimal networks" if found.known else "The network found", _networks(found)),
        Section("set", "The set of all of them", _pictures(found)),
        Section("functions", "What they say", _functions(found)),
        _verify(found),
    ]
    title = f"{Path(found.data.source.path).name}: optimal networks"
    return page(title, _head(found), sections)


def _verify(found: Exploration) -> Section:
    """The set has a certificate; the errors on other data are floats, and have none."""
    model = "--model gated " * (found.facts.problem.kind == "gated")
    what = "the set of all optimal networks" if found.known else "what is proved of the optimal networks"
    how = f"A certificate of {what}, and an independent program that re-derives it:"
    return reproduced(how, found.data, f"{model}--lambda {rational(found.facts.lam)}")


def _head(found: Exploration) -> Head:
    facts, listed = found.facts, found.facts.polytope
    same = "All optimal networks fit the training points equally; on other data they may differ. " * found.known
    text = (
        f"{same}{count(found.data.n, 'point')} to train, "
        f"{found.validation.n:,} points to validate, {found.test.n:,} to test."
    )
    shown = [
        ("optimal value p*", enclosed_number(facts.value.lower, facts.value.upper, 10), "the same for all"),
        ("λ", short(facts.lam, 14), f"λmax ≈ {decimal(sqrt_upper(facts.lambda_max.squared), 6)}"),
        ("dimension", "–" if listed is None else str(listed.dimension), "of the optimal set"),
        ("minimal networks", "–" if listed is None else f"{len(listed.vertices):,}", "the vertices"),
        ("Max Diff", "0" if found.same else f"{found.difference:.4g}", f"in {found.measure}"),
    ]
    return Head(found.headline, text, shown)


def _networks(found: Exploration) -> tuple[Element, ...]:
    labelled = found.rows[0].accuracy is not None
    header = ["", "network", "width", "|w|²", "validation MSE", "test MSE", *(["test accuracy"] if labelled else [])]
    rows = []
    for i, row in enumerate(found.rows):
        what = [e("strong", row.name), e("span", WHAT.get(row.name, ""), cls="statement")]
        cells: list[Element | str] = [
            e("span", MARKS[i], cls=f"m{i}"),
            e("span", *what),
            str(row.width),
            f"{row.squared_norm:.6g}",
            f"{row.validation:.6g}",
            f"{row.test:.6g}",
        ]
        rows.append([*cells, *([f"{row.accuracy:.1%}"] if row.accuracy is not None else [])])
    note = f"{found.set_text[0].upper()}{found.set_text[1:]}. EP is {found.extreme_text}. "
    note += "The set is proved; the four points in it and their errors are floats."
    if not found.known:
        note = f"The optimal set is {found.set_text}. The errors are floats."
    return table(header, rows, "compact"), e("p", note, cls="note")


def _pictures(found: Exploration) -> tuple[Element | None, ...]:
    seen = shape(found.facts)
    flat, graph, listed = shadow(seen), None, found.facts.polytope
    if flat is not None and listed is not None:
        used = set(listed.used)
        columns = [j for j, name in enumerate(weight_system(found.facts).names) if name in used]
        lam = float(found.facts.lam)
        graph = shadow_figure(flat, {row.name: lam * np.array(row.weights)[columns] for row in found.rows})
    pair = () if seen is None else set_figures(seen)
    return beside(*pair), figures(graph, None if same_function(found) else _errors(found))


def same_function(found: Exploration) -> bool:
    """Whether the four networks say the same of all validation and test points, up to rounding."""
    weights = np.array([row.weights for row in found.rows])
    for data in (found.validation, found.test):
        said = found.networks.outputs(data.Z, data.bags) @ weights.T
        if np.ptp(said, axis=1).max(initial=0.0) > ROUNDING * (1.0 + np.abs(said).max(initial=0.0)):
            return False
    return True


def _errors(found: Exploration) -> Element | None:
    """Validation error against test error, for all vertices and the four networks."""
    vertices = found.networks.vertices
    if vertices is None or len(vertices) > MOST_VERTICES or len(vertices) < 2:
        return None
    points = np.array([_mse(found, found.validation, vertices), _mse(found, found.test, vertices)]).T
    rows = np.array([[row.validation, row.test] for row in found.rows])
    every = np.vstack([points, rows])
    x, y = pad_range(every[:, 0].tolist()), pad_range(every[:, 1].tolist())
    frame = Frame(max(0.0, x[0]), x[1], max(0.0, y[0]), y[1], height=330.0)
    names = [row.name for row in found.rows]
    return frame.picture(
        "Errors of the optimal networks on other data",
        f"The errors of {len(vertices):,} minimal networks (dots) on other data, and of {starred(names)}.",
        frame.axes("validation MSE", "test MSE"),
        [frame.dot((float(a), float(b)), 3.2, "vertex") for a, b in points],
        stars(frame, names, rows),
    )


def _mse(found: Exploration, data: Dataset, vertices: Floats) -> Floats:
    outputs = found.networks.outputs(data.Z, data.bags)
    errors: Floats = ((outputs @ vertices.T - floats([data.y])[0][:, None]) ** 2).mean(axis=0)
    return errors


def _functions(found: Exploration) -> tuple[Element | None, ...]:
    """The functions where they can be drawn: one plot for one feature, planes side by side for two."""
    if not found.known:
        return ()
    try:
        views = {row.name: _view(found, row) for row in found.rows}
    except OverflowError:
        return ()
    first = next(iter(views.values()))
    if same_function(found):
        picture = function_figure(first)
        return (e("p", SAME) if picture is None else figures(recaptioned(picture, SAME)),)
    if first.space == "line":
        return (figures(curves_figure(views)),)
    planes = []
    for i, (name, seen) in enumerate(views.items()):
        picture = plane_figure(seen)
        if picture is not None:
            planes.append(recaptioned(picture, f"{MARKS[i]} {name}: {WHAT.get(name, '')}. Points: the training data."))
    return (beside(*planes),)


def _view(found: Exploration, row: Row) -> View:
    networks, alpha = found.networks, np.array(row.weights)
    here = alpha > 1e-9 * alpha.max(initial=0.0)
    slopes = (networks.v * (alpha * networks.signs)[:, None])[here]
    gates = networks.v if networks.gates is None else floats(networks.gates)
    fit = np.asarray(networks.outputs(found.data.Z, found.data.bags) @ alpha)
    return view_of(found.data, fit, gates[here], slopes, gated=networks.gates is not None)
