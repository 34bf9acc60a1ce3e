"""Mutants of covers and leaders, judged by both checkers: python -m tests.verify.divided [--mutants N] [--seed S]

Of every planted case, and of the certificates of xor, blood and a network that is not unique, N small changes of fields
and N of bytes are drawn, in the evidence for the bounds. What the checker in Python accepts the proved one must accept;
every bound that it accepts must be true, and no network unique that is not. Where Python alone rejects, that is for the
form of the file (verify/rocq/README.md). Exit code 0 iff nothing divides the two. A thousand take 15 seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import verify
from tests.verify.build.leaders import LED, leading
from tests.verify.build.plain import Case
from tests.verify.cover.bytes import byte_mutants
from tests.verify.cover.fold import fold
from tests.verify.cover.plant import PLANTED, planted
from tests.verify.mutate import Mutant, mutants
from verify import proved

FOLDER = Path(__file__).parent / "rocq"
READ = ("primal", "cover", "leaders", "value")
PLACES = ("facts.cover.", "facts.leaders.", "facts.primal")
NOT_UNIQUE = ("square-cover",)
BOTH, FORM, NEITHER = "both accept", "Python alone rejects", "both reject"


def stored(name: str) -> Case:
    """A certificate of the folder."""
    return Case(name, json.loads((FOLDER / f"{name}.json").read_text()), b"")


CASES: dict[str, Callable[[], Case]] = {
    **{name: lambda name=name: planted(name) for name in PLANTED},
    "fold": fold,
    **{f"{name} by leaders": lambda name=name: leading(name) for name in (*LED, "plane", "tied")},
    **{
        name: lambda name=name: stored(name)
        for name in ("xor-cover", "blood-cover", "square-cover", "side-cover", "sides-cover", "xor-leaders")
    },
    **{name: lambda name=name: stored(name) for name in ("xor-free", "xor-skip", "xor-decayed", "xor-biases")},
}


def drawn(case: Case, count: int, seed: int) -> Iterator[Mutant]:
    """Some changes of the evidence for the bounds: fields, and bytes of trees."""
    tree = case.certificate
    facts = {name: fact for name, fact in tree["facts"].items() if name in READ}
    tree = {**tree, "facts": facts, "claims": [one for one in tree["claims"] if one["claim"] == "optimal"]}
    draw = random.Random(seed)
    fields = [one for one in mutants(tree, 3) if one.place.startswith(PLACES)]
    for every in (fields, list(byte_mutants(tree, 3)) if "cover" in facts else []):
        yield from draw.sample(every, min(count, len(every)))


def judged(text: bytes, whole: proved.Bounds, several: bool) -> str:
    """What both say to a mutant; any other word than the three above is a disagreement."""
    try:
        found = proved.prove(text)
    except verify.VerifyError:
        found = None
    try:
        verify.check(text)
        accepted = True
    except verify.VerifyError:
        accepted = False
    if found is None:
        return "the proved checker alone rejects" if accepted else NEITHER
    if found.lower > whole.upper or whole.lower > found.upper or (several and found.unique):
        return "the proved checker accepts what is false"
    return BOTH if accepted else FORM


def beside(name: str, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """How often both say what, and the mutants that divide them."""
    case = CASES[name]()
    whole = proved.prove(case.text)
    counts: Counter[str] = Counter()
    wrong = []
    for mutant in drawn(case, count, seed):
        said = judged(mutant.text.encode(), whole, name in NOT_UNIQUE)
        counts[said] += 1
        if said not in (BOTH, FORM, NEITHER):
            wrong.append(f"{name}: {mutant.name}: {said}")
    return counts, wrong


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for each case, and the sum."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.divided", description="Mutants, by both checkers.")
    parser.add_argument("--mutants", type=int, default=200, help="of fields, and as many of bytes, for each case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", help="these only, with commas between them")
    asked = parser.parse_args(argv)
    total: Counter[str] = Counter()
    divided: list[str] = []
    for name in CASES if asked.cases is None else asked.cases.split(","):
        counts, wrong = beside(name, asked.mutants, asked.seed)
        print(f"{name:<20} {', '.join(f'{counts[word]:>5} {word}' for word in (BOTH, FORM, NEITHER))}", flush=True)
        total += counts
        divided += wrong
    print(*divided, f"{sum(total.values())} mutants, {len(divided)} divide the checkers", sep="\n")
    return int(bool(divided))


if __name__ == "__main__":
    sys.exit(main())
