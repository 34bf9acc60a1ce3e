"""Direct CGL problems as JSON: what is read, and how what cannot be read is refused."""

from __future__ import annotations

import gzip
import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.data.dataset import Source
from relu_cert.errors import DataError
from relu_cert.exact import matrix, vector
from relu_cert.problem import Block, Problem, problem_from_json, read_problem_json
from relu_cert.problem.direct import problem_text

GOOD: dict[str, Any] = {
    "X": [[5, "0", "3/2"], [0, "-10.5", "8e-1"]],
    "groups": [[2, 0], [1]],
    "K": [[[1, 0], [0, -1]], None],
    "y": [6, "10"],
}


def refusal(text: str) -> str:
    """The message with which a text is refused."""
    with pytest.raises(DataError) as caught:
        problem_from_json(text, "p.json")
    return str(caught.value)


def changed(**parts: Any) -> str:
    """GOOD with some keys changed."""
    return json.dumps(GOOD | parts)


def test_blocks_take_their_columns_in_order() -> None:
    """X_b has the columns that its group names, in the group's order, and K_b is as given; all exact."""
    problem = problem_from_json(json.dumps(GOOD))
    assert problem == Problem(
        "cgl",
        vector([6, 10]),
        (
            Block(matrix([["3/2", 5], ["4/5", 0]]), matrix([[1, 0], [0, -1]])),
            Block(matrix([[0], ["-21/2"]]), None),
        ),
        columns=((2, 0), (1,)),
    )


@pytest.mark.parametrize("K", [[None, None], [[], []], [[[], []], [[]]]])
def test_no_constraints_have_several_spellings(K: Any) -> None:
    """null, a matrix without rows and one without columns all leave w_b free, as does leaving K out."""
    problem = problem_from_json(changed(K=K))
    assert [block.K for block in problem.blocks] == [None, None]
    assert problem == problem_from_json(json.dumps({key: GOOD[key] for key in ("X", "groups", "y")}))


def test_files_plain_and_packed(tmp_path: Path) -> None:
    """A file gives the problem and a source with the hash of its raw bytes."""
    for content in (json.dumps(GOOD).encode(), gzip.compress(json.dumps(GOOD).encode())):
        path = tmp_path / "p.json"
        path.write_bytes(content)
        problem, source = read_problem_json(path)
        assert problem == problem_from_json(json.dumps(GOOD))
        assert source == Source(str(path), hashlib.sha256(content).hexdigest(), "json")
    with pytest.raises(DataError, match="there is no such file"):
        read_problem_json(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "p.json: line 1, column 1: not JSON (Expecting value)."),
        ('{"X": [[1]],\n "y" 1}', "p.json: line 2, column 6: not JSON (Expecting ':' delimiter)."),
        ("[1]", "p.json: expected an object with the keys X, groups, K and y, found an array."),
        ('{"X": [], "X": []}', "p.json: the key 'X' is given twice; keep one."),
        ("[" * 100_000, "p.json: the JSON is nested too deeply; expected the keys X, groups, K and y."),
        (changed(lam=1), "p.json: unknown key 'lam'; the keys are X, groups, K and y."),
        ('{"X": [[1]], "y": [1]}', "p.json: the key 'groups' is missing; the keys are X, groups, K (optional) and y."),
        (changed(X=5), "p.json: X: expected an array, found the number '5'."),
        (changed(X=[]), "p.json: X: no numbers; expected at least one row and one column."),
        (changed(X=[[], []]), "p.json: X: no numbers; expected at least one row and one column."),
        (changed(X=[[1, 2, 3], "4 5 6"]), "p.json: X[1]: expected an array, found the string '4 5 6'."),
        (changed(X=[[1, 2, 3], [4, 5]]), "p.json: X[1]: expected 3 numbers as in X[0], found 2."),
        (
            changed(X=[[1, 2, 0.1], [4, 5, 6]]),
            'p.json: X[0][2]: found 0.1, a float, whose exact value is ambiguous; quote it: "0.1".',
        ),
        (
            changed(y=[1, 1e5]),
            'p.json: y[1]: found 100000.0, a float, whose exact value is ambiguous; quote it: "100000.0".',
        ),
        (changed(y=[1, True]), 'p.json: y[1]: expected an integer or a string such as "3/7", found true or false.'),
        (changed(y=[1, None]), 'p.json: y[1]: expected an integer or a string such as "3/7", found null.'),
        (changed(y=[1, {}]), 'p.json: y[1]: expected an integer or a string such as "3/7", found an object.'),
        (
            changed(y=[1, "two"]),
            "p.json: y[1]: found 'two', not a number; numbers look like 12, -0.5, 1e-3 or 3/7.",
        ),
        (changed(y=[1, "1/0"]), "p.json: y[1]: found '1/0', a division by zero; write a finite number."),
        (changed(y=[1]), "p.json: y: expected 2 numbers, one for each row of X, found 1."),
        (changed(groups=None), "p.json: groups: expected an array, found null."),
        (
            changed(groups=[[0, 1, 2], []], K=[[], []]),
            "p.json: groups[1]: an empty group; remove it, or give it columns.",
        ),
        (changed(groups=[[2, 0], 1]), "p.json: groups[1]: expected an array, found the number '1'."),
        (changed(groups=[[0], [1]]), "p.json: groups: column 2 of X is in no group; every column belongs to one."),
        (
            changed(groups=[[2, 0], [1, 2]]),
            "p.json: groups[1][1]: column 2 is already in groups[0]; a column belongs to one group.",
        ),
        (changed(groups=[[2, 0], [1, 3]]), "p.json: groups[1][1]: expected a column index from 0 to 2, found 3."),
        (changed(groups=[[2, 0], [-1]]), "p.json: groups[1][0]: expected a column index from 0 to 2, found -1."),
        (changed(groups=[[2, 0], [1.0]]), "p.json: groups[1][0]: expected a column index from 0 to 2, found 1.0."),
        (
            changed(groups=[[2, 0], ["1"]]),
            "p.json: groups[1][0]: expected a column index from 0 to 2, found the string '1'.",
        ),
        (
            changed(groups=[[2, 0], [True]]),
            "p.json: groups[1][0]: expected a column index from 0 to 2, found true or false.",
        ),
        (changed(K=[None]), "p.json: K: expected 2 entries, one for each group, found 1."),
        (changed(K=[None, [[1], [2]]]), "p.json: K[1]: expected 1 row, one for each column of groups[1], found 2."),
        (changed(K=[[[1, 2]], None]), "p.json: K[0]: expected 2 rows, one for each column of groups[0], found 1."),
        (changed(K=[[[1, 2], [3]], None]), "p.json: K[0][1]: expected 2 numbers as in K[0][0], found 1."),
        (
            changed(K=[None, [[0.5]]]),
            'p.json: K[1][0][0]: found 0.5, a float, whose exact value is ambiguous; quote it: "0.5".',
        ),
        (changed(K=None), "p.json: K: expected an array, found null."),
        (
            changed(y=[1, float("nan")]),
            "p.json: y[1]: found 'NaN', a missing value; fill it in, or remove its row or column.",
        ),
        (
            changed(y=[1, float("-inf")]),
            "p.json: y[1]: found '-Infinity', which is not finite; write a finite number, or remove its row.",
        ),
    ],
)
def test_refusals_name_the_key_and_the_index(text: str, message: str) -> None:
    """Each refusal names the file, the key and index, what was expected or found, and a way out."""
    assert refusal(text) == message


