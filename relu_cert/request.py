"""What is asked for beside the data, read in one way for the command line and for Python.

`say` names an argument as its user writes it: `lambda_ratio`, or --lambda-ratio.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from relu_cert.commands import Request
from relu_cert.cover.limits import Limits
from relu_cert.data.arrays import exact_matrix
from relu_cert.data.dataset import Number, NumberError, exact_number
from relu_cert.driver.optimum import DEFAULT_GAP, IntervalChoice, LambdaChoice
from relu_cert.driver.variant import Gates, Variant, sample_gates
from relu_cert.errors import DataError, UsageError
from relu_cert.exact import Matrix
from relu_cert.free import read_free
from relu_cert.patterns.predict import gate_patterns, read_gate_file
from relu_cert.problem.loss import LOSSES, LossName

Say = Callable[[str], str]
_OPTIONS = {"lam": "lambda", "low": "from", "high": "to"}


def in_python(name: str) -> str:
    """The argument of a function."""
    return name


def as_option(name: str) -> str:
    """The option of a command."""
    return f"--{_OPTIONS.get(name, name).replace('_', '-')}"


def spoken(text: str) -> str:
    """A message with options as one with the arguments of functions: --lambda-ratio R is `lambda_ratio`."""
    options = {option: name for name, option in _OPTIONS.items()}
    return re.sub(r"--([a-z][a-z0-9-]*)", lambda m: f"`{options.get(m[1], m[1].replace('-', '_'))}`", text)


def positive(x: Number, what: str) -> Fraction:
    """A positive rational: 1/10, 0.1, 1e-1, a float as it is."""
    try:
        number = exact_number(x)
    except NumberError as error:
        raise UsageError(f"{what} must be a number such as 1/10 or 0.1; {x!r} is {error}.") from None
    if number <= 0:
        raise UsageError(f"{what} must be positive, not {str(x).strip()}.")
    return number


def read_lambda(x: Number, what: str, *, part: bool = False) -> LambdaChoice:
    """A lambda: 0.1max is a part of lambda_max, 0.1abs is lambda itself; a plain number is what `part` says."""
    text = str(x).strip() if isinstance(x, str) else ""
    for ending, of_max in (("max", True), ("abs", False)):
        if text.endswith(ending):
            x, part = text.removesuffix(ending).strip() or 1, of_max
    number = positive(x, what)
    return LambdaChoice(ratio=number) if part else LambdaChoice(value=number)


def absolute(x: Number, what: str) -> Fraction:
    """A lambda that is a number of its own, 0.1 or 0.1abs: what something was trained with."""
    value = read_lambda(x, what).value
    if value is None:
        raise UsageError(
            f"{what} is a number here, what was minimised; parts of lambda_max, such as {x}, are for "
            "check, path and explore, and check says what lambda that is."
        )
    return value


def decay_of(wanted: bool, lam: Number | None, say: Say) -> Fraction:
    """rho = lambda for a decayed output bias, else 0."""
    if not wanted:
        return Fraction(0)
    value = None if lam is None else read_lambda(lam, say("lam")).value
    if value is None:
        raise UsageError(f"{say('decayed_bias')} costs lambda/2 b^2: give lambda itself with {say('lam')}.")
    return value


def lambda_choice(lam: Number | None, ratio: Number | None, say: Say) -> LambdaChoice:
    """lambda itself, or its ratio to lambda_max."""
    if lam is not None and ratio is not None:
        raise UsageError(f"give {say('lam')} or {say('lambda_ratio')}, not both.")
    if lam is not None:
        return read_lambda(lam, say("lam"))
    return LambdaChoice(ratio=None if ratio is None else positive(ratio, say("lambda_ratio")))


def request(
    choice: LambdaChoice,
    gap: Number | None,
    interval: Sequence[Number] | None,
    noise: Number | None,
    claims: str | Sequence[str] | None,
    required: str | Sequence[str],
    say: Say,
) -> Request:
    """The questions."""
    along = None if interval is None else _interval(interval, say("interval"))
    sigma = None if noise is None else positive(noise, say("noise"))
    wanted = DEFAULT_GAP if gap is None else positive(gap, say("gap"))
    return Request.of(choice, wanted, claims, required, along, sigma)


def _interval(ends: Sequence[Number], what: str) -> IntervalChoice:
    if isinstance(ends, str) or len(ends) != 2:
        raise UsageError(f"{what} takes two numbers, lo and hi, such as 1/20 and 1/5; not {ends!r}.")
    lo, hi = (read_lambda(end, f"an end of {what}") for end in ends)
    _require_order(lo, hi, f"{what} needs lo < hi, not {ends[0]} and {ends[1]}.")
    return IntervalChoice(lo, hi)


def _require_order(lo: LambdaChoice, hi: LambdaChoice, message: str) -> None:
    """UsageError where two ends on one scale are not in order; on two scales that is seen later."""
    pairs = ((lo.value, hi.value), (lo.ratio, hi.ratio))
    if any(a is not None and b is not None and a >= b for a, b in pairs):
        raise UsageError(message)


def path_ends(low: Number, high: Number, say: Say) -> IntervalChoice:
    """The ends of a path; plain numbers are parts of lambda_max there."""
    lo, hi = read_lambda(low, say("low"), part=True), read_lambda(high, say("high"), part=True)
    _require_order(lo, hi, f"{say('low')} must be below {say('high')}; {low} is not below {high}.")
    return IntervalChoice(lo, hi)


def limits(
    seconds: float | None, jobs: int, dask: str | None, say: Say, state: str | os.PathLike[str] | None = None
) -> Limits:
    """How long a proof without a list of patterns may take, where it is done, and where it is kept."""
    if seconds is not None and not 0 < seconds < 10**9:
        raise UsageError(f"{say('seconds')} must be a positive number of seconds, not {seconds}.")
    if jobs < 1:
        raise UsageError(f"{say('jobs')} must be at least 1, not {jobs}.")
    return Limits(seconds, jobs=jobs, dask=dask, state=None if state is None else Path(state))


def variant(
    Z: Matrix | None,
    patterns: int | None,
    seed: int | None,
    gates: Any,
    l2: Number | None,
    loss: LossName,
    free: str | Sequence[str] | None,
    say: Say,
    delimiter: str = ",",
) -> Variant:
    """Which problem it is; only the rows Z of a network have patterns."""
    if loss not in LOSSES:
        raise UsageError(f"{say('loss')} is 'squares', 'logistic' or 'softmax', not {loss!r}.")
    some = None if Z is None else some_patterns(Z, patterns, seed, gates, say, delimiter)
    delta = Fraction(0) if l2 is None else positive(l2, say("l2"))
    return Variant(some, delta, LOSSES[loss], read_free(free))


def some_patterns(
    Z: Matrix, count: int | None, seed: int | None, gates: Any, say: Say, delimiter: str = ","
) -> Gates | None:
    """The patterns that were asked for, or None for all of them: those of random gates, or of given ones (a file, rows,
    or texts of bits)."""
    if count is not None and gates is not None:
        raise UsageError(f"give {say('patterns')} or {say('gates')}, not both.")
    if count is None and seed is not None:
        raise UsageError(f"{say('seed')} is for {say('patterns')}.")
    if count is not None:
        if count < 1:
            raise UsageError(f"{say('patterns')} must be at least 1, not {count}.")
        return sample_gates(Z, count, seed or 0)
    if gates is None:
        return None
    if isinstance(gates, str | os.PathLike):
        return read_gate_file(gates, Z, delimiter)
    if len(gates) and isinstance(gates[0], str):
        return {_bits(text, i, len(Z)): None for i, text in enumerate(gates)}
    rows = exact_matrix(gates, "gates")
    if not rows or len(rows[0]) != len(Z[0]):
        raise DataError(f"gates must be rows of {len(Z[0])} numbers, one for each column of Z (the bias included).")
    return gate_patterns(Z, rows)


def _bits(text: str, i: int, n: int) -> str:
    if len(text) != n or set(text) - {"0", "1"}:
        raise DataError(f"gates[{i}]: expected a pattern of {n} characters 0 and 1, found {text!r:.60}.")
    return text
