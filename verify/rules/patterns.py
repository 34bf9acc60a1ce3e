"""That the listed patterns are exactly D_Z = {1(Zu >= 0)}: each witness, each group's count, each dependent flat.

FORMAT.md has the argument. Sets of rows are bit masks: bit k belongs to row k.
"""

from __future__ import annotations

from collections.abc import Iterator

from verify.errors import bounded
from verify.facts import PATTERNS, Facts, proved
from verify.numbers.count import count_sets
from verify.numbers.integers import cleared
from verify.numbers.patterns import Patterns, describe_indices, integer_vectors, rows_text
from verify.numbers.restricted import Restricted, Subspaces, primitive, rank
from verify.numbers.signs import Signs
from verify.problem.problem import Problem
from verify.rule import Rule
from verify.text import Node, bit_text, describe, mask_of

MOST_BITS = 2**34  # in all patterns, and in all sets of parallel rows


def check_patterns(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless the fact `patterns` lists D_Z exactly."""
    bounded(problem.N**2, MOST_BITS, "pairs of rows", node.place)
    Z = [primitive(cleared(row)[0]) for row in problem.seen]
    spaces = Subspaces(Z)
    fields = node.record("columns", "groups", "covers")
    columns = fields["columns"].ascending(problem.d)
    signs = Signs([[row[j] for j in columns] for row in Z])
    first, *others = fields["groups"].array() or [Node(None, fields["groups"], 0)]
    listed: dict[int, int] = {}
    circuits = check_group(spaces.whole, first, signs, listed)
    open_cells = len(listed)
    for group in others:
        flat = group.record("flat", "circuits", "witnesses")["flat"].ascending(problem.N)
        check_group(spaces.on(mask_of(flat)), group, signs, listed)
    patterns = Patterns(list(listed), listed, open_cells)
    check_covers(spaces, circuits, patterns, fields["covers"])
    return proved(PATTERNS, patterns)


def check_group(space: Restricted, node: Node, signs: Signs, listed: dict[int, int]) -> list[tuple[int, ...]]:
    """Check one group and add its patterns to `listed` (each with the zeros of its witness); returns its circuits."""
    fields = node.record("flat", "circuits", "witnesses")
    n = len(signs.rows)
    flat = mask_of(fields["flat"].ascending(n))
    fields["flat"].require(flat == space.flat, f"a flat, here {rows_text(space.flat)}", rows_text(flat))
    circuits = [check_circuit(space, circuit, n) for circuit in fields["circuits"].array()]
    witnesses = fields["witnesses"]
    bounded((len(listed) + witnesses.length()) * n, MOST_BITS, "bits of patterns", witnesses.place)
    check_count(space, circuits, witnesses)
    for k, u in enumerate(integer_vectors(witnesses, signs.columns)):
        pattern, zeros = signs.of(u)
        if zeros != flat:
            found = f"{describe(witnesses.value[k])}, which vanishes on {rows_text(zeros)}"
            raise witnesses.item(k).reject(f"a witness that vanishes on {rows_text(flat)} only", found)
        if pattern in listed:
            raise witnesses.item(k).reject("a witness of a new pattern", f"{bit_text(pattern, n)} again")
        listed[pattern] = zeros
    return circuits


def check_circuit(space: Restricted, node: Node, n: int) -> tuple[int, ...]:
    """The names [c, b1, b2, ...] of a circuit: ascending, with z_c in the span of the z_b on L."""
    names = node.ascending(n)
    if not set(names) <= space.classes.keys():
        raise node.reject("names of classes (the smallest row of each)", describe_indices(names))
    lines = [space.lines[name] for name in names]
    if len(names) < 3 or rank(lines) != rank(lines[1:]):
        raise node.reject(f"row {names[0] if names else '?'} in the span of the rest", describe_indices(names))
    return names


def check_count(space: Restricted, circuits: list[tuple[int, ...]], witnesses: Node) -> None:
    """Whitney: at most 2 #{S : S has at most r - 1 classes other than c0 and contains no broken circuit} cells."""
    listed = witnesses.length()
    position = {name: i - 1 for i, name in enumerate(space.classes)}
    broken = [tuple(position[b] for b in names[1:]) for names in circuits]
    bound = 2 * count_sets(len(position) - 1, space.rank - 1, broken, listed // 2) if position else 1
    if bound != listed:
        expected = f"more than {listed}" if bound > listed else str(bound)
        raise witnesses.reject(f"as many witnesses as the circuits leave cells, {expected}", str(listed))


def check_covers(spaces: Subspaces, circuits: list[tuple[int, ...]], listed: Patterns, node: Node) -> None:
    """Every dependent flat has a cover, 1 on it, whose witness vanishes only there; so no group is missing."""
    numbers = [entry.index(len(listed.masks)) for entry in node.array()]
    node.require(len(set(numbers)) == len(numbers), "each index once", describe_indices(tuple(numbers)))
    everything = (1 << spaces.n) - 1
    for number, mask in enumerate(listed.masks[: listed.open_cells]):
        if mask == everything:
            if numbers != [number]:
                raise node.reject(f"[{number}], the open cell that is 1 on all rows", describe_indices(tuple(numbers)))
            return
    covers = [(mask, listed.zeros[mask]) for mask in map(listed.masks.__getitem__, numbers)]
    own = {zeros for _, zeros in covers}  # a witness that vanishes on the whole flat is 1 on it
    for flat in dependent_flats(spaces, circuits):
        if flat in own:
            continue
        for k, (ones, zeros) in enumerate(covers):
            if not (flat & ~ones or zeros & ~flat):
                if k:  # the next flats are likely to have the same cover
                    covers.insert(0, covers.pop(k))
                break
        else:
            raise node.reject(f"a cover of the dependent flat {rows_text(flat)}", f"none among {len(numbers)} patterns")


def dependent_flats(spaces: Subspaces, circuits: list[tuple[int, ...]]) -> Iterator[int]:
    """The whole space, and all flats above the closure of a circuit or of two antipodal rows; each once."""
    everything = (1 << spaces.n) - 1
    found = {everything}
    yield everything
    lowest = [spaces.whole.classes[name] for name in spaces.antipodal] + [mask_of(names) for names in set(circuits)]
    for rows in lowest:
        space = spaces.on(rows)
        if space.flat in found:
            continue
        found.add(space.flat)
        yield space.flat
        pending = [(space, name) for name in space.classes]
        while pending:
            space, name = pending.pop()
            flat = space.flat | space.classes[name]
            if flat not in found:
                found.add(flat)
                yield flat
                if space.rank > 2:  # else above it is only the whole space
                    space = spaces.cut(space, name)
                    pending.extend((space, name) for name in space.classes)


def of_network(problem: Problem) -> bool:
    """Networks over all patterns."""
    return problem.model != "cgl" and problem.patterns is None


RULE = Rule((PATTERNS,), check_patterns, applies=of_network, bags=True)
