"""A certificate of a network with free terms, made by hand, and wrong ones."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

from tests.verify.build import plain
from tests.verify.build.plain import Case
from tests.verify.cover.plant import STREAMS, one_class, packed, tie
from tests.verify.oracle.brute import mat, vec
from verify.problem.variants import ELASTIC


def hinge() -> Case:
    """y = -2, 2 at x = -1, 1, lambda = 1, free biases: 3/2 (x + 1)_+ - 3/2 is optimal with theta = (-1/2, 1/2), and
    p* = 7/4. For both signs a piece is on, m = xi theta, or off, m = 0."""
    Z, y = mat([[-1, 1], [1, 1]]), vec(-2, 2)
    theta, fit = vec("-1/2", "1/2"), vec("-3/2", "3/2")
    side = [["11", [], ""], ["00", [], ""]]
    raw = b"x,y\n-1,-2\n1,2\n"
    problem: dict[str, Any] = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": "1"}
    problem |= {"Z": [plain.words(row) for row in Z], "y": plain.words(y), "free": ["output-bias", "biases"]}
    facts = {
        "patterns": plain.list_patterns(Z).fact,
        "primal": {"neurons": [{"sign": "+", "w": "3/2 3/2", "norm": "3/2"}], "free": "-3/2"},
        "dual": {"theta": plain.words(theta), "multipliers": {"+": side, "-": side}},
        **plain.value_and_fit(y, Fraction(1), fit, Fraction(3, 2), theta),
    }
    return Case("a hinge with free biases", plain.certificate(problem, facts, raw, bias=True, target=1), raw)


def streams(codes: list[int], data: list[int], multipliers: list[int] | None = None) -> dict[str, str]:
    """The bytes of one sign."""
    given = {"codes": codes, "data": data, "multipliers": multipliers or []}
    return {name: packed(bytes(given.get(name, []))) for name in STREAMS}


def covered() -> Case:
    """The same by a cover. H = 1; for xi = 1 the prism of the weights > 0 lies in the piece in which both rows are on,
    v = (1, 0), and on the other one nothing is above 0; for xi = -1 it is the other way."""
    case = hinge()
    facts = {name: fact for name, fact in case.certificate["facts"].items() if name not in ("patterns", "dual")}
    ties = [{"sign": "+", "u": "1 2", "shares": ""}, {"sign": "-", "u": "-1 2", "shares": ""}]
    sides = {"+": streams([200, 203], [0]), "-": streams([203, 200], [1])}
    proof = {"basis": ["1 0", "0 1"], "ties": ties, "margin": 0, **sides}
    facts["cover"] = {"theta": case.certificate["facts"]["dual"]["theta"], "proof": proof}
    claims = [claim for claim in case.certificate["claims"] if claim["claim"] != "patterns-complete"]
    return Case("a hinge by a cover", case.certificate | {"facts": facts, "claims": claims}, case.raw)


def constant(
    name: str,
    x: list[int],
    y: list[int],
    weight: int,
    ties: list[tuple[str, str, str]],
    sides: dict[str, tuple[list[int], list[int]]],
) -> Case:
    """weight ((x)_+ - 1) is optimal at lambda = 1 with a free constant, R = 0. A tie has a sign, u and a pattern."""
    Z, targets = mat([[a] for a in x]), vec(*y)
    fit = vec(*(weight * (max(a, 0) - 1) for a in x))
    theta = tuple(a - b for a, b in zip(targets, fit, strict=True))
    ones = plain.words((Fraction(1),) * len(x))
    problem: dict[str, Any] = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": "1"}
    problem |= {"Z": [plain.words(row) for row in Z], "y": plain.words(targets), "free": ["output-bias"]}
    proof = {"basis": ["1"], "ties": [tie(sign, u, "") for sign, u, _ in ties], "margin": 1}
    proof |= {sign: streams(*both) for sign, both in sides.items()}
    classes = [one_class(sign, pattern, []) for sign, _, pattern in ties]
    facts = {
        "primal": {"neurons": [{"sign": "+", "w": str(weight), "norm": str(weight)}], "free": str(-weight)},
        "cover": {"theta": plain.words(theta), "proof": proof},
        **plain.value_and_fit(targets, Fraction(1), fit, Fraction(weight), theta),
        "cover_set": {"lift": [ones], "classes": classes, "masses": str(weight), "split": "", "forced": ""},
    }
    raw = plain.table(Z, targets)
    certificate = plain.certificate(problem, facts, raw)
    certificate["claims"].append({"claim": "p-unique", "verdict": "PROVED" if len(ties) == 1 else "REFUTED"})
    return Case(name, certificate, raw)


def single() -> Case:
    """x = -1, 2, 1 and y = -3, 4, -1: 3 (x)_+ - 3 is the only one; theta = (0, 1, -1) ties at u = 1 alone."""
    sides = {"+": ([200, 203], [0]), "-": ([200, 200], [])}
    return constant("one neuron and a free constant", [-1, 2, 1], [-3, 4, -1], 3, [("+", "1", "011")], sides)


def turned() -> Case:
    """x = -1, 1 and y = -3, 1: 2 (x)_+ - 2, and as good -2 (-x)_+, because (x)_+ + (-x)_+ is constant there."""
    ties, sides = [("+", "1", "01"), ("-", "-1", "10")], {"+": ([200, 203], [0]), "-": ([203, 200], [1])}
    return constant("two neurons that differ by a constant", [-1, 1], [-3, 1], 2, ties, sides)


def on_a_line(name: str, theta: str, tied: dict[str, str], classes: list[dict[str, Any]], lift: list[str]) -> Case:
    """x = 0, 1, 2, 3, lambda = 4, free biases, R = 0: a neuron of weight 2 and a free constant 1. Prisms are bisected at
    x = 0 and x = 1, where lines bend up."""
    x, targets = (0, 1, 2, 3), vec(*theta.split())
    w, b = (Fraction(a) for a in tied["neuron"].split())
    fit = tuple(max(w * a + b, Fraction(0)) + 1 for a in x)
    y = tuple(a + c for a, c in zip(targets, fit, strict=True))
    problem: dict[str, Any] = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": "4"}
    problem |= {"Z": [f"{a} 1" for a in x], "y": plain.words(y), "free": ["output-bias", "biases"]}
    plus = streams([0, 200, 200, 0, 203, 200], [0], [130, 0])
    minus = streams([0, 200, 200, 0, 200, 200], [], [130, 0])
    ties = [tie("+", tied["u"], tied["shares"])]
    proof = {"basis": ["1 0", "0 1"], "ties": ties, "margin": 1, "+": plus, "-": minus}
    facts = {
        "primal": {"neurons": [{"sign": "+", "w": plain.words((w, b)), "norm": str(w)}], "free": "1"},
        "cover": {"theta": plain.words(targets), "proof": proof},
        **plain.value_and_fit(y, Fraction(4), fit, w, targets),
        "cover_set": {"lift": lift, "classes": classes, "masses": "1/2", "split": "", "forced": ""},
    }
    raw = ("x,y\n" + "".join(f"{a},{c}\n" for a, c in zip(x, y, strict=True))).encode()
    certificate = plain.certificate(problem, facts, raw, bias=True, target=1)
    more = [{"claim": "p-unique", "verdict": "REFUTED"}, {"claim": "convex-unique", "verdict": "REFUTED"}]
    if classes[0]["kinks"]:
        more = [*more[1:], *({"claim": claim, "verdict": "PROVED"} for claim in ("p-unique", "e-equals-a"))]
    return Case(name, certificate | {"claims": [*certificate["claims"], *more]}, raw)


def affine(free: list[str], coefficients: str) -> Case:
    """x = 0, 1, 2 and y = 0, 3, 0, lambda = 9: the constant 1 and no neuron, because theta = (-1, 2, -1) is orthogonal
    to 1 and to x, and theta.(Zu)_+ is at most 2 |u|. `coefficients` are those of the free columns. With a skip
    connection alone the ones are the data's own."""
    Z, y, theta, fit = mat([[0, 1], [1, 1], [2, 1]]), vec(0, 3, 0), vec(-1, 2, -1), vec(1, 1, 1)
    problem: dict[str, Any] = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": "9"}
    problem |= {"Z": [plain.words(row) for row in Z], "y": plain.words(y), "free": free}
    roots = streams([200] * (2 if "biases" in free else 4), [])
    proof = {"basis": ["1 0", "0 1"], "ties": [], "margin": 1, "+": roots, "-": roots}
    facts = {
        "primal": {"neurons": [], "free": coefficients},
        "cover": {"theta": plain.words(theta), "proof": proof},
        **plain.value_and_fit(y, Fraction(9), fit, Fraction(0), theta),
        "cover_set": {"lift": ["1 1 1", "0 1 2"], "classes": [], "masses": "", "split": "", "forced": ""},
    }
    raw = b"x,y\n0,0\n1,3\n2,0\n"
    if own := free == ["skip"]:
        facts["cover_set"]["lift"].reverse()
        raw = b"x,one,y\n0,1,0\n1,1,3\n2,1,0\n"
    certificate = plain.certificate(problem, facts, raw, bias=not own, target=2 if own else 1)
    certificate["claims"].append({"claim": "p-unique", "verdict": "PROVED"})
    return Case("free terms alone", certificate, raw)


