(** * Specification: the network, the loss, the penalty, the problem

    This file is all that must be read to know what the theorems of this folder say. It contains no proof.
    The objective is that of the paper:

      J(net) = 1/2 sum_k (net(z_k) - y_k)^2 + lambda/2 sum_i (|w_i|^2 + v_i^2),   net(z) = sum_i v_i (z.w_i)_+  *)
From Coq Require Import Reals ZArith List Permutation.
Import ListNotations.
Open Scope R_scope.

(** Lists are vectors. *)
Fixpoint dot (a b : list R) : R :=
  match a, b with x :: a', y :: b' => x * y + dot a' b' | _, _ => 0 end.

Definition relu (x : R) : R := Rmax 0 x.

(** A neuron is (input weights w, output weight v); a network is a list of neurons, of any width. *)
Definition neuron : Type := (list R * R)%type.
Definition network : Type := list neuron.

Fixpoint out (net : network) (z : list R) : R :=
  match net with [] => 0 | (w, v) :: net' => v * relu (dot z w) + out net' z end.

Fixpoint loss (rows : list (list R)) (y : list R) (net : network) : R :=
  match rows, y with
  | z :: rows', yk :: y' => (out net z - yk) ^ 2 + loss rows' y' net
  | _, _ => 0 end.

Fixpoint penalty (net : network) : R :=
  match net with [] => 0 | (w, v) :: net' => dot w w + v * v + penalty net' end.

Definition J (lam : R) (rows : list (list R)) (y : list R) (net : network) : R :=
  / 2 * loss rows y net + lam / 2 * penalty net.

(** All neurons read d features. *)
Definition well_formed (d : nat) (net : network) : Prop :=
  Forall (fun neuron => length (fst neuron) = d) net.

(** Optimal among the networks of every width. *)
Definition optimal (lam : R) (rows : list (list R)) (y : list R) (d : nat) (net : network) : Prop :=
  well_formed d net /\ forall net', well_formed d net' -> J lam rows y net <= J lam rows y net'.

(** A problem as it is written in a file: integers over common denominators. *)
Record problem := Problem {
  p_dim : nat;  p_rows : list (list Z);  p_rden : Z;
  p_y : list Z;  p_yden : Z;  p_lnum : Z;  p_lden : Z }.

Definition ratio (den : Z) (l : list Z) : list R := map (fun x => IZR x / IZR den) l.
Definition rows_of (p : problem) : list (list R) := map (ratio (p_rden p)) (p_rows p).
Definition y_of (p : problem) : list R := ratio (p_yden p) (p_y p).
Definition lambda_of (p : problem) : R := IZR (p_lnum p) / IZR (p_lden p).

Definition objective (p : problem) (net : network) : R := J (lambda_of p) (rows_of p) (y_of p) net.
Definition optimal_for (p : problem) (net : network) : Prop :=
  optimal (lambda_of p) (rows_of p) (y_of p) (p_dim p) net.

(** More networks, f = P (Zw)_+ summed over the neurons, plus B beta, with terms that the penalty does not see:
    - bags: outputs are sums over rows, with the matrix P, written as its rows over a denominator (None: P = I, every row
      is an output); p_y has an entry for each output, p_rows one for each column of P;
    - free columns B, written as a row for each output ([]: none), with any coefficients beta;
    - free biases: the norm of w is that of its first t_seen entries;
    - the logistic loss in the place of the squares, for targets 1 and -1 (and 0, at which it is the square).
    A penalty rho/2 beta^2 is that of rows of zeros with target 0, at which the column has the roots of rho. *)
Record terms := Terms {
  t_bags : option (list (list Z) * Z);
  t_free : list (list Z);  t_fden : Z;
  t_seen : nat;
  t_logistic : bool }.

Definition pool (t : terms) (outs : list R) : list R :=
  match t_bags t with None => outs | Some (P, den) => map (fun q => dot (ratio den q) outs) P end.
Fixpoint added (a b : list R) : list R :=
  match a, b with x :: a', y :: b' => x + y :: added a' b' | _, _ => a end.
Definition predictions (p : problem) (t : terms) (net : network) (beta : list R) : list R :=
  added (pool t (map (out net) (rows_of p))) (map (fun b => dot (ratio (t_fden t) b) beta) (t_free t)).

Definition square (y f : R) : R := / 2 * (f - y) ^ 2.
Definition logistic (y f : R) : R := if Req_EM_T y 0 then square y f else ln (1 + exp (- (y * f))).
Fixpoint total (loss : R -> R -> R) (y f : list R) : R :=
  match y, f with a :: y', b :: f' => loss a b + total loss y' f' | _, _ => 0 end.

