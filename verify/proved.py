"""A second opinion by a checker that is itself proved (verify/rocq): lower <= p* <= upper for networks of every width.

The text for that checker is made here from the certificate's evidence, and nothing of that is trusted: the statement,
written from the problem, is compared as text with what the proved checker says it has checked, and so are the bounds.
A certificate with the fact `cover` or `leaders` is needed: these speak of all networks without a list of patterns.
"""

from __future__ import annotations

import base64
import binascii
import lzma
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, isqrt, lcm
from pathlib import Path
from typing import Any

from flint import fmpq_mat, fmpz_mat

from verify.cover.lines import coarse, lines_of, weights_of
from verify.data import compare
from verify.errors import Declined, Rejected, Usage
from verify.input import read_input
from verify.problem import Problem, cleared, read_problem
from verify.text import Limits, Node, Vector, load

HERE = Path(__file__).parent / "rocq"
BUILD = "coq, ocaml, ocaml-findlib and libzarith-ocaml-dev installed, then `make` run in verify/rocq"
SIGNS = {"+": 1, "-": -1}
STREAMS = ("codes", "multipliers", "data", "rows")
WEIGHT_BITS, BOUND_BITS, EXTRA_BITS, ROOT_BITS = 300, 280, 64, 96
MOST_DIGITS, MOST_CLASSES, UNIT_BITS = 300, 64, 40
Integers = list[int]


@dataclass(frozen=True)
class Bounds:
    """lower <= p* <= upper; if it is proved, too: the numbers of cones (sign +, sign -) in which all neurons of all
    optimal networks lie, and that these networks are one, up to permutation and splitting."""

    lower: Fraction
    upper: Fraction
    cones: tuple[int, int] | None = None
    unique: bool = False

    @property
    def sentence(self) -> str:
        """For a reader: the bounds rounded outwards, and a power of ten that is no less than the relative gap."""
        k = 0
        while k < MOST_DIGITS and (self.upper - self.lower) * 10 ** (k + 1) <= self.upper:
            k += 1
        interval = f"[{decimal(self.lower, False)}, {decimal(self.upper, True)}]"
        more = f"; all optimal neurons lie in {sum(self.cones)} cones" if self.cones is not None else ""
        more += "; the optimal network is unique up to permutation and splitting" if self.unique else ""
        return f"by a checker that is itself proved: p* is in {interval}, relative gap <= 1e-{k}{more}"


def decimal(x: Fraction, up: bool) -> str:
    """Twelve digits after the point, rounded up or down."""
    scaled = x * 10**12
    n = -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator
    whole, rest = divmod(abs(n), 10**12)
    return f"{'-' * (n < 0)}{whole}.{rest:012}"


def prove(certificate: bytes, data: bytes | None = None, limits: Limits | None = None) -> Bounds:
    """The bounds of a certificate, proved by the proved checker; Rejected if it does not accept them."""
    text = read(certificate, data, limits or Limits())
    said = run(text, checker())
    expected = [text.statement, *(f"{line} accepted" for line in text.bounds)]
    found = [*said, *["nothing"] * len(expected)]
    for line, other in zip(expected, found, strict=False):
        if line != other:
            raise Rejected("proved checker", clipped(line), clipped(other))
    rest = {line.split()[0]: line.split()[1:] for line in said[len(expected) :] if line.endswith(" accepted")}
    cones = (int(rest["neurons"][0]), int(rest["neurons"][1])) if "neurons" in rest else None
    return Bounds(text.lower, text.upper, cones, cones is not None and "unique" in rest)


def checker() -> Path:
    """The proved checker, built."""
    found = HERE / "relucheck"
    if not found.is_file():
        raise Usage("--proved", f"the proved checker, which needs {BUILD}", "none")
    return found


def run(text: Text, program: Path, *options: str) -> list[str]:
    """What the proved checker prints."""
    done = subprocess.run(
        [program, *options], input="\n".join(text.lines()), capture_output=True, text=True, check=False
    )
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]


