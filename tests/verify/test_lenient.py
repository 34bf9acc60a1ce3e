"""The corpus notices a checker that leaves one decisive thing out, whichever it is."""

from __future__ import annotations

import pytest

from tests.verify.lenient import LEFT_OUT, TABLE, Line, accepted, leniently, lines

LINES = lines()


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.left_out)
def test_what_is_left_out_is_noticed(line: Line) -> None:
    """The checker rejects the certificate, and the same checker without that one thing accepts it."""
    assert not accepted(line)
    assert leniently(line)


def test_everything_that_may_be_left_out_has_a_line() -> None:
    """No lenient checker without a certificate that shows it, each once, in order."""
    assert [line.left_out for line in LINES] == sorted(LEFT_OUT)
    assert TABLE.read_text().splitlines() == sorted(TABLE.read_text().splitlines())
