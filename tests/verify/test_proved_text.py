"""What the proved checker is told and how it is understood: texts word for word, and answers made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from flint import arb, ctx, fmpq

from tests.verify.build.bags import stream
from tests.verify.build.leaders import FOLDER, free_leaders, halves, single, triad, twins
from tests.verify.cover.fold import fold
from tests.verify.cover.plant import PLANTED, planted
from tests.verify.oracle.brute import mat, vec
from verify import Declined, Rejected, Usage, proved
from verify.cover.lines import Weights
from verify.problem.problem import Bag, Problem
from verify.problem.variants import ELASTIC
from verify.proved import Bounds, CoverText, LeadersText, Text
from verify.proved_listed import ListedText
from verify.proved_outputs import OutputsText, SoftmaxText, lifted
from verify.proved_terms import LOG_BITS, TermsText
from verify.text import Limits

CERTIFICATES: dict[str, Callable[[], bytes]] = {
    **{name: lambda name=name: planted(name).text for name in PLANTED},
    "fold": lambda: fold().text,
    **{case.__name__: lambda case=case: case().text for case in (single, halves, twins, triad)},
    **{
        name: lambda name=name: (FOLDER / f"{name}.json").read_bytes()
        for name in ("xor-cover", "side-cover", "square-cover", "xor-leaders", "plane-leaders", "tied-leaders")
    },
}
KEPT = Path(__file__).parent / "corpus" / "accepted"
CERTIFICATES |= {
    **{name: lambda name=name: (FOLDER / f"{name}.json").read_bytes() for name in ("xor-decayed", "xor-biases")},
    **{
        name: lambda name=name: (KEPT / f"{name}.json").read_bytes()
        for name in ("bags-05", "bags-16", "outputs-03", "outputs-05", "unique-bags", "given-outputs-softmax")
    },
}
SMALL = Problem("relu", F(5, 3), mat([["1/2", -1], [0, 3]]), vec("1/4", -2))


@cache
def texts() -> dict[str, str]:
    """Texts that the proved checker has accepted, by their names."""
    parts = (FOLDER / "texts.txt").read_text().split("== ")[1:]
    return {name: text.rstrip("\n") for name, _, text in (part.partition("\n") for part in parts)}


def told(certificate: bytes) -> str:
    """The text of a certificate."""
    return "\n".join(proved.read(certificate, None, Limits()).lines())


@pytest.mark.parametrize("name", CERTIFICATES)
def test_texts_word_for_word(name: str) -> None:
    """Covers with neurons, faces, planes; leaders with equal rows, zero rows, normals, triangles; bags, a decayed bias,
    free biases, the logistic loss, several outputs, the softmax: as was accepted."""
    assert told(CERTIFICATES[name]()) == texts()[name]


def test_lengths_beside_free_biases() -> None:
    """The largest distances from a row, and kappa over the square of the denominator; else |z|, and no kappa."""
    ground = free_leaders(kappa=3).ground
    assert isinstance(ground, LeadersText) and ground.reach == [4, 4]
    half = replace(ground, problem=replace(ground.problem, seen=mat([["1/2", 1], [3, 1]])))
    assert half.reach == [25, 25]
    assert replace(half, problem=replace(half.problem, biases=False)).reach == [5, 40]
    bits = 256 + 8  # beyond the largest c
    for one, q in ((ground, 1), (half, 2)):
        words = " ".join(one.grounds()).split()
        at = words.index("cell") + 1 + 2 + 4
        assert words[at + 1 : at + 3] == [str(4 * 300 << 2 * bits), str((4 * 3 << 2 * bits) // q**2)]


def made(neurons: Any = (), point: Any = ([1, 2], 3)) -> Text:
    """A text about the small problem."""
    return Text(SMALL, tuple(neurons), point, {})


def test_the_statement_by_hand() -> None:
    """d, n, the rows over 2, y over 4, and lambda."""
    assert made().statement == "problem 2 2 2 1 -2 0 6 4 1 -8 5 3"


def test_bounds_by_hand() -> None:
    """y.theta - 1/2 |theta|^2 with theta = (1/3, 2/3); the objective 1/2 |y|^2 of no neuron, in units of 2^-280."""
    text = made()
    assert text.lower == F(1, 12) - F(4, 3) - F(5, 18)
    assert text.upper == F(65, 32) and text.layers == []
    scale = 1 << proved.BOUND_BITS
    assert text.bounds == (
        f"upper {65 * scale // 32} {scale}",
        f"lower {text.lower.numerator} {text.lower.denominator}",
    )
    assert list(text.dual()) == ["theta 3 1 2", text.bounds[1]]
    assert text.obstacle((1, 1)) == text.obstacle(None) == "leaders bound the objective only"
    with pytest.raises(NotImplementedError):
        list(text.lines())


@pytest.mark.parametrize("xi", [1, -1])
def test_layers_by_hand(xi: int) -> None:
    """w = (3, 4)/5 is v u with |v| = |u| = 1; its output 0 and 12/5 on the rows; the objective is rounded up by less
    than a unit, and layers of length 0 are left out."""
    text = made([(xi, vec("3/5", "4/5")), (1, vec(0, 0))])
    ((u, v),) = text.layers
    one = 1 << proved.WEIGHT_BITS
    assert v == xi * one and all(0 <= F(x, 5) * one - y < 1 for x, y in zip((3, 4), u, strict=True))
    exact = (F(1, 16) + (xi * F(12, 5) + 2) ** 2) / 2 + F(5, 3)
    assert 0 <= text.upper - exact < F(1, 2**270)
    assert (text.upper * (1 << proved.BOUND_BITS)).denominator == 1
    quarter = made([(xi, vec("3/20", "4/20"))]).layers[0]
    assert quarter[1] == xi * one // 2 and abs(quarter[0][0] - 3 * one // 10) <= 1


def test_roots_units_and_complements() -> None:
    """Rounded towards zero, each sign as the other; nothing along zero."""
    assert proved.root(3, 4) == 4 and proved.root(3, 3) == 4 and proved.root(5, 0) == 0 and proved.root(0, 5) == 0
    one = 1 << proved.UNIT_BITS
    assert proved.unit((1, 0)) == (one, 0) and proved.unit((0, -1)) == (0, -one)
    assert proved.unit((3, -4)) == (3 * one // 5, -(4 * one // 5)) and proved.unit((0, 7)) == (0, one)
    assert tuple(-x for x in proved.unit((-3, 4))) == proved.unit((3, -4))
    (across,) = proved.complement([[1, 2]], 2)
    assert across[0] + 2 * across[1] == 0 and any(across) and proved.complement([[1, 0], [0, 1]], 2) == []
    assert (
        proved.words([1, -2]) == "1 -2"
        and proved.integers(" 1 -2") == [1, -2]
        and proved.vector("1/2 3") == (F(1, 2), 3)
    )
    assert proved.listed([1, -2]) == "[1; (-2)]" and proved.signed(0) == "0"


def test_dual_points_of_residuals() -> None:
    """tau (floor(4 r)/4 + m) with r = y - fit: the fit of w = (2, 0) is (1, 0), of -w' = (0, 1) it is (0, -3)."""
    neurons = ((1, vec(2, 0)), (-1, vec(0, 1)))
    assert proved.theta_of(SMALL, neurons, "1/3 2") == (F(1, 3), 2)
    stated = {"tau": "1/2", "bits": 2}
    assert proved.theta_of(SMALL, neurons, stated) == (F(-3, 8), F(1, 2))
    assert proved.theta_of(SMALL, neurons, {**stated, "moves": [[1, "3"]]}) == (F(-3, 8), F(2))
    third = ((1, vec("2/3", 0)),)
    assert proved.theta_of(SMALL, third, stated) == (F(-1, 8), F(-1))  # floor(4 (1/4 - 1/3)) = -1


