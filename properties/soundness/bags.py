"""Networks over sets of rows: planted ones, the same program written out block by block, and changes that change
nothing.

X_b = xi P D Z with the cones of the rows: over all patterns of Z that is a group lasso with cones, whose dual vectors
are projections. So a residual r is planted, lambda is the largest |Proj_{C_b}(X_b'r)|, and y = r + sum alpha_b X_b v_b.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, add, matmul, matvec, norm2, rank, scale, sub
from properties.exact.patterns import patterns, relu_problem
from properties.exact.problem import CGL, Block, dual_vectors
from properties.exact.roots import rational_sqrt
from properties.model import HOLDS, Outcome, fails
from properties.soundness.case import Answer, DirectCase, ask, objection
from properties.soundness.held import RELATED, notes, truths, wrong
from properties.strategies import rational_matrix, vector
from relu_cert.bags import Bags
from relu_cert.data.dataset import Dataset, Source
from relu_cert.data.read import read_csv_bytes
from relu_cert.driver.optimum import WantedDerivatives
from relu_cert.problem import unlisted_relu
from relu_cert.problem.problem import Problem

MOST_TIED = 9


@dataclass(frozen=True)
class BagCase:
    """Sets of rows with their targets, lambda, and whether outputs are averaged over a set or added."""

    sets: tuple[Matrix, ...]
    y: Vector
    lam: Fraction
    pool: str = "mean"
    logistic: bool = False
    delta: Fraction = Fraction(0)

    @property
    def kind(self) -> str:
        """The kind of problem, for tables."""
        return "bags"

    @property
    def raw(self) -> bytes:
        """A CSV file with these data, in the long form."""
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["set", *(f"x{j}" for j in range(len(self.sets[0][0]))), "y"])
        for i, (rows, target) in enumerate(zip(self.sets, self.y, strict=True)):
            writer.writerows([f"s{i}", *map(str, row), str(target)] for row in rows)
        return out.getvalue().encode()

    @cached_property
    def data(self) -> Dataset:
        """What the reader makes of the file."""
        return read_csv_bytes(self.raw, "sets.csv", bags="set", pool=self.pool)

    @property
    def source(self) -> Source:
        """How the file is read."""
        return self.data.source

    @property
    def problem(self) -> Problem:
        """The certifier's problem."""
        return unlisted_relu(self.data.Z, self.data.y, self.data.bags)

    @property
    def P(self) -> Matrix:
        """P, entry by entry, from the sets themselves."""
        return tuple(
            tuple(Fraction(sum(row == z for row in rows), len(rows) if self.pool == "mean" else 1) for z in self.data.Z)
            for rows in self.sets
        )

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """xi P D Z with its cone, for all patterns of the rows."""
        Z = self.data.Z
        dense = relu_problem(Z, patterns(Z).all, (Fraction(0),) * len(Z), Fraction(1)).blocks
        return tuple(Block(matmul(self.P, block.X), block.K) for block in dense)

    @property
    def convex(self) -> CGL:
        """The blocks of the convex program."""
        return CGL(self.blocks, self.y, self.lam**2)


@st.composite
def any_bags(draw: DrawFn) -> BagCase:
    """Small sets of rows at any lambda, averaged or added."""
    sets = draw(sets_of_rows())
    y, lam = draw(vector(len(sets))), draw(st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(1, 10), Fraction(5)]))
    return BagCase(sets, y, lam, draw(st.sampled_from(["mean", "sum"])))


@dataclass(frozen=True)
class PlantedBags:
    """A case, its residual, and the weights of its blocks."""

    case: BagCase
    r: Vector
    v: tuple[Vector, ...]
    alpha: Vector

    @cached_property
    def neurons(self) -> dict[tuple[int, Vector], tuple[Vector, Fraction]]:
        """The tied neurons by sign and v, with their outputs and weights: blocks on a common face share one."""
        found: dict[tuple[int, Vector], tuple[Vector, Fraction]] = {}
        for b, (block, v, alpha) in enumerate(zip(self.case.blocks, self.v, self.alpha, strict=True)):
            if norm2(v) == self.case.lam**2:
                key = (1 - 2 * (b % 2), v)
                found[key] = matvec(block.X, v), found.get(key, ((), Fraction(0)))[1] + alpha
        return found

    @property
    def known(self) -> dict[str, bool]:
        """Whether the network is unique, where that is plain: outputs are independent, or dependent and all in use."""
        outputs = [q for q, _ in self.neurons.values()]
        if rank(tuple(outputs)) == len(outputs):
            return {"p-unique": True}
        return {"p-unique": False} if all(alpha for _, alpha in self.neurons.values()) else {}


