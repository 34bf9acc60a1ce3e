"""Certificates with covers as the producer writes them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

from properties.soundness.case import SILENT, NetworkCase
from relu_cert.certificate import certificate
from relu_cert.claims import decide
from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, find_facts
from relu_cert.problem import unlisted_relu
from relu_cert.problem.loss import LOGISTIC, SQUARES
from tests.verify.build.plain import Case


def gaussian(n: int, d: int, seed: int) -> tuple[tuple[tuple[Fraction, ...], ...], tuple[Fraction, ...]]:
    """Rows and targets to three digits."""
    random = Random(seed)
    Z = tuple(tuple(Fraction(round(random.gauss(0, 1) * 1000), 1000) for _ in range(d)) for _ in range(n))
    return Z, tuple(Fraction(round(random.gauss(0, 1) * 1000), 1000) for _ in range(n))


def cube(d: int, seed: int) -> tuple[tuple[tuple[Fraction, ...], ...], tuple[Fraction, ...]]:
    """Corners of a cube with a bias: many of them on one plane."""
    random = Random(seed)
    Z = tuple((*(Fraction(k >> i & 1) for i in range(d)), Fraction(1)) for k in range(1 << d))
    return Z, tuple(Fraction(random.randint(-3, 3)) for _ in Z)


PRODUCED = {
    "gaussian 6 x 3": (gaussian(6, 3, 2), Fraction(1, 2)),
    "square": (cube(2, 3), Fraction(1, 2)),
    "gaussian 60 x 3": (gaussian(60, 3, 4), Fraction(3)),
    "logistic 6 x 3": ((gaussian(6, 3, 2)[0], tuple(map(Fraction, (1, -1, 1, 1, -1, -1)))), Fraction(1, 4)),
}


@cache
def produced(name: str) -> Case:
    """The certificate of one of PRODUCED."""
    (Z, y), lam = PRODUCED[name]
    case = NetworkCase("relu", Z, y, lam)
    problem = replace(unlisted_relu(Z, y), loss=LOGISTIC if name.startswith("logistic") else SQUARES)
    facts = find_facts(problem, LambdaChoice(value=lam), DEFAULT_GAP, SILENT)
    return Case(name, certificate(case.source, facts, decide(facts)), case.raw)
