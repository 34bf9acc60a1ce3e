"""The claims that this checker knows: one file each, one function that says in words what is proved, or rejects."""

from __future__ import annotations

from collections.abc import Callable

from verify.claims import network
from verify.claims.breakpoints import breakpoints
from verify.claims.connected import connected
from verify.claims.continuous import continuous, not_continuous
from verify.claims.convex_unique import convex_unique, not_convex_unique
from verify.claims.curve import curve
from verify.claims.e_equals_a import e_equals_a, not_e_equals_a
from verify.claims.fit import fit
from verify.claims.general_position import general_position, not_general_position
from verify.claims.ggp import ggp, not_ggp
from verify.claims.licq import licq, not_licq
from verify.claims.min_norm import min_norm
from verify.claims.min_norm_continuous import min_norm_continuous, not_min_norm_continuous
from verify.claims.minimal import minimal
from verify.claims.one_neuron import one_neuron
from verify.claims.optimal import optimal
from verify.claims.optimal_set import optimal_set
from verify.claims.p_unique import not_p_unique, p_unique
from verify.claims.patterns_complete import patterns_complete
from verify.claims.sensitivity import not_sensitivity, sensitivity
from verify.claims.set_continuous import not_set_continuous, set_continuous
from verify.claims.strict_complementarity import not_strict_complementarity, strict_complementarity
from verify.facts import Facts
from verify.problem import Problem
from verify.text import Node

Judge = Callable[[Problem, Facts, Node], str]

CLAIMS: dict[str, Judge] = {
    "patterns-complete": patterns_complete,
    "optimal": optimal,
    "fit": fit,
    "p-unique": p_unique,
    "convex-unique": convex_unique,
    "optimal-set": optimal_set,
    "minimal": minimal,
    "connected": connected,
    "min-norm": min_norm,
    "ggp": ggp,
    "general-position": general_position,
    "continuous": continuous,
    "set-continuous": set_continuous,
    "min-norm-continuous": min_norm_continuous,
    "breakpoints": breakpoints,
    "curve": curve,
    "one-neuron": one_neuron,
    "e-equals-a": e_equals_a,
    "licq": licq,
    "strict-complementarity": strict_complementarity,
    "sensitivity": sensitivity,
    "network-objective": network.objective,
    "network-optimal": network.optimal,
    "network-own-optimal": network.own_optimal,
    "network-stationary": network.stationary,
    "network-balanced": network.balanced,
    "network-merged": network.merged,
    "network-independent": network.independent,
    "network-prune": network.prune,
    "network-directions": network.directions,
    "network-nearest": network.nearest,
}
REFUTATIONS: dict[str, Judge] = {
    "p-unique": not_p_unique,
    "convex-unique": not_convex_unique,
    "ggp": not_ggp,
    "general-position": not_general_position,
    "continuous": not_continuous,
    "set-continuous": not_set_continuous,
    "min-norm-continuous": not_min_norm_continuous,
    "e-equals-a": not_e_equals_a,
    "licq": not_licq,
    "strict-complementarity": not_strict_complementarity,
    "sensitivity": not_sensitivity,
    "network-optimal": network.not_optimal,
    "network-own-optimal": network.not_own_optimal,
    "network-stationary": network.not_stationary,
    "network-balanced": network.not_balanced,
    "network-merged": network.not_merged,
    "network-independent": network.dependent,
    "network-directions": network.not_directions,
}
