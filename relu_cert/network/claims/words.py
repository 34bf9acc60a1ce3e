"""Numbers of things, in words."""

from __future__ import annotations


def neurons(number: int) -> str:
    """1 neuron, 2 neurons"""
    return "1 neuron" if number == 1 else f"{number} neurons"


def some_of(number: int, m: int) -> str:
    """2 of 5 neurons, all 5 neurons, the only neuron"""
    if number == m:
        return "the only neuron" if m == 1 else f"all {m} neurons"
    return f"{number} of {m} neurons"


def have(number: int) -> str:
    """The verb."""
    return "has" if number == 1 else "have"
