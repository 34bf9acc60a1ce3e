"""Writes the corpus of files: python -m tests.verify.record [--kinds K,K] [--words] [TEST ...]

The tests run as usual, and what they give to the checker is noted: certificates, raw data, networks, and what becomes
of them. From that a few accepted and more rejected certificates are chosen for each kind of evidence that is met, small
ones, and those that are rejected for different reasons. They are files, so that any other checker can be scored on
them: tests/verify/corpus/README.md. Only when the format changes must they be written again, all or some kinds. With
--words the files stay, no test runs, and only what the checker says to them is written again.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

import verify.certificate
from tests.verify.build.bags import accepted as accepted_bags
from tests.verify.build.bags import forged as forged_bags
from tests.verify.build.bags import wrong as wrong_bags
from tests.verify.score import CORPUS, entries, judged, one_line
from verify import Rejected
from verify.certificate import DEFAULT, Report
from verify.text import Limits

TESTS = ("tests/verify", "tests/claims", "tests/path", "tests/network/test_claims.py", "tests/variants")
LARGEST = 120_000
ACCEPTED, REJECTED, RATIO = 7, 14, 1.4
NAMED, MANY = (
    ("leaders", "cover", "cover_set", "cover_lambda_max", "frame", "outputs", "decayed"),
    100,
)  # all the rejected
KNOWN = "bags"
OF_PROBLEMS = {b'"Y": [': "outputs", b'"decayed": {': "decayed", b'"bags": [': KNOWN}  # whatever the evidence is
PLAIN = ("lambda_max", "primal", "dual", "value", "fit")
# The kinds of evidence, the one that rests on most first; a certificate is of the first kind that it has.
KINDS = (
    "solution",
    "leaders",
    "cover_set",
    "cover_lambda_max",
    "cover",
    "network",
    "curve",
    "jump",
    "path",
    "derivatives",
    "ggp",
    "faces",
    "min_norm",
    "polytope",
)
KINDS += ("algebraic_set", "exact_set", "optimal_set", *PLAIN, "patterns")


@dataclass(frozen=True)
class Seen:
    """A certificate with what was given beside it, what the checker said, and the test that asked."""

    text: bytes
    data: bytes | None
    network: bytes | None
    place: str
    said: str
    test: str


class Recorder:
    """Notes every call of the checker."""

    def __init__(self) -> None:
        self.seen: dict[tuple[bytes, bytes | None, bytes | None], Seen] = {}
        self.test = ""
        self.original = verify.certificate.read

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """The test that runs, in words."""
        inside = re.search(r"\[(.*)\]$", item.name)
        self.test = inside[1] if inside else item.name.removeprefix("test_").replace("_", " ")

    def read(
        self, text: bytes, data: bytes | None = None, limits: Limits = DEFAULT, network: bytes | None = None
    ) -> Report:
        """In the place of the checker's own."""
        try:
            report = self.original(text, data, limits, network)
        except Rejected as error:
            self.note(text, data, network, error.place, str(error))
            raise
        self.note(text, data, network, "", ", ".join(f"{line.claim} {line.verdict}" for line in report.lines))
        return report

    def note(self, text: bytes, data: bytes | None, network: bytes | None, place: str, said: str) -> None:
        """Keep what is small."""
        if sum(len(part or b"") for part in (text, data, network)) <= LARGEST:
            self.seen.setdefault((text, data, network), Seen(text, data, network, place, said, self.test))


def kind_of(seen: Seen) -> str:
    """The kind of evidence that is accepted, or that is wrong; some problems are a kind by themselves."""
    for sign, kind in OF_PROBLEMS.items():
        if sign in seen.text:
            return kind
    if match := re.match(r"certificate\.facts\.(\w+)", seen.place):
        name = match[1]
        return "optimal" if name in PLAIN else name
    if seen.place and not seen.place.startswith(("certificate.claims", "certificate.facts", "certificate.witness")):
        return "network" if seen.network is not None and "network" in seen.place else "frame"
    try:
        tree: Any = json.loads(seen.text)
        if tree["format"] == "relu_cert refutation":
            return "refutation"
        found = next((kind for kind in KINDS if kind in tree["facts"]), "frame")
    except (ValueError, KeyError, TypeError):
        return "frame"
    return "optimal" if found in PLAIN else found


def written_bags() -> tuple[list[Seen], list[Seen]]:
    """Certificates with bags are not met by chance: those that are built for it, of every kind of evidence."""
    good, bad = accepted_bags(), [*wrong_bags(), *forged_bags()]
    found = [Seen(text, raw, None, "", "", name) for name, text, raw in good]
    said = [(name, text, raw, judged(text, raw, None)[1]) for name, text, raw, *_ in bad]
    return found, [Seen(text, raw, None, KNOWN, why, name) for name, text, raw, why in said]


