"""Small certificates with the fact `optimal_set`, planted so that the exact optimum is known; plain Fractions only."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Any

from tests.verify.build import plain
from tests.verify.build.plain import SIGNS, Case, words
from tests.verify.oracle import brute
from tests.verify.oracle.brute import Mat, Vec, combine, dot, mat, solve, times, vec

ZERO = Fraction(0)


@dataclass(frozen=True)
class Neuron:
    """A class with its weight: relu and gated by pattern, cgl by block; kinks with their basis and the fixed parts."""

    first: int | str
    pattern: str = ""
    kinks: tuple[int, ...] = ()
    basis: tuple[int, ...] = ()
    idle: tuple[int, ...] = ()
    fixed: tuple[Fraction, ...] = ()
    weight: Fraction = Fraction(1)

    def entry(self, model: str) -> dict[str, Any]:
        """As the certificate writes it."""
        if model == "gated":
            return {"pattern": self.first}
        named = {"sign": self.first, "pattern": self.pattern} if model == "relu" else {"block": self.first}
        return {
            **named,
            "kinks": list(self.kinks),
            "basis": list(self.basis),
            "idle": list(self.idle),
            "fixed": words(self.fixed),
        }


def projected(c: Vec, vectors: Sequence[Vec]) -> Vec:
    """c without its part in the span of independent vectors."""
    if not vectors:
        return c
    m = solve([[dot(a, b) for b in vectors] for a in vectors], [dot(a, c) for a in vectors])
    return tuple(c_j - sum((x * a[j] for x, a in zip(m, vectors, strict=True)), ZERO) for j, c_j in enumerate(c))


def pivots_positive(M: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix is positive definite: elimination meets positive pivots only."""
    A = [list(row) for row in M]
    for i in range(len(A)):
        if A[i][i] <= 0:
            return False
        for j in range(i + 1, len(A)):
            f = A[j][i] / A[i][i]
            A[j] = [x - f * p for x, p in zip(A[j], A[i], strict=True)]
    return True


def fine_entries(
    Z: Mat, listing: plain.Listing, t: Vec, R_squared: Fraction, taken: Sequence[Neuron]
) -> list[list[Any]]:
    """Shortest multipliers of every fine piece, inside a piece that is not out, that no class takes.

    Here a piece is out if |Z'm| is below 99/100 of the largest: enough for planted data with a small ball.
    """
    largest = plain.piece_entries(Z, listing, t)[1]
    open_cells = listing.patterns[: listing.open_cells]
    fine = [k for k, t_k in enumerate(t) if not (t_k < 0 and t_k**2 > R_squared) and any(Z[k])]
    entries: list[list[Any]] = []
    on_kink = {a: {k for k, row in enumerate(Z) if any(brute.rank([row, Z[c]]) == 1 for c in a.kinks)} for a in taken}
    seen = set()
    for base in brute.piece_bases(open_cells, t):
        m = brute.shortest(Z, brute.box(t, base))
        v = combine(Z, m)
        if dot(v, v) * 10000 < 9801 * largest:
            continue
        inside = [p for p in open_cells if all(p[k] == base[k] for k in range(len(t)) if t[k] > 0)]
        for pattern in inside:
            key = tuple(pattern[k] for k in fine)
            in_region = any(all(pattern[k] == a.pattern[k] for k in fine if k not in on_kink[a]) for a in taken)
            if key in seen or in_region:
                continue
            seen.add(key)
            intervals = [
                ((t[k], None) if pattern[k] == "1" else (None, ZERO)) if k in fine else (min(t[k], ZERO), ZERO)
                for k in range(len(t))
            ]
            m = brute.shortest(Z, intervals)
            default = plain.masked(pattern, t)
            rows = [k for k in range(len(t)) if m[k] != default[k]]
            entries.append([pattern, rows, words(m[k] for k in rows)])
    return entries


