"""Branch and bound over cones, compiled: a tree whose leaves prove t.(Zu)_+ <= lambda |u| for all u (GLOBAL bound).

    f1(u) = c0.u + sum over the convex lines of (w.u)_+,      f2(u) = sum over the concave lines of (w.u)_+

A leaf cone(g_1, ..., g_d) is proved by a = c + (a point of the zonotope of f2), |c| <= lambda, with a.g_i >= f1(g_i)
for every generator: f1 is sublinear, so f1(u) <= a.u <= lambda |u| + f2(u) on the whole cone. That point is a
convex combination of gradients of f2 (atoms), found by pairwise Frank-Wolfe steps with a true line search. A cone that
is not proved is bisected on the edge with the most kink mass (where the ray or plane of a tie passes through it, that
of the other lines: those through it are for the stars to come; or, looking ahead, on the one of the best edges below
which the tree is smallest); where few convex lines cross it, it is split by the sign of one of them; at a ray
that the data fix (all its rows are tight) it is split into a star, at a plane that they fix into stars at the ends of
the part of the plane inside the cone.

Generators are integers from the start, so that what is written is exact. Values of crossing lines at the generators are
carried along: a new generator's values are the same combination as the generator itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relu_cert.cover.codes import ATOMS, FACE, NEURON, OFFSET, RAY, RULE, SIGN, STAR, STEP, TURNED, WEIGHT
from relu_cert.cover.small import compile_, coordinates, positive_sum, project

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bytes = NDArray[np.uint8]

DONE, GO_ON, FULL, STUCK, VIOLATED, WIDE = range(6)
STEPS = 100  # Frank-Wolfe steps at a node
FEW = 4  # at most so many convex lines cross: split by sign
MOST_SIGNS = 8
CROSSING = 1e-13
TOUCHES = 2.0**-24  # a row through a ray is switched on only well above the ray's plane
MOST_BITS = 52
FROM_ENDS = 0.25  # of an edge: splits stay so far from its ends
OTHER_EDGES = 3  # tried beside the best one, where the walk looks ahead
EVEN = 0.06  # of the largest coordinate of the point with the largest bound: so much counts for every generator
ROOM = 4096  # bytes that one node may write at the most


class Side(NamedTuple):
    """One sign xi in floats, lambda = 1, in orthonormal coordinates of the row space; and the integers behind it.

    `lines` are the primitive rows of the convex lines, `normals` their directions in floats, `light` the concave rows
    in few bits (signs at atoms), `frame` the orthonormal rows that take integer vectors to coordinates. `bound` is what
    |c| may be, `delta` by how much leaves hold. `unseen` is 0, or the norm does not see the last coordinate: then
    projections see so much of it.
    """

    P: Floats
    N: Floats
    c0: Floats
    lines: Integers
    normals: Floats
    light: Integers
    lengths: Floats
    frame: Floats
    bound: float
    delta: float
    exact_bits: int
    unseen: float


class Ties(NamedTuple):
    """Where the bound is attained: concave pieces (`a` the gradient of f1, `side` the sign of every convex line), and
    rays (unit vectors, which lines pass through them). `names` and `ray_names` are their numbers in the evidence. Where
    the lines through u leave a plane, `across` is the unit vector of the plane that is orthogonal to u (else 0), and
    u + s across has the same pattern as u for s in `span`; c is the gradient on the ray or plane, tips are generators
    on it."""

    a: Floats
    side: NDArray[np.int8]
    names: Integers
    ray: Floats
    across: Floats
    span: Floats
    c: Floats
    ray_P: Bytes
    ray_N: Bytes
    ray_names: Integers


class Stack(NamedTuple):
    """The open nodes of a depth-first walk, one level each, and the counters of the walk."""

    VP: Floats
    VN: Floats
    IP: NDArray[np.int32]
    IN: NDArray[np.int32]
    n_P: Integers
    n_N: Integers
    lin: Floats
    low: Floats
    G: Floats
    g: Integers
    size: Floats
    unit: Integers
    bits: Integers
    depth: Integers
    ray: Integers
    signs: Integers
    n_signs: Integers
    counts: Integers  # top, nodes, leaves, deepest, longest
    at: Floats  # where the walk got stuck or found a violation


class Tape(NamedTuple):
    """What is written: codes in the order of the walk, multipliers of bisections, data of leaves, rows of sign splits;
    `used` says how much of each."""

    codes: Bytes
    multipliers: Bytes
    data: Bytes
    rows: NDArray[np.uint32]
    used: Integers


TOP, NODES, LEAVES, DEEPEST, LONGEST = range(5)


def empty_stack(side: Side, most_depth: int) -> Stack:
    """Room for a walk."""
    d, D = side.frame.shape
    S, n_P, n_N = most_depth + 8 * d + 12, max(len(side.P), 1), max(len(side.N), 1)
    return Stack(
        VP=np.empty((S, d, n_P)),
        VN=np.empty((S, d, n_N)),
        IP=np.zeros((S, n_P), np.int32),
        IN=np.zeros((S, n_N), np.int32),
        n_P=np.zeros(S, np.int64),
        n_N=np.zeros(S, np.int64),
        lin=np.zeros((S, d)),
        low=np.zeros((S, d)),
        G=np.zeros((S, d, d)),
        g=np.zeros((S, d, D), np.int64),
        size=np.zeros((S, d)),
        unit=np.zeros((S, d, D), np.int64),
        bits=np.zeros((S, d), np.int64),
        depth=np.zeros(S, np.int64),
        ray=np.full((S, d), -1, np.int64),
        signs=np.zeros((S, MOST_SIGNS), np.int64),
        n_signs=np.zeros(S, np.int64),
        counts=np.zeros(5, np.int64),
        at=np.zeros(d),
    )


def empty_tape(room: int = 1 << 16) -> Tape:
    """An empty tape."""
    return Tape(
        np.zeros(room, np.uint8),
        np.zeros(room, np.uint8),
        np.zeros(8 * room + ROOM, np.uint8),
        np.zeros(room, np.uint32),
        np.zeros(4, np.int64),
    )


def longer(tape: Tape) -> Tape:
    """The same tape with twice the room."""

    def twice(a: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([a, np.zeros_like(a)])

    return Tape(twice(tape.codes), twice(tape.multipliers), twice(tape.data), twice(tape.rows), tape.used)


@compile_
def bit_length(g, D):  # type: ignore[no-untyped-def]
    """The bits of the longest entry."""
    m = 0
    for l in range(D):
        m = max(m, abs(g[l]))
    b = 0
    while m > 0:
        m >>= 1
        b += 1
    return b


@compile_
def integer_unit(g, u, D):  # type: ignore[no-untyped-def]
    """An integer vector of length about 2^30 along g, by the checker's own rule."""
    e = 29 - bit_length(g, D)
    s = 0
    for l in range(D):
        u[l] = g[l] << e if e >= 0 else g[l] >> (-e)
        s += u[l] * u[l]
    r = np.int64(np.sqrt(float(s)))
    while r * r > s:
        r -= 1
    while (r + 1) * (r + 1) <= s:
        r += 1
    for l in range(D):
        u[l] = (u[l] << 30) // r