def bent() -> Case:
    """theta = (3, -4, -2, 3): 2 (x - 1)_+ + 1 is the only one. At x = 1 a quarter of its row makes up for the bias:
    v = (5, 1) - 1/4 (4, 4)."""
    found = {"neuron": "2 -2", "u": "1 -1", "shares": "1/4"}
    return on_a_line("a kink fixes the bias", "3 -4 -2 3", found, [one_class("+", "0011", [1])], ["1 1 1 1"])


def level() -> Case:
    """theta = (2, -2, -4, 4): 2 (x - 3/2)_+ + 1, and as good (x - 4/3)_+ + (x - 5/3)_+ + 1, and so on."""
    found = {"neuron": "2 -3", "u": "2 -3", "shares": ""}
    lift = ["1 1 1 1", "0 0 1 1"]
    return on_a_line("an interval of biases", "2 -2 -4 4", found, [one_class("+", "0011", [])], lift)


def linear() -> Case:
    """The hinge by a cover, with its set: a neuron that is on at all rows can change its bias together with the output
    bias. Both signs tie, and their outputs differ by a constant."""
    case = covered()
    facts = copy.deepcopy(case.certificate["facts"])
    facts["cover"]["proof"]["margin"] = 1
    classes = [one_class("+", "11", []), one_class("-", "11", [])]
    facts["cover_set"] = {"lift": ["1 1"], "classes": classes, "masses": "3/2", "split": "", "forced": ""}
    claims = [*case.certificate["claims"], {"claim": "p-unique", "verdict": "REFUTED"}]
    return Case("a linear neuron", case.certificate | {"facts": facts, "claims": claims}, case.raw)


