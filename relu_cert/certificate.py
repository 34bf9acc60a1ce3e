"""The certificate: facts and verdicts as one JSON file (`verify/FORMAT.md` is its specification)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from relu_cert.claims.claim import Result
from relu_cert.data.dataset import Source
from relu_cert.exact import Matrix, Vector, rational
from relu_cert.files import replacing
from relu_cert.leaders.evidence import Leaders, leaders_record
from relu_cert.path.breakpoints import Breakpoint
from relu_cert.path.curve import Curve, Sample
from relu_cert.path.derivatives import Derivatives
from relu_cert.path.ends import End
from relu_cert.path.one_neuron import NeuronPath
from relu_cert.path.pieces import Jump, Lifted, PathPieces, Piece
from relu_cert.path.tied_faces import Faces
from relu_cert.patterns.pattern_set import PatternSet
from relu_cert.problem.doubles import FloatBlocks, texts
from relu_cert.problem.problem import Problem
from relu_cert.prove.algebraic.field import Field, Number, Numbers
from relu_cert.prove.facts import (
    Attained,
    BlockMultipliers,
    Dual,
    ExactNeuron,
    ExactSet,
    Facts,
    Multipliers,
    NeuronClass,
    OptimalSet,
    PieceMultiplier,
    PieceMultipliers,
)
from relu_cert.prove.ggp.record import ggp_record
from relu_cert.prove.polytope.polytope import ShortestWeights
from relu_cert.rationals import to_fraction

FORMAT = "relu_cert certificate"
VERSION = 2
OBJECTIVE = "1/2|Xw-y|^2 + lambda*sum|w_b|"
ELASTIC = "1/2|Xw-y|^2 + lambda*sum|w_b| + delta/2*sum|w_b|^2"
LOGISTIC = "sum log(1+exp(-y_k*(Xw)_k)) + lambda*sum|w_b|"


def certificate(source: Source, facts: Facts, results: Sequence[Result]) -> dict[str, Any]:
    """The certificate as a JSON object."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "input": _input(source),
        "problem": _problem(facts.problem, facts.lam),
        "facts": _facts(facts),
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


def number(x: Fraction | int) -> str:
    """p or p/q in lowest terms."""
    return rational(x)


def vector(entries: Iterable[Fraction | int]) -> str:
    """Numbers with one space between them."""
    return " ".join(map(rational, entries))


def matrix(rows: Matrix) -> list[str]:
    """Rows as vectors."""
    return [vector(row) for row in rows]


def record(value: Any, names: str = "") -> dict[str, Any]:
    """Fields of a dataclass, all or those named, each written as its declared type is: see `_written`."""
    kinds = {field.name: str(field.type) for field in fields(value)}
    return {name: _written(kinds[name], getattr(value, name)) for name in names.split() or kinds}


def _written(kind: str, value: Any) -> Any:
    """Fractions as numbers, vectors and matrices as texts, other tuples as lists, dataclasses by their fields."""
    kind = kind.removesuffix(" | None")
    if value is None:
        return None
    if kind in _WRITERS:
        return _WRITERS[kind](value)
    if isinstance(value, tuple):
        of = kind.removeprefix("tuple[").removesuffix(", ...]")
        return [_written(of, one) for one in value]
    return record(value) if is_dataclass(value) else value


def _input(source: Source) -> dict[str, Any]:
    if source.kind == "json":
        return {"sha256": source.sha256, "kind": "json"}
    return {
        "sha256": source.sha256,
        "kind": "csv",
        "numbers": source.numbers,
        "bias": source.bias,
        "target": source.target,
        "delimiter": source.delimiter,
        "header": source.header,
    }


def _problem(problem: Problem, lam: Fraction) -> dict[str, Any]:
    objective = LOGISTIC if problem.loss == "logistic" else ELASTIC if problem.delta else OBJECTIVE
    head: dict[str, Any] = {"model": problem.kind, "objective": objective, "lambda": number(lam)}
    if problem.delta:
        head["delta"] = number(problem.delta)
    if (source := problem.source) is not None:
        free = {"free": list(problem.free)} if problem.free else {}
        some = {"patterns": list(problem.some)} if problem.some else {}
        return head | {"Z": matrix(source.Z), "y": vector(problem.y)} | free | some
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