@compile_
def atom(V, rows, n, d, D, q, U, light, p, W):  # type: ignore[no-untyped-def]
    """W_i = sum of V_ik over the crossing concave rows that are on at p = sum (STEP q_i + OFFSET) U_i."""
    m = 0
    for l in range(D):
        v = 0
        for i in range(d):
            v += (STEP * q[i] + OFFSET) * U[i, l]
        p[l] = v
        m = max(m, abs(v))
    k = 0
    while (m >> k) >= (1 << 28):
        k += 1
    for l in range(D):
        p[l] >>= k
    for i in range(d):
        W[i] = 0.0
    for k in range(n):
        v = 0
        for l in range(D):
            v += p[l] * light[rows[k], l]
        if v > 0:
            for i in range(d):
                W[i] += V[i, k]


@compile_
def quantised(t, d, q, tq, levels):  # type: ignore[no-untyped-def]
    """q_i = t_i as a byte, relative to the largest, and tq its value."""
    m = 0.0
    for i in range(d):
        m = max(m, t[i])
    for i in range(d):
        q[i] = int(t[i] / m * levels + 0.5) if m > 0.0 else 0
        tq[i] = q[i]


@compile_
def slack(g, size, U, b, W, t, d, D, v, bound, unseen):  # type: ignore[no-untyped-def]
    """min_i c.g_i - (b_i - W_i) for the c of the turn t (integers), by the checker's own rule: `bound` long along
    sum t_i U_i, shifted down to 29 bits; c = 0 where t = 0."""
    longest = 0
    for l in range(D):
        x = 0
        for i in range(d):
            x += int(t[i]) * U[i, l]
        v[l] = x
        longest = max(longest, abs(x))
    k = 0
    while (longest >> k) >= (1 << 29):
        k += 1
    square = 0
    for l in range(D):
        v[l] >>= k
        if unseen > 0.0 and l == D - 1:
            v[l] = 0
        square += v[l] * v[l]
    length = np.floor(np.sqrt(float(square))) + 1.0
    s = 1e300
    for i in range(d):
        c = 0.0
        for l in range(D):
            c += float(v[l]) * float(g[i, l])
        s = min(s, bound * (c / length) / size[i] - (b[i] - W[i]))
    return s


@compile_
def weights(share, n, out):  # type: ignore[no-untyped-def]
    """Shares in WEIGHT-ths that add up to WEIGHT; the largest takes what rounding leaves."""
    total = 0
    largest = 0
    for a in range(n):
        out[a] = int(share[a] * WEIGHT + 0.5)
        total += out[a]
        if out[a] > out[largest]:
            largest = a
    out[largest] += WEIGHT - total
    return out[largest] > 0


@compile_
def write_atoms(data, n, points, share, count, d):  # type: ignore[no-untyped-def]
    """Number of atoms, then for each its weight (but the last) and d bytes."""
    used = 0
    for a in range(count):
        if share[a] > 0:
            used += 1
    data[n] = used
    n += 1
    seen = 0
    for a in range(count):
        if share[a] > 0:
            seen += 1
            if seen < used:
                data[n] = share[a]
                n += 1
            for i in range(d):
                data[n] = points[a, i]
                n += 1
    return n


@compile_
def child(Vs, rows, n, d, mix, Vd, rows_d, lin, place, zero):  # type: ignore[no-untyped-def]
    """The crossing lines of a child, in which generator `place` is sum mix_l g_l. Lines that cross no more and are on
    are added to lin. Vs may be Vd."""
    new = np.zeros(n)
    lowest = np.empty(n)
    highest = np.empty(n)
    for l in range(d):
        if mix[l] != 0.0:
            for k in range(n):
                new[k] += mix[l] * Vs[l, k]
    if zero > 0.0:
        for k in range(n):
            if abs(new[k]) < zero:
                new[k] = 0.0
    for k in range(n):
        lowest[k] = new[k]
        highest[k] = new[k]
    for l in range(d):
        if l != place:
            for k in range(n):
                lowest[k] = min(lowest[k], Vs[l, k])
                highest[k] = max(highest[k], Vs[l, k])
    m = 0
    for k in range(n):
        if lowest[k] < -CROSSING and highest[k] > CROSSING:
            for l in range(d):
                Vd[l, m] = new[k] if l == place else Vs[l, k]
            rows_d[m] = rows[k]
            m += 1
        elif highest[k] > CROSSING:
            for l in range(d):
                lin[l] += new[k] if l == place else Vs[l, k]
    return m


@compile_
def start(side, stack, cone):  # type: ignore[no-untyped-def]
    """Put a root cone (integer generators) on the stack."""
    d, D = side.frame.shape
    for i in range(d):
        s = 0.0
        for l in range(D):
            stack.g[0, i, l] = cone[i, l]
            s += float(cone[i, l]) ** 2
        stack.size[0, i] = np.sqrt(s)
        stack.bits[0, i] = bit_length(cone[i], D)
        stack.ray[0, i] = -1
        integer_unit(stack.g[0, i], stack.unit[0, i], D)
        for j in range(d):
            s = 0.0
            for l in range(D):
                s += side.frame[j, l] * cone[i, l]
            stack.G[0, i, j] = s / stack.size[0, i]
    for i in range(d):
        s = 0.0
        for l in range(d):
            s += side.c0[l] * stack.G[0, i, l]
        stack.lin[0, i] = s
        stack.low[0, i] = 0.0
    x = np.empty(d)
    for concave in range(2):
        Z = side.N if concave else side.P
        m = 0
        for k in range(Z.shape[0]):
            lowest = 1e300
            highest = -1e300
            for i in range(d):
                s = 0.0
                for l in range(d):
                    s += Z[k, l] * stack.G[0, i, l]
                x[i] = s
                lowest = min(lowest, s)
                highest = max(highest, s)
            if lowest < -CROSSING and highest > CROSSING:
                for i in range(d):
                    if concave:
                        stack.VN[0, i, m] = x[i]
                    else:
                        stack.VP[0, i, m] = x[i]
                if concave:
                    stack.IN[0, m] = k
                else:
                    stack.IP[0, m] = k
                m += 1
            elif highest > CROSSING:
                for i in range(d):
                    if concave:
                        stack.low[0, i] += x[i]
                    else:
                        stack.lin[0, i] += x[i]
        if concave:
            stack.n_N[0] = m
        else:
            stack.n_P[0] = m
    stack.depth[0] = 0
    stack.n_signs[0] = 0
    stack.counts[TOP] = 1


