"""Which classes there are: every block is proved out, or belongs to a stable class.

A block is *out* if |Proj_{C_b}(X_b'theta)| + |X_b| R < lambda: then it is zero in every solution. What is not out is
solved exactly at theta; its face is read off the exact solution and must be stable over the ball.

Level classes: where biases are free, neurons that are zero at no row.

Such a neuron keeps its pattern D for an interval of biases. If it is active, the residual is orthogonal to 1_D, and 1_D
is a row of the lift: in the lifted problem it has a free coefficient. If that is the weight times a bias of the
interval, the lifted solution is a network, and solves the given problem; the neuron can be split into two of other
biases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import arb_mat, fmpq_mat
from numpy.typing import NDArray

from relu_cert.errors import Unsettled
from relu_cert.exact import Matrix, Vector, column, dot, matrix_of, norm_squared, sqrt_upper, to_fraction, to_vector
from relu_cert.patterns.pattern_set import Bits
from relu_cert.problem.networks import parallel_classes, reaching, widest_squared
from relu_cert.problem.problem import Block, Network, Problem
from relu_cert.prove.classes import (
    Ball,
    ClassMap,
    frobenius_squared,
    has_biases,
    independent,
    is_stable,
    size_squared,
    spans,
)
from relu_cert.prove.facts import (
    BallSet,
    BlockMultipliers,
    Dual,
    ExactNeuron,
    Facts,
    NeuronClass,
    PieceMultiplier,
    PieceMultipliers,
)
from relu_cert.prove.multipliers import parts_of, piece_lengths, project, solve_piece, unique_rows
from relu_cert.prove.projection import ShortestVector, deepest, exact_face, floats, near_face, upper_length
from relu_cert.prove.split import SEEMS_POSITIVE, SplitOutputs, columns, null_space, split_map, with_split
from relu_cert.serialize import Sign


@dataclass(frozen=True)
class Candidates:
    """All classes that may be active, the multipliers that prove finer pieces out (ReLU), or, over a cover, the class
    of every tie."""

    classes: tuple[NeuronClass, ...]
    out: PieceMultipliers | None = None
    ties: tuple[NeuronClass | None, ...] = ()


Finder = Callable[[Problem, Fraction, Dual, Ball, Sequence[ExactNeuron]], Candidates]


def find_candidates(
    problem: Problem, lam: Fraction, dual: Dual, ball: Ball, network: Sequence[ExactNeuron] = ()
) -> Candidates:
    """Every block is out or in a stable class, else Unsettled. The network proposes patterns where any will do."""
    match dual.multipliers:
        case BlockMultipliers():
            return Candidates(_direct(problem, lam, dual.multipliers, ball))
        case PieceMultipliers():
            plus = _relu(problem, 1, dual.multipliers.plus, lam, ball)
            minus = _relu(problem, -1, dual.multipliers.minus, lam, ball)
            return Candidates((*plus[0], *minus[0]), PieceMultipliers(tuple(plus[1]), tuple(minus[1])))
        case _:
            raise Unsettled("the proof of the bound says nothing about single neurons")


def distinct(found: Iterable[NeuronClass | None]) -> tuple[NeuronClass, ...]:
    """One class for each sign and pattern, in the place of the first: of the faces of one neuron the one with idle
    kinks, which proves less. With and without kinks it is not one neuron: with free biases only a kink fixes its bias.
    """
    classes: dict[tuple[Sign, str | None, int | None], NeuronClass] = {}
    for one in found:
        if one is None:
            continue
        if bool(classes.setdefault(one.key, one).kinks) != bool(one.kinks):
            raise Unsettled("a neuron that is zero at no row has the pattern of one that is zero at some")
        if one.idle:
            classes[one.key] = one
    return tuple(classes.values())


def out_threshold_squared(lam: Fraction, size_squared: Fraction, radius_squared: Fraction) -> Fraction:
    """(lambda - |X| R)^2, rounded down; 0 where nothing can be proved out."""
    room = lam - sqrt_upper(size_squared * radius_squared, 64)
    return room * room if room > 0 else Fraction(0)


def fine_rows(t: Vector, radius_squared: Fraction) -> Bits:
    """P' = the rows on which t is not certainly negative over the ball: their sign is fixed on a fine piece."""
    p, q = radius_squared.as_integer_ratio()
    return np.array([not (x < 0 and x.numerator**2 * q > p * x.denominator**2) for x in t])


