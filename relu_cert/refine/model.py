"""What refinement hands on: points accurate to any number of digits, still only proposals to a proof."""

from __future__ import annotations

from dataclasses import dataclass

from relu_cert.exact import Vector


@dataclass(frozen=True)
class RefinedNeuron:
    """A neuron with rational weights. On a face the rows that rest on it vanish exactly: z_k.w = 0 (ReLU),
    K_k.w = 0 (direct). `block` is the pattern's number (gated), the block (direct), None (ReLU)."""

    sign: int
    block: int | None
    w: Vector


@dataclass(frozen=True)
class Refined:
    """theta approximates the optimal residual r* to about `digits` digits, and so do the neurons their optimum.

    `reason` is empty where the accuracy asked for was reached, and says what stood in the way otherwise.
    """

    theta: Vector
    neurons: tuple[RefinedNeuron, ...]
    digits: int
    reason: str = ""
