"""Refutations for tests: changed witnesses, and a witness read back as the instance that `properties` checks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from fractions import Fraction
from typing import Any

from properties.claims.conjecture_min_norm_path import SinglePath
from properties.claims.lemma_lagrange_dual import DualPoint
from properties.claims.prop_stationary_points import Trained
from properties.exact.lasso import solve_lasso
from properties.exact.linalg import Matrix, Vector, rank, transpose
from properties.exact.network import Neuron
from properties.exact.patterns import Pattern, gated_problem, patterns, relu_problem
from properties.exact.problem import CGL, Block, Weights, dual_vectors, positive_ratio, residual
from properties.model import Answer, Claim
from properties.strategies import PlantedCGL, PlantedReLU
from properties.strategies.relu import plant_relu

Json = dict[str, Any]
Path = tuple[str | int, ...]

NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")
WORDS = {"model", "objective", "sentence", "side", "patterns", "open"}


def encoded(certificate: Json) -> bytes:
    """The file."""
    return json.dumps(certificate).encode()


def replaced(value: Any, path: Path, new: Any) -> Any:
    """A copy with one entry changed."""
    out = deepcopy(value)
    at = out
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return out


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every string, index and null with its path."""
    if isinstance(value, dict | list):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(entry, (*path, key))
    else:
        yield path, value


def changed_numbers(witness: Json) -> Iterator[tuple[str, Json]]:
    """Every number plus one, negated and dropped; every index moved by one."""
    for path, value in leaves(witness):
        place = ".".join(map(str, path))
        if isinstance(value, int):
            yield f"{place} + 1", replaced(witness, path, value + 1)
            if value:
                yield f"{place} - 1", replaced(witness, path, value - 1)
        elif isinstance(value, str) and not WORDS & set(path):
            numbers = value.split()
            for k, x in enumerate(numbers):
                if not NUMBER.fullmatch(x):
                    continue
                changes = {"+ 1": [str(Fraction(x) + 1)], "negated": [str(-Fraction(x))], "dropped": []}
                for name, new in changes.items():
                    if new != [x]:
                        yield (
                            f"{place}[{k}] {name}",
                            replaced(witness, path, " ".join([*numbers[:k], *new, *numbers[k + 1 :]])),
                        )


def structure_changes(witness: Json) -> Iterator[tuple[str, Json]]:
    """Every key dropped, an unknown key beside it, every entry of an array dropped, null in the place of it."""
    for path, value in inner(witness):
        place = ".".join(map(str, path))
        if isinstance(value, dict):
            yield f"{place}: unknown key", replaced({"": witness}, ("", *path), value | {"extra": "0"})[""]
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            rest = (
                {k: v for k, v in value.items() if k != key}
                if isinstance(value, dict)
                else value[:key] + value[key + 1 :]
            )
            yield f"{place}.{key} dropped", replaced({"": witness}, ("", *path), rest)[""]
            if value[key] is not None:
                yield f"{place}.{key} null", replaced(witness, (*path, key), None)


def inner(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every object and array with its path."""
    if isinstance(value, dict | list):
        yield path, value
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from inner(entry, (*path, key))


def vector(text: str) -> Vector:
    """A vector."""
    return tuple(map(Fraction, text.split()))


def rows(texts: list[str]) -> Matrix:
    """A matrix, or the weights of all blocks."""
    return tuple(map(vector, texts))


def masks(texts: list[str]) -> tuple[Pattern, ...]:
    """Patterns."""
    return tuple(tuple(c == "1" for c in p) for p in texts)


def problem(p: Json) -> CGL:
    """The problem of a witness."""
    lam2, y = Fraction(p["lambda"]) ** 2, vector(p["y"])
    if p["model"] != "cgl":
        return (relu_problem if p["model"] == "relu" else gated_problem)(rows(p["Z"]), masks(p["patterns"]), y, lam2)
    X, blocks = rows(p["X"]), []
    for group, K in zip(p["groups"], p["K"], strict=True):
        columns = () if K is None else transpose(rows(K))
        blocks.append(Block(tuple(tuple(row[j] for j in group) for row in X), columns))
    return CGL(tuple(blocks), y, lam2)


def planted(p: CGL, w: Weights) -> PlantedCGL:
    """The problem with the solution w."""
    r = residual(p, w)
    v = dual_vectors(p, r)
    ratios = (positive_ratio(wb, vb) if any(wb) else Fraction(0) for wb, vb in zip(w, v, strict=True))
    return PlantedCGL(p, r, v, tuple(Fraction(0) if a is None else a for a in ratios))


def _dual_point(w: Json) -> DualPoint:
    p = problem(w["problem"])
    return DualPoint(planted(p, solve_lasso(p)), vector(w["theta"]), rows(w["rho"]))


def _network(w: Json) -> PlantedReLU | None:
    at = planted(problem(w["problem"]), rows(w["w"]))
    weights: dict[tuple[int, Vector], Fraction] = {}
    for b, a in enumerate(at.alpha):
        if a:
            weights[b % 2, at.v[b]] = weights.get((b % 2, at.v[b]), Fraction(0)) + a
    return plant_relu(rows(w["problem"]["Z"]), at.r, tuple(weights.values()))


def _trained(w: Json) -> Trained:
    net = (Neuron(vector(w["W"]), Fraction(w["w2"])),)
    return Trained(rows(w["Z"]), vector(w["y"]), Fraction(w["lambda"]), net)


def _jump(w: Json) -> PlantedCGL | SinglePath:
    at = planted(problem(w["problem"]), rows(w["limit"]))
    if len(w["active"]) == 1 and at.alpha[w["active"][0]]:
        return SinglePath(at.problem.blocks, at.problem.y, w["active"][0], at.alpha[w["active"][0]])
    return at


def _data(w: Json) -> Any:
    p = w["problem"]
    return rows(p["Z"]), vector(p["y"]), Fraction(p["lambda"]), w["m"]


# The labels for which some other witness, changed or of another claim, refutes; how its instance is read back.
INSTANCES: dict[str, Callable[[Json], Any]] = {
    "alg:pruning-solutions-nn": lambda w: (rows(w["q"]), w["j"]),
    "conjecture: min-norm path": _jump,
    "lemma:lagrange-dual": _dual_point,
    "lemma:min-norm-nn": _network,
    "m! solutions": _data,
    "min-norm dual w.l.o.g.": _network,
    "prop:local-sol-fn": lambda w: planted(problem(w["problem"]), rows(w["w"])),
    "prop:map-continuity-cgl (open)": lambda w: problem(w["problem"]),
    "prop:one-neuron": lambda w: Fraction(w["lambda"]),
    "prop:stationary-points": _trained,
}


def still_refutes(claim: Claim, witness: Json) -> bool:
    """Whether the claim's own check fails on the instance of the witness; False for labels that are not expected.

    The check of the bound counts only the patterns of u in {-1, 1}^d, so here all of D_Z is counted.
    """
    if claim.label == "bound on |D_Z|":
        Z = rows(witness["Z"])
        n, r = len(Z), rank(Z)
        return len(patterns(Z).all) > 10 * r * Fraction(n, r) ** r
    read = INSTANCES.get(claim.label)
    return read is not None and claim.printed.check(read(witness)).answer is Answer.FAILS
