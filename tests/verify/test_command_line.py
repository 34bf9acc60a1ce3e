"""python -m verify: its words, its exit codes, its JSON; the same under python -O."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.verify.cases import accepted
from tests.verify.wrong import changed
from verify.__main__ import main

CASE = accepted("xor, planted")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A certificate and its data on disk."""
    certificate, data = tmp_path / "c.json", tmp_path / "d.csv"
    certificate.write_bytes(CASE.text)
    data.write_bytes(CASE.raw)
    return str(certificate), str(data)


def test_accepted_is_0_with_one_line_a_claim(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each claim: accepted, the claim, the verdict, and in words what is proved."""
    assert main([files[0], "--data", files[1]]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["accepted", "patterns-complete", "PROVED"],
        ["accepted", "optimal", "PROVED"],
        ["accepted", "fit", "PROVED"],
    ]
    assert "the global minimum lies in [50, 50]" in lines[1]


def test_without_data_a_note_says_so(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody takes the certificate's own numbers for the file's."""
    assert main([files[0]]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("note      Z and y are the certificate's own")


def test_rejected_is_1(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """The place, what was expected and what was found."""
    Path(files[0]).write_bytes(changed(CASE, {"facts.value.lower": "51"}))
    assert main([files[0], "--data", files[1]]) == 1
    expected = "rejected  certificate.facts.value.lower: expected y.theta - 1/2|theta|^2 = 50, found 51 (off by 1)\n"
    assert capsys.readouterr().out == expected


def test_other_data_is_1(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """One byte more in the data, and the certificate is not about it."""
    Path(files[1]).write_bytes(CASE.raw + b"\n")
    assert main([files[0], "--data", files[1]]) == 1
    assert "certificate.input.sha256" in capsys.readouterr().out


def test_declined_is_2(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown version and a file over the limit."""
    assert main([files[0], "--max-bytes", "100"]) == 2
    assert "declined" in capsys.readouterr().out
    Path(files[0]).write_bytes(changed(CASE, {"version": 7}))
    assert main([files[0]]) == 2
    assert "declined  certificate.version: expected version 1, found 7" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a", "b"],
        ["a", "--tolerance", "1"],
        ["a", "--max-bytes", "x"],
        ["a", "--max-bytes", "-1"],
        ["a", "--max-bytes", "9" * 30],
        ["a", "--max-seconds", "0"],
        ["a", "--max-seconds", "9" * 30],
    ],
)
def test_wrong_command_lines_are_64(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be understood is a usage error, not a rejection."""
    assert main(arguments) == 64
    assert "usage" in capsys.readouterr().out


def test_a_missing_certificate_is_64(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing to reject."""
    assert main([str(tmp_path / "none.json")]) == 64
    assert "a file that can be read" in capsys.readouterr().out


def test_missing_data_is_65(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Data that is not there, a folder, or more than the limit."""
    assert main([files[0], "--data", str(tmp_path / "none.csv")]) == 65
    assert main([files[0], "--data", str(tmp_path)]) == 65
    Path(files[1]).write_bytes(b"0" * 10**6)
    assert main([files[0], "--data", files[1], "--max-bytes", "10000"]) == 65
    assert capsys.readouterr().out.count("data  ") == 3


def test_quiet_prints_nothing(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code tells."""
    assert main([files[0], "--quiet", "--json"]) == 0
    Path(files[0]).write_bytes(b"{}")
    assert main([files[0], "--quiet"]) == 1
    assert capsys.readouterr().out == ""


def test_json_is_one_object(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """For programs: the result, the claims, and the error if there is one."""
    assert main([files[0], "--data", files[1], "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["result"] == "accepted"
    assert [sorted(claim) for claim in report["claims"]] == [["claim", "proved", "verdict"]] * 3
    Path(files[0]).write_bytes(b"{}")
    assert main([files[0], "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["result"], report["claims"]) == ("rejected", [])
    assert report["error"] == {"place": "certificate", "expected": "the key format", "found": "only nothing"}


def test_too_little_memory_is_2(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate that needs more memory than there is was not found wrong: declined."""

    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("verify.__main__.check", exhausted)
    assert main([files[0]]) == 2
    assert capsys.readouterr().out.startswith("declined")


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm clock")
def test_too_little_time_is_2(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the time is over, the certificate was not found wrong: declined. The alarm is off afterwards."""
    before = signal.getsignal(signal.SIGALRM)

    def rings(*_: object) -> None:
        assert signal.alarm(7) in range(3500, 3601)  # what was left of the hour
        signal.raise_signal(signal.SIGALRM)

    monkeypatch.setattr("verify.__main__.check", rings)
    assert main([files[0]]) == 2
    assert (
        capsys.readouterr().out == "declined  file: expected less work than time (--max-seconds) allows, found more\n"
    )
    assert signal.alarm(0) == 0
    assert signal.getsignal(signal.SIGALRM) == before


def test_an_interruption_is_130(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C says nothing about the certificate, and shows no traceback."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("verify.__main__.check", interrupted)
    assert main([files[0]]) == 130
    assert capsys.readouterr().out == "interrupted  nothing is said about the certificate\n"


@pytest.mark.parametrize("flags", [[], ["-O"], ["-OO"]])
def test_optimised_python_checks_as_much(flags: list[str], files: tuple[str, str]) -> None:
    """No check is an assert: python -O accepts and rejects the same, with the same words."""
    command = [sys.executable, *flags, "-m", "verify", files[0], "--data", files[1]]
    good = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (good.returncode, good.stdout.count("accepted"), good.stderr) == (0, 3, "")
    Path(files[0]).write_bytes(changed(CASE, {"facts.patterns.covers": []}))
    bad = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert bad.returncode == 1
    assert bad.stdout.startswith("rejected  certificate.facts.patterns.covers: expected a cover of the dependent flat")
    assert bad.stderr == ""
