"""Leaves without tips: a cone on which t.(Zu)_+ < lambda |u| is proved, or that lies in a neuron's concave piece.

A leaf cone(g_1, ..., g_d) is proved by a = c + (a point of the zonotope of f2), |c| <= lambda, with a.g_i >= f1(g_i)
for every generator: f1 is sublinear, so f1(u) <= a.u <= lambda |u| + f2(u) on the whole cone. That point is a
convex combination of gradients of f2 (atoms), found by pairwise Frank-Wolfe steps with a true line search.
"""

from __future__ import annotations

import numpy as np

from relu_cert.cover.small import project
from relu_cert.cover.stack import ATOMS, OFFSET, RULE, STEP, STEPS, TURNED, WEIGHT


def atom(side, stack, cur, room, q, W):
    """W_i = sum of V_ik over the crossing concave rows that are on at p = sum (STEP q_i + OFFSET) U_i."""
    d, D = side.frame.shape
    V, rows, U, p, light = stack.VN[cur], stack.IN[cur], stack.unit[cur], room.p, side.light
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
    for k in range(stack.n_N[cur]):
        v = 0
        for l in range(D):
            v += p[l] * light[rows[k], l]
        if v > 0:
            for i in range(d):
                W[i] += V[i, k]


def quantised(t, d, q, tq, levels):
    """q_i = t_i as a byte, relative to the largest, and tq its value."""
    m = 0.0
    for i in range(d):
        m = max(m, t[i])
    for i in range(d):
        q[i] = int(t[i] / m * levels + 0.5) if m > 0.0 else 0
        tq[i] = q[i]


def slack(g, size, U, b, W, t, d, D, v, bound, unseen):
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


def weights(share, n, out):
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


def write_atoms(data, n, points, share, count, d):
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


def seen_products(G, d, unseen, T, R):
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


def strict_leaf(side, stack, tape, cur, room):
    """Prove a cone strictly, and write the leaf; `best` is where the bound is largest, for branching. T are
    the products of the generators in the norm, R those in the norm with which projections are found."""
    T, M, b, best, r, t, W, W2, dW = room.T, room.R, room.b, room.best, room.r, room.t, room.W, room.W2, room.dW
    q, tq, shares, points, whole, AT, t2 = room.q, room.tq, room.shares, room.points, room.whole, room.AT, room.t2
    A, x, free, index, Wq, v = room.A, room.x, room.free, room.order, room.Wq, room.v
    d, D = side.frame.shape
    g = stack.g[cur]
    size = stack.size[cur]
    U = stack.unit[cur]
    bound = side.bound
    delta = side.delta
    for i in range(d):
        t[i] = 1.0
        q[i] = 1
        best[i] = 1.0
    atom(side, stack, cur, room, q, W)
    if slack(g, size, U, b, W, t, d, D, v, bound, side.unseen) >= delta:
        tape.codes[tape.used[0]] = RULE
        tape.used[0] += 1
        return True
    count = np.int64(1)
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
        atom(side, stack, cur, room, q, W2)
        value = 0.0
        for i in range(d):
            value += (b[i] - W2[i]) * tq[i]
        value /= length
        if value > highest:
            highest = value
            for i in range(d):
                best[i] = tq[i]
        if value > bound * (1.0 - 1.01 * delta):
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


def in_piece(side, ties, stack, cur, a, d, D):
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


def value_at(stack, cur, t, d, M):
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
