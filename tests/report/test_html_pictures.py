"""The pictures show what they say: areas, curves, vertices and scales, checked against the definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relu_cert.driver.optimum import LambdaChoice
from relu_cert.report.html.check import check_page
from relu_cert.report.html.functions import _affine, _box, _pieces
from relu_cert.report.html.neurons import _borders, _height, heaviest_first
from relu_cert.report.html.optimal_set import Shape, shape
from relu_cert.report.html.page import View, view
from relu_cert.report.html.svg import WIDTH, Frame, band, cells, chord, pad_range, tick_labels, ticks
from relu_cert.report.optimal_set import optimal_set_view
from tests.report.pages import Page, example_outcome, text_outcome

fast = settings(derandomize=True, deadline=None, max_examples=60)
small = st.integers(-6, 6).map(float)


def area(corners: np.ndarray) -> float:
    """The area of a polygon."""
    x, y = corners.T
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2


def value(seen: View, x: np.ndarray) -> float:
    """f(x) by its definition."""
    return float(sum(s @ x for g, s in zip(seen.gates, seen.slopes, strict=True) if g @ x > 0))


@fast
@given(st.lists(st.tuples(small, small, small), max_size=6))
def test_cells_cover_the_square_once(lines):
    """The cells of an arrangement have total area 1, and no line crosses one."""
    normals = np.array([line[:2] for line in lines]).reshape(-1, 2)
    constants = np.array([line[2] for line in lines]) / 7
    found = cells(normals, constants)
    assert sum(area(cell) for cell in found) == pytest.approx(1)
    for cell in found:
        for normal, constant in zip(normals, constants, strict=True):
            heights = cell @ normal + constant
            assert (heights >= -1e-9).all() or (heights <= 1e-9).all()


@fast
@given(small, small, small)
def test_bands_cover_the_square_once(a, b, c):
    """The level bands of a function that is not constant have total area 1, and its values lie between the levels."""
    normal = np.array([a, b])
    if not normal.any():
        return
    levels = [-30.0, -3.0, -1.0, 0.0, 2.0, 30.0]
    parts = [
        (low, high, part)
        for low, high in pairwise(levels)
        if (part := band(np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]]), normal, c, low, high)) is not None
    ]
    assert sum(area(part) for _, _, part in parts) == pytest.approx(1)
    for low, high, part in parts:
        assert (part @ normal + c >= low - 1e-9).all() and (part @ normal + c <= high + 1e-9).all()


@fast
@given(small, small, small)
def test_chords_end_on_the_border_and_on_the_line(a, b, c):
    """The drawn part of a line has both ends on the line and on the border of the square."""
    ends = chord(np.array([a, b]), c)
    if ends is None:
        return
    for end in ends:
        assert a * end[0] + b * end[1] + c == pytest.approx(0, abs=1e-9)
        assert any(x == pytest.approx(side, abs=1e-9) for x in end for side in (0, 1))


@pytest.mark.parametrize("name", ["xor", "moons", "checkerboard", "twins"])
def test_the_plane_is_tinted_by_the_function(name):
    """On every cell the drawn affine function is the network's function."""
    outcome = example_outcome(name)
    seen = view(outcome.facts, outcome.data)
    box = _box(seen)
    for cell in cells(box.gates, box.gate_constants):
        slope, constant = _affine(box, cell)
        for weights in np.random.default_rng(0).dirichlet(np.ones(len(cell)), size=4):
            s, t = weights @ cell
            x = np.array(
                [box.frame.x0 + s * (box.frame.x1 - box.frame.x0), box.frame.y0 + t * (box.frame.y1 - box.frame.y0)]
            )
            full = np.append(x, 1.0) if seen.bias else x
            assert slope @ (s, t) + constant == pytest.approx(value(seen, full), abs=1e-9)


def test_the_curve_is_the_function():
    """The corners of the drawn curve lie on the graph, and the fit of the data lies on it too."""
    outcome = example_outcome("line")
    seen = view(outcome.facts, outcome.data)
    (points,) = _pieces(seen, -3.0, 3.0)
    for x, height in points:
        assert height == pytest.approx(value(seen, np.array([x, 1.0])), abs=1e-9)
    xs, heights = zip(*points, strict=True)
    np.testing.assert_allclose(np.interp(seen.Z[:, 0], xs, heights), seen.fit, atol=1e-9)


@pytest.mark.parametrize("name", ["line", "twins"])
def test_the_dual_curve_stays_between_the_limits_and_touches_at_neurons(name):
    """|theta.(Zu)_+| <= lambda at all angles, with equality at the neurons, on the side of their sign."""
    outcome = example_outcome(name)
    seen = view(outcome.facts, outcome.data)
    assert max(abs(_height(seen, a)) for a in np.linspace(-np.pi, np.pi, 2000)) <= seen.lam * (1 + 1e-6)
    for gate, slope in zip(seen.gates, seen.slopes, strict=True):
        touched = _height(seen, float(np.arctan2(gate[1], gate[0])))
        assert touched == pytest.approx(np.sign(gate @ slope) * seen.lam, rel=1e-6)
    borders = _borders(seen)
    assert len(borders) == outcome.facts.problem.listed.open_cells
    for a in borders:
        assert np.abs(seen.Z @ (np.cos(a), np.sin(a))).min() <= 1e-9


