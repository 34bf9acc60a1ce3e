"""A part of the architecture has one name: of a field, an option, an argument, and a key that the checker reads."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import get_type_hints

import relu_cert
from relu_cert.cli.arguments import parser
from relu_cert.data.dataset import Architecture, Parts, Source
from verify.problem.input import ACTIVATION, BAGS

PARTS = {part.name for part in fields(Architecture)}


def test_a_part_has_one_name_everywhere() -> None:
    """What the value has can be asked for in both interfaces, is stated in certificates, and is read by the checker."""
    options = vars(parser().parse_args(["check", "data.csv"]))
    assert {*get_type_hints(Parts)} == {*inspect.signature(Architecture.of).parameters} == PARTS
    assert {*options} >= PARTS
    assert {*inspect.signature(relu_cert.certify).parameters} >= PARTS
    assert {"bias", *BAGS, *ACTIVATION} == PARTS


def test_a_source_hands_on_its_parts_alone() -> None:
    """What was asked for is what a source states of it, and nothing else of the source."""
    asked = Architecture.of(bias=True, conv=" 1d:2:stride=1 ", slope=0.5)
    assert asked.stated == {"bias": True, "conv": "1d:2", "pool": "mean", "slope": "1/2"}
    source = Source("f.csv", "0" * 64, "csv", **asked.stated)
    assert source.architecture == asked and source.stated == asked.stated
