"""Variants of the plain problem: delta > 0, the logistic loss, and free terms of a ReLU network, columns whose
coefficients are not penalised and biases that no norm sees; what they ask of a dual point."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from verify.problem.input import Input
from verify.problem.problem import OBJECTIVE, Bag, Problem, dot, square
from verify.text import Fields, Node, Vector, show

ELASTIC = "1/2|Xw-y|^2 + lambda*sum|w_b| + delta/2*sum|w_b|^2"
OUTPUTS = "1/2|sum (Zw_j)_+ v_j' - Y|^2 + lambda*sum|w_j||v_j|"
SOFTMAX = "sum (log sum_c exp(f_kc) - Y_k.f_k) + lambda*sum|w_j||v_j|"
LOGISTIC = "sum log(1+exp(-y_k*(Xw)_k)) + lambda*sum|w_b|"
FREE = ("output-bias", "biases", "skip")
MOST_ROOTS = 4  # every positive rational is a sum of four squares


def with_variants(problem: Problem, fields: Fields) -> Problem:
    """The problem with its objective, `delta` if that is the elastic one, and its free terms."""
    several = problem.targets > 1
    objective = fields["objective"].text(*((OUTPUTS, SOFTMAX) if several else (OBJECTIVE, ELASTIC, LOGISTIC)))
    fields["objective"].require(("delta" in fields) == (objective == ELASTIC), "delta with the elastic objective only")
    if objective == ELASTIC:
        problem = replace(problem, delta=fields["delta"].number())
        fields["delta"].require(problem.delta > 0, "delta > 0")
    if objective == LOGISTIC:
        problem = replace(problem, logistic=True)
        fields["y"].require(all(abs(y_k) == 1 for y_k in problem.y), "labels 1 and -1")
    if objective == SOFTMAX:
        from verify.outputs.softmax import with_classes

        problem = with_classes(problem, fields["Y"])
    if "decayed" in fields:
        fields["decayed"].require("free" not in fields, "decayed, or free terms")
        return with_decayed_bias(problem, fields["decayed"])
    return with_free_terms(problem, fields["free"]) if "free" in fields else problem


def with_free_terms(problem: Problem, node: Node) -> Problem:
    """The problem with the terms of `free`, some of FREE in that order: ones; P1, which biases bring along, if it is
    another column (a neuron without weights is constant); and for a skip connection the columns of PZ."""
    names = tuple(entry.text(*FREE) for entry in node.array())
    if not names or names != tuple(name for name in FREE if name in names):
        raise node.reject(f"some of {', '.join(FREE)}, in this order")
    if problem.model != "relu" or problem.patterns is not None or problem.delta:
        raise node.reject("free terms with ReLU networks over all patterns and delta = 0 only")
    biases = "biases" in names
    if biases and any(row[-1] != 1 for row in problem.seen):
        raise node.reject("biases only where the last column of Z is ones")
    ones = {"output-bias": (Fraction(1),) * problem.n, "biases": problem.pooled([Fraction(1)] * problem.N)}
    constants = dict.fromkeys(column for name, column in ones.items() if name in names)
    outputs = (*constants, *(map(problem.pooled, zip(*problem.seen, strict=True)) if "skip" in names else ()))
    return replace(problem, free=names, biases=biases, outputs=outputs)


def with_decayed_bias(problem: Problem, node: Node) -> Problem:
    """The problem with an output bias c that costs rho/2 c^2: a free column, the ones; on rows of zeros that are
    appended later its entries are the roots."""
    fields = node.record("rho", "roots")
    roots = tuple(entry.number() for entry in fields["roots"].array())
    if not 1 <= len(roots) <= MOST_ROOTS or min(roots) <= 0:
        raise fields["roots"].reject(f"1 to {MOST_ROOTS} numbers > 0")
    if fields["rho"].number() != square(roots):
        raise fields["rho"].reject(f"the sum of the squares of the roots, {show(square(roots))}")
    if problem.model != "relu" or problem.patterns is not None or problem.delta:
        raise node.reject("a decayed output bias with ReLU networks over all patterns and delta = 0 only")
    node.require(not problem.logistic or problem.targets == 1, "no decayed bias with the softmax")
    return replace(problem, free=("output-bias",), outputs=((Fraction(1),) * problem.n,), roots=roots)


def with_zero_rows(problem: Problem) -> Problem:
    """The rows of zeros, or empty bags, and their targets 0: neurons have no output there, and c costs 1/2 (c root)^2
    at each; also with the logistic loss, whose labels are not 0."""
    count = len(problem.roots)
    y = (*problem.y, *(Fraction(0),) * (count * problem.targets))
    problem = replace(problem, y=y, outputs=((*problem.outputs[0], *problem.roots),))
    if problem.bags:
        return replace(problem, bags=(*problem.bags, *(Bag(Fraction(1), (), ()),) * count))
    return replace(problem, seen=(*problem.seen, *((Fraction(0),) * problem.d,) * count))


def without_ones(problem: Problem) -> Problem:
    """Where the last column of Z was appended for the biases it is no input, and no skip connection has it."""
    return replace(problem, outputs=problem.outputs[:-1]) if "skip" in problem.free else problem


def check_orthogonal(problem: Problem, theta: Vector, node: Node) -> None:
    """Reject unless theta is orthogonal to the columns with free coefficients, for every output."""
    for j, column in enumerate(problem.outputs):
        for c in range(problem.targets):
            total = dot(column, theta[c :: problem.targets])
            node.require(not total, f"theta orthogonal to the free column {j}", show(total))


def check_chances(problem: Problem, theta: Vector, node: Node) -> None:
    """Reject unless the loss has a dual value at theta: the logistic one has it where 0 <= y_k theta_k <= 1; at rows of
    zeros, where y_k = 0, always."""
    for k, (y_k, t_k) in enumerate(zip(problem.y, theta, strict=True)):
        if problem.logistic:
            node.require(0 <= y_k * t_k <= 1, f"0 <= y_k theta_k <= 1 at row {k}", show(y_k * t_k))


def check_point(problem: Problem, theta: Vector, node: Node) -> None:
    """Both."""
    check_orthogonal(problem, theta, node)
    check_chances(problem, theta, node)


def under(problem: Problem, input_: Input) -> str:
    """What a claim's truth needs besides the data and lambda."""
    parts = ["gated networks"] if problem.model == "gated" else []
    if problem.targets > 1:
        parts.append(f"networks with {problem.targets} outputs")
    if problem.patterns is not None:
        parts.append(f"over the {len(problem.patterns)} listed pattern{'s' * (len(problem.patterns) > 1)} only")
    if input_.activation:
        parts.append(f"with the activation {input_.activation}")
    if problem.bags and (input_.pool or not input_.activation):
        parts.append(f"for outputs that are sums over {problem.points} bags of rows")
    if problem.roots:
        parts.append(f"with an output bias b that costs {show(square(problem.roots))}/2 b^2")
    elif problem.free:
        parts.append(f"with these terms free of penalty: {', '.join(problem.free)}")
    if problem.delta:
        parts.append(f"with delta = {show(problem.delta)}")
    if problem.logistic:
        parts.append("for the softmax cross-entropy" if problem.targets > 1 else "for the logistic loss")
    return ", ".join(parts)
