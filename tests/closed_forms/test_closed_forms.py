"""Optima and paths as formulas: what is printed is proved, and agrees with the paper's definitions in sympy."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from sympy import Float, Poly, Rational, Symbol, nsolve, simplify, sqrt, symbols, sympify

from properties.symbolic.evidence import Evidence
from properties.symbolic.optimum import value
from properties.symbolic.reader import read_certificate
from relu_cert import certify, certify_group_lasso, path
from relu_cert.closed_forms import optimum as module
from relu_cert.closed_forms.numbers import expression
from relu_cert.closed_forms.optimum import closed_form, solved
from relu_cert.closed_forms.path import path_form
from relu_cert.prove.facts import BallSet
from relu_cert.prove.field import Field
from relu_cert.results.certified import Certified
from tests.cli.run import run
from tests.path.cases import facts_on, network

XOR = [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], [0, 1, 1, 0]
LINE = [[0, 1], [1, 1], [2, 1], [3, 1]], [0, 1, 0, 2]


@pytest.fixture(scope="module")
def xor() -> Certified:
    """Exclusive or, with a bias."""
    return certify(*XOR, "1/10")


def test_the_optimum_of_exclusive_or(xor: Certified) -> None:
    """p* and the weights in square and fourth roots, between the certified bounds, by many digits."""
    found = xor.exact
    assert found is not None
    root = Rational(3) ** Rational(1, 4)
    assert simplify(found.value - (sqrt(2) / 5 + (root**3 + 3 * root - 18) / 400)) == 0
    assert len(found.network) == 3 and found.lambda_max == sqrt(6)
    low, high = (Rational(x.numerator, x.denominator) for x in (xor.value.lower, xor.value.upper))
    assert low - Rational(1, 10**12) < found.value.evalf(60) < high + Rational(1, 10**12)
    for neuron in found.network:
        assert simplify(neuron.direction.dot(neuron.direction)) == 1
    outputs = [sum(n.sign * n.weight * max(n.direction.dot(z).evalf(50), 0) for n in found.network) for z in XOR[0]]
    assert all(abs(y - f - r) < 1e-40 for y, f, r in zip(XOR[1], outputs, found.residual, strict=True))


@pytest.mark.parametrize(
    ("Z", "y", "lam", "written"),
    [
        ([[1], [2], [-1]], [1, 3, 2], "1/2", "33/20"),
        ([[3, 0], [-3, 0], [0, 4], [0, -4]], [10, 10, 17, 17], 5, "52"),
        (*LINE, "1/10", "-191/1000 - 19*sqrt(10)/500 + sqrt(2)/5 + 3*sqrt(5)/10"),
        ([[1, 2], [3, -1], [2, 2]], [1, -2, 3], 100, "7"),
    ],
)
def test_values_in_closed_form(Z: list[list[int]], y: list[int], lam: object, written: str) -> None:
    """Rational optima, tied ones, those in a field that only a ball holds, and the zero network."""
    found = certify(Z, y, lam).exact
    assert found is not None and simplify(found.value - sympify(written)) == 0


def test_the_definitions_in_sympy_reach_the_same_number() -> None:
    """p* of a field is that of the residual which satisfies the KKT system in sympy."""
    found = certify([[3, 0], [-3, 0], [0, 4], [0, -4]], [10, 10, 17, 17], 5)
    best = Evidence(read_certificate(found.certificate.encode())).optimum
    assert best is not None and found.exact is not None
    assert best.program.reals.expression(value(best)) == found.exact.value
    assert len(best.vertices) == len(found.exact.vertices) == 2


def test_a_residual_off_by_a_little_is_no_formula(xor: Certified) -> None:
    """The residual in its field is proved; with 1e-30 more in one entry it is not, nor is a rational near it."""
    facts = xor.facts
    found = facts.optimal_set
    assert isinstance(found, BallSet)
    known = module._known(facts)
    assert known is not None
    given = facts.problem, facts.lam, found.classes
    radius = facts.fit.radius_squared + Fraction(1, 10**20)  # so that the ball does not decide it
    assert solved(*given, known.r, facts.dual.theta, radius) is not None
    off = (known.r[0] + Fraction(1, 10**30), *known.r[1:])
    assert solved(*given, off, facts.dual.theta, radius) is None
    rounded = tuple(x.near(400) for x in known.r)
    assert solved(*given, rounded, facts.dual.theta, radius) is None
    assert solved(*given, facts.problem.y, facts.dual.theta, Fraction(100)) is None  # a neuron is longer than lambda


def test_what_is_not_exact_has_no_formula(monkeypatch: pytest.MonkeyPatch, xor: Certified) -> None:
    """Without a residual that is proved there is nothing to print, and the report says so; nor for other losses."""
    monkeypatch.setattr(module, "guessed_residual", lambda *_: None)
    monkeypatch.setattr(module, "guesses", lambda *_: [])
    assert closed_form(xor.facts) is None
    assert closed_form(certify(*XOR, "1/10", l2="1/2").facts) is None


def test_numbers_of_large_degree_are_roots_of_stated_polynomials() -> None:
    """The root in the proved interval, and no other: x^5 - x - 1 and its conjugates."""
    from flint import fmpq_poly

    field = Field(fmpq_poly([-1, -1, 0, 0, 0, 1]), Fraction(1), Fraction(2))
    t = field.number([0, 1])
    found = expression(t)
    assert found**5 - found - 1 == 0 or abs((found**5 - found - 1).evalf(50)) < 1e-45
    assert abs(found.evalf(40) - Rational(*t.near().as_integer_ratio())) < 1e-35
    root = Field(fmpq_poly([-2, 0, 1]), Fraction(1), Fraction(2)).number([3, -1])
    assert expression(root) == 3 - sqrt(2)


def test_the_path_of_three_points_is_two_lines() -> None:
    """Weights linear, p* quadratic, breakpoints exact, and at their ends both formulas agree."""
    found = path([[1], [2], [-1]], [1, 3, 2], low="1/10").exact
    assert found.complete and found.breakpoints == (2,)
    upper, lower = found.stretches
    lam = Symbol("lambda", positive=True)
    assert (upper.lo, upper.hi, lower.hi) == (2, 7, 2)
    assert simplify(upper.value.subs(lam, 2) - lower.value.subs(lam, 2)) == 0
    assert [n.weight for n in lower.neurons] == [2 - lam, Rational(7, 5) - lam / 5]
    assert "breakpoint lambda = 2" in found.lines() and "\\lambda" in found.latex()


def test_a_formula_of_a_path_is_the_optimum_at_every_lambda() -> None:
    """Between the ends of a stretch p* is that of `check`; beyond them it is not."""
    Z, y = [[1], [2], [-1]], [1, 3, 2]
    found = path(Z, y, low="1/10").exact
    lam = Symbol("lambda", positive=True)
    for one, at in ((found.stretches[0], Fraction(9, 2)), (found.stretches[1], Fraction(4, 3))):
        best = certify(Z, y, at).exact
        assert best is not None and one.value.subs(lam, Rational(*at.as_integer_ratio())) == best.value
    best = certify(Z, y, "4/3").exact
    assert best is not None and found.stretches[0].value.subs(lam, Rational(4, 3)) != best.value


def test_group_lassos_have_formulas_too() -> None:
    """The conjecture's counterexample at its lambda: two vertices, each of one group."""
    found = certify_group_lasso([[5, 0, 3], [0, 10, 8]], [[0, 1], [2]], [6, 10], lam=25).exact
    assert found is not None and found.value == Rational(63, 2) and found.vertices == ((1, 0), (0, 1))


