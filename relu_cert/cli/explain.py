"""python -m relu_cert explain: what a claim or a word of the reports means."""

from __future__ import annotations

import argparse

from relu_cert.report.terminal import fold
from relu_cert.words import CLAIMS, NETWORK_CLAIMS, SOLUTION_CLAIMS, WORDS, ClaimWord, Word, looked_up


def run(options: argparse.Namespace) -> int:
    """Print one entry, or the list of them all."""
    print(list_entries() if options.name is None else describe_entry(looked_up(options.name)))
    return 0


def describe_entry(entry: ClaimWord | Word) -> str:
    """One entry in full."""
    if isinstance(entry, Word):
        return fold(f"{entry.name}: {entry.meaning}")
    lines = (
        ("", f"{entry.name}: {entry.meaning}"),
        ("why", entry.why),
        ("paper", entry.paper),
        ("evidence", f"{entry.evidence}."),
    )
    return "\n".join(fold(f"{label:<10}{text}" if label else text, 10 if label else 0) for label, text in lines)


def list_entries() -> str:
    """Every name, by kind."""
    kinds = (
        ("claims", CLAIMS),
        ("claims about a given network", NETWORK_CLAIMS),
        ("claims about given coefficients", SOLUTION_CLAIMS),
        ("words", WORDS),
    )
    parts = []
    for kind, entries in kinds:
        names = ", ".join(entry.name for entry in entries)
        parts.append(f"{kind}:\n" + fold(f"  {names}", 2))
    return "\n".join([*parts, "", fold("`explain NAME` says what one of them means.")])
