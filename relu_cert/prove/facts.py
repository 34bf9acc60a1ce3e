"""Facts: exact statements with their evidence. Claims read verdicts off them; certificates carry them.

Everything here is rational. How a fact was found (floats, luck) leaves no trace in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from relu_cert.evidence import Alone, ByAxes, Cover, Leaders, Outputs, Pair, Turned
from relu_cert.exact import Matrix, Vector, dot
from relu_cert.problem.problem import Block, Gates, Problem
from relu_cert.prove.field import Exact, Field, Numbers
from relu_cert.prove.ggp.answers import GGP
from relu_cert.prove.polytope.polytope import MinNorm, Polytope, ShortestWeights, Unlisted
from relu_cert.serialize import (
    ARRAY,
    BLOCKS,
    FACES,
    LISTED,
    NAMED_BY_PATTERN,
    OPTIONAL,
    RELU,
    UNLISTED,
    UNWRITTEN,
    Key,
    Only,
    Sign,
    Via,
    vector,
)

if TYPE_CHECKING:
    from relu_cert.path.conditions import Faces
    from relu_cert.path.curve import Curve
    from relu_cert.path.pieces import Jump, PathPieces
    from relu_cert.path.sensitivity import Derivatives


@dataclass(frozen=True)
class PieceMultiplier:
    """m in R^n for one concave piece: t.(Zu)_+ <= m.Zu <= |Z'm| |u| for every u of the piece.

    m_k is t_k where base_k is "1" and 0 elsewhere, except on `rows`, where it is `values`.
    """

    base: str
    rows: tuple[int, ...]
    values: Vector


@dataclass(frozen=True)
class PieceMultipliers:
    """One multiplier for every piece, for xi = +1 and xi = -1 (ReLU)."""

    plus: Annotated[tuple[Annotated[PieceMultiplier, ARRAY], ...], Key("+")]
    minus: Annotated[tuple[Annotated[PieceMultiplier, ARRAY], ...], Key("-")]


@dataclass(frozen=True)
class FieldMultiplier:
    """The same with numbers of a field."""

    base: str
    rows: tuple[int, ...]
    values: Numbers


@dataclass(frozen=True)
class FieldMultipliers:
    """The same with numbers of a field."""

    plus: Annotated[tuple[Annotated[FieldMultiplier, ARRAY], ...], Key("+")]
    minus: Annotated[tuple[Annotated[FieldMultiplier, ARRAY], ...], Key("-")]


@dataclass(frozen=True)
class FieldShares:
    """Over a cover: for every tie the shares of the lines through it, with numbers of a field; None where it is out."""

    shares: tuple[Numbers | None, ...]


@dataclass(frozen=True)
class BlockMultipliers:
    """rho_b >= 0 with |X_b'theta - K_b rho_b| <= lambda for every block; None is rho_b = 0. Of gates none is listed."""

    rho: tuple[Vector | None, ...]

    @classmethod
    def of(cls, blocks: Sequence[Block], known: Mapping[int, Vector]) -> BlockMultipliers:
        """Those that are known, for all blocks."""
        return cls(() if isinstance(blocks, Gates) else tuple(known.get(b) for b in range(len(blocks))))

    def left(self, b: int, c: Vector, K: Matrix | None) -> Vector:
        """c - K_b rho_b for c = X_b'theta."""
        rho = self.rho[b] if self.rho else None
        return c if rho is None or K is None else tuple(x - dot(row, rho) for x, row in zip(c, K, strict=True))


def _rhos(stated: BlockMultipliers) -> list[str | None] | None:
    return [None if rho is None else vector(rho) for rho in stated.rho] or None


Multipliers = (  # None: nothing is proved
    PieceMultipliers | Annotated[BlockMultipliers, Via(_rhos)] | Cover | Leaders | Outputs | ByAxes | None
)


@dataclass(frozen=True)
class Dual:
    """A dual feasible point: |Proj_{C_b}(X_b'theta)| <= lambda for all blocks, by the multipliers.

    With delta > 0 the blocks of `excess` may be longer: (b, s) with lambda < |X_b'theta - K_b rho_b| <= s. Each costs
    (s - lambda)^2 / (2 delta). None: delta = 0.
    """

    theta: Vector
    multipliers: Multipliers
    excess: Annotated[tuple[tuple[int, Fraction], ...] | None, OPTIONAL] = None


