"""Hostile files: declined or rejected, within bounded memory, without a traceback, whatever they hold."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from hashlib import sha256
from time import process_time
from typing import Any

import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

import verify
from tests.verify.corpus.accepted_cases import accepted
from tests.verify.corpus.rejected_cases import changed
from verify.numbers.bounds import identity
from verify.sets.superclasses import stretch
from verify.text import integer, load, mask_of, show

ONE_ROW = accepted("one row")
MILLION = 10**6
DECLINED = {
    "a number of a million digits": (ONE_ROW.text.replace(b'"9/2"', b'"' + b"9" * MILLION + b'"'), "20000 digits"),
    "a JSON integer of a million digits": (b'{"version": ' + b"9" * MILLION + b"}", "20000 digits"),
    "a fraction of a million digits": (b'{"version": 0.' + b"9" * MILLION + b"}", "20000 digits"),
    "seventeen million zeros": (b"[" + b"0," * 17 * MILLION + b"0]", "16000000 commas"),
    "seventeen million empty arrays": (b"[" * 17 * MILLION, "16000000 commas"),
    "thirty-three million numbers": (b'["' + b"0 " * 33 * MILLION + b'"]', "32000000 spaces"),
    "another version": (changed(ONE_ROW, {"version": 1}), "certificate.version: expected version 2, found 1"),
}
REJECTED = {
    "a million open brackets": b"[" * MILLION,
    "a million open objects": b'{"a":' * MILLION,
    "twenty levels of brackets": b"[" * 20 + b"]" * 20,
    "a string that never ends, full of escaped quotes": b'["' + b'\\"' * MILLION,
    "a string that ends in a backslash": b'["\\',
    "backslashes without end": b'"' + b"\\" * (2 * MILLION + 1),
    "runs of digits just below the limit": b"[" + b'"' + (b"9" * 20_000 + b" ") * 200 + b'"]',
    "closing brackets only": b"]" * MILLION,
    "zeros only": b"\0" * MILLION,
    "quotes only": b'"' * MILLION,
    "a key with a lone surrogate": b'{"\\ud800": 1}',
    "a value with a lone surrogate": ONE_ROW.text.replace(b'"PROVED"', b'"\\udfff"'),
    "a number of a million digits behind escapes": ONE_ROW.text.replace(b'"9/2"', b'"' + b"\\u0039" * MILLION + b'"'),
    "a million numbers behind escapes": ONE_ROW.text.replace(b'"9/2"', b'"' + b"0\\u0020" * MILLION + b'"'),
    "a NUL in a number": ONE_ROW.text.replace(b'"9/2"', b'"9/2\\u0000"'),
    "a long key": b'{"' + b"k" * MILLION + b'": 1}',
    "many keys": b"{" + b", ".join(b'"k%d": 0' % k for k in range(10**5)) + b"}",
    "a million same keys": b"{" + b", ".join([b'"k": 0'] * 10**5) + b"}",
}


@pytest.mark.parametrize("name", DECLINED)
def test_over_a_limit_is_declined(name: str) -> None:
    """Over a limit nothing is said about the certificate, and little more memory is used than the file has."""
    text, message = DECLINED[name]
    tracemalloc.start()
    with pytest.raises(verify.Declined, match=message):
        verify.check(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * len(text) + MILLION


@pytest.mark.parametrize("name", REJECTED)
def test_hostile_text_is_rejected(name: str) -> None:
    """Text made to be slow or confusing is rejected, with a short message in ASCII."""
    with pytest.raises(verify.Rejected) as caught:
        verify.check(REJECTED[name], ONE_ROW.raw)
    assert str(caught.value).isascii()
    assert len(str(caught.value)) < 500


def test_limits_are_counted_not_guessed() -> None:
    """Exactly at a limit a certificate is still checked; one less and it is declined."""
    text = ONE_ROW.text
    values = sum(text.count(c) for c in (b",", b"[", b"{"))
    verify.check(text, None, verify.Limits(size=len(text), digits=64, values=values))
    for limits in (
        verify.Limits(size=len(text) - 1),
        verify.Limits(digits=1),
        verify.Limits(values=values - 1),
    ):
        with pytest.raises(verify.Declined):
            verify.check(text, None, limits)


def test_numbers_of_twenty_thousand_digits_are_read() -> None:
    """The longest numbers that the format allows are handled exactly, and shown by their first digits."""
    gap = "1" + "0" * 19_999
    assert verify.check(changed(ONE_ROW, {"facts.value.gap": f"1/{gap}"}), ONE_ROW.raw)
    with pytest.raises(
        verify.Rejected, match=r"found about 1\.00000000000e19999 \(off by about 9\.99999999999e19998\)"
    ):
        verify.check(changed(ONE_ROW, {"facts.value.lower": gap}), ONE_ROW.raw)
    witness = "-1" + "0" * 19_999 + " 0"
    assert verify.check(changed(ONE_ROW, {"facts.patterns.groups[0].witnesses[0]": witness}), ONE_ROW.raw)


@pytest.mark.parametrize("key", ["problem.lambda", "problem.y", "facts.patterns.groups[0].witnesses[0]"])
@pytest.mark.parametrize("digit", "19")
def test_numbers_of_more_digits_are_declined(key: str, digit: str) -> None:
    """A text of 0 and 1 may be longer, because patterns are; as a number, wherever it stands, it is as long as any."""
    with pytest.raises(verify.Declined, match="at most 20000 digits a number"):
        verify.check(changed(ONE_ROW, {key: digit * 20_001}), ONE_ROW.raw)


def test_patterns_of_more_rows_are_read() -> None:
    """120 images have 98,685 different windows, and a pattern a bit for each; masks grow with the rows, not faster."""
    bits = "01" * MILLION
    node = load(b'{"pattern": "%b"}' % bits.encode(), verify.Limits()).record("pattern")["pattern"]
    tracemalloc.start()
    assert node.pattern(2 * MILLION) == mask_of(range(1, 2 * MILLION, 2)) == int(bits[::-1], 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * MILLION
    for text in (b"[%b]", b'["%b 1"]', b'["2%b"]', b'["%b2"]', b'{"%b": 0.%b}'):
        with pytest.raises(verify.Declined, match="20000 digits"):
            load(text.replace(b"%b", bits.encode()), verify.Limits())


def test_a_count_that_explodes_is_cut_short() -> None:
    """Two witnesses for 2^60 cells: rejected as soon as the count is above two, whatever circuits are listed."""
    n = 60
    rows = [" ".join("1" if j in (k, n - 1) else "0" for j in range(n)) for k in range(n)]
    witnesses = [" ".join(["1"] * n), " ".join(["-1"] * n)]
    fact = {"columns": list(range(n)), "groups": [{"flat": [], "circuits": [], "witnesses": witnesses}], "covers": [0]}
    problem = {"Z": rows, "y": " ".join(["1"] * n)}
    changes: dict[str, Any] = {f"problem.{key}": value for key, value in problem.items()} | {
        "facts": {"patterns": fact},
        "claims": [],
    }
    changes["input.target"] = n
    with pytest.raises(verify.Rejected, match="more than 2, found 2"):
        verify.check(changed(ONE_ROW, changes))


@pytest.mark.parametrize(
    ("rows", "witnesses", "message"),
    [(2**5 + 1, 2, r"facts\.patterns: expected at most 1024 pairs of rows"), (2**5, 2**5 + 1, "1024 bits of patterns")],
    ids=["many rows", "many witnesses"],
)
def test_patterns_of_too_many_bits_are_declined(
    rows: int, witnesses: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sets of rows are bit masks: n^2 bits for the parallel ones, n for each pattern, counted before they are made.
    (The limit itself, two gigabytes, is too large for a test.)"""
    monkeypatch.setattr("verify.rules.patterns.MOST_BITS", 2**10)
    group = {"flat": [], "circuits": [], "witnesses": ["1"] * witnesses}
    facts = {"patterns": {"columns": [0], "groups": [group], "covers": [0]}}
    changes = {"problem.Z": ["1"] * rows, "problem.y": " ".join("0" * rows), "input.target": 1}
    with pytest.raises(verify.Declined, match=message):
        verify.check(changed(ONE_ROW, changes | {"facts": facts, "claims": []}))


