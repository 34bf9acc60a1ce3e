"""The parts of `python -m verify` by themselves: reading, expecting, telling, and the limits of its child process."""

from __future__ import annotations

import argparse
import json
import mmap
import os
import resource
import signal
import subprocess
import sys
import time
from errno import ENOSPC
from io import StringIO
from os import terminal_size
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.verify.corpus.accepted_cases import accepted
from verify import __main__ as command
from verify import child
from verify.__main__ import expect, failed, grouped, machine, main, parser, read, run, told, within
from verify.certificate import Line
from verify.child import Over, limited, received
from verify.errors import BadData, Declined, Rejected, Usage
from verify.text import Limits

CASE = accepted("xor, planted")
STATED = {"lambda": "6", "model": "relu"}
LINES = [Line("optimal", "PROVED", "why", "", "by"), Line("ggp", "REFUTED", "no")]


def arguments(*words: str) -> argparse.Namespace:
    """A command line."""
    return parser().parse_args(list(words))


def test_options_and_their_defaults() -> None:
    """An hour, four gigabytes, and nothing else that was not asked for."""
    plain = arguments("c")
    assert (plain.file, plain.data, plain.network, plain.theorem, plain.expect) == ("c", None, None, None, [])
    assert (plain.max_seconds, plain.max_memory, plain.max_bytes) == (3600, 4096, Limits().size)
    assert not (plain.proved or plain.quiet or plain.verbose or plain.json)
    full = arguments(
        "c", "--data", "d", "--network", "n", "--expect", "a=b", "--expect", "c=d", "--proved", "--quiet", "-v"
    )
    assert (full.data, full.network, full.expect) == ("d", "n", ["a=b", "c=d"])
    assert full.proved and full.quiet and full.verbose
    with pytest.raises(Usage, match="--max-sec"):
        arguments("c", "--max-sec", "5")  # no abbreviations
    for wrong in ([], ["c", "d"], ["c", "--max-seconds", "x"], ["c", "--trusted", "nothing"]):
        with pytest.raises(Usage, match=r"expected usage: python -m verify"):
            arguments(*wrong)


