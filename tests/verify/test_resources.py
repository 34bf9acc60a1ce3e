"""No file of at most a megabyte makes the checker take more time or memory than it is allowed: files made for that."""

from __future__ import annotations

import base64
import gzip
import io
import json
import lzma
import random
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.verify.build.leaders import cell, leader
from tests.verify.corpus.accepted_cases import accepted
from tests.verify.corpus.rejected_cases import changed
from tests.verify.cover.plant import packed, planted, tree
from tests.verify.score import CORPUS

pytestmark = pytest.mark.long

MEGABYTE = 10**6
SECONDS, MEGABYTES = 2, 700
Files = dict[str, bytes]
ONE_ROW, CORNER = accepted("one row"), planted("corner")
LAUNCH = """
import json, resource, subprocess, sys
ran = subprocess.run(sys.argv[1:], capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = used.ru_utime + used.ru_stime
print(json.dumps([ran.returncode, ran.stdout.decode(), ran.stderr.decode(), seconds, used.ru_maxrss]))
"""  # a small process, because the memory of a child is at first that of its parent


def long_numbers(count: int, digits: int) -> str:
    """Different fractions whose denominators have nothing in common."""
    return " ".join(f"{10**digits + 2 * k}/{10**digits + 2 * k + 1}" for k in range(count))


def problem(rows: list[str], y: str, facts: dict[str, Any], lam: str = "20") -> Files:
    """A certificate of a ReLU problem with these facts and without claims."""
    d = len(rows[0].split(" "))
    changes = {
        "problem.Z": rows,
        "problem.y": y,
        "problem.lambda": lam,
        "input.target": d,
        "facts": facts,
        "claims": [],
    }
    return {"FILE": changed(ONE_ROW, changes)}


def compressed_cover(codes: bytes, multipliers: bytes = b"", data: bytes = b"") -> Files:
    """The corner with other streams for the sign +."""
    streams = {"codes": codes, "multipliers": multipliers, "data": data}
    long = {name: base64.b64encode(lzma.compress(raw, preset=0)).decode() for name, raw in streams.items()}
    return {"FILE": changed(CORNER, {"facts.cover.proof.+": {**tree([200] * 4), **long}})}


def a_tree_without_end() -> Files:
    """Twenty million bisections, whose generators grow by 60 bits at each, from 20 kilobytes."""
    return compressed_cover(bytes(2 * 10**7), bytes([125]) * (2 * 10**7))


def a_tree_of_many_leaves() -> Files:
    """A thousand roots would do, but there are five million leaves."""
    return compressed_cover(bytes([0, 200]) * 5_000_000, bytes(5_000_000))


def a_stream_of_gigabytes() -> Files:
    """Zeros, packed: 300 megabytes in 45 kilobytes."""
    return compressed_cover(bytes(300 * MEGABYTE))


def many_directions() -> Files:
    """Twelve directions have 4,096 roots for each sign, each with 66 edges; all are bisected on and on."""
    rows = [" ".join("1" if i == j else "0" for j in range(12)) for i in range(12)]
    side = {name: packed(raw) for name, raw in (("codes", bytes(10**7)), ("multipliers", bytes(10**7)))}
    proof = {"basis": rows, "ties": [], "margin": 0, "+": {**tree([]), **side}, "-": tree([])}
    return problem(rows, " ".join(["1"] * 12), {"cover": {"theta": " ".join(["1"] * 12), "proof": proof}})


def many_ties() -> Files:
    """255 ties of long vectors on 2,000 lines."""
    rows = [f"{k + 1} 1" for k in range(2000)]
    ties = [{"sign": "+", "u": f"{10**300 + k} {10**299}", "shares": ""} for k in range(255)]
    proof = {"basis": ["1 0", "0 1"], "ties": ties, "margin": 0, "+": tree([200] * 4), "-": tree([200] * 4)}
    return problem(rows, " ".join(["1"] * 2000), {"cover": {"theta": " ".join(["1"] * 2000), "proof": proof}})


def many_leaders() -> Files:
    """A definiteness test of 250 columns with numbers of many digits."""
    d = 250
    rows = [" ".join(str((i * j) % 97 * 10**8 + (i == j)) for j in range(d)) for i in range(d)]
    each = [leader(i, 10**9 + i) for i in range(d)]
    side = {"centres": [], "cells": [cell(10**30, each)]}
    theta = " ".join(str(10**8 + i) for i in range(d))
    return problem(rows, theta, {"leaders": {"unit": "1", "theta": theta, "+": side, "-": side}}, str(10**31))


def many_centres() -> Files:
    """450 centres: as many cells, each with a matrix of 400 columns."""
    d = 400
    centres = [" ".join("1" if j == i % d else "0" for j in range(d)) for i in range(450)]
    side, alone = {"centres": centres, "cells": [cell(1, [leader(0, 1)])] * 450}, {"centres": [], "cells": [cell(1)]}
    row = " ".join(["1"] * d)
    return problem([row], "1", {"leaders": {"unit": "1/1000", "theta": "1", "+": side, "-": alone}})


