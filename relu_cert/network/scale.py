"""Neurons with the wrong scale: |W1_i| != |w2_i|.

Multiplying W1_i by c > 0 and dividing w2_i by c changes no prediction; the penalty is smallest where the two norms are
equal (lemma:scaling-unique). What a neuron loses by its scale is lambda/2 (|W1_i| - |w2_i|)^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from relu_cert.exact import norm_squared
from relu_cert.free.terms import weights_of
from relu_cert.network.objective import HALF, Interval, bias_free, outward, root
from relu_cert.network.trained import TrainedNetwork


@dataclass(frozen=True)
class NeuronScale:
    """|W1_i|^2 and w2_i^2 of one neuron, and what their difference costs. `dead`: its output is zero everywhere because
    one of its weights is (a free bias is in no norm, but not nothing)."""

    first: Fraction
    second: Fraction
    excess: Interval
    dead: bool

    @property
    def balanced(self) -> bool:
        """Whether the two norms are equal, exactly."""
        return self.first == self.second


def scales(network: TrainedNetwork, lam: Fraction) -> tuple[NeuronScale, ...]:
    """The scale of every neuron of W1 (an output bias is balanced). The excesses sum to J - P."""
    found = []
    for w, v in zip(bias_free(network).W1, network.w2, strict=True):
        a, b = norm_squared(weights_of(network.free, w)), v * v
        # (sqrt(a) - sqrt(b))^2 = a + b - 2 sqrt(ab), without cancellation: (a - b)^2 / (a + b + 2 sqrt(ab))
        product = root(a * b)
        excess = Interval(Fraction(0), Fraction(0))
        if a != b:
            square = (a - b) ** 2
            exact = Interval(square / (a + b + 2 * product.upper), square / (a + b + 2 * product.lower))
            excess = outward(exact, 128)
        found.append(NeuronScale(a, b, excess.scale(HALF * lam), not v or not any(w)))
    return tuple(found)
