"""How many patterns to expect, before any enumeration, and samples of them."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, log, sqrt

import numpy as np
from numpy.typing import NDArray

from relu_cert.data.dataset import NumberError, parse_number
from relu_cert.data.raw import Record, Table, decode, read_bytes, read_table
from relu_cert.errors import DataError, file_name, quote
from relu_cert.exact import Matrix, Vector, dot, scaled_rows
from relu_cert.figures import count
from relu_cert.patterns.arrangement import Arrangement, Hyperplanes, IntVector, arrangement, hyperplanes
from relu_cert.patterns.cells import cover_bound

LARGE = 10**15


@dataclass(frozen=True)
class Prediction:
    """What is known beforehand about |D_Z|.

    `classes`  m, the number of different hyperplanes.
    `cells`    Cover's bound 2 sum_{k < r} C(m-1, k) on the open cells, reached in general position.
    `bound`    an upper bound on all patterns, lower faces included.
    `general`  the number of patterns if the different hyperplanes are in general position (at most): then only the
               two-sided ones, with rows on both sides, meet in totally cyclic flats, and the whole space is one.
    `exact`    `cells` and `bound` are known to be the exact numbers.
    """

    n: int
    d: int
    rank: int
    classes: int
    cells: int
    bound: int
    general: int
    exact: bool

    @property
    def text(self) -> str:
        """One sentence."""
        if self.exact and self.bound == self.cells >= LARGE:
            return f"exactly 2^{self.rank} patterns, all of open cells: the rows are independent"
        if self.exact:
            return f"exactly {count(self.bound, 'pattern')}, {self.cells:,} of open cells"
        if self.bound == self.cells:
            return f"at most {above(self.bound)} patterns, all of open cells (that many in general position)"
        return (
            f"at most {above(self.cells)} open cells; {above(self.general)} patterns in general position, "
            f"at most {above(self.bound)} in any case"
        )


def predict(Z: Matrix) -> Prediction:
    """Bounds on the number of patterns of Z, from its size, rank and parallel rows alone."""
    a = arrangement(Z)
    return predict_arrangement(a, hyperplanes(a.rows))


def predict_arrangement(a: Arrangement, planes: Hyperplanes) -> Prediction:
    """The same from an arrangement.

    Lower faces add nothing if some u is positive on all rows (a column of one sign is one). Otherwise the sets
    {k : z_k.u >= 0} of q different directions shatter at most r points: at most sum_{k <= r} C(q, k) of them. And
    there are at most C(m, k) flats of rank k, each with at most as many cells as m - k hyperplanes of rank r - k have.
    """
    m, r = len(planes), a.rank
    cells = cover_bound(m, r)
    if one_sided(planes):
        return Prediction(a.n, a.d, r, m, cells, cells, cells, exact=r <= 2 or m == r)
    two_sided = sum(1 for mask in planes.opposite if mask)
    if r == 1:
        return Prediction(a.n, a.d, r, m, cells, cells + 1, cells + 1, exact=True)
    bound = min(sum(comb(m + two_sided, k) for k in range(r + 1)), _faces(m, m, r))
    general = min(_faces(two_sided, m, r), bound)
    return Prediction(a.n, a.d, r, m, cells, bound, general, exact=False)


def _faces(t: int, m: int, r: int) -> int:
    """Faces of m hyperplanes of rank r in general position that lie on t of them and on no other, or are the origin."""
    return 1 + sum(comb(t, k) * cover_bound(m - k, r - k) for k in range(r))


def above(number: int) -> str:
    """A number in full, or three digits of it, rounded up."""
    if number < LARGE:
        return f"{number:,}"
    zeros = len(str(number)) - 3
    digits = str(-(-number // 10**zeros))
    return f"{digits[0]}.{digits[1:3]}e{zeros + len(digits) - 1}"


def one_sided(planes: Hyperplanes) -> bool:
    """True if some u that is easy to find has z_k.u > 0 for all non-zero rows (False says nothing)."""
    if any(planes.opposite):
        return False
    if not planes.normals:
        return True
    if len(planes) == len(planes.normals[0]):  # independent
        return True
    # columns that never change their sign: their sum is positive unless a row vanishes in all of them
    columns = zip(*planes.normals, strict=True)
    weak = [min(column) >= 0 or max(column) <= 0 for column in map(list, columns)]
    return all(any(w and x for w, x in zip(weak, z, strict=True)) for z in planes.normals)


def surely_more(normals: Sequence[IntVector], limit: int, samples: int = 64) -> bool:
    """True if a sample shows, with an error probability below 1e-9, that there are more than `limit` cells.

    The sets of r - 1 of the hyperplanes 1 ... m-1 without a broken circuit are counted on a random sample of all such
    sets (Hoeffding's bound); each of them stands for two cells. False says nothing.
    """
    m, r = len(normals), len(normals[0])
    everything = 2 * comb(m - 1, r - 1)
    slack = sqrt(log(1e9) / (2 * samples))
    if everything * (1 - slack) <= limit:
        return False
    Z = np.array([[x % PRIME for x in z] for z in normals], dtype=np.int64)
    rng = random.Random(0)
    hits = sum(_unbroken(Z, sorted(rng.sample(range(1, m), r - 1), reverse=True)) for _ in range(samples))
    return everything * (hits / samples - slack) > limit


PRIME = 2**31 - 1


def _unbroken(Z: NDArray[np.int64], members: Sequence[int]) -> bool:
    """Whether a set (descending) contains no broken circuit, modulo a prime: one path of the walk."""
    base = int(np.flatnonzero(Z[0])[0])
    X = _eliminate(Z, base, 0)
    free = [l for l in range(Z.shape[1]) if l != base]
    for e in members:
        c = next((l for l in free if X[e, l]), None)
        if c is None:
            return False
        X = _eliminate(X, c, e)
        free.remove(c)
        if not X[:e, [*free, base]].any(axis=1).all():
            return False
    return True


def _eliminate(X: NDArray[np.int64], c: int, e: int) -> NDArray[np.int64]:
    """z_e in the place of the variable of column c, modulo the prime."""
    inverse = pow(int(X[e, c]), -1, PRIME)
    column = X[:, c] * inverse % PRIME
    out: NDArray[np.int64] = (X - column[:, None] * X[e] % PRIME) % PRIME
    out[:, c] = column
    return out


GRID = 2**24  # a Gaussian gate is rounded to multiples of 1/GRID; its pattern is then exact
PATIENCE = 50  # draws for every pattern asked for


def pattern_of(Z: Matrix, u: Vector) -> str:
    """1(Zu >= 0), exactly."""
    return "".join("01"[dot(z, u) >= 0] for z in Z)


def draw_gates(Z: Matrix, count: int, seed: int) -> dict[str, Vector]:
    """At most `count` different patterns 1(Zu >= 0) of Gaussian u, in the order in which they were drawn, each with u.

    Patterns with DZ = 0 carry no neuron and are left out. Fewer are returned where `PATIENCE * count` draws meet no
    more: then most of D_Z has been met, or what is left is rare.
    """
    rng = np.random.default_rng(seed)
    rows, _ = scaled_rows(Z)
    A = np.array(rows, dtype=object).T
    alive = [any(row) for row in rows]
    found: dict[str, Vector] = {}
    for _ in range(PATIENCE):
        gates = np.rint(rng.standard_normal((count, len(Z[0]))) * GRID).astype(np.int64).astype(object)
        for gate, on in zip(gates, np.asarray(gates @ A >= 0, dtype=bool).tolist(), strict=True):
            if any(bit and nonzero for bit, nonzero in zip(on, alive, strict=True)):
                found.setdefault("".join("01"[bit] for bit in on), tuple(Fraction(int(x), GRID) for x in gate))
            if len(found) == count:
                return found
    return found


def read_gate_file(path: str | os.PathLike[str], Z: Matrix, delimiter: str = ",") -> dict[str, Vector | None]:
    """The patterns of a CSV file, each once, in order, with the gate if one was given. DataError names the line and
    what was found there.

    A line of d numbers is a gate vector u and gives 1(Zu >= 0); the bias column of Z is one of the d. Where d > 1, a
    line of one field with n characters 0 and 1 is a pattern itself.
    """
    name = file_name(os.fspath(path))
    table = read_table(decode(read_bytes(path), os.fspath(path)), delimiter, name)
    n, d = len(Z), len(Z[0])
    whole = table.width == 1 and d > 1
    rows = tuple(table.rows)
    if not rows:
        raise DataError(f"{name}: no gate; expected lines of {d} numbers, or of one pattern of {n} bits.")
    if not whole and table.width != d:
        raise DataError(
            f"{name}: expected {d} numbers in a line, one for each column of Z (the bias included), or one pattern of "
            f"{n} characters 0 and 1; found {table.width} fields."
        )
    if whole:
        return {_bits(record, n, name): None for record in rows}
    return gate_patterns(Z, [_gate(table, record, name) for record in rows])


def gate_patterns(Z: Matrix, gates: Iterable[Vector]) -> dict[str, Vector | None]:
    """1(Zu >= 0) for every gate u, each pattern once, in order, with the first gate that has it."""
    found: dict[str, Vector | None] = {}
    for u in gates:
        found.setdefault(pattern_of(Z, u), u)
    return found


def _bits(record: Record, n: int, name: str) -> str:
    text = record.fields[0]
    if len(text) != n or set(text) - {"0", "1"}:
        raise DataError(
            f"{name}, row {record.line}: expected a pattern of {n} characters 0 and 1, one for each row of "
            f"the data, found {quote(text)}."
        )
    return text


def _gate(table: Table, record: Record, name: str) -> tuple[Fraction, ...]:
    entries = []
    for j, text in enumerate(record.fields):
        try:
            entries.append(parse_number(text))
        except NumberError as error:
            raise DataError(f"{name}, row {record.line}, {table.place(j)}: found {quote(text)}, {error}.") from None
    return tuple(entries)
