"""Valid certificates of networks whose outputs are sums or means over bags of rows, by brute force; and dense ones as
such: P is any diagonal, and rows are divided by it, so that the problem and its evidence are the same."""

from __future__ import annotations

import base64
import copy
import json
import lzma
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from relu_cert import certify
from tests.verify.build import plain
from tests.verify.build.plain import SIGNS, Case, word, words
from tests.verify.oracle.brute import Mat, Vec, dot, mat, times, vec
from verify import Rejected, check

Bags = Sequence[Sequence[Vec]]
ZERO = Fraction(0)
CORPUS = Path(__file__).parents[1] / "corpus" / "accepted"


@dataclass(frozen=True)
class Pooled:
    """The canonical form of bags of rows: Z, and P as a full matrix."""

    Z: Mat
    P: Mat

    def outputs(self, u: Vec) -> Vec:
        """P (Zu)_+"""
        return times(self.P, tuple(max(h, ZERO) for h in times(self.Z, u)))

    def spread(self, theta: Vec) -> Vec:
        """P'theta"""
        return tuple(dot(column, theta) for column in zip(*self.P, strict=True))

    def written(self, pool: str, sizes: Sequence[int]) -> dict[str, Any]:
        """Z and the bags for a certificate."""
        scales = [Fraction(1, size) if pool == "mean" else Fraction(1) for size in sizes]
        bags = []
        for row, scale in zip(self.P, scales, strict=True):
            held = [k for k, p in enumerate(row) if p]
            bags.append({"scale": word(scale), "rows": held, "times": [int(row[k] / scale) for k in held]})
        return {"Z": [words(z) for z in self.Z], "bags": bags}


def pooled(bags: Bags, pool: str) -> Pooled:
    """Distinct rows other than zero in the order of their appearance; P counts them."""
    Z: list[Vec] = []
    for z in (z for bag in bags for z in bag if any(z)):
        if z not in Z:
            Z.append(z)
    return Pooled(tuple(Z), tuple(tuple(share(bag, z, pool) for z in Z) for bag in bags))


def share(bag: Sequence[Vec], z: Vec, pool: str) -> Fraction:
    """How much of a row is in a bag."""
    return Fraction(bag.count(z), len(bag) if pool == "mean" else 1)


def long_form(bags: Bags, y: Vec) -> bytes:
    """The CSV text: the name of the bag, the row, the target of the bag; one record of each bag in turn."""
    names = ",".join(["bag", *(f"x{j}" for j in range(len(bags[0][0]))), "y"])
    lines = [f"b{i},{','.join(map(word, (*z, y[i])))}" for i, bag in enumerate(bags) for z in bag]
    return "\n".join([names, *lines, ""]).encode()


def stream(data: bytes) -> str:
    """base64 of an xz stream."""
    return base64.b64encode(lzma.compress(data, format=lzma.FORMAT_XZ)).decode()


