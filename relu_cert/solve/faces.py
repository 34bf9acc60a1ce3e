"""Faces of blocks at a residual.

A *face* is a block b with the active constraints F of its projection: v = Proj_{C_b}(X_b'r) = P_F X_b'r, so that
B = X_b P_F is a fixed matrix while the face stays the same, v = B'r, and the neuron's output is q = B B'r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relu_cert.solve.model import Floats, Neuron

Key = tuple[int, int | None, bytes, tuple[int, ...]]


@dataclass(frozen=True)
class Face:
    """A block on a face of its cone at some residual: B = X_b P_F (n x |b|), v = B'r, and P_F.

    `kinks` are the rows that vanish on the face: z_k.v = 0 (ReLU; with a row come all that depend on the rows
    found), K_k.v = 0 (direct). `on` are the packed rows that are on (ReLU; kinks are off). Equal keys, equal B.
    """

    sign: int
    block: int | None
    kinks: tuple[int, ...]
    B: Floats
    v: Floats
    P: Floats
    on: bytes = b""

    @property
    def key(self) -> Key:
        """What identifies the face."""
        return (self.sign, self.block, self.on, self.kinks)


def add_blocks(neurons: Sequence[Neuron]) -> list[Neuron]:
    """Sum the weights block by block."""
    total: dict[int | None, Floats] = {}
    for neuron in neurons:
        total[neuron.block] = total[neuron.block] + neuron.w if neuron.block in total else neuron.w
    return [Neuron(1, block, w) for block, w in total.items() if w.any()]
