"""How the raw data was read, as the certificate says; `data` reads it again."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from verify.problem.problem import Problem
from verify.text import Node, show

if TYPE_CHECKING:
    from verify.problem.windows import Windows

MOST_COLUMNS = 2**24
BAGS, ACTIVATION = ("conv", "bags", "pool"), ("slope",)  # how rows are made of the data; numbers of the activation


@dataclass(frozen=True)
class Input:
    """How the raw file was read. All but the first two are for CSV only.

    Several outputs: the columns of `targets`; or one column of classes, with their `labels`. `center`: less means.
    One output with `labels`, two texts: y is the number of the label, 0 or 1.
    `pool` is empty where rows are data points; else the rows of a bag are the windows of one record, or the records
    with the same text in the column `bags`. `slope`: s of the activation max(t, s t).
    """

    sha256: str
    kind: str
    numbers: str = "decimal"
    bias: bool = False
    target: int = 0
    delimiter: str = ","
    header: bool = False
    targets: tuple[int, ...] = ()
    labels: tuple[str, ...] | None = None
    center: bool = False
    pool: str = ""
    windows: Windows | None = None
    bags: str = ""
    slope: Fraction = Fraction(0)

    @property
    def activation(self) -> str:
        """The activation, where it is not ReLU."""
        return f"max(t, {show(self.slope)} t)" if self.slope else ""


def read_input(node: Node, problem: Problem) -> Input:
    """The `input` of a certificate, as far as it can be judged without the raw file."""
    kind = "json" if problem.model == "cgl" else "csv"
    several = ("targets", "center") if problem.targets > 1 else ("target",)
    csv_keys = ("numbers", "bias", *several, "delimiter", "header") if kind == "csv" else ()
    some = (*("labels",) * (kind == "csv"), *(*BAGS, *ACTIVATION) * bool(problem.bags))
    fields = node.record("sha256", "kind", *csv_keys, optional=some)
    digest = fields["sha256"].text()
    fields["sha256"].require(re.fullmatch(r"[0-9a-f]{64}", digest), "64 lower-case hexadecimal digits")
    fields["kind"].text(kind)
    if kind == "json":
        return Input(digest, kind)
    bias = fields["bias"].flag()
    ones = {1, -1} if "slope" in fields else {1}
    fields["bias"].require(not bias or all(row[-1] in ones for row in problem.seen), "a last column of ones in Z")
    delimiter = fields["delimiter"].text()
    if len(delimiter) != 1 or delimiter in '\r\n\0"+-./' or delimiter.isalnum():
        raise fields["delimiter"].reject("one character that is no quote, no line end and no part of a number")
    numbers = fields["numbers"].text("decimal", "decimal-comma", "binary64")
    header = fields["header"].flag()
    found = Input(digest, kind, numbers, bias, 0, delimiter, header)
    if problem.targets > 1:
        from verify.problem.outputs import with_outputs

        found = with_outputs(found, problem, fields)
    else:
        target = fields["target"].index(MOST_COLUMNS if problem.bags else problem.d - bias + 1)
        found = replace(found, target=target)
        if "labels" in fields:
            labels = tuple(label.text() for label in fields["labels"].array(2))
            fields["labels"].require(labels[0] != labels[1], "two labels")
            found = replace(found, labels=labels)
    if not problem.bags:
        return found
    from verify.problem.windows import read_pool

    return replace(found, **read_pool(node, fields, problem, bias))
