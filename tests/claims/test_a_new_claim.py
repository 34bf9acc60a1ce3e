"""How much a claim touches: a new one is decided, explained, written and re-checked after changes in four files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

HOUSE = Path(__file__).parents[2]
MODULE = '''
from relu_cert.claims.claim import Answer, claim, proved
from relu_cert.prove.facts import Facts


@claim("known-fit", "The fit of all optimal networks is known.")
def known_fit(facts: Facts) -> Answer:
    """Whoever knows the ball knows the fit."""
    return proved("fit", f"in a ball around {len(facts.fit.center)} numbers.")
'''
WORD = '    ClaimWord("known-fit", "The fit is known.", "To have an example.", "none", "the ball of the fit"),\n'
ROW = '    Row("known-fit", PROVED, (FIT,), lambda problem, facts, node: "the fit is known"),\n'


def test_a_claim_needs_four_files_of_code(tmp_path: Path) -> None:
    """With the documents of the format and the README six: nothing else has to know of it."""
    for package in ("relu_cert", "verify"):
        shutil.copytree(HOUSE / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "relu_cert/claims/known_fit.py").write_text(MODULE)
    for file, before, more in (
        ("relu_cert/words.py", "\n\nCLAIMS: tuple[ClaimWord, ...] = (\n", WORD),
        ("verify/claims/__init__.py", '    "single": (', '"known-fit", '),
        ("verify/claims/single.py", "\nTABLE = (\n", ROW),
    ):
        text = (tmp_path / file).read_text()
        assert text.count(before) == 1
        (tmp_path / file).write_text(text.replace(before, before + more))

    def run(*command: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return " ".join(ran.stdout.split())

    said = run("relu_cert", "check", "--example", "xor", "--claims", "known-fit", "--require", "known-fit")
    assert "PROVED known-fit in a ball around 4 numbers." in said
    again = run("verify", "xor.cert.json", "--data", "relu_cert/examples/xor.csv")
    assert "accepted known-fit PROVED the fit is known" in again
    assert "To have an example." in run("relu_cert", "explain", "known-fit")