def clipped(line: str) -> str:
    """A line for a message."""
    return line if len(line) < 120 else f"{line[:60]} ... {line[-50:]}"


def theorem(certificate: bytes, data: bytes | None = None, limits: Limits | None = None, name: str = "bounds") -> str:
    """A file that coqc checks without extraction (coqc -Q verify/rocq Relu FILE.v): a theorem with both bounds, and one
    that the optimal network is unique, where that is proved."""
    text = read(certificate, data, limits or Limits())
    if not isinstance(text, CoverText):
        raise Declined("--theorem", "a certificate with the fact cover", "leaders")
    said = run(text, checker(), "--write")
    if said[:1] != [text.statement] or "cover" not in said:
        raise Rejected("proved checker", clipped(text.statement), clipped("".join(said[:1])))
    p, (rows, rden), (y, yden), scale = text.problem, text.rows, cleared(text.problem.y), 1 << BOUND_BITS
    low = f"IZR {signed(text.lower.numerator)} / IZR {text.lower.denominator}"
    high = f"IZR {signed(int(text.upper * scale))} / IZR {scale}"
    written = "; ".join(map(listed, rows))
    net = "; ".join(f"({listed(w)}, {signed(v)})" for w, v in text.layers)
    found = f"""From Coq Require Import Reals ZArith List.
From Relu Require Import Spec Checker Soundness Upper Strict Unique Words.
Import ListNotations.
Open Scope Z_scope.
Definition data : problem :=
  Problem {p.d} [{written}] {rden} {listed(y)} {yden} {p.lam.numerator} {p.lam.denominator}.
Definition evidence : cover := {term(said, "cover", "lower ")}.
Definition net : upper := Upper [{net}] {1 << WEIGHT_BITS} {int(text.upper * scale)} {scale}.
Lemma checked : check data evidence = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma checked_upper : check_upper data net = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Open Scope R_scope.
Theorem {name} :
  (forall net, well_formed {p.d} net -> {low} <= objective data net) /\\
  exists net, well_formed {p.d} net /\\ objective data net <= {high}.
Proof. exact (bounds_sound data evidence net checked checked_upper). Qed.
Print Assumptions {name}.
"""
    if not any(line.startswith("unique") and line.endswith("accepted") for line in said):
        return found
    return f"""{found}
Open Scope Z_scope.
Definition apart : classes := {term(said, "classes", "unique ")}.
Definition spread : margin := Margin net {text.spread} {scale}.
Lemma checked_unique : check_unique data evidence spread apart = true. Proof. vm_cast_no_check (eq_refl true). Qed.
Theorem {name}_unique : exists narrowest, optimal_for data narrowest /\\
  forall other, optimal_for data other -> same_neurons other narrowest /\\ (length narrowest <= length other)%nat.
Proof. exact (p_unique data evidence spread apart checked_unique). Qed.
Print Assumptions {name}_unique.
"""


def term(said: Sequence[str], start: str, end: str) -> str:
    """What was written from the line `start` to the line that begins with `end`."""
    after = said[said.index(start) + 1 :]
    return "\n".join(after[: next(k for k, line in enumerate(after) if line.startswith(end))])


def listed(numbers: Iterable[int]) -> str:
    """A list of Coq."""
    return f"[{'; '.join(map(signed, numbers))}]"


def signed(x: int) -> str:
    """An integer of Coq."""
    return str(x) if x >= 0 else f"({x})"