@dataclass(frozen=True, kw_only=True)
class ExactNeuron:
    """One active block of a feasible point. `norm` >= |w| is rational.

    ReLU: the neuron xi (Zw)_+ (`block` is None, `pattern` is 1(Zw >= 0)); others: X_b w with b = `block`; the block of
    a network over some patterns, or of a gated one, has its sign and `pattern`. Several outputs: (Zw)_+ v', and `norm`
    >= |w||v|.
    """

    sign: Annotated[Sign, RELU] = 1
    pattern: Annotated[str | None, Only("gated")] = None
    block: Annotated[int | None, BLOCKS] = None
    w: Vector
    v: Annotated[Vector, OPTIONAL] = ()
    norm: Fraction


@dataclass(frozen=True)
class Primal:
    """A feasible point and its fit Xw; `free` are the coefficients of free terms. Several outputs: row by row."""

    neurons: tuple[ExactNeuron, ...]
    fit: Annotated[Vector, UNWRITTEN]
    free: Annotated[Vector, OPTIONAL] = ()


@dataclass(frozen=True)
class Value:
    """lower <= p* <= upper, and the relative gap that was asked for."""

    lower: Fraction
    upper: Fraction
    gap: Fraction

    @property
    def reached(self) -> bool:
        """Whether upper - lower <= gap * upper."""
        return self.upper - self.lower <= self.gap * self.upper

    @property
    def relative_gap(self) -> Fraction:
        """(upper - lower) / upper; 0 where both are 0."""
        return (self.upper - self.lower) / self.upper if self.upper else Fraction(0)

    @property
    def above(self) -> Fraction:
        """(upper - lower) / lower, how far the network found is above the best at most, where lower > 0."""
        return (self.upper - self.lower) / self.lower


@dataclass(frozen=True)
class Fit:
    """Every solution has the same fit, at most sqrt(radius_squared) from the center."""

    center: Vector
    radius_squared: Fraction


@dataclass(frozen=True)
class Attained:
    """Where lambda_max is attained: a direction u of one block, or of a neuron with sign xi."""

    sign: Annotated[Sign, RELU] = 1
    pattern: Annotated[str | None, Only("gated")] = None
    block: Annotated[int | None, BLOCKS] = None
    u: Annotated[Vector, FACES] = ()


@dataclass(frozen=True)
class LambdaMax:
    """lambda_max^2: the multipliers show that it is no larger than `squared`, `attained` that it is no smaller. With a
    cover it may be that it is only enclosed: then `least` is the square that is attained, a tiny bit smaller."""

    squared: Fraction
    multipliers: Multipliers
    attained: Attained
    least: Annotated[Fraction | None, UNWRITTEN] = None

    @property
    def exact(self) -> bool:
        """Whether `squared` is lambda_max^2 itself."""
        return self.least is None


@dataclass(frozen=True)
class NeuronClass:
    """One neuron that may be active.

    ReLU:   `sign`, `pattern` (1 where z_k.v > 0), `kinks` (hyperplanes T with z_c.v = 0, named by their smallest row).
    others: `block`, `kinks` (columns of K_b with K_j.v = 0).
    `basis` are independent kinks. `idle` kinks are orthogonal to v whatever the residual, and their multiplier is 0.
    The others are spanned by the basis, and `fixed` says what their multipliers are: mu_c = l_c + fixed_c (p_c - l_c)
    with 0 <= fixed_c <= 1 (ReLU; p_c and l_c are the slopes on both sides), rho_k = fixed_k >= 0 (direct).
    `ray`: the kinks leave one direction only, and a cover shows that it is the maximiser near it, without multipliers;
    in a piece of a path, a face of any dimension beside which nothing is as good.
    `sides`: kinks that are convex, each with the side (1, -1) on which it is looked at: there fixed_c >= 1 or <= 0.
    """

    sign: Annotated[Sign, RELU] = 1
    pattern: Annotated[str | None, NAMED_BY_PATTERN] = None
    block: Annotated[int | None, BLOCKS] = None
    kinks: Annotated[tuple[int, ...], FACES] = ()
    basis: Annotated[tuple[int, ...], FACES] = ()
    idle: Annotated[tuple[int, ...], FACES] = ()
    fixed: Annotated[Vector, FACES] = ()
    ray: Annotated[bool, UNWRITTEN] = False
    sides: Annotated[tuple[tuple[int, int], ...], UNWRITTEN] = ()

    @property
    def key(self) -> tuple[Sign, str | None, int | None]:
        """What tells classes apart."""
        return self.sign, self.pattern, self.block


