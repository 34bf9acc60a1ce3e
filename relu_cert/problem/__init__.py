"""The constrained group lasso (CGL), the one problem type that all later stages take."""

from relu_cert.problem.direct import problem_from_json, read_problem_json
from relu_cert.problem.networks import gated, over_patterns, relu, unlisted_relu, written_out
from relu_cert.problem.problem import Block, Model, Network, Patterned, Problem

__all__ = [
    "Block",
    "Model",
    "Network",
    "Patterned",
    "Problem",
    "gated",
    "over_patterns",
    "problem_from_json",
    "read_problem_json",
    "relu",
    "unlisted_relu",
    "written_out",
]
