"""Problems that come with the package, each with a lambda at which it is interesting."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from relu_cert.errors import UsageError, quote

if TYPE_CHECKING:
    from relu_cert.problem.problem import Model

__all__ = ["Example", "describe", "names", "path"]


@dataclass(frozen=True)
class Example:
    """One bundled problem: its file, its story in a line, and how it is meant to be read and solved."""

    name: str
    file: str
    text: str
    lam: Fraction
    bias: bool = False
    model: Model = "relu"
    classes: str = ""  # the column of the classes, where there are several outputs
    center: bool = False
    conv: str | None = None


_EXAMPLES = (
    Example(
        "xor",
        "xor.csv",
        "Exclusive or of two bits: no linear model fits it; the optimal network is |x1 - x2| and a small offset.",
        Fraction(1, 10),
        bias=True,
    ),
    Example(
        "cube",
        "cube.csv",
        "Parity of three bits at the corners of a cube: 104 open cells, and at lambda = 1/2 the optimum is exactly 3.",
        Fraction(1, 2),
        bias=True,
    ),
    Example(
        "checkerboard",
        "checkerboard.csv",
        "Nine squares in two colours: a grid, where many points are collinear and many neurons tie by symmetry.",
        Fraction(1, 10),
        bias=True,
    ),
    Example(
        "line",
        "line.csv",
        "Eight points of a curve: regression in one dimension, down, up and down again.",
        Fraction(1, 10),
        bias=True,
    ),
    Example(
        "moons",
        "moons.csv",
        "Two interleaved half moons of six points each, labelled 1 and -1.",
        Fraction(1, 10),
        bias=True,
    ),
    Example(
        "twins",
        "twins.csv",
        "Two antipodal pairs of points: four optimal neurons (3,4), (3,-4), (-3,4), (-3,-4) tie, and two of them do.",
        Fraction(5),
    ),
    Example(
        "conjecture",
        "conjecture.json",
        "A group lasso whose minimum-norm path jumps at lambda = 25: |w|^2 is 1/2 there and tends to 1 on both sides.",
        Fraction(25),
        model="cgl",
    ),
    Example(
        "conjecture-relu",
        "conjecture-relu.csv",
        "A ReLU network whose minimum-norm path jumps at lambda = 8, where three neurons share what one does nearby.",
        Fraction(8),
    ),
    Example(
        "gated-conjecture",
        "gated-conjecture.csv",
        "A gated ReLU network whose minimum-norm path jumps at lambda = 5.",
        Fraction(5),
        model="gated",
    ),
    Example(
        "iris",
        "iris.csv",
        "Fisher's irises (R. A. Fisher, 1936; public domain): 50 versicolor (-1), 50 virginica (1), four lengths each.",
        Fraction(1),
    ),
    Example(
        "digits",
        "digits.csv",
        "Handwritten zeros (-1) and ones (1), 20 images of 8 x 8 each, the first of the test set of Optical "
        "Recognition of Handwritten Digits (E. Alpaydin, C. Kaynak, 1998; UCI, CC BY 4.0): filters of 2 x 2, averaged.",
        Fraction(2),
        conv="2d:8x8:2x2",
    ),
    Example(
        "iris3",
        "iris3.csv",
        "Fisher's irises, all three species, 150 flowers: a network with three outputs that is proved to be the best.",
        Fraction(17),
        classes="species",
        center=True,
    ),
)


def names() -> tuple[str, ...]:
    """The names of all examples."""
    return tuple(example.name for example in _EXAMPLES)


def describe(name: str) -> Example:
    """The example of that name; UsageError lists the names if there is none."""
    for example in _EXAMPLES:
        if example.name == name:
            return example
    near = get_close_matches(name, names(), n=1)
    hint = f"did you mean {near[0]}?" if near else "there are " + ", ".join(names()) + "."
    raise UsageError(f"there is no example {quote(name)}; {hint}")


def path(name: str) -> Path:
    """The file of the example of that name."""
    return Path(str(resources.files(__package__).joinpath(describe(name).file)))
