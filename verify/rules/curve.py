"""Breakpoints and samples of a path, on the ground of its pieces (FORMAT.md: `curve`)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import fmpq_mat

from verify.facts import CURVE, LAMBDA_MAX, PATH, PATTERNS, Facts, proved
from verify.numbers.bounds import column, root_above
from verify.numbers.patterns import Patterns
from verify.numbers.polynomials import at_least, at_most, length_squared
from verify.optimal.ball import Ball, Class
from verify.path.moving import read_moving
from verify.problem.problem import Problem, dot, square
from verify.rule import Rule
from verify.rules.path import Frame, Piece, tube
from verify.sets.classes import read_class
from verify.sets.superclasses import length
from verify.text import Fields, Node, Vector, show

NARROW = 10**12
Neurons = frozenset[tuple[tuple[int, int], tuple[int, ...]]]  # (the sign and D, pattern or block), and the kinks


@dataclass(frozen=True)
class Curve:
    """So many breakpoints, branches and samples were checked; the samples have widths from `narrowest` to `widest`,
    enclose the objective in intervals of length `gap`, weights and directions within `radius`, or better."""

    breakpoints: int
    branches: int
    samples: int
    narrowest: int
    widest: int
    gap: Fraction
    radius: Fraction


def check_curve(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless every breakpoint and every sample is proved, on the ground of the path."""
    patterns, largest_squared, pieces = facts.get(PATTERNS), facts.get(LAMBDA_MAX), facts[PATH].pieces
    fields = node.record("breakpoints", "branches", "samples")
    before: Fraction | None = None
    for entry in fields["breakpoints"].array():
        lo, hi = check_breakpoint(patterns, largest_squared, pieces, entry)
        if before is not None and hi > before:
            raise entry.reject("an interval below the one before it", f"it ends at {show(hi)}, above {show(before)}")
        before = lo
    branches = [check_branch(pieces, entry) for entry in fields["branches"].array()]
    samples = [check_sample(patterns, pieces, entry) for entry in fields["samples"].array()]
    fields["branches"].require(all(a < b for a, b in pairwise(branches)), "pieces in ascending order")
    fields["samples"].require(all(a.lam < b.lam for a, b in pairwise(samples)), "lambdas in ascending order")
    widths = [one.width for one in samples]
    ends = min(widths, default=0), max(widths, default=0)
    worst = (max((getattr(one, name) for one in samples), default=Fraction(0)) for name in ("gap", "radius"))
    return proved(CURVE, Curve(fields["breakpoints"].length(), len(branches), len(samples), *ends, *worst))


@dataclass(frozen=True)
class Sample:
    """At `lam` so many neurons are active; the width of the objective's enclosure, and the radius."""

    lam: Fraction
    width: int
    gap: Fraction
    radius: Fraction


def check_breakpoint(
    patterns: Patterns | None, largest_squared: Fraction | None, pieces: list[Piece], node: Node
) -> tuple[Fraction, Fraction]:
    """Reject unless the active neurons, or their faces, differ at the two ends of an interval with one network each;
    the ends."""
    fields = node.record("lo", "hi", "below", "above")
    lo, hi = fields["lo"].number(), fields["hi"].number()
    if not (0 < lo < hi and (hi - lo) * NARROW <= lo):
        raise node.reject("0 < lo < hi <= lo (1 + 10^-12)", f"{show(lo)} and {show(hi)}")
    piece, below = read_end(patterns, pieces, lo, fields["below"])
    above: Neurons = frozenset()
    if fields["above"].value is None:
        if largest_squared is None or hi**2 < largest_squared or piece.hi**2 < largest_squared:
            raise fields["above"].reject("an end, or hi >= lambda_max and a piece that reaches lambda_max")
    else:
        beyond, above = read_end(patterns, pieces, hi, fields["above"])
        if beyond.lo > piece.hi:
            raise fields["above"].reject("pieces without a hole between them")
    node.require(above != below, "other neurons, or other faces, at the two ends", "the same")
    return lo, hi


def named(pieces: list[Piece], node: Node) -> Piece:
    """The piece of this number, on which the network is unique, and no class is pinned."""
    piece = pieces[node.index(len(pieces))]
    node.require(not piece.pinned, "a piece without a pinned class", "one that has some")
    node.require(not piece.lifted, "a piece on which the network is unique", "a lifted one")
    return piece


def read_end(patterns: Patterns | None, pieces: list[Piece], lam: Fraction, node: Node) -> tuple[Piece, Neurons]:
    """The piece, and the active neurons at lambda with the faces that they have there, exactly."""
    fields = node.record("piece", "s", "weights", "classes")
    piece = named(pieces, fields["piece"])
    point = read_point(patterns, piece, lam, fields)
    strict = Ball(piece.ball.problem, point.s, point.R**2)
    found = [read_class(strict, patterns, point.entries[a]) for a in point.active]
    return piece, frozenset((class_.key, class_.kinks) for class_ in found)