@st.composite
def sets_of_rows(draw: DrawFn) -> tuple[Matrix, ...]:
    """A few sets of a few rows, some of them equal, some zero, not all of them."""
    d = draw(st.integers(1, 2))
    rows = draw(rational_matrix(draw(st.integers(2, 4)), d))
    n = draw(st.integers(2, 4))
    chosen = [draw(st.lists(st.sampled_from(rows), min_size=1, max_size=3)) for _ in range(n)]
    assume(any(any(row) for one in chosen for row in one))
    return tuple(map(tuple, chosen))


@st.composite
def planted_bags(draw: DrawFn) -> PlantedBags:
    """Sets and r first; lambda and y follow."""
    sets, pool = draw(sets_of_rows()), draw(st.sampled_from(["mean", "sum"]))
    n = len(sets)
    r = draw(vector(n))
    case = BagCase(sets, r, Fraction(1), pool)
    v = dual_vectors(CGL(case.blocks, r, Fraction(1)), r)
    lam2 = max(norm2(u) for u in v)
    root = rational_sqrt(lam2)
    assume(lam2 and root is not None)
    tied = [b for b, u in enumerate(v) if norm2(u) == lam2]
    assume(len(tied) <= MOST_TIED)
    alpha, y = [Fraction(0)] * len(v), r
    for b in tied:
        alpha[b] = Fraction(draw(st.integers(0, 3)))
        y = add(y, scale(alpha[b], matvec(case.blocks[b].X, v[b])))
    return PlantedBags(replace(case, y=y, lam=root or Fraction(1)), r, v, tuple(alpha))


def contradiction(answer: Answer, planted: PlantedBags) -> str:
    """Where an answer about planted sets is wrong; "" if nowhere."""
    facts, case = answer.facts, planted.case
    top = max(norm2(u) for u in dual_vectors(CGL(case.blocks, case.y, Fraction(1)), case.y))
    if facts.lambda_max.exact and facts.lambda_max.squared != top:
        return f"lambda_max^2 is {top}, not {facts.lambda_max.squared}"
    value = norm2(planted.r) / 2 + case.lam**2 * sum(planted.alpha, Fraction(0))
    if not facts.value.lower <= value <= facts.value.upper:
        return f"p* = {value} is not in [{float(facts.value.lower)}, {float(facts.value.upper)}]"
    if norm2(sub(facts.fit.center, sub(case.y, planted.r))) > facts.fit.radius_squared:
        return "the fit is not in its ball"
    return wrong(answer.said, planted.known)


def check_planted_bags(planted: PlantedBags) -> Outcome:
    """The verdicts on planted sets, and what the checker says to them."""
    try:
        answer = ask(planted.case, derivatives=WantedDerivatives())  # type: ignore[arg-type]
        bad = contradiction(answer, planted) or objection(answer)
        counted = () if bad else notes(answer.said, truths(planted.known), planted.case.kind)
    except Exception as error:  # whatever is raised on such small exact data is a bug
        return fails(f"{type(error).__name__}: {error}")
    return fails(bad) if bad else replace(HOLDS, notes=counted)


class DenseCase(BagCase):
    """Sets of one row each as a table: P = I is a dense network."""

    @property
    def problem(self) -> Problem:
        """The certifier's problem."""
        return unlisted_relu(tuple(rows[0] for rows in self.sets), self.y)


class SplitCase(BagCase):
    """Every row of Z twice, and the weight of each in a bag split over the two."""

    @property
    def problem(self) -> Problem:
        """The certifier's problem."""
        Z, bags, N = self.data.Z, self.data.bags, len(self.data.Z)
        if not isinstance(bags, Bags):
            return unlisted_relu(Z, self.y, bags)
        twice = tuple((*rows, *(k + N for k in rows)) for rows in bags.rows)
        times = tuple((*(m for m in one), *one) for one in bags.times)
        return unlisted_relu((*Z, *Z), self.y, Bags(2 * N, tuple(x / 2 for x in bags.scale), twice, times))