@compile_
def copy_level(stack, source, other, target, d, D):  # type: ignore[no-untyped-def]
    """Everything of a level but its lines, to a level of this stack or another one."""
    for i in range(d):
        other.lin[target, i] = stack.lin[source, i]
        other.low[target, i] = stack.low[source, i]
        other.size[target, i] = stack.size[source, i]
        other.bits[target, i] = stack.bits[source, i]
        other.ray[target, i] = stack.ray[source, i]
        for l in range(D):
            other.g[target, i, l] = stack.g[source, i, l]
            other.unit[target, i, l] = stack.unit[source, i, l]
        for j in range(d):
            other.G[target, i, j] = stack.G[source, i, j]
    for k in range(MOST_SIGNS):
        other.signs[target, k] = stack.signs[source, k]
    other.n_signs[target] = stack.n_signs[source]
    other.depth[target] = stack.depth[source]


@compile_
def copy_lines(V, rows, n, V_to, rows_to, d):  # type: ignore[no-untyped-def]
    """The first n crossing lines of a level."""
    for i in range(d):
        for k in range(n):
            V_to[i, k] = V[i, k]
    for k in range(n):
        rows_to[k] = rows[k]


@compile_
def in_piece(side, ties, stack, cur, a, d, D):  # type: ignore[no-untyped-def]
    """Whether the node lies in the closed concave piece of a tie: every convex line has the tie's sign at every
    generator, exactly (or, where integers are too long, by more than floats are off), or was split to that side."""
    longest = 0
    for i in range(d):
        if stack.ray[cur, i] >= 0:
            return False
        longest = max(longest, stack.bits[cur, i])
    exact = longest <= side.exact_bits
    for k in range(side.lines.shape[0]):
        split = False
        for s in range(stack.n_signs[cur]):
            row = stack.signs[cur, s]
            if row >> 1 == k and (1 if row & 1 else -1) == ties.side[a, k]:
                split = True
        if split:
            continue
        for i in range(d):
            if exact:
                v = 0
                for l in range(D):
                    v += side.lines[k, l] * stack.g[cur, i, l]
                if v * ties.side[a, k] < 0:
                    return False
            else:
                height = 0.0
                for l in range(D):
                    height += side.normals[k, l] * float(stack.g[cur, i, l])
                if height * ties.side[a, k] <= 1e-11 * stack.size[cur, i]:
                    return False
    return True


@compile_
def all_rows(side, ties, stack, cur, name, f1, margin, points, whole, count):  # type: ignore[no-untyped-def]
    """Whether a star leaf holds with all concave rows, those that do not cross the cone among them: a row that touches
    it counts only for the points at which it is on, and where floats leave that open, for the worse of both."""
    d = side.frame.shape[0]
    room = np.empty(d)
    v = np.empty(d)
    for i in range(d):
        room[i] = -f1[i] - margin
        for l in range(d):
            room[i] += ties.c[name, l] * stack.G[cur, i, l]
    for k in range(side.N.shape[0]):
        for i in range(d):
            v[i] = 0.0
            for l in range(d):
                v[i] += side.N[k, l] * stack.G[cur, i, l]
        share = 0.0
        other = 0.0
        if ties.ray_N[name, k] == 0:
            height = 0.0
            for l in range(d):
                height += side.N[k, l] * ties.ray[name, l]
            share = 1.0 if height > 0.0 else 0.0
            other = share
        else:
            for a in range(count):
                height = 0.0
                size = 0.0
                for l in range(d):
                    x = 0.0
                    for i in range(d):
                        if stack.ray[cur, i] < 0:
                            x += points[a, i] * stack.G[cur, i, l]
                    size += x * x
                    height += side.N[k, l] * x
                height /= TOUCHES * side.lengths[k] * np.sqrt(size)
                if height > 0.9:
                    share += whole[a] / WEIGHT
                if height > 1.1:
                    other += whole[a] / WEIGHT
        for i in range(d):
            room[i] += min(share * v[i], other * v[i])
    least = 0.0
    for i in range(d):
        if stack.ray[cur, i] < 0:
            least = min(least, room[i])
    return least == 0.0


@compile_
def star_leaf(side, ties, stack, tape, cur, name, M, off, f1, room):  # type: ignore[no-untyped-def]
    """Prove a cone with tips on a ray or plane: its c, and atoms on the concave rows through it only; `off` has the
    products of the generators' parts orthogonal to it."""
    r, t, W, W2, dW, q, tq, shares, points, whole, AT, y = room
    d = M.shape[0]
    n_N = stack.n_N[cur]
    V = stack.VN[cur]
    tips = stack.ray[cur]
    margin = 1.0
    for i in range(d):
        if tips[i] < 0:
            margin = min(margin, off[i, i])
    margin = 1e-5 * np.sqrt(max(margin, 1e-20))
    for i in range(d):
        w = f1[i] - stack.low[cur, i]
        for l in range(d):
            w -= ties.c[name, l] * stack.G[cur, i, l]
        r[i] = w
        t[i] = 1.0 if tips[i] < 0 else 0.0
    for k in range(n_N):
        row = stack.IN[cur, k]
        if ties.ray_N[name, row] == 0:
            height = 0.0
            for l in range(d):
                height += side.N[row, l] * ties.ray[name, l]
            if height > 0.0:
                for i in range(d):
                    r[i] -= V[i, k]
    count = 0
    for _ in range(STEPS):
        quantised(t, d, q, tq, 255.0)
        for i in range(d):
            if tips[i] < 0 and q[i] == 0:  # inside the cone: a line through its border is on at no point of the border
                q[i] = 1
                tq[i] = 1.0
        size = 0.0
        for i in range(d):
            for j in range(d):
                size += tq[i] * tq[j] * M[i, j]
        size = np.sqrt(size)
        for k in range(n_N):
            w = 0.0
            for i in range(d):
                if tips[i] < 0:
                    w += tq[i] * V[i, k]
            y[k] = w - TOUCHES * side.lengths[stack.IN[cur, k]] * size
        for i in range(d):
            w = 0.0
            if tips[i] < 0:
                for k in range(n_N):
                    if ties.ray_N[name, stack.IN[cur, k]] == 1 and y[k] > 0.0:
                        w += V[i, k]
            W2[i] = w
        if count == 0:
            for i in range(d):
                W[i] = W2[i]
                AT[0, i] = W2[i]
                points[0, i] = q[i]
            count = 1
            shares[0] = 1.0
        else:
            p = 0.0
            for i in range(d):
                if tips[i] < 0:
                    p += tq[i] * (r[i] + margin - W2[i])
            if p > 0.0:
                return False
            away = -1
            lowest = 1e300
            for a in range(count):
                if shares[a] > 0.0:
                    w = 0.0
                    for i in range(d):
                        w += AT[a, i] * tq[i]
                    if w < lowest:
                        lowest = w
                        away = a
            for i in range(d):
                dW[i] = W2[i] - AT[away, i]
            high = shares[away]
            low = 0.0
            gamma = high
            for step in range(10):
                gamma = 0.5 * (low + high) if step > 0 else high
                w = 0.0
                for i in range(d):
                    if tips[i] < 0:
                        w += dW[i] * max(r[i] + 2.0 * margin - W[i] - gamma * dW[i], 0.0)
                if step == 0 and w >= 0.0:
                    break
                if w > 0.0:
                    low = gamma
                else:
                    high = gamma
            for i in range(d):
                W[i] += gamma * dW[i]
            shares[away] -= gamma
            place = away
            if shares[away] > 1e-12:
                place = count
                count += 1
            for i in range(d):
                AT[place, i] = W2[i]
                points[place, i] = q[i]
            shares[place] = gamma
        weights(shares, count, whole)
        good = True
        left = 0.0
        for i in range(d):
            if tips[i] < 0:
                w = 0.0
                for a in range(count):
                    w += whole[a] * AT[a, i]
                if w / WEIGHT < r[i] + margin:
                    good = False
                t[i] = max(r[i] + 2.0 * margin - W[i], 0.0)
                left += t[i]
        if good and not all_rows(side, ties, stack, cur, name, f1, margin, points, whole, count):
            return False
        if good:
            n = tape.used[2]
            tape.codes[tape.used[0]] = RAY
            tape.used[0] += 1
            tape.data[n] = ties.ray_names[name]
            tape.used[2] = write_atoms(tape.data, n + 1, points, whole, count, d)
            return True
        if left <= 0.0:
            return False
    return False


