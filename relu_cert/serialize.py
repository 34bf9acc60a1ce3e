"""Values as certificates write them (verify/FORMAT.md): a dataclass is an object, its fields are the keys, and the type
of a field says how it is written.

    Fraction, tuple[Fraction, ...]    a text: p/q, or several with one space between them
    X | Y, X | None                   as the first of these that the value is one of; null
    tuple[X, ...], tuple[X, Y]        an array
    a dataclass                       an object
    int, bool, str                    as it is

What differs is said in the type, `Annotated[X, ...]`: by `Key`, `Only`, `Via`, or one of the marks.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Neuron:
...     sign: Sign
...     w: tuple[Fraction, ...]
...     weight: Annotated[Fraction, Key("norm")]
...     pattern: Annotated[str, UNWRITTEN]
>>> written(Neuron(-1, (Fraction(1, 2), Fraction(3)), Fraction(2), "01"))
{'sign': '-', 'w': '1/2 3', 'norm': '2'}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from relu_cert.exact import rational

Writer = Callable[[Any, str], Any]  # a value, and the model of the problem


class Mark(Enum):
    """What a type can say without a word more."""

    UNWRITTEN = "not in the certificate"
    OPTIONAL = "left out where it has its default"
    ARRAY = "a dataclass as an array: without the names of its fields"


UNWRITTEN, OPTIONAL, ARRAY = Mark


@dataclass(frozen=True)
class Key:
    """The key, where it is not the name of the field."""

    name: str


class Only:
    """For problems of these models only: relu (unlisted: without a list of its patterns), gated, cgl."""

    def __init__(self, *models: str) -> None:
        self.models = models


@dataclass(frozen=True)
class Via:
    """The function that writes the value."""

    write: Callable[[Any], Any]


def number(x: Fraction | int) -> str:
    """p or p/q in lowest terms."""
    return rational(x)


def vector(entries: Iterable[Fraction | int]) -> str:
    """Numbers with one space between them."""
    return " ".join(map(rational, entries))


def matrix(rows: Iterable[Iterable[Fraction | int]]) -> list[str]:
    """Rows as vectors."""
    return [vector(row) for row in rows]


def sign_text(sign: int) -> str:
    """+ or -"""
    return "+" if sign > 0 else "-"


Sign = Annotated[int, Via(sign_text)]  # xi = +1 or -1
Integer = Annotated[int, Via(number)]  # a number, where an index would be an integer of JSON
Integers = Annotated[tuple[int, ...], Via(vector)]
RELU, BLOCKS, FACES = Only("relu", "unlisted"), Only("cgl"), Only("relu", "unlisted", "cgl")
NAMED_BY_PATTERN = Only("relu", "unlisted", "gated")
LISTED, UNLISTED = Only("relu", "gated", "cgl"), Only("unlisted")


def serialize(value: Any, model: str = "") -> dict[str, Any]:
    """A dataclass as an object."""
    return {part.key: part.write(getattr(value, part.name), model) for part in _written_of(value, model)}


@dataclass(frozen=True)
class _Part:
    """How one field is written."""

    name: str
    key: str
    write: Writer
    models: tuple[str, ...]
    default: Any


def _written_of(value: Any, model: str) -> Iterable[_Part]:
    """The fields of the value that are in the certificate."""
    kind: Any = type(value)
    for part in _parts(kind):
        given = part.default is MISSING or getattr(value, part.name) != part.default
        if given and (not part.models or model in part.models):
            yield part


@cache
def _parts(kind: Any) -> tuple[_Part, ...]:
    """All fields that can be in a certificate."""
    found, types = [], get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        said = get_args(types[field.name])[1:] if get_origin(types[field.name]) is Annotated else ()
        if UNWRITTEN in said:
            continue
        key = next((one.name for one in said if isinstance(one, Key)), field.name)
        models = next((one.models for one in said if isinstance(one, Only)), ())
        default = field.default if OPTIONAL in said else MISSING
        found.append(_Part(field.name, key, _writer(types[field.name]), models, default))
    return tuple(found)


@cache
def _writer(kind: Any) -> Writer:
    """The way in which values of a type are written."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _annotation_of(inner[0], inner[1:])
    if origin in (Union, UnionType):
        return _one_of(inner)
    if kind is Fraction:
        return lambda x, _: number(x)
    if kind == tuple[Fraction, ...]:
        return lambda x, _: vector(x)
    if origin is tuple and inner[1:] == (...,):
        each = _writer(inner[0])
        return lambda x, model: [each(one, model) for one in x]
    if origin is tuple:
        every = [_writer(one) for one in inner]
        return lambda x, model: [write(one, model) for write, one in zip(every, x, strict=True)]
    return serialize if is_dataclass(kind) else lambda x, _: x


def _annotation_of(kind: Any, said: Sequence[Any]) -> Writer:
    way = next((one.write for one in said if isinstance(one, Via)), None)
    if way is not None:
        return lambda x, _: way(x)
    if ARRAY in said:
        return lambda x, model: list(serialize(x, model).values())
    return _writer(kind)


def _one_of(kinds: Sequence[Any]) -> Writer:
    ways = [(kind, _writer(kind)) for kind in kinds]

    def write(value: Any, model: str) -> Any:
        return next(way(value, model) for kind, way in ways if _is(kind, value))

    return write


def _is(kind: Any, value: Any) -> bool:
    """Whether a value is of a type; an empty tuple is of every type of tuples."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _is(inner[0], value)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        parts = inner[:1] * len(value) if inner[1:] == (...,) else inner
        return len(parts) == len(value) and all(map(_is, parts, value))
    return isinstance(value, kind or NoneType)
