"""lemma:unique-cgl: uniqueness is linear independence of the outputs on S_lambda.

The optimal set's vertices are found by trying every basis, so the number of solutions is known without the lemma.
"""

from __future__ import annotations

from properties.exact.linalg import independent
from properties.model import Claim, Outcome, Property, expect, yes
from properties.strategies import PlantedCGL, planted_cgl

LABEL = "lemma:unique-cgl"
STATEMENT = "The solution is unique iff {X_b v_b : b in S_lambda} are linearly independent."


def check(planted: PlantedCGL) -> Outcome:
    """One vertex iff the outputs on S are independent."""
    one = len(planted.vertices) == 1
    free = independent([planted.q[b] for b in planted.S])
    return expect(one == free, f"one solution: {yes(one)}; independent outputs on S: {yes(free)}")


CLAIM = Claim(LABEL, "Uniqueness", Property(STATEMENT, planted_cgl(), check))
