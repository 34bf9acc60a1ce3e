"""Data as people have them: other delimiters are seen, labels are noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from relu_cert.data import read_csv_bytes
from relu_cert.errors import DataError
from tests.cli.run import run
from verify.__main__ import main as verify


@pytest.mark.parametrize(("delimiter", "named"), [(";", "semicolons"), ("\t", "tabs"), ("|", "|")])
def test_another_delimiter_is_seen_and_said(tmp_path, monkeypatch, delimiter, named):
    """Without --delimiter; the report says how it was read, and the checker reads the file in the same way."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x,y\n1,1\n2,3\n-1,2\n".replace(",", delimiter))
    ran = run("check", "d.csv", "--lambda", "1/2")
    assert ran.code == 0 and f"read         fields separated by {named}" in ran.out
    assert verify(["d.cert.json", "--data", "d.csv"]) == 0


def test_a_comma_is_a_delimiter_first():
    """Where a line has a comma nothing is guessed, and a decimal comma is named."""
    with pytest.raises(DataError, match=r"with a decimal point it would be '2\.5'"):
        read_csv_bytes(b"a;y\n2,5;1\n", "d.csv")


def test_two_labels_are_noticed(tmp_path, monkeypatch):
    """A hint on stderr, where targets are 0 and 1 and the loss is squares."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x,y\n1,0\n2,1\n-1,1\n")
    assert "two labels only; --loss logistic" in run("check", "d.csv").err
    assert "two labels" not in run("check", "d.csv", "--loss", "logistic", "--force").err
