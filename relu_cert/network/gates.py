"""Which gates are open: 1(g.x >= 0), with rounding kept out.

The witness of a lower face's pattern vanishes on data points, so that the sign of a float product says nothing there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import Matrix, Vector, dot

Floats = NDArray[np.float64]
NEAR = 1e-9  # a gate this near to its hyperplane, relative to its terms, is decided exactly


def open_gates(inputs: Floats, gates: Matrix, exact: Callable[[int], Vector]) -> NDArray[np.bool_]:
    """1(g.x >= 0) for every row x and every gate g; exact(k) is row k itself, of which `inputs` has the floats."""
    G = np.array([[float(x) for x in gate] for gate in gates]).reshape(len(gates), inputs.shape[1])
    heights = inputs @ G.T
    found = np.asarray(heights >= 0)
    for k, i in np.argwhere(np.abs(heights) <= NEAR * (np.abs(inputs) @ np.abs(G).T)):
        found[k, i] = dot(gates[i], exact(int(k))) >= 0
    return found
