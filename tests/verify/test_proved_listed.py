"""The text of a list of pieces, by hand: trees of signs, sides that are flat, and what the list has not."""

from __future__ import annotations

import json
import random
from fractions import Fraction as F
from typing import Any

import pytest

from tests.verify.build import plain
from tests.verify.oracle.brute import mat, vec
from tests.verify.score import CORPUS
from verify import Declined, Rejected, proved, proved_listed
from verify.proved_listed import ListedText, Tree, combination
from verify.text import Limits


@pytest.mark.parametrize(
    ("columns", "b", "found"),
    [
        ([[1, 0], [0, 1]], [3, 2], ["3", "2"]),
        ([[1, 0], [0, 1]], [3, -2], None),
        ([[1, 0], [0, -1]], [3, -2], ["3", "2"]),
        ([[2, 4]], [1, 2], ["1/2"]),
        ([[2, 4]], [1, 3], None),
        ([], [0, 0], []),
        ([], [1], None),
        ([[1, 1], [1, -1], [-1, 0]], [0, 0], ["0", "0", "0"]),
    ],
)
def test_sums_with_weights_that_are_not_negative(columns: Any, b: Any, found: Any) -> None:
    """The weights, or none."""
    assert combination(columns, b) == (None if found is None else [F(x) for x in found])


@pytest.mark.parametrize("seed", range(40))
def test_drawn_sums(seed: int) -> None:
    """What is found is a sum with weights >= 0; where such weights were drawn some are found, and where a vector has
    a positive product with b alone there are none."""
    draw = random.Random(seed)
    d, n = draw.randint(1, 4), draw.randint(1, 7)
    columns = [[draw.randint(-3, 3) for _ in range(d)] for _ in range(n)]
    weights = [draw.choice((0, 0, 1, 2, 5)) for _ in range(n)]
    b = [sum(w * c[i] for w, c in zip(weights, columns, strict=True)) for i in range(d)]
    x = combination(columns, b)
    assert x is not None and min(x) >= 0
    assert [sum(x_j * c[i] for x_j, c in zip(x, columns, strict=True)) for i in range(d)] == b
    e = [draw.randint(-3, 3) for _ in range(d)]
    below = [c for c in columns if sum(a * b for a, b in zip(c, e, strict=True)) <= 0]
    assert not any(e) or combination(below, e) is None


def test_a_tree_by_hand() -> None:
    """Rows 1, -1 and 2 on a line, told apart: two pieces; that the second is off where the first is on, and so on, is
    said with sums that are 0, each of which is used again."""
    side = {0b101: "5 0 5", 0b010: "0 7 0"}
    tree = Tree([[1], [-1], [2]], [0, 1, 2], side)
    assert list(tree.below(sorted(side), 0, {})) == [
        *("D 0", "O 1 0 1 1 0", "O 2 1 2 0 -1", "P 5 0 5"),
        *("O 1 1 -1 -1 0", "O 2 0 -2 0 1", "P 0 7 0"),
    ]
    assert len(tree.known) == 2


def test_sums_that_are_used_again() -> None:
    """On both sides of a row that has nothing to do with them, and with both signs; a sum without the row in question,
    or with another sign, is not used."""
    side = {0b0111: "a", 0b1011: "b", 0b0100: "c", 0b1000: "d"}
    tree = Tree([[1, 0], [2, 0], [0, 1], [0, -3]], [2, 3, 0, 1], side)
    first, second = ("O 1 1 2 -1 0 0", "O 1 0 -2 1 0 0"), ("O 3 0 0 0 3 1", "O 3 1 0 0 -3 -1")
    assert list(tree.below(sorted(side), 0, {})) == [
        *("D 2", second[0], "D 0", first[0], "P a", first[1], "P c"),
        *(second[1], "D 0", first[0], "P b", first[1], "P d"),
    ]
    assert len(tree.known) == 2
    known = [{3: F(1), 2: F(1)}, {0: F(5), 1: F(5)}, {0: F(1), 2: F(1)}, {1: F(1), 2: F(1, 2)}]
    other = Tree([[1], [-1], [2]], [0, 1, 2], {0b101: "a", 0b010: "b"}, known)
    assert list(other.below([0b010, 0b101], 0, {}))[1:3] == ["O 1 0 5 5 0", "O 2 1 0 -2 -1"]


