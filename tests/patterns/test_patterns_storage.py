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
    ],
)
def test_round_trip(rows, tmp_path):
    """Groups, flats, circuits, covers, bits, and witnesses of any size."""
    found = enumerate_patterns(matrix(rows))
    save_npz(tmp_path / "patterns.npz", found)
    assert same(load_npz(tmp_path / "patterns.npz"), found)
    assert [path.name for path in tmp_path.iterdir()] == ["patterns.npz"]


def test_other_files_are_refused(tmp_path):
    """Neither other archives nor other files nor missing ones are taken for patterns."""
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    (tmp_path / "text.npz").write_text("hello")
    for name in ("other.npz", "text.npz", "missing.npz"):
        with pytest.raises(DataError, match=name):
            load_npz(tmp_path / name)