def not_out(
    problem: Problem, lam: Fraction, theta: Vector, radius_squared: Fraction
) -> Iterator[tuple[int, Block, Vector, Fraction]]:
    """The blocks that are not out without a multiplier: number, block, X_b'theta, and the square that they reach."""
    lowest = out_threshold_squared(lam, widest_squared(problem.blocks), radius_squared)
    for b, block, c in reaching(problem.blocks, theta, lowest):
        limit = out_threshold_squared(lam, block.size_squared, radius_squared)
        if norm_squared(c) >= limit:
            yield b, block, c, limit


def _direct(problem: Problem, lam: Fraction, stated: BlockMultipliers, ball: Ball) -> tuple[NeuronClass, ...]:
    found = []
    for b, block, c, limit in not_out(problem, lam, ball.center, ball.radius_squared):
        neuron, v = block_face(problem, b, block, c)
        if norm_squared(v) < limit:
            if norm_squared(stated.left(b, c, block.K)) >= limit:
                raise Unsettled(f"block {b} is out, but its multiplier does not show it")
            continue
        if not is_stable(problem, neuron, ball):
            raise Unsettled(f"the face of block {b} is not settled")
        found.append(neuron)
    return tuple(found)


def block_face(problem: Problem, b: int, block: Block, c: Vector) -> tuple[NeuronClass, Vector]:
    """The class of a block with the face that the projection v of c has, and v."""
    pattern = problem.pattern(b)
    if block.K is None:
        return NeuronClass(pattern=pattern, block=b), c
    rho, v = project(c, block.K)
    columns = list(zip(*block.K, strict=True))
    kinks = tuple(j for j, k in enumerate(columns) if any(k) and dot(k, v) == 0)
    basis = tuple(j for j in kinks if rho[j] > 0)
    chosen = [columns[j] for j in basis]
    idle = tuple(j for j in kinks if j not in basis and not spans(chosen, [columns[j]]))
    fixed = tuple(rho[j] for j in kinks if j not in basis and j not in idle)
    return NeuronClass(pattern=pattern, block=b, kinks=kinks, basis=basis, idle=idle, fixed=fixed), v


def _relu(
    problem: Problem, xi: Sign, pieces: tuple[PieceMultiplier, ...], lam: Fraction, ball: Ball
) -> tuple[list[NeuronClass], list[PieceMultiplier]]:
    network = problem.relu
    t = ball.center if xi > 0 else tuple(-x for x in ball.center)
    limit = out_threshold_squared(lam, frobenius_squared(network.Z), ball.radius_squared)
    classes: list[NeuronClass] = []
    near, out = solved_pieces(network, t, fine_rows(t, ball.radius_squared), pieces, limit)
    for _, best in near:
        neuron = _stable_face(problem, xi, t, best, ball, classes)
        if neuron is None:
            continue  # a kink between two fine pieces: the same neuron
        classes.append(neuron)
    return classes, out


def solved_pieces(
    network: Network, t: Vector, fine: Bits, pieces: Sequence[PieceMultiplier], limit: Fraction
) -> tuple[list[tuple[list[bool], ShortestVector]], list[PieceMultiplier]]:
    """The fine pieces that reach the limit, a squared length, with their bases, inside those of the given pieces that
    reach it, and multipliers of the other fine pieces there."""
    Z, near, out = network.Z, list[tuple[list[bool], ShortestVector]](), list[PieceMultiplier]()
    coarse = [p for p, length in zip(pieces, piece_lengths(Z, t, pieces), strict=True) if length >= limit]
    for base in fine_pieces(network, t, fine, coarse):
        best = solve_piece(Z, t, base, fine)
        if norm_squared(best.v) < limit:
            out.append(PieceMultiplier(*parts_of(t, base, best)))
        else:
            near.append((base, best))
    return near, out


