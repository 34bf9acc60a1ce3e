"""relu_cert from Python.

>>> import relu_cert
>>> found = relu_cert.certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], "1/10", bias=True)
>>> print(found.claims["optimal"].verdict, found.claims["p-unique"].verdict)
PROVED PROVED
>>> found.network.width
3
>>> [round(float(x), 3) for x in found.network.predict([[0, 1], [1, 1]])]
[0.859, 0.116]
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from relu_cert.certificate import write_text
from relu_cert.check import DEFAULT_GAP, DEFAULT_MAX_PATTERNS, LambdaChoice, find_facts, network_problem, verdicts
from relu_cert.claims import NAMES, Result
from relu_cert.data.arrays import dataset_from_arrays, exact_number
from relu_cert.data.numbers import NumberError
from relu_cert.errors import ReluCertError, UsageError
from relu_cert.network.fitted import FittedNetwork, fitted_network
from relu_cert.prove.facts import Facts, Value
from relu_cert.report.outcome import Outcome
from relu_cert.report.progress import Progress

Number = Fraction | int | float | str


def certify(
    Z: Any,
    y: Any,
    lam: Number | None = None,
    *,
    lambda_ratio: Number | None = None,
    model: Literal["relu", "gated"] = "relu",
    bias: bool = False,
    gap: Number = DEFAULT_GAP,
    claims: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    target: str = "y",
    max_patterns: int = DEFAULT_MAX_PATTERNS,
    verify: bool = True,
    progress: bool = False,
) -> Certified:
    """Train a two-layer network on Z (n x d) and y (n) to its global optimum, and prove what was found.

    minimise 1/2 |f(Z) - y|^2 + lambda/2 (|W1|^2 + |w2|^2)

    Numbers are exact. A float is the binary64 number it holds, so that 0.1 is not one tenth; "0.1", "1/10" and
    Fraction(1, 10) are. Arrays, lists of lists and data frames are taken.

    `lam`           lambda itself; or else
    `lambda_ratio`  its ratio to lambda_max, the least lambda with the zero network (1/10 if neither is given)
    `model`         "relu" or "gated"
    `bias`          append a column of ones to Z
    `gap`           the relative duality gap that the claim "optimal" asks for
    `claims`        the claims to decide; all by default
    `names`         names of the features (those of a data frame, or x0, x1, ...), `target` the name of y
    `max_patterns`  raise TooManyPatterns for data with more activation patterns
    `verify`        give the certificate to the independent checker before anything is returned
    `progress`      show long stages on a terminal

    >>> from fractions import Fraction
    >>> found = certify([[3, 0], [0, 4], [-3, 0], [0, -4]], [10, 10, 10, 10], lambda_ratio=2)
    >>> found.value.upper, found.network.width
    (Fraction(200, 1), 0)
    """
    choice = _choice(lam, lambda_ratio)
    if model not in ("relu", "gated"):
        raise UsageError(f"model is 'relu' or 'gated', not {model!r}.")
    names_asked = _claims(claims)
    relative_gap = _positive(gap, "gap")
    data, raw = dataset_from_arrays(Z, y, bias=bias, names=names, target=target)
    with Progress(quiet=not progress) as stages:
        facts = find_facts(network_problem(data, model, stages, max_patterns), choice, relative_gap, stages)
        outcome = Outcome(data, data.source, facts, verdicts(facts, names_asked), Path("data.cert.json"))
        found = Certified(outcome, raw)
        if verify:
            with stages.stage("verify"):
                found.recheck()
    return found


@dataclass(frozen=True)
class Certified:
    """What `certify` found: a network, the verdicts about it, and the certificate that proves them.

    >>> found = certify([[1], [2], [-1]], [1, 3, 2], "1/2")
    >>> for name, result in found.claims.items():
    ...     print(name, result.verdict)
    patterns-complete PROVED
    optimal PROVED
    fit PROVED
    p-unique PROVED
    convex-unique PROVED
    optimal-set PROVED
    minimal PROVED
    connected PROVED
    min-norm PROVED
    >>> found.lam, found.value.lower <= found.value.upper
    (Fraction(1, 2), True)

    Saved with its data, the certificate is checked by `python -m verify fit.cert.json --data fit.csv`:

    >>> import tempfile, pathlib
    >>> from verify.__main__ import main
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> found.save(folder / "fit.cert.json", data=folder / "fit.csv")
    >>> print((folder / "fit.csv").read_text().splitlines())
    ['x0,y', '1,1', '2,3', '-1,2']
    """

    outcome: Outcome
    data_csv: bytes

    @property
    def facts(self) -> Facts:
        """Everything that was proved, exactly."""
        return self.outcome.facts

    @property
    def claims(self) -> Mapping[str, Result]:
        """The verdict of every claim, by its name; a Result has `verdict`, `evidence` and `detail`."""
        return MappingProxyType({result.claim: result for result in self.outcome.results})

    @property
    def lam(self) -> Fraction:
        """lambda"""
        return self.facts.lam

    @property
    def value(self) -> Value:
        """The optimal value p*, enclosed: lower <= p* <= upper."""
        return self.facts.value

    @cached_property
    def network(self) -> FittedNetwork:
        """The network that was found, to predict with."""
        return fitted_network(self.facts, bias=self.outcome.source.bias)

    @cached_property
    def certificate(self) -> str:
        """The certificate, a JSON text (verify/FORMAT.md)."""
        return self.outcome.certificate_text()

    def recheck(self) -> None:
        """Give data and certificate to the independent checker; ReluCertError if it does not accept them."""
        from verify import VerifyError, check

        try:
            check(self.certificate.encode(), self.data_csv)
        except VerifyError as error:
            raise ReluCertError(
                f"the independent checker does not accept our own certificate ({error}); this is a bug, please report "
                "it with the data. No verdict is given."
            ) from None

    def save(self, path: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None) -> None:
        """Write the certificate, and with `data` also the CSV file that it speaks of (see relu_cert.data.arrays)."""
        _write(Path(path), self.certificate)
        if data is not None:
            _write(Path(data), self.data_csv.decode())

    def html(self, *, certificate: str = "data.cert.json", data: str = "data.csv") -> str:
        """The report as one self-contained HTML page; the names are those under which you save the two files."""
        from relu_cert.report.html import check_page

        source = replace(self.outcome.source, path=data)
        return check_page(replace(self.outcome, source=source, certificate_path=Path(certificate)))

    def _repr_html_(self) -> str:
        from relu_cert.report.html.notebook import notebook_table

        return notebook_table(self.outcome)

    def __str__(self) -> str:
        return self.outcome.to_text()

    def __repr__(self) -> str:
        said = ", ".join(f"{name}: {result.verdict}" for name, result in self.claims.items())
        return f"<Certified p* = {float(self.value.upper):.6g}, width {len(self.facts.primal.neurons)}; {said}>"


def _choice(lam: Number | None, ratio: Number | None) -> LambdaChoice:
    if lam is not None and ratio is not None:
        raise UsageError("give lam or lambda_ratio, not both.")
    if lam is not None:
        return LambdaChoice(value=_positive(lam, "lam"))
    return LambdaChoice() if ratio is None else LambdaChoice(ratio=_positive(ratio, "lambda_ratio"))


def _positive(x: Number, what: str) -> Fraction:
    try:
        number = exact_number(x)
    except NumberError as error:
        raise UsageError(f"{what} must be a positive number; {x!r} is {error}.") from None
    if number <= 0:
        raise UsageError(f"{what} must be positive, not {x}.")
    return number


def _claims(names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return NAMES
    asked = (names,) if isinstance(names, str) else tuple(names)
    for name in asked:
        if name not in NAMES:
            raise UsageError(f"there is no claim {name!r}; there are {', '.join(NAMES)}.")
    return asked


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; choose another place.") from None
