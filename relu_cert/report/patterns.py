"""What `patterns` found, as text and JSON."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.data.dataset import Dataset
from relu_cert.errors import UsageError
from relu_cert.figures import count
from relu_cert.files import Place, decide_places, refusal
from relu_cert.patterns import PatternSet, Prediction, save_npz
from relu_cert.report.shown import Shown, picked
from relu_cert.report.terminal import fold


@dataclass(frozen=True, repr=False)
class Patterns(Shown):
    """Every activation pattern of a data set, each with a witness.

    >>> from relu_cert import patterns
    >>> found = patterns([[1, 0], [0, 1]])
    >>> found
    <Patterns: 4 activation patterns, and there are no others; proved.>
    >>> found.array.astype(int).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """

    data: Dataset
    prediction: Prediction
    found: PatternSet
    out: str | None = None  # the file that they were written into

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        several = "pattern, and there is no other" if len(self) == 1 else "patterns, and there are no others"
        return f"{len(self):,} activation {several}; proved."

    @cached_property
    def array(self) -> NDArray[np.bool_]:
        """The patterns as rows of booleans, sorted."""
        rows = self.found.array().astype(np.bool_)
        return np.array(sorted(map(tuple, rows.tolist())), dtype=np.bool_).reshape(rows.shape)

    def __len__(self) -> int:
        return len(self.found)

    def to_text(self, *, early: bool = False) -> str:
        """The report of `patterns`; `early`: without what is known before the enumeration."""
        total, of_cells = count(len(self), "pattern"), self.found.open_cells
        circuits, covers = count(self._circuits, "circuit"), count(len(self.found.covers), "cover")
        lines = [
            fold(self.headline),
            "",
            *([] if early else before(self.prediction)),
            _labelled("found:", f"{total}, {of_cells:,} of open cells, {len(self) - of_cells:,} of lower faces only"),
            _labelled("proof:", f"{circuits} and {covers} show that none is missing"),
        ]
        return "\n".join([*lines, *([] if self.out is None else [f"written:   {self.out}"])])

    def to_json(self) -> dict[str, Any]:
        """The object of `patterns --json`."""
        found, prediction = self.found, self.prediction
        return picked(found, "n d rank") | {
            "total": len(self),
            "open": found.open_cells,
            "lower": len(self) - found.open_cells,
            "flats": len(found.groups) - 1,
            "circuits": self._circuits,
            "covers": len(found.covers),
            "predicted": picked(prediction, "bound exact")
            | {"hyperplanes": prediction.classes, "open": prediction.cells, "general": prediction.general},
            "input": picked(self.data.source, "path sha256 numbers"),
            "out": self.out,
        }

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the patterns with their witnesses, as `patterns --out` does."""
        place = Place("path", Path(path))
        decide_places((), [place], force=force, say="force=True")
        self.write(place)

    def write(self, place: Place) -> None:
        """The same, where it is known that the file may be written."""
        try:
            save_npz(place.path, self.found)
        except OSError as error:
            raise refusal(place.path, place.what, error) from None

    def html(self) -> str:
        """There is no page of patterns; `_repr_html_` is the report."""
        raise UsageError("patterns have no page; print them.")

    def _repr_html_(self) -> str:
        from relu_cert.report.html.page import notebook

        return notebook(self.headline, self.to_text(), "")

    @property
    def _circuits(self) -> int:
        return sum(len(group.circuits) for group in self.found.groups)


def before(prediction: Prediction) -> list[str]:
    """What is known before the enumeration, as lines of text."""
    rows, features = count(prediction.n, "row"), count(prediction.d, "feature")
    size = f"n = {rows}, d = {features}, rank {prediction.rank}, {count(prediction.classes, 'hyperplane')}"
    return [size, _labelled("predicted:", prediction.text)]


def _labelled(label: str, text: str) -> str:
    return fold(f"{label:11}{text}", 11)
