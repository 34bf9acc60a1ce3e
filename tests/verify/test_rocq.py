"""The proved checker: it builds without gaps, accepts what is right, and accepts nothing false after any change."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from tests.verify.build.bags import on_a_line, produced
from tests.verify.build.leaders import free_leaders
from tests.verify.corpus.rejected_cases import changed as another
from tests.verify.cover.fold import fold
from tests.verify.cover.plant import planted
from tests.verify.oracle.brute import mat, vec
from verify import Declined, Rejected, Usage, check, proved
from verify.__main__ import main
from verify.cover.lines import dot
from verify.optimal.leaders import check_leaders
from verify.problem.variants import ELASTIC
from verify.proved_terms import TermsText
from verify.text import Limits, Node

FOLDER = Path(__file__).parent / "rocq"
CORPUS = Path(__file__).parent / "corpus"
ROCQ = Path(proved.__file__).parent / "rocq"
MISSING = [tool for tool in ("coqc", "ocamlfind", "make") if shutil.which(tool) is None]
CERTIFICATES = ("xor-cover", "xor-leaders", "plane-leaders", "tied-leaders", "blood-cover", "side-cover", "sides-cover")
pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")]


def make(*targets: str) -> subprocess.CompletedProcess[str]:
    """`make` in the folder of the proved checker, one at a time."""
    with (ROCQ / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return subprocess.run(["make", "-s", "-C", ROCQ, *targets], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The checker is built before any test."""
    done = make()
    assert done.returncode == 0, done.stderr


def certificate(name: str) -> bytes:
    """A certificate of the folder."""
    return (FOLDER / f"{name}.json").read_bytes()


@cache
def text_of(name: str) -> tuple[str, ...]:
    """The words of its text."""
    lines = proved.read(certificate(name), None, Limits()).lines()
    return tuple(word for line in lines for word in line.split())