def _stable_face(
    problem: Problem, xi: Sign, t: Vector, best: ShortestVector, ball: Ball, known: list[NeuronClass]
) -> NeuronClass | None:
    """The class at the maximiser; None if it is known already, Unsettled if no proposed face is stable."""
    Z = problem.relu.Z
    for face in (exact_face, near_face):
        neuron = face(Z, xi, t, best)
        if any((one.pattern, one.kinks) == (neuron.pattern, neuron.kinks) for one in known):
            return None
        if is_stable(problem, neuron, ball):
            return neuron
    raise Unsettled(f"the face of the neuron in direction {_about(best.v)} is not settled")


def fine_pieces(network: Network, t: Vector, fine: Bits, near: list[PieceMultiplier]) -> list[list[bool]]:
    """The fine pieces (patterns of open cells restricted to P') inside the given pieces, each once.

    Off P' a fine piece has the bits of the given multiplier's base: a good start for solving it.
    """
    if not near:
        return []
    coarse = np.packbits(np.array([x > 0 for x in t]))
    bits = network.patterns.groups[0].bits
    bases = [np.array([c == "1" for c in p.base]) for p in near]
    wanted = {(np.packbits(base) & coarse).tobytes(): base for base in bases}
    inside = np.array([row.tobytes() in wanted for row in bits & coarse])
    packed = unique_rows(bits[inside] & np.packbits(fine))
    found = np.unpackbits(packed, axis=1, count=network.patterns.n).astype(np.bool_)
    keys = [row.tobytes() for row in packed & coarse]
    return [np.where(fine, row, wanted[key]).tolist() for row, key in zip(found, keys, strict=True)]


def _about(v: Vector) -> str:
    size = max((abs(x) for x in v), default=Fraction(1)) or Fraction(1)
    return "(" + ", ".join(f"{float(x / size):.4g}" for x in v) + ")"


Floats = NDArray[np.float64]
LINEAR = "a neuron that is on at all rows ties, and can change its free bias together with the output bias"
ORTHOGONAL = "a neuron is zero at no row, and the residual is not orthogonal to its rows"
DEPENDENT = "neurons that are zero at no row depend on each other by their free biases"
WITHOUT = "a neuron that ties and is zero at no row may have weight zero"
NEAR = "a neuron is so near to a row that its free bias does not settle on which side"


def level_classes(problem: Problem, classes: Sequence[NeuronClass]) -> list[int]:
    """The level ones."""
    return [a for a, neuron in enumerate(classes) if has_biases(problem) and not neuron.kinks]


def is_linear(neuron: NeuronClass) -> bool:
    """On at all rows."""
    return "0" not in (neuron.pattern or "")


def rows_of_lift(problem: Problem, classes: Sequence[NeuronClass], level: Sequence[int]) -> dict[str, Vector]:
    """P 1_D of the level classes by D, but for linear ones (the constant is free anyway) and the other rows of one
    before."""
    named: dict[str, Vector] = {}
    for pattern in (classes[a].pattern or "" for a in level if not is_linear(classes[a])):
        if _others(pattern) not in named:
            named[pattern] = problem.relu.bags.pooled([Fraction(int(bit)) for bit in pattern])
    return named


def _others(pattern: str) -> str:
    return pattern.translate({48: 49, 49: 48})


