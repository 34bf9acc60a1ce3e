"""Readers at their edges: fields of algebraic numbers, shapes of network files, intervals of breakpoints."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from typing import Any

import pytest

import verify
from tests.verify.oracle.brute import mat, vec
from tests.verify.score import entries
from verify import BadData, Declined, Rejected, Usage
from verify.claims.neurons import all_active, some_idle
from verify.facts import DUAL, NEURONS, PRIMAL, VALUE, Facts, proved
from verify.network.check import Network
from verify.network.file import Array, compare_file, folded, from_bits
from verify.network.stationary import Stationary, of_bias
from verify.network.weights import Weights
from verify.numbers.bounds import column
from verify.numbers.field import read_field
from verify.optimal.leaders import NO_TIES, Rows, check_definite, semidefinite
from verify.problem.data import read_direct, read_table
from verify.problem.input import Input
from verify.problem.problem import Problem
from verify.refutations.pruning import pruned
from verify.refutations.tables import impossible
from verify.rules import cover, leaders
from verify.rules.curve import check_breakpoint
from verify.rules.logistic.value import ONE, check_logistic, entropy_of, exp_of_minus, loss_of
from verify.rules.path import Frame, tube
from verify.rules.polytope import support_of, used_by
from verify.rules.primal import Primal
from verify.rules.value import Dual, Value, check_value
from verify.sets.neurons import Neuron
from verify.sets.solutions import OptimalSet
from verify.text import Limits, Node, load


def node(value: Any) -> Node:
    """A value, as if it was read."""
    return Node(value, None, "here")


@pytest.mark.parametrize(
    ("polynomial", "lo", "hi", "said"),
    [
        ("-2 0 1", "1", "2", None),
        ("2 0 -1", "1", "2", None),
        ("-2 3", "0", "1", None),
        ("-2/3 1", "0", "1", None),
        (" ".join(["-1", *["0"] * 15, "2"]), "0", "1", None),
        (" ".join(["-1", *["0"] * 16, "2"]), "0", "1", "degree 1 to 16"),
        ("1", "0", "1", "degree 1 to 16"),
        ("", "0", "1", "degree 1 to 16"),
        ("-2 0 1 0", "1", "2", "degree 1 to 16"),
        ("-2 0 1", "1", "1", "0 <= lo < hi <= lo [+] 1"),
        ("-2 0 1", "2", "1", "0 <= lo < hi <= lo [+] 1"),
        ("-2 0 1", "1", "3", "0 <= lo < hi <= lo [+] 1"),
        ("-2 0 1", "-3/2", "-1", "0 <= lo < hi <= lo [+] 1"),
        ("-2 0 1", f"1/{2**4096}", "1", "in at most 4096 bits"),
        ("-2 0 1", "2", "3", "different signs at lo and at hi"),
        ("-2 0 1", "0", "1", "different signs at lo and at hi"),
        ("-4 0 1", "1", "2", "different signs at lo and at hi"),
        ("-1 0 1", "1", "2", "different signs at lo and at hi"),
    ],
)
def test_fields(polynomial: str, lo: str, hi: str, said: str | None) -> None:
    """A polynomial of degree 1 to 16 that changes its sign over an interval of numbers >= 0, no longer than 1."""
    stated = node({"polynomial": polynomial, "lo": lo, "hi": hi})
    if said is None:
        t = read_field(stated).number(vec(0, 1) if polynomial.count(" ") > 1 else vec(1))
        assert t.sign() == 1 and (-t).sign() == -1 and (t - t).sign() == 0
        assert t.upper() >= Fraction(1, 2)
    else:
        with pytest.raises(Rejected, match=said):
            read_field(stated)


def test_signs_in_a_field() -> None:
    """The root of 2 beside fractions that are near to it."""
    t = read_field(node({"polynomial": "-2 0 1", "lo": "1", "hi": "2"})).number(vec(0, 1))
    for x in (Fraction(141421356, 10**8), Fraction(1)):
        assert t > x and t >= x and not t < x and not t <= x and t != x and (t - x).sign() == 1
    for x in (Fraction(141421357, 10**8), Fraction(2)):
        assert t < x and t <= x and not t > x and not t >= x and (x - t).sign() == 1
    assert t * t == 2 and t / t == 1 and abs(-t) == t and (t + 1) * (t - 1) == 1 and 1 / Fraction(2) * t * t == 1
    assert 0 <= t.upper() - Fraction(14142135623730950488, 10**19) < Fraction(1, 10**18)


def arrays(**shapes: tuple[int, ...]) -> dict[str, Array]:
    """Arrays of these shapes with the entries 1, 2, ..."""
    found = {}
    for name, shape in shapes.items():
        size = 1
        for x in shape:
            size *= x
        found[name] = Array(shape, tuple(Fraction(k + 1) for k in range(size)))
    return found


@pytest.mark.parametrize(
    ("shapes", "width", "bias", "good"),
    [
        ({"W1": (2, 1), "w2": (2,)}, 1, False, True),
        ({"W1": (2, 1), "w2": (1, 2)}, 1, False, True),
        ({"W1": (2, 1), "w2": (2, 1)}, 1, True, True),
        ({"W1": (2, 1), "w2": (2,), "b1": (2,)}, 2, True, True),
        ({"W1": (2, 1), "w2": (2,), "b1": (1, 2), "b2": ()}, 2, True, True),
        ({"W1": (2, 1), "w2": (2,), "b1": (2, 1), "b2": (1,)}, 2, True, True),
        ({"W1": (2, 1), "w2": (2,), "b2": (1, 1), "skip": (1,)}, 1, False, True),
        ({"W1": (1, 3), "w2": (1,), "skip": (1, 3)}, 3, False, True),
        ({"W1": (1, 3), "w2": (1,), "skip": (3, 1)}, 4, True, True),
        ({"W1": (2, 1), "w2": (2,), "b1": (2,)}, 2, False, False),
        ({"W1": (2, 1), "w2": (2,), "b1": (2,)}, 1, True, False),
        ({"W1": (2, 1), "w2": (2,)}, 3, True, False),
        ({"W1": (2, 1), "w2": (2,)}, 2, False, False),
        ({"W1": (2,), "w2": (2,)}, 1, False, False),
        ({"W1": (0, 1), "w2": (0,)}, 1, False, False),
        ({"W1": (1, 0), "w2": (1,)}, 0, False, False),
        ({"W1": (1, 0), "w2": (1,)}, 1, True, False),
        ({"W1": (), "w2": ()}, 1, False, False),
        ({"W1": (2, 1, 1), "w2": (2,)}, 1, False, False),
        ({"W1": (2, 1), "w2": (3,)}, 1, False, False),
        ({"W1": (2, 1), "w2": (2, 2)}, 1, False, False),
        ({"W1": (2, 1), "w2": (2,), "b1": (1,)}, 2, True, False),
        ({"W1": (2, 1), "w2": (2,), "b2": (2,)}, 1, False, False),
        ({"W1": (2, 1), "w2": (2,), "skip": (2,)}, 1, False, False),
        ({"W1": (2, 1)}, 1, False, False),
        ({"w2": (2,)}, 1, False, False),
        ({"W1": (2, 1), "w2": (2,), "more": ()}, 1, False, False),
    ],
)
def test_shapes_of_network_files(shapes: dict[str, tuple[int, ...]], width: int, bias: bool, good: bool) -> None:
    """Rows and columns for vectors, biases on the column of ones where the data has it, and nothing else."""
    given = arrays(**shapes)
    if not good:
        with pytest.raises(ValueError, match=r"\w"):
            folded(given, width, bias, 1)
        return
    W1, w2, b2, skip = folded(given, width, bias, 1)
    m, d = shapes["W1"]
    assert w2 == given["w2"].entries and b2 == ((1,) if "b2" in shapes else (0,))
    assert [row[:d] for row in W1] == [given["W1"].entries[i * d : (i + 1) * d] for i in range(m)]
    biases = given["b1"].entries if "b1" in given else (Fraction(0),) * m
    assert [row[d:] for row in W1] == [(b,) if width > d else () for b in biases]
    assert skip == (*(given["skip"].entries if "skip" in given else (Fraction(0),) * d), *([Fraction(0)] * (width - d)))


def test_the_file_of_a_network() -> None:
    """Its hash is compared first; without the fact there is nothing to compare."""
    weights = Weights(mat([[1]]), vec(2), Fraction(0), (), (), vec(0), vec(0), Fraction(0))
    raw = b'{"W1": [[1]], "w2": [2]}'
    still = Stationary(0, Fraction(0), Fraction(0))
    known = Network(sha256(raw).hexdigest(), weights, Fraction(0), 1, None, still, None, None, None, None)
    compare_file(known, raw, Limits(), False)
    with pytest.raises(Usage, match="a certificate with the fact network"):
        compare_file(None, raw, Limits(), False)
    with pytest.raises(Rejected, match="the hash of the network given"):
        compare_file(known, raw + b" ", Limits(), False)
    other = raw.replace(b"[2]", b"[3]")
    with pytest.raises(Rejected, match="the weights of the file given, found others"):
        forged = Network(sha256(other).hexdigest(), weights, Fraction(0), 1, None, still, None, None, None, None)
        compare_file(forged, other, Limits(), False)
    nameless = Network("", weights, Fraction(0), 1, None, still, None, None, None, None)
    with pytest.raises(Rejected, match="found no file"):
        compare_file(nameless, raw, Limits(), False)


@pytest.mark.parametrize(
    ("word", "x"),
    [(0, "0"), (0x3C00, "1"), (0xC000, "-2"), (0x3555, "1365/4096"), (1, "1/16777216"), (0x03FF, "1023/16777216")],
)
def test_halves(word: int, x: str) -> None:
    """Numbers of 16 bits, subnormal ones among them, from their bits."""
    assert from_bits(word, 5, 10) == Fraction(x)
    with pytest.raises(ValueError, match="not finite"):
        from_bits(0x7C00, 5, 10)


@pytest.mark.parametrize(
    ("lo", "hi", "good"),
    [
        ("1/2", f"{10**12 + 1}/{2 * 10**12}", True),
        ("1", f"{10**12 + 1}/{10**12}", True),
        ("1", "500000000001/500000000000", False),
        ("1", "1", False),
        ("1", "999999999999/1000000000000", False),
        ("0", "1", False),
        ("0", "0", False),
        ("-1", f"-{10**12 - 1}/{10**12}", False),
    ],
)
def test_intervals_of_breakpoints(lo: str, hi: str, good: bool) -> None:
    """0 < lo < hi, and 10^-12 lo apart at most; then their ends are read, here of a path without pieces."""
    end = {"piece": 0, "s": "", "weights": "", "classes": None}
    stated = node({"lo": lo, "hi": hi, "below": end, "above": None})
    with pytest.raises(Rejected, match="an index below 0" if good else "0 < lo < hi <= lo"):
        check_breakpoint(None, None, [], stated)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\xef\xbb\xbf{}", "Unexpected UTF-8 BOM"),
        (b'{"a": -1}', "JSON integers from 0 to 10^15"),
        (b'{"a": 1000000000000000}', "JSON integers from 0 to 10^15"),
        (b'{"a": 1.0}', "a JSON number with a fraction"),
        (b'{"a": NaN}', "a JSON number with a fraction"),
        (b'{"a": 1, "a": 1}', "a"),
        (b'{"a": "\\u0041"}', "ASCII characters written as themselves"),
        (b"{} {}", "one JSON value"),
        (b"\xff", "utf-8"),
    ],
)
def test_texts(text: bytes, said: str) -> None:
    """Strict JSON: what Python's reader would take and the format does not."""
    assert load(b'{"a": 999999999999999}', Limits()).value == {"a": 999999999999999}
    with pytest.raises(Rejected, match=said.replace("^", r"\^")):
        load(text, Limits())


