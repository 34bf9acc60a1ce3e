"""What Python gets for a network with several outputs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from relu_cert.outputs.facts import OutputsFacts
from relu_cert.outputs.report import OutputsNetwork, OutputsReport
from relu_cert.prove.facts import Value
from relu_cert.results.base import CertifiedResult


@dataclass(frozen=True, repr=False)
class CertifiedOutputs(CertifiedResult):
    """The optimum of a network with several outputs: verdicts, bounds, the network, and the certificate."""

    report: OutputsReport

    @property
    def facts(self) -> OutputsFacts:
        """Everything that was proved, exactly."""
        return self.report.found

    @property
    def lam(self) -> Fraction:
        """lambda"""
        return self.facts.lam

    @property
    def value(self) -> Value:
        """The optimal value p*, enclosed: lower <= p* <= upper."""
        return self.facts.value

    @property
    def confusion(self) -> list[list[int]] | None:
        """How many rows of each class (rows) are put into each (columns); None without classes."""
        return self.report.confusion

    @cached_property
    def network(self) -> OutputsNetwork:
        """The network that was found, to predict with."""
        data = self.report.several
        bias = data.source.bias
        return OutputsNetwork(self.facts.neurons, data.means, data.source.labels, len(data.names) - bias, bias)
