"""The command line. Results go to stdout, progress and errors to stderr.

Exit codes: 0 a report was made; 1 a required claim is REFUTED; 2 a required claim is UNDECIDED; 64 usage;
65 data; 66 too many patterns; 70 a bug, or the checker rejected our own certificate; 130 interrupted; 141 nobody reads
the output any more (a closed pipe: then no exit code speaks of a claim).
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from relu_cert import __version__
from relu_cert.cli import check, explore, network, path, patterns, prune
from relu_cert.errors import DataError, ReluCertError, TooManyPatterns, UsageError

EXIT_USAGE, EXIT_DATA, EXIT_PATTERNS, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_PIPE = 64, 65, 66, 70, 130, 141


class _Parser(argparse.ArgumentParser):
    """argparse with our exit code for usage errors."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; every command has a module of its own."""
    top = _Parser(
        prog="python -m relu_cert",
        description="Train a two-layer ReLU network to its global optimum, and prove what was found.",
    )
    top.add_argument("--version", action="version", version=f"relu_cert {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (check, patterns, network, prune, explore, path):
        module.add_parser(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        options = parser().parse_args(arguments)
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except UsageError as error:
        return _fail(error, EXIT_USAGE)
    except DataError as error:
        return _fail(error, EXIT_DATA)
    except TooManyPatterns as error:
        return _fail(error, EXIT_PATTERNS)
    except ReluCertError as error:
        return _fail(error, EXIT_INTERNAL)
    except KeyboardInterrupt:
        print("\ninterrupted; nothing was written", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE
    except Exception:  # an exit code of 1 would say that a claim is refuted
        traceback.print_exc()
        print("relu_cert: this is a bug, please report it with the data. No verdict is given.", file=sys.stderr)
        return EXIT_INTERNAL


def _fail(error: Exception, code: int) -> int:
    print(f"relu_cert: {error}", file=sys.stderr)
    return code
