"""The summary of a soundness campaign: instances and failures of every statement, verdicts of every claim, and what
these were held against."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from properties.campaign import Result
from properties.campaign import print_summary as print_statements
from properties.soundness.held import AGAINST, FAILS, HOLDS, PROBLEMS, SYMPY, read

VERDICTS = ("PROVED", "REFUTED", "UNDECIDED")
LETTERS = dict(zip(AGAINST, "TFNROS", strict=True))  # true, false, numbers, related, opinion, sympy

Coverage = dict[str, dict[str, dict[str, dict[str, int]]]]


def _notes(result: Result) -> Counter[str]:
    return sum((Counter(line.notes) for line in result.lines), Counter[str]())


def tally(result: Result) -> dict[str, dict[str, int]]:
    """For every claim of the certifier how often each verdict was given, and not contradicted."""
    out: dict[str, dict[str, int]] = {}
    for note, count in _notes(result).items():
        if read(note) is None:
            claim, _, verdict = note.rpartition(" ")
            out.setdefault(claim, dict.fromkeys(VERDICTS, 0))[verdict] = count
    return out


def coverage(result: Result) -> Coverage:
    """claim -> what it was held against -> kind of problem -> verdict -> how often."""
    out: Coverage = {}
    for note, count in _notes(result).items():
        noted = read(note)
        if noted is not None:
            kinds = out.setdefault(noted.claim, {}).setdefault(noted.against, {})
            kinds.setdefault(noted.problem, dict.fromkeys(VERDICTS, 0))[noted.verdict] = count
    return out


def blind(found: Coverage, claims: dict[str, dict[str, int]]) -> dict[str, list[str]]:
    """For every claim the verdicts it got that no truth could have contradicted: PROVED where it was never known to
    fail (nor its numbers), REFUTED where it was never known to hold."""
    out = {}
    for claim, counts in claims.items():
        known = found.get(claim, {})
        needs = {"PROVED": (FAILS, "numbers"), "REFUTED": (HOLDS,)}
        unseen = [v for v, kinds in needs.items() if counts[v] and not any(kind in known for kind in kinds)]
        if unseen:
            out[claim] = unseen
    return out


def judged_by_sympy(result: Result) -> dict[str, tuple[int, int]]:
    """claim -> decided verdicts that sympy confirmed, and all decided ones of the statement that asks it."""
    out: dict[str, tuple[int, int]] = {}
    for line in result.lines:
        if line.label != "soundness: symbolic":
            continue
        for note, count in line.notes.items():
            noted = read(note)
            claim, _, verdict = note.rpartition(" ")
            judged, decided = out.get(noted.claim if noted else claim, (0, 0))
            if noted is not None and noted.against == SYMPY:
                out[noted.claim] = (judged + count, decided)
            elif noted is None and verdict != "UNDECIDED":
                out[claim] = (judged, decided + count)
    return out


def as_json(result: Result) -> dict[str, Any]:
    """The summary as a JSON object."""
    claims, found = tally(result), coverage(result)
    more = {"verdicts": claims, "coverage": found, "blind": blind(found, claims), "sympy": judged_by_sympy(result)}
    return asdict(result) | more


def print_summary(result: Result, console: Console) -> None:
    """A line per statement; then a line per claim with the share that is undecided; then what it was held against."""
    print_statements(result, console)
    table = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False)
    table.add_column("claim", ratio=1)
    for name in (*(verdict.lower() for verdict in VERDICTS), "share"):
        table.add_column(name, justify="right")
    for claim, counts in tally(result).items():
        share = counts["UNDECIDED"] / max(sum(counts.values()), 1)
        table.add_row(claim, *(f"{counts[verdict]:,}" for verdict in VERDICTS), f"{100 * share:.2f} %")
    console.print(table)
    print_coverage(result, console)


def print_coverage(result: Result, console: Console) -> None:
    """How often each claim was decided while it was known to hold, to fail, ... (in brackets: UNDECIDED), and for which
    problems that happened at all."""
    found, claims = coverage(result), tally(result)
    counts, kinds = (Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False, padding=(0, 1, 0, 0)) for _ in range(2))
    for table, names in ((counts, AGAINST), (kinds, [p.replace("some", "s") for p in PROBLEMS])):
        table.add_column("claim", ratio=1, no_wrap=True)
        for name in names:
            table.add_column(name, justify="right", overflow="fold")
    for claim in claims:
        known = found.get(claim, {})
        counts.add_row(claim, *(_decided(known.get(against, {})) for against in AGAINST))
        kinds.add_row(claim, *(_letters(known, problem) for problem in PROBLEMS))
    console.print(counts)
    console.print(kinds)
    words = "T known to be true, F known to be false, N numbers known, R related answer, O another opinion, S sympy"
    console.print(Text(f"Decided (undecided) while held against that; below: {words}; -s over some patterns."))
    for claim, (judged, decided) in judged_by_sympy(result).items():
        console.print(Text(f"{claim}: sympy confirmed {judged:,} of {decided:,} decided verdicts."))
    for claim, verdicts in blind(found, claims).items():
        console.print(Text(f"{claim}: nothing could have contradicted {' and '.join(verdicts)}."))


def _decided(problems: dict[str, dict[str, int]]) -> str:
    decided = sum(counts[v] for counts in problems.values() for v in ("PROVED", "REFUTED"))
    undecided = sum(counts["UNDECIDED"] for counts in problems.values())
    return f"{decided:,}" + (f" ({undecided:,})" if undecided else "") if decided or undecided else "-"


def _letters(known: dict[str, dict[str, dict[str, int]]], problem: str) -> str:
    return "".join(LETTERS[against] for against in AGAINST if problem in known.get(against, {})) or "-"


__all__ = ["Coverage", "as_json", "blind", "coverage", "print_coverage", "print_summary", "tally"]
