"""The optimum of a ReLU network whose patterns are not listed, by whatever proves most in the time that there is.

The cover where the rank of the data is small: an exact finish, or a proved gap that falls with time. The leaders where
it is not, or where the cover leaves a gap; the better bound counts. Squares and the logistic loss. Whoever interrupts
the work gets what was proved until then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from relu_cert.bags import EACH
from relu_cert.clock import Until
from relu_cert.cover.build import Exhausted
from relu_cert.cover.engine import Floats
from relu_cert.cover.facts import add_optimal_set, prove_lambda_max, trivial_bound, zero_facts
from relu_cert.cover.limits import ENOUGH, MANY_FEATURES, MOST_DIRECTIONS, Limits, Moment, Tell
from relu_cert.cover.logistic import LogisticProver
from relu_cert.cover.optimum import COARSE, SURELY, Found, Prover, Setting, compiled, exact_fit, neurons_of, setting
from relu_cert.cover.train import Task, Trained, largest, train
from relu_cert.exact import Matrix, Vector
from relu_cert.interrupt import INTERRUPTED, interrupted
from relu_cert.leaders.evidence import Leaders
from relu_cert.problem.loss import LOGISTIC
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.facts import Attained, Dual, ExactNeuron, Facts, LambdaMax, Primal, Unknown
from relu_cert.prove.value import facts_of, norm_upper
from relu_cert.solve.threads import one_thread

DEFAULT_SECONDS = 60.0
MOST_COLUMNS, MOST_ROWS = 16, 2**14  # of data for a cover: what the checker takes
EASY, HARD, HARDEST = 6, 9, 10  # ranks up to which the cover may take most of the time; from which on less; and little
NORM_BITS = 300
LEADERS = 0.2  # of the time, at least, even where the cover took more than its share
FINEST = 1e-6  # a gap that the leaders may be asked for: where a finer one is wanted they end with COARSE
TRAINING = 0.35  # of the time, at most, for a network with many features
LambdaChooser = Callable[[LambdaMax], Fraction]


@dataclass(frozen=True)
class _Asked:
    """What is asked, and until when."""

    problem: Problem
    network: Network
    choice: LambdaChooser
    gap: Fraction
    limits: Limits
    tell: Tell
    seconds: float
    until: Until

    @property
    def logistic(self) -> bool:
        """Whether the loss is the logistic one."""
        return self.problem.loss is LOGISTIC

    @property
    def pull(self) -> Vector:
        """theta of the zero network."""
        return self.problem.loss.pull(self.problem.y)

    def facts(self, lam: Fraction, top: LambdaMax, neurons: Sequence[tuple[int, Vector]], dual: Dual) -> Facts:
        """The facts of a network and a dual point."""
        point = exact_network(self.network, neurons)
        return facts_of(self.problem, lam, top, point, dual, self.gap)

    def leaders(self, lam: Fraction, neurons: Sequence[tuple[int, Vector]]) -> Leaders | None:
        """The leaders' bound, in the time that is left; None where rows are in bags."""
        if self.network.bags is not EACH:
            return None
        from relu_cert.leaders.find import Neuron, find_leaders

        def told(found: Leaders) -> None:
            self.tell(Moment("leaders", len(neurons), bound=float(found.lower)))

        given = [Neuron(xi, w) for xi, w in neurons]
        seconds = max(self.until.left, LEADERS * self.seconds, 5.0)
        good = SURELY * float(self.gap) if self.gap > FINEST else COARSE
        return find_leaders(
            self.network.Z, self.problem.y, lam, given, seconds, logistic=self.logistic, good=good, tell=told
        )


def optimum_without_list(
    problem: Problem,
    choice: LambdaChooser,
    gap: Fraction,
    limits: Limits,
    tell: Tell,
) -> Facts:
    """The facts about the optimum."""
    network = problem.network
    if network is None:
        raise ValueError("covers and leaders are about networks")
    frame = _row_space(network.Z)
    few = 0 < len(frame) <= MOST_DIRECTIONS and len(network.Z[0]) <= MOST_COLUMNS and len(network.Z) <= MOST_ROWS
    if few:
        compiled()
    seconds = DEFAULT_SECONDS if limits.seconds is None else limits.seconds
    asked = _Asked(problem, network, choice, gap, limits, tell, seconds, replace(limits, seconds=seconds).until)
    given = setting(network, problem.y) if few else None
    if given is None or len(given.data.basis) > MOST_DIRECTIONS:  # the latter: more than floats see
        facts = _many_features(asked, frame)
    elif len(given.data.basis) > EASY and gap > FINEST:  # the leaders are faster where a wide gap will do
        facts = _many_features(replace(asked, until=asked.until.within(asked.until.left - asked.seconds / 2)), frame)
        if facts.value.reached:
            facts = replace(facts, optimal_set=Unknown(ENOUGH))
        elif (other := _few_features(asked, given)).value.lower > facts.value.lower:
            facts = other
    else:
        facts = _few_features(asked, given)
    return replace(facts, optimal_set=Unknown(INTERRUPTED)) if interrupted() and facts.unsettled else facts


