"""The checks of the soundness statements: an answer, or a crash, against what is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from properties.exact.roots import rational_sqrt
from properties.model import HOLDS, Outcome, fails
from properties.soundness.carry import Pair, clash, related
from properties.soundness.carry_interval import IntervalPair, interval_clash, interval_related
from properties.soundness.case import Answer, Case, DirectCase, NetworkCase, ask, objection
from properties.soundness.draw import PlantedGated
from properties.soundness.floats import doubt
from properties.soundness.held import OPINION, Held, notes, numbers, truths
from properties.soundness.held import wrong as first_wrong
from properties.soundness.network_carry import NetworkPair, network_clash, network_related
from properties.soundness.network_truth import held_of, network_contradiction, truth_of
from properties.soundness.networks import Question, ask_network
from properties.soundness.opinion import disagreement
from properties.soundness.paths import (
    LassoPath,
    PlantedJump,
    ask_path,
    at_lambda,
    held_of_path,
    path_contradiction,
    truth_of_path,
)
from properties.soundness.truth import (
    Truth,
    contradiction,
    held_against,
    truth_of_direct,
    truth_of_gated,
    truth_of_network,
    truth_of_sampled,
)
from properties.soundness.variants import (
    case_of,
    elastic_contradiction,
    known_of_logistic,
    logistic_contradiction,
)
from properties.strategies import PlantedCGL, PlantedElastic, PlantedLogistic, PlantedReLU, PlantedSampled
from relu_cert.driver.optimum import IntervalChoice, WantedDerivatives


def judged(
    case: Case,
    against: Callable[[Answer], str],
    held: Callable[[Answer], Held],
    interval: IntervalChoice | None = None,
    *,
    by_list: bool = False,
) -> Outcome:
    """Ask; then the given test, then the checker. A crash is a failure, too. `held` says for the record what the test
    holds the claims against."""
    try:
        derivatives = WantedDerivatives() if interval is None else None
        answer = ask(case, interval=interval, derivatives=derivatives, by_list=by_list)
        wrong = against(answer) or objection(answer)
        counted = () if wrong else notes(answer.said, held(answer), case.kind)
    except Exception as error:  # whatever is raised on such small exact data is a bug
        return fails(f"{type(error).__name__}: {error}")
    return fails(wrong) if wrong else replace(HOLDS, notes=counted)


def _planted(case: Case, truth: Truth) -> Outcome:
    """The answer against a truth."""
    return judged(case, lambda answer: contradiction(answer, truth), lambda answer: held_against(answer, truth))


def check_planted_relu(planted: PlantedReLU) -> Outcome:
    """The verdicts on a planted ReLU network."""
    lam = rational_sqrt(planted.lam2)
    if lam is None:
        raise ValueError("lambda is irrational here")
    return _planted(NetworkCase("relu", planted.Z, planted.y, lam), truth_of_network(planted))


def check_planted_cover(planted: PlantedReLU) -> Outcome:
    """The same by a cover, without a list of patterns."""
    lam = rational_sqrt(planted.lam2)
    if lam is None:
        raise ValueError("lambda is irrational here")
    return _planted(NetworkCase("relu", planted.Z, planted.y, lam, cover=True), truth_of_network(planted))


def check_planted_gated(planted: PlantedGated) -> Outcome:
    """The verdicts on a planted gated network."""
    convex = planted.convex
    case = NetworkCase("gated", planted.Z, convex.problem.y, convex.problem.lam)
    return _planted(case, truth_of_gated(convex))


def check_planted_direct(planted: PlantedCGL) -> Outcome:
    """The verdicts on a planted constrained group lasso."""
    return _planted(DirectCase(planted.problem), truth_of_direct(planted))


def check_interval(planted: PlantedReLU) -> Outcome:
    """The verdict on an interval around a planted lambda: where the network is not unique, it is not PROVED."""
    lam = rational_sqrt(planted.lam2)
    if lam is None:
        raise ValueError("lambda is irrational here")
    truth: Truth = truth_of_network(planted)
    around = IntervalChoice(lam * Fraction(9, 10), lam * Fraction(11, 10))
    case = NetworkCase("relu", planted.Z, planted.y, lam)

    def against(answer: Answer) -> str:
        path = answer.facts.path
        jump = None if path is None else path.jump
        if jump is not None and ask(replace(case, lam=jump.lam)).said["p-unique"] == "PROVED":
            return f"a jump at {jump.lam}, where the network is unique"
        return contradiction(answer, truth)

    return judged(case, against, lambda answer: held_against(answer, truth), around)


def check_pair(pair: Pair) -> Outcome:
    """Both answers are accepted by the checker, and do not contradict each other."""

    def against(before: Answer) -> str:
        after = ask(pair.after, derivatives=WantedDerivatives())
        return clash(pair, before, after) or objection(after)

    beside_cover = isinstance(pair.after, NetworkCase) and pair.after.cover  # what it is compared with is a list
    return judged(pair.before, against, lambda answer: related(pair, answer), by_list=beside_cover)


def check_floats(case: NetworkCase) -> Outcome:
    """Floats have nothing against the answer."""
    held = dict.fromkeys(("optimal", "p-unique") if case.model == "relu" else ("p-unique",), OPINION)
    return judged(case, lambda answer: doubt(answer, seed=len(case.y)), lambda _: held)


def check_planted_elastic(planted: PlantedElastic) -> Outcome:
    """The verdicts on a planted elastic problem."""
    held = numbers(("optimal", "fit")) | truths({"convex-unique": True})
    return judged(case_of(planted), lambda answer: elastic_contradiction(answer, planted), lambda _: held)


def check_planted_sampled(planted: PlantedSampled) -> Outcome:
    """The verdicts on a planted network over some patterns."""
    gates, p = planted.gates, planted.convex.problem
    case = NetworkCase(gates.model, gates.Z, p.y, p.lam, gates.chosen)
    return _planted(case, truth_of_sampled(planted))


def check_planted_logistic(planted: PlantedLogistic) -> Outcome:
    """The verdicts on a planted logistic problem."""
    held = numbers(("optimal", "fit")) | truths(known_of_logistic(planted))
    return judged(case_of(planted), lambda answer: logistic_contradiction(answer, planted), lambda _: held)


def check_opinion(case: Case) -> Outcome:
    """The certified interval meets an enclosure of its own."""
    return judged(case, disagreement, lambda _: {"optimal": OPINION})


def check_planted_network(question: Question) -> Outcome:
    """The verdicts on a given network."""
    try:
        truth, answer = truth_of(question), ask_network(question)
        wrong = network_contradiction(answer, truth) or objection(answer, question.file)
    except Exception as error:  # whatever is raised on such small exact data is a bug
        return fails(f"{type(error).__name__}: {error}")
    return fails(wrong) if wrong else replace(HOLDS, notes=notes(answer.said, held_of(truth), "relu"))


def check_network_pair(pair: NetworkPair) -> Outcome:
    """Both answers on a given network are accepted by the checker, and do not contradict each other."""
    try:
        before, after = ask_network(pair.before), ask_network(pair.after)
        wrong = network_clash(pair, before, after) or objection(before, pair.before.file)
        wrong = wrong or objection(after, pair.after.file)
    except Exception as error:  # whatever is raised on such small exact data is a bug
        return fails(f"{type(error).__name__}: {error}")
    return (
        fails(wrong) if wrong else replace(HOLDS, notes=notes(before.said, network_related(pair, before.said), "relu"))
    )


def check_planted_path(question: LassoPath) -> Outcome:
    """The verdicts on an interval, its breakpoints and its samples."""
    try:
        truth, answer = truth_of_path(question), ask_path(question.case, question.lo, question.hi)
        wrong = path_contradiction(answer, truth) or objection(answer)
        counted = notes(answer.said, held_of_path(truth), question.case.kind)
    except Exception as error:  # whatever is raised on such small exact data is a bug
        return fails(f"{type(error).__name__}: {error}")
    return fails(wrong) if wrong else replace(HOLDS, notes=counted)


def check_planted_jump(planted: PlantedJump) -> Outcome:
    """The verdicts on an interval that holds the only jump, or does not."""
    choice = IntervalChoice(planted.lo, planted.hi)

    def against(answer: Answer) -> str:
        path = answer.facts.path
        jump = None if path is None else path.jump
        if jump is not None and jump.lam != planted.at:
            return f"a jump at {jump.lam}, where the network is unique"
        return first_wrong(answer.said, planted.known)

    return judged(planted.case, against, lambda _: truths(planted.known), choice)


def check_interval_pair(pair: IntervalPair) -> Outcome:
    """Both answers on an interval are accepted by the checker, and do not contradict each other."""

    def against(before: Answer) -> str:
        after = ask(pair.after, interval=IntervalChoice(pair.after_lo, pair.after_hi))
        return interval_clash(pair, before, after) or objection(after)

    return judged(pair.before, against, lambda answer: interval_related(answer.said), IntervalChoice(pair.lo, pair.hi))


def check_one_feature(question: LassoPath) -> Outcome:
    """The verdicts at the upper end of the interval, above lambda_max or below it."""
    return _planted(at_lambda(question.case, question.hi), question.truth(question.hi))
