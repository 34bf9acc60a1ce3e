"""verify.rules.ggp: evidence about general position is accepted exactly where it proves something."""

import contextlib
import copy
import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from properties.exact.roots import RootSum
from relu_cert.prove.ggp.answers import GGP, Proof, Unsettled
from relu_cert.prove.ggp.decide import decide_position
from relu_cert.prove.ggp.design import Design
from relu_cert.serialize import serialize
from tests.verify.mutate import mutants
from verify.errors import Declined, Rejected
from verify.facts import COLUMNS, GROUPS, PATTERNS, Facts, proved
from verify.numbers.patterns import Patterns
from verify.numbers.roots import can_vanish, sign_of_sum
from verify.problem.problem import Problem
from verify.rules.ggp import check_ggp
from verify.text import Node

F = Fraction


def direct(rows, groups):
    """A direct problem."""
    Z = tuple(tuple(F(x) for x in row) for row in rows)
    return Problem("cgl", F(1), Z, (F(1),) * len(rows), tuple(groups), (None,) * len(groups))


def verdict(problem, groups, columns=None, patterns=None):
    """What the checker says about the groups; Rejected or Declined if the evidence proves nothing."""
    known = Facts() if patterns is None else proved(PATTERNS, patterns)
    return check_ggp(problem, known, Node({"groups": groups, "columns": columns})).get(GROUPS)


DOMINANT = direct([[1, 0, 5, 0], [0, 1, 0, 7]], [(0, 1), (2,), (3,)])
PYTHAGORAS = direct([["3/5", 1, 0], ["4/5", 0, 1]], [(0,), (1, 2)])
SCALED = direct([[1, 0, 4, 0, 16, 0], [0, 1, 0, 4, 0, 16]], [(0, 1), (2, 3), (4, 5)])
MAJORITY = direct(
    [[7, 0, -10, 0, 0, 0], [0, 7, 0, -10, 0, 0], [7, 0, 0, 0, -10, 0], [0, 7, 0, 0, 0, -10]], [(0, 1), (2, 3), (4, 5)]
)

FORM = {"supports": [{"blocks": [0, 1, 2], "basis": ["5 0 -1 0", "0 7 0 -1"], "wins": [{"plus": [0], "t": "1/2 1/2"}]}]}
ZERO = {"zero": [[0, "-", "5"], [1, "+", "-3 -4"]]}
CROSSING = {"crossing": [[0, "+", "4 0", "0 0"], [1, "-", "-1 0", "4 0"], [2, "-", "0 0", "-1 0"]]}
CONES = {
    "supports": [
        {
            "blocks": [0, 1, 2],
            "basis": ["10 0 7 0 7 0", "0 10 0 7 0 7"],
            "wins": [
                {"plus": [1, 2], "cuts": [[0, 1, 1, 1], None, None, [1, 0, 1, 1], None, None]},
                {"plus": [0, 1], "cuts": [None, None]},
                {"plus": [0, 2], "t": "1"},
            ],
        }
    ]
}
VALID = {
    "form": (DOMINANT, FORM, True),
    "zero": (PYTHAGORAS, ZERO, False),
    "crossing": (SCALED, CROSSING, False),
    "cones": (MAJORITY, CONES, True),
}


@pytest.mark.parametrize(("problem", "evidence", "holds"), VALID.values(), ids=VALID.keys())
def test_accepts_evidence_written_by_hand(problem, evidence, holds):
    """Each kind of evidence, written from the format's page, is accepted."""
    found = verdict(problem, evidence)
    assert found is not None
    assert found[0] is holds


def changed(evidence, path, value):
    """The evidence with one place changed (or removed, if the value is None)."""
    evidence = copy.deepcopy(evidence)
    *way, last = path
    at = evidence
    for key in way:
        at = at[key]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return evidence


