"""The documentation: it builds without the network, its notebooks print what they say they print."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from relu_cert import words

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "docs" / "notebooks"
NEEDS = {"pytorch": "torch", "group_lasso": "sklearn", "audit": "sklearn"}


def printed(code: str, names: dict[str, object]) -> tuple[str, str | None]:
    """What a cell prints, and the repr of its last expression, as a notebook shows them."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    shown = None
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            shown = None if value is None else repr(value)
    return out.getvalue(), shown


@pytest.mark.parametrize("name", ["theorist", "networks", "pytorch", "cnn", "group_lasso", "audit"])
def test_notebooks_run_and_say_what_they_show(name):
    """Every cell runs, in order, and prints what is stored in the notebook; results show their pictures."""
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    names: dict[str, object] = {"__name__": "notebook"}
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert any(cell["outputs"] for cell in code)
    for cell in code:
        text, shown = printed("".join(cell["source"]), names)
        stored = "".join("".join(out["text"]) for out in cell["outputs"] if out["output_type"] == "stream")
        assert text == stored
        results = [out["data"] for out in cell["outputs"] if out["output_type"] == "execute_result"]
        assert ["".join(result["text/plain"]) for result in results] == ([] if shown is None else [shown])
        assert all("data:image/svg+xml" in "".join(result.get("text/html", "")) for result in results)


@pytest.mark.parametrize("name", ["theorist", "networks", "pytorch", "cnn", "group_lasso", "audit"])
def test_notebooks_are_made_from_their_scripts(name):
    """The notebook has the cells of the script beside it, and no path of the machine it was made on."""
    stored = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    source = (NOTEBOOKS / f"{name}.py").read_text(encoding="utf-8")
    for cell in stored["cells"]:
        for line in "".join(cell["source"]).splitlines():
            assert line in source
    assert not re.search(r"/(?:work|home|tmp|root)/", json.dumps(stored["cells"]))


def test_the_site_builds_without_the_network(tmp_path):
    """No warning, every page is there, and no page loads anything from elsewhere."""
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_nb")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "docs", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    pages = {page.stem: page.read_text(encoding="utf-8") for page in tmp_path.rglob("*.html")}
    assert {"index", "need", "tutorial", "glossary", "api", "format", "add_a_claim", "architecture"} <= set(pages)
    assert {"theorist", "pytorch", "group_lasso"} <= set(pages)
    for text in pages.values():
        assert not re.search(r'<(?:script|img)[^>]* src="https?:|<link[^>]* href="https?:', text)
    for name in ("certify", "certify_network", "certify_solution", "path", "prune", "explore", "patterns"):
        assert f'id="relu_cert.api.{name}"' in pages["api"]
    assert all(name in re.sub("<[^>]*>", "", pages["glossary"]) for name in words.all_words())
    assert "max-width: 650px" in (tmp_path / "_static" / "custom.css").read_text(encoding="utf-8")  # tables on a phone


def test_the_architecture_names_what_there_is():
    """Every folder and file that it names exists."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./]+(?:/|\.py))`", text)) | {
        f"{name}/" for name in re.findall(r"^ {8,}(\w+)/  ", text, re.M)
    }
    assert len(named) > 12
    for name in named:
        assert any((base / name).exists() for base in (ROOT, ROOT / "relu_cert")), name
