"""Certificates whose input is stated wrongly: labels, slopes, what several outputs do not have."""

from __future__ import annotations

import copy
import json
from functools import cache
from hashlib import sha256
from typing import Any

import relu_cert

BENT = ([[0], [1], [-2], [3]], [0, 1, 1, 2])
LABELS = b"x,y\n1,no\n2,yes\n-1,yes\n"
OUTPUTS = ([[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [1, 1]])


@cache
def leaky() -> tuple[dict[str, Any], bytes]:
    """max(t, t/2): a row z counts 2/2 times, -z -1/2 times."""
    found = relu_cert.certify(*BENT, "1/10", slope="1/2")
    return json.loads(found.certificate), found.data_csv


@cache
def labelled() -> tuple[dict[str, Any], bytes]:
    """The targets are texts: no is 0 and yes is 1."""
    found = relu_cert.certify([[1], [2], [-1]], [0, 1, 1], "1/10", names=["x"])
    tree = json.loads(found.certificate)
    tree["input"]["labels"] = ["no", "yes"]
    tree["input"]["sha256"] = sha256(LABELS).hexdigest()
    return tree, LABELS


@cache
def several() -> tuple[dict[str, Any], bytes]:
    """Two outputs and a free output bias."""
    found = relu_cert.certify(*OUTPUTS, "1/10", free="output-bias")
    return json.loads(found.certificate), found.data_csv


@cache
def classes() -> tuple[dict[str, Any], bytes]:
    """Three classes, with the softmax."""
    found = relu_cert.certify([[0, 1], [1, 0], [1, 1]], ["a", "b", "c"], "1/10", loss="softmax")
    return json.loads(found.certificate), found.data_csv


def accepted() -> list[tuple[str, bytes, bytes]]:
    """The three as they are."""
    made = (("leaky", leaky), ("labelled", labelled), ("several", several))
    return [(name, json.dumps(tree).encode(), raw) for name, (tree, raw) in ((name, make()) for name, make in made)]


def wrong() -> list[tuple[str, bytes, bytes, str]]:
    """The reason, the certificate, the data, and what the message must say."""
    found = []

    def add(reason: str, given: tuple[dict[str, Any], bytes], said: str, **changes: Any) -> None:
        tree, raw = copy.deepcopy(given[0]), given[1]
        for place, value in changes.items():
            part, _, key = place.partition("__")
            if value is ...:
                del tree[part][key]
            elif key:
                tree[part][key] = value
            else:
                tree[part] = value
        found.append((reason, json.dumps(tree).encode(), raw, said))

    add("signed rows without a slope", leaky(), "a slope, because rows are counted with signs", input__slope=...)
    add("a slope of one", leaky(), "a number < 1 other than 0", input__slope="1")
    bags = copy.deepcopy(leaky()[0]["problem"]["bags"])
    bags[1]["times"] = "3 -2"
    add("rows that count as no slope does", leaky(), "counts them", problem__bags=bags)
    add("a skip connection beside a slope", leaky(), "no skip connection", problem__free=["skip"])
    add("a label that is there twice", labelled(), "two labels", input__labels=["yes", "yes"])
    third = LABELS.replace(b"-1,yes", b"-1,maybe")
    add("a third label", (labelled()[0], third), "a label, no or yes", input=labelled_as(third))
    claims = [{"claim": "convex-unique", "verdict": "PROVED"}]
    add("a claim that is not about several outputs", several(), "a claim about networks with several", claims=claims)
    add("free biases with several outputs", several(), "biases only where the last column of Z is ones", problem__free=["biases"])
    add("a decayed bias with the softmax", classes(), "no decayed bias", problem__decayed={"rho": "1", "roots": ["1"]})
    return found


def labelled_as(raw: bytes) -> dict[str, Any]:
    """The input of `labelled`, with the hash of other data."""
    return labelled()[0]["input"] | {"sha256": sha256(raw).hexdigest()}
