"""A certificate (verify/FORMAT.md) and its data as sympy numbers: the problem, the point, the dual point, the facts."""

from __future__ import annotations

import csv
import gzip
import io
import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import Any

from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.numbers import Number, column, entries, matrix, rational
from properties.symbolic.patterns import Pattern, activation_patterns, signs_of
from properties.symbolic.program import Block, Program, gated_program, relu_program

MOST_WORK = 10_000
READ = {"model", "objective", "lambda", "Z", "y", "X", "groups", "K", "patterns", "delta", "free", "bags"}


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
        """The data of a network."""
        return rows(self.problem["Z"])

    @cached_property
    def pooling(self) -> DomainMatrix | None:
        """P, where outputs are sums over bags of rows."""
        bags = self.problem.get("bags")
        if bags is None:
            return None
        N = self.Z.shape[0]
        listed = [[QQ(0)] * N for _ in bags]
        for row, bag in zip(listed, bags, strict=True):
            for j, times in zip(bag["rows"], bag["times"], strict=True):
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
        y, lam = column(vector(problem["y"])), rational(problem["lambda"])
        if self.model == "cgl":
            made = Program(tuple(self._blocks()), y, lam)
        else:
            given = problem.get("patterns")
            some = self.all_patterns if given is None else [tuple(map(int, bits)) for bits in given]
            make = relu_program if self.model == "relu" else gated_program
            made = make(self.Z, y, lam, some, self.pooling)
        delta = rational(problem.get("delta", "0"))
        logistic = problem["objective"].startswith("sum log")
        return Program(made.blocks, y, lam, made.neurons, delta, logistic, self._free())

    def _blocks(self) -> list[Block]:
        X = rows(self.problem["X"])
        out = []
        for g, (group, K) in enumerate(zip(self.problem["groups"], self.problem["K"], strict=True)):
            cone = matrix([[] for _ in group], 0) if K is None else rows(K)
            listed = [[row[j] for j in group] for row in X.to_dense().to_list()]
            out.append(Block(matrix(listed, len(group)), cone, g))
        return out

    def _free(self) -> DomainMatrix | None:
        """B: the ones, then the columns of (pooled) Z, without those that depend on the ones before them."""
        free = self.problem.get("free")
        if not free:
            return None
        if "biases" in free:
            raise UnreadableError("with free biases the norm leaves out an entry of the weights")
        n = len(vector(self.problem["y"]))
        columns = [column([QQ(1)] * n)] if "output-bias" in free else []
        if "skip" in free:
            PZ = self.Z if self.pooling is None else self.pooling * self.Z
            columns += [PZ[:, j] for j in range(PZ.shape[1] - self.appended)]
        B = columns[0].hstack(*columns[1:]) if len(columns) > 1 else columns[0]
        kept = B.rref()[1]
        return B if len(kept) == B.shape[1] else B.extract(list(range(n)), list(kept))

    @property
    def appended(self) -> int:
        """1 where the last column of Z is the ones of a bias: it is no input, and a skip connection leaves it out."""
        return int(self.tree.get("input", {}).get("bias") is True)

    def raw_free(self) -> DomainMatrix:
        """The columns of B as the certificate's coefficients name them."""
        free = self.problem["free"]
        n = len(vector(self.problem["y"]))
        columns = [column([QQ(1)] * n)] if "output-bias" in free else []
        if "skip" in free:
            PZ = self.Z if self.pooling is None else self.pooling * self.Z
            columns += [PZ[:, j] for j in range(PZ.shape[1] - self.appended)]
        return columns[0].hstack(*columns[1:]) if len(columns) > 1 else columns[0]

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
        if "free" in fact:
            total = total + self.raw_free() * column(vector(fact["free"]))
        return w, total

    @cached_property
    def theta(self) -> DomainMatrix | None:
        """The dual point of `dual`, `cover` or `leaders`."""
        facts = self.facts
        if "leaders" in facts:
            unit = rational(facts["leaders"]["unit"])
            return column([unit * a for a in vector(facts["leaders"]["theta"])])
        stated = facts.get("dual", facts.get("cover", {})).get("theta")
        if stated is None or isinstance(stated, str):
            return None if stated is None else column(vector(stated))
        if self.point is None:
            return None
        tau, scale = rational(stated["tau"]), 2 ** stated["bits"]
        residual = [a - b for a, b in zip(entries(self.program.y), entries(self.point[1]), strict=True)]
        r = [QQ(int((a * scale).numerator // (a * scale).denominator), scale) for a in residual]
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


def compare(certificate: Certificate, raw: bytes) -> None:
    """OtherDataError unless the problem is the one of the file."""
    stated, problem = certificate.tree["input"], certificate.problem
    if stated.get("sha256") and sha256(raw).hexdigest() != stated["sha256"]:
        raise OtherDataError("the hash of the file is another")
    content = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    if stated["kind"] == "json":
        given = json.loads(content)
        same = (
            [[str(Fraction(a)) for a in row] for row in given["X"]] == [text.split() for text in problem["X"]]
            and given["groups"] == problem["groups"]
            and [str(Fraction(a)) for a in given["y"]] == problem["y"].split()
        )
        if not same:
            raise OtherDataError("X, groups or y are not those of the file")
        return
    if any(key in stated for key in ("conv", "bags")):
        raise UnreadableError("bags are not read from the file here")
    Z, y = _table(content.decode("utf-8-sig"), stated)
    if problem["objective"].startswith("sum log") and set(y) <= {Fraction(0), Fraction(1)}:
        y = [2 * a - 1 for a in y]
    if [" ".join(map(str, row)) for row in Z] != problem["Z"] or " ".join(map(str, y)) != problem["y"]:
        raise OtherDataError("Z or y are not those of the file")


def _table(text: str, stated: dict[str, Any]) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Z and y of a CSV file."""
    lines = [row for row in csv.reader(io.StringIO(text), delimiter=stated["delimiter"]) if any(map(str.strip, row))]
    exact = (lambda t: Fraction(float(Fraction(t)))) if stated["numbers"] == "binary64" else Fraction
    table = [[exact(field.strip()) for field in row] for row in lines[int(stated["header"]) :]]
    k = stated["target"]
    ones = [Fraction(1)] if stated["bias"] else []
    return [[*row[:k], *row[k + 1 :], *ones] for row in table], [row[k] for row in table]


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