@pytest.mark.parametrize("most", [3, 4])
def test_no_more_nodes(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Pieces times one more than the rows that are told apart: two times two."""
    case = plain.zero_network("zero", mat([[1, 0], [0, 1]]), vec(1, -2), F(2))
    monkeypatch.setattr(proved_listed, "MOST_NODES", most)
    text = proved.read(json.dumps(case.certificate).encode(), case.raw, Limits())
    if most == 4:
        assert list(text.lines())
    else:
        with pytest.raises(Declined, match="at most 3 nodes"):
            list(text.lines())


def test_numbers_over_common_denominators() -> None:
    """theta = y = (1/2, -1/3, 0), a row that is not told apart, and multipliers in parts of 6 times the scale."""
    case = plain.zero_network("zero", mat([[1, 0], [0, 1], [1, 1]]), vec("1/2", "-1/3", 0), F(2))
    entries = case.certificate["facts"]["dual"]["multipliers"]
    for entry in entries["+"]:
        if entry[0][0] == "1":
            entry[1:] = [[1], "-1/12"]
    text = proved.read(json.dumps(case.certificate).encode(), case.raw, Limits())
    said = " ".join(text.lines()).split()
    assert " ".join(said[said.index("listed") :]) == (
        "listed theta 6 3 -2 0 lower 13 72 scale 2 D 0 P 6 -1 0 P 0 0 0 D 1 P 0 4 0 P 0 0 0 end"
    )


def test_a_piece_that_is_missing() -> None:
    """A side that is not flat, without a piece; and one piece twice."""
    with pytest.raises(Rejected, match="none for a side of row 1"):
        list(Tree([[1, 0], [0, 1]], [0, 1], {0b11: "", 0b01: "", 0b10: ""}).below([0b11, 0b01, 0b10], 0, {}))
    with pytest.raises(Rejected, match="2 of one"):
        list(Tree([[1]], [], {0: "0", 1: "0"}).below([0, 1], 0, {}))


def test_a_text_word_for_word() -> None:
    """Z = I and theta = y = (1, -2), lambda = 2: for + the row 1 alone is told apart, for - the row 2."""
    case = plain.zero_network("zero", mat([[1, 0], [0, 1]]), vec(1, -2), F(2))
    text = proved.read(json.dumps(case.certificate).encode(), case.raw, Limits())
    assert isinstance(text, ListedText)
    assert text.obstacle(None) == "a list of patterns bounds the objective only"
    said = " ".join(text.lines()).split()
    assert " ".join(said[said.index("listed") :]) == (
        "listed theta 1 1 -2 lower 5 2 scale 1 D 0 P 1 0 P 0 0 D 1 P 0 2 P 0 0 end"
    )


def test_pieces_that_are_left_out_are_missed() -> None:
    """Without any one of its entries a list makes no text."""
    tree = json.loads((CORPUS / "accepted" / "optimal-03.json").read_bytes())
    for sign in "+-":
        for k in range(len(tree["facts"]["dual"]["multipliers"][sign])):
            other = json.loads(json.dumps(tree))
            del other["facts"]["dual"]["multipliers"][sign][k]
            with pytest.raises((Rejected, LookupError)):
                list(proved.read(json.dumps(other).encode(), None, Limits()).lines())


def test_rows_of_zeros_in_a_list() -> None:
    """Each has a sum of its own; that of another row, which is no less a sum of zero, says nothing of it."""
    tree = Tree([[0, 0], [0, 0]], [0, 1], {0b11: "1 2"})
    assert list(tree.below([0b11], 0, {})) == ["O 0 1 -1 0", "O 1 1 0 -1", "P 1 2"]
