"""Planted variants: the elastic penalty, some patterns only, the logistic loss. Again the residual comes first.

Elastic (eq:l2-penalized-cgl). With v_b = Proj_{C_b}(X_b'r) and rational |v_b|, the solution is w_b = (|v_b| -
lambda)_+ / (delta |v_b|) v_b, the only one, and y = Xw + r.

Some patterns. As for all of them: lambda^2 = max |v_b|^2 over the chosen blocks, and y = sum alpha X_b v_b + r.

Logistic (app:general-losses). If theta = a y on some rows, with labels y and 0 < a <= 1/2, their fit is y log((1-a)/a).
So take blocks whose dual vector for the residual y has length lambda / a and whose outputs have y as a positive
combination: the weights are logarithms, but p* is the sum of H(a_k), H(a) = -a log a - (1-a) log(1-a), and the
probabilities 1/(1 + exp(-fit_k)) are a_k or 1 - a_k.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from properties.exact import polytope
from properties.exact.linalg import Matrix, Vector, add, dot, matvec, norm2, scale, total, unit, zeros
from properties.exact.patterns import Pattern, gated_problem, patterns, relu_problem
from properties.exact.problem import CGL, Block, Weights, dual_vectors
from properties.exact.roots import rational_sqrt
from properties.strategies.cgl import PlantedCGL
from properties.strategies.matrices import rational_matrix
from properties.strategies.numbers import orthogonal, positive_rationals, several, vector
from properties.strategies.relu import edge_data
from properties.strategies.sketch import Sketch, first, fitted, output, sketches

PARTS = (Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(99, 100))
LENGTHS = (Fraction(2), Fraction(3, 2), Fraction(1), Fraction(1, 2), Fraction(9))
MOST_TIED = 8  # vertices are found by trying all sets of neurons


@dataclass(frozen=True)
class Gates:
    """Where a network's blocks come from: the data, and its patterns (None: all of D_Z)."""

    model: str
    Z: Matrix
    chosen: tuple[Pattern, ...] | None

    def blocks(self, y: Vector, lam2: Fraction) -> CGL:
        """The convex program over these patterns."""
        listed = patterns(self.Z).all if self.chosen is None else self.chosen
        return (gated_problem if self.model == "gated" else relu_problem)(self.Z, listed, y, lam2)


@dataclass(frozen=True)
class PlantedElastic:
    """1/2 |Xw - y|^2 + lambda sum |w_b| + delta/2 sum |w_b|^2 with its residual r* and the dual vectors v_b.

    |v_b| is rational where it exceeds lambda. `gates` says which network it is; None for a problem given directly.
    """

    problem: CGL
    delta: Fraction
    r: Vector
    v: Weights
    gates: Gates | None = None

    @cached_property
    def w(self) -> Weights:
        """The only solution."""
        return tuple(scale(elastic_weight(self.problem.lam, self.delta, v), v) for v in self.v)

    @property
    def value(self) -> Fraction:
        """p* = 1/2 |r|^2 + sum (lambda |w_b| + delta/2 |w_b|^2)"""
        out = norm2(self.r) / 2
        for w in self.w:
            out += self.problem.lam * (rational_sqrt(norm2(w)) or 0) + self.delta / 2 * norm2(w)
        return out


def elastic_weight(lam: Fraction, delta: Fraction, v: Vector) -> Fraction:
    """(|v| - lambda)_+ / (delta |v|)"""
    if norm2(v) <= lam * lam:
        return Fraction(0)
    length = rational_sqrt(norm2(v))
    if length is None:
        raise ArithmeticError("the norm of an active dual vector is planted rational")
    return (length - lam) / (delta * length)


def plant_elastic(
    blocks: tuple[Block, ...], r: Vector, lam: Fraction, delta: Fraction, gates: Gates | None = None
) -> PlantedElastic:
    """The problem with these blocks and this residual."""
    v = tuple(b.dual_vector(r) for b in blocks)
    fit = total((scale(elastic_weight(lam, delta, u), matvec(b.X, u)) for b, u in zip(blocks, v, strict=True)), len(r))
    return PlantedElastic(CGL(blocks, add(r, fit), lam * lam), delta, r, v, gates)


