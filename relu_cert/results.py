"""What `certify_network`, `path`, `one_neuron` and `patterns` return: verdicts, real objects, and the certificate."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.checker import accepted
from relu_cert.claims.model import Result
from relu_cert.data.model import Dataset
from relu_cert.errors import UsageError
from relu_cert.files import Place, decide_places, refusal, write_files
from relu_cert.network.model import TrainedNetwork
from relu_cert.network.objective import Interval
from relu_cert.path.breakpoints import Breakpoint
from relu_cert.path.curve import Sample
from relu_cert.path.one_neuron import NeuronBranch, NeuronJump
from relu_cert.patterns import PatternSet, save_npz
from relu_cert.problem.model import Problem
from relu_cert.prove.facts import Facts, Value
from relu_cert.report.network import NetworkOutcome
from relu_cert.report.one_neuron import OneNeuronReport
from relu_cert.report.path import PathReport
from relu_cert.report.patterns import headline
from relu_cert.report.shown import Shown

Floats = NDArray[np.float64]


class CertifiedResult(Shown):
    """Verdicts with the certificate that proves them, and the bytes of the data that it speaks of."""

    raw: bytes

    if TYPE_CHECKING:

        @property
        def certificate(self) -> str:
            """The certificate, a JSON text (verify/FORMAT.md)."""

    @property
    def told(self) -> Any:
        """What is told by the command that does the same."""
        raise NotImplementedError

    @property
    def results(self) -> tuple[Result, ...]:
        """The verdicts, in order."""
        found: tuple[Result, ...] = self.told.results
        return found

    @property
    def claims(self) -> Mapping[str, Result]:
        """The verdict of every claim, by its name; a Result has `verdict`, `evidence` and `detail`."""
        return MappingProxyType({result.claim: result for result in self.results})

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        return str(self.told.headline)

    @property
    def data_csv(self) -> bytes:
        """The bytes of the data that the certificate speaks of: a CSV file, or JSON for a group lasso."""
        return self.raw

    def to_text(self) -> str:
        """The report as the command prints it, but for the files that it writes."""
        lines = str(self.told.to_text()).rstrip("\n").split("\n")
        kept = [line for line in lines if not line.startswith(("certificate  ", "re-check it  "))]
        return "\n".join([*kept, "certificate  in memory; .save(file, data=file) writes it, with its data"]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """The object that the command prints with --json."""
        return dict(self.told.to_json())

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


@dataclass(frozen=True, repr=False)
class CertifiedNetwork(CertifiedResult):
    """What `certify_network` found about a given network.

    >>> from relu_cert import certify_network
    >>> found = certify_network(([[1], [-1]], [1, 1]), [[1], [2], [-1]], [1, 3, 2], lam="1/2")
    >>> found
    <CertifiedNetwork: This network is not the best: its objective is 21.2 % above the best possible one; proved.>
    >>> found.objective, found.lam
    (Fraction(2, 1), Fraction(1, 2))
    >>> print(found.claims["network-optimal"].verdict)
    REFUTED
    """

    outcome: NetworkOutcome
    certificate: str
    raw: bytes

    @property
    def told(self) -> NetworkOutcome:
        """The report."""
        return self.outcome

    @property
    def lam(self) -> Fraction:
        """The paper's lambda, converted from the convention that was named."""
        return self.outcome.conversion.lam

    @property
    def objective(self) -> Fraction:
        """The exact objective of the given network."""
        return self.outcome.comparison.examination.J

    @property
    def value(self) -> Value:
        """The objective of the best network, enclosed."""
        return self.outcome.comparison.facts.value

    @property
    def stationarity(self) -> Interval:
        """The squared distance of zero from the Clarke subdifferential."""
        return self.outcome.comparison.examination.stationarity.distance_squared

    @property
    def facts(self) -> Facts:
        """What was proved about the optimum."""
        return self.outcome.comparison.facts

    @property
    def given(self) -> TrainedNetwork:
        """The network as it was read, every weight exact."""
        return self.outcome.trained

    @property
    def pruned(self) -> TrainedNetwork:
        """The given network merged, pruned and balanced: the same fit, no higher objective."""
        return self.outcome.pruned

    @property
    def optimal(self) -> TrainedNetwork:
        """The optimal network that was found."""
        return self.outcome.optimal

    def html(self) -> str:
        """The page of `network`."""
        from relu_cert.report.html.given import network_page

        return network_page(self.outcome, self.certificate)


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
    def told(self) -> PathReport:
        """The report."""
        return self.report

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
    def told(self) -> OneNeuronReport:
        """The report."""
        return self.report

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
