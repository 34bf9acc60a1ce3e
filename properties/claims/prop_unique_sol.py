"""prop:unique-sol (group general position): right if |E| counts blocks, wrong if it counts columns.

The paper's notation makes |E| the number of columns in the union of the blocks. With that count the condition says
nothing about two blocks of n columns each. Counting blocks, every group lasso with two solutions violates GGP: a
smallest dependent set of outputs X_b v_b carries an exact affine dependence of the unit vectors v_b/lambda, on at
most n + 1 blocks.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from hypothesis.strategies import SearchStrategy

from properties.exact.linalg import dependencies, vec
from properties.exact.problem import problem
from properties.model import Claim, Outcome, Property, Witness, expect, fails, first_failure, vacuous
from properties.strategies import PlantedCGL, planted_cgl

LABEL = "prop:unique-sol"
STATEMENT = (
    "K = 0: if no |E| <= n+1 (columns, as the notation says) has unit z_b, X_j z_j affine in the others: unique."
)
BLOCKS = "K = 0: the same with |E| <= n+1 counting blocks implies uniqueness for all lambda > 0."


def circuit(planted: PlantedCGL) -> tuple[int, ...] | None:
    """A smallest set of blocks of E whose outputs are dependent."""
    for size in range(1, len(planted.E) + 1):
        for chosen in combinations(planted.E, size):
            if dependencies([planted.q[b] for b in chosen]):
                return chosen
    return None


def columns(planted: PlantedCGL, chosen: tuple[int, ...]) -> int:
    """|E| as the paper's notation has it: the number of columns."""
    return sum(planted.problem.blocks[b].size for b in chosen)


def check(planted: PlantedCGL) -> Outcome:
    """Not unique, and no two blocks have at most n + 1 columns together: the printed condition holds, and fails."""
    if planted.unique:
        return vacuous("one solution")
    n = planted.problem.n
    pairs = combinations(range(len(planted.v)), 2)
    if all(columns(planted, pair) > n + 1 for pair in pairs):
        return fails(f"any two blocks have more than {n + 1} columns, so GGP holds; there are two solutions")
    return vacuous("two solutions, and GGP can be violated within n + 1 columns")


def check_blocks(instance: tuple[PlantedCGL, tuple[int, ...]]) -> Outcome:
    """Not unique: then a circuit of outputs violates GGP on at most n + 1 blocks.

    With |v_b| = lambda the X_b v_b/lambda are outputs of unit vectors; coefficients that are all non-zero, of sum zero,
    put each of them into the affine hull of the others.
    """
    planted, chosen = instance
    if planted.unique:
        return vacuous("one solution")
    basis = dependencies([planted.q[b] for b in chosen])
    return first_failure(
        expect(len(chosen) <= planted.problem.n + 1, f"{len(chosen)} blocks are more than n + 1"),
        expect(set(chosen) <= set(planted.E), "a block with |v_b| < lambda"),
        expect(any(all(beta) and sum(beta) == 0 for beta in basis), "the outputs are not in each other's affine hulls"),
    )


def with_circuit() -> SearchStrategy[tuple[PlantedCGL, tuple[int, ...]]]:
    """With a smallest set of blocks whose outputs are dependent (none if there is no such set)."""
    return group_lasso().map(lambda planted: (planted, circuit(planted) or ()))


def group_lasso() -> SearchStrategy[PlantedCGL]:
    """K = 0, with enough candidates in use that the solution is often not unique."""
    return planted_cgl(constrained=False, max_n=3, min_active=2, min_weight=1)


_TWICE = problem([[1, 0, 1, 0], [0, 1, 0, 1]], [2, 2], [6, 8], 25)
_V = vec([3, 4])
WITNESS = Witness(
    "X = [I2 I2], y = (6, 8), lambda = 5", PlantedCGL(_TWICE, _V, (_V, _V), (Fraction(1, 2), Fraction(1, 2)))
)

CLAIM = Claim(
    LABEL,
    "Group general position",
    Property(STATEMENT, group_lasso(), check),
    witnesses=(WITNESS,),
    repaired=Property(BLOCKS, with_circuit(), check_blocks),
)