@compile_
def seen_products(G, d, unseen, T, R):  # type: ignore[no-untyped-def]
    """T: the products of the generators without their last coordinates x; R: the same, and `unseen`^2 times that of
    x less a linear function of the other coordinates that is x at the mean: so R is definite, and near T."""
    for i in range(d):
        for j in range(d):
            s = 0.0
            for l in range(d - 1):
                s += G[i, l] * G[j, l]
            T[i, j] = s
    square = 0.0
    height = 0.0
    for i in range(d):
        height += G[i, d - 1]
        for j in range(d):
            square += T[i, j]
    for i in range(d):
        along = 0.0
        for j in range(d):
            along += T[i, j]
        R[i, i] = unseen * (G[i, d - 1] - height / square * along)
    for i in range(d):
        for j in range(i):
            R[i, j] = T[i, j] + R[i, i] * R[j, j]
            R[j, i] = R[i, j]
    for i in range(d):
        R[i, i] = T[i, i] + R[i, i] * R[i, i]


@compile_
def strict_leaf(side, stack, tape, cur, T, M, b, best, room, delta):  # type: ignore[no-untyped-def]
    """Prove a cone strictly, and write the leaf; `best` is where the bound is largest, for branching. T are
    the products of the generators in the norm, M those in the norm with which projections are found."""
    r, t, W, W2, dW, q, tq, shares, points, whole, AT, t2, A, x, free, index, p, Wq, v = room
    d, D = side.frame.shape
    V = stack.VN[cur]
    rows = stack.IN[cur]
    n_N = stack.n_N[cur]
    g = stack.g[cur]
    size = stack.size[cur]
    U = stack.unit[cur]
    bound = side.bound
    for i in range(d):
        t[i] = 1.0
        q[i] = 1
        best[i] = 1.0
    atom(V, rows, n_N, d, D, q, U, side.light, p, W)
    if slack(g, size, U, b, W, t, d, D, v, bound, side.unseen) >= delta:
        tape.codes[tape.used[0]] = RULE
        tape.used[0] += 1
        return True
    count = 1
    shares[0] = 1.0
    highest = -1e300
    for i in range(d):
        AT[0, i] = W[i]
        points[0, i] = 1
    for _ in range(STEPS):
        for i in range(d):
            r[i] = b[i] - W[i]
        square = project(M, r, d, t, A, x, free, index)
        if square <= 1e-300:
            for i in range(d):
                t[i] = 0.0
        quantised(t, d, q, tq, 255.0)
        if slack(g, size, U, b, W, tq, d, D, v, bound, side.unseen) >= delta and weights(shares, count, whole):
            for i in range(d):
                s = 0.0
                for a in range(count):
                    s += whole[a] * AT[a, i]
                Wq[i] = s / WEIGHT
                r[i] = b[i] - Wq[i]
            if project(M, r, d, t2, A, x, free, index) <= 1e-300:
                for i in range(d):
                    t2[i] = 0.0
            found = False
            for level in range(3):
                quantised(t2, d, index, x, 3.0 if level == 0 else (15.0 if level == 1 else 255.0))
                if slack(g, size, U, b, Wq, x, d, D, v, bound, side.unseen) >= delta:
                    found = True
                    break
            if found:
                n = tape.used[2]
                barycentre = True
                for a in range(count):
                    if whole[a] > 0:
                        for i in range(d):
                            if points[a, i] != 1:
                                barycentre = False
                tape.codes[tape.used[0]] = TURNED if barycentre else ATOMS
                tape.used[0] += 1
                if not barycentre:
                    n = write_atoms(tape.data, n, points, whole, count, d)
                for i in range(d):
                    tape.data[n + i] = index[i]
                tape.used[2] = n + d
                return True
        if square <= 1e-300:
            return False
        length = 0.0
        for i in range(d):
            for j in range(d):
                length += tq[i] * tq[j] * T[i, j]
        length = np.sqrt(length)
        atom(V, rows, n_N, d, D, q, U, side.light, p, W2)
        value = 0.0
        for i in range(d):
            value += (b[i] - W2[i]) * tq[i]
        value /= length
        if value > highest:
            highest = value
            for i in range(d):
                best[i] = tq[i]
        if value > bound * (1.0 - 1.01 * delta) or n_N == 0:
            return False
        away = -1
        lowest = 1e300
        for a in range(count):
            if shares[a] > 0.0:
                s = 0.0
                for i in range(d):
                    s += AT[a, i] * tq[i]
                if s < lowest:
                    lowest = s
                    away = a
        slope = 0.0
        gain = 0.0
        for i in range(d):
            dW[i] = W2[i] - AT[away, i]
            slope += dW[i] * t[i]
            gain += (W2[i] - W[i]) * tq[i]
        if gain <= 1e-13 * bound * length:
            return False
        high = shares[away]
        low = 0.0
        slope_low = slope
        gamma = high
        for i in range(d):
            r[i] = b[i] - W[i] - high * dW[i]
        project(M, r, d, t2, A, x, free, index)
        slope_high = 0.0
        for i in range(d):
            slope_high += dW[i] * t2[i]
        if slope_high < 0.0:
            for _ in range(6):
                part = min(max(slope_low / (slope_low - slope_high), 0.1), 0.9)
                gamma = low + part * (high - low)
                for i in range(d):
                    r[i] = b[i] - W[i] - gamma * dW[i]
                project(M, r, d, t2, A, x, free, index)
                s = 0.0
                for i in range(d):
                    s += dW[i] * t2[i]
                if abs(s) < 0.05 * slope:
                    break
                if s > 0.0:
                    low = gamma
                    slope_low = s
                else:
                    high = gamma
                    slope_high = s
        for i in range(d):
            W[i] += gamma * dW[i]
        shares[away] -= gamma
        place = -1
        for a in range(count):
            s = 0.0
            for i in range(d):
                s += abs(AT[a, i] - W2[i])
            if s < 1e-13 * bound:
                place = a
                break
        if place < 0:
            if shares[away] <= 1e-15:
                place = away
            else:
                place = count
                count += 1
            shares[place] = 0.0
            for i in range(d):
                AT[place, i] = W2[i]
                points[place, i] = q[i]
        shares[place] += gamma
    return False


