"""The constrained group lasso (CGL), the one problem type that all later stages take."""

from relu_cert.problem.build import gated, relu
from relu_cert.problem.direct import problem_from_json, problem_to_json, read_problem_json
from relu_cert.problem.model import Block, Model, Network, Problem

__all__ = [
    "Block",
    "Model",
    "Network",
    "Problem",
    "gated",
    "problem_from_json",
    "problem_to_json",
    "read_problem_json",
    "relu",
]
