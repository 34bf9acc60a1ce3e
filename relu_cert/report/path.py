"""The path as text, JSON, CSV and a plot. A gap in the proof is drawn as a gap."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from math import log, log10
from pathlib import Path
from typing import Any

from relu_cert.claims.model import Result
from relu_cert.exact import sqrt_upper
from relu_cert.path.breakpoints import Breakpoint
from relu_cert.path.curve import CurveNeuron, Sample
from relu_cert.path.model import Cover
from relu_cert.prove.facts import LambdaMax
from relu_cert.report.text import at_most, decimal, rational

FORMAT, VERSION = "relu_cert path", 1
SHOWN = 40
INKS = ("#1b6ca8", "#c8553d", "#2e8b57", "#8e44ad", "#b8860b", "#16828a", "#a83279", "#555555")


@dataclass(frozen=True)
class PathReport:
    """What `path` found."""

    name: str
    largest: LambdaMax
    cover: Cover
    breakpoints: tuple[Breakpoint, ...]
    lost: int  # events whose ends were not settled
    samples: tuple[Sample, ...]
    results: tuple[Result, ...] = ()
    certificate: Path | None = None

    def to_text(self) -> str:
        """A few lines: the interval, the pieces, each breakpoint, each gap."""
        cover, root = self.cover, sqrt_upper(self.largest.squared)
        lines = [
            f"{self.name}: the optimal network for {_about(cover.lo)} <= lambda <= {_about(cover.hi)} "
            f"(lambda_max = {decimal(root, 8)})",
            f"unique, proved, on {sum(p.unique for p in cover.pieces)} pieces; {_sets(cover)}{len(cover.gaps)} gaps; "
            f"{len(self.breakpoints)} breakpoints, each in an interval of relative width 1e-12",
            "",
        ]
        lines += [f"  {decimal(one.hi, 16):<20} {_told(one)}" for one in self.breakpoints[:SHOWN]]
        if len(self.breakpoints) > SHOWN:
            lines.append(f"  ... and {len(self.breakpoints) - SHOWN} more (all with --json)")
        if self.lost:
            lines.append(f"  {self.lost} events have ends that were not settled")
        lines += [
            f"  set  [{_about(lo)}, {_about(hi)}]: a set of dimension {_dimension(k)}"
            for lo, hi, k in _stretches(cover)[:SHOWN]
        ]
        lines += [f"  gap  [{_about(g.lo)}, {_about(g.hi)}]: {g.reason}" for g in cover.gaps[:SHOWN]]
        if self.results:
            wide = max(len(result.claim) for result in self.results)
            lines += ["", *(f"{r.verdict:<9} {r.claim:<{wide}}  {r.detail}" for r in self.results)]
        if self.certificate is not None:
            lines += ["", f"certificate  {self.certificate}"]
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """One object; exact numbers as rationals, what is only near the truth as JSON numbers."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "interval": [rational(self.cover.lo), rational(self.cover.hi)],
            "lambda_max_squared": rational(self.largest.squared),
            "pieces": [
                {"lo": rational(p.lo), "hi": rational(p.hi), "kind": "still" if len(p.s) == 1 else "smooth"}
                | ({} if p.unique else {"dimension": p.dimension})
                for p in self.cover.pieces
            ],
            "gaps": [{"lo": rational(g.lo), "hi": rational(g.hi), "reason": g.reason} for g in self.cover.gaps],
            "breakpoints": [
                {
                    "lo": rational(b.lo),
                    "hi": rational(b.hi),
                    "kind": b.kind,
                    "above": b.above,
                    "below": b.below,
                    "certified": b.ends is not None,
                }
                for b in self.breakpoints
            ],
            "unsettled_events": self.lost,
            "claims": [
                {"claim": r.claim, "verdict": str(r.verdict), "evidence": r.evidence, "detail": r.detail}
                for r in self.results
            ],
            "certificate": None if self.certificate is None else str(self.certificate),
            "curve": [
                {
                    "lambda": rational(s.lam),
                    "objective": {"lower": rational(s.lower), "upper": rational(s.upper)},
                    "radius": None if s.radius is None else rational(s.radius),
                    "neurons": [_neuron(n) for n in s.neurons],
                }
                for s in self.samples
            ],
        }

    def to_csv(self) -> str:
        """One line for each neuron at each lambda of the curve (one without a neuron where the network is zero)."""
        stream = io.StringIO()
        table = csv.writer(stream, lineterminator="\n")
        size = max((len(n.direction) for s in self.samples for n in s.neurons), default=0)
        table.writerow(
            ["lambda", "objective", "width", "neuron", "sign", "weight", *(f"direction{j}" for j in range(size))]
        )
        for sample in self.samples:
            head = [repr(float(sample.lam)), repr(float(sample.upper)), len(sample.neurons)]
            if not sample.neurons:
                table.writerow([*head, "", "", "", *[""] * size])
            for i, n in enumerate(sample.neurons):
                padded = [*map(repr, n.direction), *[""] * (size - len(n.direction))]
                table.writerow([*head, i, n.sign, repr(n.weight), *padded])
        return stream.getvalue()

    def to_svg(self) -> str:
        """Weights and width against log lambda; breakpoints as thin lines, gaps as grey bands without curves."""
        return _Plot(self).svg()


