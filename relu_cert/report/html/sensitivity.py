"""How the optimal network answers to its data: the matrix dfit/dy, its trace, and SURE."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from relu_cert.prove.facts import Facts
from relu_cert.report.html.frame import WIDTH, drawing
from relu_cert.report.html.markup import e
from relu_cert.report.html.page import Section, cards, figure, figures
from relu_cert.report.html.view import Floats, floats
from relu_cert.report.text import at_most, decimal

MOST_ROWS = 60


def sensitivity_section(facts: Facts) -> Section | None:
    """The derivatives, where they were asked for and are proved."""
    found = facts.derivatives
    if found is None:
        return None
    n, freedom = facts.problem.n, found.freedom
    within = f"each within {at_most(found.radius)}" if found.radius else "exact"
    shown = [("degrees of freedom", "–" if freedom is None else decimal(freedom, 8), f"of {n}: the trace of dfit/dy")]
    if found.sure is not None:
        noise, value, _ = found.sure
        shown.append(("SURE", decimal(value, 8), f"for noise {decimal(noise, 6)}"))
    entries = len(found.r_lam) + len(found.alpha_lam) + n * (len(found.r_y) + len(found.alpha_y))
    shown.append(("derivatives", f"{entries:,}", within))
    text = (
        "The optimal network is differentiable in λ and y here; its derivatives are enclosed, and in the certificate."
    )
    try:
        hat = np.eye(n) - floats(found.r_y) if found.r_y else None
        slopes = floats([found.alpha_lam])[0]
    except OverflowError:
        return Section("sensitivity", "Derivatives", (e("p", text), cards(shown)))
    drawn = figures(None if hat is None else hat_figure(hat), fall_figure(slopes))
    return Section("sensitivity", "Derivatives", (e("p", text), cards(shown), *([] if drawn is None else [drawn])))


def hat_figure(hat: Floats) -> Element | None:
    """dfit/dy as tiles: row i, column j is how the fit at point i moves with the target of point j."""
    n = len(hat)
    largest = float(np.abs(hat).max(initial=0.0))
    if n > MOST_ROWS or largest == 0.0:
        return None
    side = min(340.0, 40.0 * n)
    left, top, cell = (WIDTH - side) / 2, 22.0, side / n
    tiles = []
    for i in range(n):
        for j in range(n):
            value = float(hat[i, j])
            strength = abs(value) / largest
            if strength < 0.004:
                continue
            place = {"x": left + j * cell, "y": top + i * cell, "width": cell * 0.96, "height": cell * 0.96}
            kind, opacity = "warm" if value > 0 else "cold", str(round(0.05 + 0.9 * strength, 3))
            title = e("title", f"fit {i + 1} by target {j + 1}: {value:.5g}")
            tiles.append(e("rect", title, cls=f"{kind} tile", fill_opacity=opacity, **place))
    svg = drawing(
        WIDTH,
        top + side + 26,
        "The derivative of the fit by the targets",
        e("rect", x=left, y=top, width=side, height=side, cls="rim"),
        e("g", tiles),
        e("text", "target", x=WIDTH / 2, y=15.0, cls="label mid"),
        e("text", "fit", x=left - 8, y=top + side / 2, cls="label end"),
        e("text", f"strongest: {largest:.3g}", x=WIDTH / 2, y=top + side + 18, cls="tick mid"),
    )
    caption = "dfit/dy: how the fit at each point answers to the target of each; warm with it, cold against it."
    return figure(svg, caption)


def fall_figure(slopes: Floats) -> Element | None:
    """The derivatives of the weights alpha by lambda, as bars to both sides of zero."""
    largest = float(np.abs(slopes).max(initial=0.0))
    if len(slopes) > MOST_ROWS or largest == 0.0:
        return None
    row, top, zero, room = 20.0, 8.0, WIDTH / 2, WIDTH / 2 - 84
    bars = []
    for a, slope in enumerate(float(x) for x in slopes):
        y, length = top + a * row, max(1.0, room * abs(slope) / largest)
        kind, x = ("plus", zero) if slope > 0 else ("minus", zero - length)
        bars.append(e("rect", x=x, y=y + 3, width=length, height=row - 7, rx=2.0, cls=f"bar {kind}"))
        end, cls = (zero + length + 5, "tick") if slope > 0 else (zero - length - 5, "tick end")
        bars.append(e("text", f"{slope:.4g}", x=end, y=y + 14, cls=cls))
    bottom = top + row * len(slopes)
    axis = e("path", d=f"M{zero:.1f} {top:.1f}V{bottom:.1f}", cls="axis")
    svg = drawing(WIDTH, bottom + 8, "The derivatives of the weights by lambda", axis, e("g", bars))
    return figure(svg, "dα/dλ: how the weight α of each tied neuron answers to λ (w = α v, |v| = λ).")
