"""Compiled: from a float point of a cell to a small integer point whose signs are proved (see `witness.py`)."""

from __future__ import annotations

import numpy as np
from numba import njit

compile_ = njit(cache=True, nogil=True, error_model="numpy")
propose_ = njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz", "nnan"})


@propose_
def products(Z, u, out):  # type: ignore[no-untyped-def]
    """out_j = sum_l Z_lj u_l"""
    for j in range(len(out)):
        out[j] = Z[0, j] * u[0]
    for l in range(1, len(u)):
        f = u[l]
        for j in range(len(out)):
            out[j] += Z[l, j] * f


@propose_
def center(Z, sign, u, v, a, b):  # type: ignore[no-untyped-def]
    """Move u to the middle of the chord of its cell along grad sum_j log |z_j.u|, orthogonal to u."""
    r, m = Z.shape
    products(Z, u, a)
    for j in range(m):
        a[j] = 1.0 / a[j]
    uv = 0.0
    uu = 0.0
    for l in range(r):
        total = 0.0
        for j in range(m):
            total += Z[l, j] * a[j]
        v[l] = total
        uv += u[l] * total
        uu += u[l] * u[l]
    for l in range(r):
        v[l] -= uv / uu * u[l]
    products(Z, v, b)
    up = 0.0
    down = 0.0
    for j in range(m):
        rate = b[j] * a[j]  # relative change of z_j.u
        up = max(up, -rate)
        down = max(down, rate)
    if up > 0.0 and down > 0.0:
        step = 0.5 / up - 0.5 / down
    elif down > 0.0:
        step = 1.0 / down
    elif up > 0.0:
        step = 0.5 / up
    else:
        step = 0.0
    for l in range(r):
        u[l] += step * v[l]


@propose_
def margin(sign, a, scale):  # type: ignore[no-untyped-def]
    """min_j sign_j a_j / scale_j, with scale_j the inverse of |z_j|_1"""
    least = np.inf
    for j in range(len(a)):
        least = min(least, sign[j] * a[j] * scale[j])
    return least


@compile_
def signs_hold(Z, sign, w, numbers, count):  # type: ignore[no-untyped-def]
    """Whether z_j.w has the wanted sign for the listed hyperplanes (a quick test before the proof)."""
    for i in range(count):
        j = numbers[i]
        total = 0.0
        for l in range(len(w)):
            total += Z[l, j] * w[l]
        if total * sign[j] <= 0.0:
            return False
    return True


@compile_
def finish(Z, scale, cells, points, W, good, rounds, reach):  # type: ignore[no-untyped-def]
    """W[i] = a small integer point of cell i, with good[i] if its signs are proved. Z is r x m, scale = 1 / |z|_1."""
    r, m = Z.shape
    sign = np.empty(m)
    a = np.empty(m)
    b = np.empty(m)
    v = np.empty(r)
    w = np.empty(r)
    near = np.empty(m, dtype=np.int64)
    for i in range(len(cells)):
        u = points[i]
        for j in range(m):
            sign[j] = 2.0 * np.float64((cells[i, j >> 6] >> np.uint64(j & 63)) & np.uint64(1)) - 1.0
        for _ in range(rounds):
            center(Z, sign, u, v, a, b)
        largest = 0.0
        for l in range(r):
            largest = max(largest, abs(u[l]))
        for l in range(r):
            u[l] /= largest
        products(Z, u, a)
        least = margin(sign, a, scale)
        enough = 0.5 / least  # rounding to a grid of this fineness cannot change a sign
        good[i] = False
        if not (0.0 < enough < reach):
            continue
        count = 0
        for j in range(m):
            near[count] = j
            count += sign[j] * a[j] * scale[j] < 6.0 * least
        for attempt in range(6):
            factor = max(enough * 0.5 ** (4 - attempt), 1.0)
            top = 0.0
            for l in range(r):
                w[l] = np.rint(u[l] * factor)
                top = max(top, abs(w[l]))
            if not signs_hold(Z, sign, w, near, count):
                continue
            products(Z, w, a)
            slack = top * (r + 6) * 2.0**-52
            proved = top < reach
            for j in range(m):
                proved &= sign[j] * a[j] * scale[j] > slack
            if proved:
                store(w, W[i])
                good[i] = True
                break


@compile_
def store(w, out):  # type: ignore[no-untyped-def]
    """Integers without their common divisor."""
    divisor = np.int64(0)
    for x in w:
        a, b = divisor, abs(np.int64(x))
        while b:
            a, b = b, a % b
        divisor = a
        if divisor == 1:
            break
    for l in range(len(w)):
        out[l] = np.int64(w[l]) // divisor
