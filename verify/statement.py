"""What a certificate states, key by key, besides its claims."""

from __future__ import annotations

import json
from functools import reduce

from verify.certificate import Report

# What the certificate has chosen, beside its data: the names under which it is printed and expected, and the places.
CHOSEN = {
    **{key: ("problem", key) for key in ("model", "objective", "lambda", "delta", "free")},
    "decayed": ("problem", "decayed", "rho"),
    **{"gap": ("facts", "value", "gap"), "lo": ("facts", "path", "lo"), "hi": ("facts", "path", "hi")},
    **{f"jump-{key}": ("facts", "jump", key) for key in ("lo", "hi")},
    **{f"network-{key}": ("facts", "network", "file", key) for key in ("sha256", "origin")},
    **{f"network-{key}": ("facts", "network", "penalty", key) for key in ("convention", "value", "batch")},
    "network-gap": ("facts", "network", "gap"),
    **{f"solution-{key}": ("facts", "solution", "file", key) for key in ("sha256", "data")},
    **{f"solution-{key}": ("facts", "solution", key) for key in ("weights", "extra", "gap")},
}


def statement(report: Report, data: bool, network: bool) -> dict[str, str]:
    """What the claims are about, for a reader and for --expect, as it is written; and what was compared."""
    top, problem = report.top, report.problem
    if problem is None:
        return {"refuted": top.value["statement"]}
    said = {"data": "compared" if data else "not compared, Z and y are the certificate's own (--data RAW)"}
    said |= {key: value if isinstance(value, str) else json.dumps(value) for key, value in top.value["input"].items()}
    said |= {"n": str(problem.points), "d": str(problem.d)}
    if problem.bags:
        from verify.problem.windows import told

        said |= {"rows": str(problem.N), "outputs": told(top.value["input"], problem.points)}
    if problem.model != "cgl":
        said["patterns"] = "all" if problem.patterns is None else str(len(problem.patterns))
    for key, path in CHOSEN.items():
        value = reduce(lambda at, name: at.get(name) if isinstance(at, dict) else None, path, top.value)
        if value is not None:
            said[key] = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    if "network-sha256" in said:
        said["network"] = "compared" if network else "not compared, the weights are the certificate's own (--network)"
    if "solution-sha256" in said:
        own = "not compared, the coefficients are the certificate's own (--solution)"
        said["solution"] = "compared" if network else own
    return said
