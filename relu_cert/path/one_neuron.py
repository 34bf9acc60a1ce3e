"""One neuron, one feature: the exact path of the singular network (prop:one-neuron), with its jumps.

min over v and gamma = +-1 of 1/2 sum_k (gamma (x_k v)_+ - y_k)^2 + lambda |v|. On a branch (the sign of v, gamma) the
points with x_k v > 0 are on; with a = sum x_k^2 and b = gamma sum |x_k| y_k over them the best |v| is (b - lambda)/a
for lambda < b, and the objective falls by (b - lambda)^2 / (2 a) below 1/2 |y|^2. So the best branch maximises
(b - lambda)/sqrt(a): an upper envelope of at most four lines. Where it changes, v jumps, and so does the fit: a network
that is too narrow has no continuous path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from relu_cert.exact import sqrt_lower, sqrt_upper
from relu_cert.serialize import UNWRITTEN, Sign

BITS = 160


@dataclass(frozen=True)
class NeuronBranch:
    """v has this sign, gamma is the second layer's; |v| = (b - lambda)/a for 0 < lambda < b."""

    sign: Sign
    gamma: Sign
    a: Annotated[Fraction, UNWRITTEN]
    b: Annotated[Fraction, UNWRITTEN]

    def v(self, lam: Fraction) -> Fraction:
        """The weight at lambda <= b."""
        return self.sign * (self.b - lam) / self.a

    def better(self, other: NeuronBranch, lam: Fraction) -> int:
        """The sign of (b - lambda)/sqrt(a) minus that of the other branch, exactly; both have lambda < b."""
        mine, theirs = (self.b - lam) ** 2 * other.a, (other.b - lam) ** 2 * self.a
        return (mine > theirs) - (mine < theirs)


@dataclass(frozen=True)
class NeuronJump:
    """lo <= lambda <= hi (equal where the jump is rational): above it `above` is best, below it `below`."""

    lo: Fraction
    hi: Fraction
    above: Annotated[NeuronBranch, UNWRITTEN]
    below: Annotated[NeuronBranch, UNWRITTEN]


@dataclass(frozen=True)
class NeuronPath:
    """Branches from large lambda to small, and the jumps between them; zero for lambda >= `top`. `every` has also the
    branches that are never best, or best together with another one."""

    top: Annotated[Fraction, UNWRITTEN]
    every: Annotated[tuple[NeuronBranch, ...], UNWRITTEN]
    branches: tuple[NeuronBranch, ...]
    jumps: tuple[NeuronJump, ...]

    def minimisers(self, lam: Fraction) -> tuple[tuple[Fraction, int], ...]:
        """All optimal (v, gamma) at lambda > 0; (0, 1) stands for the zero network."""
        if lam >= self.top:
            return ((Fraction(0), 1),)
        best: list[NeuronBranch] = []
        for branch in self.every:
            if lam < branch.b:
                sign = branch.better(best[0], lam) if best else 1
                best = [branch] if sign > 0 else [*best, branch] if sign == 0 else best
        return tuple((branch.v(lam), branch.gamma) for branch in best)


def one_neuron_path(x: Sequence[Fraction], y: Sequence[Fraction]) -> NeuronPath:
    """The whole path for one feature x and one neuron."""
    every = [branch for sign in (1, -1) for gamma in (1, -1) if (branch := _branch(x, y, sign, gamma)) is not None]
    if not every:
        return NeuronPath(Fraction(0), (), (), ())
    top = max(branch.b for branch in every)
    # at lambda just below the top the branches with b = top are the only ones; of these the steepest wins below
    current = min((branch for branch in every if branch.b == top), key=lambda branch: branch.a)
    chain, jumps = [current], list[NeuronJump]()
    while True:
        steeper = [other for other in every if other.a < current.a and current.better(other, Fraction(0)) < 0]
        later = [(_crossing(current, other), other) for other in steeper]
        if not later:
            return NeuronPath(top, tuple(every), tuple(chain), tuple(jumps))
        at, other = max(later, key=lambda found: (found[0][0], -found[1].a))
        jumps.append(NeuronJump(*at, current, other))
        chain.append(other)
        current = other


def _branch(x: Sequence[Fraction], y: Sequence[Fraction], sign: int, gamma: int) -> NeuronBranch | None:
    on = [(x_k, y_k) for x_k, y_k in zip(x, y, strict=True) if x_k * sign > 0]
    a = sum((x_k * x_k for x_k, _ in on), Fraction(0))
    b = gamma * sum((abs(x_k) * y_k for x_k, y_k in on), Fraction(0))
    return NeuronBranch(sign, gamma, a, b) if b > 0 else None


def _crossing(flat: NeuronBranch, steep: NeuronBranch) -> tuple[Fraction, Fraction]:
    """Positive bounds of lambda = (b sqrt(a') - b' sqrt(a)) / (sqrt(a') - sqrt(a)), equal where it is rational. It is
    positive, because the steep branch is better at 0.

    With t = sqrt(a'/a) < 1 that is (b t - b') / (t - 1) = b - (b - b')/(1 - t).
    """
    ratio, bits = steep.a / flat.a, BITS
    while True:
        roots = sqrt_lower(ratio, bits), sqrt_upper(ratio, bits)
        if roots[1] < 1:
            bounds = [flat.b - (flat.b - steep.b) / (1 - t) for t in roots]
            if min(bounds) > 0:
                return min(bounds), max(bounds)
        bits *= 2
