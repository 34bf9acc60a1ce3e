"""The ledger: every claim's line, as a table for the terminal, as JSON, and as one HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from properties.codec import encode
from properties.run import Entry, Judgement, Verdict
from relu_cert import __version__

FORMAT = "relu_cert ledger"
VERSION = 1
ORDER: tuple[Verdict, ...] = ("holds", "refuted", "vacuous")
INDENT = 2
COLOURS = {"holds": "green", "refuted": "red", "vacuous": "yellow"}
TITLES = {
    "holds": "Claims that hold as printed",
    "refuted": "Claims that fail as printed",
    "vacuous": "Claims that say nothing",
}


def grouped(entries: Sequence[Entry]) -> dict[Verdict, list[Entry]]:
    """Entries by the verdict on the printed statement, each group by label."""
    return {
        v: sorted((e for e in entries if e.printed.verdict == v), key=lambda e: e.claim.label.casefold()) for v in ORDER
    }


def summary(entries: Sequence[Entry]) -> str:
    """One sentence: how many claims hold, fail, say nothing, and whether the ledger itself is in order."""
    count = {verdict: len(group) for verdict, group in grouped(entries).items() if group}
    words = {
        "holds": "holds" if count.get("holds") == 1 else "hold",
        "refuted": "is refuted" if count.get("refuted") == 1 else "are refuted",
        "vacuous": "is vacuous" if count.get("vacuous") == 1 else "are vacuous",
    }
    parts = ", ".join(f"{number} {words[verdict]}" for verdict, number in count.items())
    checked = sum(len(e.witnesses) + len(e.slips) for e in entries)
    problems = sum(len(e.problems) for e in entries)
    state = "every repaired claim holds" if not problems else _counted(problems, "problem")
    return (
        f"{_counted(len(entries), 'claim')} as printed: {parts}. "
        f"{_counted(checked, 'exact counterexample')} re-verified; {state}."
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def print_table(entries: Sequence[Entry], console: Console) -> None:
    """The ledger: under each verdict its claims with label, statement and evidence, slips, and the repaired form."""
    for verdict, group in grouped(entries).items():
        if not group:
            continue
        console.print(Rule(Text(TITLES[verdict], style=f"bold {COLOURS[verdict]}"), align="left", style="dim"))
        for e in group:
            console.print()
            console.print(_heading(e, console.width))
            for line in _lines(e):
                console.print(Padding(line, (0, 0, 0, INDENT), expand=False))
        console.print()
    for e in entries:
        for problem in e.problems:
            console.print(Text(f"{e.claim.label}: {problem}", style="bold red"))
    console.print(Text(summary(entries)))


def _heading(e: Entry, width: int) -> Text:
    """The label on the left, the verdict on the right."""
    verdict = e.printed.verdict
    space = max(1, width - len(e.claim.label) - len(verdict))
    return Text.assemble((e.claim.label, "bold"), " " * space, (verdict.upper(), f"bold {COLOURS[verdict]}"))


def _lines(e: Entry) -> Iterator[Text]:
    yield Text(e.printed.statement)
    for text in evidence(e):
        yield Text(text, style=COLOURS[e.printed.verdict])
    for s in e.slips:
        yield Text(f"Beside it, false: {s.name}: {s.why}", style="" if s.refutes else "bold red")
    if e.repaired is not None:
        yield Text.assemble((f"{_repair(e)}: ", "bold"), e.repaired.statement)
        yield Text(e.repaired.evidence, style=COLOURS[e.repaired.verdict])


def _repair(e: Entry) -> str:
    return "Stronger" if e.printed.verdict == "holds" else "Repaired"


def evidence(e: Entry) -> list[str]:
    """What the verdict on the printed statement rests on: a line for every witness that refutes, or the search."""
    refuting = [f"refuted by {w.name}: {w.why}" for w in e.witnesses if w.refutes]
    found = e.printed.counterexample
    if found is None:
        return refuting or [e.printed.evidence]
    again = ["refuted again by an instance of the search"] if refuting else [e.printed.evidence]
    return [*refuting, *again, f"the instance: {told(found)}"]


def told(value: Any, longest: int = 400) -> str:
    """An exact instance for a reader: rationals as p/q, names of fields, cut where it is long."""
    text = _told(value)
    return text if len(text) <= longest else f"{text[:longest]}... (all of it with --json)"


def _told(value: Any) -> str:
    if is_dataclass(value) and not isinstance(value, type):
        inside = ", ".join(f"{field.name} = {_told(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({inside})"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_told, value))})"
    return str(value)


SYMBOLS = tuple(
    (re.compile(pattern), symbol)
    for pattern, symbol in (
        (r"\blambda(?=\b|_)", "λ"),
        (r"\balpha(?=\b|_)", "α"),
        (r"\bbeta(?=\b|_)", "β"),
        (r"\bdelta(?=\b|_)", "δ"),
        (r"\brho(?=\b|_)", "ρ"),
        (r"\btheta(?=\b|_)", "θ"),
        (r"\beta(?=\b|_)", "η"),
        (r"\bxi(?=\b|_)", "ξ"),
        (r"\binfinity\b", "∞"),
        (r"<=", "≤"),
        (r">=", "≥"),
        (r"->", "→"),
        (r"\+-", "±"),
        (r"\bsum(?=[_|]| (?![a-z]{2}))", "Σ"),  # a sum of words stays one
        (r"\bsqrt\(", "√("),
        (r"\^-1\b", "⁻¹"),
        (r"\^2\b", "²"),
        (r"\^3\b", "³"),
        (r"\^4\b", "⁴"),
        (r"(?<=[A-Za-z_])'(?=[A-Za-z(])", "ᵀ"),
    )
)


def symbols(text: str) -> str:
    """A statement with the letters and signs of mathematics, for the page."""
    for pattern, symbol in SYMBOLS:
        text = pattern.sub(symbol, text)
    return text


def _math(text: str) -> str:
    return escape(symbols(text))


def as_json(entries: Sequence[Entry], examples: int, seed: int | None) -> dict[str, Any]:
    """Everything that the ledger knows, exact instances included. Keys are added, never renamed, within a version."""
    return {
        "format": FORMAT,
        "version": VERSION,
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
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1b1b1b; }
article { border-top: 1px solid #ddd; padding: .7rem 0; }
article { display: grid; grid-template-columns: 15rem 1fr; gap: 0 1.5rem; }
article p { margin: 0 0 .35rem; overflow-wrap: anywhere; }
h2 { margin: 2.2rem 0 .6rem; }
code { font: 13px ui-monospace, monospace; font-weight: 600; }
.holds { color: #146c2e; } .refuted { color: #a4161a; } .vacuous { color: #8a6100; }
.small { color: #555; font-size: 13px; }
.repaired { border-left: 3px solid #ccd; padding-left: .7rem; margin-top: .5rem; }
@media (max-width: 45rem) { article { grid-template-columns: 1fr; } }
@media (prefers-color-scheme: dark) {
  body { background: #16181c; color: #ddd; } article { border-color: #333; } .small { color: #aaa; }
  .holds { color: #6cc787; } .refuted { color: #ef8588; } .vacuous { color: #dcb55a; } .repaired { border-color: #445; }
}
"""