def planted(
    name: str,
    bags: Bags,
    theta: Vec,
    alpha: Fraction = Fraction(1),
    pool: str = "mean",
    records: tuple[Mat, str] | None = None,
) -> Case:
    """theta is chosen first: lambda is the largest xi P'theta.(Zu)_+ over unit vectors, attained at v, y = theta + alpha xi
    P(Zv)_+. The optimum is exact: the fact `exact_set` is there, too, if one neuron ties. `records` are those whose windows
    the bags are, and how (else the file is the long form)."""
    data = pooled(bags, pool)
    t = data.spread(theta)
    listing = plain.list_patterns(data.Z)
    multipliers, squared, sign, v = plain.relu_multipliers(data.Z, listing, t)
    lam = plain.root(squared)
    if not lam:
        raise ValueError(f"lambda^2 = {squared} is not a square")
    fit = tuple(SIGNS[sign] * alpha * q for q in data.outputs(v))
    y = tuple(a + b for a, b in zip(theta, fit, strict=True))
    at_y, most, first, u = plain.relu_multipliers(data.Z, listing, data.spread(y))
    facts: dict[str, Any] = {
        "patterns": listing.fact,
        "lambda_max": {"squared": word(most), "multipliers": at_y, "attained": {"sign": first, "u": words(u)}},
        "primal": {"neurons": [{"sign": sign, "w": words(alpha * x for x in v), "norm": word(alpha * lam)}]},
        "dual": {"theta": words(theta), "multipliers": multipliers},
        **plain.value_and_fit(y, lam, fit, alpha * lam, theta),
    }
    tied = {
        (xi, w) for xi, entries in multipliers.items() for w in (vector(data.Z, t, xi, *entry) for entry in entries)
    }
    claims = ["patterns-complete", "optimal", "fit"]
    if sum(dot(w, w) == squared for _, w in tied) == 1 and any(fit):
        facts["exact_set"] = {"solutions": [word(alpha)], "farkas": words([ZERO] * len(y))}
        claims.append("p-unique")
    raw = long_form(bags, y) if records is None else plain.table(records[0], y)
    source: dict[str, Any] = {"target": 1 + len(data.Z[0]), "bags": "bag"}
    if records is not None:
        source = {"target": len(records[0][0]), "conv": records[1]}
    problem = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": word(lam), "y": words(y)}
    problem |= data.written(pool, [*map(len, bags)])
    tree = plain.certificate(problem, facts, raw, pool=pool, **source)
    tree["claims"] = [{"claim": claim, "verdict": "PROVED"} for claim in claims]
    return Case(name, tree, raw)


def vector(Z: Mat, t: Vec, sign: str, base: str, rows: list[int], values: str) -> Vec:
    """Z'm of an entry."""
    m = [SIGNS[sign] * x if on == "1" else ZERO for x, on in zip(t, base, strict=True)]
    for k, x in zip(rows, map(Fraction, values.split()), strict=True):
        m[k] = x
    return tuple(dot(column, m) for column in zip(*Z, strict=True))


def image_windows(record: Vec, shape: tuple[int, int], kernel: tuple[int, int], **options: int) -> list[Vec]:
    """All windows of an image, entry by entry: channels first, zeros around; a signal is an image of one row."""
    (H, W), (K, L) = shape, kernel
    S, C, Q = (options.get(key, default) for key, default in (("stride", 1), ("channels", 1), ("padding", 0)))
    tall = 0 if H == 1 else Q  # there is nothing above a signal
    found = []
    for top in range(-tall, H + tall - K + 1, S):
        for left in range(-Q, W + Q - L + 1, S):
            window = []
            for c in range(C):
                for i in range(top, top + K):
                    for j in range(left, left + L):
                        inside = 0 <= i < H and 0 <= j < W
                        window.append(record[(c * H + i) * W + j] if inside else ZERO)
            found.append(tuple(window))
    return found


def on_a_line(name: str, bags: Bags, theta: Vec, alpha: Fraction = Fraction(1), pool: str = "mean") -> Case:
    """The same with one feature, by a cover: the two directions are its leaves, the one that ties is a neuron; and with
    the set of all optimal networks, its derivatives and its shortest weights."""
    listed = planted(name, bags, theta, alpha, pool)
    facts = listed.certificate["facts"]
    if "exact_set" not in facts:
        raise ValueError("not one neuron that ties")
    sign, up = facts["primal"]["neurons"][0]["sign"], Fraction(facts["primal"]["neurons"][0]["w"]) > 0
    codes = {side: bytes([203 if side == sign and up == (g > 0) else 200 for g in (-1, 1)]) for side in "+-"}
    trees = {
        side: {"codes": stream(codes[side]), "multipliers": stream(b""), "rows": stream(b""), "data": stream(b"\0")}
        for side in "+-"
    }
    trees["-" if sign == "+" else "+"]["data"] = stream(b"")
    tie = {"sign": sign, "u": "1" if up else "-1", "shares": ""}
    proof = {"basis": ["1"], "ties": [tie], "margin": 1, **trees}
    Z = [Fraction(z) for z in listed.certificate["problem"]["Z"]]
    pattern = "".join("1" if (z > 0) == up else "0" for z in Z)
    one = {"sign": sign, "pattern": pattern, "kinks": [], "basis": [], "idle": [], "fixed": ""}
    found = {
        **{key: facts[key] for key in ("primal", "value", "fit")},
        "cover": {"theta": facts["dual"]["theta"], "proof": proof},
        "cover_set": {"lift": [], "classes": [one], "masses": word(alpha), "split": "", "forced": ""},
    }
    tree = {**listed.certificate, "facts": found}
    tree["claims"] = [{"claim": c, "verdict": "PROVED"} for c in ("optimal", "fit", "p-unique", "e-equals-a")]
    return Case(name, tree, listed.raw)


