"""Refutations as files that `verify` accepts: every witness against a printed statement, one file each.

    python -m properties --refutations DIR
    python -m verify DIR/prop_unique_sol.refutation.json

The checker shares no code with this package: it reads the instance and derives the contradiction again. What each
witness holds is written in verify/REFUTATIONS.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from properties.claims.app_general_losses import General
from properties.claims.conjecture_min_norm_path import SinglePath, alone, side_branch
from properties.claims.cor_relu_continuity import Approach
from properties.claims.lemma_lagrange_dual import DualPoint
from properties.claims.prop_one_neuron import minimisers
from properties.claims.prop_relu_unique import Sampled
from properties.claims.prop_stationary_points import Trained
from properties.claims.tables import Reading, found
from properties.exact.lasso import solve_lasso
from properties.exact.linalg import Matrix, Vector, add, dependencies, dot, null_space, scale, transpose, unit
from properties.exact.patterns import Pattern, gated_problem, patterns, relu_problem
from properties.exact.polytope import barycentre, least_norm, support
from properties.exact.problem import CGL
from properties.exact.prune import active_dependence, apply_step, printed_step
from properties.exact.roots import rational_sqrt
from properties.files import write_text
from properties.model import Claim
from properties.strategies import PlantedCGL, PlantedReLU

FORMAT = "relu_cert refutation"
OBJECTIVE = "1/2|Xw-y|^2 + lambda*sum|w_b|"
MOST_ROWS = 8
SUFFIX = ".refutation.json"

Json = dict[str, Any]


def text(u: Iterable[Fraction]) -> str:
    """A vector in the canonical text of certificates."""
    return " ".join(map(str, u))


def rows(A: Iterable[Vector]) -> list[str]:
    """A matrix, or the weights of all blocks."""
    return [text(u) for u in A]


def bits(p: Pattern) -> str:
    """A pattern."""
    return "".join("01"[on] for on in p)


def direct(p: CGL) -> Json:
    """A problem given by X, its groups and K."""
    groups, X = [], list(zip(*p.columns, strict=True))
    start = 0
    for b in p.blocks:
        groups.append(list(range(start, start + b.size)))
        start += b.size
    K = [rows(zip(*b.K, strict=True)) if b.K else None for b in p.blocks]
    head = {"model": "cgl", "objective": OBJECTIVE, "lambda": str(p.lam), "X": rows(X)}
    return head | {"groups": groups, "K": K, "y": text(p.y)}


def network(model: str, Z: Matrix, y: Vector, lam2: Fraction, chosen: Sequence[Pattern]) -> Json:
    """A network over these patterns."""
    root = rational_sqrt(lam2)
    if root is None:
        raise ValueError("lambda is irrational")
    head = {"model": model, "objective": OBJECTIVE, "lambda": str(root), "Z": rows(Z), "y": text(y)}
    return head | {"patterns": [bits(p) for p in chosen]}


def any_problem(p: CGL) -> Json:
    """As a network over all of D_Z if the blocks are those of one (some block is then Z itself), else directly."""
    for Z in dict.fromkeys(b.X for b in p.blocks):
        if len(Z) <= MOST_ROWS:
            for model, made in (("gated", gated_problem), ("relu", relu_problem)):
                if made(Z, patterns(Z).all, p.y, p.lam2).blocks == p.blocks:
                    return network(model, Z, p.y, p.lam2, patterns(Z).all)
    return direct(p)


def planted_network(p: PlantedReLU) -> Json:
    """A planted network over all of D_Z."""
    return network("relu", p.Z, p.y, p.lam2, patterns(p.Z).all)


def on_blocks(p: PlantedReLU, alpha: Vector) -> list[str]:
    """Weights on the neurons, each put on its first block."""
    full = [Fraction(0)] * len(p.v)
    for blocks, a in zip(p.carriers, alpha, strict=True):
        full[blocks[0]] += a
    return rows(p.convex.weights(tuple(full)))


def _circle(instance: Any) -> Json:
    planted, alpha, choice = instance
    iterates, betas = [alpha], []
    while len(iterates) == 1 or iterates[-1] != alpha:
        beta = active_dependence(iterates[-1], planted.q, choice)
        if beta is None or len(iterates) > 100:
            raise ValueError("the algorithm does not come back")
        betas.append(beta)
        iterates.append(apply_step(iterates[-1], beta, printed_step(beta)))
    points = [rows(planted.weights(a)) for a in iterates]
    return {"problem": direct(planted.problem), "iterates": points, "betas": rows(betas)}


def _one_step(instance: Any) -> Json:
    planted, start, target = instance
    points = {"start": rows(planted.weights(start)), "target": rows(planted.weights(target))}
    return {"problem": direct(planted.problem), **points}


def _outputs(instance: Any) -> Json:
    q, j = instance
    return {"q": rows(q), "j": j}


def _approximate(instance: Any) -> Json:
    planted, alpha, j = instance
    return {"problem": direct(planted.problem), "w": rows(planted.weights(alpha)), "j": j}


def _general_loss(instance: General) -> Json:
    return {"problem": direct(instance.problem), "w": rows(instance.planted.w)}


def _lagrange_dual(point: DualPoint) -> Json:
    p = point.planted
    return {"problem": direct(p.problem), "w": rows(p.w), "theta": text(point.theta), "rho": rows(point.rho)}


def _two_solutions(planted: PlantedCGL) -> Json:
    first, second = planted.vertices[0], planted.vertices[-1]
    return {
        "problem": direct(planted.problem),
        "w": rows(planted.weights(first)),
        "other": rows(planted.weights(second)),
    }


def _largest_norm(instance: Any) -> Json:
    planted, _ = instance
    ordered = sorted(planted.vertices, key=lambda alpha: sum(a * a for a in alpha))
    low, high = (rows(planted.weights(alpha)) for alpha in (ordered[0], ordered[-1]))
    return {"problem": direct(planted.problem), "low": low, "high": high}


def _box(planted: PlantedReLU) -> Json:
    fewest = min(planted.vertices, key=lambda alpha: len(support(alpha)))
    whole = on_blocks(planted, barycentre(planted.vertices))
    return {"problem": planted_network(planted), "small": on_blocks(planted, fewest), "w": whole}


def _min_norm_network(planted: PlantedReLU) -> Json:
    convex = planted.convex
    best = least_norm([convex.q[b] for b in convex.E], planted.yhat)
    if best is None:
        raise ValueError("no solution")
    return {"problem": planted_network(planted), "w": rows(convex.weights(convex.embed(best)))}


def _dual_choice(planted: PlantedReLU) -> Json:
    return {"problem": planted_network(planted), "w": on_blocks(planted, planted.alpha)}


def _permutations(instance: Any) -> Json:
    Z, y, lam, m = instance
    return {"problem": network("relu", Z, y, lam * lam, patterns(Z).all), "m": m}


def _closed_faces(instance: Any) -> Json:
    Z, y, lam = instance
    found = patterns(Z)
    whole, part = (rows(solve_lasso(gated_problem(Z, chosen, y, lam * lam))) for chosen in (found.all, found.open))
    problem = network("gated", Z, y, lam * lam, found.all)
    return {"problem": problem, "w": whole, "open": [bits(p) for p in found.open], "w_open": part}


def _cube(s: Sampled) -> Json:
    on = support(s.alpha)
    beta = dict(zip(on, dependencies([s.q[b] for b in on])[0], strict=True))
    t = min(s.alpha[b] / abs(x) for b, x in beta.items() if x) / 2
    moved = tuple(a + t * beta.get(b, Fraction(0)) for b, a in enumerate(s.alpha))
    head = network("relu", s.Z, s.problem.y, s.lam2, s.patterns)
    return {"problem": head, "w": rows(s.weights(s.alpha)), "other": rows(s.weights(moved))}


def _differentiable(instance: Any) -> Json:
    planted, k, step = instance
    p = planted.problem
    e = unit(p.n, k)
    above, below = (rows(solve_lasso(CGL(p.blocks, add(p.y, scale(t, e)), p.lam2))) for t in (step, -step))
    out = {"problem": direct(p), "w": rows(planted.w), "k": k, "step": str(step)}
    return out | {"above": above, "below": below}


def _jacobian(planted: PlantedCGL) -> Json:
    return {"problem": direct(planted.problem), "w": rows(planted.w), "k": 0}


def _network_path(a: Approach) -> Json:
    """The neuron of image y1 - y2 is split into 9/25 and 16/25 of it, whose weights are rational where its own are."""
    here, near = a.here, a.near
    root = rational_sqrt(here.y[0] - here.y[1])
    if root is None:
        raise ValueError("the network's weights are irrational")
    sizes = root * Fraction(3, 5), root * Fraction(4, 5)
    return {
        "problem": planted_network(here),
        "w": on_blocks(here, here.alpha),
        "lower": str(near.problem.lam),
        "w_lower": on_blocks(near, near.alpha),
        "W": rows((x,) for x in sizes),
        "w2": text(sizes),
    }


def _open(p: CGL) -> Json:
    return {"problem": direct(p)}


def _jump(instance: SinglePath | PlantedCGL) -> Json:
    if isinstance(instance, SinglePath):
        here, near = (alone(instance, instance.a0 * t) for t in (Fraction(1), Fraction(1001, 1000)))
        if here is None or near is None:
            raise ValueError("the block is not a solution alone")
        return _jump_at(here, here.alpha, (instance.b,), "+", _farkas(near, instance.b))
    for sign, side in (("+", -1), ("-", 1)):  # "+": smaller lambda
        found = side_branch(instance, side)
        if found is not None:
            return _jump_at(instance, *found, sign, ())
    raise ValueError("the derivatives do not decide")


def _jump_at(p: PlantedCGL, limit: Vector, active: Sequence[int], side: str, h: Vector) -> Json:
    best = least_norm([p.q[b] for b in p.E], p.yhat)
    if best is None:
        raise ValueError("no solution")
    return {
        "problem": any_problem(p.problem),
        "limit": rows(p.weights(limit)),
        "shorter": rows(p.weights(p.embed(best))),
        "active": list(active),
        "side": side,
        "farkas": text(h),
    }


def _farkas(near: PlantedCGL, b: int) -> Vector:
    """h with h.y = 0, X_b'h = 0 and h.q > 0 for the blocks that tie with b beside lambda too; empty if none does."""
    staying = [near.q[e] for e in near.E if e != b]
    if not staying:
        return ()
    for u in null_space((near.problem.y, *transpose(near.problem.blocks[b].X))):
        for h in (u, scale(-1, u)):
            if all(dot(h, q) > 0 for q in staying):
                return h
    raise ValueError("no Farkas vector")


