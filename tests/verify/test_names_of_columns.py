"""Columns by name or index: digits of other scripts are a name, and both readers of the data agree on it."""

from __future__ import annotations

import pytest

from relu_cert.data.read import read_csv_bytes
from verify.errors import Rejected
from verify.problem.data import bag_column, read_fields
from verify.problem.input import Input
from verify.text import Limits

NAMES = ["٣", "²", "a", "1e5", "nan", "\uff11"]


@pytest.mark.parametrize("name", NAMES)
def test_bags_by_the_name_of_a_column(name: str) -> None:
    """A column whose name looks like a number in some script is found by its name, in the first record."""
    raw = f"{name},x,y\np,1,3\np,2,3\nq,3,5\n".encode()
    source = read_csv_bytes(raw, "f.csv", bags=name).source
    read_as = Input(source.sha256, "csv", target=source.target, header=source.header, bags=source.bags)
    body, header = read_fields(raw, read_as, Limits(), 100)
    assert (source.bags, header, len(body)) == (name, [name, "x", "y"], 3)
    assert bag_column(header, source.bags) == 0


def test_bags_by_the_index_of_a_column() -> None:
    """Digits of ASCII are an index; one that is too large, or a name that is not there, is rejected."""
    assert [bag_column(["a", "b", "3"], named) for named in ("0", "2", "1")] == [0, 2, 1]
    for named in ("3", "٢", "c"):
        with pytest.raises(Rejected, match="an index below 3, or the name of one column"):
            bag_column(["a", "b", "3"], named)
