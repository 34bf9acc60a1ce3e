"""A second opinion by a checker that is itself proved (verify/rocq): lower <= p* <= upper for networks of every width.

The text for that checker is made here from the certificate's evidence, and nothing here is trusted but two things: the
statement, written from the data, is compared as text with what the proved checker says it has checked, and so are the
bounds. A certificate with the fact `cover` or `leaders` is needed: these speak of all networks without a list.
"""

from __future__ import annotations

import base64
import json
import lzma
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isqrt, lcm
from pathlib import Path
from typing import Any

from flint import fmpq_mat, fmpz_mat

from verify.cover.lines import Weights, coarse, lines_of, weights_of
from verify.data import compare, read_input
from verify.errors import Declined, Rejected, Usage
from verify.problem import Problem, cleared, read_problem
from verify.text import Limits, Node, Vector, load

HERE = Path(__file__).parent / "rocq"
SIGNS = {"+": 1, "-": -1}
WEIGHT_BITS, BOUND_BITS = 300, 280
INSTALL = "coq, ocaml, ocaml-findlib and libzarith-ocaml-dev installed, and `make` run in verify/rocq"


@dataclass(frozen=True)
class Bounds:
    """lower <= p* <= upper; the cones (of each sign) that hold all neurons of optimal networks, if that was proved."""

    lower: Fraction
    upper: Fraction
    text: str


def checker() -> Path:
    """The proved checker, built."""
    found = HERE / "relucheck"
    if not found.is_file():
        raise Usage("--proved", f"the proved checker, which needs {INSTALL}", "none")
    return found


def prove(certificate: bytes, data: bytes | None = None, limits: Limits | None = None) -> Bounds:
    """The bounds of a certificate, proved by the proved checker; Rejected if it does not accept them."""
    text = Text.of(certificate, data, limits or Limits())
    run = subprocess.run([checker()], input="\n".join(text.lines()), capture_output=True, text=True, check=False)
    said = run.stdout.splitlines()
    expected = [text.statement(), *(f"{line} accepted" for line in text.bounds())]
    for line, found in zip(expected, said + [run.stderr] * len(expected), strict=False):
        if line != found:
            raise Rejected("proved checker", clipped(line), clipped(found))
    return Bounds(text.lower, text.upper, "\n".join(said))


def clipped(line: str) -> str:
    """A line for a message."""
    return line if len(line) < 120 else f"{line[:60]} ... {line[-50:]}"