def fractions_without_end() -> Files:
    """500 rows whose denominators have nothing in common: sums of 150,000 digits."""
    count = 500
    theta = long_numbers(count, 300)
    rows = [f"1/{10**40 + 2 * k + 1}" for k in range(count)]
    return problem(
        rows, theta, {"primal": {"neurons": []}, "dual": {"theta": theta, "multipliers": {"+": [], "-": []}}}
    )


def many_circuits() -> Files:
    """Two witnesses for 2^60 cells."""
    n = 60
    rows = [" ".join("1" if j in (k, n - 1) else "0" for j in range(n)) for k in range(n)]
    witnesses = [" ".join(["1"] * n), " ".join(["-1"] * n)]
    group = {"flat": [], "circuits": [], "witnesses": witnesses}
    fact = {"columns": list(range(n)), "groups": [group], "covers": [0]}
    return problem(rows, " ".join(["1"] * n), {"patterns": fact})


def a_large_unit_matrix() -> Files:
    """A class in 1,500 columns: its projector has two million entries."""
    d = 1500
    zero = {"format": "relu_cert certificate", "version": 2, "input": {"sha256": "0" * 64, "kind": "json"}}
    theta = "1"
    kinks = {"block": 0, "kinks": [0], "basis": [0], "idle": [], "fixed": ""}
    first = " ".join("1" if j == 0 else "0" for j in range(d))
    direct = {
        **{"model": "cgl", "objective": ONE_ROW.certificate["problem"]["objective"], "lambda": "100"},
        **{"X": [" ".join(["1"] * d)], "groups": [list(range(d))], "K": [first.split(" ")], "y": "1"},
    }
    facts = {
        "primal": {"neurons": []},
        "dual": {"theta": theta, "multipliers": ["0"]},
        "value": {"lower": "1/2", "upper": "1/2", "gap": "0"},
        "optimal_set": {
            **{"lift": [], "classes": [kinks], "out": None, "masses": "0"},
            **{"split": "", "forced": ""},
        },
    }
    text = {**zero, "problem": direct, "facts": facts, "claims": [], "end": "relu_cert certificate"}
    return {"FILE": json.dumps(text).encode()}


