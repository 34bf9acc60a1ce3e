"""Users of the lasso and the group lasso: their conventions, their files, their solvers' coefficients, their words."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

import relu_cert
from relu_cert import certify_group_lasso, certify_solution
from relu_cert.errors import DataError
from relu_cert.exact import rational
from relu_cert.lasso import group_columns, group_weights, lasso, read_coefficients, read_lasso
from relu_cert.problem.direct import texts
from relu_cert.words import of_groups
from tests.cli.run import run
from tests.report.pages import Page
from verify.__main__ import main as verify


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Files are written into a folder of their own."""
    monkeypatch.chdir(tmp_path)


def data(seed: int = 0, n: int = 30, d: int = 12) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    return X, X[:, :3] @ [1.0, -2.0, 1.5] + 0.3 * draw.normal(size=n) + 4.0


def objective(X, y, w, b, lam, groups, omega, average) -> float:
    """As users write it, in floats."""
    loss = ((y - X @ w - b) ** 2).sum() / (2 * len(y) if average else 2)
    return loss + lam * sum(o * np.linalg.norm(w[list(g)]) for g, o in zip(groups, omega, strict=True))


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", [None, "sqrt", [1, "1/2", 3, 2]])
def test_conventions(average, intercept, weights):
    """The optimum in the user's units is the objective of the coefficients, and nothing near them is better."""
    X, y = data()
    lam = 0.05 if average else 1.5
    found = certify_group_lasso(
        X, 3, y, lam, weights=weights, intercept=intercept, average=average, claims=["optimal", "convex-unique"]
    )
    groups = [range(i, i + 3) for i in range(0, 12, 3)]
    omega = {None: [1] * 4, "sqrt": [np.sqrt(3)] * 4}.get(
        weights if weights != [1, "1/2", 3, 2] else "", [1, 0.5, 3, 2]
    )
    here = objective(X, y, found.coef_, found.intercept_, lam, groups, omega, average)
    assert here == pytest.approx(float(found.objective.upper), rel=1e-9)
    draw = np.random.default_rng(1)
    for _ in range(50):
        near = found.coef_ + 1e-3 * draw.normal(size=12)
        b = found.intercept_ + intercept * 1e-3 * draw.normal()
        assert objective(X, y, near, b, lam, groups, omega, average) > here
    assert str(found.claims["convex-unique"].verdict) == "PROVED"


def test_groups_in_every_form():
    """A size, labels and lists mean the same; what does not fit is told."""
    lists = ((0, 1), (2, 3))
    assert group_columns(2, 4) == group_columns(["a", "a", "b", "b"], 4) == group_columns([[0, 1], [2, 3]], 4) == lists
    assert group_columns(np.array([7, 8, 7, 8]), 4) == ((0, 2), (1, 3))
    assert group_columns("u,u,v,v", 4) == lists
    for wrong in (3, 0, ["a"], "a,b"):
        with pytest.raises(DataError, match="columns"):
            group_columns(wrong, 4)
    assert group_weights("sqrt", lists) == (F(np.sqrt(2)),) * 2
    for wrong in ([1], [1, 0], [1, -1]):
        with pytest.raises(DataError, match="weights"):
            group_weights(wrong, lists)


def test_a_given_solution_is_enclosed_exactly():
    """X = I, y = (3, 4), lambda = 1: the optimum is (2, 3); the distance of (2, 2) is 1/2 exactly."""
    found = certify_solution([[1, 0], [0, 1]], 1, [3, 4], 1, [2, 2])
    assert found.optimum.coefficients == (2, 3)
    assert found.distance.lower <= F(1, 2) <= found.distance.upper
    assert found.distance.upper - found.distance.lower < F(1, 10**30)
    assert str(found.claims["solution-optimal"].verdict) == "REFUTED"
    assert "not optimal" in found.headline and "unique" in found.headline
    best = certify_solution([[1, 0], [0, 1]], 1, [3, 4], 1, [2, 3])
    assert best.relative_gap == 0 and str(best.claims["solution-optimal"].verdict) == "PROVED"


def test_a_wrong_intercept_costs_what_it_costs():
    """n/2 times the square of its distance from the best one."""
    X, y = data()
    best = certify_group_lasso(X, 1, y, 1.0, intercept=True, claims=["optimal"])
    right = certify_solution(X, 1, y, 1.0, best.coef_, intercept=best.intercept_)
    wrong = certify_solution(X, 1, y, 1.0, best.coef_, intercept=best.intercept_ + 0.1)
    assert str(right.result.verdict) == "PROVED" and str(wrong.result.verdict) == "REFUTED"
    assert float(wrong.distance.upper) == pytest.approx(30 / 2 * 0.1**2, rel=1e-6)