SUPPORT = ("supports", 0)
WRONG = {
    "no evidence": (DOMINANT, {}, "one of zero"),
    "two kinds": (DOMINANT, FORM | ZERO, "one of zero"),
    "an unknown kind": (DOMINANT, {"trust": []}, "unknown key"),
    "a support left out": (DOMINANT, {"supports": []}, "which has 2 null vectors"),
    "a support twice": (DOMINANT, {"supports": FORM["supports"] * 2}, "each support once"),
    "a support that is too small": (
        DOMINANT,
        {"supports": [*FORM["supports"], changed(FORM, (*SUPPORT, "blocks"), [0, 1])["supports"][0]]},
        "supports of 3 blocks",
    ),
    "an empty tie": (PYTHAGORAS, {"zero": []}, "not zero"),
    "a tie of zero vectors": (PYTHAGORAS, {"zero": [[0, "-", "0"], [1, "+", "0 0"]]}, "not zero"),
    "not a null vector": (PYTHAGORAS, changed(ZERO, ("zero", 1, 2), "-4 -3"), "Xu = 0"),
    "signs without a tie": (PYTHAGORAS, changed(ZERO, ("zero", 0, 1), "+"), "sign 0 for vector 0"),
    "a block twice": (PYTHAGORAS, {"zero": [*ZERO["zero"], [0, "+", "0"]]}, "different blocks"),
    "a block that is not there": (PYTHAGORAS, changed(ZERO, ("zero", 1, 0), 2), "index below 2"),
    "a vector too long": (PYTHAGORAS, changed(ZERO, ("zero", 0, 2), "5 0"), "1 numbers"),
    "too many blocks": (
        direct([[1, 1, 2]], [(0,), (1,), (2,)]),
        {"zero": [[0, "+", "1"], [1, "+", "1"], [2, "-", "-1"]]},
        "at most 2",
    ),
    "a crossing of one sign": (SCALED, changed(CROSSING, ("crossing", 1, 1), "+"), "sign -1 for vector 1"),
    "a crossing the wrong way round": (
        SCALED,
        {"crossing": [[b, s, v, u] for b, s, u, v in CROSSING["crossing"]]},
        "sign 1 for vector 0",
    ),
    "a crossing with one vector": (SCALED, {"crossing": [row[:3] for row in CROSSING["crossing"]]}, "array of 4"),
    "weights over 1": (DOMINANT, changed(FORM, (*SUPPORT, "wins", 0, "t"), "1/2 3/4"), "sum at most 1"),
    "a weight that is zero": (DOMINANT, changed(FORM, (*SUPPORT, "wins", 0, "t"), "0 1/2"), "positive numbers"),
    "a form that is not definite": (DOMINANT, changed(FORM, (*SUPPORT, "wins", 0, "t"), "1/26 1/2"), "pivot 0"),
    "a coalition that loses": (DOMINANT, changed(FORM, (*SUPPORT, "wins", 0, "plus"), [1]), "pivot"),
    "a coalition of none": (DOMINANT, changed(FORM, (*SUPPORT, "wins", 0, "plus"), []), "blocks of"),
    "a coalition of others": (DOMINANT, changed(FORM, (*SUPPORT, "wins", 0, "plus"), [0, 3]), "index below 3"),
    "no coalition": (DOMINANT, changed(FORM, (*SUPPORT, "wins"), []), "wins within one sign"),
    "a missing coalition": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 2), ...), "wins within one sign of"),
    "a basis too small": (DOMINANT, changed(FORM, (*SUPPORT, "basis", 1), ...), "2 independent"),
    "a dependent basis": (DOMINANT, changed(FORM, (*SUPPORT, "basis", 1), "10 0 -2 0"), "2 independent"),
    "a basis of no null vectors": (DOMINANT, changed(FORM, (*SUPPORT, "basis", 1), "0 7 0 1"), "Xu = 0"),
    "a leaf too early": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 0, "cuts"), [None, None]), "not at generator"),
    "too few cuts": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 0, "cuts", 5), ...), "too few"),
    "too many cuts": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 1, "cuts"), [None] * 3), "no more cuts"),
    "a cut of one generator": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 0, "cuts", 0), [0, 0, 1, 1]), "different"),
    "a cut outside": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 0, "cuts", 0), [0, 1, 1, 0]), "positive factors"),
    "a cut elsewhere": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 0, "cuts", 0), [0, 2, 1, 1]), "below 2"),
    "a tie denied": (direct([["3/5", 1, 0], ["4/5", 0, 1]], [(0,), (1, 2)]), {"supports": []}, "no tie"),
}


def support(blocks, basis, plus, **proof):
    """The evidence of one support with one win."""
    return {"supports": [{"blocks": blocks, "basis": basis, "wins": [{"plus": plus, **proof}]}]}


def bisected(depth):
    """Cuts in preorder that halve a plane cone so many times."""
    return [None] if depth == 0 else [[0, 1, 1, 1], *bisected(depth - 1), *bisected(depth - 1)]


