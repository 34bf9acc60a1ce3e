"""Group general position (prop:unique-sol) and general position of the columns of X, decided exactly.

**Definition.** Blocks b with matrices X_b (n x |b|). GGP *fails* if there are a set E of at most n + 1 blocks, unit
vectors z_b (b in E) and *some* j in E with X_j z_j in affine{X_b z_b : b in E, b != j}; otherwise it holds. |E| counts
blocks: counted in columns, X = [I2 I2] would pass, and y = (6, 8), lambda = 5 has many solutions. General position
of the columns is the same statement with every column a block of its own (the unit vectors are then signs).

**GGP fails iff there are u != 0 with Xu = 0, supported on a set T of at most n + 1 blocks, and signs s_b = +-1 with**

    f_s(u) = sum over b in T of s_b |u_b| = 0.

*Only if*: X_j z_j = sum beta_b X_b z_b with sum beta_b = 1 gives u_j = -z_j, u_b = beta_b z_b, s_j = -1 and s_b the
sign of beta_b: f_s(u) = sum beta_b - 1 = 0. *If*: drop the blocks with u_b = 0. The sum has then terms of both signs;
let s_j = -1. With the unit vectors z_b = s_b u_b / |u_b| we have sum s_b |u_b| X_b z_b = Xu = 0, hence
X_j z_j = sum over b != j of beta_b X_b z_b with beta_b = s_b |u_b| / |u_j|, and sum beta_b = 1.

**GGP implies that the solution is unique for every lambda > 0, whatever the cones are.** Let v_b = Proj_{C_b}(X_b' r)
be the canonical dual vectors and E = {b : |v_b| = lambda}; solutions are w_b = alpha_b v_b on E, so two of them differ
by gamma != 0 with sum gamma_b X_b v_b = 0, and r.X_b v_b = |v_b|^2 = lambda^2 gives sum gamma_b = 0. The points X_b v_b
are affinely dependent and lie in a hyperplane (r.x = lambda^2, r != 0), so at most n + 1 of them are already dependent:
with z_b = v_b / lambda, GGP fails. (Without the bound n + 1 it always fails for n + 2 blocks.)

**What is decided.** Let N_T be the null vectors supported in T. Since N_T grows with T, GGP holds iff on every T of
m = min(n + 1, number of blocks) blocks no f_s has a zero in N_T \\ {0}.

* dim N_T = 0: nothing to do.
* dim N_T = 1: one null vector, and sums of +-sqrt(|u_b|^2). Square roots of different square classes are independent
  over Q, so a sum vanishes iff it does in every class; within a class it is a partition of integers.
* dim N_T >= 2: N_T \\ {0} is connected and f_s is continuous on it, so either some f_s has a zero or every f_s has one
  strict sign. *Refuted* by one null vector with f_s(u) = 0 (`Zero`), or by two with f_s(u) > 0 > f_s(v) (`Crossing`):
  on a path between them that avoids 0 some w != 0 has f_s(w) = 0; blocks may vanish on the way, then w has fewer
  blocks and the same signs. (f_s(cu) = |c| f_s(u): two such vectors are never proportional.)
  *Proved* by coalitions: P wins if sum_P |u_b| > sum_M |u_b| on N_T \\ {0}, M = T \\ P. A coalition that contains a
  winning one wins, and f_s has no zero iff the blocks with s_b = + or those with s_b = - win. P wins

  - by a form (`FormWin`): t_b > 0 (b in M), sum t_b <= 1 and sum_P |u_b|^2 - sum_M |u_b|^2 / t_b positive definite on
    N_T; for (sum_M |u_b|)^2 <= sum_M |u_b|^2 / t_b (Cauchy-Schwarz) and (sum_P |u_b|)^2 >= sum_P |u_b|^2;
  - by cones (`ConeWin`): N_T is covered by simplicial cones and their negatives; on cone(g_1, ..., g_k) with
    w = g_1 + ... + g_k, |u_b| >= u_b.w_b / |w_b| is linear and sum_M |u_b| is convex, so positivity of
    sum_P g_ib.w_b / |w_b| - sum_M |g_ib| at every generator proves it for the whole cone.

For singleton blocks and dim N_T >= 2 the hyperplane sum u_b = 0 meets N_T, so general position of columns always fails.
What is not settled within a bounded effort is `Unsettled`, with the reason.
"""
