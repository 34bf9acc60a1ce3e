"""Pages of convolutional networks: filters as squares or curves, and what they say of two images or signals."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

import relu_cert
from relu_cert.data.read import read_csv_bytes
from relu_cert.data.windows import read_windows
from relu_cert.prove.facts import ExactNeuron
from relu_cert.report.html.neurons import responses

SIGNALS = [[0, 3, 1, -1, 0], [1, 0, 3, 2, -1], [-3, 1, 0, 0, 1], [0, -3, -2, 1, 0]], [1, 1, 0, 0]
IMAGES = [[[1, 2, 0], [0, 1, 1], [2, 0, 1]], [[0, 0, 2], [2, 1, 0], [1, 0, 0]], [[1, 1, 1], [0, 0, 0], [1, 2, 1]]]


def page(*given: object, **more: object) -> str:
    """The page of a small network."""
    return relu_cert.certify(*given, lam="1/10", **more).html()  # type: ignore[arg-type]


def test_filters_of_signals_are_curves() -> None:
    """One curve for each filter, and for two signals of different targets one each and one for each filter."""
    found = page(*SIGNALS, conv="1d:3")
    filters = len(relu_cert.certify(*SIGNALS, lam="1/10", conv="1d:3").facts.primal.neurons)
    assert found.count('class="curve"') == filters + 2 * (1 + min(filters, 6))
    assert "Two signals of the data" in found
    assert "the stronger the darker" not in found


def test_images_are_grey_squares() -> None:
    """Two images, and a picture for each filter; the target of each image stands above it."""
    found = page(np.array(IMAGES)[:, None], [5, 7, 5], conv="2d:3x3:2x2")
    assert "Two images of the data" in found
    assert "1: 5" in found
    assert "2: 7" in found
    assert 'class="grey tile"' in found


def test_pages_speak_of_filters() -> None:
    """Neurons that slide are filters in every sentence of a page, and the loss is a sum over data points."""
    found = re.sub(r"<[^>]*>", " ", page(*SIGNALS, conv="1d:3").split("</style>")[1])
    assert "neuron" not in found
    assert "over the data points" in found


@pytest.mark.parametrize(("rule", "places"), [("2d:3x4:2x2", (2, 3)), ("2d:3x4:1x2:stride=2:channels=1", (2, 2))])
@pytest.mark.parametrize("slope", [None, Fraction(-1, 2)])
def test_what_filters_say_is_the_activation_at_every_window(
    rule: str, places: tuple[int, int], slope: Fraction | None
) -> None:
    """max(t, s t) of w.window + bias, place by place."""
    raw = b"\n".join(b",".join(b"%d" % ((k * j * j + j) % 5 - 2) for j in range(12)) + b",%d" % k for k in range(3))
    data = read_csv_bytes(raw, "x.csv", conv=rule, bias=True, slope=slope)
    windows = read_windows(rule)
    w = (*(Fraction(k - 1, 2) for k in range(windows.entries)), Fraction(1, 4))
    image = np.array([float(x) for x in data.samples[1][1]])
    (said,) = responses([ExactNeuron(sign=1, pattern=None, w=w, norm=Fraction(1))], windows, data, image)
    assert said.shape == places
    grid, (K, L) = image.reshape(3, 4), windows.kernel
    for a, b in np.ndindex(*places):
        seen = grid[a * windows.stride : a * windows.stride + K, b * windows.stride : b * windows.stride + L].ravel()
        t = float(seen @ [float(x) for x in w[:-1]]) + 0.25
        assert said[a, b] == pytest.approx(max(t, float(slope or 0) * t))
