"""What a user reads: first lines that anyone understands, explanations, examples, widths, colours, standard input."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from html import unescape
from pathlib import Path

import pytest

from relu_cert import certify, claims, words
from relu_cert.cli import arguments
from relu_cert.driver.variant import DEFAULT_MAX_PATTERNS
from relu_cert.figures import percent, percent_at_most, with_decimal
from relu_cert.network.claims import network_verdicts
from relu_cert.network.formats import ENDINGS
from relu_cert.network.penalty import Penalty
from relu_cert.network.prune import Strategy
from tests.cli.run import run
from verify.__main__ import main as verify

F = Fraction
ROOT = Path(__file__).parents[2]
COMMANDS = ("check", "path", "network", "prune", "explore", "patterns", "explain")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Files are written into a folder of their own."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x,y\n1,1\n2,3\n-1,2\n")
    Path("n.json").write_text(json.dumps({"W1": [[1], [1]], "w2": [1, 1]}))


def sentence(text: str) -> str:
    """The first paragraph, as one line."""
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())


FIRST = [
    (
        "check --example xor",
        "The best network is unique (up to the order and splitting of neurons); it has 3 neurons; proved.",
    ),
    ("check d.csv --lambda 100", "The best network is the zero network, because lambda is so large; proved."),
    (
        "check --example twins",
        "There is more than one best network: they form a set of dimension 1, and the narrowest have 2 neurons;",
    ),
    (
        "check d.csv --lambda 1/2 --claims optimal",
        "The network found, with 2 neurons, is the best there is, up to a relative 1.0e-9; proved.",
    ),
    ("check d.csv --claims fit", "Of 1 claim: 1 PROVED."),
    ("check --example conjecture", "There is more than one solution"),
    ("check d.csv --lambda 1/2 --patterns 1", "Over these 1 activation pattern only, the best network is unique"),
    ("path --example line --from 1/2", "the best network is unique and moves without a jump; its make-up changes at"),
    ("network n.json d.csv --lambda 1/2", "This network is not the best: its objective is"),
    (
        "prune d.csv --network n.json --lambda 1/2",
        "Of the 2 neurons of this network, 1 can be removed without any loss; exact.",
    ),
    ("explore d.csv --validation d.csv --test d.csv", "There is only one best network, proved"),
]


@pytest.mark.parametrize(("command", "said"), FIRST, ids=[command for command, _ in FIRST])
def test_the_first_line_is_a_sentence(command, said):
    """On the terminal the report begins with what was found, in words; a page has the same sentence."""
    ran = run(*command.split())
    assert ran.code == 0, ran.err
    first = sentence(ran.out)
    assert said in first
    assert first[0].isupper() and first.endswith(".")
    assert run(*command.split(), "--html", "p.html").code == 0
    shown = re.search(r'<p class="headline">(.*?)</p>', Path("p.html").read_text())
    assert shown is not None and unescape(shown[1]) == first


def test_the_notebook_begins_with_the_sentence():
    """_repr_html_ has it before everything else."""
    shown = certify([[1], [2], [-1]], [1, 3, 2], "1/2")._repr_html_()
    assert re.sub("<[^>]*>", "", shown).startswith("The best network is unique")


def test_every_claim_is_explained():
    """The list of words has every claim under its name, in order, and the claims about networks."""
    assert words.NAMES == claims.NAMES
    found = run("network", "n.json", "d.csv", "--lambda", "1/2", "--json").json
    assert {entry.name for entry in words.NETWORK_CLAIMS} == {claim["claim"] for claim in found["claims"]}
    assert network_verdicts
    for name in words.all_words():
        told = run("explain", name)
        assert told.code == 0 and told.out.startswith(f"{name}: ")
    told = run("explain", "p-unique").out
    for part in ("why       ", "paper     prop:p-unique", "evidence  "):
        assert part in told


def test_words_are_found_however_they_are_written():
    """The case and the hyphen do not matter; a wrong name is answered with near ones; no name lists them all."""
    assert run("explain", "P_UNIQUE").out == run("explain", "p-unique").out
    assert run("explain", "m*").out != run("explain", "M*").out
    wrong = run("explain", "uniqe")
    assert wrong.code == 64 and "Did you mean" in wrong.err
    listed = run("explain").out
    assert all(name in listed for name in words.all_words())


def test_the_command_line_says_what_the_program_knows():
    """What --help lists without loading the program is what the program has."""
    assert arguments.ENDINGS == ENDINGS
    assert tuple(Penalty) == arguments.PENALTIES
    assert tuple(Strategy) == arguments.STRATEGIES
    assert arguments.DEFAULT_MAX_PATTERNS == DEFAULT_MAX_PATTERNS


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_ends_with_two_examples_that_are_understood(command):
    """Both are commands that the parser takes."""
    ran = run(*command.split(), "--help")
    assert ran.code == 0
    lines = ran.out.rstrip().splitlines()[-3:]
    assert lines[0] == "examples:"
    for line in lines[1:]:
        start = f"python -m relu_cert {command}".rstrip()
        assert line.strip().startswith(start)
        assert isinstance(arguments.parser().parse_args(line.split()[3:]), argparse.Namespace)


def test_help_loads_next_to_nothing():
    """--help answers at once: no numerical library is loaded for it."""
    code = "import sys; from relu_cert.cli import main; main(['check', '--help']); print(); print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ
    )
    loaded = set(ran.stdout.splitlines()[-1].split())
    assert "relu_cert.cli.arguments" in loaded
    assert not loaded & {"numpy", "scipy", "flint", "numba", "sympy", "rich", "cvxpy", "mpmath"}


def test_the_help_of_the_ledger_loads_next_to_nothing():
    """`python -m properties --help` answers at once, and knows by heart what its commands know."""
    code = "import sys; sys.argv[1:] = ['--help']; from properties.__main__ import main"
    code += "\ntry: main()\nexcept SystemExit: print(); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.splitlines()[-1].split())
    assert "properties.cli" in loaded
    assert not loaded & {"numpy", "scipy", "flint", "sympy", "rich", "hypothesis", "properties.commands"}
    from properties import cli, hunt_networks

    assert tuple(hunt_networks.MODELS) == cli.MODELS


def test_with_some_patterns_every_line_says_so():
    """No verdict about some patterns can be mistaken for one about all of them."""
    found = run("check", "--example", "line", "--patterns", "3", "--json").json
    assert found["claims"]
    assert all("these patterns only" in claim["detail"] for claim in found["claims"])
    text = run("check", "--example", "line", "--patterns", "3").out
    assert "over these patterns only: sum of sign" in " ".join(text.split())
    assert re.search(r"^p\*.*over these\s+patterns only", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("number", "text"),
    [("1/10", "0.1 = 1/10"), ("2", "2"), ("1/3", "~0.333333333333 = 1/3"), ("1/1024", "~0.0009765625 = 1/1024")],
)
def test_numbers_are_decimals_with_the_exact_one_behind(number, text):
    """Whoever thinks in decimals reads one; the exact number stands behind it."""
    assert with_decimal(F(number)) == text.replace("~0.0009765625", "0.0009765625")


def test_percentages():
    """Bounds are rounded up, and never to zero."""
    assert (percent(F(1, 8), F(1, 8)), percent(F(7, 3), F(7, 3)), percent_at_most(F(1, 1000))) == (
        "12.5 %",
        "233 %",
        "0.1 %",
    )
    assert percent_at_most(F(1, 10**15)) == "1.0e-13 %"


def test_one_is_singular():
    """No report speaks of "1 neurons"."""
    Path("one.csv").write_text("x,y\n1,2\n")
    Path("one.json").write_text(json.dumps({"W1": [[1]], "w2": [1]}))
    commands = (
        "check one.csv --lambda 1",
        "path one.csv",
        "network one.json one.csv --lambda 1",
        "prune one.csv --lambda 1",
    )
    for command in commands:
        out = run(*command.split()).out
        assert out
        assert not re.findall(
            r"\b1 (?:\w+ )?(?:neurons|points|features|inputs|groups|pieces|gaps|patterns|cells)\b", out
        )


class Terminal(io.StringIO):
    """Something that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch, width: int, **environment: str) -> str:
    for name, value in ({"COLUMNS": str(width), "TERM": "xterm"} | environment).items():
        monkeypatch.setenv(name, value)
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    return stream


