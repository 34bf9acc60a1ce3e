"""A certificate (verify/FORMAT.md) and its data as sympy numbers: the problem, the point, the dual point, the facts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.numbers import Number, beside, column, entries, matrix, rational
from properties.symbolic.patterns import Pattern, activation_patterns, signs_of
from properties.symbolic.program import Block, Program, gated_program, relu_program
from properties.symbolic.several import Several

MOST_WORK = 10_000
READ = {
    "model",
    "objective",
    "lambda",
    "Z",
    "y",
    "X",
    "groups",
    "K",
    "patterns",
    "delta",
    "free",
    "bags",
    "decayed",
    "Y",
}


class UnreadableError(Exception):
    """This is no certificate that can be judged here."""


class OtherDataError(Exception):
    """The certificate is about other data."""


def vector(text: str) -> list[Number]:
    """Numbers with one space between them."""
    return [rational(a) for a in text.split()]


def rows(texts: list[str], columns: int | None = None) -> DomainMatrix:
    """A matrix, written as its rows."""
    listed = [vector(text) for text in texts]
    return matrix(listed, len(listed[0]) if columns is None else columns)


def times_of(bag: dict[str, Any]) -> list[int]:
    """How often each row of a bag is counted: an array, or a vector."""
    times = bag["times"]
    return [int(a) for a in times.split()] if isinstance(times, str) else list(times)


@dataclass(frozen=True)
class Certificate:
    """The JSON object."""

    tree: dict[str, Any]

    @property
    def problem(self) -> dict[str, Any]:
        """What is minimised."""
        found: dict[str, Any] = self.tree["problem"]
        return found

    @property
    def facts(self) -> dict[str, Any]:
        """The evidence."""
        found: dict[str, Any] = self.tree["facts"]
        return found

    @property
    def verdicts(self) -> dict[str, str]:
        """claim -> verdict"""
        return {one["claim"]: one["verdict"] for one in self.tree["claims"]}

    @property
    def model(self) -> str:
        """relu, gated or cgl"""
        return str(self.problem["model"])

    @cached_property
    def Z(self) -> DomainMatrix:
        """The data of a network, with a row of zeros for every root of a decayed bias."""
        Z = rows(self.problem["Z"])
        return (
            Z
            if not self.roots or "bags" in self.problem
            else Z.vstack(matrix([[QQ(0)] * Z.shape[1] for _ in self.roots], Z.shape[1]))
        )

    @cached_property
    def pooling(self) -> DomainMatrix | None:
        """P, where outputs are sums over bags of rows."""
        bags = self.problem.get("bags")
        if bags is None:
            return None
        N = self.Z.shape[0]
        listed = [[QQ(0)] * N for _ in (*bags, *self.roots)]
        for row, bag in zip(listed, bags, strict=False):
            for j, times in zip(bag["rows"], times_of(bag), strict=True):
                row[j] += rational(bag["scale"]) * times
        return matrix(listed, N)

    @cached_property
    def listed(self) -> list[Pattern] | None:
        """The patterns of the fact `patterns`, in order."""
        fact = self.facts.get("patterns")
        if fact is None:
            return None
        out = []
        for group in fact["groups"]:
            for text in group["witnesses"]:
                u = [QQ(0)] * self.Z.shape[1]
                for j, a in zip(fact["columns"], vector(text), strict=True):
                    u[j] = a
                out.append(tuple(int(s >= 0) for s in signs_of(self.Z, u)))
        return out

    @cached_property
    def all_patterns(self) -> list[Pattern]:
        """D_Z, in the order of the list if that is the same set."""
        found = activation_patterns(self.Z)
        listed = self.listed
        return listed if listed is not None and sorted(listed) == sorted(found) else found

    @cached_property
    def program(self) -> Program:
        """The program that the certificate speaks of."""
        problem = self.problem
        y, lam = column([*vector(problem["y"]), *(QQ(0) for _ in self.roots)]), rational(problem["lambda"])
        if self.model == "cgl":
            made = Program(tuple(self._blocks()), y, lam)
        else:
            given = problem.get("patterns")
            some = self.all_patterns if given is None else [tuple(map(int, bits)) for bits in given]
            make = relu_program if self.model == "relu" else gated_program
            made = make(self.Z, y, lam, some, self.pooling)
        delta = rational(problem.get("delta", "0"))
        logistic = problem["objective"].startswith("sum log")
        biases = "biases" in problem.get("free", ())
        return Program(made.blocks, y, lam, made.neurons, delta, logistic, self._free(), biases)

    def _blocks(self) -> list[Block]:
        X = rows(self.problem["X"])
        out = []
        for g, (group, K) in enumerate(zip(self.problem["groups"], self.problem["K"], strict=True)):
            cone = matrix([[] for _ in group], 0) if K is None else rows(K)
            listed = [[row[j] for j in group] for row in X.to_dense().to_list()]
            out.append(Block(matrix(listed, len(group)), cone, g))
        return out

    def _free(self) -> DomainMatrix | None:
        """B without the columns that depend on those before them."""
        B = self.raw_free()
        kept = () if B is None else B.rref()[1]
        return B if B is None or len(kept) == B.shape[1] else B.extract(list(range(B.shape[0])), list(kept))

    @property
    def outputs(self) -> int:
        """C"""
        return len(self.problem["Y"][0].split()) if "Y" in self.problem else 1

    @property
    def targets(self) -> int:
        """n"""
        return len(self.problem["Y"] if "Y" in self.problem else self.problem["y"].split())

    @property
    def softmax(self) -> bool:
        """Cross-entropy of classes in the place of squares."""
        return "Y" in self.problem and self.problem["objective"].startswith("sum (log")

    @cached_property
    def several(self) -> Several:
        """The problem of a network with several outputs."""
        Y = [*(a for text in self.problem["Y"] for a in vector(text)), *[QQ(0)] * (self.outputs * len(self.roots))]
        lam = rational(self.problem["lambda"])
        biases = "biases" in self.problem.get("free", ())
        return Several(self.Z, column(Y), self.outputs, lam, self.pooling, self._free(), self.softmax, biases)

    @cached_property
    def several_point(self) -> tuple[list[tuple[DomainMatrix, DomainMatrix]], DomainMatrix] | None:
        """The neurons (w, v) of `primal`, and the fit, row by row."""
        fact, p = self.facts.get("primal"), self.several
        if fact is None:
            return None
        neurons = [(column(vector(one["w"])), column(vector(one["v"]))) for one in fact["neurons"]]
        fit, B = p.y - p.y, self.raw_free()
        for w, v in neurons:
            fit = fit + p.output(w, v)
        if "free" in fact and B is not None:
            c = vector(fact["free"])  # row by row, a row for each column of B
            rows_of = [c[i : i + self.outputs] for i in range(0, len(c), self.outputs)]
            fit = fit + column(entries(B * matrix(rows_of, self.outputs)))
        return neurons, fit

    @property
    def roots(self) -> list[Number]:
        """With a decayed output bias c: rho/2 c^2 = 1/2 sum (c root)^2 are residuals of as many more rows."""
        return [rational(a) for a in self.problem.get("decayed", {}).get("roots", ())]

    def raw_free(self) -> DomainMatrix | None:
        """B: the ones of an output bias, the output of a bias alone, the (pooled) inputs of a skip connection."""
        free, n = self.problem.get("free", ()), self.targets
        if self.roots:
            return column([*[QQ(1)] * n, *self.roots])
        if not free:
            return None
        PZ = self.Z if self.pooling is None else self.pooling * self.Z
        ones = column([QQ(1)] * n)
        columns = [ones] if "output-bias" in free else []
        if "biases" in free:
            alone = column([max(row[-1], QQ(0)) for row in self.Z.to_dense().to_list()])
            alone = alone if self.pooling is None else self.pooling * alone
            columns += [] if columns and alone == ones else [alone]
        if "skip" in free:
            appended = self.tree.get("input", {}).get("bias") is True  # a column of ones that is no input
            columns += [PZ[:, j] for j in range(PZ.shape[1] - appended)]
        return beside(columns, n)

    @cached_property
    def point(self) -> tuple[list[DomainMatrix], DomainMatrix] | None:
        """The weights of `primal`, block by block, and its fit with the free terms."""
        fact = self.facts.get("primal")
        if fact is None:
            return None
        p = self.program
        names = {b.name: i for i, b in enumerate(p.blocks)}
        w = [DomainMatrix.zeros((b.size, 1), QQ).to_dense() for b in p.blocks]
        for one in fact["neurons"]:
            u = vector(one["w"])
            if "block" in one:
                i = one["block"]
            elif self.model == "gated":
                i = names[tuple(map(int, one["pattern"]))]
            else:
                D = tuple(int(s >= 0) for s in signs_of(self.Z, u))
                i = names[1 if one["sign"] == "+" else -1, D]
            w[i] = w[i] + column(u)
        total = column([QQ(0)] * p.n)
        for b, wb in zip(p.blocks, w, strict=True):
            total = total + b.X * wb
        B = self.raw_free()
        if "free" in fact and B is not None:
            total = total + B * column(vector(fact["free"]))
        return w, total

    @cached_property
    def theta(self) -> DomainMatrix | None:
        """The dual point of `dual`, `cover` or `leaders`."""
        facts = self.facts
        if "axes" in facts.get("leaders", {}):
            total = self.several.y - self.several.y
            for one in facts["leaders"]["axes"]:
                unit, axis = rational(one["proof"]["unit"]), vector(one["axis"])
                total = total + column([unit * a * b for a in vector(one["proof"]["theta"]) for b in axis])
            return total
        if "leaders" in facts:
            unit = rational(facts["leaders"]["unit"])
            return column([unit * a for a in vector(facts["leaders"]["theta"])])
        stated = facts.get("dual", facts.get("cover", {})).get("theta")
        if stated is None or isinstance(stated, str):
            return None if stated is None else column(vector(stated))
        at = self.several_point if "Y" in self.problem else self.point
        if at is None:
            return None
        y = self.several.y if "Y" in self.problem else self.program.y
        tau, scale = rational(stated["tau"]), 2 ** stated["bits"]
        r = [QQ(int((a * scale).numerator // (a * scale).denominator), scale) for a in entries(y - at[1])]
        for k, m in stated.get("moves", ()):
            r[k] += rational(m)
        return column([tau * a for a in r])


def read_certificate(text: bytes) -> Certificate:
    """The certificate; UnreadableError if it is none."""
    try:
        tree = json.loads(text)
    except ValueError as error:
        raise UnreadableError(f"not JSON: {error}") from error
    if not isinstance(tree, dict) or tree.get("format") != "relu_cert certificate" or tree.get("version") != 2:
        raise UnreadableError("not a certificate of version 2")
    missing = [key for key in ("input", "problem", "facts", "claims", "end") if key not in tree]
    if missing:
        raise UnreadableError(f"the certificate has no {missing[0]}")
    other = sorted(set(tree["problem"]) - READ)
    if other:
        raise UnreadableError(f"the problem has {other[0]}, for which no definition is written here")
    return Certificate(tree)


def too_large(certificate: Certificate, most: int = MOST_WORK) -> str:
    """Why the definitions would take too long; "" if they do not."""
    from math import comb

    if certificate.model == "cgl":
        shapes = [
            (len(g), 0 if K is None else len(K[0].split()))
            for g, K in zip(certificate.problem["groups"], certificate.problem["K"], strict=True)
        ]
        work = sum(sum(comb(a, k) for k in range(size + 1)) for size, a in shapes)
    else:
        n, d = certificate.Z.shape
        some = certificate.problem.get("patterns")
        cells = 2 * sum(comb(n - 1, k) for k in range(d)) if some is None else len(some)
        work = cells * (2 * sum(comb(n, k) for k in range(d + 1)) if certificate.model == "relu" else 1)
    return f"{work} systems of equations for the projections alone" if work > most else ""
