"""Things that contributors rely on."""

from __future__ import annotations

import re
import subprocess
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import relu_cert

ROOT = Path(__file__).parents[1]


def test_the_version_stands_in_one_place() -> None:
    """Packaging reads it from the package; no other file of the project repeats it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "relu_cert.__version__"}
    assert not re.search(r"^version:", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert re.fullmatch(r"\d+\.\d+\.\d+", relu_cert.__version__)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_the_environment_of_the_readme_is_ignored_by_git() -> None:
    """README's own commands make .venv in the checkout; git does not see it."""
    ran = subprocess.run(["git", "check-ignore", "-q", ".venv/bin/python"], cwd=ROOT, check=False)
    assert ran.returncode == 0


def test_the_changelog_is_dated() -> None:
    """The newest entries stand under a date."""
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("###")]
    assert re.fullmatch(r"### \d{4}-\d{2}-\d{2}", headings[0])


def test_the_three_programs_are_installed_under_their_own_names() -> None:
    """`relu-cert`, `relu-cert-verify` and `relu-cert-properties` name functions that are there."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert set(scripts) == {"relu-cert", "relu-cert-verify", "relu-cert-properties"}
    assert all(callable(EntryPoint(name, target, "console_scripts").load()) for name, target in scripts.items())


def test_need_audience_relations_and_ways_to_help_are_written() -> None:
    """A statement of need with its audience and its neighbours, how to contribute; no address while there is none."""
    need = (ROOT / "docs" / "need.md").read_text(encoding="utf-8")
    for word in ("scikit-learn", "celer", "skglm", "adelie", "PyTorch"):
        assert word in need, word
    assert all(f"- **{who}**" in need for who in ("theorists", "practitioners", "statisticians", "teachers"))
    assert "## Other software" in need
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "pytest" in contributing and "mypy" in contributing
    assert "urls" not in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_tests_write_in_folders_of_their_own() -> None:
    """A test that writes a file by its bare name is in a folder of its own: nothing is left where tests are started."""
    bare = re.compile(r"""Path\(["'][^/"']+["']\)\.write_|savez\(["']""")
    texts = {path.name: path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    assert [name for name, text in texts.items() if bare.search(text) and "chdir(" not in text] == []


def test_few_lines_ask_for_the_model() -> None:
    """Stages ask whether a problem has blocks or a ReLU network; few lines compare the name of its model."""
    asked = re.compile(r"""\bmodel (==|!=|in|not in) [("']""")
    lines = [line for file in (ROOT / "relu_cert").rglob("*.py") for line in file.read_text().splitlines()]
    assert 0 < sum(asked.search(line) is not None for line in lines) <= 22