@pytest.mark.parametrize("command", ["check d.csv", "path d.csv --from 1/2", "network n.json d.csv --lambda 1/2"])
def test_reports_are_as_wide_as_the_terminal(monkeypatch, command):
    """Lines are broken where the terminal ends, and not before; commands to copy are not broken."""
    from relu_cert.cli import main

    widths = {}
    for width in (60, 120):
        stream = on_terminal(monkeypatch, width, NO_COLOR="1")
        assert main(command.split()) == 0
        lines = [line for line in stream.getvalue().splitlines() if not line.startswith(("re-check", "certificate"))]
        widths[width] = max(map(len, lines))
    assert widths[60] <= 60 < widths[120] <= 120


def test_the_checker_is_as_wide_as_the_terminal(monkeypatch):
    """Its lines are broken on a terminal; elsewhere every claim has one line."""
    assert run("check", "d.csv").code == 0
    stream = on_terminal(monkeypatch, 60)
    assert verify(["d.cert.json"]) == 0
    assert max(map(len, stream.getvalue().splitlines())) <= 60


def test_no_color_drops_bold_too(monkeypatch):
    """NO_COLOR leaves no escape sequence at all; without it there are some."""
    from relu_cert.cli import main

    for environment, escaped in (({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)):
        stream = on_terminal(monkeypatch, 100, **environment)
        assert main(["check", "d.csv"]) == 0
        assert ("\x1b" in stream.getvalue()) is escaped


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,y\n1,1\n2,3\n-1,2\n", "standard input: n = 3 points"),
        ('{"X": [[1, 2]], "groups": [[0], [1]], "y": [3]}', "group lasso, 2 groups"),
        ("", "-: the file is empty"),
    ],
)
def test_standard_input_is_read(text, said):
    """`-` is CSV or JSON from a pipe; the certificate of it is re-checked with the data like any other."""
    ran = subprocess.run(
        [sys.executable, "-m", "relu_cert", "check", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert said in ran.stdout + ran.stderr
    assert ran.returncode == (0 if text else 65)
    if text:
        Path("again").write_text(text)
        assert verify(["stdin.cert.json", "--data", "again", "--quiet"]) == 0


def test_explain_loads_no_mathematics():
    """A word is explained at once: neither the solvers nor the claims are loaded for it."""
    code = "import sys; from relu_cert.cli import main; main(['explain', 'kink']); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ran.stdout.split()
    assert "relu_cert.words" in loaded
    assert not {"numpy", "flint", "scipy", "relu_cert.claims", "relu_cert.problem"} & {*loaded}
