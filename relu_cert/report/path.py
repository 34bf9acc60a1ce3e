"""The path as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from relu_cert.closed_forms.path import PathForm, path_form
from relu_cert.figures import at_most, count, decimal, holds_on, lies_in
from relu_cert.path.curve import Breakpoint, Sample
from relu_cert.path.follow import Drafted
from relu_cert.path.pieces import PathPieces
from relu_cert.prove.facts import Facts, LambdaMax
from relu_cert.report.check import largest_text
from relu_cert.report.headline import of_path
from relu_cert.report.shown import Report, known, picked, plain
from relu_cert.report.terminal import claims_table, fold, render, shorten
from relu_cert.words import of_groups

FORMAT, VERSION = "relu_cert path", 1
SHOWN = 40


@dataclass(frozen=True, repr=False)
class PathReport(Report):
    """What `path` found."""

    facts: Facts  # at the largest lambda, with the path
    largest: LambdaMax
    cover: PathPieces
    breakpoints: tuple[Breakpoint, ...]
    lost: int  # events whose ends were not settled
    samples: tuple[Sample, ...]
    exact: bool = False  # whether formulas are told, too

    @cached_property
    def formulas(self) -> PathForm:
        """Breakpoints and stretches in closed form, as far as they are proved."""
        return path_form(self.facts.problem, self.largest, self.cover, self.breakpoints)

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        said = of_path(self.cover, len(self.breakpoints), self.results)
        return of_groups(said) if self.facts.problem.kind == "cgl" else said

    def html(self) -> str:
        """The page of `path`."""
        from relu_cert.report.html.path import path_page

        return path_page(self)

    def to_text(self) -> str:
        """The interval, the pieces, each breakpoint, each gap, the verdicts."""
        cover = self.cover
        unique = count(sum(p.unique for p in cover.pieces), "piece")
        enclosed = f"{count(len(self.breakpoints), 'breakpoint')}, enclosed to a relative width of 1e-12"
        where = f"{' <= lambda <= '.join(holds_on(cover.lo, cover.hi, 8))} (lambda_max {largest_text(self.largest, 8)})"
        lines = [
            fold(self.headline),
            "",
            fold(
                f"{self.name}: the {'solution' if self.facts.problem.kind == 'cgl' else 'optimal network'} for {where}"
            ),
            fold(f"unique, proved, on {unique}; {_sets(cover)}{count(len(cover.gaps), 'gap')}; {enclosed}"),
            "",
        ]
        events = [fold(f"  {decimal(one.hi, 16):<20} {_told(one)}", 23) for one in self.breakpoints]
        lines += shorten(events, SHOWN)
        if self.lost:
            lines.append(f"  {count(self.lost, 'event')} with ends that were not settled")
        lines += [
            fold(f"  set  [{', '.join(holds_on(lo, hi, 8))}]: {set_text(k)}", 7)
            for lo, hi, k in _stretches(cover)[:SHOWN]
        ]
        lines += [fold(f"  gap  [{', '.join(lies_in(g.lo, g.hi, 8))}]: {g.reason}", 7) for g in cover.gaps[:SHOWN]]
        if self.exact:
            lines += ["", "in closed form", *(fold(f"  {line}", 6) for line in self.formulas.lines())]
        return render([*lines, "", claims_table(self.results), "", *self.certificate_lines])

    def to_json(self) -> dict[str, Any]:
        """One object; exact numbers as rationals, what is only near the truth as JSON numbers."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "interval": [self.cover.lo, self.cover.hi],
            "lambda_max_squared": self.largest.squared,
            "pieces": [
                picked(p, "lo hi")
                | {"kind": "still" if len(p.s) == 1 else "smooth"}
                | ({} if p.unique else {"dimension": p.dimension})
                for p in self.cover.pieces
            ],
            "gaps": self.cover.gaps,
            "breakpoints": [picked(b, "lo hi kind above below") | {"certified": True} for b in self.breakpoints],
            "unsettled_events": self.lost,
            "claims": self.results,
            "certificate": self.certificate_path,
            "curve": [
                {
                    "lambda": s.lam,
                    "objective": picked(s, "lower upper"),
                    "radius": s.radius,
                    "neurons": [picked(n, "sign weight direction") | known(n, "pattern block") for n in s.neurons],
                }
                for s in self.samples
            ],
        }
        if self.exact:
            content["exact"] = self.formulas.to_json()
        return dict(plain(content))

    def to_csv(self) -> str:
        """One line for each neuron at each lambda of the curve (one without a neuron where the network is zero).

        `neuron` is the same number for the same neuron all along the path, and the one that the page has.
        """
        from relu_cert.report.html.path_figures import numbers

        known = numbers(self.samples, self.cover)
        stream = io.StringIO()
        table = csv.writer(stream, lineterminator="\n")
        size = max((len(n.direction) for s in self.samples for n in s.neurons), default=0)
        table.writerow(
            ["lambda", "objective", "width", "neuron", "sign", "weight", *(f"direction{j}" for j in range(size))]
        )
        for k, sample in enumerate(self.samples):
            head = [repr(float(sample.lam)), repr(float(sample.upper)), len(sample.neurons)]
            if not sample.neurons:
                table.writerow([*head, "", "", "", *[""] * size])
            for i, n in enumerate(sample.neurons):
                padded = [*map(repr, n.direction), *[""] * (size - len(n.direction))]
                table.writerow([*head, known[k][i], n.sign, repr(n.weight), *padded])
        return stream.getvalue()


def draft_text(rows: Sequence[Drafted]) -> str:
    """What floats say, before the proof."""
    lines = ["draft (floats, not proved)", f"  {'lambda':>12} {'objective':>14} {'neurons':>8}"]
    lines += [f"  {row.lam:>12.6g} {row.objective:>14.6g} {row.width:>8}" for row in rows]
    return "\n".join([*lines, "the proof follows", ""])


def _sets(cover: PathPieces) -> str:
    """How many pieces have a set of optimal networks that need not be a point."""
    several = [piece for piece in cover.pieces if not piece.unique]
    return f"a set that moves continuously on {count(len(several), 'piece')}; " if several else ""


def set_text(k: int) -> str:
    """What is proved of a set of optimal networks; where a lift sets in, or neurons enter, it may be one network."""
    return f"a set of dimension {k} or more" if k else "one network, or a set of them: not settled"


def _stretches(cover: PathPieces) -> list[tuple[Fraction, Fraction, int]]:
    """The intervals with sets of optimal networks, neighbours of one dimension together, lambda ascending."""
    found: list[tuple[Fraction, Fraction, int]] = []
    for piece in cover.pieces:
        if piece.unique:
            continue
        if found and found[-1][1] == piece.lo and found[-1][2] == piece.dimension:
            found[-1] = (found[-1][0], piece.hi, piece.dimension)
        else:
            found.append((piece.lo, piece.hi, piece.dimension))
    return found


def _told(one: Breakpoint) -> str:
    width = at_most((one.hi - one.lo) / one.hi)
    return f"{event(one)}: {one.above} -> {one.below} (proved to a relative {width})"


def event(one: Breakpoint) -> str:
    """What happens as lambda falls."""
    if one.kind == "turns":
        return "a neuron changes its face, or another takes its place"
    more = abs(one.below - one.above)
    return f"a neuron {one.kind}" if more == 1 else f"{more} neurons {one.kind.removesuffix('s')}"
