"""Formulas on a page: sympy's MathML, which browsers set themselves; nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from relu_cert.report.html.page import Section, e

NAMES = {"p^{*}": "p*", "lambda_max": "lambda_max", "df": "degrees of freedom"}


def math(expression: Any) -> Element:
    """An expression as an element of MathML."""
    from sympy import mathml

    text = mathml(expression, printer="presentation")
    known = re.sub(
        "&(?!lt;|gt;|amp;)[A-Za-z]+;", lambda found: unescape(found[0]), text
    )  # names that XML does not have
    return fromstring(f"<math>{known}</math>")


def formula_section(equations: Iterable[tuple[Any, Any]]) -> Section:
    """Names and what they are, a line for each."""
    rows = [e("tr", e("td", NAMES.get(str(left), str(left))), e("td", math(right))) for left, right in equations]
    note = e("p", "Proved: these numbers were put into the optimality conditions exactly.")
    return Section("closed-form", "In closed form", (note, e("table", e("tbody", rows))))