@dataclass(frozen=True)
class BallSet:
    """The optimal set of one problem, proved for every residual in the ball that the duality gap leaves.

    `lift`     basis of L as rows (empty: L = {0}); the first `free` of them have coefficients in the given problem,
               too, and the others are orthogonal to them
    `classes`  all classes that may be active; `out` proves the other fine pieces out (ReLU); `ties` has, over a cover,
               the class of every tie (several ties may be of one class)
    `groups`   the superclasses: tuples of class numbers, each class in one of them, but for the mixed ones
    `mixed`    classes whose kernel is a mixture of those of the superclasses, sum_s beta_s G_s with sum beta_s = 1,
               exactly (on residuals orthogonal to L): pairs of a class and its beta
    `sigma`    a lower bound on the smallest singular value of the outputs Pi q_s at theta
    `masses`   about A_s; `mass_error` bounds the distance of all of them from the truth
    `split`    about alpha, strictly inside (empty where no split had to be proved)
    `forced`   h in L that shows that the classes with split 0 are zero in every solution (empty: there are none); the
               last `void` rows of the lift say nothing about the others
    `repeated` how many of the active classes are neurons of an earlier one: a ReLU neuron on the face between two
               patterns of a network over some patterns lies in both blocks
    `split_error`  some solution has weights that are all so near to the split
    `level`    so many classes, all with weight, are zero at no row, and their free biases may change
    """

    lift: Matrix
    classes: Annotated[tuple[NeuronClass, ...], LISTED]
    ties: Annotated[tuple[NeuronClass | None, ...], UNLISTED, Key("classes")]
    groups: Annotated[tuple[tuple[int, ...], ...], UNWRITTEN]
    sigma: Annotated[Fraction, UNWRITTEN]
    masses: Vector
    mass_error: Annotated[Fraction, UNWRITTEN]
    split: Vector
    forced: Vector = ()
    void: Annotated[int, UNWRITTEN] = 0
    free: Annotated[int, UNWRITTEN] = 0
    repeated: Annotated[int, UNWRITTEN] = 0
    out: Annotated[PieceMultipliers | None, LISTED] = None
    mixed: Annotated[tuple[tuple[int, Vector], ...], OPTIONAL] = ()
    split_error: Annotated[Fraction, UNWRITTEN] = Fraction(0)
    level: Annotated[int, UNWRITTEN] = 0

    @property
    def active(self) -> tuple[int, ...]:
        """The classes that can have a positive weight."""
        return tuple(a for a in range(len(self.classes)) if not self.split or self.split[a] > 0)

    @property
    def equations(self) -> Matrix:
        """The rows of the lift that say something about the weights."""
        return self.lift[self.free : len(self.lift) - self.void]

    @property
    def dimension(self) -> int:
        """The dimension of the set of optimal weights."""
        return len(self.active) - len(self.groups) - len(self.equations)

    @property
    def network_dimension(self) -> int:
        """The dimension of the set of optimal networks: neurons that lie in two blocks count once."""
        return self.dimension - self.repeated


@dataclass(frozen=True)
class Tied:
    """A neuron with |v| = lambda exactly: v, its output q at r*, and whether two blocks carry it (a whole ReLU network:
    it is zero at a data point)."""

    sign: Sign
    v: Exact
    q: Exact
    kinks: bool
    pattern: str | None = None
    block: int | None = None


class _Solved:
    """What is the same whatever the numbers are."""

    solutions: tuple[Exact, ...]

    @property
    def used(self) -> list[bool | None]:
        """Whether some solution uses a neuron: one is the only one; what neither of two uses, a third may."""
        rest = False if len(self.solutions) == 1 else None
        return [True if any(weights) else rest for weights in zip(*self.solutions, strict=True)]


@dataclass(frozen=True)
class ExactSet(_Solved):
    """The optimal set where r* = theta exactly; all neurons with |v| = lambda are tied.

    `solutions`  weights alpha >= 0 of the tied neurons: one, or two different ones
    `farkas`     with one solution: h with h.q = 0 on its support and h.q > 0 for the other tied neurons, so that only
                 the support can be active; the outputs on the support are independent
    """

    residual: Annotated[Vector, UNWRITTEN]
    tied: Annotated[tuple[Tied, ...], UNWRITTEN]
    solutions: Matrix
    farkas: Vector


