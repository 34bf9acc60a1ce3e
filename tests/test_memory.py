"""Memory: what there is, and what is said before it runs out."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from relu_cert import memory
from relu_cert.cli import main
from relu_cert.data import raw, read_csv
from relu_cert.errors import DataError


def test_more_than_was_allowed_ends_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """A process that takes more than it may says so, and is ended; one that takes less is not."""
    ended = threading.Event()
    with memory.watch_memory(1e-3, ended.set):
        assert ended.wait(10.0)
    assert "of memory were not enough" in capsys.readouterr().err
    calm = threading.Event()
    with memory.watch_memory(None, calm.set):
        assert not calm.wait(3 * memory.OFTEN)


def test_what_may_be_taken_is_less_where_less_was_asked_for() -> None:
    """room() is what is free, or what is left of --max-memory; within the context only."""
    before = memory.room()
    with memory.watch_memory((memory.memory_used() + 2**28) / 2**30, lambda: None):
        assert memory.room() <= 2**28 < before
    assert memory.room() > 2**28


def test_a_file_whose_numbers_have_no_room_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The sentence comes before the file is read."""
    (tmp_path / "large.csv").write_bytes(b"1,2\n" * 2**18)
    monkeypatch.setattr(raw, "room", lambda: 2**20)
    with pytest.raises(DataError, match=r"its numbers would take about 0\.0 GB of memory"):
        read_csv(tmp_path / "large.csv")


def test_the_limit_is_a_number_above_zero(capsys: pytest.CaptureFixture[str]) -> None:
    """--max-memory 0 is a mistake."""
    assert main(["check", "--example", "xor", "--max-memory", "0"]) == 64
    assert "--max-memory must be more than 0" in capsys.readouterr().err
