"""relu_cert.prove.ggp: group general position and general position of columns, on instances with a known answer."""

from fractions import Fraction
from itertools import combinations, product
from math import lcm

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from properties.exact.roots import RootSum
from properties.strategies import planted_cgl
from relu_cert.exact import matrix, vector
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, problem_from_json, relu
from relu_cert.prove.ggp.answers import Crossing, Proof, Unsettled, Zero
from relu_cert.prove.ggp.decide import Effort, decide_position, position_facts
from relu_cert.prove.ggp.design import Design, column_design, group_design

F = Fraction
I2 = ((1, 0), (0, 1))
entries = st.integers(-4, 4)
bounded = settings(max_examples=80, deadline=None, derandomize=True)


def times(c, rows):
    """The rows multiplied by c."""
    return tuple(tuple(F(c) * x for x in row) for row in rows)


def column(*entries):
    """One column."""
    return tuple((F(x),) for x in entries)


def design(*blocks):
    """Blocks given by rows, over their common denominator."""
    rows = [[[F(x) for x in row] for row in block] for block in blocks]
    q = lcm(*(x.denominator for block in rows for row in block for x in row))
    return Design(len(rows[0]), tuple(tuple(zip(*([int(q * x) for x in r] for r in b), strict=True)) for b in rows))


def spanned(*vectors):
    """A design whose null vectors are the span of some vectors, each given block by block."""
    flat = sympy.Matrix([[F(x) for part in vector for x in part] for vector in vectors])
    rows = [[F(int(x.p), int(x.q)) for x in row] for row in flat.nullspace()]
    ends = [sum(map(len, vectors[0][: i + 1])) for i in range(len(vectors[0]))]
    return design(*([row[end - len(part) : end] for row in rows] for part, end in zip(vectors[0], ends, strict=True)))


def columns_of(found):
    """Every column its own block."""
    return Design(found.n, tuple((c,) for block in found.blocks for c in block))


def image(found, blocks, u):
    """Xu"""
    return [
        sum(c[k] * x for b, part in zip(blocks, u, strict=True) for c, x in zip(found.blocks[b], part, strict=True))
        for k in range(found.n)
    ]


def signed_sum(signs, u):
    """sum s_b |u_b|, exactly, by factoring the radicands."""
    total = RootSum()
    for s, part in zip(signs, u, strict=True):
        total += RootSum.sqrt(sum(x * x for x in part)).times(s)
    return total.sign()


def holds(found, answer):
    """The answer as a truth value, after its refutation was checked against the definition."""
    assert isinstance(answer, Zero | Crossing | Proof), answer
    if isinstance(answer, Proof):
        return True
    assert len(set(answer.blocks)) == len(answer.blocks) <= found.n + 1
    assert not any(image(found, answer.blocks, answer.u))
    if isinstance(answer, Zero):
        assert any(map(any, answer.u))
        assert signed_sum(answer.signs, answer.u) == 0
    else:
        assert not any(image(found, answer.blocks, answer.v))
        assert signed_sum(answer.signs, answer.u) > 0 > signed_sum(answer.signs, answer.v)
    return False


def decided(found):
    """Whether GGP holds, and whether the columns are in general position."""
    columns = columns_of(found)
    return holds(found, decide_position(found)), holds(columns, decide_position(columns))


