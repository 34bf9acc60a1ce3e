"""Walks through evidence by leaders: change after change, all that is accepted is kept, and none of it is false."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tests.leaders.planted import checked, holds_in_plane
from tests.verify.build.leaders import leading
from verify import VerifyError
from verify.optimal import leaders
from verify.text import Node

STEPS = 500
Evidence = dict[str, Any]


def moved(x: int, draw: random.Random) -> int:
    """Zero, the negative, one more or less, or a little or much larger or smaller."""
    factor = 1 + draw.choice((-1, 1)) * 10 ** draw.uniform(-6, 0.3)
    return draw.choice((0, -x, x + 1, x - 1, *[int(x * factor)] * 6))


def step(evidence: Evidence, draw: random.Random) -> Evidence:
    """theta stretched, a triangle more, or a number of a cell, a leader or a triangle changed."""
    new = copy.deepcopy(evidence)
    cell = draw.choice([cell for sign in "+-" for cell in new[sign]["cells"]])
    ties = cell.setdefault("triangles", {"corners": "", "signs": "", "weights": ""})
    kind = draw.random()
    if kind < 0.2:
        new["theta"] = " ".join(str(int(t) * (10**6 + draw.randrange(10**4)) // 10**6) for t in new["theta"].split())
    elif kind < 0.3:
        more = [draw.randrange(len(cell["leaders"]) + 1) for _ in range(3)], draw.choices((1, -1), k=2), [10**11]
        for (key, old), numbers in zip(ties.items(), more, strict=True):
            ties[key] = " ".join([*old.split(), *map(str, numbers)])
    else:
        place = draw.choice([new, cell, ties, ties, *cell["leaders"]])
        key = draw.choice([key for key, text in place.items() if isinstance(text, str) and key != "unit"])
        if numbers := [int(x) for x in place[key].split()]:
            i = draw.randrange(len(numbers))
            numbers[i] = moved(numbers[i], draw)
            place[key] = " ".join(map(str, numbers))
    return new


def walk(seed: int) -> Iterator[bool]:
    """Whether (*), decided exactly, holds for the theta of all that is accepted on the way."""
    problem = leading("tied").certificate["problem"]
    Z, y = [[int(x) for x in row.split()] for row in problem["Z"]], [int(x) for x in problem["y"].split()]
    draw, here = random.Random(seed), leading("tied").certificate["facts"]["leaders"]
    for _ in range(STEPS):
        new = step(here, draw)
        try:
            theta, _ = checked(Z, y, problem["lambda"], new)
        except VerifyError:
            continue
        here = new
        yield holds_in_plane(Z, theta, Fraction(problem["lambda"]))


@pytest.mark.parametrize("seed", range(2))
def test_a_walk_ends_at_nothing_false(seed: int) -> None:
    """What is accepted after hundreds of accepted changes is true, too."""
    found = list(walk(seed))
    assert len(found) > 100 and all(found)


def test_a_walk_finds_what_a_weaker_checker_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Triangles that cost half of their price: soon something false is accepted."""
    read = leaders.read_triangles

    def cheap(node: Node, count: int) -> leaders.Ties:
        ties = read(node, count)
        return replace(ties, price=ties.price // 2)

    monkeypatch.setattr(leaders, "read_triangles", cheap)
    assert not all(walk(0))
