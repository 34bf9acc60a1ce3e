"""Faces in exact arithmetic.

A face is a block b with active rows F. Let the columns of N be an integer basis of {w : w orthogonal to F}. Then
P_F = N (N'N)^{-1} N', and with E = X_b N and A = (N'N)^{-1} E' the neuron at the residual r has w = alpha N A r, its
output is alpha q with q = E A r, and |v|^2 = r'q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from relu_cert.exact import Vector, primitive, rows_of, scaled_rows
from relu_cert.problem.direct import FloatBlock
from relu_cert.problem.problem import Problem
from relu_cert.solve.prepare import Floats, Key, ResidualFace


@dataclass(frozen=True)
class ExactFace:
    """N (|b| x s, integers), E = X_b N (n x s) and A = (N'N)^{-1} E' (s x n). `doubles` is E' where that is A, and its
    entries are doubles."""

    sign: int
    block: int | None
    N: fmpz_mat
    E: fmpq_mat
    A: fmpq_mat
    doubles: Floats | None = None

    @property
    def size(self) -> int:
        """s, the dimension of the face."""
        return int(self.N.ncols())


class ExactFaces:
    """Turns faces of the float solver into exact ones; each is made once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        network = problem.network
        self.rows = [] if network is None else rows_of(network.Z).tolist()
        self.made: dict[Key, ExactFace | None] = {}

    def __getitem__(self, face: ResidualFace) -> ExactFace | None:
        """The face of a float solver, exactly; None where nothing but 0 lies on it."""
        if face.key not in self.made:
            self.made[face.key] = self._make(face)
        return self.made[face.key]

    def _make(self, face: ResidualFace) -> ExactFace | None:
        X, normals = self._block(face)
        if not normals:
            block = None if self.problem.network is not None else self.problem.blocks[face.block or 0]
            doubles = block.floats.T if isinstance(block, FloatBlock) else None
            return ExactFace(face.sign, face.block, orthogonal_basis((), X.ncols()), X, X.transpose(), doubles)
        N = orthogonal_basis(normals, X.ncols())
        if N.ncols() == 0:
            return None
        E = X * fmpq_mat(N)
        A = fmpq_mat(N.transpose() * N).solve(E.transpose())
        return ExactFace(face.sign, face.block, N, E, A)

    def _block(self, face: ResidualFace) -> tuple[fmpq_mat, list[Vector]]:
        """X_b (the rows of the kinks set to zero, for they vanish on the face) and the normals of the face."""
        problem = self.problem
        if problem.network is None:
            block = problem.blocks[face.block or 0]
            columns = list(zip(*block.K, strict=True)) if block.K is not None else []
            return block.matrix, [columns[k] for k in face.kinks]
        on = np.unpackbits(np.frombuffer(face.on, dtype=np.uint8), count=len(self.rows)).astype(bool).tolist()
        zero = [fmpq(0)] * len(self.rows[0])
        X = fmpq_mat([row if on_k else zero for on_k, row in zip(on, self.rows, strict=True)])
        X = problem.network.bags.pooled_matrix(X)
        return face.sign * X, [problem.network.Z[k] for k in face.kinks]


def orthogonal_basis(normals: Sequence[Vector], d: int) -> fmpz_mat:
    """Integer columns that span {w in R^d : w orthogonal to the normals}."""
    if not normals:
        return fmpz_mat([[int(i == j) for j in range(d)] for i in range(d)])
    rows, _ = scaled_rows(normals)
    kernel, nullity = fmpz_mat(rows).nullspace()
    columns = [primitive([int(x) for x in column]) for column in kernel.transpose().tolist()[: int(nullity)]]
    if not columns:
        return fmpz_mat(d, 0)
    return fmpz_mat([list(row) for row in zip(*columns, strict=True)])
