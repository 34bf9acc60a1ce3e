"""Exact tools, independent of the certifier: everything here is rational arithmetic on small instances.

`linalg`    ranks, null spaces, solutions, inverses (python-flint)
`roots`     sums of square roots of rationals, compared exactly
`cone`      projection onto {w : K'w <= 0} and non-negative least squares
`polytope`  vertices, dimension and least-norm point of {alpha >= 0 : Q alpha = b}
`problem`   the constrained group lasso: objective, correlations, optimality of a point
`lasso`     exact solutions for blocks of size one, at every lambda
`patterns`  D_Z by closing the cocircuits of the arrangement under composition
`network`   two-layer ReLU networks: objective, Clarke stationarity, merging
`prune`     the paper's pruning algorithms, as printed and repaired
`dual`      dual numbers, to differentiate the optimality conditions without trusting a formula
"""