def test_decimals_are_rounded_outwards() -> None:
    """Down for the lower bound and up for the upper one, on both sides of zero."""
    for x, below, above in (
        (F(1, 3), "0.333333333333", "0.333333333334"),
        (F(-1, 3), "-0.333333333334", "-0.333333333333"),
        (F(5, 2), "2.500000000000", "2.500000000000"),
        (F(10**12 - 1, 10**12) + 7, "7.999999999999", "7.999999999999"),
    ):
        assert (proved.decimal(x, False), proved.decimal(x, True)) == (below, above)


def test_sentences_by_hand() -> None:
    """The relative gap as a power of ten, cones and widths in one number or two, and what is left open."""
    start = "by a checker that is itself proved: p* is in "
    both = Bounds(F(99, 100), F(1))
    assert both.sentence == f"{start}[0.990000000000, 1.000000000000], relative gap <= 1e-2" and not both.unique
    assert "1e-1" in Bounds(F(989, 1000), F(1)).sentence and "1e-0" in Bounds(F(0), F(1)).sentence
    assert "1e-300;" in Bounds(F(1), F(1), (0, 0)).sentence + ";"
    for cones, said in (((1, 0), "1 cone"), ((0, 1), "1 cone"), ((2, 3), "5 cones"), ((0, 0), "0 cones")):
        assert Bounds(F(1), F(1), cones).sentence.endswith(f"; all optimal neurons lie in {said}")
    for width, said in (((2, 2), "2"), ((2, 5), "2 to 5")):
        found = Bounds(F(1), F(1), None, width)
        assert found.unique and found.sentence.endswith(
            f"; the optimal network is unique up to permutation and splitting, the least width is {said}"
        )
    assert Bounds(F(1), F(1), open="why").sentence.endswith(
        "; this checker leaves open whether the optimal network is unique: why"
    )


