"""python -m tests.properties.forge NAME...: choose the controls of a claim, so that they notice every broken line.

Instances are drawn, and forged by changing one number, flag or entry; of all these the smallest are kept that tell a
mutant of the module from the module itself. What no instance tells apart is printed: an equivalent mutant, or a gap.
Run it when the check of a claim has changed, and read the difference of the file. Instances already in the file, made
by hand perhaps, are candidates too; the reasons why broken lines are equivalent are kept as long as the lines are.
"""

from __future__ import annotations

import copy
import json
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from properties.codec import encode
from properties.model import Claim
from properties.registry import load
from tests.properties.controls import FOLDER, Control, answered, checks, controls, equivalent
from tests.properties.mutants import mutants

DRAWN = 60
FORGED = 10  # of each instance
ANSWERS = ("holds", "fails", "vacuous", "ArithmeticError")  # the last: an instance that is refused
SECONDS = 5  # for one answer of a mutant


class _Slow(BaseException):
    """A mutant that does not end."""


@contextmanager
def limit(seconds: int) -> Iterator[None]:
    """Raise _Slow after so many seconds of processor time."""

    def stop(*_: object) -> None:
        raise _Slow

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def drawn(claim: Claim, which: str) -> list[Any]:
    """Instances of a statement as they are stored, and the claim's witnesses."""
    prop = claim.repaired if which == "repaired" and claim.repaired is not None else claim.printed
    found: list[Any] = []

    def keep(instance: Any) -> None:
        found.append(encode(instance))

    settings(
        max_examples=DRAWN,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )(given(prop.instances)(keep))()
    witnesses = [w.instance for w in claim.witnesses] + [s.witness.instance for s in claim.slips]
    return found + [encode(w) for w in witnesses]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The numbers, flags and lists of a stored instance."""
    if isinstance(value, dict) and set(value) == {"q"}:
        yield (*at, "q")
    elif isinstance(value, dict):
        for key, part in value["fields"].items():
            yield from places(part, (*at, "fields", key))
    elif isinstance(value, list):
        yield at
        for i, part in enumerate(value):
            yield from places(part, (*at, i))
    elif isinstance(value, int):
        yield at


def forged(instance: Any, rng: random.Random) -> Any:
    """The instance with one place changed."""
    at = rng.choice([place for place in places(instance) if place] or [()])
    if not at:
        return instance
    changed = copy.deepcopy(instance)
    parent = changed
    for step in at[:-1]:
        parent = parent[step]
    old = parent[at[-1]]
    if isinstance(old, bool):
        parent[at[-1]] = not old
    elif isinstance(old, int):
        parent[at[-1]] = old + rng.choice((1, -1))
    elif isinstance(old, str):
        x = Fraction(old)
        parent[at[-1]] = str(rng.choice((x + 1, x - 1, 2 * x, -x, x / 2, Fraction(0), x + Fraction(1, 100))))
    elif old:
        i, j = rng.randrange(len(old)), rng.randrange(len(old))
        rng.choice((lambda: old.pop(i), lambda: old.append(copy.deepcopy(old[i])), lambda: swap(old, i, j)))()
    return changed


def swap(entries: list[Any], i: int, j: int) -> None:
    """Exchange two entries."""
    entries[i], entries[j] = entries[j], entries[i]


@dataclass(frozen=True)
class Pool:
    """Candidates for controls, small ones first."""

    controls: tuple[Control, ...]

    @staticmethod
    def of(claim: Claim, old: tuple[Control, ...] = ()) -> Pool:
        """Drawn and forged instances of every statement, and old ones, on which the claim itself answers."""
        rng = random.Random(1)
        found: dict[str, Control] = {}
        for which, check in checks(claim).items():
            honest = drawn(claim, which)
            kept = [control.instance for control in old if control.which == which]
            more = [forged(instance, rng) for instance in honest for _ in range(FORGED)]
            more += [forged(forged(instance, rng), rng) for instance in honest for _ in range(FORGED // 2)]
            for instance in honest + more + kept:
                try:
                    with limit(SECONDS):
                        answer, why = answered(check, instance)
                except _Slow:
                    continue
                if answer in ANSWERS:
                    key = which + json.dumps(instance)
                    found.setdefault(key, Control(which, answer, why, instance))
        return Pool(tuple(sorted(found.values(), key=lambda c: len(json.dumps(c.instance)))))


def notices(claim: Claim, control: Control) -> bool:
    """The broken claim answers otherwise."""
    try:
        with limit(SECONDS):
            return answered(checks(claim)[control.which], control.instance) != (control.answer, control.why)
    except _Slow:
        return True


def choose(name: str) -> tuple[list[Control], int, list[str]]:
    """Controls that notice as many mutants as possible; the number of mutants, and those that none notices."""
    pool = Pool.of(load(name), controls(name)).controls
    chosen: list[Control] = []
    unnoticed, count = [], 0
    for mutant in mutants(name):
        count += 1
        try:
            broken = mutant.load()
        except Exception:  # a module that cannot even be loaded is noticed
            continue
        if any(notices(broken, control) for control in reversed(chosen)):
            continue
        new = next((control for control in pool if notices(broken, control)), None)
        if new is None:
            unnoticed.append(mutant.name)
        else:
            chosen.append(new)
    return chosen, count, unnoticed


def stored(chosen: list[Control], unnoticed: list[str], reasons: dict[str, str]) -> str:
    """The text of a file of controls: one line for each control, and for each broken line, with its reason if known."""
    explained = ",\n".join(
        f"{json.dumps(x)}: {json.dumps(reasons[x])}" for x in dict.fromkeys(unnoticed) if x in reasons
    )
    first = ",\n".join(json.dumps(line) for line in unnoticed if line not in reasons)
    second = ",\n".join(json.dumps(asdict(control), separators=(",", ":")) for control in chosen)
    return f'{{"equivalent": {{\n{explained}\n}},\n"unnoticed": [\n{first}\n],\n"controls": [\n{second}\n]}}\n'


def main(names: list[str]) -> None:
    """Write the controls of these claims."""
    for name in names:
        chosen, count, unnoticed = choose(name)
        FOLDER.mkdir(exist_ok=True)
        path = FOLDER / f"{name}.json"
        reasons = equivalent(name)
        path.write_text(stored(chosen, unnoticed, reasons))
        print(f"{name}: {len(chosen)} controls notice {count - len(unnoticed)} of {count} mutants", flush=True)
        for line in unnoticed:
            print(f"    {line}" + (f"  (equivalent: {reasons[line]})" if line in reasons else ""), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
