"""The shortest point of the polytope of optimal weights (the min-norm network), exactly or enclosed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

from verify.numbers.bounds import column, fraction, vector
from verify.problem.problem import Problem
from verify.sets.solutions import OptimalSet, System
from verify.sets.system import chosen
from verify.text import Fields, Node, Vector, show

ZERO = Fraction(0)


@dataclass(frozen=True)
class Shortest:
    """The shortest alpha is within `radius` of `weights`, entry by entry, and 0 where they are 0."""

    weights: Vector
    radius: Fraction


def weights(problem: Problem, found: OptimalSet, node: Node) -> System:
    """The equations of the weights of all solutions, one weight for each neuron."""
    if problem.blocks and found.bends and not found.exact:
        raise node.reject("neurons that lie in one block each", f"{found.bends} in several, with a weight in each")
    return found.system


def check_shortest(system: System, vertices: Sequence[dict[int, Fraction]], node: Node) -> Shortest | None:
    """Reject unless the shortest alpha is as stated; None if nothing is. `vertices` are all of them."""
    if node.value is None:
        return None
    fields = node.record("weights", "radius")
    alpha, found = read_weights(system, fields)
    if system.exact:
        check_exact(system, vertices, alpha, fields["weights"])
    else:
        check_enclosed(system, alpha, found.radius, fields)
    return found


def read_weights(system: System, fields: Fields) -> tuple[Vector, Shortest]:
    """The weights of the columns of F, and all that is stated."""
    weights, radius = fields["weights"].vector(system.total), fields["radius"].number()
    for name, x in enumerate(weights):
        if x < 0 or (x and name not in system.names):
            raise fields["weights"].reject(f"a weight >= 0, and 0 if it is never active, for class {name}", show(x))
    alpha = tuple(weights[name] for name in system.names)
    fields["radius"].require(radius >= 0, "a number >= 0")
    return alpha, Shortest(weights, radius)


def check_exact(system: System, vertices: Sequence[dict[int, Fraction]], alpha: Vector, node: Node) -> None:
    """alpha is in the polytope, and alpha.p >= |alpha|^2 for every vertex p."""
    for l, (x, g_l) in enumerate(zip((system.F * column(alpha)).entries(), system.g, strict=True)):
        node.require(fraction(x) == g_l, f"F alpha = g in row {l}", show(fraction(x) - g_l))
    squared = sum((x * x for x in alpha), ZERO)
    for number, point in enumerate(vertices):
        if (product := sum((alpha[a] * x for a, x in point.items()), ZERO)) < squared:
            raise node.reject(f"alpha.p >= |alpha|^2 = {show(squared)} at vertex {number}", show(product))


def check_enclosed(system: System, alpha: Vector, radius: Fraction, fields: Fields) -> None:
    """alpha = (F'mu)_+ with F alpha = g for some mu, for every F and g within the errors; mu is near (F_T F_T')^-1 g,
    T the support of `weights`."""
    support = [a for a, x in enumerate(alpha) if x]
    F_T, one = chosen(system, support), column([Fraction(1)] * system.rows)
    try:
        inverse = (F_T * F_T.transpose()).inv()
    except ZeroDivisionError:
        raise fields["weights"].reject("positive weights on classes whose outputs span those of all") from None
    W, mu, rho = sizes(inverse), inverse * column(system.g), column(system.F_error)
    f = sizes(F_T) * column([Fraction(1)] * len(support))
    D = rho * f.transpose() + (f + len(support) * rho) * rho.transpose()
    beta = max((W * (D * one)).entries(), default=fmpq(0))
    fields["weights"].require(beta < 1, "outputs that the errors cannot make dependent")
    moved = max((W * (column(system.g_error) + D * sizes(mu))).entries(), default=fmpq(0)) / (1 - beta)
    heights, moves = vector(system.F.transpose() * mu), vector(sizes(system.F).transpose() * (moved * one))
    shared = sum(vector(rho.transpose() * (sizes(mu) + moved * one)))
    for a, (height, move) in enumerate(zip(heights, moves, strict=True)):
        error, name = move + shared, system.names[a]
        if alpha[a] and (height <= error or abs(alpha[a] - height) + error > radius):
            expected = f"{show(height)} up to radius, and positive, for class {name}"
            raise fields["weights"].reject(expected, f"{show(alpha[a])}, error {show(error)}")
        if not alpha[a] and height + error > 0:
            raise fields["weights"].reject(f"F_a.mu < 0 where the weight is 0, for class {name}", show(height))


def sizes(A: fmpq_mat) -> fmpq_mat:
    """|A|, entry by entry."""
    return fmpq_mat(A.nrows(), A.ncols(), [abs(x) for x in A.entries()])
