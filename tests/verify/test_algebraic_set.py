"""The fact `algebraic_set`: optima in fields of real algebraic numbers, and the arithmetic they rest on."""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import verify
from relu_cert.api import certify
from tests.verify.build import number_fields
from tests.verify.build.number_fields import algebraic, numbers
from tests.verify.mutate import mutants
from tests.verify.test_optimal_set import FLIPPED, accepted, drop, in_order, put, several, stated, with_verdicts
from verify import Rejected, check
from verify.numbers.field import Field, Number, read_field
from verify.text import Limits, Node, load

Edit = Callable[[dict[str, Any]], None]


@pytest.mark.parametrize("name", number_fields.ALGEBRAIC)
def test_algebraic_sets_are_accepted(name: str) -> None:
    """Every planted set is accepted with its known verdicts, and with no other."""
    case = algebraic(name)
    lines = {line.claim: line.verdict for line in check(case.text, case.raw)}
    p, convex = stated(case.certificate)
    assert (lines["p-unique"], lines["convex-unique"]) == (p, convex)
    for verdicts in ({"p": FLIPPED[p]}, {"convex": FLIPPED[convex]}):
        assert not accepted(in_order(with_verdicts(case.certificate, **verdicts)))


def changed(name: str, edit: Edit) -> dict[str, Any]:
    """A planted certificate with its `algebraic_set` edited in place."""
    tree = copy.deepcopy(algebraic(name).certificate)
    edit(tree["facts"]["algebraic_set"])
    return tree


def field(polynomial: str, lo: str = "1", hi: str = "2") -> Edit:
    """The edit that states another field."""
    return put("field", to={"polynomial": polynomial, "lo": lo, "hi": hi})


LIFTED = {"field": {"polynomial": "6 0 -5 0 1", "lo": "7/5", "hi": "3/2"}}  # (x^2 - 2)(x^2 - 3), t = sqrt 2


def reducible(fact: dict[str, Any]) -> None:
    """The diagonal's numbers with a residual that is right at t, and wrong modulo the polynomial."""
    fact["field"] = {"polynomial": "30 0 -11 0 1", "lo": "2", "hi": "9/4"}  # (x^2 - 5)(x^2 - 6), t = sqrt 5
    fact["residual"] = numbers((0, "6/5", 0, "-1/5"), (0, "2/5", 0, 0))  # t (6 - t^2) / 5 = t / 5
    fact["solutions"] = [numbers((-1, 1, 0, 0))]
    fact["farkas"] = numbers((0, 0, 0, 0), (0, 0, 0, 0))