def test_no_relative_gap_is_said_where_there_is_none() -> None:
    """p* in [-3, 1] is no statement about a relative gap: that of the bounds is 4; from 0 on it is at most 1."""
    assert "gap <=" not in Bounds(F(-3), F(1)).sentence
    assert "no relative gap, because the lower bound is below 0" in Bounds(F(-1, 10**400), F(1)).sentence
    assert "relative gap <= 1e-0" in Bounds(F(0), F(1)).sentence


def answer(monkeypatch: pytest.MonkeyPatch, *said: str) -> Bounds:
    """The bounds of `corner` where the checker says this after the statement and both bounds."""
    text = proved.read(planted("corner").text, None, Limits())
    right = [text.statement, *(f"{line} accepted" for line in text.bounds)]
    monkeypatch.setattr(proved, "run", lambda *_: [*right, *said])
    return proved.prove(planted("corner").text)


def test_answers_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cones and widths are those of accepted lines; uniqueness needs both."""
    found = answer(monkeypatch, "neurons 3 4 accepted", "unique 1 2 accepted")
    assert (found.cones, found.width, found.open) == ((3, 4), (1, 2), "") and found.lower <= found.upper
    for said in (("neurons 3 4 accepted", "unique 1 2 rejected"), ("neurons 3 4 accepted",)):
        found = answer(monkeypatch, *said)
        assert (found.cones, found.width) == ((3, 4), None) and found.open
    found = answer(monkeypatch, "neurons 0 0 accepted")
    assert (found.cones, found.width, found.open) == ((0, 0), (0, 0), "")  # no neuron but zero: nothing is left open
    for said in (
        ("unique 1 2 accepted",),
        ("neurons 3 4 rejected", "unique 1 2 accepted"),
        (),
        ("neurons x y accepted",),
    ):
        found = answer(monkeypatch, *said)
        assert (found.cones, found.width) == (None, None) and found.open


def test_answers_that_are_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another statement, another bound, a bound that is not accepted, or nothing: rejected with both lines."""
    text = proved.read(planted("corner").text, None, Limits())
    right = [text.statement, *(f"{line} accepted" for line in text.bounds)]
    wrong = [[], right[:1], right[:2], [*right[:2], "lower 1 1 accepted"], [f"{right[0]} 1", *right[1:]]]
    wrong += [[*right[:k], right[k].replace("accepted", "rejected"), *right[k + 1 :]] for k in (1, 2)]
    for said in wrong:
        monkeypatch.setattr(proved, "run", lambda *_, said=said: said)
        with pytest.raises(Rejected, match="proved checker: expected"):
            proved.prove(planted("corner").text)
    assert proved.shortened("a" * 119) == "a" * 119 and proved.shortened("a" * 120) == f"{'a' * 60} ... {'a' * 50}"


