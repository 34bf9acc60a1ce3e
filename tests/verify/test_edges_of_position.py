"""General position at its edges: ties, supports with several null vectors, and what is too large to be searched."""

from __future__ import annotations

from typing import Any

import pytest

from verify import Declined, Rejected
from verify.numbers.roots import can_vanish
from verify.rules.ggp import Blocks, check_position
from verify.text import Node


def node(value: Any) -> Node:
    """A value, as if it was read."""
    return Node(value, None, "here")


def on_a_line(*blocks: list[int]) -> Blocks:
    """Blocks of columns with one row."""
    return Blocks("blocks", 1, len(blocks), lambda b: [[x] for x in blocks[b]])


WIDE = on_a_line([1, 1], [3])  # |u_0| >= 3/root 2 |u_1| on all null vectors
PROOF = {"blocks": [0, 1], "basis": ["1 -1 0", "3 0 -1"], "wins": [{"plus": [0], "t": "1"}]}


def test_one_null_vector_is_looked_at() -> None:
    """Norms 2 and 1 cannot add up to 0, whatever their signs; 1 and 1 can."""
    assert check_position(on_a_line([1], [1]), node(None)) is None
    found = check_position(on_a_line([1], [2]), node({"supports": []}))
    assert found == (True, "no signed norms of null vectors on 2 of the 2 blocks add up to 0")
    with pytest.raises(Rejected, match="no tie, found one on blocks"):
        check_position(on_a_line([1], [1]), node({"supports": []}))
    with pytest.raises(Rejected, match="no tie, found one on blocks"):
        check_position(on_a_line([1], [2], [2]), node({"supports": []}))


@pytest.mark.parametrize(
    ("supports", "said"),
    [
        ([PROOF], None),
        ([], "which has 2 null vectors, found none"),
        ([PROOF, PROOF], "each support once"),
        ([{**PROOF, "basis": ["1 -1 0", "2 -2 0"]}], "2 independent null vectors"),
        ([{**PROOF, "basis": ["1 -1 0"]}], "2 independent null vectors, found 1, or dependent ones"),
        ([{**PROOF, "basis": [*PROOF["basis"], "0 3 -1"]}], "2 independent null vectors, found 3, or dependent ones"),
        ([{**PROOF, "basis": ["1 -1 0", "1 0 0"]}], "null vectors, Xu = 0"),
        ([{**PROOF, "wins": []}], "a coalition that wins"),
        ([{**PROOF, "wins": [{"plus": [1], "t": "1"}]}], "a positive definite form"),
        ([PROOF, {**PROOF, "blocks": [0]}], "supports of 2 blocks with two null vectors"),
    ],
)
def test_supports_with_two_null_vectors(supports: list[Any], said: str | None) -> None:
    """Each has a basis of all of them, and coalitions that win."""
    if said is None:
        assert check_position(WIDE, node({"supports": supports})) is not None
    else:
        with pytest.raises(Rejected, match=said):
            check_position(WIDE, node({"supports": supports}))


@pytest.mark.parametrize(
    ("blocks", "stated", "said"),
    [
        (on_a_line([1], [1]), {"zero": [[0, "+", "1"], [1, "-", "-1"]]}, None),
        (on_a_line([1], [1]), {"zero": [[0, "+", "1"], [1, "+", "-1"]]}, "of sign 0 for vector 0, found sign 1"),
        (on_a_line([1], [1]), {"zero": [[0, "-", "1"], [1, "-", "-1"]]}, "of sign 0 for vector 0, found sign -1"),
        (on_a_line([1], [1]), {"zero": [[0, "+", "1"], [1, "-", "1"]]}, "vector 0 not zero and Xu = 0"),
        (on_a_line([1], [1]), {"zero": [[0, "+", "0"], [1, "-", "0"]]}, "vector 0 not zero and Xu = 0"),
        (on_a_line([1], [1]), {"zero": [[0, "+", "1"], [0, "-", "-1"]]}, "at most 2 different blocks"),
        (
            on_a_line([1], [1], [1]),
            {"zero": [[0, "+", "1"], [1, "-", "-1"], [2, "+", "0"]]},
            "at most 2 different blocks",
        ),
        (on_a_line([1, 1], [1]), {"crossing": [[0, "+", "1 -1", "1 0"], [1, "-", "0", "-1"]]}, "sign -1 for vector 1"),
        (on_a_line([1, 1], [1]), {"crossing": [[0, "+", "1 -1", "1 1"], [1, "-", "0", "-2"]]}, None),
        (on_a_line([1, 1], [1]), {"crossing": [[0, "+", "1 1", "1 -1"], [1, "-", "-2", "0"]]}, "sign 1 for vector 0"),
        (on_a_line([1], [1]), {}, "one of zero, crossing, supports"),
        (on_a_line([1], [1]), {"zero": [], "supports": []}, "one of zero, crossing, supports"),
    ],
)
def test_ties(blocks: Blocks, stated: dict[str, Any], said: str | None) -> None:
    """A null vector whose signed norms add up to 0, or two with sums of opposite signs, on at most n + 1 blocks."""
    if said is None:
        found = check_position(blocks, node(stated))
        assert found is not None and not found[0]
    else:
        with pytest.raises(Rejected, match=said):
            check_position(blocks, node(stated))


def test_what_is_too_large() -> None:
    """Thirty-three equal norms, and more than a million supports, are declined; thirty-two are searched."""
    assert can_vanish([1] * 32) is True
    assert can_vanish([1] * 33) is None
    assert can_vanish([1] * 33 + [2]) is False
    n = 32
    units = Blocks("blocks", n, n + 1, lambda b: [[int(k == b) if b < n else 1 for k in range(n)]])
    with pytest.raises(Declined, match="at most 32 norms of one square class"):
        check_position(units, node({"supports": []}))
    with pytest.raises(Declined, match="at most 1000000 sets of 8 blocks"):
        check_position(Blocks("blocks", 7, 40, lambda b: [[1] * 7]), node({"supports": []}))
