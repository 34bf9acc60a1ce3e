"""python -m properties: the ledger; `check` for one certificate; `campaign`, `soundness`, `hunt` and `replay` for long
runs.

Exit codes: 0 in order; 1 a repaired claim fails, a witness no longer refutes, or a campaign found a counterexample;
64 usage; 65 an unreadable file; 130 interrupted; 141 nobody reads the output any more (a closed pipe).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from properties.files import BATCH, STATE
from relu_cert.cli import not_written
from relu_cert.errors import NO_ROOM, DataError, ReluCertError, UsageError

DEFAULT_EXAMPLES = 50
MODELS = ("cgl", "gated", "relu")


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
    """The command; what it needs is loaded for it alone, so that --help answers at once."""
    if options.command == "check":
        from properties.symbolic.command import main as check

        return check(options.rest)
    from properties import commands

    return commands.COMMANDS[options.command](options)


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
        choices=MODELS,
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
    long.add_argument("--jobs", type=_count, default=1, help="processes on this machine (default 1)")
    long.add_argument("--dask", metavar="ADDRESS", help="run on this dask scheduler instead")
    long.add_argument("--state", metavar="DIR", default=STATE[command], help="default %(default)s")
    long.add_argument("--again", action="store_true", help="run finished batches once more if the code is another now")
    long.add_argument("--batch", type=_count, default=BATCH, help="instances per task (default %(default)s)")


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