@dataclass(frozen=True)
class Point:
    """A point s within R of s(eta) and weights within `error` of the true ones; the classes in `active` have weight,
    and the others have none."""

    s: Vector
    R: Fraction
    error: Fraction
    active: list[int]
    entries: list[Node]


def read_point(patterns: Patterns | None, piece: Piece, lam: Fraction, fields: Fields) -> Point:
    """Reject unless s is dual feasible, in the tube, and every class is proved active or out."""
    s = fields["s"].vector(piece.ball.problem.n)
    S = column(s)
    if (off := length(S - piece.near(lam, fields["s"]))) > piece.R:
        raise fields["s"].reject(f"a point within {show(piece.R)} of the piece's path", show(off))
    alpha = fields["weights"].vector(len(piece.classes))
    at = Ball(piece.ball.problem, s, Fraction(0))
    own = fields["classes"].value is None
    entries = piece.entries if own else fields["classes"].array(len(piece.classes))
    classes = []
    for known, entry in zip(piece.classes, entries, strict=True):
        classes.append(read_moving(at, patterns, S, entry, known if own else None))
        same_region(piece.ball, classes[-1], known, entry)
    here = Frame(piece.frame.problem, 1 / lam, Fraction(0))
    R, _, missed = tube(here, S, classes, [(x,) for x in alpha], fields["weights"])
    error = piece.weight_error(missed, R, alpha)
    active = [a for a, x in enumerate(alpha) if x > error]
    for a, class_ in enumerate(classes):
        if a not in active:
            require_out(class_, S, alpha[a], R, fields["weights"])
    return Point(s, R, error, active, entries)


def same_region(ball: Ball, class_: Class, known: Class, node: Node) -> None:
    """The class at the point is the maximiser of the region of the piece's class.

    relu: on the rows of P' that belong to none of its kinks it fixes the signs that the known class fixes.
    """
    if ball.problem.model != "relu":
        node.require(class_.key == known.key, "the class of the piece", "another one")
        return
    xi = known.key[0]
    rows = ball.fine[xi] & ball.nonzero & ~class_.zeros
    if class_.key[0] != xi or rows & known.zeros or (class_.key[1] ^ known.key[1]) & rows:
        raise node.reject("a class in the region of the piece's class", "one that fixes other signs")


def require_out(class_: Class, S: fmpq_mat, weight: Fraction, R: Fraction, node: Node) -> None:
    """Reject unless the weight is listed as 0, and |v| + |X| R < 1 along S: then it is 0."""
    size, room = at_most(length_squared(class_.B.transpose() * S)), 1 - root_above(class_.bound) * R
    node.require(not weight, "a weight that is proved positive, or 0", show(weight))
    if room <= 0 or size >= room**2:
        raise node.reject(f"a neuron that is not tied: |v|^2 < {show(max(room, Fraction(0)) ** 2)}", show(size))


def check_branch(pieces: list[Piece], node: Node) -> int:
    """Reject unless the same classes, those listed, are active on the whole of a smooth piece; its number."""
    fields = node.record("piece", "active")
    piece = named(pieces, fields["piece"])
    fields["piece"].require(not piece.still, "a smooth piece", "a still one")
    active = fields["active"].ascending(len(piece.classes))
    error = piece.weight_error(piece.R, piece.R, tuple(at_most(row) for row in piece.alpha))
    for a, (class_, row) in enumerate(zip(piece.classes, piece.alpha, strict=True)):
        if a in active:
            if at_least(row) <= error:
                raise fields["active"].reject(f"a weight above {show(error)} on the piece for class {a}")
        else:
            require_out(class_, piece.S, Fraction(0), piece.R, fields["active"])
    return fields["piece"].index(len(pieces))


def check_sample(patterns: Patterns | None, pieces: list[Piece], node: Node) -> Sample:
    """Reject unless objective, weights and directions at a lambda are within their bounds; what they are."""
    fields = node.record("piece", "lambda", "s", "weights", "classes", "lower", "upper", "radius")
    piece, lam = named(pieces, fields["piece"]), fields["lambda"].number()
    point = read_point(patterns, piece, lam, fields)
    value = lam * dot(piece.frame.problem.y, point.s) - lam**2 * square(point.s) / 2
    lower, upper, radius = (fields[name].number() for name in ("lower", "upper", "radius"))
    fields["lower"].require(lower <= value, f"a bound <= {show(value)}")
    if upper < value + (lam * point.R) ** 2 / 2:
        raise fields["upper"].reject(f"a bound >= {show(value + (lam * point.R) ** 2 / 2)}")
    turned = max((root_above(class_.bound) * point.R for class_ in piece.classes), default=Fraction(0))
    if radius < max(lam * point.error, turned):
        raise fields["radius"].reject(f"a radius >= {show(max(lam * point.error, turned))}")
    return Sample(lam, len(point.active), upper - lower, radius)


RULE = Rule((CURVE,), check_curve, rests=(PATH,), bags=True)