@dataclass(frozen=True)
class SignalCase(BagCase):
    """The sets are the windows of signals, which are read as such."""

    signals: Matrix = ()

    @cached_property
    def data(self) -> Dataset:
        """What the reader makes of the signals."""
        names = [*(f"x{j}" for j in range(len(self.signals[0]))), "y"]
        rows = [",".join(map(str, (*x, t))) for x, t in zip(self.signals, self.y, strict=True)]
        return read_csv_bytes("\n".join([",".join(names), *rows, ""]).encode(), "x.csv", conv=self.rule, pool=self.pool)

    @property
    def rule(self) -> str:
        """How windows are made."""
        return f"1d:{len(self.sets[0][0])}"


@dataclass(frozen=True)
class BagPair:
    """Two ways to write the same problem; `listed`: the second is the convex program itself, block by block."""

    how: str
    before: BagCase
    after: BagCase
    listed: bool = False


HOW = ("permuted", "twice", "zeros", "single", "dense", "split", "windows", "listed")


@st.composite
def bag_pairs(draw: DrawFn) -> BagPair:
    """Changes that change nothing: members in another order, every member twice under the mean, zero members under the
    sum, sets of one row averaged, added, or as a table (P = I), the weight of a row split over two equal ones, the
    windows of signals as sets, last window first; and the program over all patterns in the place of a cover."""
    sets = draw(sets_of_rows())
    y, lam = draw(vector(len(sets))), draw(st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(1, 10)]))
    how = draw(st.sampled_from(HOW))
    zero = (Fraction(0),) * len(sets[0][0])
    case = BagCase(sets, y, lam, "mean" if how in ("permuted", "twice") else draw(st.sampled_from(["mean", "sum"])))
    if how in ("permuted", "twice"):
        return BagPair(how, case, replace(case, sets=tuple(r[::-1] if how == "permuted" else (*r, *r) for r in sets)))
    if how == "zeros":
        before = replace(case, pool="sum")
        return BagPair(how, before, replace(before, sets=tuple((*rows, zero) for rows in sets)))
    if how == "split":
        return BagPair(how, case, SplitCase(sets, y, lam, case.pool))
    if how == "windows":
        length = draw(st.integers(2, 4))
        width = draw(st.integers(1, min(2, length)))
        signals = tuple(draw(vector(length)) for _ in sets)
        assume(any(map(any, signals)))
        sets = tuple(tuple(x[k : k + width] for k in range(length - width + 1))[::-1] for x in signals)
        return BagPair(how, replace(case, sets=sets), SignalCase(sets, y, lam, case.pool, signals=signals))
    if how == "listed":
        return BagPair(how, case, case, listed=True)
    single = tuple(rows[:1] for rows in sets)
    assume(any(any(row) for one in single for row in one))
    before = BagCase(single, y, lam)
    return BagPair(how, before, DenseCase(single, y, lam) if how == "dense" else replace(before, pool="sum"))


def check_bag_pair(pair: BagPair) -> Outcome:
    """Both answers hold the same p*, and no verdict is turned round."""
    try:
        one = ask(pair.before)  # type: ignore[arg-type]
        two = ask(DirectCase(pair.after.convex) if pair.listed else pair.after)  # type: ignore[arg-type]
    except Exception as error:  # whatever is raised on such small exact data is a bug
        return fails(f"{type(error).__name__}: {error}")
    a, b = one.facts.value, two.facts.value
    if max(a.lower, b.lower) > min(a.upper, b.upper):
        return fails(f"{pair.how}: p* in [{float(a.lower)}, {float(a.upper)}] and [{float(b.lower)}, {float(b.upper)}]")
    for claim, verdict in one.said.items() if not pair.listed else ():  # claims of a program are not those of networks
        if {verdict, two.said.get(claim)} == {"PROVED", "REFUTED"}:
            return fails(f"{pair.how}: {claim} is PROVED and REFUTED")
    return replace(HOLDS, notes=notes(one.said, dict.fromkeys(one.said, RELATED), "bags"))
