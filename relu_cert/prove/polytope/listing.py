"""From facts to the listed polytope: equations, a first basis, the walk, the shortest point."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from relu_cert.errors import Unsettled
from relu_cert.prove.classes import class_map
from relu_cert.prove.facts import BallSet, Exactly, Facts
from relu_cert.prove.multipliers import from_grid, to_grid
from relu_cert.prove.polytope.polytope import Polytope, ShortestWeights, Unlisted
from relu_cert.prove.polytope.shortest import shortest, shortest_alone
from relu_cert.prove.polytope.system import MOST_BITS, System, weight_system
from relu_cert.prove.polytope.walk import TooManyBases, enclosed_start, exact_start, seems_larger, walk

MOST_BASES = 5000
MOST_WORK = 120_000  # bases times entries of F: a bound on the time, here and in the checker
MOST_EXACT_WORK = 300_000  # the same for rationals without errors
MOST_FIELD_WORK = 240_000  # the same for algebraic numbers, times their degree and length
WORD = 64
FEW_BITS = 64


def list_polytope(facts: Facts, most: int = MOST_BASES) -> Polytope | Unlisted:
    """All vertices and edges of the optimal set of the facts, with proof; or why not."""
    if not facts.known:
        return Unlisted(facts.unsettled or "the optimal set is not known", final=True)
    if _in_several_blocks(facts):
        return Unlisted("a neuron lies in several blocks of the patterns given", final=True)
    reason = ""
    # few are fast, and nearly always enough
    lengths = (FEW_BITS, MOST_BITS) if isinstance(facts.optimal_set, BallSet) else (MOST_BITS,)
    for bits in lengths:
        try:
            return _listed(facts, weight_system(facts, bits), most)
        except TooManyBases as why:
            return Unlisted(str(why), final=True)
        except Unsettled as why:
            reason = str(why)
    return Unlisted(reason, final=False)


def with_vertices(facts: Facts) -> tuple[Facts, bool]:
    """The facts with the vertices of the optimal set, and whether more digits would not tell more about these."""
    found = list_polytope(facts)
    if isinstance(found, Polytope):
        return replace(facts, vertices=found), True
    return replace(facts, vertices=found, shortest=shortest_weights(facts)), found.final


def shortest_weights(facts: Facts) -> ShortestWeights | None:
    """The shortest optimal weights without a list of vertices, or None where that is not proved."""
    if not facts.known or _in_several_blocks(facts):
        return None
    return shortest_alone(weight_system(facts))


def _most_work(system: System) -> int:
    """Errors cost more, and so do long numbers of large degree."""
    if system.rational:
        return MOST_EXACT_WORK if system.exact else MOST_WORK
    entries = [c for x in system.F.entries() for c in x.coefficients()]
    longest = max((max(c.numerator.bit_length(), c.denominator.bit_length()) for c in entries), default=0)
    degree: int = system.g[0].field.degree
    return MOST_FIELD_WORK * WORD // (degree * max(WORD, longest))


def _short(x: Fraction, system: System) -> Fraction:
    """A weight as it is told: as it is, or to the bits that it was computed with."""
    return x if system.exact else from_grid(to_grid(x, 1 << system.bits), 1 << system.bits)


def _in_several_blocks(facts: Facts) -> bool:
    """Whether two active blocks of a ReLU network over some patterns carry one neuron (v = B'r with the same B)."""
    patterned, found = facts.problem.patterned, facts.optimal_set
    if patterned is None or patterned.model != "relu" or not isinstance(found, BallSet):
        return False
    kernels = [tuple(class_map(facts.problem, found.classes[a]).B().entries()) for a in found.active]
    return len(set(kernels)) < len(kernels)


def _listed(facts: Facts, system: System, most: int) -> Polytope:
    exact = facts.optimal_set
    if isinstance(exact, Exactly):
        support = tuple(a for a, x in enumerate(exact.solutions[0]) if x)
        alone = len(exact.solutions) == 1  # then the other tied neurons, many perhaps, only make its bases many
        system = system.restricted(support) if alone else system
        start = tuple(range(len(support))) if alone else exact_start(system, support)
    else:
        start = enclosed_start(system)
    most = min(most, _most_work(system) // max(1, system.rows * len(system.names)))
    if isinstance(exact, BallSet) and start and seems_larger(system, start, most):
        raise TooManyBases(f"the polytope of optimal weights seems to have more than {most} bases")
    found = walk(system, start, most)
    names = system.names
    used = sorted({a for support in found.points for a in support})
    named = [{names[a]: _short(x, system) for a, x in point.items()} for point in found.points.values()]
    return Polytope(
        bits=system.bits,
        tilt=found.tilt,
        bases=tuple(tuple(names[a] for a in basis) for basis in found.bases),
        vertices=tuple(tuple(names[a] for a in support) for support in found.points),
        points=tuple(tuple(point.get(a, Fraction(0)) for a in range(system.total)) for point in named),
        edges=found.edges,
        min_norm=shortest(system, list(found.points.values())) if system.rational else None,
        tied=system.total,
        rank=system.rank(used) if system.exact and used else system.rows,
    )
