"""Whether a certificate is true, by brute force from the definitions: slow, in plain Fractions, for small data.

`still_valid` names the reason why a changed certificate may be accepted: one of `EXCEPTIONS`, and only if the oracle
finds it true. The oracle reads loosely (it is the checker that must be strict) and judges everything.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from hashlib import sha256
from typing import Any

from tests.verify.build import plain
from tests.verify.build.plain import masked
from tests.verify.oracle import brute
from tests.verify.oracle.brute import Mat, Vec, combine, dot, times

EXCEPTIONS = {
    r"facts\.patterns\.groups\[\d+\]\.witnesses.*": "another witness of the same cell, or the cells in another order",
    r"facts\.patterns\.groups": "the groups other than the first in another order",
    r"facts\.patterns\.groups\[\d+\]\.circuits.*": "other true circuits that leave the same number of sets",
    r"facts\.patterns\.columns.*": "the same witnesses in other columns have the same patterns",
    r"facts\.patterns\.covers.*": "other covers, or the covers in another order",
    r"facts\.(dual|lambda_max)\.multipliers.*": "other multipliers that prove the same bound, or another order of them",
    r"facts\.lambda_max\.attained.*": "another direction that attains lambda_max",
    r"facts\.primal\.neurons.*": "another order, or another vector with the same outputs and norm",
    r"facts\.value\.gap": "another gap, which is also reached",
    r"problem\.(lambda|model)": "another problem, for which the same facts prove as much",
    r"facts": "a fact that no claim rests on is left out",
    r"claims.*": "less is claimed, or the claims come in another order",
    r"input\.numbers": "the decimals are doubles, so that both ways of reading agree",
}

KEY_ORDER = "the keys of an object in another order"
FACTS = ("patterns", "lambda_max", "primal", "dual", "value", "fit")
CLAIMS = ("patterns-complete", "optimal", "fit")


def still_valid(place: str, original: dict[str, Any], mutant_text: str, raw: bytes) -> str | None:
    """The reason why a change at `place` may be accepted, or None. Everything but that place must be as it was."""
    try:
        changed = json.loads(mutant_text)
    except ValueError:
        return None
    if changed == original:
        return KEY_ORDER
    reason = next((reason for pattern, reason in EXCEPTIONS.items() if re.fullmatch(pattern, place)), None)
    return reason if reason and is_true(without_others(changed, original), raw) else None


def without_others(changed: dict[str, Any], original: dict[str, Any]) -> Any:
    """A certificate without those facts and claims that the oracle does not know, if they are as in the original.

    Of such a claim the verdict may also be UNDECIDED. Anything else that it does not know is left for it to refuse.
    """
    try:
        facts = {k: v for k, v in changed["facts"].items() if k in FACTS or v != original["facts"].get(k)}
        known = [*original["claims"], *({**c, "verdict": "UNDECIDED"} for c in original["claims"])]
        claims = [c for c in changed["claims"] if c.get("claim") in CLAIMS or c not in known]
    except (AttributeError, KeyError, TypeError):
        return changed
    return {**changed, "facts": facts, "claims": claims}


def is_true(certificate: dict[str, Any], raw: bytes) -> bool:
    """Whether everything in a certificate is true and every verdict follows from what is in it."""
    try:
        return Truth(certificate).holds(raw)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError):
        return False


def numbers(text: str) -> Vec:
    """A vector."""
    return tuple(Fraction(x) for x in text.split(" ")) if text else ()


@cache
def listing_of(Z: Mat) -> plain.Listing:
    """D_Z by brute force."""
    return plain.list_patterns(Z)


@cache
def flats_of(Z: Mat) -> list[frozenset[int]]:
    """What covers must cover."""
    return [*brute.dependent_flats(Z), frozenset(range(len(Z)))]


@cache
def largest(model: str, Z: Mat, theta: Vec) -> Fraction:
    """max_b |Proj(X_b'theta)|^2 of a network, exactly."""
    if model == "relu":
        return plain.relu_multipliers(Z, listing_of(Z), theta)[1]
    return plain.gated_largest(Z, listing_of(Z), theta)[0]


class Truth:
    """One certificate under judgement."""

    def __init__(self, certificate: dict[str, Any]) -> None:
        self.top = certificate
        self.problem = certificate["problem"]
        self.facts = certificate["facts"]
        self.model = self.problem["model"]
        self.lam = Fraction(self.problem["lambda"])
        self.Z: Mat = tuple(numbers(row) for row in self.problem["X" if self.model == "cgl" else "Z"])
        self.y = numbers(self.problem["y"])

    def holds(self, raw: bytes) -> bool:
        """All parts."""
        checks = {
            "patterns": self.patterns,
            "lambda_max": self.lambda_max,
            "primal": self.primal,
            "dual": self.dual,
            "value": self.value,
            "fit": self.fit,
        }
        return (
            self.lam > 0
            and self.data(raw)
            and all(checks[name]() for name in self.facts)
            and all(self.claim(c["claim"], c["verdict"]) for c in self.top["claims"])
            and len({c["claim"] for c in self.top["claims"]}) == len(self.top["claims"])
        )

    def data(self, raw: bytes) -> bool:
        """The numbers are those of the raw file (a plain one, as the tests write it)."""
        if sha256(raw).hexdigest() != self.top["input"]["sha256"]:
            return False
        if self.model == "cgl":
            read = json.loads(raw)
            X = tuple(tuple(map(Fraction, row)) for row in read["X"])
            K = [K_b and [numbers(row) for row in K_b] for K_b in self.problem["K"]]
            K_read = [K_b and [tuple(map(Fraction, row)) for row in K_b] for K_b in read["K"]]
            y = tuple(map(Fraction, read["y"]))
            return (X, K_read, y, read["groups"]) == (self.Z, K, self.y, self.problem["groups"])
        source = self.top["input"]
        lines = [line for line in raw.decode("utf-8-sig").splitlines() if line.strip()][source["header"] :]
        rows = [[field.strip(' "') for field in line.split(source["delimiter"])] for line in lines]
        number = Fraction if source["numbers"] == "decimal" else lambda x: Fraction(float(Fraction(x)))
        table = [[number(x) for x in row] for row in rows]
        y = tuple(row.pop(source["target"]) for row in table)
        return (tuple(tuple(row + [Fraction(1)] * source["bias"]) for row in table), y) == (self.Z, self.y)

    def patterns(self) -> bool:
        """Every witness, every group's count, all of D_Z, every cover."""
        fact, Z = self.facts["patterns"], self.Z
        listed, vanishing = [], []
        for g, group in enumerate(fact["groups"]):
            flat = frozenset(group["flat"])
            if g == 0 and flat != {k for k, row in enumerate(Z) if not any(row)}:
                return False
            for text in group["witnesses"]:
                entries = dict(zip(fact["columns"], numbers(text), strict=True))
                s = brute.signs(Z, tuple(entries.get(j, Fraction(0)) for j in range(len(Z[0]))))
                if brute.zeros(s) != flat:
                    return False
                listed.append(brute.ones(s))
                vanishing.append(flat)
            rows = brute.restricted(Z, sorted(flat))
            names = set(brute.class_names(rows))
            if not all(set(c) <= names and c == sorted(set(c)) for c in group["circuits"]):
                return False
            if not all(brute.in_span(rows, c[0], c[1:]) for c in group["circuits"]):
                return False
            if brute.cell_bound(rows, group["circuits"]) != len(group["witnesses"]):
                return False
        if len(set(listed)) != len(listed) or set(listed) != set(listing_of(Z).patterns):
            return False
        covers = fact["covers"]
        if "1" * len(Z) in listed[: listing_of(Z).open_cells]:
            return bool(covers == [listed.index("1" * len(Z))])
        return all(
            any(vanishing[k] <= flat and all(listed[k][row] == "1" for row in flat) for k in covers)
            for flat in flats_of(Z)
        ) and all(k >= 0 for k in covers)

    def multipliers(self, fact: Any, theta: Vec, squared: Fraction) -> bool:
        """They prove the bound, and the bound is true."""
        if self.model == "cgl":
            return all(self.rho(b, rho, theta, squared) for b, rho in enumerate(fact)) and len(fact) == len(
                self.problem["groups"]
            )
        if "patterns" not in self.facts or largest(self.model, self.Z, theta) > squared:
            return False
        if self.model == "gated":
            return fact is None
        listing = listing_of(self.Z)
        for xi, entries in ((1, fact["+"]), (-1, fact["-"])):
            t = tuple(xi * x for x in theta)
            pieces = [self.piece(p, t) for p in brute.piece_bases(listing.patterns[: listing.open_cells], t)]
            if sorted(pieces) != sorted(self.piece(base, t) for base, _, _ in entries):
                return False
            if not all(self.entry(base, rows, numbers(values), t, squared) for base, rows, values in entries):
                return False
        return True

    @staticmethod
    def piece(pattern: str, t: Vec) -> str:
        """The restriction to the rows with t_k > 0."""
        return "".join(c for c, t_k in zip(pattern, t, strict=True) if t_k > 0)

    def entry(self, base: str, rows: list[int], values: Vec, t: Vec, squared: Fraction) -> bool:
        """m in its box and |Z'm|^2 <= squared."""
        m = list(masked(base, t))
        for k, x in zip(rows, values, strict=True):
            m[k] = x
        inside = all(
            (low is None or low <= x) and (high is None or x <= high)
            for x, (low, high) in zip(m, brute.box(t, base), strict=True)
        )
        v = combine(self.Z, m)
        return inside and dot(v, v) <= squared and rows == sorted(set(rows)) and all(k >= 0 for k in rows)

    def block(self, b: int) -> Mat:
        """X_b of a direct problem."""
        return tuple(tuple(row[j] for j in self.problem["groups"][b]) for row in self.Z)

    def rho(self, b: int, text: str | None, theta: Vec, squared: Fraction) -> bool:
        """|X_b'theta - K_b rho|^2 <= squared and rho >= 0."""
        c = combine(self.block(b), theta)
        if text is not None:
            rho = numbers(text)
            K = tuple(numbers(row) for row in self.problem["K"][b])
            c = tuple(a - x for a, x in zip(c, times(K, rho), strict=True))
            if any(x < 0 for x in rho):
                return False
        return dot(c, c) <= squared

    def output(self, part: dict[str, Any], w: Vec) -> Vec:
        """X_b w, with w in its cone."""
        zero = Fraction(0)
        if self.model == "relu":
            return tuple({"+": 1, "-": -1}[part["sign"]] * max(x, zero) for x in times(self.Z, w))
        if self.model == "gated":
            if part["pattern"] not in listing_of(self.Z).patterns:
                raise ValueError("not a pattern")
            return masked(part["pattern"], times(self.Z, w))
        K = self.problem["K"][part["block"]]
        if K is not None and any(x > 0 for x in combine(tuple(numbers(row) for row in K), w)):
            raise ValueError("outside the cone")
        return times(self.block(part["block"]), w)

    def lambda_max(self) -> bool:
        """No larger, no smaller."""
        fact = self.facts["lambda_max"]
        squared, at = Fraction(fact["squared"]), fact["attained"]
        if not self.multipliers(fact["multipliers"], self.y, squared):
            return False
        if self.model == "gated":
            v = combine(self.Z, masked(at["pattern"], self.y))
            return at["pattern"] in listing_of(self.Z).patterns and dot(v, v) == squared
        u = numbers(at["u"])
        reached = dot(self.y, self.output(at, u))
        return reached >= 0 and reached**2 == squared * dot(u, u) and (any(u) or squared == 0)

    def neurons(self) -> tuple[Vec, Fraction]:
        """The fit and the sum of the norms."""
        fit, penalty = tuple(Fraction(0) for _ in self.y), Fraction(0)
        for neuron in self.facts["primal"]["neurons"]:
            w, norm = numbers(neuron["w"]), Fraction(neuron["norm"])
            if not any(w) or norm < 0 or norm**2 < dot(w, w):
                raise ValueError("wrong norm")
            fit = tuple(a + b for a, b in zip(fit, self.output(neuron, w), strict=True))
            penalty += norm
        return fit, penalty

    def primal(self) -> bool:
        """Feasible, each block of a direct problem once."""
        blocks = [neuron.get("block", k) for k, neuron in enumerate(self.facts["primal"]["neurons"])]
        return len(self.neurons()[0]) == len(self.y) and len(set(blocks)) == len(blocks)

    def dual(self) -> bool:
        """Feasible."""
        return self.multipliers(self.facts["dual"]["multipliers"], numbers(self.facts["dual"]["theta"]), self.lam**2)

    def bounds(self) -> tuple[Fraction, Fraction]:
        """lower and upper."""
        theta = numbers(self.facts["dual"]["theta"])
        fit, penalty = self.neurons()
        r = tuple(a - b for a, b in zip(fit, self.y, strict=True))
        return dot(self.y, theta) - dot(theta, theta) / 2, dot(r, r) / 2 + self.lam * penalty

    def value(self) -> bool:
        """Exactly the bounds."""
        fact = self.facts["value"]
        return self.bounds() == (Fraction(fact["lower"]), Fraction(fact["upper"])) and 0 <= Fraction(fact["gap"]) < 1

    def fit(self) -> bool:
        """Exactly the ball."""
        lower, upper = self.bounds()
        fact = self.facts["fit"]
        ball = (self.neurons()[0], 2 * (upper - lower))
        return "value" in self.facts and ball == (numbers(fact["center"]), Fraction(fact["radius_squared"]))

    def claim(self, name: str, verdict: str) -> bool:
        """PROVED only with its evidence; nothing here can be REFUTED."""
        if verdict == "UNDECIDED":
            return name in CLAIMS
        if name == "optimal":
            lower, upper = self.bounds()
            return (
                verdict == "PROVED"
                and "value" in self.facts
                and upper - lower <= Fraction(self.facts["value"]["gap"]) * upper
            )
        return verdict == "PROVED" and {"patterns-complete": "patterns", "fit": "fit"}[name] in self.facts