def no_linear(facts: Facts) -> bool:
    """Whether no neuron that is on at all rows can tie."""
    X = list(zip(*facts.problem.relu.Z, strict=True))[:-1]
    t = facts.problem.relu.bags.spread(facts.dual.theta)
    slope = sqrt_upper(sum((dot(x, t) ** 2 for x in X), Fraction(0)), 64)
    return slope + sqrt_upper(size_squared(facts.problem) * facts.fit.radius_squared, 64) < facts.lam


@dataclass(frozen=True)
class _Row:
    """A row of the lift of level classes: W, a row of the dual basis, and the ends of sign times bias, by class."""

    W: Vector
    ends: Mapping[int, tuple[Fraction, Fraction]]


def with_level(
    facts: Facts, plain: BallSet, maps: Sequence[ClassMap], outputs: SplitOutputs, level: list[int]
) -> BallSet:
    """The set with the number of level classes that have weight in some optimal network; Unsettled if there is none, or
    no biases that keep the patterns add up to what the lift has."""
    if not any(is_linear(plain.classes[a]) for a in level) and not no_linear(facts):
        raise Unsettled(LINEAR)
    rows = _rows(facts, plain, maps, level)
    found = plain
    weights, error = dict(zip((group[0] for group in plain.groups), plain.masses, strict=True)), plain.mass_error
    if plain.equations or len(plain.groups) < len(plain.classes):
        start = _inside(facts, plain, outputs, rows)
        found = with_split(facts.problem.y, plain, maps, outputs, start)
        weights, error = {a: found.split[a] for a in found.active}, found.split_error
    heavy = [a for a in level if weights.get(a, error) > error]
    if not heavy:
        raise Unsettled(WITHOUT)
    rest = column(facts.problem.y) - columns(outputs.Q, list(weights)) * column(list(weights.values()))
    sizes = sum((upper_length(arb_mat(columns(outputs.Q, [a]))) for a in weights), Fraction(0))
    missed = error * sizes + (sum(map(abs, weights.values())) + len(weights) * error) * outputs.error
    for row in rows:
        total, off = dot(row.W, to_vector(rest)), sqrt_upper(norm_squared(row.W), 64) * missed
        low, high = off, -off
        for a in {*weights} & {*row.ends}:
            least, most = row.ends[a]
            low += weights[a] * least + error * abs(least)
            high += weights[a] * most - error * abs(most)
        if not low < total < high:
            raise Unsettled(NEAR if {*weights} & {*row.ends} else WITHOUT)
    return replace(found, level=len(heavy))


def _rows(facts: Facts, plain: BallSet, maps: Sequence[ClassMap], level: Sequence[int]) -> list[_Row]:
    """The rows of level classes, each with the classes that it is of."""
    L, names = matrix_of(plain.lift), rows_of_lift(facts.problem, plain.classes, level)
    W = (L * L.transpose()).solve(L).tolist()
    found = []
    for pattern, W_j in zip(names, W[plain.free - len(names) : plain.free], strict=True):
        ends = {}
        for a in level:
            own, xi = plain.classes[a].pattern or "", plain.classes[a].sign
            if own in (pattern, _others(pattern)):
                low, high = _kept_interval(facts, plain.classes[a], maps[a])
                if low < high:
                    s = xi if own == pattern else -xi
                    ends[a] = (low, high) if s > 0 else (-high, -low)
        found.append(_Row(tuple(map(to_fraction, W_j)), ends))
    return found


def _kept_interval(facts: Facts, neuron: NeuronClass, one: ClassMap) -> tuple[Fraction, Fraction]:
    """The ends of an interval of biases that keep the pattern, for every residual of the ball."""
    problem, R = facts.problem, sqrt_upper(facts.fit.radius_squared, 64)
    w = tuple(neuron.sign * x for x in to_vector(one.B().transpose() * column(facts.dual.theta)))
    low, high = [], []
    for z, bit in zip(problem.relu.Z, neuron.pattern or "", strict=True):
        room = sqrt_upper(norm_squared(z) * size_squared(problem), 64) * R
        if bit == "1":
            low.append(room - dot(z, w))
        else:
            high.append(-dot(z, w) - room)
    return max(low), min(high)


