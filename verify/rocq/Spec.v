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

(** Bags: outputs are sums over rows, f_i = sum_k P_ik net(z_k); a dense network is P = I. P is written as its rows,
    integers over a common denominator; p_y has an entry for each of them, p_rows one for each column. *)
Record bags := Bags { b_rows : list (list Z);  b_den : Z }.
Definition P_of (b : bags) : list (list R) := map (ratio (b_den b)) (b_rows b).

Fixpoint bag_loss (P : list (list R)) (y outs : list R) : R :=
  match P, y with
  | q :: P', yk :: y' => (dot q outs - yk) ^ 2 + bag_loss P' y' outs
  | _, _ => 0 end.
Definition J_bags (lam : R) (rows P : list (list R)) (y : list R) (net : network) : R :=
  / 2 * bag_loss P y (map (out net) rows) + lam / 2 * penalty net.
Definition objective_bags (p : problem) (b : bags) (net : network) : R :=
  J_bags (lambda_of p) (rows_of p) (P_of b) (y_of p) net.

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
