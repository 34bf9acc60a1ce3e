"""That the listed patterns are exactly D_Z = {1(Zu >= 0)}: each witness, each group's count, each dependent flat.

FORMAT.md has the argument. Sets of rows are bit masks: bit k belongs to row k.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd

from flint import fmpz_mat

from verify.count import count_sets
from verify.errors import bounded
from verify.problem import Problem, cleared
from verify.signs import Signs
from verify.text import Node, bit_text, describe, describe_indices

Rows = list[list[int]]
MOST_BITS = 2**34  # in all patterns, and in all sets of parallel rows


@dataclass(frozen=True)
class Patterns:
    """D_Z, complete, as bit masks. The first `open_cells` are those of open cells; `zeros` has, for each pattern, the
    rows on which its witness vanishes."""

    masks: list[int]
    zeros: dict[int, int]
    open_cells: int

    def __contains__(self, mask: int) -> bool:
        """Whether a pattern is in D_Z."""
        return mask in self.zeros


@dataclass(frozen=True)
class Restricted:
    """The rows of Z on L = {u : z_k.u = 0, k in F}.

    `flat` is the closure of F, `classes` the sets of parallel rows by name, `rank` the rank on L, and `rows` a
    positive multiple of each row in coordinates of L.
    """

    rows: Rows
    flat: int
    classes: dict[int, int]
    antipodal: list[int]
    rank: int


def check_patterns(problem: Problem, node: Node) -> Patterns:
    """Reject unless the fact `patterns` lists D_Z exactly."""
    bounded(problem.n**2, MOST_BITS, "pairs of rows", node.place)
    Z = [primitive(cleared(row)[0]) for row in problem.Z]
    fields = node.record("columns", "groups", "covers")
    columns = fields["columns"].ascending(problem.d)
    signs = Signs([[row[j] for j in columns] for row in Z])
    first, *others = fields["groups"].array() or [Node(None, fields["groups"], 0)]
    listed: dict[int, int] = {}
    whole = restrict(Z, ())
    circuits = check_group(whole, first, signs, listed)
    open_cells = len(listed)
    for group in others:
        flat = group.record("flat", "circuits", "witnesses")["flat"].ascending(problem.n)
        check_group(restrict(Z, flat), group, signs, listed)
    patterns = Patterns(list(listed), listed, open_cells)
    check_covers(Z, whole, circuits, patterns, fields["covers"])
    return patterns


def check_group(space: Restricted, node: Node, signs: Signs, listed: dict[int, int]) -> list[tuple[int, ...]]:
    """Check one group and add its patterns to `listed` (each with the zeros of its witness); returns its circuits."""
    fields = node.record("flat", "circuits", "witnesses")
    flat = mask_of(fields["flat"].ascending(len(space.rows)))
    if flat != space.flat:
        raise fields["flat"].reject(f"a flat, here {rows_text(space.flat)}", rows_text(flat))
    circuits = [check_circuit(space, circuit) for circuit in fields["circuits"].array()]
    witnesses = fields["witnesses"]
    bounded((len(listed) + witnesses.length()) * len(space.rows), MOST_BITS, "bits of patterns", witnesses.place)
    check_count(space, circuits, witnesses)
    for k, u in enumerate(witnesses.integer_vectors(signs.columns)):
        pattern, zeros = signs.of(u)
        if zeros != flat:
            found = f"{describe(witnesses.value[k])}, which vanishes on {rows_text(zeros)}"
            raise witnesses.item(k).reject(f"a witness that vanishes on {rows_text(flat)} only", found)
        if pattern in listed:
            found = f"{bit_text(pattern, len(space.rows))} again"
            raise witnesses.item(k).reject("a witness of a pattern that is not listed yet", found)
        listed[pattern] = zeros
    return circuits


def check_circuit(space: Restricted, node: Node) -> tuple[int, ...]:
    """The names [c, b1, b2, ...] of a circuit: ascending, with z_c in the span of the z_b on L."""
    names = node.ascending(len(space.rows))
    if not set(names) <= space.classes.keys():
        raise node.reject("names of classes (the smallest row of each)", describe_indices(names))
    if len(names) < 3 or rank(space.rows, names) != rank(space.rows, names[1:]):
        raise node.reject(f"row {names[0] if names else '?'} in the span of the rest", describe_indices(names))
    return names


def check_count(space: Restricted, circuits: list[tuple[int, ...]], witnesses: Node) -> None:
    """Whitney: at most 2 #{S : S has at most r - 1 classes other than c0 and contains no broken circuit} cells."""
    listed = witnesses.length()
    position = {name: i - 1 for i, name in enumerate(sorted(space.classes))}
    broken = [tuple(position[b] for b in names[1:]) for names in circuits]
    bound = 2 * count_sets(len(position) - 1, space.rank - 1, broken, listed // 2) if position else 1
    if bound != listed:
        expected = f"more than {listed}" if bound > listed else str(bound)
        raise witnesses.reject(f"as many witnesses as the circuits leave cells, {expected}", str(listed))


def check_covers(Z: Rows, whole: Restricted, circuits: list[tuple[int, ...]], listed: Patterns, node: Node) -> None:
    """Every dependent flat has a cover, 1 on it, whose witness vanishes only there; so no group is missing."""
    numbers = [entry.index(len(listed.masks)) for entry in node.array()]
    if len(set(numbers)) != len(numbers):
        raise node.reject("each index once", describe_indices(tuple(numbers)))
    everything = (1 << len(Z)) - 1
    for number, mask in enumerate(listed.masks[: listed.open_cells]):
        if mask == everything:
            if numbers != [number]:
                raise node.reject(f"[{number}], the open cell that is 1 on all rows", describe_indices(tuple(numbers)))
            return
    covers = [(mask, listed.zeros[mask]) for mask in map(listed.masks.__getitem__, numbers)]
    for flat in dependent_flats(Z, whole, circuits):
        for k, (ones, zeros) in enumerate(covers):
            if not (flat & ~ones or zeros & ~flat):
                if k:  # the next flats are likely to have the same cover
                    covers.insert(0, covers.pop(k))
                break
        else:
            raise node.reject(f"a cover of the dependent flat {rows_text(flat)}", f"none among {len(numbers)} patterns")


def dependent_flats(Z: Rows, whole: Restricted, circuits: list[tuple[int, ...]]) -> set[int]:
    """The whole space, and all flats above the closure of a circuit or of two antipodal rows."""
    everything = (1 << len(Z)) - 1
    found = {everything}
    pending = [whole.classes[name] for name in whole.antipodal] + [mask_of(names) for names in set(circuits)]
    while pending:
        rows = pending.pop()
        if rows in found:
            continue
        space = restrict(Z, bits_of(rows))
        found.add(space.flat)
        covering = [members | space.flat for members in space.classes.values()]
        if space.rank == 2:
            found.update(covering)  # above them is only the whole space
        else:
            pending.extend(covering)
    return found


def restrict(Z: Rows, flat: Sequence[int]) -> Restricted:
    """The rows of Z on the common kernel of the rows in `flat`."""
    rows = Z
    if any(any(Z[k]) for k in flat):
        kernel, nullity = fmpz_mat([Z[k] for k in flat]).nullspace()  # the rest of its columns are zero
        rows = [list(map(int, row[:nullity])) for row in (fmpz_mat(Z) * kernel).tolist()]
    rows = [primitive(row) for row in rows]
    zero = 0
    lines: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}  # the rows along and against each direction
    for k, row in enumerate(rows):
        lead = next((x for x in row if x), 0)
        if lead:
            direction = tuple(row) if lead > 0 else tuple(-x for x in row)
            lines.setdefault(direction, ([], []))[lead < 0].append(k)
        else:
            zero |= 1 << k
    classes = {min(along + against): mask_of(along + against) for along, against in lines.values()}
    antipodal = [min(along + against) for along, against in lines.values() if along and against]
    return Restricted(rows, zero, classes, antipodal, rank(rows, list(classes)))


def rank(rows: Rows, chosen: Sequence[int]) -> int:
    """The exact rank of some rows."""
    return int(fmpz_mat([rows[k] for k in chosen]).rank()) if chosen else 0


def primitive(row: list[int]) -> list[int]:
    """The row over the greatest common divisor of its entries: the same signs, the same span."""
    divisor = gcd(*row)
    return [x // divisor for x in row] if divisor > 1 else row


def mask_of(rows: Iterable[int]) -> int:
    """A set of rows as a bit mask."""
    mask = 0
    for k in rows:
        mask |= 1 << k
    return mask


def bits_of(mask: int) -> list[int]:
    """The rows of a bit mask, ascending."""
    return [k for k, bit in enumerate(format(mask, "b")[::-1]) if bit == "1"]


def rows_text(mask: int) -> str:
    """A set of rows for a message."""
    return f"rows {describe_indices(tuple(bits_of(mask)))}" if mask else "no row"
