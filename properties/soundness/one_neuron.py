"""One neuron on one feature: all optimal networks of width one, straight from the objective, against the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Vector
from properties.soundness.case import SILENT, Answer, NetworkCase
from properties.strategies import vector
from relu_cert.claims import decide
from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, optimum
from relu_cert.path.one_neuron import NeuronPath, one_neuron_path

Neuron = tuple[Fraction, int]


@dataclass(frozen=True)
class Feature:
    """One feature and the targets."""

    x: Vector
    y: Vector


@st.composite
def features(draw: DrawFn) -> Feature:
    """Small integers, so that branches often tie; points of different sizes, so that they often cross."""
    n = draw(st.integers(1, 5))
    size = draw(st.sampled_from([1, 1, 3, 10]))
    x, y = draw(vector(n)), draw(vector(n, 4))
    return Feature(tuple(t * size if t < 0 else t for t in x), y)


def objective(at: Feature, v: Fraction, gamma: int, lam: Fraction) -> Fraction:
    """1/2 sum (gamma (x_k v)_+ - y_k)^2 + lambda |v|"""
    loss = sum(((gamma * max(x * v, Fraction(0)) - t) ** 2 for x, t in zip(at.x, at.y, strict=True)), Fraction(0))
    return loss / 2 + lam * abs(v)


def minimisers(at: Feature, lam: Fraction) -> set[Neuron]:
    """All optimal (v, gamma); (0, 1) stands for zero. On each half line the objective is a quadratic, which its values
    at three points determine."""
    found: dict[Neuron, Fraction] = {(Fraction(0), 1): objective(at, Fraction(0), 1, lam)}
    for sign in (1, -1):
        for gamma in (1, -1):
            f0, f1, f2 = (objective(at, Fraction(sign * t), gamma, lam) for t in range(3))
            a, b = (f2 - 2 * f1 + f0) / 2, (4 * f1 - f2 - 3 * f0) / 2
            if a > 0 > b:
                v = -sign * b / (2 * a)
                found[v, gamma] = objective(at, v, gamma, lam)
    best = min(found.values())
    return {neuron for neuron, value in found.items() if value == best}


def ask_one_neuron(at: Feature) -> Answer:
    """The certifier's answer, by the way of `python -m relu_cert path --one-neuron`."""
    found = one_neuron_path(at.x, at.y)
    lam = found.top or Fraction(1)
    case = NetworkCase("relu", tuple((t,) for t in at.x), at.y, lam)
    facts = optimum(case.problem, LambdaChoice(value=lam), DEFAULT_GAP, SILENT)
    facts = replace(facts, one_neuron=found)
    return Answer(case, facts, decide(facts, ("patterns-complete", "one-neuron")))


def one_neuron_contradiction(answer: Answer, at: Feature) -> str:
    """Where the listed branches and jumps are not the truth; "" if nowhere."""
    found = answer.facts.one_neuron
    if found is None:
        return "the path is missing"
    return _wrong_minimisers(found, at) or _wrong_branches(found, at)


def _wrong_minimisers(found: NeuronPath, at: Feature) -> str:
    for lam in _lambdas(found):
        if set(found.minimisers(lam)) != minimisers(at, lam):
            return f"at lambda = {lam} the optimal networks are {minimisers(at, lam)}, not {found.minimisers(lam)}"
    return ""


def _lambdas(found: NeuronPath) -> list[Fraction]:
    """Where something happens, between these, and beyond them."""
    top = found.top or Fraction(1)
    marks = sorted({Fraction(0), top, *(end for jump in found.jumps for end in (jump.lo, jump.hi))})
    between = [(a + b) / 2 for a, b in pairwise(marks)]
    return [*(mark for mark in marks if mark), *between, 2 * top, top / 100]


def _wrong_branches(found: NeuronPath, at: Feature) -> str:
    """Between two jumps the listed branch is optimal, and at a jump, where it is rational, both neighbours are."""
    if not found.branches:
        return "" if minimisers(at, Fraction(1, 10**6)) == {(Fraction(0), 1)} else "no branch is listed"
    ends = [found.top, *(jump.lo for jump in found.jumps)]
    starts = [*(jump.hi for jump in found.jumps), Fraction(0)]
    for branch, low, high in zip(found.branches, starts, ends, strict=True):
        lam = (low + high) / 2
        if (branch.v(lam), branch.gamma) not in minimisers(at, lam):
            return f"the branch {branch} is not optimal at lambda = {lam}"
    for jump in found.jumps:
        both = {(one.v(jump.lo), one.gamma) for one in (jump.above, jump.below)}
        if jump.lo == jump.hi and not both <= minimisers(at, jump.lo):
            return f"no jump at lambda = {jump.lo}"
    return ""
