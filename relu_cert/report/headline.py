"""The first line of every report: one sentence for somebody who has not read the paper.

It says no more than the verdicts and the facts behind them do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor, log

from relu_cert.claims.claim import Result, Verdict
from relu_cert.path.one_neuron import NeuronPath
from relu_cert.path.pieces import PathPieces
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Exactly, Facts, Value
from relu_cert.report.text import at_most, count, holds_on, lies_in, percent, percent_at_most

Said = Mapping[str, Verdict]


def of_check(facts: Facts, results: Sequence[Result]) -> str:
    """What `check` found, in a sentence."""
    said: Said = {result.claim: result.verdict for result in results}
    within = _over(facts.problem)
    sentence = _solution(facts, said) if facts.problem.kind == "cgl" else _network(facts, said)
    if sentence is None:
        return _tally(results)
    return f"{within}{sentence[0].lower() if within else sentence[0]}{sentence[1:]}"


def of_network(value: Value, objective: Fraction, gap: Fraction) -> str:
    """What `network` found: how much better any network could be; `gap` is what still counts as optimal."""
    if value.upper <= 0 or objective <= 0:
        return "The best possible objective is 0."
    most = (objective - value.lower) / value.lower if value.lower > 0 else None
    least = (objective - value.upper) / value.upper
    if most is not None and most <= gap:
        return f"This network is as good as optimal: at most {percent_at_most(most)} above the best objective; proved."
    worse = (objective - value.upper) > gap * objective  # then it is refuted that the network is optimal
    if most is not None and least > 0 and (worse or most <= 2 * least):
        above = percent(least, most)
        return f"This network is not the best: its objective is {above} above the best possible one; proved."
    if most is not None:
        return f"This network is at most {percent_at_most(most)} above the best network of any width; proved."
    return f"The objective of this network is at most {at_most(objective - value.lower)} above the best; proved."


def of_path(cover: PathPieces, events: int, results: Sequence[Result]) -> str:
    """What `path` found."""
    said: Said = {result.claim: result.verdict for result in results}
    where, around = ("from {} to {}".format(*ends(cover.lo, cover.hi, 6)) for ends in (holds_on, lies_in))
    if cover.complete and cover.unique:
        change = f"; its make-up changes at {count(events, 'value')} of lambda or more" if events else ""
        return f"For every lambda {where} the best network is unique and moves without a jump{change}; proved."
    if said.get("set-continuous") is Verdict.REFUTED:
        return f"For lambda {around} there is a jump: the set of best networks does not move continuously; proved."
    if cover.complete:
        return (
            f"For every lambda {where} the set of best networks moves continuously; on part of the way there is more "
            "than one of them; proved."
        )
    left = f"{count(len(cover.gaps), 'gap')} {'is' if len(cover.gaps) == 1 else 'are'} left"
    share = f"{proved_share(cover)} % of the way (in log lambda)"
    return f"The best networks are followed on {share} {around}, proved; {left}."


def proved_share(cover: PathPieces) -> str:
    """How much of the interval is proved, in per cent of log lambda, rounded down: never all where a gap is left."""
    missing = sum(log(gap.hi) - log(gap.lo) for gap in cover.gaps) / (log(cover.hi) - log(cover.lo))
    return f"{max(0, min(999, floor(1000 * (1 - missing)))) / 10:g}" if cover.gaps else "100"


def of_one_neuron(path: NeuronPath) -> str:
    """What `path --one-neuron` found."""
    if not path.jumps:
        return "The best network of one neuron moves without a jump as lambda changes; proved."
    return f"The best network of one neuron jumps at {count(len(path.jumps), 'value')} of lambda; proved."


def _over(problem: Problem) -> str:
    """The beginning of the sentence where only some patterns are looked at."""
    return f"Over these {count(len(problem.some), 'activation pattern')} only, " if problem.some else ""


def _network(facts: Facts, said: Said) -> str | None:
    if facts.zero:
        return "The best network is the zero network, because lambda is so large; proved."
    unique = said.get("p-unique")
    if unique is Verdict.PROVED:
        width = _width(facts)
        if width == 0:
            return "The best network has no neuron: it is the free terms alone; proved."
        has = "" if width is None else f"; it has {count(width, 'neuron')}"
        return f"The best network is unique (up to the order and splitting of neurons){has}; proved."
    if unique is Verdict.REFUTED:
        return f"There is more than one best network{_several(facts, 'neuron')}; proved."
    neurons = count(len(facts.primal.neurons), "neuron")
    return _found(facts, said, f"The network found, with {neurons},", unique)


def _solution(facts: Facts, said: Said) -> str | None:
    total = count(len(facts.problem.blocks), "group")
    if facts.zero:
        return f"The solution is zero in all {total}, because lambda is so large; proved."
    unique = said.get("convex-unique", said.get("p-unique"))
    if unique is Verdict.PROVED:
        width = _width(facts)
        has = "" if width is None else f"; {width} of {total} {'is' if width == 1 else 'are'} active"
        return f"The solution is unique{has}; proved."
    if unique is Verdict.REFUTED:
        return f"There is more than one solution{_several(facts, 'group')}; proved."
    active = f"{len(facts.primal.neurons)} of {total} active"
    return _found(facts, said, f"The solution found, with {active},", unique)


def _found(facts: Facts, said: Said, what: str, unique: Verdict | None) -> str | None:
    """Where uniqueness is not settled, or was not asked for."""
    rest = "" if unique is None else "; whether it is the only one is not settled"
    if said.get("optimal") is Verdict.PROVED:
        return f"{what} is the best there is, up to a relative {at_most(facts.value.gap)}; proved{rest}."
    if said.get("optimal") is Verdict.UNDECIDED:
        if facts.problem.unlisted and facts.value.lower > 0:
            above = percent_at_most(facts.value.above)
            return f"{what} is at most {above} above the best network of any width; proved{rest}."
        gap = at_most(facts.value.relative_gap)
        return f"{what} is at most a relative {gap} from the best; that is proved, more was asked for{rest}."
    return None


def _width(facts: Facts) -> int | None:
    """How many neurons the only optimal network has, where that is proved."""
    found = facts.polytope
    if found is not None:
        return found.m_star if found.m_star == found.M_star else None
    exact = facts.optimal_set
    return sum(1 for x in exact.solutions[0] if x) if isinstance(exact, Exactly) else None


def _several(facts: Facts, noun: str) -> str:
    """What is known about many optima."""
    found = facts.polytope
    if found is None:
        return ""
    part = f"the narrowest {'has' if found.m_star == 1 else 'have'} {count(found.m_star, noun)}"
    return f": they form a set of dimension {found.dimension}, and {part}"


def _tally(results: Sequence[Result]) -> str:
    """The verdicts, counted: where nothing was asked that a sentence could be about."""
    counts = [(sum(r.verdict is verdict for r in results), str(verdict)) for verdict in Verdict]
    told = ", ".join(f"{number} {word}" for number, word in counts if number)
    return f"Of {count(len(results), 'claim')}: {told}." if results else "No claim was asked for that applies here."
