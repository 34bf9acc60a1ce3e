"""The independent checker: the one that was installed beside relu_cert, whatever else is called `verify`.

`python -m` puts the current folder first, where a `verify.py` of the user may lie, and other packages have that name,
too. So the checker is loaded from its place, and its files are compared with those that were installed.
"""

from __future__ import annotations

import sys
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import module_from_spec
from pathlib import Path
from shlex import quote
from types import ModuleType

from relu_cert.data.raw import STANDARD_INPUT
from relu_cert.errors import DataError, ReluCertError, UsageError

NAME = "verify"
BESIDE = Path(__file__).resolve().parents[1]


def accepted(certificate: str, data: bytes | None, network: bytes | None = None) -> None:
    """Give a certificate to the checker, with the raw data and the network's file if there are any; ReluCertError
    unless it accepts them."""
    verify = load()
    try:
        verify.check(certificate.encode(), data, network=network)
    except verify.Declined as error:
        raise DataError(
            f"the certificate would be too large for the independent checker ({error}); write the data with fewer "
            "digits, or take less of it. No verdict is given."
        ) from None
    except verify.VerifyError as error:
        raise ReluCertError(
            f"the independent checker does not accept our own certificate ({error}); this is a bug, "
            "please report it with the data. No verdict is given."
        ) from None


def second_opinion(certificate: str, data: bytes | None) -> str:
    """What the checker that is itself proved says of the bounds, or why it says nothing; UsageError where it is not
    built, ReluCertError where it does not accept what the other one did."""
    verify = load()
    try:
        return str(import_module(f"{NAME}.proved").prove(certificate.encode(), data).sentence)
    except verify.Usage as error:
        raise UsageError(f"{error.place}: there is no {error.expected.removeprefix('the ')}.") from None
    except verify.Declined as error:
        return f"the checker that is itself proved says nothing: it knows {error.expected} only"
    except verify.VerifyError as error:
        raise ReluCertError(
            f"the checker that is itself proved does not accept our own certificate ({error})."
        ) from None


def load() -> ModuleType:
    """The package `verify` that lies beside relu_cert; ReluCertError if another one is in its place."""
    found = sys.modules.get(NAME)
    if found is None:
        spec = PathFinder.find_spec(NAME, [str(BESIDE)])
        if spec is None or spec.loader is None or not _ours(spec):
            raise ReluCertError(
                f"the checker is missing: expected a folder {NAME} in {BESIDE}. Install relu_cert again."
            )
        _require_installed(BESIDE)
        found = module_from_spec(spec)
        sys.modules[NAME] = found
        try:
            spec.loader.exec_module(found)
        except BaseException:
            del sys.modules[NAME]
            raise
    elif found.__spec__ is None or not _ours(found.__spec__):
        where = getattr(found, "__file__", None) or "a place unknown"
        raise ReluCertError(
            f"another module called {NAME} was loaded before ({where}), not the checker in {BESIDE}; import relu_cert "
            "before it, or in another process. No verdict is given."
        )
    return found


def command() -> str:
    """How the checker is called from the current folder: with -P where something there has its name."""
    shadows = any((Path.cwd() / name).exists() for name in (f"{NAME}.py", NAME)) and Path.cwd() != BESIDE
    return f"python {'-P ' if shadows else ''}-m {NAME}"


def recheck_command(certificate: object, data: str, network: str | None = None) -> str:
    """What anybody can type to check a certificate again, with the data and the network that it is about."""
    files = ["--data", "FILE" if data == STANDARD_INPUT else quote(data)]
    files += ["--network", quote(network)] if network else []
    return " ".join([command(), quote(str(certificate)), *files])


def _ours(spec: ModuleSpec) -> bool:
    return spec.origin is not None and Path(spec.origin).resolve() == BESIDE / NAME / "__init__.py"


def _require_installed(folder: Path) -> None:
    """ReluCertError if a file of the checker is not the one that was installed; a source checkout has no such list."""
    try:
        installed = distribution("relu_cert")
    except PackageNotFoundError:
        return
    for file in _changed_files(installed, folder):
        raise ReluCertError(
            f"{file} is not the file that was installed with relu_cert: another package called {NAME} may have "
            "replaced it. Install relu_cert again, in an environment without that package. No verdict is given."
        )


def _changed_files(installed: Distribution, folder: Path) -> list[Path]:
    """The files of the checker that differ from the list of the installation, if it is about this folder."""
    changed = []
    for file in installed.files or ():
        if file.parts[0] != NAME or file.suffix != ".py" or file.hash is None or file.hash.mode != "sha256":
            continue
        path = Path(str(installed.locate_file(file))).resolve()
        if path.is_relative_to(folder):
            raw = path.read_bytes() if path.is_file() else b""
            if urlsafe_b64encode(sha256(raw).digest()).rstrip(b"=").decode() != file.hash.value:
                changed.append(path)
    return changed
