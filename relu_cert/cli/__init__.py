"""The command line. Results go to stdout, progress and errors to stderr.

Exit codes: 0 a report was made; 1 a required claim is REFUTED; 2 a required claim is UNDECIDED; 64 usage;
65 data; 66 too many patterns; 70 a bug, or the checker rejected our own certificate; 71 no more memory; 74 the output
cannot be written (a full disk); 130 interrupted; 141 nobody reads the output any more (a closed pipe: then no exit code
speaks of a claim).
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from relu_cert.cli.arguments import parser
from relu_cert.clock import limited
from relu_cert.errors import NO_ROOM, DataError, NoRoom, ReluCertError, TooManyPatterns, UsageError
from relu_cert.memory import watch_memory

EXIT_USAGE, EXIT_DATA, EXIT_PATTERNS = 64, 65, 66
EXIT_INTERNAL, EXIT_OUTPUT, EXIT_INTERRUPTED, EXIT_PIPE = 70, 74, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        return _run(arguments)
    except UsageError as error:
        return _fail(error, EXIT_OUTPUT if isinstance(error, NoRoom) else EXIT_USAGE)
    except DataError as error:
        return _fail(error, EXIT_DATA)
    except TooManyPatterns as error:
        return _fail(error, EXIT_PATTERNS)
    except ReluCertError as error:
        return _fail(error, EXIT_INTERNAL)
    except KeyboardInterrupt:
        _say("\ninterrupted; nothing was written")
        return EXIT_INTERRUPTED
    except BrokenPipeError as error:
        return not_written("relu_cert", error)
    except Exception as error:  # an exit code of 1 would say that a claim is refuted
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return not_written("relu_cert", error)
        _say(traceback.format_exc().rstrip())
        return _fail("this is a bug, please report it with the data. No verdict is given.", EXIT_INTERNAL)


def _run(arguments: Sequence[str] | None) -> int:
    """Run the command; what it printed is out when this ends, also the text of --help."""
    try:
        options = parser().parse_args(arguments)
        most = getattr(options, "max_memory", None)
        if most is not None and not most > 0:
            raise UsageError(f"--max-memory must be more than 0 gigabytes, not {most}.")
        seconds, shared = getattr(options, "seconds", None), getattr(options, "jobs", 1) > 1
        with watch_memory(most), limited(seconds, shared=shared or bool(getattr(options, "dask", None))):
            code: int = import_module(options.module).run(options)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    if sys.stdout is not None:
        sys.stdout.flush()
    return code


def not_written(program: str, error: OSError) -> int:
    """What is said where the output cannot be written, and the exit code: nothing to a reader who has gone."""
    _silence()
    if isinstance(error, BrokenPipeError):
        return EXIT_PIPE
    _say(f"{program}: cannot write the output: {error.strerror}; make room, or send it elsewhere.")
    return EXIT_OUTPUT


def _silence() -> None:
    """Nothing more can be said on stdout: what is left in its buffer goes nowhere."""
    with contextlib.suppress(OSError, ValueError):  # a stream without a file, as in a notebook
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: Exception | str, code: int) -> int:
    _say(f"relu_cert: {error}")
    return code


def _say(text: str) -> None:
    """A sentence for whoever still reads stderr."""
    with contextlib.suppress(OSError):
        if sys.stderr is not None:
            print(text, file=sys.stderr, flush=True)
