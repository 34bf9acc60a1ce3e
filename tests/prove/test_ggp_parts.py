"""The parts of relu_cert.prove.ggp: square roots, partitions, definite forms, cones."""

from decimal import Decimal, localcontext
from itertools import product

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from relu_cert.prove.ggp.answers import ConeWin, TooManyTerms, partition, root_sum_sign, square_classes, vanishing_signs
from relu_cert.prove.ggp.decide import is_definite
from relu_cert.prove.ggp.design import bound_holds, cone_win, first_cones, split_cone

bounded = settings(max_examples=150, deadline=None, derandomize=True)
signs = st.sampled_from([1, -1])


def test_square_classes_do_not_need_factors():
    """Radicands are of one class iff their product is a square; zeros belong to none."""
    p, q = 2**89 - 1, 2**107 - 1
    assert square_classes([p * q, 4 * p * q, 3 * p * q, 0, 12 * p * q]) == [
        {0: p * q, 1: 2 * p * q},
        {2: 3 * p * q, 4: 6 * p * q},
    ]


@bounded
@given(st.lists(st.tuples(signs, st.integers(0, 10**6)), max_size=6))
def test_signs_of_root_sums(terms):
    """The sign agrees with sixty decimal digits wherever those decide it."""
    with localcontext() as context:
        context.prec = 60
        value = sum((s * Decimal(r).sqrt() for s, r in terms), Decimal(0))
    assume(abs(value) > Decimal("1e-40"))
    assert root_sum_sign([s for s, _ in terms], [r for _, r in terms]) == (1 if value > 0 else -1)


@bounded
@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50), st.integers(1, 10**12)), min_size=1, max_size=3))
def test_root_sums_that_vanish(parts):
    """a sqrt(m) + b sqrt(m) - (a + b) sqrt(m) is exactly zero, and one unit under the root is not."""
    radicands = [r for a, b, m in parts for r in (a * a * m, b * b * m, (a + b) ** 2 * m)]
    s = [1, 1, -1] * len(parts)
    assert root_sum_sign(s, radicands) == 0
    radicands[-1] += 1
    assert root_sum_sign(s, radicands) == -1
    radicands[-1] -= 1
    found = vanishing_signs(radicands)
    assert found is not None
    assert root_sum_sign(found, radicands) == 0


def test_a_sum_that_is_nearly_zero_gets_its_sign():
    """sqrt(x) + sqrt(x + 2) < 2 sqrt(x + 1), though they agree to about 45 digits."""
    x = 10**30
    assert root_sum_sign([1, 1, -1], [x, x + 2, 4 * (x + 1)]) == -1


@bounded
@given(st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_partitions_agree_with_brute_force(numbers):
    """Signs are found iff there are any, and they are right."""
    found = partition(numbers)
    possible = any(
        sum(a * s for a, s in zip(numbers, c, strict=True)) == 0 for c in product((1, -1), repeat=len(numbers))
    )
    assert (found is not None) == possible
    assert found is None or sum(a * s for a, s in zip(numbers, found, strict=True)) == 0


def test_large_partitions_are_refused():
    """Forty numbers of one class are not searched: the caller hears of it."""
    with pytest.raises(TooManyTerms, match="40 norms"):
        partition(range(41, 81))


@bounded
@given(
    st.integers(1, 4).flatmap(
        lambda k: st.lists(st.lists(st.integers(-3, 3), min_size=k, max_size=k), min_size=k, max_size=k)
    ),
    st.integers(-2, 9),
)
def test_definiteness_agrees_with_sympy(A, shift):
    """Positive definite, and not merely semidefinite."""
    form = sympy.Matrix(A) + sympy.Matrix(A).T + shift * sympy.eye(len(A))
    assert is_definite([[int(x) for x in row] for row in form.tolist()]) == bool(form.is_positive_definite)


TRIANGLE = (((18, 0), (9, 1), (9, -1)), ((0, 18), (-1, 9), (1, 9)))  # |u_0| < |u_1| + |u_2| on the whole plane


def replay(basis, win, count):
    """Whether the cuts of a win cover the first cones with leaves on which its bound holds."""
    M = [b for b in range(count) if b not in win.plus]
    pending, cuts = first_cones(basis)[::-1], list(win.cuts)[::-1]
    while pending:
        cone, cut = pending.pop(), cuts.pop()
        if cut is None:
            if not bound_holds(cone, win.plus, M):
                return False
        else:
            first, second = split_cone(cone, cut)
            pending += [second, first]
    return not cuts


def test_cones_prove_what_holds():
    """The subdivision ends, and every leaf's bound holds."""
    win = cone_win((0, 1, 2), TRIANGLE, (1, 2), 1000)
    assert isinstance(win, ConeWin)
    assert len(win.cuts) > 2
    assert replay(TRIANGLE, win, 3)
    assert not replay(TRIANGLE, ConeWin((0,), win.cuts), 3)


def test_cones_prove_nothing_that_fails():
    """A coalition that loses, or that only ties somewhere, is never proved."""
    assert cone_win((0, 1, 2), TRIANGLE, (0,), 2000) is None
    tie = (((1, 0), (1, 0)), ((0, 2), (0, 1)))  # |u_0| >= |u_1| with equality at (1, 0)
    assert cone_win((0, 1), tie, (0,), 2000) is None