def faced(model: str, Z: Mat, theta: Vec, a: Neuron) -> tuple[Vec, Vec]:
    """v and the output q of a class of a network at theta."""
    if model == "gated":
        v = combine(Z, plain.masked(str(a.first), theta))
        return v, plain.masked(str(a.first), times(Z, v))
    xi = SIGNS[str(a.first)]
    t = tuple(xi * x for x in theta)
    v = projected(combine(Z, plain.masked(a.pattern, t)), [Z[k] for k in a.basis])
    return v, tuple(xi * x for x in plain.masked(a.pattern, times(Z, v)))


def completed(
    case: Case,
    entries: Sequence[dict[str, Any]],
    outputs: Sequence[Vec],
    out: Any,
    supers: Sequence[Sequence[int]],
    weights: Sequence[Fraction],
    lift: Mat,
    verdicts: tuple[str, str],
    forced: Vec = (),
) -> Case:
    """The case with `optimal_set` and the two claims. With `forced`, the rows of the lift that it has are void."""
    alone = not lift and len(supers) == len(entries)
    fact = {
        "lift": [words(row) for row in lift],
        "classes": list(entries),
        "out": out,
        "masses": words(sum((weights[a] for a in group), ZERO) for group in supers),
        "split": "" if alone else words(weights),
        "forced": words(forced),
    }
    facts = {**case.certificate["facts"], "optimal_set": fact}
    claims = [{"claim": c, "verdict": v} for c, v in zip(("p-unique", "convex-unique"), verdicts, strict=True)]
    certificate = {**case.certificate, "facts": facts, "claims": [*case.certificate["claims"], *claims]}
    return Case(case.name, {**certificate, "end": certificate.pop("end")}, case.raw)


def planted(
    name: str,
    model: str,
    Z: Mat,
    r: Vec,
    neurons: Sequence[Neuron],
    verdicts: tuple[str, str],
    supers: Sequence[Sequence[int]] | None = None,
    lift: Mat = (),
    loose: int | None = None,
    forced: Vec = (),
) -> Case:
    """A network with residual r: lambda = |v| for all classes, y = r + sum of weight times output.

    With `loose` the certificate's theta is (1 - 2^-loose) r, so that the ball has a radius R > 0.
    """
    listing = plain.list_patterns(Z)
    exact = [faced(model, Z, r, a) for a in neurons]
    lam = plain.root(dot(exact[0][0], exact[0][0]))
    if lam is None or any(dot(v, v) != lam**2 for v, _ in exact):
        raise ValueError("the classes do not tie at a rational lambda")
    weights = [a.weight for a in neurons]
    y = tuple(r_k + sum((x * q[k] for x, (_, q) in zip(weights, exact, strict=True)), ZERO) for k, r_k in enumerate(r))
    theta = tuple(x * (1 - (Fraction(1, 2**loose) if loose else 0)) for x in r)
    used = [
        (str(a.first), tuple(a.weight * x for x in v), a.weight * lam)
        for a, (v, _) in zip(neurons, exact, strict=True)
        if a.weight
    ]
    case = plain.network(name, model, Z, y, lam, used, theta)
    R_squared = Fraction(case.certificate["facts"]["fit"]["radius_squared"])
    out = None
    if model == "relu":
        out = {}
        for sign, xi in SIGNS.items():
            t = tuple(xi * x for x in theta)
            taken = [a for a in neurons if a.first == sign]
            out[sign] = fine_entries(Z, listing, t, R_squared, taken) if taken else []
    outputs = [faced(model, Z, theta, a)[1] for a in neurons]
    supers = [[a] for a in range(len(neurons))] if supers is None else supers
    return completed(case, [a.entry(model) for a in neurons], outputs, out, supers, weights, lift, verdicts, forced)


