"""The page of `solution`: given coefficients of a group lasso beside the optimal ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relu_cert.claims import STATEMENTS
from relu_cert.report.html.check import verdict_table
from relu_cert.report.html.markup import e
from relu_cert.report.html.page import Section, cards, count, page, table
from relu_cert.report.text import at_least, at_most, decimal, short
from relu_cert.words import of_groups

if TYPE_CHECKING:
    from relu_cert.solution import CertifiedSolution

MOST_ROWS = 200
GIVEN = "The given coefficients are optimal up to the relative gap asked for."


def solution_page(found: CertifiedSolution, name: str = "The given coefficients") -> str:
    """The report as one HTML page."""
    lasso, rows = found.lasso, found.rows()
    lead = f"{count(lasso.n, 'row')}, {count(lasso.d, 'column')} in {count(len(lasso.groups), 'group')}; "
    shown = [
        ("objective", decimal(found.objective.upper, 10), "of the given coefficients"),
        ("optimal objective", decimal(found.optimum.objective.upper, 10), "proved"),
        ("above the optimum", at_most(found.distance.upper), f"at most; at least {at_least(found.distance.lower)}"),
        ("λ", short(found.facts.lam, 14), "of the plain problem"),
    ]
    statements = {"solution-optimal": GIVEN} | {name: of_groups(text) for name, text in STATEMENTS.items()}
    cells = [(str(b), given, best, away) for b, given, best, away in rows[:MOST_ROWS]]
    more = f" The first {MOST_ROWS} of {len(rows)}." if len(rows) > MOST_ROWS else ""
    text = f"Groups with a coefficient that is not 0, in the given or in the optimal solution.{more}"
    sections = (
        Section("verdicts", "Verdicts", (verdict_table(list(found.claims.values()), statements),)),
        Section(
            "coefficients",
            "Coefficients",
            (e("p", text), table(("group", "given", "optimal", "largest difference"), cells, "compact")),
        ),
    )
    head = [
        e("p", found.headline, cls="headline"),
        e("p", f"{lead}the coefficients that a solver found, compared with the optimum.", cls="lead"),
        cards(shown),
    ]
    return page(name, head, sections)