def test_the_program_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """With the text as its input; what it prints and what it complains of; evidence that cannot be told is rejected."""
    program = tmp_path / "relucheck"
    text = proved.read(planted("corner").text, None, Limits())
    monkeypatch.setattr(proved, "HERE", tmp_path)
    with pytest.raises(Usage, match=r"--proved: expected the proved checker, which needs .* `make`"):
        proved.run(text)
    program.write_text('#!/bin/sh\nhead -n 1\necho "$@" >&2\nexit 3\n')
    program.chmod(0o755)
    assert proved.run(text, "--write") == [text.statement, "--write"]
    broken = CoverText(text.problem, text.neurons, text.point, {**text.evidence, "margin": "x"})
    with pytest.raises(Rejected, match="evidence that can be read"):
        proved.run(broken)


def written(monkeypatch: pytest.MonkeyPatch, name: str, said: list[str]) -> str:
    """The theorem of a certificate where the program writes this."""
    monkeypatch.setattr(proved, "run", lambda *_: said)
    return proved.theorem(CERTIFICATES[name](), name="found")


def test_theorems_word_for_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both bounds, the evidence as it was written, and uniqueness only where it is proved."""
    text = proved.read(planted("corner").text, None, Limits())
    said = [
        text.statement,
        "upper",
        "cover",
        "EVIDENCE",
        "MORE",
        "lower 1 2",
        "classes",
        "CLASSES",
        "unique 1 2 accepted",
    ]
    found = written(monkeypatch, "corner", said)
    scale = 1 << proved.BOUND_BITS
    for part in (
        "Problem 2 [[1; 0]; [0; 1]] 1 [6; 8] 1 5 1.",
        "Definition evidence : cover := EVIDENCE\nMORE.",
        f"] {1 << proved.WEIGHT_BITS} {int(text.upper * scale)} {scale}.",
        "check data evidence = true",
        "Theorem found :",
        "IZR 75 / IZR 2 <= objective",
        f"<= IZR {int(text.upper * scale)} / IZR {scale}",
        "exact (check_sound data evidence checked)",
        "Definition apart : classes := CLASSES.",
        f"Margin net {text.spread} {scale}",  # type: ignore[attr-defined]
        "= 1%nat",
        "(1 <= length narrowest <= 2)%nat",
    ):
        assert part in found, part
    (u, v) = text.layers[0]
    assert f"Upper [([{u[0]}; {u[1]}], {v})]" in found and "$" not in found
    plain = written(monkeypatch, "corner", [*said[:-1], "unique 1 2 rejected"])
    assert "found_unique" in found and "found_unique" not in plain and "apart" not in plain
    led = proved.read(single().text, None, Limits())
    by_leaders = written(monkeypatch, "single", [led.statement, "leaders", "LED", "lower 1 2", "unique 1 2 accepted"])
    assert "Definition evidence : leaders := LED." in by_leaders and "check_leaders data evidence" in by_leaders
    assert "leaders_sound data evidence" in by_leaders and "found_unique" not in by_leaders
    for wrong in ([], ["another", *said[1:]], [text.statement, "lower 1 2"], [text.statement, "leaders", "lower 1 2"]):
        with pytest.raises(Rejected, match="proved checker: expected problem"):
            written(monkeypatch, "corner", wrong)


def changed(**problem: Any) -> bytes:
    """`corner` with another problem."""
    tree = planted("corner").certificate
    return json.dumps({**tree, "problem": {**tree["problem"], **problem}}).encode()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (changed(model="gated"), "another"),
        (changed(patterns=["11"]), "another"),
        (changed(objective=ELASTIC, delta="1"), "another"),
        (changed(free=["output-bias"]), "KeyError"),
        (json.dumps({"format": "relu_cert refutation"}).encode(), "a refutation"),
        (json.dumps({**planted("corner").certificate, "facts": {}}).encode(), "KeyError"),
    ],
)
def test_what_the_proved_checker_does_not_speak_of(text: bytes, found: str) -> None:
    """Plain ReLU networks over all patterns, with the evidence that it needs; data are compared where there are any."""
    with pytest.raises(Declined, match=f"--proved: expected .*, found .*{found}"):
        proved.read(text, None, Limits())
    case = planted("corner")
    assert isinstance(proved.read(case.text, case.raw, Limits()), CoverText)
    assert isinstance(proved.read(single().text, single().raw, Limits()), LeadersText)
    with pytest.raises(Rejected):
        proved.read(case.text, case.raw + b"\n", Limits())


def test_limits_of_certificates() -> None:
    """Those that are given hold for the text, too; what is no object is no certificate."""
    for ask in (proved.prove, proved.theorem):
        with pytest.raises(Declined, match="at most 10 bytes"):
            ask(planted("corner").text, None, Limits(size=10))
    with pytest.raises(Rejected, match="object"):
        proved.read(b"[]", None, Limits())


def test_a_cell_by_hand() -> None:
    """Rows 0 and 2 are equal and row 3 is zero. The first of equal rows carries what all of them have: theta, |p| + q,
    and the weights of leaders; what another one has goes to it by a leader of its own, or from it, by the sign. Numbers
    are times the unit's 2; lambda = 20 on halves, over 3, nu = 3; 2^4 / sqrt of the squares of rows and normals."""
    problem = Problem("relu", F(20), mat([["1/2", 0], [0, "1/2"], ["1/2", 0], [0, 0]]), vec(1, 1, 1, 1))
    text = LeadersText(problem, (), ([0] * 4, 3), {})
    first = {"row": 0, "c": "9", "near": [1], "weights": "-3", "normals": [1], "normal_weights": "5"}
    second = {"row": 1, "c": "11", "near": [], "weights": "", "normals": [], "normal_weights": ""}
    cell = {"nu": "3", "rows": [1], "p": "-4", "q": "6", "normals": [1], "excess": "7", "squares": "8"}
    cell |= {"leaders": [first, second]}
    centres = [[1, 0], [0, 2]]
    for theta, rows, leaders in (
        ([3, -2, 1, 5], "4", ["2 1 0 0 1 0 1", "3 5 0 0 0"]),
        ([3, -2, 1, 1], "4", ["2 1 0 0 1 0 1", "3 1 0 0 0"]),
        ([3, -2, -1, 0], "2", ["0 1 0 0 1 2 1"]),
        ([-3, -2, 0, -5], "0", []),
    ):
        said = list(text.cell(cell, theta, 2, centres, 0, 4))
        led = [*leaders, f"0 {rows} 1 18 2 1 -6 5 10", "1 24 1 22 0"]
        sigma = (4 * (20 * 2 * 3 - 6) - 40) << 8
        assert said == [
            "cell 0 -8 0 0",
            "0 16 12 16 0 16 0 0 0 0 16 7",
            f"0 14 {sigma} {24 << 8} 0",
            *(str(len(led)), *led),
            *("0", "0"),
        ]
    leaning = {**cell, "leaders": [{**first, "near": [3], "row": 1}]}
    last = [*text.cell(leaning, [0, 0, 0, 1], 1, centres, 0, 4)][3:]
    assert last == ["2", "3 4 0 0 0", "1 10 2 9 2 3 -3 5 5", "0", "0"]  # the zero row has 1 + 3
    own = {**cell, "leaders": [{**second, "row": 3}]}
    assert [*text.cell(own, [0, 0, 0, 1], 1, centres, 0, 4)][3:] == ["1", "3 1 2 11 0", "0", "0"]