def test_what_a_verdict_rests_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A claim by its ways, or a table of all claims; then nothing more is done."""
    monkeypatch.setattr("verify.trusted.table", lambda: ["| claim | ways |"])
    monkeypatch.setattr("verify.trusted.told", lambda claim: [f"{claim} PROVED"])
    for claim, first in (("optimal", "optimal PROVED"), ("all", "| claim | ways")):
        with pytest.raises(SystemExit):
            arguments("--trusted", claim)
        assert capsys.readouterr().out.startswith(first)


def test_files_of_some_length(tmp_path: Path) -> None:
    """As many bytes as are allowed, no more; what is missing and what is too large have their own errors."""
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read(str(path), 5, Usage, Declined) == b"12345" == read(str(path), 6, Usage, Declined)
    with pytest.raises(Declined, match="at most 4 bytes, found more"):
        read(str(path), 4, Usage, Declined)
    for missing in (str(tmp_path / "none"), "a\0b"):
        with pytest.raises(BadData, match="a file that can be read"):
            read(missing, 5, BadData, Declined)


def test_reports_as_they_are_returned(tmp_path: Path) -> None:
    """The code, the result, the statement and the claims; or the error in its parts."""
    certificate, data, large = tmp_path / "c.json", tmp_path / "d.csv", str(len(CASE.text) - 1)
    certificate.write_bytes(CASE.text)
    data.write_bytes(CASE.raw)
    found = run(arguments(str(certificate), "--data", str(data), "--expect", "lambda=6"))
    assert (found["code"], found["result"], found["statement"]["data"]) == (0, "accepted", "compared")
    assert {line["claim"]: line["verdict"] for line in found["claims"]}["optimal"] == "PROVED"
    assert [*found] == ["code", "result", "statement", "claims"] and [*found["claims"][0]][:3] == [
        "claim",
        "verdict",
        "proved",
    ]
    assert run(arguments(str(certificate)))["statement"]["data"].startswith("not compared")
    for more, code, result in (
        (["--expect", "lambda=5"], 1, "rejected"),
        (["--expect", "lambda=6", "--expect", "model=gated"], 1, "rejected"),
        (["--expect", "model=relu=relu"], 1, "rejected"),
        (["--data", str(certificate)], 1, "rejected"),
        (["--data", str(tmp_path / "none")], 65, "data"),
        (["--network", str(tmp_path / "none")], 65, "data"),
        (["--network", str(data)], 64, "usage"),
        (["--max-bytes", large], 2, "declined"),
    ):
        wrong = run(arguments(str(certificate), *more))
        assert wrong["code"] == code and wrong["claims"] == [] and set(wrong["error"]) == {"place", "expected", "found"}
        assert result in wrong["result"]
    assert run(arguments(str(tmp_path / "none")))["code"] == 64


def test_what_is_expected_by_hand() -> None:
    """Numbers as numbers, words as words; a claim with its verdict, PROVED if none is given."""
    for key, value in (("lambda", "6"), ("lambda", "6.0"), ("lambda", "12/2"), ("model", "relu")):
        expect(STATED, LINES, key, value)
    for value in ("optimal", "optimal:PROVED", "ggp:REFUTED"):
        expect(STATED, LINES, "claim", value)
    for key, value, found in (
        ("lambda", "5", "6"),
        ("model", "6", "relu"),
        ("claim", "ggp", "REFUTED"),
        ("claim", "optimal:REFUTED", "PROVED"),
        ("claim", "licq", "no such claim"),
    ):
        with pytest.raises(Rejected, match=f"--expect {key}: expected .*, found {found}"):
            expect(STATED, LINES, key, value)
    with pytest.raises(Usage, match="one of the keys claim, lambda, model, found delta"):
        expect(STATED, LINES, "delta", "1")


def test_what_the_proved_checker_adds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only if it was asked for: its sentence, and the file with a theorem, if that can be written."""
    seen: list[Any] = []

    class Said:
        sentence = "a sentence"

    monkeypatch.setattr("verify.proved.prove", lambda *given: seen.append(given) or Said)
    monkeypatch.setattr("verify.proved.theorem", lambda *given: seen.append(given) or "Theorem")
    assert machine(arguments("c"), b"c", b"d", Limits()) == {} and seen == []
    assert machine(arguments("c", "--proved"), b"c", b"d", Limits()) == {"proved": "a sentence"}
    path = tmp_path / "T.v"
    found = machine(arguments("c", "--theorem", str(path)), b"c", None, Limits())
    assert found == {"theorem": f"coqc -Q verify/rocq Relu {path}"} and path.read_text() == "Theorem"
    assert seen == [(b"c", b"d", Limits()), (b"c", None, Limits())]
    with pytest.raises(Usage, match="a file that can be written"):
        machine(arguments("c", "--theorem", str(tmp_path / "no" / "T.v")), b"c", None, Limits())


