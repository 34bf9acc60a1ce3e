"""Run the command line in this process, as a user would."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from typing import Any

from relu_cert.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The JSON object on stdout."""
        return json.loads(self.out)


def run(*arguments: str) -> Ran:
    """The exit code, stdout and stderr of `python -m relu_cert ARGUMENTS`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(list(arguments))
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
    return Ran(code, out.getvalue(), err.getvalue())