def test_hostile_contents_are_escaped_and_cut() -> None:
    """Keys, strings and numbers of the file reach a message only escaped and cut."""
    for text in (
        changed(**{"\x1b[2J" + "k" * 999: 1}),
        changed(y=[1, "\x07" * 999]),
        changed(X="\u202e" * 999),
        json.dumps(GOOD).replace("6,", "6." + "1" * 999 + ","),
        json.dumps(GOOD).replace("[1]", "[" + "1" * 999 + "]"),
    ):
        message = refusal(text)
        assert message.isprintable()
        assert len(message) < 400


def test_large_numbers_go_both_ways() -> None:
    """Integers beyond the interpreter's own limit on digits are read and written; beyond ours they are refused."""
    nines = "9" * 15_000
    problem = problem_from_json(f'{{"X": [[{nines}]], "groups": [[0]], "y": ["1/{nines}"]}}')
    assert problem.blocks == (Block(((Fraction(10**15_000 - 1),),), None),)
    assert problem_from_json(written(problem)) == problem
    assert "X[0][0]: found '1111" in refusal('{"X": [[' + "1" * 20_001 + ']], "groups": [[0]], "y": [1]}')


def written(problem: Problem) -> str:
    """The JSON text of a direct problem."""
    order = [j for group in problem.columns or () for j in group]
    joined = [tuple(x for block in problem.blocks for x in block.X[k]) for k in range(problem.n)]
    X = tuple(tuple(x for _, x in sorted(zip(order, row, strict=True))) for row in joined)
    return problem_text(X, problem.columns, problem.y, [block.K for block in problem.blocks])


rationals = st.builds(Fraction, st.integers(-(10**18), 10**18), st.integers(1, 10**6))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """A small random direct problem."""
    n, width = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    order = draw(st.permutations(range(width)))
    cuts = sorted(draw(st.sets(st.integers(1, width - 1), max_size=3))) if width > 1 else []
    columns = tuple(tuple(order[a:b]) for a, b in zip([0, *cuts], [*cuts, width], strict=True))

    def rows(count: int, length: int) -> Any:
        return draw(st.tuples(*[st.tuples(*[rationals] * length)] * count))

    blocks = []
    for group in columns:
        a = draw(st.integers(0, 2))
        blocks.append(Block(rows(n, len(group)), rows(len(group), a) if a else None))
    return Problem("cgl", rows(1, n)[0], tuple(blocks), columns=columns)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(problems())
def test_problems_read_back_as_they_were_written(problem: Problem) -> None:
    """Writing and reading changes no number, no group and no order."""
    assert problem_from_json(written(problem)) == problem


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.sampled_from(["1/2", "x", "", "1/0"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["X", "y", "K", "groups", "z"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(json_values, st.sampled_from([None, "X", "groups", "K", "y"]), st.integers(0, 200))
def test_any_text_gives_a_problem_or_a_data_error(value: Any, key: str | None, cut: int) -> None:
    """Whatever stands in the file, or in one of its keys, or where it breaks off: a problem or a DataError."""
    whole = json.dumps(value if key is None else GOOD | {key: value})
    for text in (whole, whole[:cut]):
        try:
            problem = problem_from_json(text, "p.json")
        except DataError as error:
            assert str(error).isprintable()
            continue
        assert problem.columns is not None
        assert sorted(j for group in problem.columns for j in group) == list(range(sum(map(len, problem.columns))))