def _one_neuron(lam: Fraction) -> Json:
    return {"lambda": str(lam), "v": str(minimisers(lam)[0])}


def _stationary(t: Trained) -> Json:
    neuron = t.net[0]
    return {"Z": rows(t.Z), "y": text(t.y), "lambda": str(t.lam), "W": text(neuron.W), "w2": str(neuron.w2)}


def _tables(t: Reading) -> Json:
    return {"sentence": t.sentence, "tables": found(t, Fraction(1, 5))}


WITNESSES: dict[str, Callable[[Any], Json]] = {
    "alg:pruning-solutions": _circle,
    "alg:pruning-solutions-nn": _outputs,
    "app:general-losses": _general_loss,
    "beta~ when dependent": _approximate,
    "bound on |D_Z|": lambda c: {"Z": rows(c.Z)},
    "conjecture: min-norm path": _jump,
    "cor:relu-continuity": _network_path,
    "D_Z with >=": _closed_faces,
    "lemma:lagrange-dual": _lagrange_dual,
    "lemma:min-norm-nn": _min_norm_network,
    "lemma:one-step-pruning": _one_step,
    "m >= m*": lambda instance: _box(instance[0]),
    "m! solutions": _permutations,
    "m* = dim span": _box,
    "max-l2 program": _largest_norm,
    "min-norm dual w.l.o.g.": _dual_choice,
    "prop:local-sol-fn": _jacobian,
    "prop:local-sol-fn (hypotheses)": _differentiable,
    "prop:map-continuity-cgl (open)": _open,
    "prop:one-neuron": _one_neuron,
    "prop:pruning-correctness": _circle,
    "prop:relu-unique": _cube,
    "prop:stationary-points": _stationary,
    "prop:unique-sol": _two_solutions,
    "tables": _tables,
}


def refutation(claim: Claim, instance: Any) -> Json:
    """The certificate that this instance refutes the claim as printed; KeyError for a claim that holds."""
    head = {"format": FORMAT, "version": 1, "claim": claim.label, "statement": claim.printed.statement}
    return head | {"witness": WITNESSES[claim.label](instance), "end": FORMAT}


def refutations(claims: dict[str, Claim]) -> dict[str, Json]:
    """File name to certificate, for every witness of every claim."""
    out = {}
    for module, claim in claims.items():
        for k, witness in enumerate(claim.witnesses):
            number = f"_{k + 1}" if len(claim.witnesses) > 1 else ""
            out[f"{module}{number}{SUFFIX}"] = refutation(claim, witness.instance)
    return out


def write_refutations(claims: dict[str, Claim], folder: Path) -> tuple[Path, ...]:
    """Write them all; the files, in order."""
    paths = []
    for name, certificate in refutations(claims).items():
        write_text(folder / name, json.dumps(certificate, indent=1) + "\n")
        paths.append(folder / name)
    return tuple(paths)