def as_exact(case: Case, solutions: Sequence[Vec], farkas: Vec, verdicts: tuple[str, str]) -> Case:
    """The case with `exact_set` instead of `optimal_set`."""
    facts = {key: value for key, value in case.certificate["facts"].items() if key != "optimal_set"}
    facts["exact_set"] = {"solutions": [words(alpha) for alpha in solutions], "farkas": words(farkas)}
    claims = [claim for claim in case.certificate["claims"] if not claim["claim"].endswith("unique")]
    claims += [{"claim": c, "verdict": v} for c, v in zip(("p-unique", "convex-unique"), verdicts, strict=True)]
    certificate = {**case.certificate, "facts": facts, "claims": claims}
    return Case(case.name, {**certificate, "end": certificate.pop("end")}, case.raw)


# ------------------------------------------------------------------------------------------------ the examples


def line(loose: int | None = None) -> Case:
    """d = 1: one neuron, no kink. Unique in every sense."""
    Z, r = mat([[1], [2], [-1]]), vec(1, 1, 2)
    return planted("line", "relu", Z, r, [Neuron("+", "110")], ("PROVED", "PROVED"), loose=loose)


def both_signs(loose: int | None = None) -> Case:
    """Two neurons of different sign in two dimensions."""
    Z, r = mat([[5, 0], [-5, 0], [1, 3]]), vec(1, -1, 0)
    neurons = [Neuron("+", "101"), Neuron("-", "010", weight=Fraction(1, 2))]
    return planted("both signs", "relu", Z, r, neurons, ("PROVED", "PROVED"), loose=loose)


def kink(loose: int | None = None) -> Case:
    """The neuron v = (3, 0) is zero on row 1, between two patterns: p-unique, but two convex solutions."""
    Z, r = mat([[3, 1], [0, 1], [-1, 0]]), vec(1, -2, 1)
    return planted("kink", "relu", Z, r, [Neuron("+", "100", (1,), (1,))], ("PROVED", "REFUTED"), loose=loose)


def parallel_kinks(loose: int | None = None) -> Case:
    """As `kink`, with a second row on the same hyperplane: together they are one kink."""
    Z, r = mat([[3, 1], [0, 1], [-1, 0], [0, 2]]), vec(1, "-3/2", 1, "-1/2")
    return planted("parallel", "relu", Z, r, [Neuron("+", "1000", (1,), (1,))], ("PROVED", "REFUTED"), loose=loose)


def opposed_kinks(loose: int | None = None) -> Case:
    """As `kink`, with an antipodal row whose residual is positive: the neuron lies in two fine pieces."""
    Z, r = mat([[3, 1], [0, 1], [-1, 0], [0, -1]]), vec(1, -2, 1, "1/2")
    return planted("opposed", "relu", Z, r, [Neuron("+", "1000", (1,), (1,))], ("PROVED", "REFUTED"), loose=loose)


def loose_kink(loose: int | None = None) -> Case:
    """Three kinks of rank two: the multiplier of the third is a fixed part between its two slopes."""
    Z, r = mat([[3, "1/2", "1/2"], [0, 1, 0], [-1, 0, 0], [0, 0, 1], [0, 1, 1]]), vec(1, -1, 1, -1, -1)
    neuron = Neuron("+", "10000", (1, 3, 4), (1, 3), fixed=vec("1/4"))
    return planted("loose kink", "relu", Z, r, [neuron], ("PROVED", "REFUTED"), loose=loose)


def idle_kink(loose: int | None = None) -> Case:
    """Row 1 is orthogonal to all others: the neuron is zero on it whatever the residual."""
    Z, r = mat([[3, 0], [0, 1], [-1, 0]]), vec(1, -2, 1)
    return planted("idle", "relu", Z, r, [Neuron("+", "100", (1,), idle=(1,))], ("PROVED", "REFUTED"), loose=loose)


def kink_without_weight(loose: int | None = None) -> Case:
    """Two neurons tie: one without kink has all the weight, one with a kink has none. Too little to be sure."""
    Z, r = mat([[3, 0], [-1, 0], ["-1/2", -3]]), vec(1, 1, -1)
    neurons = [Neuron("+", "100"), Neuron("-", "001", (0,), (0,), weight=Fraction(0))]
    return planted("kink without weight", "relu", Z, r, neurons, ("PROVED", "UNDECIDED"), loose=loose)


