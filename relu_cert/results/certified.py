"""What the functions of the Python interface return: verdicts, objects, the certificate."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.checker import accepted
from relu_cert.claims.claim import Result
from relu_cert.closed_forms.optimum import ClosedForm
from relu_cert.closed_forms.path import PathForm
from relu_cert.errors import UsageError
from relu_cert.exact import Vector
from relu_cert.files import Place, write_files
from relu_cert.network.fitted import FittedNetwork, fitted_network, fitted_outputs
from relu_cert.network.objective import Interval
from relu_cert.network.trained import TrainedNetwork
from relu_cert.path.curve import Breakpoint, Sample
from relu_cert.path.sensitivity import Derivatives
from relu_cert.prove.facts import Facts, Primal, Value
from relu_cert.report.check import CheckReport
from relu_cert.report.network import NetworkReport
from relu_cert.report.optimal_set import OptimalSetView, minimal_networks, optimal_set_view
from relu_cert.report.path import PathReport
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

    report: NetworkReport

    @property
    def lam(self) -> Fraction:
        """The paper's lambda, converted from the convention that was named."""
        return self.report.conversion.lam

    @property
    def objective(self) -> Fraction:
        """The exact objective of the given network; with the logistic loss at least that, to 2^-256."""
        return self.report.comparison.examination.J

    @property
    def value(self) -> Value:
        """The objective of the best network, enclosed."""
        return self.report.facts.value

    @property
    def stationarity(self) -> Interval:
        """The squared distance of zero from the Clarke subdifferential; with the squares."""
        if self.report.comparison.examination.logistic:
            raise UsageError("with the logistic loss gradients are no rationals, and nothing is known of stationarity.")
        return self.report.comparison.examination.stationarity.distance_squared

    @property
    def facts(self) -> Facts:
        """What was proved about the optimum."""
        return self.report.facts

    @property
    def given(self) -> TrainedNetwork:
        """The network as it was read, every weight exact."""
        return self.report.trained

    @property
    def pruned(self) -> TrainedNetwork:
        """The given network merged, pruned and balanced: the same fit, no higher objective."""
        return self.report.pruned

    @property
    def optimal(self) -> TrainedNetwork:
        """The optimal network that was found."""
        return self.report.optimal


