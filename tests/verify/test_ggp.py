"""verify.ggp: evidence about general position is accepted exactly where it proves something."""

import copy
import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from properties.exact.roots import RootSum
from relu_cert.prove.ggp import Design, Proof, Unsettled, decide_position
from relu_cert.prove.ggp.model import GGP
from relu_cert.prove.ggp.record import ggp_record
from tests.verify.mutate import mutants
from verify.errors import Declined, Rejected
from verify.ggp import check_ggp
from verify.patterns import Patterns
from verify.problem import Problem
from verify.roots import can_vanish, sign_of_sum
from verify.text import Node

F = Fraction


def direct(rows, groups):
    """A direct problem."""
    Z = tuple(tuple(F(x) for x in row) for row in rows)
    return Problem("cgl", F(1), Z, (F(1),) * len(rows), tuple(groups), (None,) * len(groups))


def verdict(problem, groups, columns=None, patterns=None):
    """What the checker says about the groups; Rejected or Declined if the evidence proves nothing."""
    return check_ggp(problem, patterns, Node({"groups": groups, "columns": columns})).groups


DOMINANT = direct([[1, 0, 5, 0], [0, 1, 0, 7]], [(0, 1), (2,), (3,)])
PYTHAGORAS = direct([["3/5", 1, 0], ["4/5", 0, 1]], [(0,), (1, 2)])
SCALED = direct([[1, 0, 4, 0, 16, 0], [0, 1, 0, 4, 0, 16]], [(0, 1), (2, 3), (4, 5)])
MAJORITY = direct(
    [[9, 0, -10, 0, 0, 0], [0, 9, 0, -10, 0, 0], [9, 0, 0, 0, -10, 0], [0, 9, 0, 0, 0, -10]], [(0, 1), (2, 3), (4, 5)]
)

FORM = {"supports": [{"blocks": [0, 1, 2], "basis": ["5 0 -1 0", "0 7 0 -1"], "wins": [{"plus": [0], "t": "1/2 1/2"}]}]}
ZERO = {"zero": [[0, "-", "5"], [1, "+", "-3 -4"]]}
CROSSING = {"crossing": [[0, "+", "4 0", "0 0"], [1, "-", "-1 0", "4 0"], [2, "-", "0 0", "-1 0"]]}
CONES = {
    "supports": [
        {
            "blocks": [0, 1, 2],
            "basis": ["10 0 9 0 9 0", "0 10 0 9 0 9"],
            "wins": [
                {"plus": [1, 2], "cuts": [[0, 1, 1, 1], None, None, None]},
                {"plus": [0, 1], "cuts": [[0, 1, 1, 1], None, None, [1, 0, 2, 3], None, None]},
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
    "a coalition of others": (
        direct([[1, 0, 5, 0, 1], [0, 1, 0, 7, 0], [0, 0, 0, 0, 1]], [(0, 1), (2,), (4,), (3,)]),
        FORM,
        "",
    ),
    "no coalition": (DOMINANT, changed(FORM, (*SUPPORT, "wins"), []), "wins within one sign"),
    "a missing coalition": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 2), ...), "wins within one sign of"),
    "a basis too small": (DOMINANT, changed(FORM, (*SUPPORT, "basis", 1), ...), "2 independent"),
    "a dependent basis": (DOMINANT, changed(FORM, (*SUPPORT, "basis", 1), "10 0 -2 0"), "2 independent"),
    "a basis of no null vectors": (DOMINANT, changed(FORM, (*SUPPORT, "basis", 1), "0 7 0 1"), "Xu = 0"),
    "a leaf too early": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 0, "cuts"), [None, None]), "not at generator"),
    "too few cuts": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 0, "cuts", 3), ...), "too few"),
    "too many cuts": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 0, "cuts"), [None] * 5), ""),
    "a cut of one generator": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 0, "cuts", 0), [0, 0, 1, 1]), "different"),
    "a cut outside": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 0, "cuts", 0), [0, 1, 1, 0]), "positive factors"),
    "a cut elsewhere": (MAJORITY, changed(CONES, (*SUPPORT, "wins", 0, "cuts", 0), [0, 2, 1, 1]), "below 2"),
    "a tie denied": (direct([["3/5", 1, 0], ["4/5", 0, 1]], [(0,), (1, 2)]), {"supports": []}, "no tie"),
}


@pytest.mark.parametrize(("problem", "evidence", "says"), WRONG.values(), ids=WRONG.keys())
def test_rejects_what_proves_nothing(problem, evidence, says):
    """Every way in which evidence can fail is rejected, with the reason."""
    with pytest.raises(Rejected) as error:
        verdict(problem, evidence)
    assert says in str(error.value)
