"""The facts of a certificate, checked in order, each on the ground of the earlier ones."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from verify.algebraic_set import check_algebraic_set
from verify.curve import Curve, check_curve
from verify.derivatives import Derivatives, check_derivatives
from verify.elastic import check_elastic
from verify.exact_set import check_exact_set
from verify.faces import check_faces
from verify.field_shortest import check_field_min_norm
from verify.field_system import FieldSystem, not_in_field
from verify.ggp import Position, check_ggp
from verify.jump import Jump
from verify.lambda_max import check_lambda_max
from verify.multipliers import check_multipliers
from verify.network.check import Ground, Network, check_network
from verify.one_neuron import OneNeuron, check_one_neuron
from verify.optimal_set import OptimalSet, check_optimal_set
from verify.path import Path, check_paths
from verify.patterns import Patterns, check_patterns
from verify.polytope import Polytope, check_polytope
from verify.primal import Primal, check_primal
from verify.problem import Problem
from verify.shortest import Shortest, check_min_norm
from verify.system import System
from verify.text import Node, Vector
from verify.value import Fit, Value, check_fit, check_value

T = TypeVar("T")
PLAIN = ("lambda_max", "primal", "dual", "value", "fit")  # with delta > 0 or the logistic loss
SETS = {"optimal_set": check_optimal_set, "exact_set": check_exact_set, "algebraic_set": check_algebraic_set}
NAMES = (*PLAIN, *SETS, "polytope", "min_norm", "faces", "derivatives", "ggp", "path", "curve", "jump", "one_neuron")


@dataclass(frozen=True)
class Facts:
    """What was proved; None for a fact that the certificate does not have. `theta` is a dual feasible point."""

    patterns: Patterns | None = None
    lambda_max_squared: Fraction | None = None
    primal: Primal | None = None
    theta: Vector | None = None
    value: Value | None = None
    fit: Fit | None = None
    optimal_set: OptimalSet | None = None  # of the last of SETS that is there: the exact ones leave nothing open
    polytope: Polytope | None = None
    ggp: Position | None = None
    path: Path | None = None
    jump: Jump | None = None
    min_norm: Shortest | None = None  # of `polytope`, or by itself
    derivatives: Derivatives | None = None
    network: Network | None = None
    curve: Curve | None = None
    one_neuron: OneNeuron | None = None


def check_facts(problem: Problem, node: Node) -> Facts:
    """Check every fact that is there, whether or not a claim needs it."""
    listed = () if problem.model == "cgl" or problem.patterns is not None else ("patterns",)
    given = ("network",) if listed and problem.model == "relu" and not (problem.delta or problem.logistic) else ()
    facts = node.record(optional=(*listed, *(PLAIN if problem.delta or problem.logistic else NAMES), *given))
    patterns = check_patterns(problem, facts["patterns"]) if "patterns" in facts else None
    if problem.patterns is not None:
        problem = problem.written_out(problem.patterns)
    elif problem.delta and problem.model != "cgl":
        problem = problem.written_out(needed(patterns, "patterns", node).masks)
    squared = check_lambda_max(problem, patterns, facts["lambda_max"]) if "lambda_max" in facts else None
    primal = check_primal(problem, patterns, facts["primal"]) if "primal" in facts else None
    theta, cost = check_dual(problem, patterns, facts["dual"]) if "dual" in facts else (None, Fraction(0))
    value = fit = None
    if "value" in facts:
        at = facts["value"]
        value = check_value(problem, needed(primal, "primal", at), needed(theta, "dual", at), cost, at)
    if "fit" in facts:
        at = facts["fit"]
        fit = check_fit(problem, needed(primal, "primal", at), needed(value, "value", at), at)
    optimal = check_sets(problem, patterns, theta, value, facts)
    polytope = shortest = None
    if "polytope" in facts:
        polytope = check_polytope(weights(problem, optimal, facts["polytope"]), facts["polytope"], support(optimal))
        shortest = polytope.shortest
        optimal = needed(optimal, "optimal_set or exact_set", facts["polytope"]).used_by(polytope.used)
    if "min_norm" in facts:
        shortest = check_least(weights(problem, optimal, facts["min_norm"]), facts["min_norm"])
    if "faces" in facts:
        at = facts["faces"]
        optimal = check_faces(problem, patterns, needed(theta, "dual", at), at_theta(optimal, at), at)
    derivatives = None
    if "derivatives" in facts:
        at = facts["derivatives"]
        known = at_theta(optimal, at)
        derivatives = check_derivatives(problem, needed(theta, "dual", at), needed(value, "value", at), known, at)
    position = check_ggp(problem, patterns, facts["ggp"]) if "ggp" in facts else None
    path, jump = check_paths(problem, patterns, squared, facts)
    curve = check_curve(problem, patterns, squared, facts.get("path"), facts["curve"]) if "curve" in facts else None
    neuron = check_one_neuron(problem, facts["one_neuron"]) if "one_neuron" in facts else None
    network = None
    if "network" in facts:
        zero = squared is not None and problem.lam**2 >= squared
        ground = Ground(patterns, zero, theta, value, optimal, polytope)
        network = check_network(problem, ground, facts["network"])
    sets = (optimal, polytope, position, path, jump, shortest, derivatives, network, curve, neuron)
    return Facts(patterns, squared, primal, theta, value, fit, *sets)


def check_sets(
    problem: Problem, patterns: Patterns | None, theta: Vector | None, value: Value | None, facts: dict[str, Node]
) -> OptimalSet | None:
    """The optimal set, by whichever facts are there; the last of them tells the most."""
    optimal = None
    for name, check_set in SETS.items():
        if name in facts:
            at = facts[name]
            point = needed(theta, "dual", at)
            multipliers = facts["dual"].record("theta", "multipliers")["multipliers"]
            optimal = check_set(problem, patterns, point, multipliers, needed(value, "value", at), at)
    return optimal


def weights(problem: Problem, optimal: OptimalSet | None, node: Node) -> System:
    """The equations of the weights of all solutions, one weight for each neuron."""
    known = needed(optimal, "optimal_set, exact_set or algebraic_set", node)
    if problem.blocks and known.bends and not known.exact:
        raise node.reject("neurons that lie in one block each", f"{known.bends} in several, with a weight in each")
    return known.system


def support(optimal: OptimalSet | None) -> tuple[int, ...] | None:
    """The neurons of the only solution of an exact set; None if there are more."""
    if optimal is None or not optimal.exact or optimal.dimension:
        return None
    return tuple(a for a, neuron in enumerate(optimal.neurons) if neuron.active)


def at_theta(optimal: OptimalSet | None, node: Node) -> OptimalSet:
    """The set, whose residual is theta, or near to it."""
    known = needed(optimal, "optimal_set or exact_set", node)
    not_in_field(known.system, node)
    return known


def check_least(system: System, node: Node) -> Shortest:
    """The shortest weights."""
    return check_field_min_norm(system, node) if isinstance(system, FieldSystem) else check_min_norm(system, node)


def check_dual(problem: Problem, patterns: Patterns | None, node: Node) -> tuple[Vector, Fraction]:
    """Reject unless theta is dual feasible: |Proj_{C_b}(X_b' theta)| <= lambda for all blocks. theta, and what the
    blocks that may be longer (with delta > 0) take from the dual value."""
    if problem.delta:
        return check_elastic(problem, node)
    fields = node.record("theta", "multipliers")
    theta = fields["theta"].vector(problem.n)
    check_multipliers(problem, patterns, theta, problem.lam**2, fields["multipliers"])
    return theta, Fraction(0)


def needed(fact: T | None, name: str, node: Node) -> T:
    """The fact, or the rejection of what rests on it."""
    if fact is None:
        raise node.reject(f"the fact {name}, which this rests on", "none")
    return fact
