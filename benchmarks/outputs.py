"""Networks with several outputs: the bars of each line, with squares and the softmax cross-entropy.

    python -m benchmarks.outputs [--lines PART,PART] [--seconds N] [--data DIR] [--list]

The data are those of scikit-learn: iris in centimetres, or standardised (std); wine on its first principal components,
linnerud standardised, digits on principal components; numbers have four decimals. `conv` are the first images of the
digits under filters of 2x2 at steps of 2; `mnist` 1,200 images of six classes, from the files in DIR. `+1` is a column
of ones; classes are one-hot, less their means with squares. A line is met if the gap is at most its own, the checker
accepts all verdicts, and nodes and seconds (of the processor; `find`, `verify`) keep to their bars. The first line pays
for compiling.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy

import argparse
import csv
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

EXACT = 1e-30
FIND, VERIFY = 30.0, 5.0


@dataclass(frozen=True)
class Line:
    """Data, lambda / lambda_max, the loss, the bar of nodes, the gap."""

    data: str
    ratio: str
    loss: str = "squares"
    nodes: int | None = None
    gap: float = EXACT
    find: float = FIND
    verify: float = VERIFY

    @property
    def name(self) -> str:
        """What a line is called."""
        return f"{self.data} {self.ratio}{' softmax' * (self.loss == 'softmax')}"


def _lines() -> Iterator[Line]:
    bars = {
        "iris": (436, 2706, 1154),
        "iris+1": (1144, 8380, 3028),
        "irisstd": (82, 476, 1356),
        "irisstd+1": (212, 3152, 3814),
        "wine3": (76, 232, 388),
        "wine4": (310, 1548, 4510),
        "linnerud": (50, 422, 896),
    }
    for data, nodes in bars.items():
        yield from (Line(data, r, nodes=n) for r, n in zip((".5", ".1", ".05"), nodes, strict=True))
    yield Line("wine6", ".1", nodes=39_044, gap=1e-6, find=120.0)
    for data, ratio, most in (
        ("digits3", ".5", 1722),
        ("digits3", ".1", None),
        ("digits4", ".5", None),
        ("digits4", ".1", None),
    ):
        yield Line(data, ratio, nodes=most, gap=1e-6, find=120.0, verify=120.0)
    prototype = {
        "conv100": (None, None, None),
        "conv300": (46_308, 264_186, 618_646),
        "conv1797": (33_754, 215_256, None),
    }
    for data, nodes in prototype.items():
        for ratio, most in zip((".5", ".2", ".1"), nodes, strict=True):
            yield Line(data, ratio, nodes=most, gap=1e-6, find=120.0, verify=120.0)
    for ratio, most in ((".1", 14_964), (".03", 115_934)):
        yield Line("mnist", ratio, nodes=most, gap=1e-6, find=120.0, verify=120.0)
    for data, each in (("irisstd", (88, 422)), ("wine3", (74, 192)), ("iris", (198, 214))):
        yield from (Line(data, r, "softmax", n) for r, n in zip((".5", ".1"), each, strict=True))


LINES = tuple(_lines())


def images(name: str, folder: str) -> tuple[Any, Any, str]:
    """Images as rows, their classes, and the rule of their windows."""
    if name == "mnist":
        rows = []
        for pair in ("1v7", "2v6", "5v9"):
            with (Path(folder) / f"mnist-{pair}.csv").open(newline="") as stream:
                own = [*csv.reader(stream)][1:]
            chosen = np.random.default_rng(0).permutation(len(own))[:400]
            rows += [[*own[k][:-1], pair[2 if float(own[k][-1]) > 0.5 else 0]] for k in chosen]
        return (
            np.array([row[:-1] for row in rows], dtype=int),
            np.array([row[-1] for row in rows]),
            "2d:28x28:2x2:stride=2",
        )
    from sklearn.datasets import load_digits

    most, given = int(name.removeprefix("conv")), load_digits()
    return given.data[:most].astype(int), given.target[:most], "2d:8x8:2x2:stride=2"


def table(name: str) -> tuple[Any, Any]:
    """Z, and a table of targets or labels."""
    from sklearn import datasets

    bias, base = name.endswith("+1"), name.removesuffix("+1")
    kind = base.removesuffix("std").rstrip("0123456789")
    given = getattr(datasets, f"load_{kind}")()
    Z, y = given.data.astype(float), given.target
    if kind != "iris" or base.endswith("std"):
        deviation = Z.std(axis=0) if kind != "digits" else 1.0
        Z = (Z - Z.mean(axis=0)) / deviation
    if kind == "linnerud":
        y = ((y - y.mean(axis=0)) / y.std(axis=0)).round(4)
    if kind in ("wine", "digits"):
        _, s, axes = np.linalg.svd(Z, full_matrices=False)
        Z = Z @ axes[: int(base[-1])].T * (np.sqrt(len(Z)) / s[0] if kind == "digits" else 1.0)
    Z = Z.round(4)
    return np.hstack([Z, np.ones((len(Z), 1))]) if bias else Z, y


def measured(line: Line, seconds: float, folder: str) -> dict[str, Any]:
    """All figures of a line."""
    from relu_cert import certify
    from verify import check

    windows = {}
    if line.data.startswith(("conv", "mnist")):
        Z, y, windows["conv"] = images(line.data, folder)
    else:
        Z, y = table(line.data)
    rows = [[str(x) for x in row] for row in Z.tolist()]
    Y = [[str(x) for x in row] for row in y.tolist()] if y.ndim > 1 else [f"class {x}" for x in y.tolist()]
    squares = line.loss == "squares"
    told: Any = {"center": squares} if y.ndim == 1 else {}
    more: Any = {"lambda_ratio": Fraction(line.ratio), "loss": line.loss, "seconds": seconds, "verify": False}
    begin = time.process_time()
    found = certify(rows, Y, **more, **told, **windows)
    middle = time.process_time()
    lines = {one.claim: one.verdict for one in check(found.certificate.encode())}
    facts = found.facts
    return {
        "p*": float(facts.value.upper),
        "gap": float(facts.value.relative_gap),
        "nodes": facts.dual.multipliers.nodes,
        "neurons": len(facts.primal.neurons),
        "unique": lines["p-unique"],
        "find": middle - begin,
        "verify": time.process_time() - middle,
        "certificate": len(found.certificate),
    }


def missed(line: Line, told: dict[str, Any]) -> list[str]:
    """The bars that a line does not keep."""
    bars = {"gap": line.gap, "nodes": line.nodes, "find": line.find, "verify": line.verify}
    return [
        f"{name} {told[name]:.3g} > {bar:.3g}" for name, bar in bars.items() if bar is not None and told[name] > bar
    ]


def shown(line: Line, told: dict[str, Any]) -> str:
    """A line of the table."""
    misses = missed(line, told)
    return (
        f"{line.name:<20} p* {told['p*']:<14.9g} gap {told['gap']:.1e}  {told['nodes']:>6,} nodes "
        f"(bar {line.nodes or '-'})  {told['neurons']:>2} neurons  unique {told['unique']:<9} "
        f"find {told['find']:.1f} s, verify {told['verify']:.1f} s, {told['certificate'] / 1000:.0f} kB  "
        f"{'NOT MET ' if misses else 'met'}{'; '.join(misses)}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the lines; 1 if one is not met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outputs", description=__doc__.split("\n")[0])
    parser.add_argument("--lines", default="", help="only lines whose names have one of these parts")
    parser.add_argument("--seconds", type=float, default=300.0, help="for each line (default: 300)")
    parser.add_argument("--data", default=".", help="the folder of mnist-1v7.csv, mnist-2v6.csv and mnist-5v9.csv")
    parser.add_argument("--list", action="store_true", help="only list the lines")
    options = parser.parse_args(arguments)
    wanted = [part.strip() for part in options.lines.split(",") if part.strip()]
    chosen = [line for line in LINES if not wanted or any(part in line.name for part in wanted)]
    if options.list:
        print("\n".join(line.name for line in chosen))
        return 0
    failed = 0
    for line in chosen:
        try:
            told = measured(line, options.seconds, options.data)
        except Exception as error:  # one line that fails is not the end of the others
            failed += 1
            print(f"{line.name:<20} NOT MET {type(error).__name__}: {str(error).splitlines()[0][:120]}", flush=True)
            continue
        failed += bool(missed(line, told))
        print(shown(line, told), flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} lines met")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