def test_blocks_of_too_many_numbers_are_declined() -> None:
    """A network over some patterns is written out: 64 x 1024 numbers for each of 1026 blocks, from 200 kilobytes."""
    n, d = 64, 1024
    patterns = [f"{k:064b}" for k in range(513)]
    changes = {"problem.Z": [" ".join("0" * d)] * n, "problem.y": " ".join("0" * n), "problem.patterns": patterns}
    with pytest.raises(verify.Declined, match="67108864 numbers in blocks"):
        verify.check(changed(ONE_ROW, changes | {"input.target": d, "facts": {}, "claims": []}))


def test_a_large_unit_matrix_is_declined() -> None:
    """n^2 numbers from n bytes: not for n = 4097."""
    with pytest.raises(verify.Declined, match="16777216 entries of a matrix"):
        identity(2**12 + 1)


@pytest.mark.long
def test_many_independent_outputs_take_seconds() -> None:
    """400 columns: a characteristic polynomial of A'A took minutes, its time grew with the fourth power."""
    n = 400
    A = fmpq_mat([[fmpq((i * j * j + i + 7 * (i == j)) % 1009, 2**20 + i) for j in range(n)] for i in range(n)])
    start = process_time()
    assert stretch(A) > 0
    assert process_time() - start < 30


def test_a_gzip_bomb_is_not_unpacked() -> None:
    """Data that unpacks to more than the limit cannot be read, and costs no more memory than the limit."""
    raw = gzip.compress(b"0" * (50 * MILLION))
    text = changed(ONE_ROW, {"input.sha256": sha256(raw).hexdigest()})
    tracemalloc.start()
    with pytest.raises(verify.BadData, match="at most 1000000 bytes when unpacked"):
        verify.check(text, raw, verify.Limits(size=MILLION))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * MILLION


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"\x1f\x8b\x08garbage", "a gzip file"),
        (gzip.compress(b"2,-1,-3\n" * 99, mtime=0)[:-20], "a gzip file"),
        (b"2," + b"1" * 20_001 + b",-3\n", "at most 20000 characters"),
    ],
    ids=["no gzip", "cut gzip", "long number"],
)
def test_data_that_cannot_be_read(raw: bytes, message: str) -> None:
    """Damaged or over-long data is not the certificate's fault: BadData."""
    with pytest.raises(verify.BadData, match=message):
        verify.check(changed(ONE_ROW, {"input.sha256": sha256(raw).hexdigest()}), raw)


