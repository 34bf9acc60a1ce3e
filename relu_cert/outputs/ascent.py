"""Maxima of |F(u)| on the sphere, F(u) = T'(Zu)_+, compiled: candidates for neurons. Nothing here is trusted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relu_cert.outputs.jit import compile_

Floats = NDArray[np.float64]
NEAR_BY = 0.1  # how far a point moves before the rows around it are looked at again
SMOOTH = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)


@compile_
def climb(Z, T, U, steps):  # type: ignore[no-untyped-def]
    """Damped gradient steps from every row of U, which they replace; their values."""
    N, d = Z.shape
    C = T.shape[1]
    found = np.zeros(len(U))
    M, f, g, u, b = np.zeros((d, C)), np.zeros(C), np.zeros(d), np.zeros(d), np.zeros(d)
    for a in range(len(U)):
        u[:] = U[a] / np.sqrt((U[a] * U[a]).sum())
        best, step = -1.0, 1.0
        for it in range(steps):
            M[:] = 0.0
            for k in range(N):
                x = 0.0
                for i in range(d):
                    x += Z[k, i] * u[i]
                if x > 0:
                    for i in range(d):
                        for c in range(C):
                            M[i, c] += Z[k, i] * T[k, c]
            value = 0.0
            for c in range(C):
                f[c] = 0.0
                for i in range(d):
                    f[c] += M[i, c] * u[i]
                value += f[c] ** 2
            value = np.sqrt(value)
            if value > best:
                gain = value - best
                best = value
                step *= 1.5
                size = 0.0
                for i in range(d):
                    g[i] = 0.0
                    for c in range(C):
                        g[i] += M[i, c] * f[c]
                    b[i] = u[i]
                    size += g[i] ** 2
                g /= max(np.sqrt(size), 1e-300)
                if it > 3 and gain < 1e-13 * best:
                    break
            else:
                step *= 0.4
                if step < 1e-7:
                    break
            u[:] = b + step * g
            u /= np.sqrt((u * u).sum())
        U[a] = b
        found[a] = best
    return found


@compile_
def smooth_climb(Z, T, U, widths, steps):  # type: ignore[no-untyped-def]
    """Newton steps on the sphere for |F_mu(u)|, mu going down through `widths`: along ridges into kinked maxima, where
    gradients go to and fro. Rows of U are replaced; their values. Rows that are far from 0 around a point are smooth
    there and summed up once."""
    N, d = Z.shape
    C = T.shape[1]
    found = np.zeros(len(U))
    lengths = np.sqrt((Z * Z).sum(axis=1))
    L, centre, close, count = np.zeros((d, C)), np.zeros(d), np.empty(N, np.int64), 0
    f, J, H, g = np.zeros(C), np.zeros((d, C)), np.zeros((d, d)), np.zeros(d)
    u, p, A, w = np.zeros(d), np.zeros(d), np.zeros((d, d)), np.zeros(d)
    for a in range(len(U)):
        u[:] = U[a]
        centre[:] = 0.0
        for mu in widths:
            old, step = -1.0, 1.0
            w[:] = u
            p[:] = 0.0
            for _ in range(steps):
                if ((w - centre) ** 2).sum() > NEAR_BY**2:
                    centre[:] = w
                    L[:] = 0.0
                    count = 0
                    for k in range(N):
                        x = 0.0
                        for i in range(d):
                            x += Z[k, i] * w[i]
                        if abs(x) <= 1.5 * NEAR_BY * lengths[k]:
                            close[count] = k
                            count += 1
                        elif x > 0:
                            for i in range(d):
                                for c in range(C):
                                    L[i, c] += Z[k, i] * T[k, c]
                J[:] = L
                for c in range(C):
                    f[c] = 0.0
                    for i in range(d):
                        f[c] += L[i, c] * w[i]
                for place in range(count):
                    k = close[place]
                    x = 0.0
                    for i in range(d):
                        x += Z[k, i] * w[i]
                    r = np.sqrt(x * x + mu * mu)
                    s = 0.5 * (x + r)
                    if s > 1e-12:
                        for c in range(C):
                            f[c] += s * T[k, c]
                        for i in range(d):
                            y = s / r * Z[k, i]
                            for c in range(C):
                                J[i, c] += y * T[k, c]
                value = (f * f).sum()
                if value <= old:
                    step *= 0.3
                    if step < 1e-3:
                        break
                else:
                    gain = value - old
                    u[:] = w
                    H[:] = 0.0
                    for place in range(count):
                        k = close[place]
                        x = 0.0
                        for i in range(d):
                            x += Z[k, i] * u[i]
                        r = x * x + mu * mu
                        if r < 400 * mu * mu:
                            q = 0.0
                            for c in range(C):
                                q += T[k, c] * f[c]
                            q *= 0.5 * mu * mu / (r * np.sqrt(r))
                            for i in range(d):
                                for j in range(d):
                                    H[i, j] += q * Z[k, i] * Z[k, j]
                    H += J @ J.T
                    g[:] = J @ f
                    along = (g * u).sum()
                    g -= along * u
                    Hu = H @ u
                    uHu = (u * Hu).sum()
                    for i in range(d):
                        for j in range(d):
                            A[i, j] = -(H[i, j] - u[i] * Hu[j] - Hu[i] * u[j] + (uHu + along) * u[i] * u[j])
                        A[i, i] += along
                    values, E = np.linalg.eigh(A)
                    p[:] = 0.0
                    for b in range(d):
                        q = 0.0
                        for i in range(d):
                            q += E[i, b] * g[i]
                        q /= max(abs(values[b]), 1e-3 * along, 1e-300)
                        for i in range(d):
                            p[i] += q * E[i, b]
                    size = np.sqrt((p * p).sum())
                    if size > 0.3:
                        p *= 0.3 / size
                    step = 1.0
                    if old > 0 and gain < 1e-14 * value:
                        break
                    old = value
                w[:] = u + step * p
                w /= np.sqrt((w * w).sum())
        f[:] = 0.0
        for k in range(N):
            x = 0.0
            for i in range(d):
                x += Z[k, i] * u[i]
            if x > 0:
                for c in range(C):
                    f[c] += x * T[k, c]
        found[a] = np.sqrt((f * f).sum())
        U[a] = u
    return found


def alike(U: Floats, V: Floats) -> Floats:
    """Half the squared distance of every row of U from every row of V; of unit vectors 1 less their product."""
    far = U[:, None, :] - V[None, :, :]
    found: Floats = 0.5 * (far * far).sum(axis=2)
    return found


def unit(U: Floats, biased: bool = False) -> Floats:
    """The rows at length 1, without the last entries where that is the bias; those of length 0 are left out."""
    size = np.linalg.norm(U[:, :-1] if biased else U, axis=1)
    kept: Floats = np.ascontiguousarray(U[size > 1e-300] / size[size > 1e-300, None])
    return kept


def sizes(Z: Floats, T: Floats, U: Floats) -> Floats:
    """|F(u)| for the rows of U."""
    found: Floats = np.linalg.norm(np.maximum(U @ Z.T, 0) @ T, axis=1)
    return found


def maxima(Z: Floats, T: Floats, U: Floats, above: float) -> tuple[Floats, Floats]:
    """Local maxima from the given starts; only those above a value are followed into their kinks."""
    U = unit(U)
    values = climb(Z, T, U, 40)
    order = np.argsort(-values)
    U = each_once(U[order][values[order] >= min(above, 0.999 * values.max(initial=0.0))])
    scale = float(np.linalg.norm(Z, axis=1).mean())
    values = smooth_climb(Z, T, U, np.array(SMOOTH) * scale, 12)
    order = np.argsort(-values)
    return U[order], values[order]


def each_once(U: Floats, same: float = 1e-8) -> Floats:
    """The first of the directions that are about the same."""
    kept = np.zeros((0, U.shape[1]))
    for u in U:
        if alike(kept, u[None]).min(initial=1.0) > same:
            kept = np.vstack([kept, u])
    return kept


def near(Z: Floats, T: Floats, U: Floats) -> Floats:
    """Local maxima near the given directions, as far as smoothing goes."""
    U = unit(U)
    smooth_climb(Z, T, U, np.array(SMOOTH[2:]) * float(np.linalg.norm(Z, axis=1).mean()), 12)
    return U


def starts(Z: Floats, T: Floats, rng: np.random.Generator, count: int) -> Floats:
    """A third of them the best of many directions, the others random, half of them seen through the inverse square root
    of Z'Z; and some rows and their opposites."""
    d = Z.shape[1]
    w, E = np.linalg.eigh(Z.T @ Z)
    whiten = (E / np.sqrt(np.maximum(w, 1e-12 * max(w[-1], 1e-300)))) @ E.T
    U = rng.standard_normal((20 * count, d))
    U[::2] = U[::2] @ whiten
    U = unit(U)
    some = rng.permutation(len(Z))[:4000]
    best = U[np.argsort(-sizes(Z[some], T[some], U))[: count // 3]]
    rows = Z[rng.permutation(len(Z))[: count // 3]]
    return unit(np.vstack([best, U[: count - len(best)], rows, -rows]))