@pytest.mark.parametrize(("columns", "good"), [(999, True), (1000, False)])
def test_how_long_direct_data_may_be(columns: int, good: bool) -> None:
    """Twice the numbers that there should be, and a thousand commas more."""
    raw = json.dumps({"X": [[1] * columns], "groups": [[0]], "y": [1]}).encode()
    if good:
        assert len(read_direct(raw, Limits(), 0)[0][0]) == columns
    else:
        with pytest.raises(Rejected, match="at most 0 numbers, found more"):
            read_direct(raw, Limits(), 0)


def test_how_long_a_table_may_be() -> None:
    """The same for delimiters and line ends."""
    stated = Input("", "csv")
    for rows, good in ((500, True), (501, False)):
        raw = b"1,2\n" * rows
        if good:
            assert len(read_table(raw, stated, Limits(), 0)[1]) == rows
        else:
            with pytest.raises(Rejected, match="more than 0 fields"):
                read_table(raw, stated, Limits(), 0)


def test_the_frame_of_a_certificate() -> None:
    """format, version and end are what they are, and end is last."""
    entry = next(entry for entry in entries() if entry.kind == "patterns" and entry.right)
    tree = json.loads(entry.certificate.read_bytes())
    assert verify.check(json.dumps(tree).encode())
    for key, value in (
        ("end", "relu_cert"),
        ("format", "relu_cert"),
        ("version", "2"),
        ("version", True),
    ):
        with pytest.raises(Rejected, match=key):
            verify.check(json.dumps({**tree, key: value}).encode())
    with pytest.raises(Declined, match="version 2"):
        verify.check(json.dumps({**tree, "version": 1}).encode())
    claims = tree.pop("claims")
    with pytest.raises(Rejected, match="the key end at the end, found the key claims"):
        verify.check(json.dumps({**tree, "claims": claims}).encode())