def test_triangles_by_hand() -> None:
    """A leader that is a corner is tied, its c more by the weights of its triangles; the sign 1 comes after the tied
    ones; corners may be equal. Numbers are times the unit's 2, the weights of squares times 2^8, too. sigma has less by
    all that is added to the c, and more by the weights: what is not the sign 1 has to be paid for."""
    text = LeadersText(Problem("relu", F(20), mat([[1, 0], [0, 1]]), vec(1, 1)), (), ([0] * 2, 3), {})
    empty = {"near": [], "weights": "", "normals": [], "normal_weights": ""}
    cell = {"nu": "3", "rows": [], "p": "", "q": "", "normals": [], "excess": "", "squares": ""}
    cell |= {"leaders": [{"row": 0, "c": "9", **empty}, {"row": 1, "c": "11", **empty}]}
    both = {"corners": "0 1 2 2 2 1", "signs": "1 -1 -1 -1", "weights": "5 7"}
    second = {"corners": "2 0 0", "signs": "-1 1", "weights": "5"}
    tied = [*("0", "2", "0 1 1 42 0", "1 1 1 60 0"), *("2", "2560 3 2 1 0 1 1 -1", "3584 3 1 1 1 -1 0 1")]
    one = [*("1", "0 1 1 18 0", "1", "1 1 1 32 0"), *("1", "2560 3 0 1 1 -1 1 -1")]
    for triangles, rest, lines in ((both, 24 - 42 - 60, tied), (second, 10 - 18 - 32, one)):
        said = list(text.cell({**cell, "triangles": triangles}, [1, 1], 2, [], 0, 4))
        assert said[2].split() == [str((4 * (60 - 6) + rest) << 8), str(24 << 8), "0"] and said[3:] == lines
    for corners in ("0 1 3", "-1 1 0", "1 2"):
        with pytest.raises((LookupError, ValueError)):
            list(text.cell({**cell, "triangles": {**second, "corners": corners}}, [1, 1], 2, [], 0, 4))