def _few_features(asked: _Asked, given: Setting) -> Facts:
    """A cover, and the leaders where it leaves a gap."""
    pulled = replace(given, y=asked.pull)
    top = prove_lambda_max(pulled, replace(asked.limits, seconds=min(asked.seconds, 20.0)))
    lam = asked.choice(top if top.least is None else replace(top, squared=top.least))
    if not top.exact:  # nothing is claimed of lambda >= lambda_max without a proof of it
        top = replace(top, squared=max(top.squared, 2 * lam * lam))
    if lam * lam >= top.squared:
        return _zero_facts(asked, pulled, lam, top)
    rank = len(given.data.basis)
    limits = replace(asked.limits, seconds=max(share_of_cover(rank) * asked.until.left, 1.0))
    prover = (LogisticProver if asked.logistic else Prover)(given, lam, limits, asked.tell)
    if rank >= HARD and asked.limits.state is None:
        prover.prepare(asked.until.within(TRAINING * asked.until.left))
    facts: Facts | None = None
    try:
        found = prover.run(enough=float(asked.gap))
        facts, reason = _covered_facts(asked, prover, lam, top, found), found.reason
        if not reason or facts.value.reached:
            return facts
    except Exhausted as why:
        reason = str(why) or "the limit of time or nodes was reached"
    neurons = () if prover.trained is None else neurons_of(prover.trained, given.frame)
    bound = asked.leaders(lam, neurons)
    if bound is not None and (facts is None or bound.lower > facts.value.lower):
        return replace(asked.facts(lam, top, neurons, Dual(bound.theta, bound)), optimal_set=Unknown(reason))
    if facts is None:
        raise Exhausted(reason)
    return facts


def share_of_cover(rank: int) -> float:
    """How much of the time a cover may take; the leaders need the rest."""
    return 0.75 if rank <= EASY else 0.5 if rank < HARD else 0.3 if rank < HARDEST else 0.1


def _covered_facts(asked: _Asked, prover: Prover, lam: Fraction, top: LambdaMax, found: Found) -> Facts:
    """The facts of a cover, with the optimal set where the finish is exact."""
    facts = asked.facts(lam, top, found.neurons, Dual(found.theta, found.cover))
    if asked.logistic:
        return replace(facts, optimal_set=Unknown(found.reason or LOGISTIC.unsettled))
    return add_optimal_set(prover, replace(facts, optimal_set=Unknown(found.reason)), found)


def _zero_facts(asked: _Asked, pulled: Setting, lam: Fraction, top: LambdaMax) -> Facts:
    """lambda >= lambda_max: zero is the solution, and its theta proves it."""
    return zero_facts(asked.problem, pulled, lam, top, asked.gap)


def _many_features(asked: _Asked, frame: Floats) -> Facts:
    """Too many features for a cover (or none): a network, and the leaders' bound."""
    network, problem = asked.network, asked.problem
    N, q = network.integers
    Z = np.array([[x / q for x in z] for z in N]) @ frame.T
    y, pull = (np.array([float(x) for x in v]) for v in (problem.y, asked.pull))
    with one_thread():
        rng = np.random.default_rng(0)
        top = LambdaMax(trivial_bound(network, asked.pull), None, Attained(), Fraction(0))
        if len(frame):
            pulled = network.bags.spread_floats(pull)
            xi, (_, u) = max(((s, largest(Z, s * pulled, rng)) for s in (1, -1)), key=lambda one: one[1][0])
            at = frame.T @ u
            row = tuple(round(float(x) / float(np.abs(at).max()) * 10**6) for x in at)
            least = _reached(network, asked.pull, xi, row)
            top = replace(top, attained=Attained(xi, u=tuple(map(Fraction, row))), least=least)
        lam = asked.choice(replace(top, squared=top.least or Fraction(0)))
        top = replace(top, squared=max(top.squared, 2 * lam * lam))  # no proof is made of lambda >= lambda_max
        task = Task(Z, y, float(lam), asked.logistic, network.bags)
        late = asked.until.within(TRAINING * asked.until.left)
        trained: Trained | None = None
        if len(frame):
            trained = train(
                task,
                told=lambda m, p: asked.tell(Moment("train", m, p)),
                stop=lambda: interrupted() or late.over,
                thorough=True,
            )
    neurons = () if trained is None else neurons_of(trained, frame)
    bound = asked.leaders(lam, neurons)
    if bound is None:
        raise Exhausted("no bound was found in the time that there is")
    return replace(asked.facts(lam, top, neurons, Dual(bound.theta, bound)), optimal_set=Unknown(MANY_FEATURES))


def exact_network(network: Network, neurons: Sequence[tuple[int, Vector]]) -> Primal:
    """The neurons with bounds of their norms and their fit, in integers as long as it goes."""
    if not neurons:
        return Primal((), network.bags.pooled((Fraction(0),) * len(network.Z)))
    fitted, patterns = exact_fit(network, neurons)
    found = (
        ExactNeuron(sign=xi, pattern=pattern, w=w, norm=norm_upper(w, NORM_BITS))
        for (xi, w), pattern in zip(neurons, patterns, strict=True)
    )
    return Primal(tuple(found), fitted)


def _row_space(Z: Matrix) -> Floats:
    """Orthonormal rows that span the rows of Z, in floats."""
    A = np.array([[float(x) for x in z] for z in Z])
    _, s, axes = np.linalg.svd(A, full_matrices=False)
    return np.ascontiguousarray(axes[s > 1e-10 * max(float(s.max(initial=0.0)), 1e-300)])


def _reached(network: Network, y: Vector, xi: int, u: tuple[int, ...]) -> Fraction:
    """(xi y.(Zu)_+)^2 / |u|^2"""
    N, q = network.integers
    heights = (max(sum(a * b for a, b in zip(z, u, strict=True)), 0) for z in N)
    total = xi * sum((t * h for t, h in zip(network.bags.spread(y), heights, strict=True)), Fraction(0)) / q
    return max(total, Fraction(0)) ** 2 / max(sum(x * x for x in u), 1)
