"""The checker in Python and the proved one, on the same certificates of real data: their bounds and their times.

    python -m benchmarks.proved --data DIR [--sets blood:0.5,blood+bias:0.1] [--seconds S] [--keep FOLDER]

DIR holds the sets as CSV files (UCI; the last column is the label, 0 or 1). Labels become -1 and 1. Each certificate
has the evidence for `optimal` alone: network, dual point and cover, or leaders. With --keep they are written to FOLDER,
and read from there if they are there already. Times are processor seconds; those of the proved checker are what
`--proved` needs, and the part of it that the program `relucheck` takes. "unique" is what the proved checker says of the
network. After the table: the sentences of `--proved`, and the most memory that `relucheck` has needed.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy

import argparse
import json
import resource
import time
from fractions import Fraction
from pathlib import Path

from benchmarks.real import Case, raw_data
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import decide
from relu_cert.cover.limits import Limits
from relu_cert.data.read import read_csv_bytes
from relu_cert.driver.optimum import DEFAULT_GAP, LambdaChoice, find_facts
from relu_cert.driver.variant import network_problem
from relu_cert.figures import at_most
from relu_cert.report.progress import Progress
from verify import check
from verify.proved import prove

SETS = (
    "blood:0.5,blood:0.1,blood:0.05,blood:0.01,blood+bias:0.5,blood+bias:0.1,blood+bias:0.05,blood+bias:0.01,"
    "mammographic:0.5,mammographic:0.1,mammographic:0.05,mammographic:0.01,mammographic+bias:0.5,mammographic+bias:0.1,"
    "monks-1:0.5,monks-1:0.1,pima:0.5,ilpd-indian-liver:0.5,gaussian-2000x3:0.1,gaussian-500x4:0.1"
)
KEPT = ("primal", "cover", "leaders", "value")
HEAD = (
    "| set | n x d | lambda / lambda_max | by | relative gap | Python s | --proved s | relucheck s | unique | file |\n"
    "|" + "---|" * 10
)


def evidence(case: Case, raw: bytes, seconds: float) -> bytes:
    """A certificate of `optimal` alone."""
    data = read_csv_bytes(raw, f"{case.name}.csv", bias=case.bias)
    with Progress(quiet=True) as stages:
        problem = network_problem(data, "relu", stages, listed=False)
        choice = LambdaChoice(ratio=case.ratio)
        facts = find_facts(problem, choice, DEFAULT_GAP, stages, limits=Limits(seconds=seconds))
    content = certificate(data.source, facts, decide(facts, ("optimal",)))
    content["facts"] = {name: fact for name, fact in content["facts"].items() if name in KEPT}
    return dumps(content).encode()


def kept(case: Case, raw: bytes, seconds: float, folder: Path | None) -> bytes:
    """The certificate, from the folder if it is there."""
    if folder is None:
        return evidence(case, raw, seconds)
    path = folder / f"{case.name}{'+bias' * case.bias}_{float(case.ratio):g}.json"
    if not path.is_file():
        path.write_bytes(evidence(case, raw, seconds))
    return path.read_bytes()


def row(case: Case, raw: bytes, text: bytes) -> tuple[str, str]:
    """A line of the table, and the sentence of the proved checker."""
    began = time.process_time()
    check(text, raw)
    ours = time.process_time() - began
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.process_time()
    found = prove(text, raw)
    here, after = time.process_time() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    theirs = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    facts = json.loads(text)["facts"]
    problem = json.loads(text)["problem"]
    size = f"{len(problem['Z'])} x {len(problem['Z'][0].split())}"
    gap = at_most((found.upper - found.lower) / found.upper)
    parts = [case.title, size, f"{float(case.ratio):g}", "cover" if "cover" in facts else "leaders", gap]
    parts += [f"{ours:.2f}", f"{here + theirs:.2f}", f"{theirs:.2f}", "yes" if found.unique else f"open: {found.open}"]
    return (
        f"| {' | '.join(parts)} | {len(text) / 1000:,.0f} KB |",
        f"{case.title} {float(case.ratio):g}: {found.sentence}",
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=SETS, help="names and ratios")
    parser.add_argument("--seconds", type=float, default=120.0, help="for each proof")
    parser.add_argument("--keep", type=Path, help="a folder for the certificates")
    asked = parser.parse_args()
    sentences = []
    print(HEAD)
    for one in asked.sets.split(","):
        name, _, ratio = one.partition(":")
        case = Case(name.removesuffix("+bias"), Fraction(ratio), name.endswith("+bias"))
        raw = raw_data(case.name, asked.data)
        line, sentence = row(case, raw, kept(case, raw, asked.seconds, asked.keep))
        print(line, flush=True)
        sentences.append(sentence)
    print("", *sentences, sep="\n")
    print(f"\nrelucheck: at most {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000:,.0f} MB of memory")


if __name__ == "__main__":
    main()
