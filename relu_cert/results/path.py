"""What `path` returns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relu_cert.closed_forms.path import PathForm
from relu_cert.path.curve import Breakpoint, Sample
from relu_cert.report.path import PathReport
from relu_cert.results.base import CertifiedResult

Floats = NDArray[np.float64]


class CertifiedPath(CertifiedResult):
    """What `path` found.

    >>> from relu_cert import path
    >>> found = path([[1], [2], [-1]], [1, 3, 2], low="1/10")
    >>> print(found.claims["continuous"].verdict, len(found.breakpoints))
    PROVED 1
    >>> found.lambdas.shape == found.objectives.shape == found.widths.shape
    True
    """

    report: PathReport

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        """The lambdas at which neurons enter, leave or change their face: lo < lambda <= hi, exactly."""
        return self.report.breakpoints

    @property
    def exact(self) -> PathForm:
        """Breakpoints and stretches in closed form, sympy expressions in the symbol lambda, as far as they are proved.

        >>> from relu_cert import path
        >>> found = path([[1], [2], [-1]], [1, 3, 2], low="1/10").exact
        >>> found.breakpoints, found.stretches[1].value
        ((2,), -3*lambda**2/5 + 17*lambda/5 + 1/10)
        """
        return self.report.formulas

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Points of the curve: lambda and bounds of the objective, exactly; neurons within `radius`."""
        return self.report.samples

    @property
    def lambdas(self) -> Floats:
        """lambda at the samples."""
        return np.array([float(sample.lam) for sample in self.samples])

    @property
    def objectives(self) -> Floats:
        """p* at the samples."""
        return np.array([float(sample.upper) for sample in self.samples])

    @property
    def widths(self) -> NDArray[np.int64]:
        """The number of neurons at the samples."""
        return np.array([len(sample.neurons) for sample in self.samples], dtype=np.int64)

    def to_csv(self) -> str:
        """The table of `path --csv`."""
        return self.report.to_csv()
