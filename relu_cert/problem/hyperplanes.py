"""The hyperplanes z_k.u = 0 of the data: parallel rows share one."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.exact import Matrix, primitive, scaled_rows
from relu_cert.identity_cache import recent

Hyperplanes = dict[int, dict[int, Fraction]]


@recent
def parallel_classes(Z: Matrix) -> Hyperplanes:
    """The hyperplanes of the rows: for each class of parallel rows, named by its smallest row c, z_k = a_k z_c."""
    names: dict[tuple[int, ...], int] = {}
    classes: dict[int, dict[int, Fraction]] = {}
    for k, z in enumerate(Z):
        first = next((j for j, x in enumerate(z) if x), None)
        if first is None:
            continue
        (integers,), _ = scaled_rows([tuple(x / z[first] for x in z)])
        c = names.setdefault(primitive(integers), k)
        classes.setdefault(c, {})[k] = z[first] / Z[c][first]
    return classes