def as_bags(tree: dict[str, Any], scales: Sequence[int]) -> dict[str, Any]:
    """A dense certificate over all patterns as one with bags of one row each: output k is s_k times that of z_k / s_k. All
    facts stay as they are, but for multipliers, which are those of rows and are s_k times as large. No network has `own`."""
    found = copy.deepcopy(tree)
    problem = found["problem"]
    Z = [[Fraction(x) for x in row.split(" ")] for row in problem["Z"]]
    problem["Z"] = [words(x / s for x in z) for z, s in zip(Z, scales, strict=True)]
    problem["bags"] = [{"scale": "1", "rows": [k], "times": [s]} for k, s in enumerate(scales)]
    found["input"] |= {"bags": "bag", "pool": "sum"}
    found["facts"].get("network", {}).pop("own", None)
    found["claims"] = [claim for claim in found["claims"] if claim["claim"] != "network-own-optimal"]
    rescale(found["facts"], scales)
    return found


def rescale(value: Any, scales: Sequence[int]) -> None:
    """Multiply the values of all [base, rows, values] in place."""
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(entry, list) and len(entry) == 3 and isinstance(entry[0], str) and isinstance(entry[1], list):
            rows, values = entry[1], entry[2]
            if isinstance(values, str):
                entry[2] = words(Fraction(x) * scales[k] for k, x in zip(rows, values.split(), strict=True))
            else:
                entry[2] = [
                    words(Fraction(c) * scales[k] for c in x.split()) for k, x in zip(rows, values, strict=True)
                ]
        else:
            rescale(entry, scales)


def written(tree: dict[str, Any], raw: bytes | None = None) -> bytes:
    """The certificate's file, of these data."""
    if raw is not None:
        tree = {**tree, "input": {**tree["input"], "sha256": sha256(raw).hexdigest()}}
    return json.dumps(tree).encode()


@cache
def signals(pool: str = "mean", conv: str = "1d:2") -> Case:
    """Signals of four numbers, windows of two, planted."""
    for seed in range(1000):
        draw = random.Random(seed)
        records = mat([[draw.randint(-1, 2) for _ in range(4)] for _ in range(3)])
        bags = [image_windows(record, (1, 4), (1, 2)) for record in records]
        try:
            case = planted(
                "signals", bags, vec(*(draw.randint(-3, 3) for _ in bags)), Fraction(1), pool, (records, conv)
            )
        except ValueError:
            continue
        if "exact_set" in case.certificate["facts"] and any(not any(z) for bag in bags for z in bag):
            return case
    raise AssertionError