def test_two_solutions_are_told():
    """Equal columns: any split of the coefficient is optimal, and the sentence says that there are others."""
    found = certify_solution([[1, 1], [0, 0]], 1, [3, 0], 1, [1, 1])
    assert str(found.result.verdict) == "PROVED"
    assert found.headline == "These coefficients are optimal up to a relative 0; there are other solutions; proved."


def test_coefficients_outside_the_cone_are_refused():
    """Constraints are not forgotten."""
    with pytest.raises(DataError, match="group 0 do not obey"):
        certify_solution([[1]], 1, [3], 1, [-1], K=[[[-1]]])


def test_scikit_learn():
    """Its Lasso, with intercept and 1/(2n), straight from the fitted model; a loose tolerance is caught."""
    from sklearn.linear_model import Lasso

    X, y = data(3, 60, 30)
    tight = Lasso(alpha=0.05, tol=1e-10, max_iter=100000).fit(X, y)
    found = certify_solution(X, 1, y, 0.05, tight, intercept=float(tight.intercept_), average=True)
    assert str(found.result.verdict) == "PROVED" and found.relative_gap < F(1, 10**8)
    loose = Lasso(alpha=0.05, tol=0.5).fit(X, y)
    caught = certify_solution(X, 1, y, 0.05, loose, intercept=float(loose.intercept_), average=True)
    assert caught.relative_gap > found.relative_gap
    assert np.allclose(found.optimum.coef_, tight.coef_, atol=1e-4)


def test_a_fitted_model_knows_its_conventions():
    """Without `intercept` and `average` it is judged in its own objective; coefficients alone know nothing."""
    from sklearn.linear_model import Lasso

    X, y = data(3, 60, 30)
    for free in (True, False):
        model = Lasso(alpha=0.05, tol=1e-10, max_iter=100000, fit_intercept=free).fit(X, y)
        told = certify_solution(X, 1, y, 0.05, model, intercept=free and float(model.intercept_), average=True)
        found = certify_solution(X, 1, y, 0.05, model)
        assert found.objective == told.objective and str(found.result.verdict) == "PROVED", found.headline
    other = certify_solution(X, 1, y, 0.05, model, average=False)
    assert str(other.result.verdict) == "REFUTED"
    assert str(certify_solution(X, 1, y, 0.05, model.coef_).result.verdict) == "REFUTED"


@pytest.mark.parametrize("library", ["celer", "skglm"])
def test_group_lasso_solvers(library):
    """The group lassos of celer and skglm, where they are installed."""
    module = pytest.importorskip(library)
    X, y = data(5, 40, 20)
    y = y - y.mean()
    model = module.GroupLasso(groups=4, alpha=0.05, fit_intercept=False, tol=1e-9).fit(X, y)
    found = certify_solution(X, 4, y, 0.05, model, average=True)
    assert str(found.result.verdict) == "PROVED", found.headline
    assert str(found.unique) == "PROVED"


def test_json_with_decimals_weights_and_the_rest():
    """0.35 is 7/20, as in a CSV file; groups may be a size; the certificate is about the plain problem beside it."""
    problem = {"X": [[1, 0.35], [0, 2]], "groups": 1, "y": [1.5, 2], "weights": [1, 2], "intercept": False}
    Path("p.json").write_text(json.dumps(problem))
    assert ((1, F(7, 20)), (0, 2)) == read_lasso("p.json").X
    ran = run("check", "p.json", "--lambda", "0.1", "--json")
    assert ran.code == 0, ran.err
    assert verify(["p.cert.json", "--data", "p.problem.json", "--quiet"]) == 0
    assert run("check", "p.json", "--lambda", "0.1").code == 0
    same = certify_group_lasso([["1", "0.35"], [0, 2]], 1, ["1.5", 2], "0.1", weights=[1, 2])
    assert ran.json["value"]["upper"] == str(same.value.upper)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "expected an object"),
        ('{"X": [[1]], "groups": 1, "y": [1], "Y": 2}', "unknown key"),
        ('{"X": [[1]], "y": [1]}', "'groups' is missing"),
        ('{"X": [[1, 2]], "groups": [0], "y": [1.5]}', "groups"),
        ('{"X": [[1.5]], "groups": 1, "y": [1], "intercept": 3}', "true or false"),
        ('{"X": [["a"]], "groups": 1, "y": [1]}', "X[0, 0]"),
    ],
)
def test_what_is_wrong_with_a_problem_is_told(text, said):
    """A sentence that names the file."""
    Path("p.json").write_text(text)
    with pytest.raises(DataError) as told:
        read_lasso("p.json")
    assert said in str(told.value) and "p.json" in str(told.value)


