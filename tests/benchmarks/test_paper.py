"""The paper's experiments, on synthetic data small enough for seconds."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

from benchmarks.paper import explore, pruning, tuning
from benchmarks.paper.data import (
    FULL_TABLE,
    SMALL_TABLE,
    Points,
    Split,
    read_points,
    sample_gates,
    three_parts,
    two_parts,
)
from benchmarks.paper.sampled import optimum, output, prices, sampled_program
from benchmarks.paper.store import Store
from relu_cert.errors import DataError, UsageError
from relu_cert.network.objective import ConvexNeuron, fit

pytestmark = pytest.mark.long


def synthetic(n: int = 40, d: int = 3, seed: int = 0) -> Points:
    """Gaussian features; the class is a fold of the plane, with some noise."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, d)).round(3)
    return Points(Z, np.where(np.abs(Z[:, 0]) - Z[:, 1] + 0.3 * rng.standard_normal(n) > 0.3, 1.0, -1.0))


def write_set(folder: Path, name: str, points: Points) -> None:
    """The points as a CSV of the layout that the experiments read."""
    header = ",".join([*(f"x{i + 1}" for i in range(points.Z.shape[1])), "y"])
    rows = [",".join([*map(str, z), str(int(y > 0))]) for z, y in zip(points.Z.tolist(), points.y, strict=True)]
    (folder / f"{name}.csv").write_text("\n".join([header, *rows]) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with one small set."""
    data = tmp_path / "data"
    data.mkdir()
    write_set(data, "tiny", synthetic())
    return data


def median_of(cell: str) -> float:
    """The number before the bracket."""
    return float(cell.split(maxsplit=1)[0])


def test_printed_tables_are_consistent() -> None:
    """All rows are there, the small table repeats the medians of the full one, Max Diff is the spread of medians."""
    small, full = tuning.printed("table:tuning-small"), tuning.printed()
    assert tuple(small) == SMALL_TABLE
    assert tuple(full) == FULL_TABLE
    for name, row in full.items():
        assert list(row) == list(tuning.TITLES)
        assert all(re.fullmatch(r"[01]\.\d{1,2} \([01]\.\d{1,2}/[01]\.\d{1,2}\)", cell) for cell in row.values())
        medians = [median_of(row[column]) for column in tuning.COLUMNS]
        assert abs(max(medians) - min(medians) - median_of(row["max_diff"])) < 0.0151  # three roundings to 0.01
        assert small.get(name, row).keys() == row.keys()
    assert all(float(small[name][c]) == median_of(full[name][c]) for name in small for c in tuning.TITLES)


@pytest.mark.parametrize(("split", "sizes"), [(Split.PRINTED, (60, 20, 20)), (Split.FITTING, (15, 5, 80))])
def test_splits(split: Split, sizes: tuple[int, int, int]) -> None:
    """The parts have their shares, every row is in exactly one of them, and a repeat is always the same."""
    points = Points(np.arange(100.0)[:, None], np.ones(100))
    parts = three_parts(points, split, 3)
    rows = [part.Z[:, 0].astype(int).tolist() for part in (parts.train, parts.validation, parts.test)]
    assert tuple(map(len, rows)) == sizes
    assert sorted(row for part in rows for row in part) == list(range(100))
    assert np.array_equal(parts.test.Z, three_parts(points, split, 3).test.Z)
    assert not np.array_equal(parts.test.Z, three_parts(points, split, 4).test.Z)


def test_halves() -> None:
    """Pruning trains on one half and tests on the other."""
    train, test = two_parts(Points(np.arange(10.0)[:, None], np.ones(10)), 0)
    assert (len(train), len(test)) == (5, 5)
    assert sorted([*train.Z[:, 0], *test.Z[:, 0]]) == list(range(10))


def test_sampled_patterns_are_distinct_and_belong_to_their_gates() -> None:
    """No pattern twice, none empty, and D_i = 1(Z g_i > 0)."""
    Z = synthetic(8, 2).Z
    gates, D = sample_gates(Z, 200, 1)
    assert len({row.tobytes() for row in D}) == len(D) <= 16  # 8 lines through the plane's origin make 16 cells
    assert D.any(axis=1).all()
    assert np.array_equal(D, gates @ Z.T > 0.0)


def test_reading(folder: Path) -> None:
    """Classes become -1 and 1, a training part goes before the whole, images are normalised, nonsense is refused."""
    points = read_points(folder, "tiny")
    assert np.array_equal(points.Z, synthetic().Z)
    assert set(points.y) == {-1.0, 1.0}
    write_set(folder, "tiny_train", synthetic(6))
    assert len(read_points(folder, "tiny")) == 6
    (folder / "mnist-0v1.csv").write_text("x1,x2,y\n0,255,1\n")
    assert np.allclose(read_points(folder, "mnist-0v1").Z, [[-0.1307 / 0.3081, (1 - 0.1307) / 0.3081]])
    (folder / "three.csv").write_text("x1,y\n0,1\n1,2\n")
    with pytest.raises(DataError, match=r"three\.csv: expected features and a last column of classes 0 and 1"):
        read_points(folder, "three")
    with pytest.raises(DataError, match=r"absent\.csv: cannot be read"):
        read_points(folder, "absent")


@pytest.mark.parametrize(("n", "d"), [(20, 3), (6, 9)])
def test_sampled_optimum_equals_the_whole_program(n: int, d: int) -> None:
    """The working set's answer has no gap over all sampled blocks, lies in the cones, and has cvxpy's optimal value."""
    points = synthetic(n, d, seed=2)
    _, D = sample_gates(points.Z, 12, 0)
    program = sampled_program(points, D, 0.4)
    found = optimum(program)
    assert found.solution.relative_gap < 1e-10
    assert (prices(program, found.solution.theta).norm <= program.lam * (1 + 1e-12)).all()
    total = sum(output(program, neuron) for neuron in found.solution.neurons)
    assert np.allclose(points.y - total, found.solution.residual)
    for neuron in found.solution.neurons:
        side = np.where(D[(neuron.block or 0) // 2], 1.0, -1.0)
        assert (side * (program.Z @ neuron.w)).min() > -1e-9
    U, V = cp.Variable((len(D), d)), cp.Variable((len(D), d))
    on = D.T.astype(float)
    shares = cp.sum(cp.multiply(on, points.Z @ (U - V).T), axis=1)
    penalty = cp.sum(cp.norm(U, 2, axis=1)) + cp.sum(cp.norm(V, 2, axis=1))
    cones = [cp.multiply(2 * on - 1, points.Z @ W.T) >= 0 for W in (U, V)]
    whole = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(shares - points.y) + program.lam * penalty), cones)
    whole.solve(solver=cp.CLARABEL)
    assert abs(whole.value - found.solution.primal) < 1e-6 * found.solution.primal


def test_gated_optimum_and_the_zero_network() -> None:
    """Gated programs have no cones: every active block has the price lambda. Above lambda_max nothing is active."""
    points = synthetic(20, 3, seed=2)
    _, D = sample_gates(points.Z, 12, 0)
    found = optimum(sampled_program(points, D, 0.4, gated=True))
    assert found.solution.relative_gap < 1e-10
    assert found.solution.neurons
    assert np.allclose([found.prices.norm[neuron.block or 0] for neuron in found.solution.neurons], 0.4)
    nothing = optimum(sampled_program(points, D, 1e4))
    assert nothing.solution.neurons == ()
    assert nothing.solution.gap == 0.0


def segment() -> explore.Set:
    """One row, two blocks with the same output: {a >= 0 : a_1 + a_2 = 2}."""
    blocks = explore.Directions(np.array([[1.0, 0.0], [0.6, 0.8]]), np.ones(2), np.eye(2), np.ones((1, 2)))
    return explore.fitting(blocks, np.array([2.0]), np.array([0.5, 1.5]))


def test_exploring_a_segment() -> None:
    """The shortest point is the middle, EP is an end, and the least error is where the prediction fits best."""
    given = segment()
    assert given.dimension == 1
    assert np.allclose(explore.shortest_point(given), [1.0, 1.0], atol=1e-6)
    assert sorted(np.round(explore.long_vertex(given, 0), 9)) == [0.0, 2.0]
    rows = Points(np.array([[0.0, 1.0]]), np.array([0.4]))  # the blocks predict 0 and 0.8
    assert np.allclose(explore.least_error(given, rows), [1.5, 0.5], atol=1e-5)


def test_a_single_point_stays() -> None:
    """Where the outputs are independent there is nothing to explore."""
    blocks = explore.Directions(np.eye(2), np.ones(2), np.eye(2), np.eye(2))
    given = explore.fitting(blocks, np.array([2.0, 3.0]), np.array([2.0, 3.0]))
    assert given.dimension == 0
    for point in (explore.shortest_point(given), explore.long_vertex(given, 0), explore.heaviest(given)):
        assert np.array_equal(point, [2.0, 3.0])


def test_blocks_of_one_neuron_are_found() -> None:
    """Equal directions of one sign are one neuron; of two signs they are two."""
    u = np.array([[1.0, 0.0], [1.0, 1e-12], [1.0, 0.0], [0.0, 1.0]])
    blocks = explore.Directions(u, np.array([1.0, 1.0, -1.0, 1.0]), u, np.ones((1, 4)))
    assert explore.neuron_groups(blocks) == [[0, 1], [2], [3]]


def test_gated_networks_are_scored_by_their_gates() -> None:
    """A ReLU neuron is on where its own direction says so, a gated one where its gate does; gated blocks stay apart."""
    u, gates = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    rows = np.array([[2.0, -1.0], [-2.0, 1.0]])
    relu = explore.Directions(u, np.array([1.0, -1.0]), gates, np.ones((1, 2)))
    assert relu.network(rows).tolist() == [[2.0, -2.0], [0.0, 0.0]]
    assert relu.gated(rows).tolist() == [[0.0, -2.0], [-2.0, 0.0]]
    gated = explore.Directions(u, np.ones(2), gates, np.ones((1, 2)), gated_model=True)
    assert gated.network(rows).tolist() == [[0.0, 2.0], [-2.0, 0.0]]
    assert explore.neuron_groups(gated) == [[0], [1]]


def test_summary_takes_the_spread_of_medians() -> None:
    """Max Diff is the difference of the columns' medians, not the median of differences."""
    columns = [(0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0)]
    repeats = [{"optimal": {"network": dict(zip(tuning.COLUMNS, values, strict=True))}} for values in columns]
    assert tuning.summary(repeats, "optimal/network")["max_diff"][0] == 0.0


def test_the_short_table_has_printed_and_our_figures() -> None:
    """One row for each set: the printed Min L2 and Max Diff beside ours; a set that is not in the paper has gaps."""
    columns = dict(zip(tuning.COLUMNS, (0.5, 0.75, 0.5, 0.5), strict=True))
    record = {where: {"network": columns, "gates": dict.fromkeys(columns, 0.25)} for where in ("optimal", "all")}
    head, _, blood, other = tuning.short_table({"blood": [record], "tiny": [record]}, "15/5/80").splitlines()[2:]
    assert len({row.count("|") for row in (head, blood, other)}) == 1
    assert blood == (
        "| blood | 1 | 0.72 (0.72/0.74) | 0.25 (0.25/0.25) | 0.50 (0.50/0.50) | 0.1 | 0.25 | 0.00 | 0.25 | 0.00 |"
    )
    assert other.startswith("| tiny | 1 |  | 0.25")


def run_tuning(folder: Path, out: Path, *more: str) -> int:
    """A tuning run on the tiny set, two repeats, one split."""
    split = ["--split", "60/20/20"]
    return tuning.main(["--data", str(folder), "--out", str(out), "--sets", "tiny", "--patterns", "15",
                        "--lambda", "0.02", "--repeats", "2", *split, *more])  # fmt: skip


def test_tuning_runs_and_resumes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All columns come out; what is on disk is not computed again; other settings are refused."""
    out = tmp_path / "out"
    assert run_tuning(folder, out) == 0
    (path,) = out.glob("tuning-*/tiny.json")
    repeats = json.loads(path.read_text())["repeats"]
    for record in repeats:
        assert record["rows"] == [24, 8, 8]
        assert record["relative_gap"] < 1e-9
        assert abs(record["optimal"]["excess"]["t_mse"]) < 1e-6
        assert record["all"]["excess"]["ep"] > -1e-9
        assert all(0.0 <= a <= 1.0 for a in record["all"]["gates"].values())
    rows = (out / "tuning.csv").read_text().splitlines()
    assert len(rows) == 1 + len(tuning.KINDS) * len(tuning.TITLES)
    first = capsys.readouterr().out
    monkeypatch.setattr(tuning, "tune", lambda *_: pytest.fail("computed again"))
    assert run_tuning(folder, out) == 0
    assert capsys.readouterr().out == first
    assert run_tuning(folder, out, "--penalty", "paper") == 64
    assert "choose another --out" in capsys.readouterr().err


def test_an_interrupted_run_goes_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C keeps the finished repeats, and the next run computes only the others."""
    calls: list[int] = []
    honest = tuning.tune

    def interrupted(parts: object, repeat: int, settings: dict[str, object]) -> object:
        if repeat == 1 and not calls.count(1):
            calls.append(repeat)
            raise KeyboardInterrupt
        calls.append(repeat)
        return honest(parts, repeat, settings)  # type: ignore[arg-type]

    monkeypatch.setattr(tuning, "tune", interrupted)
    assert run_tuning(folder, tmp_path / "out") == 130
    assert "goes on from here" in capsys.readouterr().err
    assert run_tuning(folder, tmp_path / "out") == 0
    assert calls == [0, 1, 1]
    assert not list((tmp_path / "out").rglob("*.part"))


def test_missing_data_is_said(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A set that is not in the folder is one sentence and exit code 65."""
    assert tuning.main(["--data", str(folder), "--out", str(tmp_path / "out"), "--sets", "absent"]) == 65
    assert "absent.csv: cannot be read" in capsys.readouterr().err


def test_a_broken_result_file_is_refused(tmp_path: Path) -> None:
    """Half a file is not taken for results."""
    store = Store(tmp_path, {"version": 1})
    store.save("a", [{"x": 1}])
    assert store.load("a") == [{"x": 1}]
    store.path("a").write_text('{"settings": {"version": 1}, "rep')
    with pytest.raises(UsageError, match=r"a\.json: not a file of results"):
        store.load("a")


def test_free_pruning_keeps_the_function() -> None:
    """Neurons of one direction become one, and the fit stays exactly the same."""
    Z = tuple(tuple(map(Fraction, row)) for row in synthetic(6, 2).Z.tolist())
    w = (Fraction(1, 3), Fraction(-2))
    start = [ConvexNeuron(1, w), ConvexNeuron(1, tuple(3 * x for x in w)), ConvexNeuron(-1, (Fraction(1), Fraction(1)))]
    free = pruning.free_network(start, Z)
    assert len(free) == 2
    assert fit(free, Z) == fit(start, Z)


def test_rows_on_a_border_are_silent() -> None:
    """A row on which the only neuron vanishes up to rounding counts as an error, whatever the sign of the rounding."""
    w = np.array([[1.0, -1.0]])
    step = pruning.PruningStep((0,), np.ones(1), w, 0.0, 0.0)
    Z = np.array([[1.0, 1.0 - 1e-15], [1.0, 1.0 + 1e-15], [2.0, 1.0], [1.0, 2.0]])
    assert pruning._accuracy(step, Points(Z, np.ones(4))) == 0.25


def test_curves_are_read_at_any_width() -> None:
    """The widest network that is narrow enough counts."""
    curve: pruning.Curve = {"width": [5, 3, 2], "test": [0.9, 0.7, 0.6]}
    assert [pruning.at_width(curve, "test", w) for w in (1, 2, 3, 4, 5, 9)] == [0.6, 0.6, 0.7, 0.7, 0.9, 0.9]


def test_pruning_runs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every strategy starts at the same accuracy and ends at one neuron; least squares beats random choice; figures
    and tables are written, and a second run only reads."""
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(pruning.FIGURES, "uci", ("tiny",))
    out = tmp_path / "out"
    command = ["--data", str(folder), "--out", str(out), "--sets", "tiny", "--repeats", "2"]
    assert pruning.main(command) == 0
    for record in json.loads((out / "pruning" / "tiny.json").read_text())["repeats"]:
        found = record["curves"]
        assert record["relative_gap"] < 1e-9
        assert record["free"] <= record["start"]
        assert len({curve["train"][0] for curve in found.values()}) == 1
        assert all(curve["width"][-1] == 1 for curve in found.values())
        halves = [w for w in found["Random"]["width"] if w <= record["free"]]
        ours = [pruning.at_width(found[pruning.OURS], "loss", w) for w in halves]
        dropped = [pruning.at_width(found["Random"], "loss", w) for w in halves]
        assert sum(ours) < sum(dropped)
    assert (out / "pruning-uci.svg").read_text().startswith("<?xml")
    assert (out / "pruning-uci.png").stat().st_size > 1000
    assert (out / "pruning.csv").read_text().splitlines()[0].startswith("set,repeats,strategy")
    monkeypatch.setattr(pruning, "curves", lambda *_: pytest.fail("computed again"))
    assert pruning.main(command) == 0
