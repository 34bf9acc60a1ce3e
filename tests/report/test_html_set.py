"""The vertex graph of the optimal set, and the pair of the polytope and the curved set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from relu_cert.api import certify
from relu_cert.report.html.optimal_set import Shape, shadow, shadow_figure, shape
from relu_cert.report.html.set_figures import wire_figures
from tests.report.pages import Page, example_outcome

Z = [[-4, 3], [0, 4], [-3, 2], [-1, 1], [4, 3], [4, 4], [3, 1], [1, -2], [3, -3]]
Y = [-3, 6, 1, -2, -4, 5, 0, 2, -6]


@pytest.fixture(scope="module")
def found():
    """Data whose optimal set has dimension 2 or more (more antipodal pairs than features)."""
    one = certify(Z, Y, lambda_ratio="1/50", verify=False)
    assert one.facts.polytope is not None and one.facts.polytope.dimension >= 2
    return one


def test_every_vertex_and_edge_is_drawn(found):
    """As many dots and lines as the proved polytope has; the shortest network is marked."""
    polytope = found.facts.polytope
    svg = shadow_figure(shadow(shape(found.facts)))
    assert sum(1 for c in svg.iter("circle")) == len(polytope.vertices)
    assert sum(1 for p in svg.iter("path") if p.get("class") == "edge") == len(polytope.edges)
    assert sum(1 for t in svg.iter("text") if "star" in t.get("class", "")) == 1


def test_the_shadow_is_a_linear_image(found):
    """The middle of two networks is drawn in the middle, so that convex hulls are convex hulls."""
    seen = shadow(shape(found.facts))
    a, b = seen.shape.points[0], seen.shape.points[-1]
    np.testing.assert_allclose(
        seen.at(((a + b) / 2)[None])[0], (seen.at(a[None])[0] + seen.at(b[None])[0]) / 2, atol=1e-9
    )


def test_vertices_do_not_hide_one_another(found):
    """Different vertices have different places."""
    places = shadow(shape(found.facts)).at(shape(found.facts).points)
    far = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(len(places))
    assert far.min() > 1e-6 * np.abs(places).max()


def test_a_set_of_one_network_has_no_graph():
    """Dimension 0 and 1 need none."""
    assert shadow(shape(certify([[1], [2]], [1, 3], 1, verify=False).facts)) is None


def test_the_cube_and_its_curved_image():
    """Three neurons that are free on [1, 4] each: twelve straight edges, and twelve bent ones."""
    corners = np.array([[1 + 3 * (i >> k & 1) for k in range(3)] for i in range(8)], dtype=float)
    edges = [(i, j) for i in range(8) for j in range(i) if (i ^ j).bit_count() == 1]
    cube = Shape(corners, (3,) * 8, tuple(edges), 3, None, ("1", "2", "3"), ("plus",) * 3, ())
    flat, curved = wire_figures(cube)
    for picture in (flat, curved):
        kinds = [p.get("class") for p in picture.iter("path")]
        assert kinds.count("edge") == 9 and kinds.count("edge hidden") == 3  # three meet at the corner behind
        assert kinds.count("face") == 3 and len({p.get("fill-opacity") for p in picture.iter("path")} - {None}) == 3
        assert sum(1 for c in picture.iter("circle") if c.get("class") == "vertex") == 8
    assert wire_figures(replace(cube, points=corners[:, :2])) == ()


def test_the_page_has_the_graph(found):
    """`check --html` shows it where the dimension is at least 2."""
    page = Page(found.html())
    assert "seen as a shadow" in page.prose and "curved" in page.prose


def test_vertices_of_different_widths_are_told_apart():
    """Widths are written where there is room; the narrowest networks are filled, and the caption says how wide."""
    facts = example_outcome("checkerboard").facts
    polytope = facts.polytope
    assert polytope is not None and polytope.m_star < polytope.M_star
    picture = shadow_figure(shadow(shape(facts)))
    filled = [c for c in picture.iter("circle") if "least" in c.get("class")]
    assert len(filled) == sum(1 for width in polytope.widths if width == polytope.m_star)
    texts = [t.text for t in picture.iter("text") if "inside" in t.get("class", "")]
    assert texts in ([], [str(width) for width in polytope.widths])
    assert f"the narrowest, of width {polytope.m_star}" in picture[-1].text
