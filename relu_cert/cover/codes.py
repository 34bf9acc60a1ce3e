"""The bytes of a tree of cones: what each node is. FORMAT.md (`cover`) says what they prove."""

from __future__ import annotations

# a bisection: the number of its edge (i, j), below 190
RULE = 200  # strict leaf: the atom and c point along the barycentre
TURNED = 201  # strict leaf: the atom is the barycentre's, d bytes for the direction of c
ATOMS = 202  # strict leaf: atoms with weights, then d bytes for the direction of c
NEURON = 203  # leaf inside the concave piece of a listed neuron: its number
RAY = 204  # leaf with generators on a listed ray or plane: its number, then atoms
SIGN = 210  # two children: a row of f1 is >= 0, or <= 0
STAR = 211  # a listed ray takes the place of each generator in turn: its number, a mask of the generators
FACE = 212  # likewise the point where a listed plane meets a facet of the cone: number, mask, number of the facet

WEIGHT = 256  # the weights of a leaf's atoms add up to this
STEP, OFFSET = 16, 1  # an atom's point is sum_i (STEP q_i + OFFSET) U_i, strictly inside the cone
