"""Long campaigns: every statement that should hold, on many exact instances, in parallel, resumable.

A statement's instances are drawn in batches, each from its own seed. A finished batch is one small file in the state
folder, so a campaign that is interrupted goes on where it stopped; with more `examples` a finished one is extended.
An instance that refutes a statement is shrunk and stored as a file that replays. A batch says which code drew and
checked it: batches of other code are kept and counted, and run again if asked for.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal
from time import monotonic
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from properties import registry
from properties.codec import encode
from properties.files import BATCH, write_text
from properties.model import Claim, Property
from properties.run import digest, search
from properties.version import code_version
from relu_cert.errors import DataError, UsageError


@dataclass(frozen=True)
class Plan:
    """Which claims, how many instances per statement, in batches of which size, from which seed."""

    claims: tuple[str, ...]
    examples: int
    batch: int = BATCH
    seed: int = 0


@dataclass(frozen=True)
class Task:
    """One batch of one statement."""

    module: str
    which: str
    number: int
    size: int
    seed: int

    @property
    def name(self) -> str:
        """The batch's file name in the state folder."""
        return f"{registry.short_name(self.module)}.{self.which}.{self.number:06d}.json"


@dataclass(frozen=True)
class Batch:
    """What a batch saw. `digests` name its distinct instances, `vacuous` those without content."""

    module: str
    which: str
    number: int
    size: int
    drawn: int
    digests: tuple[str, ...]
    vacuous: tuple[str, ...]
    seconds: float
    failure: dict[str, Any] | None
    notes: dict[str, int] = field(default_factory=dict)
    code: str = ""

    @property
    def current(self) -> bool:
        """The code that drew and checked it is the code that is here."""
        return self.code == code_version(self.module)

    @property
    def exhausted(self) -> bool:
        """There were fewer instances than asked for: further batches would only repeat them."""
        return self.failure is None and self.drawn < self.size // 2


@dataclass(frozen=True)
class Line:
    """One statement's line of the summary."""

    label: str
    which: str
    instances: int
    vacuous: int
    batches: int
    seconds: float
    failures: int
    notes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """The summary: all lines, the files of failing instances, batches done now, before, and by other code."""

    lines: tuple[Line, ...]
    failures: tuple[str, ...]
    done: int
    resumed: int
    older: int = 0


def statements(claim: Claim) -> dict[str, Property]:
    """The statements that should survive: the printed one unless a witness refutes it, and the repaired one."""
    out = {} if claim.witnesses else {"printed": claim.printed}
    if claim.repaired is not None:
        out["repaired"] = claim.repaired
    return out


def property_of(claim: Claim, which: str) -> Property:
    """The printed or the repaired statement."""
    if which == "printed":
        return claim.printed
    if which == "repaired" and claim.repaired is not None:
        return claim.repaired
    raise DataError(f"{claim.label} has no {which} statement")


