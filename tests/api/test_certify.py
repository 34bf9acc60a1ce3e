"""relu_cert.certify and what it returns."""

from __future__ import annotations

import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relu_cert
from relu_cert import UsageError, Verdict, certify
from relu_cert.claims import NAMES
from relu_cert.errors import ReluCertError, TooManyPatterns
from relu_cert.report.check import CheckReport
from tests.report.pages import Page
from verify.__main__ import main as verify_main

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
small = st.integers(-3, 3)


@pytest.fixture(scope="module")
def xor():
    return certify(*XOR, "1/10", bias=True)


def test_verdicts_are_found_by_name(xor):
    """Every claim that applies has its Result; the words are those of the certificate."""
    assert set(xor.claims) <= set(NAMES)
    assert xor.claims["optimal"].verdict is Verdict.PROVED
    assert xor.claims["p-unique"].verdict == "PROVED"
    assert '{"claim":"p-unique","verdict":"PROVED"}' in xor.certificate


def test_the_value_is_enclosed(xor):
    """lower <= p* <= upper, exactly, within the gap that was asked for."""
    value = xor.value
    assert 0 < value.lower <= value.upper and value.upper - value.lower <= value.upper / 10**9
    assert xor.lam == Fraction(1, 10)


def test_the_network_predicts_the_fit(xor):
    """Exactly on the data as rationals; in floats up to rounding; and the balanced weights give the same function."""
    network = xor.network
    assert network.predict_exactly(XOR[0]) == xor.facts.primal.fit
    np.testing.assert_allclose(network.predict(XOR[0]), [float(x) for x in xor.facts.primal.fit], atol=1e-12)
    inputs = np.c_[np.array(XOR[0]), np.ones(4)]
    np.testing.assert_allclose(np.maximum(inputs @ network.W1.T, 0) @ network.w2, network.predict(XOR[0]), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(network.W1, axis=1), abs(network.w2), rtol=1e-12)


def test_the_objective_of_the_network_is_the_value(xor):
    """1/2 |f - y|^2 + lambda/2 (|W1|^2 + |w2|^2), computed plainly in floats, is p*."""
    network = xor.network
    loss = ((network.predict(XOR[0]) - XOR[1]) ** 2).sum() / 2
    penalty = 0.1 / 2 * ((network.W1**2).sum() + (network.w2**2).sum())
    assert loss + penalty == pytest.approx(float(xor.value.upper), rel=1e-9)


@settings(derandomize=True, deadline=None, max_examples=15)
@given(
    st.lists(st.tuples(small, small, small), min_size=2, max_size=5), st.sampled_from(["relu", "gated"]), st.booleans()
)
def test_exact_predictions_are_the_certified_fit(rows, model, bias):
    """For both models, with and without bias, also where data lie on the hyperplanes of the gates."""
    Z, y = [row[:2] for row in rows], [row[2] for row in rows]
    found = certify(Z, y, 1, model=model, bias=bias)
    assert found.network.predict_exactly(Z) == found.facts.primal.fit
    np.testing.assert_allclose(found.network.predict(Z), [float(x) for x in found.facts.primal.fit], atol=1e-9)


def test_saved_files_pass_the_checker(xor, tmp_path, capsys):
    """`python -m verify CERT --data CSV` accepts what save wrote, and rejects another file."""
    cert, data = tmp_path / "a.cert.json", tmp_path / "a.csv"
    xor.save(cert, data=data)
    assert verify_main([str(cert), "--data", str(data)]) == 0
    data.write_text(data.read_text().replace("0,1,1\n", "0,1,2\n"))
    assert verify_main([str(cert), "--data", str(data)]) == 1
    capsys.readouterr()


def test_save_writes_no_data_unless_told(xor, tmp_path):
    """A data file that happens to have the same name is not touched."""
    xor.save(tmp_path / "a.cert.json")
    assert [p.name for p in tmp_path.iterdir()] == ["a.cert.json"]
    with pytest.raises(UsageError, match="cannot write"):
        xor.save(tmp_path / "no" / "a.cert.json")


def test_floats_are_binary_numbers():
    """The float 0.1 and one tenth are different lambdas, and each is taken exactly."""
    Z, y = [[1.0], [-2.0]], [1.0, 0.5]
    assert certify(Z, y, 0.1).lam == Fraction(0.1) != Fraction(1, 10) == certify(Z, y, "0.1").lam
    assert Fraction(0.3) in [row[0] for row in certify([[0.3], [1]], y, 1).report.data.Z]


def test_lambda_by_its_ratio():
    """lambda_ratio is a share of lambda_max; above 1 the zero network is optimal and p* = |y|^2/2."""
    Z, y = [[3, 0], [0, 4]], [1, 2]
    half = certify(Z, y, lambda_ratio="1/2")
    assert half.lam**2 <= half.facts.lambda_max.squared / 4 and half.network.width > 0
    zero = certify(Z, y, lambda_ratio=2)
    assert zero.network.width == 0 and zero.value.lower == zero.value.upper == Fraction(5, 2)
    assert zero.network.predict([[1, 1]]).tolist() == [0.0] and zero.network.W1.shape == (0, 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"lam": 1, "lambda_ratio": 1}, "not both"),
        ({"lam": 0}, "lam must be positive, not 0"),
        ({"lam": -0.5}, "lam must be positive"),
        ({"lam": float("nan")}, "which is not finite"),
        ({"lam": "a tenth"}, "not a number"),
        ({"lam": 1, "gap": 0}, "gap must be positive"),
        ({"lam": 1, "model": "tanh"}, "'relu' or 'gated', not 'tanh'"),
        ({"lam": 1, "claims": ["beautiful"]}, "there is no claim 'beautiful'"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments, words):
    """One sentence that names the argument."""
    with pytest.raises(UsageError) as caught:
        certify(*XOR, **arguments)
    assert words in str(caught.value)


