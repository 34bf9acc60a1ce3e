"""relu_cert.prove.projection"""

from fractions import Fraction
from itertools import product

from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.exact import dot, norm_squared, vector
from relu_cert.prove.projection import Bounds, combine, shortest

F = Fraction
small = st.integers(-3, 3).map(Fraction)
finite = settings(max_examples=150, deadline=None, derandomize=True)


@st.composite
def boxes(draw):
    """Rows a_k in the plane or in space, a box with finite and infinite sides, and a corner of it to start from."""
    d = draw(st.integers(1, 3))
    n = draw(st.integers(1, 5))
    a = [vector(draw(st.lists(small, min_size=d, max_size=d))) for _ in range(n)]
    box, start = [], []
    for _ in range(n):
        low = draw(small)
        kind = draw(st.sampled_from(["between", "above", "below", "fixed"]))
        high = {"between": low + draw(st.integers(0, 3)), "above": None, "below": low, "fixed": low}[kind]
        box.append(Bounds(None if kind == "below" else low, high))
        start.append(low)
    return a, box, start


def optimal_by_faces(a, box):
    """The least |sum m_k a_k|^2 over the box, by trying every face (independent of the code under test)."""
    best = None
    choices = [[side for side in (b.low, b.high) if side is not None] + ["free"] for b in box]
    for face in product(*choices):
        free = [k for k, c in enumerate(face) if c == "free"]
        m = [F(0) if c == "free" else c for c in face]
        c = combine(a, m)
        if free:
            gram = fmpq_mat([[_q(dot(a[i], a[j])) for j in free] for i in free])
            if gram.det() == 0:
                continue  # its minimum is also reached on a smaller face
            solution = gram.solve(fmpq_mat([[_q(-dot(a[i], c))] for i in free]))
            for k, x in zip(free, solution.entries(), strict=True):
                m[k] = F(int(x.p), int(x.q))
        inside = all(
            (b.low is None or m_k >= b.low) and (b.high is None or m_k <= b.high) for m_k, b in zip(m, box, strict=True)
        )
        if inside:
            length = norm_squared(combine(a, m))
            best = length if best is None else min(best, length)
    return best


def _q(x):
    return fmpq(x.numerator, x.denominator)


@finite
@given(boxes(), st.lists(st.integers(0, 4), max_size=3))
def test_shortest_is_optimal_for_every_guess_of_the_face(instance, guess):
    """The vector is in the box and none of the box is shorter (KKT); a wrong guess of the face changes nothing."""
    a, box, start = instance
    guess = [k for k in guess if k < len(a)]
    best = shortest(a, box, start, guess)
    assert best.v == combine(a, best.m)
    for row, m_k, b in zip(a, best.m, box, strict=True):
        assert b.low is None or m_k >= b.low
        assert b.high is None or m_k <= b.high
        slope = dot(row, best.v)
        assert slope == 0 or (m_k == b.low if slope > 0 else m_k == b.high)


@finite
@given(boxes())
def test_shortest_agrees_with_trying_every_face(instance):
    """The length equals the minimum over all faces of the box, found by brute force."""
    a, box, start = instance
    expected = optimal_by_faces(a, box)
    found = norm_squared(shortest(a, box, start).v)
    assert expected is None or found <= expected
    if all(b.low is not None and b.high is not None for b in box):
        assert found == expected
