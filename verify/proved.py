"""A second opinion by a checker that is itself proved (verify/rocq): lower <= p* <= upper for networks of every width.

The text for that checker is made here from the certificate's evidence, and nothing of that is trusted: the statement,
written from the problem, is compared as text with what the proved checker says it has checked, and so are the bounds.
A certificate with the fact `cover` or `leaders` is needed: these speak of all networks without a list of patterns.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isqrt, lcm
from pathlib import Path
from string import Template
from typing import Any

from flint import fmpq_mat, fmpz_mat

from verify.certificate import read_statement
from verify.cover.faces import on_face
from verify.cover.lines import Weights, coarse, dot, lines_of, root_above, weights_of
from verify.cover.prisms import prism_height, widest
from verify.cover.tree import STREAMS, stream
from verify.errors import Declined, Rejected, Usage
from verify.facts import PRIMAL, Facts
from verify.numbers.integers import cleared, cleared_rows
from verify.problem.problem import SIGNS, Problem, transposed
from verify.rules.cover import read_theta
from verify.rules.primal import Primal
from verify.text import Limits, Node, Vector, load

HERE = Path(__file__).parent / "rocq"
BUILD = "coq, ocaml, ocaml-findlib and libzarith-ocaml-dev installed, then `make` run in verify/rocq"
WEIGHT_BITS, BOUND_BITS, EXTRA_BITS, ROOT_BITS = 300, 280, 256, 96
MOST_DIGITS, MOST_CLASSES, UNIT_BITS = 300, 64, 40
UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
Integers = list[int]


@dataclass(frozen=True)
class Bounds:
    """lower <= p* <= upper; if it is proved, too: the numbers of cones (sign +, sign -) in which all neurons of all
    optimal networks lie; and that these networks are one, up to permutation and splitting (between which numbers is the
    width of the narrowest?), or why that is `open`."""

    lower: Fraction
    upper: Fraction
    cones: tuple[int, int] | None = None
    width: tuple[int, int] | None = None
    open: str = ""

    @property
    def unique(self) -> bool:
        """Whether the optimal network is proved to be unique."""
        return self.width is not None

    @property
    def sentence(self) -> str:
        """For a reader: the bounds rounded outwards, and a power of ten that is no less than the relative gap, if
        there is one: a lower bound below 0 has none."""
        k = 0
        while k < MOST_DIGITS and (self.upper - self.lower) * 10 ** (k + 1) <= self.upper:
            k += 1
        interval = f"[{decimal(self.lower, False)}, {decimal(self.upper, True)}]"
        gap = f"relative gap <= 1e-{k}" if self.lower >= 0 else "no relative gap, because the lower bound is below 0"
        cones = sum(self.cones or (0, 0))
        more = f"; all optimal neurons lie in {cones} cone{'s' * (cones != 1)}" if self.cones is not None else ""
        if self.width is not None:
            neurons = " to ".join(dict.fromkeys(map(str, self.width)))
            more += f"; the optimal network is unique up to permutation and splitting, the least width is {neurons}"
        more += f"; this checker leaves open whether the optimal network is unique: {self.open}" if self.open else ""
        return f"by a checker that is itself proved: p* is in {interval}, {gap}{more}"


def decimal(x: Fraction, up: bool) -> str:
    """Twelve digits after the point, rounded up or down."""
    scaled = x * 10**12
    n = -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator
    whole, rest = divmod(abs(n), 10**12)
    return f"{'-' * (n < 0)}{whole}.{rest:012}"


def prove(certificate: bytes, data: bytes | None = None, limits: Limits | None = None) -> Bounds:
    """The bounds of a certificate, proved by the proved checker; Rejected if it does not accept them."""
    text = read(certificate, data, limits or Limits())
    said = run(text)
    expected = text.expected
    for line, other in zip(expected, [*said, *["nothing"] * len(expected)], strict=False):
        if line != other:
            raise Rejected("proved checker", shortened(line), shortened(other))
    found = (re.fullmatch(r"(\w+) (\d+) (\d+) accepted", line) for line in said[len(expected) :])
    rest = {one[1]: (int(one[2]), int(one[3])) for one in found if one}
    cones = rest.get("neurons")
    width = rest.get("unique") if cones else None
    if cones == (0, 0):  # no optimal network has a neuron that is not zero
        width = (0, 0)
    return Bounds(*text.between, cones, width, "" if width else text.obstacle(cones))


def run(text: Text, *options: str) -> list[str]:
    """What the proved checker prints; Rejected if the evidence cannot be put into its words."""
    if not (program := HERE / "relucheck").is_file():
        raise Usage("--proved", f"the proved checker, which needs {BUILD}", "none")
    try:
        words = "\n".join(text.lines())
    except UNREADABLE as error:
        raise Rejected("certificate.facts", "evidence that can be read", repr(error)) from None
    done = subprocess.run([program, *options], input=words, capture_output=True, text=True, check=False)
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]


def theorem(certificate: bytes, data: bytes | None = None, limits: Limits | None = None, name: str = "bounds") -> str:
    """A file that coqc checks without extraction (coqc -Q verify/rocq Relu FILE.v): a theorem with both bounds, and one
    that the optimal network is unique, where that is proved. verify/rocq/theorem.txt has its text."""
    text = read(certificate, data, limits or Limits())
    if not isinstance(text, CoverText | LeadersText):
        raise Declined("--theorem", "the paper's objective, a cover or leaders", "other terms, or a list")
    said = run(text, "--write")
    kind = "cover" if isinstance(text, CoverText) else "leaders"
    if said[:1] != [text.statement] or kind not in said:
        raise Rejected("proved checker", shortened(text.statement), shortened("".join(said[:1])))
    p, (rows, rden), (y, yden), scale = text.problem, text.rows, cleared(text.problem.y), 1 << BOUND_BITS
    check, sound = {"cover": ("check", "check_sound"), "leaders": ("check_leaders", "leaders_sound")}[kind]
    words = {
        **{"name": name, "kind": kind, "check": check, "sound": sound, "d": p.d, "scale": scale},
        **{"rows": "; ".join(map(listed, rows)), "rden": rden, "y": listed(y), "yden": yden},
        **{"lnum": p.lam.numerator, "lden": p.lam.denominator, "evidence": term(said, kind, "lower ")},
        "net": "; ".join(f"({listed(w)}, {signed(v)})" for w, v in text.layers),
        **{"wden": 1 << WEIGHT_BITS, "high": int(text.upper * scale)},
        **{"low": signed(text.lower.numerator), "over": text.lower.denominator},
    }
    bounds, _, unique = (HERE / "theorem.txt").read_text().partition("(* uniqueness *)\n")
    if isinstance(text, CoverText) and (found := re.fullmatch(r"unique (\d+) (\d+) accepted", said[-1])):
        bounds += unique
        words |= {"classes": term(said, "classes", "unique "), "spread": text.spread}
        words |= {"least": found[1], "most": found[2]}
    return Template(bounds).substitute(words)


def term(said: Sequence[str], start: str, end: str) -> str:
    """What was written from the line `start` to the line that begins with `end`."""
    after = said[said.index(start) + 1 :]
    return "\n".join(after[: next(k for k, line in enumerate(after) if line.startswith(end))])


def shortened(line: str) -> str:
    """A line for a message."""
    return line if len(line) < 120 else f"{line[:60]} ... {line[-50:]}"


def listed(numbers: Iterable[int]) -> str:
    """A list of Coq."""
    return f"[{'; '.join(map(signed, numbers))}]"


def signed(x: int) -> str:
    """An integer of Coq."""
    return str(x) if x >= 0 else f"({x})"


def read(certificate: bytes, data: bytes | None, limits: Limits) -> Text:
    """What a certificate says to the proved checker; its data are compared with the raw ones if these are given."""
    top = load(certificate, limits)
    if isinstance(top.value, dict) and top.value.get("format") == "relu_cert refutation":
        raise Declined("--proved", "a certificate", "a refutation")
    fields = top.record("format", "version", "input", "problem", "facts", "claims", "end")
    problem, _ = read_statement(fields, data, limits)
    if problem.model != "relu" or problem.patterns is not None or problem.delta:
        raise Declined("--proved", "ReLU networks over all patterns, and no delta", "another")
    facts = fields["facts"].value
    try:
        return text_of(problem, facts["primal"], facts)
    except UNREADABLE as error:
        raise Declined(
            "--proved", "a certificate with the facts primal and cover, leaders or dual", repr(error)
        ) from None


def text_of(problem: Problem, primal: dict[str, Any], facts: dict[str, Any]) -> Text:
    """What these facts say: beside targets 0 where there are terms that the paper's objective does not have."""
    if problem.targets > 1:
        from verify.proved_outputs import outputs_text

        return outputs_text(problem, primal, facts["cover"])
    neurons = tuple((SIGNS[one["sign"]], vector(one["w"])) for one in primal["neurons"])
    terms = bool(problem.bags or problem.outputs or problem.logistic)
    bare = replace(problem, y=(Fraction(0),) * problem.N, bags=())
    free = vector(primal["free"]) if problem.outputs else ()
    if "cover" in facts:
        theta = theta_of(problem, neurons, facts["cover"]["theta"], free)
        proof = facts["cover"]["proof"]
        if not terms:
            return CoverText(problem, neurons, cleared(theta), proof)
        ground: Text = CoverText(bare, neurons, cleared(problem.spread(theta)), proof)
    elif "dual" in facts:
        from verify.proved_listed import ListedText

        theta = vector(facts["dual"]["theta"])
        ground = ListedText(bare if terms else problem, neurons, cleared(problem.spread(theta)), facts["dual"])
    else:
        led = facts["leaders"]
        unit, counts = Fraction(led["unit"]), integers(led["theta"])
        theta = tuple(unit * t for t in counts)
        unit /= lcm(*(bag.scale.denominator for bag in problem.bags))
        point = [int(t / unit) * unit.numerator for t in problem.spread(theta)], unit.denominator
        ground = LeadersText(bare if terms else problem, neurons, point, {**led, "unit": str(unit)})
    if not terms:
        return ground
    from verify.proved_terms import TermsText

    return TermsText(problem, neurons, cleared(theta), {}, ground, free)


