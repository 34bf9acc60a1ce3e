"""Long campaigns: resumable, parallel, with failing instances that replay."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import strategies as st

from properties import campaign, cli, registry
from properties.campaign import Plan, read_batches, run, run_batch, tasks
from properties.model import HOLDS, Claim, Outcome, Property, Witness, fails
from properties.version import CERTIFIER, code_version
from relu_cert.errors import DataError, UsageError

pytestmark = pytest.mark.long

PLAN = Plan(claims=("lemma_pruning_paths_equiv", "prop_one_neuron"), examples=30, batch=10, seed=3)


def not_too_large(x: int) -> Outcome:
    """A statement that fails from 7 on."""
    return HOLDS if x < 7 else fails(f"{x} is too large")


BROKEN = Claim("test:broken", "Broken", Property("Small.", st.integers(0, 1000), not_too_large))


def test_a_campaign_covers_what_should_survive(tmp_path: Path) -> None:
    """Printed statements without a witness and repaired ones are run; refuted ones are not."""
    result = run(PLAN, tmp_path, quiet=True)
    assert [(x.label, x.which) for x in result.lines] == [
        ("lemma:pruning-paths-equiv", "printed"),
        ("prop:one-neuron", "repaired"),
    ]
    assert all(0 < x.instances <= 30 and x.failures == 0 for x in result.lines)
    assert (result.done, result.resumed) == (6, 0)


def test_batches_are_drawn_from_different_seeds() -> None:
    """No two batches of a statement are the same instances, and a batch repeats itself exactly."""
    mine = [t for t in tasks(PLAN) if t.module == "lemma_pruning_paths_equiv"]
    assert len({t.seed for t in mine}) == 3
    first, second = run_batch(mine[0]), run_batch(mine[1])
    assert set(first.digests) != set(second.digests)
    assert run_batch(mine[0]).digests == first.digests


def test_an_interrupted_campaign_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C after three batches loses nothing: the next run does only the rest, and ends at the same result."""
    whole = run(PLAN, tmp_path / "whole", quiet=True)
    calls = []
    original = campaign.run_batch

    def counted(task: campaign.Task) -> campaign.Batch:
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(task)
        return original(task)

    monkeypatch.setattr(campaign, "run_batch", counted)
    state = tmp_path / "broken"
    with pytest.raises(KeyboardInterrupt):
        run(PLAN, state, quiet=True)
    assert len(read_batches(state)) == 3
    monkeypatch.setattr(campaign, "run_batch", original)
    rest = run(PLAN, state, quiet=True)
    assert (rest.done, rest.resumed) == (6, 3)
    assert [(x.label, x.instances, x.vacuous) for x in rest.lines] == [
        (x.label, x.instances, x.vacuous) for x in whole.lines
    ]


def test_a_finished_campaign_is_extended(tmp_path: Path) -> None:
    """More examples later: the old batches count."""
    run(PLAN, tmp_path, quiet=True)
    longer = run(Plan(PLAN.claims, 40, PLAN.batch, PLAN.seed), tmp_path, quiet=True)
    assert (longer.done, longer.resumed) == (8, 6)


def test_another_seed_needs_another_folder(tmp_path: Path) -> None:
    """Instances of two seeds are not mixed."""
    run(PLAN, tmp_path, quiet=True)
    with pytest.raises(UsageError, match="--state"):
        run(Plan(PLAN.claims, 30, 10, seed=4), tmp_path, quiet=True)


def test_a_damaged_batch_is_named(tmp_path: Path) -> None:
    """A batch file that is not whole is refused by name, not counted."""
    run(PLAN, tmp_path, quiet=True)
    victim = next(iter(sorted(tmp_path.glob("*.000001.json"))))
    victim.write_text(victim.read_text()[:40])
    with pytest.raises(DataError, match=victim.name):
        run(PLAN, tmp_path, quiet=True)


def test_a_damaged_campaign_file_is_named(tmp_path: Path) -> None:
    """The file that remembers seed and batch size: what is wrong with it is one sentence."""
    (tmp_path / "campaign.json").write_text('{"seed": 3, ')
    with pytest.raises(DataError, match=r"campaign\.json is damaged"):
        run(PLAN, tmp_path, quiet=True)


