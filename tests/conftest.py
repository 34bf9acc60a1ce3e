"""Profiles of the tests: `pytest --hypothesis-profile=long` draws ten times as many planted instances."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("long", max_examples=1000)