class Certified(CertifiedResult):
    """What `certify` found: a network, the verdicts about it, and the certificate that proves them.

    >>> from relu_cert import certify
    >>> found = certify([[1], [2], [-1]], [1, 3, 2], "1/2")
    >>> for name, result in found.claims.items():
    ...     print(name, result.verdict)
    patterns-complete PROVED
    optimal PROVED
    fit PROVED
    p-unique PROVED
    convex-unique PROVED
    optimal-set PROVED
    minimal PROVED
    connected PROVED
    min-norm PROVED
    e-equals-a PROVED
    licq PROVED
    strict-complementarity PROVED
    sensitivity PROVED
    >>> found.lam, found.value.lower <= found.value.upper
    (Fraction(1, 2), True)

    Saved with its data, the certificate is checked by `python -m verify fit.cert.json --data fit.csv`:

    >>> import tempfile, pathlib
    >>> from verify.__main__ import main
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> found.save(folder / "fit.cert.json", data=folder / "fit.csv")
    >>> print((folder / "fit.csv").read_text().splitlines())
    ['x0,y', '1,1', '2,3', '-1,2']
    """

    report: CheckReport

    @property
    def facts(self) -> Facts:
        """Everything that was proved, exactly."""
        return self.report.facts

    @property
    def lam(self) -> Fraction:
        """lambda"""
        return self.facts.lam

    @property
    def value(self) -> Value:
        """The optimal value p*, enclosed: lower <= p* <= upper."""
        return self.facts.value

    @cached_property
    def optimal_set(self) -> OptimalSetView | None:
        """All optimal networks: the tied neurons E, the vertices and edges of the polytope of their weights; None
        where they are not listed (the claim "optimal-set" says why).

        >>> from relu_cert import certify_group_lasso
        >>> found = certify_group_lasso([[1, 1]], [[0], [1]], [3], lam=1).optimal_set
        >>> found
        <OptimalSet: dimension 1, 2 vertices, 2 tied neurons, m* = 1, M* = 1>
        >>> found.alphas
        array([[0., 2.],
               [2., 0.]])
        """
        return optimal_set_view(self.facts)

    @property
    def exact(self) -> ClosedForm | None:
        """The optimum in closed form, sympy expressions: `value`, `network`, `vertices`, `latex()`; None where it is
        not known exactly.

        >>> from relu_cert import certify
        >>> found = certify([[1, 1]], [3], 1, model="gated").exact
        >>> found.value, found.network[0].weight
        (-1/4 + 3*sqrt(2)/2, -1/2 + 3*sqrt(2)/2)
        """
        return self.report.formulas

    @property
    def derivatives(self) -> Derivatives | None:
        """The derivatives by lambda and y, with their proved radius; None where there are none, or where the claim
        "sensitivity" was not asked for."""
        return self.facts.derivatives

    @cached_property
    def network(self) -> FittedNetwork:
        """The network that was found, to predict with; UsageError for a group lasso, which has `weights` only."""
        data = self.report.data
        if data is not None and data.targets > 1:
            return fitted_outputs(self.facts, data)
        return fitted_network(self.facts, self.report.source)

    def predict(self, X: Any) -> NDArray[Any]:
        """What the network says of every row of X (of every signal, image or set): f(x), or the class."""
        return self.network.predict(X)

    def score(self, X: Any, y: Any) -> float:
        """R^2 of the network on other data; of classes the part that is put into its own."""
        return self.network.score(X, y)

    @property
    def confusion(self) -> list[list[int]] | None:
        """How many rows of each class (rows) are put into each (columns); None without classes."""
        return self.report.confusion

    def networks(self) -> tuple[FittedNetwork, ...]:
        """All minimal optimal networks, the narrowest first; every optimal network is a mixture of their neurons. Their
        weights are exact, or as near as `optimal_set` says. UsageError where they are not listed, or terms are free.

        >>> from relu_cert import certify
        >>> Z, y = [[3, 0], [-3, 0], [0, 4], [0, -4]], [10, 10, 17, 17]
        >>> [(one.width, one.predict(Z).round(6).tolist()) for one in certify(Z, y, 5).networks()]
        [(2, [9.0, 9.0, 16.0, 16.0]), (2, [9.0, 9.0, 16.0, 16.0])]
        """
        found = minimal_networks(self.facts)
        if not found and not self.facts.zero:
            why = "terms are free" if self.facts.problem.free else self.claims["optimal-set"].detail
            raise UsageError(f"the optimal networks are not listed: {why}")
        source = self.report.source
        known = (fitted_network(replace(self.facts, primal=Primal(one, ())), source) for one in found or [()])
        return tuple(known)

    @property
    def weights(self) -> Mapping[int, Vector]:
        """The active blocks w_b, exactly, by their number: of a group lasso, a gated network, or a network over
        some patterns.

        >>> from relu_cert import certify_group_lasso
        >>> found = certify_group_lasso([[1, 0], [0, 2]], [[0], [1]], [3, 4], lam=1)
        >>> {b: [str(x) for x in w] for b, w in found.weights.items()}
        {0: ['2'], 1: ['7/4']}
        """
        return MappingProxyType({n.block: n.w for n in self.facts.primal.neurons if n.block is not None})

    @property
    def distance(self) -> Interval | None:
        """For a network over some patterns: lower <= its optimum - the global optimum <= upper. None where there is
        nothing to compare, or D_Z has too many patterns."""
        return self.report.distance

    @cached_property
    def global_optimum(self) -> Certified | None:
        """For a network over some patterns: the same problem over all of them, where it was solved."""
        best = self.report.over_all
        return Certified(best, self.raw) if isinstance(best, CheckReport) else None

    def recheck(self) -> None:
        """Give data and certificate to the independent checker; ReluCertError if it does not accept them."""
        super().recheck()
        if self.global_optimum is not None:
            self.global_optimum.recheck()

    def html(self, *, certificate: str | None = None, data: str | None = None) -> str:
        """The report as one self-contained HTML page; the names are those under which you save the two files."""
        source = replace(self.report.source, path=data or self.report.source.path)
        path = self.report.certificate_path if certificate is None else Path(certificate)
        return replace(self.report, source=source, certificate_path=path).html()

    def _repr_html_(self) -> str:
        from relu_cert.report.html.page import notebook_check

        return notebook_check(self.report, self.html())
