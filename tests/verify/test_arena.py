"""The arena: any program is scored on the corpus by its exit codes, and what it gets wrong is named with the reason."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from verify import arena
from verify.arena import CORPUS, Entry, entries, main, score, told

HERE = [sys.executable, "-m", "verify", "--quiet"]
SOME = "min_norm,solution,jump"


def program(text: str) -> list[str]:
    """A checker of one line; `name` is the file that it is given, `given` are the options beside it."""
    return [sys.executable, "-c", f"import sys; name, *given = sys.argv[1:]; sys.exit({text})"]


def test_our_own_checker_is_right_about_some_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    """Valid ones are accepted, wrong ones rejected: the files beside them are handed over."""
    assert main(["--kinds", SOME, "--", *HERE]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["kind", "accepted", "rejected", "declined", "error", "right"]
    kinds = SOME.split(",")
    assert sorted(line.split()[1] for line in lines[1:]) == sorted(kinds * 2)
    for line in lines[1:]:
        *_, right, _, every = line.split()
        assert right == every != "0"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("0", 1, "accepted: rejected/jump-00.json, wrong: "),
        ("1", 2, "rejected: accepted/jump-00.json, valid: "),
        ("2", 2, "declined: accepted/jump-00.json, valid: "),
        ("70", 2, "error: accepted/jump-00.json, valid: "),
        ("0 if 'accepted' in name else 2", 2, "declined: rejected/jump-00.json, wrong: "),
        ("0 if 'accepted' in name else 1", 0, ""),
    ],
)
def test_what_is_wrong_is_told(text: str, code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Accepting what is wrong is worse than rejecting what is right, and both are named with their reasons."""
    assert main(["--kinds", "jump", *program(text)]) == code
    printed = capsys.readouterr().out
    assert said in printed and (": accepted/" in printed or ": rejected/" in printed) is bool(said)


def test_malformed_files_are_a_side_of_their_own() -> None:
    """What is no certificate, or does not fit its data, is told apart from what proves too little."""
    sides = Counter(entry.side for entry in entries())
    assert sides.keys() == {"valid", "wrong", "malformed"} and min(sides.values()) > 20
    frames = [entry for entry in entries() if entry.kind == "frame"][:2]
    table, wrong = score(program("1"), frames, 60)
    assert table == {("malformed", "frame"): Counter(rejected=2)} and wrong == []
    table, wrong = score(program("0"), frames, 60)
    assert [said for said, _ in wrong] == ["accepted"] * 2
    assert told(table, wrong)[1].split() == ["malformed", "frame", "2", "0", "0", "0", "0", "of", "2"]


def test_a_checker_that_hangs_or_is_not_there_is_an_error() -> None:
    """It is stopped, and its answer is none."""
    (entry,) = [one for one in entries() if one.certificate.name == "jump-00.json" and one.right]
    assert arena.answer([sys.executable, "-c", "import time; time.sleep(60)"], entry, 1) == "error"
    assert arena.answer(["no such program"], entry, 1) == "error"


def test_another_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Any folder with the two tables; without them, without a kind, or without a command, the exit code is 64."""
    for folder in ("accepted", "rejected"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.json").write_text(folder)
        (tmp_path / f"{folder}.tsv").write_text("optimal\tx.json\t-\tx.json\twhy not\n")
    first, second = entries(tmp_path)
    place = tmp_path / "accepted" / "x.json"
    assert first == Entry("optimal", True, place, None, place, "why not")
    assert not second.right
    reads = program("open(name).read() != 'accepted' or given[0] != '--network'")
    assert main(["--corpus", str(tmp_path), *reads]) == 0
    for wrong in (["--corpus", str(tmp_path / "none"), *reads], ["--kinds", "no", *reads], []):
        assert main(wrong) == 64
    said = capsys.readouterr().err
    assert "no corpus in" in said and said.count("a command, and kinds that the corpus has") == 3
    assert (CORPUS / "README.md").is_file()