MISREAD: dict[str, tuple[dict[str, Any], str]] = {
    "a window shifted": ({"raw": "shift"}, r"problem\.(Z|bags)"),
    "another pooling": ({"pool": "sum"}, r"input\.pool: expected the sum over bag 0"),
    "a stride that is not there": ({"conv": "1d:2:stride=2"}, r"problem\.(Z|bags)"),
    "a stride that does not divide": ({"conv": "1d:2:stride=3"}, r"input\.conv: expected windows that fit"),
    "padding that is not there": ({"conv": "1d:2:padding=1"}, r"problem\.(Z|bags)"),
    "channels that are not there": ({"conv": "1d:1:channels=2"}, r"problem\.(Z|bags)"),
    "windows of another size": ({"conv": "1d:3"}, r"input\.conv: expected windows of 2 numbers"),
    "windows that are larger than the signal": ({"conv": "2d:1x1:1x2"}, r"input\.conv: expected windows that fit"),
    "an image of another size": ({"conv": "2d:1x5:1x2:stride=1"}, r"input\.conv: expected 4 windows in bag 0"),
    "an image of another shape": ({"conv": "2d:2x3:2x1:stride=1"}, r"input\.conv: expected records of 6 features"),
    "no such words": ({"conv": "3d:2"}, r"input\.conv: expected 1d:K or 2d:HxW:KxL"),
    "an option twice": ({"conv": "1d:2:stride=1:stride=1"}, r"input\.conv: expected 1d:K"),
    "an unknown option": ({"conv": "1d:2:dilation=2"}, r"input\.conv: expected 1d:K"),
    "a stride of 0": ({"conv": "1d:2:stride=0"}, r"a stride and channels > 0"),
    "no channels": ({"conv": "1d:2:channels=0"}, r"a stride and channels > 0"),
    "no pool": ({"pool": ...}, r"input: expected how bags were made"),
    "no rule": ({"conv": ...}, r"input: expected how bags were made"),
    "two rules": ({"bags": "x0"}, r"input: expected how bags were made"),
    "another rule": ({"conv": ..., "bags": "x0"}, r"problem\.(Z|bags|y)|one target"),
    "a bias": ({"bias": True}, "a last column of ones"),
}


BAD: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a bag less": (lambda p: p["bags"].pop(), r"problem\.bags: expected an array of"),
    "a bag that is null": (lambda p: p["bags"].__setitem__(0, None), r"bags\[0\]: expected an object"),
    "no times": (lambda p: p["bags"][0].pop("times"), r"bags\[0\]: expected the key times"),
    "a scale of 0": (lambda p: p["bags"][0].update(scale="0"), "a scale > 0"),
    "a negative scale": (lambda p: p["bags"][0].update(scale="-1/3"), "a scale > 0"),
    "times 0": (lambda p: p["bags"][0]["times"].__setitem__(0, 0), "integers > 0"),
    "times -1": (lambda p: p["bags"][0]["times"].__setitem__(0, -1), "JSON integers from 0"),
    "times that are text": (lambda p: p["bags"][0]["times"].__setitem__(0, "1"), "an index below"),
    "one time too many": (lambda p: p["bags"][0]["times"].append(1), r"times: expected an array of"),
    "rows out of order": (lambda p: p["bags"][0]["rows"].reverse(), "indices in ascending order"),
    "a row twice": (lambda p: p["bags"][0]["rows"].__setitem__(1, p["bags"][0]["rows"][0]), "ascending order"),
    "a row that is not there": (lambda p: p["bags"][0]["rows"].__setitem__(-1, 99), "an index below"),
    "a row of zeros": (lambda p: p["Z"].__setitem__(0, "0 0"), "all different and not zero"),
    "a row repeated": (lambda p: p["Z"].__setitem__(0, p["Z"][1]), "all different and not zero"),
    "a row in no bag": (lambda p: p["Z"].append("17 19"), "every row of Z in some bag"),
    "no bag": (lambda p: p.update(bags=[], y=""), "at least one bag"),
    "gated networks": (lambda p: p.update(model="gated"), "ReLU networks over all patterns"),
    "some patterns": (lambda p: p.update(patterns=["1"]), "ReLU networks over all patterns"),
    "delta": (lambda p: p.update(delta="1"), "ReLU networks over all patterns"),
    "the wrong scale": (lambda p: p["bags"][0].update(scale="1/2"), r"input\.(pool|conv)"),
    "a bag joined": (lambda p: p["bags"][0].update(p["bags"][1]), r"every row|problem\.bags\[0\]|facts"),
    "a bag moved": (lambda p: p["bags"].reverse(), r"problem\.bags\[0\]: expected .*data given"),
    "one target more": (lambda p: p.update(y=p["y"] + " 1"), r"problem\.bags: expected an array of 4"),
}


