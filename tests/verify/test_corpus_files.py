"""The corpus of files: every line holds, no decoy gets it right, and rejected ones outnumber the accepted."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest

import verify
from tests.verify.score import CORPUS, Checker, Entry, entries, judged, main, score
from verify.text import load

ENTRIES = entries()
RATIO = 1.4
EVIDENCE = {"patterns", "optimal", "optimal_set", "exact_set", "algebraic_set", "polytope", "min_norm", "faces"}
EVIDENCE |= {
    "bags",
    "outputs",
    "decayed",
    "cover",
    "cover_set",
    "cover_lambda_max",
    "leaders",
    "derivatives",
    "ggp",
    "path",
    "curve",
    "jump",
    "network",
    "refutation",
    "solution",
}


def name(entry: Entry) -> str:
    """The file, with its folder."""
    return f"{entry.certificate.parent.name}-{entry.certificate.stem}"


@pytest.mark.parametrize("entry", ENTRIES, ids=name)
def test_every_file_is_judged_as_listed(entry: Entry) -> None:
    """Accepted or rejected, and not declined, in the words that are listed: python -m tests.verify.record --words."""
    data, network = (None if path is None else path.read_bytes() for path in (entry.data, entry.network))
    right, said = judged(entry.certificate.read_bytes(), data, network)
    assert right == entry.right
    assert entry.why == said if right else entry.why.endswith(f": {said}")


def test_every_file_is_listed_once() -> None:
    """No file without a line, no line without a file, and every line says why."""
    listed = [path for entry in ENTRIES for path in (entry.certificate, entry.data, entry.network) if path is not None]
    assert len(set(listed)) == len(listed)
    assert set(listed) == {path for folder in ("accepted", "rejected") for path in (CORPUS / folder).iterdir()}
    assert all(entry.why for entry in ENTRIES)


def test_more_is_rejected_than_accepted() -> None:
    """At least 1.4 to 1 for each kind of evidence, and no kind without both."""
    table = score(lambda entry: entry.right, ENTRIES)
    for kind, (_, good, _, bad) in table.items():
        assert bad >= RATIO * good, kind
    assert {kind for kind, (_, good, _, _) in table.items() if good} == EVIDENCE


def is_json(entry: Entry) -> bool:
    """Accepts what is JSON."""
    try:
        json.loads(entry.certificate.read_bytes())
    except ValueError:
        return False
    return True


def is_framed(entry: Entry) -> bool:
    """Accepts what is strict JSON with the right keys at the top."""
    try:
        tree = load(entry.certificate.read_bytes(), verify.Limits()).value
    except verify.VerifyError:
        return False
    return isinstance(tree, dict) and list(tree)[-1] == "end" and tree["end"] == tree.get("format")


def by_itself(entry: Entry) -> bool:
    """The checker without data and network."""
    try:
        verify.check(entry.certificate.read_bytes())
    except verify.VerifyError:
        return False
    return True


DECOYS: dict[str, Callable[[Entry], bool]] = {
    "accept all": lambda entry: True,
    "reject all": lambda entry: False,
    "json only": is_json,
    "frame only": is_framed,
}


@pytest.mark.parametrize("decoy", DECOYS)
def test_decoys_fail_in_every_kind(decoy: str) -> None:
    """What does not look at the evidence is wrong about some certificate of each kind."""
    for kind, (a, b, c, d) in score(DECOYS[decoy], ENTRIES).items():
        assert a < b or c < d or (kind == "frame" and decoy == "reject all"), kind


def test_without_the_files_beside_them_some_are_accepted() -> None:
    """Data and network are part of the corpus: a checker that does not compare them is noticed."""
    beside = [entry for entry in ENTRIES if entry.data is not None or entry.network is not None]
    checker: Checker = by_itself
    assert any(c < d for _, _, c, d in score(checker, beside).values())


def test_a_program_is_scored(capsys: pytest.CaptureFixture[str]) -> None:
    """The command line runs any program on the files and counts its exit codes."""
    kind = "jump"
    assert main(["--kinds", kind, "--", sys.executable, "-m", "verify", "--quiet"]) == 0
    good, bad = (sum(entry.kind == kind and entry.right is right for entry in ENTRIES) for right in (True, False))
    said = capsys.readouterr().out
    assert f"  {good} of {good}\n" in said and f"  {bad} of {bad}\n" in said
