"""The mutation run itself: its changes are changes, a sample is noticed, and what nothing tests survives."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import CodeType

import pytest

from tests.verify.mutation import (
    ROOT,
    all_files,
    code_of,
    drawn,
    function_of,
    interval,
    mutants,
    mutated,
    reasons,
    table,
)

pytestmark = pytest.mark.long

BY_HAND = [
    f"tests/verify/test_bounds_of_parts.py::{name}"
    for name in ("test_linear_bounds_by_hand", "test_near_points_by_hand", "test_a_neuron_that_correlates_too_little")
]


def constants(code: CodeType) -> list[object]:
    """What code does, as far as it can be compared: instructions, names and constants, inner functions included."""
    inner = [constants(part) for part in code.co_consts if isinstance(part, CodeType)]
    plain = [part for part in code.co_consts if not isinstance(part, CodeType)]
    return [code.co_code, code.co_names, repr(plain), inner]


@pytest.mark.parametrize("file", ["verify/numbers/bounds.py", "verify/numbers/roots.py", "verify/network/weights.py"])
def test_every_mutant_is_another_program(file: str) -> None:
    """Each compiles, differs from the original, and can be put in its place."""
    module = import_module(file.removesuffix(".py").replace("/", "."))
    source = (ROOT / file).read_text()
    before = ast.parse(source)
    found = list(mutants(file))
    assert len({mutant.name for mutant in found}) == len(found) > 10
    for mutant in found:
        changed = mutated(mutant)
        assert constants(changed) != constants(code_of(before, mutant.function, file)), mutant.name
        assert changed.co_freevars == function_of(module, mutant.function).__code__.co_freevars


def test_a_sample_is_spread_over_the_files() -> None:
    """As many as asked, no mutant twice, and of each file as many as its share of all mutants, up to one."""
    every = [
        mutant
        for file in ("verify/numbers/bounds.py", "verify/numbers/roots.py", "verify/numbers/signs.py")
        for mutant in mutants(file)
    ]
    some = drawn(every, 40, seed=3)
    assert len(set(some)) == 40
    for file in {mutant.file for mutant in every}:
        share, all_ = (sum(mutant.file == file for mutant in part) for part in (some, every))
        assert abs(share - 40 * all_ / len(every)) <= 1


def test_the_interval_of_a_share() -> None:
    """Wilson's interval by hand: 10 of 10 are consistent with no less than 72 %, 50 of 100 with 40 to 60 %."""
    assert [round(100 * x) for x in interval(10, 10)] == [72, 100]
    assert [round(100 * x) for x in interval(50, 100)] == [40, 60]


def test_reasons_are_about_mutants() -> None:
    """Every line of equivalent.txt names a mutant that there is, and a reason."""
    known = {mutant.name for file in all_files() for mutant in mutants(file)}
    for name, reason in reasons().items():
        assert name in known and len(reason) > 10, name


def test_results_by_file(tmp_path: Path) -> None:
    """Mutants with a reason are no part of what was tried, and one that was noticed once is noticed."""
    every = [mutant for file in ("verify/errors.py", "verify/numbers/signs.py") for mutant in mutants(file)]
    first, second, third = [mutant.name for mutant in every if mutant.file == "verify/numbers/signs.py"][:3]
    kept = tmp_path / "results"
    kept.write_text(f"survived\t{first}\nnoticed\t{first}\nsurvived\t{second}\nnoticed\t{third}\n")
    _, errors, signs, both = table(every, {third}, kept)
    assert errors.split("\t")[2:] == ["0", "0", "0"]
    assert [line.split("\t")[2:] for line in (signs, both)] == [["1", "2", "1"]] * 2


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command."""
    command = [sys.executable, "-m", "tests.verify.mutation", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_sample_is_noticed() -> None:
    """Ten changes of the bounds on optimal weights, drawn at random: the tests by hand notice them."""
    ran = run("verify/network/weights_set.py", "--sample", "10", "--seed", "2", "--tests", *BY_HAND)
    assert ran.returncode == 0, ran.stdout
    assert "of 10 tried" in ran.stdout


def test_what_nothing_tests_survives() -> None:
    """Without a test that calls the function, every mutant survives, and the exit code says so."""
    ran = run("verify/numbers/roots.py", "--sample", "3", "--tests", BY_HAND[0])
    assert ran.returncode == 1
    assert "of 3 tried 0 were noticed" in ran.stdout
    assert ran.stdout.count("survived: verify/numbers/roots.py") == 3


def test_what_was_seen_is_kept(tmp_path: Path) -> None:
    """With --map the tests are looked at once, as long as their file is the same."""
    arguments = ("verify/numbers/bounds.py", "--sample", "1", "--map", str(tmp_path / "map"), "--tests", BY_HAND[0])
    assert "1 looked at" in run(*arguments).stdout
    assert "0 looked at" in run(*arguments).stdout
