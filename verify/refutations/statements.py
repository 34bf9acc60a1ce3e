"""Refutations: which printed statement each label stands for, and which checker reads the instance against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from verify.certificate import REFUTATION, frame
from verify.errors import Declined
from verify.refutations import others, paths, pruning, solutions, tables
from verify.text import Limits, Node, within_limits

VERSION = 1
TINY = Limits(size=2**17, depth=8, digits=200, values=4000)


@dataclass(frozen=True)
class Refutable:
    """A printed statement that fails, and the checker of an instance against it: in words what contradicts it."""

    statement: str
    check: Callable[[Node], str]


REFUTABLE = {
    "D_Z with >=": Refutable(
        "The gated optimum is the same over D_Z = {1(Zu >= 0)} and over the patterns of open cells.",
        solutions.closed_faces,
    ),
    "alg:pruning-solutions": Refutable(
        "From any solution, with any dependence beta and t = 1/|beta_i|, the algorithm ends at a minimal solution.",
        pruning.circle,
    ),
    "alg:pruning-solutions-nn": Refutable(
        "If q_j depends on the other outputs, the printed step prunes a neuron and keeps the fit.",
        pruning.network,
    ),
    "app:general-losses": Refutable(
        "For the loss 1/2 L the results hold with c_b = X_b' grad L: active blocks are w_b = alpha_b Proj(c_b), "
        "|.| = lambda.",
        others.general_loss,
    ),
    "beta~ when dependent": Refutable(
        "If {X_b w_b} on A are dependent, the least-squares beta~ of any b_j in A gives an optimal pruning step.",
        pruning.approximate,
    ),
    "bound on |D_Z|": Refutable(
        "|D_Z| <= C r (n/r)^r for a constant C (C = 10 is tried: any C fails at Z = I_n with 2^n > C n).",
        solutions.count,
    ),
    "conjecture: min-norm path": Refutable(
        "The min-norm solution's path is always continuous in lambda.",
        paths.min_norm_path,
    ),
    "cor:relu-continuity": Refutable(
        "Where the network is p-unique on an interval, its path is continuous up to permutations.",
        paths.network_path,
    ),
    "lemma:lagrange-dual": Refutable(
        "The printed program (rho free) is a dual of CGL: its value never exceeds p*.",
        others.lagrange_dual,
    ),
    "lemma:min-norm-nn": Refutable(
        "The min-norm convex solution is the optimal network of least r = sum |W|^4 + w2^4 and has no merge symmetry.",
        solutions.min_norm_network,
    ),
    "lemma:one-step-pruning": Refutable(
        "One step (t = 1/|beta_i|, i of largest |beta|) prunes a solution with support S to any minimal solution.",
        pruning.one_step,
    ),
    "m >= m*": Refutable(
        "If m >= m*, every solution of the convex program maps to an optimal network of width m.",
        solutions.width,
    ),
    "m! solutions": Refutable(
        "There are always at least m! optimal networks of width m.",
        solutions.permutations,
    ),
    "m* = dim span": Refutable(
        "m* is the dimension of span{(Z W_i)_+} of an optimal network (the largest such span is used here).",
        solutions.span,
    ),
    "max-l2 program": Refutable(
        "max sum alpha over the optimal set approximates the solution of largest l2 norm.",
        solutions.largest_norm,
    ),
    "min-norm dual w.l.o.g.": Refutable(
        "The choice of the dual optimal rho (least norm or another) does not change the equicorrelation set E.",
        solutions.dual_choice,
    ),
    "prop:local-sol-fn": Refutable(
        "With D = [[X'X + M(w), K], [diag(rho)K', diag(K'w)]]: dw/dy = [D^-1]_A X', dw/dlambda = -[D^-1]_A u.",
        paths.jacobian,
    ),
    "prop:local-sol-fn (hypotheses)": Refutable(
        "LICQ on A and SCS on E (both empty for K = 0) make the minimal solution differentiable at (lambda, y).",
        paths.differentiable,
    ),
    "prop:map-continuity-cgl (open)": Refutable(
        "W* is open on [0, infinity) only if X has full column rank.",
        paths.openness,
    ),
    "prop:one-neuron": Refutable(
        "The solution is lambda/100^2 - 0.01 above lambda = 99/9.99 and 0.1 - lambda/100 below it.",
        others.one_neuron,
    ),
    "prop:pruning-correctness": Refutable(
        "alg:pruning-solutions, as printed, returns a minimal solution after at most l steps.",
        pruning.circle,
    ),
    "prop:relu-unique": Refutable(
        "If nnz(D_i) >= p d for all i and E has no two blocks with one pattern, the sub-sampled problem is "
        "p-unique a.s.",
        solutions.sub_sampled,
    ),
    "prop:stationary-points": Refutable(
        "The Clarke stationary points are exactly the networks optimal for some sub-sampled convex program.",
        others.stationary,
    ),
    "prop:unique-sol": Refutable(
        "K = 0: if no |E| <= n+1 (columns, as the notation says) has unit z_b, X_j z_j affine in the others: unique.",
        solutions.group_position,
    ),
    "tables": Refutable(
        "9/10 sets vary by at least 10 points, 4 by more than 20; only tic-tac-toe not at all; the split is 60/20/20.",
        tables.sentences,
    ),
}


def check_refutation(raw: bytes, top: Node) -> tuple[str, str]:
    """The label and, in words, what contradicts its printed statement; rejected if nothing does."""
    within_limits(raw, TINY, lambda expected, found: Declined("file", f"a refutation of {expected}", found))
    fields = frame(top, REFUTATION, VERSION, "claim", "statement", "witness")
    label = fields["claim"].text(*REFUTABLE)
    fields["statement"].text(REFUTABLE[label].statement)
    return label, REFUTABLE[label].check(fields["witness"])
