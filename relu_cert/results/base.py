"""What every result with a certificate has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from relu_cert.checker import accepted
from relu_cert.claims.claim import Result
from relu_cert.files import Place, write_files
from relu_cert.report.shown import Report, Shown


@dataclass(frozen=True, repr=False)
class CertifiedResult(Shown):
    """Verdicts with the certificate that proves them, and the bytes of the data that it speaks of: what the command
    that does the same tells, as an object."""

    report: Report
    raw: bytes

    @property
    def certificate(self) -> str:
        """The certificate, a JSON text (verify/FORMAT.md)."""
        return self.report.certificate_text

    @property
    def results(self) -> tuple[Result, ...]:
        """The verdicts, in order."""
        return self.report.results

    @property
    def claims(self) -> Mapping[str, Result]:
        """The verdict of every claim, by its name; a Result has `verdict`, `evidence` and `detail`."""
        return MappingProxyType({result.claim: result for result in self.results})

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        return self.report.headline

    @property
    def data_csv(self) -> bytes:
        """The bytes of the data that the certificate speaks of: a CSV file, or JSON for a group lasso."""
        return self.raw

    def to_text(self) -> str:
        """The report as the command prints it, but for the files that it writes."""
        lines = self.report.to_text().rstrip("\n").split("\n")
        kept = [line for line in lines if not line.startswith(("certificate  ", "re-check it  "))]
        return "\n".join([*kept, "certificate  in memory; .save(file, data=file) writes it, with its data"]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """The object that the command prints with --json."""
        return self.report.to_json()

    def html(self) -> str:
        """The report as one self-contained HTML page, the same as the command's --html."""
        return self.report.html()

    def recheck(self) -> None:
        """Give data and certificate to the independent checker; ReluCertError if it does not accept them."""
        accepted(self.certificate, self.raw)

    def save(
        self, path: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None, force: bool = False
    ) -> None:
        """Write the certificate, and with `data` also the file that it speaks of. A file that is there, and that
        relu_cert did not write, is replaced with `force` only."""
        files = [(Place("path", Path(path)), self.certificate)]
        if data is not None:
            files.append((Place("data", Path(data)), self.raw.decode()))
        write_files(files, force=force)
