"""The second checker, which was written from the page of the format alone: it agrees with the first about covers."""

from __future__ import annotations

import base64
import json
import lzma
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import verify
from tests.verify.second import checker
from tests.verify.second.checker import Refused, check
from verify.arena import Entry, entries

FILE = Path(checker.__file__)
FACTS = ("primal", "cover", "value")
FORGED = 60  # of each certificate
NODES = (0, 1, 200, 202, 203, 204, 211)


def plain(entry: Entry) -> bool:
    """A certificate by a cover, with one output and without free terms or bags."""
    tree = json.loads(entry.certificate.read_bytes()) if entry.kind in ("cover", "cover_set") else {}
    return "cover" in tree.get("facts", ()) and not {"free", "bags", "Y"} & tree["problem"].keys()


COVERS = [entry for entry in entries() if plain(entry)]
VALID = [entry for entry in COVERS if entry.right]
WRONG = [entry for entry in COVERS if not entry.right and entry.kind == "cover"]
REAL = sorted(FILE.with_name("covers").glob("*.json"))


def stem(one: Any) -> str:
    """The name of a test."""
    return (one.certificate if isinstance(one, Entry) else one).stem


def alone(path: Path) -> dict[str, Any]:
    """Of a certificate what `optimal` needs, and nothing else."""
    tree = json.loads(path.read_bytes())
    tree["facts"] = {name: tree["facts"][name] for name in FACTS}
    tree["claims"] = [one for one in tree["claims"] if one["claim"] == "optimal"]
    return tree  # type: ignore[no-any-return]


def said(tree: dict[str, Any]) -> tuple[str, str]:
    """What both checkers say: accepted, rejected or declined."""
    text = json.dumps(tree).encode()
    first = second = "accepted"
    try:
        verify.check(text)
    except verify.VerifyError as error:
        first = error.outcome
    try:
        check(text)
    except Refused as error:
        second = ("rejected", "declined")[error.args[0] - 1]
    return first, second


@pytest.mark.parametrize("path", [*REAL, *(one.certificate for one in VALID)], ids=stem)
def test_valid_covers_are_accepted(path: Path) -> None:
    """By both, for the bounds alone: those made by hand, and those that were trained and refined."""
    assert said(alone(path)) == ("accepted", "accepted")


@pytest.mark.parametrize("entry", WRONG, ids=stem)
def test_wrong_covers_are_rejected(entry: Entry) -> None:
    """All of the corpus whose cover is wrong; the logistic loss is declined."""
    with pytest.raises(Refused) as refused:
        check(entry.certificate.read_bytes(), alone=True)
    logistic = "log" in json.loads(entry.certificate.read_bytes())["problem"]["objective"]
    assert refused.value.args[0] == (2 if logistic else 1)


def forge(proof: dict[str, Any], draw: random.Random) -> None:
    """A byte or two of the streams, or a number of a tie, of the basis or of the margin, is another."""
    kind = draw.random()
    if kind < 0.8:
        for _ in range(draw.choice((1, 1, 2))):
            side, name = proof[draw.choice("+-")], draw.choice(("codes", "data", "data", "multipliers", "rows"))
            raw = bytearray(lzma.decompress(base64.b64decode(side[name])))
            if raw:
                k = draw.randrange(len(raw))
                near = (raw[k] + draw.choice((-2, -1, 1, 2, 16, 128))) % 256
                raw[k] = draw.choice((near, near, near, draw.randrange(256), draw.choice(NODES)))
                side[name] = base64.b64encode(lzma.compress(bytes(raw), preset=0)).decode()
    elif kind < 0.88:
        proof["margin"] = draw.choice((0, 1, 10**6, 10**9, 10**11))
    else:
        places = [(tie, "u") for tie in proof["ties"]] + [(proof["basis"], k) for k in range(len(proof["basis"]))]
        at, key = draw.choice(places)
        numbers = at[key].split()
        numbers[draw.randrange(len(numbers))] = draw.choice(("0", "1", "-1", "3"))
        at[key] = " ".join(numbers)


@pytest.mark.parametrize("path", [*REAL, *(one.certificate for one in VALID)], ids=stem)
def test_forged_covers_divide_nobody(path: Path) -> None:
    """Whatever is changed, both accept or neither does."""
    draw, counts = random.Random(path.name), Counter[str]()
    for _ in range(FORGED):
        tree = alone(path)
        forge(tree["facts"]["cover"]["proof"], draw)
        first, second = said(tree)
        assert first == second, json.dumps(tree)
        counts[first] += 1
    assert counts["rejected"] > 5


def test_the_command_and_its_exit_codes(tmp_path: Path) -> None:
    """0 accepted, 1 rejected, 2 declined for what it does not know; --optimal looks at the bounds alone."""
    valid, cut = VALID[0].certificate, tmp_path / "cut.json"
    cut.write_text(json.dumps(alone(valid)))
    wrong = next(one.certificate for one in WRONG if "|v|" in one.why)
    free = next(one.certificate for one in entries() if one.right and one.kind == "cover_set" and not plain(one))
    for words, code in (
        ([cut], 0),
        ([valid], 2),
        ([valid, "--optimal"], 0),
        ([wrong, "--optimal"], 1),
        ([free, "--optimal"], 2),
    ):
        ran = subprocess.run([sys.executable, FILE, *words], capture_output=True, text=True, check=False)
        assert ran.returncode == code and ran.stdout.startswith(("accepted", "rejected", "declined")[code])


def test_it_is_small_and_alone() -> None:
    """At most 400 lines, and nothing of this repository or of others is imported."""
    text = FILE.read_text()
    assert len(text.splitlines()) <= 400
    names = {line.split()[1].partition(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert names <= sys.stdlib_module_names