def on_points(
    name: str,
    x: tuple[int, ...],
    theta: str,
    lam: int,
    neurons: list[str],
    proof: dict[str, Any],
    found: dict[str, Any],
) -> Case:
    """Free biases on one feature, R = 0: neurons of sign + and a free constant 1; p-unique is REFUTED."""
    targets, W = vec(*theta.split()), [tuple(map(Fraction, one.split())) for one in neurons]
    fit = tuple(sum((max(w * a + b, Fraction(0)) for w, b in W), Fraction(1)) for a in x)
    y = tuple(t + f for t, f in zip(targets, fit, strict=True))
    norms = [abs(w) for w, _ in W]
    problem: dict[str, Any] = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": str(lam)}
    problem |= {"Z": [f"{a} 1" for a in x], "y": plain.words(y), "free": ["biases"]}
    given = [{"sign": "+", "w": w, "norm": str(norm)} for w, norm in zip(neurons, norms, strict=True)]
    facts = {
        "primal": {"neurons": given, "free": "1"},
        "cover": {"theta": theta, "proof": {"basis": ["1 0", "0 1"], "margin": 1, **proof}},
        **plain.value_and_fit(y, Fraction(lam), fit, sum(norms, Fraction(0)), targets),
        "cover_set": {"forced": "", **found},
    }
    raw = ("x,y\n" + "".join(f"{a},{c}\n" for a, c in zip(x, y, strict=True))).encode()
    certificate = plain.certificate(problem, facts, raw, bias=True, target=1)
    more = [{"claim": claim, "verdict": "REFUTED"} for claim in ("p-unique", "convex-unique")]
    return Case(name, certificate | {"claims": [*certificate["claims"], *more]}, raw)


