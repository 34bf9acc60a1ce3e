"""Hypothesis strategies for exact instances whose answers are known before anyone asks.

>>> from hypothesis import find
>>> from properties.strategies import planted_cgl
>>> instance = find(planted_cgl(), lambda p: not p.unique)
>>> len(instance.vertices) > 1
True

Numbers and vectors: `rationals`, `positive_rationals`, `vector`, `nonzero_vector`, `unit_vector`, `orthogonal`.
Matrices: `rational_matrix` with `kind` one of `KINDS` (general, low rank, duplicate, antipodal, grid, one-hot, bias).
`several` draws a few of anything so that each can be dropped; `points` draws rational points, the simplest first.
Planted instances: `planted_cgl`, `planted_lasso`, `planted_smooth` (sensitivity), `planted_corner`, `planted_relu`,
`planted_box`, `planted_antipodal`, `planted_kink`, `planted_edge`, `planted_cube`. Of the variants: `planted_elastic`,
`planted_elastic_network`, `planted_sampled`, `planted_logistic`, `planted_logistic_network`, and `gates` for networks
over some patterns.
`candidate` and `feasible_weights` draw points to be judged; `with_candidate`, `with_feasible` and `with_solution`
pair a planted problem with one.
"""

from properties.hook import register
from properties.strategies.cgl import (
    PlantedCGL,
    candidate,
    feasible_weights,
    plant_cgl,
    planted_cgl,
    planted_corner,
    planted_lasso,
    planted_smooth,
    with_candidate,
    with_feasible,
    with_solution,
)
from properties.strategies.cube import Cube, planted_cube
from properties.strategies.matrices import KINDS, rational_matrix
from properties.strategies.numbers import (
    nonzero_vector,
    orthogonal,
    points,
    positive_rationals,
    rationals,
    several,
    small_ints,
    unit_vector,
    vector,
)
from properties.strategies.relu import (
    PlantedReLU,
    plant_relu,
    planted_antipodal,
    planted_box,
    planted_edge,
    planted_kink,
    planted_relu,
)
from properties.strategies.sketch import Sketch, sketches
from properties.strategies.variants import (
    Gates,
    PlantedElastic,
    PlantedLogistic,
    PlantedSampled,
    gates,
    planted_elastic,
    planted_elastic_network,
    planted_logistic,
    planted_logistic_network,
    planted_sampled,
)

__all__ = [
    "KINDS",
    "Cube",
    "Gates",
    "PlantedCGL",
    "PlantedElastic",
    "PlantedLogistic",
    "PlantedReLU",
    "PlantedSampled",
    "Sketch",
    "candidate",
    "feasible_weights",
    "gates",
    "nonzero_vector",
    "orthogonal",
    "plant_cgl",
    "plant_relu",
    "planted_antipodal",
    "planted_box",
    "planted_cgl",
    "planted_corner",
    "planted_cube",
    "planted_edge",
    "planted_elastic",
    "planted_elastic_network",
    "planted_kink",
    "planted_lasso",
    "planted_logistic",
    "planted_logistic_network",
    "planted_relu",
    "planted_sampled",
    "planted_smooth",
    "points",
    "positive_rationals",
    "rational_matrix",
    "rationals",
    "several",
    "sketches",
    "small_ints",
    "unit_vector",
    "vector",
    "with_candidate",
    "with_feasible",
    "with_solution",
]

register()
