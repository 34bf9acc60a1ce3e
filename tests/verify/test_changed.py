"""The table of changed certificates: what the checker says to each of them is what is written there."""

from __future__ import annotations

import pytest

from tests.verify.changed import Changed, judge, table


@pytest.mark.parametrize("changed", table(), ids=lambda changed: changed.name)
def test_every_change_is_judged_as_listed(changed: Changed) -> None:
    """Accepted or rejected, word for word: python -m tests.verify.changed --keep."""
    assert judge(changed) == (changed.right, changed.said)
