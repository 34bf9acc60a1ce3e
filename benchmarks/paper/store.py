"""Results on disk: one JSON file for each data set and experiment, written anew after every repeat.

A file is replaced in one step, so an interrupted run leaves whole files; a later run goes on where they end. Results
of other settings are not mixed in: they are refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relu_cert.errors import UsageError

Record = dict[str, Any]


@dataclass(frozen=True)
class Store:
    """The folder of one experiment, and the settings that all its results share."""

    folder: Path
    settings: Record

    def path(self, name: str) -> Path:
        """The file of one data set."""
        return self.folder / f"{name}.json"

    def load(self, name: str) -> list[Record]:
        """The repeats that are there, in order."""
        path = self.path(name)
        if not path.exists():
            return []
        try:
            content = json.loads(path.read_text())
            settings, repeats = content["settings"], list(content["repeats"])
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path}: not a file of results ({error}); remove it or choose another --out.") from error
        if settings != self.settings:
            raise UsageError(f"{path}: made with {settings}, not {self.settings}; choose another --out.")
        return repeats

    def save(self, name: str, repeats: list[Record]) -> None:
        """All repeats of a data set, in one step."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.path(name)
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"settings": self.settings, "repeats": repeats}, indent=1) + "\n")
        part.replace(path)

    def completed(self, name: str, count: int, run: Callable[[int], Record]) -> Iterator[tuple[int, Record, bool]]:
        """(repeat, its record, whether it was on disk), computing and saving what is missing."""
        records = self.load(name)
        for k in range(count):
            there = k < len(records)
            if not there:
                records.append(run(k))
                self.save(name, records)
            yield k, records[k], there