@st.composite
def planted_elastic(draw: DrawFn, *, max_n: int = 4, max_blocks: int = 5) -> PlantedElastic:
    """A direct problem with cones; dual vectors shorter than lambda, as long, and longer."""
    n = draw(st.integers(1, max_n))
    r, lam, delta = first(n, draw(vector(max_n))), draw(positive_rationals()), draw(positive_rationals(3, 4))
    blocks = []
    for sketch, tight in draw(several(st.tuples(sketches(max_n, LENGTHS), st.booleans()), 1, max_blocks)):
        v = scale(lam * sketch.weight, sketch.direction)
        blocks.append(fitted(sketch, r, v, output(sketch, r), tight))
    return plant_elastic(tuple(blocks), r, lam, delta)


@st.composite
def gates(draw: DrawFn, *, max_n: int = 4, max_d: int = 2, whole: bool = True) -> Gates:
    """A small network over all of D_Z (if `whole`), over some of it, or over some strings of bits."""
    n, d = draw(st.integers(1, max_n)), draw(st.integers(1, max_d))
    Z = draw(rational_matrix(n, d))
    kind = draw(st.sampled_from(["all", "some", "any"] if whole else ["some", "some", "any"]))
    model = draw(st.sampled_from(["relu", "gated"]))
    if kind == "all":
        return Gates(model, Z, None)
    bits = st.tuples(*[st.booleans()] * n) if kind == "any" else st.sampled_from(patterns(Z).all)
    return Gates(model, Z, tuple(draw(st.lists(bits, min_size=1, max_size=6, unique=True))))


@st.composite
def planted_elastic_network(draw: DrawFn) -> PlantedElastic:
    """A network with delta: lambda lies above every |v_b| that is irrational."""
    of = draw(gates())
    r = draw(vector(len(of.Z)))
    free = of.blocks(r, Fraction(1))
    lengths = {norm2(v) for v in dual_vectors(free, r)}
    largest = rational_sqrt(max(lengths))
    assume(largest)
    if largest is None:
        raise AssertionError("unreachable: assume raised")
    irrational = max((x for x in lengths if rational_sqrt(x) is None), default=Fraction(0))
    fitting = [part * largest for part in PARTS if (part * largest) ** 2 >= irrational]
    assume(fitting)
    return plant_elastic(free.blocks, r, draw(st.sampled_from(fitting)), draw(positive_rationals(3, 4)), of)


@dataclass(frozen=True)
class PlantedSampled:
    """A planted network over some patterns."""

    gates: Gates
    convex: PlantedCGL

    @cached_property
    def neurons(self) -> tuple[tuple[int, ...], ...]:
        """The tied blocks, those of a ReLU network that carry the same neuron together."""
        found: dict[tuple[int, Vector], list[int]] = {}
        for b in self.convex.E:
            key = ((-1) ** b, self.convex.v[b]) if self.gates.model == "relu" else (b, ())
            found.setdefault(key, []).append(b)
        return tuple(map(tuple, found.values()))

    @cached_property
    def q(self) -> tuple[Vector, ...]:
        """The outputs of the neurons."""
        return tuple(self.convex.q[blocks[0]] for blocks in self.neurons)

    @cached_property
    def alpha(self) -> Vector:
        """The planted weight of every neuron."""
        return tuple(sum((self.convex.alpha[b] for b in blocks), Fraction(0)) for blocks in self.neurons)

    @cached_property
    def vertices(self) -> tuple[Vector, ...]:
        """The minimal networks, as weights of the neurons."""
        return polytope.vertices(self.q, self.convex.yhat)


