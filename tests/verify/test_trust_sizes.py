"""docs/trust.md, "What you must trust": the sizes of the three levels are those of the files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import verify
from verify.trusted import closure

ROOT = Path(verify.__file__).parents[1]
ROCQ = ROOT / "verify" / "rocq"
COVER = frozenset({"cover", "primal", "value"})
NEAR = 25  # a figure of the text is current if it is off by no more than one part in 25


def stated(pattern: str) -> list[int]:
    """The numbers of the page that match."""
    found = re.search(pattern, (ROOT / "docs" / "trust.md").read_text())
    assert found is not None, pattern
    return [int(number.replace(",", "")) for number in found.groups()]


def near(number: int, true: int) -> bool:
    """Whether a figure is current."""
    return NEAR * abs(number - true) <= true


def lines(paths: Iterable[Path]) -> int:
    """Their number in all files."""
    return sum(len(path.read_text().splitlines()) for path in paths)


def test_the_checker_in_python() -> None:
    """The lines and files on which `optimal` and `p-unique` by a cover rest."""
    few, files, more, others = stated(
        r"([\d,]+) lines in (\d+) files for `optimal` by a cover, ([\d,]+) in (\d+) for `p-u"
    )
    optimal, unique = closure("optimal", COVER)[0], closure("p-unique", COVER | {"cover_set"})[0]
    assert near(few, sum(optimal.values())) and files == len(optimal)
    assert near(more, sum(unique.values())) and others == len(unique)


def test_the_proved_checker() -> None:
    """The definitions, which must be read, to the line; the proofs and the program around them nearly."""
    definitions, proofs, program = stated(
        r"(\d+) lines of definitions \(\[Spec.*The ([\d,]+) lines of definitions and proofs.*the (\d+) of OCaml"
    )
    assert definitions == lines([ROCQ / "Spec.v"])
    assert near(proofs, lines(ROCQ.glob("*.v")))
    assert near(program, lines(ROCQ / f"{name}.ml" for name in ("driver", "packed", "written")))