STRETCHED = direct([[1, 0, 3, 0], [0, 1, 0, "1/3"]], [(0, 1), (2, 3)])  # |u_0| > |u_1| near one axis, < near the other
STRETCHED_BASIS = ["3 0 -1 0", "0 1 0 -3"]
WRONG |= {
    "a form that is only semidefinite": (
        direct([[1, 0, "1/2", 0], [0, 1, 0, 1]], [(0, 1), (2, 3)]),
        support([0, 1], ["1 0 -2 0", "0 1 0 -1"], [1], t="1"),
        "pivot 1",
    ),
    "a tie behind many cuts": (
        direct([[1, 0, 1, 0], [0, 1, 0, 1]], [(0, 1), (2, 3)]),
        support([0, 1], ["1 0 -1 0", "0 1 0 -1"], [0], cuts=bisected(6) * 2),
        "not at generator",
    ),
    "a tie at a generator": (
        direct([[1, 1, 0], [0, 0, 0]], [(0,), (1,), (2,)]),
        support([0, 1, 2], ["1 -1 0", "0 0 1"], [0, 2], cuts=[None, None]),
        "not at generator 0",
    ),
    "a cone that is lost after one that is won": (
        STRETCHED,
        support([0, 1], STRETCHED_BASIS, [0], cuts=[[1, 0, 1, 9], None, None] * 2),
        "cuts[2]",
    ),
    "a cone that is lost before one that is won": (
        STRETCHED,
        support([0, 1], STRETCHED_BASIS, [0], cuts=[[0, 1, 9, 1], None, None] * 2),
        "cuts[1]",
    ),
    "a generator against the sum of all": (
        direct([[1, -6, 2]], [(0,), (1, 2)]),
        support([0, 1], ["6 1 0", "-2 0 1"], [0], cuts=[None, None]),
        "not at generator 1",
    ),
}


@pytest.mark.parametrize(("problem", "evidence", "says"), WRONG.values(), ids=WRONG.keys())
def test_rejects_what_proves_nothing(problem, evidence, says):
    """Every way in which evidence can fail is rejected, with the reason."""
    with pytest.raises(Rejected) as error:
        verdict(problem, evidence)
    assert says in str(error.value)


def test_declines_what_is_too_large():
    """More sets of blocks, more norms of one class or more blocks without a winner than the limits: nothing is said."""
    with pytest.raises(Declined, match="sets of 11 blocks"):
        verdict(direct([[k**i for k in range(40)] for i in range(10)], [(j,) for j in range(40)]), {"supports": []})
    line = direct([[int(i == j) for i in range(39)] + [j + 41] for j in range(39)], [(j,) for j in range(40)])
    with pytest.raises(Declined, match="32 norms"):
        verdict(line, {"supports": []})


def test_refuses_models_without_blocks_of_their_own():
    """A ReLU network has no such fact, and a gated one needs its patterns."""
    for model in ("relu", "gated"):
        with pytest.raises(Rejected, match="a direct problem, or a gated network"):
            verdict(Problem(model, F(1), ((F(1),),), (F(1),)), None)


def test_gated_blocks_and_columns_are_numbered_by_pattern():
    """Z = ((1, 2), (3, 4)) with patterns 11, 10, 01: block b is D Z, column 2 b + j its column j; X_0 = X_1 + X_2."""
    problem = Problem("gated", F(1), ((F(1), F(2)), (F(3), F(4))), (F(1), F(1)))
    patterns = Patterns([3, 1, 2], {3: 0, 1: 0, 2: 0}, 3)
    columns = {"zero": [[1, "+", "1"], [3, "-", "-1"], [5, "+", "-1"]]}
    with pytest.raises(Rejected, match="of sign 0 for vector 0"):  # 1 - 1 + 1: a null vector, no tie
        verdict(problem, None, columns, patterns)
    groups = {"crossing": [[1, "+", "2 -1", "0 0"], [2, "-", "0 0", "4 -3"]]}
    found = verdict(problem, groups, None, patterns)
    assert found is not None
    assert found[0] is False


