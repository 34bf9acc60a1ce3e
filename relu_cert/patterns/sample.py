"""Some activation patterns instead of all: drawn at random as the paper does, or read from a file of gates."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from relu_cert.data.numbers import NumberError, parse_number
from relu_cert.data.raw import decode, read_bytes
from relu_cert.data.table import Record, Table, read_table
from relu_cert.errors import DataError
from relu_cert.exact import Matrix, Vector, dot, scaled_rows
from relu_cert.messages import file_name, shown

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
            f"the data, found {shown(text)}."
        )
    return text


def _gate(table: Table, record: Record, name: str) -> tuple[Fraction, ...]:
    entries = []
    for j, text in enumerate(record.fields):
        try:
            entries.append(parse_number(text))
        except NumberError as error:
            raise DataError(f"{name}, row {record.line}, {table.place(j)}: found {shown(text)}, {error}.") from None
    return tuple(entries)