WRONG: dict[str, tuple[str, Edit, str]] = {
    # the field
    "a constant": ("diagonal", field("-5"), r"polynomial: expected the coefficients of a polynomial of degree 1"),
    "a leading 0": ("diagonal", field("-5 1 0", "2", "3"), r"polynomial: expected the coefficients"),
    "a large degree": ("diagonal", field("-5" + " 1" * 17), "degree 1 to 16"),
    "no root in the interval": ("diagonal", field("-5 0 1", "1", "2"), "different signs"),
    "two roots in the interval": ("diagonal", field("35/16 -3 1", "1", "2"), "different signs"),
    "a root at the end": ("diagonal", field("-4 0 1"), "different signs"),
    "an empty interval": ("diagonal", field("-5 0 1", "3", "2"), "0 <= lo < hi"),
    "a negative interval": ("diagonal", field("-5 0 1", "-3", "-2"), "0 <= lo < hi"),
    "a long interval": ("diagonal", field("-5 0 1", "2", "4"), "hi <= lo"),
    "an interval of too many digits": ("diagonal", field("-5 0 1", "2", f"9/{4 * 10**1300 + 1}"), "bits|0 <= lo"),
    "a rational root": ("line, rational", field("-3/2 -1/2 1"), "found by bisection"),
    "another root": ("diagonal", field("-6 0 1", "2", "3"), r"(residual|solutions|more)"),
    "the field of another number": ("gates", field("-5 1 1", "1", "2"), "(solutions|more)"),
    "a reducible polynomial": ("diagonal", reducible, "numbers that intervals tell from 0"),
    # the residual
    "a residual of another sign": ("diagonal", put("residual", 0, to="0 -1/5"), r"residual\[0\]: expected 0, or the"),
    "a residual that is not zero": ("gates", put("residual", 0, to="1/1000 0"), r"residual\[0\]: expected 0, or the"),
    "a residual too many": ("diagonal", lambda f: f["residual"].append("0 0"), "an array of 2"),
    "a residual of another degree": ("diagonal", put("residual", 0, to="0 1/5 0"), "expected 2 numbers"),
    "a residual too long": ("diagonal", put("residual", 1, to="0 3/5"), "(more|lambda)"),
    "a residual too short": ("diagonal", put("residual", 1, to="0 1/5"), "2 pieces without"),
    # the multipliers
    "a piece missing": ("diagonal", put("multipliers", "+", to=[]), "1 pieces without"),
    "a piece twice": ("diagonal", lambda f: f["multipliers"]["+"].append(["11", [], []]), "has no entry yet"),
    "a piece that is out": ("diagonal", lambda f: f["multipliers"]["+"].append(["01", [], []]), "is not out"),
    "a piece of the other sign": ("diagonal", put("multipliers", "-", to=[["11", [], []]]), "is not out"),
    "a piece that is no pattern": ("diagonal", put("multipliers", "+", 0, 0, to="1"), "a pattern of 2"),
    "a value below its bound": ("diagonal", put("multipliers", "+", 0, to=["11", [0], ["0 0"]]), "within its bounds"),
    "a value above its bound": (
        "flat kink",
        put("multipliers", "+", 0, to=["111", [0], ["1 0"]]),
        "(within its bounds|more)",
    ),
    "a value that lengthens": ("diagonal", put("multipliers", "+", 0, to=["11", [0], ["1 0"]]), "more"),
    "a value too many": ("diagonal", put("multipliers", "+", 0, to=["11", [0], ["0 1/5", "0 1/5"]]), "array of 1"),
    "multipliers for gates": ("gates", put("multipliers", to={"+": [], "-": []}), "multipliers: expected null"),
    "no multipliers for relu": ("diagonal", put("multipliers", to=None), "multipliers: expected an object"),
    "a multiplier below 0": ("constrained, rational", put("multipliers", 0, 1, to=["-1/2 0"]), "multipliers >= 0"),
    "a multiplier that is too large": (
        "constrained, rational",
        put("multipliers", 0, 1, to=["1 0"]),
        r"(more|K_b'v <= 0)",
    ),
    "a vector as long as lambda outside of its cone": (
        "outside",
        put("multipliers", 0, 1, to=["0 0"]),
        r"K_b'v <= 0 and rho.\(K_b'v\) = 0",
    ),
    "a multiplier that is too small": ("constrained, rational", put("multipliers", 0, 1, to=["0 0"]), "more"),
    "a multiplier of a free block": (
        "constrained, rational",
        lambda f: f["multipliers"].append([1, ["0 0"]]),
        "blocks with constraints",
    ),
    "a block twice": (
        "constrained, rational",
        lambda f: f["multipliers"].append(f["multipliers"][0]),
        "blocks with constraints, each once",
    ),
    # the solutions
    "a weight off": ("diagonal", put("solutions", 0, 0, to="0 1"), r"solutions\[0\]: expected the fit"),
    "a weight below 0": (
        "twins, rational",
        put("solutions", 1, to=["2 0", "-1 0", "-1 0", "2 0"]),
        "weights >= 0",
    ),
    "a weight too many": ("diagonal", lambda f: f["solutions"][0].append("0 0"), "an array of 1"),
    "no solution": ("diagonal", put("solutions", to=[]), "one solution, or two"),
    "the same solution twice": ("gates", lambda f: f["solutions"].__setitem__(1, f["solutions"][0]), "different"),
    "three solutions": (
        "gates",
        lambda f: f["solutions"].append(numbers(("-1/2", "1/2"), ("-1/2", "1/2"))),
        "one solution, or two",
    ),
    "one of two": (
        "gates",
        several(drop("solutions", 1), put("farkas", to=numbers((0, 0), (0, 0), (0, 0)))),
        "h.q > 0 for the tied neuron 1",
    ),
    "one between two": (
        "gates",
        several(
            put("solutions", to=[numbers(("-1/2", "1/2"), ("-1/2", "1/2"))]),
            put("farkas", to=numbers((0, 0), (0, 0), (0, 0))),
        ),
        "independent outputs",
    ),
    "a Farkas vector beside two": ("gates", put("farkas", to=numbers((0, 0), (0, 0), (0, 0))), "an array of 0"),
    "a Farkas vector too short": ("diagonal", put("farkas", to=numbers((0, 0))), "an array of 2"),
    "a Farkas vector that is not orthogonal": ("diagonal", put("farkas", to=numbers((1, 0), (0, 0))), "h.q = 0"),
    "an unknown key": ("diagonal", put("more", to=0), "unknown key"),
    "no field": ("diagonal", drop("field"), "the key field"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_algebraic_sets_are_rejected(name: str) -> None:
    """Each error is found, for the reason that it has."""
    start, edit, reason = WRONG[name]
    with pytest.raises(Rejected, match=reason):
        check(json.dumps(changed(start, edit)).encode())


def test_tied_entries_must_attain_lambda() -> None:
    """A multiplier as long as lambda whose neuron does not attain it says too little about its piece."""
    tree = copy.deepcopy(algebraic("line, rational").certificate)
    for entry in tree["facts"]["dual"]["multipliers"]["+"]:
        if entry[0][0] == "0":  # u < 0: m = (0, 0, 2) gives |Z'm| = 2; (0, -1/2, 2) gives 3 = lambda
            entry[1], entry[2] = [1], "-1/2"
            tree["facts"]["algebraic_set"]["multipliers"]["+"].append([entry[0], [1], numbers(("-1/2", 0))])
    with pytest.raises(Rejected, match=r"t\.\(Zv\)_\+ = lambda\^2"):
        check(json.dumps(tree).encode())


UNREACHED = {  # the facts before it reject first, or only numbers of reducible polynomials get there
    "the fact patterns, which this rests on",
    "an irreducible polynomial",
}


def test_every_reject_path_is_reached() -> None:
    """Each statement that rejects is the one that rejects some case of the corpus."""
    reached = set()
    for start, edit, _ in WRONG.values():
        with pytest.raises(Rejected) as caught:
            check(json.dumps(changed(start, edit)).encode())
        reached |= {(str(entry.path), entry.lineno + 1) for entry in caught.traceback}
    package = Path(verify.__file__).parent
    missed = []
    for module in ("sets/ties", "sets/in_field", "rules/algebraic_set", "numbers/field"):
        path = package / f"{module}.py"
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and "reject(" in ast.unparse(node):
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                known = any(text in ast.unparse(node) for text in (*UNREACHED, "t.(Zv)_+"))
                if not known and not any((str(path), line) in reached for line in lines):
                    missed.append(ast.unparse(node))
    assert missed == []


STILL_TRUE = {
    r"field\.(lo|hi)": "another interval around the same root",
    r"field\.polynomial": "another polynomial with the same root",
    r"multipliers.*": "other multipliers, or another order of them, that prove the same",
    r"solutions": "the solutions in another order",
    r"farkas.*": "another Farkas vector",
}


@pytest.mark.long
@pytest.mark.parametrize("name", ["flat kink"])
def test_every_mutant_is_rejected_or_still_true(name: str) -> None:
    """A changed fact is rejected, or says the same in another way; and then it proves the old verdicts only."""
    tree = algebraic(name).certificate
    p, convex = stated(tree)
    kept = {key: value for key, value in tree["facts"].items() if key not in ("lambda_max", "fit", "algebraic_set")}
    silent = {**tree, "claims": []}
    count = 0
    for mutant in mutants({"algebraic_set": tree["facts"]["algebraic_set"]}, spread=2):
        if not mutant.place.startswith("algebraic_set."):
            continue
        count += 1
        try:
            new = {**kept, "algebraic_set": json.loads(mutant.text)["algebraic_set"]}
        except ValueError:
            continue
        if not accepted({**silent, "facts": new}):
            continue
        assert new == kept | {"algebraic_set": tree["facts"]["algebraic_set"]} or any(
            re.fullmatch(f"algebraic_set.{place}", mutant.place) for place in STILL_TRUE
        ), mutant.name
        for verdicts in ({"p": FLIPPED[p]}, {"convex": FLIPPED[convex]}):
            assert not accepted(in_order(with_verdicts({**tree, "facts": new}, **verdicts))), mutant.name
    assert count > 300


# ------------------------------------------------------------------------------------------------ a real one

GRID = [[a, b] for a in (-1, 0, 1) for b in (-1, 0, 1)]


def test_the_checkerboard_is_settled_in_a_field() -> None:
    """The 3 x 3 checkerboard, where many neurons tie by symmetry: not unique, and every claim is decided; what the
    checker refuses with another verdict, a vertex less, or a shortest point."""
    found = certify(GRID, [1 - 2 * ((a + b) % 2) for a, b in GRID], "1/10", bias=True)
    verdicts = {name: str(result.verdict) for name, result in found.claims.items()}
    assert verdicts["p-unique"] == verdicts["convex-unique"] == "REFUTED"
    assert {verdicts[name] for name in ("optimal-set", "minimal", "connected")} == {"PROVED"}
    tree = json.loads(found.certificate)
    assert tree["facts"]["algebraic_set"]["field"]["polynomial"].count(" ") == 4
    assert verdicts["min-norm"] == "PROVED"
    polytope = tree["facts"]["polytope"]
    for edit, reason in (
        (put("min_norm", to={"weights": " ".join(["0"] * 12), "radius": "0"}), "min_norm: expected null"),
        (put("bits", to=64), "bits: expected 0"),
        (drop("bases", -1), "(that is reached from|the supports)"),
        (drop("vertices", -1), "vertices: expected the supports"),
        (drop("edges", 0), "edges: expected"),
    ):
        wrong = copy.deepcopy(polytope)
        edit(wrong)
        with pytest.raises(Rejected, match=reason):
            check(json.dumps({**tree, "facts": {**tree["facts"], "polytope": wrong}}).encode())


def shortest_gates() -> dict[str, Any]:
    """The two gates share the weight sqrt 5 - 1: the shortest weights are (sqrt 5 - 1)/2 each, with mu the same."""
    tree = copy.deepcopy(algebraic("gates").certificate)
    about = "11141149/18026584"  # a little less than (sqrt 5 - 1)/2
    fact = {"bits": 0, "weights": f"{about} {about}", "radius": "1/10000", "mu": numbers(("-1/2", "1/2"))}
    tree["facts"]["min_norm"] = fact
    tree["claims"].append({"claim": "min-norm", "verdict": "PROVED"})
    return tree


def test_faces_are_those_of_another_residual() -> None:
    """What is said of theta does not hold for the residual of the set: faces and derivatives are rejected beside it."""
    for name in ("faces", "derivatives"):
        tree = copy.deepcopy(algebraic("flat kink").certificate)
        tree["facts"][name] = {"stable": [None], "leaving": []}
        with pytest.raises(Rejected, match=rf"{name}: expected a set whose residual is theta"):
            check(json.dumps(tree).encode())


def test_the_conditions_of_differentiability() -> None:
    """E = A and LICQ follow from the set: the diagonal's neuron is the only one that ties, and is zero on no row; at
    the flat kink one constraint is tight; of two gates the minimal networks leave one out."""
    for name, e_equals_a, strict in (("diagonal", "PROVED", True), ("flat kink", "PROVED", False)):
        tree = copy.deepcopy(algebraic(name).certificate)
        stated = {"e-equals-a": e_equals_a, "licq": "PROVED", "strict-complementarity": "PROVED"}
        for claim, verdict in stated.items():
            wanted = strict if claim == "strict-complementarity" else True
            claims = [{"claim": claim, "verdict": verdict}]
            assert accepted({**tree, "claims": claims}) == wanted, (name, claim)
            assert not accepted({**tree, "claims": [{"claim": claim, "verdict": FLIPPED[verdict]}]}), (name, claim)
    tree = algebraic("gates").certificate
    assert accepted({**tree, "claims": [{"claim": "e-equals-a", "verdict": "REFUTED"}]})
    assert not accepted({**tree, "claims": [{"claim": "e-equals-a", "verdict": "PROVED"}]})


def test_only_the_only_solution_is_listed_alone() -> None:
    """The support of the only solution is all there is to list; of two solutions neither is, nor any other support."""
    one = {"bits": 0, "tilt": "1", "bases": [[0]], "vertices": [[0]], "edges": [], "min_norm": None}
    claims = [{"claim": "minimal", "verdict": "PROVED"}]
    for name, fact, wanted in (
        ("diagonal", one, True),
        ("kink without weight, rational", one, True),
        ("kink without weight, rational", one | {"bases": [[1]], "vertices": [[1]]}, False),
        ("gates", one, False),
        ("gates", one | {"bases": [[0], [1]], "vertices": [[0], [1]], "edges": [[0, 1]]}, True),
    ):
        tree = algebraic(name).certificate
        assert accepted({**tree, "facts": {**tree["facts"], "polytope": fact}, "claims": claims}) == wanted, (
            name,
            fact,
        )


SHORTEST: dict[str, tuple[Edit, str]] = {
    "another mu": (put("mu", to=numbers(("1/2", 0))), r"(weights|mu): expected F"),
    "a mu that solves nothing": (
        several(put("mu", to=numbers((1, 0))), put("weights", to="1 1"), put("radius", to="0")),
        r"mu: expected F alpha = g in row 0",
    ),
    "a weight off": (put("weights", to="1 5/8"), r"weights: expected F_a.mu up to radius"),
    "a weight 0": (put("weights", to="0 5/8"), r"weights: expected F_a.mu up to radius"),
    "a weight below 0": (
        several(put("weights", to="-1/8 5/8"), put("radius", to="9")),
        r"weights: expected a weight >= 0",
    ),
    "a vertex": (several(put("weights", to="5/4 0"), put("radius", to="1/10")), r"weights: expected F_a.mu"),
    "bits": (put("bits", to=64), r"bits: expected an index below 1"),
    "a mu too many": (put("mu", to=numbers(("-1/2", "1/2"), (0, 0))), r"mu: expected an array of 1"),
}


def test_the_shortest_weights_in_a_field() -> None:
    """The shortest weights are accepted with the mu that proves them, and with no other."""
    assert accepted(shortest_gates())
    for edit, reason in SHORTEST.values():
        tree = shortest_gates()
        edit(tree["facts"]["min_norm"])
        with pytest.raises(Rejected, match=reason):
            check(json.dumps(tree).encode())


# ------------------------------------------------------------------------------------------------ arithmetic


def sqrt_field(m: str = "-2 0 1", lo: str = "1", hi: str = "2") -> Field:
    """The field of a root, as read from a certificate."""
    node: Node = load(json.dumps({"polynomial": m, "lo": lo, "hi": hi}).encode(), Limits())
    return read_field(node)


SMALL = st.fractions(min_value=-5, max_value=5, max_denominator=6)


@settings(derandomize=True, max_examples=25, deadline=None)
@given(st.lists(SMALL, min_size=3, max_size=3), st.lists(SMALL, min_size=3, max_size=3))
def test_numbers_compute_like_the_reals(a: list[Fraction], b: list[Fraction]) -> None:
    """Sums, products, quotients, signs and comparisons in Q(cube root of 2) are those of sympy's real numbers."""
    field = sqrt_field("-2 0 0 1")
    root = sympy.cbrt(2)
    x, y = field.number(a), field.number(b)
    p, q = (sum(sympy.Rational(c.numerator, c.denominator) * root**i for i, c in enumerate(u)) for u in (a, b))

    def real(number: Number) -> sympy.Expr:
        coefficients = [sympy.Rational(int(c.p), int(c.q)) for c in number.p.coeffs()]
        return sum((c * root**i for i, c in enumerate(coefficients)), sympy.Integer(0))

    def same(number: Number, value: sympy.Expr) -> bool:
        return abs(sympy.N(real(number) - value, 60)) < 1e-40

    assert same(x + y, p + q)
    assert same(x - y, p - q)
    assert same(x * y, p * q)
    assert same(3 - x, 3 - p)
    if any(b):
        assert same(x / y, p / q)
    difference = sympy.N(p - q, 60)
    assert (x < y, x > y) == (bool(difference < -1e-40), bool(difference > 1e-40))
    assert (x == y) == (a == b)


def test_signs_are_found_however_small_the_number() -> None:
    """(sqrt 2 - 1)^k is positive, and told from 0 with enough bits; beyond 4096 bits it is refused, never called 0."""
    field = sqrt_field()
    power = small = field.number((Fraction(-1), Fraction(1)))
    for _ in range(10):
        power = power * power  # (sqrt 2 - 1)^1024 is about 2^-1302
    assert power > 0
    assert -power < 0
    assert small.upper() > 0
    for _ in range(2):
        power = power * power
    with pytest.raises(Rejected, match="tell from 0"):
        power.sign()


def test_a_reducible_polynomial_is_never_trusted() -> None:
    """With t = sqrt 2 a root of (x^2 - 2)(x^2 - 3): t^2 - 2 is 0, but not modulo the polynomial, so it has no sign;
    t^2 - 3 is -1, but has no inverse."""
    field = sqrt_field(LIFTED["field"]["polynomial"], "7/5", "3/2")
    one = field.number((Fraction(1),))
    with pytest.raises(Rejected, match="tell from 0"):
        field.number([Fraction(c) for c in (-2, 0, 1)]).sign()
    assert field.number([Fraction(c) for c in (-3, 0, 1)]).sign() == -1
    with pytest.raises(Rejected, match="irreducible"):
        one / field.number([Fraction(c) for c in (-3, 0, 1)])
    with pytest.raises(ZeroDivisionError):
        one / (one - 1)
