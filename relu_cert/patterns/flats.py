"""The flats that may hold patterns of lower faces: every dependent flat, from the circuits upwards.

A flat X is a set of hyperplanes: all that contain a subspace L_X. A flat with independent directions is acyclic (some u
is positive on all of it); so only dependent flats can be totally cyclic. Each of them contains a circuit, or a
hyperplane that has rows on both sides, and is reached from the closure of one of these by covering steps. With an
integer basis of L_X the flats that cover X are the parallel classes of the normals restricted to L_X.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import mul

import flint

from relu_cert.exact import primitive
from relu_cert.patterns.arrangement import IntVector

Basis = tuple[IntVector, ...]


@dataclass(frozen=True)
class Flat:
    """The hyperplanes of a flat (a bit mask) and an integer basis of the subspace that they have in common."""

    members: int
    basis: Basis


def dependent_flats(
    normals: Sequence[IntVector], circuits: Iterable[Iterable[int]], two_sided: Iterable[int]
) -> Iterator[tuple[Flat, tuple[int, ...]]]:
    """Every dependent flat but the whole space, rank by rank, with the dependent flats that it covers (their masks).

    `circuits` are broken circuits: every broken circuit of at most r - 1 hyperplanes contains one of them.
    """
    r = len(normals[0])
    levels: list[dict[int, tuple[Flat, list[int]]]] = [{} for _ in range(r + 1)]
    identity: Basis = tuple(tuple(int(i == l) for i in range(r)) for l in range(r))
    for seed in (*circuits, *((j,) for j in two_sided)):
        basis = identity
        for j in seed:
            basis = restrict(basis, normals[j])
        rank = r - len(basis)
        if rank < r:
            flat = Flat(_vanishing(normals, basis), basis)
            levels[rank].setdefault(flat.members, (flat, []))
    for rank in range(1, r):
        for flat, below in levels[rank].values():
            yield flat, tuple(below)
            if rank == r - 1:
                continue
            for members, j in covering(normals, flat):
                above = levels[rank + 1].get(members)
                if above is None:
                    above = (Flat(members, restrict(flat.basis, normals[j])), [])
                    levels[rank + 1][members] = above
                above[1].append(flat.members)


def covering(normals: Sequence[IntVector], flat: Flat) -> list[tuple[int, int]]:
    """The flats of rank one more that contain a flat: the mask of each and one new hyperplane in it."""
    classes: dict[IntVector, int] = {}
    first: dict[IntVector, int] = {}
    for j, z in enumerate(normals):
        if flat.members >> j & 1:
            continue
        key = _direction([sum(map(mul, z, b)) for b in flat.basis])
        classes[key] = classes.get(key, flat.members) | 1 << j
        first.setdefault(key, j)
    return [(members, first[key]) for key, members in classes.items()]


def restrict(basis: Basis, z: Sequence[int]) -> Basis:
    """A basis of {u in span(basis) : z.u = 0}."""
    values = [sum(map(mul, z, b)) for b in basis]
    nonzero = [i for i, v in enumerate(values) if v]
    if not nonzero:
        return basis
    p = min(nonzero, key=lambda i: abs(values[i]))
    v, pivot = values[p], basis[p]
    return tuple(
        primitive([v * x - w * y for x, y in zip(b, pivot, strict=True)]) if w else b
        for i, (b, w) in enumerate(zip(basis, values, strict=True))
        if i != p
    )


def short_basis(basis: Basis) -> Basis:
    """The same lattice's basis with short vectors (LLL): witnesses stay small."""
    if len(basis) < 2 or (len(basis) == 2 and max(map(abs, (*basis[0], *basis[1]))) < 8):
        return basis
    return tuple(tuple(int(x) for x in row) for row in flint.fmpz_mat([list(b) for b in basis]).lll().tolist())


def _vanishing(normals: Sequence[IntVector], basis: Basis) -> int:
    """The hyperplanes that contain span(basis)."""
    return sum(1 << j for j, z in enumerate(normals) if not any(sum(map(mul, z, b)) for b in basis))


def _direction(v: Sequence[int]) -> IntVector:
    """The same for parallel vectors: primitive, first non-zero entry positive."""
    p = primitive(v)
    return p if next(x for x in p if x) > 0 else tuple(-x for x in p)