def _facts(facts: Facts) -> dict[str, Any]:
    listed = facts.problem.listed
    head = {} if listed is None else {"patterns": _patterns(listed)}
    tail: dict[str, Any] = {}
    if facts.optimal_set is not None:
        tail["cover_set" if facts.problem.unlisted else "optimal_set"] = _optimal_set(facts.problem, facts.optimal_set)
    if (exact := facts.exact_set) is not None and exact.field is None:
        tail["exact_set"] = {"solutions": matrix(exact.solutions), "farkas": vector(exact.farkas)}
    elif exact is not None and exact.field is not None:
        tail["algebraic_set"] = _algebraic_set(facts.problem, exact, exact.field)
    if facts.polytope is not None:
        tail["polytope"] = record(facts.polytope, "bits tilt bases vertices edges min_norm")
    if facts.shortest is not None:
        tail["min_norm"] = _min_norm(facts.shortest)
    if facts.faces is not None:
        tail["faces"] = _faces(facts.problem, facts.faces)
    if facts.derivatives is not None:
        tail["derivatives"] = _derivatives(facts.derivatives)
    if facts.ggp is not None:
        tail["ggp"] = ggp_record(facts.ggp)
    if facts.path is not None:
        tail["path"] = _path(facts.problem, facts.path)
    if facts.curve is not None and "path" in tail:
        tail["curve"] = _curve(facts.problem, facts.curve)
    if facts.one_neuron is not None:
        tail["one_neuron"] = one_neuron_record(facts.one_neuron)
    if facts.path is not None and facts.jump is not None:
        tail["jump"] = record(facts.path, "lo hi") | _jump(facts.jump)
    primal: dict[str, Any] = {"neurons": [_neuron(facts.problem, neuron) for neuron in facts.primal.neurons]}
    if facts.primal.free:
        primal["free"] = vector(facts.primal.free)
    bounds = record(facts.value, "lower upper gap")
    center = None if facts.problem.unlisted else vector(facts.fit.center)
    common = {
        "primal": primal,
        "value": bounds,
        "fit": {"center": center, "radius_squared": number(facts.fit.radius_squared)},
    }
    return head | _proofs(facts) | common | tail


def _proofs(facts: Facts) -> dict[str, Any]:
    """lambda_max and the dual point, by multipliers or by covers."""
    largest, dual = facts.lambda_max, facts.dual
    attained = _attained(facts.problem, largest.attained)
    if not facts.problem.unlisted:
        multipliers = _multipliers(largest.multipliers)
        found = {"squared": number(largest.squared), "multipliers": multipliers, "attained": attained}
        known = {} if facts.problem.free else {"lambda_max": found}
        return known | {"dual": _dual(facts.problem, dual)}
    if isinstance(dual.multipliers, Leaders):
        return {"leaders": leaders_record(dual.multipliers)}
    from relu_cert.cover.record import cover_record, theta_record

    proofs = {}
    if largest.exact and largest.multipliers is not None:
        proofs["cover_lambda_max"] = {
            "squared": number(largest.squared),
            "proof": cover_record(largest.multipliers),
            "attained": attained,
        }
    return proofs | {"cover": {"theta": theta_record(dual), "proof": cover_record(dual.multipliers)}}


def one_neuron_record(path: NeuronPath) -> dict[str, Any]:
    """The path of a single neuron."""
    signs = {1: "+", -1: "-"}
    return {
        "branches": [{"sign": signs[one.sign], "gamma": signs[one.gamma]} for one in path.branches],
        "jumps": [record(jump, "lo hi") for jump in path.jumps],
    }


def _curve(problem: Problem, found: Curve) -> dict[str, Any]:
    return {
        "breakpoints": [_breakpoint(problem, one) for one in found.breakpoints],
        "branches": [record(one) for one in found.branches],
        "samples": [_sample(one) for one in found.samples],
    }


def _breakpoint(problem: Problem, one: Breakpoint) -> dict[str, Any]:
    below, above = one.ends
    ends = {"below": _end(problem, below), "above": None if above is None else _end(problem, above)}
    return record(one, "lo hi") | ends


def _end(problem: Problem, end: End) -> dict[str, Any]:
    return record(end, "piece s weights") | {"classes": [_class(problem, neuron) for neuron in end.classes]}


def _sample(one: Sample) -> dict[str, Any]:
    if one.radius is None:
        raise ValueError("a sample in a certificate has its radius")
    head = {"piece": one.piece, "lambda": number(one.lam)} | record(one, "s weights")
    return head | {"classes": None} | record(one, "lower upper radius")


def _faces(problem: Problem, faces: Faces) -> dict[str, Any]:
    stable = [None if neuron is None else _class(problem, neuron) for neuron in faces.stable]
    return {"stable": stable} | record(faces, "leaving")


def _derivatives(found: Derivatives) -> dict[str, Any]:
    by_y, sure = None, None
    if found.r_y:
        by_y = {"alpha": matrix(found.alpha_y), "r": matrix(found.r_y)}
    if found.sure is not None:
        sure = dict(zip(("noise", "value", "radius"), map(number, found.sure), strict=True))
    return {
        "lambda": {"alpha": vector(found.alpha_lam), "r": vector(found.r_lam)},
        "y": by_y,
        "radius": number(found.radius),
        "freedom": None if found.freedom is None else number(found.freedom),
        "sure": sure,
    }


def _dual(problem: Problem, dual: Dual) -> dict[str, Any]:
    excess = {"excess": [[b, number(s)] for b, s in dual.excess]} if problem.delta else {}
    return record(dual, "theta multipliers") | excess


def _patterns(patterns: PatternSet) -> dict[str, Any]:
    groups = [
        record(group, "flat circuits") | {"witnesses": [vector(u) for u in group.witnesses.tolist()]}
        for group in patterns.groups
    ]
    return {"columns": list(patterns.columns), "groups": groups, "covers": list(patterns.covers)}


