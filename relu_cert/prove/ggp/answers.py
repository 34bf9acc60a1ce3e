"""What is found out about general position: a refutation, a proof, or what is missing. Vectors are integers.

Blocks are numbers of the design; vectors over a support are kept block by block, in the order of `blocks`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from relu_cert.exact import Vector
from relu_cert.serialize import Via, sign_text, vector

IntVector = tuple[int, ...]
BlockVector = tuple[IntVector, ...]  # u_b for each block b of a support, in its order
Cut = tuple[int, int, int, int]


@dataclass(frozen=True)
class Zero:
    """Xu = 0, u != 0 and sum_b signs_b |u_b| = 0: general position fails."""

    blocks: tuple[int, ...]
    signs: tuple[int, ...]
    u: BlockVector


@dataclass(frozen=True)
class Crossing:
    """Xu = Xv = 0 and sum_b signs_b |u_b| > 0 > sum_b signs_b |v_b|: general position fails."""

    blocks: tuple[int, ...]
    signs: tuple[int, ...]
    u: BlockVector
    v: BlockVector


@dataclass(frozen=True)
class FormWin:
    """sum_P |u_b|^2 - sum_M |u_b|^2 / t_b is positive definite, t_b > 0 and sum t_b <= 1.

    `plus` is P; `t` belongs to the other blocks of the support, in its order.
    """

    plus: tuple[int, ...]
    t: Vector


@dataclass(frozen=True)
class ConeWin:
    """P = `plus` wins on every cone of a subdivision.

    The first cones are spanned by +-(the basis), the first vector with sign +, the others as the binary digits of
    0, 1, ... say (bit i - 1 set: minus for vector i). `cuts` go through each cone's tree in preorder: None is a cone on
    which the linear bound holds; (i, j, p, q) splits a cone by the generator h = p g_i + q g_j (p, q > 0) into the
    one with h for g_i, which comes first, and the one with h for g_j.
    """

    plus: tuple[int, ...]
    cuts: tuple[Cut | None, ...]


Win = FormWin | ConeWin


def _together(basis: Iterable[BlockVector]) -> list[str]:
    """Vectors over a support, each as one."""
    return [vector(x for part in u for x in part) for u in basis]


@dataclass(frozen=True)
class SupportProof:
    """No signed sum vanishes on the null vectors (spanned by `basis`, two or more) supported in `blocks`.

    For any signs the coalition of one sign contains the `plus` of one of the wins.
    """

    blocks: tuple[int, ...]
    basis: Annotated[tuple[BlockVector, ...], Via(_together)]
    wins: tuple[Win, ...]


@dataclass(frozen=True)
class Proof:
    """General position holds: `supports` are the sets of min(n + 1, blocks) blocks with two or more null vectors.

    The others have at most one null vector, whose signed sums are decided by square classes.
    """

    supports: tuple[SupportProof, ...]


@dataclass(frozen=True)
class Unsettled:
    """Not decided within the effort, and why."""

    reason: str


def _refutation(name: str, found: Zero | Crossing) -> dict[str, Any]:
    """[block, sign, u_b] or [block, sign, u_b, v_b] for each block."""
    vectors = (found.u,) if isinstance(found, Zero) else (found.u, found.v)
    every = zip(found.blocks, found.signs, *vectors, strict=True)
    return {name: [[b, sign_text(s), *map(vector, parts)] for b, s, *parts in every]}


Answer = (  # null where nothing is settled
    Annotated[Zero, Via(lambda found: _refutation("zero", found))]
    | Annotated[Crossing, Via(lambda found: _refutation("crossing", found))]
    | Proof
    | Annotated[Unsettled, Via(lambda _: None)]
)


@dataclass(frozen=True)
class GGP:
    """Group general position of the blocks, and general position of the columns."""

    groups: Answer
    columns: Answer
