"""A question about a given network: what the certifier says of it, and instances whose answers are known.

The data are planted, or have one feature: then the optimum is that of a lasso and known exactly for every target and
lambda. The network is an optimal one, or one that was split, permuted, rescaled, disturbed, cut, widened, or any.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.lasso import solve_lasso
from properties.exact.linalg import Matrix, Vector, scale, zeros
from properties.exact.network import Network, Neuron
from properties.exact.patterns import patterns, relu_problem
from properties.exact.problem import CGL, Weights, residual
from properties.soundness.case import SILENT, Answer, NetworkCase
from properties.strategies import positive_rationals, rational_matrix, unit_vector, vector
from properties.strategies.networks import any_network, balanced_network, planted_network, split
from relu_cert.claims import decide
from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, find_facts
from relu_cert.network.claims import network_verdicts
from relu_cert.network.directions import own_problem
from relu_cert.network.examine import Comparison, compare, examine, network_certificate
from relu_cert.network.formats.json_text import read, write
from relu_cert.network.penalty import Penalty, convert
from relu_cert.network.trained import Origin, TrainedNetwork

BESIDE = ("patterns-complete", "optimal", "fit", "p-unique", "optimal-set")


@dataclass(frozen=True)
class Question:
    """Data, lambda, a network, the relative gap up to which it is called optimal, and the optimal residual r*."""

    Z: Matrix
    y: Vector
    lam: Fraction
    net: Network
    gap: Fraction
    r: Vector

    @property
    def case(self) -> NetworkCase:
        """The problem that the network is compared with."""
        return NetworkCase("relu", self.Z, self.y, self.lam)

    @property
    def file(self) -> bytes:
        """The network as a file; the zero network has a neuron, too."""
        d = len(self.Z[0])
        rows = tuple(i.W for i in self.net) or (zeros(d),)
        return write(TrainedNetwork(rows, tuple(i.w2 for i in self.net) or (Fraction(0),)), "net.json")


@dataclass(frozen=True)
class NetworkAnswer(Answer):
    """What the certifier said of a network."""

    question: Question
    comparison: Comparison
    origin: Origin

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The certificate, a JSON object."""
        q = self.question
        conversion = convert(Penalty.PAPER, q.lam, len(q.y))
        return network_certificate(q.case.source, self.comparison, conversion, self.origin, q.gap, self.results)


def ask_network(question: Question) -> NetworkAnswer:
    """The certifier's answer, by the way of `python -m relu_cert network`."""
    q, raw = question, question.file
    origin = Origin("json", "net.json", sha256(raw).hexdigest())
    found = examine(read(raw, "net.json", origin), q.Z, q.y, q.lam)
    choice = LambdaChoice(value=q.lam)
    facts = find_facts(q.case.problem, choice, DEFAULT_GAP, SILENT)
    own = None
    if found.neurons:
        own = find_facts(own_problem(found.neurons, q.Z, q.y), choice, DEFAULT_GAP, SILENT)
    comparison = compare(found, facts, own)
    results = (*decide(facts, BESIDE), *network_verdicts(comparison, q.gap))
    return NetworkAnswer(q.case, facts, results, q, comparison, origin)


def gaps() -> st.SearchStrategy[Fraction]:
    """Strict and lenient."""
    return st.sampled_from([Fraction(1, 1000), Fraction(1, 10), Fraction(1, 10**9)])


@st.composite
def one_feature(draw: DrawFn) -> Question:
    """Any targets and any lambda on one feature; any network, also an optimal one with weights in one layer."""
    n = draw(st.integers(1, 4))
    Z, y = draw(rational_matrix(n, 1)), draw(vector(n))
    lam = draw(positive_rationals(4, 3))
    problem, w = _solved(Z, y, lam)
    net = draw(st.one_of(any_network(1), balanced_network(1, draw(st.integers(1, 3)))))
    if draw(st.booleans()):
        net = tuple(Neuron(u, Fraction((-1) ** b)) for b, u in enumerate(w) if any(u))
    return Question(Z, y, lam, net, draw(gaps()), residual(problem, w))


def _solved(Z: Matrix, y: Vector, lam: Fraction) -> tuple[CGL, Weights]:
    problem = relu_problem(Z, patterns(Z).all, y, lam * lam)
    return problem, solve_lasso(problem)


@st.composite
def stuck(draw: DrawFn) -> Question:
    """One feature and one neuron a > 0, optimal for its own pattern: sum z_k r_k = lambda over the points z_k > 0, and
    y_k = r_k + a^2 z_k there. What the other points want is left out, so that it is hardly ever optimal."""
    n = draw(st.integers(1, 4))
    Z = draw(rational_matrix(n, 1))
    wish, a = draw(vector(n)), draw(positive_rationals(2, 2))
    lam = sum((z[0] * t for z, t in zip(Z, wish, strict=True) if z[0] > 0), Fraction(0))
    assume(lam > 0)
    y = tuple(t + a * a * z[0] if z[0] > 0 else t for z, t in zip(Z, wish, strict=True))
    problem, w = _solved(Z, y, lam)
    return Question(Z, y, lam, (Neuron((a,), a),), draw(gaps()), residual(problem, w))


@st.composite
def planted_question(draw: DrawFn) -> Question:
    """Planted data with an optimal network."""
    found = draw(planted_network())
    p = found.planted
    return Question(p.Z, p.y, found.lam, found.net, draw(gaps()), p.r)


CHANGES = ("none", "none", "split", "rescaled", "disturbed", "cut", "widened", "any")


@st.composite
def questions(draw: DrawFn) -> Question:
    """A network, optimal or changed."""
    question = draw(st.one_of(planted_question(), planted_question(), one_feature(), stuck()))
    net, d = question.net, len(question.Z[0])
    change = draw(st.sampled_from(CHANGES))
    if change == "any" or not net:
        net = draw(any_network(d))
    elif change == "split":
        net = draw(split(net))
    elif change == "rescaled":
        i, c = draw(st.integers(0, len(net) - 1)), draw(positive_rationals(3, 2))
        net = (*net[:i], Neuron(scale(c, net[i].W), net[i].w2 / c), *net[i + 1 :])
    elif change == "disturbed":
        i, small = draw(st.integers(0, len(net) - 1)), Fraction(1, draw(st.sampled_from([1, 8, 10**6])))
        W = tuple(x + small * e for x, e in zip(net[i].W, draw(vector(d, 1)), strict=True))
        net = (*net[:i], Neuron(W, net[i].w2 + small * draw(st.integers(-1, 1))), *net[i + 1 :])
    elif change == "cut":
        i = draw(st.integers(0, len(net) - 1))
        net = (*net[:i], *net[i + 1 :])
    elif change == "widened":
        a = Fraction(draw(st.integers(0, 2)), 2)
        net = (*net, Neuron(scale(a, draw(unit_vector(d))), a * draw(st.sampled_from([1, -1]))))
    return replace(question, net=net)