def chosen(seen: Sequence[Seen]) -> dict[str, tuple[list[Seen], list[Seen]]]:
    """For each kind some that are accepted and some that are rejected, in different ways."""
    kinds: dict[str, tuple[list[Seen], list[Seen]]] = {}
    ways: set[tuple[str, str]] = set()
    for one in sorted(seen, key=lambda one: (len(one.text), one.text)):
        kind = kind_of(one)
        good, bad = kinds.setdefault(kind, ([], []))
        of = (
            one.test * (kind in NAMED and kind != "frame")
            if one.place
            else str(re.findall(rb'"(?:model|Z|objective)": (?:"[^"]*"|.{24})', one.text))
        )
        way = (kind, of + re.sub(r"found .*|[-0-9./e]+", "", one.said))
        if way in ways:
            continue
        if not one.place and len(good) < ACCEPTED and re.search("PROVED|REFUTED", one.said):
            good.append(one)
            ways.add(way)
        if one.place and len(bad) < (MANY if kind in NAMED else REJECTED):
            bad.append(one)
            ways.add(way)
    kept = {kind: (good[: int(len(bad) / RATIO)], bad) for kind, (good, bad) in kinds.items()}
    return {**kept, KNOWN: written_bags()}


def write(kinds: dict[str, tuple[list[Seen], list[Seen]]]) -> None:
    """The files of these kinds, and an index with one line for each: kind, certificate, data, network, why."""
    for number, folder in enumerate(("accepted", "rejected")):
        (CORPUS / folder).mkdir(parents=True, exist_ok=True)
        index = CORPUS / f"{folder}.tsv"
        before = index.read_text().splitlines() if index.exists() else []
        numbered = re.compile(rf"({'|'.join(kinds)})\t\1-[0-9]+\.json\t")  # others have names of their own, and stay
        lines = [line for line in before if not numbered.match(line)]
        for kind in kinds:
            for path in (CORPUS / folder).glob(f"{kind}-[0-9]*"):
                path.unlink()
        for kind, parts in sorted(kinds.items()):
            for i, one in enumerate(parts[number]):
                names = [f"{kind}-{i:02}{ending}" for ending in (".json", ".data", ".network")]
                given = [one.text, one.data, one.network]
                for name, content in zip(names, given, strict=True):
                    if content is not None:
                        (CORPUS / folder / name).write_bytes(content)
                held = [name if content is not None else "-" for name, content in zip(names, given, strict=True)]
                why = f"{one.test}: {one.said}" if one.place else judged(*given)[1]
                lines.append("\t".join((kind, *held, one_line(why))))
        index.write_text("\n".join(sorted(lines)) + "\n")


def write_words() -> None:
    """What the checker says to the files as they are."""
    for folder in ("accepted", "rejected"):
        lines = []
        for entry in (one for one in entries() if one.right == (folder == "accepted")):
            files = (entry.certificate, entry.data, entry.network)
            given = [None if path is None else path.read_bytes() for path in files]
            right, said = judged(given[0] or b"", *given[1:])
            if right != entry.right:
                raise SystemExit(f"{entry.certificate}: {said}")
            why = said if right else f"{re.split(': (?:certificate|file|data|network file)', entry.why)[0]}: {said}"
            lines.append("\t".join((entry.kind, *("-" if path is None else path.name for path in files), why)))
        (CORPUS / f"{folder}.tsv").write_text("\n".join(sorted(lines)) + "\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tests, and write the corpus."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.record", description="Write the corpus.")
    parser.add_argument("--kinds", help="these kinds of evidence only, with commas between them")
    parser.add_argument("tests", nargs="*", default=list(TESTS))
    parser.add_argument("--words", action="store_true", help="only what the checker says to the files")
    options = parser.parse_args(argv)
    if options.words:
        write_words()
        return 0
    recorder = Recorder()
    verify.certificate.read = recorder.read  # type: ignore[assignment]
    code = pytest.main(["-q", "-p", "no:cacheprovider", *options.tests], plugins=[recorder])
    verify.certificate.read = recorder.original
    kinds = chosen(list(recorder.seen.values()))
    if options.kinds is not None:
        kinds = {kind: kinds[kind] for kind in options.kinds.split(",")}
    write(kinds)
    for kind, (good, bad) in sorted(kinds.items()):
        print(f"{kind:<14} {len(good):>3} accepted {len(bad):>3} rejected")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
