"""What the commands of `python -m properties` do, once `properties.cli` has read what is asked."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from properties import campaign, ledger, registry
from properties.codec import decode
from properties.files import check_writable, write_text
from properties.hunt import hunt
from properties.hunt_networks import MODELS
from properties.model import Answer, Claim
from properties.refutations import refutations, write_refutations
from properties.run import Entry, run_claim
from properties.soundness import summary as soundness
from relu_cert.errors import DataError, UsageError
from relu_cert.files import Place, decide_places

WIDTH = 80


class _Console(Console):
    """A console that leaves a closed pipe to `main`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _console() -> Console:
    """As wide as the terminal, or 80 columns where there is none."""
    console = _Console()
    return console if console.is_terminal else _Console(width=WIDTH)


def chosen(only: Sequence[str] | None, claims: dict[str, Claim] | None = None) -> dict[str, Claim]:
    """The claims named by label or by module, or all (of the ledger, unless others are given)."""
    claims = registry.all_claims() if claims is None else claims
    if not only:
        return claims
    labels = {claim.label: name for name, claim in claims.items()}
    out: dict[str, Claim] = {}
    for text in only:
        if registry.is_file(text):
            out |= registry.from_file(text)
            continue
        name = labels.get(text, text)
        if name not in claims:
            near = get_close_matches(text, [*labels, *claims], n=3, cutoff=0.4)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise UsageError(f"no claim is called {text!r}.{hint}")
        out[name] = claims[name]
    return out


def _ledger(options: argparse.Namespace) -> int:
    entries: list[Entry] = []
    claims = chosen(options.only)
    if options.refutations:
        folder = Path(options.refutations)
        there = [Place("--refutations", folder / name) for name in refutations(claims) if (folder / name).exists()]
        decide_places((), there, force=options.force)
        for path in write_refutations(claims, folder):
            print(path)
        return 0
    if options.html:
        check_writable(Path(options.html))
        decide_places((), [Place("--html", Path(options.html))], force=options.force)
    with Progress(console=Console(stderr=True), transient=True, disable=options.quiet) as progress:
        task = progress.add_task("claims", total=len(claims))
        for claim in claims.values():
            progress.update(task, description=claim.label)
            entries.append(run_claim(claim, options.examples, options.seed))
            progress.advance(task)
    if options.html:
        write_text(Path(options.html), ledger.as_html(entries, options.examples, options.seed))
    if options.json:
        print(json.dumps(ledger.as_json(entries, options.examples, options.seed), indent=1))
    else:
        ledger.print_table(entries, _console())
    return 1 if any(e.problems for e in entries) else 0


def _run_long(options: argparse.Namespace, names: tuple[str, ...]) -> campaign.Result:
    plan = campaign.Plan(names, options.examples, options.batch, options.seed or 0)
    how = {"jobs": options.jobs, "dask": options.dask, "quiet": options.quiet, "again": options.again}
    return campaign.run(plan, Path(options.state), **how)


def _campaign(options: argparse.Namespace) -> int:
    result = _run_long(options, tuple(chosen(options.only)))
    campaign.print_summary(result, _console())
    return 1 if result.failures else 0


def _soundness(options: argparse.Namespace) -> int:
    names = {name: registry.load(name) for name in registry.soundness_names()}
    result = _run_long(options, tuple(chosen(options.only, names)))
    if options.json:
        print(json.dumps(soundness.as_json(result), indent=1))
    else:
        soundness.print_summary(result, _console())
    return 1 if result.failures else 0


def _hunt(options: argparse.Namespace) -> int:
    """Print each instance as one line of JSON; `relu_cert check` reads its "problem", or its "csv"."""
    for model in MODELS if options.model is None else (options.model,):
        found = 0
        for prey in hunt(options.tries, options.seed, MODELS[model]):
            print(json.dumps(prey.to_json()), flush=True)
            found += 1
        print(
            f"{model}: {found} instances, each smaller than the one before, in {options.tries} tries", file=sys.stderr
        )
    return 0


def _replay(path: Path) -> int:
    try:
        stored = json.loads(path.read_text())
        module, which, instance = stored["module"], stored["which"], decode(stored["instance"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: expected a stored failing instance ({error})") from error
    if module not in (*registry.module_names(), *registry.soundness_names()) and not registry.is_file(module):
        raise DataError(f"{path}: no claim module is called {module!r}")
    prop = campaign.property_of(registry.load(module), which)
    try:
        outcome = prop.check(instance)
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:
        raise DataError(f"{path}: the instance does not fit the statement ({type(error).__name__}: {error})") from error
    print(f"{stored.get('label', module)}, {which}: {prop.statement}")
    _Console(width=WIDTH).print(Text(f"{outcome.answer.value}{': ' + outcome.why if outcome.why else ''}"))
    return 1 if outcome.answer is Answer.FAILS else 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "ledger": _ledger,
    "campaign": _campaign,
    "soundness": _soundness,
    "hunt": _hunt,
    "replay": lambda options: _replay(Path(options.file)),
}
