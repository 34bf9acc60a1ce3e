"""python -m properties: the ledger; `check` for one certificate; `campaign`, `soundness`, `hunt` and `replay` for long
runs.

Exit codes: 0 in order; 1 a repaired claim fails, a witness no longer refutes, or a campaign found a counterexample;
64 usage; 65 an unreadable file; 130 interrupted; 141 nobody reads the output any more (a closed pipe).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
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
from relu_cert.cli import NO_ROOM, not_written
from relu_cert.errors import DataError, ReluCertError, UsageError
from relu_cert.files import Place, decide_places

DEFAULT_EXAMPLES = 50
WIDTH = 80


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(_parser().parse_args(arguments))
        sys.stdout.flush()
        return code
    except ReluCertError as error:
        print(f"properties: {error}", file=sys.stderr)
        return 65 if isinstance(error, DataError) else 64
    except KeyboardInterrupt:
        print("properties: interrupted (a campaign goes on where it stopped: run it again)", file=sys.stderr)
        return 130
    except OSError as error:
        if not isinstance(error, BrokenPipeError) and error.errno not in NO_ROOM:
            raise
        return not_written("properties", error)


def _run(options: argparse.Namespace) -> int:
    if options.command == "check":
        from properties.symbolic.command import main as check

        return check(options.rest)
    if options.command == "campaign":
        return _campaign(options)
    if options.command == "soundness":
        return _soundness(options)
    if options.command == "hunt":
        return _hunt(options)
    if options.command == "replay":
        return _replay(Path(options.file))
    return _ledger(options)


class _Console(Console):
    """A console that leaves a closed pipe to `main`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _console() -> Console:
    """As wide as the terminal, or 80 columns where there is none."""
    console = _Console()
    return console if console.is_terminal else _Console(width=WIDTH)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageError(f"{message}. Try: python -m properties --help")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m properties", description="The paper's claims, checked on exact instances.")
    parser.set_defaults(command="ledger")
    _common(parser, DEFAULT_EXAMPLES)
    parser.add_argument("--json", action="store_true", help="print the ledger as JSON")
    parser.add_argument("--html", metavar="FILE", help="write the ledger as one self-contained page")
    parser.add_argument(
        "--refutations", metavar="DIR", help="write every refutation as a file that `verify` accepts, and end"
    )
    parser.add_argument("--force", action="store_true", help="replace files that were not written here")
    sub = parser.add_subparsers(metavar="{check,campaign,soundness,hunt,replay}", parser_class=_Parser)
    one = sub.add_parser("check", help="judge the verdicts of a certificate by the paper's definitions, in sympy alone")
    one.set_defaults(command="check")
    one.add_argument("rest", nargs=argparse.REMAINDER, metavar="CERT [--data FILE] [--json]")
    _long(sub.add_parser("campaign", help="a long run in parallel that resumes after an interruption"), "campaign")
    sound = sub.add_parser("soundness", help="the certifier against planted truth, metamorphic relations and floats")
    _long(sound, "soundness")
    sound.add_argument("--json", action="store_true", help="print the summary as JSON")
    jumps = sub.add_parser(
        "hunt", help="exact instances that refute a claim, by construction, each smaller than the last"
    )
    jumps.set_defaults(command="hunt")
    jumps.add_argument("claim", choices=("min-norm-continuous",))
    jumps.add_argument(
        "--model",
        choices=tuple(MODELS),
        help="only group lassos, gated ReLU or ReLU networks (default: one after another)",
    )
    jumps.add_argument(
        "--tries", type=_count, default=300, metavar="N", help="planted instances of each model (default: 300)"
    )
    jumps.add_argument("--seed", type=int, default=0, metavar="S", help="the seed (default: 0)")
    again = sub.add_parser("replay", help="check a stored failing instance again")
    again.set_defaults(command="replay")
    again.add_argument("file")
    return parser


def _long(long: argparse.ArgumentParser, command: str) -> None:
    """The options of a long run. The two kinds keep their batches apart."""
    long.set_defaults(command=command)
    _common(long, 10_000 if command == "campaign" else 1_000)
    state = campaign.STATE if command == "campaign" else soundness.STATE
    long.add_argument("--jobs", type=_count, default=1, help="processes on this machine (default 1)")
    long.add_argument("--dask", metavar="ADDRESS", help="run on this dask scheduler instead")
    long.add_argument("--state", metavar="DIR", default=state, help=f"default {state}")
    long.add_argument("--again", action="store_true", help="run finished batches once more if the code is another now")
    long.add_argument("--batch", type=_count, default=campaign.BATCH, help="instances per task (default %(default)s)")


def _common(parser: argparse.ArgumentParser, examples: int) -> None:
    parser.add_argument(
        "--only",
        metavar="LABEL|FILE.py",
        action="append",
        help="this claim only, or those of a file FILE.py of your own (may be repeated)",
    )
    parser.add_argument(
        "--examples", type=_count, default=examples, help="instances per statement (default %(default)s)"
    )
    parser.add_argument("--seed", type=int, help="draw other instances (default: the same ones in every run)")
    parser.add_argument("--quiet", action="store_true", help="no progress")


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
