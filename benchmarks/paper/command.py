"""What the two experiments share as commands: their options, and how they end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from relu_cert.errors import DataError, ReluCertError


def base_parser(description: str, sets: int, quick: str) -> argparse.ArgumentParser:
    """--data, --out, --quick, --sets and --repeats."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    options.add_argument("--out", type=Path, required=True, help="the folder for results; a run goes on from them")
    options.add_argument("--quick", action="store_true", help=quick)
    options.add_argument("--sets", nargs="+", help=f"data sets (default: all {sets})")
    options.add_argument("--repeats", type=int, help="default: 5")
    return options


def how_often(options: argparse.Namespace) -> int:
    """As many as asked for, else one if it is to be quick, else five."""
    return int(options.repeats or (1 if options.quick else 5))


def finish(experiment: Callable[[argparse.Namespace], str], options: argparse.Namespace) -> int:
    """Print what the experiment returns; the exit code of a command that may be interrupted or find bad data."""
    try:
        print(experiment(options))
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    except ReluCertError as error:
        print(f"error: {error}", file=sys.stderr)
        return 65 if isinstance(error, DataError) else 64
    return 0


def progress(where: str, text: str, there: bool) -> None:
    """One line on stderr for a repeat, computed or found on disk."""
    print(f"{where}: {text}{' (from disk)' if there else ''}", file=sys.stderr, flush=True)
