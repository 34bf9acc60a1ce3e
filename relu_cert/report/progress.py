"""Progress on stderr: nothing for two seconds, then the stage and how far it is."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import ceil
from types import TracebackType

from relu_cert import clock as compiling
from relu_cert.cover.limits import ProgressEvent
from relu_cert.figures import downwards, upwards

PATIENCE = 2.0  # seconds before anything is shown
EVERY = 5.0  # seconds between the lines of a log that stay
HEAD = f"{'time':>7} {'':<8} {'neurons':>7} {'objective':>13} {'bound':>13} {'gap':>9} {'nodes':>9} {'open':>5}"
TICK = 0.25
TELLING = 0.04  # from this share on, what is left is estimated


class Progress:
    """Shows the present stage on a terminal once the work takes longer than two seconds.

    A thread of its own draws, so that a stage which does not report (a long call into a library) still shows its
    time. Nothing is drawn with `quiet`, or where stderr is no terminal.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._logged = not quiet and not self._shown
        self._stage, self._done, self._total = "", 0, 0
        self._moment: ProgressEvent | None = None
        self._last = 0.0
        self._start = self._begin = time.monotonic()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._heard = compiling.heard(self.note)

    def __enter__(self) -> Progress:
        self._start = time.monotonic()
        self._heard.__enter__()
        if self._shown:
            self._thread = threading.Thread(target=self._draw, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heard.__exit__(kind, value, trace)
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A stage begins; it ends with the context."""
        self._stage, self._done, self._total, self._begin = name, 0, 0, time.monotonic()
        self._moment = None
        yield

    def advance(self, done: int, total: int) -> None:
        """So much of the present stage is done."""
        self._done, self._total = done, total

    def tell(self, moment: ProgressEvent) -> None:
        """A line of the log: shown at once on a terminal, and kept every few seconds there and elsewhere."""
        self._moment = moment
        now = time.monotonic()
        if self._logged and now - self._start >= PATIENCE and now - self._last >= EVERY:
            sys.stderr.write("".join(f"{row}\n" for row in self.kept(now)))
            sys.stderr.flush()

    def row(self, moment: ProgressEvent, now: float) -> str:
        """Time, neurons, objective, bound, gap, nodes and open cones."""
        objective, lower = moment.objective, moment.bound
        gap = value = bound = ""
        if objective and lower is not None:
            above = max(Fraction(objective) - Fraction(lower), Fraction(0)) / Fraction(objective)
            gap = f"{ceil(10**4 * above) / 100:.2f}%"
        if objective is not None:
            value = upwards(Fraction(objective), 6)
        if lower is not None:
            bound = downwards(Fraction(lower), 6)
        where = f"{now - self._start:6.1f}s {moment.stage:<8} {moment.neurons:>7} {value:>13} {bound:>13} {gap:>9}"
        return f"{where} {moment.nodes:>9,} {moment.open:>5,}" if moment.nodes else where.rstrip()

    def kept(self, now: float) -> list[str]:
        """The rows of the log that stay above the one that is drawn: its head once, then one every few seconds."""
        if self._moment is None or (self._last and now - self._last < EVERY):
            return []
        head = [] if self._last else [HEAD]
        self._last = now
        return [*head, self.row(self._moment, now)]

    def line(self, now: float) -> str:
        """What is shown at this moment."""
        if self._moment is not None:
            return self.row(self._moment, now)
        seconds = f"{now - self._begin:5.0f} s"
        if self._total <= 0:
            return f"{self._stage:<12}{seconds}"
        share = min(1.0, self._done / self._total)
        bar = "#" * int(24 * share)
        left = (now - self._begin) * (1.0 - share) / share if share > 0.0 else 0.0
        estimate = f", {left:.0f} s left" if share >= TELLING and left >= 1.0 else ""
        return f"{self._stage:<12}{seconds}  [{bar:<24}] {self._done:,} of about {self._total:,}{estimate}"

    def note(self, text: str) -> None:
        """Lines that stay, on stderr."""
        if self._shown or self._logged:
            sys.stderr.write(("\r\x1b[2K" if self._shown else "") + text)
            sys.stderr.flush()

    def _draw(self) -> None:
        drawn = False
        while not self._stop.wait(TICK):
            now = time.monotonic()
            if now - self._start >= PATIENCE:
                sys.stderr.write("\r\x1b[2K" + "".join(f"{row[:79]}\n" for row in self.kept(now)) + self.line(now)[:79])
                sys.stderr.flush()
                drawn = True
        if drawn:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
