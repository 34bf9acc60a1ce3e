"""python -m relu_cert check"""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from relu_cert import examples
from relu_cert.claims import NAMES
from tests.cli.run import run
from tests.marks import long_where
from verify import check as recheck


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Certificates are written into a folder of their own."""
    monkeypatch.chdir(tmp_path)


def csv(text: str, name: str = "data.csv") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


@pytest.mark.parametrize("name", long_where(examples.names(), "iris"))
def test_every_example_is_proved_and_accepted(name):
    """Each bundled example gets a certificate that the checker accepts together with the raw file."""
    ran = run("check", "--example", name, "--json")
    assert ran.code == 0, ran.err
    said = {claim["claim"]: claim["verdict"] for claim in ran.json["claims"]}
    assert said["optimal"] == said["fit"] == "PROVED"
    listed = ran.json["model"] != "cgl" and name not in ("iris", "iris3", "digits")
    assert said.get("patterns-complete") == ("PROVED" if listed else None)
    recheck(Path(ran.json["certificate"]).read_bytes(), examples.path(name).read_bytes())


def test_the_json_object_has_the_promised_keys():
    """`check --json` prints one object with documented keys; rationals are strings p/q."""
    found = run("check", "--example", "xor", "--json").json
    assert found["format"] == "relu_cert report"
    assert found["version"] == 1
    assert set(found["input"]) == {"path", "sha256", "n", "d", "rank", "numbers", "bias"}
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    said = page.split("`check --json` prints one object with the keys ")[1].split(".")[0]
    assert list(found) == re.findall(r"`(\w+)`", said)
    assert set(found["value"]) == {"lower", "upper"}
    assert (found["input"]["n"], found["input"]["d"], found["input"]["rank"]) == (4, 3, 3)
    assert found["lambda"] == "1/10"
    assert found["lambda_max_squared"] == "6"
    assert found["patterns"] == {"total": 14, "open": 14}
    assert Fraction(found["value"]["lower"]) <= Fraction(found["value"]["upper"])
    assert [claim["claim"] for claim in found["claims"]][:3] == ["patterns-complete", "optimal", "fit"]
    assert all(set(claim) == {"claim", "verdict", "evidence", "detail"} for claim in found["claims"])
    assert found["network"]["width"] == len(found["network"]["neurons"]) == 3
    neuron = found["network"]["neurons"][0]
    assert neuron["sign"] in {1, -1}
    assert len([Fraction(x) for x in neuron["direction"]]) == 3
    assert Fraction(neuron["weight"]) > 0


def test_lambda_max_of_a_hand_made_problem():
    """One feature, y = (3, -4), z = (1, -1): lambda_max is the larger of the two sides, 4; its square is printed."""
    ran = run("check", csv("z,y\n1,3\n-1,-4\n"), "--lambda", "1", "--json")
    assert ran.json["lambda_max_squared"] == "16"


@pytest.mark.parametrize("lam", ["4", "9/2", "1e3"])
def test_at_and_above_lambda_max_the_zero_network_is_proved(lam):
    """lambda >= lambda_max: the zero network, p* = 1/2 |y|^2 exactly, unique."""
    ran = run("check", csv("z,y\n1,3\n-1,-4\n"), "--lambda", lam, "--json")
    assert ran.json["network"] == {"width": 0, "neurons": []}
    assert ran.json["value"] == {"lower": "25/2", "upper": "25/2"}
    assert {c["claim"]: c["verdict"] for c in ran.json["claims"]}["optimal"] == "PROVED"


def test_just_below_lambda_max_a_neuron_is_active():
    """One step below lambda_max the zero network is not optimal any more."""
    ran = run("check", csv("z,y\n1,3\n-1,-4\n"), "--lambda", "3999999/1000000", "--json")
    assert ran.json["network"]["width"] == 1
    assert Fraction(ran.json["value"]["upper"]) < Fraction(25, 2)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (("--lambda", "0"), "lambda must be positive, not 0"),
        (("--lambda", "-1/2"), "lambda must be positive, not -1/2"),
        (("--lambda", "abc"), "lambda must be a number such as 1/10 or 0.1"),
        (("--lambda", "nan"), "lambda must be a number such as 1/10 or 0.1"),
        (("--lambda", "1", "--lambda-ratio", "1/2"), "not both"),
        (("--lambda-ratio", "0"), "must be positive"),
        (("--gap", "-1"), "--gap must be positive"),
        (("--claims", "nothing"), "there is no claim 'nothing'"),
        (("--max-patterns", "0"), "--max-patterns must be at least 1"),
        (("--model", "deep"), "invalid choice"),
    ],
)
def test_bad_options_are_refused_with_a_sentence(option, sentence):
    """Exit code 64, one sentence on stderr, nothing on stdout, no file."""
    ran = run("check", csv("z,y\n1,3\n-1,-4\n"), *[option[0] + "=" + option[1], *option[2:]])
    assert ran.code == 64
    assert sentence in ran.err
    assert ran.out == ""
    assert [path.name for path in Path().iterdir()] == ["data.csv"]


def test_bad_data_is_refused_with_its_place():
    """Exit code 65; file, row, column and what was found."""
    ran = run("check", csv("a,b,y\n1,2,3\n4,oops,6\n"))
    assert ran.code == 65
    assert all(part in ran.err for part in ("data.csv", "row 3", "column 2", "oops"))


def test_neither_file_nor_example_and_both():
    """Exactly one of FILE and --example."""
    assert run("check").code == 64
    assert run("check", csv("z,y\n1,2\n"), "--example", "xor").code == 64
    assert "there is no example 'nope'" in run("check", "--example", "nope").err


def test_too_many_patterns_are_refused_at_once_with_the_number():
    """Above --max-patterns: exit code 66, the predicted number, and advice."""
    rows = "\n".join(",".join(str((7 * i * i + 3 * j * i + j) % 23 - 11) for j in range(5)) for i in range(1, 30))
    ran = run("check", csv("a,b,c,d,y\n" + rows + "\n"), "--max-patterns", "50")
    assert ran.code == 66
    assert "over the limit of 50" in ran.err


def test_ratios_of_an_irrational_lambda_max_are_rounded_down_to_a_rational():
    """lambda_max = sqrt(6) for xor: lambda is rational, a little below the ratio, and printed exactly."""
    found = run("check", "--example", "xor", "--lambda-ratio", "1/2", "--json").json
    lam = Fraction(found["lambda"])
    assert lam**2 < Fraction(6, 4)
    assert lam**2 > Fraction(6, 4) * (1 - Fraction(1, 10**11))


def test_require_tells_refuted_from_proved():
    """--require exits with 1 for a REFUTED claim, with 0 if all are PROVED."""
    assert run("check", "--example", "twins", "--require", "p-unique").code == 1
    assert run("check", "--example", "twins", "--require", "optimal,fit").code == 0


def test_claims_selects():
    """--claims decides only the named ones, in the order of the list."""
    found = run("check", "--example", "xor", "--claims", "fit,optimal", "--json").json
    assert [c["claim"] for c in found["claims"]] == [name for name in NAMES if name in {"fit", "optimal"}]


def test_a_gap_that_cannot_be_reached_is_undecided_with_its_reason():
    """A gap below what was proved: UNDECIDED, exit code 2 with --require, and the certificate still holds."""
    ran = run("check", "--example", "moons", "--gap", "1e-4000", "--require", "optimal", "--json")
    said = {c["claim"]: c for c in ran.json["claims"]}
    assert said["optimal"]["verdict"] == "UNDECIDED"
    assert "relative gap" in said["optimal"]["detail"]
    assert ran.code == 2
    recheck(Path("moons.cert.json").read_bytes())


def test_binary64_reads_the_double_and_says_so():
    """0.1 is 1/10 or the nearest double, and the certificate holds which."""
    name = csv("z,y\n0.1,1\n0.7,2\n")
    assert (
        run("check", name, "--lambda", "1/100", "--numbers", "binary64", "--json").json["input"]["numbers"]
        == "binary64"
    )
    content = json.loads(Path("data.cert.json").read_text())
    assert content["problem"]["Z"][0] == str(Fraction(0.1))
    recheck(Path("data.cert.json").read_bytes(), Path(name).read_bytes())


def test_a_direct_problem_refuses_options_for_csv():
    """--bias with a JSON problem is a usage error, not something silently ignored."""
    Path("p.json").write_text('{"X": [[1, 0], [0, 1]], "groups": [[0], [1]], "y": [3, 4]}')
    assert run("check", "p.json", "--lambda", "1").code == 0
    ran = run("check", "p.json", "--lambda", "1", "--bias")
    assert ran.code == 64
    assert "--bias is for CSV data" in ran.err
    assert "--numbers is for CSV data" in run("check", "p.json", "--lambda", "1", "--numbers", "binary64").err


def test_targets_that_are_all_zero():
    """y = 0: lambda_max is 0, every lambda gives the zero network; a ratio has no meaning and is refused."""
    name = csv("z,y\n1,0\n2,0\n")
    ran = run("check", name, "--lambda", "1/2", "--json")
    assert (ran.json["lambda_max_squared"], ran.json["value"]["upper"]) == ("0", "0")
    assert run("check", name).code == 64


def test_text_fits_into_eighty_columns():
    """The report for people is readable in a plain terminal."""
    lines = run("check", "--example", "moons").out.splitlines()
    assert all(len(line) <= 80 for line in lines if not line.startswith("re-check"))
    assert any(line.startswith("PROVED") for line in lines)


def test_a_folder_that_cannot_be_written_is_named():
    """The certificate's place does not exist: one sentence with the path."""
    ran = run("check", "--example", "xor", "--certificate", "missing/folder/x.json")
    assert ran.code == 64
    assert "missing/folder/x.json" in ran.err