HEADER = "bag,x0,y\n"
LONG = [  # the column, whether there is a header, and the records; y0 and y1 are the targets of the two bags
    ("bag", True, HEADER + "a,3,y0\na,4,y0\nb,4,y1\na,-1,y0\nb,0,y1\n"),
    ("0", True, HEADER + "a,3,y0\na,4,y0\na,-1,y0\nb,4,y1\nb,0,y1\n"),
    ("0", False, "a,3,y0\na,4,y0\na,-1,y0\nb,4,y1\nb,0,y1\n"),
    ("0", False, "7,3,y0\n7,4,y0\n7,-1,y0\n07,4,y1\n07,0,y1\n"),
]
WRONG_LONG = [
    ("targets that differ in a bag", "0", False, LONG[2][2].replace("b,0,y1", "b,0,9"), "one target in the bag 'b'"),
    ("a record in another bag", "0", False, LONG[2][2].replace("a,-1,y0", "b,-1,y1"), r"problem\.bags\[0\]"),
    ("a bag more", "0", False, LONG[2][2].replace("b,0", "c,0"), r"problem\.(y|bags\[1\])"),
    ("texts of bags as a header", "0", True, LONG[2][2], r"input\.header: expected false"),
    ("an unknown column of bags", "set", True, LONG[1][2], r"input\.bags: expected an index below 3"),
    ("a column of bags beyond the last", "9", True, LONG[1][2], r"input\.bags: expected an index below 3"),
    ("the targets as names of bags", "2", True, LONG[1][2], r"input\.bags: expected another column than the target"),
    ("no column of bags", "", True, LONG[1][2], r"input\.bags: expected a column"),
]


def in_long_form(column: str, header: bool, records: str) -> Case:
    """Two bags of numbers, by a cover, from these records."""
    case = on_a_line("long", (mat([[3], [4], [-1]]), mat([[4], [0]])), vec(1, -2))
    tree = copy.deepcopy(case.certificate)
    for i, y in enumerate(tree["problem"]["y"].split()):
        records = records.replace(f"y{i}", y)
    tree["input"] |= {"bags": column, "header": header, "target": 2}
    return Case("long", json.loads(written(tree, records.encode())), records.encode())


def wrong() -> list[tuple[str, bytes, bytes, str]]:
    """Certificates that must be rejected: the reason, the file, its data, what the message must say."""
    found = []
    for reason, (changes, message) in MISREAD.items():
        tree, raw = copy.deepcopy(signals().certificate), signals().raw
        if "raw" in changes:
            names, first, *others = raw.decode().splitlines()
            cells = first.split(",")
            raw = "\n".join([names, ",".join([*cells[1:4], cells[0], cells[4]]), *others, ""]).encode()
        tree["input"] |= {key: value for key, value in changes.items() if key != "raw"}
        tree["input"] = {key: value for key, value in tree["input"].items() if value is not ...}
        found.append((reason, written(tree, raw), raw, message))
    for reason, (change, message) in BAD.items():
        tree = copy.deepcopy(signals().certificate)
        change(tree["problem"])
        found.append((reason, json.dumps(tree).encode(), signals().raw, message))
    for reason, column, header, records, message in WRONG_LONG:
        case = in_long_form(column, header, records)
        found.append((reason, case.text, case.raw, message))
    tree = copy.deepcopy(signals().certificate)
    tree["facts"]["ggp"] = {}
    found.append(("position of rows", json.dumps(tree).encode(), signals().raw, "unknown key 'ggp'"))
    return [(f"bags: {reason}", text, raw, message) for reason, text, raw, message in found]


def drawn(seed: int, d: int = 2) -> Case | None:
    """A planted problem, if lambda is rational."""
    draw = random.Random(seed)
    sizes = [draw.randint(1, 3) for _ in range(draw.randint(1, 3))]
    bags = [mat([[draw.randint(-2, 2) for _ in range(d)] for _ in range(size)]) for size in sizes]
    theta = vec(*(draw.randint(-2, 2) for _ in bags))
    if not any(any(z) for bag in bags for z in bag):
        return None
    pool = draw.choice(["mean", "sum"])
    try:
        return (planted if d > 1 else on_a_line)(f"seed {seed}", bags, theta, Fraction(draw.randint(1, 3), 2), pool)
    except ValueError:
        return None