def _optimal_set(problem: Problem, found: OptimalSet) -> dict[str, Any]:
    known = found.out if isinstance(found.out, tuple) else found.classes
    classes = [None if one is None else _class(problem, one) for one in known]
    content = record(found, "lift") | {"classes": classes} | record(found, "masses split forced")
    if not isinstance(found.out, tuple):
        content["out"] = None if problem.network is None else _multipliers(found.out)
    if found.mixed:
        content["mixed"] = [[a, vector(beta)] for a, beta in found.mixed]
    return content


def _algebraic_set(problem: Problem, found: ExactSet, field: Field) -> dict[str, Any]:
    multipliers: Any = None
    if problem.model == "cgl":
        multipliers = [[b, _numbers(rho)] for b, rho in found.rho]
    elif problem.network is not None:
        sides = (("+", found.pieces.plus), ("-", found.pieces.minus))
        multipliers = {sign: [[m.base, list(m.rows), _numbers(m.values)] for m in side] for sign, side in sides}
    return {
        "field": {
            "polynomial": vector([to_fraction(c) for c in field.m.coeffs()]),
            "lo": number(field.lo),
            "hi": number(field.hi),
        },
        "residual": _numbers(found.residual),
        "multipliers": multipliers,
        "solutions": [_numbers(alpha) for alpha in found.solutions],
        "farkas": _numbers(found.farkas),
    }


def _numbers(entries: Sequence[Number]) -> list[str]:
    """Each as the vector of its coefficients."""
    return [vector(x.coefficients()) for x in entries]


def _path(problem: Problem, found: PathPieces) -> dict[str, Any]:
    return record(found, "lo hi") | {"pieces": [_path_piece(problem, piece) for piece in found.pieces]}


def _path_piece(problem: Problem, piece: Piece) -> dict[str, Any]:
    from relu_cert.cover.record import cover_record

    lifted = {} if piece.lifted is None else {"lifted": _lifted(piece.lifted)}
    return (
        record(piece, "lo hi s")
        | {"classes": [_class(problem, neuron) for neuron in piece.classes]}
        | record(piece, "weights")
        | {
            "multipliers": [cover_record(one) if problem.unlisted else _multipliers(one) for one in piece.multipliers],
            "out": [
                None if problem.listed is None or problem.network is None else _multipliers(one) for one in piece.out
            ],
        }
        | record(piece, "inverse radius")
        | lifted
    )


def _lifted(found: Lifted) -> dict[str, Any]:
    return record(found, "lift forced force spread") | ({} if found.onset is None else record(found, "onset"))


def _jump(jump: Jump) -> dict[str, Any]:
    head = {"lambda": number(jump.lam)} | record(jump, "theta multipliers limit shorter active")
    return head | {"side": sign_text(jump.side)} | record(jump, "farkas")


def _min_norm(shortest: ShortestWeights) -> dict[str, Any]:
    return {"bits": shortest.bits} | record(shortest.found) | {"mu": _slopes(shortest.mu)}


def _slopes(mu: Vector | Numbers) -> str | list[str]:
    rational = [x for x in mu if isinstance(x, Fraction)]
    return vector(rational) if len(rational) == len(mu) else _numbers([x for x in mu if isinstance(x, Number)])


def _class(problem: Problem, neuron: NeuronClass) -> dict[str, Any]:
    face = {} if problem.model == "gated" else record(neuron, "kinks basis idle fixed")
    return _name(problem, neuron) | ({} if problem.network is None else {"pattern": neuron.pattern}) | face


def _multipliers(multipliers: Multipliers) -> Any:
    match multipliers:
        case PieceMultipliers(plus, minus):
            return {"+": [_piece(p) for p in plus], "-": [_piece(p) for p in minus]}
        case BlockMultipliers(rho):
            return [None if r is None else vector(r) for r in rho] or None
        case None:
            return None


def _piece(piece: PieceMultiplier) -> list[Any]:
    return [piece.base, list(piece.rows), vector(piece.values)]


def sign_text(sign: int) -> str:
    """+ or -"""
    return "+" if sign > 0 else "-"


def _name(problem: Problem, neuron: NeuronClass | ExactNeuron | Attained) -> dict[str, Any]:
    """What a neuron is known by."""
    if neuron.block is None:
        return {"sign": sign_text(neuron.sign)}
    pattern = problem.pattern(neuron.block)
    return {"block": neuron.block} if pattern is None else {"pattern": pattern}


def _attained(problem: Problem, attained: Attained) -> dict[str, Any]:
    return _name(problem, attained) | ({} if problem.model == "gated" else {"u": vector(attained.u)})


def _neuron(problem: Problem, neuron: ExactNeuron) -> dict[str, Any]:
    return _name(problem, neuron) | record(neuron, "w norm")


_WRITERS: dict[str, Callable[[Any], Any]] = {
    "Fraction": number,
    "Vector": vector,
    "Matrix": matrix,
    "Multipliers": _multipliers,
}