def _inside(facts: Facts, plain: BallSet, outputs: SplitOutputs, rows: Sequence[_Row]) -> Floats:
    """Weights that are as far as possible from where a bias no longer keeps a pattern, or a weight is zero; or, if some
    are zero in all networks, from the former."""
    k, y, level = len(plain.classes), facts.problem.y, {a for row in rows for a in row.ends}
    Phi = floats(split_map(plain.equations, plain.groups, outputs.Q, ()))
    goal = np.array([float(x) for x in (*plain.masses, *(dot(row, y) for row in plain.equations))])
    scale = np.maximum(np.abs(Phi).max(axis=1), 1e-300)
    Q, A, b = floats(outputs.Q), [], []
    for row in rows:
        pull, ends = np.array([float(x) for x in row.W]) @ Q, np.zeros((2, k))
        for a, both in row.ends.items():
            ends[:, a] = [float(x) for x in both]
        size = float(np.abs(ends).max()) or 1.0
        A += [(ends[0] + pull) / size, -(ends[1] + pull) / size]
        b += [float(dot(row.W, y)) / size, -float(dot(row.W, y)) / size]
    bent = {a for a, one in enumerate(plain.classes) if not one.kinks and not is_linear(one)}
    bounds = [(0.0, 0.0 if a in bent - level else None) for a in range(k)]
    for most in (-np.eye(k)[[a for a in range(k) if a not in bent - level]], np.zeros((0, k))):
        found = deepest(
            np.array([*A, *most]).reshape(-1, k),
            np.array([*b, *np.zeros(len(most))]),
            bounds,
            most=1.0,
            equal=Phi / scale[:, None],
            goal=goal / scale,
        )
        if found is not None and found[1] > SEEMS_POSITIVE * np.abs(found[0]).max():
            return found[0]
    raise Unsettled(NEAR)


def rows_beside(
    problem: Problem, classes: Sequence[NeuronClass], theta: Vector, free: Matrix, level: Sequence[int]
) -> Matrix:
    """Independent rows, orthogonal to the free ones and to theta."""
    Z, bags = problem.relu.Z, problem.relu.bags
    proposed: list[Vector] = []
    for kinks in {neuron.kinks: None for neuron in classes}:
        columns = [bags.pooled(one) for one in on_face(Z, kinks)]
        if not any(dot(one, theta) for one in columns):
            proposed += columns
    if level:
        proposed += _without_weight(problem.relu, theta, free)
    chosen = independent((*free, *proposed))[len(free) :]
    if not chosen or not free:
        return chosen
    B, rows = matrix_of(free), matrix_of(chosen)
    inside = (B * B.transpose()).solve(B * rows.transpose())
    return tuple(to_vector(fmpq_mat([row])) for row in (rows - inside.transpose() * B).tolist())


def on_face(Z: Matrix, kinks: Sequence[int]) -> list[Vector]:
    """Z u for a basis of the u that vanish on these rows."""
    d = len(Z[0])
    face = null_space(matrix_of([*(Z[k] for k in kinks), (Fraction(0),) * d]))
    return [to_vector(matrix_of(Z) * u) for u in face]


def _without_weight(network: Network, theta: Vector, free: Matrix) -> Iterator[Vector]:
    """The lines that have no weight: differences of those that the free rows do not tell apart, then one of each."""
    first: dict[tuple[Fraction, ...], Vector] = {}
    t = network.bags.spread(theta)
    for rows in parallel_classes(network.Z).values():
        if not sum((t[k] for k in rows), Fraction(0)):
            line = network.bags.pooled([Fraction(k in rows) for k in range(len(network.Z))])
            other = first.setdefault(tuple(dot(row, line) for row in free), line)
            yield tuple(a - b for a, b in zip(line, other, strict=True)) if other != line else line
