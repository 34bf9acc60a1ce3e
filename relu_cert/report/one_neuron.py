"""The path of a network of one neuron and one feature as text and JSON: branches, and the jumps between them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from relu_cert.data.dataset import Dataset
from relu_cert.exact import rational
from relu_cert.figures import decimal
from relu_cert.path.one_neuron import NeuronBranch, NeuronJump, NeuronPath
from relu_cert.prove.facts import Facts
from relu_cert.report.headline import of_one_neuron
from relu_cert.report.shown import Report, picked, plain
from relu_cert.report.terminal import wrapped

FORMAT, VERSION = "relu_cert one neuron", 1


@dataclass(frozen=True, repr=False)
class OneNeuronReport(Report):
    """What `path --one-neuron` found."""

    data: Dataset
    facts: Facts
    path: NeuronPath

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        return of_one_neuron(self.path)

    def html(self) -> str:
        """The page of `path --one-neuron`."""
        from relu_cert.report.html.path import one_neuron_page

        return one_neuron_page(self)

    def rows(self) -> list[tuple[str, str, str]]:
        """From large lambda to small: where it is, v there, and gamma; zero first, then branch by branch."""
        ends = [rational(self.path.top), *(_at(jump) for jump in self.path.jumps), "0"]
        found = [(f"lambda >= {ends[0]}", "v = 0", "")]
        for branch, high, low in zip(self.path.branches, ends, ends[1:], strict=False):
            found.append((f"{low} < lambda < {high}", f"v = {branch_formula(branch)}", f"gamma = {branch.gamma:+d}"))
        return found

    def to_text(self) -> str:
        """Each branch, each jump with both minimisers at it."""
        lines = [
            wrapped(self.headline),
            "",
            f"{self.name}: one neuron v with one feature, exactly; minimise over v and gamma = +-1",
            "  1/2 sum_k (gamma (x_k v)_+ - y_k)^2 + lambda |v|",
            "",
        ]
        for i, (where, *there) in enumerate(self.rows()):
            lines.append(f"  {where}: {', '.join(filter(None, there))}")
            lines += [f"  lambda = {_at(jump)}: {_jump(jump)}" for jump in self.path.jumps[max(i - 1, 0) : i]]
        count = len(self.path.jumps)
        said = f"{count} jump{'s' * (count != 1)}: the path is not continuous" if count else "no jump"
        wide = "; with enough neurons the fit always moves continuously" * bool(count)
        return "\n".join([*lines, "", f"{said}{wide}.", "", *self.certificate_lines]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """One object, all numbers exact."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "zero_from": self.path.top,
            "branches": [_branch(branch) for branch in self.path.branches],
            "jumps": [
                picked(jump, "lo hi") | {"above": _branch(jump.above), "below": _branch(jump.below)}
                for jump in self.path.jumps
            ],
            "certificate": self.certificate_path,
        }
        return dict(plain(content))


def branch_formula(branch: NeuronBranch) -> str:
    """|v| = (b - lambda)/a with the sign of v."""
    b, a = rational(branch.b), rational(branch.a)
    top = f"{b} - lambda" if branch.sign > 0 else f"lambda - {b}"
    return top if branch.a == 1 else f"({top})/{a}"


def _at(jump: NeuronJump) -> str:
    return rational(jump.lo) if jump.lo == jump.hi else f"about {decimal((jump.lo + jump.hi) / 2, 16)}"


def _jump(jump: NeuronJump) -> str:
    values = []
    for branch in (jump.above, jump.below):
        v = branch.v(jump.lo)
        values.append(rational(v) if jump.lo == jump.hi else f"about {decimal(v, 12)}")
    return f"a jump from v = {values[0]} to v = {values[1]}, both optimal there"


def _branch(branch: NeuronBranch) -> dict[str, Any]:
    return picked(branch, "sign gamma a b") | {"slope": Fraction(-branch.sign) / branch.a}
