"""A saved pattern set is read back as it was."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from relu_cert.errors import DataError
from relu_cert.exact import matrix
from relu_cert.patterns import PatternSet, enumerate_patterns, load_npz, save_npz
from tests.patterns import instances


def same(a: PatternSet, b: PatternSet) -> bool:
    """Equal in every field."""
    head = ("n", "d", "rank", "columns", "covers")
    return all(getattr(a, name) == getattr(b, name) for name in head) and all(
        g.flat == h.flat
        and g.circuits == h.circuits
        and (g.bits == h.bits).all()
        and g.witnesses.dtype == h.witnesses.dtype
        and (g.witnesses == h.witnesses).all()
        for g, h in zip(a.groups, b.groups, strict=True)
    )


@pytest.mark.parametrize(
    "rows",
    [
        instances.ternary(3),
        instances.cube(3),
        [[0, 0]],
        [[1, 1, 1], [1 + Fraction(1, 10**30), 1, 1], [1, 1 + Fraction(1, 10**30), 1], [1, -1, 0], [1, 1, 2]],
        [[10**3000, 1, 5], [7, 10**2500, 1], [3, 1, -(10**2700)], [1, 10**1500, 10**900], [-1, 0, 10**1200]],
    ],
    ids=["ternary", "cube", "zero", "long", "over 4300 digits"],
)
def test_round_trip(rows, tmp_path):
    """Groups, flats, circuits, covers, bits, and witnesses of any size."""
    found = enumerate_patterns(matrix(rows))
    save_npz(tmp_path / "patterns.npz", found)
    assert same(load_npz(tmp_path / "patterns.npz"), found)
    assert [path.name for path in tmp_path.iterdir()] == ["patterns.npz"]


def test_few_long_witnesses_cost_little(tmp_path):
    """One witness of thousands of digits does not make all others as wide in the file."""
    tiny = Fraction(1, 10**2000)
    rows = [[1, k, k * k, k**3] for k in range(16)]
    found = enumerate_patterns(matrix([*rows, [1, tiny, tiny, tiny]]))
    save_npz(tmp_path / "patterns.npz", found)
    with np.load(tmp_path / "patterns.npz") as file:
        assert file["witnesses"].dtype == np.int64
        assert 0 < len(file["long"]) < len(found)
    assert same(load_npz(tmp_path / "patterns.npz"), found)


def test_other_files_are_refused(tmp_path):
    """Neither other archives nor other files nor missing ones are taken for patterns."""
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    (tmp_path / "text.npz").write_text("hello")
    for name in ("other.npz", "text.npz", "missing.npz"):
        with pytest.raises(DataError, match=name):
            load_npz(tmp_path / name)