def test_entropies() -> None:
    """H(0) = H(1) = 0 is the upper bound itself, and H(1/2) = log 2 is between its bounds."""
    for x in (Fraction(0), Fraction(1)):
        low, high = entropy_of(x)
        assert -8 < low <= 0 == high
    low, high = entropy_of(Fraction(1, 2))
    assert 0 <= high - low < 2**20 and abs(Fraction(low, ONE) - Fraction(693147180559945309417, 10**21)) < Fraction(
        1, 10**20
    )
    assert exp_of_minus(Fraction(0))[1] == ONE and exp_of_minus(Fraction(2**60)) == (0, 1)


def test_tubes_of_curved_pieces() -> None:
    """R from what the weights miss, and rho with the lengths of all coefficients from tau^2 on."""
    frame = Frame(Problem("relu", Fraction(1), mat([[1]]), vec(1)), Fraction(1), Fraction(0))
    for s, R, rho in (("1 0 1/10", "1/10", "1/5"), ("1 0 1/10 1/10", "1/5", "2/5"), ("1 0", "0", "0")):
        S = column(vec(*s.split(" "))).transpose()
        assert tube(frame, S, [], [], node(None)) == (Fraction(R), Fraction(rho), Fraction(R))
    still = replace(frame, center=Fraction(2), h=Fraction(1))  # eta from 1 to 3
    assert tube(still, column(vec(2)), [], [], node(None)) == (Fraction(1), Fraction(1), Fraction(1))
    assert tube(still, column(vec(1)), [], [], node(None)) == (Fraction(2), Fraction(2), Fraction(2))