def test_a_lone_target_with_a_bias_is_legal_data():
    """Only the target and a column of ones: the checker reads it as we do."""
    name = csv("y\n1\n2\n5\n")
    assert run("check", name, "--bias", "--lambda", "1").code == 0
    recheck(Path("data.cert.json").read_bytes(), Path(name).read_bytes())
    assert run("check", name, "--lambda", "1").code == 65


def test_a_cone_without_columns_is_no_cone():
    """K_b = [[]] says nothing: the checker reads it as we do."""
    Path("p.json").write_text('{"X": [[1, 0], [0, 1]], "groups": [[0], [1]], "K": [[[]], [[-1]]], "y": [3, -4]}')
    assert run("check", "p.json", "--lambda", "1").code == 0
    recheck(Path("p.cert.json").read_bytes(), Path("p.json").read_bytes())


def test_numbers_beyond_doubles_are_refused_with_a_sentence():
    """1e400 is exact data, but no float can propose anything: a sentence, not a traceback."""
    ran = run("check", csv("a,y\n1e400,1\n2,3\n"))
    assert ran.code == 65
    assert "beyond the range of doubles" in ran.err


def test_numbers_of_thousands_of_digits_are_written_out():
    """Python's own text of integers ends at 4,300 digits; certificates and reports do not."""
    text = f"0.{'3' * 5000},1,2\n1,-1,1\n"
    ran = run("check", csv(text), "--lambda", "1/10", "--claims", "optimal,fit", "--json")
    assert ran.code == 0, ran.err
    recheck(Path(ran.json["certificate"]).read_bytes(), text.encode())