def test_batches_of_other_code_are_counted_and_run_again_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A batch carries the fingerprint of its code; the summary says how many are of other code, --again renews them."""
    command = ["campaign", "--only", "prop:one-neuron", "--examples", "20", "--batch", "10", "--quiet"]
    command += ["--state", str(tmp_path)]
    with monkeypatch.context() as before:
        before.setattr(campaign, "code_version", lambda module: "before")
        assert cli.main(command) == 0
    assert "other code" not in capsys.readouterr().out
    assert cli.main(command) == 0
    assert "2 of the batches are of other code" in capsys.readouterr().out
    assert cli.main([*command, "--again"]) == 0
    assert "Batches: 2, 0 of them from before." in " ".join(capsys.readouterr().out.split())
    assert {b.code for b in read_batches(tmp_path).values()} == {campaign.code_version("prop_one_neuron")}


def test_the_fingerprint_of_the_code_is_that_of_the_claim() -> None:
    """Two claims have two fingerprints; a soundness statement's covers the certifier and the checker."""
    assert code_version("prop_one_neuron") != code_version("tables")
    assert len(code_version("soundness.planted_relu")) == 12
    assert {"relu_cert", "verify"} <= set(CERTIFIER)


def test_a_batch_that_brings_nothing_new_is_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifteen instances in batches of twenty: the second finds only those of the first, and there is no third."""
    few = Claim("test:few", "Few", Property("Small.", st.integers(0, 14), lambda x: HOLDS))
    monkeypatch.setattr(registry, "load", lambda name: few)
    result = run(Plan(("test_few",), 100, 20), tmp_path, quiet=True)
    assert result.done == 2
    assert result.lines[0].instances == 15


def test_a_full_disk_leaves_no_half_written_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the file and the reason; finished batches stay, and the run goes on when there is room."""
    run(Plan(PLAN.claims, 10, 10, 3), tmp_path, quiet=True)
    kept = sorted(tmp_path.iterdir())

    def full(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(Path, "replace", full)
        with pytest.raises(DataError, match="No space left"):
            run(PLAN, tmp_path, quiet=True)
    assert sorted(tmp_path.iterdir()) == kept
    assert run(PLAN, tmp_path, quiet=True).resumed == 2


def test_two_campaigns_may_share_a_folder(tmp_path: Path) -> None:
    """Two processes at the same time: both end at the result of one, and no file is half-written. Which of them finds
    batches of the other depends on when they start, and so do the times: neither is compared."""
    command = [sys.executable, "-m", "properties", "campaign", "--only", "prop:one-neuron", "--examples", "60"]
    command += ["--batch", "10", "--quiet", "--state"]

    def start(state: str) -> subprocess.Popen[str]:
        root = Path(campaign.__file__).parents[1]
        return subprocess.Popen([*command, str(tmp_path / state)], stdout=subprocess.PIPE, text=True, cwd=root)

    running = [start("both"), start("both"), start("alone")]
    *told, alone = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    of_the_run = re.compile(r" {2,}[0-9.]+ *$|[0-9]+ of them from before", flags=re.MULTILINE)
    said = {re.sub(r"\s+", " ", of_the_run.sub("", text.replace(", \n", ", "))) for text in (*told, alone)}
    assert len(said) == 1, said
    assert "Failing instances: 0." in said.pop()
    mine = {name: batch.digests for name, batch in read_batches(tmp_path / "alone").items()}
    assert {name: batch.digests for name, batch in read_batches(tmp_path / "both").items()} == mine


def test_few_instances_are_not_drawn_again_and_again(tmp_path: Path) -> None:
    """A statement about four instances is exhausted by its first batch."""
    result = run(Plan(("tables",), 60, 20), tmp_path, quiet=True)
    assert result.done == 1
    assert result.lines[0].instances == 4


def test_two_processes_reach_the_same_result(tmp_path: Path) -> None:
    """joblib's processes and one process give the same batches."""
    pytest.importorskip("joblib")
    plan = Plan(("prop_one_neuron",), 20, 10)
    one, two = run(plan, tmp_path / "1", quiet=True), run(plan, tmp_path / "2", jobs=2, quiet=True)
    assert [(x.instances, x.vacuous) for x in one.lines] == [(x.instances, x.vacuous) for x in two.lines]
    assert two.done == 2


def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the broken claim the only one."""
    monkeypatch.setattr(registry, "all_claims", lambda: {"test_broken": BROKEN})
    monkeypatch.setattr(registry, "load", lambda name: BROKEN)
    monkeypatch.setattr(registry, "module_names", lambda: ("test_broken",))


def test_a_failing_instance_is_shrunk_stored_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The campaign exits with 1 and stores the smallest failing instance; replay gives the same answer."""
    broken(monkeypatch)
    state = tmp_path / "state"
    assert cli.main(["campaign", "--examples", "100", "--batch", "50", "--quiet", "--state", str(state)]) == 1
    files = sorted((state / "failures").glob("*.json"))
    stored = [json.loads(f.read_text()) for f in files]
    assert [s["instance"] for s in stored] == [7]
    assert str(files[0].name) in capsys.readouterr().out.replace("\n", "")
    assert cli.main(["replay", str(files[0])]) == 1
    assert "fails: 7 is too large" in capsys.readouterr().out


def test_replay_says_when_an_instance_no_longer_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 0 once the statement holds on the stored instance."""
    broken(monkeypatch)
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"label": "test:broken", "module": "test_broken", "which": "printed", "instance": 3}))
    assert cli.main(["replay", str(path)]) == 0
    assert "holds" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "{}",
        '{"module": "no_such_claim", "which": "printed", "instance": 1}',
        '{"module": "tables", "which": "printed", "instance": 0.5}',
        '{"module": "tables", "which": "printed", "instance": {"type": "os:stat_result", "fields": {}}}',
        '{"module": "tables", "which": "neither", "instance": 1}',
        '{"module": "tables", "which": "printed", "instance": {"q": "1/0"}}',
        '{"module": "tables", "which": "printed", "instance": {"q": 3}}',
        '{"module": "tables", "which": "printed", "instance": {"type": "properties.nowhere:X", "fields": {}}}',
        '{"module": "tables", "which": "printed", "instance": {"type": "properties.model:Witness", "fields": []}}',
        '{"module": "lemma_unique_cgl", "which": "printed", "instance": 7}',
    ],
)
def test_replay_refuses_what_is_not_a_stored_instance(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 65 and one sentence; no class outside this package is ever made."""
    path = tmp_path / "bad.json"
    path.write_text(text)
    assert cli.main(["replay", str(path)]) == 65
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_claims_with_a_witness_run_their_repaired_statement_only() -> None:
    """The refuted printed statement is no part of a campaign."""
    claim = Claim("x", "X", BROKEN.printed, (Witness("9", 9),), BROKEN.printed)
    assert list(campaign.statements(claim)) == ["repaired"]


def test_a_dask_cluster_runs_the_same_batches(tmp_path: Path) -> None:
    """Two worker processes of a local cluster; the result is that of one process."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        plan = Plan(("prop_one_neuron",), 20, 10)
        far = run(plan, tmp_path / "far", dask=cluster.scheduler_address, quiet=True)
        near = run(plan, tmp_path / "near", quiet=True)
    assert [(x.instances, x.vacuous) for x in far.lines] == [(x.instances, x.vacuous) for x in near.lines]


def test_a_dask_worker_that_dies_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of two workers is killed after the first batch; the campaign ends at the result of one process."""
    distributed = pytest.importorskip("distributed")
    plan = Plan(("prop_one_neuron", "lemma_unique_cgl"), 40, 10)
    near = run(plan, tmp_path / "near", quiet=True)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            victim = next(iter(client.run(os.getpid).values()))
        stored, original = [], campaign._store

        def store(state: Path, name: str, batch: campaign.Batch) -> None:
            original(state, name, batch)
            stored.append(name)
            if len(stored) == 1:
                os.kill(victim, signal.SIGKILL)

        monkeypatch.setattr(campaign, "_store", store)
        far = run(plan, tmp_path / "far", dask=cluster.scheduler_address, quiet=True)
    assert far.done == near.done == len(set(stored))
    assert [(x.instances, x.vacuous) for x in far.lines] == [(x.instances, x.vacuous) for x in near.lines]


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_in_two_processes_keeps_what_is_done(tmp_path: Path) -> None:
    """A real interrupt of the whole group: exit code 130, one sentence, no half-written file; the next run goes on."""
    pytest.importorskip("joblib")
    state = tmp_path / "state"
    command = [sys.executable, "-m", "properties", "campaign", "--only", "prop:one-neuron", "--examples", "4000"]
    command += ["--batch", "10", "--jobs", "2", "--state", str(state), "--quiet"]
    root = Path(campaign.__file__).parents[1]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=root
    ) as process:
        while process.poll() is None and not any(state.glob("prop_one_neuron.*.json")):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        out, errors = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert errors.startswith("properties: interrupted")
    assert len(errors.strip().splitlines()) == 1
    assert not [path for path in state.iterdir() if path.name.startswith(".")]
    kept = len(read_batches(state))
    assert 1 <= kept < 400
    rest = run(Plan(("prop_one_neuron",), (kept + 1) * 10, 10), state, quiet=True)
    assert rest.resumed == kept
    assert rest.done >= kept
