"""Files that appear complete or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """A stream whose content is in the file when the context ends. Where that fails, or is interrupted, nothing is left
    behind, and a file that was there before is as it was.

    A link stays, and what it points to is replaced. A device or a pipe is written into: it cannot be replaced.
    """
    target = path.resolve()
    if _special(target):
        with target.open("wb") as stream:
            yield stream
        return
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def ensure_writable(path: Path) -> None:
    """OSError if no file can be written there: to be asked before long work."""
    target = path.resolve()
    if not _special(target):
        with tempfile.TemporaryFile(dir=target.parent):
            pass


def _special(target: Path) -> bool:
    """Whether the target is there, but is no file. OSError if it is a folder."""
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    return target.exists() and not target.is_file()
