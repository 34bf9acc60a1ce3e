"""The codec of certificates: a field is written as its type says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction as F
from typing import Annotated

import pytest

from relu_cert.certificate import dumps
from relu_cert.serialize import (
    ARRAY,
    BLOCKS,
    OPTIONAL,
    RELU,
    UNWRITTEN,
    Integer,
    Integers,
    Key,
    Sign,
    Via,
    serialize,
)


@dataclass(frozen=True)
class Inner:
    """Three fields without names."""

    name: str
    rows: tuple[int, ...]
    values: tuple[F, ...]


@dataclass(frozen=True)
class Outer:
    """A field of every kind."""

    number: F
    vector: tuple[F, ...]
    matrix: tuple[tuple[F, ...], ...]
    indices: tuple[int, ...]
    pairs: tuple[tuple[int, F], ...]
    maybe: tuple[tuple[F, ...] | None, ...]
    inner: Inner | None
    arrays: tuple[Annotated[Inner, ARRAY], ...]
    sign: Sign
    integer: Integer
    integers: Integers
    flag: bool
    lam: Annotated[F, Key("lambda")]
    raw: Annotated[bytes, Via(bytes.hex)]
    own: Annotated[F, UNWRITTEN] = F(7)
    more: Annotated[tuple[int, ...], OPTIONAL] = ()


INNER = Inner("01", (0, 2), (F(1, 3),))
OUTER = Outer(
    F(-1, 2), (F(1), F(2, 3)), ((F(1),), ()), (3,), ((1, F(4)),), (None, ()), None, (INNER,), -1,
    5, (6, -7), True, F(8), b"\xff",
)  # fmt: skip
EXPECTED = {
    "number": "-1/2",
    "vector": "1 2/3",
    "matrix": ["1", ""],
    "indices": [3],
    "pairs": [[1, "4"]],
    "maybe": [None, ""],
    "inner": None,
    "arrays": [["01", [0, 2], "1/3"]],
    "sign": "-",
    "integer": "5",
    "integers": "6 -7",
    "flag": True,
    "lambda": "8",
    "raw": "ff",
}


def test_every_kind_of_field() -> None:
    """Numbers, vectors, indices, nulls, arrays and objects, in the order of the fields, and a JSON text of it."""
    found = serialize(OUTER)
    assert found == EXPECTED
    assert list(found) == list(EXPECTED)
    assert json.loads(dumps(found)) == EXPECTED


def test_a_default_is_left_out_where_that_is_said() -> None:
    """OPTIONAL is about the default alone: another value is written, and so is a default that is not so marked."""
    assert "more" not in serialize(OUTER)
    other = Outer(**{**vars(OUTER), "more": (0,)})
    assert serialize(other)["more"] == [0]


@dataclass(frozen=True)
class Named:
    """A neuron is named by its sign, or by its block."""

    sign: Annotated[Sign, RELU] = 1
    block: Annotated[int | None, BLOCKS] = 0


@pytest.mark.parametrize(
    ("model", "expected"),
    [("relu", {"sign": "+"}), ("unlisted", {"sign": "+"}), ("cgl", {"block": 0}), ("gated", {})],
)
def test_what_belongs_to_some_models(model: str, expected: dict[str, object]) -> None:
    """A field that is for some models is written for these, also inside of other values."""
    assert serialize(Named(), model) == expected
    assert serialize(Holder((Named(),)), model) == {"all": [expected]}


@dataclass(frozen=True)
class Holder:
    """Values inside."""

    all: tuple[Named, ...]


@dataclass(frozen=True)
class Either:
    """Numbers, or values of another kind."""

    found: tuple[F, ...] | tuple[Inner, ...] | None


def test_a_union_is_written_as_what_it_is() -> None:
    """By the kind of the value; an empty tuple is of the first kind."""
    assert serialize(Either((F(1),))) == {"found": "1"}
    assert serialize(Either((INNER,))) == {"found": [{"name": "01", "rows": [0, 2], "values": "1/3"}]}
    assert serialize(Either(())) == {"found": ""}
    assert serialize(Either(None)) == {"found": None}
