"""Lifted pieces of a path: the residual is orthogonal to a subspace L, and the set of optimal networks moves
continuously (FORMAT.md: `path`, *lifted*)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from verify.numbers.bounds import column, matrix, root_above
from verify.numbers.polynomials import at_least, off_identity
from verify.optimal.ball import Class
from verify.path.onset import Moving, check_onset, heights, superclasses, total
from verify.problem.problem import Problem, dot, square
from verify.sets.split import is_silent, spanned
from verify.sets.superclasses import read_rows, same_kernels, without
from verify.text import Fields, Matrix, Node, Vector, show

Row = tuple[Fraction, Sequence[Sequence[Fraction]]]  # |l| and l.q of each class along the path; |l| = 0: its sums


@dataclass(frozen=True)
class Set:
    """The set of optimal networks has at least this dimension on the whole piece; `unique`: it is one network there."""

    dimension: int
    unique: bool


def check_lifted(moving: Moving, inverse: Node, node: Node) -> Set:
    """Reject unless for every lambda of the piece s is orthogonal to L, and the optimal set is a polytope that moves
    continuously."""
    fields = node.record("lift", "forced", "force", "spread", optional=("onset",))
    n, classes = moving.ball.problem.n, moving.classes
    lift, dual = read_rows(moving.S, fields["lift"])
    groups = superclasses(moving, lift, dual, fields["lift"])
    forced = check_forced(moving, lift, groups, fields)
    core = moving.core(groups)
    onset = "onset" in fields
    firsts = [group[0] for s, group in enumerate(groups) if s in core or not onset]
    W = tuple(row.vector(n) for row in inverse.array(len(firsts)))
    for i, row in enumerate(W):
        inverse.item(i).require(not any(dot(row, l) for l in lift), "a row orthogonal to the lift")
    beta = check_inverse(moving, W, [classes[a] for a in firsts], inverse)
    pulled = max((root_above(square(row)) for row in W), default=Fraction(0)) * moving.missed
    if onset:
        delta, light = check_onset(moving, lift, groups, (W, pulled, beta), fields["onset"])
    else:
        delta = pulled / (1 - beta)
        light = (len(groups) - len(core)) * delta
    active = sorted(a for s in core for a in groups[s] if a not in forced)
    kept = [l for l in lift if not is_void(moving, l, forced)]
    F: list[Row] = [(Fraction(0), [[Fraction(a in groups[s])] for a in active]) for s in core]
    F += [(root_above(square(l)), [heights(moving, l, classes[a]) for a in active]) for l in kept]
    check_inside(moving, F, active, (delta, light), fields["spread"])
    late = [[a for a in group if a not in forced] for s, group in enumerate(groups) if s not in core]
    dimension = len(active) - len(core) - len(kept)
    neurons = {tuple(classes[a].B.entries()) for a in active}  # blocks with the same B are one neuron
    unique = not onset and dimension == 0 and all(len(group) == 1 for group in late)
    return Set(dimension - len(active) + len(neurons), unique)


@dataclass(frozen=True)
class Even:
    """What is read of an even piece: L by its basis, with the dual basis, the places of the rays, and the shares of
    classes in their superclasses, or () if they are equal."""

    lift: Matrix
    dual: fmpq_mat
    rays: frozenset[int]
    shares: Vector


def read_even(problem: Problem, S: fmpq_mat, pinned: frozenset[int], count: int, node: Node) -> Even:
    """Reject unless the path and y are orthogonal to L, and with a lift all classes are pinned, and rays always."""
    fields = node.record("lift", "rays", optional=("shares",))
    lift, dual = read_rows(S, fields["lift"])
    shares = fields["shares"].vector(count) if "shares" in fields else ()
    node.require(all(share >= 0 for share in shares), "shares that are not negative")
    rays = frozenset(fields["rays"].ascending(count))
    node.require(lift or not shares, "shares only where there is a lift")
    node.require(not lift or len(pinned) == count, "a lift where all classes are pinned")
    fields["rays"].require(rays <= pinned, "rays that are pinned")
    for k, l in enumerate(lift):
        fields["lift"].item(k).require(not dot(l, problem.y), "a row orthogonal to y")
    return Even(lift, dual, rays, shares)


def check_even(moving: Moving, known: Even, inverse: Node, node: Node) -> Set:
    """Reject unless for every lambda of the piece s is orthogonal to L, and the optimal set is a polytope that moves
    continuously: {alpha >= 0 : A alpha = c}, A fixed."""
    n, classes = moving.ball.problem.n, moving.classes
    lift = matrix(known.lift, n)
    seen = [without(lift, known.dual, a.B) for a in classes]
    kernels = [a.B * Pi_B.transpose() for a, Pi_B in zip(classes, seen, strict=True)]  # G Pi
    if known.lift:
        for group in same_kernels(seen):
            shares = [known.shares[a] for a in group] if known.shares else [Fraction(1, len(group))] * len(group)
            node.require(sum(shares) == 1, f"shares of classes {', '.join(map(str, group))} with the sum 1")
            terms = [share.numerator * kernels[a] / share.denominator for a, share in zip(group, shares, strict=True)]
            summed = sum(terms[1:], terms[0])
            expected = f"outputs of classes {', '.join(map(str, group))} with a sum orthogonal to the lift"
            node.require(not any((lift * summed).entries()), expected)
    for a in sorted(known.rays):
        node.require(seen[a].rank() <= 1, f"one direction of class {a}, a ray, for all s orthogonal to the lift")
    chosen: list[int] = []
    fixed: list[fmpq_mat] = []
    for a in range(len(classes)):
        if a in known.rays:
            continue
        if a in moving.pinned:
            if fmpq_mat([list(G.entries()) for G in (*fixed, kernels[a])]).rank() == len(fixed):
                continue
            fixed.append(kernels[a])
        chosen.append(a)
    W = tuple(row.vector(n) for row in inverse.array(len(chosen)))
    for i, row in enumerate(W):
        across = any(any((matrix([row], n) * kernels[a]).entries()) for a in known.rays)
        inverse.item(i).require(not across, "a row orthogonal to the outputs of all rays")
    check_inverse(moving, W, [classes[a] for a in chosen], inverse)
    return Set(0, unique=len(chosen) == len(classes))


def check_forced(moving: Moving, lift: Matrix, groups: Sequence[Sequence[int]], fields: Fields) -> set[int]:
    """The classes that have weight 0 in every solution: h in L, h.y = 0, h.q > 0 for them and 0 for all others."""
    problem = moving.ball.problem
    node = fields["forced"]
    forced = set(node.ascending(len(moving.classes)))
    h = fields["force"].vector(problem.n if forced else 0)
    if not forced:
        return forced
    node.require(problem.model != "relu", "no forced class in a relu problem")
    if not spanned(lift, column(h)) or dot(h, problem.y):
        raise fields["force"].reject("a vector in the span of the lift, orthogonal to y")
    moved = moving.shift * root_above(square(h))
    for a, class_ in enumerate(moving.classes):
        if a not in forced and not is_silent(class_, h):
            raise fields["force"].reject(f"h.q = 0 whatever the residual for class {a}, which is not forced")
        if a in forced and (any(moving.alpha[a]) or at_least(heights(moving, h, class_)) <= moved):
            expected = f"weight 0 and h.q > {show(moved)} on the piece for class {a}, which is forced"
            raise fields["force"].reject(expected)
    node.require(not any(set(group) <= forced for group in groups), "a class that is not forced in every superclass")
    return forced


def is_void(moving: Moving, l: Sequence[Fraction], forced: set[int]) -> bool:
    """l.y = 0 and l.q = 0 whatever the residual for all classes that are not forced."""
    problem = moving.ball.problem
    silent = all(is_silent(class_, l) for a, class_ in enumerate(moving.classes) if a not in forced)
    return problem.model != "relu" and silent and not dot(tuple(l), problem.y)


def check_inverse(moving: Moving, W: Matrix, classes: Sequence[Class], node: Node) -> Fraction:
    """The largest row sum of |W Q - I| for all s within R of the path; rejected unless it is below 1."""
    beta = Fraction(0)
    inverse = matrix(W, moving.ball.problem.n)
    along = [(inverse * (a.B * (a.B.transpose() * moving.S))).tolist() for a in classes]
    for i, W_i in enumerate(W):
        row = moving.R * root_above(square(W_i)) * total(a.bound for a in classes)
        row += off_identity([entries[i] for entries in along], i)
        node.item(i).require(row < 1, "a row of W Q - I with a sum below 1", f"up to {show(row)}")
        beta = max(beta, row)
    return beta


def check_inside(
    moving: Moving, F: Sequence[Row], active: Sequence[int], reach: tuple[Fraction, Fraction], node: Node
) -> None:
    """Reject unless weights that are exact lie near alpha(tau), and are positive on the active classes."""
    V = [row.vector(len(F)) for row in node.array(len(active))]
    spread = total(abs(x) for row in V for x in row)
    beta = Fraction(0)
    for i, (size, row) in enumerate(F):
        powers = range(max((len(c) for c in row), default=1))
        terms = [list(zip(row, (V_a[j] for V_a in V), strict=True)) for j in range(len(F))]
        entries = [[total(c[m] * x for c, x in one if m < len(c)) for m in powers] for one in terms]
        beta = max(beta, size * moving.shift * spread + off_identity(entries, i))
    node.require(beta < 1, "rows of F V - I with sums below 1", f"up to {show(beta)}")
    delta, light = reach
    beside = moving.missed + root_above(moving.bound) * light
    z = max(delta, *(size * beside for size, _ in F), Fraction(0)) / (1 - beta)
    for a, V_a in zip(active, V, strict=True):
        lowest, change = at_least(moving.alpha[a]), z * total(abs(x) for x in V_a)
        expected = f"a weight > {show(change)}, its possible error, on the piece for class {a}"
        node.require(lowest > change, expected, show(lowest))