Fixpoint seen_penalty (seen : nat) (net : network) : R :=
  match net with
  | [] => 0
  | (w, v) :: net' => dot (firstn seen w) (firstn seen w) + v * v + seen_penalty seen net' end.
(** with the loss [square], or [logistic] where t_logistic says so *)
Definition objective_with (loss : R -> R -> R) (p : problem) (t : terms) (net : network) (beta : list R) : R :=
  total loss (y_of p) (predictions p t net beta)
  + lambda_of p / 2 * seen_penalty (t_seen t) net.

(** Several outputs: neurons (w, v) with a vector v of output weights; output c is the network of the (w, v_c). Targets are
    the columns of Y over the denominator of the problem, and each output has its own coefficients of the free columns. *)
Definition wide_network : Type := list (list R * list R).
Definition output (c : nat) (net : wide_network) : network := map (fun nr => (fst nr, nth c (snd nr) 0)) net.
Fixpoint wide_penalty (net : wide_network) : R :=
  match net with [] => 0 | (w, v) :: net' => dot w w + dot v v + wide_penalty net' end.
Fixpoint wide_loss (p : problem) (t : terms) (c : nat) (Y : list (list Z)) (net : wide_network) (beta : list (list R)) : R :=
  match Y with
  | [] => 0
  | y :: Y' => total square (ratio (p_yden p) y) (predictions p t (output c net) (nth c beta []))
      + wide_loss p t (S c) Y' net beta end.
Definition objective_wide (p : problem) (t : terms) (Y : list (list Z)) (net : wide_network) (beta : list (list R)) : R :=
  wide_loss p t 0 Y net beta + lambda_of p / 2 * wide_penalty net.

(** The softmax cross-entropy sum_k (ln sum_c exp f_kc - sum_c Y_kc f_kc): the sums of exponentials, and Y.f, from the
    output c on. *)
Fixpoint exp_sums (p : problem) (t : terms) (c : nat) (Y : list (list Z)) (net : wide_network) (beta : list (list R))
    : list R :=
  match Y with
  | [] => []
  | _ :: Y' => added (map exp (predictions p t (output c net) (nth c beta []))) (exp_sums p t (S c) Y' net beta) end.
Fixpoint aimed (p : problem) (t : terms) (c : nat) (Y : list (list Z)) (net : wide_network) (beta : list (list R)) : R :=
  match Y with
  | [] => 0
  | y :: Y' => dot (ratio (p_yden p) y) (predictions p t (output c net) (nth c beta [])) + aimed p t (S c) Y' net beta end.
Definition objective_softmax (p : problem) (t : terms) (Y : list (list Z)) (net : wide_network) (beta : list (list R)) : R :=
  fold_right Rplus 0 (map ln (exp_sums p t 0 Y net beta)) - aimed p t 0 Y net beta
  + lambda_of p / 2 * wide_penalty net.

(** p-unique, in the words of the paper: equal up to permutations of the neurons and splitting of neurons into collinear
    ones. A neuron (w, v) splits into (a w, a v) and (b w, b v) with a^2 + b^2 = 1; zero neurons come and go. *)
Inductive same_neurons : network -> network -> Prop :=
| by_permutation net net' : Permutation net net' -> same_neurons net net'
| by_splitting a b w v net : 0 <= a -> 0 <= b -> a * a + b * b = 1 ->
    same_neurons ((w, v) :: net) ((map (Rmult a) w, a * v) :: (map (Rmult b) w, b * v) :: net)
| by_zero w net : dot w w = 0 -> same_neurons ((w, 0) :: net) net
| by_symmetry net net' : same_neurons net net' -> same_neurons net' net
| by_steps net net' net'' : same_neurons net net' -> same_neurons net' net'' -> same_neurons net net''.

(** The same said by sums over neurons: for every positively homogeneous phi, the sums of v phi(w) agree. *)
Definition homogeneous (phi : list R -> R) : Prop :=
  forall t u, 0 <= t -> phi (map (Rmult t) u) = t * phi u.
Fixpoint measure (phi : list R -> R) (net : network) : R :=
  match net with [] => 0 | (w, v) :: net' => v * phi w + measure phi net' end.
Definition same_measure (net net' : network) : Prop :=
  forall phi, homogeneous phi -> measure phi net = measure phi net'.
