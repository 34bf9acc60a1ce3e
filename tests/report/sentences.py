"""The table of sentences, and how a statement is judged by it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

SIGNS = {"+": "PROVED", "-": "REFUTED", "?": "UNDECIDED"}
STRONG = re.compile(
    r"unique|optimal|optimum|best|only|proved|exact|settled|jump|dimension"
)  # a line that claims something
BEFORE = (
    "(Over these [0-9]+ activation patterns? only|On what its layers in front make of the data"
    "( and with batch normalisation folded in)?|With batch normalisation folded in)"
)


def compiled(words: str) -> re.Pattern[str]:
    """The words as a pattern: # for a number, a name or an ending, ... for anything."""
    text = re.escape(words).replace(r"\.\.\.", ".*").replace(r"\#", r"[^\s;()]*?")
    return re.compile(text)


def read(text: str) -> dict[str, list[tuple[re.Pattern[str], str]]]:
    """For every place where sentences stand, the patterns and what they need."""
    found: dict[str, list[tuple[re.Pattern[str], str]]] = {}
    for part in re.split(r"(?m)^\[", text)[1:]:
        place, _, lines = part.partition("]\n")
        split = (re.split(" {2,}", line) for line in lines.strip().splitlines())
        found[place] = [(compiled(words), "".join(needs)) for words, *needs in split]
    return found


KNOWN = read(Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8"))


def met(needs: str, said: Mapping[str, str]) -> bool:
    """Whether the verdicts are what the needs ask for."""
    return all(any(_holds(way, said, part) for way in part.split("|")) for part in needs.split())


def _holds(way: str, said: Mapping[str, str], part: str) -> bool:
    if way == "none":
        return not said
    if way == "absent":
        return part.split("|", maxsplit=1)[0][:-1] not in said
    return said.get(way[:-1]) == SIGNS[way[-1]]


USUAL = {r"\bfilter": "neuron", r"\bFilter": "Neuron", r"\bzero at a (row|window)\b": "zero at a data point"}


def judged(place: str, words: str, said: Mapping[str, str]) -> str:
    """What is wrong with a statement: that no table has it, or that the certificate does not hold what it needs. What
    is said of filters and of rows of sets is said of neurons and data points."""
    for own, usual in USUAL.items():
        words = re.sub(own, usual, words)
    if place.startswith("why "):
        _, claim, verdict = place.split()
        if said.get(claim) != verdict:
            return f"{claim} is printed as {verdict}, and the certificate has {said.get(claim)}"
        if words == "for the same reason.":
            return ""
        sign = next(sign for sign, name in SIGNS.items() if name == verdict)
        place, words = "why", f"{claim}{sign} {words}"
    if place == "line" and not STRONG.search(words):
        return ""
    whole = re.sub(rf"^{BEFORE}, t", "T", words)
    known = [needs for pattern, needs in KNOWN[place] if pattern.fullmatch(whole)]
    if not known:
        return f"no table has {place}: {words!r}"
    missing = [needs for needs in known if not met(needs, said)]
    return f"{words!r} needs {missing[0]}, and the certificate has {dict(said)}" if missing else ""