def pairs() -> Case:
    """Neurons with kinks at 1 and -1, to both sides, tie for theta = (4, -6, 4, -6, 4), which is orthogonal to x. Their
    weights 2, 2, 1, 1 (times 1/4) may change by t, -t, -t, t, which is a constant: a segment. A line at 0 bends up."""
    ties = [tie("+", u, share) for u, share in (("1 -1", "2/3"), ("-1 1", "1/3"), ("1 1", "1/3"), ("-1 -1", "2/3"))]
    rows = {"rows": packed([1, 0, 1, 0])}
    plus = streams([210, 203, 203, 210, 203, 203], [3, 1, 0, 2]) | rows
    minus = streams([210, 200, 202, 210, 200, 202], [1, 0, 255, 0, 3, 2, 32, 1, 1, 0, 255, 3, 3]) | rows
    classes = [
        one_class("+", pattern, [kink]) for pattern, kink in (("00001", 3), ("11100", 3), ("00111", 1), ("10000", 1))
    ]
    found = {"lift": ["1 1 1 1 1", "-2 -1 0 1 2"], "classes": classes, "masses": "1 1/2", "split": "1/2 1/2 1/4 1/4"}
    neurons = ["2 -2", "-2 2", "1 1", "-1 -1"]
    proof = {"ties": ties, "+": plus, "-": minus}
    return on_points("antipodal neurons with free biases", (-2, -1, 0, 1, 2), "4 -6 4 -6 4", 4, neurons, proof, found)


def two_sides() -> Case:
    """2 (x - 1/2)_+ + (1/4 - x)_+ at x = -2, -1, 1, 2: both neurons are level, and on at the other rows of each other."""
    ties = [tie("+", "2 -1", ""), tie("+", "-4 1", "")]
    proof = {"ties": ties, "+": streams([203, 203], [1, 0]), "-": streams([200, 200], [])}
    classes = [one_class("+", pattern, []) for pattern in ("0011", "1100")]
    lift = ["1 1 1 1", "0 0 1 1", "-1 1 -1 1"]
    found = {"lift": lift, "classes": classes, "masses": "3/4", "split": "1/2 1/4"}
    neurons = ["2 -1", "-1 1/4"]
    return on_points("level neurons to both sides", (-2, -1, 1, 2), "4 -4 -4 4", 4, neurons, proof, found)


def unseen() -> Case:
    """2 (x + 1/2)_+ at x = -2, -1, 1, 2, 3: theta is 0 at the first two rows, and the neuron ties on which side of them
    it may be. So it does where it is linear, and turned over with the other sign."""
    ties = [tie("+", "2 1", ""), tie("+", "1 3", ""), tie("-", "-1 3", "1")]
    minus = streams([0, 200, 0, 200, 203, 200], [2], [131, 0])
    proof = {"ties": ties, "+": streams([200, 203], [1]), "-": minus}
    classes = [one_class("+", "00111", []), one_class("+", "00111", []), one_class("-", "11111", [])]
    lift = ["1 1 1 1 1", "0 0 1 1 1", "1 -1 0 0 0"]
    found = {"lift": lift, "classes": classes, "masses": "2/5", "split": "2/5 0"}
    return on_points("a row that is not seen", (-2, -1, 1, 2, 3), "0 0 -1 -3 4", 5, ["2 1"], proof, found)


