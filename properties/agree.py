"""Where the certifier computes the same thing, both must agree on every instance.

Each agreement is a Property: the certifier's answer against the independent one of `properties.exact`, on the
instances of the claims that say the same. The certifier's verdicts on whole problems are compared in
`properties.soundness`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.claims.connected import Staircase, configuration
from properties.claims.connected import instances as staircases
from properties.claims.prop_stationary_points import Trained
from properties.claims.prop_stationary_points import instances as trained
from properties.exact.linalg import Matrix, Vector, add, combine, norm2, rank, transpose
from properties.exact.network import clarke_stationary
from properties.exact.patterns import pattern_of, patterns, relu_problem
from properties.exact.polytope import dimension, least_norm, support, vertices
from properties.exact.problem import dual_vectors
from properties.model import Outcome, Property, expect, first_failure, vacuous
from properties.soundness.case import DirectCase
from properties.strategies import PlantedCGL, PlantedReLU, planted_box, planted_cgl, rational_matrix, vector
from relu_cert.claims.optimal_set import staircase
from relu_cert.network.objective import stationarity
from relu_cert.network.trained import TrainedNetwork
from relu_cert.patterns import PatternSet, enumerate_patterns
from relu_cert.problem import relu, written_out
from relu_cert.prove.multipliers import project
from relu_cert.prove.polytope.polytope import Polytope
from relu_cert.prove.polytope.shortest import shortest
from relu_cert.prove.polytope.walk import exact_start, exact_system, walk
from relu_cert.prove.prove import lambda_max

Planted = PlantedCGL | PlantedReLU
MOST_BASES = 5000


@st.composite
def data(draw: DrawFn) -> Matrix:
    """Data of every kind, up to six points in three dimensions, some with denominators."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    Z = draw(rational_matrix(n, d))
    q = Fraction(1, draw(st.integers(1, 3)))
    return tuple(tuple(q * x for x in z) for z in Z)


@st.composite
def data_with_targets(draw: DrawFn) -> tuple[Matrix, Vector]:
    """Z and y."""
    Z = draw(data())
    return Z, draw(vector(len(Z)))


def _listed(found: PatternSet) -> list[tuple[bool, ...]]:
    return [found.pattern(i) for i in range(len(found))]


def check_patterns(Z: Matrix) -> Outcome:
    """The same set D_Z, the same open cells, nothing twice, and every witness has its pattern."""
    ours, theirs = patterns(Z), enumerate_patterns(Z, engine="python")
    listed = _listed(theirs)
    witnesses = [tuple(map(Fraction, theirs.witness(i))) for i in range(len(theirs))]
    return first_failure(
        expect(len(listed) == len(set(listed)), "the certifier lists a pattern twice"),
        expect(set(listed) == set(ours.all), f"{len(listed)} patterns by the certifier, {len(ours.all)} here"),
        expect(set(listed[: theirs.open_cells]) == set(ours.open), "the open cells differ"),
        expect(
            all(pattern_of(Z, u) == p for u, p in zip(witnesses, listed, strict=True)),
            "a witness of the certifier has another pattern",
        ),
    )


def check_blocks(instance: tuple[Matrix, Vector]) -> Outcome:
    """The same convex program, block by block: X_b = xi D Z and K_b = -Z'(2D - I)."""
    Z, y = instance
    patterns = enumerate_patterns(Z, engine="python")
    theirs, listed = written_out(relu(Z, y, patterns)), _listed(patterns)
    ours = relu_problem(Z, tuple(listed), y, Fraction(1))
    same = len(theirs.blocks) == len(ours.blocks) and all(
        a.X == b.X and a.K is not None and tuple(zip(*a.K, strict=True)) == b.K
        for a, b in zip(theirs.blocks, ours.blocks, strict=True)
    )
    return expect(same and theirs.y == y, "the blocks of the convex program differ")


def listed(planted: Planted) -> Polytope:
    """The certifier's list of the polytope of optimal weights, with the shortest ones."""
    c = configuration(planted)
    system = exact_system(c.q, c.yhat)
    first = tuple(sorted(support(vertices(c.q, c.yhat)[0])))
    found = walk(system, exact_start(system, first), MOST_BASES)
    points = list(found.points.values())
    weights = tuple(tuple(point.get(a, Fraction(0)) for a in range(len(c.q))) for point in points)
    used = sorted({a for on in found.points for a in on})
    ranked = system.rank(used) if used else 0
    nearest = shortest(system, points)
    return Polytope(0, found.tilt, found.bases, tuple(found.points), weights, found.edges, nearest, len(c.q), ranked)


