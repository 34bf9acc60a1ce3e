"""The ledger: every claim's line, as a table for the terminal, as JSON, and as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from properties.codec import encode
from properties.run import Entry, Judgement, Verdict

ORDER: tuple[Verdict, ...] = ("holds", "refuted", "vacuous")
LABEL_WIDTH = 20
COLOURS = {"holds": "green", "refuted": "red", "vacuous": "yellow"}
TITLES = {
    "holds": "Claims that hold as printed",
    "refuted": "Claims that fail as printed",
    "vacuous": "Claims that say nothing",
}


def grouped(entries: Sequence[Entry]) -> dict[Verdict, list[Entry]]:
    """Entries by the verdict on the printed statement, each group by label."""
    return {v: sorted((e for e in entries if e.printed.verdict == v), key=lambda e: e.claim.label) for v in ORDER}


def summary(entries: Sequence[Entry]) -> str:
    """One sentence: how many claims hold, fail, say nothing, and whether the ledger itself is in order."""
    parts = [f"{len(group)} {verdict}" for verdict, group in grouped(entries).items()]
    checked = sum(len(e.witnesses) + len(e.slips) for e in entries)
    problems = sum(len(e.problems) for e in entries)
    state = "every repaired claim holds" if not problems else f"{problems} problems"
    return (
        f"{len(entries)} claims as printed: {', '.join(parts)}. {checked} exact counterexamples re-verified; {state}."
    )


def print_table(entries: Sequence[Entry], console: Console) -> None:
    """The ledger as a table: label and verdict, the printed statement with its witness, the repaired form."""
    table = Table(box=box.SIMPLE_HEAD, show_lines=True, expand=True, pad_edge=False)
    table.add_column("claim", ratio=22, overflow="fold")
    table.add_column("as printed, and the evidence", ratio=32, overflow="fold")
    table.add_column("repaired (or stronger) form", ratio=26, overflow="fold")
    for verdict, group in grouped(entries).items():
        if group:
            table.add_section()
        for e in group:
            table.add_row(_label(e, verdict), _printed(e), _repaired(e))
    console.print(table)
    for e in entries:
        for problem in e.problems:
            console.print(Text(f"{e.claim.label}: {problem}", style="bold red"))
    console.print(Text(summary(entries)))


def _label(e: Entry, verdict: Verdict) -> Text:
    label = "\n".join(wrap(e.claim.label, LABEL_WIDTH))
    return Text.assemble((label, "bold"), "\n", (verdict.upper(), COLOURS[verdict]))


def _printed(e: Entry) -> Text:
    out = Text.assemble(e.printed.statement, "\n", (e.printed.evidence, COLOURS[e.printed.verdict]))
    for s in e.slips:
        out.append(f"\nalso fails: {s.name}: {s.why}", "dim" if s.refutes else "bold red")
    return out


def _repaired(e: Entry) -> Text:
    if e.repaired is None:
        return Text("")
    return Text.assemble(e.repaired.statement, "\n", (e.repaired.evidence, COLOURS[e.repaired.verdict]))


def as_json(entries: Sequence[Entry], examples: int, seed: int | None) -> dict[str, Any]:
    """Everything that the ledger knows, exact instances included."""
    return {
        "examples": examples,
        "seed": seed,
        "summary": summary(entries),
        "claims": [_entry_json(e) for group in grouped(entries).values() for e in group],
    }


def _entry_json(e: Entry) -> dict[str, Any]:
    return {
        "label": e.claim.label,
        "title": e.claim.title,
        "printed": _judgement_json(e.printed),
        "witnesses": [
            {"name": w.name, "refutes": w.refutes, "why": w.why, "instance": encode(given.instance)}
            for w, given in zip(e.witnesses, e.claim.witnesses, strict=True)
        ],
        "repaired": _judgement_json(e.repaired) if e.repaired else None,
        "slips": [
            {"statement": given.statement, "witness": given.witness.name, "refutes": s.refutes, "why": s.why}
            for s, given in zip(e.slips, e.claim.slips, strict=True)
        ],
        "problems": list(e.problems),
    }


def _judgement_json(j: Judgement) -> dict[str, Any]:
    found = None if j.counterexample is None else encode(j.counterexample)
    return {
        "statement": j.statement,
        "verdict": j.verdict,
        "instances": j.instances,
        "evidence": j.evidence,
        "found": found,
    }


STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1b1b1b; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .5rem .6rem; border-bottom: 1px solid #ddd; }
code { font: 13px ui-monospace, monospace; }
.holds { color: #146c2e; } .refuted { color: #a4161a; } .vacuous { color: #8a6100; }
.slip { color: #555; font-size: 13px; }
"""


def as_html(entries: Sequence[Entry], examples: int, seed: int | None) -> str:
    """One self-contained page; every text is escaped."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>The paper's claims, checked</title><style>{STYLE}</style>",
        "<h1>The paper's claims, checked on exact instances</h1>",
        f"<p>{escape(summary(entries))} At most {examples} instances per statement; "
        f"{'derandomised' if seed is None else f'seed {seed}'}.</p>",
    ]
    for verdict, group in grouped(entries).items():
        if group:
            rows = "".join(_row(e) for e in group)
            head = "<tr><th>claim<th>as printed, and the evidence<th>repaired (or stronger) form</tr>"
            parts.append(f"<h2>{TITLES[verdict]}</h2><table>{head}{rows}</table>")
    return "\n".join(parts) + "\n</html>\n"


def _row(e: Entry) -> str:
    slips = "".join(f"<p class=slip>also fails: {escape(s.name)}: {escape(s.why)}</p>" for s in e.slips)
    problems = "".join(f"<p class=refuted><b>{escape(p)}</b></p>" for p in e.problems)
    repaired = _judgement_html(e.repaired) if e.repaired else ""
    return (
        f"<tr><td><code>{escape(e.claim.label)}</code><br>{escape(e.claim.title)}"
        f"<td>{_judgement_html(e.printed)}{slips}{problems}<td>{repaired}</tr>"
    )


def _judgement_html(j: Judgement) -> str:
    return f"<p>{escape(j.statement)}</p><p class={j.verdict}>{escape(j.evidence)}</p>"