def as_html(entries: Sequence[Entry], examples: int, seed: int | None) -> str:
    """One self-contained page; every text is escaped."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f'<meta name="generator" content="relu_cert {__version__}">',
        f"<title>The paper's claims, checked</title><style>{STYLE}</style>",
        "<h1>The paper's claims, checked on exact instances</h1>",
        f"<p>{escape(summary(entries))} At most {examples} instances per statement, "
        f"{'the same in every run' if seed is None else f'drawn from seed {seed}'}.</p>",
    ]
    for verdict, group in grouped(entries).items():
        if group:
            parts.append(f"<h2 class={verdict}>{TITLES[verdict]} ({len(group)})</h2>")
            parts += [_article(e) for e in group]
    return "\n".join(parts) + "\n</html>\n"


def _article(e: Entry) -> str:
    name = escape(e.claim.label.replace(" ", "-"), quote=True)
    lines = [f"<p>{_math(e.printed.statement)}</p>"]
    lines += [f"<p class={e.printed.verdict}>{_math(text)}</p>" for text in evidence(e)]
    lines += [f"<p class=small>Beside it, false: {_math(s.name)}: {_math(s.why)}</p>" for s in e.slips]
    lines += [f"<p class=refuted><b>{escape(p)}</b></p>" for p in e.problems]
    if e.repaired is not None:
        repaired = f"<p><b>{_repair(e)}:</b> {_math(e.repaired.statement)}</p>"
        told = f"<p class={e.repaired.verdict}>{_math(e.repaired.evidence)}</p>"
        lines.append(f"<div class=repaired>{repaired}{told}</div>")
    head = f"<p><code>{escape(e.claim.label)}</code></p><p class=small>{escape(e.claim.title)}</p>"
    return f'<article id="{name}"><div>{head}</div><div>{"".join(lines)}</div></article>'
