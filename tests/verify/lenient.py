"""Checkers that leave one thing out, and what each of them wrongly accepts: python -m tests.verify.lenient

A corpus is worth what it notices. Here the checker is made lenient in one respect after the other, the decisive ones of
every kind of evidence, and `corpus/lenient.tsv` has for each a certificate that it then accepts: what is left out, a
file of the corpus, and what is changed in it, a list of places and of what stands there instead (none, if the file is a
rejected one). The command looks for those that have no line yet: among the rejected files, the changed ones, and all
changes of the accepted ones at one place.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any
from unittest.mock import patch

from tests.verify.changed import LARGEST, candidates, table
from tests.verify.mutate import replaced
from tests.verify.score import CORPUS, entries
from verify import VerifyError, check

TABLE = CORPUS / "lenient.tsv"
BROKEN = (VerifyError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError)  # of a lenient checker
Changes = list[tuple[list[str | int], Any]]


def nothing(*_: Any) -> None:
    """All is well."""


def yes(*_: Any) -> bool:
    """It is so."""
    return True


def far(*_: Any) -> Fraction:
    """As independent as can be."""
    return Fraction(10**9)


def zero(*_: Any) -> Fraction:
    """Nothing is off."""
    return Fraction(0)


def none(*_: Any) -> tuple[()]:
    """None to be looked at."""
    return ()


def sure(ball: Any, cover: Any, xi: int) -> list[bool]:
    """Every line."""
    return [True] * len(cover.weights[xi].w)


def read(_: Any, rows: Any, *__: Any) -> None:
    """Rows that are read, and not measured."""
    for _ in rows:
        pass


def spread(self: Any, theta: Any) -> tuple[Any, ...]:
    """As if every row were an output."""
    return (*theta, *[Fraction(0)] * self.N)[: self.N]


def unspread(_: Any, theta: Any) -> Any:
    """As if every row were an output."""
    return theta


def pooled(self: Any, x: Any) -> tuple[Any, ...]:
    """Likewise."""
    return (*x, *[Fraction(0)] * self.n)[: self.n]


# What is left out: a function of the checker, what stands in for it, and the kinds of evidence to look at.
LEFT_OUT: dict[str, tuple[str, Callable[..., Any], tuple[str, ...]]] = {
    "that data are compared": ("verify.problem.data.same", nothing, ("optimal", "frame", "exact_set")),
    "that bags are compared": ("verify.problem.windows.same_bags", nothing, ("bags",)),
    "what bags do to weights": ("verify.problem.problem.Problem.spread", spread, ("bags",)),
    "what bags do to outputs": ("verify.problem.problem.Problem.pooled", pooled, ("bags",)),
    "that a network's file is compared": ("verify.network.file.compare_file", nothing, ("network",)),
    "that the penalty is lambda": ("verify.network.check.check_penalty", nothing, ("network",)),
    "that values are those of the points": ("verify.rules.value.equal", nothing, ("optimal",)),
    "how many cells there are": ("verify.rules.patterns.check_count", nothing, ("patterns",)),
    "lower faces": ("verify.rules.patterns.check_covers", nothing, ("patterns",)),
    "the length of Z'm": ("verify.optimal.multipliers.check_norms", read, ("optimal", "patterns")),
    "the bounds of m": ("verify.optimal.multipliers.allowed", yes, ("optimal", "patterns")),
    "the length of X'theta - K rho": ("verify.problem.blocks.check_direct", nothing, ("optimal", "jump")),
    "that theta is orthogonal to free terms": (
        "verify.problem.variants.check_orthogonal",
        nothing,
        ("optimal", "cover", "leaders"),
    ),
    "strict leaves": ("verify.cover.check.check_strict", nothing, ("cover",)),
    "leaves of several outputs": ("verify.outputs.check.copositive", yes, ("outputs",)),
    "what bags do to several outputs": ("verify.outputs.check.weights", unspread, ("outputs", "bags")),
    "leaves near a class of several outputs": ("verify.rules.outputs.cover_set.near", yes, ("outputs",)),
    "special leaves": ("verify.cover.check.check_special", nothing, ("cover",)),
    "pieces of neurons": ("verify.cover.ties.in_piece", yes, ("cover",)),
    "leaves of faces": ("verify.cover.faces.face_leaf", yes, ("cover",)),
    "where a star is": ("verify.cover.faces.check_star", nothing, ("cover",)),
    "regions of classes": ("verify.cover.check.Cover.inside", yes, ("cover_set", "path")),
    "lines that may bend up": ("verify.rules.cover_set.surely_concave", sure, ("cover_set",)),
    "definiteness": ("verify.optimal.leaders.semidefinite", yes, ("leaders",)),
    "that faces hold over the ball": ("verify.sets.classes.Ball.holds", nothing, ("optimal_set", "cover_set")),
    "that idle constraints are idle": ("verify.sets.direct.check_idle", nothing, ("faces", "optimal_set")),
    "neurons that are not listed": ("verify.rules.optimal_set.check_outs", nothing, ("optimal_set",)),
    "fine pieces": ("verify.sets.outs.check_side", nothing, ("optimal_set",)),
    "independent outputs": ("verify.sets.masses.stretch", far, ("optimal_set", "cover_set")),
    "that the split is onto": ("verify.sets.split.stretch", far, ("optimal_set", "cover_set")),
    "that rows are void": ("verify.sets.split.is_void", yes, ("optimal_set",)),
    "that a solution is the only one": ("verify.sets.ties.check_farkas", nothing, ("exact_set", "algebraic_set")),
    "other vertices": ("verify.rules.polytope.pivots", none, ("polytope",)),
    "that weights are shortest, by vertices": ("verify.sets.shortest.check_exact", nothing, ("polytope", "min_norm")),
    "that weights are shortest, by slopes": ("verify.rules.min_norm.check_slopes", nothing, ("min_norm",)),
    "that weights are shortest, within errors": ("verify.rules.min_norm.check_enclosed", nothing, ("min_norm",)),
    "how far derivatives are off": ("verify.rules.derivatives.within", nothing, ("derivatives",)),
    "that a neuron leaves its face for good": ("verify.rules.faces.check_break", nothing, ("faces",)),
    "that it may leave its face": ("verify.rules.faces.check_idle_direction", nothing, ("faces",)),
    "other neurons of a path": ("verify.rules.path.check_outs", nothing, ("path",)),
    "covers around a path": ("verify.rules.path.check_around", nothing, ("path",)),
    "independent outputs along a path": ("verify.rules.path.check_inverse", zero, ("path", "curve")),
    "independent outputs of a lifted piece": ("verify.path.lifted.check_inverse", zero, ("path",)),
    "a point inside a lifted piece": ("verify.path.lifted.check_inside", nothing, ("path",)),
    "late neurons": ("verify.path.onset.check_apart", nothing, ("path",)),
    "neurons that are out at a lambda": ("verify.rules.curve.require_out", nothing, ("curve",)),
    "what is beside a jump": ("verify.rules.jump.check_beside", nothing, ("jump",)),
}


@dataclass(frozen=True)
class Line:
    """A certificate that a checker accepts which leaves something out."""

    left_out: str
    file: str
    changes: Changes

    @property
    def text(self) -> bytes:
        """The certificate."""
        raw = (CORPUS / self.file).read_bytes()
        if not self.changes:
            return raw
        tree = json.loads(raw)
        for path, new in self.changes:
            tree = replaced(tree, tuple(path), new)
        return json.dumps(tree).encode()

    @property
    def beside(self) -> tuple[bytes | None, bytes | None]:
        """The data and the network of a file that is not changed."""
        files = [(CORPUS / self.file).with_suffix(ending) for ending in (".data", ".network")]
        data, network = (path.read_bytes() if path.exists() and not self.changes else None for path in files)
        return data, network


def lines() -> list[Line]:
    """All of the table."""
    parts = [line.split("\t") for line in TABLE.read_text().splitlines()] if TABLE.exists() else []
    return [Line(left_out, file, json.loads(changes)) for left_out, file, changes in parts]


def accepted(line: Line) -> bool:
    """Whether the checker accepts it, as it is now."""
    data, network = line.beside
    try:
        check(line.text, data, network=network)
    except BROKEN:
        return False
    return True


def leniently(line: Line) -> bool:
    """Whether the lenient checker accepts it."""
    target, stand_in, _ = LEFT_OUT[line.left_out]
    import_module(re.split(r"\.[A-Z]", target.rpartition(".")[0])[0])
    with patch(target, stand_in):
        return accepted(line)


def tried(left_out: str) -> Iterator[Line]:
    """Where a certificate for the table may be found: what is rejected, or may be."""
    kinds = LEFT_OUT[left_out][2]
    for entry in entries():
        if not entry.right and entry.kind in kinds:
            yield Line(left_out, f"rejected/{entry.certificate.name}", [])
    for one in table():
        if not one.right and one.file.rpartition("-")[0] in kinds:
            yield Line(left_out, f"accepted/{one.file}", [(list(one.path), one.new)])
    for entry in sorted(entries(), key=lambda one: one.certificate.stat().st_size):
        if entry.right and entry.kind in kinds and entry.certificate.stat().st_size <= LARGEST:
            for one in candidates(entry.certificate.name, json.loads(entry.certificate.read_bytes())):
                yield Line(left_out, f"accepted/{one.file}", [(list(one.path), one.new)])


def main() -> int:
    """Look for what is missing, and write the table; the exit code is 1 if something is not found."""
    known = [line for line in lines() if line.left_out in LEFT_OUT]
    for left_out in LEFT_OUT:
        if not any(line.left_out == left_out for line in known):
            found = next((line for line in tried(left_out) if leniently(line) and not accepted(line)), None)
            print(left_out, "not found" if found is None else found.file, flush=True)
            known += [] if found is None else [found]
            rows = ("\t".join((line.left_out, line.file, json.dumps(line.changes))) for line in known)
            TABLE.write_text("\n".join(sorted(rows)) + "\n")
    return int(len({line.left_out for line in known}) < len(LEFT_OUT))


if __name__ == "__main__":
    sys.exit(main())