def test_limits_are_numbers_that_make_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 1 on, below what the system can hold; they are handed to the child in seconds and bytes."""
    given: list[Any] = []
    monkeypatch.setattr(
        command, "limited", lambda work, seconds, memory: given.append((seconds, memory)) or {"code": 0}
    )
    for option, most in (("--max-bytes", 2**32), ("--max-seconds", 2**31), ("--max-memory", 2**31)):
        for value in (1, most - 1):
            assert within(arguments("c", option, str(value))) == {"code": 0}
        for value in (0, most):
            with pytest.raises(Usage, match=f"{option}: expected a number from 1 to {most}, found {value}"):
                within(arguments("c", option, str(value)))
    within(arguments("c", "--max-seconds", "7", "--max-memory", "3"))
    assert given[-1] == (7, 3 << 20)
    for pair, good in (("a=b", True), ("=", True), ("ab", False)):
        if good:
            assert within(arguments("c", "--expect", pair)) == {"code": 0}
        else:
            with pytest.raises(Usage, match="--expect: expected KEY=VALUE, found ab"):
                within(arguments("c", "--expect", "a=b", "--expect", pair))

    def over(*_: object) -> None:
        raise Over("time")

    monkeypatch.setattr(command, "limited", over)
    with pytest.raises(Declined, match="file: expected less work than time allows, found more"):
        within(arguments("c"))


def line(claim: str, verdict: str, under: str = "") -> dict[str, str]:
    """A claim of a report."""
    return {"claim": claim, "verdict": verdict, "proved": "why", "under": under, "rule": "value"}


def test_reports_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    """The statement by its groups, claims in columns, rules where they are asked for, and nothing if it is quiet."""
    report = {
        "result": "accepted",
        "claims": [line("optimal", "PROVED", "x"), line("a-claim-with-a-long-name", "REFUTED")],
    }
    report |= {"statement": {"n": "4", "model": "relu", "network": "compared"}, "proved": "p", "theorem": "t"}
    told(report, quiet=False, verbose=False)
    expected = [
        "statement data: n 4",
        "statement problem: model relu",
        "statement network: compared",
        "accepted  optimal                   PROVED     why [x]",
        "accepted  a-claim-with-a-long-name  REFUTED    why",
        "proved    p",
        "theorem   t",
    ]
    assert capsys.readouterr().out.splitlines() == expected
    told(report, quiet=False, verbose=True)
    by = "          by value"
    assert capsys.readouterr().out.splitlines() == [*expected[:4], by, expected[4], by, *expected[5:]]
    for verbose in (True, False):
        told(report, quiet=True, verbose=verbose)
    assert capsys.readouterr().out == ""
    told({"result": "accepted", "claims": [line("optimal", "PROVED")]}, quiet=False, verbose=False)
    assert capsys.readouterr().out == "accepted  optimal            PROVED     why\n"
    told({"result": "accepted", "claims": []}, quiet=False, verbose=False)
    assert capsys.readouterr().out == "accepted  (no claim)\n"
    told({"result": "rejected", "claims": [], "told": "here"}, quiet=False, verbose=False)
    assert capsys.readouterr().out == "rejected  here\n"


def test_statements_in_groups() -> None:
    """Flags by their names, long values cut, foreign characters escaped; where a network comes from is only stated."""
    said = {"data": "compared", "bias": "true", "header": "false", "target": "2", "delimiter": "\t", "lambda": "6"}
    said |= {"network": "not compared", "network-origin": "x", "network-gap": "0", "refuted": "all"}
    assert grouped(said) == {
        "data": ["compared", "bias", "no header", "target 2", "delimiter \\t"],
        "problem": ["lambda 6", "all"],
        "network": ["not compared", "network-origin x (not compared)", "network-gap 0"],
    }
    for size, end in ((400, "a" * 400), (401, f"'{'a' * 400}'... (401 characters)")):
        assert grouped({"model": "a" * size}) == {"problem": [f"model {end}"]}


def test_errors_in_parts() -> None:
    """Their code, outcome, place, what was expected and what was found; an interruption has none."""
    error = Rejected("place", "this", "that")
    assert failed(error) == {
        **{"code": 1, "result": "rejected", "claims": [], "told": "place: expected this, found that"},
        "error": {"place": "place", "expected": "this", "found": "that"},
    }
    assert failed(KeyboardInterrupt()) == {
        **{"code": 130, "result": "interrupted", "claims": []},
        "told": "nothing is said about the certificate",
    }


def test_one_object_or_words(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """--json prints one object without the code, --quiet neither; the code is returned in each case."""
    for options, out in (
        ([], "accepted  (no claim)\n"),
        (["--json"], None),
        (["--quiet"], ""),
        (["--quiet", "--json"], ""),
    ):
        monkeypatch.setattr(command, "within", lambda _: {"code": 5, "result": "accepted", "claims": []})
        assert main(["c", *options]) == 5
        found = capsys.readouterr().out
        assert found == out or (out is None and json.loads(found) == {"result": "accepted", "claims": []})


def test_wrong_command_lines_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    """One line and no object, also where --json was asked for: what was wanted is not known."""
    for words in ([], ["c", "--json", "--nothing"]):
        assert main(words) == 64
        assert capsys.readouterr().out.startswith("usage  command line: expected usage: python -m verify")


def test_lines_that_are_wrapped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """On a terminal, at blanks and not at hyphens, the rest under the tenth column; not where it is very narrow."""
    text = "accepted  " + " ".join(["a-long-word"] * 6)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    for columns, lines in ((80, 2), (44, 3), (40, 3), (39, 1), (len(text), 1), (len(text) - 1, 2)):
        monkeypatch.setattr(command, "get_terminal_size", lambda columns=columns: terminal_size((columns, 24)))
        command.say(text, quiet=False)
        first, *rest = capsys.readouterr().out.splitlines()
        assert len(rest) == lines - 1 and " ".join([first, *(line.strip() for line in rest)]) == text
        assert all(line.startswith(" " * 10 + "a-long-word") and len(line) <= columns for line in rest)


def test_readers_that_have_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed goes nowhere from then on, and nothing else happens."""
    moved: list[Any] = []

    def gone(*_: object, file: object = None, **__: object) -> None:
        if file is not None:
            moved.append("told")
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", gone)
    monkeypatch.setattr(os, "dup2", lambda here, there: moved.append((os.fstat(here).st_rdev, there)))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(isatty=lambda: False, fileno=lambda: 77))
    command.say("text", quiet=False)
    assert moved == [(Path(os.devnull).stat().st_rdev, 77)]
    monkeypatch.undo()
    monkeypatch.setattr(sys, "stdout", None)
    command.say("text", quiet=False)