def test_idle_neurons_are_counted() -> None:
    """Those that are known to have no weight, in words; and the neurons that vertices use."""
    neurons = [Neuron((1, 0), active, independent=True) for active in (True, False, None, False, False)]
    found = OptimalSet(5, 0, 0, 0, None, True, tuple(neurons))  # type: ignore[arg-type]
    facts = proved(NEURONS, found)
    problem = Problem("relu", Fraction(1), mat([[1]]), vec(1))
    assert some_idle(problem, facts, node(None)) == "tied neurons of weight 0: 3 of 5"
    assert [neuron.active for neuron in used_by(found, [2]).neurons] == [False, False, True, False, False]
    assert used_by(replace(found, exact=False), [2]).neurons == tuple(neurons)
    assert support_of(found) == (0,) and not found.all_active
    with pytest.raises(Rejected, match="one solution with 5 positive weights, found 1 proved positive"):
        all_active(problem, facts, node(None))


def test_a_dependence_is_of_active_outputs() -> None:
    """Weights w_b (1 - t beta_b); beta says nothing of blocks that are zero."""
    problem = Problem("cgl", Fraction(1), mat([[1, 1, 1]]), vec(3), ((0,), (1,), (2,)), (None,) * 3)
    w = (vec(2), vec(1), vec(0))
    assert pruned(problem, w, node("1 -2 0")) == (vec(1), vec(2), vec(0))
    for beta in ("1 -2 5", "0 0 0", "1 -1 0"):
        with pytest.raises(Rejected, match="an active dependence"):
            pruned(problem, w, node(beta))