def _sets(cover: Cover) -> str:
    """How many pieces have a set of optimal networks that need not be a point."""
    several = [piece for piece in cover.pieces if not piece.unique]
    return f"a set that moves continuously on {len(several)} pieces; " if several else ""


def _dimension(k: int) -> str:
    """Where a lift sets in, or neurons enter, the dimension is 0 on one side only."""
    return str(k) if k else "0 or more"


def _stretches(cover: Cover) -> list[tuple[Fraction, Fraction, int]]:
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


def _about(x: Fraction) -> str:
    return decimal(x, 8)


def _told(one: Breakpoint) -> str:
    width = at_most((one.hi - one.lo) / one.hi)
    what = {"enters": "a neuron enters", "leaves": "a neuron leaves", "turns": "a neuron changes its face"}[one.kind]
    return f"{what}: {one.above} -> {one.below} (proved to a relative {width})"


def _neuron(n: CurveNeuron) -> dict[str, Any]:
    content: dict[str, Any] = {"sign": n.sign, "weight": n.weight, "direction": list(n.direction)}
    if n.pattern is not None:
        content["pattern"] = n.pattern
    if n.block is not None:
        content["block"] = n.block
    return content


class _Plot:
    """One drawing of fixed size."""

    left, right, top, bottom, split = 60.0, 780.0, 30.0, 460.0, 320.0

    def __init__(self, report: PathReport) -> None:
        self.report = report
        top = min(float(report.cover.hi), 1.02 * float(sqrt_upper(report.largest.squared)))
        self.lo, self.hi = float(report.cover.lo), max(top, 1.0001 * float(report.cover.lo))
        weights = [n.weight * n.sign for s in report.samples for n in s.neurons]
        self.high = max([*weights, 0.0]) or 1.0
        self.low = min([*weights, 0.0])
        self.widest = max((len(s.neurons) for s in report.samples), default=1) or 1

    def x(self, lam: float) -> float:
        """Where lambda is."""
        share = log(max(lam, self.lo) / self.lo) / log(self.hi / self.lo)
        return self.left + (self.right - self.left) * min(share, 1.0)

    def y(self, weight: float) -> float:
        """Where a signed weight is."""
        return self.split - 20 - (self.split - 20 - self.top) * (weight - self.low) / (self.high - self.low)

    def step(self, width: int) -> float:
        """Where a width is."""
        return self.bottom - (self.bottom - self.split - 10) * width / self.widest

    def svg(self) -> str:
        """The drawing."""
        parts = [
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 500" font-family="sans-serif" font-size="11">',
            f"<title>{escape(self.report.name)}: the path of the optimal network</title>",
            '<rect width="800" height="500" fill="white"/>',
            *self.bands(),
            *self.axes(),
            *self.curves(),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def bands(self) -> list[str]:
        """Sets of optimal networks, gaps and breakpoints."""
        parts = []
        for lo, hi, dimension in _stretches(self.report.cover):
            a, b = self.x(float(lo)), self.x(float(hi))
            parts.append(
                f'<rect class="set" x="{a:.2f}" y="{self.top}" width="{max(b - a, 0.5):.2f}" '
                f'height="{self.bottom - self.top}" fill="#e6dcf2">'
                f"<title>a set of dimension {_dimension(dimension)}</title></rect>"
            )
        for gap in self.report.cover.gaps:
            a, b = self.x(float(gap.lo)), self.x(float(gap.hi))
            parts.append(
                f'<rect class="gap" x="{a:.2f}" y="{self.top}" width="{max(b - a, 0.5):.2f}" '
                f'height="{self.bottom - self.top}" fill="#ddd"/>'
            )
        for one in self.report.breakpoints:
            x = self.x(float(one.hi))
            parts.append(
                f'<line class="breakpoint" x1="{x:.2f}" x2="{x:.2f}" y1="{self.top}" y2="{self.bottom}" stroke="#bbb" '
                f'stroke-dasharray="2 3"><title>{escape(_told(one))} at {decimal(one.hi, 13)}</title></line>'
            )
        return parts

    def axes(self) -> list[str]:
        """Frames, ticks at powers of ten and at their double and five fold."""
        parts = [
            f'<rect x="{self.left}" y="{self.top}" width="{self.right - self.left}" '
            f'height="{self.split - 10 - self.top}" fill="none" stroke="#444"/>',
            f'<rect x="{self.left}" y="{self.split}" width="{self.right - self.left}" '
            f'height="{self.bottom - self.split}" fill="none" stroke="#444"/>',
            f'<text x="{self.left}" y="{self.top - 8}">sign times weight |w| of each neuron</text>',
            f'<text x="{self.left + 6}" y="{self.split + 14}">width</text>',
            f'<text x="{self.right}" y="{self.bottom + 34}" text-anchor="end">lambda (log)</text>',
            f'<text x="{self.left - 6}" y="{self.y(self.high) + 4:.1f}" text-anchor="end">{self.high:.3g}</text>',
            f'<text x="{self.left - 6}" y="{self.y(0.0) + 4:.1f}" text-anchor="end">0</text>',
            f'<text x="{self.left - 6}" y="{self.step(self.widest) + 4:.1f}" text-anchor="end">{self.widest}</text>',
        ]
        for power in range(int(log10(self.lo)) - 2, int(log10(self.hi)) + 3):
            for digit in (1, 2, 5):
                lam = digit * 10.0**power
                if self.lo <= lam <= self.hi:
                    x = self.x(lam)
                    parts.append(
                        f'<line x1="{x:.2f}" x2="{x:.2f}" y1="{self.bottom}" y2="{self.bottom + 4}" stroke="#444"/>'
                        f'<text x="{x:.2f}" y="{self.bottom + 16}" text-anchor="middle">{lam:g}</text>'
                    )
        return parts

    def curves(self) -> list[str]:
        """A line for each neuron of each piece, and one for its width."""
        parts = []
        inks: dict[tuple[int, str | None, int | None], str] = {}
        pieces: dict[int, list[Sample]] = {}
        for sample in self.report.samples:
            pieces.setdefault(sample.piece, []).append(sample)
        for group in pieces.values():
            for i, neuron in enumerate(group[0].neurons):
                key = (neuron.sign, neuron.pattern, neuron.block)
                ink = inks.setdefault(key, INKS[len(inks) % len(INKS)])
                points = " ".join(
                    f"{self.x(float(s.lam)):.2f},{self.y(s.neurons[i].sign * s.neurons[i].weight):.2f}" for s in group
                )
                parts.append(f'<polyline points="{points}" fill="none" stroke="{ink}" stroke-width="1.4"/>')
            y = self.step(len(group[0].neurons))
            a, b = self.x(float(group[0].lam)), self.x(float(group[-1].lam))
            parts.append(
                f'<line x1="{a:.2f}" x2="{b:.2f}" y1="{y:.2f}" y2="{y:.2f}" stroke="#222" stroke-width="1.6"/>'
            )
        return parts
