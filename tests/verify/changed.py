"""Writes the table of changed certificates: python -m tests.verify.changed [--seconds S] [--keep]

Every number, index, sign, string and array of the accepted files of the corpus is changed, one at a time, and where the
checker says which bound was not met, the number is put exactly on that bound. Of all that is seen a few are kept for
each thing that the checker can say: `corpus/changed.tsv` has the accepted file, the place, what stands there instead,
and what the checker says, word for word. With --keep the changes stay, and only the words are written again.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from tests.verify.mutate import NUMBERS, Path, chosen, place_text, replaced, walk
from tests.verify.score import CORPUS, entries, judged
from verify import Declined

TABLE = CORPUS / "changed.tsv"
LARGEST = 30_000
LONGEST = 500  # characters of a new value, and of what is said
OF_EACH = 1
TINY = Fraction(1, 10**30)
BOUND = re.compile(r"(?:>=|<=|>|<|=) (-?[0-9]+(?:/[0-9]+)?)(?![0-9.e|])")
SKIPPED = ("format", "version", "input", "end", "sha256")


@dataclass(frozen=True)
class Changed:
    """An accepted file, a place in it, what stands there instead, whether it is accepted then, and what is said."""

    file: str
    path: Path
    new: Any
    right: bool = False
    said: str = ""

    @property
    def name(self) -> str:
        """The file, the place and the value."""
        return f"{self.file.removesuffix('.json')} {place_text(self.path)} = {json.dumps(self.new)[:40]}"

    @property
    def line(self) -> str:
        """Of the table."""
        verdict = "accepted" if self.right else "rejected"
        return "\t".join((self.file, json.dumps(self.path), json.dumps(self.new), verdict, self.said))


def table() -> list[Changed]:
    """All of it."""
    found = []
    for line in TABLE.read_text().splitlines():
        file, path, new, verdict, said = line.split("\t")
        found.append(Changed(file, tuple(json.loads(path)), json.loads(new), verdict == "accepted", said))
    return found


def judge(changed: Changed) -> tuple[bool, str]:
    """What the checker says."""
    certificate = json.loads((CORPUS / "accepted" / changed.file).read_bytes())
    text = json.dumps(replaced(certificate, changed.path, changed.new)).encode()
    try:
        return judged(text, None, None)
    except Declined as error:
        return False, f"declined: {error}"


def candidates(file: str, certificate: dict[str, Any]) -> Iterator[Changed]:
    """What is tried on a file, without the bounds."""
    for path, value in walk(certificate, (), 3):
        if path and path[0] not in SKIPPED:
            for new in instead(value):
                if new != value and len(json.dumps(new)) <= LONGEST:
                    yield Changed(file, path, new)


def instead(value: Any) -> Iterator[Any]:
    """Other values than this one."""
    if isinstance(value, list):
        yield []
        for k in chosen(len(value), 2):
            yield value[:k] + value[k + 1 :]
            yield [*value[: k + 1], *value[k:]]
        yield value[::-1]
    elif isinstance(value, dict):
        yield None
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, 0)
    elif value is None:
        yield from ("", [], "0")
    elif re.fullmatch("[01]{2,}", value):
        for k in chosen(len(value), 3):
            yield value[:k] + "01"[value[k] == "0"] + value[k + 1 :]
    elif NUMBERS.fullmatch(value):
        tokens = value.split(" ")
        for k in chosen(len(tokens), 3):
            x = Fraction(tokens[k])
            for other in (x + 1, x - 1, -x, x / 2, 2 * x, x + TINY, x - TINY, Fraction(0)):
                yield put(value, k, other)
        yield " ".join(tokens[:-1])
        yield "" if len(tokens) > 1 else None
    elif value in ("+", "-"):
        yield "-" if value == "+" else "+"
    elif value in ("PROVED", "REFUTED"):
        yield "REFUTED" if value == "PROVED" else "PROVED"
    elif value == "":
        yield from ("0", None)


def put(vector: str, k: int, x: Fraction) -> str:
    """A vector with another number at one place."""
    tokens = vector.split(" ")
    return " ".join([*tokens[:k], str(x), *tokens[k + 1 :]])


def on_bounds(changed: Changed, value: Any, said: str) -> Iterator[Changed]:
    """The number put on the bounds that the checker has named, where one number was changed."""
    if isinstance(value, str) and isinstance(changed.new, str) and NUMBERS.fullmatch(value):
        old, new = value.split(" "), changed.new.split(" ")
        places = [k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b]
        if len(old) == len(new) and len(places) == 1:
            for bound in BOUND.findall(said)[:2]:
                yield Changed(changed.file, changed.path, put(value, places[0], Fraction(bound)))


def skeleton(said: str) -> str:
    """Words without numbers and names, and without what was found."""
    words = re.sub(r"'[^']*'|about \S+|-?[0-9]+(/[0-9]+)?", "#", said).split(", found")[0]
    return re.sub(r"(#[ ,]*)+", "#", words)


def at(certificate: Any, path: Path) -> Any:
    """What stands at a place."""
    for key in path:
        certificate = certificate[key]
    return certificate


def collected(seconds: float) -> list[Changed]:
    """The table anew: for each file so many seconds."""
    met: Counter[tuple[str, ...]] = Counter()
    kept: list[Changed] = []
    for entry in sorted(entries(), key=lambda one: one.certificate.stat().st_size):
        if not entry.right or entry.certificate.stat().st_size > LARGEST:
            continue
        certificate = json.loads(entry.certificate.read_bytes())
        file, start = entry.certificate.name, time.process_time()
        usual = skeleton(judge(Changed(file, ("end",), certificate["end"]))[1])
        todo = [(one, False) for one in candidates(file, certificate)]
        Random(file).shuffle(todo)
        while todo and time.process_time() - start < seconds:
            one, tight = todo.pop()
            right, said = judge(one)
            mine = skeleton(said)
            if not right and not tight:
                todo += [(more, True) for more in on_bounds(one, at(certificate, one.path), said)]
            keys = [("said", mine)] if not right or mine != usual else []
            keys += [("tight", skeleton(place_text(one.path)), mine)] if tight else []
            if any(met[key] < OF_EACH for key in keys) and len(said) < LONGEST:
                kept.append(Changed(file, one.path, one.new, right, said))
                met.update(keys)
        print(file, len(kept), len(todo), flush=True)
    return kept


def main(argv: Sequence[str] | None = None) -> int:
    """Write the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.changed", description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=4, metavar="S", help="for each file")
    parser.add_argument("--keep", action="store_true", help="the changes stay, the words are written again")
    options = parser.parse_args(argv)
    if options.keep:
        found = [Changed(one.file, one.path, one.new, *judge(one)) for one in table()]
    else:
        found = collected(options.seconds)
    TABLE.write_text("".join(f"{one.line}\n" for one in sorted(found, key=lambda one: one.line)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