@cache
def some(d: int, count: int) -> list[Case]:
    """So many of them."""
    found: list[Case] = []
    seed = 0
    while len(found) < count:
        seed += 1
        if (one := drawn(seed, d)) is not None:
            found.append(one)
    return found


def changed(case: Case, draw: random.Random) -> dict[str, Any]:
    """Another P beside the same evidence: a bag joined, a row moved or repeated, another scale; the bounds are those of
    the same points under it, so that nothing but the proof is wrong."""
    tree = copy.deepcopy(case.certificate)
    bags = tree["problem"]["bags"]
    one, other = draw.choice(bags), draw.choice(bags)
    kind = draw.choice(["scale", "times", "move", "swap", "join"])
    if kind == "scale":
        one["scale"] = draw.choice(["1", "1/2", "1/3", "2", "3/2"])
    elif kind == "times" and one["times"]:
        k = draw.randrange(len(one["times"]))
        one["times"][k] = draw.randint(1, 4)
    elif kind == "move" and one["rows"]:
        j = draw.randrange(len(one["rows"]))
        one["rows"][j] = draw.choice(
            [k for k in range(len(tree["problem"]["Z"])) if k not in one["rows"]] or one["rows"][j : j + 1]
        )
        one["rows"], one["times"] = (
            list(x) for x in zip(*sorted(zip(one["rows"], one["times"], strict=True)), strict=True)
        )
    elif kind == "swap":
        one["rows"], other["rows"] = other["rows"], one["rows"]
        one["times"], other["times"] = other["times"], one["times"]
    else:
        rows = sorted({*one["rows"], *other["rows"]})
        one |= {"rows": rows, "times": [1] * len(rows)}
    tree["input"]["pool"] = "sum" if all(bag["scale"] == "1" for bag in bags) else "mean"
    return restated(tree)


def restated(tree: dict[str, Any], rows: bool = False) -> dict[str, Any]:
    """The same with the bounds and the fit of its points under its P; or those of single rows."""
    problem, facts = tree["problem"], tree["facts"]
    Z = [vec(*row.split()) for row in problem["Z"]]
    y, theta = vec(*problem["y"].split()), vec(*(facts["dual"] if "dual" in facts else facts["cover"])["theta"].split())
    fit = [Fraction(0)] * len(y)
    for one in facts["primal"]["neurons"]:
        for i, bag in enumerate(problem["bags"]):
            heights = [
                max(dot(Z[k], vec(*one["w"].split())), Fraction(0)) * m
                for k, m in zip(bag["rows"], bag["times"], strict=True)
            ]
            fit[i] += (1 if one["sign"] == "+" else -1) * Fraction(bag["scale"]) * sum(heights, Fraction(0))
        if rows:
            heights = [max(dot(z, vec(*one["w"].split())), Fraction(0)) for z in Z]
            fit = [(1 if one["sign"] == "+" else -1) * h for h in cut(heights, len(y))]
    penalty = sum((Fraction(one["norm"]) for one in facts["primal"]["neurons"]), Fraction(0))
    facts |= plain.value_and_fit(y, Fraction(problem["lambda"]), tuple(fit), penalty, theta)
    tree["claims"] = [claim for claim in tree["claims"] if claim["claim"] in ("optimal", "fit")]
    facts.pop("exact_set", None)
    facts.pop("cover_set", None)
    facts.pop("lambda_max", None)
    facts["value"]["gap"] = "99/100"
    return tree


def cut(x: Any, length: int) -> tuple[Any, ...]:
    """As if P were the unit matrix: as many entries as are wanted."""
    return (*x, *[Fraction(0)] * length)[:length]


