"""What can be proved: kinds of facts, each of which one of several rules may prove, and the facts that are proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:  # for the reader of types alone: to know the name of a fact is not to load what proves it
    from verify.cover.check import Cover
    from verify.network.check import Network
    from verify.network.solution import Solution
    from verify.numbers.patterns import Patterns
    from verify.outputs.check import Proof
    from verify.rules.curve import Curve
    from verify.rules.derivatives import Derivatives
    from verify.rules.fit import Fit
    from verify.rules.jump import Jump
    from verify.rules.path import Path
    from verify.rules.polytope import Polytope
    from verify.rules.primal import Primal
    from verify.rules.value import Dual, Value
    from verify.sets.shortest import Shortest
    from verify.sets.solutions import OptimalSet
    from verify.text import Node

T = TypeVar("T")


@dataclass(frozen=True)
class Fact(Generic[T]):
    """A kind of fact; `name` is what a rejection calls it."""

    name: str


PATTERNS: Fact[Patterns] = Fact("patterns")
LAMBDA_MAX: Fact[Fraction] = Fact("lambda_max")  # its square
PRIMAL: Fact[Primal] = Fact("primal")
DUAL: Fact[Dual] = Fact("dual")
MULTIPLIERS: Fact[Node] = Fact("dual with multipliers")  # those that prove the point of `dual` feasible, block by block
COVER: Fact[Cover] = Fact("cover")  # that which proves the point of `dual` feasible without a list of patterns
FORMS: Fact[Proof] = Fact("cover of several outputs")
VALUE: Fact[Value] = Fact("value")
FIT: Fact[Fit] = Fact("fit")
SET: Fact[OptimalSet] = Fact("optimal_set, exact_set or algebraic_set")
NEURONS: Fact[OptimalSet] = Fact("optimal_set or exact_set")  # the same, with all that is known of its neurons
POLYTOPE: Fact[Polytope] = Fact("polytope")
SHORTEST: Fact[Shortest] = Fact("min_norm, or a polytope with its min_norm")
DERIVATIVES: Fact[Derivatives] = Fact("derivatives")
GROUPS: Fact[tuple[bool, str]] = Fact("ggp with groups that are not null")  # whether in general position, and why
COLUMNS: Fact[tuple[bool, str]] = Fact("ggp with columns that are not null")
PATH: Fact[Path] = Fact("path")
JUMP: Fact[Jump] = Fact("jump")
CURVE: Fact[Curve] = Fact("curve")
TURNED: Fact[int] = Fact("turned")  # how many neurons of one pattern may be turned into each other
PAIR: Fact[tuple[int, int]] = Fact("pair")  # how many neurons two different optimal networks have, merged
NETWORK: Fact[Network] = Fact("network")
SOLUTION: Fact[Solution] = Fact("solution")


@dataclass(frozen=True)
class Facts:
    """What is proved."""

    proved: Mapping[Fact[Any], Any] = field(default_factory=dict)

    def get(self, fact: Fact[T]) -> T | None:
        """What is proved of this kind, if anything is."""
        return self.proved.get(fact)

    def __getitem__(self, fact: Fact[T]) -> T:
        found: T = self.proved[fact]
        return found


def proved(fact: Fact[T], what: T) -> Facts:
    """This one fact."""
    return Facts({fact: what})


def needed(what: T | None, name: str, node: Node) -> T:
    """What is there, or the rejection of what rests on it."""
    if what is None:
        raise node.reject(f"the fact {name}, which this rests on", "none")
    return what