@pytest.mark.parametrize("broken", [False, True], ids=["full", "stderr too"])
def test_disks_that_are_full(monkeypatch: pytest.MonkeyPatch, broken: bool) -> None:
    """One sentence where somebody reads it; the rest goes nowhere, and no error is left to look like a rejection."""
    moved: list[int] = []
    said: list[str] = []
    there = StringIO()

    def full(text: str, file: object = None, **_: object) -> None:
        if file is not there or broken:
            raise OSError(ENOSPC, "No space left on device")
        said.append(text)

    monkeypatch.setattr("builtins.print", full)
    monkeypatch.setattr(os, "dup2", lambda _, to: moved.append(to))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(isatty=lambda: False, fileno=lambda: 77))
    monkeypatch.setattr(sys, "stderr", there)
    command.say("text", quiet=False)
    assert moved == [77]
    assert said == ([] if broken else ["verify: cannot write the report: No space left on device"])


# ------------------------------------------------------------------------------------------------ the child


def test_the_child_has_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory (beyond what the caller has), time and core files as they are given, a group of its own, and nothing of
    what it prints."""
    monkeypatch.setattr(child, "mapped", lambda: 1 << 30)

    def work() -> dict[str, Any]:
        limits = [
            resource.getrlimit(which) for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE)
        ]
        nowhere = Path(os.devnull).stat().st_rdev
        quiet = [os.fstat(stream).st_rdev == nowhere for stream in (1, 2)]
        return {"limits": limits, "quiet": quiet, "group": os.getpgid(0) == os.getpid() != os.getppid()}

    most = [resource.getrlimit(which)[1] for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE)]
    found = limited(work, 5, 3 << 30)
    limits = [[4 << 30, most[0]], [6, most[1]], [0, most[2]]]
    assert found == {"limits": limits, "quiet": [True, True], "group": True}


def test_a_limit_that_there_is_already(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child asks for no more memory and time than the system allows at most; 0 is a limit, -1 is none."""
    set_: list[Any] = []
    monkeypatch.setattr(os, "setpgid", lambda *_: None)
    monkeypatch.setattr(os, "_exit", lambda code: set_.append(("exit", code)))
    monkeypatch.setattr(os, "dup2", lambda *_: None)
    monkeypatch.setattr(resource, "setrlimit", lambda which, pair: set_.append((which, pair)))
    monkeypatch.setattr(child, "mapped", lambda: 40)
    for most, soft, seconds in ((-1, 100, 8), (0, 0, 0), (50, 50, 8), (500, 100, 8), (7, 7, 7), (8, 8, 8)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, most=most: (0, most))
        reader, writer = os.pipe()
        child.carry_out(lambda: {"a": 1}, writer, 7, 60)
        assert set_[-4:] == [
            (resource.RLIMIT_AS, (soft, most)),
            (resource.RLIMIT_CPU, (seconds, most)),
            (resource.RLIMIT_CORE, (0, most)),
            ("exit", 0),
        ]
        assert os.read(reader, 99) == b'{"a": 1}'
        os.close(reader)