def zero_row(loose: int | None = None) -> Case:
    """As `line`, with a row of Z that is zero and a residual there."""
    Z, r = mat([[1], [0], [2], [-1], [0]]), vec(1, 3, 1, 2, -1)
    return planted("zero row", "relu", Z, r, [Neuron("+", "10100")], ("PROVED", "PROVED"), loose=loose)


def fine(loose: int | None = None) -> Case:
    """Row 1 has residual 0 and cuts the piece of the neuron: one fine piece has the class, the other is out."""
    Z, r = mat([[1, 0], [1, 1], [-2, 1]]), vec(3, 0, 1)
    return planted("fine", "relu", Z, r, [Neuron("+", "110")], ("PROVED", "PROVED"), loose=loose)


TWINS = ("1010", "1001", "0110", "0101")


def twins(loose: int | None = None) -> Case:
    """Z'r = 0: four antipodal neurons tie, their outputs are dependent; the optimal set is a segment."""
    Z, r = mat([[3, 0], [-3, 0], [0, 4], [0, -4]]), vec(1, 1, 1, 1)
    neurons = [Neuron("+", D, weight=Fraction(1, 2)) for D in TWINS]
    lift = mat([[1, -1, 0, 0], [0, 0, 1, -1]])
    return planted("twins", "relu", Z, r, neurons, ("REFUTED", "REFUTED"), [[0, 1, 2, 3]], lift, loose)


def pair(loose: int | None = None) -> Case:
    """d = 1 and Z'r = 0: the neurons v and -v tie, and the lift proves that both weights are unique."""
    Z, r = mat([[2], [-1], [-1]]), vec(1, 1, 1)
    neurons = [Neuron("+", "100", weight=Fraction(2)), Neuron("+", "011", weight=Fraction(3))]
    return planted("pair", "relu", Z, r, neurons, ("PROVED", "PROVED"), [[0, 1]], mat([[2, -1, -1]]), loose)


def interpolated(loose: int | None = None) -> Case:
    """Gated, rows 1 and 2 interpolated: four patterns tie, the optimal set is a segment."""
    Z, r = mat([[1, 0, 0], [1, 1, 0], [1, 0, 1]]), vec(3, 0, 0)
    neurons = [Neuron(D) for D in ("111", "110", "101", "100")]
    lift = mat([[0, 1, 0], [0, 0, 1]])
    return planted("interpolated", "gated", Z, r, neurons, ("REFUTED", "REFUTED"), [[0, 1, 2, 3]], lift, loose)


def gated_pair(loose: int | None = None) -> Case:
    """Gated, d = 1, row 1 interpolated: an open cell and the lower face tie, and both weights are unique."""
    Z, r = mat([[1], [-1]]), vec(3, 0)
    neurons = [Neuron("10"), Neuron("11", weight=Fraction(1, 3))]
    return planted("gated pair", "gated", Z, r, neurons, ("PROVED", "PROVED"), [[0, 1]], mat([[0, 1]]), loose)


def forced_pair(loose: int | None = None) -> Case:
    """As `gated_pair`, but the target at row 1 is 0: the lower face has weight 0 in every solution."""
    Z, r = mat([[1], [-1]]), vec(3, 0)
    neurons = [Neuron("10"), Neuron("11", weight=Fraction(0))]
    lift, forced = mat([[0, 1]]), vec(0, -1)
    return planted("forced pair", "gated", Z, r, neurons, ("PROVED", "PROVED"), [[0, 1]], lift, loose, forced)


