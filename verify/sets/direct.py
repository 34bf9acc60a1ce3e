"""Direct problems and gated networks: the classes of their blocks, projections on faces of the cones, that the others
are out, and the tied blocks where r* is known."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from verify.numbers.bounds import column, matrix, rational, rows
from verify.numbers.patterns import Patterns
from verify.optimal.ball import Ball, Class, on_rows
from verify.optimal.multipliers import lengths, products
from verify.problem.blocks import gated_pattern, gated_rows, pushed
from verify.problem.problem import frobenius, square, transposed
from verify.sets.classes import check_idle, read_face
from verify.sets.ties import Numbers, Optimum, Tied, reaches
from verify.text import Fields, Node, bit_text, show


def read_block(ball: Ball, patterns: Patterns | None, node: Node) -> Class:
    """The class of a pattern of a gated network, or of a block of a direct problem."""
    if ball.problem.model == "gated":
        mask = gated_pattern(ball.problem, patterns, node.record("pattern")["pattern"])
        return Class((0, mask), (), 0, on_rows(ball.Z, mask), ball.zeta_squared)
    return read_direct(ball, node.record("block", "kinks", "basis", "idle", "fixed"))


def read_direct(ball: Ball, fields: Fields) -> Class:
    """v = Proj_C(X_b'r) = P X_b'r: multipliers >= 0 on the kinks, the other constraints slack."""
    problem = ball.problem
    b = fields["block"].index(len(problem.groups))
    X, size = problem.block(b), len(problem.groups[b])
    vectors = problem.constraints(b)
    K = {k: K_k for k, K_k in enumerate(vectors) if any(K_k)}
    face = read_face(vectors, size, K, fields)
    class_ = Class((0, b), face.kinks, 0, matrix(X, size) * face.P, frobenius(X), face)
    check_idle(vectors, face, class_.B, fields["idle"])
    room = class_.bound * ball.R_squared
    c_0 = matrix(X, size).transpose() * ball.residuals
    v = face.P * c_0
    for k, K_k in K.items():
        if k not in face.kinks:
            slack = column(K_k).transpose() * -v
            ball.holds(slack.entries(), rational(square(K_k) * room), fields["kinks"], k)
    for k, rho_k in face.loose.items():
        fields["fixed"].require(rho_k >= 0, f"a multiplier >= 0 for constraint {k}", show(rho_k))
        for j, K_kj in enumerate(K[k]):
            c_0[j, 0] -= rational(rho_k * K_kj)
    for k, W_k, rho in zip(face.basis, rows(face.W), (face.W * c_0).tolist(), strict=True):
        ball.holds(rho, rational(square(tuple(W_k)) * room), fields["basis"], k)
    return class_


def check_blocks_out(ball: Ball, classes: Collection[int], multipliers: Node, out: Node) -> None:
    """Reject unless every block has a class or is out."""
    for b, entry in enumerate(multipliers.array(len(ball.problem.groups))):
        if not is_out(ball, b, entry) and b not in classes:
            found = f"none, and |X_b'theta - K_b rho|^2 = {show(bound(ball, b, entry))}"
            raise out.reject(f"a class for block {b}", found)


def check_patterns_out(ball: Ball, patterns: Patterns, classes: Collection[int], multipliers: Node, out: Node) -> None:
    """Reject unless every pattern of a gated network has a class or is out."""
    for mask, length in lengths(ball.problem, gated_rows(patterns, ball.theta, multipliers)):
        if mask not in classes and length >= ball.out_below:
            found = f"none, and |Z'D theta|^2 = {show(length)}"
            raise out.reject(f"a class for the pattern {bit_text(mask, ball.problem.n)}", found)


def bound(ball: Ball, b: int, entry: Node) -> Fraction:
    """|X_b'theta - K_b rho|^2 with the rho of `dual` or with none, whichever is shorter."""
    plain = square(transposed(ball.problem.block(b), ball.theta))
    return min(plain, square(pushed(ball.problem, ball.theta, b, entry)))


def is_out(ball: Ball, b: int, entry: Node) -> bool:
    """Whether a block of a direct problem is out by this bound."""
    return bound(ball, b, entry) < ball.threshold(frobenius(ball.problem.block(b)))


def merged(blocks: Sequence[tuple[int, int]], found: Sequence[Tied]) -> list[Tied]:
    """A ReLU neuron that lies in several of the blocks is one neuron."""
    keys = [(blocks[a.key[1]][0], list(a.v)) for a in found]
    places = [keys.index(key) for key in keys]  # of the first block that carries the neuron
    others = {
        i: tuple(found[j].key[1] for j, place in enumerate(places) if place == i != j) for i in sorted(set(places))
    }
    return [replace(found[i], others=rest) for i, rest in others.items()]


def gated(optimum: Optimum, patterns: Patterns, node: Node) -> Iterator[Tied]:
    """Every pattern D is out at theta, or |Z'D r| <= lambda."""
    ball, problem = optimum.ball, optimum.ball.problem
    columns = tuple(zip(*problem.Z, strict=True))
    for mask, p, q in products(problem, gated_rows(patterns, ball.theta, optimum.bounds)):
        if sum(x**2 for x in p) < ball.out_below * q**2:
            continue
        v = optimum.through(columns, [x if mask >> k & 1 else optimum.zero for k, x in enumerate(optimum.r)])
        if reaches(optimum, v, node):
            outputs = optimum.through(problem.Z, v)
            yield Tied((0, mask), v, [x if mask >> k & 1 else optimum.zero for k, x in enumerate(outputs)])


def direct(optimum: Optimum, b: int, entry: Node, rho: Numbers) -> Iterator[Tied]:
    """v = X_b'r - K_b rho, the projection of X_b'r on C_b, where |v| = lambda."""
    problem = optimum.ball.problem
    X, K = problem.block(b), problem.K[b]
    v = optimum.through(tuple(zip(*X, strict=True)), optimum.r)
    if K is not None and rho:
        v = [x - push for x, push in zip(v, optimum.through(K, rho), strict=True)]
    if reaches(optimum, v, entry):
        slopes = optimum.through(tuple(zip(*K, strict=True)), v) if K is not None else ()
        if any(s > 0 for s in slopes) or (rho and optimum.dot(rho, slopes)):
            raise entry.reject(f"K_b'v <= 0 and rho.(K_b'v) = 0 where |v| = lambda, for block {b}")
        yield Tied((0, b), v, optimum.through(X, v))
