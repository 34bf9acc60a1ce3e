"""sensitivity: derivatives enclosed, compared with another form of them, with exact values and with differences."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

import pytest
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from relu_cert.api import certify
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import decide
from relu_cert.claims.claim import Verdict
from relu_cert.cli import main
from relu_cert.data.dataset import Source
from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, WantedDerivatives, find_facts, finer
from relu_cert.exact import Vector, matrix, sqrt_upper, vector
from relu_cert.path.conditions import active_classes
from relu_cert.path.sensitivity import Sensitivity, _ball, _digits, _even, _identity, sensitivity
from relu_cert.problem.problem import Block, Problem
from relu_cert.prove.classes import class_map
from relu_cert.prove.facts import Facts
from relu_cert.prove.listed import Goal, propose, refine_and_prove
from relu_cert.prove.prove import lambda_max
from relu_cert.report.progress import Progress
from relu_cert.solve import prepare, solve
from tests.path.cases import network
from verify import VerifyError, check

F = Fraction
MIXED = network([[2, 1], [-1, 3], [2, -3], [-4, -1], [1, 1]], [3, -1, 2, 1, -2])
GATED = network([[2, 1], [-1, 3], [2, -3]], [3, -1, 2], "gated")
STEP = F(1, 10**20)


def identity(y: list[int]) -> Problem:
    """X = I as one block."""
    return Problem("cgl", vector(y), (Block(matrix([[1, 0], [0, 1]]), None),), columns=((0, 1),))


def coordinates(y: list[int]) -> Problem:
    """X = I as two blocks."""
    blocks = (Block(matrix([[1], [0]]), None), Block(matrix([[0], [1]]), None))
    return Problem("cgl", vector(y), blocks, columns=((0,), (1,)))


def facts_at(problem: Problem, lam: Fraction) -> Facts:
    """All facts, with derivatives and a noise level of 1/2."""
    with Progress(quiet=True) as stages:
        return find_facts(problem, LambdaChoice(value=lam), DEFAULT_GAP, stages, derivatives=WantedDerivatives(F(1, 2)))


def found(problem: Problem, lam: Fraction) -> Sensitivity:
    """The derivatives, which must exist, in balls."""
    facts = facts_at(problem, lam)
    assert facts.derivatives is not None
    return sensitivity(finer(facts), F(1, 2))


def residual(problem: Problem, lam: Fraction) -> Vector:
    """r* to sixty digits."""
    floats = prepare(problem)
    largest = lambda_max(problem, propose(floats, floats.y, 0.0))
    facts = refine_and_prove(Goal(problem, floats, lam, largest, F(1, 10**60)), solve(floats, float(lam)))
    assert facts.fit.radius_squared < F(1, 10**50)
    return facts.dual.theta


def kernel_form(facts: Facts) -> list[arb]:
    """dr/dlambda, dr/dy, dalpha/dlambda and dalpha/dy in another way. With M = I + sum alpha_a G_a, Q = [q_a] and
    S = Q'M^-1 Q: -lambda S^-1 1 = dalpha/dlambda, lambda M^-1 Q S^-1 1 = dr/dlambda, S^-1 Q'M^-1 = dalpha/dy and
    M^-1 - M^-1 Q S^-1 Q'M^-1 = dr/dy."""
    classes, masses, error = active_classes(facts)
    R = sqrt_upper(facts.fit.radius_squared, 64)
    r = arb_mat([[_ball(x, R)] for x in facts.dual.theta])
    B = [arb_mat(class_map(facts.problem, neuron).B()) for neuron in classes]
    M = _identity(facts.problem.n)
    for B_a, mass in zip(B, masses, strict=True):
        M += B_a * B_a.transpose() * _ball(mass, error)
    outputs = [(B_a * (B_a.transpose() * r)).entries() for B_a in B]
    Q = arb_mat([list(row) for row in zip(*outputs, strict=True)])
    inverse = M.inv()
    X = inverse * Q
    T = (Q.transpose() * X).inv()
    ones, lam = arb_mat([[arb(1)] for _ in B]), arb(facts.lam.numerator) / facts.lam.denominator
    parts = (X * T * ones * lam, inverse - X * T * X.transpose(), T * ones * (-lam), T * X.transpose())
    return [x for part in parts for x in part.entries()]


def near(ball: arb, x: Fraction) -> bool:
    """Whether the ball, a little larger, holds the number (central differences are off by about STEP^2)."""
    return bool(abs(ball - arb(x.numerator) / x.denominator) < 1e-15)


