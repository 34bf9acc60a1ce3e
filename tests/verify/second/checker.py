"""A checker of one claim, `optimal` by a cover, written from verify/FORMAT.md and nothing else; it shares no code.

    python checker.py CERTIFICATE [--optimal]

ReLU networks over all patterns, squared loss, no free term; the data are the certificate's own. Exit codes: 0 accepted,
1 rejected, 2 declined: also where there are other facts or claims, unless --optimal says not to look at these.
"""

from __future__ import annotations

import base64
import json
import lzma
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO
from itertools import combinations
from math import floor, gcd, isqrt, lcm
from pathlib import Path
from typing import Any

Vector = list[int]
Cone = tuple[list[Vector], dict[int, int]]  # generators, and the sides of the convex lines that it is cut by
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?")
DIGITS, SIZE = 20_000, 1 << 28
FRAME, OBJECTIVE = ["format", "version", "input", "problem", "facts", "claims", "end"], "1/2|Xw-y|^2 + lambda*sum|w_b|"


class Refused(Exception):
    """Not accepted: 1, it does not prove what it says; 2, nothing is said about it; and what was expected."""


def need(condition: object, what: str, code: int = 1) -> None:
    """Reject, or decline, unless this holds."""
    if not condition:
        raise Refused(code, what)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without a key twice."""
    need(len(dict(pairs)) == len(pairs), "no key twice")
    return dict(pairs)


def load(raw: bytes) -> Any:
    """Strict JSON: no key twice, no floats, no constants, no escape of what can be printed."""
    need(len(raw) <= SIZE and sum(map(raw.count, (b",", b"[", b"{"))) <= 16 * 10**6, "a file within the limits", 2)
    try:
        need(not re.search(rb"\\u00[2-7]", raw), "no escape of a character that can be printed")
        return json.loads(raw.decode(), object_pairs_hook=once, parse_float=number, parse_constant=number)
    except (ValueError, RecursionError) as error:
        raise Refused(1, f"JSON, {error}") from None


def record(value: Any, keys: list[str], optional: tuple[str, ...] = ()) -> list[Any]:
    """The values of exactly these keys, in this order; None for an optional one that is missing."""
    need(isinstance(value, dict) and set(keys) <= value.keys() <= {*keys, *optional}, f"the keys {keys}")
    return [value.get(key) for key in (*keys, *optional)]


def number(text: Any) -> Fraction:
    """A rational in lowest terms."""
    need(isinstance(text, str) and NUMBER.fullmatch(text), "a number")
    need(all(len(part.lstrip("-")) <= DIGITS for part in text.split("/")), "fewer digits", 2)
    found = Fraction(text)
    need(str(found) == text, "a number in lowest terms")
    return found


def vector(text: Any, size: int, integers: bool = False) -> list[Any]:
    """So many numbers."""
    need(isinstance(text, str) and len(words := text.split(" ") if text else []) == size, f"{size} numbers")
    found = [number(word) for word in words]
    need(not integers or all(x.denominator == 1 for x in found), "integers")
    return [int(x) for x in found] if integers else found


def dot(u: Any, v: Any) -> Any:
    """u.v"""
    return sum(a * b for a, b in zip(u, v, strict=True))


def sign(x: Any) -> int:
    """-1, 0 or 1"""
    return int(x > 0) - int(x < 0)


class Side:
    """xi theta.(Zu)_+ = c0.u + sum_c w_c (p_c.u)_+ for one sign xi, exactly and as a strict leaf rounds it."""

    def __init__(self, Z: list[Any], theta: list[Fraction], xi: int, squared: Fraction, margin: int) -> None:
        q, self.D = lcm(*(x.denominator for row in Z for x in row)), len(Z[0])
        place: dict[tuple[int, ...], int] = {}
        self.w, self.c0 = list[Fraction](), [Fraction(0)] * self.D
        for z, t in zip(Z, theta, strict=True):
            row = [int(x * q) for x in z]
            if a := gcd(*row):
                p = tuple(x // a for x in row)
                if (opposite := tuple(-x for x in p)) in place:
                    a, p = -a, opposite
                    self.c0 = added(self.c0, Fraction(a, q) * xi * t, p)
                if (c := place.setdefault(p, len(self.w))) == len(self.w):
                    self.w.append(Fraction(0))
                self.w[c] += abs(a) * xi * t / q
        self.p, self.squared, self.margin = list(place), squared, margin
        self.exact = {c: [abs(w) * x for x in self.p[c]] for c, w in enumerate(self.w) if w}
        self.convex, self.concave = ([c for c in self.exact if (self.w[c] > 0) is up] for up in (True, False))
        self.lam = Fraction(isqrt(squared.numerator * squared.denominator << 192), squared.denominator << 96)
        need(self.lam and len(self.p) <= 1 << 21, "lambda that is not too small, at most 2^21 lines")
        T = sum(abs(x) for row in (self.c0, *self.exact.values()) for x in row)
        self.bits = min(44, 53 - (int(T / self.lam) + 1).bit_length())
        scale = Fraction(2) ** self.bits / self.lam
        self.bound = floor(scale * self.lam) - (len(self.exact) + 1) * (isqrt(self.D - 1) + 1) - margin
        self.rows = {c: [floor(x * scale) for x in row] for c, row in self.exact.items()}
        self.start = [floor(x * scale) for x in self.c0]

    def f1(self, c0: list[Any], rows: dict[int, list[Any]], g: Vector, cut: dict[int, int]) -> Any:
        """c0.g and the convex rows that are on; where the cone is cut by one, as on its side."""
        heights = ((c, dot(rows[c], g)) for c in self.convex)
        return dot(c0, g) + sum(h for c, h in heights if cut.get(c, sign(h)) > 0)


def added(u: Any, t: Any, v: Any) -> list[Any]:
    """u + t v"""
    return [a + t * b for a, b in zip(u, v, strict=True)]


def summed(factors: Any, vectors: list[Any]) -> list[Any]:
    """sum x_i v_i"""
    return [dot(factors, column) for column in zip(*vectors, strict=True)]


def shifted(u: Vector, bits: int, up: bool = False) -> Vector:
    """u, its largest entry shifted down to so many bits, or up."""
    by = max(abs(x).bit_length() for x in u) - bits
    return [x >> by for x in u] if by > 0 else [x << -by for x in u] if up else u


def unit(g: Vector) -> Vector:
    """U(g)"""
    g = shifted(g, 29, up=True)
    return [(x << 30) // isqrt(dot(g, g)) for x in g]


def reduced(rows: list[Any], columns: int) -> tuple[list[list[Fraction]], list[int]]:
    """The echelon form of a matrix, by its first so many columns, and its pivots."""
    left, pivots = [[Fraction(x) for x in row] for row in rows], list[int]()
    for j in range(columns):
        i = len(pivots)
        if (k := next((k for k in range(i, len(left)) if left[k][j]), None)) is not None:
            left[i], left[k] = left[k], left[i]
            left[i] = [x / left[i][j] for x in left[i]]
            left = [row if m == i else added(row, -row[j], left[i]) for m, row in enumerate(left)]
            pivots.append(j)
    return left, pivots


def coordinates(basis: list[Any], u: Any) -> list[Fraction]:
    """x with sum x_i b_i = u; the b_i are independent, and u is in their span."""
    rows, pivots = reduced(list(zip(*basis, u, strict=True)), len(basis))
    need(len(pivots) == len(basis), "independent vectors")
    need(not any(row[-1] for row in rows[len(basis) :]), "a vector in their span")
    return [row[-1] for row in rows[: len(basis)]]


class Tie:
    """A face or a neuron: u, v, the sides of the lines, and of a face a basis of F."""

    def __init__(self, value: Any, sides: dict[str, Side], basis: list[Vector]) -> None:
        self.sign, u, shares = record(value, ["sign", "u"], ("shares",))
        need(self.sign in ("+", "-"), "a sign")
        side = sides[self.sign]
        self.u, self.face = vector(u, side.D, integers=True), shares is None
        need(any(self.u), "u other than 0")
        self.sides = [sign(dot(p, self.u)) for p in side.p]
        factors = {c: Fraction(1) for c in side.exact if self.sides[c] > 0}
        if not self.face:
            tight = [c for c in side.exact if not self.sides[c]]
            for c, s in zip(tight, vector(shares, len(tight)), strict=True):
                need(0 <= s <= 1 if side.w[c] < 0 else s >= 1 or s <= 0, "a share within its bounds")
                self.sides[c] = 0 if side.w[c] < 0 else 1 if s >= 1 else -1
                factors[c] = s
        self.v = summed([1, *factors.values()], [side.c0, *([side.w[c] * x for x in side.p[c]] for c in factors)])
        if self.face:
            flat = [[dot(p, b) for b in basis] for p, s in zip(side.p, self.sides, strict=True) if not s]
            left, pivots = reduced(flat, len(basis))
            at = {pivot: i for i, pivot in enumerate(pivots)}
            free = [j for j in range(len(basis)) if j not in at]
            kernel = [[-left[at[k]][j] if k in at else k == j for k in range(len(basis))] for j in free]
            self.F = [summed(x, basis) for x in kernel]
            coordinates(self.F, self.u)
            gram = [[dot(a, b) for b in self.F] for a in self.F]
            self.v = summed(coordinates(gram, [dot(f, self.v) for f in self.F]), self.F)
        need(dot(self.v, self.v) <= side.squared, "|v| <= lambda")


def unpacked(text: Any) -> BytesIO:
    """The bytes of one stream."""
    reader = lzma.LZMADecompressor(format=lzma.FORMAT_XZ)
    try:
        raw = reader.decompress(base64.b64decode(text, validate=True), SIZE + 1)
    except (TypeError, ValueError, lzma.LZMAError) as error:
        raise Refused(1, f"a stream, {error}") from None
    need(reader.eof and not reader.unused_data and len(raw) <= SIZE, "one xz stream")
    return BytesIO(raw)


def take(stream: BytesIO, count: int = 1) -> bytes:
    """The next bytes."""
    need(len(found := stream.read(count)) == count, "a stream that is long enough")
    return found


class Tree:
    """The tree of one sign."""

    def __init__(self, value: Any, name: str, side: Side, ties: list[Tie], basis: list[Vector]) -> None:
        streams = [unpacked(text) for text in record(value, ["codes", "multipliers", "data", "rows"])]
        self.codes, self.multipliers, self.data, self.lines = streams
        self.name, self.side, self.ties, self.d = name, side, ties, len(basis)
        for m in range(2**self.d):
            stack: list[Cone] = [([[x if m >> i & 1 else -x for x in b] for i, b in enumerate(basis)], {})]
            while stack:
                stack += reversed(list(self.children(*stack.pop())))
        need(not any(one.read(1) for one in streams), "streams that are used up")

    def tie(self, face: bool) -> Tie:
        """The tie whose number comes next in the data, of this sign and kind."""
        found = [*self.ties, *[None] * 256][take(self.data)[0]]
        if found is None or found.sign != self.name or found.face is not face:
            raise Refused(1, "a tie of this sign and kind")
        return found

    def children(self, g: list[Vector], cut: dict[int, int]) -> Iterator[Cone]:
        """The children of a node; none for a leaf that proves (*) on its cone."""
        (code,) = take(self.codes)
        edges = list(combinations(range(self.d), 2))
        if code < len(edges):
            i, j, k = *edges[code], take(self.multipliers)[0]
            m = (3 << (k >> 1 & 63)) // 2 if k & 1 else 1 << (k >> 1 & 63)
            new = added([m * x for x in g[i]], 1, g[j]) if k < 128 else added(g[i], m, g[j])
            for place in (j, i):
                yield [[x // gcd(*new) for x in new] if l == place else one for l, one in enumerate(g)], cut
        elif code == 210:
            c = int.from_bytes(take(self.lines, 2 if len(self.side.convex) <= 1 << 16 else 4), "little")
            need(c < len(self.side.convex) and self.side.convex[c] not in cut, "a convex line that is not split")
            for s in (-1, 1):
                yield g, cut | {self.side.convex[c]: s}
        elif code in (211, 212):
            yield from self.star(g, cut, plane=code == 212)
        elif code in (200, 201, 202):
            self.strict_leaf(code, g, cut)
        elif code == 203:
            sides = self.tie(face=False).sides
            for c in self.side.convex:
                signs = {cut[c]} if c in cut else {sign(dot(self.side.p[c], one)) for one in g} - {0}
                need(signs <= {sides[c]}, "convex lines on the sides of the neuron")
        else:
            need(code == 204, "a code")
            self.face_leaf(g, cut, self.tie(face=True))

    def star(self, g: list[Vector], cut: dict[int, int], plane: bool) -> Iterator[Cone]:
        """A child for each generator of the mask, which u replaces."""
        tie, mask = self.tie(face=True), int.from_bytes(take(self.data, 3), "little")
        u = tie.u
        if plane:
            (i,) = take(self.data)
            need(len(tie.F) == 2 and i < self.d, "a plane, and a generator")
            line = summed([coordinates(g, f)[i] * s for f, s in zip(reversed(tie.F), (1, -1), strict=True)], tie.F)
            u = [int(x * lcm(*(t.denominator for t in line))) for x in line]
            u = [x // (gcd(*u) or 1) * (1 if all(t >= 0 for t in coordinates(g, u)) else -1) for x in u]
        x = coordinates(g, u)
        need(any(u) and all(t >= 0 for t in x), "a vector of the cone")
        need(mask < 1 << self.d and all(mask >> i & 1 for i, t in enumerate(x) if t), "a mask with all x_i > 0")
        for place in reversed(range(self.d)):
            if mask >> place & 1:
                yield [u if l == place else one for l, one in enumerate(g)], cut

    def atoms(self) -> Iterator[tuple[int, bytes]]:
        """Weights, of sum 256, and points."""
        count, left = take(self.data)[0], 256
        need(count, "an atom")
        for k in range(count):
            weight = take(self.data)[0] if k < count - 1 else left
            left -= weight
            need(weight > 0, "a weight > 0")
            yield weight, take(self.data, self.d)

    def strict_leaf(self, code: int, g: list[Vector], cut: dict[int, int]) -> None:
        """(256 c + sum 256 s_c row_c).g_i >= 256 f1(g_i)"""
        side, ones, units = self.side, bytes([1] * self.d), [unit(one) for one in g]
        need(side.bound > 0, "bound > 0")
        a = [0] * side.D
        for weight, q in [*self.atoms()] if code == 202 else [(256, ones)]:
            point = shifted(summed([16 * k + 1 for k in q], units), 28)
            for c in side.concave:
                if dot(shifted(side.rows[c], 29), point) > 0:
                    a = added(a, weight, side.rows[c])
        V = shifted(summed(ones if code == 200 else take(self.data, self.d), units), 29)
        factor, length = side.bound >> 13 << 13, isqrt(dot(V, V)) + 1
        a = added(a, 256, [sign(x) * (abs(x) * factor // length) for x in V])
        need(all(dot(a, one) >= 256 * side.f1(side.start, side.rows, one, cut) for one in g), "a.g >= f1(g) at a leaf")

    def face_leaf(self, g: list[Vector], cut: dict[int, int], tie: Tie) -> None:
        """a.g - f1(g) > 0 and > 2 margin / 2^bits lambda0 |g| at the generators that are no tips."""
        side = self.side
        others = [one for one in g if [sign(dot(p, one)) for p in side.p] != tie.sides]
        units = [[0] * side.D if one not in others else unit(one) for one in g]
        on = [side.exact[c] for c in side.concave if tie.sides[c] > 0]
        a = summed([1] * (1 + len(on)), [tie.v, *on])
        for weight, q in self.atoms():
            x = summed(q, units)
            for c in (c for c in side.concave if not tie.sides[c]):
                h = dot(side.p[c], x)
                if h > 0 and h * h << 48 > dot(side.p[c], side.p[c]) * dot(x, x):
                    a = added(a, Fraction(weight, 256), side.exact[c])
        least = 2 * side.margin * side.lam / Fraction(2) ** side.bits
        for one in others:
            over = dot(a, one) - side.f1(side.c0, side.exact, one, cut)
            need(over > 0 and over**2 > least**2 * dot(one, one), "a.g > f1(g) at a face leaf")


def check_cover(proof: Any, Z: list[list[Fraction]], theta: list[Fraction], squared: Fraction) -> None:
    """(*) for all u and both signs."""
    spanned, ties, margin, *trees = record(proof, ["basis", "ties", "margin", "+", "-"])
    need(isinstance(spanned, list) and len(spanned) <= 12 and len(Z[0]) <= 16, "at most 12 vectors, 16 columns")
    basis = [vector(text, len(Z[0]), integers=True) for text in spanned]
    _ = [coordinates(basis, row) for row in Z if basis or any(row)]  # which rejects
    need(type(margin) is int and margin in range(1 << 40), "a margin, an index below 2^40")
    need(isinstance(ties, list) and len(ties) <= 255, "at most 255 ties")
    sides = {name: Side(Z, theta, xi, squared, margin) for name, xi in (("+", 1), ("-", -1))}
    known = [Tie(tie, sides, basis) for tie in ties]
    for name, tree in zip(sides, trees, strict=True):
        Tree(tree, name, sides[name], known, basis)


def read_theta(value: Any, y: list[Fraction], fit: list[Fraction]) -> list[Fraction]:
    """A vector, or the residual, rounded, moved and scaled."""
    if isinstance(value, str):
        return vector(value, len(y))
    tau, bits, moves = record(value, ["tau", "bits"], ("moves",))
    need(type(bits) is int and bits in range(4096), "an index below 4096")
    found = [Fraction(floor(x * 2**bits), 2**bits) for x in added(y, -1, fit)]
    for k, m in moves or []:
        need(type(k) is int and k in range(len(y)), "the index of a row")
        found[k] += number(m)
    return [number(tau) * x for x in found]


def check(certificate: bytes, *, alone: bool = False) -> str:
    """What is proved, in words; `alone`: other facts and claims than those of `optimal` are not looked at."""
    top = load(certificate)
    need(isinstance(top, dict) and list(top)[-1:] == ["end"], "an object that ends with `end`")
    form, version, given, problem, facts, claims, end = record(top, FRAME)
    need(type(version) is not int or version == 2, "version 2", 2)
    need(form == end == "relu_cert certificate" and version == 2, "a certificate")
    record(given, ["sha256", "kind", "numbers", "bias", "target", "delimiter", "header"])
    need(isinstance(problem, dict) and isinstance(facts, dict) and isinstance(claims, list), "its parts")
    plain = problem.get("model") == "relu" and problem.get("objective") == OBJECTIVE and len(problem) == 5
    need(plain, "a ReLU network over all patterns, squares, no free term", 2)
    others = {*facts} - {"primal", "cover", "value"} or [one for one in claims if one.get("claim") != "optimal"]
    need(alone or not others, "no other fact or claim", 2)
    need(not {"dual", "leaders"} & facts.keys(), "one proof of the dual point")
    _, _, lam, rows, y = record(problem, ["model", "objective", "lambda", "Z", "y"])
    need(isinstance(rows, list) and rows and isinstance(rows[0], str), "a matrix")
    Z, y, lam = [vector(row, len(rows[0].split(" "))) for row in rows], vector(y, len(rows)), number(lam)
    (neurons,) = record(facts.get("primal"), ["neurons"])
    need(lam > 0 and isinstance(neurons, list), "lambda > 0, and neurons")
    fit, penalty = [Fraction(0)] * len(y), Fraction(0)
    for xi, w, norm in (record(one, ["sign", "w", "norm"]) for one in neurons):
        u, size = vector(w, len(Z[0])), number(norm)
        need(xi in ("+", "-") and any(u) and size >= 0 and size**2 >= dot(u, u), "a neuron and a bound of its norm")
        fit = added(fit, 1 if xi == "+" else -1, [max(dot(z, u), Fraction(0)) for z in Z])
        penalty += size
    stated, proof = record(facts.get("cover"), ["theta", "proof"])
    check_cover(proof, Z, theta := read_theta(stated, y, fit), lam**2)
    lower, upper, gap = map(number, record(facts.get("value"), ["lower", "upper", "gap"]))
    need(lower == dot(y, theta) - dot(theta, theta) / 2, "lower = y.theta - 1/2 |theta|^2")
    need(upper == dot(missed := added(fit, -1, y), missed) / 2 + lam * penalty, "upper = 1/2 |fit - y|^2 + penalty")
    said = [record(one, ["claim", "verdict"])[1] for one in claims if one.get("claim") == "optimal"]
    need(said in ([], ["UNDECIDED"], ["PROVED"]), "PROVED or UNDECIDED, once")
    need(0 <= gap < 1 and (said != ["PROVED"] or upper - lower <= gap * upper), "upper - lower <= gap * upper")
    return f"p* is in [{lower}, {upper}]"


def main(words: list[str]) -> int:
    """The command line."""
    sys.set_int_max_str_digits(2 * DIGITS)
    try:
        code, said = 0, check(Path(words[0]).read_bytes(), alone="--optimal" in words)
    except Refused as error:
        code, said = error.args
    print(("accepted:", "rejected: expected", "declined: expected")[code], said)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
