"""The words of the reports, each explained in a few sentences. Nothing is computed here, and nothing else is loaded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from relu_cert.errors import UsageError


@dataclass(frozen=True)
class ClaimWord:
    """A claim: what PROVED means, why one wants to know, where the paper has it, and what evidence settles it."""

    name: str
    meaning: str
    why: str
    paper: str
    evidence: str


@dataclass(frozen=True)
class Word:
    """A word or letter of the reports."""

    name: str
    meaning: str


_DUALITY = "a feasible dual point: its value is a lower bound of every network's objective"
_SET = "zero (lambda >= lambda_max), neurons over the ball that the gap leaves, an exact optimum, or one in a field"

CLAIMS: tuple[ClaimWord, ...] = (
    ClaimWord(
        "patterns-complete",
        "The program looked at every way in which a neuron can be on or off at the data points, and missed none.",
        "The convex program is equivalent to training only if all of these patterns are in it.",
        "D_Z, section 2",
        "a witness for every pattern, and a bound on their number that is met (Cover, or circuits and covers)",
    ),
    ClaimWord(
        "optimal",
        "No two-layer network of any width has an objective lower than this one's by more than the printed gap.",
        "Training by gradients never tells whether a better network exists.",
        "eq:dual-program, with rho >= 0",
        _DUALITY,
    ),
    ClaimWord(
        "fit",
        "All optimal networks predict the same values at the data points, and these are within the printed radius.",
        "What the model says about the training data does not depend on which optimum was found.",
        "lemma:unique-fit-cgl",
        "strong convexity of the loss in the fit (or strict convexity), with the duality gap",
    ),
    ClaimWord(
        "p-unique",
        "There is only one best network, up to the order of its neurons and to splitting a neuron into parallel ones.",
        "Then its neurons can be interpreted: another run cannot end at a different one that is as good.",
        "prop:p-unique",
        f"independent outputs of all neurons that can be active; else {_SET}; REFUTED by two optimal networks",
    ),
    ClaimWord(
        "convex-unique",
        "The convex program has only one solution. A network can be unique although the program's solution is not: a "
        "neuron that is zero at a data point belongs to two patterns.",
        "Solvers for the convex program then agree block by block.",
        "lemma:unique-cgl",
        "independence of the blocks that can be active; REFUTED by a kink, or by two solutions",
    ),
    ClaimWord(
        "optimal-set",
        "All optimal networks are known: which neurons they can use, and all vertices and edges of the polytope of "
        "their weights.",
        "One can choose among the best networks: the narrowest, the shortest, the best on other data.",
        "prop:sol-fn-cgl",
        _SET,
    ),
    ClaimWord(
        "minimal",
        "All optimal networks are known from which no neuron can be removed; the narrowest has m* neurons.",
        "It says how small a network can be without any loss.",
        "prop:minimal-solutions, cor:minimal-unique",
        "the vertices of the optimal set",
    ),
    ClaimWord(
        "connected",
        "For every width it is known into how many pieces the set of optimal networks falls.",
        "Where it is connected, one can walk from any best network to any other without a loss.",
        "the staircase of connectivity",
        "the vertices of the optimal set, and which of them share a cell",
    ),
    ClaimWord(
        "min-norm",
        "The optimal network with the smallest weights is known, exactly or within the printed radius.",
        "It is a natural choice where there are several best networks.",
        "prop:min-norm-program",
        "the point of the optimal set nearest to zero, by its exact optimality conditions",
    ),
    ClaimWord(
        "ggp",
        "The groups are in group general position: whatever the targets, the solution is unique for every lambda > 0.",
        "A property of the design alone, so it can be checked before data come in.",
        "prop:unique-sol",
        "norms of null vectors that never tie; REFUTED by a tie or by a change of sign",
    ),
    ClaimWord(
        "general-position",
        "The columns of X are in general position (each column is a group of its own).",
        "The classical condition for a unique lasso.",
        "prop:general-position-relation",
        "as for ggp, with groups of one column",
    ),
    ClaimWord(
        "continuous",
        "For every lambda of the interval the best network is unique, and so it moves without jumps as lambda changes.",
        "Tuning lambda is then safe: a small change of lambda changes the network a little.",
        "prop:map-continuity-cgl",
        "pieces that cover the interval, each with a proof of uniqueness; REFUTED by a jump, or by two networks",
    ),
    ClaimWord(
        "set-continuous",
        "On the whole interval of lambdas the set of all best networks moves continuously, point or not.",
        "As for continuous, where there are several best networks.",
        "prop:map-continuity-cgl",
        "pieces, also lifted ones; REFUTED by an exact jump",
    ),
    ClaimWord(
        "min-norm-continuous",
        "The best network with the smallest weights moves continuously on the interval.",
        "The paper conjectures that it always does; that is refuted here.",
        "the closing conjecture",
        "pieces; REFUTED by an exact jump",
    ),
    ClaimWord(
        "breakpoints",
        "In each of the listed tiny intervals of lambda a neuron enters, leaves or changes its face.",
        "They are the only places where the make-up of the network changes, if no piece is missing.",
        "section 4",
        "pieces on both sides, with different neurons",
    ),
    ClaimWord(
        "curve",
        "At every listed lambda the objective, weights and directions are within the printed bounds of the truth.",
        "What a plot of the path shows is then proved, point by point.",
        "section 4",
        "the pieces of the path",
    ),
    ClaimWord(
        "e-equals-a",
        "Every neuron that could enter at this lambda is already in use: E = A.",
        "Where one waits at the threshold, the network has a kink as lambda or the targets change.",
        "needed by prop:local-sol-fn, which does not say so",
        "the optimal set",
    ),
    ClaimWord(
        "licq",
        "At each neuron in use the constraints that hold with equality are independent, each hyperplane counted once.",
        "One of the conditions under which derivatives have the printed formula.",
        "prop:local-sol-fn",
        "the faces of the neurons",
    ),
    ClaimWord(
        "strict-complementarity",
        "Each neuron in use would lose at first order by leaving its face.",
        "Then small changes of the data leave the faces as they are.",
        "prop:local-sol-fn",
        "the faces of the neurons",
    ),
    ClaimWord(
        "sensitivity",
        "The best network is differentiable in lambda and in the targets, and the derivatives are enclosed.",
        "They give degrees of freedom, error estimates (SURE), and the effect of every single target.",
        "prop:local-sol-fn, corrected",
        "the implicit function theorem; REFUTED by a condition that fails",
    ),
)

NETWORK_CLAIMS: tuple[ClaimWord, ...] = (
    ClaimWord(
        "network-objective",
        "The objective of the given network is an exact number, at most so far above the best possible one.",
        "It is the answer to: how much better could any network be?",
        "eq:dual-program",
        _DUALITY,
    ),
    ClaimWord(
        "network-optimal",
        "No network of any width is better than the given one by more than the relative gap.",
        "It says that training is finished.",
        "eq:dual-program",
        _DUALITY,
    ),
    ClaimWord(
        "network-own-optimal",
        "No network whose neurons have the same activation patterns is better by more than the gap.",
        "It tells bad weights from missing neurons.",
        "prop:stationary-points",
        _DUALITY,
    ),
    ClaimWord(
        "network-stationary",
        "Zero is in the Clarke subdifferential of the objective at the given network.",
        "Gradient descent could stop there.",
        "prop:stationary-points",
        "the exact distance of zero from the subdifferential",
    ),
    ClaimWord(
        "network-balanced",
        "In every neuron the weights of both layers have the same norm.",
        "A network that is not balanced gets a lower penalty by rescaling, with the same outputs.",
        "lemma:scaling-unique",
        "exact arithmetic",
    ),
    ClaimWord(
        "network-merged",
        "No two of its neurons can be replaced by their sum with the same effect on the data.",
        "Neurons that can be merged are superfluous.",
        "lemma:mapping-equality",
        "the cones of the data in which the neurons lie",
    ),
    ClaimWord(
        "network-independent",
        "The outputs of its neurons at the data points are linearly independent.",
        "Then none of them can be pruned for free.",
        "prop:minimal-solutions",
        "an exact rank",
    ),
    ClaimWord(
        "network-prune",
        "So many neurons can be removed, with the same fit and no higher objective.",
        "A smaller network that does the same on the data.",
        "alg:pruning-solutions-nn, corrected",
        "an exact rank",
    ),
    ClaimWord(
        "network-directions",
        "All its neurons point in directions that neurons of optimal networks can have.",
        "It tells which neurons are right already, and which are not.",
        "cor:relu-sol-fn",
        "equality, or distances over the ball",
    ),
    ClaimWord(
        "network-nearest",
        "The distance from the given network to the nearest optimal one, the neurons of both merged, is enclosed.",
        "How far the weights, not only the objective, are from the best.",
        "cor:relu-sol-fn",
        "an assignment of neurons to optimal ones",
    ),
)

SOLUTION_CLAIMS: tuple[ClaimWord, ...] = (
    ClaimWord(
        "solution-optimal",
        "The given coefficients have an objective that is at most a relative gap above the best possible one.",
        "Solvers stop by tolerances of their own; this says what was reached, whatever they report.",
        "eq:dual-program",
        _DUALITY,
    ),
)

WORDS: tuple[Word, ...] = (
    Word(
        "path",
        "The optimal network as lambda changes, piece by piece; what is not proved of it is a gap. See continuous, "
        "set-continuous, breakpoints and curve, and `path --help`.",
    ),
    Word(
        "decayed",
        "An output bias b with a penalty of its own, lambda/2 b^2: what PyTorch's weight_decay does to it.",
    ),
    Word(
        "slope",
        "s of the activation max(t, s t): 0 is the ReLU, 1/100 a leaky one, -1 the absolute value. It is data of the "
        "same problem: each row z is there as z and, with the weight -s, as -z.",
    ),
    Word("A", "The neurons (groups) that are in use, that is, have a weight other than zero, in a given solution."),
    Word(
        "E",
        "The equicorrelation set: the neurons (groups) whose correlation with the residual has length exactly lambda. "
        "Only these can be in use in an optimal network. They are said to be tied.",
    ),
    Word("S", "The support: the neurons of E that are in use in at least one optimal network."),
    Word("D_Z", "All activation patterns of the data: all ways to be on or off at the n points, 1(Zu >= 0)."),
    Word("K", "The constraints of a group: its weights w obey K'w <= 0. Without constraints K is null."),
    Word("M*", "The largest number of neurons of a minimal optimal network, from which no neuron can be removed."),
    Word("m*", "The smallest number of neurons that an optimal network can have."),
    Word(
        "closed form",
        "A number or a path as a formula (`--exact`): p* = -1/4 + 3*sqrt(2)/2. It is told only where it is proved, by "
        "putting it into the optimality conditions exactly; a root of a polynomial of large degree is told as CRootOf.",
    ),
    Word("alpha", "The weight of a neuron of E: in an optimal network it is w = alpha v, alpha >= 0."),
    Word("ball", "The optimal residual is not known exactly, but lies in this ball, whose radius the gap gives."),
    Word("block", "One group of columns of the convex program; for networks, the neurons of one activation pattern."),
    Word("breakpoint", "A lambda at which a neuron enters, leaves or changes its face."),
    Word("certificate", "The file that proves the verdicts; `python -m verify` re-checks it on its own."),
    Word("class", "Neurons of several patterns that are one neuron: they are zero where these patterns differ."),
    Word(
        "face",
        "Where a neuron is exactly zero at some data points it lies on the boundary between activation patterns: on a "
        "face of their cones.",
    ),
    Word(
        "free",
        "A term of the network that is not penalised: an output bias, the biases of the first layer, a skip "
        "connection. scikit-learn penalises no bias, so there both kinds of biases are free.",
    ),
    Word("gap", "The relative duality gap: (objective - lower bound) / objective. On a path: a part without a proof."),
    Word("gated", "A gated ReLU network: on or off is decided by fixed gates, not by the weights themselves."),
    Word(
        "jump",
        "A lambda at which there are best networks that no best networks at nearby lambdas tend to: the set of best "
        "networks does not move continuously there. set-continuous is REFUTED then.",
    ),
    Word("kink", "A data point at which a neuron is exactly zero; there its output has a corner."),
    Word("lambda", "The strength of the penalty, lambda/2 (|W1|^2 + |w2|^2); no division by the number of points."),
    Word("lambda_max", "The smallest lambda at which the best network is zero."),
    Word(
        "lift",
        "Where neurons tie exactly, for example by symmetry, the residual is orthogonal to a known subspace. In the "
        "problem with that subspace added (the lifted one) the ties can be proved.",
    ),
    Word("neuron", "x -> sign * weight * (direction . x)_+, where (t)_+ is t if t > 0 and else 0."),
    Word("p*", "The smallest objective that any network can have, enclosed between two exact numbers."),
    Word("pattern", "At which data points a neuron is on: a text of n characters 0 and 1."),
    Word("piece", "A part of the path with one proof; on a still piece the centre is as good as the whole piece."),
    Word("residual", "Targets minus predictions, r* = y - f(Z); the same for all optimal networks."),
    Word("splitting", "Replacing a neuron by several parallel ones of the same sign that add up to it."),
    Word("tied", "A neuron whose correlation with the residual has length exactly lambda: it is in E."),
    Word("v", "The direction of a neuron of E, with length lambda: the projected correlation with the residual."),
    Word("vertex", "A corner of the set of optimal networks: a minimal network."),
    Word("witness", "A rational vector u that shows that an activation pattern occurs: 1(Zu >= 0)."),
    Word("PROVED", "The certificate shows it, in exact arithmetic, and the independent checker has accepted it."),
    Word("REFUTED", "The certificate shows that it is false, for example by two different optimal networks."),
    Word("UNDECIDED", "Neither was shown; the line says what is missing. More digits (--gap) may help."),
)

NAMES: tuple[str, ...] = tuple(claim.name for claim in CLAIMS)


_OF_GROUPS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (
            r"every neuron that can be active lies in one block only",
            "the outputs of all groups that can be active are independent",
        ),
        (r"one optimal network, and each of its neurons lies in one block", "one solution, exactly"),
        (r",? over all patterns\b", ""),
        (r"\bthe zero network\b", "zero"),
        (r"\ban optimal network\b", "a solution"),
        (r"\boptimal (?:ReLU )?network(s?)\b", r"solution\1"),
        (r"\bof width (\d+)", r"with \1 active"),
        (r"\bof widths (\d+) and (\d+)", r"with \1 and \2 active groups"),
        (r"\bnetwork(s?)\b", r"solution\1"),
        (r"\bneuron(s?)\b", r"group\1"),
    )
)


def of_groups(text: str) -> str:
    """A sentence about networks and neurons as one about solutions and groups: for the lasso and the group lasso."""
    for pattern, words in _OF_GROUPS:
        text = pattern.sub(words, text)
    return text


def all_words() -> Mapping[str, ClaimWord | Word]:
    """Every claim and word by its name."""
    entries: tuple[ClaimWord | Word, ...] = (*CLAIMS, *NETWORK_CLAIMS, *SOLUTION_CLAIMS, *WORDS)
    return {entry.name: entry for entry in entries}


def looked_up(name: str) -> ClaimWord | Word:
    """The claim or word of that name (the case matters only where two differ by it); UsageError proposes others."""
    words = all_words()
    if name in words:
        return words[name]
    close = [known for known in words if known.lower().replace("_", "-") == name.lower().replace("_", "-")]
    if len(close) == 1:
        return words[close[0]]
    near = close or get_close_matches(name, words, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else " `explain` alone lists them."
    raise UsageError(f"there is no claim and no word {name!r}.{hint}")
