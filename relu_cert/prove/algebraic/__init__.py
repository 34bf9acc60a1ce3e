"""Optima that are irrational but exact: the residual in a field Q(t) of real algebraic numbers."""
