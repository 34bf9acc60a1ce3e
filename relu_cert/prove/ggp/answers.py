"""What is found out about general position: a refutation, a proof, or what is missing. Vectors are integers.

Blocks are numbers of the design; vectors over a support are kept block by block, in the order of `blocks`.

Signed sums of square roots of integers, exactly: their sign, and signs for which they vanish.

Square roots of integers whose products are no squares are linearly independent over the rationals (Besicovitch 1940).
So a sum is zero iff, within every class of radicands that differ by squares, the coefficients cancel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, isqrt
from operator import mul
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


LARGEST_CLASS = 32  # a partition of so many numbers is searched by meeting in the middle, 2^16 sums a side


class TooManyTerms(Exception):
    """A square class with more than LARGEST_CLASS members."""


def square_classes(radicands: Sequence[int]) -> list[dict[int, int]]:
    """The positive radicands by square class, {place: c}: sqrt(r_place) = c / r_a sqrt(r_a), a the first of its class.

    r_a r_b is a square iff a and b are of one class, and c_b is then its root: no number is factored.
    """
    classes: list[tuple[int, dict[int, int]]] = []
    for place, r in enumerate(radicands):
        if r == 0:
            continue
        for first, members in classes:
            root = isqrt(first * r)
            if root * root == first * r:
                members[place] = root
                break
        else:
            classes.append((r, {place: r}))
    return [members for _, members in classes]


def root_sum_sign(signs: Sequence[int], radicands: Sequence[int]) -> int:
    """The sign of sum s_i sqrt(r_i).

    An interval decides most of them. For the others: the sum is zero iff it is zero in every square class, and if it
    is not, intervals that shrink exclude zero.
    """
    quick = _enclosed_sign([(s, r, 1) for s, r in zip(signs, radicands, strict=True)], 64)
    if quick:
        return quick
    terms = []
    for members in square_classes(radicands):
        first = radicands[next(iter(members))]
        if total := sum(signs[place] * c for place, c in members.items()):
            terms.append((1 if total > 0 else -1, total * total, first))
    sign, bits = 0, 64
    while terms and not sign:
        sign = _enclosed_sign(terms, bits)
        bits *= 2
    return sign


def _enclosed_sign(terms: Sequence[tuple[int, int, int]], bits: int) -> int:
    """The sign of sum s sqrt(p / q) if roots known to 2^-bits decide it, else 0."""
    low = high = 0
    for sign, p, q in terms:
        root = isqrt((p << 2 * bits) // q)
        low += root if sign > 0 else -root - 1
        high += root + 1 if sign > 0 else -root
    return 1 if low > 0 else -1 if high < 0 else 0


def vanishing_signs(radicands: Sequence[int]) -> tuple[int, ...] | None:
    """Signs with sum s_i sqrt(r_i) = 0 (s_i = 1 where r_i = 0), or None if there are none.

    Raises TooManyTerms where a class is too large to search.
    """
    signs = [1] * len(radicands)
    for members in sorted(square_classes(radicands), key=len):
        split = partition(list(members.values()))
        if split is None:
            return None
        for place, sign in zip(members, split, strict=True):
            signs[place] = sign
    return tuple(signs)


def partition(numbers: Sequence[int]) -> tuple[int, ...] | None:
    """Signs with sum s_i a_i = 0 for positive integers a_i, or None if there are none."""
    divisor = gcd(*numbers)
    reduced = [a // divisor for a in numbers]
    total = sum(reduced)
    if total % 2 or 2 * max(reduced) > total:
        return None
    if len(reduced) > LARGEST_CLASS:
        raise TooManyTerms(f"{len(reduced)} norms of one square class")
    half = len(reduced) // 2
    left, right = reduced[:half], reduced[half:]
    common = signed_sums(left) & signed_sums(right)  # both sets are symmetric: x and -x
    if not common:
        return None
    goal = max(common)
    return (*_signs_of(left, goal), *_signs_of(right, -goal))


def signed_sums(numbers: Sequence[int]) -> set[int]:
    """All sums of +-a_i."""
    sums = {0}
    for a in numbers:
        sums = {x + a for x in sums} | {x - a for x in sums}
    return sums


def _signs_of(numbers: Sequence[int], goal: int) -> tuple[int, ...]:
    """Signs that give a goal which some signs give."""
    return next(s for s in product((1, -1), repeat=len(numbers)) if sum(map(mul, s, numbers)) == goal)