def read(certificate: bytes, data: bytes | None, limits: Limits) -> Text:
    """What a certificate says to the proved checker; its data are compared with the raw ones if these are given."""
    fields = load(certificate, limits).record("format", "version", "input", "problem", "facts", "claims", "end")
    problem = read_problem(fields["problem"])
    if data is not None:
        compare(data, read_input(fields["input"], problem), problem, limits)
    if problem.model != "relu" or problem.patterns is not None or problem.delta or problem.logistic or problem.free:
        raise Declined("--proved", "ReLU networks over all patterns, squared loss, no delta or free term", "another")
    facts = fields["facts"].value
    try:
        neurons = tuple((SIGNS[one["sign"]], vector(one["w"])) for one in facts["primal"]["neurons"])
        if "cover" in facts:
            theta = theta_of(problem, neurons, facts["cover"]["theta"])
            return CoverText(problem, neurons, theta, facts["cover"]["proof"])
        evidence = facts["leaders"]
        unit = Fraction(evidence["unit"])
        return LeadersText(problem, neurons, tuple(unit * t for t in vector(evidence["theta"])), evidence)
    except (KeyError, TypeError, ValueError) as error:
        raise Declined("--proved", "a certificate with the facts primal and cover, or leaders", repr(error)) from None


@dataclass(frozen=True)
class Text:
    """What the proved checker reads: the statement, a network, a dual point and the proof that it is feasible."""

    problem: Problem
    neurons: tuple[tuple[int, Vector], ...]
    theta: Vector
    evidence: dict[str, Any]

    def lines(self) -> Iterator[str]:
        """The whole text (verify/rocq/README.md)."""
        yield self.statement
        yield f"upper {len(self.layers)} {1 << WEIGHT_BITS}"
        yield from (f"{words(w)} {v}" for w, v in self.layers)
        yield self.bounds[0].removeprefix("upper ")
        try:
            yield from self.proof()
        except (KeyError, TypeError, ValueError, IndexError, binascii.Error, lzma.LZMAError) as error:
            raise Rejected("certificate.facts", "evidence that can be read", repr(error)) from None

    def proof(self) -> Iterator[str]:
        """The section with the dual point."""
        raise NotImplementedError

    @cached_property
    def rows(self) -> tuple[list[Integers], int]:
        """Z as integers over a common denominator."""
        flat, q = cleared(x for row in self.problem.Z for x in row)
        d = self.problem.d
        return [flat[k * d : (k + 1) * d] for k in range(self.problem.n)], q

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
        (y, p), (t, q) = cleared(self.problem.y), cleared(self.theta)
        return Fraction(2 * dot(y, t) * q - dot(t, t) * p, 2 * p * q * q)

    @cached_property
    def layers(self) -> list[tuple[Integers, int]]:
        """xi (z.w)_+ as v (z.u)_+ with |v| = |u|, both over 2^WEIGHT_BITS and rounded."""
        found = []
        for xi, w in self.neurons:
            u, q = cleared(w)
            size = isqrt(dot(u, u) << 2 * WEIGHT_BITS)
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
        theta, q = cleared(self.theta)
        yield f"theta {q} {words(theta)}"
        yield self.bounds[1]