def test_numbers_too_long_for_the_checker_are_no_bug():
    """A proof with numbers over the checker's limit is not reported; the fault is the data's length, exit code 65."""
    ran = run("check", csv(f"0.{'3' * 9000},1,2\n1,-1,1\n"), "--lambda", "1/10", "--claims", "optimal", "--l2", "1")
    assert ran.code == 65
    assert "too large for the independent checker" in ran.err
    assert "fewer digits" in ran.err
    assert not Path("data.cert.json").exists()


def test_the_checker_reads_the_raw_data_too(monkeypatch):
    """Before a verdict is printed the checker's own reader has read the file again and compared every number; a file
    that changes meanwhile is told as such."""
    from relu_cert import commands as command

    name = csv("1,0,2\n0,1,1\n")
    found = command.answer

    def meanwhile(*arguments, **named):
        csv("1,0,2\n0,1,2\n")
        return found(*arguments, **named)

    monkeypatch.setattr(command, "answer", meanwhile)
    ran = run("check", name, "--lambda", "1/10", "--claims", "optimal")
    assert ran.code == 65
    assert "data.csv: the file was changed" in ran.err
    assert not Path("data.cert.json").exists()


def test_a_bug_does_not_end_like_a_refutation(monkeypatch):
    """An unexpected error is told with its traceback and exit code 70; 1 would say that a claim is REFUTED."""

    def broken(*_args, **_options):
        raise ArithmeticError("a bug")

    monkeypatch.setattr("relu_cert.commands.answer", broken)
    ran = run("check", "--example", "xor", "--require", "p-unique")
    assert ran.code == 70
    assert "ArithmeticError: a bug" in ran.err
    assert "please report it" in ran.err


def test_squares_beyond_doubles_are_refused_with_a_sentence():
    """1e200 is a double, its square is not; 1e-200 is one, its square is 0: a sentence, not a traceback."""
    for text in ("a,b,y\n0,2e30,-3e30\n-3e8,1e200,1e200\n", "a,y\n-1e-200,3e-200\n0,1e-100\n"):
        ran = run("check", csv(text), "--lambda-ratio", "1/2")
        assert ran.code == 65
        assert "scale them" in ran.err


def test_a_ratio_of_one_is_the_zero_network():
    """lambda_max = sqrt(6): the ratio 1 is rounded up, so that the zero network is proved."""
    found = run("check", "--example", "xor", "--lambda-ratio", "1", "--json").json
    assert found["network"]["width"] == 0
