"""The corollary after lemma:unique-cgl (no label): independent columns of X_E make the solution unique."""

from __future__ import annotations

from hypothesis import strategies as st

from properties.exact.linalg import independent, transpose
from properties.model import Claim, Outcome, Property, expect, vacuous
from properties.strategies import PlantedCGL, planted_cgl

LABEL = "corollary: columns of X_E"
STATEMENT = "If the columns of X_E are linearly independent, the solution is unique."


def check(planted: PlantedCGL) -> Outcome:
    """Independent columns on E against the number of vertices."""
    columns = [c for b in planted.E for c in transpose(planted.problem.blocks[b].X)]
    if not independent(columns):
        return vacuous("dependent columns")
    return expect(planted.unique, f"independent columns, but {len(planted.vertices)} vertices")


def instances() -> st.SearchStrategy[PlantedCGL]:
    """Few narrow blocks, so that most have independent columns."""
    narrow, wide = (planted_cgl(max_n=5, max_active=k, max_size=3 - k) for k in (2, 1))
    return st.one_of(narrow, wide, planted_cgl(max_n=5, max_active=3, max_size=2))


CLAIM = Claim(LABEL, "Independent columns", Property(STATEMENT, instances(), check))