@st.composite
def planted_sampled(draw: DrawFn, *, max_n: int = 5, max_d: int = 2) -> PlantedSampled:
    """Z, some patterns and r first; lambda is the largest |v_b|, rational.

    In half of the draws Z is a box and r is constant, so that many blocks tie; in some a neuron lies on an edge.
    """
    of = draw(gates(max_n=max_n, max_d=max_d, whole=False))
    r = draw(vector(len(of.Z)))
    if draw(st.booleans()):
        a, b = draw(st.sampled_from([(1, 1), (3, 4), (4, 3)]))
        Z: Matrix = tuple((Fraction(x), Fraction(t)) for x, t in ((a, 0), (-a, 0), (0, b), (0, -b)))
        order = draw(st.permutations(patterns(Z).all))
        of = Gates(of.model, Z, tuple(order[draw(st.integers(0, 3)) :]))
        r = (Fraction(draw(st.sampled_from([1, -1, 2]))),) * 4
    elif draw(st.integers(0, 2)) == 0:  # some blocks that carry a neuron on an edge, and perhaps others
        Z, r, neuron = draw(edge_data())
        sides = [dot(z, neuron) for z in Z]
        around = [p for p in patterns(Z).all if all(not s or (s > 0) == on for s, on in zip(sides, p, strict=True))]
        some = draw(st.lists(st.sampled_from(around), min_size=1, max_size=4, unique=True))
        more = draw(st.lists(st.sampled_from(patterns(Z).all), max_size=2))
        of = Gates("relu", Z, tuple(dict.fromkeys((*some, *more))))
    free = of.blocks(r, Fraction(1))
    v = dual_vectors(free, r)
    lam2 = max(norm2(u) for u in v)
    assume(lam2 and rational_sqrt(lam2) is not None)
    tied = [b for b, u in enumerate(v) if norm2(u) == lam2]
    assume(len(tied) <= MOST_TIED)
    least = draw(st.integers(0, 1))
    alpha = [Fraction(draw(st.integers(least, 3))) if b in tied else Fraction(0) for b in range(len(v))]
    y = add(r, total((scale(a, matvec(b.X, u)) for a, b, u in zip(alpha, free.blocks, v, strict=True)), len(r)))
    return PlantedSampled(of, PlantedCGL(CGL(free.blocks, y, lam2), r, v, tuple(alpha)))


@dataclass(frozen=True)
class PlantedLogistic:
    """sum log(1 + exp(-y_k (Xw)_k)) + lambda sum |w_b| with |theta*_k| = a_k; `problem` has the labels as y.

    `q` are the outputs of the tied neurons, `carriers` in how many blocks each of them is.
    """

    problem: CGL
    a: Vector
    q: tuple[Vector, ...]
    carriers: tuple[int, ...]
    gates: Gates | None = None

    @property
    def theta(self) -> Vector:
        """theta*_k = a_k y_k"""
        return tuple(a * y for a, y in zip(self.a, self.problem.y, strict=True))

    @property
    def probabilities(self) -> Vector:
        """1/(1 + exp(-fit_k)) of every solution."""
        return tuple(1 - a if y == 1 else a for a, y in zip(self.a, self.problem.y, strict=True))

    @cached_property
    def vertices(self) -> tuple[Vector, ...]:
        """The vertices of the optimal set, up to one positive factor for each a: the fit is y log((1-a)/a)."""
        fit = (y if a < Fraction(1, 2) else Fraction(0) for a, y in zip(self.a, self.problem.y, strict=True))
        return polytope.vertices(self.q, tuple(fit))

    @property
    def unique(self) -> bool:
        """One optimal network."""
        return len(self.vertices) == 1

    @property
    def convex_unique(self) -> bool:
        """One solution of the convex program."""
        return self.unique and all(self.carriers[i] == 1 for i in polytope.support(self.vertices[0]))


def chances() -> SearchStrategy[Fraction]:
    """0 < a <= 1/2; at 1/2 the neurons tie with weight 0."""
    return st.sampled_from([Fraction(1, 4), Fraction(1, 3), Fraction(2, 5), Fraction(1, 10), Fraction(1, 2)])


@dataclass(frozen=True)
class _Part:
    """Rows of their own: labels, the chance a, and blocks that tie with weight, tie without, or do not tie."""

    labels: Vector
    chance: Fraction
    weighted: tuple[Sketch, ...]
    idle: tuple[Sketch, ...]
    short: tuple[Sketch, ...]