def test_the_papers_matrix_corrected() -> None:
    """X = I, y = (6, 8), lambda = 5: dw/dy = I - dr/dy = [[17/25, 6/25], [6/25, 41/50]], exactly (lambda M, not M, in
    D; with M it would be [[67/75, 2/25], [2/25, 47/50]])."""
    result = found(identity([6, 8]), F(5))
    exact = (F(8, 25), F(-6, 25), F(-6, 25), F(9, 50))
    assert all(near(x, e) for x, e in zip(result.dr_dy.entries(), exact, strict=True))
    assert near(result.freedom, F(3, 2))
    assert result.sure is not None
    assert near(result.sure, F(25) - F(1, 2) + F(1, 2) * F(3, 2))  # |r|^2 = lambda^2 = 25, n sigma^2 = 1/2


@pytest.mark.parametrize(("problem", "lam"), [(MIXED, F(1)), (MIXED, F(3)), (GATED, F(1))])
def test_both_ways_agree_and_so_do_differences(problem: Problem, lam: Fraction) -> None:
    """Kernel form and matrix D give overlapping balls of more than fifteen digits, and they hold the differences, in
    lambda and in every y_k."""
    result = found(problem, lam)
    parts = (result.dr_dlam, result.dr_dy, result.dalpha_dlam, result.dalpha_dy)
    with ctx.workprec(400):
        other = kernel_form(finer(facts_at(problem, lam)))
    assert all(a.overlaps(b) for a, b in zip([x for part in parts for x in part.entries()], other, strict=True))
    assert all(float(ball.rad()) < 1e-15 for ball in other)
    up, down = residual(problem, lam + STEP), residual(problem, lam - STEP)
    for ball, a, b in zip(result.dr_dlam.entries(), up, down, strict=True):
        assert near(ball, (a - b) / (2 * STEP))
        assert float(ball.rad()) < 1e-15
    for k in range(problem.n):
        moved = [
            replace(problem, y=tuple(x + sign * STEP if i == k else x for i, x in enumerate(problem.y)))
            for sign in (1, -1)
        ]
        up, down = (residual(other, lam) for other in moved)
        column = [result.dr_dy[i, k] for i in range(problem.n)]
        assert all(near(ball, (a - b) / (2 * STEP)) for ball, a, b in zip(column, up, down, strict=True))


@pytest.mark.parametrize(("problem", "lam"), [(MIXED, F(1)), (MIXED, F(3)), (GATED, F(1)), (identity([6, 8]), F(5))])
def test_the_certificate_has_the_same_derivatives(problem: Problem, lam: Fraction) -> None:
    """The rationals of the certificate are within their radius of the balls, and the radius is small."""
    facts, balls = facts_at(problem, lam), found(problem, lam)
    stated = facts.derivatives
    assert stated is not None
    assert stated.sure is not None and stated.by_y is not None
    assert balls.sure is not None
    assert stated.radius < F(1, 10**12)
    pairs = [*zip(balls.dr_dlam.entries(), stated.by_lam.r, strict=True)]
    pairs += zip(balls.dalpha_dlam.entries(), stated.by_lam.alpha, strict=True)
    pairs += zip(balls.dr_dy.entries(), (x for row in stated.by_y.r for x in row), strict=True)
    pairs += zip(balls.dalpha_dy.entries(), (x for row in stated.by_y.alpha for x in row), strict=True)
    reach = arb(0, float(stated.radius) * 1.01 + 1e-300)
    assert all(ball.overlaps(arb(x.numerator) / x.denominator + reach) for ball, x in pairs)
    assert stated.freedom is not None
    for ball, x in ((balls.sure, stated.sure.value), (balls.freedom, stated.freedom)):
        assert abs(float(ball.mid()) - float(x)) < 1e-12


def text_of(facts: Facts) -> str:
    """The certificate of the claim."""
    network_of = facts.problem.source
    source = Source("", "0" * 64, "csv", target=len(network_of.Z[0])) if network_of else Source("", "0" * 64, "json")
    return dumps(certificate(source, facts, decide(facts, ("sensitivity",))))


