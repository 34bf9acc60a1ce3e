"""Certificates with their data and the file of the network: what was not compared, or is another, is rejected."""

from __future__ import annotations

import copy
import io
import json
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

import verify
from tests.verify.build.given_networks import given

BIASED, LINE = "with an output bias", "on a line"
WEIGHTS: dict[str, dict[str, Any]] = {
    BIASED: {"W1": [[1.0], [-1.0], [-1.0]], "b1": [0.5, 1.0, 0.5], "w2": [1.0, 0.5, -1.0], "b2": 0.75},
    LINE: {"W1": [[2.0], [-1.0], [0.5]], "w2": [1.0, 0.5, 1.0]},
}


def as_json(name: str, **other: Any) -> bytes:
    """The network of a case as JSON, with other arrays."""
    return json.dumps({**WEIGHTS[name], **other}).encode()


def as_npz(name: str, **other: Any) -> bytes:
    """The same as numpy writes it."""
    stream = io.BytesIO()
    np.savez(stream, **{key: np.array(value) for key, value in {**WEIGHTS[name], **other}.items()})
    return stream.getvalue()


def stating(name: str, raw: bytes, **network: Any) -> bytes:
    """The certificate of a case that states the hash of this file, and perhaps another network."""
    tree = copy.deepcopy(given(name).tree)
    tree["facts"]["network"].update(network)
    tree["facts"]["network"]["file"]["sha256"] = sha256(raw).hexdigest()
    return json.dumps(tree).encode()


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("write", [as_json, as_npz])
def test_the_files_of_given_networks(name: str, write: Any) -> None:
    """The same weights, however they are written."""
    case, raw = given(name), write(name)
    assert verify.check(stating(name, raw), case.raw, network=raw)


WRONG: dict[str, tuple[str, bytes, dict[str, Any], str]] = {
    "an output bias that is another": (BIASED, as_json(BIASED, b2=0.5), {}, "the weights of the file given"),
    "an output bias as a neuron of any scale": (
        BIASED,
        as_json(BIASED),
        {"W1": ["1 1/2", "-1 1", "-1 1/2", "0 3/4"], "w2": "1 1/2 -1 1", "b2": "0"},
        "objective: expected J = ",
    ),
    "biases of another first layer": (BIASED, as_npz(BIASED, b1=[0.5, 1.0, 0.25]), {}, "the weights of the file given"),
    "biases on data without a column of ones": (LINE, as_json(LINE, b1=[0.0, 0.0, 1.0]), {}, "without one for biases"),
    "fewer inputs than the data has columns": (
        "balanced kinks, not settled elsewhere",
        as_json(LINE, W1=[[1.0], [1.0], [0.125]], b1=[1.0, -1.0, 0.0], w2=[1.0, -1.0, 0.125]),
        {},
        "1 inputs and biases on 2 columns",
    ),
    "weights a hundred times as large": (LINE, as_npz(LINE, W1=[[200.0], [-100.0], [50.0]]), {}, "the weights of"),
    "a format that nobody knows": (LINE, as_json(LINE, format="keras"), {}, "another format or version"),
    "a pickle": (LINE, b"\x80\x02weights", {}, "network file: expected W1, w2 and perhaps b1, b2"),
}


@pytest.mark.parametrize("reason", WRONG)
def test_files_of_other_networks(reason: str) -> None:
    """Each is rejected for its reason, whatever the certificate says of the file; the certificate's own network is not
    looked at in its place."""
    name, raw, network, message = WRONG[reason]
    with pytest.raises(verify.Rejected, match=message):
        verify.check(stating(name, raw, **network), given(name).raw, network=raw)


def test_another_file() -> None:
    """The hash that is stated is that of the file."""
    raw = as_json(LINE)
    with pytest.raises(verify.Rejected, match="the hash of the network given"):
        verify.check(stating(LINE, raw), given(LINE).raw, network=raw + b" ")
