"""Files that are never seen half-written."""

from __future__ import annotations

from pathlib import Path
from tempfile import NamedTemporaryFile

from relu_cert.errors import DataError


def write_text(path: Path, text: str) -> None:
    """Write the whole text or nothing: to a neighbour first, then renamed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8") as out:
            out.write(text)
        Path(out.name).replace(path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}. Choose another place.") from error