def tasks(plan: Plan) -> Iterator[Task]:
    """All batches: the first of every statement, then the second, ..."""
    names = [(m, which) for m in plan.claims for which in statements(registry.load(m))]
    for number in range(-(-plan.examples // plan.batch)):
        size = min(plan.batch, plan.examples - number * plan.batch)
        for module, which in names:
            text = f"{plan.seed}/{module}/{which}/{number}".encode()
            yield Task(module, which, number, size, int.from_bytes(blake2b(text, digest_size=6).digest(), "big"))


def run_batch(task: Task) -> Batch:
    """Draw and check one batch (this runs in a worker)."""
    start = monotonic()
    claim = registry.load(task.module)
    found = search(property_of(claim, task.which), task.size, task.seed)
    failure = None
    if found.failed:
        failure = {
            "label": claim.label,
            "module": task.module,
            "which": task.which,
            "why": found.why,
            "digest": digest(found.failure),
            "instance": encode(found.failure),
        }
    return Batch(
        task.module,
        task.which,
        task.number,
        task.size,
        found.drawn,
        tuple(sorted(found.digests)),
        tuple(sorted(found.vacuous)),
        round(monotonic() - start, 3),
        failure,
        dict(found.notes),
        code_version(task.module),
    )


def read_batches(state: Path) -> dict[str, Batch]:
    """The finished batches of the state folder, by file name."""
    out = {}
    for path in sorted(state.glob("*.*.??????.json")):
        try:
            stored = json.loads(path.read_text())
            stored["digests"], stored["vacuous"] = tuple(stored["digests"]), tuple(stored["vacuous"])
            out[path.name] = Batch(**stored)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is not a finished batch ({error}). Remove it and run again.") from error
    return out


def _spent(done: Iterable[Batch]) -> set[tuple[str, str]]:
    """The statements without further instances: a batch found few, or the second found only those of the first."""
    known = {(b.module, b.which, b.number): b for b in done}
    out = {(b.module, b.which) for b in known.values() if b.exhausted}
    for (module, which, number), first in known.items():
        second = known.get((module, which, 1))
        if number == 0 and second is not None and set(second.digests) <= set(first.digests) and not second.failure:
            out.add((module, which))
    return out


def _prepare(plan: Plan, state: Path) -> None:
    """Remember the seed and the batch size of a state folder, and refuse to mix others in."""
    path = state / "campaign.json"
    ours = {"seed": plan.seed, "batch": plan.batch}
    if path.exists():
        try:
            theirs = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise DataError(f"{path} is damaged ({error}). It should say {json.dumps(ours)}: mend it.") from error
        if theirs != ours:
            raise UsageError(f"{state} holds a campaign with {theirs}, not {ours}. Use another --state")
    else:
        write_text(path, json.dumps(ours))


def run(
    plan: Plan, state: Path, jobs: int = 1, dask: str | None = None, quiet: bool = False, again: bool = False
) -> Result:
    """Run what is missing of the plan, keep every finished batch, and sum up all of it.

    `again` runs batches of other code once more.
    """
    _prepare(plan, state)
    done = {name: batch for name, batch in read_batches(state).items() if batch.current or not again}
    resumed = len(done)
    spent = _spent(done.values())
    everything = list(tasks(plan))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as progress:
        bar = progress.add_task("batches", total=len(everything))
        for turn in ([t for t in everything if min(t.number, 2) == k] for k in range(3)):
            missing = [t for t in turn if t.name not in done and (t.module, t.which) not in spent]
            progress.update(bar, advance=len(turn) - len(missing))
            for task_name, batch in _execute(missing, jobs, dask):
                done[task_name] = batch
                _store(state, task_name, batch)
                progress.update(bar, advance=1, description=batch.module)
            spent = _spent(done.values())
    return _summarise(plan, state, done, resumed)


def _store(state: Path, name: str, batch: Batch) -> None:
    if batch.failure is not None:
        write_text(
            state / "failures" / f"{registry.short_name(batch.module)}.{batch.which}.{batch.failure['digest']}.json",
            json.dumps(batch.failure, indent=1),
        )
    write_text(state / name, json.dumps(asdict(batch)))


def _named(task: Task) -> tuple[str, Batch]:
    return task.name, run_batch(task)


def _undisturbed(task: Task) -> tuple[str, Batch]:
    """A batch in a process of its own: Ctrl-C is for the process that waits for it, which then ends this one."""
    signal(SIGINT, SIG_IGN)
    return _named(task)


def _execute(missing: list[Task], jobs: int, dask: str | None) -> Iterable[tuple[str, Batch]]:
    """The batches as they finish: here, in joblib's processes, or on a dask cluster."""
    if jobs == 1 and dask is None:
        yield from map(_named, missing)
        return
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise UsageError("running in parallel needs joblib: pip install 'relu_cert[campaign]'") from error
    with _backend(dask):
        parallel = Parallel(n_jobs=-1 if dask else jobs, return_as="generator_unordered", batch_size=1)
        work = delayed(_named if dask else _undisturbed)
        yield from parallel(work(task) for task in missing)


@contextmanager
def _backend(dask: str | None) -> Iterator[None]:
    """joblib's own processes, or the dask cluster at this address."""
    if dask is None:
        yield
        return
    try:
        from dask.distributed import Client
        from joblib import parallel_config
    except ImportError as error:
        raise UsageError("--dask needs dask: pip install 'relu_cert[campaign]'") from error
    try:
        client = Client(dask, timeout="10s")
    except OSError as error:
        raise UsageError(f"no dask scheduler answers at {dask}") from error
    with client, parallel_config(backend="dask"):
        yield


def _summarise(plan: Plan, state: Path, done: dict[str, Batch], resumed: int) -> Result:
    lines = []
    for module in plan.claims:
        claim = registry.load(module)
        for which in statements(claim):
            mine = [b for b in done.values() if (b.module, b.which) == (module, which)]
            met = frozenset(d for b in mine for d in b.digests)
            empty = frozenset(d for b in mine for d in b.vacuous)
            failures = sum(b.failure is not None for b in mine)
            seconds = sum(b.seconds for b in mine)
            notes = dict(sum((Counter(b.notes) for b in mine), Counter()))
            lines.append(Line(claim.label, which, len(met - empty), len(empty), len(mine), seconds, failures, notes))
    files = tuple(sorted(str(p) for p in (state / "failures").glob("*.json")))
    return Result(tuple(lines), files, len(done), resumed, sum(not b.current for b in done.values()))


def print_summary(result: Result, console: Console) -> None:
    """A line per statement, then the failing instances."""
    table = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False)
    table.add_column("statement", ratio=1, overflow="fold")
    for name in ("instances", "vacuous", "failures", "seconds"):
        table.add_column(name, justify="right")
    for line in result.lines:
        style = "bold red" if line.failures else ""
        counts = (f"{line.instances:,}", f"{line.vacuous:,}", str(line.failures), f"{line.seconds:.0f}")
        name = line.label if line.which == "printed" else f"{line.label} ({line.which})"
        table.add_row(name, *counts, style=style)
    console.print(table)
    total, vacuous = sum(x.instances for x in result.lines), sum(x.vacuous for x in result.lines)
    console.print(
        Text(
            f"Distinct exact instances: {total:,}, and {vacuous:,} without content. Statements: {len(result.lines)}. "
            f"Batches: {result.done}, {result.resumed} of them from before. Failing instances: {len(result.failures)}."
        )
    )
    if result.older:
        console.print(Text(f"{result.older} of the batches are of other code: --again runs them once more."))
    for path in result.failures:
        console.print(Text(f"replay with: python -m properties replay {path}", style="bold red"))
