"""Files appear complete or not at all, whatever is already there."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from relu_cert.files import ensure_writable, replacing


def test_a_file_is_replaced_whole(tmp_path):
    """The new content is there, readable by others, and nothing else is in the folder."""
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with replacing(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o644
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device")], ids=["ctrl-c", "full"])
def test_a_failure_leaves_nothing_behind(tmp_path, failure):
    """What was there stays, what was not there does not appear, and no temporary file is left."""
    old, new = tmp_path / "old.bin", tmp_path / "new.bin"
    old.write_bytes(b"old")
    for path in (old, new):
        with pytest.raises((KeyboardInterrupt, OSError)), replacing(path) as stream:
            stream.write(b"half")
            raise failure
    assert old.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["old.bin"]


def test_a_folder_is_refused_and_nothing_left(tmp_path):
    """Once a temporary file was left beside a folder that could not be replaced."""
    (tmp_path / "folder").mkdir()
    for attempt in (lambda: replacing(tmp_path / "folder").__enter__(), lambda: ensure_writable(tmp_path / "folder")):
        with pytest.raises(IsADirectoryError):
            attempt()
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_a_link_stays_a_link(tmp_path):
    """What it points to is replaced."""
    (tmp_path / "real.bin").write_bytes(b"old")
    link = tmp_path / "link.bin"
    link.symlink_to("real.bin")
    with replacing(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "real.bin").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_written_into(tmp_path):
    """A device or pipe is no file: it is not replaced by one."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ensure_writable(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with replacing(pipe) as stream:
        stream.write(b"through")
    reader.join(20)
    assert read == [b"through"]
    assert pipe.is_fifo()


def test_writable_is_asked_beforehand(tmp_path):
    """A folder that does not exist is found out before any work; asking leaves no trace."""
    with pytest.raises(FileNotFoundError):
        ensure_writable(tmp_path / "missing" / "a.bin")
    ensure_writable(tmp_path / "a.bin")
    assert not list(tmp_path.iterdir())
    assert not Path("missing").exists()
