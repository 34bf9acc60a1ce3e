"""Cells are cut where the relaxation is spread most."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from relu_cert.leaders.bound import LeadersLoss
from relu_cert.leaders.cells import inherited, make_cell, start
from relu_cert.leaders.interior import Centres, LeadersProof, cells_of, finer, nothing

ROWS = np.random.default_rng(0).standard_normal((12, 3))
THETA = np.where(np.arange(12) % 2, 1.0, -1.0)
NONE = Centres((), ())


def spread(axes: tuple[Any, Any]) -> LeadersProof:
    """One cell for each sign, whose u has the mean 0 and these second moments."""
    cells = [make_cell(ROWS, THETA, xi, 3, np.ones(3)) for xi in (1, -1)]
    points = [replace(start(cell, 1.0), U=np.diag(axis), u=np.zeros(3)) for cell, axis in zip(cells, axes, strict=True)]
    return replace(nothing(cells, LeadersLoss(np.arange(len(THETA)), THETA)), points=tuple(points))


def test_the_widest_cell_is_cut_across_its_axis() -> None:
    """The cell with much more mass is cut in two on both sides of its longest axis, the other one is not."""
    found = finer(spread(([1.0, 5.0, 2.0], [0.1, 0.2, 0.1])), NONE, None, np.ones(3), 1, 8)
    assert found is not None
    assert found.centres.minus == () and len(found.centres.plus) == 2
    assert {tuple(np.sign(c)) for c in found.centres.plus} == {(0.0, 1.0, 0.0), (0.0, -1.0, 0.0)}
    assert found.parents == (0, 0, 1)


@pytest.mark.parametrize("most", [1, 2])
def test_there_are_not_more_cells_than_asked(most: int) -> None:
    """Two equally wide cells are both cut, or none is; with a limit of one there is nothing finer."""
    found = finer(spread(([1.0, 5.0, 2.0], [5.0, 1.0, 1.0])), NONE, None, np.ones(3), 1, most)
    assert (found is None) == (most == 1)
    assert found is None or (found.centres.cells, found.parents) == (4, (0, 0, 1, 1))


def test_a_column_that_the_norm_does_not_see_is_in_no_centre() -> None:
    """Free biases: the last number of every centre is 0."""
    norm = np.array([1.0, 1.0, 0.0])
    proof = spread(([1.0, 2.0, 50.0], [1.0, 2.0, 50.0]))
    proof = replace(proof, cells=tuple(replace(cell, norm=norm) for cell in proof.cells))
    found = finer(proof, NONE, None, norm, 1, 8)
    assert found is not None
    assert all(c[2] == 0 and c[1] != 0 for own in found.centres for c in own)


def test_a_cell_begins_with_what_counted_and_what_was_missed() -> None:
    """Neighbours with weights stay, those without go; a row that was violated and the normals of the cell come."""
    parent = make_cell(ROWS, THETA, 1, 2, np.ones(3))
    w = np.zeros(parent.near.shape)
    w[:, 0] = 1.0
    m, phi = np.zeros((len(parent.L), 3)), np.ones(len(parent.N))
    far = int(next(k for k in range(len(parent.N)) if k not in parent.near[0]))
    m[0] = 2 * parent.F[far] / float(parent.F[far] @ parent.F[far])
    cell = cells_of(ROWS, THETA, 1, 2, ((1, 0, 0), (-1, 0, 0)), 1, None, np.ones(3))[0]
    grown = inherited(cell, parent, w, m, phi, 4, 8)
    for leader in range(len(parent.L)):
        near = set(grown.near[leader][grown.used[leader]].tolist())
        assert (parent.near[leader, 0] in near and parent.near[leader, 1] not in near) or leader == 0
        assert len(cell.N) in near
    assert {far, int(parent.near[0, 0])} <= set(grown.near[0][grown.used[0]].tolist())
