"""What was read: a frozen data set and how it was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from relu_cert.exact import Matrix, Vector
from relu_cert.written import UNWRITTEN

Numbers = Literal["decimal", "binary64"]


@dataclass(frozen=True)
class Source:
    """Where the numbers come from and how the text was read; enough for another program to read them again.

    `target` is the zero-based column of the file that became y. `header` says that the first record was names.
    `sha256` is the hash of the file's raw bytes (compressed bytes for a .gz file).
    """

    path: Annotated[str, UNWRITTEN]
    sha256: str
    kind: Literal["csv", "json"]
    numbers: Numbers = "decimal"
    bias: bool = False
    target: int = -1
    delimiter: str = ","
    header: bool = False


@dataclass(frozen=True)
class Dataset:
    """Z (n x d) and y (n), exactly, with the names of the d features (a column of ones is called "bias")."""

    Z: Matrix
    y: Vector
    names: tuple[str, ...]
    target: str
    source: Source

    @property
    def n(self) -> int:
        """The number of data points."""
        return len(self.y)

    @property
    def d(self) -> int:
        """The number of features, the bias column included."""
        return len(self.names)
