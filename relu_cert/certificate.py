"""The certificate: facts and verdicts as one JSON file (`verify/FORMAT.md` is its specification)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from relu_cert.bags import EACH
from relu_cert.claims.claim import Result
from relu_cert.data.dataset import Source
from relu_cert.evidence import Alone, ByAxes, Cover, Leaders, Outputs, Pair, Turned
from relu_cert.exact import norm_squared
from relu_cert.files import replacing
from relu_cert.problem import loss as losses
from relu_cert.problem.direct import FloatBlocks, texts
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import AlgebraicSet, ExactSet, Facts, LambdaMax
from relu_cert.serialize import matrix, number, serialize, vector

FORMAT = "relu_cert certificate"
VERSION = 2
OBJECTIVE = "1/2|Xw-y|^2 + lambda*sum|w_b|"
ELASTIC = "1/2|Xw-y|^2 + lambda*sum|w_b| + delta/2*sum|w_b|^2"
LOGISTIC = "sum log(1+exp(-y_k*(Xw)_k)) + lambda*sum|w_b|"
SOFTMAX = "sum (log sum_c exp(f_kc) - Y_k.f_k) + lambda*sum|w_j||v_j|"
OUTPUTS = "1/2|sum (Zw_j)_+ v_j' - Y|^2 + lambda*sum|w_j||v_j|"
POINT_BITS = 128
_SETS: dict[type, str] = {ExactSet: "exact_set", AlgebraicSet: "algebraic_set"}


def certificate(source: Source, facts: Facts, results: Sequence[Result]) -> dict[str, Any]:
    """The certificate as a JSON object."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "input": _input(source),
        "problem": _problem(facts.problem, facts.lam),
        "facts": _proofs(facts) | _facts(facts),
        "claims": [{"claim": r.claim, "verdict": str(r.verdict)} for r in results],
        "end": FORMAT,
    }


def dumps(content: dict[str, Any]) -> str:
    """The JSON text, without white space that says nothing."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=True, allow_nan=False) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write the file whole or not at all: an interruption leaves no half-written file."""
    with replacing(path) as stream:
        stream.write(text.encode())


def _input(source: Source) -> dict[str, Any]:
    """How the data were read."""
    if source.kind != "csv":
        return {"sha256": source.sha256, "kind": source.kind}
    other = "target" if source.targets else "center"
    return {key: value for key, value in serialize(source).items() if key != other}


def _problem(problem: Problem, lam: Fraction) -> dict[str, Any]:
    objective = LOGISTIC if problem.loss is losses.LOGISTIC else ELASTIC if problem.delta else OBJECTIVE
    if problem.targets > 1:
        objective = SOFTMAX if problem.loss is losses.SOFTMAX else OUTPUTS
    head: dict[str, Any] = {"model": problem.kind, "objective": objective, "lambda": number(lam)}
    if problem.delta:
        head["delta"] = number(problem.delta)
    if (source := problem.source) is not None:
        free: dict[str, Any] = {"free": list(problem.free)} if problem.free else {}
        bags = EACH if problem.network is None else problem.network.bags
        Z, points = source.Z, problem.points
        if problem.roots:  # the rows of zeros, or empty bags, are not written
            rho = norm_squared(problem.roots)
            free = {"decayed": {"rho": number(rho), "roots": [number(x) for x in problem.roots]}}
            Z, bags = (Z[:points], bags) if bags is EACH else (Z, bags.first(points))
        some = {"patterns": list(problem.some)} if problem.some else {}
        y = {"y": vector(problem.y[:points])} if problem.targets == 1 else {"Y": matrix(problem.Y[:points])}
        return head | {"Z": matrix(Z)} | y | bags.written | free | some
    columns = problem.columns
    if columns is None:
        raise ValueError("a direct problem knows its columns")
    return head | {
        "X": _columns(problem, [j for group in columns for j in group]),
        "groups": [list(group) for group in columns],
        "K": [None if block.K is None else matrix(block.K) for block in problem.blocks],
        "y": vector(problem.y),
    }