@compile_
def value_at(stack, cur, t, d, M):  # type: ignore[no-untyped-def]
    """(f1 - f2)(u) / |u| at u = sum t_i g_i."""
    s = 0.0
    size = 0.0
    for i in range(d):
        s += (stack.lin[cur, i] - stack.low[cur, i]) * t[i]
        for j in range(d):
            size += t[i] * t[j] * M[i, j]
    for k in range(stack.n_P[cur]):
        v = 0.0
        for i in range(d):
            v += t[i] * stack.VP[cur, i, k]
        s += max(v, 0.0)
    for k in range(stack.n_N[cur]):
        v = 0.0
        for i in range(d):
            v += t[i] * stack.VN[cur, i, k]
        s -= max(v, 0.0)
    return s / np.sqrt(max(size, 1e-300))


@compile_
def insert(stack, tape, cur, hit, e, found, mix, code, name, facet, d, D):  # type: ignore[no-untyped-def]
    """A child for each generator of which e = sum found_i g_i has a part, with e in its place."""
    mask = 0
    for i in range(d):
        mix[i] = found[i] if found[i] > 1e-11 else 0.0
        if mix[i] > 0.0:
            mask |= 1 << i
    n = tape.used[2]
    tape.codes[tape.used[0]] = code
    tape.used[0] += 1
    tape.data[n] = name
    tape.data[n + 1] = mask & 255
    tape.data[n + 2] = mask >> 8 & 255
    tape.data[n + 3] = mask >> 16
    tape.used[2] = n + 4
    if code == FACE:
        tape.data[n + 4] = facet
        tape.used[2] = n + 5
    new_lin = 0.0
    new_low = 0.0
    for i in range(d):
        new_lin += mix[i] * stack.lin[cur, i]
        new_low += mix[i] * stack.low[cur, i]
    first = -1
    level = cur
    for place in range(d - 1, -1, -1):
        if mix[place] > 0.0:
            first = place
    for place in range(d + 1):
        at = first if place == d else place
        if place < d and (mix[place] == 0.0 or place == first):
            continue
        target = cur if place == d else level + 1
        if target != cur:
            level = target
            copy_level(stack, cur, stack, target, d, D)
        stack.lin[target, at] = new_lin
        stack.low[target, at] = new_low
        zero = 1e-10
        stack.n_P[target] = child(
            stack.VP[cur], stack.IP[cur], stack.n_P[cur], d, mix, stack.VP[target], stack.IP[target],
            stack.lin[target], at, zero,
        )  # fmt: skip
        stack.n_N[target] = child(
            stack.VN[cur], stack.IN[cur], stack.n_N[cur], d, mix, stack.VN[target], stack.IN[target],
            stack.low[target], at, zero,
        )  # fmt: skip
        for j in range(d):
            stack.G[target, at, j] = e[j]
        stack.size[target, at] = 1.0
        stack.ray[target, at] = hit
        stack.depth[target] += 1
    stack.counts[TOP] = level + 1


@compile_
def face_split(side, ties, stack, tape, cur, name, found, A, mix):  # type: ignore[no-untyped-def]
    """Split at an end of the part of a plane that lies in the cone, if that end is no generator."""
    d, D = side.frame.shape
    ends = 0
    for i in range(d):
        if stack.ray[cur, i] == name:
            ends += 1
    if ends > 1:  # the plane is in a face: its other coordinates are 0, and what floats say of them is noise
        return False
    if not coordinates(stack.G[cur], ties.across[name], d, found, A):
        return False
    slope = found.copy()
    coordinates(stack.G[cur], ties.ray[name], d, found, A)
    at = found.copy()
    low = -1e3
    high = 1e3
    low_at = -1
    high_at = -1
    for i in range(d):
        if abs(slope[i]) < 1e-11:
            if at[i] < -1e-11:
                return False
        elif slope[i] > 0.0:
            if -at[i] / slope[i] > low:
                low = -at[i] / slope[i]
                low_at = i
        elif -at[i] / slope[i] < high:
            high = -at[i] / slope[i]
            high_at = i
    if high - low < 1e-9 or low < ties.span[name, 0] or high > ties.span[name, 1]:
        return False
    e = np.empty(d)
    for end in range(2):
        s = high if end else low
        size = np.sqrt(1.0 + s * s)
        for l in range(d):
            e[l] = (ties.ray[name, l] + s * ties.across[name, l]) / size
        known = False
        for i in range(d):
            if stack.ray[cur, i] >= 0:
                product = 0.0
                for l in range(d):
                    product += (e[l] - stack.G[cur, i, l]) ** 2
                if product < 1e-18:
                    known = True
        if known:
            continue
        facet = high_at if end else low_at
        for i in range(d):
            found[i] = (at[i] + s * slope[i]) / size
        found[facet] = 0.0
        insert(stack, tape, cur, name, e, found, mix, FACE, ties.ray_names[name], facet, d, D)
        return True
    return False