def test_exact_on_the_command_line(tmp_path: object) -> None:
    """--exact tells formulas, as text and as JSON that sympy reads; without it there are none."""
    common = ("check", "--example", "xor", "--quiet", "--certificate", f"{tmp_path}/a.json", "--force")
    told = run(*common, "--exact", "--json").json["exact"]
    assert simplify(sympify(told["value"]) - sympify("sqrt(2)/5 + (3**(3/4) + 3*3**(1/4) - 18)/400")) == 0
    assert "exact" not in json.loads(run(*common, "--json").out)
    assert "lambda_max = sqrt(6)" in run(*common, "--exact").out


def test_a_page_sets_its_formulas_itself(xor: Certified) -> None:
    """With formulas asked for, the page has them as MathML, and fetches nothing for it."""
    page = replace(xor.report, exact=True).html()
    assert "In closed form" in page and "<msqrt>" in page and "<math>" in page
    assert "In closed form" not in xor.html()


def test_explain_shows_one() -> None:
    """`explain` knows the word."""
    assert "3*sqrt(2)/2" in run("explain", "closed form").out


def test_one_neuron_moves_beside_a_ray() -> None:
    """Three points with a bias, the whole path: at a lambda of the middle stretch relation and p* hold for an alpha,
    and the second breakpoint, a root of degree 8, lies in the interval that was proved."""
    found = path([[0], [1], [2]], [0, 1, 0], low="1/10", bias=True)
    assert found.exact.complete
    way = found.exact.moving[1]
    alpha, lam = symbols("alpha lambda", positive=True)
    assert (way.lo, way.hi) == (found.exact.breakpoints[2], found.exact.breakpoints[1])
    at = Rational(str(((way.lo + way.hi) / 2).evalf(9)))
    value = certify([[0], [1], [2]], [0, 1, 0], Fraction(int(at.p), int(at.q)), bias=True).value
    roots = Poly(way.relations[0].subs(lam, at), alpha).nroots(n=40)
    told = [way.value.subs({lam: at, alpha: x}).evalf(40) for x in roots if x.is_real and x > 0]
    assert any(abs(v - Float(str(float(value.upper)), 40)) < 1e-12 for v in told)
    one = found.breakpoints[1]
    assert one.lo < Fraction(str(found.exact.breakpoints[1].evalf(30))) < one.hi


