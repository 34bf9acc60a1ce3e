"""Branch and bound over cones: a tree whose leaves prove t.(Zu)_+ <= lambda |u| for all u (GLOBAL bound).

    f1(u) = c0.u + sum over the convex lines of (w.u)_+,      f2(u) = sum over the concave lines of (w.u)_+

A cone that is not proved (leaf.py) is split: at a star (star.py) where a ray or plane that the data fix lies in it and
all convex lines that cross the cone pass through that; by the sign of a convex line, where few of them cross it; else
it is bisected on the edge with the most kink mass (where the ray or plane of a tie passes through it, that of the other
lines: those through it are for the stars to come).

The functions of these modules are ordinary ones that run as they are, and that `engine.py` compiles.
"""

from __future__ import annotations

import numpy as np

from relu_cert.cover.cones import bisect, sign_split
from relu_cert.cover.leaf import in_piece, seen_products, strict_leaf, value_at
from relu_cert.cover.node import all_through, choose_edges, enter, is_full, meets, middle, point_out, too_deep
from relu_cert.cover.stack import (
    AT_STAR,
    BISECT,
    DONE,
    FULL,
    GO_ON,
    LEAVES,
    NEURON,
    PENDING,
    STARRED,
    STUCK,
    TOP,
    VIOLATED,
    VISIT,
    WIDE,
)

FEW = 4  # at most so many convex lines cross: split by sign


def piece_of(side, ties, stack, cur, f1, d, D):
    """The tie in whose concave piece the cone lies, or -1."""
    for a in range(ties.a.shape[0]):
        inside = True
        for i in range(d):
            s = 0.0
            for l in range(d):
                s += ties.a[a, l] * stack.G[cur, i, l]
            if s < f1[i] - 1e-12:
                inside = False
                break
        if inside and in_piece(side, ties, stack, cur, a, d, D):
            return a
    return -1


def has_tips(stack, cur, d):
    """Whether a generator lies on a ray or plane."""
    for i in range(d):
        if stack.ray[cur, i] >= 0:
            return True
    return False


def star_near(ties, stack, cur, room, d):
    """Whether a ray or plane passes through the cone, through which all its convex lines pass, too."""
    for a in range(ties.ray.shape[0]):
        if all_through(ties, stack, cur, a) and meets(ties, stack, cur, a, room, d):
            return True
    return False


def star_to_come(ties, stack, cur, room, d):
    """A ray or plane that passes through the cone while other convex lines cross it; else -1."""
    for a in range(ties.ray.shape[0]):
        if not all_through(ties, stack, cur, a) and meets(ties, stack, cur, a, room, d):
            return a
    return -1


def visit(side, ties, stack, tape, room, most_depth, violation):
    """The cone on top, without tips: GO_ON if it is proved, WIDE if it is to be split, STARRED if perhaps at a star;
    else STUCK or VIOLATED."""
    d, D = side.frame.shape
    cur = stack.counts[TOP] - 1
    longest = enter(stack, cur, room, d)
    for i in range(d):
        room.b[i] = room.f1[i] - stack.low[cur, i]
        room.best[i] = 1.0
    piece = piece_of(side, ties, stack, cur, room.f1, d, D)
    if piece >= 0:
        tape.codes[tape.used[0]] = NEURON
        tape.data[tape.used[2]] = ties.names[piece]
        tape.used[0] += 1
        tape.used[2] += 1
    elif side.unseen > 0.0:
        seen_products(stack.G[cur], d, side.unseen, room.T, room.R)
    if piece >= 0 or strict_leaf(side, stack, tape, cur, room):
        stack.counts[LEAVES] += 1
        stack.counts[TOP] -= 1
        return GO_ON
    if value_at(stack, cur, room.best, d, room.T) > violation:
        point_out(stack, cur, room.best, d)
        return VIOLATED
    if too_deep(stack, cur, longest, most_depth, d):
        point_out(stack, cur, room.best, d)
        return STUCK
    return STARRED if star_near(ties, stack, cur, room, d) else WIDE


def walk(side, ties, stack, tape, room, budget, most_depth, violation, ahead):
    """Go on with what is pending, for at most `budget` nodes. DONE, GO_ON, FULL (the tape), STUCK (too deep, or too
    many bits), VIOLATED (the value at `at` exceeds `violation`), or STARRED: the cone on top has tips, or is perhaps to
    be split at a star. With `ahead`, WIDE: one of the edges in the room is to be chosen, and put first."""
    d = side.frame.shape[0]
    counts = stack.counts
    while True:
        cur = counts[TOP] - 1
        if counts[PENDING] == VISIT:
            if cur < 0:
                return DONE
            if has_tips(stack, cur, d):
                return STARRED
            if budget == 0:
                return GO_ON
            if is_full(tape):
                return FULL
            budget -= 1
            code = visit(side, ties, stack, tape, room, most_depth, violation)
            if code == STARRED:
                counts[PENDING] = AT_STAR
            if code == GO_ON:
                continue
            if code != WIDE:
                return code
        if counts[PENDING] != BISECT:
            counts[PENDING] = VISIT
            if 0 < stack.n_P[cur] <= FEW and sign_split(side, stack, tape, cur, room.best, d):
                continue
            through = star_to_come(ties, stack, cur, room, d)
            choose_edges(ties, stack, cur, through, room.edges.shape[0] if ahead else 1, d, room)
            if ahead:
                counts[PENDING] = BISECT
                return WIDE
        i, j = room.edges[0]
        counts[PENDING] = VISIT
        s = middle(stack.VP[cur, i], stack.VP[cur, j], stack.n_P[cur])
        ratio = np.log2(stack.size[cur, i] / stack.size[cur, j]) - np.log2((1.0 - s) / s)
        bisect(side, stack, tape, cur, i, j, ratio, room)
