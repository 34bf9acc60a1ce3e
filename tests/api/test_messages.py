"""Refusals of the Python interface speak of its arguments."""

from __future__ import annotations

import pytest

from relu_cert import certify, certify_network
from relu_cert.errors import ReluCertError

Z, Y = [[1, 2], [2, 1], [-1, 1]], [1, 3, 2]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: certify(Z, [1, 2, 3], 1, loss="logistic"), "`loss`"),
        (lambda: certify(Z, Y, 1, l2=1, free="skip"), "`free`"),
        (lambda: certify_network(([[1, 0]], [1.0], [1], [2.0]), Z, Y, 1), "`bias`"),
    ],
)
def test_no_message_speaks_of_options(call, said):
    """The argument is named as it is written in Python."""
    with pytest.raises(ReluCertError) as caught:
        call()
    assert said in str(caught.value) and "--" not in str(caught.value)
