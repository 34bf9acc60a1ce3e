"""The checker has a reader of its own. Whatever is read here, it reads there, number for number."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert import examples
from relu_cert.data import Numbers, read_csv_bytes
from relu_cert.errors import DataError
from relu_cert.problem import problem_from_json
from verify.problem.data import Input, read_direct, read_table
from verify.text import Limits


def both(raw: bytes, **options: Any) -> bool:
    """Whether the bytes are data here; if so, the second reader must read the same."""
    try:
        data = read_csv_bytes(raw, "f.csv", **options)
    except DataError:
        return False
    s = data.source
    how = Input(s.sha256, "csv", s.numbers, s.bias, s.target, s.delimiter, s.header)
    assert read_table(raw, how, Limits()) == (data.Z, data.y, s.header)
    return True


fields = st.sampled_from(
    [
        *("0", "1", "-2.5", "+3/7", ".5", "5.", "1e-320", "1.5E+3", "0.1", "9007199254740993", "1e400", "1/3"),
        *(" 1", "2\t", "\u00a03", '"4"', '" 5 "', '"a,b"', "a", "nan", "n/a", "?", "", "1/0", "\u0661", "1_0"),
    ]
)
numeric_fields = st.one_of(
    st.fractions().map(str), st.floats(allow_nan=False, allow_infinity=False).map(repr), st.integers().map(str)
)


def tables(field: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Tables of some fields, with any line ends, some of them with names or blank lines at the end."""
    records = st.integers(2, 4).flatmap(
        lambda width: st.lists(st.lists(field, min_size=width, max_size=width).map(",".join), min_size=1, max_size=4)
    )
    ends = st.sampled_from(["\n", "\r\n", "\r"])
    return st.builds(lambda rows, end, last: end.join(rows) + last, records, ends, st.sampled_from(["", "\n", "\n \n"]))


modes = st.sampled_from(["decimal", "binary64"])


@settings(derandomize=True, deadline=None, max_examples=400)
@given(tables(fields), modes, st.booleans(), st.booleans(), st.sampled_from([None, 0, "a", -2]))
def test_odd_tables_are_read_alike(text: str, numbers: Numbers, bias: bool, packed: bool, target: Any) -> None:
    """Odd fields, names, quotes, blanks and line ends: what is data for one reader is the same data for the other."""
    raw = text.encode()
    both(gzip.compress(raw) if packed else raw, numbers=numbers, bias=bias, target=target)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(tables(numeric_fields), modes)
def test_tables_of_numbers_are_read_alike(text: str, numbers: Numbers) -> None:
    """Numbers of every size and form, exactly or as doubles, are the same for both readers, and never refused here."""
    assert both(text.encode(), numbers=numbers)


@pytest.mark.parametrize(
    "name", [n for n in examples.names() if examples.describe(n).model != "cgl" and not examples.describe(n).classes]
)
def test_examples_are_read_alike(name: str) -> None:
    """The bundled tables are the same for both readers."""
    assert both(examples.path(name).read_bytes(), bias=examples.describe(name).bias)


@pytest.mark.parametrize(
    "text",
    [
        '{"X": [[1, "2/4", "-0.5"]], "groups": [[2, 0], [1]], "K": [[[1], ["1e-2"]], null], "y": ["+7"]}',
        '{"y": [1, 2], "groups": [[0]], "X": [["3."], [".5"]]}',
        '\ufeff{"y": [1], "groups": [[1], [0]], "X": [[3, 4]], "K": [null, [["1/3", 5, -6]]]}',
    ],
)
def test_direct_problems_are_read_alike(text: str) -> None:
    """Direct problems have the same X, y, groups and K for both readers."""
    problem = problem_from_json(text.removeprefix("\ufeff"))
    X, y, groups, K = read_direct(text.encode(), Limits())
    assert (y, groups, K) == (problem.y, problem.columns, tuple(block.K for block in problem.blocks))
    parts = [tuple(tuple(row[j] for j in group) for row in X) for group in groups]
    assert parts == [block.X for block in problem.blocks]