KNOWN = {
    "independent columns": (design(I2), True, True),
    "the paper's ball, x_1 = (1/2, 1/2)": (design(column("1/2", "1/2"), I2), True, False),
    "GP and not GGP": (design(column("3/5", "4/5"), I2), False, True),
    "GGP and not GP": (design(column(2, -1), I2), True, False),
    "many solutions at y = (6, 8), lambda = 5": (design(I2, I2), False, False),
    "two-dimensional null space, one block dominates": (design(I2, column(5, 0), column(0, 7)), True, True),
    "only sub-supports disagree": (design(I2, times(4, I2), times(16, I2)), False, False),
    "proportional blocks": (design(I2, times(3, I2)), True, True),
    "a tangent zero at a rational point": (design(I2, column("5/3", 0), column(0, "5/4")), False, True),
    "just beside the tangent": (design(I2, column("5/3", 0), column(0, "1250001/1000000")), True, True),
    "just inside the tangent": (design(I2, column("5/3", 0), column(0, "1249999/1000000")), False, True),
    "one block with null vectors": (design(((1, 1, 1),)), True, False),
    "two blocks with null vectors": (design(((1, 1),), ((1, 2),)), False, False),
    "a zero block": (design(column(1, 0), column(0, 0)), True, True),
    "two zero blocks": (design(column(0, 0), column(0, 0)), False, False),
    "sqrt 2 + sqrt 2 = sqrt 8": (spanned(((1, 1), (1, -1), (2, 2))), False, False),
    "sqrt 2 + sqrt 5 < sqrt 13 + 1/10^6": (spanned(((1, 1), (1, 2), (2, 3))), True, False),
    "sqrt 2 + 5 = sqrt 2 + 3 + 2": (spanned(((1, 1), (1, -1), (3, 4), (3,), (2,))), False, False),
    "sqrt 10 + sqrt 11 = sqrt 5 + sqrt 18 to three digits": (spanned(((3, 1), (3, 1, 1), (2, 1), (3, 3))), True, False),
    "a majority of three": (
        design(
            ((9, 0), (0, 9), (9, 0), (0, 9)), ((-10, 0), (0, -10), (0, 0), (0, 0)), ((0, 0), (0, 0), (-10, 0), (0, -10))
        ),
        True,
        True,
    ),
}


@pytest.mark.parametrize(("found", "groups", "columns"), KNOWN.values(), ids=KNOWN.keys())
def test_known_instances(found, groups, columns):
    """Instances of prop:unique-sol and prop:general-position-relation get their known answers, exactly checked."""
    assert decided(found) == (groups, columns)


def test_support_counts_blocks_up_to_n_plus_one():
    """n = 1: three blocks 1, 2, 3 have 1 + 2 - 3 = 0, but a support has two blocks at most, so GP holds."""
    assert decided(design(((1,),), ((2,),), ((3,),))) == (True, True)
    assert decided(design(column(1, 0), column(0, 1), column(1, 1))) == (True, True)  # 1, 1, -1 have no tie
    assert decided(design(column(1, 0), column(0, 2), column(2, -2))) == (False, False)  # 2, -1, -1 have one


def general_position(found):
    """By brute force: [X_T; sigma] has full column rank for all T of n + 1 columns and all signs."""
    p = len(found.blocks)
    for T in combinations(range(p), min(found.n + 1, p)):
        X = [list(found.blocks[b][0]) for b in T]
        for sigma in product((1, -1), repeat=len(T) - 1):
            if sympy.Matrix([[*x, s] for x, s in zip(X, (1, *sigma), strict=True)]).rank() < len(T):
                return False
    return True


@bounded
@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[entries] * n), min_size=1, max_size=5)))
def test_columns_agree_with_brute_force(columns):
    """General position of columns is decided as by the ranks of all signed subsets."""
    found = Design(len(columns[0]), tuple((c,) for c in columns))
    assert holds(found, decide_position(found)) == general_position(found)


@bounded
@given(
    st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[entries] * n), min_size=n, max_size=n)), st.integers(1, 9)
)
def test_two_blocks_agree_with_singular_values(A, scale):
    """X = [I, A / scale]: u_1 = -A u_2 / scale, so GGP holds iff A'A / scale^2 - I is definite."""
    n = len(A)
    found = design(sympy.eye(n).tolist(), times(F(1, scale), A))
    form = sympy.Matrix(A).T * sympy.Matrix(A) - scale**2 * sympy.eye(n)
    assert holds(found, decide_position(found)) == (form.is_positive_definite or form.is_negative_definite)


@bounded
@given(st.data())
def test_answers_do_not_depend_on_the_presentation(data):
    """Order of blocks, an orthogonal map inside each block, and an invertible map of the rows change no verdict."""
    n = data.draw(st.integers(1, 3))
    sizes = data.draw(st.lists(st.integers(1, 2), min_size=2, max_size=3))
    blocks = [[[data.draw(entries) for _ in range(size)] for _ in range(n)] for size in sizes]
    rotation = sympy.Matrix([[3, 4], [-4, 3]]) / 5
    rows = sympy.Matrix(n, n, lambda i, j: F(i + 1) if i <= j else F(0))
    turned = [
        (rows * sympy.Matrix(block) * (rotation if size == 2 else -sympy.eye(1))).tolist()
        for block, size in zip(blocks, sizes, strict=True)
    ]
    first = design(*blocks)
    second = design(*([[F(int(x.p), int(x.q)) for x in row] for row in block] for block in reversed(turned)))
    answers = decide_position(first), decide_position(second)
    if not any(isinstance(answer, Unsettled) for answer in answers):
        assert holds(first, answers[0]) == holds(second, answers[1])


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.booleans().flatmap(lambda constrained: planted_cgl(max_n=3, max_active=4, constrained=constrained)))
def test_two_solutions_and_a_proof_never_meet(planted):
    """prop:unique-sol, with or without cones: where two solutions are planted, GGP is not PROVED."""
    if not planted.unique:
        found = design(*(block.X for block in planted.problem.blocks))
        assert not isinstance(decide_position(found), Proof)


