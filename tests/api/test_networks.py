"""All optimal networks as networks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from relu_cert import certify, examples
from relu_cert.data import read_csv
from relu_cert.errors import UsageError
from tests.cli.run import run


@pytest.mark.parametrize(("name", "bias", "lam", "number"), [("twins", False, 5, 2), ("xor", True, "1/10", 1)])
def test_the_vertices_are_networks(name, bias, lam, number):
    """They predict the same at the data, have the optimal penalty, and come narrowest first."""
    data = read_csv(examples.path(name))
    found = certify(data.Z, data.y, lam, bias=bias)
    networks = found.networks()
    widths = [one.width for one in networks]
    assert len(networks) == number and widths == sorted(widths) and widths[0] == found.optimal_set.m_star
    X = np.array(data.Z, dtype=float)
    for one in networks:
        assert np.allclose(one.predict(X), found.network.predict(X))
        norms = sum(np.linalg.norm([float(x) for x in neuron.w]) for neuron in one.neurons)
        loss = 0.5 * np.sum((one.predict(X) - np.array(data.y, dtype=float)) ** 2)
        assert loss + float(found.lam) * norms == pytest.approx(float(found.value.upper))


def test_what_is_not_listed_is_said():
    """Free terms, and nothing at lambda_max: a refusal and the zero network."""
    Z, y = [[1], [2], [-1]], [1, 3, 2]
    with pytest.raises(UsageError, match="terms are free"):
        certify(Z, y, 1, free="output-bias", verify=False).networks()
    (zero,) = certify(Z, y, 100, verify=False).networks()
    assert zero.width == 0 and zero.predict_exactly(Z) == (Fraction(0),) * 3


def test_the_command_lists_them(tmp_path, monkeypatch):
    """check --all has a paragraph for each."""
    monkeypatch.chdir(tmp_path)
    out = run("check", "--example", "twins", "--all").out
    assert "all 2 minimal optimal networks, the narrowest first" in out and "2: width 2" in out