def tie_holds(problem, evidence):
    """By the definition, with radicands factored: whether a mutated tie is one."""
    (rows,) = evidence.values()
    blocks = [row[0] for row in rows]
    if len(set(blocks)) != len(blocks) or len(blocks) > problem.n + 1:
        return False
    sums = []
    for k in range(2, len(rows[0])):
        u = [[F(x) for x in row[k].split(" ")] for row in rows]
        pairs = [
            (j, x) for b, part in zip(blocks, u, strict=True) for j, x in zip(problem.groups[b], part, strict=True)
        ]
        total = RootSum()
        for row, part in zip(rows, u, strict=True):
            total += RootSum.sqrt(sum(x * x for x in part)).times(1 if row[1] == "+" else -1)
        if not any(x for _, x in pairs) or any(sum(row[j] * x for j, x in pairs) for row in problem.Z):
            return False
        sums.append(total.sign())
    return sums == ([0] if "zero" in evidence else [1, -1])


@pytest.mark.parametrize(("problem", "evidence"), [(PYTHAGORAS, ZERO), (SCALED, CROSSING)], ids=["zero", "crossing"])
def test_mutated_ties_are_accepted_only_if_they_are_ties(problem, evidence):
    """Of every small change of a tie those are accepted that the definition confirms."""
    rejected = 0
    for mutant in mutants(evidence):
        with contextlib.suppress(json.JSONDecodeError):
            changed_evidence = json.loads(mutant.text)
            try:
                found = verdict(problem, changed_evidence)
            except Rejected:
                rejected += 1
            else:
                assert found is None or tie_holds(problem, changed_evidence), mutant.name
    assert rejected > 20


TOUCHING = direct([[1, 0, 5, 0], [0, 1, 0, 1]], [(0, 1), (2,), (3,)])
TOUCHING_FORM = changed(FORM, (*SUPPORT, "basis", 1), "0 1 0 -1")
HALVES = direct(
    [[1, 0, -2, 0, 0, 0], [0, 1, 0, -2, 0, 0], [1, 0, 0, 0, -2, 0], [0, 1, 0, 0, 0, -2]], [(0, 1), (2, 3), (4, 5)]
)
HALVES_CONES = changed(CONES, (*SUPPORT, "basis"), ["2 0 1 0 1 0", "0 2 0 1 0 1"])


@pytest.mark.parametrize(
    ("problem", "evidence"), [(TOUCHING, TOUCHING_FORM), (HALVES, HALVES_CONES)], ids=["form", "cones"]
)
def test_mutated_proofs_do_not_prove_what_fails(problem, evidence):
    """Where there is a tie (|u_0| = |u_2|; |u_0| = |u_1| + |u_2|) no small change of the nearest proof is accepted."""
    tried = 0
    for mutant in mutants(evidence):
        with contextlib.suppress(Rejected, json.JSONDecodeError):
            assert verdict(problem, json.loads(mutant.text)) is None, mutant.name
        tried += 1
    assert tried > 50


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_what_the_prover_finds_is_accepted(data):
    """Answers of the prover, on small random blocks, are accepted as they are; null is said only where it gave up."""
    n = data.draw(st.integers(1, 4))
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    entries = st.sampled_from([-30, -7, -2, -1, 0, 0, 1, 2, 5, 40])
    rows = [[data.draw(entries) for _ in range(sum(sizes))] for _ in range(n)]
    groups = [tuple(range(sum(sizes[:i]), sum(sizes[: i + 1]))) for i in range(len(sizes))]
    columns = list(zip(*rows, strict=True))
    by_group = decide_position(Design(n, tuple(tuple(columns[j] for j in group) for group in groups)))
    by_column = decide_position(Design(n, tuple((column,) for column in columns)))
    record = json.loads(json.dumps(serialize(GGP(by_group, by_column))))
    found = check_ggp(direct(rows, groups), Facts(), Node(record))
    for answer, said in ((by_group, found.get(GROUPS)), (by_column, found.get(COLUMNS))):
        assert (said is None) == isinstance(answer, Unsettled)
        assert said is None or said[0] is isinstance(answer, Proof)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=5), st.integers(0, 31))
def test_root_sums_agree_with_factored_ones(radicands, code):
    """The checker's square classes, found without factoring, give the same signs as factored radicands."""
    signs = [1 if code >> i & 1 else -1 for i in range(len(radicands))]
    total = RootSum()
    for s, r in zip(signs, radicands, strict=True):
        total += RootSum.sqrt(r).times(s)
    assert sign_of_sum(signs, radicands) == total.sign()
    assert can_vanish(radicands) or total.sign() != 0
