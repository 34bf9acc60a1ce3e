"""Biases as weights: the program that is proved about has none.

The first layer's bias is the weight of a column of ones: W1_i.x + b1_i = (W1_i, b1_i).(x, 1). The output bias has no
variable of its own in the convex program. It is refused unless it is zero, or taken on request (`output_bias="neuron"`)
for one more neuron on the column of ones, b2 = sign(b2) s (s * 1)_+ with s^2 = |b2|, which is the same function
everywhere. That neuron is balanced, so that it costs lambda |b2|; the folded network keeps b2, which says all of it.
Where it is free (relu_cert.free.terms) it costs nothing, and is no neuron.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isqrt
from typing import Literal

from relu_cert.errors import UsageError
from relu_cert.exact import sqrt_lower
from relu_cert.free.terms import Free, free_constant
from relu_cert.network.trained import TrainedNetwork

OutputBias = Literal["refuse", "neuron"]
_ZERO = Fraction(0)


def fold(
    network: TrainedNetwork, d: int, *, ones: bool, output_bias: OutputBias = "refuse", free: Free = ()
) -> TrainedNetwork:
    """The same function on data of d features, without b1; `ones`: the last feature is the constant 1, on which b2 is a
    neuron unless it is free."""
    folded = replace(_fold_first(network, d, ones), free=free, slope=None)
    if any(network.skip) and "skip" not in free:
        raise UsageError("the network has a skip connection, which the program knows as a free term; say --free skip.")
    if "skip" in free:
        skip = network.skip or (_ZERO,) * network.d
        if ones and network.d == d and skip[-1]:
            raise UsageError("the skip connection has a weight for the column of ones; give it as the output bias.")
        folded = replace(folded, skip=(*skip, _ZERO) if network.d < d else skip, appended=ones)
    if free_constant(free) and output_bias == "neuron":
        raise UsageError("an output bias is free or a neuron that is penalised; give --free or --output-bias neuron.")
    if not any(folded.offsets) or free_constant(free):
        return folded
    if network.targets > 1:
        raise UsageError(
            f"the network has output biases ({network.targets} outputs); say --free output-bias if they had no "
            "penalty, or --penalty pytorch (squares) if weight_decay was on all parameters, or train without them."
        )
    if output_bias == "refuse":
        way = "say --output-bias neuron" if ones else "say --bias and --output-bias neuron"
        raise UsageError(
            f"the network has the output bias {float(network.b2):.6g}; say --free output-bias if there was no penalty "
            f"on it, or train without it, or {way}, which makes it a neuron that costs lambda |b2|."
        )
    if not ones:
        raise UsageError("an output bias becomes a neuron on the column of ones; read the data with --bias.")
    return folded


def square_root(x: Fraction) -> Fraction:
    """sqrt(x) where it is rational, else a rational of 53 bits near to it; x > 0."""
    p, q = isqrt(x.numerator), isqrt(x.denominator)
    if p * p == x.numerator and q * q == x.denominator:
        return Fraction(p, q)
    root = sqrt_lower(x, 80)
    grid = Fraction(2) ** (53 - root.numerator.bit_length() + root.denominator.bit_length())
    return Fraction(round(root * grid)) / grid


def _fold_first(network: TrainedNetwork, d: int, ones: bool) -> TrainedNetwork:
    if network.d == d and not any(network.b1 or ()):
        return replace(network, b1=None, skip=())
    if network.d == d - 1 and ones:
        b1 = network.b1 or (_ZERO,) * network.m
        return replace(network, W1=tuple((*w, b) for w, b in zip(network.W1, b1, strict=True)), b1=None, skip=())
    if network.d == d and not ones:
        raise UsageError("the network's first layer has biases; read the data with --bias, a column of ones for them.")
    of_data = f"{d - 1} features and a column of ones" if ones else f"{d} features"
    raise UsageError(f"the network has {network.d} inputs, the data has {of_data}; they must be the same.")