@dataclass(frozen=True)
class Text:
    """What the proved checker reads: the statement, a network, a dual point and the proof that it is feasible."""

    problem: Problem
    neurons: tuple[tuple[int, Vector], ...]
    point: tuple[Integers, int]  # theta, over a denominator; with leaders that of the unit
    evidence: dict[str, Any]

    def lines(self) -> Iterator[str]:
        """The whole text (verify/rocq/README.md)."""
        yield self.statement
        yield f"upper {len(self.layers)} {1 << WEIGHT_BITS}"
        yield from (f"{words(w)} {v}" for w, v in self.layers)
        yield self.bounds[0].removeprefix("upper ")
        yield from self.proof()

    def proof(self) -> Iterator[str]:
        """The section with the dual point, and what rests on it."""
        yield from self.grounds()

    def grounds(self) -> Iterator[str]:
        """The section with the dual point."""
        raise NotImplementedError

    @property
    def expected(self) -> list[str]:
        """What the proved checker must say."""
        return [self.statement, *(f"{line} accepted" for line in self.bounds)]

    @property
    def between(self) -> tuple[Fraction, Fraction]:
        """What is proved then."""
        return self.lower, self.upper

    def obstacle(self, cones: tuple[int, int] | None) -> str:
        """Why it is open whether the optimal network is unique, where so many cones are accepted."""
        return "leaders bound the objective only"

    @cached_property
    def rows(self) -> tuple[list[Integers], int]:
        """Z as integers over a common denominator."""
        return cleared_rows(self.problem.Z)

    @cached_property
    def statement(self) -> str:
        """The problem: its rows, y and lambda, as integers over common denominators. This is compared."""
        p, (rows, rden), (y, yden) = self.problem, self.rows, cleared(self.problem.y)
        lam = (p.lam.numerator, p.lam.denominator)
        return f"problem {p.d} {p.n} {rden} {words(x for z in rows for x in z)} {yden} {words(y)} {words(lam)}"

    @cached_property
    def bounds(self) -> tuple[str, str]:
        """The bounds, as the proved checker prints them. This is compared."""
        scale = 1 << BOUND_BITS
        return f"upper {self.upper * scale} {scale}", f"lower {self.lower.numerator} {self.lower.denominator}"

    @cached_property
    def lower(self) -> Fraction:
        """y.theta - 1/2|theta|^2"""
        (y, p), (t, q) = cleared(self.problem.y), self.point
        return Fraction(2 * dot(y, t) * q - dot(t, t) * p, 2 * p * q * q)

    @cached_property
    def layers(self) -> list[tuple[Integers, int]]:
        """xi (z.w)_+ as v (z.u)_+ with |v| = |u|, both over 2^WEIGHT_BITS and rounded."""
        found = []
        for xi, w in self.neurons:
            u, q = cleared(w)
            seen = u[:-1] if self.problem.biases else u
            size = isqrt(dot(seen, seen) << 2 * WEIGHT_BITS)
            if root := isqrt((size << WEIGHT_BITS) // q):
                found.append(([(x << 2 * WEIGHT_BITS) // (q * root) for x in u], xi * root))
        return found

    @cached_property
    def upper(self) -> Fraction:
        """The objective of `layers`, rounded up to a multiple of 2^-BOUND_BITS."""
        (rows, rden), (y, yden) = self.rows, cleared(self.problem.y)
        unit, loss = rden << 2 * WEIGHT_BITS, 0
        for z, target in zip(rows, y, strict=True):
            out = sum(v * max(0, dot(z, w)) for w, v in self.layers)
            loss += (out * yden - target * unit) ** 2
        penalty = sum(dot(w, w) + v * v for w, v in self.layers)
        exact = Fraction(loss, 2 * (unit * yden) ** 2) + self.problem.lam * Fraction(penalty, 2 << 2 * WEIGHT_BITS)
        return Fraction(-(-(exact.numerator << BOUND_BITS) // exact.denominator), 1 << BOUND_BITS)

    def dual(self) -> Iterator[str]:
        """theta and the lower bound."""
        theta, q = self.point
        yield f"theta {q} {words(theta)}"
        yield self.bounds[1]


@dataclass(frozen=True)
class CoverText(Text):
    """The proof is a cover."""

    @cached_property
    def weights(self) -> dict[str, Weights]:
        """The lines, with the weights that theta gives them."""
        data, theta = lines_of(self.problem), tuple(Fraction(t, self.point[1]) for t in self.point[0])
        return {sign: weights_of(data, theta, xi) for sign, xi in SIGNS.items()}

    @cached_property
    def ties(self) -> list[tuple[str, tuple[int, ...], str]]:
        """Sign, direction v and text of each."""
        ties = self.evidence["ties"]
        return [(tie["sign"], *(self.neuron(tie) if "shares" in tie else self.face(tie))) for tie in ties]

    def face(self, tie: dict[str, str]) -> tuple[tuple[int, ...], str]:
        """The gradient on a face, and its text."""
        here, u = self.weights[tie["sign"]], tuple(integers(tie["u"]))
        basis = [tuple(integers(b)) for b in self.evidence["basis"]]
        sides = tuple((h > 0) - (h < 0) for h in here.lines.heights(u))
        face = on_face(here, basis, SIGNS[tie["sign"]], u, sides, Node(tie["u"], None, "u"), self.problem.biases)
        plane = face.face if len(face.face) == 2 else ()
        return face.v, " ".join(("face", *map(words, (u, [face.q // here.unit], face.v, [len(plane)], *plane))))

    def neuron(self, tie: dict[str, str]) -> tuple[tuple[int, ...], str]:
        """The v of a neuron, and its text."""
        here, u = self.weights[tie["sign"]], integers(tie["u"])
        rows = here.lines.rows
        heights = [dot(p, u) for p in rows]
        shares, q = cleared(vector(tie["shares"]))
        tight = [k for k, w in enumerate(here.w) if w and not heights[k]]
        factor = dict(zip(tight, shares, strict=True)) | {k: q for k, h in enumerate(heights) if h > 0}
        c = [x * q for x in here.c0]
        for k, t in factor.items():
            c = [x + t * here.w[k] * p for x, p in zip(c, rows[k], strict=True)]
        parts = ([factor.get(k, 0) for k in lines] for lines in (here.concave, here.convex))
        return tuple(c), " ".join(("neuron", str(q), words(c), *(f"{len(s)} {words(s)}" for s in parts)))

    def proof(self) -> Iterator[str]:
        """The cover, and what rests on it."""
        yield from self.grounds()
        yield f"strict {self.spread} {1 << BOUND_BITS}"
        yield from self.unique()

    def grounds(self) -> Iterator[str]:
        """Lines, theta, rounding, root, ties, and the packed trees."""
        weights = self.weights["+"]
        data = weights.lines
        width, start = root_above(self.problem.d), "cover"
        if self.problem.biases:
            width = widest(self.problem)
            basis = [tuple(integers(row)) for row in self.evidence["basis"]]
            height = prism_height(self.problem, basis, Node(self.evidence))
            start = f"prisms {height} {width - root_above(self.problem.d - 1)}"
        yield f"{start} lines {len(data.rows)}"
        yield from map(words, data.rows)
        pairs = zip(data.line, data.multiple, strict=True)
        yield words(x for c, m in pairs for x in (c if c >= 0 else len(data.rows), m))
        yield from self.dual()
        lam = Fraction(int(self.problem.lam * (1 << ROOT_BITS)), 1 << ROOT_BITS)
        short = coarse(weights, lam, int(self.evidence["margin"]), width, Node(self.evidence))
        yield f"coarse {lam.denominator << short.bits} {weights.unit * lam.numerator} {short.bound}"
        yield from self.root()
        yield f"ties {len(self.ties)}"
        yield from (line for _, _, line in self.ties)
        for sign in SIGNS:
            yield f"packed {' '.join(unpacked(self.evidence[sign][name]) for name in STREAMS)}"
        yield "end"

    @property
    def spread(self) -> int:
        """|Z|_F sqrt(2 (upper - lower)) 2^BOUND_BITS, rounded up: how far h of an optimal residual is from theta's."""
        rows, q = self.rows
        squared = 2 * (self.upper - self.lower) * Fraction(sum(dot(z, z) for z in rows) << 2 * BOUND_BITS, q * q)
        return isqrt(squared.numerator // squared.denominator) + 1

    @cached_property
    def directions(self) -> list[tuple[str, tuple[int, ...]]]:
        """Those of the ties, sign + first; of ties that are all but parallel the last."""
        found = {(sign, unit(v)): v for sign, v, _ in self.ties if any(v)}
        return [(sign, v) for each in SIGNS for (sign, _), v in found.items() if sign == each]

    @cached_property
    def seen(self) -> fmpz_mat:
        """The outputs of these directions."""
        rows, units = self.rows[0], [unit(v) for _, v in self.directions]
        return fmpz_mat(len(units), len(rows), [max(0, dot(z, u)) for u in units for z in rows])

    def obstacle(self, cones: tuple[int, int] | None) -> str:
        """In words; the proved checker itself says no more than what it does not accept."""
        if cones is None:
            return (
                "it does not accept that optimal neurons lie in the cones of the ties (are the bounds too far apart?)"
            )
        if not (count := self.seen.nrows()):
            return "no tie has a direction"
        if count > MOST_CLASSES:
            return f"there are {count} directions of ties, more than {MOST_CLASSES}"
        if self.seen.rank() < count:
            return "the outputs of the directions of the ties, as it is given them, are dependent"
        return "it does not accept that each direction of a tie is one neuron (does one lie on a line that bends up?)"

    def unique(self) -> Iterator[str]:
        """Directions of the ties, sign + first, and for each of them weights of rows that see it alone."""
        count = self.seen.nrows()
        if not 0 < count <= MOST_CLASSES or self.seen.rank() < count:
            return
        beta, _ = (fmpq_mat(self.seen * self.seen.transpose()).solve(fmpq_mat(self.seen))).numer_denom()
        scale = 1 << BOUND_BITS
        near = isqrt(int(2 * self.spread * scale / self.problem.lam)) + 1  # the square root of 2 mu / lambda
        yield f"unique {near} {scale} {sum(sign == '+' for sign, _ in self.directions)} {count}"
        yield from (words(v) for _, v in self.directions)
        for row in beta.tolist():
            bits = max(int(x).bit_length() for x in row)
            yield words(int(x) >> max(0, bits - UNIT_BITS) for x in row)

    def root(self) -> Iterator[str]:
        """The basis of the space of the rows, and one of its complement."""
        basis = [integers(row) for row in self.evidence["basis"]]
        yield "basis"
        for rows in (basis[:-1] if self.problem.biases else basis, complement(basis, self.problem.d)):
            yield str(len(rows))
            yield from map(words, rows)


@dataclass(frozen=True)
class LeadersText(Text):
    """The proof is by leaders."""

    def grounds(self) -> Iterator[str]:
        """theta, scales, and the cells of both signs."""
        yield "leaders"
        yield from self.dual()
        rows, _ = self.rows
        cells = [cell for sign in SIGNS for cell in self.evidence[sign]["cells"]]
        longest = [int(one["c"]) for cell in cells for one in cell["leaders"]] + [dot(z, z) for z in rows]
        for sign in SIGNS:
            centres = [integers(c) for c in self.evidence[sign]["centres"]]
            longest += [sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) for a in centres for b in centres]
        bits = EXTRA_BITS + max(x.bit_length() for x in longest)
        yield f"scales {1 << bits} {1 << bits}"
        theta, _ = self.point
        unit = Fraction(self.evidence["unit"]).numerator
        for sign, xi in SIGNS.items():
            side = self.evidence[sign]
            centres = [integers(c) for c in side["centres"]]
            yield f"centres {len(centres)}"
            yield from map(words, centres)
            for i, cell in enumerate(side["cells"]):
                yield from self.cell(cell, [xi * t for t in theta], unit, centres, i, bits)
        yield "end"

    @cached_property
    def reach(self) -> Integers:
        """The squares of the lengths of rows; with free biases of their largest distances."""
        rows, _ = self.rows
        if not self.problem.biases:
            return [dot(z, z) for z in rows]
        return [max(sum((a - b) ** 2 for a, b in zip(z, other, strict=True)) for other in rows) for z in rows]

    def cell(
        self, cell: dict[str, Any], theta: Integers, unit: int, centres: list[Integers], i: int, bits: int
    ) -> Iterator[str]:
        """One cell. Equal rows are one in the evidence: what the others carry is handed to the first of them. Rows of
        zeros need no leader there, and have one without weights here. Triangles are squares here, and the diagonal of
        these is added to c."""
        (rows, q), n = self.rows, len(theta)
        first: dict[tuple[int, ...], int] = {}
        home = [first.setdefault(tuple(z), k) for k, z in enumerate(rows)]
        p, load, bent = [0] * n, [0] * n, [0] * (n + len(centres))
        for k, p_k, q_k in zip(cell["rows"], integers(cell["p"]), integers(cell["q"]), strict=True):
            p[k], bent[k] = unit * p_k, unit * q_k
        more = [0] * len(centres)
        pairs = zip(integers(cell["excess"]), integers(cell["squares"]), strict=True)
        for j, (x, r) in zip(cell["normals"], pairs, strict=True):
            more[j], bent[n + j] = unit * x, unit * r
        near: dict[int, list[tuple[int, int]]] = {}
        for one in cell["leaders"]:
            places = [*one["near"], *(n + j for j in one["normals"])]
            weights = [unit * w for w in (*integers(one["weights"]), *integers(one["normal_weights"]))]
            near[one["row"]] = list(zip(places, weights, strict=True))
        for k in range(n):
            load[home[k]] += theta[k] + abs(p[k]) + bent[k]
        for pairs_ in near.values():
            for k, w in pairs_:
                if k < n:
                    load[k] += abs(w)
        leaders = []
        for k, t in enumerate(theta):
            if home[k] != k and t:
                here, there = (k, home[k]) if t > 0 else (home[k], k)
                leaders.append(f"{here} {abs(t)} 0 0 1 {there} {abs(t)}")
        leaders += [f"{k} {load[k]} 0 0 0" for k, z in enumerate(rows) if load[k] > 0 and k not in near and not any(z)]
        ties, e = triangles(cell, unit), [0, *(unit * int(one["c"]) for one in cell["leaders"])]
        for r, corners in ties:
            for l, _ in corners:
                e[l] += r
        lines = {}
        for l, one in enumerate(cell["leaders"], 1):
            k = one["row"]
            numbers = (k, max(0, load[k]), -(-(1 << bits) // e[l]), e[l], len(near[k]))
            lines[l] = words((*numbers, *(x for pair in near[k] for x in pair)))
        place = {l: m for m, l in enumerate(sorted({l for _, corners in ties for l, _ in corners} - {0}))}
        tied = [lines.pop(l) for l in place]
        place[0] = len(tied)
        squares = [words((r << 2 * bits, 3, *(x for l, s in w for x in (place[l], s)))) for r, w in ties]
        nu = unit * int(cell["nu"])
        rest = sum(r for r, _ in ties) - sum(e[1:])
        sigma = (4 * (self.problem.lam * q * self.point[1] - nu) + rest) * (1 << 2 * bits)
        yield f"cell {words(p)}"
        normals = [[x - y for x, y in zip(centres[i], c, strict=True)] for c in centres]
        lengths = [*self.reach, *(dot(z, z) for z in normals)]
        yield words(x for length, b in zip(lengths, bent, strict=True) for x in (b, root(bits, length)))
        kappa = (4 * unit * int(cell.get("kappa", 0)) << 2 * bits) // q**2
        yield f"{words(more)} {sigma.numerator // sigma.denominator} {4 * nu << 2 * bits} {kappa}"
        for part in ((*leaders, *lines.values()), tied, squares):
            yield str(len(part))
            yield from part


def triangles(cell: dict[str, Any], unit: int) -> Sequence[tuple[int, Sequence[tuple[int, int]]]]:
    """Weights, and corners with signs: 3 + 2 (x s_i s_j + y s_j s_k + x y s_i s_k) = (s_i + x s_j + x y s_k)^2 >= 1."""
    given = cell.get("triangles", {})
    corners, signs, weights = (integers(given.get(key, "")) for key in ("corners", "signs", "weights"))
    found = []
    for m, r in enumerate(weights):
        (i, j, k), (x, y) = corners[3 * m : 3 * m + 3], signs[2 * m : 2 * m + 2]
        found.append((unit * r, ((i, 1), (j, x), (k, x * y))))
    return found


def unit(u: Sequence[int]) -> tuple[int, ...]:
    """A vector of length about 2^UNIT_BITS along u, and its negative along -u."""
    size = isqrt(dot(u, u))
    return tuple((abs(x) << UNIT_BITS) // size * (1 if x > 0 else -1) for x in u)


def root(bits: int, square: int) -> int:
    """The floor of 2^bits / sqrt(square)."""
    return isqrt((1 << 2 * bits) // square) if square else 0


def complement(basis: Sequence[Sequence[int]], d: int) -> list[Integers]:
    """Integer vectors that span the orthogonal complement."""
    X, nullity = fmpz_mat(len(basis), d, [x for row in basis for x in row]).nullspace()
    return [[int(X[i, j]) for i in range(d)] for j in range(nullity)]


def unpacked(text: str) -> str:
    """base64 of an xz stream, in hexadecimal; - for nothing."""
    return stream(Node(text, None, "stream")).hex() or "-"


def theta_of(
    problem: Problem, neurons: Sequence[tuple[int, Vector]], stated: str | dict[str, Any], free: Vector = ()
) -> Vector:
    """theta as it is written, or tau (floor(r_k 2^bits) / 2^bits + m_k) of the residual r and the moves m; `free` are
    the coefficients of the free columns."""
    fit = list(transposed(problem.outputs, free)) if free else [Fraction(0)] * problem.n
    for xi, w in neurons:
        fit = [f + xi * x for f, x in zip(fit, problem.output(w), strict=True)]
    return point_of(problem, fit, stated)


def point_of(problem: Problem, fit: Sequence[Fraction], stated: str | dict[str, Any]) -> Vector:
    """The same where the fit is known."""
    point = Primal(tuple(fit), 0, Fraction(0), Fraction(0))
    return read_theta(problem, Facts({PRIMAL: point}), Node(stated, None, "theta"))


def vector(text: str) -> Vector:
    """Numbers with spaces between them."""
    return tuple(map(Fraction, text.split()))


def integers(text: str) -> Integers:
    """Integers with spaces between them."""
    return list(map(int, text.split()))


def words(numbers: Iterable[int]) -> str:
    """Integers as text."""
    return " ".join(map(str, numbers))
