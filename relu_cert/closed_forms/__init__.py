"""What is known exactly, as formulas: sympy expressions of optima and of paths, and never a guess.

A formula is here only if it is proved: its numbers solve the optimality conditions exactly, in rationals or in a field
of algebraic numbers, or they follow from facts that are.
"""
