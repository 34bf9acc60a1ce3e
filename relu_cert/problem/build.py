"""Network models as constrained group lasso problems.

ReLU    for each pattern D in D_Z and sign xi = +-1:   X_b = xi D Z,   C_b = {u : (2D - I) Z u >= 0}
gated   for each pattern D in D_Z:                     X_b = D Z,      no cone
"""

from __future__ import annotations

from relu_cert.exact import Matrix, Vector
from relu_cert.patterns.model import PatternSet
from relu_cert.problem.model import Gates, Network, Problem, Sampled


def relu(Z: Matrix, y: Vector, patterns: PatternSet) -> Problem:
    """The convex reformulation of a two-layer ReLU network over all patterns of Z (eq:convex-relu-mlp)."""
    _require_shapes(Z, y, patterns)
    return Problem("relu", y, (), Network(Z, patterns))


def unlisted_relu(Z: Matrix, y: Vector) -> Problem:
    """The same without a list of the patterns: every network of every width."""
    return Problem("relu", y, (), Network(Z, None))


def gated(Z: Matrix, y: Vector, patterns: PatternSet) -> Problem:
    """The same for a gated ReLU network with all patterns of Z as its gates (eq:convex-gated-relu-mlp)."""
    _require_shapes(Z, y, patterns)
    return Problem("gated", y, Gates(Z, patterns), sampled=Sampled("gated", Z, (), patterns))


def _require_shapes(Z: Matrix, y: Vector, patterns: PatternSet) -> None:
    shape = (len(Z), len(Z[0]) if Z else 0)
    if shape != (patterns.n, patterns.d) or len(y) != len(Z):
        raise ValueError(f"Z is {shape}, y has {len(y)} entries, the patterns are of a {patterns.n, patterns.d} matrix")