def _columns(problem: Problem, order: Sequence[int]) -> list[str]:
    """The rows of X as texts; `order` has the number of each column of the blocks."""
    place = sorted(range(len(order)), key=order.__getitem__)
    if isinstance(problem.blocks, FloatBlocks):
        return texts(np.concatenate([block.floats for block in problem.blocks], axis=1)[:, place])
    rows = (tuple(chain.from_iterable(parts)) for parts in zip(*(block.X for block in problem.blocks), strict=True))
    return [vector(row[i] for i in place) for row in rows]


def _proofs(facts: Facts) -> dict[str, Any]:
    """Patterns, lambda_max and the dual point: by multipliers, by covers or by leaders."""
    problem, dual = facts.problem, facts.dual
    proofs: dict[str, Any] = {} if problem.listed is None else {"patterns": serialize(problem.listed)}
    if isinstance(dual.multipliers, Leaders | ByAxes):
        return proofs | {"leaders": serialize(dual.multipliers)}
    proofs |= _lambda_max(facts.lambda_max, problem)
    if not isinstance(dual.multipliers, Cover | Outputs):
        return proofs | {"dual": serialize(dual, problem.model)}
    theta = vector(dual.theta) if dual.multipliers.source is None else serialize(dual.multipliers.source)
    return proofs | {"cover": {"theta": theta, "proof": serialize(dual.multipliers)}}


def _lambda_max(largest: LambdaMax, problem: Problem) -> dict[str, Any]:
    """lambda_max, where it is known exactly."""
    if isinstance(largest.multipliers, Cover):
        whole = serialize(largest, "unlisted")
        found = {"squared": whole["squared"], "proof": whole["multipliers"], "attained": whole["attained"]}
        return {"cover_lambda_max": found} if largest.exact else {}
    known = largest.exact and largest.multipliers is not None and not problem.free
    return {"lambda_max": serialize(largest, problem.model)} if known else {}


def _facts(facts: Facts) -> dict[str, Any]:
    """What follows from these, each fact by its own type."""
    covered, path = facts.covered, facts.path
    model = "outputs" if facts.problem.targets > 1 else "unlisted" if covered else facts.problem.model
    values = {
        "primal": facts.primal,
        "value": facts.value,
        "fit": facts.fit,
        _SETS.get(type(facts.optimal_set), "cover_set" if covered else "optimal_set"): (
            facts.optimal_set if facts.known else None
        ),
        "polytope": facts.polytope,
        "min_norm": facts.shortest,
        "faces": facts.faces,
        "derivatives": facts.derivatives,
        "ggp": facts.ggp,
        "path": None if path is None else path.cover,
        "curve": None if path is None else path.curve,
        "jump": None if path is None else path.jump,
    }
    found = {key: serialize(value, model) for key, value in values.items() if value is not None}
    if facts.problem.unlisted:
        found["fit"]["center"] = None
    if isinstance(facts.alone, Pair):
        found["pair"] = serialize(facts.alone)
    elif isinstance(facts.alone, Turned):
        found["turned"] = serialize(facts.alone)
    elif facts.alone is not None:
        found |= {"cover_set": serialize(facts.alone)} | (
            {"polytope": _point(facts.alone)} if facts.alone.active else {}
        )
    if path is not None and path.jump is not None:
        found["jump"] = {"lo": number(path.cover.lo), "hi": number(path.cover.hi)} | found["jump"]
    return found


def _point(found: Alone) -> dict[str, Any]:
    """The point that the optimal set of several outputs is, as a polytope with one vertex."""
    everyone = list(range(len(found.masses)))
    return {
        "bits": POINT_BITS,
        "tilt": vector(Fraction(1) for _ in everyone),
        "bases": [everyone],
        "vertices": [everyone],
        "edges": [],
        "min_norm": {"weights": vector(found.masses), "radius": number(4 * found.error + Fraction(1, 2**64))},
    }
