"""General position: whether null vectors u of X on at most n + 1 blocks can have sum_b +-|u_b| = 0.

FORMAT.md has the argument. For `groups` the blocks are those of the problem, for `columns` the single columns of X.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb

from flint import fmpz_mat

from verify.errors import Declined, bounded
from verify.facts import COLUMNS, GROUPS, PATTERNS, Facts
from verify.numbers.coalitions import BlockVector, check_wins
from verify.numbers.integers import cleared, cleared_rows
from verify.numbers.patterns import Patterns, describe_indices, integer_vectors
from verify.numbers.roots import can_vanish, sign_of_sum
from verify.problem.problem import SIGNS, Problem
from verify.rule import Rule
from verify.text import Fields, Node

MOST_SUPPORTS = 1_000_000


@dataclass(frozen=True)
class Blocks:
    """A positive multiple of X, its blocks or its columns: `block(b)` are the integer columns of X_b, of length n."""

    what: str
    n: int
    count: int
    block: Callable[[int], list[list[int]]]

    def image(self, support: tuple[int, ...], u: BlockVector) -> list[int]:
        """sum_b X_b u_b"""
        pairs = [pair for b, u_b in zip(support, u, strict=True) for pair in zip(self.block(b), u_b, strict=True)]
        return [sum(column[k] * x for column, x in pairs) for k in range(self.n)]

    def split(self, support: tuple[int, ...], u: list[int]) -> BlockVector:
        """A flat vector block by block."""
        entries = iter(u)
        return [[next(entries) for _ in self.block(b)] for b in support]


def check_ggp(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless what is said about the groups and about the columns is proved: whether they are in general
    position, and the reason."""
    fields = node.record("groups", "columns")
    patterns = facts.get(PATTERNS)
    if problem.model == "relu" or (problem.model == "gated" and patterns is None):
        raise node.reject("a direct problem, or a gated network with the fact patterns")
    groups, columns = (blocks_of(problem, patterns, single) for single in (False, True))
    said = {GROUPS: check_position(groups, fields["groups"]), COLUMNS: check_position(columns, fields["columns"])}
    return Facts(said)


def blocks_of(problem: Problem, patterns: Patterns | None, single: bool) -> Blocks:
    """The blocks, or with `single` the columns: of a network, column j of pattern b has the number b d + j."""
    d, what = problem.d, "columns" if single else "blocks"
    columns = [[*column] for column in zip(*cleared_rows(problem.Z)[0], strict=True)]
    if patterns is None:
        groups = [(j,) for j in range(d)] if single else problem.groups
        return Blocks(what, problem.n, len(groups), lambda b: [columns[j] for j in groups[b]])
    masks = patterns.masks

    def gated(number: int, chosen: range) -> list[list[int]]:
        return [[x if masks[number] >> k & 1 else 0 for k, x in enumerate(columns[j])] for j in chosen]

    if single:
        return Blocks(what, problem.n, len(masks) * d, lambda b: gated(b // d, range(b % d, b % d + 1)))
    return Blocks(what, problem.n, len(masks), lambda b: gated(b, range(d)))


def check_position(blocks: Blocks, node: Node) -> tuple[bool, str] | None:
    """One answer: null, a tie (`zero`, `crossing`), or a proof that there is none (`supports`)."""
    if node.value is None:
        return None
    fields = node.record(optional=("zero", "crossing", "supports"))
    node.require(len(fields) == 1, "one of zero, crossing, supports")
    if "supports" in fields:
        return True, check_supports(blocks, fields["supports"])
    kind, at = next(iter(fields.items()))
    return False, check_tie(blocks, at, 1 if kind == "zero" else 2)


def check_tie(blocks: Blocks, node: Node, vectors: int) -> str:
    """One null vector u != 0 with sum s_b |u_b| = 0, or two with sums of opposite strict signs, the positive first."""
    rows = [row.array(2 + vectors) for row in node.array()]
    support = tuple(row[0].index(blocks.count) for row in rows)
    if len(set(support)) != len(support) or len(support) > blocks.n + 1:
        raise node.reject(f"at most {blocks.n + 1} different blocks", describe_indices(support))
    signs = [SIGNS[row[1].text("+", "-")] for row in rows]
    sizes = [len(blocks.block(b)) for b in support]
    for k, expected in enumerate((0,) if vectors == 1 else (1, -1)):
        exact = [row[2 + k].vector(size) for row, size in zip(rows, sizes, strict=True)]
        u = blocks.split(support, cleared(x for part in exact for x in part)[0])
        node.require(any(map(any, u)) and not any(blocks.image(support, u)), f"vector {k} not zero and Xu = 0")
        found = sign_of_sum(signs, [sum(x * x for x in part) for part in u])
        node.require(found == expected, f"sum of s_b |u_b| of sign {expected} for vector {k}", f"sign {found}")
    how = {1: "a null vector whose signed norms add up to 0", 2: "null vectors whose signed norms change sign"}
    return f"{blocks.what} {describe_indices(support)} have {how[vectors]}"


def check_supports(blocks: Blocks, node: Node) -> str:
    """No null vector on m = min(n + 1, count) blocks has signed norms with sum 0: every set of m blocks is tried."""
    m = min(blocks.n + 1, blocks.count)
    bounded(comb(blocks.count, m), MOST_SUPPORTS, f"sets of {m} blocks", node.place)
    given = [(entry.record("blocks", "basis", "wins"), entry) for entry in node.array()]
    proofs = {fields["blocks"].ascending(blocks.count): fields for fields, _ in given}
    node.require(len(proofs) == len(given), "each support once")
    for support in combinations(range(blocks.count), m):
        kernel, nullity = fmpz_mat([column for b in support for column in blocks.block(b)]).transpose().nullspace()
        if nullity >= 2:
            if support not in proofs:
                raise node.reject(f"the support {describe_indices(support)}, which has {nullity} null vectors", "none")
            check_support(blocks, support, int(nullity), proofs.pop(support))
        elif nullity == 1:
            u = blocks.split(support, [int(row[0]) for row in kernel.tolist()])
            tied = can_vanish([sum(x * x for x in part) for part in u])
            if tied is None:
                raise Declined(node.place, "at most 32 norms of one square class", describe_indices(support))
            if tied:
                raise node.reject("no tie", f"one on blocks {describe_indices(support)}")
    if proofs:
        raise node.reject(f"supports of {m} blocks with two null vectors", describe_indices(next(iter(proofs))))
    return f"no signed norms of null vectors on {m} of the {blocks.count} {blocks.what} add up to 0"


def check_support(blocks: Blocks, support: tuple[int, ...], nullity: int, fields: Fields) -> None:
    """The basis spans the null vectors of the support, and the wins settle every choice of signs."""
    width = sum(len(blocks.block(b)) for b in support)
    flat = list(integer_vectors(fields["basis"], width))
    basis = [blocks.split(support, u) for u in flat]
    fields["basis"].require(not any(any(blocks.image(support, u)) for u in basis), "null vectors, Xu = 0")
    if len(flat) != nullity or int(fmpz_mat(flat).rank()) != nullity:
        raise fields["basis"].reject(f"{nullity} independent null vectors", f"{len(flat)}, or dependent ones")
    check_wins(support, basis, fields["wins"])


RULE = Rule((GROUPS, COLUMNS), check_ggp)
