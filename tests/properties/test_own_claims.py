"""Claims in a user's own file, away from the repository; hypothesis knows our types."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from properties import cli, registry
from properties.exact.problem import CGL
from properties.strategies import Cube, Gates, PlantedCGL, PlantedElastic, PlantedLogistic, PlantedReLU, PlantedSampled

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
HOLDS = """
from properties.model import Claim, Property, expect
from properties.strategies import planted_cgl

def check(p):
    return expect(p.problem.lam2 > 0, "lambda is not positive")

POSITIVE = Claim("positive", "lambda", Property("lambda is positive.", planted_cgl(), check))
AGAIN = Claim("again", "lambda again", Property("lambda is positive.", planted_cgl(), check))
"""


def documented() -> str:
    """The claim of the README."""
    text = (ROOT / "properties" / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- my_claim.py -->\n```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_documented_claim_runs_without_a_checkout(tmp_path):
    """The file of the README, in a folder of its own: it is refuted by a small exact instance."""
    (tmp_path / "my_claim.py").write_text(documented())
    ran = subprocess.run(
        [sys.executable, "-m", "properties", "--only", "my_claim.py", "--json", "--quiet"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode in {0, 1}, ran.stderr
    (claim,) = json.loads(ran.stdout)["claims"]
    assert (claim["label"], claim["printed"]["verdict"]) == ("mine", "refuted")
    assert claim["printed"]["found"] is not None


def test_a_file_may_hold_several_claims(tmp_path, capsys):
    """All of them are run, here and in a campaign, whose batches are found again."""
    path = tmp_path / "mine.py"
    path.write_text(HOLDS)
    assert cli.main(["--only", str(path), "--examples", "5", "--quiet", "--json"]) == 0
    assert [c["label"] for c in json.loads(capsys.readouterr().out)["claims"]] == ["again", "positive"]
    state = tmp_path / "state"
    options = ["campaign", "--only", str(path), "--examples", "6", "--batch", "3", "--state", str(state), "--quiet"]
    assert cli.main(options) == 0
    batches = sorted(state.glob("mine*.json"))
    assert len(batches) == 4
    before = [batch.stat().st_mtime_ns for batch in batches]
    assert cli.main(options) == 0
    assert [batch.stat().st_mtime_ns for batch in batches] == before
    assert registry.load(f"{path}:AGAIN").label == "again"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("x = 1\n", 64, "has no Claim"),
        ("1 +\n", 65, "SyntaxError"),
        ("import nowhere\n", 65, "ModuleNotFoundError"),
        (None, 64, "no such file"),
    ],
    ids=["no claim", "syntax", "import", "missing"],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path, capsys, text, code, said):
    """One sentence that names the file."""
    path = tmp_path / "wrong.py"
    if text is not None:
        path.write_text(text)
    assert cli.main(["--only", str(path)]) == code
    err = capsys.readouterr().err
    assert said in err and "wrong.py" in err and "Traceback" not in err


@pytest.mark.parametrize(
    "kind", [CGL, Cube, Gates, PlantedCGL, PlantedElastic, PlantedLogistic, PlantedReLU, PlantedSampled]
)
def test_hypothesis_knows_our_types(kind):
    """from_type draws an instance of every type."""
    assert isinstance(find(st.from_type(kind), lambda _: True, settings=settings(database=None)), kind)


@given(st.data())
@settings(max_examples=3, database=None)
def test_annotated_arguments_are_drawn(data):
    """A function whose argument is annotated with one of them can be built."""

    def of(problem: CGL) -> int:
        return problem.n

    assert data.draw(st.builds(of)) >= 1


@pytest.mark.parametrize(
    "order", [("hypothesis", "properties.exact.problem"), ("properties.exact.problem", "hypothesis")]
)
def test_the_order_of_imports_does_not_matter(order):
    """The types are known whichever comes first; loading hypothesis does not load ours."""
    code = f"""
import sys
sys.modules["_hypothesis_pytestplugin"] = None
import {order[0]}
if {order[0]!r} == "hypothesis":
    assert "properties.exact.problem" not in sys.modules
import {order[1]}
from properties.hook import register
register()  # as hypothesis does by the entry point
import hypothesis.strategies as st
from properties.exact.problem import CGL
print(st.from_type(CGL).example().n >= 1)
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.stdout.strip() == "True", ran.stderr


def test_the_entry_point_is_declared():
    """Hypothesis finds the hook of an installed package."""
    import tomllib

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["hypothesis"]
    module, _, name = declared["relu_cert"].partition(":")
    assert callable(getattr(__import__(module, fromlist=[name]), name))