def test_values_of_elastic_problems() -> None:
    """lower has the cost less, upper has delta/2 times the squares more, both exactly."""
    problem = Problem("relu", Fraction(2), mat([[1]]), vec(3), delta=Fraction(1, 2))
    facts = Facts({PRIMAL: Primal(vec(1), 1, Fraction(5), Fraction(7)), DUAL: Dual(vec(1), Fraction(1, 4))})
    stated = {"lower": "9/4", "upper": "55/4", "gap": "0"}
    assert check_value(problem, facts, node(stated))[VALUE] == Value(Fraction(9, 4), Fraction(55, 4), Fraction(0))
    for change, said in (
        ({"lower": "5/2"}, r"y.theta - 1/2\|theta\|\^2 - cost = 9/4"),
        ({"upper": "12"}, r"lambda sum norm \+ delta/2 sum \|w\|\^2 = 55/4"),
        ({"gap": "1"}, "a gap from 0 to less than 1"),
        ({"gap": "-1/9"}, "a gap from 0 to less than 1"),
    ):
        with pytest.raises(Rejected, match=said):
            check_value(problem, facts, node({**stated, **change}))


@pytest.mark.parametrize(
    ("longest", "kappa", "nu", "good"),
    [(4, 1, 1, True), (5, 1, 1, False), (3, 1, 1, True), (4, 2, 1, False), (4, 2, 2, True), (9, 0, 1, True)],
)
def test_free_biases_take_their_share(longest: int, kappa: int, nu: int, good: bool) -> None:
    """nu - kappa rho >= 0 with rho = longest / q^2, q = 2: what the bound on the bias costs the weights."""
    metric = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    data = Rows(2, {0: 0}, (0,), [[1, 1, 1]], [1], metric, [[1, 1, 1]], longest)
    if good:
        check_definite(data, ([], []), [0, 0, 0], [], Fraction(9), (nu, kappa), NO_TIES, node(None))
    else:
        with pytest.raises(Rejected, match="positive semidefinite"):
            check_definite(data, ([], []), [0, 0, 0], [], Fraction(9), (nu, kappa), NO_TIES, node(None))


@pytest.mark.parametrize(
    ("M", "good"),
    [
        ([[1]], True),
        ([[0]], True),
        ([[-1]], False),
        ([[1, 0], [0, 0]], True),
        ([[0, 1], [1, 0]], False),
        ([[0, 1], [1, 5]], False),
        ([[2, 1], [1, 1]], True),
        ([[1, 2], [2, 1]], False),
        ([[10**9, 10**9 - 1], [10**9 - 1, 10**9]], True),
        ([[10**9 - 1, 10**9], [10**9, 10**9 - 1]], False),
        ([[4 * 10**200, 0], [0, 1]], True),
        ([[10**200, 10**100], [10**100, 2]], True),
        ([[10**200, 2 * 10**100], [2 * 10**100, 1]], False),
    ],
)
def test_definite_matrices(M: list[list[int]], good: bool) -> None:
    """Shown to be semidefinite, or not, however large or small the entries are."""
    assert semidefinite(M) is good


