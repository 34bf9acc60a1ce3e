"""Several outputs, free terms, sets and slopes as formulas: they solve the optimality conditions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq_mat
from sympy import Matrix, Rational, log, simplify, sqrt, sympify

from relu_cert import certify
from relu_cert.closed_forms import outputs as module
from relu_cert.closed_forms.numbers import said
from relu_cert.closed_forms.optimum import ClosedForm, closed_form
from relu_cert.evidence import Alone
from relu_cert.outputs.optimum import setting
from relu_cert.outputs.sharpen import columns_on
from relu_cert.results.certified import Certified
from tests.cli.run import run

Z4, y4 = [[1, 0], [0, 1], [1, 1], [-1, 1]], [2, -1, 0, 3]
SEVERAL: dict[str, dict[str, Any]] = {
    "antipodal rows": {"Z": [[1], [-1]], "y": [[3, 1], [1, 2]], "lam": "1/2"},
    "three rows": {"Z": [[1], [2], [-1]], "y": [[1, 0], [3, 1], [2, 2]], "lam": "1/2"},
    "an output bias": {"Z": [[1], [2], [-1]], "y": [[1, 0], [3, 1], [2, 2]], "lam": "1/2", "free": "output-bias"},
    "sets": {"Z": [[1], [2], [-1]], "y": [[1, 0], [1, 0], [2, 2]], "bags": ["a", "a", "b"], "lam": "1/4"},
    "a field of degree 12": {"Z": [[1, 1], [2, 0], [-1, 1]], "y": [[3, 4], [3, 4], [6, 8]], "lam": 1},
    "three outputs": {"Z": [[1], [-1]], "y": [[3, 1, 0], [1, 2, 2]], "lam": 1},
}


def exact(found: Certified) -> ClosedForm:
    """The closed form, which is there."""
    assert found.exact is not None
    return found.exact


@pytest.mark.parametrize("options", SEVERAL.values(), ids=SEVERAL)
def test_several_outputs_solve_the_optimality_conditions(options: dict[str, Any]) -> None:
    """Y - fit is Theta, |Theta'P(Zu)_+| = lambda along the output of each neuron, p* is the objective and lies within
    the certified bounds: to forty digits."""
    found = certify(**options)
    one, lam = exact(found), Rational(str(options["lam"]))
    bags = options.get("bags", range(len(options["Z"])))
    names, C = sorted(set(bags)), len(options["y"][0])
    Y = Matrix([options["y"][list(bags).index(name)] for name in names])
    Theta = Matrix(len(names), C, list(one.residual))

    def seen(u: Any) -> Matrix:
        heights = [max(Matrix(z).dot(u).evalf(60), 0) for z in options["Z"]]
        parts = [[h for h, bag in zip(heights, bags, strict=True) if bag == name] for name in names]
        return Matrix([sum(part) / len(part) for part in parts])

    fit = Matrix.ones(len(names), 1) * Matrix([list(one.free[0])]) if one.free else Matrix.zeros(len(names), C)
    for neuron in one.network:
        assert abs(neuron.direction.dot(neuron.direction).evalf(60) - 1) < 1e-40
        fit += neuron.weight * seen(neuron.direction) * neuron.output.T
        pull = Theta.T * seen(neuron.direction) - lam * neuron.output
        assert max(abs(x.evalf(60)) for x in pull) < 1e-40
    assert max(abs(x.evalf(60)) for x in Y - fit - Theta) < 1e-40
    cost = sum(x * x for x in Theta) / 2 + lam * sum(neuron.weight for neuron in one.network)
    assert abs((cost - one.value).evalf(60)) < 1e-40
    low, high = (Rational(x.numerator, x.denominator) for x in (found.value.lower, found.value.upper))
    assert low - Rational(1, 10**40) < one.value.evalf(60) < high + Rational(1, 10**40)


def test_values_of_several_outputs() -> None:
    """p* in radicals; the zero network; two optimal networks of a continuum."""
    assert simplify(exact(certify(**SEVERAL["antipodal rows"])).value - sympify("(2*sqrt(5) + 2*sqrt(10) - 1)/4")) == 0
    assert exact(certify([[1], [2]], [[1, 0], [3, 1]], 100)).value == Rational(11, 2)
    two = exact(certify([[1, 0], [0, 1]], [[3, 1], [1, 2]], 1))
    assert two.value == 4 and len(two.vertices) == 2 and not two.segment
    assert any("two different optimal networks" in line for line in two.lines())


def test_theta_off_by_a_little_is_no_formula() -> None:
    """The residual in its field is proved; with 1e-30 more in one entry, or rounded to a hundred digits, it is not; nor
    is a network outside of the box of the optimal one."""
    facts = certify(**SEVERAL["antipodal rows"]).facts
    known = module.closed_outputs(facts)
    assert known is not None and isinstance(facts.alone, Alone)
    given = setting(facts.problem)
    faces = module._faces(given.lines.rows, given.basis, facts.alone.classes)
    spans, J, _ = columns_on(facts.problem, given.lines, faces)
    assert [span.ncols() for span in spans] == [1, 1]
    maps = list(zip(spans, _columns(J), strict=True))
    assert module._stationary(facts, facts.alone, known.theta, maps, ()) is not None
    off = (known.theta[0] + Fraction(1, 10**30), *known.theta[1:])
    assert module._stationary(facts, facts.alone, off, maps, ()) is None
    rounded = tuple(x.near(400) for x in known.theta)
    assert module._stationary(facts, facts.alone, rounded, maps, ()) is None
    (u, F, weight), *rest = known.neurons
    moved = module.ClosedOutputs(known.theta, ((u, F, weight + Fraction(1, 10**3)), *rest))
    assert module._only(facts, facts.alone, faces, known)
    assert not module._only(facts, facts.alone, faces, moved)


def _columns(J: Any) -> list[fmpq_mat]:
    return [fmpq_mat([[row[k]] for row in J.tolist()]) for k in (0, 1)]


@pytest.mark.parametrize(
    ("options", "value", "free"),
    [
        ({"Z": [[0], [1], [2], [3]], "y": [4, -3, 1, 8], "lam": 4, "bias": True, "free": "biases"}, "27", ("1",)),
        ({"free": "output-bias,skip"}, "7/4", ("5/2", "-1/2", "-5/2")),
        ({"Z": [[1], [2], [-1]], "y": [1, 3, 2], "lam": "1/2", "free": "output-bias"}, "15/16", ("7/4",)),
    ],
)
def test_free_terms_have_formulas(options: dict[str, Any], value: str, free: tuple[str, ...]) -> None:
    """p* and the free coefficients in rationals; two minimal networks have their own."""
    found = certify(**({"Z": Z4, "y": y4, "lam": "1/2"} | options))
    one = exact(found)
    assert one.value == sympify(value) and one.free[0] == tuple(map(sympify, free))
    assert found.value.lower <= Fraction(value) <= found.value.upper
    if one.segment:
        assert len(set(one.free)) == 2 and any("*t" in line for line in one.lines() if "free" in line)


@pytest.mark.long
def test_sets_slopes_and_decayed_biases_have_formulas() -> None:
    """Their values lie within the certified bounds; roots of polynomials are told with what encloses them."""
    for options in (
        {"bags": ["a", "a", "b", "c"], "y": [2, 2, 0, 3]},
        {"slope": "1/4"},
        {"bias": True, "decayed_bias": True},
        {},
    ):
        found = certify(**({"Z": Z4, "y": y4, "lam": "1/2"} | options))
        told, one = found.value, exact(found)
        low, high = (Rational(x.numerator, x.denominator) for x in (told.lower, told.upper))
        assert low - Rational(1, 10**12) < one.value.evalf(60) < high + Rational(1, 10**12)
        assert " in [" in one.lines()[0]


def test_logarithms_have_a_formula_where_the_network_is_zero() -> None:
    """Each data point costs log 2, or the logarithm of the number of classes; elsewhere there is none."""
    assert exact(certify(Z4, [1, -1, 1, 1], 100, loss="logistic")).value == 4 * log(2)
    assert exact(certify(Z4, ["a", "b", "c", "a"], 100, loss="softmax")).value == 4 * log(3)
    assert closed_form(certify(Z4, [1, -1, 1, 1], "1/10", loss="logistic").facts) is None


def test_roots_are_told_with_what_encloses_them() -> None:
    """Radicals stand for themselves; a root of a polynomial has twelve decimals, rounded outwards, also below zero."""
    root = sympify("CRootOf(x**5 - x - 1, 0)")
    assert said(sqrt(2)) == "sqrt(2)"
    assert said(root).endswith("in [1.167303978261, 1.167303978262]")
    assert said(-root).endswith("in [-1.167303978262, -1.167303978261]")


def test_several_outputs_on_the_command_line(tmp_path: Any) -> None:
    """--exact tells the directions of the outputs, as text and as JSON that sympy reads."""
    data = tmp_path / "a.csv"
    data.write_text("x,y1,y2\n1,3,1\n-1,1,2\n")
    common = ("check", str(data), "--target", "y1,y2", "--lambda", "1/2", "--quiet", "--exact")
    assert "-> (3*sqrt(10)/10, sqrt(10)/10)" in run(*common, "--certificate", f"{tmp_path}/a.json").out
    told = run(*common, "--json", "--certificate", f"{tmp_path}/b.json").json["exact"]
    assert [sympify(x) for x in told["tied"][0]["output"]] == [3 * sqrt(10) / 10, sqrt(10) / 10]
