"""Files that are never seen half-written, and where long runs keep theirs."""

from __future__ import annotations

from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile

from relu_cert.errors import DataError

STATE = {"campaign": ".relu_cert_campaign", "soundness": ".relu_cert_soundness"}  # folders of long runs
BATCH = 200


def write_text(path: Path, text: str) -> None:
    """Write the whole text or nothing: to a neighbour first, then renamed. A neighbour that failed is removed."""
    part = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8") as out:
            part = Path(out.name)
            out.write(text)
        part.replace(path)
    except OSError as error:
        if part is not None:
            part.unlink(missing_ok=True)
        raise DataError(f"{path} cannot be written: {error.strerror}. Choose another place.") from error


def check_writable(path: Path) -> None:
    """Refuse a place that cannot be written before a long run, not after it."""
    if path.is_dir():
        raise DataError(f"{path} cannot be written: it is a folder. Give the name of a file.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}. Choose another place.") from error