def test_a_deep_direct_problem_cannot_be_read() -> None:
    """Brackets without end are no direct problem."""
    raw = b"[" * MILLION
    text = changed(accepted("direct, planted"), {"input.sha256": sha256(raw).hexdigest()})
    with pytest.raises(verify.Rejected, match=r"data: .* recursion depth"):
        verify.check(text, raw)


def only_verify_errors(text: bytes, raw: bytes | None) -> None:
    """Check; any other exception is a failure of the checker."""
    try:
        verify.check(text, raw)
    except verify.VerifyError as error:
        assert str(error).isascii()


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.data())
def test_damaged_bytes_never_crash(data: st.DataObject) -> None:
    """Bytes changed, dropped or put in anywhere: accepted or rejected, never a traceback."""
    text = bytearray(
        accepted(data.draw(st.sampled_from(["xor, planted", "direct, planted", "circuits, planted"]))).text
    )
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    only_verify_errors(bytes(text), None)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 10**16)
    | st.sampled_from(["", "1", "-1/2 0", "01", "+", "x", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["w", "+", "-", "flat"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(derandomize=True, max_examples=400, deadline=None)
@given(st.data())
def test_parts_of_another_shape_never_crash(data: st.DataObject) -> None:
    """Any part replaced by any JSON value: accepted or rejected, never a traceback."""
    case = accepted(
        data.draw(st.sampled_from(["xor, planted", "xor, planted, gated", "direct, planted", "circuits, planted"]))
    )
    tree = json.loads(case.text)
    node, key = tree, data.draw(st.sampled_from(sorted(tree)))
    while isinstance(node[key], list | dict) and node[key] and data.draw(st.integers(0, 4)):
        node = node[key]
        key = data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
    node[key] = data.draw(JSON)
    only_verify_errors(json.dumps(tree).encode(), None)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.binary(max_size=40) | st.text('0123456789.,-+eE/\n\r"; xy', max_size=40).map(str.encode))
def test_any_data_never_crashes(raw: bytes) -> None:
    """Any bytes as raw data with the right hash: never a traceback."""
    only_verify_errors(changed(ONE_ROW, {"input.sha256": sha256(raw).hexdigest()}), raw)
    only_verify_errors(changed(accepted("direct, planted"), {"input.sha256": sha256(raw).hexdigest()}), raw)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.sampled_from(["X", "groups", "K", "y"]), JSON)
def test_any_direct_problem_never_crashes(key: str, value: object) -> None:
    """Any JSON value for a part of the raw problem: never a traceback."""
    case = accepted("direct, lambda above lambda_max")
    raw = json.dumps({**json.loads(case.raw), key: value}).encode()
    only_verify_errors(changed(case, {"input.sha256": sha256(raw).hexdigest()}), raw)


@pytest.mark.parametrize("digits", [1, 3999, 4000, 4001, 8001, 19_999])
def test_long_integers(digits: int) -> None:
    """Integers of any length are read exactly, with their sign."""
    text = "7" * digits
    value = integer(text)
    assert (9 * value + 7) == 7 * 10**digits
    assert integer("-" + text) == -value


def test_show_is_short_and_true() -> None:
    """Long numbers are shown by twelve digits, rounded towards zero, short ones exactly."""
    from fractions import Fraction

    assert show(Fraction(-3, 7)) == "-3/7"
    assert show(Fraction(10**40, 3)) == "about 3.33333333333e39"
    assert show(Fraction(-2, 3 * 10**50)) == "about -6.66666666666e-51"
    assert show(Fraction(1 << 3_400_000)) == "about 9.66623915794e1023501"
    assert show(Fraction(1, 1 << 3_400_000)) == "about 1.03452851068e-1023502"
    for exponent in range(-60, 60):
        x = Fraction(10) ** exponent * Fraction(3**60, 3**60 + 1)
        words = show(x)
        assert words.startswith("about 9.9999")
        assert int(words.split("e")[1]) == exponent - 1


NOTHING = {"model": "cgl", "objective": "1/2|Xw-y|^2 + lambda*sum|w_b|", "groups": [[0]], "K": [None]}


def test_an_empty_lift_of_many_rows() -> None:
    """No matrix of n x n numbers is made where nothing is lifted: 72 KB are checked in a few megabytes."""
    n = 8000
    y = " ".join(["1"] * n)
    nothing = {
        "lift": [],
        "classes": [],
        "out": None,
        "masses": "",
        "split": "",
        "forced": "",
    }
    tree = {
        **{"format": "relu_cert certificate", "version": 2, "input": {"sha256": "0" * 64, "kind": "json"}},
        "problem": {**NOTHING, "lambda": str(2 * n), "X": ["1"] * n, "y": y},
        "facts": {
            "primal": {"neurons": []},
            "dual": {"theta": y, "multipliers": [None]},
            "value": {"lower": str(n // 2), "upper": str(n // 2), "gap": "0"},
            "optimal_set": nothing,
        },
        **{"claims": [{"claim": "p-unique", "verdict": "PROVED"}], "end": "relu_cert certificate"},
    }
    text = json.dumps(tree).encode()
    tracemalloc.start()
    assert verify.check(text)
    assert tracemalloc.get_traced_memory()[1] < 50 * 2**20
    tracemalloc.stop()


@pytest.mark.parametrize("text", [b"1,1\n", b"\n", b"1,", b"\r\n"])
def test_a_packed_table_is_counted_before_it_is_split(text: bytes) -> None:
    """A small gzip file of many more fields than the certificate has numbers is rejected unread."""
    raw = gzip.compress(text * 5_000_000)
    assert len(raw) < 100_000
    changes = {"input.sha256": sha256(raw).hexdigest()}
    with pytest.raises(verify.Rejected, match=r"more than [0-9]+ fields"):
        verify.check(changed(ONE_ROW, changes), raw)


def test_packed_numbers_are_counted_before_they_are_parsed() -> None:
    """The same for a direct problem."""
    raw = gzip.compress(b'{"X": [[1]], "y": [' + b"1," * 5_000_000 + b'1], "groups": [[0]]}')
    tree = {
        **{"format": "relu_cert certificate", "version": 2},
        "input": {"sha256": sha256(raw).hexdigest(), "kind": "json"},
        "problem": {**NOTHING, "lambda": "1", "X": ["1"], "y": "1"},
        **{"facts": {}, "claims": [], "end": "relu_cert certificate"},
    }
    with pytest.raises(verify.Rejected, match="data: expected at most 9 numbers"):
        verify.check(json.dumps(tree).encode(), raw)