def test_the_optimal_set_of_twins_is_a_segment():
    """Two neurons trade all of the weight 5 with the two others: ends (5, 0) and (0, 5) for each pair."""
    seen = shape(example_outcome("twins").facts)
    assert seen.dimension == 1
    one, other = seen.around().round(6)
    assert sorted(one) == [0.0, 0.0, 5.0, 5.0]
    np.testing.assert_allclose(one + other, 5)
    np.testing.assert_allclose(seen.low, 0, atol=1e-9)
    np.testing.assert_allclose(seen.high, 5)


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("-5,-1,-5\n3,-5,5\n-2,-5,3\n-2,1,5\n1,-1,-5\n-3,-2,4\n", 1),
        ("-3,1,0\n-2,-2,2\n0,-5,1\n3,0,1\n3,2,-3\n1,3,3\n", 2),
    ],
)
def test_every_drawn_vertex_is_an_optimal_network(text, dimension):
    """The drawn polytope has the proved dimension, and each vertex is a network with the optimal fit and penalty."""
    outcome = text_outcome(text, choice=LambdaChoice(ratio=Fraction(1, 20)))
    facts = outcome.facts
    drawn, seen = shape(facts), view(facts, outcome.data)
    assert drawn.dimension == facts.optimal_set.dimension == dimension
    corners = drawn.around()
    assert len(corners) > dimension
    for sizes in corners:
        fit = np.zeros(len(seen.y))
        for size, sign, v in zip(sizes, drawn.signs, np.array(drawn.directions), strict=True):
            fit += (1 if sign == "plus" else -1) * np.maximum(seen.Z @ v, 0) * size / np.linalg.norm(v)
        np.testing.assert_allclose(fit, seen.fit, atol=1e-6)
        value = ((fit - seen.y) ** 2).sum() / 2 + seen.lam * sizes.sum()
        assert value == pytest.approx(float(facts.value.upper), rel=1e-6)
    prose = Page(check_page(outcome)).prose
    assert (
        f"A polytope of dimension {dimension}" in prose
        and ("a curve" if dimension == 1 else "a curved surface") in prose
    )


def test_the_corners_of_a_square_are_drawn_in_order():
    """{a + b = 1, c + d = 1} is a square: its neighbours differ in one pair only, however it is listed."""
    points = np.array([[1.0, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]])
    corners = Shape(points, (2,) * 4, (), 2, None, tuple("1234"), ("plus",) * 4, ()).around()
    assert len(corners) == 4
    for a, b in zip(corners, np.roll(corners, 1, axis=0), strict=True):
        assert np.abs(a - b).sum() == pytest.approx(2)


@fast
@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(2, 12))
@example(879609.9999999999, 1e-06, 6)  # a span of some thousand doubles
def test_ticks_are_round_and_inside(low, span, wanted):
    """Ticks lie in the range up to rounding, evenly spaced, not many more than wanted, and their texts all differ."""
    found = ticks(low, low + span, wanted)
    room = span * 1e-6 + 4 * np.spacing(abs(low) + span)
    assert all(low - room <= t <= low + span + room for t in found)
    assert len(found) <= wanted + 2
    if span > 1e-9 * abs(low) and len(found) > 1:
        np.testing.assert_allclose(np.diff(found), found[1] - found[0], rtol=1e-3)


def test_tick_texts_are_even():
    """The same number of digits on one axis; zero is 0, never -0."""
    assert [text for _, text in tick_labels(ticks(-1, 1, 4))] == ["-1.0", "-0.5", "0", "0.5", "1.0"]
    assert [text for _, text in tick_labels([0.0, 1e6])] == ["0", "1e6"]
    assert [text for _, text in tick_labels([99900.0, 99950.0])] == ["99900", "99950"]
    assert [text for _, text in tick_labels([24.40001, 24.40002])] == ["24.40001", "24.40002"]


def test_frames_never_collapse():
    """A range of one value, zero too, gets room around it; corners map to the corners of the drawing."""
    assert pad_range([3.0]) == (1.5, 4.5)
    assert pad_range([0.0]) == (-1.0, 1.0)
    frame = Frame(0, 2, 0, 4)
    assert frame.at((0, 0)) == (frame.left, frame.height - frame.bottom)
    assert frame.at((2, 4)) == (WIDTH - frame.right, frame.top)


def test_every_direction_that_ties_has_a_ring():
    """The sphere shows all of E, not only the neurons of the network that was found."""
    found = example_outcome("checkerboard")
    tied = optimal_set_view(found.facts)
    assert tied is not None and len(tied.neurons) >= len(found.facts.primal.neurons)
    page = check_page(found)
    rim = sum(1 for one in tied.neurons if one.direction[2] == 0)  # seen on both discs
    assert rim > 0 and page.count('class="ring ') == len(tied.neurons) + rim


def test_every_place_where_the_curve_touches_has_a_ring():
    """In two dimensions too: twins have more neurons that tie than the network that was found uses."""
    found = example_outcome("twins")
    tied = optimal_set_view(found.facts)
    assert tied is not None and found.facts.problem.listed.d == 2
    assert check_page(found).count('class="ring ') == len(tied.neurons)


@pytest.mark.parametrize("name", ["twins", "checkerboard"])
def test_neurons_have_one_number_on_a_page(name):
    """The optimal set calls the neurons of the network by the numbers that the chart of their sizes gives them."""
    facts = example_outcome(name).facts
    seen = shape(facts)
    assert seen is not None
    listed = [np.array([float(x) for x in one.w]) for one in heaviest_first(facts)]
    for label, direction in zip(seen.names, seen.directions, strict=True):
        v = np.array(direction)
        number = int(label) - 1
        parallel = [w @ v > (1 - 1e-9) * np.linalg.norm(w) * np.linalg.norm(v) for w in listed]
        assert (number < len(listed) and parallel[number]) or not any(parallel)
    assert len(set(seen.names)) == len(seen.names)
