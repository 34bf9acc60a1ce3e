"""Independence of the neuron outputs: their singular values, the proved bound, and what the uncertainty could do."""

from __future__ import annotations

from math import ceil, floor, log10
from xml.etree.ElementTree import Element

import numpy as np
from flint import fmpq_mat

from relu_cert.exact import sqrt_upper
from relu_cert.prove.classes import class_map, column, projector
from relu_cert.prove.facts import Facts
from relu_cert.prove.optimal_set import largest_squared
from relu_cert.rationals import to_fraction
from relu_cert.report.html.frame import WIDTH, drawing, path
from relu_cert.report.html.markup import e
from relu_cert.report.html.page import figure
from relu_cert.report.html.view import drawable

MOST_GROUPS = 200


def independence_figure(facts: Facts) -> Element | None:
    """The gap between the smallest singular value and what the ball around the residual can change, on a log scale."""
    found = facts.optimal_set
    if found is None or len(found.groups) > MOST_GROUPS:
        return None
    try:
        values = _singular_values(facts)
        sigma = drawable(found.sigma)
        radius = sqrt_upper(facts.fit.radius_squared * len(found.groups), 64)
        epsilon = drawable(largest_squared(facts.problem) * radius)
    except OverflowError:
        return None
    if not len(values) or sigma <= 0:
        return None
    low = log10(max(min(epsilon or sigma, sigma, float(values[-1])), 1e-90))
    first, last = floor(low) - (epsilon == 0), ceil(log10(float(values[0])) + 1e-9)
    last = max(last, first + 1)
    left, right, line = 30.0, 24.0, 52.0

    def x(value: float) -> float:
        return left + (log10(value) - first) / (last - first) * (WIDTH - left - right)

    step = max(1, -(-(last - first) // 6))
    marks = [
        e("g", e("path", d=path([(x(10.0**k), line - 26), (x(10.0**k), line + 10)]), cls="grid"),
          e("text", f"1e{k}" if k else "1", x=x(10.0**k), y=line + 26, cls="tick mid"))
        for k in range(first, last + 1, step)
    ]  # fmt: skip
    danger = (
        [
            e("rect", x=left, y=line - 26, width=max(2.0, x(epsilon) - left), height=36.0, cls="danger"),
            e("text", "ε", x=x(epsilon), y=line - 32, cls="label mid"),
        ]
        if epsilon > 0
        else []
    )
    svg = drawing(
        WIDTH,
        line + 36,
        "Singular values of the neuron outputs",
        e("g", marks),
        e("g", danger),
        e("path", d=path([(x(sigma), line - 26), (x(sigma), line + 10)]), cls="limit"),
        e("text", "σ", x=x(sigma), y=line - 32, cls="label mid"),
        e("g", [e("circle", cx=x(float(v)), cy=line - 8, r=4.5, cls="target") for v in values if v > 0]),
    )
    caption = "Independence of the neuron outputs: their singular values (dots) and the proved lower bound σ on all. "
    caption += (
        "The shaded part, up to ε, is what the uncertainty of the residual could hide."
        if epsilon > 0
        else "The residual is known exactly."
    )
    return figure(svg, caption)


def _singular_values(facts: Facts) -> list[float]:
    found = facts.optimal_set
    if found is None:
        return []
    theta = column(facts.dual.theta)
    maps = [class_map(facts.problem, found.classes[group[0]]) for group in found.groups]
    outputs = [one.output(theta).entries() for one in maps]
    A = projector(found.lift, facts.problem.n) * fmpq_mat([list(row) for row in zip(*outputs, strict=True)])
    values = np.linalg.svd(np.array([[drawable(to_fraction(x)) for x in row] for row in A.tolist()]), compute_uv=False)
    return [float(v) for v in values]