def answers(words: Sequence[str]) -> list[str]:
    """What the proved checker says to a text."""
    done = subprocess.run([ROCQ / "relucheck"], input=" ".join(words), capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def bound(said: Sequence[str], name: str) -> Fraction | None:
    """An accepted bound."""
    for line in said:
        words = line.split()
        if words[0] == name and words[-1] == "accepted":
            return Fraction(int(words[1]), int(words[2]))
    return None


def test_no_gap_and_no_other_axiom() -> None:
    """No Admitted, no axiom of our own; the theorems rest on the listed axioms of the reals and on no others."""
    done = make("axioms")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_kernels_own_checker() -> None:
    """coqchk accepts the whole development (a minute or two: with the profile `long` only)."""
    if settings().max_examples < 1000:
        pytest.skip("takes minutes: pytest --hypothesis-profile=long")
    done = make("audit")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", CERTIFICATES)
def test_bounds_are_proved(name: str) -> None:
    """Both bounds of a certificate are accepted, and a cover's are equal to sixty digits."""
    found = proved.prove(certificate(name))
    assert found.lower <= found.upper
    assert found.upper - found.lower < found.upper / 10 ** (60 if "cover" in name else 5)
    assert "p* is in [" in found.sentence


@pytest.mark.parametrize("name", ["xor-cover", "blood-cover"])
def test_the_optimal_network_is_unique(name: str) -> None:
    """All optimal networks are one, up to permutation and splitting; without the sums of rows that is not accepted."""
    found = proved.prove(certificate(name))
    assert found.cones is not None
    assert found.unique
    words = list(text_of(name))
    at = words.index("unique")
    text = proved.read(certificate(name), None, Limits())
    tail = len(words) - int(words[at + 4]) * text.problem.n
    blind = [*words[:tail], *["0"] * (len(words) - tail)]
    assert answers(words)[-1].endswith("accepted")
    assert answers(blind)[-1].endswith("rejected")
    wide = [*words[: at + 1], str(int(words[at + 1]) // 2), *words[at + 2 :]]
    assert answers(wide)[-1].endswith("rejected"), "the bound of the distance is too small"


WIDTHS = {"xor-cover": 3, "blood-cover": 1}


@pytest.mark.parametrize("name", WIDTHS)
def test_the_least_width(name: str) -> None:
    """No optimal network is narrower than the one with a neuron for each direction, and that is said."""
    found = proved.prove(certificate(name))
    assert found.width == (WIDTHS[name], WIDTHS[name])
    assert found.sentence.endswith(f"unique up to permutation and splitting, the least width is {WIDTHS[name]}")


def test_uniqueness_on_lines_that_bend_up() -> None:
    """A neuron on a face with convex lines through it: its leaves have room off the face, and it is unique. With a very
    large bound of its distance from the face there is not room enough."""
    case = planted("plane")
    assert proved.prove(case.text).unique
    text = proved.read(case.text, None, Limits())
    assert isinstance(text, proved.CoverText)
    here, u = text.weights["+"], [int(x) for x in text.evidence["ties"][0]["u"].split()]
    assert any(not dot(here.lines.rows[k], u) for k in here.convex), "a line through it bends up"
    words = [word for line in text.lines() for word in line.split()]
    at = words.index("unique")
    assert answers(words)[-1].endswith("accepted")
    words[at + 1] = str(3 * int(words[at + 2]) // 4)
    assert answers(words)[-1].endswith("rejected")


@pytest.mark.parametrize("name", ["side-cover", "sides-cover"])
def test_a_neuron_beside_a_line_that_bends_up(name: str) -> None:
    """A piece that is above f1 on one side of a convex line only: accepted by both checkers, by the multiplier of the
    side; without it, the leaf fails at generators across the line."""
    assert any(line.claim == "optimal" and line.verdict == "PROVED" for line in check(certificate(name)))
    words = list(text_of(name))
    assert bound(answers(words), "lower") is not None
    beyond = 0
    for at in (k for k, word in enumerate(words) if word == "neuron"):
        q, d = int(words[at + 1]), 3
        first = at + 3 + d + int(words[at + 2 + d])
        convex = range(first + 1, first + 1 + int(words[first]))
        beyond += sum(not 0 <= int(words[k]) <= q for k in convex)
        for k in convex:
            words[k] = "0"
    assert beyond
    assert bound(answers(words), "lower") is None


@pytest.mark.parametrize(
    ("q", "lower", "h", "right"), [(1, "3 2", -1, False), (1, "3 2", 0, False), (2, "7 8", 0, True)]
)
def test_a_multiplier_of_a_side_is_not_negative(q: int, lower: str, h: int, right: bool) -> None:
    """z = 1, y = 2, lambda = 1/2, p* = 7/8 by theta = 1/2; a negative multiplier would let theta = 1 prove 3/2."""
    start = f"problem 1 1 1 1 1 2 1 2 cover lines 1 1 0 1 theta {q} 1 lower {lower} coarse 100 1 0 basis 1 1 0 ties 0"
    trees = f"vertices 0 N 0 F 2 {q} 0 1 {h} F 1 0 0 0 vertices 0 F 1 0 1 0 0"
    said = answers(f"{start} {trees} end".split())
    assert (bound(said, "lower") is not None) == right


def test_long_numbers_do_not_hide_uniqueness() -> None:
    """A dual point of 1,300 bits, longer than any float: each class still finds the rows that see it alone."""
    tree = json.loads(certificate("xor-cover"))
    tree["facts"]["cover"]["theta"] = {"tau": f"{10**60 - 1}/{10**60}", "bits": 1300}
    assert proved.prove(json.dumps(tree).encode()).unique


def test_what_is_not_unique_is_not_accepted() -> None:
    """Rows +-e_1, +-e_2 with y = 1: four diagonals fit in many ways, whatever sums of rows are proposed."""
    found = proved.prove(certificate("square-cover"))
    assert found.cones is not None
    assert not found.unique
    draw = random.Random(3)
    for _ in range(40):
        betas = [str(draw.randrange(-9, 10)) for _ in range(16)]
        corners = ["1", "1", "1", "-1", "-1", "1", "-1", "-1"]
        section = ["unique", "1", "1" + "0" * 12, "4", "4", *corners, *betas]
        assert answers([*text_of("square-cover"), *section])[-1].startswith("unique")
        assert answers([*text_of("square-cover"), *section])[-1].endswith("rejected")


def test_the_data_are_compared() -> None:
    """With other raw data the certificate is rejected before the proved checker is asked."""
    raw = (FOLDER / "xor.csv").read_bytes()
    assert proved.prove(certificate("xor-cover"), raw).lower > 0
    with pytest.raises(Rejected):
        proved.prove(certificate("xor-cover"), raw.replace(b"1,1,1,0", b"1,1,1,1"))


def test_another_echo_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checker that has checked another problem, other bounds, or nothing, is not believed."""
    right = answers(text_of("xor-cover"))
    assert [line.split()[0] for line in right] == ["problem", "upper", "lower", "neurons", "unique"]
    wrong = [
        [],
        right[1:],
        [right[0].replace("problem 3 4 1", "problem 3 4 2"), *right[1:]],
        [right[0] + " 0", *right[1:]],
        [right[0], right[1].replace("accepted", "rejected"), *right[2:]],
        [*right[:2], right[2].replace("accepted", "rejected"), *right[3:]],
        [*right[:2], "lower 1 2 accepted", *right[3:]],
    ]
    for said in wrong:
        monkeypatch.setattr(proved, "run", lambda *_, said=said: said)
        with pytest.raises(Rejected):
            proved.prove(certificate("xor-cover"))
    monkeypatch.setattr(proved, "run", lambda *_: right)
    assert proved.prove(certificate("xor-cover")).unique
    monkeypatch.setattr(proved, "run", lambda *_: [*right[:3], right[3].replace("accepted", "rejected"), right[4]])
    assert proved.prove(certificate("xor-cover")).cones is None
    assert not proved.prove(certificate("xor-cover")).unique


@pytest.mark.parametrize("name", CERTIFICATES)
def test_no_better_bound_is_accepted(name: str) -> None:
    """A lower bound above the upper one, and an upper one below the lower, are rejected."""
    words = list(text_of(name))
    at = words.index("lower")
    words[at + 1 : at + 3] = ["1000", "1"]
    assert bound(answers(words), "lower") is None
    text = proved.read(certificate(name), None, Limits())
    stated = str(text.upper * (1 << proved.BOUND_BITS))
    words = [str(int(stated) - (1 << 275)) if word == stated else word for word in text_of(name)]
    assert bound(answers(words), "upper") is None


def mutants(words: Sequence[str], count: int, seed: int) -> list[tuple[int, list[str]]]:
    """Words changed one at a time: numbers by one, by sign or to zero, bytes of packed trees, names of sections."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        k = draw.randrange(len(words))
        word = words[k]
        if word.lstrip("-").isdigit() and len(word) < 400:
            new = str(draw.choice([int(word) + 1, int(word) - 1, -int(word), 0]))
        elif len(word) > 8:
            i = draw.randrange(len(word))
            new = word[:i] + draw.choice("0123456789abcdef") + word[i + 1 :]
        else:
            new = draw.choice(["", "end", "0"])
        if new != word:
            found.append((k, [*words[:k], new, *words[k + 1 :]]))
    return found


@pytest.mark.parametrize("name", ["xor-cover", "xor-leaders", "tied-leaders"])
def test_what_is_accepted_after_a_change_is_true(name: str) -> None:
    """One word of the text is changed: the statement is another one, or no false bound is accepted."""
    words = text_of(name)
    text = proved.read(certificate(name), None, Limits())
    rejected = 0
    for k, changed in mutants(words, int(os.environ.get("RELU_CERT_MUTANTS", "400")), seed=7):
        said = answers(changed)
        if not said or said[0] != text.statement:
            rejected += 1
            continue
        assert k >= len(text.statement.split()), "a change of the problem is echoed"
        lower, upper = bound(said, "lower"), bound(said, "upper")
        assert lower is None or lower <= text.upper, (k, words[k], changed[k])
        assert upper is None or upper >= text.lower, (k, words[k], changed[k])
        rejected += lower is None or upper is None
    assert rejected > 100


def test_a_cover_without_a_leaf_is_rejected() -> None:
    """A tree that is cut short, or has a leaf too many, is malformed; one of the other sign is rejected."""
    words = list(text_of("blood-cover"))
    sides = [k for k, word in enumerate(words) if word == "packed"]
    short = words.copy()
    short[sides[0] + 1] = short[sides[0] + 1][:-2]
    long = words.copy()
    long[sides[0] + 1] += "c8"
    swapped = words.copy()
    for i in range(1, 5):
        swapped[sides[0] + i], swapped[sides[1] + i] = words[sides[1] + i], words[sides[0] + i]
    assert bound(answers(words), "lower") is not None
    for wrong in (short, long, swapped):
        assert bound(answers(wrong), "lower") is None


def compiled(text: str, path: Path) -> list[set[str]]:
    """The axioms of each theorem of a file, after coqc has checked it."""
    path.write_text(text)
    done = subprocess.run(["coqc", "-q", "-Q", ROCQ, "Relu", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    parts = done.stdout.split("Axioms:")[1:]
    return [{line.split()[0] for line in part.splitlines() if line and not line.startswith(" ")} for part in parts]


def allowed(*names: str) -> list[set[str]]:
    """The axioms of these files."""
    return [set((ROCQ / name).read_text().split()) for name in names]


def test_a_theorem_in_the_kernel(tmp_path: Path) -> None:
    """coqc proves both bounds for xor, and that the optimal network is unique, without extraction and other axioms."""
    found = compiled(proved.theorem(certificate("xor-cover"), (FOLDER / "xor.csv").read_bytes()), tmp_path / "Xor.v")
    assert found == allowed("axioms.txt", "axioms-existence.txt"), "the bounds on two axioms, uniqueness on two more"


@pytest.mark.parametrize("name", ["xor-leaders", "plane-leaders", "tied-leaders"])
def test_a_theorem_by_leaders(name: str, tmp_path: Path) -> None:
    """coqc proves both bounds by leaders on the same two axioms; no word of uniqueness."""
    text = proved.theorem(certificate(name))
    assert "bounds_unique" not in text
    assert compiled(text, tmp_path / "Leaders.v") == allowed("axioms.txt")


def test_a_theorem_about_real_data(tmp_path: Path) -> None:
    """coqc proves both bounds and uniqueness for the blood data (748 x 4; a minute: with the profile `long` only)."""
    if settings().max_examples < 1000:
        pytest.skip("takes a minute: pytest --hypothesis-profile=long")
    found = compiled(proved.theorem(certificate("blood-cover")), tmp_path / "Blood.v")
    assert found == allowed("axioms.txt", "axioms-existence.txt")


OTHERS: dict[str, dict[str, object]] = {
    "gated": {"problem.model": "gated"},
    "some patterns": {"problem.patterns": ["11"]},
    "elastic": {"problem.objective": ELASTIC, "problem.delta": "1"},
    "no evidence": {"facts.cover": ...},
    "no network": {"facts.primal": ...},
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_problems_are_declined(name: str) -> None:
    """Nothing is said about gated networks, some patterns, delta, or without evidence."""
    with pytest.raises(Declined, match="--proved"):
        proved.prove(another(planted("corner"), OTHERS[name]))


def test_what_is_open_is_said() -> None:
    """A neuron in two pieces beside a line that bends up, one network of many, and leaders: bounds, and why no more."""
    folded = proved.prove(fold().text)
    assert folded.cones == (4, 0) and not folded.unique
    assert folded.sentence.endswith("each direction of a tie is one neuron (does one lie on a line that bends up?)")
    assert proved.prove(certificate("square-cover")).open.endswith("are dependent")
    assert proved.prove(certificate("xor-leaders")).open == "leaders bound the objective only"
    assert proved.prove(certificate("xor-cover")).open == ""


def test_a_wrong_theorem_is_no_theorem(tmp_path: Path) -> None:
    """The same evidence for other data does not compile."""
    text = proved.theorem(certificate("xor-cover"))
    assert text.count("Problem 3 [[0; 0; 1]") == 1
    path = tmp_path / "Wrong.v"
    path.write_text(text.replace("Problem 3 [[0; 0; 1]", "Problem 3 [[0; 0; 2]"))
    done = subprocess.run(["coqc", "-q", "-Q", ROCQ, "Relu", path], capture_output=True, text=True, check=False)
    assert done.returncode != 0


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--proved adds a line with the bounds, --theorem writes the file; both take no other certificates."""
    path, theorem = tmp_path / "c.json", tmp_path / "Xor.v"
    path.write_bytes(certificate("xor-cover"))
    assert main([str(path), "--data", str(FOLDER / "xor.csv"), "--proved", "--theorem", str(theorem)]) == 0
    said = capsys.readouterr().out
    assert "p* is in [0.253412035214, 0.253412035215]" in said
    assert "unique up to permutation and splitting" in said
    assert "Theorem bounds" in theorem.read_text()
    path.write_bytes(certificate("xor-cover").replace(b'"cover"', b'"other"'))
    assert main([str(path), "--proved"]) != 0


def test_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the checker is not built, one sentence says what to install and what to run."""
    monkeypatch.setattr(proved, "HERE", tmp_path)
    with pytest.raises(Usage, match=r"libzarith-ocaml-dev.*make"):
        proved.prove(certificate("xor-cover"))


@pytest.mark.parametrize("one", produced(), ids=lambda one: one[0])
def test_outputs_that_are_sums_over_bags(one: tuple[str, bytes, bytes]) -> None:
    """Both bounds are proved for the outputs P f, with squares and with the logistic loss: those of the certificate, up
    to rounding of the network and of logarithms."""
    _, text, raw = one
    value = json.loads(text)["facts"]["value"]
    found = proved.prove(text, raw)
    assert found.lower > Fraction(value["lower"]) - Fraction(1, 10**60)
    assert found.upper < Fraction(value["upper"]) + Fraction(1, 10**60)
    assert found.lower <= found.upper and not found.unique and "both bounds are proved, and no more" in found.open
    with pytest.raises(Declined, match="other terms"):
        proved.theorem(text, raw)


FREE = ("xor-free", "xor-skip", "xor-decayed", "xor-biases")


@pytest.mark.parametrize("name", FREE)
def test_free_terms(name: str) -> None:
    """An output bias without a penalty, a skip connection, a decayed bias, free biases of the first layer: both bounds,
    equal to sixty digits."""
    value = json.loads(certificate(name))["facts"]["value"]
    found = proved.prove(certificate(name))
    assert found.lower == Fraction(value["lower"]) and found.upper - found.lower < found.upper / 10**60


def decayed_logistic() -> tuple[bytes, bytes]:
    """A decayed bias beside the logistic loss: a certificate and its data."""
    path = CORPUS / "accepted" / "decayed-logistic.json"
    return path.read_bytes(), path.with_suffix(".data").read_bytes()


def test_rows_of_zeros_beside_the_logistic_loss() -> None:
    """At targets 0 the loss is 1/2 f^2 and its dual value -1/2 theta^2: no less is accepted."""
    certified, raw = decayed_logistic()
    value = json.loads(certified)["facts"]["value"]
    found = proved.prove(certified, raw)
    assert abs(found.lower - Fraction(value["lower"])) + abs(found.upper - Fraction(value["upper"])) < Fraction(
        1, 10**30
    )
    text = proved.read(certified, raw, Limits())
    assert isinstance(text, TermsText)
    lines = list(text.lines())
    for pairs, which, bound_of in ((text.losses, 1, "upper"), (text.entropies, 0, "lower")):
        pair = pairs[-1]
        less = [x - 2 * (k == which) for k, x in enumerate(pair)]
        at = max(k for k, line in enumerate(lines) if line == f"{pair[0]} {pair[1]}")
        assert bound(ran(lines), bound_of) is not None
        assert bound(ran([*lines[:at], f"{less[0]} {less[1]}", *lines[at + 1 :]]), bound_of) is None


def test_no_other_terms_are_accepted() -> None:
    """Each number of P, B, y, theta and the bounds, changed by one: another statement is printed, or it is rejected."""
    case = on_a_line("line", (mat([[3], [4], [-1]]), mat([[4], [0], [-1]]), mat([[1], [1]])), vec(1, -2, 1))
    for certified in (case.text, *map(certificate, FREE)):
        text = proved.read(certified, None, Limits())
        assert ran(list(text.lines())) == text.expected
        words = " ".join(text.lines()).split()
        start, upper = words.index("terms"), words.index("upper")
        theta = words.index("theta", upper)
        stated = [
            *range(start + 1, words.index("prisms" if "prisms" in words else "cover")),
            *range(theta - 2, len(words)),
        ]
        numbers = [k for k in stated if words[k].lstrip("-").isdigit()]
        assert len(numbers) > 15
        for k in numbers:
            other = [*words[:k], str(int(words[k]) + 1), *words[k + 1 :]]
            assert ran([" ".join(other)]) != text.expected, (k - start, words[k])


ALL_OUTPUTS = [path.stem for path in sorted((CORPUS / "accepted").glob("outputs-*.json"))]
OUTPUTS = [name for name in ALL_OUTPUTS if "free-biases" not in name]


@pytest.mark.parametrize("name", sorted({*ALL_OUTPUTS} - {*OUTPUTS}))
def test_several_outputs_with_free_biases_are_declined(name: str) -> None:
    """No theorem is about them yet, and that is said."""
    with pytest.raises(Declined, match="without free biases"):
        proved.prove((CORPUS / "accepted" / f"{name}.json").read_bytes())


@pytest.mark.parametrize("name", OUTPUTS)
def test_several_outputs(name: str) -> None:
    """Both bounds of networks with several outputs, by the quadratic lemma: with bags, a free and a decayed bias, too.
    Each number of the statement, Theta and the bounds, changed by one: another statement is printed, or a rejection."""
    certified = (CORPUS / "accepted" / f"{name}.json").read_bytes()
    value = json.loads(certified)["facts"]["value"]
    found = proved.prove(certified)
    assert found.lower == Fraction(value["lower"]) and "both bounds are proved, and no more" in found.open
    assert abs(found.upper - Fraction(value["upper"])) < Fraction(1, 10**60)
    text = proved.read(certified, None, Limits())
    words = " ".join(text.lines()).split()
    terms, lines, upper = words.index("terms"), words.index("lines"), words.index("upper")
    theta = words.index("theta", upper)
    for k in (*range(terms + 1, lines), *range(theta - 2, len(words))):
        if words[k].lstrip("-").isdigit():
            other = [*words[:k], str(int(words[k]) + 1), *words[k + 1 :]]
            assert ran([" ".join(other)]) != text.expected, (k - terms, words[k])
    level = words.index("basis") - 2
    for at, more in (
        (level, 2 * int(words[level]) + 1),
        (terms - 1, 2 * int(words[terms - 1])),
    ):  # that, or half of lambda
        other = [*words[:at], str(more), *words[at + 1 :]]
        assert ran([" ".join(other)])[-1].endswith("rejected"), "a level above lambda^2"


def test_the_softmax() -> None:
    """Both bounds with the softmax, by chances Y - Theta. Each number of Theta and of the statement changed by one:
    another statement is printed, or a rejection; and so with any logarithm or exponential 2^-200 lower, or with one
    that is missing. The logistic loss is not read beside several outputs, nor the softmax beside one."""
    certified = (CORPUS / "accepted" / "given-outputs-softmax.json").read_bytes()
    value = json.loads(certified)["facts"]["value"]
    found = proved.prove(certified)
    assert 0 <= found.lower - Fraction(value["lower"]) + Fraction(1, 10**60) < Fraction(2, 10**60)
    assert abs(found.upper - Fraction(value["upper"])) < Fraction(1, 10**60)
    text = proved.read(certified, None, Limits())
    words = " ".join(text.lines()).split()
    assert ran([" ".join(words)]) == text.expected
    terms, lines, upper = words.index("terms"), words.index("lines"), words.index("upper")
    theta, n, C = words.index("theta", upper), text.problem.n, text.problem.targets
    assert text.problem.targets > 1 and words[terms + 1] == "softmax"

    def rejected(other: list[str]) -> bool:
        return ran([" ".join(other)]) != text.expected

    for k in (*range(terms + 2, lines), *range(theta + 2, theta + 2 + n * C)):
        if words[k].lstrip("-").isdigit():
            assert rejected([*words[:k], str(int(words[k]) + 1), *words[k + 1 :]]), (k - terms, words[k])
    above = range(theta - 2 - n * (C + 1), theta - 2)
    below = [k for k in range(theta + 2 + n * C, theta + 2 + 2 * n * C) if words[k - n * C] != "0"]
    for k in (*above, *below):
        assert rejected([*words[:k], str(int(words[k]) - (1 << 120)), *words[k + 1 :]]), (k, words[k])
        assert rejected([*words[:k], "0", *words[k + 1 :]]), (k, words[k])
    for loss in ("logistic", "squares"):
        assert rejected([*words[: terms + 1], loss, *words[terms + 2 :]])
    single = " ".join(proved.read(next(t for name, t, _ in produced() if "logistic" in name), None, Limits()).lines())
    assert ran([single.replace("terms logistic", "terms softmax")])[-1].startswith("malformed")


@pytest.mark.parametrize(
    ("sums", "shares", "right"),
    [("2", "1 1", True), ("2", "1 2", False), ("1", "1 1", False), ("2", "0 1", False), ("3", "1 1", True)],
)
def test_sums_of_exponentials(sums: str, shares: str, right: bool) -> None:
    """One row, two classes and no neuron: the loss log 2 is at most U/2 if numbers of at least exp -U/2, over 2, have a
    sum of at most 2."""
    tree = "L 1 0 0 L 1 0 0"
    ground = f"outputs 2 1 0 lines 1 1 0 1 weights 1 0 0 0 1 8 basis 1 1 0 {tree}"
    upper = f"upper 0 1 1 {sums} {shares} {sums} 2 theta 1 0 0"
    start = f"problem 1 1 1 1 1 0 1 1 terms softmax 1 bags 0 free 0 1 1 1 0 {ground} exps 100 {1 << 300} 2"
    said = answers(f"{start} {upper} 0 0 lower 0 1".split())
    assert (bound(said, "upper") is not None) == right, said


@pytest.mark.parametrize(
    ("theta", "logs", "lower", "right"),
    [
        ("1 -1", "-6 -6", "6 10", True),
        ("1 -1", "-7 -6", "6 10", False),
        ("1 -1", "-6 -6", "7 10", False),
        ("1 -1", "-6 -6", "-1 1", True),
        ("1 0", "-6 -6", "-1 1", False),
        ("0 0", "0 -6", "0 1", True),
        ("3 -3", "-6 5", "-1 1", False),
    ],
)
def test_chances(theta: str, logs: str, lower: str, right: bool) -> None:
    """One row of class 1 of two, Theta over 2: 1/2 and 1/2 are chances, with logarithms of at most -6/10; 1/2 and 0 are
    none, nor -1/2 and 3/2."""
    first, second = theta.split()
    weights = f"weights 2 {first} {second} 5 1000"
    ground = f"outputs 2 1 0 lines 1 1 0 1 {weights} 8 basis 1 1 0 L 1 0 0 L 1 0 0"
    start = f"problem 1 1 1 1 1 0 20 1 terms softmax 1 bags 0 free 0 1 1 1 0 {ground} exps 100 {1 << 300} 10"
    said = answers(f"{start} upper 0 1 1 9 5 5 9 10 theta 2 {theta} {logs} lower {lower}".split())
    assert (bound(said, "lower") is not None) == right, said


LISTED = (
    "optimal-03",
    "optimal_set-07",
    "bags-26",
    "free-logistic-attained",
    "network-04",
    "min_norm-03",
    "optimal-06",
)


@pytest.mark.parametrize("name", LISTED)
def test_lists_of_patterns(name: str) -> None:
    """Both bounds by multipliers for all pieces, also with bags, free terms and the logistic loss. A row that is told
    apart on the other side, a sum of rows that is not 0, and multipliers that are smaller, are rejected."""
    certified = (CORPUS / "accepted" / f"{name}.json").read_bytes()
    value = json.loads(certified)["facts"]["value"]
    found = proved.prove(certified)
    assert Fraction(value["lower"]) - Fraction(1, 10**60) < found.lower <= found.upper
    assert found.open.endswith("and no more") or found.open == "a list of patterns bounds the objective only"
    text = proved.read(certified, None, Limits())
    words = " ".join(text.lines()).split()
    N, scale = len(text.problem.seen), words.index("scale", words.index("listed"))
    for k in (k for k, word in enumerate(words) if word in "DO" and k > scale):
        if words[k] == "O":
            other = [*words[: k + 2], str(1 - int(words[k + 2])), *words[k + 3 :]]
            assert bound(ran([" ".join(other)]), "lower") is None
            for j in range(k + 3, k + 3 + N):
                other = [*words[:j], str(int(words[j]) + 1), *words[j + 1 :]]
                zero = not any(text.problem.seen[j - k - 3])  # a row of zeros may have any weight on its side
                assert zero or bound(ran([" ".join(other)]), "lower") is None
    for k in (k for k, word in enumerate(words) if word == "P" and k > scale):
        for j in (j for j in range(k + 1, k + 1 + N) if int(words[j]) > 0):
            other = [*words[:j], "-1", *words[j + 1 :]]
            assert bound(ran([" ".join(other)]), "lower") is None
    other = [*words[: scale + 1], str(2 * int(words[scale + 1])), *words[scale + 2 :]]
    assert bound(ran([" ".join(other)]), "lower") is None or value["lower"] in ("0", "0/1")


@pytest.mark.parametrize(
    ("tree", "right"),
    [
        ("D 0 P 3 0 P 0 0", True),
        ("D 0 P 2 0 P 0 0", False),  # m >= t where the row is on
        ("D 0 P 3 0 P 1 0", False),  # m <= 0 where it is off
        ("P 3 0", False),  # and neither where that is not known
        ("D 0 P 3 -1 P 0 0", True),  # t <= m <= 0 for t < 0
        ("D 0 P 3 -5 P 0 0", False),
        ("D 0 P 3 1 P 0 0", False),
        ("D 1 D 0 P 3 1 P 0 0 D 0 P 3 0 P 0 0", True),  # m >= t where it is on
        ("O 0 1 0 0 P 3 0", False),  # no sum
        ("O 0 1 1 0 P 3 0", False),  # that is not 0
        ("D 0 O 1 0 1 1 P 3 0 P 0 0", True),  # z_1 = - z_0: both on is flat
        ("D 0 O 1 1 1 1 P 3 1 P 0 0", False),  # both off the other way round is not
        ("D 0 O 1 0 0 1 P 3 0 P 0 0", False),
        ("D 7 P 3 0 P 0 0", False),
    ],
)
def test_pieces_by_hand(tree: str, right: bool) -> None:
    """Rows 1 and -1, theta = (3, -4), lambda = 3 (and 4 for the other sign, whose tree is right)."""
    start = "problem 1 2 1 1 -1 1 3 -4 4 1 listed theta 1 3 -4 lower 25 2 scale 1"
    said = answers(f"{start} {tree} D 1 P 0 4 P 0 0 end".split())
    assert (bound(said, "lower") is not None) == right, said
    narrow = answers(f"{start.replace('-4 4 1', '-4 3 1')} {tree} D 1 P 0 4 P 0 0 end".split())
    assert bound(narrow, "lower") is None


@pytest.mark.parametrize(
    ("seen", "on", "lam", "right"),
    [
        (1, "1 -1", 2, True),  # Z'm = (2, 0)
        (1, "1 0", 2, False),  # (1, 1): the bias is free, and no norm sees it
        (2, "1 0", 2, True),
        (1, "1 -1", 1, False),
        (0, "1 -1", 2, False),
        (3, "1 -1", 2, True),
    ],
)
def test_a_list_beside_free_biases(seen: int, on: str, lam: int, right: bool) -> None:
    """Rows (1, 1) and (-1, 1), theta = (1, -1), the zero network is optimal with p* = 1: multipliers whose sum is 0."""
    terms = f"terms squares {seen} bags 0 free 1 1 2 1 1 1 1 -1 listed theta 1 1 -1 lower -1 1 scale 1"
    sides = f"D 0 P {on} P 0 0 D 1 P -1 1 P 0 0 end"
    bounds = "exps 0 1 1 upper 0 1 1 0 1 1 theta 1 1 -1 lower 1 1"
    said = answers(f"problem 2 2 1 1 1 -1 1 1 0 0 {lam} 1 {terms} {sides} {bounds}".split())
    assert (bound(said, "lower") is not None) == right, said


def test_leaders_beside_free_biases() -> None:
    """kappa (b^2 - |w|^2) may be added where a row is 0, and no more than there is room for; lambda, theta and centres
    are those of the weights. Any other kappa in the text is another form."""
    for text, right in (
        (free_leaders(), True),
        (free_leaders(kappa=1), True),
        (free_leaders(kappa=100), True),
        (free_leaders(kappa=400), False),
        (free_leaders(lam="199/100"), False),  # max over w and b of (w + b)_+ - (b - w)_+ is 2 |w|
        (free_leaders(theta="100 -50"), False),
        (free_leaders(centres=("1 0", "-1 0")), True),
        (free_leaders(centres=("1 1", "-1 0")), False),
        (free_leaders(c=900), False),  # 1/4 sum c is paid
    ):
        words = " ".join(text.lines()).split()
        assert (bound(answers(words), "lower") is not None) == right, text
        try:
            check_leaders(text.problem, Node(text.ground.evidence))
        except Rejected:
            assert not right, text
        else:
            assert right, text
        seen = words.index("squares") + 1
        assert words[seen] == "1"
        assert bound(answers([*words[:seen], "0", *words[seen + 1 :]]), "lower") is None


def test_leaves_of_several_outputs() -> None:
    """One row z = 1 and two outputs: F(u) = theta (u)_+. |theta| = lambda is accepted on both sides of 0, by a form
    without N; more is not, whatever N is."""
    for theta, level, leaf, right in (
        ("3 4", 25, "L 1 0 0", True),
        ("3 4", 25, "L 1 0 1", False),  # definite means more than 0
        ("3 3", 25, "L 1 0 1", True),
        ("4 4", 25, "L 1 0 0", False),
        ("4 4", 25, "L 1 0 1", False),
        ("4 4", 33, "L 1 0 0", False),  # a level above lambda^2
        ("3 4", 25, "L 0 0 0", False),
    ):
        start = "problem 1 1 1 1 1 0 5 1 terms squares 1 bags 0 free 0 1 1 1 0 outputs 2 3 4 lines 1 1 0 1 weights 1"
        tree = f"{theta} 6 {level} 24 basis 1 1 0 {leaf} {leaf}"
        a, b = map(int, theta.split())
        bounds = f"upper 0 1 1 25 2 theta 1 {theta} lower {2 * (3 * a + 4 * b) - a * a - b * b} 2"
        said = answers(f"{start} {tree} {bounds}".split())
        assert bound(said, "upper") == Fraction(25, 2)
        assert (bound(said, "lower") is not None) == right, (theta, level, leaf)


@pytest.mark.parametrize(
    ("leaf", "right"),
    [
        ("L 2 1 1 1 0", True),  # 32 |x|^2 - 2 (x_1 + x_2) 4 (x_1 + x_2)
        ("L 2 1 1 0", False),  # which has entries below 0
        ("L 2 1 1 1 -1", False),  # N below 0
        ("L 2 1 3 1 0", False),  # a share above 1
        ("L 2 1 -1 1 0", False),
        ("L 2 0 1 0", False),  # none
        ("L 1 0 1 0", False),
    ],
)
def test_lines_that_cross_a_cone(leaf: str, right: bool) -> None:
    """F(u) = |u_1 - u_2| <= 2 |u|: the line crosses two of the four sign cones."""
    start = "problem 2 2 1 1 -1 -1 1 1 0 0 2 1 terms squares 2 bags 0 free 0 1 2 1 0 0 outputs 2 1 1 0 0"
    tree = f"lines 1 1 -1 0 1 0 -1 weights 1 1 1 0 0 2 4 24 basis 2 1 0 0 1 0 {leaf} L 1 0 1 0 L 1 0 1 0 {leaf}"
    said = answers(f"{start} {tree} upper 0 1 1 1 1 theta 1 1 1 0 0 lower 1 1".split())
    assert (bound(said, "upper"), bound(said, "lower")) == (1, 1 if right else None)


def test_prisms_of_free_biases() -> None:
    """Rows that are said to be shorter than they are, prisms that are too low, a theta whose sum is not 0, and another
    norm: rejected."""
    text = proved.read(certificate("xor-biases"), None, Limits())
    words = " ".join(text.lines()).split()
    at = words.index("prisms")
    assert ran([" ".join(words)]) == text.expected
    for place in (at + 1, at + 2):
        lower = [*words[:place], "0", *words[place + 1 :]]
        assert bound(ran([" ".join(lower)]), "lower") is None, place - at
    plain = [*words[:at], "cover", *words[at + 3 :]]  # with the norm of all weights
    assert bound(ran([" ".join(plain)]), "lower") is None
    d, n = text.problem.d, text.problem.N
    theta = words.index("theta", at)
    for k in range(theta + 2, theta + 2 + n):
        moved = [*words[:k], str(int(words[k]) + 1), *words[k + 1 :]]
        assert bound(ran([" ".join(moved)]), "lower") is None, k - theta
    seen = words.index("squares") + 1
    assert words[seen] == str(d - 1)
    for other in (d, d - 2):
        assert bound(ran([" ".join([*words[:seen], str(other), *words[seen + 1 :]])]), "lower") is None


def test_logarithms_are_not_too_low() -> None:
    """With any proposed logarithm or exponential 2^-200 lower a bound of the logistic loss is rejected."""
    logistic = next(text for name, text, _ in produced() if "logistic" in name)
    text = proved.read(logistic, None, Limits())
    words = " ".join(text.lines()).split()
    assert ran([" ".join(words)]) == text.expected
    upper, n = words.index("upper"), text.problem.n
    theta = words.index("theta", upper)
    for k in (*range(theta - 2 - 2 * n, theta - 2), *range(theta + 2 + n, theta + 2 + 3 * n)):
        other = [*words[:k], str(int(words[k]) - (1 << 120)), *words[k + 1 :]]
        assert "rejected" in " ".join(ran([" ".join(other)])[2:]), (k, words[k])


@pytest.mark.parametrize(
    ("x", "r", "right"), [(1, "271/100", True), (1, "272/100", False), (2, "7389/1000", True), (2, "739/100", False)]
)
def test_exponentials(x: int, r: str, right: bool) -> None:
    """z = y = 1 and no neuron: the loss log 2 is at most x if exp x >= r = 1 + E with E >= 1."""
    target = Fraction(r)
    den = target.denominator
    start = (
        "problem 1 1 1 1 1 0 1 1 terms logistic 1 bags 0 free 0 1 1 1 1 cover lines 1 1 0 1 theta 1 0 lower 0 1 coarse"
    )
    tree = "100 1 0 basis 1 1 0 ties 0 vertices 0 F 1 0 0 0 vertices 0 F 1 0 0 0 end"
    said = answers(f"{start} {tree} exps 100 {1 << 300} {den} upper 0 1 1 {(target - 1) * den} {x * den} {x} 1".split())
    assert (bound(said, "upper") is not None) == right


def ran(lines: Sequence[str]) -> list[str]:
    """What the proved checker prints for a text."""
    done = subprocess.run([ROCQ / "relucheck"], input="\n".join(lines), capture_output=True, text=True, check=False)
    return done.stdout.splitlines()