@compile_
def star_split(side, ties, stack, tape, cur, found, A, mix):  # type: ignore[no-untyped-def]
    """Split at a ray or plane inside the cone, once all convex lines that cross the cone pass through it."""
    d, D = side.frame.shape
    hit = -1
    for a in range(ties.ray.shape[0]):
        through = True
        for k in range(stack.n_P[cur]):
            if ties.ray_P[a, stack.IP[cur, k]] == 0:
                through = False
                break
        if not through:
            continue
        if ties.span[a, 1] > ties.span[a, 0]:
            if face_split(side, ties, stack, tape, cur, a, found, A, mix):
                return True
            continue
        if not coordinates(stack.G[cur], ties.ray[a], d, found, A):
            continue
        inside = True
        for i in range(d):
            if found[i] < -1e-11:
                inside = False
        if inside:
            hit = a
            break
    if hit < 0:
        return False
    insert(stack, tape, cur, hit, ties.ray[hit], found, mix, STAR, ties.ray_names[hit], 0, d, D)
    return True


@compile_
def sign_split(side, stack, tape, cur, t, d):  # type: ignore[no-untyped-def]
    """Split by the sign of the convex line that costs most at t."""
    D = side.frame.shape[1]
    n = stack.n_P[cur]
    worst = 0.0
    row = -1
    for k in range(n):
        v = 0.0
        mass = 0.0
        for i in range(d):
            v += t[i] * stack.VP[cur, i, k]
            mass += t[i] * max(stack.VP[cur, i, k], 0.0)
        mass -= max(v, 0.0)
        if mass > worst:
            worst = mass
            row = k
    if row < 0 or stack.n_signs[cur] >= MOST_SIGNS:
        return False
    line = stack.IP[cur, row]
    tape.codes[tape.used[0]] = SIGN
    tape.used[0] += 1
    tape.rows[tape.used[3]] = line
    tape.used[3] += 1
    new = cur + 1
    stack.depth[cur] += 1
    stack.signs[cur, stack.n_signs[cur]] = 2 * line
    stack.n_signs[cur] += 1
    copy_level(stack, cur, stack, new, d, D)
    stack.signs[cur, stack.n_signs[cur] - 1] = 2 * line + 1
    stack.IP[cur, row] = stack.IP[cur, n - 1]
    for i in range(d):
        stack.lin[cur, i] += stack.VP[cur, i, row]
        stack.VP[cur, i, row] = stack.VP[cur, i, n - 1]
    copy_lines(stack.VP[cur], stack.IP[cur], n - 1, stack.VP[new], stack.IP[new], d)
    copy_lines(stack.VN[cur], stack.IN[cur], stack.n_N[cur], stack.VN[new], stack.IN[new], d)
    stack.n_P[cur] = n - 1
    stack.n_P[new] = n - 1
    stack.n_N[new] = stack.n_N[cur]
    stack.counts[TOP] += 1
    return True


@compile_
def holds(ties, stack, cur, found, A, d):  # type: ignore[no-untyped-def]
    """A ray, or a plane near its neuron, that passes through the cone while other convex lines cross it; else -1."""
    slope = np.empty(d)
    for a in range(ties.ray.shape[0]):
        if not coordinates(stack.G[cur], ties.ray[a], d, found, A):
            return -1
        low = 0.0
        high = 0.0
        if ties.span[a, 1] > ties.span[a, 0]:
            low = ties.span[a, 0]
            high = ties.span[a, 1]
            coordinates(stack.G[cur], ties.across[a], d, slope, A)
        for i in range(d):
            if low == high:
                if found[i] < -1e-11:
                    high = -1.0
                    break
            elif slope[i] > 1e-11:
                low = max(low, -found[i] / slope[i])
            elif slope[i] < -1e-11:
                high = min(high, -found[i] / slope[i])
            elif found[i] < -1e-11:
                high = -1e3
        if high < low:
            continue
        for k in range(stack.n_P[cur]):
            if ties.ray_P[a, stack.IP[cur, k]] == 0:
                return a
    return -1


@compile_
def middle(a, b, n):  # type: ignore[no-untyped-def]
    """The mean place, from 0 to 1, at which convex lines cross an edge, by the mass of their kinks."""
    mass = 0.0
    place = 0.0
    for k in range(n):
        if a[k] * b[k] < 0.0:
            m = min(abs(a[k]), abs(b[k]))
            mass += m
            place += m * a[k] / (a[k] - b[k])
    return min(max(place / mass, FROM_ENDS), 1.0 - FROM_ENDS) if mass > 0.0 else 0.5


@compile_
def taken(a, b, n):  # type: ignore[no-untyped-def]
    """What a new generator at the middle of an edge takes from the interpolation of f1, each end counted alike."""
    s = middle(a, b, n)
    mass = 0.0
    for k in range(n):
        if a[k] * b[k] < 0.0:
            mass += (1.0 - s) * max(a[k], 0.0) + s * max(b[k], 0.0) - max((1.0 - s) * a[k] + s * b[k], 0.0)
    return mass / np.sqrt(s * (1.0 - s))


@compile_
def choose_edge(stack, cur, M, off, t, tips, d, tried):  # type: ignore[no-untyped-def]
    """The edge to bisect, of those not tried: where that takes most from the interpolation of f1, above all where the
    bound is largest; away from tips, the widest as seen from them."""
    best = -1.0
    first = 0
    second = 1
    n = stack.n_P[cur]
    even = 0.0
    for i in range(d):
        even = max(even, EVEN * t[i])
    for pass_ in range(2):
        for i in range(d):
            for j in range(i + 1, d):
                if tried[i, j]:
                    continue
                if tips > 0:
                    if stack.ray[cur, i] >= 0 or stack.ray[cur, j] >= 0:
                        continue
                    s = 1.0 - off[i, j] / np.sqrt(max(off[i, i], 1e-30) * max(off[j, j], 1e-30))
                elif n == 0 or pass_ == 1:
                    s = 1.0 - M[i, j]
                else:
                    s = taken(stack.VP[cur, i], stack.VP[cur, j], n) * np.sqrt((t[i] + even) * (t[j] + even))
                if s > best:
                    best = s
                    first = i
                    second = j
        if best > 0.0:
            break
        best = -3.0
    return first, second


@compile_
def next_edge(ties, stack, cur, through, tips, d, work):  # type: ignore[no-untyped-def]
    """The edge to bisect, of those not tried, and marked as tried; those lines count that do not pass through a ray or
    plane inside the cone."""
    M, _, _, off, _, _, _, best, _, _, _, tried, _, _ = work
    n = stack.n_P[cur]
    if through >= 0:
        lines = 0
        for k in range(n):
            if ties.ray_P[through, stack.IP[cur, k]] == 0:
                row = stack.IP[cur, k]
                stack.IP[cur, k] = stack.IP[cur, lines]
                stack.IP[cur, lines] = row
                for i in range(d):
                    v = stack.VP[cur, i, k]
                    stack.VP[cur, i, k] = stack.VP[cur, i, lines]
                    stack.VP[cur, i, lines] = v
                lines += 1
        stack.n_P[cur] = lines
    first, second = choose_edge(stack, cur, M, off, best, tips, d, tried)
    stack.n_P[cur] = n
    tried[first, second] = True
    return first, second


