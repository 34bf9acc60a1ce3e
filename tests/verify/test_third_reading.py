"""What a third hostile reading of the checker found: sentences that said more, or other things, than was proved."""

from __future__ import annotations

import io
import json
import random
from dataclasses import dataclass, field, replace
from fractions import Fraction as F
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import verify
from tests.verify.build.bags import stream
from tests.verify.outputs.planted import changed, in_bags_with_decayed_bias, square, with_decayed_bias
from tests.verify.test_given_solutions import tree_of, verdicts
from verify.__main__ import expect, grouped
from verify.certificate import read
from verify.cover.lines import Lines, lines_of
from verify.optimal.ball import Ball
from verify.problem.input import Input
from verify.problem.problem import Bag, Problem, read_problem
from verify.problem.windows import Windows, gathered, read_bags, read_pool, read_windows
from verify.proved import read as proved
from verify.sets.covered import Covered, CoveredInField
from verify.statement import statement
from verify.text import Node

NAME = "relu_cert certificate"
COVER = [("+", bytes([200, 203]), bytes(1)), ("-", bytes([200, 200]), b"")]  # the last of the roots 1 and -1 ties


def test_bags_of_a_decayed_bias_are_not_counted() -> None:
    """The empty bag that is appended for the bias is no signal of the file: two are there, not three."""
    report = read(json.dumps(in_bags_with_decayed_bias()).encode())
    assert statement(report, False, False)["outputs"].startswith("2 signals")
    assert statement(report, False, False)["n"] == "2"
    assert all("2 bags of rows" in line.under for line in report.lines)


def test_the_cost_of_a_bias_is_expected_as_a_number() -> None:
    """--expect decayed=1.0 is the rho 1, and 2 is another."""
    report = read(json.dumps(with_decayed_bias()).encode())
    stated = statement(report, False, False)
    expect(stated, report.lines, "decayed", "1.0")
    with pytest.raises(verify.Rejected, match="--expect decayed"):
        expect(stated, report.lines, "decayed", "2")


def test_a_column_named_false_is_told_as_a_column() -> None:
    """Bags by a column of this name are not "no bags"; flags are told as before."""
    said = {"bags": "false", "pool": "mean", "header": "false", "center": "true"}
    assert grouped(said) == {"data": ["bags false", "pool mean", "no header", "center"]}


@pytest.mark.parametrize("shape", [(2, 2), (1, 2, 2), (2, 1, 2)])
def test_coefficients_in_a_matrix_have_no_order(shape: tuple[int, ...]) -> None:
    """Memory in the order of columns would be read as if it were that of rows; a vector has one order."""
    array = np.asfortranarray(np.arange(1.0, 5.0).reshape(shape))
    stream = io.BytesIO()
    np.save(stream, array)
    tree = tree_of()
    tree["facts"]["solution"]["file"]["sha256"] = sha256(stream.getvalue()).hexdigest()
    with pytest.raises(verify.Rejected, match="a vector, or a matrix of one row or column"):
        verdicts(tree, stream.getvalue())


@pytest.mark.parametrize("shape", [(2,), (1, 2), (2, 1), (1, 1, 2)])
def test_coefficients_in_a_row_or_a_column_are_read(shape: tuple[int, ...]) -> None:
    """They have one order."""
    stream = io.BytesIO()
    np.save(stream, np.array([2.0, 2.0]).reshape(shape))
    tree = tree_of()
    tree["facts"]["solution"]["file"]["sha256"] = sha256(stream.getvalue()).hexdigest()
    assert verdicts(tree, stream.getvalue())["solution-optimal"] == "REFUTED"


def constant(lam: str, b2: str, J: str, verdict: str) -> bytes:
    """Rows (1, 1), (-1, 1), y = (3, 1): the network b2 alone, beside a neuron that is 0; whether it is stationary."""
    network = {
        "file": {"sha256": "", "origin": ""},
        "penalty": {"convention": "paper", "value": lam, "batch": None},
        "W1": ["0 0"],
        "w2": "0",
        "b2": b2,
        "gap": "0",
        "objective": J,
        "stationary": [[]],
    }
    input_ = {"sha256": "0" * 64, "kind": "csv", "numbers": "decimal", "bias": True, "target": 1}
    tree: dict[str, Any] = {
        "format": NAME,
        "version": 2,
        "input": input_ | {"delimiter": ",", "header": False},
        "problem": {
            "model": "relu",
            "objective": "1/2|Xw-y|^2 + lambda*sum|w_b|",
            "lambda": lam,
            "Z": ["1 1", "-1 1"],
            "y": "3 1",
        },
        "facts": {"network": network},
        "claims": [{"claim": "network-stationary", "verdict": verdict}],
        "end": NAME,
    }
    return json.dumps(tree).encode()