@dataclass(frozen=True)
class CoverText(Text):
    """The proof is a cover."""

    def proof(self) -> Iterator[str]:
        """Lines, theta, rounding, root, ties, and the packed trees."""
        data = lines_of(self.problem)
        yield f"cover lines {len(data.rows)}"
        yield from map(words, data.rows)
        pairs = zip(data.line, data.multiple, strict=True)
        yield words(x for c, m in pairs for x in (c if c >= 0 else len(data.rows), m))
        yield from self.dual()
        weights = {xi: weights_of(data, self.theta, xi) for xi in SIGNS.values()}
        lam = self.problem.lam
        lam = Fraction((lam.numerator << ROOT_BITS) // lam.denominator, 1 << ROOT_BITS)
        short = coarse(weights[1], lam, int(self.evidence["margin"]), Node(self.evidence, None, "cover"))
        yield f"coarse {lam.denominator << short.bits} {weights[1].unit * lam.numerator} {short.bound}"
        yield from self.root()
        yield f"ties {len(self.evidence['ties'])}"
        for tie in self.evidence["ties"]:
            here, u = weights[SIGNS[tie["sign"]]], integers(tie["u"])
            if "shares" not in tie:
                yield f"ray {words(u)}"
                continue
            heights = [dot(p, u) for p in data.rows]
            shares, q = cleared(vector(tie["shares"]))
            tight = [k for k, w in enumerate(here.w) if w and not heights[k]]
            factor = dict(zip(tight, shares, strict=True)) | {k: q for k, h in enumerate(heights) if h > 0}
            c = [x * q for x in here.c0]
            for k, t in factor.items():
                c = [x + t * here.w[k] * p for x, p in zip(c, data.rows[k], strict=True)]
            s = [factor.get(k, 0) for k in here.concave]
            yield f"neuron {q} {words(c)} {len(s)} {words(s)}"
        for sign in SIGNS:
            yield f"packed {' '.join(unpacked(self.evidence[sign][name]) for name in STREAMS)}"
        yield "end"
        yield f"strict {self.spread} {1 << BOUND_BITS}"
        yield from self.unique()

    @property
    def spread(self) -> int:
        """|Z|_F sqrt(2 (upper - lower)) 2^BOUND_BITS, rounded up: how far h of an optimal residual is from theta's."""
        rows, q = self.rows
        squared = 2 * (self.upper - self.lower) * Fraction(sum(dot(z, z) for z in rows) << 2 * BOUND_BITS, q * q)
        return isqrt(squared.numerator // squared.denominator) + 1

    def unique(self) -> Iterator[str]:
        """Directions of the ties, sign + first, and for each of them weights of rows that see it alone."""
        ties = {
            sign: [unit(integers(tie["u"])) for tie in self.evidence["ties"] if tie["sign"] == sign] for sign in SIGNS
        }
        directions = [*dict.fromkeys(map(tuple, ties["+"])), *dict.fromkeys(map(tuple, ties["-"]))]
        rows, _ = self.rows
        seen = fmpz_mat([[max(0, dot(z, u)) for z in rows] for u in directions]) if directions else None
        if seen is None or len(directions) > MOST_CLASSES or seen.rank() < len(directions):
            return
        beta, _ = (fmpq_mat(seen * seen.transpose()).solve(fmpq_mat(seen))).numer_denom()
        size = max(int(x).bit_length() for row in beta.tolist() for x in row)
        scale = 1 << BOUND_BITS
        near = Fraction(2 * self.spread * sum(dot(z, z) for z in rows), scale) / self.problem.lam  # |Z|^2 2 mu / lambda
        width = isqrt(near.numerator * scale * scale // near.denominator) + 1
        yield f"unique {width} {scale} {len(dict.fromkeys(map(tuple, ties['+'])))} {len(directions)}"
        yield from map(words, directions)
        yield from (words(int(x) >> max(0, size - UNIT_BITS) for x in row) for row in beta.tolist())

    def root(self) -> Iterator[str]:
        """The basis of the space of the rows, a basis of its complement, and +-e_i in terms of both."""
        d = self.problem.d
        basis = [integers(row) for row in self.evidence["basis"]]
        null = complement(basis, d)
        yield f"basis {len(basis)}"
        yield from map(words, basis)
        yield str(len(null))
        yield from map(words, null)
        inverse = fmpq_mat(fmpz_mat([*basis, *null])).inv()
        for i in range(d):
            x = [Fraction(int(inverse[i, j].p), int(inverse[i, j].q)) for j in range(d)]
            m = lcm(*(t.denominator for t in x))
            for sign in (1, -1):
                parts = [int(sign * t * m) for t in x]
                yield f"{m} {words(v for t in parts for v in (max(t, 0), max(-t, 0)))}"


@dataclass(frozen=True)
class LeadersText(Text):
    """The proof is by leaders."""

    def proof(self) -> Iterator[str]:
        """theta, scales, and the cells of both signs."""
        yield "leaders"
        yield from self.dual()
        rows, _ = self.rows
        cells = [cell for sign in SIGNS for cell in self.evidence[sign]["cells"]]
        unit = Fraction(self.evidence["unit"])
        longest = [int(one["c"]) for cell in cells for one in cell["leaders"]] + [dot(z, z) for z in rows]
        for sign in SIGNS:
            centres = [integers(c) for c in self.evidence[sign]["centres"]]
            longest += [sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) for a in centres for b in centres]
        bits = EXTRA_BITS + max(x.bit_length() for x in longest)
        yield f"scales {1 << bits} 1 {1 << bits}"
        theta, q = cleared(self.theta)
        for sign, xi in SIGNS.items():
            side = self.evidence[sign]
            centres = [integers(c) for c in side["centres"]]
            yield f"centres {len(centres)}"
            yield from map(words, centres)
            for i, cell in enumerate(side["cells"]):
                yield from self.cell(cell, [xi * t for t in theta], int(unit * q), centres, i, bits)
        yield "end"

    def cell(
        self, cell: dict[str, Any], theta: Integers, unit: int, centres: list[Integers], i: int, bits: int
    ) -> Iterator[str]:
        """One cell. Equal rows are one in the evidence: what the others carry is handed to the first of them."""
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
        for one in cell["leaders"]:
            k, c = one["row"], unit * int(one["c"])
            pairs_ = near[k]
            a, g = max(0, load[k]), -(-(1 << bits) // c)
            leaders.append(words((k, a, g, c, len(pairs_), *(x for pair in pairs_ for x in pair))))
        total = sum(unit * int(one["c"]) for one in cell["leaders"])
        nu = unit * int(cell["nu"])
        lam = self.problem.lam * q * cleared(self.theta)[1]
        sigma = (4 * (lam - nu) - total) * (1 << 2 * bits)
        yield f"cell {words(p)}"
        normals = [[x - y for x, y in zip(centres[i], c, strict=True)] for c in centres]
        yield words(x for z, b in zip([*rows, *normals], bent, strict=True) for x in (b, root(bits, dot(z, z))))
        yield f"{words(more)} {sigma.numerator // sigma.denominator} {4 * nu << 2 * bits} {len(leaders)}"
        yield from leaders


def unit(u: Sequence[int]) -> Integers:
    """A vector of length about 2^UNIT_BITS along u."""
    size = isqrt(dot(u, u))
    return [(x << UNIT_BITS) // size for x in u]


def root(bits: int, square: int) -> int:
    """The floor of 2^bits / sqrt(square)."""
    return isqrt((1 << 2 * bits) // square) if square else 0


def complement(basis: Sequence[Sequence[int]], d: int) -> list[Integers]:
    """Primitive integer vectors that span the orthogonal complement."""
    if not basis:
        return [[int(i == j) for j in range(d)] for i in range(d)]
    X, nullity = fmpz_mat([list(row) for row in basis]).nullspace()
    columns = [[int(X[i, j]) for i in range(d)] for j in range(nullity)]
    return [[x // gcd(*v) for x in v] for v in columns]


def unpacked(text: str) -> str:
    """base64 of an xz stream, in hexadecimal; - for nothing."""
    return lzma.decompress(base64.b64decode(text)).hex() or "-"


def theta_of(problem: Problem, neurons: Sequence[tuple[int, Vector]], stated: str | dict[str, Any]) -> Vector:
    """theta as it is written, or tau floor(r_k 2^bits) / 2^bits of the residual r."""
    if isinstance(stated, str):
        return vector(stated)
    tau, bits = Fraction(stated["tau"]), int(stated["bits"])
    residual = list(problem.y)
    for xi, w in neurons:
        u, q = cleared(w)
        for k, z in enumerate(problem.Z):
            residual[k] -= xi * max(Fraction(0), sum((a * b for a, b in zip(z, u, strict=True)), Fraction(0))) / q
    return tuple(tau * Fraction((r.numerator << bits) // r.denominator, 1 << bits) for r in residual)


def vector(text: str) -> Vector:
    """Numbers with spaces between them."""
    return tuple(map(Fraction, text.split()))


def integers(text: str) -> Integers:
    """Integers with spaces between them."""
    return list(map(int, text.split()))


def words(numbers: Iterable[int]) -> str:
    """Integers as text."""
    return " ".join(map(str, numbers))


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """a.b"""
    return sum(x * y for x, y in zip(a, b, strict=True))
