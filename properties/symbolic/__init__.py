"""The paper's objects as the paper writes them, in sympy alone: a third opinion that can be read beside the paper.

Nothing of the producer (relu_cert), of the checker (verify) or of python-flint is used here: the numbers are sympy's,
in Python's own integers (`properties/__main__.py` asks for them before sympy is loaded), a graph is networkx's. Slow is
fine: data of a few rows. Every function names the label of the paper that it writes down.

    numbers      an ordered field: the rationals, or Q(t) for a real root t
    patterns     D_Z and the cones K_i
    program      CGL, its objective, its dual, its KKT system
    cones        v_i = c_i - K_i rho_i, the projection on a cone
    optimum      E, S, the optimal set with its vertices and edges, uniqueness, minimal and shortest solutions, pruning
    position     general position and group general position
    sensitivity  LICQ, strict complementarity, the local solution function and its derivatives
    path         branches beside a lambda, continuity of a piece and of its ends
    ball         the same where the residual is known to a ball
    several      networks with several outputs, by copositive forms; several_ball: where Theta is known to a ball
    reader       a certificate; data: its raw file; judge: its verdicts; command: `python -m properties check`
"""
