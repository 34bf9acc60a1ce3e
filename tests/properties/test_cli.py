"""python -m properties: the ledger on the terminal, as JSON and as a page; what happens when something is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import strategies as st
from rich.console import Console

from properties import cli, commands, registry
from properties.codec import decode
from properties.ledger import print_table, symbols
from properties.model import HOLDS, Answer, Claim, Outcome, Property, Witness, fails, vacuous
from properties.registry import load
from properties.run import run_claim

FAST = ["--only", "prop:one-neuron", "--only", "prop_row_ce", "--examples", "5", "--quiet"]


def even(x: int) -> Outcome:
    """A statement about integers that fails at 1."""
    return HOLDS if x % 2 == 0 else fails(f"<b>{x}</b> is odd")


def claim(printed: Outcome | None = None, **rest: object) -> Claim:
    """A claim about integers for these tests."""
    check = even if printed is None else (lambda x: printed)
    return Claim("test:label", "Test", Property("All <x> & y are even.", st.integers(0, 3), check), **rest)  # type: ignore[arg-type]


def use(monkeypatch: pytest.MonkeyPatch, made: Claim) -> None:
    """Make this the only claim."""
    monkeypatch.setattr(registry, "all_claims", lambda: {"test_label": made})


def test_the_table_fits_in_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal the table is 80 columns wide and shows label, verdict, witness and repaired form."""
    assert cli.main(FAST) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    flat = re.sub(r"\s+", " ", out)
    for text in ("prop:one-neuron", "REFUTED", "HOLDS", "lambda = 19/2", "exact instances", "2 claims as printed"):
        assert text in flat


