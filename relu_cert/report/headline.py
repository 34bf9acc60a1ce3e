"""The first line of every report: one sentence for somebody who has not read the paper.

It is the first of a list, strongest first, whose verdicts are those of the certificate (`said.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import floor, log

from relu_cert.claims.claim import Result, Verdict
from relu_cert.evidence import Pair, Turned
from relu_cert.figures import at_most, count, holds_on, lies_in, percent, percent_at_most
from relu_cert.path.pieces import PathPieces
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import BallSet, Exactly, Facts, Value
from relu_cert.report.shown import Needs, Sentence, first_true, proved, refuted


def of_check(facts: Facts, results: Sequence[Result]) -> str:
    """What `check` found, in a sentence."""
    sentence = first_true(results, _solution(facts, results) if facts.problem.kind == "cgl" else _network(facts))
    return after(_over(facts.problem), sentence) if sentence else _tally(results)


def of_network(value: Value, objective: Fraction, gap: Fraction, results: Sequence[Result]) -> str:
    """What `network` found: how much better any network could be; `gap` is what still counts as optimal."""
    if value.upper <= 0 or objective <= 0:
        return "The best possible objective is 0."
    most = (objective - value.lower) / value.lower if value.lower > 0 else None
    least = (objective - value.upper) / value.upper
    told = most is not None and least > 0 and most <= 2 * least
    good = "" if most is None else percent_at_most(most)
    above = "" if most is None or least <= 0 else percent(least, most)
    good_text = f"This network is as good as optimal: at most {good} above the best objective; proved."
    best_text = "This network is optimal: no network of any width has a lower objective; proved."
    bad_text = f"This network is not the best: its objective is {above} above the best possible one; proved."
    sentences = (
        Sentence(best_text, proved("network-objective", "network-optimal"), objective <= value.lower),
        Sentence(good_text, proved("network-objective", "network-optimal"), most is not None and most <= gap),
        Sentence(bad_text, proved("network-objective") + refuted("network-optimal"), bool(above)),
        Sentence(bad_text, proved("network-objective"), told),
        Sentence(
            f"This network is at most {good} above the best network of any width; proved.",
            proved("network-objective"),
            most is not None,
        ),
        Sentence(
            f"The objective of this network is at most {at_most(objective - value.lower)} above the best; proved.",
            proved("network-objective"),
        ),
    )
    return first_true(results, sentences) or _tally(results)


def of_path(cover: PathPieces, events: int, results: Sequence[Result]) -> str:
    """What `path` found."""
    where, around = ("from {} to {}".format(*ends(cover.lo, cover.hi, 6)) for ends in (holds_on, lies_in))
    unique = f"For every lambda {where} the best network is unique and moves without a jump"
    change = f"; its make-up changes at {count(events, 'value')} of lambda or more"
    whole = f"For every lambda {where} the set of best networks moves continuously"
    several = "at some lambda there is more than one best network"
    left = f"{count(len(cover.gaps), 'gap')} {'is' if len(cover.gaps) == 1 else 'are'} left"
    share = f"The best networks are followed on {proved_share(cover)} % of the way (in log lambda) {around}"
    sentences = (
        Sentence(f"{unique}{change}; proved.", proved("continuous", "breakpoints"), events > 0),
        Sentence(f"{unique}; proved.", proved("continuous")),
        Sentence(
            f"For lambda {around} there is a jump: the set of best networks does not move continuously; proved.",
            refuted("set-continuous"),
        ),
        Sentence(f"{whole}; {several}; proved.", proved("set-continuous") + refuted("continuous")),
        Sentence(f"{whole}; proved. Whether it is always one network is not settled.", proved("set-continuous")),
        Sentence(f"{share}, and {several}; proved; {left}.", refuted("continuous")),
        Sentence(f"{share}, proved; {left}."),
    )
    return first_true(results, sentences)


def proved_share(cover: PathPieces) -> str:
    """How much of the interval is proved, in per cent of log lambda, rounded down: never all where a gap is left."""
    missing = sum(log(gap.hi) - log(gap.lo) for gap in cover.gaps) / (log(cover.hi) - log(cover.lo))
    return f"{max(0, min(999, floor(1000 * (1 - missing)))) / 10:g}" if cover.gaps else "100"


def _over(problem: Problem) -> str:
    """The beginning of the sentence where only some patterns are looked at."""
    return f"over these {count(len(problem.some), 'activation pattern')} only" if problem.some else ""


def after(beginning: str, sentence: str) -> str:
    """The sentence with these words in front, if any."""
    if not beginning:
        return sentence
    return f"{beginning[0].upper()}{beginning[1:]}, {sentence[0].lower()}{sentence[1:]}"


def _network(facts: Facts) -> Iterator[Sentence]:
    """About networks, the strongest first."""
    why = because(facts)
    yield Sentence(f"The best network is the zero network, {why}; proved.", proved("p-unique"), facts.zero)
    yield Sentence(f"The zero network is a best one, {why}; proved.", proved("optimal"), facts.zero)
    rest = "the output bias" if facts.problem.roots else "the free terms"
    alone = f"The best network has no neuron: it is {rest} alone; proved."
    alone = alone if facts.problem.free else "The best network is the zero network; proved."
    yield Sentence(alone, _known(facts, "p-unique"), _width(facts) == 0)
    unique = "The best network is unique (up to the order and splitting of neurons)"
    yield from _unique_or_several(facts, unique, f"; it has {count(_width(facts) or 0, 'neuron')}", "best network")
    yield from _found(facts, f"The network found, with {count(len(facts.primal.neurons), 'neuron')},", "p-unique")


def _solution(facts: Facts, results: Sequence[Result]) -> Iterator[Sentence]:
    """About a group lasso."""
    total = count(len(facts.problem.blocks), "group")
    claim = "convex-unique" if any(result.claim == "convex-unique" for result in results) else "p-unique"
    yield Sentence(f"The solution is zero in all {total}, {because(facts)}; proved.", proved(claim), facts.zero)
    width = _width(facts) or 0
    active = f"; {width} of {total} {'is' if width == 1 else 'are'} active"
    yield from _unique_or_several(facts, "The solution is unique", active, "solution", claim)
    yield from _found(facts, f"The solution found, with {len(facts.primal.neurons)} of {total} active,", claim)


def because(facts: Facts) -> str:
    """Why the zero network is the best."""
    if facts.lambda_max.exact and not facts.lambda_max.squared:
        return "for every lambda, because no neuron lowers the loss of these targets"
    return "because lambda is so large"


def _unique_or_several(facts: Facts, unique: str, width: str, noun: str, claim: str = "p-unique") -> Iterator[Sentence]:
    """One, or more than one, with what is known of them."""
    yield Sentence(f"{unique}{width}; proved.", _known(facts, claim), _width(facts) is not None)
    yield Sentence(f"{unique}; proved.", proved(claim))
    found, part = facts.polytope, "group" if noun == "solution" else "neuron"
    kind = facts.optimal_set
    if found is not None and found.dimension and not (isinstance(kind, BallSet) and (kind.repeated or kind.level)):
        narrowest = f"the narrowest {'has' if found.m_star == 1 else 'have'} {count(found.m_star, part)}"
        form = f"they form a set of dimension {found.dimension}, and {narrowest}"
        several = f"There is more than one {noun}: {form}; proved."
        yield Sentence(several, refuted(claim) + proved("optimal-set", "minimal"))
    yield Sentence(f"There is more than one {noun}; proved.", refuted(claim))


def _found(facts: Facts, what: str, claim: str) -> Iterator[Sentence]:
    """Where uniqueness is not settled, or was not asked for."""
    value, open_ = facts.value, ((claim, Verdict.UNDECIDED),)
    far = at_most(value.relative_gap)
    for rest, needs in (("; whether it is the only one is not settled", open_), ("", ())):
        good = f"{what} is the best there is, up to a relative {at_most(value.gap)}; proved{rest}."
        yield Sentence(good, proved("optimal") + needs)
        undecided = (("optimal", Verdict.UNDECIDED), *needs)
        if facts.problem.unlisted and value.lower > 0:
            above = percent_at_most(value.above)
            yield Sentence(f"{what} is at most {above} above the best network of any width; proved{rest}.", undecided)
        more = f"{what} is at most a relative {far} from the best; that is proved, more was asked for{rest}."
        yield Sentence(more, undecided)


def _known(facts: Facts, claim: str) -> Needs:
    """What the width of the only network needs: of an exact optimum the weights are in the certificate."""
    return proved(claim) + (() if isinstance(facts.optimal_set, Exactly) else proved("minimal"))


def _width(facts: Facts) -> int | None:
    """How many neurons the only optimal network has, where that is proved."""
    if isinstance(facts.alone, Pair | Turned):
        return None
    if facts.alone is not None:
        return len(facts.alone.classes) if facts.alone.active else None
    found = facts.polytope
    if found is not None:
        return found.m_star if found.m_star == found.M_star else None
    exact = facts.optimal_set
    return sum(1 for x in exact.solutions[0] if x) if isinstance(exact, Exactly) else None


def _tally(results: Sequence[Result]) -> str:
    """The verdicts, counted: where nothing was asked that a sentence could be about."""
    counts = [(sum(r.verdict is verdict for r in results), str(verdict)) for verdict in Verdict]
    told = ", ".join(f"{number} {word}" for number, word in counts if number)
    return f"Of {count(len(results), 'claim')}: {told}." if results else "No claim was asked for that applies here."
