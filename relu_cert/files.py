"""Files that appear complete or not at all, and never in the place of something that is the user's."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from relu_cert.data.raw import STANDARD_INPUT
from relu_cert.errors import NO_ROOM, NoRoom, UsageError


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
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


@dataclass(frozen=True)
class Place:
    """A file that is read or written: what it is to the user (the data, an option), and where."""

    what: str
    path: Path


def stem(path: Path) -> str:
    """The file's name without its endings, for files that are named after it."""
    name = "stdin" if str(path) == STANDARD_INPUT else path.name.removesuffix(".gz")
    return name.rsplit(".", 1)[0] or "relu_cert"


def beside(certificate: Path, ending: str) -> Path:
    """Where another file goes that belongs to a certificate, beside it."""
    return certificate.with_name(f"{stem(certificate).removesuffix('.cert')}{ending}")


def decide_places(
    inputs: Sequence[Place], outputs: Sequence[Place], *, force: bool = False, say: str = "--force"
) -> None:
    """UsageError unless every output can be written and takes nothing from the user; to be asked before long work.

    No output may be an input or another output, under whatever name. A file that is there already must be one that
    relu_cert wrote, or `force` replaces it (`say` is how the user asks for that). Devices and pipes hold nothing that
    could be lost.
    """
    taken: list[Place] = []
    for output in outputs:
        for other in inputs:
            if _same(output.path, other.path):
                raise UsageError(
                    f"{output.what} would overwrite {output.path}, which is {other.what}; choose another place."
                )
        for other in taken:
            if _same(output.path, other.path):
                raise UsageError(
                    f"{other.what} and {output.what} name the same file, {output.path}; give each a place of its own."
                )
        taken.append(output)
        _decide(output, force, say)


def _decide(output: Place, force: bool, say: str) -> None:
    """UsageError unless this file can be written, and may be."""
    try:
        ensure_writable(output.path)
        foreign = output.path.is_file() and not written_here(output.path)
    except OSError as error:
        raise refusal(output.path, output.what, error) from None
    if foreign and not force:
        raise UsageError(
            f"{output.path} exists, and relu_cert did not write it; choose another place with {output.what}, or "
            f"replace it with {say}."
        )


def write_files(files: Sequence[tuple[Place, str]], *, force: bool = False) -> None:
    """Write texts whole, or raise UsageError and write none; a file that has its content already is left alone."""
    wanted = [(place, text.encode()) for place, text in files]
    decide_places((), [place for place, raw in wanted if not _holds(place.path, raw)], force=force, say="force=True")
    for place, raw in wanted:
        try:
            if not _holds(place.path, raw):
                with replacing(place.path) as stream:
                    stream.write(raw)
        except OSError as error:
            raise refusal(place.path, place.what, error) from None


def _holds(path: Path, raw: bytes) -> bool:
    return path.is_file() and path.read_bytes() == raw


def refusal(path: Path, what: str, error: OSError) -> UsageError:
    """That a file cannot be written, and what to do."""
    full = error.errno in NO_ROOM
    kind, advice = (NoRoom, "make room, or choose") if full else (UsageError, "choose")
    return kind(
        f"cannot write {path}: {error.strerror or error}; {advice} another place{f' with {what}' * bool(what)}."
    )


def written_here(path: Path) -> bool:
    """Whether a file shows the mark of a report, a certificate, a page, a table, a pattern set or a state of relu_cert.

    Others write networks, too, also with the name of the format: one in JSON is known by its layout, others are not.
    """
    with path.open("rb") as stream:
        head = stream.read(4096)
    return not head or any(mark.search(head) for mark in _MARKS)


def _same(a: Path, b: Path) -> bool:
    """Whether two names lead to one file: by links of either kind, or because both would create it."""
    try:
        if a.exists() and b.exists():
            return a.samefile(b) and not _special(a.resolve())
        return a.resolve() == b.resolve()
    except OSError:
        return False


_MARKS = tuple(
    re.compile(mark, re.DOTALL)
    for mark in (
        rb'\A\s*\{\s*"format":\s*"relu_cert (?!network")',  # certificates and reports
        rb'\A\{\n "format": "relu_cert network",\n "version": 1,\n "W1": \[',  # networks, as they are laid out here
        rb'\A<!(?i:doctype)[^>]*>.*<meta name="generator" content="relu_cert ',
        rb"\A<svg [^>]*>\s*<metadata>relu_cert</metadata>",
        rb"\Alambda,objective,width,neuron,",
        rb'\A\{\n "X": \[\n  \[',  # the plain problem of a group lasso
        rb"\APK\x03\x04.{26}format\.npy.*shape\.npy.*columns\.npy",
        rb"\APK\x03\x04.{26}relu_cert_state\.npy",
    )
)