def said(*stated: str) -> str:
    """The accepted line."""
    (line,) = verify.check(constant(*stated))
    return line.proved


def test_a_bias_that_counts_as_a_neuron_is_said_to() -> None:
    """lambda = 2 = sum r at b2 = 1: no change of W1, w2 and b2 helps, but the neuron of b2 could turn, as X'r = 2."""
    assert "of J, b2 counted as a neuron, has a norm" in said("2", "1", "4", "REFUTED")
    with pytest.raises(verify.Rejected):
        said("2", "1", "4", "PROVED")


def test_a_bias_that_would_move_is_said_to_be_held() -> None:
    """sum r = 4: at lambda = 2 the objective falls with b2 > 0, at lambda = 4 it does not."""
    assert said("2", "0", "5", "PROVED") == "the network is a Clarke stationary point of J, b2 held at 0 (kinks: 0)"
    assert said("4", "0", "5", "PROVED") == "the network is a Clarke stationary point of J (kinks: 0)"


def leaky(verdict: str, y: str = "2 2", J: str = "3") -> bytes:
    """Records 1 and -1, max(t, t/2), lambda = 2: the network b2 = 1 alone, as bags of rows z and -z."""
    tree = json.loads(constant("2", "1", J, verdict))
    bags = [{"scale": "1/2", "rows": rows, "times": "2 -1"} for rows in ([0, 1], [2, 3])]
    tree["problem"] |= {"Z": ["1 1", "-1 -1", "-1 1", "1 -1"], "y": y, "bags": bags}
    tree["input"] |= {"slope": "1/2"}
    return json.dumps(tree).encode()


def test_rows_and_their_opposites_are_those_of_the_slope() -> None:
    """Without the data, too: counts 2 and -1 are max(t, t/2), and no max(t, t/3), |t| or max(t, -t/2)."""
    tree = json.loads(leaky("PROVED"))
    for slope, times in (
        ("1/2", "3 -2"),
        ("1/2", "2 -2"),
        ("-1", "2 1"),
        ("-1", "1 2"),
        ("-1/2", "3 0"),
        ("1/3", "2 -1"),
    ):
        wrong = changed(changed(tree, "input.slope", slope), "problem.bags.0.times", times)
        with pytest.raises(verify.Rejected):
            verify.check(json.dumps(wrong).encode())
    for slope, times, scale in (("-1", "1 1", "1"), ("-2", "1 2", "1"), ("-1/2", "2 1", "1/2"), ("1/3", "3 -1", "1/3")):
        right = pooled(slope, [int(x) for x in times.split()], scale)
        assert right == {"slope": F(slope)}


def test_the_neuron_of_a_bias_is_off_where_a_slope_has_opposite_rows() -> None:
    """r = (1, 1), sum r = lambda and X'r = 0: it is stationary in every sense, and with all rows on it would not be."""
    (line,) = verify.check(leaky("PROVED"))
    assert line.proved == "the network is a Clarke stationary point of J, b2 counted as a neuron (kinks: 0)"
    with pytest.raises(verify.Rejected):
        verify.check(leaky("REFUTED"))
    (line,) = verify.check(leaky("REFUTED", "3 1", "4"))  # r = (2, 0), X'r = 2
    assert line.proved.endswith("has a norm from 2 to 2")