def test_csv_and_the_command_solution():
    """X and y as CSV, coefficients as text or .npy: objective, distance, table, two certificates that are accepted."""
    Path("d.csv").write_text("a,b,y\n1,0,3\n0,1,4\n")
    Path("w.txt").write_text("2, 2.5\n")
    ran = run("solution", "w.txt", "d.csv", "--lambda", "1", "--html", "w.html")
    assert ran.code == 0, ran.err
    page = Page(Path("w.html").read_text())
    assert "These coefficients are not optimal" in page.prose and "solution-optimal" in page.prose
    assert "group given optimal largest difference" in page.prose and "1 2.5 3 0.5" in page.prose
    assert ran.out.startswith("These coefficients are not optimal")
    assert any(line.split() == ["1", "2.5", "3", "0.50"] for line in ran.out.splitlines())
    for name in ("w.solution.cert.json", "w.solution.optimum.cert.json"):
        given = "" if "optimum" in name else " --solution w.txt"
        command = f"python -m verify {name} --data w.solution.problem.json{given}"
        assert f"re-check it  {command}" in ran.out.splitlines() and command in page.prose
        assert verify([*command.split()[3:], "--quiet"]) == 0
    np.save("w.npy", np.array([2.0, 3.0]))
    exact = run("solution", "w.npy", "d.csv", "--lambda", "1", "--json")
    assert exact.json["relative_gap"] == "0" and exact.json["optimal"] == ["2", "3"]
    short = run("solution", "w.npy", "d.csv", "--lambda", "1", "--groups", "3")
    assert short.code == 65 and "do not divide" in short.err
    Path("three.txt").write_text("1 2 3")
    assert "expected 2, one for each column" in run("solution", "three.txt", "d.csv", "--lambda", "1").err
    assert read_coefficients("w.txt", 2) == (2, F(5, 2))


def test_the_table_of_coefficients_fits_the_terminal():
    """Groups of four are shown in lines of 80 columns; one group speaks of one output."""
    X, y = [[int(i == j) for j in range(4)] for i in range(4)], ["1/3", "5/7", "-8/9", "11/13"]
    narrow = certify_solution(X, 4, y, "1/10", [0.1234567, 0.7654321, -0.8888888, 0.9]).to_text()
    assert max(map(len, narrow.splitlines())) <= 80
    assert "    0  (0.123457, 0.765432, -0.888889, 0.9)" in narrow and "given, and below it optimal" in narrow
    assert "1 group can be active; its output is not zero." in " ".join(narrow.split())


def test_check_solves_a_group_lasso_of_columns():
    """`check --groups` on CSV data; the report has coefficients, an intercept and the optimum in the user's units."""
    Path("d.csv").write_text("a,b,c,d,y\n1,2,0.5,1,3\n0.25,1,1,0,1\n2,-1,0,0.35,2\n1,1,1,2,5\n0,3,1,-1,2\n")
    ran = run("check", "d.csv", "--groups", "2", "--weights", "sqrt", "--intercept", "--average", "--lambda", "0.1")
    assert ran.code == 0, ran.err
    assert "the loss divided by n, a free intercept, weights of the groups" in " ".join(ran.out.split())
    assert "intercept" in ran.out and "columns 0, 1" in ran.out
    X = np.array([[1, 2, 0.5, 1], [0.25, 1, 1, 0], [2, -1, 0, 0.35], [1, 1, 1, 2], [0, 3, 1, -1]])
    found = certify_group_lasso(X, 2, [3, 1, 2, 5, 2], 0.1, weights="sqrt", intercept=True, average=True)
    assert f"{found.intercept_:.5f}" in ran.out
    assert "say --groups" in run("check", "d.csv", "--intercept").err
    assert "for networks" in run("check", "d.csv", "--groups", "1", "--model", "gated").err


def test_a_group_lasso_has_groups_not_neurons():
    """Neither the report nor the page of a group lasso speaks of neurons, networks or patterns."""
    Path("p.json").write_text(json.dumps({"X": [[1, 1, 0], [0, 2, 1]], "groups": [[0], [1, 2]], "y": [3, 1]}))
    ran = run("check", "p.json", "--html", "p.html", "--lambda", "1/3")
    words = ("neuron", "network", "pattern")
    assert not [word for word in words if word in ran.out]
    table = Path("p.html").read_text().split('id="verdicts"')[1].split("</table>")[0]
    assert not [word for word in words if word in table]
    assert of_groups("two optimal networks of width 3 on 1 neuron") == "two solutions with 3 active on 1 group"


