"""What `patterns` returns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.errors import UsageError
from relu_cert.files import Place, decide_places, refusal
from relu_cert.patterns import PatternSet, save_npz
from relu_cert.report.patterns import headline
from relu_cert.report.shown import Shown

Floats = NDArray[np.float64]


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

    found: PatternSet
    content: Mapping[str, Any]
    text: str

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        return headline(self.found)

    @cached_property
    def array(self) -> NDArray[np.bool_]:
        """The patterns as rows of booleans, sorted."""
        rows = self.found.array().astype(np.bool_)
        return np.array(sorted(map(tuple, rows.tolist())), dtype=np.bool_).reshape(rows.shape)

    def __len__(self) -> int:
        return len(self.found)

    def to_text(self) -> str:
        """The report of `patterns`."""
        return self.text

    def to_json(self) -> dict[str, Any]:
        """The object of `patterns --json`."""
        return dict(self.content)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the patterns with their witnesses, as `patterns --out` does."""
        place = Place("path", Path(path))
        decide_places((), [place], force=force, say="force=True")
        try:
            save_npz(place.path, self.found)
        except OSError as error:
            raise refusal(place.path, place.what, error) from None

    def html(self) -> str:
        """There is no page of patterns; `_repr_html_` is the report."""
        raise UsageError("patterns have no page; print them.")

    def _repr_html_(self) -> str:
        from relu_cert.report.html.notebook import notebook

        return notebook(self.headline, self.text, "")
