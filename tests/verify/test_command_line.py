"""python -m verify: its words, its exit codes, its JSON; the same under python -O."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from flint import fmpz_mat

from tests.verify.corpus.accepted_cases import accepted
from tests.verify.corpus.rejected_cases import changed
from verify.__main__ import grouped, main

CASE = accepted("xor, planted")
OBJECTIVE = "1/2|Xw-y|^2 + lambda*sum|w_b|"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A certificate and its data on disk."""
    certificate, data = tmp_path / "c.json", tmp_path / "d.csv"
    certificate.write_bytes(CASE.text)
    data.write_bytes(CASE.raw)
    return str(certificate), str(data)


def test_accepted_is_0_with_one_line_a_claim(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """First the statement, then one line for each claim: accepted, the claim, the verdict, in words what is proved."""
    assert main([files[0], "--data", files[1]]) == 0
    first, second, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("statement data: compared; sha256 c61fb2b0d") and "; n 4; d 2" in first
    assert second == f"statement problem: patterns all; model relu; objective {OBJECTIVE}; lambda 6; gap 0"
    assert [line.split()[:3] for line in lines] == [
        ["accepted", "patterns-complete", "PROVED"],
        ["accepted", "optimal", "PROVED"],
        ["accepted", "fit", "PROVED"],
    ]
    assert "the global minimum lies in [50, 50]" in lines[1]


def test_without_data_the_statement_says_so(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody takes the certificate's own numbers for the file's."""
    assert main([files[0]]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("statement data: not compared, Z and y are the certificate's own (--data RAW); ")


def test_verbose_names_the_rules(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """With -v each line is followed by the facts that it rests on."""
    assert main([files[0], "-v"]) == 0
    assert "          by primal, value" in capsys.readouterr().out.splitlines()
    assert main([files[0]]) == 0
    assert "          by " not in capsys.readouterr().out


def test_rejected_is_1(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """The place, what was expected and what was found."""
    Path(files[0]).write_bytes(changed(CASE, {"facts.value.lower": "51"}))
    assert main([files[0], "--data", files[1]]) == 1
    expected = "expected y.theta - 1/2|theta|^2 - cost = 50, found 51 (off by 1)"
    assert capsys.readouterr().out == f"rejected  certificate.facts.value.lower: {expected}\n"


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
    assert "declined  certificate.version: expected version 2, found 7" in capsys.readouterr().out


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
        ["a", "--max-memory", "0"],
        ["a", "--expect", "lambda"],
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
    assert [sorted(claim) for claim in report["claims"]] == [["claim", "proved", "rule", "under", "verdict"]] * 3
    assert report["statement"].items() >= {"data": "compared", "n": "4", "lambda": "6", "patterns": "all"}.items()
    Path(files[0]).write_bytes(b"{}")
    assert main([files[0], "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["result"], report["claims"]) == ("rejected", [])
    assert report["error"] == {"place": "certificate", "expected": "the key format", "found": "only nothing"}


def forever(*_: object) -> None:
    """One call of a C library that takes hours and that no signal handler interrupts."""
    fmpz_mat(500, 500, [i * i * i % 1009 for i in range(500 * 500)]).charpoly()


def everything(*_: object) -> None:
    """Ten gigabytes."""
    bytearray(10 << 30)


def everything_in_c(*_: object) -> None:
    """Ten gigabytes, asked for by a C library that gives up when there are none."""
    fmpz_mat(40_000, 40_000)


def a_bug(*_: object) -> None:
    """An error that nobody expects."""
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("work", "what"),
    [(forever, "time (--max-seconds)"), (everything, "memory (--max-memory)"), (everything_in_c, "memory")],
)
def test_too_much_time_or_memory_is_2(
    work: Callable[..., None],
    what: str,
    files: tuple[str, str],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is over a limit of the operating system was not found wrong: declined, with a sentence and nothing else."""
    monkeypatch.setattr("verify.__main__.check", work)
    start = time.monotonic()
    assert main([files[0], "--max-seconds", "2", "--max-memory", "6000"]) == 2
    assert time.monotonic() - start < 100
    told = capfd.readouterr()
    assert told.out.startswith(f"declined  file: expected less work than {what}")
    assert (told.out.count("\n"), told.err) == (1, "")


def test_an_error_of_the_checker_is_70(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of the checker is neither acceptance nor rejection, and it is told."""
    monkeypatch.setattr("verify.__main__.check", a_bug)
    assert main([files[0]]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().out
    assert main([files[0], "--json"]) == 70
    assert json.loads(capsys.readouterr().out)["result"] == "error"


@pytest.mark.parametrize(
    ("pair", "code", "message"),
    [
        ("lambda=6", 0, "accepted"),
        ("lambda=12/2", 0, "accepted"),
        ("lambda=9.99", 1, "rejected  --expect lambda: expected 9.99, found 6"),
        ("model=gated", 1, "rejected  --expect model: expected gated, found relu"),
        ("patterns=all", 0, "accepted"),
        ("gap=1e-9", 1, "rejected  --expect gap"),
        ("claim=optimal", 0, "accepted"),
        ("claim=optimal:REFUTED", 1, "rejected  --expect claim: expected REFUTED, found PROVED"),
        ("claim=p-unique", 1, "rejected  --expect claim: expected PROVED, found no such claim"),
        ("sha256=0", 1, "rejected  --expect sha256"),
        ("target=0", 1, "rejected  --expect target: expected 0, found 2"),
        ("delta=1", 64, "usage  --expect: expected one of the keys claim, data"),
        ("lambda", 64, "usage  --expect: expected KEY=VALUE"),
        ("lambda=x", 1, "rejected  --expect: expected a number, found 'x'"),
    ],
)
def test_what_is_expected(
    pair: str, code: int, message: str, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A certificate that is right and says something else is rejected; numbers are compared as numbers."""
    assert main([files[0], "--expect", "d=2", "--expect", pair]) == code
    assert message in capsys.readouterr().out


def test_lines_carry_what_their_truth_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Over the single pattern 0000 everything is zero and nine claims are true: every line says over what."""
    tree = json.loads(CASE.text)
    tree["problem"]["patterns"] = ["0000"]
    zero = " ".join("0" * 4)
    half = Fraction(sum(int(x) ** 2 for x in tree["problem"]["y"].split()), 2)
    tree["facts"] = {
        "lambda_max": {"squared": "0", "multipliers": [zero, zero], "attained": {"block": 0, "u": "0 0"}},
        "primal": {"neurons": []},
        "dual": {"theta": tree["problem"]["y"], "multipliers": [zero, zero]},
        "value": {"lower": str(half), "upper": str(half), "gap": "0"},
    }
    tree["claims"] = [{"claim": claim, "verdict": "PROVED"} for claim in ("optimal", "p-unique", "minimal", "licq")]
    tree["end"] = tree.pop("end")
    path = tmp_path / "few.json"
    path.write_text(json.dumps(tree))
    assert main([str(path)]) == 0
    _, problem, *lines = capsys.readouterr().out.splitlines()
    assert "patterns 1;" in problem
    assert all(line.endswith("[over the 1 listed pattern only]") for line in lines) and len(lines) == 4
    assert main([str(path), "--expect", "patterns=all"]) == 1
    assert main([str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {line["under"] for line in report["claims"]} == {"over the 1 listed pattern only"}


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


def test_where_a_network_comes_from_is_only_stated() -> None:
    """The file that a network was converted from is named by the certificate, and nobody has compared it."""
    said = grouped({"network": "compared", "network-sha256": "ab", "network-origin": "onnx cd"})
    assert said == {"network": ["compared", "network-sha256 ab", "network-origin onnx cd (not compared)"]}
