"""What `certify_network` returns."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.errors import UsageError
from relu_cert.network.objective import Interval
from relu_cert.network.trained import TrainedNetwork
from relu_cert.prove.facts import Facts, Value
from relu_cert.report.network import NetworkReport
from relu_cert.results.base import CertifiedResult


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
