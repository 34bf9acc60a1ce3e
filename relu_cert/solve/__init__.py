"""float64: working sets, exact pricing over all patterns, Newton in kernel form."""

from relu_cert.solve.prepare import FloatMultipliers, FloatProblem, Neuron, Solution, Stats, prepare
from relu_cert.solve.solver import lambda_max, multipliers, solve

__all__ = [
    "FloatMultipliers",
    "FloatProblem",
    "Neuron",
    "Solution",
    "Stats",
    "lambda_max",
    "multipliers",
    "prepare",
    "solve",
]
