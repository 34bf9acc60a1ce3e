"""The raw data, read again from its bytes: CSV (perhaps gzipped) or a direct problem in JSON.

The hash is compared first. So a file that cannot be read as the certificate says is the certificate's fault: rejected.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256

from verify.errors import BadData, Rejected
from verify.problem.input import Input
from verify.problem.problem import Problem
from verify.text import Limits, Matrix, Node, Vector, describe, integer, no_real, parsed, show, within_limits

DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
QUOTIENT = re.compile(r"([+-]?)([0-9]+)/([0-9]+)")
INDEX = re.compile(r"[0-9]+")  # digits of other scripts are letters of a name
COMMA = re.compile(r"[+-]?(?:[0-9]+,[0-9]*|,[0-9]+)(?:[eE][+-]?[0-9]+)?")
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity|na)", re.IGNORECASE)
MAX_EXPONENT = 5000
Direct = tuple[Matrix, Vector, tuple[tuple[int, ...], ...], tuple[Matrix | None, ...]]
SPARE = 1000  # blank lines at the end of the data, and delimiters in quotes


def compare(raw: bytes, input_: Input, problem: Problem, limits: Limits) -> None:
    """Reject unless `raw` has the certificate's hash and, read again, gives every number of the problem."""
    digest = sha256(raw).hexdigest()
    if digest != input_.sha256:
        raise Rejected("certificate.input.sha256", f"{digest} (the hash of the data given)", input_.sha256)
    if input_.kind == "json":
        cones = sum(len(K_b) * len(K_b[0]) for K_b in problem.K if K_b)
        X, y, groups, K = read_direct(raw, limits, (problem.n + 2) * (problem.d + 2) + cones)
        for name, read, stated in (("groups", groups, problem.groups), ("K", K, problem.K)):
            if read != stated:
                raise Rejected(f"certificate.problem.{name}", f"the {name} of the data given", "others")
        same("X", X, problem.Z)
    else:
        size = (problem.n + 2) * (problem.d + problem.targets + 1)
        if problem.bags:
            from verify.problem.windows import read_bags

            X, y, header = read_bags(raw, input_, limits, problem)
        elif input_.targets:
            from verify.problem.outputs import read_outputs

            X, y, header = read_outputs(raw, input_, limits, size)
        else:
            X, y, header = read_table(raw, input_, limits, size)
        if header != input_.header:
            raise Rejected("certificate.input.header", str(header).lower(), str(input_.header).lower())
        same("Z", X, problem.seen)
        if problem.logistic and problem.targets == 1 and all(label in (0, 1) for label in y):
            y = tuple(2 * label - 1 for label in y)
    same("y", (y,), (problem.y,))


def same(name: str, read: Matrix, stated: Matrix) -> None:
    """Reject unless two matrices have one shape and are equal in every entry."""
    place = f"certificate.problem.{name}"
    if [len(row) for row in read] != [len(row) for row in stated]:
        shapes = [f"{len(A)} x {'/'.join(map(str, sorted({len(row) for row in A})))}" for A in (read, stated)]
        raise Rejected(place, f"{shapes[0]} numbers as in the data given", shapes[1])
    for i, (row, stated_row) in enumerate(zip(read, stated, strict=True)):
        for j, (a, b) in enumerate(zip(row, stated_row, strict=True)):
            if a != b:
                raise Rejected(f"{place} row {i} column {j}", f"{show(a)} as in the data given", show(b))


def read_table(raw: bytes, input_: Input, limits: Limits, fields: int = 2**20) -> tuple[Matrix, Vector, bool]:
    """Z with its bias column, y, and whether there was a header. There are about so many fields, and some blanks."""
    rows, header = read_fields(raw, input_, limits, fields)
    return (*read_numbers(rows, input_, 1 + bool(header)), bool(header))


def read_numbers(rows: list[list[str]], input_: Input, start: int) -> tuple[Matrix, Vector]:
    """Z with its bias column and y, of the records from this one on."""
    width = len(rows[0])
    if not input_.target < width or width < (1 if input_.bias else 2):
        raise Rejected("data", f"a target column {input_.target} and a feature", f"{width} columns")
    Z, y = [], []
    for i, row in enumerate(rows, start):
        fields, target = [*row], row[input_.target]
        if input_.labels is not None:
            if target not in input_.labels:
                raise Rejected(f"data record {i}", f"a label, {' or '.join(input_.labels)}", describe(target))
            fields[input_.target] = str(input_.labels.index(target))
        values = [number(f, input_.numbers, f"data record {i} field {j + 1}") for j, f in enumerate(fields)]
        y.append(values.pop(input_.target))
        Z.append((*values, Fraction(1)) if input_.bias else tuple(values))
    return tuple(Z), tuple(y)