@dataclass(frozen=True)
class AlgebraicSet(_Solved):
    """The same where r* = `residual` has numbers of a `field`.

    `multipliers`  of the pieces that the dual point does not prove out (ReLU), or, with their numbers, of the blocks
                   with cones that it does not prove out (direct problems), or shares (over a cover)
    """

    tied: Annotated[tuple[Tied, ...], UNWRITTEN]
    field: Field
    residual: Numbers
    multipliers: FieldMultipliers | FieldShares | tuple[tuple[int, Numbers], ...] | None
    solutions: tuple[Numbers, ...]
    farkas: Numbers


@dataclass(frozen=True)
class UnknownSet:
    """The optimal set is not known, and why; without a reason it was not looked for, as where zero is the solution."""

    reason: str = ""


NOT_LISTED = Unlisted()
Exactly = ExactSet | AlgebraicSet
OptimalSet = BallSet | ExactSet | AlgebraicSet | UnknownSet


@dataclass(frozen=True)
class PathFacts:
    """An interval of lambdas: its cover, and what that shows besides."""

    cover: PathPieces
    curve: Curve | None = None  # breakpoints and samples
    jump: Jump | None = None  # a lambda at which the minimum-norm path jumps


@dataclass(frozen=True)
class SensitivityFacts:
    """How the network moves with lambda and y: how tied neurons sit on their faces, where the optimal set does not say
    it, and the derivatives, where they exist."""

    faces: Faces | None
    derivatives: Derivatives | None = None


@dataclass(frozen=True, repr=False)
class Facts:
    """All that was proved about one problem at one lambda."""

    problem: Problem
    lam: Fraction
    lambda_max: LambdaMax
    primal: Primal
    dual: Dual
    value: Value
    fit: Fit
    optimal_set: OptimalSet = UnknownSet()
    vertices: Polytope | Unlisted = NOT_LISTED
    shortest: ShortestWeights | None = None  # the shortest weights, where there is no polytope
    ggp: GGP | None = None  # gated and direct problems
    path: PathFacts | None = None  # an interval of lambdas, if one was asked for
    nearby: SensitivityFacts | None = None  # if it was asked for
    alone: Alone | Pair | Turned | None = None  # several outputs: all optimal networks are one, or two are not

    def __repr__(self) -> str:
        return (
            f"<Facts about a {self.problem.kind} problem of {self.problem.n} points at lambda = {float(self.lam):.6g}>"
        )

    @property
    def min_norm(self) -> MinNorm | None:
        """The optimal weights of least norm, where they are known."""
        if self.polytope is not None and self.polytope.min_norm is not None:
            return self.polytope.min_norm
        return None if self.shortest is None else self.shortest.found

    @property
    def zero(self) -> bool:
        """Whether lambda is so large that the zero network is the only solution."""
        return self.lam**2 >= self.lambda_max.squared

    @property
    def covered(self) -> bool:
        """Whether a cover or leaders prove the dual point, and no list, whatever is listed besides."""
        return isinstance(self.dual.multipliers, Cover | Leaders | Outputs | ByAxes)

    @property
    def known(self) -> bool:
        """Whether the optimal set is known."""
        return not isinstance(self.optimal_set, UnknownSet)

    @property
    def polytope(self) -> Polytope | None:
        """The polytope of optimal weights, where its vertices are listed."""
        return self.vertices if isinstance(self.vertices, Polytope) else None

    @property
    def unlisted(self) -> str:
        """Why the vertices are not listed."""
        return self.vertices.reason if isinstance(self.vertices, Unlisted) else ""

    @property
    def unsettled(self) -> str:
        """Why the optimal set is not known."""
        return self.optimal_set.reason if isinstance(self.optimal_set, UnknownSet) else ""

    @property
    def faces(self) -> Faces | None:
        """What is shown of the faces besides the optimal set."""
        return None if self.nearby is None else self.nearby.faces

    @property
    def derivatives(self) -> Derivatives | None:
        """The derivatives, where they were asked for and exist."""
        return None if self.nearby is None else self.nearby.derivatives
