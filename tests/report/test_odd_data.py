"""What is said where data, networks and penalties are odd: nothing to prune, an exact optimum, a decayed bias."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from relu_cert import UsageError, certify, certify_network, prune
from tests.cli.run import run


def test_nothing_can_be_pruned_of_a_network_without_neurons():
    """'None of the 0 neurons can be merged' is no sentence."""
    found = prune([[1, 2], [3, 4]], [0, 0], 1)
    assert found.headline == "There is no neuron in the optimal network found: nothing can be pruned; exact."
    found = prune([[1], [2]], [1, 2], 1)
    assert found.headline == "The only neuron of the optimal network found cannot be dropped; exact."


def test_an_exact_optimum_is_said_to_be_one():
    """'At most 0 % above' is said of no network whose objective is the lower bound itself."""
    found = certify_network(([[0, 0]], [0]), [[1, 2], [2, 1]], [3, 0], 100)
    assert found.headline == "This network is optimal: no network of any width has a lower objective; proved."


def test_what_balancing_saves_counts_the_penalty():
    """With several outputs no neuron is pruned, and what balanced neurons would save is their own penalty's excess."""
    found = certify_network(([[4, 0], [0, 4]], [[1, 0], [0, 1], [1, 1]]), [[1, 2], [2, 1]], [[0] * 3, [1] * 3], 1)
    examined = found.report.comparison.examination
    saved = f"{float(100 * (1 - examined.P.upper / examined.J)):.3g} % less"
    assert f"would save   the same neurons, balanced: {saved}" in found.report.to_text()


def test_a_decayed_bias_is_penalty_and_no_loss():
    """Loss and penalty apart: rows of zeros that stand for lambda/2 b^2 are no data."""
    y = [3, 0, 4]
    found = certify_network({"W1": [[1]], "w2": [1], "b2": 2}, [[1], [2], [-1]], y, "2/3", penalty="pytorch")
    line = next(one for one in found.report.to_text().splitlines() if one.startswith("loss "))
    loss = Fraction(sum((max(z, 0) + 2 - t) ** 2 for z, t in zip((1, 2, -1), y, strict=True)), 2)
    assert line.startswith(f"loss         {float(loss):g} and penalty {float(1 + 2):g};")


@pytest.mark.parametrize("loss", ["squares", "logistic"])
def test_loss_and_penalty_add_up_whatever_the_loss(loss):
    """The two numbers are the objective's parts, with bags and with logarithms, too."""
    found = certify_network(([[1, 1]], [1]), [[1, 2], [2, -3]], [1, -1], 1, loss=loss, slope="1/10")
    line = next(one for one in found.report.to_text().splitlines() if one.startswith("loss "))
    numbers = [float(word) for word in line.replace(";", "").split() if word.replace(".", "").isdigit()]
    assert numbers[0] + numbers[1] == pytest.approx(float(found.objective), rel=1e-6)


def test_a_part_of_lambda_max_is_not_what_a_network_was_trained_with():
    """The one scale is refused where it makes no sense, by a sentence that says where it does; 2abs is 2."""
    with pytest.raises(UsageError, match="lam is a number here, what was minimised; parts of lambda_max, such as"):
        certify_network(([[1]], [1]), [[1], [2]], [1, 2], "0.1max")
    assert certify_network(([[1]], [1]), [[1], [2]], [1, 2], "2abs").lam == 2


def test_bce_with_logits_is_the_logistic_loss():
    """mean BCEWithLogits + weight_decay/2 |weights|^2 is 1/n times the problem with lambda = n weight_decay."""
    found = certify_network(([[1], [-1]], [1, -1]), [[1], [2], [-1]], [1, 1, 0], "1/10", penalty="pytorch",
                            loss="logistic")  # fmt: skip
    heights = np.array([1.0, 2.0, -1.0])
    mean = np.mean(np.log1p(np.exp(-np.array([1, 1, -1]) * heights)))
    assert found.lam == Fraction(3, 10)
    assert float(found.objective) / 3 == pytest.approx(mean + 0.05 * 4, rel=1e-12)
    biased = certify_network(
        {"W1": [[1]], "w2": [1], "b2": 1}, [[1], [2]], [1, 0], 1, penalty="pytorch", loss="logistic"
    )
    mean = np.mean(np.log1p(np.exp(-np.array([1, -1]) * np.array([2.0, 3.0]))))
    assert float(biased.objective) / 2 == pytest.approx(mean + 0.5 * 3, rel=1e-12)  # the output bias is decayed, too


def test_floats_on_the_way_of_pruning_are_marked(tmp_path, monkeypatch):
    """Only the first network is exact: the table, the pictures and their captions say so of the others."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("x,y\n1,1\n2,3\n-1,2\n")
    Path("n.json").write_text(json.dumps({"W1": [[1], [-1]], "w2": [1, 1]}))
    said = run("prune", "d.csv", "--network", "n.json", "--lambda", "1/2", "--html", "p.html").out
    assert "(exact); then by residual (floats)" in said
    page = Path("p.html").read_text()
    assert "1 neuron: ½|f − y|² = " in page and "(floats, not proved)." in page
    assert page.count("The first network is exact; the others, and all lines, are floats, and not proved.") == 2


def test_zero_targets_need_no_large_lambda():
    """Why the zero network is the best: lambda is not large where lambda_max is 0."""
    assert "for every lambda, because no neuron lowers the loss" in certify([[1, 2], [3, 4]], [0, 0], 1).headline
