"""Certificates and forged ones, held against oracles of their own: python -m tests.verify.opinions [--examples N]

Small problems whose paths, jumps, sets in a field, general position and logistic optima `oracle/lasso.py` and
`oracle/precise.py` know by other means. Each certificate that is produced, each change of it at one place that the
checker accepts, and each certificate with the problem or facts of another one, must be true. It is counted how often
each thing was said; exit code 1 if something false was accepted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from random import Random
from typing import Any

from relu_cert import certify, certify_group_lasso, group_lasso_path, path
from relu_cert.errors import ReluCertError
from tests.verify.changed import candidates
from tests.verify.mutate import mutants, replaced
from tests.verify.oracle import lasso, precise
from tests.verify.score import CORPUS
from verify import VerifyError, check

ALONG = ("continuous", "set-continuous", "min-norm-continuous", "p-unique")


def entries(draw: Random, rows: int, columns: int, most: int = 3) -> list[list[int]]:
    """A matrix of small integers without a column of zeros."""
    found = [[draw.randint(-most, most) for _ in range(columns)] for _ in range(rows)]
    found[0] = [x or 1 for x in found[0]]
    return found


def targets(draw: Random, rows: int) -> list[int]:
    """Not all zero."""
    return [draw.randint(1, 6), *(draw.randint(-6, 6) for _ in range(rows - 1))]


def a_lambda(draw: Random) -> Fraction:
    """Of a few digits."""
    return Fraction(draw.randint(1, 12), draw.choice((1, 2, 3, 4)))


def groups(sizes: Sequence[int]) -> list[list[int]]:
    """Columns in order."""
    return [[*range(sum(sizes[:b]), sum(sizes[: b + 1]))] for b in range(len(sizes))]


def cones(draw: Random, sizes: Sequence[int]) -> list[Any] | None:
    """Some constraints, or none."""
    found = [[[draw.choice((1, -1, 2))] for _ in range(size)] if draw.random() < 0.3 else None for size in sizes]
    return found if any(found) else None


def planted(draw: Random) -> tuple[list[list[int]], list[Fraction], Fraction]:
    """Columns, of which more than are independent tie at lambda_0, and targets."""
    n = draw.choice((2, 2, 3))
    r = [draw.randint(-2, 2) for _ in range(n - 1)] + [draw.choice((1, 2))]
    lam = sum(x * x for x in r) if draw.random() < 0.5 else draw.randint(1, 4)
    near = [a for a in product(range(-3, 4), repeat=n) if abs(sum(x * y for x, y in zip(a, r, strict=True))) == lam]
    far = [
        a
        for a in product(range(-2, 3), repeat=n)
        if any(a) and abs(sum(x * y for x, y in zip(a, r, strict=True))) < lam
    ]
    chosen = draw.sample(near, min(len(near), draw.choice((2, 3, 3)))) + draw.sample(
        far, min(len(far), draw.choice((0, 1)))
    )
    if not chosen:
        return planted(draw)
    weights = [draw.choice((0, 1, 1, 2)) * (sum(x * y for x, y in zip(a, r, strict=True)) // lam) for a in chosen]
    y = [Fraction(r[k] + sum(w * a[k] for w, a in zip(weights, chosen, strict=True))) for k in range(n)]
    return [list(row) for row in zip(*chosen, strict=True)], y, Fraction(lam)


def of_lasso(draw: Random) -> Any:
    """Lassos with signs, at a lambda and along an interval."""
    n, m = draw.choice((2, 3)), draw.choice((2, 3))
    lam = a_lambda(draw)
    ends = (lam / draw.choice((2, 4, 8)), lam * draw.choice((Fraction(3, 2), 2, 4)))
    return certify_group_lasso(
        entries(draw, n, m), groups([1] * m), targets(draw, n), lam, K=cones(draw, [1] * m), interval=ends
    )


def of_jump(draw: Random) -> Any:
    """Lassos where too many columns tie."""
    X, y, lam = planted(draw)
    ends = (lam * Fraction(draw.randint(1, 9), 10), lam * Fraction(draw.randint(11, 30), 10))
    here = draw.choice((lam, lam, lam * Fraction(draw.randint(9, 12), 10)))
    return certify_group_lasso(X, groups([1] * len(X[0])), y, here, interval=ends)


def of_curve(draw: Random) -> Any:
    """The path of a lasso, with its breakpoints."""
    n, m = draw.choice((2, 3)), draw.choice((2, 3))
    return group_lasso_path(entries(draw, n, m), groups([1] * m), targets(draw, n), low="1/3", K=cones(draw, [1] * m))


def of_feature(draw: Random) -> Any:
    """Networks on one feature, along an interval or all of the path."""
    n, model = draw.choice((3, 4)), draw.choice(("relu", "gated"))
    Z, y, lam = entries(draw, n, 1, 4), targets(draw, n), a_lambda(draw)
    if draw.random() < 0.5:
        return path(Z, y, low="1/3", model=model)
    return certify(Z, y, lam, model=model, interval=(lam / 4, 2 * lam))


def of_field(draw: Random) -> Any:
    """Sets of solutions where the residual is rational, or in a field."""
    n, lam = draw.choice((2, 3)), Fraction(draw.randint(1, 6), draw.choice((1, 2)))
    if draw.random() < 0.5:
        sizes = draw.choice(([2], [2, 1], [2, 2], [1, 1, 1]))
        X = entries(draw, n, sum(sizes))
        if draw.random() < 0.5:  # columns of a pair are alike up to a turn: neurons that tie at every lambda
            X = [[*row[:2], *(row[1::-1] * 2)[: sum(sizes) - 2]] for row in X] if len(X[0]) > 2 else X
        return certify_group_lasso(X, groups(sizes), targets(draw, n), lam, K=cones(draw, sizes))
    Z = entries(draw, n, 2)
    if draw.random() < 0.5:
        Z = [*Z[:2], *[[-x for x in z] for z in Z[: n - 1]]]
    return certify(
        Z, targets(draw, len(Z)), lam, model=draw.choice(("relu", "relu", "gated")), listed=draw.random() < 0.5
    )


def of_logistic(draw: Random) -> Any:
    """The logistic loss: one feature, or a lasso."""
    n, lam, kind = draw.choice((3, 4)), Fraction(draw.randint(1, 8), 8), draw.random()
    y = [1, -1, *(draw.choice((1, -1)) for _ in range(n - 2))]
    if kind < 0.4:
        return certify_group_lasso(entries(draw, n, 2), groups([1, 1]), y, lam, loss="logistic", K=cones(draw, [1, 1]))
    return certify(entries(draw, n, 1), y, lam, loss="logistic", model=draw.choice(("relu", "gated")))


def of_position(draw: Random) -> Any:
    """General position of blocks and columns."""
    n, claims = draw.choice((1, 2, 2)), ("ggp", "general-position")
    if draw.random() < 0.3:
        return certify(entries(draw, n, draw.choice((1, 2)), 2), targets(draw, n), 1, model="gated", claims=claims)
    sizes = draw.choice(([1, 1], [2, 1], [1, 1, 1], [2, 2], [2, 1, 1]))
    return certify_group_lasso(entries(draw, n, sum(sizes), 4), groups(sizes), targets(draw, n), 1, claims=claims)


@dataclass(frozen=True)
class Stored:
    """A file of the corpus."""

    certificate: str


def of_corpus(draw: Random) -> Stored:
    """Sets in a field, jumps and pieces that were planted by hand."""
    files = sorted(file for kind in PLANTED for file in (CORPUS / "accepted").glob(f"{kind}-*.json"))
    return Stored(draw.choice([file for file in files if file.stat().st_size < LARGEST]).read_text())


PLANTED, LARGEST = ("algebraic_set", "jump", "path", "exact_set", "ggp", "faces", "derivatives"), 30_000
KINDS: dict[str, Callable[[Random], Any]] = {
    "corpus": of_corpus,
    "lasso": of_lasso,
    "jump": of_jump,
    "curve": of_curve,
    "feature": of_feature,
    "field": of_field,
    "logistic": of_logistic,
    "position": of_position,
}


def opinions(tree: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """What the oracles say to it."""
    yield from lasso.judged(tree)
    yield from precise.judged(tree)


def forged(
    tree: dict[str, Any], others: Sequence[dict[str, Any]], draw: Random, count: int
) -> Iterator[tuple[str, str]]:
    """So many small changes, twice as many of what is claimed and of the problem; and facts under another problem."""
    small = [(f"{one.name}", one.text) for one in mutants(tree, 3)]
    large = [(one.name, json.dumps(replaced(tree, one.path, one.new))) for one in candidates("", tree)]
    for every in (small, large):
        stated = [one for one in every if one[0].startswith(("claims", "problem", " claims", " problem"))]
        yield from draw.sample(every, min(count, len(every)))
        yield from draw.sample(stated, min(count // 2, len(stated)))
    for other in others:
        if other["problem"]["model"] == tree["problem"]["model"]:
            yield "another problem", json.dumps({**tree, "problem": other["problem"]})
            facts = {**tree["facts"], **{k: v for k, v in other["facts"].items() if draw.random() < 0.5}}
            yield "other facts", json.dumps({**tree, "facts": facts})


class Tally:
    """What was said, how often, and what was false."""

    def __init__(self) -> None:
        self.said: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.false: list[str] = []

    def judge(self, kind: str, text: str, where: str) -> None:
        """One accepted certificate."""
        for said, true in opinions(json.loads(text)):
            self.said[f"{kind}: {said}"] += 1
            if not true:
                self.false.append(f"{kind}: {said} is false: {where}: {text}")


def tried(kind: str, seed: int, count: int, tally: Tally, before: list[dict[str, Any]]) -> None:
    """One certificate and its forgeries."""
    draw = Random(f"{kind} {seed}")
    try:
        found = KINDS[kind](draw)
    except ReluCertError:
        tally.counts["refused"] += 1
        return
    text = found.certificate
    tree = json.loads(text)
    check(text.encode())
    tally.counts["certificates"] += 1
    tally.judge(kind, text, f"{kind} {seed}")
    for name, mutant in forged(tree, before[-2:], draw, count):
        tally.counts["forged"] += 1
        try:
            check(mutant.encode())
        except VerifyError:
            continue
        tally.counts["forged and accepted"] += 1
        tally.judge(f"{kind}, forged", mutant, f"{kind} {seed} {name}")
    before.append(tree)


def campaign(kinds: Sequence[str], seeds: range, count: int) -> Tally:
    """All of them."""
    tally = Tally()
    for kind in kinds:
        before: list[dict[str, Any]] = []
        for seed in seeds:
            tried(kind, seed, count, tally, before)
    return tally


def main(argv: Sequence[str] | None = None) -> int:
    """Print the counts, and what is false."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.opinions", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--examples", type=int, default=20, help="of each kind")
    parser.add_argument("--mutants", type=int, default=40, help="of each certificate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    asked = parser.parse_args(argv)
    tally = campaign(asked.kinds.split(","), range(asked.seed, asked.seed + asked.examples), asked.mutants)
    print(*(f"{count:>7} {said}" for said, count in chain(sorted(tally.said.items()), tally.counts.items())), sep="\n")
    print(*tally.false, f"{len(tally.false)} false", sep="\n")
    return int(bool(tally.false))


if __name__ == "__main__":
    sys.exit(main())