def test_json_holds_the_exact_witnesses(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON ledger's witness is the claim's instance, and still refutes."""
    assert cli.main([*FAST, "--json"]) == 0
    ledger = json.loads(capsys.readouterr().out)
    assert (ledger["format"], ledger["version"]) == ("relu_cert ledger", 1)
    entry = next(c for c in ledger["claims"] if c["label"] == "prop:one-neuron")
    assert entry["printed"]["verdict"] == "refuted"
    assert entry["repaired"]["verdict"] == "holds"
    instance = decode(entry["witnesses"][0]["instance"])
    assert instance == Fraction(19, 2)
    assert load("prop_one_neuron").printed.check(instance).answer is Answer.FAILS


def test_a_run_repeats_itself_and_a_seed_changes_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Two runs without a seed are equal to the letter; a seed draws other instances but reaches the same verdicts."""
    outputs = []
    for extra in ([], [], ["--seed", "7"]):
        assert cli.main(["--only", "lemma:unique-cgl", "--examples", "20", "--quiet", "--json", *extra]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    verdicts = [json.loads(o)["claims"][0]["printed"]["verdict"] for o in outputs]
    assert verdicts == ["holds"] * 3
    assert json.loads(outputs[2])["seed"] == 7


def test_the_page_is_self_contained_and_escaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No markup from statements or evidence gets through, and nothing is fetched from elsewhere."""
    use(monkeypatch, claim(witnesses=(Witness("<script>1</script>", 1),), repaired=Property("Fine.", st.just(2), even)))
    target = tmp_path / "deep" / "ledger.html"
    assert cli.main(["--html", str(target), "--examples", "5", "--quiet"]) == 0
    page = target.read_text()
    assert "<script" not in page
    assert "&lt;script&gt;1&lt;/script&gt;" in page
    assert "All &lt;x&gt; &amp; y are even." in page
    assert "<b>1</b>" not in page
    assert "http" not in page
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("name", ["", "file/ledger.html"], ids=["folder", "below-a-file"])
def test_a_page_that_cannot_be_written_is_refused_before_the_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 65 and one sentence at once, not after a minute of claims."""
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(commands, "run_claim", lambda *rest: pytest.fail("the claims were run"))
    assert cli.main(["--html", str(tmp_path / name), "--quiet"]) == 65
    errors = capsys.readouterr().err
    assert "cannot be written" in errors
    assert len(errors.strip().splitlines()) == 1


@pytest.mark.long
def test_the_ledger_has_no_python_in_its_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rationals are p/q and patterns 0 and 1, on the terminal and on the page."""
    code = cli.main(["--examples", "1", "--quiet", "--html", str(tmp_path / "l.html")])
    assert code in (0, 1)  # of one instance some statements say nothing
    for text in (capsys.readouterr().out, (tmp_path / "l.html").read_text(encoding="utf-8")):
        assert not re.search(r"Fraction\(|: (True|False)\b|\((True|False),|array\(|mpq\(|object at 0x", text)


def test_a_repaired_claim_that_fails_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1, and the table says which claim."""
    use(monkeypatch, claim(witnesses=(Witness("1", 1),), repaired=Property("Still wrong.", st.integers(0, 3), even)))
    assert cli.main(["--examples", "10", "--quiet"]) == 1
    assert "the repaired statement is refuted" in re.sub(r"\s+", " ", capsys.readouterr().out)


def test_a_repaired_claim_without_content_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A repaired statement that no instance meets does not count as surviving."""
    empty = Property("Nothing.", st.integers(0, 3), lambda x: vacuous("never"))
    use(monkeypatch, claim(witnesses=(Witness("1", 1),), repaired=empty))
    assert cli.main(["--examples", "10", "--quiet"]) == 1


def test_a_witness_that_no_longer_refutes_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The witness 2 is even."""
    use(monkeypatch, claim(witnesses=(Witness("2", 2),), repaired=Property("Fine.", st.just(2), even)))
    assert cli.main(["--examples", "10", "--quiet"]) == 1


def test_a_refutation_that_is_news_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A printed statement that the search refutes, with no witness on file, is reported with the shrunk instance."""
    use(monkeypatch, claim())
    assert cli.main(["--examples", "10", "--quiet", "--json"]) == 1
    entry = json.loads(capsys.readouterr().out)["claims"][0]
    assert entry["printed"]["verdict"] == "refuted"
    assert entry["printed"]["found"] == 1


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--only", "prop:unique-soul"], "prop:unique-sol"),
        (["--examples", "0"], "at least 1"),
        (["--examples", "many"], "at least 1"),
        (["--nonsense"], "--help"),
        (["--seed", "x"], "--seed"),
        (["campaign", "--seed", "1/2"], "--seed"),
        (["campaign", "--jobs", "-1"], "at least 1"),
    ],
)
def test_usage_errors_are_one_sentence(arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 64, one line on stderr that says what to do, nothing on stdout."""
    assert cli.main(arguments) == 64
    captured = capsys.readouterr()
    assert captured.out == ""
    assert hint in captured.err
    assert len(captured.err.strip().splitlines()) == 1


def test_the_module_runs_from_a_shell() -> None:
    """`python -m properties` in a process of its own: the verdict on stdout, nothing on stderr, exit code 0."""
    command = [sys.executable, "-m", "properties", "--only", "tables", "--examples", "4", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(cli.__file__).parents[1], check=False)
    assert done.returncode == 0
    assert "REFUTED" in done.stdout
    assert done.stderr == ""


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        ["properties", "--only", "tables", "--examples", "3", "--quiet"],
        ["properties", "--only", "tables", "--examples", "3", "--quiet", "--json"],
        ["properties", "hunt", "min-norm-continuous", "--model", "cgl", "--tries", "3"],
        ["relu_cert", "check", "--example", "line", "--quiet", "--certificate", "{folder}/c.json"],
        ["verify", "{folder}/no-such-file"],
    ],
    ids=lambda a: "-".join(a[:3]).replace("{folder}/", ""),
)
def test_a_closed_pipe_ends_quietly(arguments: list[str], tmp_path: Path) -> None:
    """Where nobody reads, no command prints a traceback. The exit code is 141; `verify` keeps its own."""
    module, *rest = (argument.format(folder=tmp_path) for argument in arguments)
    command = [sys.executable, "-m", module, *rest]
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() == (64 if module == "verify" else 141)
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize("both", [False, True], ids=["stdout", "stderr too"])
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["properties", "--only", "tables", "--examples", "3", "--quiet"], 74, "properties: cannot write the output: "),
        (["verify", "{cert}"], 0, "verify: cannot write the report: No space left on device\n"),
        (["verify", "{cert}", "--expect", "lambda=7"], 1, "verify: cannot write the report: No space left on device\n"),
    ],
    ids=["properties", "accepted", "rejected"],
)
def test_a_full_disk_is_no_verdict(arguments: list[str], code: int, said: str, both: bool, tmp_path: Path) -> None:
    """A sentence and no traceback; `verify` exits as it would have: once a full disk looked like a rejection."""
    kept = Path(cli.__file__).parents[1] / "tests" / "verify" / "corpus" / "accepted" / "algebraic_set-01.json"
    module, *rest = (argument.format(cert=kept) for argument in arguments)
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", module, *rest],
            stdout=full,
            stderr=full if both else subprocess.PIPE,
            text=True,
            env=environment,
            cwd=tmp_path,
            check=False,
        )
    assert ran.returncode == code
    assert both or (ran.stderr.startswith(said) and ran.stderr.count("\n") == 1)