def test_general_position_is_asked_for_by_name():
    """It takes long and is rarely wanted: no line without the name, a verdict with it."""
    Path("p.json").write_text(json.dumps({"X": [[1, 1]], "groups": [[0], [1]], "y": [3]}))
    assert "general-position" not in run("check", "p.json", "--lambda", "1").out
    asked = run("check", "p.json", "--lambda", "1", "--claims", "ggp,general-position", "--json")
    assert [c["claim"] for c in asked.json["claims"]] == ["ggp", "general-position"]
    assert "ggp" not in certify_group_lasso([[1, 1]], 1, [3], 1).claims
    assert str(certify_group_lasso([[1, 1]], 1, [3], 1, claims=["ggp"]).claims["ggp"].verdict) == "REFUTED"


def test_reprs_and_saving():
    """Short, and what is saved is accepted."""
    found = certify_solution([[1, 0], [0, 1]], 1, [3, 4], 1, [2, 2])
    assert len(repr(found)) < 200 and repr(found.optimum).startswith("<CertifiedGroupLasso: The solution is unique")
    found.save("a.json", optimum="b.json", data="p.json")
    assert verify(["a.json", "--data", "p.json", "--quiet"]) == verify(["b.json", "--data", "p.json", "--quiet"]) == 0
    assert found.to_dict()["claims"][0]["claim"] == "solution-optimal"
    assert "REFUTED" in str(found) and relu_cert.CertifiedSolution is type(found)
    assert lasso([[1]], 1, [1]).is_plain


@pytest.mark.parametrize(
    "more",
    [{}, {"l2": "1/3"}, {"interval": ("1/4", "1/2")}, {"average": True}, {"weights": "sqrt"}, {"intercept": True}],
)
def test_an_array_of_doubles_gives_what_its_fractions_give(more):
    """The fast way of arrays and the slow way of lists end at the same certificate, which can be pickled."""
    g = np.random.default_rng(3)
    X, y = g.standard_normal((8, 6)), g.standard_normal(8)
    fast = certify_group_lasso(X, 2, y, "1/3", **more)
    slow = certify_group_lasso([[F(x) for x in row] for row in X.tolist()], 2, y, "1/3", **more)
    assert fast.certificate == slow.certificate
    assert pickle.loads(pickle.dumps(fast)).certificate == fast.certificate


def test_general_position_is_not_looked_at_unless_it_is_named():
    """Neither for a group lasso nor for given coefficients; by its name it is decided."""
    X, y = [[1, 0], [0, 2]], [3, 4]
    assert certify_group_lasso(X, 1, y, 1).facts.ggp is None
    assert certify_solution(X, 1, y, 1, [2, 1.75]).optimum.facts.ggp is None
    assert str(certify_group_lasso(X, 1, y, 1, claims=["ggp"]).claims["ggp"].verdict) == "PROVED"


def test_doubles_are_written_as_the_fractions_they_are():
    """Zero, whole numbers, the smallest and the largest double: p or p/q in lowest terms."""
    rows = [[0.0, -0.0, 1.0, -2.5, 5e-324, 1.7976931348623157e308], [1e22, 3.0, -1 / 3, 2.0**60, 6.25e-2, -5e-324]]
    assert texts(np.array(rows)) == [" ".join(rational(F(x)) for x in row) for row in rows]


def test_lambda_max_knows_the_constraints():
    """Where w >= 0, a column that would enter with the other sign does not count: lambda_max is 1, and not 2."""
    X, y, K = [[1, 0], [0, 1]], [1, -2], [[[-1]], [[-1]]]
    assert certify_group_lasso(X, 1, y, 1, K=K).weights == {}
    assert list(certify_group_lasso(X, 1, y, "99/100", K=K).weights) == [0]
    assert certify_group_lasso(X, 1, y, lambda_ratio="1/2", K=K).lam == F(1, 2)
    assert certify_group_lasso(X, 1, y, lambda_ratio="1/2").lam == 1


def test_the_dual_point_of_doubles_is_short():
    """Rounded inside the bounds it needs no shrinking, which would double its digits: 40 digits are 160 bits."""
    X, y = data()
    found = certify_group_lasso(X, 3, y, lambda_ratio=F(1, 4), claims=["optimal", "p-unique"])
    theta = json.loads(found.certificate)["facts"]["dual"]["theta"].split()
    assert max(F(x).denominator.bit_length() for x in theta) < 170