def test_scales_of_cells() -> None:
    """As many bits as the longest of the c, the rows and the distances of centres, and 256 more."""
    plain = {"rows": [], "p": "", "q": "", "normals": [], "excess": "", "squares": "", "nu": "0", "leaders": []}
    problem = Problem("relu", F(1), mat([[3, 0]]), vec(1))
    for centres, bits in (([], 4), (["100 0", "-100 5"], 16), (["100 0", "100 5"], 5)):
        evidence = {"unit": "1", "+": {"centres": centres, "cells": [plain] * max(len(centres), 1)}}
        text = LeadersText(problem, (), ([0], 1), {**evidence, "-": {"centres": [], "cells": [plain]}})
        lines = list(text.proof())
        assert lines[:4] == ["leaders", "theta 1 0", "lower 0 1", f"scales {1 << 256 + bits} {1 << 256 + bits}"]
        assert lines[4 : 5 + len(centres)] == [f"centres {len(centres)}", *centres] and lines[-1] == "end"


def test_lines_without_weight() -> None:
    """A line through a neuron that has no weight has no share; directions that are zero are none."""
    text = proved.read(planted("corner").text, None, Limits())
    assert isinstance(text, CoverText)
    lines = text.weights["+"].lines
    bare = CoverText(text.problem, text.neurons, text.point, text.evidence)
    bare.__dict__["weights"] = {"+": Weights(lines, (0, 2), (0, 0), 1)}
    assert bare.neuron({"sign": "+", "u": "0 1", "shares": ""}) == ((0, 2), "neuron 1 0 2 0  1 1")
    for u, v in (("0 1", (0, 2)), ("0 -1", (0, 0))):
        assert bare.face({"sign": "+", "u": u})[0] == v  # lines below u count for nothing
    bare.__dict__["ties"] = [("-", (0, 1), ""), ("+", (0, 0), ""), ("+", (3, 4), "")]
    assert bare.directions == [("+", (3, 4)), ("-", (0, 1))]