def test_direct_data_has_the_limits_of_texts() -> None:
    """Too many digits or brackets are no fault of the certificate: BadData, before anything is parsed."""
    raw = b'{"X": [["1234"]], "groups": [[0]], "y": ["0"]}'
    assert read_direct(raw, Limits(digits=4))[0] == mat([[1234]])
    for limits, said in ((Limits(digits=3), "3 digits a number"), (Limits(values=5), "5 commas")):
        with pytest.raises(BadData, match=f"data: expected at most {said}"):
            read_direct(raw, limits)


def test_one_proof_of_the_dual_point() -> None:
    """A cover or leaders beside another proof of a dual point are one too many."""
    problem = Problem("relu", Fraction(1), mat([[1]]), vec(1))
    for rule, keys in ((cover, ("theta", "proof")), (leaders, ())):
        with pytest.raises(Rejected, match="one proof of the dual point, by `dual`, `cover` or `leaders`, found two"):
            rule.check(problem, proved(DUAL, Dual(vec(0))), node(dict.fromkeys(keys)))


def test_shares_that_a_fifth_of_the_points_can_have() -> None:
    """Rounded down or up: of 11 points 3 have a third, of 16 points 3; half of 7 points is 1 of 2."""
    assert not impossible(11, "0.33") and not impossible(16, "0.33") and not impossible(7, "0.50 1.00")
    assert impossible(7, "0.33") and impossible(11, "0.33 0.50") and impossible(5, "0.99")
    assert not impossible(200, "0.02") and not impossible(200, "0.03")  # 1 of 40 is just between


@pytest.mark.parametrize(("b2", "squared"), [("-2", 194), ("2", 50), ("1", 25), ("0", 0)])
def test_the_gradient_of_an_output_bias(b2: str, squared: int) -> None:
    """|b2| times the squares of lambda - xi sum r and of lambda e - xi Z'r: Z'r = (5, 3), sum r = 3, lambda = 3."""
    problem = Problem("relu", Fraction(3), mat([[1, 1], [2, 1]]), vec(1, 2))
    weights = Weights(mat([[1, 1]]), vec(1), Fraction(b2), (), (), vec(1, 2), vec(1, 2), Fraction(0))
    assert of_bias(problem, weights) == squared
    assert of_bias(replace(problem, free=("output-bias",)), weights) == 0


def test_values_of_the_logistic_loss() -> None:
    """upper may be the bound of the sum itself and not less, lower no more than that of the entropies."""
    problem = Problem("relu", Fraction(2), mat([[1]]), vec(-1), logistic=True)
    upper = Fraction(loss_of(Fraction(-3))[1], ONE) + 2 * 5
    lower = Fraction(entropy_of(Fraction(1, 4))[0], ONE)
    facts = Facts({PRIMAL: Primal(vec(3), 1, Fraction(5), Fraction(7)), DUAL: Dual(vec("-1/4"))})
    stated = {"lower": str(lower), "upper": str(upper), "gap": "0"}
    assert check_logistic(problem, facts, node(stated))[VALUE] == Value(lower, upper, Fraction(0))
    for change, said in (
        ({"upper": str(upper - Fraction(1, 2**500))}, "upper >= sum log"),
        ({"lower": str(lower + Fraction(1, 2**500))}, "lower <= sum H"),
    ):
        with pytest.raises(Rejected, match=said):
            check_logistic(problem, facts, node({**stated, **change}))
    for theta in ("1/4", "-5/4"):
        with pytest.raises(Rejected, match="0 <= y_k theta_k <= 1 at row 0"):
            check_logistic(problem, Facts({**facts.proved, DUAL: Dual(vec(theta))}), node(stated))
    for theta in ("0", "-1"):
        check_logistic(problem, Facts({**facts.proved, DUAL: Dual(vec(theta))}), node({**stated, "lower": "-1"}))
