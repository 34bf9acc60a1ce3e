"""The commands that pages name are run: they do what the page says."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from tests.cli.run import run
from verify.__main__ import main as verify_main

TABLE = "y;a;b\n1;0.5;2\n-1;-2;1\n2;3;-1\n0;0;-2\n"
OTHER = "y;a;b\n1;1;1\n2;-1;1\n"
READ = ("--target", "y", "--bias", "--numbers", "binary64", "--delimiter", ";")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my data.csv").write_text(TABLE)
    Path("other.csv").write_text(OTHER)
    np.savez("net.npz", W1=np.array([[1.0, -1.0], [2.0, -2.0]]), b1=np.array([0.5, 1.0]), w2=np.array([0.5, 0.25]))


def commands(page: str) -> list[list[str]]:
    """The commands of the last code block of a page, as the shell would split them."""
    block = re.findall(r"<pre><code>(.*?)</code></pre>", Path(page).read_text(encoding="utf-8"), flags=re.DOTALL)[-1]
    return [shlex.split(line) for line in html.unescape(block).splitlines()]


def does_it(page: str) -> None:
    """Every command of the page succeeds; the last one is the checker's."""
    lines = commands(page)
    assert lines[-1][:3] == ["python", "-m", "verify"]
    for line in lines:
        assert line[:2] == ["python", "-m"]
        if line[2] == "verify":
            assert verify_main(line[3:]) == 0
        else:
            ran = run(*line[3:])
            assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    "command",
    [
        ("check", "--lambda", "1/2"),
        ("check", "--lambda", "1/2", "--patterns", "2"),
        ("path", "--from", "1/2"),
        ("explore", "--validation", "other.csv", "--test", "other.csv", "--lambda", "1/2", "--model", "gated"),
        ("prune", "--lambda", "1/2"),
        ("prune", "--lambda", "1/2", "--network", "net.npz"),
    ],
    ids=lambda command: "-".join(part for part in command if part.isalpha()),
)
def test_the_page_can_be_verified_by_what_it_says(command):
    """Also for a file with a blank in its name, another separator, another target, and numbers read as doubles."""
    ran = run(command[0], "my data.csv", *READ, *command[1:], "--html", "p.html")
    assert ran.code == 0, ran.err
    does_it("p.html")


def test_a_trained_network_can_be_verified():
    """`network --html` names the network's file, too."""
    ran = run("network", "net.npz", "my data.csv", *READ, "--lambda", "1/2", "--html", "p.html")
    assert ran.code == 0, ran.err
    does_it("p.html")
