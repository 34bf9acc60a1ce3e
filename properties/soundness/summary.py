"""The summary of a soundness campaign: instances and failures of every statement, verdicts of every claim."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from properties.campaign import Result
from properties.campaign import print_summary as print_statements

STATE = ".relu_cert_soundness"
VERDICTS = ("PROVED", "REFUTED", "UNDECIDED")


def tally(result: Result) -> dict[str, dict[str, int]]:
    """For every claim of the certifier how often each verdict was given, and not contradicted."""
    notes = sum((Counter(line.notes) for line in result.lines), Counter[str]())
    out: dict[str, dict[str, int]] = {}
    for note, count in notes.items():
        claim, _, verdict = note.rpartition(" ")
        out.setdefault(claim, dict.fromkeys(VERDICTS, 0))[verdict] = count
    return out


def as_json(result: Result) -> dict[str, Any]:
    """The summary as a JSON object."""
    return asdict(result) | {"verdicts": tally(result)}


def print_summary(result: Result, console: Console) -> None:
    """A line per statement, then a line per claim with the share that is undecided."""
    print_statements(result, console)
    table = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False)
    table.add_column("claim", ratio=1)
    for name in (*(verdict.lower() for verdict in VERDICTS), "share"):
        table.add_column(name, justify="right")
    for claim, counts in tally(result).items():
        share = counts["UNDECIDED"] / max(sum(counts.values()), 1)
        table.add_row(claim, *(f"{counts[verdict]:,}" for verdict in VERDICTS), f"{100 * share:.2f} %")
    console.print(table)