PROOF, SET = "facts.cover.proof", "facts.cover_set"
# (reason, changes, message)
COVERED: list[tuple[str, dict[str, Any], str]] = [
    ("(*) is attained in a strict leaf", {f"{PROOF}.+": streams([200, 200], [])}, "generators of every strict leaf"),
    ("a prism beyond its piece", {f"{PROOF}.+": streams([203, 203], [0, 0])}, "inside the piece of neuron 0"),
    ("sign cones with a free bias", {f"{PROOF}.+": streams([200, 200, 203, 203], [0, 0])}, "used up"),
    ("a free bias among the weights", {f"{PROOF}.basis": ["0 1", "1 0"]}, "last that of a bias alone"),
    ("weights with a free bias", {f"{PROOF}.basis": ["1 1", "0 1"]}, "last that of a bias alone"),
    ("a neuron with a free bias", {f"{PROOF}.ties[0]": {"sign": "+", "u": "1 1", "shares": "0"}}, "v without a bias"),
    ("a face with a free bias", {f"{PROOF}.ties[0]": {"sign": "+", "u": "1 2"}}, "holds no bias alone"),
]
ONES = "the free columns, then rows orthogonal to them, and no mixed class"
ONE: list[tuple[str, dict[str, Any], str]] = [
    ("a set without the free column in its lift", {f"{SET}.lift": []}, ONES),
    ("a set with twice the free column in its lift", {f"{SET}.lift": ["2 2 2"]}, ONES),
    ("a cover whose theta sees the constant", {"facts.cover.theta": "0 1 -1/2"}, "orthogonal to the free column 0"),
    ("a set beside a free constant whose neuron is out", {f"{SET}.classes[0]": None}, "the piece is not out"),
    ("a split where the free column is the lift", {f"{SET}.split": "1"}, "expected 0 numbers"),
    ("a margin of 0 beside a free constant", {f"{PROOF}.margin": 0}, "margin holds for the whole ball"),
    ("a constant that is penalised after all", {"problem.free": ...}, "unknown key 'free'"),
]
BOTH: list[tuple[str, dict[str, Any], str]] = [
    ("one network, though two differ by a constant", {"claims[2].verdict": "PROVED"}, "dimension 0, found dimension 1"),
    ("masses of 0 beside a free constant", {f"{SET}.masses": "0"}, "masses above"),
    ("a mass for each of two neurons that share it", {f"{SET}.masses": "1 1"}, "expected 1 number"),
]
BENT: list[tuple[str, dict[str, Any], str]] = [
    ("a set over prisms without the constant in its lift", {f"{SET}.lift": []}, ONES),
    ("a kink that is said to be none", {f"{SET}.classes[0]": one_class("+", "0011", [])}, ONES),
    (
        "a kink, and no basis to fix the bias",
        {f"{SET}.classes[0].basis": [], f"{SET}.classes[0].fixed": "1/4"},
        "spans the kinks that are not idle",
    ),
    (
        "an idle kink, and no basis to fix the bias",
        {f"{SET}.classes[0].basis": [], f"{SET}.classes[0].idle": [1]},
        "no kinks, or some of them in the basis",
    ),
    ("a free bias at another kink", {f"{SET}.classes[0]": one_class("+", "0001", [2])}, "strictness that the ball"),
    ("a row on the wrong side of a free bias", {f"{SET}.classes[0].pattern": "1011"}, "strictness that the ball"),
    ("a margin of 0 with free biases", {f"{PROOF}.margin": 0}, "margin holds for the whole ball"),
    ("a neuron with a free bias that is out", {f"{SET}.classes[0]": None}, "the piece is not out"),
    ("several networks, though kinks fix the biases", {"claims[3].verdict": "REFUTED"}, "positive dimension"),
    ("blocks without a free bias of their own", {"claims[2].verdict": "PROVED"}, "penalised biases"),
    ("a neuron with a free bias and another weight", {f"{SET}.masses": "1/4"}, "one solution with 1 positive weights"),
    (
        "a face with free biases",
        {
            f"{PROOF}.ties": [tie("+", "1 -1", "1/4"), tie("+", "1 -1")],
            f"{SET}.classes": [one_class("+", "0011", [1])] * 2,
        },
        "with free biases a face has no class",
    ),
    ("a free bias has no faces", {"facts.faces": {"stable": [], "leaving": []}}, "unknown key 'faces'"),
]
LEVEL: list[tuple[str, dict[str, Any], str]] = [
    ("a level class without its row in the lift", {f"{SET}.lift": ["1 1 1 1"]}, ONES),
    ("a level class with another row in the lift", {f"{SET}.lift": ["1 1 1 1", "0 0 2 2"]}, ONES),
    (
        "one network, though its bias is level",
        {"claims[2].verdict": "PROVED"},
        "zero on a data point, found 1 that are",
    ),
    ("a level class of weight 0", {f"{SET}.masses": "0"}, "a level class of weight above"),
    ("a level class whose bias leaves its interval", {f"{SET}.masses": "9/20"}, "expected biases between"),
    (
        "a level class said to have a kink",
        {f"{SET}.classes[0]": one_class("+", "0011", [1])},
        "strictness that the ball",
    ),
    (
        "level biases that are said to be strict",
        {"claims[3]": {"claim": "strict-complementarity", "verdict": "PROVED"}},
        "which this rests on",
    ),
    ("a polytope of neurons whose biases are level", {"facts.polytope": {}}, "which this rests on"),
]
LINEAR: list[tuple[str, dict[str, Any], str]] = [
    ("one network, though a linear neuron is in it", {"claims[2].verdict": "PROVED"}, "dimension 0, found dimension 1"),
    ("a linear class that is out", {f"{SET}.classes[1]": None}, "the piece is not out"),
    ("a linear class that is said to be bent", {f"{SET}.classes[1].pattern": "10"}, ONES),
    ("linear classes of weight 0", {f"{SET}.masses": "0"}, "masses above"),
]
PAIRS: list[tuple[str, dict[str, Any], str]] = [
    ("antipodal neurons without their row in the lift", {f"{SET}.lift": ["1 1 1 1 1"]}, r"\|A x\| > 0 \|x\| for all x"),
    ("a further row before the constant", {f"{SET}.lift": ["-2 -1 0 1 2", "1 1 1 1 1"]}, ONES),
    ("a further row across the constant", {f"{SET}.lift": ["1 1 1 1 1", "-1 0 1 2 3"]}, ONES),
    ("a further row that theta sees", {f"{SET}.lift": ["1 1 1 1 1", "0 -1 0 0 1"]}, "orthogonal to the residual"),
    ("the constant as a further row", {f"{SET}.lift": ["1 1 1 1 1"] * 2}, "independent rows"),
    (
        "a further row that the weights cannot keep",
        {f"{SET}.lift": ["1 1 1 1 1", "-2 -1 0 1 2", "1 0 -2 0 1"]},
        r"\|F'x\| > 0 \|x\|",
    ),
    ("no split beside a further row", {f"{SET}.split": ""}, "expected 4 numbers"),
    ("a split that misses the further row", {f"{SET}.split": "1/2 1/2 1/8 3/8"}, "every positive weight >"),
    ("a split on one side only", {f"{SET}.split": "1 0 1/2 0"}, "expected 5 numbers"),
    (
        "a split without one of the neurons",
        {f"{SET}.split": "1/2 1/2 1/2 0", f"{SET}.forced": "-2 -1 0 1 2"},
        "span of the 0 void rows",
    ),
    ("one network, though antipodal neurons share weights", {"claims[2].verdict": "PROVED"}, "found dimension 1"),
    ("a mass for each of four antipodal neurons", {f"{SET}.masses": "1/2 1/2 1/4 1/4"}, "expected 2 numbers"),
    ("antipodal neurons of other masses", {f"{SET}.masses": "1 1/4"}, "every mass > delta"),
    ("one of the antipodal neurons is out", {f"{SET}.classes[3]": None}, "the piece is not out"),
]
SIDES: list[tuple[str, dict[str, Any], str]] = [
    ("a row for each of two level neurons", {f"{SET}.lift": ["1 1 1 1", "0 0 1 1", "1 1 0 0"]}, "independent rows"),
    ("level neurons without their row", {f"{SET}.lift": ["1 1 1 1", "-1 1 -1 1"]}, ONES),
    ("the row of the second level neuron", {f"{SET}.lift": ["1 1 1 1", "1 1 0 0", "-1 1 -1 1"]}, ONES),
    ("a further row across a level one", {f"{SET}.lift": ["1 1 1 1", "0 0 1 1", "-2 -1 1 2"]}, ONES),
    (
        "level neurons to both sides without a further row",
        {f"{SET}.lift": ["1 1 1 1", "0 0 1 1"]},
        "expected 2 numbers",
    ),
    ("a split of level neurons on one side", {f"{SET}.split": "3/4 0"}, r"\|F'x\| > 0 \|x\|"),
    ("level neurons to both sides of other weights", {f"{SET}.split": "1/4 1/2"}, "every positive weight >"),
    ("a forced weight beside level neurons", {f"{SET}.forced": "-1 1 -1 1"}, "expected 0 numbers"),
    (
        "one network, though two biases are level",
        {"claims[2].verdict": "PROVED"},
        "zero on a data point, found 2 that are",
    ),
    ("a level neuron to one side is out", {f"{SET}.classes[1]": None}, "the piece is not out"),
]
UNSEEN: list[tuple[str, dict[str, Any], str]] = [
    ("a row that is seen after all", {f"{SET}.lift": ["1 1 1 1 1", "0 0 1 1 1"]}, "region holds all leaves of tie 1"),
    ("a pattern that no leaf has", {f"{SET}.classes[1].pattern": "01111"}, ONES),
    ("a weight for a linear neuron that has none", {f"{SET}.split": "1/5 1/5"}, "every positive weight >"),
    ("all weight for a linear neuron", {f"{SET}.split": "0 2/5"}, r"\|F'x\| > 0 \|x\|"),
    ("no linear class, though one ties", {f"{SET}.classes[2]": None}, "the piece is not out"),
    (
        "one network, though its bias is level beside unseen rows",
        {"claims[2].verdict": "PROVED"},
        "found 1 that are not",
    ),
]
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("no free term named", {"problem.free": []}, r"problem\.free: expected some of output-bias, biases, skip"),
    ("free terms in another order", {"problem.free": ["biases", "output-bias"]}, "in this order"),
    ("a free term twice", {"problem.free": ["biases", "biases"]}, "in this order"),
    ("an unknown free term", {"problem.free": ["bias"]}, r"problem\.free\[0\]: expected .*'bias'"),
    ("free terms as a text", {"problem.free": "biases"}, r"problem\.free: expected an array"),
    ("free terms with delta", {"problem.objective": ELASTIC, "problem.delta": "1"}, "delta = 0 only"),
    ("free terms over some patterns", {"problem.patterns": ["11"]}, "over all patterns and delta = 0 only"),
    ("free biases are penalised after all", {"problem.free": ["output-bias"]}, r"norm >= \|w\|, \|w\|\^2 = 9/2"),
    ("no free term at all", {"problem.free": ...}, "unknown key 'free'"),
    (
        "a skip connection that theta sees",
        {"problem.free": ["biases", "skip"], "facts.primal.free": "-3/2 0"},
        "theta orthogonal to the free column 1",
    ),
    (
        "theta that sees the constant",
        {"facts.dual.theta": "-1/2 1/4"},
        r"theta orthogonal to the free column 0, found -1/4",
    ),
    ("a multiplier that sees the bias", {"facts.dual.multipliers.+[0]": ["11", [1], "3/4"]}, r"m\.1 = 0, .* found 1/4"),
    ("weights beyond lambda", {"problem.lambda": "99/100"}, r"\|Z'm\|\^2 <= 9801/10000, found 1$"),
    ("no coefficient of the constant", {"facts.primal.free": ...}, "expected the key free"),
    ("two coefficients for one constant", {"facts.primal.free": "-3/2 0"}, "expected 1 number"),
    ("another constant", {"facts.primal.free": "-1"}, r"value\.upper"),
    ("a norm without the weight", {"facts.primal.neurons[0].norm": "1"}, r"norm >= \|w\|, \|w\|\^2 = 9/4"),
    ("lambda_max of another problem", {"facts.lambda_max": {}}, "unknown key 'lambda_max'"),
    ("a cover of nothing", {"facts.cover": {}}, r"facts\.cover: expected the key"),
    ("an optimal set of another problem", {"facts.optimal_set": {}}, "unknown key 'optimal_set'"),
]
TWO = {"rho": "2", "roots": ["1", "1"]}
DECAYED: list[tuple[str, str, dict[str, Any], str]] = [
    ("xor, planted", "decayed and free", {"problem.decayed": TWO, "problem.free": ["skip"]}, "decayed, or free terms"),
    ("xor, planted", "a decay without roots", {"problem.decayed": TWO | {"roots": []}}, "1 to 4 numbers > 0"),
    ("xor, planted", "a root below zero", {"problem.decayed": TWO | {"roots": ["1", "-1"]}}, "1 to 4 numbers > 0"),
    ("xor, planted", "five roots", {"problem.decayed": {"rho": "5", "roots": ["1"] * 5}}, "1 to 4 numbers > 0"),
    ("xor, planted", "roots of another decay", {"problem.decayed": TWO | {"rho": "3"}}, "the squares of the roots, 2"),
    ("xor, planted, gated", "a decayed bias of gates", {"problem.decayed": TWO}, "a decayed output bias with ReLU networks"),
    ("xor, planted", "a decay that the facts do not have", {"problem.decayed": TWO}, "expected"),
]
ELSEWHERE: list[tuple[str, str, dict[str, Any], str]] = [
    ("xor, planted", "biases without ones", {"problem.free": ["biases"]}, "the last column of Z is ones"),
    (
        "xor, planted, gated",
        "free terms of a gated network",
        {"problem.free": ["skip"]},
        "free terms with ReLU networks",
    ),
    *DECAYED,
]
