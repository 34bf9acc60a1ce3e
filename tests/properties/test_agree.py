"""The certifier and the independent exact tools agree."""

from __future__ import annotations

import pytest

from properties.agree import BLOCKS, PATTERNS, check_patterns
from properties.exact.linalg import mat
from properties.model import Answer, Property
from properties.run import search


@pytest.mark.parametrize("prop", [PATTERNS, BLOCKS], ids=["patterns", "blocks"])
def test_certifier_and_exact_tools_agree(prop: Property) -> None:
    """No instance of the strategy on which they differ."""
    found = search(prop, 60)
    assert not found.failed, found.why
    assert found.instances >= 30


def test_disagreement_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the independent list loses a pattern, the comparison fails."""
    from properties import agree
    from properties.exact.patterns import PatternList, patterns

    def short(Z):  # type: ignore[no-untyped-def]
        found = patterns(Z)
        return PatternList(found.all[:-1], found.open, found.witness[:-1])

    monkeypatch.setattr(agree, "patterns", short)
    assert check_patterns(mat([[1, 0], [0, 1]])).answer is Answer.FAILS