def forced_segment(loose: int | None = None) -> Case:
    """As `interpolated`, with one more interpolated row that half of the classes reach, and whose target is 0."""
    Z, r = mat([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]), vec(3, 0, 0, 0)
    active = ["1110", "1100", "1010", "1000"]
    neurons = [Neuron(D) for D in active] + [Neuron(D[:3] + "1", weight=Fraction(0)) for D in active]
    lift, forced = mat([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), vec(0, 0, 0, 1)
    supers = [list(range(8))]
    return planted("forced segment", "gated", Z, r, neurons, ("REFUTED", "REFUTED"), supers, lift, loose, forced)


def gated_alone(loose: int | None = None) -> Case:
    """Gated with one pattern at lambda, all others out."""
    Z, r = mat([[3, 0], [0, 4], [-1, -1]]), vec(1, 1, 1)
    neurons = [Neuron("110")]
    return planted("gated alone", "gated", Z, r, neurons, ("PROVED", "PROVED"), loose=loose)


def constrained() -> Case:
    """A constrained group lasso: block 0 with a constraint that pushes, block 1 free, block 2 out. Unique."""
    case = plain.direct("constrained")
    X, groups = mat([row.split(" ") for row in case.certificate["problem"]["X"]]), case.certificate["problem"]["groups"]
    r, outputs = vec(1, 2, 2), []
    for b, kinks in ((0, [vec(0, 1)]), (1, [])):
        X_b = tuple(tuple(row[j] for j in groups[b]) for row in X)
        outputs.append(times(X_b, projected(combine(X_b, r), kinks)))
    entries = [Neuron(0, kinks=(0,), basis=(0,)).entry("cgl"), Neuron(1).entry("cgl")]
    weights = vec("1/3", "1/6")
    return completed(case, entries, outputs, None, [[0], [1]], weights, (), ("PROVED", "PROVED"))


def group_lasso(blocks: int) -> Case:
    """min 1/2|sum_b w_b - (6, 8)|^2 + 5 sum |w_b| with X_b = I for one or more equal blocks."""
    y, r, lam = vec(6, 8), vec(3, 4), Fraction(5)
    share = Fraction(1, blocks)
    rows = [[Fraction(i == j % 2) for j in range(2 * blocks)] for i in range(2)]
    groups = [[2 * b, 2 * b + 1] for b in range(blocks)]
    raw = {"X": [list(map(plain.word, row)) for row in rows], "groups": groups, "K": [None] * blocks, "y": ["6", "8"]}
    neurons = [{"block": b, "w": words(x * share for x in r), "norm": plain.word(lam * share)} for b in range(blocks)]
    facts = {
        "primal": {"neurons": neurons},
        "dual": {"theta": words(r), "multipliers": [None] * blocks},
        **plain.value_and_fit(y, lam, r, lam, r),
    }
    problem: dict[str, Any] = {
        "model": "cgl",
        "objective": plain.OBJECTIVE,
        "lambda": "5",
        "X": [words(row) for row in rows],
    }
    problem |= {"groups": groups, "K": [None] * blocks, "y": words(y)}
    text = json.dumps(raw).encode()
    case = Case(f"group lasso of {blocks}", plain.certificate(problem, facts, text), text)
    entries = [Neuron(b).entry("cgl") for b in range(blocks)]
    verdict = "PROVED" if blocks == 1 else "REFUTED"
    return completed(case, entries, [r] * blocks, None, [list(range(blocks))], [share] * blocks, (), (verdict, verdict))


def idle_constraint() -> Case:
    """One block whose second column is zero, with the constraint w_1 <= 0: idle."""
    y, r, lam = vec(8, 1), vec(5, 1), Fraction(5)
    rows, K = mat([[1, 0], [0, 0]]), [["0"], ["1"]]
    raw = {"X": [list(map(plain.word, row)) for row in rows], "groups": [[0, 1]], "K": [K], "y": ["8", "1"]}
    facts = {
        "primal": {"neurons": [{"block": 0, "w": "3 0", "norm": "3"}]},
        "dual": {"theta": words(r), "multipliers": [None]},
        **plain.value_and_fit(y, lam, vec(3, 0), Fraction(3), r),
    }
    problem: dict[str, Any] = {"model": "cgl", "objective": plain.OBJECTIVE, "lambda": "5"}
    problem |= {"X": [words(row) for row in rows], "groups": [[0, 1]], "K": [["0", "1"]], "y": words(y)}
    text = json.dumps(raw).encode()
    case = Case("idle constraint", plain.certificate(problem, facts, text), text)
    entries = [Neuron(0, kinks=(0,), idle=(0,)).entry("cgl")]
    return completed(case, entries, [vec(5, 0)], None, [[0]], vec("3/5"), (), ("PROVED", "PROVED"))


def nothing() -> Case:
    """lambda above lambda_max, which no fact says: every piece is out, so the zero network is the only one."""
    case = plain.zero_network("nothing", mat([[1], [2], [-1]]), vec(1, 1, 2), Fraction(4))
    del case.certificate["facts"]["lambda_max"]
    return completed(case, [], [], {"+": [], "-": []}, [], [], (), ("PROVED", "PROVED"))


NETWORKS = (
    *(line, both_signs, kink, parallel_kinks, opposed_kinks, loose_kink, idle_kink, kink_without_weight),
    *(zero_row, fine, twins, pair, interpolated, gated_pair, forced_pair, forced_segment, gated_alone),
)
SETS: dict[str, Callable[[], Case]] = {
    **{f"{build.__name__}, R = 0": partial(build, None) for build in NETWORKS},
    **{f"{build.__name__}, R > 0": partial(build, 80) for build in NETWORKS},
    "constrained": constrained,
    "idle constraint": idle_constraint,
    **{f"group lasso of {blocks}": partial(group_lasso, blocks) for blocks in (1, 2, 3)},
    "nothing": nothing,
}


@cache
def planted_set(name: str) -> Case:
    """One of SETS."""
    return SETS[name]()


# As EXACT: the planted set, its solutions in the order of the tied neurons, the Farkas vector, the verdicts.
Exact = tuple[str, list[Vec], Vec, tuple[str, str]]
EXACT: dict[str, Exact] = {
    "line": ("line, R = 0", [vec(1)], vec(0, 0, 0), ("PROVED", "PROVED")),
    "both signs": ("both_signs, R = 0", [vec(1, "1/2")], vec(0, 0, 0), ("PROVED", "PROVED")),
    "kink": ("kink, R = 0", [vec(1)], vec(0, 0, 0), ("PROVED", "REFUTED")),
    "opposed kinks": ("opposed_kinks, R = 0", [vec(1)], vec(0, 0, 0, 0), ("PROVED", "REFUTED")),
    "kink without weight": ("kink_without_weight, R = 0", [vec(1, 0)], vec(0, 0, -1), ("PROVED", "PROVED")),
    "zero row": ("zero_row, R = 0", [vec(1)], vec(0, 0, 0, 0, 0), ("PROVED", "PROVED")),
    "twins": ("twins, R = 0", [vec(1, 0, 0, 1), vec(0, 1, 1, 0)], vec(), ("REFUTED", "REFUTED")),
    "interpolated": ("interpolated, R = 0", [vec(1, 1, 1, 1), vec(2, 0, 0, 2)], vec(), ("REFUTED", "REFUTED")),
    "gated alone": ("gated_alone, R = 0", [vec(1)], vec(0, 0, 0), ("PROVED", "PROVED")),
    "constrained": ("constrained", [vec("1/3", "1/6")], vec(0, 0, 0), ("PROVED", "PROVED")),
    "group lasso": ("group lasso of 1", [vec(1)], vec(0, 0), ("PROVED", "PROVED")),
    "equal blocks": ("group lasso of 3", [vec(0, 1, 0), vec("1/2", 0, "1/2")], vec(), ("REFUTED", "REFUTED")),
    "nothing": ("nothing", [vec()], vec(0, 0, 0), ("PROVED", "PROVED")),
}


@cache
def exact_set(name: str) -> Case:
    """One of EXACT."""
    start, solutions, farkas, verdicts = EXACT[name]
    return as_exact(planted_set(start), solutions, farkas, verdicts)