def check_polytope(planted: Planted) -> Outcome:
    """The same vertices, as many edges, the same dimension, m*, M* and shortest weights."""
    c = configuration(planted)
    if not any(c.yhat):
        return vacuous("only the zero network")
    found, ours = listed(planted), vertices(c.q, c.yhat)
    pairs = combinations([frozenset(support(alpha)) for alpha in ours], 2)
    edges = sum(rank([c.q[a] for a in u | v]) == len(u | v) - 1 for u, v in pairs)
    widths = sorted(len(support(alpha)) for alpha in ours)
    least = None if found.min_norm is None else least_norm(c.q, c.yhat)
    return first_failure(
        expect(sorted(found.points) == sorted(ours), f"vertices {found.points} by the certifier, {ours} here"),
        expect(len(found.edges) == edges, f"{len(found.edges)} edges by the certifier, {edges} here"),
        expect(found.dimension == dimension(ours), "the dimensions differ"),
        expect((found.m_star, found.M_star) == (widths[0], widths[-1]), "m* or M* differ"),
        expect(found.min_norm is None or found.min_norm.weights == least, "the shortest weights differ"),
    )


def check_staircase(s: Staircase) -> Outcome:
    """The same steps: nothing below m*, one component from the last step on."""
    if not any(configuration(s.planted).yhat):
        return vacuous("only the zero network")
    steps = staircase(listed(s.planted))
    told = {step.width: (step.isolated, step.others) for step in steps}
    theirs = tuple(told.get(m, (0, int(m > steps[-1].width))) for m in range(len(s.steps)))
    return expect(theirs == s.steps, f"steps {theirs} by the certifier, {s.steps} here")


def check_lambda_max(planted: PlantedCGL) -> Outcome:
    """The same lambda_max^2, for a problem that is given block by block."""
    theirs = lambda_max(DirectCase(planted.problem).problem, None).squared
    ours = max(norm2(v) for v in dual_vectors(planted.problem, planted.problem.y))
    return expect(theirs == ours, f"lambda_max^2 = {theirs} by the certifier, {ours} here")


def check_projections(planted: PlantedCGL) -> Outcome:
    """The canonical dual vector of every block with a cone, and multipliers rho >= 0 with v = c - K rho."""
    outcomes = []
    for block in planted.problem.blocks:
        c = block.correlation(planted.r)
        if block.K:
            rho, v = project(c, transpose(block.K))
            outcomes.append(expect(v == block.dual_vector(planted.r), "another projection"))
            outcomes.append(expect(min(rho) >= 0 and add(v, combine(rho, block.K, block.size)) == c, "another rho"))
    return first_failure(*outcomes) if outcomes else vacuous("no constraints")


def check_stationary(t: Trained) -> Outcome:
    """Clarke stationary or not, at kinks too; the certifier may leave it open."""
    trained = TrainedNetwork(tuple(i.W for i in t.net), tuple(i.w2 for i in t.net))
    theirs, ours = stationarity(trained, t.Z, t.y, t.lam).stationary, clarke_stationary(t.Z, t.y, t.lam, t.net)
    if theirs is None:
        return vacuous("the certifier does not say")
    return expect(theirs == ours, f"Clarke stationary: {theirs} by the certifier, {ours} here")


PATTERNS = Property("The certifier's D_Z is the set found by composing cocircuits.", data(), check_patterns)
BLOCKS = Property(
    "The certifier's convex program has the blocks of eq:convex-relu-mlp.", data_with_targets(), check_blocks
)
POLYTOPES = Property(
    "The certifier's walk lists the optimal set: its vertices and edges, and its shortest point.",
    st.one_of(planted_cgl(min_active=2, min_weight=1), planted_box(max_d=2)),
    check_polytope,
)
STAIRCASES = Property("The certifier's staircase is the one counted from all cells.", staircases(), check_staircase)
LAMBDA_MAX = Property("The certifier's lambda_max is that of the projections.", planted_cgl(), check_lambda_max)
PROJECTIONS = Property(
    "The certifier's projections onto cones are those of the regression.", planted_cgl(), check_projections
)
STATIONARY = Property("The certifier's Clarke stationary networks are the ones.", trained(), check_stationary)