@cache
def _parts() -> SearchStrategy[_Part]:
    sketch = sketches(3, (Fraction(1),), max_size=2, columns=1, places=("new",))
    label = st.sampled_from([Fraction(1), Fraction(-1)])
    some = several(sketch, 0, 1)
    return st.builds(
        _Part,
        several(label, 1, 3),
        chances(),
        several(sketch, 1, 3),
        some,
        some,
    )


@st.composite
def planted_logistic(draw: DrawFn) -> PlantedLogistic:
    """A direct problem in one or two parts with rows of their own; sum_b p_b = 0 over the weighted blocks of a part."""
    lam = draw(positive_rationals())
    parts = draw(several(_parts(), 1, 2))
    n, start = sum(len(part.labels) for part in parts), 0
    blocks: list[Block] = []
    q: list[Vector] = []
    for part in parts:
        y = part.labels
        outputs = [output(sketch, y) for sketch in part.weighted[1:]]
        balance = scale(-1, total(outputs, len(y)))
        ties = [*zip(part.weighted, (balance, *outputs), strict=True), *((s, output(s, y)) for s in part.idle)]
        for sketch, p, length in [(s, p, 1) for s, p in ties] + [(s, balance, Fraction(1, 2)) for s in part.short]:
            v = scale(length * lam / part.chance, sketch.direction)
            inner = fitted(sketch, y, v, p)
            width = zeros(len(v))
            X = (*[width] * start, *inner.X, *[width] * (n - start - len(y)))
            blocks.append(Block(X, inner.K))
            if length == 1:
                q.append(matvec(X, v))
        start += len(y)
    labels = tuple(y for part in parts for y in part.labels)
    a = tuple(part.chance for part in parts for _ in part.labels)
    return PlantedLogistic(CGL(tuple(blocks), labels, lam * lam), a, tuple(q), (1,) * len(q))


@st.composite
def planted_logistic_network(draw: DrawFn) -> PlantedLogistic:
    """Orthogonal rows of one length c, and zero rows. Gated: theta = a y and lambda = a c sqrt(n). ReLU: a neuron for
    each label with lambda = a c sqrt(#rows of the label)."""
    model = draw(st.sampled_from(["relu", "gated"]))
    counts = [(1, 0), (0, 1), (1, 1), (4, 0), (1, 4)] if model == "relu" else [(1, 0), (0, 1), (4, 0), (2, 2), (1, 3)]
    plus, minus = draw(st.sampled_from(counts))
    n, c = plus + minus, draw(positive_rationals(3, 2))
    frame = draw(orthogonal(n)) if n <= 2 else tuple(unit(n, k) for k in draw(st.permutations(range(n))))
    y = (Fraction(1),) * plus + (Fraction(-1),) * minus
    chance = draw(st.sampled_from([Fraction(1, 4), Fraction(1, 5), Fraction(1, 20)]))
    q: tuple[Vector, ...] = (y,)
    carriers: tuple[int, ...] = (1,)
    if model == "gated":
        a = (chance,) * n
        lam = chance * c * (1 if n == 1 else 2)
    else:
        # a_+ sqrt(plus) = a_- sqrt(minus); only (1, 4) differ
        a = (chance * (2 if minus == 4 else 1),) * plus + (chance,) * minus
        sides = [zeros(plus) + (Fraction(-1),) * minus] if minus else []
        sides += [(Fraction(1),) * plus + zeros(minus)] if plus else []
        q = tuple(sides)
        carriers = ((2**plus,) if minus else ()) + ((2**minus,) if plus else ())  # on or off where it vanishes
        lam = chance * c * (2 if 4 in (plus, minus) else 1)
    empty = draw(st.integers(0, 1))
    Z = tuple(scale(c, z) for z in frame) + (zeros(n),) * empty
    of = Gates(model, Z, None)
    labels = y + (Fraction(draw(st.sampled_from([1, -1]))),) * empty
    outputs = tuple(x + zeros(empty) for x in q)
    return PlantedLogistic(of.blocks(labels, lam * lam), a + (Fraction(1, 2),) * empty, outputs, carriers, of)
