"""Small data with coincidences, and a command about them, drawn at random: what nobody thought of writing down."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

LAMBDAS = ("1/10", "1", "0.5max", "0.05max", "max", "100", "2", "1/100", "0.9max")
ABSOLUTE = ("1/10", "1", "2", "1/100", "100")
CLAIMS = ("optimal", "fit", "p-unique", "minimal", "optimal-set", "min-norm", "connected", "licq")
Rows = list[list[int]]


def rows_of(draw: Random, d: int, n: int) -> Rows:
    """Rows with small entries: twice, with their opposites, on a line, of zeros and ones, or with one of zeros."""
    rows = [[draw.randint(-4, 4) for _ in range(d)] for _ in range(n)]
    half = rows[: max(1, n // 2)]
    kinds: Sequence[Rows] = (
        rows,
        [*half, *half],
        [*half, *([-x for x in row] for row in half)],
        [[row[0] * (j + 1) for j in range(d)] for row in rows],
        [[x % 2 for x in row] for row in rows],
        [[0] * d, *rows[1:]],
    )
    return draw.choice(kinds)


def command(draw: Random, folder: Path) -> list[str]:
    """Files d.csv, n.json and w.txt are written into the folder, and what to do with them is told."""
    d, n = draw.randint(1, 2), draw.randint(1, 6)
    rows, logistic = rows_of(draw, d, n), draw.random() < 0.2
    labels = (0, 1) if logistic else draw.choice(((-3, -2, -1, 0, 1, 2, 3), (0,), (2,)))
    body = "".join(",".join(map(str, [*row, draw.choice(labels)])) + "\n" for row in rows)
    (folder / "d.csv").write_text(",".join([*(f"x{j}" for j in range(d)), "y"]) + "\n" + body)
    loss = ["--loss", "logistic"] * logistic
    bias = ["--bias"] * (draw.random() < 0.3)
    match draw.choice(("check",) * 6 + ("path", "path", "network", "network", "network", "explore", "solution")):
        case "check":
            lam = draw.choice(LAMBDAS)
            free = ["biases"] * bool(bias) + ["output-bias", "skip", "output-bias,skip"]
            which = draw.choice(
                (
                    *([],) * 4,
                    ["--free", draw.choice(free)],
                    ["--decayed-bias"] if "max" not in lam else [],
                    ["--slope", draw.choice(("1/10", "-1", "1/2"))],
                    ["--l2", "1/10"],
                    ["--model", "gated"],
                    ["--interval", draw.choice(("0.1max,max", "1/10,1", "0.5max,2max"))],
                )
            )
            told = draw.choice(
                (*([],) * 6, ["--all"], ["--exact"], ["--claims", draw.choice(CLAIMS)], ["--gap", "1/10"])
            )
            return ["check", "d.csv", "--lambda", lam, *bias, *loss, *which, *told]
        case "path":
            ends = draw.choice(("1/10", "1/2", "0.3max", "9/10")), draw.choice(("1", "2", "0.95max"))
            return ["path", "d.csv", "--from", ends[0], "--to", ends[1], *bias, *draw.choice(([], [], ["--exact"]))]
        case "network":
            m, entry = draw.randint(1, 3), lambda: draw.choice((0, 1, -1, 2, "1/2"))
            net = {"W1": [[entry() for _ in range(d)] for _ in range(m)], "w2": [entry() for _ in range(m)]}
            ways: list[list[str]] = [[], ["--penalty", "pytorch"]]
            if bias:
                net |= {"b1": [entry() for _ in range(m)], "b2": entry()}
                ways = [
                    ["--penalty", "pytorch"],
                    ["--penalty", "pytorch", "--no-decay", "bias"],
                    ["--penalty", "sklearn"],
                ]
            (folder / "n.json").write_text(json.dumps(net))
            return ["network", "n.json", "d.csv", "--lambda", draw.choice(ABSOLUTE), *bias, *loss, *draw.choice(ways)]
        case "explore":
            return ["explore", "d.csv", "--validation", "d.csv", "--test", "d.csv", "--lambda", draw.choice(LAMBDAS)]
    (folder / "w.txt").write_text(" ".join(draw.choice(("0", "0", "1", "1/2", "-1")) for _ in range(d)))
    asked = draw.choice(([], ["--intercept"], ["--average"]))
    return ["solution", "w.txt", "d.csv", "--lambda", draw.choice(ABSOLUTE), *asked]