def test_files_of_the_user_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A page or a refutation replaces one written here, and nothing else unless --force is given."""
    page, folder = tmp_path / "notes.html", tmp_path / "refuted"
    few = ["--only", "prop:one-neuron", "--examples", "2", "--quiet"]
    page.write_text("my notes")
    assert cli.main([*few, "--html", str(page)]) == 64
    assert "did not write it" in capsys.readouterr().err
    assert page.read_text() == "my notes"
    assert cli.main([*few, "--html", str(page), "--force"]) == 0
    assert cli.main([*few, "--html", str(page)]) == 0
    assert cli.main([*few, "--refutations", str(folder)]) == 0
    assert cli.main([*few, "--refutations", str(folder)]) == 0
    written = next(folder.iterdir())
    written.write_text("my notes")
    assert cli.main([*few, "--refutations", str(folder)]) == 64
    assert written.read_text() == "my notes"


def test_the_page_has_the_signs_of_mathematics(tmp_path: Path) -> None:
    """Greek letters, ≤ and squares instead of their names; no claim that holds has a line that begins with Fails."""
    page = tmp_path / "ledger.html"
    only = [x for label in ("lemma:l2-reformulation", "prop:min-norm-program", "tables") for x in ("--only", label)]
    assert cli.main([*only, "--html", str(page), "--examples", "3", "--quiet"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "δ" in text and "λ²" in text and "lambda^2" not in text and "Fails:" not in text


def test_the_instance_that_the_search_found_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """A refutation without a stored witness shows its instance, as rationals."""
    claim = Claim("mine", "a title", Property("x < 1/3", st.just((Fraction(1, 2), 3)), lambda x: fails("it is not")))
    entry = run_claim(claim, 3, None)
    print_table([entry], Console(width=80))
    assert "the instance: (1/2, 3)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the same sum of group norms", "the same sum of group norms"),
        ("sum_T beta_T D_T = 0, sum beta q = 0", "Σ_T β_T D_T = 0, Σ β q = 0"),
        ("lambda >= 0, |v|^2 <= lambda_max", "λ ≥ 0, |v|² ≤ λ_max"),
        ("the sum |w_b| is the same", "the Σ |w_b| is the same"),
    ],
)
def test_formulas_have_symbols_and_prose_has_words(text: str, shown: str) -> None:
    """Greek letters also before an index; a sum of words stays a word."""
    assert symbols(text) == shown
