"""The certifier's verdicts before the paper's definitions in sympy: a third opinion on every kind of problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector
from properties.exact.roots import rational_sqrt
from properties.model import HOLDS, Outcome, fails
from properties.soundness.bags import sets_of_rows
from properties.soundness.case import Case, DirectCase, NetworkCase, ask, objection
from properties.soundness.draw import any_direct, any_network, any_variant, is_rational, lambdas, planted_direct
from properties.soundness.held import SYMPY, notes
from properties.strategies import (
    PlantedReLU,
    planted_antipodal,
    planted_box,
    planted_edge,
    planted_kink,
    planted_relu,
    rational_matrix,
    vector,
)
from properties.symbolic.data import compare
from properties.symbolic.judge import Judged, Status, judge
from properties.symbolic.reader import read_certificate
from relu_cert import certify
from relu_cert.certificate import dumps
from relu_cert.driver.optimum import IntervalChoice, WantedDerivatives
from relu_cert.results.certified import Certified

MOST_WORK = 4_000  # a few seconds


@dataclass(frozen=True)
class Question:
    """A case, perhaps with an interval of lambdas around its own."""

    case: Case
    lo: Fraction | None = None
    hi: Fraction | None = None


@dataclass(frozen=True)
class Call:
    """A call of the package: free and decayed biases, bags, several outputs; a planted residual, or none."""

    kind: str
    Z: tuple[Matrix, ...]  # one table, or with bags the sets
    y: tuple[Vector, ...]
    lam: Fraction
    options: tuple[tuple[str, str | bool], ...] = ()

    def answer(self) -> Certified:
        """What the package says; the checker has accepted the certificate."""
        options: dict[str, Any] = dict(self.options)
        if self.kind == "outputs":
            labels = ["abc"[row.index(Fraction(1))] for row in self.y] if "loss" in options else self.y
            return certify(self.Z[0], labels, self.lam, **options)
        y = [t for (t,) in self.y]
        if self.kind == "bags":
            return certify(
                [z for rows in self.Z for z in rows],
                [t for rows, t in zip(self.Z, y, strict=True) for _ in rows],
                self.lam,
                bags=[f"s{k}" for k, rows in enumerate(self.Z) for _ in rows],
                **options,
            )
        return certify(self.Z[0], y, self.lam, **options)


Asked = Question | Call
FREE = (
    (("bias", True), ("free", "biases")),
    (("bias", True), ("free", "output-bias,biases")),
    (("bias", True), ("free", "biases,skip")),
    (("bias", True), ("free", "output-bias")),
    (("free", "output-bias,skip"),),
    (("bias", True), ("decayed_bias", True)),
    (("decayed_bias", True),),
    (("slope", "1/4"),),
)


BAGS: tuple[tuple[str, str | bool], ...] = (("bias", True), ("free", "output-bias"), ("free", "skip"), ("slope", "1/4"))


@st.composite
def calls(draw: DrawFn, kinds: tuple[str, ...] = ("free", "bags", "outputs")) -> Call:
    """Small data of every kind at any lambda. Several outputs: in half of the draws Theta is first, and lambda with
    it."""
    kind, lam = draw(st.sampled_from(kinds)), draw(lambdas())
    if kind == "bags":
        sets = draw(sets_of_rows())
        some: tuple[tuple[str, str | bool], ...] = (("pool", draw(st.sampled_from(["mean", "sum"]))),)
        if draw(st.integers(0, 3)) == 0:
            some = (*some, draw(st.sampled_from(BAGS)))
        return Call(kind, sets, tuple((t,) for t in draw(vector(len(sets)))), lam, some)
    n, d = draw(st.integers(2, 5 if kind == "free" else 4)), draw(st.integers(1, 2))
    Z = draw(rational_matrix(n, d))
    if kind == "free":
        options = draw(st.sampled_from(FREE))
        assume(any(any(row) for row in Z) or "slope" not in dict(options))  # rows of zeros with a slope are refused
        return Call(kind, (Z,), tuple((t,) for t in draw(vector(n))), lam, options)
    C = draw(st.integers(2, 3))
    if draw(st.booleans()):
        return planted_outputs(draw, C)
    both = (("bias", True), ("free", "output-bias,biases"))  # as scikit-learn has them
    some = draw(st.sampled_from([(), both, (("bias", True), ("free", "output-bias"))]))
    if draw(st.integers(0, 3)) == 0:
        labels = tuple(tuple(Fraction(c == k % C) for c in range(C)) for k in draw(st.permutations(range(max(n, C)))))
        rows = (Z * C)[: len(labels)]
        return Call(kind, (rows,), labels, lam, (("loss", "softmax"), *some))
    return Call(kind, (Z,), tuple(draw(vector(C)) for _ in range(n)), lam, some)


def planted_outputs(draw: DrawFn, C: int) -> Call:
    """Z = I: F(u) = Theta'u_+, Theta = lambda (a b' + s a_ b_'), unit vectors a, a_ and b, b_ at right angles, a >= 0,
    |s| <= 1: a ties, and with s = 1 a continuum may. Or Theta = r b', the problem of one output."""
    lam, s = draw(st.sampled_from(SIZES)), draw(st.sampled_from(SHARES))
    (a, b), (c, e) = draw(st.sampled_from(UNITS)), draw(st.sampled_from(UNITS))
    if draw(st.booleans()):
        planted = draw(st.one_of(planted_relu(max_n=3, max_d=2), planted_kink()).filter(is_rational))
        zero = (Fraction(0),) * (C - 2)
        Y = tuple((t * c, t * e, *zero) for t in planted.y)
        return Call("outputs", (planted.Z,), Y, _root(planted.lam2))
    rows = [[lam * (x * c + s * y * -e), lam * (x * e + s * y * c)] for x, y in ((a, -b), (b, a))]
    weight = draw(st.sampled_from(SIZES))
    fit = [[weight * x * t for t in (c, e)] for x in (a, b)]
    zero = (Fraction(0),) * (C - 2)
    Y = tuple((*(x + t for x, t in zip(r, f, strict=True)), *zero) for r, f in zip(rows, fit, strict=True))
    return Call("outputs", (((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))),), Y, lam)


