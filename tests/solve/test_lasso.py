"""The active-set method over nonnegative weights."""

from __future__ import annotations

import numpy as np
import pytest

from relu_cert.solve.kernel import nonnegative_lasso


@pytest.mark.parametrize("seed", range(60))
def test_the_answer_satisfies_the_optimality_conditions(seed: int) -> None:
    """a_j.r = f_j on the support, a_j.r <= f_j elsewhere, weights positive, also with dependent and equal atoms."""
    g = np.random.default_rng(seed)
    n, k = int(g.integers(2, 8)), int(g.integers(1, 30))
    A = g.standard_normal((n, k)) if seed % 3 else g.integers(-2, 3, (n, k)).astype(float)
    if seed % 2 and k > 3:
        A[:, 1], A[:, 2] = A[:, 0], 0.5 * A[:, 0] + 0.5 * A[:, 3]
    y, f = 3 * g.standard_normal(n), np.full(k, 0.2)
    support, x = nonnegative_lasso(A, y, f, [], np.zeros(0), 1e-13)
    r = y - A[:, support] @ x
    assert (x > 0.0).all()
    assert A[:, support].T @ r == pytest.approx(f[support], abs=1e-9)
    assert (A.T @ r <= f + 1e-9).all()
    assert np.linalg.matrix_rank(A[:, support]) == len(support)


def test_a_start_with_dependent_atoms_is_mended() -> None:
    """A start on two equal atoms and a useless one still ends at the minimum."""
    A = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    support, x = nonnegative_lasso(A, np.array([4.0, -1.0]), np.ones(3), [0, 1, 2], np.array([2.0, 1.0, 1.0]), 1e-14)
    assert 2 not in support
    assert x.sum() == pytest.approx(3.0)
