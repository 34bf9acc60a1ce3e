"""Scores a checker on the corpus of files: python -m tests.verify.score [--kinds K,K] -- COMMAND ...

COMMAND is called with a certificate, and `--data FILE`, `--network FILE` where these belong to it; it accepts iff it
exits with 0. Without COMMAND, the checker of this repository is scored. Exit code 0 iff all is right.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")
Checker = Callable[["Entry"], bool]


@dataclass(frozen=True)
class Entry:
    """One certificate of the corpus."""

    kind: str
    right: bool
    certificate: Path
    data: Path | None
    network: Path | None
    why: str


def entries() -> list[Entry]:
    """All of the corpus."""
    found = []
    for folder in ("accepted", "rejected"):
        for line in (CORPUS / f"{folder}.tsv").read_text().splitlines():
            kind, *names, why = line.split("\t")
            files = [None if name == "-" else CORPUS / folder / name for name in names]
            certificate, data, network = files
            if certificate is None:
                raise ValueError(f"{folder}: a line without a certificate")
            found.append(Entry(kind, folder == "accepted", certificate, data, network, why))
    return found


def score(checker: Checker, corpus: Iterable[Entry]) -> dict[str, tuple[int, int, int, int]]:
    """For each kind: accepted and to be accepted, rejected and to be rejected."""
    table: dict[str, tuple[int, int, int, int]] = {}
    for entry in corpus:
        a, b, c, d = table.get(entry.kind, (0, 0, 0, 0))
        good = checker(entry) == entry.right
        table[entry.kind] = (a + good, b + 1, c, d) if entry.right else (a, b, c + good, d + 1)
    return table


def command(words: Sequence[str]) -> Checker:
    """A program as a checker."""

    def accepts(entry: Entry) -> bool:
        beside = (("--data", entry.data), ("--network", entry.network))
        given = [part for name, path in beside if path is not None for part in (name, str(path))]
        ran = subprocess.run([*words, str(entry.certificate), *given], capture_output=True, check=False)
        return ran.returncode == 0

    return accepts


def main(argv: Sequence[str] | None = None) -> int:
    """Score the command, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.score", description="Score a checker.")
    parser.add_argument("--kinds", help="these kinds of evidence only, with commas between them")
    parser.add_argument("command", nargs="*", default=[sys.executable, "-m", "verify", "--quiet"])
    options = parser.parse_args(argv)
    kinds = None if options.kinds is None else options.kinds.split(",")
    chosen = [entry for entry in entries() if kinds is None or entry.kind in kinds]
    table = score(command(options.command), chosen)
    for kind, (a, b, c, d) in sorted(table.items()):
        print(f"{kind:<14} accepted {a:>3} of {b:>3}, rejected {c:>3} of {d:>3}")
    return int(any(a < b or c < d for a, b, c, d in table.values()))


if __name__ == "__main__":
    sys.exit(main())
