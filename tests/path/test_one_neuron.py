"""One neuron, one feature: the exact path, its jump at 100/11 (prop:one-neuron with the corrected numbers)."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.cli import main
from relu_cert.path.one_neuron import one_neuron_path
from relu_cert.serialize import written
from tests.verify.mutate import mutants
from verify import VerifyError, check
from verify.problem.problem import Problem
from verify.rules.one_neuron import OneNeuron, check_one_neuron
from verify.text import Node

F = Fraction


def value(x: list[Fraction], y: list[Fraction], v: Fraction, gamma: int, lam: Fraction) -> Fraction:
    """1/2 sum (gamma (x_k v)_+ - y_k)^2 + lambda |v|"""
    loss = sum(((gamma * max(a * v, F(0)) - b) ** 2 for a, b in zip(x, y, strict=True)), F(0))
    return loss / 2 + lam * abs(v)


def test_the_papers_example() -> None:
    """x = (-100, 1), y = (1, 10): v = (lambda - 100)/10^4 above 100/11, 10 - lambda below, both at it."""
    path = one_neuron_path([F(-100), F(1)], [F(1), F(10)])
    (jump,) = path.jumps
    assert jump.lo == jump.hi == F(100, 11)
    assert path.top == 100
    assert set(path.minimisers(F(100, 11))) == {(F(-1, 110), 1), (F(10, 11), 1)}
    assert path.minimisers(F(10)) == ((F(-9, 1000), 1),)
    assert path.minimisers(F(9)) == ((F(1), 1),)
    assert path.minimisers(F(100)) == ((F(0), 1),)


def test_all_minimisers_are_found() -> None:
    """x = (1, -1), y = (1, 1): the neuron may look to either side, at every lambda."""
    path = one_neuron_path([F(1), F(-1)], [F(1), F(1)])
    assert not path.jumps
    assert path.minimisers(F(1, 2)) == ((F(1, 2), 1), (F(-1, 2), 1))


def test_an_irrational_jump_is_enclosed() -> None:
    """x = (-3, 1, 1), y = (1, 1, 1): sqrt(a) is 3 and sqrt(2), and the jump is irrational."""
    path = one_neuron_path([F(-3), F(1), F(1)], [F(1), F(1), F(1)])
    (jump,) = path.jumps
    assert 0 < jump.hi - jump.lo < F(1, 10**40)
    for lam, branch in ((jump.hi + F(1, 10**9), jump.above), (jump.lo - F(1, 10**9), jump.below)):
        assert path.minimisers(lam) == ((branch.v(lam), branch.gamma),)


numbers = st.integers(-6, 6).map(F)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=4), st.fractions(F(1, 20), 40, max_denominator=20))
def test_minimisers_are_global(points: list[tuple[Fraction, Fraction]], lam: Fraction) -> None:
    """Every minimiser has the same value, and no v on a fine grid with either sign is better."""
    x, y = [a for a, _ in points], [b for _, b in points]
    path = one_neuron_path(x, y)
    values = {value(x, y, v, gamma, lam) for v, gamma in path.minimisers(lam)}
    assert len(values) == 1
    best = values.pop()
    reach = max([abs(v) for v, _ in path.minimisers(lam)], default=F(0)) + 7
    assert all(value(x, y, reach * F(k, 200), gamma, lam) >= best for k in range(-200, 201) for gamma in (1, -1))


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=4))
def test_the_chain_is_the_envelope(points: list[tuple[Fraction, Fraction]]) -> None:
    """Between jumps the branch of the chain is optimal; jumps descend."""
    path = one_neuron_path([a for a, _ in points], [b for _, b in points])
    ends = [path.top, *(jump.lo for jump in path.jumps), F(0)]
    assert ends == sorted(ends, reverse=True)
    for branch, hi, lo in zip(path.branches, ends, ends[1:], strict=False):
        if hi - lo > F(1, 1000):
            lam = (hi + lo) / 2
            assert (branch.v(lam), branch.gamma) in path.minimisers(lam)


def test_the_command_shows_the_jump(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The corrected numbers of the proposition, as text, as JSON and in a certificate."""
    monkeypatch.chdir(tmp_path)
    assert main(["path", "--example", "one-neuron", "--one-neuron", "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "100/11 < lambda < 100: v = (lambda - 100)/10000, gamma = +1" in said
    assert "lambda = 100/11: a jump from v = -1/110 to v = 10/11, both optimal there" in said
    assert "0 < lambda < 100/11: v = 10 - lambda, gamma = +1" in said
    assert main(["path", "--example", "one-neuron", "--one-neuron", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (jump,) = found["jumps"]
    assert jump["lo"] == jump["hi"] == "100/11"
    assert [(one["sign"], one["a"], one["b"]) for one in found["branches"]] == [(-1, "10000", "100"), (1, "1", "10")]
    lines = {line.claim: line.proved for line in check(Path(found["certificate"]).read_bytes())}
    assert "zero for lambda >= 100" in lines["one-neuron"] and "branches: 2, jumps: 1" in lines["one-neuron"]


@pytest.mark.parametrize("text", ["x,z,y\n1,2,3\n", "x,y\n1,2\n"])
def test_one_feature_is_needed(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two features are refused in one sentence; one that does nothing but grow has no jump."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(text)
    features = text.split("\n", maxsplit=1)[0].count(",")
    assert main(["path", str(tmp_path / "d.csv"), "--one-neuron", "--quiet"]) == (0 if features == 1 else 64)
    said = capsys.readouterr()
    assert ("no jump" in said.out) if features == 1 else ("one feature" in said.err)


@cache
def certified() -> str:
    """The certificate of the proposition's data."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        target = Path(folder) / "c.json"
        main(["path", "--example", "one-neuron", "--one-neuron", "--quiet", "--certificate", str(target)])
        return target.read_text()


def accepted(fact: Any) -> bool:
    """Whether the checker accepts this fact for the proposition's data."""
    content = json.loads(certified())
    content["facts"]["one_neuron"] = fact
    try:
        check(json.dumps(content).encode())
    except VerifyError:
        return False
    return True


UP, DOWN = {"sign": "+", "gamma": "+"}, {"sign": "-", "gamma": "+"}
AT = {"lo": "100/11", "hi": "100/11"}


@pytest.mark.parametrize(
    ("branches", "jumps", "right"),
    [
        ([DOWN, UP], [AT], True),
        ([DOWN, UP], [{"lo": "9", "hi": "10"}], True),  # wider, and true
        ([DOWN, UP], [{"lo": "9", "hi": "9"}], False),
        ([DOWN, UP], [{"lo": "10", "hi": "9"}], False),
        ([DOWN, UP], [{"lo": "9", "hi": "100"}], False),
        ([DOWN, UP], [{"lo": "-1", "hi": "10"}], False),
        ([UP, DOWN], [AT], False),
        ([DOWN], [], False),
        ([UP], [], False),
        ([], [], False),
        ([DOWN, UP], [], False),
        ([DOWN, DOWN, UP], [{"lo": "50", "hi": "50"}, AT], False),
        ([DOWN, {"sign": "+", "gamma": "-"}], [AT], False),
    ],
)
def test_other_paths_are_rejected(branches: list[Any], jumps: list[Any], right: bool) -> None:
    """Only branches that are best between their jumps are accepted."""
    assert accepted({"branches": branches, "jumps": jumps}) is right


def of_points(x: list[int], y: list[int], fact: dict[str, Any]) -> OneNeuron:
    """What the checker finds in the fact for these data."""
    return check_one_neuron(Problem("relu", F(1), tuple((F(a),) for a in x), tuple(map(F, y))), Node(fact))


def test_a_jump_at_lambda_zero_is_no_jump() -> None:
    """x = (1, -2), y = (1, 1): the lines meet at lambda = 0, and one branch is best for every lambda > 0. A jump in
    [0, 0] is rejected; one in [0, hi] needs a crossing above 0."""
    assert of_points([1, -2], [1, 1], {"branches": [DOWN], "jumps": []}).branches == 1
    for hi in ("0", "1"):
        with pytest.raises(VerifyError, match=r"lambda > 0|the best branch"):
            of_points([1, -2], [1, 1], {"branches": [DOWN, UP], "jumps": [{"lo": "0", "hi": hi}]})
    assert of_points([-100, 1], [1, 10], {"branches": [DOWN, UP], "jumps": [{"lo": "0", "hi": "10"}]}).branches == 2


def test_jumps_between_two_branches_on_one_line_are_rejected() -> None:
    """x = (1, -1), y = (1, 1): both branches are optimal at every lambda. Any number of jumps between them, anywhere,
    would pass for a proof; one branch is listed, and the other one is told."""
    jumps = [{"lo": "1/2", "hi": "3/4"}, {"lo": "1/4", "hi": "1/3"}]
    for count in (1, 2):
        with pytest.raises(VerifyError, match="another line"):
            of_points([1, -1], [1, 1], {"branches": [DOWN, UP, DOWN][: count + 1], "jumps": jumps[:count]})
    assert of_points([1, -1], [1, 1], {"branches": [DOWN], "jumps": []}).twins
    assert not of_points([-100, 1], [1, 10], {"branches": [DOWN, UP], "jumps": [AT]}).twins


@pytest.mark.long
def test_every_accepted_mutant_is_true() -> None:
    """A small change of the fact is rejected, or its interval still holds the jump."""
    fact = {"branches": [DOWN, UP], "jumps": [AT]}
    for mutant in mutants(fact):
        try:
            new = json.loads(mutant.text)
        except ValueError:
            continue
        if accepted(new):
            (jump,) = new["jumps"]
            assert F(jump["lo"]) <= F(100, 11) <= F(jump["hi"]), mutant.name
            assert new["branches"] == [DOWN, UP]


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=4))
def test_the_checker_accepts_every_path(points: list[tuple[Fraction, Fraction]]) -> None:
    """What the producer finds is accepted, also where jumps are irrational or branches tie."""
    path = one_neuron_path([a for a, _ in points], [b for _, b in points])
    problem = Problem("relu", F(1), tuple((a,) for a, _ in points), tuple(b for _, b in points))
    found = check_one_neuron(problem, Node(written(path)))
    assert (found.top, found.branches) == (path.top, len(path.branches))