def test_too_many_patterns_are_refused_before_the_work():
    """Where the patterns have to be listed, the limit is an error that carries the numbers."""
    with pytest.raises(TooManyPatterns) as caught:
        certify(np.random.default_rng(0).integers(-9, 9, (40, 6)), np.ones(40), 1, model="gated", max_patterns=1000)
    assert caught.value.limit == 1000 and caught.value.predicted > 1000


def test_only_the_claims_that_were_asked_for():
    """`claims` chooses, by a list or a single name."""
    assert list(certify(*XOR, 1, claims=["fit", "optimal"]).claims) == ["optimal", "fit"]
    assert list(certify(*XOR, 1, claims="fit").claims) == ["fit"]


def test_a_certificate_that_the_checker_rejects_is_never_returned(monkeypatch):
    """If our own certificate is not accepted, there is an error and no verdict."""
    plain = CheckReport.certificate_text.func
    forged = property(lambda self: plain(self).replace("PROVED", "REFUTED"))
    monkeypatch.setattr(CheckReport, "certificate_text", forged)
    with pytest.raises(ReluCertError, match="does not accept our own certificate"):
        certify(*XOR, 1)


def test_the_reports(xor):
    """str is the terminal's report, repr one line, the notebook's form a balanced fragment, html a whole page."""
    assert "PROVED" in str(xor) and "a network of width 3" in str(xor)
    assert repr(xor).startswith("<Certified: The best network is unique") and "\n" not in repr(xor)
    short = Page(xor._repr_html_())
    assert all(name in short.prose for name in xor.claims) and not {"html", "style"} & {tag for tag, _ in short.tags}
    page = Page(xor.html(certificate="x.cert.json", data="x.csv"))
    assert "python -m verify x.cert.json --data x.csv" in page.prose and xor.report.source.sha256 in page.prose


def test_certified_objects_can_be_pickled(xor):
    """For workers and caches: everything survives."""
    again = pickle.loads(pickle.dumps(xor))
    assert again.certificate == xor.certificate and dict(again.claims) == dict(xor.claims)


def test_networks_are_written_and_read_back(xor, tmp_path):
    """The exact network as JSON is read back exactly."""
    from relu_cert.network.formats import read_network

    xor.network.save(tmp_path / "n.json")
    assert read_network(tmp_path / "n.json").W1 == xor.network.exact().W1


def test_gated_networks_have_gates_and_no_relu_weights():
    """A gated network predicts with its gates; asked for ReLU weights it says what it is."""
    found = certify([[3, 4], [0, 1], [-1, 2]], [1, -2, 1], "1/10", model="gated")
    assert found.network.gates is not None
    with pytest.raises(UsageError, match="a gated network is not a ReLU network"):
        found.network.exact()


def test_gates_are_open_on_their_hyperplane():
    """1(g.x >= 0): the one neuron on the pattern of all ones, whose witness is 0, is on everywhere."""
    Z, y = [[1], [-1]], [1, -1]
    found = certify(Z, y, "1/10", model="gated")
    assert found.network.width == 1 and found.network.gates == ((0,),)
    assert found.network.predict_exactly(Z) == found.facts.primal.fit
    np.testing.assert_allclose(found.network.predict(Z), [0.95, -0.95])


@pytest.mark.parametrize("call", ["predict", "predict_exactly"])
def test_predictions_need_the_same_features(xor, call):
    """Another number of columns is refused."""
    with pytest.raises(ReluCertError, match="expected"):
        getattr(xor.network, call)([[1, 2, 3]])


def test_importing_the_package_is_cheap():
    """`import relu_cert` loads neither numpy nor anything of its own that does; the page's code loads with the page."""
    code = (
        "import sys, relu_cert; assert 'numpy' not in sys.modules; assert 'certify' in dir(relu_cert);"
        "relu_cert.certify; assert 'relu_cert.report.html' not in sys.modules"
    )
    root = Path(relu_cert.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False)
    assert done.returncode == 0, done.stderr


def test_unknown_names_are_attribute_errors():
    """The lazy module behaves like a module."""
    with pytest.raises(AttributeError, match="no_such_thing"):
        relu_cert.no_such_thing  # noqa: B018


def test_a_gate_through_a_data_point_is_decided_by_the_number_given():
    """0.1 * 3 - 0.3 is not 0 in floats: the texts mean tenths, and the network predicts its certified fit at them."""
    Z, y = [["0.1", "0.3"], ["-0.1", "-0.3"], ["0.3", "-0.2"]], ["2", "-2", "1"]
    found = certify(Z, y, lambda_ratio="1/10", model="gated")
    fit = found.network.predict_exactly(Z)
    assert fit == found.facts.fit.center
    assert found.network.predict(Z) == pytest.approx([float(x) for x in fit])
    assert found.network.predict([[0.1, 0.3]]) == pytest.approx([float(fit[0])])
