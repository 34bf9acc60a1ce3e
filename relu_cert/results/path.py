"""What `path` and `one_neuron` return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relu_cert.claims.claim import Result
from relu_cert.data.dataset import Dataset
from relu_cert.path.breakpoints import Breakpoint
from relu_cert.path.curve import Sample
from relu_cert.path.one_neuron import NeuronBranch, NeuronJump
from relu_cert.problem.problem import Problem
from relu_cert.report.one_neuron import OneNeuronReport
from relu_cert.report.path import PathReport
from relu_cert.results.base import CertifiedResult

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
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
    problem: Problem
    certificate: str
    raw: bytes
    data: Dataset | None = None

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        """The lambdas at which neurons enter, leave or change their face: lo < lambda <= hi, exactly."""
        return self.report.breakpoints

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

    def html(self) -> str:
        """The page of `path`."""
        from relu_cert.report.html.path import path_page

        name = "problem.json" if self.data is None else self.data.source.path
        return path_page(self.report, self.problem, name, self.data)


@dataclass(frozen=True, repr=False)
class CertifiedOneNeuron(CertifiedResult):
    """What `one_neuron` found: the exact path of the best single neuron on one feature.

    >>> from relu_cert import one_neuron
    >>> found = one_neuron([[-100], [1]], [1, 10])
    >>> [str(jump.lo) for jump in found.jumps]
    ['100/11']
    """

    report: OneNeuronReport
    said: tuple[Result, ...]
    certificate: str
    raw: bytes
    data: Dataset

    @property
    def results(self) -> tuple[Result, ...]:
        """The verdicts about the path."""
        return self.said

    @property
    def branches(self) -> tuple[NeuronBranch, ...]:
        """The branches, lambda descending."""
        return self.report.path.branches

    @property
    def jumps(self) -> tuple[NeuronJump, ...]:
        """Where one branch gives way to another."""
        return self.report.path.jumps

    def html(self) -> str:
        """The page of `path --one-neuron`."""
        from relu_cert.report.html.path import one_neuron_page

        return one_neuron_page(self.report, self.data, self.said)
