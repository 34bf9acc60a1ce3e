"""The certifier's verdicts before the paper's definitions in sympy: a third opinion on every kind of problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.roots import rational_sqrt
from properties.model import HOLDS, Outcome, fails
from properties.soundness.case import Answer, Case, DirectCase, NetworkCase, ask, objection
from properties.soundness.draw import any_direct, any_network, any_variant, is_rational, planted_direct
from properties.soundness.held import SYMPY, notes
from properties.strategies import PlantedReLU, planted_antipodal, planted_box, planted_edge, planted_kink, planted_relu
from properties.symbolic.data import compare
from properties.symbolic.judge import Judged, Status, judge
from properties.symbolic.reader import read_certificate
from relu_cert.certificate import dumps
from relu_cert.pipeline import Derivatives, IntervalChoice

MOST_WORK = 4_000  # a few seconds


@dataclass(frozen=True)
class Question:
    """A case, perhaps with an interval of lambdas around its own."""

    case: Case
    lo: Fraction | None = None
    hi: Fraction | None = None


@st.composite
def questions(draw: DrawFn) -> Question:
    """Networks, gated ones, group lassos with cones, symmetric data, variants; some with a short interval."""
    kind = draw(st.sampled_from(["any", "any", "symmetric", "direct", "planted", "variant", "interval"]))
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


def opinions(answer: Answer) -> list[Judged]:
    """What sympy says to every verdict of the answer's certificate, which it reads as text, with its data."""
    certificate = read_certificate(dumps(answer.certificate).encode())
    compare(certificate, answer.case.raw)
    return judge(certificate, MOST_WORK)


def check_symbolic(question: Question) -> Outcome:
    """No verdict is contradicted."""
    try:
        interval = None if question.lo is None or question.hi is None else IntervalChoice(question.lo, question.hi)
        derivatives = Derivatives() if interval is None else None
        answer = ask(question.case, interval=interval, derivatives=derivatives)
        found = opinions(answer)
        wrong = next((f"{j.claim} is {j.verdict}: {j.why}" for j in found if j.status is Status.CONTRADICTED), "")
        wrong = wrong or objection(answer)
    except Exception as error:  # whatever is raised on such small exact data is a bug
        return fails(f"{type(error).__name__}: {error}")
    held = {one.claim: SYMPY for one in found if one.status is Status.CONFIRMED}
    return fails(wrong) if wrong else replace(HOLDS, notes=notes(answer.said, held, question.case.kind))