def read_fields(raw: bytes, input_: Input, limits: Limits, fields: int) -> tuple[list[list[str]], list[str]]:
    """The records but for a header, all as wide as the first, and the header, or nothing."""
    try:
        text = unzipped(raw, limits).decode("utf-8-sig")
        if sum(map(text.count, (input_.delimiter, "\n", "\r"))) > 2 * fields + SPARE:
            raise ValueError(f"more than {fields} fields")
        records = list(csv.reader(io.StringIO(text, newline=""), delimiter=input_.delimiter, strict=True))
    except (UnicodeDecodeError, csv.Error, TypeError, ValueError) as error:
        raise Rejected("data", f"UTF-8 text in fields separated by {input_.delimiter!r}", str(error)) from None
    rows = [[field.strip() for field in record] for record in records]
    while rows and rows[-1] in ([], [""]):
        rows.pop()
    if input_.numbers == "decimal-comma":
        rows = [[f.replace(",", ".") if COMMA.fullmatch(f) else f for f in row] for row in rows]
    named = () if input_.labels is None else input_.targets or (input_.target,)  # texts there do not make a header
    if rows and input_.bags:
        named = (*named, bag_column(rows[0], input_.bags))
    first = [f for j, f in enumerate(rows[0]) if j not in named] if rows else []
    header = any(f and not numeric(f) and not NOT_FINITE.fullmatch(f) for f in first)
    header = header or (input_.bags != "" and not INDEX.fullmatch(input_.bags))  # it has the name
    body = rows[header:]
    if not body:
        raise Rejected("data", "at least one row of numbers", "none")
    for i, row in enumerate(body, start=1 + header):
        if len(row) != len(rows[0]):
            raise Rejected(f"data record {i}", f"{len(rows[0])} fields", str(len(row)))
    return body, rows[0] if header else []


def bag_column(first: list[str], named: str) -> int:
    """The column whose texts name bags: an index, or the only field of the first record, a header, with this text."""
    column = integer(named) if INDEX.fullmatch(named) else first.index(named) if first.count(named) == 1 else len(first)
    if column >= len(first):
        expected = f"an index below {len(first)}, or the name of one column"
        raise Rejected("certificate.input.bags", expected, describe(named))
    return column


def unzipped(raw: bytes, limits: Limits) -> bytes:
    """The text's bytes; a gzip file, known by its first two bytes, is unpacked up to the limit."""
    if raw[:2] != b"\x1f\x8b":
        return raw
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            content = file.read(limits.size + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadData("data", "a gzip file", str(error)) from None
    if len(content) > limits.size:
        raise BadData("data", f"at most {limits.size} bytes when unpacked", "more")
    return content


def numeric(field: str) -> bool:
    """Whether a field is a number in the grammar of the data."""
    return (QUOTIENT.fullmatch(field) or DECIMAL.fullmatch(field)) is not None


def number(field: str, numbers: str, place: str) -> Fraction:
    """The exact rational a field writes, or the double nearest to it."""
    if not numeric(field):
        raise Rejected(place, "a number", describe(field))
    if len(field) > Limits.digits:
        raise BadData(place, f"at most {Limits.digits} characters", str(len(field)))
    if quotient := QUOTIENT.fullmatch(field):
        p, q = integer(quotient[2]), integer(quotient[3])
        if q == 0:
            raise Rejected(place, "a denominator other than 0", describe(field))
        value = Fraction(-p if quotient[1] == "-" else p, q)
    else:
        power = field.lower().partition("e")[2].lstrip("+") or "0"
        if abs(integer(power)) > MAX_EXPONENT:
            raise Rejected(place, f"an exponent of at most {MAX_EXPONENT}", describe(field))
        value = Fraction(Decimal(field))  # exactly, of any length
    return nearest_double(value, place) if numbers == "binary64" else value


def nearest_double(x: Fraction, place: str) -> Fraction:
    """x rounded to 53 bits, ties to even, subnormals included (IEEE 754 binary64), in integers only."""
    p, q = abs(x.numerator), x.denominator
    power = p.bit_length() - q.bit_length()  # 2^(power - 1) < |x| < 2^(power + 1)
    if p << max(0, -power) < q << max(0, power):
        power -= 1  # now 2^power <= |x| < 2^(power + 1)
    unit = max(power - 52, -1074)
    whole, rest = divmod(p << max(0, -unit), q << max(0, unit))
    half = 2 * rest - (q << max(0, unit))
    whole += half > 0 or (half == 0 and whole % 2)
    value = Fraction(whole) * Fraction(2) ** unit
    if value >= 2**1024:
        raise Rejected(place, "a number within the range of binary64", show(x))
    return -value if x < 0 else value


def read_direct(raw: bytes, limits: Limits, numbers: int = 2**20) -> Direct:
    """X, y, groups and K of a direct problem: JSON with integers or strings for numbers, about so many."""
    content = unzipped(raw, limits)
    if content.count(b",") > 2 * numbers + SPARE:
        raise Rejected("data", f"at most {numbers} numbers", "more")
    within_limits(content, limits, "data", BadData)
    try:
        value = parsed(content.decode("utf-8-sig"), Literal, no_real)
    except (ValueError, RecursionError) as error:
        raise Rejected("data", "an object with X, groups, y and perhaps K", str(error)) from None
    top = Node(value, None, "data").record("X", "groups", "y", optional=("K",))
    groups = tuple(tuple(map(column, b.array())) for b in top["groups"].array())
    cones = top["K"].array() if "K" in top and top["K"].value is not None else [Node(None)] * len(groups)
    K = tuple(None if K_b.value is None else cone(K_b) for K_b in cones)
    return matrix(top["X"]), tuple(map(entry, top["y"].array())), groups, K


class Literal(str):
    """A JSON integer as it was written."""


def column(node: Node) -> int:
    """A column's index in a direct problem."""
    node.require(isinstance(node.value, Literal), "a JSON integer")
    return integer(node.value)


def cone(node: Node) -> Matrix | None:
    """K_b, or None where it has no columns: then there is no constraint."""
    K = matrix(node)
    return K if any(K) else None


def matrix(node: Node) -> Matrix:
    """A matrix of the data, given as rows."""
    return tuple(tuple(map(entry, row.array())) for row in node.array())


def entry(node: Node) -> Fraction:
    """A number of a direct problem: a JSON integer (handed on as its text) or a string."""
    node.require(isinstance(node.value, str), "a JSON integer or a string")
    return number(node.value.strip(), "decimal", node.place)
