"""Data as people have them: other delimiters are seen, labels are noticed."""

from __future__ import annotations

import json
from fractions import Fraction as F
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
    """Where fields are separated by commas a decimal comma is none; numbers with points stay as they are."""
    with pytest.raises(DataError, match=r"expected 2 fields as in row 1, found 3"):
        read_csv_bytes(b"a,y\n2,5,1\n", "d.csv")
    assert read_csv_bytes(b"a;y\n2.5;1\n", "d.csv").source.numbers == "decimal"


@pytest.mark.parametrize("header", ["a;b;y\n", ""])
@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_decimal_comma_is_read_and_said(tmp_path, monkeypatch, delimiter, header):
    """1,5 between semicolons or tabs, with a header or none; the report says how, the checker agrees."""
    monkeypatch.chdir(tmp_path)
    text = (header + "1,5;2;-0,5\n,25;-1;1\n-1;3,;1e0\n").replace(";", delimiter)
    found = read_csv_bytes(text.encode(), "d.csv")
    assert found.Z[0] == (F(3, 2), F(2)) and found.Z[1][0] == F(1, 4) and found.y == (F(-1, 2), 1, 1)
    Path("d.csv").write_text(text)
    ran = run("check", "d.csv", "--lambda", "1/2")
    assert ran.code == 0 and "numbers with a decimal comma: 1,5 is 3/2" in ran.out
    assert verify(["d.cert.json", "--data", "d.csv"]) == 0
    tree = json.loads(Path("d.cert.json").read_text())
    tree["input"]["numbers"] = "decimal"
    Path("d.cert.json").write_text(json.dumps(tree))
    assert verify(["d.cert.json", "--data", "d.csv"]) == 1


@pytest.mark.parametrize("head", ["a,b,y\n", ""])
def test_two_texts_are_a_binary_target(tmp_path, monkeypatch, head):
    """yes and no are 1 and 0, which is said; the checker reads the labels from the file, and rejects others."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text(f"{head}1,2,yes\n2,-1,no\n-1,1,yes\n")
    ran = run("check", "d.csv", "--loss", "logistic", "--lambda", "1/10")
    assert ran.code == 0 and "labels       yes is 1, no is 0" in ran.out
    assert "label 0 is y = -1" in " ".join(ran.out.split())
    assert verify(["d.cert.json", "--data", "d.csv"]) == 0
    good = json.loads(Path("d.cert.json").read_text())
    assert good["input"]["labels"] == ["no", "yes"]
    for labels in (["yes", "no"], ["no", "maybe"], ["no"], ["no", "no"], None):
        tree = json.loads(json.dumps(good))
        tree["input"]["labels"] = labels
        if labels is None:
            del tree["input"]["labels"]
        Path("d.cert.json").write_text(json.dumps(tree))
        assert verify(["d.cert.json", "--data", "d.csv"]) == 1, labels


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (
            ["a", "b", "c"],
            r"3 different texts \('a', 'b', 'c'\); a network with an output for each .* --classes y",
        ),
        (["a", "a", "a"], "row 2, column 2 .*found 'a', not a number"),
        (["a", "1", "b"], "found 'a', not a number"),
        (["1", "a", "2"], "row 3, column 2 .*found 'a', not a number"),
    ],
)
def test_other_texts_get_a_sentence(texts, said):
    """Three labels point to --classes, one label and texts among numbers are named."""
    raw = "x,y\n" + "".join(f"{k},{text}\n" for k, text in enumerate(texts, 1))
    with pytest.raises(DataError, match=said):
        read_csv_bytes(raw.encode(), "d.csv")


@pytest.mark.parametrize("y", ["0,0,0", "2,2,2"])
def test_constant_targets(tmp_path, monkeypatch, y):
    """Targets 0 have lambda_max = 0: the zero network is best because nothing is asked of it, not because of lambda."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x,y\n" + "".join(f"{k},{t}\n" for k, t in zip((1, 2, -1), y.split(","), strict=True)))
    ran = run("check", "d.csv", "--lambda", "1/2")
    assert ran.code == 0
    if y == "0,0,0":
        asked = run("check", "d.csv", "--force")
        assert asked.code == 64 and "the zero network is the best for every lambda" in asked.err
        assert "because lambda is so large" not in " ".join(ran.out.split())
        assert "targets" in ran.out


def test_two_labels_are_noticed(tmp_path, monkeypatch):
    """A hint on stderr, where targets are 0 and 1 and the loss is squares."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x,y\n1,0\n2,1\n-1,1\n")
    assert "two labels only; --loss logistic" in run("check", "d.csv").err
    assert "two labels" not in run("check", "d.csv", "--loss", "logistic", "--force").err
