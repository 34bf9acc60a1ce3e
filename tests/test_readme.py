"""README.md and the pages beside it tell the truth: output, tables and the Python example."""

import re
from fractions import Fraction as F
from pathlib import Path

import pytest

from properties.registry import all_claims
from relu_cert.claims import STATEMENTS
from relu_cert.cli import parser
from tests.cli.run import run

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent
README, LEDGER, BENCHMARKS, TRUST = (
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "docs/ledger.md", "docs/benchmarks.md", "docs/trust.md")
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Files are written into a folder of their own."""
    monkeypatch.chdir(tmp_path)


def block_after(mark: str) -> str:
    """The first code block after a mark."""
    return re.search(r"```[a-z]*\n(.*?)```", README[README.index(mark) :], re.DOTALL).group(1)


def tiny(line: str) -> str:
    """A line without the digits of numbers below 1e-9."""
    return re.sub(r"\d\.\de-\d\d+", "tiny", line)


@pytest.mark.parametrize("name", ["xor", "digits"])
def test_the_first_commands_print_what_the_readme_shows(name):
    """The reports of bundled examples, line by line, but for the place of the installed file and the tiny radii, whose
    digits come from floats; of a long one the first lines."""
    shown = block_after(f"<!-- output: check --example {name} -->").splitlines()
    printed = [line for line in run("check", "--example", name).out.splitlines() if not line.startswith("re-check")]
    assert len(shown) > 15 and [tiny(line) for line in printed[: len(shown)]] == [tiny(line) for line in shown]


def test_every_claim_is_listed_with_its_statement():
    """The table of claims is the registry's."""
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*?) \|$", README, re.MULTILINE))
    for name, statement in STATEMENTS.items():
        assert rows[name] == statement


def test_every_command_is_listed():
    """Each command of the parser has a row."""
    choices = next(action.choices for action in parser()._actions if action.dest == "command")
    for name in choices:
        assert f"`python -m relu_cert {name}" in README


def test_the_python_example_runs(capsys):
    """The example prints what its comments say."""
    code = block_after("## From Python")
    exec(compile(code, "README.md", "exec"), {})
    expected = [line.split("# ")[1] for line in code.splitlines() if line.startswith("print")]
    assert capsys.readouterr().out.splitlines() == expected


def test_the_ledger_lists_every_claim_of_the_paper():
    """The table has one row for each executable claim, with its statements as they are."""
    for claim in all_claims().values():
        assert f"| {claim.label} |" in LEDGER
        for said in (claim.printed, claim.repaired):
            assert said is None or said.statement.replace("|", "\\|") in LEDGER


def test_the_checker_and_what_must_be_trusted_are_named():
    """How to call the checker where a file has its name, and the libraries that a verdict rests on."""
    tutorial = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")
    assert "`python -P -m verify`" in README and "python -P -m verify data.cert.json --data data.csv" in tutorial
    (row,) = (line for line in TRUST.splitlines() if line.startswith("| `python -m verify` |"))
    assert "Python, numpy's integers, and python-flint" in row


def test_gaps_of_the_tables_are_not_below_their_intervals():
    """In per cent, rounded up: the printed ends of p*, each within a unit of its last digit, leave no smaller one."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in BENCHMARKS.splitlines()
        if line.count("|") == 18
    ]
    found = [(row[3].strip("[]").split(", "), row[4]) for row in rows if row[3].startswith("[")]
    assert len(found) >= 60
    for (low, high), gap in found:
        least = (F(high) - F(low) - F(2, 10**4)) / F(high)
        assert F(gap) >= 100 * least, (low, high, gap)


def test_the_short_table_is_a_part_of_the_long_one():
    """At a tenth of lambda_max, some columns."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in BENCHMARKS.splitlines()]
    part = [[row[i] for i in (0, 1, 4, 5, 7, 12, 13, 14)] for row in rows if len(row) == 17 and row[2] == "0.1"]
    assert [row for row in rows if len(row) == 8 and row[3] in ("cover", "leaders")] == part
    assert len(part) == 17


def test_the_first_screen_is_one_command_and_its_output():
    """What `check --example xor` prints comes right after the command that runs it, and nothing else is before it."""
    assert README.index("<!-- run -->") < README.index("<!-- output: check --example xor -->") < README.index("iris")


def test_the_readme_is_short() -> None:
    """At most 200 lines, prose of at most 120 characters, and every page that it names is there."""
    lines = README.splitlines()
    assert len(lines) <= 200
    assert all(len(line) <= 120 for line in lines if not line.startswith(("|", "python3")))
    assert all((ROOT / page).is_file() for page in re.findall(r"\]\(([^)#]+)\)", README))