def decayed() -> dict[str, Any]:
    """Rows 1 and -1, y = (4, 1), lambda = rho = 1: Theta = (1, 0) and -1 at the row that is appended, the network is
    2 (z)_+ + 1, and p* = 3."""
    tree: dict[str, Any] = json.loads(constant("1", "0", "0", "PROVED"))
    tree["input"]["bias"] = False
    tree["problem"] |= {"Z": ["1", "-1"], "y": "4 1", "decayed": {"rho": "1", "roots": ["1"]}}
    sides = {sign: {"codes": codes, "multipliers": b"", "data": data, "rows": b""} for sign, codes, data in COVER}
    proof = {"basis": ["1"], "ties": [{"sign": "+", "u": "1", "shares": ""}], "margin": 1}
    proof |= {sign: {key: stream(part) for key, part in parts.items()} for sign, parts in sides.items()}
    level = {"sign": "+", "pattern": "100", "kinks": [], "basis": [], "idle": [], "fixed": ""}
    tree["facts"] = {
        "primal": {"neurons": [{"sign": "+", "w": "2", "norm": "2"}], "free": "1"},
        "cover": {"theta": "1 0 -1", "proof": proof},
        "value": {"lower": "3", "upper": "3", "gap": "0"},
        "fit": {"center": None, "radius_squared": "0"},
        "cover_set": {"lift": ["1 1 1"], "classes": [level], "masses": "2", "split": "", "forced": ""},
    }
    tree["claims"] = [
        {"claim": claim, "verdict": "PROVED"} for claim in ("optimal", "fit", "p-unique", "convex-unique")
    ]
    return tree


def test_a_decayed_bias_by_hand() -> None:
    """The optimum is known, and the network is the only one."""
    lines = verify.check(json.dumps(decayed()).encode())
    assert "lies in [3, 3]" in lines[0].proved and len(lines) == 4
    assert {line.under for line in lines} == {"with an output bias b that costs 1/2 b^2"}


FORGED: list[tuple[str, Any]] = [
    ("problem.decayed", {"rho": "2", "roots": ["1", "1"]}),
    ("problem.decayed", {"rho": "1/4", "roots": ["1/2"]}),
    ("problem.decayed.rho", "2"),
    ("problem.decayed.roots", ["-1"]),
    ("problem.decayed.roots", []),
    ("problem.decayed", {"rho": "5", "roots": ["1"] * 5}),
    ("problem.decayed", {}),
    ("problem.free", ["output-bias"]),
    ("problem.bags", [{"scale": "1", "rows": [0], "times": [1]}, {"scale": "1", "rows": [1], "times": [1]}]),
    ("problem.objective", "sum log(1+exp(-y_k*(Xw)_k)) + lambda*sum|w_b|"),
    ("problem.lambda", "2"),
    ("problem.y", "4 1 0"),
    ("facts.primal.free", "0"),
    ("facts.primal.free", "1 0"),
    ("facts.cover.theta", "1 0 0"),
    ("facts.cover.theta", "1 0"),
    ("facts.cover_set.lift", []),
    ("facts.cover_set.lift", ["1 1 0"]),
    ("facts.cover_set.classes", [None]),
    ("facts.value.lower", "4"),
    ("claims.2.verdict", "REFUTED"),
    ("claims.3.verdict", "REFUTED"),
]


@pytest.mark.parametrize(("place", "value"), FORGED, ids=lambda part: str(part)[:40])
def test_a_forged_decayed_bias_is_rejected(place: str, value: Any) -> None:
    """Another cost, other squares, a bias that is free besides, another dual point: each is noticed."""
    with pytest.raises(verify.Rejected):
        verify.check(json.dumps(changed(decayed(), place, value)).encode())


def test_the_proved_checker_reads_a_zero_network_of_several_outputs() -> None:
    """It has no neuron that tells how many outputs there are, and is no error."""
    zero = changed(square(), "facts.primal.neurons", [])
    text = proved(json.dumps(zero).encode(), None, verify.Limits())
    assert text.between == (5, 10) and len(text.expected) > 2


@dataclass
class Seen:
    """A cover with one tie, that notes which sides its leaves are asked for."""

    lines: Lines
    ties: list[SimpleNamespace]
    good: bool = True
    asked: list[Any] = field(default_factory=list)
    slack: dict[int, F] = field(default_factory=dict)

    def inside(self, *asked: Any) -> bool:
        """As it is told."""
        self.asked.append(asked)
        return self.good


class InRationals(CoveredInField):
    """Rational numbers in the place of a field."""

    def read(self, node: Node, length: int) -> Any:
        """A vector."""
        return node.vector(length)