def test_why_it_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dependent outputs, too many neurons or none, or a line that bends up."""
    text = proved.read(planted("corner").text, None, Limits())
    square = proved.read(CERTIFICATES["square-cover"](), None, Limits())
    assert square.obstacle((1, 0)) == "the outputs of the directions of the ties, as it is given them, are dependent"
    for most, open_ in ((1, False), (0, True)):
        monkeypatch.setattr(proved, "MOST_CLASSES", most)
        assert isinstance(text, CoverText) and (list(text.unique()) == []) is open_
        assert (text.obstacle((1, 0)) == "there are 1 directions of ties, more than 0") is open_
        assert ("bends up" in text.obstacle((1, 0))) is not open_
    monkeypatch.undo()
    assert isinstance(text, CoverText) and "bends up" in text.obstacle((1, 0))
    assert text.obstacle(None).startswith("it does not accept that optimal neurons lie in the cones of the ties")
    none = CoverText(text.problem, text.neurons, text.point, {**text.evidence, "ties": []})
    assert none.obstacle((1, 0)) == "no tie has a direction"
    assert list(none.unique()) == []
    tie = text.evidence["ties"][0]
    same = CoverText(text.problem, text.neurons, text.point, {**text.evidence, "ties": [tie, tie]})
    assert len(same.directions) == 1 and "bends up" in same.obstacle((1, 0))


def softmax(y: Any, theta: Any, *wide: Any) -> SoftmaxText:
    """z = 1 and 2, Theta row by row over 4."""
    problem = Problem("relu", F(1), mat([[1], [2]]), vec(*y), logistic=True, targets=len(y) // 2)
    return SoftmaxText(problem, (), (list(theta), 4), {}, tuple((vec(*w), vec(*v)) for w, v in wide), ())


def test_sums_of_exponentials_by_hand() -> None:
    """U is above log sum_c exp f_c and E above exp (f_c - U), by less than 2^-230; the loss is sum U - Y.f."""
    text = softmax((1, 0, 0, 0, 1, 0), [0] * 6, ((1,), (2, -1, 0)), ((-1,), (5, 5, 5)))
    fits = [[float(x) for x in f] for f in text.fits]
    assert fits == [pytest.approx([2, 4]), pytest.approx([-1, -2]), pytest.approx([0, 0])]
    with ctx.workprec(600):
        unit = arb(2) ** 320
        exact = [[arb(fmpq(x.numerator, x.denominator)) for x in f] for f in text.fits]
        for k, U in enumerate(text.sums):
            above = U - unit * sum((f[k].exp() for f in exact), arb(0)).log()
            assert arb(0) < above < arb(2) ** 90
        lines = [[int(x) for x in line.split()] for line in text.above()]
        assert lines[0] == text.sums and len(lines) == 4
        for f, shares in zip(exact, lines[1:], strict=True):
            for x, U, E in zip(f, text.sums, shares, strict=True):
                assert arb(0) < E - unit * (x - U / unit).exp() < arb(2) ** 90
        assert all(sum(shares) <= 1 << 320 for shares in zip(*lines[1:], strict=True))
    assert text.loss == F(sum(text.sums), 1 << 320) - text.fits[0][0] - text.fits[1][1]
    assert 0 <= text.upper - text.loss - penalty_of(text) < F(1, 1 << 279)


def penalty_of(text: SoftmaxText) -> F:
    """Half the squares of its weights."""
    squares = sum(x * x for w, v in text.balanced for x in (*w, *v))
    return F(squares, 2 << 2 * proved.WEIGHT_BITS)


def test_chances_by_hand() -> None:
    """Y - Theta row by row; logarithms of those that are not 0, from above; more bits where one is very small."""
    text = softmax((1, 0, 0, 1), [1, -1, -4, 4])
    assert text.chances == [F(3, 4), F(1, 4), 1, 0]
    three, one, whole, nothing = text.logs
    assert nothing == 0 and 0 < whole < 1 << 90
    with ctx.workprec(600):
        for L, p in ((three, arb(3) / 4), (one, arb(1) / 4)):
            assert arb(0) < L - arb(2) ** 320 * p.log() < arb(2) ** 90
    assert [*text.below()] == [f"{three} {whole}", f"{one} {nothing}"]
    assert text.lower == -(3 * three + one + 4 * whole) / F(4 << 320)
    assert [*text.units()] == [f"exps 300 {1 << 1200} {1 << 320}"]
    tiny = SoftmaxText(text.problem, (), ([1, -1, -(1 << 700), 1 << 700], 1 << 700), {}, (), ())
    assert [*tiny.units()] == [f"exps 300 {1 << 1200 + 2 * (700 - 512)} {1 << 320}"]
    half = SoftmaxText(text.problem, (), ([1, -1, -(1 << 512), 1 << 512], 1 << 512), {}, (), ())
    assert [*half.units()] == [f"exps 300 {1 << 1200} {1 << 320}"]


def logistic(x: Any, y: Any = (1, -1), theta: Any = (1, -1), loss: bool = True) -> TermsText:
    """No neuron, and x times the free column (1, -2); theta over 4."""
    problem = Problem("relu", F(1), mat([[1], [2]]), vec(*y), logistic=loss, free=("skip",), outputs=(vec(1, -2),))
    return TermsText(problem, (), (list(theta), 4), {}, Text(problem, (), (list(theta), 4), {}), (F(x),))


@pytest.mark.parametrize("x", [0, "1/3", 20, 63, 64, 65, 300, -5000])
def test_logistic_losses_by_hand(x: Any) -> None:
    """E is above exp(-y f) and U above log(1 + E), both by less than 2^-200 of it; also where the loss is thousands."""
    text = logistic(x, (1, 1))
    assert text.fit == [F(x), -2 * F(x)]
    with ctx.workprec(40000):
        unit = arb(2) ** 320
        for (E, U), s in zip(text.losses, text.fit, strict=True):
            exact = (-arb(fmpq(s.numerator, s.denominator))).exp() * unit
            assert arb(0) < E - exact < exact / arb(2) ** 200 + 2
            assert arb(0) < U - unit * (1 + E / unit).log() < arb(2) ** 90
    assert text.upper - F(sum(U for _, U in text.losses), 1 << 320) < F(1, 1 << 279)


def test_rows_of_zeros_by_hand() -> None:
    """At a target 0 U is above 1/2 f^2 and L1 above 1/2 theta^2, by a unit at most, and the dual value is -L1."""
    text = logistic("1/3", (1, 0), (0, 3))
    one = 1 << LOG_BITS
    (_, U), (_, L1) = text.losses[1], text.entropies[0]
    assert text.losses[1][0] == 0 and 0 < U - F(2, 9) * one <= 1
    assert text.entropies[0][0] == 0 < L1 < 1 << 90 and text.entropies[1] == [1 + F(9, 32) * one, 0]
    assert text.lower == F(-L1, one) - F(9, 32) - F(1, one)
    certain = logistic(0, (1, -1), (4, 0))
    assert certain.entropies[0][1] == certain.entropies[1][0] == 0


@pytest.mark.parametrize(("x", "more"), [(0, 0), (256, 0), ("513/2", 2), (400, 2 * 288), (-400, 2 * 288)])
def test_bits_of_exponentials(x: Any, more: int) -> None:
    """Twice as many more as the largest score has beyond 512; with squares none."""
    assert logistic(x).exp_bits == 1200 + more
    assert logistic(x, loss=False).exp_bits == 1200


def test_forms_with_negative_powers_are_lifted() -> None:
    """N_12 = 3 2^(-5 + 1 + 2), and 2^-5 4 for the first generator twice: times 8 all are integers."""
    assert lifted(([3], -5), [(1, 0), (0, 3)]) == (8, ["3<1"])
    assert lifted(([3], 0), [(1, 0), (0, 3)]) == (1, ["3<3"]) and lifted(None, [(1, 0)]) == (0, [])


def test_several_outputs_without_rows() -> None:
    """Rows of zeros have no direction: one leaf without generators, no vertices."""
    streams = {"codes": stream(bytes([200])), "multipliers": stream(b""), "shares": stream(b""), "forms": stream(b"\0")}
    problem = Problem("relu", F(1), mat([[0]]), vec(1, 2), targets=2)
    text = OutputsText(problem, (), ([1, 2], 1), {"basis": [], "ties": [], "tree": streams}, (), ())
    assert [*text.grounds()][-1] == "L 1 0 0"


def test_terms_on_the_ground_of_leaders() -> None:
    """Two bags of half a row each, theta = (3, 4)/2: P'theta = (3, 4)/4 in parts of 1/4, beside targets 0. A logistic
    loss alone is a term, too; squares alone are none, and targets stay."""
    plain = Problem("relu", F(9), mat([[1], [2]]), vec(1, -1))
    empty = {"centres": [], "cells": []}
    led = {"leaders": {"unit": "1/2", "theta": "3 4", "+": empty, "-": empty}}
    halves = replace(plain, bags=(Bag(F(1, 2), (0,), (1,)), Bag(F(1, 2), (1,), (1,))))
    text = proved.text_of(halves, {"neurons": []}, led)
    assert isinstance(text, TermsText) and text.point == ([3, 4], 2)
    assert text.ground.point == ([3, 4], 4) and text.ground.evidence["unit"] == "1/4"
    listed = {"dual": {"theta": "1/2 -1/3"}}
    for facts, point in ((led, ([3, 4], 2)), (listed, ([3, -2], 6))):
        alone = proved.text_of(plain, {"neurons": []}, facts)
        assert isinstance(alone, LeadersText | ListedText) and alone.problem is plain and alone.point == point
        beside = proved.text_of(replace(plain, logistic=True), {"neurons": []}, facts)
        assert isinstance(beside, TermsText) and beside.ground.problem.y == (0, 0) and not beside.ground.problem.bags


@pytest.mark.parametrize("name", ["bags-05", "optimal-03"])
def test_no_theorem_of_other_terms_or_of_a_list(name: str) -> None:
    """Declined, before any program runs."""
    with pytest.raises(Declined, match="other terms, or a list"):
        proved.theorem((KEPT / f"{name}.json").read_bytes())