def a_large_inverse() -> Files:
    """500 classes of one gated network, whose outputs must be independent."""
    n = 500
    rows = [" ".join(str((i * j * j + i) % 7) for j in range(4)) for i in range(n)]
    patterns = [format((1 << n) - 1 - (1 << k), f"0{n}b") for k in range(n)]
    y = " ".join(["1"] * n)
    facts = {
        "primal": {"neurons": []},
        "dual": {"theta": y, "multipliers": [None] * n},
        "value": {"lower": str(n // 2), "upper": str(n // 2), "gap": "0"},
        "optimal_set": {
            **{"lift": [], "classes": [{"pattern": p} for p in patterns], "out": None},
            **{"masses": " ".join(["0"] * n), "split": "", "forced": ""},
        },
    }
    changes = {"problem.Z": rows, "problem.y": y, "problem.model": "gated", "problem.patterns": patterns}
    more = {"problem.lambda": str(10**6), "input.target": 4, "facts": facts, "claims": []}
    return {"FILE": changed(ONE_ROW, {**changes, **more})}


def a_gzip_bomb() -> Files:
    """A gigabyte of ones in a megabyte of data."""
    raw = gzip.compress(b"1,1,1\n" * (150 * MEGABYTE // 6), 9)
    return {"FILE": changed(ONE_ROW, {"input.sha256": sha256(raw).hexdigest()}), "--data": raw}


def an_npz_bomb() -> Files:
    """A member of 900 megabytes of zeros in a network of two weights; what it says of its size is true."""
    return archive(lambda file: np.save(file, np.zeros((1, 30_000_000))))


def a_wide_npz() -> Files:
    """A header that promises 10^18 numbers."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 999999999), }"
    header += b" " * (117 - len(header)) + b"\n"
    return archive(lambda file: file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header))


def archive(write: Callable[[Any], object]) -> Files:
    """A numpy archive in the place of the network's file."""
    buffer, member = io.BytesIO(), io.BytesIO()
    write(member)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as whole:
        whole.writestr("W1.npy", member.getvalue())
    raw = buffer.getvalue()
    tree = json.loads((CORPUS / "accepted" / "network-00.json").read_bytes())
    tree["facts"]["network"]["file"]["sha256"] = sha256(raw).hexdigest()
    return {"FILE": json.dumps(tree).encode(), "--network": raw}


def direct(columns: int, y: str, facts: dict[str, Any], lam: str) -> Files:
    """A group lasso of single columns, all ones."""
    n, start = len(y.split(" ")), {"format": "relu_cert certificate", "version": 2}
    text = {
        **{**start, "input": {"sha256": "0" * 64, "kind": "json"}},
        "problem": {
            **{"model": "cgl", "objective": ONE_ROW.certificate["problem"]["objective"], "lambda": lam},
            **{"X": [" ".join(["1"] * columns)] * n, "groups": [[j] for j in range(columns)]},
            **{"K": [None] * columns, "y": y},
        },
        **{"facts": facts, "claims": [], "end": "relu_cert certificate"},
    }
    return {"FILE": json.dumps(text).encode()}


def a_lift_of_long_numbers() -> Files:
    """19 rows of a lift, each of 20 numbers of 2,000 digits: a projector in exact numbers."""
    digits = iter(random.Random(0).choices("123456789", k=19 * 20 * 2000))
    rows = [" ".join("".join(islice(digits, 2000)) for _ in range(20)) for _ in range(19)]
    zero = " ".join(["0"] * 20)
    facts = {
        **{"primal": {"neurons": []}, "dual": {"theta": zero, "multipliers": [None]}},
        "value": {"lower": "0", "upper": "0", "gap": "0"},
        "optimal_set": {"lift": rows, "classes": [], "out": None, "masses": "", "split": "", "forced": ""},
    }
    return direct(1, zero, facts, "1")


def a_large_field() -> Files:
    """A field of degree 16 whose polynomial has coefficients of 17,000 digits."""
    one, number = " ".join(["1"] * 8), " ".join(["1"] * 16)
    polynomial = " ".join(["-1" + "0" * 17_000, *["3"] * 15, "1" + "7" * 18_000])
    facts = {
        **{"primal": {"neurons": []}, "dual": {"theta": one, "multipliers": [None]}},
        "value": {"lower": "4", "upper": "4", "gap": "0"},
        "algebraic_set": {
            **{"field": {"polynomial": polynomial, "lo": "0", "hi": "1"}, "residual": [number] * 8},
            **{"multipliers": [], "solutions": [[number]], "farkas": [number] * 8},
        },
    }
    return direct(1, one, facts, "100")


def many_faces() -> Files:
    """255 faces, with 12,000 lines through each of them."""
    rows, one = [f"{k + 1} 1 0 1" for k in range(12_000)], " ".join(["1"] * 12_000)
    proof = {"basis": ["1 0 0 0", "0 1 0 1", "0 0 1 0"], "ties": [{"sign": "+", "u": "0 0 1 0"}] * 255, "margin": 0}
    proof |= {sign: tree([200] * 8) for sign in "+-"}
    return problem(rows, one, {"cover": {"theta": one, "proof": proof}}, str(10**9))


def many_members_of_gzip() -> Files:
    """Thousands of gzip members, one after the other, each of four megabytes."""
    member = gzip.compress(b"1,1\n" * MEGABYTE, 9)
    raw = member * (900_000 // len(member))
    return {"FILE": changed(ONE_ROW, {"input.sha256": sha256(raw).hexdigest()}), "--data": raw}


def exponents_everywhere() -> Files:
    """Data of 40,000 numbers of 5,000 digits, from 14 bytes a row."""
    rows = 20_000
    raw = b"1e5000,1e-5000\n" * rows
    changes = {"problem.Z": ["1"] * rows, "problem.y": " ".join(["1"] * rows), "input.target": 1, "facts": {}}
    more = {"input.header": False, "input.sha256": sha256(raw).hexdigest(), "claims": []}
    return {"FILE": changed(ONE_ROW, changes | more), "--data": raw}


CASES = [
    *(a_lift_of_long_numbers, a_large_field, many_faces, many_members_of_gzip, exponents_everywhere),
    *(a_tree_without_end, a_tree_of_many_leaves, a_stream_of_gigabytes, many_directions, many_ties, many_leaders),
    *(many_centres, fractions_without_end, many_circuits, a_large_unit_matrix, a_large_inverse),
    *(a_gzip_bomb, an_npz_bomb, a_wide_npz),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_the_limits_hold(case: Callable[[], Files], tmp_path: Path) -> None:
    """Accepted, rejected or declined, in the seconds and the memory that were given, without a traceback."""
    arguments = []
    for name, content in case().items():
        assert len(content) <= MEGABYTE
        path = tmp_path / name.strip("-")
        path.write_bytes(content)
        arguments += [str(path)] if name == "FILE" else [name, str(path)]
    command = [
        sys.executable,
        "-m",
        "verify",
        *arguments,
        "--max-seconds",
        str(SECONDS),
        "--max-memory",
        str(MEGABYTES),
    ]
    start = time.monotonic()
    launched = subprocess.run([sys.executable, "-c", LAUNCH, *command], capture_output=True, check=True)
    code, said, complaint, seconds, kilobytes = json.loads(launched.stdout)
    assert code in (0, 1, 2, 65), said
    assert complaint == ""
    assert seconds <= SECONDS + 2, "with the start of Python"
    assert kilobytes <= MEGABYTES << 10
    assert time.monotonic() - start < 300
