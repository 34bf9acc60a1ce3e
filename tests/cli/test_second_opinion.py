"""`check --proved`: the checker that is itself proved is asked, too, and what it says is one line of the report."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from relu_cert.checker import second_opinion
from relu_cert.errors import ReluCertError, UsageError
from tests.cli.run import run
from tests.verify.score import CORPUS
from verify import Declined, Rejected, proved
from verify.proved import Bounds

COVER = (CORPUS / "accepted" / "cover-00.json").read_text()


def test_the_line_of_the_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its sentence as it is; the certificate that it is given is the one that is written."""
    monkeypatch.chdir(tmp_path)
    given: list[bytes] = []
    monkeypatch.setattr(proved, "prove", lambda text, data: given.append(text) or Bounds(Fraction(1), Fraction(2)))
    Path("d.csv").write_text("a,y\n1,2\n2,1\n-1,3\n")
    ran = run("check", "d.csv", "--lambda", "1", "--proved")
    assert ran.code == 0, ran.err
    assert "proved       by a checker that is itself proved: p* is in [1.000000000000, 2.000000000000]" in ran.out
    assert given == [Path("d.cert.json").read_bytes()]
    assert run("check", "d.csv", "--lambda", "1", "--proved", "--json").code == 64
    assert "proved  " not in run("check", "d.csv", "--lambda", "1", "--force").out


def test_what_it_does_not_know_and_what_it_rejects(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Other problems are no error, a certificate that it rejects is one, and where it is not built it is not asked."""

    def refuse(error: Exception) -> None:
        def prove(*_: object) -> Bounds:
            raise error

        monkeypatch.setattr(proved, "prove", prove)

    refuse(Declined("--proved", "ReLU networks", "another"))
    assert second_opinion(COVER, None).endswith("says nothing: it knows ReLU networks only")
    refuse(Rejected("proved checker", "lower 1 2 accepted", "nothing"))
    with pytest.raises(ReluCertError, match="does not accept our own certificate"):
        second_opinion(COVER, None)
    monkeypatch.undo()
    monkeypatch.setattr(proved, "HERE", tmp_path)
    with pytest.raises(UsageError, match="--proved: there is no proved checker, which needs coq"):
        second_opinion(COVER, None)