@compile_
def set_aside(stack, cur, aside, noted, d, D):  # type: ignore[no-untyped-def]
    """Make a level the only one of another stack, where a walk begins that leaves nothing behind."""
    copy_level(stack, cur, aside, 0, d, D)
    copy_lines(stack.VP[cur], stack.IP[cur], stack.n_P[cur], aside.VP[0], aside.IP[0], d)
    copy_lines(stack.VN[cur], stack.IN[cur], stack.n_N[cur], aside.VN[0], aside.IN[0], d)
    aside.n_P[0] = stack.n_P[cur]
    aside.n_N[0] = stack.n_N[cur]
    aside.counts[TOP] = 1
    aside.counts[NODES] = 0
    for k in range(noted.used.shape[0]):
        noted.used[k] = 0


@compile_
def bisect(side, stack, tape, cur, first, second, tips, work):  # type: ignore[no-untyped-def]
    """Replace one end of the edge, then the other, by m g_i + g_j, with the m nearest to where most lines cross it."""
    d, D = side.frame.shape
    off, mix = work[3], work[8]
    number = 0
    for i in range(first):
        number += d - 1 - i
    number += second - first - 1
    a = stack.size[cur, first]
    b = stack.size[cur, second]
    if tips > 0:
        a *= np.sqrt(max(off[first, first], 1e-30))
        b *= np.sqrt(max(off[second, second], 1e-30))
    ratio = np.log2(a / b)
    if tips == 0:
        s = middle(stack.VP[cur, first], stack.VP[cur, second], stack.n_P[cur])
        ratio -= np.log2((1.0 - s) / s)
    best = 1e300
    byte = 0
    p = 1
    q = 1
    for swap in range(2):
        for k in range(70):
            m = ((2 + (k & 1)) << (k >> 1)) >> 1
            beside = abs(ratio - np.log2(m)) if swap else abs(ratio + np.log2(m))
            if beside < best - 1e-9:
                best = beside
                byte = swap * 128 + k
                p = 1 if swap else m
                q = m if swap else 1
    tape.codes[tape.used[0]] = number
    tape.used[0] += 1
    tape.multipliers[tape.used[1]] = byte
    tape.used[1] += 1
    new = cur + 1
    copy_level(stack, cur, stack, new, d, D)
    divisor = 0
    for l in range(D):
        v = stack.g[cur, first, l] * p + stack.g[cur, second, l] * q
        stack.g[new, second, l] = v
        u = abs(v)
        while u:
            u, divisor = divisor % u, u
    size = 0.0
    for l in range(D):
        stack.g[new, second, l] //= divisor
        size += float(stack.g[new, second, l]) ** 2
    size = np.sqrt(size)
    for l in range(d):
        mix[l] = 0.0
    mix[first] = stack.size[cur, first] * p / divisor / size
    mix[second] = stack.size[cur, second] * q / divisor / size
    new_lin = mix[first] * stack.lin[cur, first] + mix[second] * stack.lin[cur, second]
    new_low = mix[first] * stack.low[cur, first] + mix[second] * stack.low[cur, second]
    stack.lin[new, second] = new_lin
    stack.low[new, second] = new_low
    stack.n_P[new] = child(
        stack.VP[cur], stack.IP[cur], stack.n_P[cur], d, mix, stack.VP[new], stack.IP[new], stack.lin[new], second, 0.0
    )
    stack.n_N[new] = child(
        stack.VN[cur], stack.IN[cur], stack.n_N[cur], d, mix, stack.VN[new], stack.IN[new], stack.low[new], second, 0.0
    )
    stack.lin[cur, first] = new_lin
    stack.low[cur, first] = new_low
    stack.n_P[cur] = child(
        stack.VP[cur], stack.IP[cur], stack.n_P[cur], d, mix, stack.VP[cur], stack.IP[cur], stack.lin[cur], first, 0.0
    )
    stack.n_N[cur] = child(
        stack.VN[cur], stack.IN[cur], stack.n_N[cur], d, mix, stack.VN[cur], stack.IN[cur], stack.low[cur], first, 0.0
    )
    integer_unit(stack.g[new, second], stack.unit[new, second], D)
    stack.bits[new, second] = bit_length(stack.g[new, second], D)
    for j in range(d):
        s = 0.0
        for l in range(D):
            s += side.frame[j, l] * stack.g[new, second, l]
        stack.G[new, second, j] = s / size
        stack.G[cur, first, j] = s / size
    for l in range(D):
        stack.g[cur, first, l] = stack.g[new, second, l]
        stack.unit[cur, first, l] = stack.unit[new, second, l]
    stack.size[new, second] = size
    stack.size[cur, first] = size
    stack.bits[cur, first] = stack.bits[new, second]
    stack.ray[new, second] = -1
    stack.ray[cur, first] = -1
    stack.depth[new] += 1
    stack.depth[cur] += 1
    stack.counts[TOP] += 1


@compile_
def workspace(side):  # type: ignore[no-untyped-def]
    """Room to work in at a node; what is left there is for the choice of an edge."""
    d, D = side.frame.shape
    M = np.zeros((d, d))
    T = M if side.unseen == 0.0 else np.zeros((d, d))
    R = M if side.unseen == 0.0 else np.zeros((d, d))
    n = STEPS + 3
    q, p = np.zeros(d, np.int64), np.zeros(D, np.int64)
    r, t, W, W2, dW, tq = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    shares, points, whole, AT = np.empty(n), np.zeros((n, d), np.int64), np.zeros(n, np.int64), np.empty((n, d))
    star = (r, t, W, W2, dW, q, tq, shares, points, whole, AT, np.empty(max(side.N.shape[0], 1)))
    strict = (
        r, t, W, W2, dW, q, tq, shares, points, whole, AT, np.empty(d), np.empty((d, d)), np.empty(d),
        np.zeros(d, np.int64), np.zeros(d, np.int64), p, np.empty(d), np.zeros(D, np.int64),
    )  # fmt: skip
    off, along, tried = np.zeros((d, d)), np.zeros((d, 2)), np.zeros((d, d), np.bool_)
    f1, b, best, mix, found = np.empty(d), np.empty(d), np.empty(d), np.zeros(d), np.empty(d)
    return M, T, R, off, along, f1, b, best, mix, found, np.empty((d, d + 1)), tried, star, strict