SIZES = (Fraction(1), Fraction(2), Fraction(1, 3))
SHARES = (Fraction(1, 2), Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(-1), Fraction(1, 3))
UNITS = tuple((Fraction(x), Fraction(y)) for x, y in (("3/5", "4/5"), (1, 0), ("5/13", "12/13"), (0, 1)))


@st.composite
def questions(draw: DrawFn) -> Asked:
    """Networks, gated ones, group lassos with cones, symmetric data, variants, free and decayed biases, bags, several
    outputs; some with a short interval."""
    kind = draw(
        st.sampled_from(["any", "symmetric", "direct", "planted", "variant", "interval", "free", "bags", "outputs"])
    )
    if kind in ("free", "bags", "outputs"):
        return draw(calls((kind,)))
    if kind == "any":
        return Question(draw(st.one_of(any_network(max_n=5, max_d=2), any_network(max_n=4))))
    if kind == "symmetric":
        some = st.one_of(planted_box(max_d=2), planted_antipodal(max_n=4), planted_kink(), planted_edge())
        planted: PlantedReLU = draw(st.one_of(planted_relu(max_n=4), some).filter(is_rational))
        return Question(NetworkCase("relu", planted.Z, planted.y, _root(planted.lam2)))
    if kind == "direct":
        return Question(draw(any_direct()))
    if kind == "planted":
        return Question(DirectCase(draw(planted_direct()).problem))
    if kind == "variant":
        return Question(draw(any_variant()))
    case = draw(st.one_of(any_network(max_n=3, max_d=2), any_direct()))
    return Question(case, case.lam * Fraction(9, 10), case.lam * Fraction(11, 10))


def _root(x: Fraction) -> Fraction:
    found = rational_sqrt(x)
    if found is None:
        raise ValueError("lambda is irrational here")
    return found


def opinions(text: str, raw: bytes) -> list[Judged]:
    """What sympy says to every verdict of the certificate, which it reads as text, with its data."""
    certificate = read_certificate(text.encode())
    compare(certificate, raw)
    return judge(certificate, MOST_WORK)


def contradicted(found: list[Judged]) -> str:
    """The first contradiction."""
    return next((f"{j.claim} is {j.verdict}: {j.why}" for j in found if j.status is Status.CONTRADICTED), "")


def check_symbolic(question: Asked) -> Outcome:
    """No verdict is contradicted."""
    if isinstance(question, Call):
        return _called(question)
    try:
        interval = None if question.lo is None or question.hi is None else IntervalChoice(question.lo, question.hi)
        derivatives = WantedDerivatives() if interval is None else None
        answer = ask(question.case, interval=interval, derivatives=derivatives)
        found = opinions(dumps(answer.certificate), answer.case.raw)
        wrong = contradicted(found) or objection(answer)
    except Exception as error:  # whatever is raised on such small exact data is a bug
        return fails(f"{type(error).__name__}: {error}")
    held = {one.claim: SYMPY for one in found if one.status is Status.CONFIRMED}
    return fails(wrong) if wrong else replace(HOLDS, notes=notes(answer.said, held, question.case.kind))


def _called(call: Call) -> Outcome:
    """The same for a call: the package has its certificate checked."""
    try:
        answer = call.answer()
        found = opinions(answer.certificate, answer.raw)
    except Exception as error:  # whatever is raised on such small exact data is a bug
        return fails(f"{type(error).__name__}: {error}")
    held = {one.claim: SYMPY for one in found if one.status is Status.CONFIRMED}
    said = {one.claim: one.verdict for one in found}
    wrong = contradicted(found)
    return fails(wrong) if wrong else replace(HOLDS, notes=notes(said, held, call.kind))