def network(rows):
    """The gated ReLU problem of some data."""
    Z = matrix(rows)
    return gated(Z, vector([1] * len(rows)), enumerate_patterns(Z))


@pytest.mark.parametrize(
    ("rows", "groups"),
    [
        ([[1]], True),
        ([[1, 2]], False),  # both blocks have null vectors of their own
        ([[1], [2], [3]], True),  # patterns 111 and 000
        ([[1], [-1]], True),  # 10, 01, 11: the null vector (1, 1, -1) has no tie
        ([[1, 0], [0, 1]], False),
        ([[0, 0], [1, 1], [2, 2]], False),
        ([[k - 4, (k * k) % 7 - 3] for k in range(10)], False),  # D_1 + D_2 = D_3 + D_4
        ([[1, k, k * k] for k in range(-8, 9)], False),
    ],
)
def test_gated_networks(rows, groups):
    """Gated networks over all patterns, with the number of blocks from one to hundreds."""
    problem = network(rows)
    found = position_facts(problem)
    assert holds(group_design(problem), found.groups) is groups
    holds(column_design(problem), found.columns)


def test_columns_of_a_direct_problem_keep_their_numbers():
    """Groups may take columns in any order; columns are numbered as in X."""
    problem = problem_from_json('{"X": [[1, 3, 0], [0, 4, 1]], "groups": [[2, 0], [1]], "y": [1, 1]}')
    assert column_design(problem).blocks == (((1, 0),), ((3, 4),), ((0, 1),))
    assert group_design(problem).blocks == (((0, 1), (1, 0)), ((3, 4),))


def test_gated_blocks_and_columns_are_numbered_by_pattern():
    """Block b is D Z for pattern b, and column b d + j is its column j."""
    problem = network([[1, 2], [-3, 4], [5, "1/2"]])
    patterns = problem.listed
    blocks, columns = group_design(problem).blocks, column_design(problem).blocks
    assert len(columns) == 2 * len(blocks) == 2 * len(patterns)
    for b in range(len(patterns)):
        on = patterns.pattern(b)
        first = tuple(2 * x if is_on else 0 for x, is_on in zip((1, -3, 5), on, strict=True))
        second = tuple(x if is_on else 0 for x, is_on in zip((4, 8, 1), on, strict=True))
        assert blocks[b] == (first, second)
        assert (columns[2 * b], columns[2 * b + 1]) == ((first,), (second,))


def test_relu_networks_are_refused():
    """Blocks of a ReLU network come in pairs X_b, -X_b, for which GGP is not a question."""
    Z = matrix([[1], [2]])
    with pytest.raises(ValueError, match="never holds"):
        position_facts(relu(Z, vector([1, 1]), enumerate_patterns(Z)))


def test_too_many_supports_are_left_undecided():
    """Beyond the effort there is no guess: generic columns, more subsets than may be listed."""
    found = Design(4, tuple(((k**1 % 97, k**3 % 89, k**5 % 83, k**7 % 79),) for k in range(3, 33)))
    answer = decide_position(found, Effort(supports=1000, tried=5))
    assert isinstance(answer, Unsettled)
    assert "142506 supports of 5 blocks" in answer.reason


def test_a_tie_that_is_not_rational_is_left_undecided():
    """|u_1| - |u_2| - |u_3| >= 0 touches zero at a^2 = 2 b^2 only (A^2 - 4 q_2 q_3 = (a^2 - 2 b^2)^2): no rational
    null vector refutes, and no proof may be found."""
    a = (1, "1/2", "1/2", 0, 0, 0), (0, 0), ("1/2", "1/2", 0)
    b = (0, 0, 0, 2, 2, "1/2"), (2, 1), (0, 0, "1/2")
    answer = decide_position(spanned(a, b))
    assert isinstance(answer, Unsettled)
    assert "of a tie" in answer.reason