@compile_
def point_out(stack, cur, t, d):  # type: ignore[no-untyped-def]
    """Note sum t_i g_i as the point at which the walk ends."""
    for j in range(d):
        s = 0.0
        for i in range(d):
            s += t[i] * stack.G[cur, i, j]
        stack.at[j] = s


@compile_
def visit(side, ties, stack, tape, most_depth, delta, violation, work):  # type: ignore[no-untyped-def]
    """The node on top: GO_ON if it is proved, or split otherwise than on an edge; WIDE if an edge of it is to be
    bisected; else FULL, STUCK or VIOLATED. How many of its generators are tips, and the ray or plane through it."""
    d, D = side.frame.shape
    M, T, R, off, along, f1, b, best, mix, found, wide, tried, star, strict = work
    used = tape.used
    if (
        used[0] + 2 > tape.codes.shape[0]
        or used[1] + 2 > tape.multipliers.shape[0]
        or used[2] + ROOM > tape.data.shape[0]
        or used[3] + 2 > tape.rows.shape[0]
    ):
        return FULL, 0, -1
    cur = stack.counts[TOP] - 1
    stack.counts[NODES] += 1
    stack.counts[DEEPEST] = max(stack.counts[DEEPEST], stack.depth[cur])
    longest = 0
    tips = 0
    name = -1
    mixed = False
    for i in range(d):
        f1[i] = stack.lin[cur, i] + positive_sum(stack.VP[cur, i], stack.n_P[cur])
        b[i] = f1[i] - stack.low[cur, i]
        if stack.ray[cur, i] >= 0:
            mixed |= tips > 0 and stack.ray[cur, i] != name
            tips += 1
            name = stack.ray[cur, i]
        else:
            longest = max(longest, stack.bits[cur, i])
        for j in range(i, d):
            s = 0.0
            for l in range(d):
                s += stack.G[cur, i, l] * stack.G[cur, j, l]
            M[i, j] = s
            M[j, i] = s
    stack.counts[LONGEST] = max(stack.counts[LONGEST], longest)
    if tips > 0:
        for i in range(d):
            along[i, 0] = 0.0
            along[i, 1] = 0.0
            for l in range(d):
                along[i, 0] += ties.ray[name, l] * stack.G[cur, i, l]
                along[i, 1] += ties.across[name, l] * stack.G[cur, i, l]
        for i in range(d):
            for j in range(d):
                off[i, j] = M[i, j] - along[i, 0] * along[j, 0] - along[i, 1] * along[j, 1]
    hit = -1
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
            hit = a
            break
    if hit >= 0:
        tape.codes[used[0]] = NEURON
        tape.data[used[2]] = ties.names[hit]
        used[0] += 1
        used[2] += 1
        stack.counts[LEAVES] += 1
        stack.counts[TOP] -= 1
        return GO_ON, tips, -1
    for i in range(d):
        best[i] = 1.0
    if mixed:
        proved = False
    elif tips > 0:
        proved = star_leaf(side, ties, stack, tape, cur, name, M, off, f1, star)
    else:
        if side.unseen > 0.0:
            seen_products(stack.G[cur], d, side.unseen, T, R)
        proved = strict_leaf(side, stack, tape, cur, T, R, b, best, strict, delta)
    if proved:
        stack.counts[LEAVES] += 1
        stack.counts[TOP] -= 1
        return GO_ON, tips, -1
    if tips == 0 and value_at(stack, cur, best, d, T) > violation:
        point_out(stack, cur, best, d)
        return VIOLATED, tips, -1
    full = cur + d > stack.depth.shape[0]  # a star puts up to d cones in the place of one
    if stack.depth[cur] >= most_depth or longest > MOST_BITS or mixed or full:
        point_out(stack, cur, best, d)
        return STUCK, tips, -1
    if tips == 0 and star_split(side, ties, stack, tape, cur, found, wide, mix):
        return GO_ON, tips, -1
    if tips > 0 and face_split(side, ties, stack, tape, cur, name, found, wide, mix):
        return GO_ON, tips, -1
    if tips == 0 and 0 < stack.n_P[cur] <= FEW and sign_split(side, stack, tape, cur, best, d):
        return GO_ON, tips, -1
    through = holds(ties, stack, cur, found, wide, d) if tips == 0 else -1
    tried[:] = False
    return WIDE, tips, through


@compile_
def walk(side, ties, stack, tape, budget, most_depth, delta, violation, ahead, aside, noted):  # type: ignore[no-untyped-def]
    """Go on with the walk for at most `budget` nodes. DONE, GO_ON, FULL (the tape), STUCK (too deep, or too many bits)
    or VIOLATED (the value at `at` exceeds `violation`).

    Where at most `ahead` nodes lie below the best edge, a few others are tried, too, and the one with the fewest nodes
    below it is bisected. A trial is a walk of its own from one node, on the stack `aside` with the tape `noted`. (It is
    part of the same loop, so that what a node needs is compiled once.)"""
    d, D = side.frame.shape
    work = workspace(side)
    edges = np.zeros((min(1 + OTHER_EDGES, d * (d - 1) // 2), 2), np.int64)
    here = stack
    written = tape
    trial = -1  # the edge that is tried, if one is
    failed = False
    fewest = best = 0
    while True:
        cur = here.counts[TOP] - 1
        i = j = -1
        tips = 0
        launched = False
        if trial >= 0 and (failed or cur < 0 or here.counts[NODES] + 1 == fewest):
            if cur < 0:
                fewest = here.counts[NODES]
                best = trial
            here = stack
            written = tape
            cur = here.counts[TOP] - 1
            launched = fewest <= ahead and fewest > 2 and trial + 1 < edges.shape[0]
            trial = trial + 1 if launched else -1
            i, j = edges[trial if launched else best]
        else:
            if trial < 0:
                if cur < 0:
                    return DONE
                if budget == 0:
                    return GO_ON
                budget -= 1
            code, tips, through = visit(side, ties, here, written, most_depth, delta, violation, work)
            failed = code not in (WIDE, GO_ON)
            if failed and trial < 0:
                return code
            if code == WIDE:
                launched = trial < 0 and ahead > 0 and tips == 0
                for e in range(edges.shape[0] if launched else 1):
                    i, j = next_edge(ties, here, cur, through, tips, d, work)
                    if launched:
                        edges[e, 0] = i
                        edges[e, 1] = j
                if launched:
                    fewest = ahead + 1
                    trial = best = 0
                    i, j = edges[0]
        if launched:
            set_aside(stack, cur, aside, noted, d, D)
            here = aside
            written = noted
            failed = False
            cur = 0
        if i >= 0:
            bisect(side, here, written, cur, i, j, tips, work)