def test_neurons_that_move_together_have_one_formula() -> None:
    """A gated network on a square: four neurons share a weight; p* of the formula is that of `check`, and with another
    sum it is not."""
    facts = facts_on(network([[3, 0], [-3, 0], [0, 4], [0, -4]], [10, 10, 17, 17], "gated"), *map(Fraction, (5, 4, 6)))
    assert facts.path is not None
    (way,) = path_form(facts.problem, facts.lambda_max, facts.path.cover, ()).moving
    assert way.shared and len(way.movers) == 4 and (way.lo, way.hi) == (4, 6)
    (alpha,) = way.square.free_symbols
    x = nsolve(way.square - 25, alpha, 0.3, prec=40)
    assert abs(way.value.subs(alpha, x) - float(facts.value.upper)) < 1e-9
    assert abs(way.value.subs(alpha, 2 * x) - float(facts.value.upper)) > 1


def test_two_minimal_networks_are_the_ends_of_a_segment() -> None:
    """The weights of all optimal networks are linear in t: at 0 and 1 those of the two minimal ones."""
    found = certify([[3, 0], [-3, 0], [0, 4], [0, -4]], [19, 10, 33, 17], 5).exact
    assert found is not None
    t = Symbol("t", nonnegative=True)
    ends = [tuple(w.subs(t, k) for w in found.segment) for k in (0, 1)]
    assert ends == list(found.vertices) and sorted(ends[0]) == [0, 0, 5, 10] and sorted(ends[1]) == [0, 5, 5, 5]


def test_neurons_that_mirror_each_other_have_one_formula() -> None:
    """The ReLU square: four neurons share a weight for every lambda up to lambda_max, their directions move; p* is that
    of `check`, and the stretch ends at lambda_max, exactly."""
    data = [[3, 0], [-3, 0], [0, 4], [0, -4]], [10, 10, 17, 17]
    found = path(*data, low="1/50").exact
    (way,) = found.moving
    assert found.complete and way.shared and len(way.movers) == 4 and way.hi == 2 * sqrt(1381)
    (alpha,) = way.square.free_symbols
    x = nsolve(way.square - 25, alpha, 0.5, prec=40)
    lam = Symbol("lambda", positive=True)
    assert abs(way.value.subs(alpha, x) - 52) < 1e-30
    units = {tuple(round(float(a.subs({alpha: x, lam: 5})), 12) for a in one.direction) for one in way.movers}
    assert units == {(a, b) for a in (-0.6, 0.6) for b in (-0.8, 0.8)}


def test_a_stretch_with_a_neuron_that_moves_ends_at_exact_breakpoints() -> None:
    """Exclusive or: from lambda_max down to the lambda at which two mirrored neurons tie, in radicals; with an event
    that is another, or none, the end stays where the pieces proved it."""
    found = path(*XOR, low="1/20").exact
    (way,) = found.moving
    assert (way.hi, way.lo) == found.breakpoints and way.hi == sqrt(6)
    assert found.ways[1].hi == way.lo and "CRootOf" not in str(way.lo)


def test_two_neurons_that_move_have_equations() -> None:
    """The stationarity of the network, in weights and directions: they and p* hold at a lambda of the stretch, from the
    numbers near it; what is no formula is enclosed."""
    found = path([[-1], [0], [2]], [1, 0, 1], low="1/10", bias=True).exact
    way = next(way for way in found.moving if len(way.movers) == 2)
    near = {str(name): Rational(x) for name, x in way.near}
    lam = Symbol("lambda", positive=True)
    names = sorted({x for r in way.relations for x in r.free_symbols} - {lam}, key=str)
    assert len(names) == len(way.relations) == 6
    at = Rational(str(((way.lo + way.hi) / 2).evalf(6)))
    x = [near[str(name)] for name in names]
    for here in (near["lambda"] + (at - near["lambda"]) * Rational(k, 4) for k in range(5)):
        x = list(nsolve([r.subs(lam, here) for r in way.relations], names, x, prec=40))
    told = certify([[-1], [0], [2]], [1, 0, 1], Fraction(int(at.p), int(at.q)), bias=True)
    value = way.value.subs(dict(zip(names, x, strict=True)) | {lam: at})
    assert abs(value - Float(str(float(told.value.upper)), 40)) < 1e-12
    assert way.words == "2 neurons that move, w_i = |w_i| and u_i by these equations"
    unknown = [k for k, one in enumerate(found.breakpoints) if one is None]
    lines = [line for line in found.lines() if line.startswith("breakpoint lambda in [")]
    assert unknown and len(lines) == len(unknown) and not found.complete


def test_notebooks_and_pages_show_formulas(xor: Certified, tmp_path: object) -> None:
    """LaTeX in a notebook, MathML on the page of a path."""
    assert xor.exact is not None and xor.exact._repr_latex_().startswith("$$\\begin{aligned}p^{*} &=")
    found = path([[1], [2], [-1]], [1, 3, 2], low="1/10")
    assert "\\lambda_{from} &= 7" in found.exact._repr_latex_()
    page = replace(found.report, exact=True).html()
    assert "In closed form" in page and "<mfrac>" in page and "from λ" in page
    assert "In closed form" not in found.report.html()
    signs = path([[1], [2], [-1]], [1, 3, -2], low="1/10")
    assert "\\xi_{2} &= -1" in signs.exact.latex() and "ξ_2" in replace(signs.report, exact=True).html()
