"""What was read: a frozen data set and how it was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from relu_cert.bags import EACH, Each
from relu_cert.errors import UsageError
from relu_cert.exact import Matrix, Vector
from relu_cert.serialize import OPTIONAL, UNWRITTEN

Numbers = Literal["decimal", "decimal-comma", "binary64"]


@dataclass(frozen=True)
class Source:
    """Where the numbers come from and how the text was read; enough for another program to read them again.

    `target` is the zero-based column of the file that became y. `header` says that the first record was names.
    `sha256` is the hash of the file's raw bytes (compressed bytes for a .gz file).
    `labels`: two texts, for which y has 0 and 1. `slope`: s of the activation max(t, s t), empty for ReLU: each row is
    there as z and as -z then (relu_cert.bags).
    `conv`: the rule by which rows of the file were cut into windows (relu_cert.data.windows). `bags`: the column whose
    values name the bags that rows belong to. `pool`: whether outputs of the rows of a bag are averaged or added.
    Several outputs: `targets` are their columns, or the one of the classes, whose `labels` then have an output each;
    `center`: less their means.
    """

    path: Annotated[str, UNWRITTEN]
    sha256: str
    kind: Literal["csv", "json"]
    numbers: Numbers = "decimal"
    bias: bool = False
    target: int = -1
    delimiter: str = ","
    header: bool = False
    conv: Annotated[str, OPTIONAL] = ""
    bags: Annotated[str, OPTIONAL] = ""
    pool: Annotated[str, OPTIONAL] = ""
    slope: Annotated[str, OPTIONAL] = ""
    targets: Annotated[tuple[int, ...], OPTIONAL] = ()
    labels: Annotated[tuple[str, ...] | None, OPTIONAL] = None
    center: bool = False


@dataclass(frozen=True)
class Dataset:
    """Z (N x d) and y (n), exactly, with the names of the d features (a column of ones is called "bias"); data points
    are bags of rows of Z, each a row of its own unless windows, bags or a slope were asked for.

    With several `outputs`, by their names, y is Y (n x C), row by row, and `means` were taken from its columns."""

    Z: Matrix
    y: Vector
    names: tuple[str, ...]
    target: str
    source: Source
    bags: Each = EACH
    outputs: tuple[str, ...] = ()
    means: Vector = ()

    @property
    def targets(self) -> int:
        """The number of outputs."""
        return len(self.outputs) or 1

    @property
    def n(self) -> int:
        """The number of data points."""
        return len(self.y) // self.targets

    @property
    def classes(self) -> list[int] | None:
        """The class of each data point, if the outputs are classes."""
        C = self.targets
        points = (self.y[C * k : C * (k + 1)] for k in range(self.n))
        return (
            None
            if self.source.labels is None or not self.source.targets
            else [max(range(C), key=row.__getitem__) for row in points]
        )

    def require_one_output(self, what: str) -> None:
        """UsageError where there are several outputs, which `what` does not know."""
        if self.targets > 1:
            raise UsageError(f"{what} is for networks with one output.")

    def require_single_rows(self, what: str) -> None:
        """UsageError where rows are in bags, which `what` does not know."""
        if self.bags is not EACH:
            which = "a slope" if self.source.slope else "--conv or --bags"
            raise UsageError(f"{what} is not offered with {which}.")

    @property
    def d(self) -> int:
        """The number of features, the bias column included."""
        return len(self.names)
