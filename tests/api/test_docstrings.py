"""The examples in docstrings are run."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

RESULTS = [f"relu_cert.results.{name}" for name in ("certified", "solution")]


@pytest.mark.parametrize(
    "name", ["relu_cert", "relu_cert.api", "relu_cert.sklearn", "relu_cert.report.patterns", *RESULTS]
)
def test_examples_in_docstrings_run(name):
    """Every example prints what it says; there is at least one in each of these modules."""
    if name == "relu_cert.sklearn":
        pytest.importorskip("sklearn")
    found = doctest.testmod(import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