@dataclass(frozen=True)
class Text:
    """What the proved checker reads: the statement, a network, a dual point and the proof that it is feasible."""

    problem: Problem
    neurons: Sequence[tuple[int, Vector]]
    theta: Vector
    proof: dict[str, Any]

    @classmethod
    def of(cls, certificate: bytes, data: bytes | None, limits: Limits) -> Text:
        """From a certificate, whose data are compared with the raw ones if these are given."""
        top = load(certificate, limits)
        fields = top.record("format", "version", "input", "problem", "facts", "claims", "end")
        problem = read_problem(fields["problem"])
        if data is not None:
            compare(data, read_input(fields["input"], problem), problem, limits)
        if problem.model != "relu" or problem.patterns is not None or problem.delta or problem.logistic:
            raise Declined("--proved", "a ReLU network over all patterns with squared loss", problem.model)
        facts = fields["facts"].value
        if not isinstance(facts, dict) or not {"primal", "cover"} <= facts.keys():
            raise Declined("--proved", "a certificate with the facts primal and cover", "none")
        neurons = [(SIGNS[one["sign"]], vector(one["w"])) for one in facts["primal"]["neurons"]]
        return cls(problem, neurons, theta_of(problem, neurons, facts["cover"]["theta"]), facts["cover"]["proof"])

    def lines(self) -> Iterator[str]:
        """The whole text."""
        yield self.statement()
        yield from self.network()
        yield from Cover(self).lines()

    def statement(self) -> str:
        """The problem: its rows, y and lambda, as integers over common denominators. This is compared."""
        p = self.problem
        rows, rden = cleared(x for row in p.Z for x in row)
        y, yden = cleared(p.y)
        lam = (p.lam.numerator, p.lam.denominator)
        return f"problem {p.d} {p.n} {rden} {words(rows)} {yden} {words(y)} {words(lam)}"

    def bounds(self) -> list[str]:
        """The bounds, as the proved checker prints them. This is compared."""
        upper, lower = self.upper, self.lower
        scale = 1 << BOUND_BITS
        return [f"upper {upper * scale} {scale}", f"lower {lower.numerator} {lower.denominator}"]

    @property
    def lower(self) -> Fraction:
        """y.theta - 1/2|theta|^2"""
        (y, p), (t, q) = cleared(self.problem.y), cleared(self.theta)
        return Fraction(2 * dot(y, t) * q - dot(t, t) * p, 2 * p * q * q)

    @property
    def layers(self) -> list[tuple[list[int], int]]:
        """w (z.u)_+ with |w| = |u|, both over 2^WEIGHT_BITS and rounded: all neurons of the network."""
        found = []
        for xi, w in self.neurons:
            u, q = cleared(w)
            size = isqrt(dot(u, u) << 2 * WEIGHT_BITS)  # |u| 2^bits
            if root := isqrt((size << WEIGHT_BITS) // q):
                found.append(([(x << 2 * WEIGHT_BITS) // (q * root) for x in u], xi * root))
        return found

    @property
    def upper(self) -> Fraction:
        """The objective of `layers`, rounded up to a multiple of 2^-BOUND_BITS."""
        p = self.problem
        rows, rden = cleared(x for row in p.Z for x in row)
        y, yden = cleared(p.y)
        layers, unit, loss = self.layers, rden << 2 * WEIGHT_BITS, 0
        for k, target in enumerate(y):
            z = rows[k * p.d : (k + 1) * p.d]
            out = sum(v * max(0, dot(z, w)) for w, v in layers)
            loss += (out * yden - target * unit) ** 2
        penalty = sum(dot(w, w) + v * v for w, v in layers)
        exact = Fraction(loss, 2 * (unit * yden) ** 2) + p.lam * Fraction(penalty, 2 << 2 * WEIGHT_BITS)
        return Fraction(-(-(exact.numerator << BOUND_BITS) // exact.denominator), 1 << BOUND_BITS)

    def network(self) -> Iterator[str]:
        """The network and the upper bound."""
        yield f"upper {len(self.layers)} {1 << WEIGHT_BITS}"
        for w, v in self.layers:
            yield f"{words(w)} {v}"
        yield f"{self.upper * (1 << BOUND_BITS)} {1 << BOUND_BITS}"


class Cover:
    """The section `cover` of a text (verify/rocq/README.md)."""

    def __init__(self, text: Text) -> None:
        problem, self.theta, self.proof, self.lower = text.problem, text.theta, text.proof, text.lower
        self.d = problem.d
        self.data = lines_of(problem)
        node = Node(self.proof, None, "cover")
        self.weights = {xi: weights_of(self.data, self.theta, xi) for xi in SIGNS.values()}
        lam = Fraction(isqrt(lam2.numerator * lam2.denominator << 192), lam2.denominator << 96) if (
            lam2 := problem.lam**2
        ) else Fraction(0)
        rows = coarse(self.weights[1], lam, int(self.proof["margin"]), node)
        self.scale = (lam.denominator << rows.bits, self.weights[1].unit * lam.numerator)
        self.bound = rows.bound

    def lines(self) -> Iterator[str]:
        """The section."""
        rows = self.data.rows
        yield f"cover lines {len(rows)}"
        yield from map(words, rows)
        pairs = zip(self.data.line, self.data.multiple, strict=True)
        yield words(x for c, m in pairs for x in (c if c >= 0 else len(rows), m))
        theta, q = cleared(self.theta)
        yield f"theta {q} {words(theta)}"
        yield f"lower {self.lower.numerator} {self.lower.denominator}"
        yield f"coarse {self.scale[0]} {self.scale[1]} {self.bound}"
        yield from self.root()
        yield f"ties {len(self.proof['ties'])}"
        for tie in self.proof["ties"]:
            yield from self.tie(tie)
        for sign in SIGNS:
            names = ("codes", "multipliers", "data", "rows")
            yield f"packed {' '.join(packed(self.proof[sign][name]) for name in names)}"
        yield "end"

    def root(self) -> Iterator[str]:
        """The basis of the space of the rows, a basis of its complement, and +-e_i in terms of both."""
        basis = [integers(row) for row in self.proof["basis"]]
        null = nullspace(basis, self.d)
        yield f"basis {len(basis)}"
        yield from map(words, basis)
        yield str(len(null))
        yield from map(words, null)
        inverse = fmpq_mat(fmpz_mat([*basis, *null])).inv()
        for i in range(self.d):
            x = [Fraction(int(inverse[i, j].p), int(inverse[i, j].q)) for j in range(self.d)]
            m = lcm(*(t.denominator for t in x))
            for sign in (1, -1):
                parts = (int(sign * t * m) for t in x)
                yield f"{m} {words(v for t in parts for v in (max(t, 0), max(-t, 0)))}"

    def tie(self, tie: dict[str, str]) -> Iterator[str]:
        """A ray; or a neuron with its c and the weights of the concave lines."""
        here: Weights = self.weights[SIGNS[tie["sign"]]]
        u = integers(tie["u"])
        if "shares" not in tie:
            yield f"ray {words(u)}"
            return
        heights = [dot(p, u) for p in self.data.rows]
        shares, q = cleared(vector(tie["shares"]))
        left = iter(shares)
        s = [q if heights[c] > 0 else next(left) if heights[c] == 0 else 0 for c in here.concave]
        c = [x * q for x in here.c0]
        on = [(k, q) for k in here.convex if heights[k] > 0]
        for k, factor in [*on, *zip(here.concave, s, strict=True)]:
            c = [x + factor * here.w[k] * p for x, p in zip(c, self.data.rows[k], strict=True)]
        yield f"neuron {q} {words(c)} {len(s)} {words(s)}"


def nullspace(basis: Sequence[Sequence[int]], d: int) -> list[list[int]]:
    """Primitive integer vectors that span the orthogonal complement."""
    if not basis:
        return [[int(i == j) for j in range(d)] for i in range(d)]
    X, nullity = fmpz_mat([list(row) for row in basis]).nullspace()
    columns = [[int(X[i, j]) for i in range(d)] for j in range(nullity)]
    return [[x // gcd(*v) for x in v] for v in columns]


def packed(text: str) -> str:
    """base64 of an xz stream, in hexadecimal; - for nothing."""
    return lzma.decompress(base64.b64decode(text)).hex() or "-"


def theta_of(problem: Problem, neurons: Sequence[tuple[int, Vector]], stated: str | dict[str, Any]) -> Vector:
    """theta as it is written, or tau floor(r_k 2^bits) / 2^bits of the residual r."""
    if isinstance(stated, str):
        return vector(stated)
    tau, bits = Fraction(stated["tau"]), int(stated["bits"])
    residual = list(problem.y)
    for xi, w in neurons:
        for k, z in enumerate(problem.Z):
            residual[k] -= xi * max(Fraction(0), sum((a * b for a, b in zip(z, w, strict=True)), Fraction(0)))
    return tuple(tau * Fraction((r.numerator << bits) // r.denominator, 1 << bits) for r in residual)


def vector(text: str) -> Vector:
    """Numbers with spaces between them."""
    return tuple(map(Fraction, text.split()))


def integers(text: str) -> list[int]:
    """Integers with spaces between them."""
    return list(map(int, text.split()))


def words(numbers: Iterator[int] | Sequence[int]) -> str:
    """Integers as text."""
    return " ".join(map(str, numbers))


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """a.b"""
    return sum(x * y for x, y in zip(a, b, strict=True))


__all__ = ["Bounds", "checker", "prove"]
_ = json