@pytest.mark.parametrize(
    ("problem", "lam", "verdict"),
    [
        (MIXED, F(1), Verdict.PROVED),
        (identity([6, 8]), F(5), Verdict.PROVED),
        (coordinates([2, 1]), F(1), Verdict.REFUTED),  # LICQ and strict complementarity hold, and yet it is a kink
        (coordinates([2, 1]), F(3), Verdict.PROVED),  # zero nearby
    ],
)
def test_verdicts_are_accepted_and_others_are_not(problem: Problem, lam: Fraction, verdict: Verdict) -> None:
    """The verdict is what theory says, the checker accepts it, and rejects the opposite."""
    facts = facts_at(problem, lam)
    (result,) = decide(facts, ("sensitivity",))
    assert result.verdict is verdict
    text = text_of(facts)
    assert [line.verdict for line in check(text.encode())] == [verdict]
    content = json.loads(text)
    content["claims"][0]["verdict"] = "REFUTED" if verdict is Verdict.PROVED else "PROVED"
    with pytest.raises(VerifyError):
        check(json.dumps(content).encode())


def test_bases_of_faces_have_numbers_of_one_size() -> None:
    """Data with long decimals give bases with huge entries; the columns are scaled, and span the same space."""
    basis = fmpq_mat([[fmpq(10**30), fmpq(1, 7)], [fmpq(-(10**31)), fmpq(0)], [fmpq(3), fmpq(-2, 7)]])
    even = _even(basis)
    assert [max(abs(even[i, j]) for i in range(3)) for j in range(2)] == [1, 1]
    both = fmpq_mat([[M[i, j] for M in (basis, even) for j in range(2)] for i in range(3)])
    assert both.rank() == even.rank() == 2


def test_derivatives_that_cannot_be_enclosed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """That the network is differentiable stays proved; there is no error, and no derivative."""

    def too_wide(facts: Facts, sigma: Fraction | None) -> NoReturn:
        raise ZeroDivisionError("matrix is singular")

    monkeypatch.setattr("relu_cert.driver.optimum.sensitivity", too_wide)
    found = certify([[-2], [-1], [1], [2]], [2, 1, 1, 2], "1/10", bias=True)
    assert found.facts.derivatives is None
    assert found.claims["sensitivity"].verdict is Verdict.PROVED


def test_json_has_the_derivatives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """X = I, y = (6, 8), lambda = 5, exactly: dr/dy = I - dw/dy, 3/2 degrees of freedom, SURE with noise 1/2."""
    monkeypatch.chdir(tmp_path)
    Path("p.json").write_text(json.dumps({"X": [[1, 0], [0, 1]], "groups": [[0, 1]], "K": [None], "y": [6, 8]}))
    assert main(["check", "p.json", "--lambda", "5", "--noise", "1/2", "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)["derivatives"]
    assert found["by_y"]["residual"] == [["8/25", "-6/25"], ["-6/25", "9/50"]]
    assert (found["radius"], found["degrees_of_freedom"]) == ("0", "3/2")
    assert found["sure"] == {"noise": "1/2", "value": "101/4", "radius": "0"}
    assert found["by_lambda"] == {"alpha": ["-2/5"], "residual": ["3/5", "4/5"]}
    assert main(["check", "p.json", "--lambda", "10", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["derivatives"] is None


def test_a_ball_without_digits_is_no_number() -> None:
    """Degrees of freedom that are not enclosed to a digit are not printed as if they were 0."""
    assert (_digits(arb(0, 1e7)), _digits(arb(3, 2)), _digits(arb(0)), _digits(arb(3))) == ("", "", "0", "3.000000000")
    facts = facts_at(MIXED, F(1, 2))
    assert facts.nearby is not None and facts.derivatives is not None
    wide = replace(facts, nearby=replace(facts.nearby, derivatives=replace(facts.derivatives, digits=("", ""))))
    (result,) = decide(wide, ["sensitivity"])
    assert result.verdict is Verdict.PROVED
    assert result.detail == "E = A and all faces are stable; the ball is too wide for the degrees of freedom."


def test_a_kink_without_force_beside_dependent_ones() -> None:
    """At a row with residual 0 that depends on the kinks of the neuron, the share of its multiplier was 0/0, and
    `check` crashed; nothing is said of the face there, and the rest is decided."""
    Z = [["1", "2", "2"], ["-2", "1/2", "1/2"], ["1", "0", "-1/2"], ["0", "-1/2", "1/2"], ["-1", "1/2", "0"]]
    found = certify(Z, [10, -1, -1, -1, 0], 3)
    assert str(found.claims["p-unique"].verdict) == "PROVED" and str(found.claims["licq"].verdict) == "REFUTED"
    found.recheck()