def dense() -> list[Path]:
    """Certificates of the corpus that can be written with bags of one row each."""
    found = []
    for path in sorted(CORPUS.glob("*.json")):
        tree = json.loads(path.read_bytes())
        problem = tree.get("problem", {})
        if (
            problem.get("model") == "relu"
            and not {"patterns", "delta", "bags", "decayed", "Y"} & {*problem}
            and "biases" not in problem.get("free", ())
        ):
            rows = [tuple(map(Fraction, row.split())) for row in problem["Z"]]
            other = "leaders" in tree["facts"] or tree["input"].get("bias")
            if not other and all(map(any, rows)) and len(set(scaled(rows))) == len(rows) == len(set(rows)):
                found.append(path)
    return found


def scaled(rows: list[Vec]) -> list[Vec]:
    """Rows divided by 1, 2, 3, 1, 2, ..."""
    return [tuple(x / (k % 3 + 1) for x in row) for k, row in enumerate(rows)]


@cache
def produced() -> list[tuple[str, bytes, bytes | None]]:
    """What the program finds for a few signals, images and sets: covers with the set of all optimal networks."""
    draw = random.Random(3)
    records = [[draw.randint(-3, 3) for _ in range(8)] for _ in range(6)]
    y = [draw.randint(-4, 4) for _ in records]
    found = [("signals", certify(records, y, conv="1d:2")), ("biases", certify(records, y, conv="1d:2", bias=True))]
    found.append(("images", certify(records, y, lambda_ratio="1/2", conv="2d:2x4:2x2:stride=2", pool="sum")))
    sets = [[record[2 * k : 2 * k + 2] for k in range(1 + i % 3)] for i, record in enumerate(records)]
    labels = [i for i, bag in enumerate(sets) for _ in bag]
    rows, targets = [z for bag in sets for z in bag], [y[i] for i in labels]
    found.append(("sets", certify(rows, targets, bags=labels, loss="squares")))
    signs = [1 if x > 0 else -1 for x in y]
    found.append(("logistic", certify(records, signs, conv="1d:2", loss="logistic")))
    return [(f"produced, {name}", one.certificate.encode(), one.raw) for name, one in found]


def accepted() -> list[tuple[str, bytes, bytes | None]]:
    """For the corpus: signals, sets, covers of them, and dense certificates of every kind of evidence with a diagonal P."""
    found: list[tuple[str, bytes, bytes | None]] = [
        (pool, signals(pool).text, signals(pool).raw) for pool in ("mean", "sum")
    ]
    found += [(f"plane {i}", case.text, case.raw) for i, case in enumerate(some(2, 12)[::4])]
    found += [(f"line {i}", case.text, case.raw) for i, case in enumerate(some(1, 12)[::4])]
    found += [
        (f"long form {i}", case.text, case.raw) for i, case in enumerate(map(in_long_form, *zip(*LONG, strict=True)))
    ]
    found += produced()
    kinds: set[str] = set()
    for path in sorted(dense(), key=lambda path: path.stat().st_size):
        tree, kind = json.loads(path.read_bytes()), path.stem.rpartition("-")[0]
        if len(tree["problem"]["Z"]) > 1 and kind not in kinds:
            kinds.add(kind)
            other = as_bags(tree, [k % 3 + 1 for k in range(len(tree["problem"]["Z"]))])
            found.append((f"diagonal, {kind}", json.dumps(other).encode(), None))
    return found


def forged() -> list[tuple[str, bytes, bytes | None]]:
    """For the corpus: evidence of one matrix beside another, and of rows beside their sums."""
    draw, found = random.Random(7), []
    for d in (1, 2):
        for case in some(d, 40):
            for tree in (changed(case, draw), restated(copy.deepcopy(case.certificate), rows=True)):
                try:
                    check(text := json.dumps(tree).encode())
                except Rejected as error:
                    found.append((len(text), f"forged, {str(error)[:40]}", text))
    kept = {re.sub("[0-9]+", "", name): (name, text, None) for _, name, text in sorted(found, reverse=True)}
    return [*kept.values()]