def test_what_the_caller_has_mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's count of pages, in bytes: some gigabytes that the caller maps are in it; 0 where it is not told."""
    before = child.mapped()
    held = mmap.mmap(-1, 1 << 30)
    assert 1 << 30 <= child.mapped() - before < 1 << 31
    held.close()
    for text in ("", "many", None):
        monkeypatch.setattr(Path, "read_text", lambda *_, text=text, **__: text if text is not None else missing())
        assert child.mapped() == 0


def missing() -> str:
    """There is no such file."""
    raise FileNotFoundError


def test_long_answers_are_read_to_their_end() -> None:
    """More than a pipe holds; and the pipe is closed."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert limited(lambda: {"a": "b" * 10**6}, 20, 1 << 32) == {"a": "b" * 10**6}
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_errors_of_the_work_are_told() -> None:
    """With their traceback, as an error of the checker."""

    def work() -> dict[str, Any]:
        raise ZeroDivisionError("here")

    found = limited(work, 5, 1 << 32)
    assert (found["code"], found["result"], found["claims"]) == (
        70,
        "error",
        [],
    ) and "ZeroDivisionError: here" in found["told"]


def test_the_child_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it has ended, so that nothing of it is left."""
    seen, wait = [], os.waitpid
    monkeypatch.setattr(os, "waitpid", lambda *given: seen.append(given[1]) or wait(*given))
    assert limited(lambda: {"a": 1}, 60, 1 << 32) == {"a": 1} and seen == [0]


def test_work_that_is_stopped(tmp_path: Path) -> None:
    """Too long, by the clock or by the processor, or too large; what it has started is ended with it."""
    note = tmp_path / "pid"

    def started() -> dict[str, Any]:
        note.write_text(str(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid))
        time.sleep(60)
        return {}

    start = time.monotonic()
    with pytest.raises(Over, match=r"^time \(--max-seconds\)$"):
        limited(started, 1, 1 << 32)
    assert time.monotonic() - start < 50
    for _ in range(100):
        try:
            state = Path(f"/proc/{note.read_text()}/stat").read_text().rpartition(") ")[2][0]
        except FileNotFoundError:
            break
        if state == "Z":
            break
        time.sleep(0.02)
    else:
        pytest.fail("a process is left")

    def large() -> dict[str, Any]:
        return {"size": len(bytes(10 << 30))}

    def stopped() -> dict[str, Any]:
        os.kill(os.getpid(), signal.SIGXCPU)
        return {}

    with pytest.raises(Over, match=r"^memory \(--max-memory\)$"):
        limited(large, 20, 2 << 30)
    with pytest.raises(Over, match=r"^time \(--max-seconds\)$"):
        limited(stopped, 20, 1 << 32)


def test_answers_that_break_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that was ended while it was speaking has said nothing: declined, and no error."""
    for said in (b"", b"{", b'{"code": 0, "result": "accepted"', b'{"code": 0, "claims": [{"claim": "opt'):
        monkeypatch.setattr(child, "received", lambda *_, said=said: said)
        with pytest.raises(Over, match="memory"):
            limited(lambda: {"a": 1}, 60, 1 << 32)


def test_deadlines_that_are_over() -> None:
    """Nothing is read after the deadline; before it all that there is."""
    reader, writer = os.pipe()
    os.write(writer, b"some")
    with pytest.raises(Over, match="time"):
        received(reader, time.monotonic() - 1)
    with pytest.raises(Over, match="time"):
        received(reader, time.monotonic() + 0.05)
    os.write(writer, b"more")
    os.close(writer)
    assert received(reader, time.monotonic() + 5) == b"more"
    os.close(reader)


def test_systems_without_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work is done without limits."""
    monkeypatch.delattr(os, "fork")
    assert limited(lambda: {"pid": os.getpid()}, 1, 1) == {"pid": os.getpid()}
