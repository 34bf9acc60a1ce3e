"""The optimum of a problem over a list or over blocks: solve in floats, refine, prove."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from relu_cert.driver.refined import THOROUGH, Question, propose, refine_and_prove
from relu_cert.errors import DataError
from relu_cert.problem.loss import LOGISTIC
from relu_cert.problem.problem import Problem
from relu_cert.prove.elastic import elastic_facts
from relu_cert.prove.facts import Facts, LambdaMax
from relu_cert.prove.logistic import logistic_facts
from relu_cert.prove.prove import half, lambda_max, zero_facts
from relu_cert.solve import prepare, solve

LARGEST = Fraction(10**300)
TOO_LARGE = "the data, lambda or delta are beyond the range of doubles (squares of about 1e300); scale them down."
TOO_SMALL = "the data, lambda or delta are too small for doubles (squares of about 1e-300); scale them up."


def listed_lambda_max(problem: Problem) -> LambdaMax:
    """lambda_max, exactly."""
    floats = prepare(problem)
    largest = lambda_max(problem, propose(floats, np.array([float(x) for x in problem.y]), 0.0))
    return half(largest) if problem.loss is LOGISTIC else largest


def listed_facts(problem: Problem, lam: Fraction, largest: LambdaMax, gap: Fraction) -> Facts:
    """The facts at lambda."""
    if lam * lam >= largest.squared:
        return zero_facts(problem, lam, largest, gap)
    if problem.delta:
        require_in_range(problem.delta, lam / problem.delta)
        return elastic_facts(problem, lam, largest, gap)
    floats = prepare(problem)
    if problem.loss is LOGISTIC:
        proposed = partial(propose, floats, lam=THOROUGH * float(lam))
        return logistic_facts(problem, floats, lam, largest, gap, proposed)
    solution = solve(floats, float(lam))
    if not solution.neurons:  # just below lambda_max zero has a tiny gap, but is not optimal
        solution = solve(floats, float(lam), tol=0.0)
    return refine_and_prove(Question(problem, floats, lam, largest, gap), solution)


def require_data_in_range(problem: Problem) -> None:
    """Refuse data beyond the doubles: nothing could be proposed."""
    zero = Fraction(0)
    if (source := problem.source) is not None:
        largest = max((abs(x) for row in source.Z for x in row), default=zero)
    else:
        largest = max((block.largest for block in problem.blocks), default=zero)
    require_in_range(largest, largest * max(map(abs, problem.y), default=zero))


def require_in_range(*sizes: Fraction) -> None:
    """Refuse sizes whose squares, which the solver needs, are beyond the doubles."""
    for size in sizes:
        if size * size >= LARGEST:
            raise DataError(TOO_LARGE)
        if 0 < size * size * LARGEST <= 1:
            raise DataError(TOO_SMALL)