def covered(seed: int) -> tuple[InRationals, Seen, tuple[F, ...], list[F]]:
    """Rows with parallel and opposite ones, weights t, shares of the lines through u."""
    r = random.Random(seed)
    d = r.choice([2, 3])
    u = (0, *[r.randint(-2, 2) for _ in range(d - 2)], 1)
    Z = [tuple(F(r.randint(-2, 2), r.choice([1, 2])) for _ in range(d)) for _ in range(6)]
    Z = [(*z[:-1], F(0)) if r.random() < 0.5 else z for z in Z]
    Z += [tuple(-x for x in Z[0]), tuple(3 * x for x in Z[1])]
    problem = Problem("relu", F(1), tuple(Z), (F(0),) * len(Z))
    lines = lines_of(problem)
    cover = Seen(lines, [SimpleNamespace(u=u)])
    t = tuple(F(r.randint(-3, 3), r.choice([1, 2])) for _ in Z)
    through = [c for c, h in enumerate(lines.heights(u)) if not h]
    shares = [r.choice([F(0), F(1), F(1, 2), F(-1, 3), F(4, 3)]) for _ in through]
    ball = Ball(problem, t, F(0))
    return InRationals(ball, t, NODE, NODE, cover), cover, t, shares


NODE = Node(None)


def test_shares_of_ties_at_an_exact_residual() -> None:
    """In [0, 1] where lines are concave, else outside (0, 1); v is a bound where the convex lines have their sides."""
    verdicts = {True: 0, False: 0}
    for seed in range(600):
        one, cover, t, shares = covered(seed)
        lines, u = cover.lines, cover.ties[0].u
        heights = lines.heights(u)
        w = [F(0)] * len(heights)
        v = [F(0)] * len(u)
        for z_k, c, a, t_k in zip(one.ball.problem.seen, lines.line, lines.multiple, t, strict=True):
            if c >= 0:
                w[c] += t_k * abs(a) / lines.scale
                v = [x + t_k * z * (a < 0) for x, z in zip(v, z_k, strict=True)]
        share = dict(zip([c for c, h in enumerate(heights) if not h], shares, strict=True))
        v = [
            x + sum(w[c] * share.get(c, F(heights[c] > 0)) * p[l] for c, p in enumerate(lines.rows))
            for l, x in enumerate(v)
        ]
        right = all(0 <= s <= 1 if w[c] < 0 else not 0 < s < 1 if w[c] else True for c, s in share.items())
        node = Node(" ".join(map(str, shares)))
        verdicts[right] += 1
        if not right:
            with pytest.raises(verify.Rejected, match="shares in"):
                one.bound(1, 0, node, t)
            continue
        assert [*one.bound(1, 0, node, t)] == v
        ((xi, number, sides, convex),) = cover.asked
        assert (xi, number, [*convex]) == (1, 0, [c for c, x in enumerate(w) if x > 0])
        assert all(
            sides[c] == ((1 if share[c] >= 1 else -1) if c in share else heights[c] // abs(heights[c])) for c in convex
        )
        r = random.Random(seed)
        for _ in range(20):
            x = [r.randint(-3, 3) for _ in u]
            if all(sides[c] * h >= 0 for c, h in enumerate(lines.heights(x)) if c in convex):
                height = [sum(a * b for a, b in zip(z, x, strict=True)) for z in one.ball.problem.seen]
                value = sum(t_k * max(h, F(0)) for t_k, h in zip(t, height, strict=True))
                assert value <= sum(a * b for a, b in zip(v, x, strict=True))
        cover.good = False
        with pytest.raises(verify.Rejected, match="sides of the convex lines"):
            one.bound(1, 0, node, t)
    assert min(verdicts.values()) > 100


def pooled(slope: str, times: list[Any], scale: str, **input_: Any) -> Any:
    """What is read of how bags were made, for rows 1, -1, 2, -2 and one bag of some of them."""
    rows_ = ("1", "-1", "2", "-2")[: len(times)]
    bag = {"scale": scale, "rows": [*range(len(times))], "times": " ".join(map(str, times))}
    problem = {"model": "relu", "objective": "1/2|Xw-y|^2 + lambda*sum|w_b|", "lambda": "1", "Z": [*rows_], "y": "1"}
    read_ = read_problem(Node(problem | {"bags": [bag]}))
    fields = {key: Node(one) for key, one in ({"slope": slope} | input_).items() if one}
    return read_pool(NODE, fields, read_, False)


def test_bags_of_a_slope_are_counted_without_its_opposites() -> None:
    """With s = p/q each row counts q times and its opposite -p times: so many rows, in a record, a bag, or windows."""
    half = {"slope": F(1, 2)}
    assert pooled("1/2", [2, -1], "1/2") == half
    assert pooled("1/2", [2, -1, 2, -1], "1/4", pool="mean", bags="0") == half | {"pool": "mean", "bags": "0"}
    assert pooled("1/2", [2, -1, 2, -1], "1/2", pool="sum", bags="0") == half | {"pool": "sum", "bags": "0"}
    assert pooled("1/2", [2, -1, 2, -1], "1/2", pool="sum", conv="1d:1")["windows"].kernel == (1,)
    assert pooled("-2", [1, 2], "1") == {"slope": F(-2)}
    assert pooled("1/2", [2, -1], "1/6", pool="mean", bags="0")["pool"] == "mean"  # two rows of zeros
    for slope, times, scale, input_ in (
        ("1/2", [2, -1], "1", {}),
        ("1/2", [2, -2], "1/2", {}),
        ("1/2", [2, 1], "1/2", {}),
        ("1/2", [2, -1, 2, -1], "1/2", {}),
        ("1/2", [2, -1, 2, -1], "1/2", {"pool": "mean", "bags": "0"}),
        ("1/2", [2, -1, 2, -1], "1/3", {"pool": "mean", "bags": "0"}),
        ("1/2", [2, -1, 2, -1], "1/4", {"pool": "sum", "bags": "0"}),
        ("1/2", [2, -1], "1/2", {"pool": "sum"}),
        ("1/2", [2, -1], "1/2", {"bags": "0"}),
        ("1/2", [2, -1], "1/2", {"conv": "1d:1", "bags": "0", "pool": "sum"}),
        ("1/2", [2, -1], "1/2", {"conv": "1d:2", "pool": "sum"}),
        ("1", [1, -1], "1", {}),
        ("0", [1, 1], "1", {}),
        ("", [2, -1], "1", {"pool": "sum", "bags": "0"}),
        ("", [2, 1], "1", {}),
    ):
        with pytest.raises(verify.Rejected):
            pooled(slope, times, scale, **input_)


def tied(u: tuple[int, ...], squared: F, xi: int = 1, **more: Any) -> SimpleNamespace:
    """A tie as far as sets ask for it."""
    return SimpleNamespace(**({"xi": xi, "u": u, "squared": squared, "face": (), "v": u, "q": 1} | more))


def in_rationals(ties: list[Any], shares: list[Any], R_squared: F = F(0), slack: F = F(1)) -> list[Any]:
    """What the ties of sign + yield on the rows 1 and -1 with t = (1, -1/2), lambda = 1."""
    problem = Problem("relu", F(1), ((F(1),), (F(-1),)), (F(2), F(0)))
    cover = Seen(lines_of(problem), ties)
    cover.slack = {1: slack, -1: F(0)}
    t = (F(1), F(-1, 2))
    own = Node({"shares": shares})
    return [(mask, v) for _, mask, v in InRationals(Ball(problem, t, R_squared), t, NODE, own, cover).pieces("+", 1)]


def test_ties_at_an_exact_residual_that_are_out_or_attain() -> None:
    """A tie is out only below lambda for the whole ball, a face has no shares, what does not attain is no neuron."""
    right = tied((1,), F(1))
    assert in_rationals([right], [""]) == [(1, [F(1)])]
    assert in_rationals([tied((1,), F(1), xi=-1)], [None]) == []
    assert in_rationals([tied((-1,), F(1, 4))], [""]) == []  # v = 1/2 (-1), shorter than lambda
    R_squared = F(1, 200)  # zeta^2 = 2: moved = 1/10
    assert in_rationals([tied((1,), F(80, 100) ** 2)], [None], R_squared) == []
    for squared in (F(90, 100) ** 2, F(95, 100) ** 2, F(1)):
        with pytest.raises(verify.Rejected, match="the piece is not out"):
            in_rationals([tied((1,), squared)], [None], R_squared)
    assert in_rationals([tied((1,), (F(9, 10) - F(1, 10**9)) ** 2)], [None], R_squared) == []
    assert in_rationals([right], [""], R_squared, F(1, 10) + F(1, 10**9)) == [(1, [F(1)])]
    for slack in (F(1, 10), F(9, 100)):
        with pytest.raises(verify.Rejected, match="margin holds for the ball"):
            in_rationals([right], [""], R_squared, slack)
    with pytest.raises(verify.Rejected, match="a neuron, with shares"):
        in_rationals([tied((1,), F(1), face=((1,),))], [""])
    with pytest.raises(verify.Rejected):
        in_rationals([right], [])


def test_ties_at_theta_that_attain() -> None:
    """|v| = lambda and t.(Zv)_+ = lambda^2, of this sign; another tie is none."""
    problem = Problem("relu", F(1), ((F(1), F(0)), (F(0), F(1)), (F(0), F(-1))), (F(2), F(0), F(0)))
    theta = (F(1), F(1), F(-1, 2))
    ties = [
        tied((1, 0), F(1)),
        tied((0, 1), F(1), q=1),
        tied((0, -1), F(1)),  # -1/2 is reached there
        tied((1, 0), F(1), xi=-1),
        tied((1, 1), F(2)),
        tied((2, 0), F(1), q=2),
    ]
    cover = Seen(lines_of(problem), ties)
    found = [(mask, [*v]) for _, mask, v in Covered(Ball(problem, theta, F(0)), theta, NODE, cover).pieces("+", 1)]
    assert found == [(1, [1, 0]), (2, [0, 1]), (1, [1, 0])]


def test_rows_of_a_slope_are_gathered() -> None:
    """q times z, -p times -z, which comes after it; what cancels is in no bag, and nowhere if in none."""
    one, two = (F(1),), (F(2),)
    rows_, bags_ = gathered([[one, two], [one]], "mean", F(1, 2))
    assert rows_ == (one, (F(-1),), two, (F(-2),))
    assert bags_ == (Bag(F(1, 4), (0, 1, 2, 3), (2, -1, 2, -1)), Bag(F(1, 2), (0, 1), (2, -1)))
    rows_, bags_ = gathered([[one, (F(-1),), (F(-1),)]], "sum", F(1, 2))  # 2 - 2 times 1, 4 - 1 times -1
    assert rows_ == ((F(-1),),) and bags_ == (Bag(F(1, 2), (0,), (3,)),)
    assert gathered([[one, one, (F(0),)]], "mean", F(0)) == ((one,), (Bag(F(1, 3), (0,), (2,)),))
    assert gathered([[one], [(F(-1),)]], "sum", F(-1)) == ((one, (F(-1),)), (Bag(F(1), (0, 1), (1, 1)),) * 2)


@pytest.mark.parametrize(("target", "name"), [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)])
def test_a_target_beside_the_column_of_bags(target: int, name: int) -> None:
    """Whichever comes first; the column that is neither is the feature, and records are counted from the top."""
    fields = {target: "7", name: "a", 3 - target - name: "5"}
    raw = ",".join(fields[j] for j in range(3)).encode()
    asked = Input("", "csv", target=target, pool="sum", bags=str(name))
    problem = Problem("relu", F(1), ((F(5),),), (F(7),), bags=(Bag(F(1), (0,), (1,)),))
    assert read_bags(raw, asked, verify.Limits(), problem) == (((F(5),),), (F(7),), False)
    with pytest.raises(verify.Rejected, match="another column than the targets"):
        read_bags(raw.replace(b"a", b"8"), replace(asked, bags=str(target)), verify.Limits(), problem)
    wrong = raw + b"\n" + raw.replace(b"5", b"x")
    with pytest.raises(verify.Rejected, match="data record 2"):
        read_bags(wrong, asked, verify.Limits(), problem)


def test_a_slope_and_a_skip_connection() -> None:
    """The columns of z and -z are not those of the data: refused."""
    tree = changed(json.loads(leaky("PROVED")), "problem.free", ["skip"])
    with pytest.raises(verify.Rejected, match="no skip connection"):
        verify.check(json.dumps(tree).encode())


def test_windows_of_a_record_are_not_too_many() -> None:
    """2^26 entries of all windows, and no more."""
    assert len(Windows((4, 2**10), (1, 2**10)).places((4, 2**10))) == 4
    many = Windows((2**13 + 1, 1), (2, 1))
    assert len(many.places((2**13 + 1, 1))) == 2**13
    with pytest.raises(verify.Declined, match="67108864 entries"):
        Windows((2**13 + 2**12, 1), (2**12, 2)).places((2**13 + 2**12, 2))
    with pytest.raises(verify.Rejected, match="a stride and channels > 0"):
        read_windows(Node("1d:2:stride=0"))
    with pytest.raises(verify.Rejected, match="a stride and channels > 0"):
        read_windows(Node("1d:2:channels=0"))
