(** * Vectors of reals and of integers *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool.
From Relu Require Import Spec.
Import ListNotations.
Open Scope R_scope.

(** x <= b |u|, without square roots: for every bound U of |u| *)
Definition below (x b : R) (u : list R) : Prop := forall U, 0 <= U -> dot u u <= U * U -> x <= b * U.
Definition vscale (e : R) : list R -> list R := map (Rmult e).
Fixpoint vsub (a b : list R) : list R :=
  match a, b with x :: a', y :: b' => (x - y) :: vsub a' b' | _, _ => [] end.
Fixpoint vadd (a b : list R) : list R :=
  match a, b with x :: a', y :: b' => (x + y) :: vadd a' b' | _, _ => [] end.

(** ** dot *)
Lemma dot_nil_r a : dot a [] = 0. Proof. destruct a; reflexivity. Qed.
Lemma dot_self_nonneg a : 0 <= dot a a.
Proof. induction a; simpl; nra. Qed.
Lemma dot_comm : forall a b, dot a b = dot b a.
Proof. induction a; destruct b; simpl; auto. rewrite IHa. ring. Qed.
Lemma dot_app a2 b2 : forall a1 b1, length a1 = length b1 ->
  dot (a1 ++ a2) (b1 ++ b2) = dot a1 b1 + dot a2 b2.
Proof.
  induction a1; destruct b1; simpl; intros; try discriminate; try ring.
  rewrite IHa1 by lia. ring.
Qed.
Lemma dot_scale e z : forall u, dot z (vscale e u) = e * dot z u.
Proof. induction z; destruct u; simpl; try ring. rewrite IHz. ring. Qed.
Lemma dot_scale2 e u : dot (vscale e u) (vscale e u) = e * e * dot u u.
Proof. rewrite dot_scale, dot_comm, dot_scale. ring. Qed.
Lemma dot_vsub h : forall a b, length a = length b -> dot (vsub a b) h = dot a h - dot b h.
Proof.
  intros a; revert h. induction a; intros [|x h] [|b0 b] L; simpl in *; try discriminate; try ring.
  rewrite IHa by lia. ring.
Qed.
Lemma vadd_len : forall a b, length a = length b -> length (vadd a b) = length a.
Proof. induction a; destruct b; simpl; intros; try discriminate; auto. Qed.
Lemma dot_vadd z : forall a b, length a = length b -> dot z (vadd a b) = dot z a + dot z b.
Proof.
  intros a; revert z. induction a; intros [|x z] [|b0 b] L; simpl in *; try discriminate; try ring.
  rewrite IHa by lia. ring.
Qed.
Lemma vsub_zero : forall a b, length a = length b -> dot (vsub a b) (vsub a b) = 0 -> a = b.
Proof.
  induction a as [|x a IH]; intros [|y b] L E; simpl in *; try discriminate; auto.
  pose proof (dot_self_nonneg (vsub a b)). pose proof (Rle_0_sqr (x - y)) as S. unfold Rsqr in S.
  assert (Z : (x - y) * (x - y) = 0) by lra. apply Rmult_integral in Z.
  f_equal; [destruct Z; lra|apply IH; [lia|lra]].
Qed.
Lemma dot_nonneg x l : Forall (Rle 0) x -> Forall (Rle 0) l -> 0 <= dot x l.
Proof.
  intros F; revert l. induction F as [|a x' Ha _ IH]; intros [|b l] Fl; simpl; try lra.
  assert (A := Forall_inv Fl). assert (B := Forall_inv_tail Fl). specialize (IH l B). simpl in A. nra.
Qed.
Lemma dot_map_add (A : Type) (f h : A -> R) : forall x (G : list A),
  dot x (map (fun g => f g + h g) G) = dot x (map f G) + dot x (map h G).
Proof. induction x; destruct G; simpl; try ring. rewrite IHx. ring. Qed.
Lemma dot_map_le (A : Type) (f h : A -> R) : forall x (G : list A),
  Forall (Rle 0) x -> Forall (fun g => f g <= h g) G -> dot x (map f G) <= dot x (map h G).
Proof.
  induction x; destruct G; simpl; intros F1 F2; try lra.
  assert (A1 := Forall_inv F1). assert (B1 := Forall_inv_tail F1).
  assert (A2 := Forall_inv F2). assert (B2 := Forall_inv_tail F2). simpl in *.
  specialize (IHx G B1 B2). nra.
Qed.
Lemma dot_map_scale (A : Type) (f : A -> R) k : forall x (G : list A),
  dot x (map (fun g => k * f g) G) = k * dot x (map f G).
Proof. induction x; destruct G; simpl; try ring. rewrite IHx. ring. Qed.
Lemma dot_map_zero (A : Type) (f : A -> R) : forall (G : list A) x,
  (forall g, In g G -> f g = 0) -> dot x (map f G) = 0.
Proof.
  induction G as [|g G IH]; intros [|a x] E; simpl; auto.
  rewrite E, IH; simpl; auto. ring. intros; apply E; simpl; auto.
Qed.

(** ** Young, Cauchy and Schwarz *)
Lemma young M v : forall c u, 2 * M * v * dot c u <= M * M * dot u u + v * v * dot c c.
Proof.
  induction c as [|a c IH]; intros [|b u]; simpl.
  - nra.
  - pose proof (dot_self_nonneg (b :: u)). simpl in *. nra.
  - pose proof (dot_self_nonneg (a :: c)). simpl in *. nra.
  - specialize (IH u). pose proof (Rle_0_sqr (M * b - v * a)). unfold Rsqr in *. nra.
Qed.
Lemma cauchy : forall a b, dot a b * dot a b <= dot a a * dot b b.
Proof.
  intros a b. pose proof (dot_self_nonneg a). pose proof (dot_self_nonneg b).
  destruct (Rle_lt_or_eq_dec _ _ H0) as [hb|hb].
  - pose proof (young (dot a b) (dot b b) a b). nra.
  - destruct (Req_dec (dot a b) 0) as [e|e]; [rewrite e; nra|].
    pose proof (young ((dot a a + 1) / dot a b) 1 a b) as Y. rewrite <- hb in Y.
    replace (2 * ((dot a a + 1) / dot a b) * 1 * dot a b) with (2 * (dot a a + 1)) in Y by (field; auto).
    lra.
Qed.
Lemma abs_le_of_sq x b : 0 <= b -> x * x <= b * b -> Rabs x <= b.
Proof. intros Hb H. apply Rabs_le. nra. Qed.
Lemma dot_abs_le a u B U : 0 <= B -> 0 <= U -> dot a a <= B * B -> dot u u <= U * U -> Rabs (dot a u) <= B * U.
Proof.
  intros HB HU Ha Hu. pose proof (cauchy a u). pose proof (dot_self_nonneg u). pose proof (dot_self_nonneg a).
  apply abs_le_of_sq; [nra|]. apply Rle_trans with (B * B * (U * U)); [|apply Req_le; ring].
  eapply Rle_trans; [exact H|]. apply Rmult_le_compat; auto.
Qed.
Lemma dot_below a u B : 0 <= B -> dot a a <= B * B -> below (dot a u) B u.
Proof. intros HB Ha U HU Hu. eapply Rle_trans; [apply Rle_abs|apply dot_abs_le; auto]. Qed.
Lemma below_weaker x b b' u : b <= b' -> below x b u -> below x b' u.
Proof. intros Hb H U HU Hu. specialize (H U HU Hu). nra. Qed.

(** ** relu *)
Lemma relu_nonneg x : 0 <= relu x. Proof. apply Rmax_l. Qed.
Lemma relu_ge x : x <= relu x. Proof. apply Rmax_r. Qed.
Lemma relu_pos x : 0 <= x -> relu x = x. Proof. apply Rmax_right. Qed.
Lemma relu_neg x : x <= 0 -> relu x = 0. Proof. apply Rmax_left. Qed.
Lemma relu_scale k x : 0 <= k -> relu (k * x) = k * relu x.
Proof. intros. unfold relu. rewrite <- (Rmult_0_r k) at 1. apply RmaxRmult; auto. Qed.
Lemma relu_add x y : relu (x + y) <= relu x + relu y.
Proof. unfold relu, Rmax. repeat destruct Rle_dec; lra. Qed.
Lemma relu_0 : relu 0 = 0. Proof. unfold relu. apply Rmax_left; lra. Qed.
Lemma relu_diff x : relu x - relu (- x) = x.
Proof. unfold relu, Rmax. repeat destruct Rle_dec; lra. Qed.
Lemma relu_sum x : relu x + relu (- x) = Rabs x.
Proof. unfold relu, Rmax, Rabs. repeat destruct Rle_dec; destruct Rcase_abs; lra. Qed.
Lemma relu_mono x y : x <= y -> relu x <= relu y.
Proof. unfold relu, Rmax. repeat destruct Rle_dec; lra. Qed.
Lemma relu_dist x y e : Rabs (x - y) <= e -> relu x <= relu y + e.
Proof. unfold relu, Rmax, Rabs. destruct Rcase_abs; repeat destruct Rle_dec; lra. Qed.
Lemma relu_dot_sub : forall x l, Forall (Rle 0) x -> relu (dot x l) <= dot x (map relu l).
Proof.
  induction x; intros [|b l] F; simpl; try (rewrite relu_0; lra).
  assert (Fa := Forall_inv F). assert (Ft := Forall_inv_tail F). simpl in Fa.
  eapply Rle_trans; [apply relu_add|].
  rewrite relu_scale by auto. specialize (IHx l Ft). lra.
Qed.

(** ** Integer vectors *)
Open Scope Z_scope.
Fixpoint dotZ (a b : list Z) : Z :=
  match a, b with x :: a', y :: b' => x * y + dotZ a' b' | _, _ => 0 end.
(** axpy k a b = k a + b, the shorter one padded by zeros *)
Fixpoint axpy (k : Z) (a b : list Z) : list Z :=
  match a with
  | [] => b
  | x :: a' => match b with [] => k * x :: axpy k a' [] | y :: b' => k * x + y :: axpy k a' b' end
  end.
(** add a b = a + b, likewise *)
Fixpoint add (a b : list Z) : list Z :=
  match a with
  | [] => b
  | x :: a' => match b with [] => a | y :: b' => x + y :: add a' b' end
  end.
Definition zeroZ (l : list Z) : bool := forallb (fun x => x =? 0) l.
Close Scope Z_scope.

Definition iz : list Z -> list R := map IZR.

Lemma dotZ_R : forall a b, IZR (dotZ a b) = dot (iz a) (iz b).
Proof. induction a; destruct b; simpl; auto. rewrite plus_IZR, mult_IZR, IHa. auto. Qed.
Lemma axpy_R k u : forall a b, dot (iz (axpy k a b)) u = IZR k * dot (iz a) u + dot (iz b) u.
Proof.
  intros a. revert u. induction a as [|x a IH]; intros u b; simpl.
  - ring.
  - destruct b as [|y b]; destruct u as [|w u]; simpl; try ring.
    + rewrite IH, mult_IZR. simpl. ring.
    + rewrite IH, plus_IZR, mult_IZR. ring.
Qed.
Lemma add_R u : forall a b, dot (iz (add a b)) u = dot (iz a) u + dot (iz b) u.
Proof.
  intros a. revert u. induction a as [|x a IH]; intros u b; simpl; [ring|].
  destruct b as [|y b]; destruct u as [|w u]; simpl; try ring. rewrite IH, plus_IZR. ring.
Qed.
Lemma scale_R k u : forall a, dot (iz (map (Z.mul k) a)) u = IZR k * dot (iz a) u.
Proof.
  intros a; revert u; induction a; destruct u; simpl; try ring.
  rewrite IHa, mult_IZR. ring.
Qed.
Lemma opp_R u : forall a, dot (iz (map Z.opp a)) u = - dot (iz a) u.
Proof. intros a; revert u; induction a; destruct u; simpl; try ring. rewrite IHa, opp_IZR. ring. Qed.
Lemma zeroZ_R u : forall l, zeroZ l = true -> dot (iz l) u = 0.
Proof.
  intros l. revert u. induction l as [|a l IH]; intros [|b u] E; simpl in *; auto.
  apply andb_prop in E. destruct E as [E1 E2]. apply Z.eqb_eq in E1. rewrite E1, IH by exact E2. ring.
Qed.
Lemma relu_IZR x : IZR (Z.max 0 x) = relu (IZR x).
Proof.
  unfold relu, Rmax. destruct (Rle_dec 0 (IZR x)) as [h|h].
  - apply le_IZR in h. rewrite Z.max_r; auto.
  - rewrite Z.max_l; auto. destruct (Z_le_gt_dec 0 x); [|lia]. exfalso. apply h, IZR_le, l.
Qed.
Lemma ratio_dot den u : forall a, dot (ratio den a) u = / IZR den * dot (iz a) u.
Proof. intros a; revert u; induction a; destruct u; simpl; try ring. rewrite IHa. unfold Rdiv. ring. Qed.
Lemma ratio_dot2 da db a b : dot (ratio da a) (ratio db b) = / IZR da * / IZR db * dot (iz a) (iz b).
Proof. rewrite ratio_dot, dot_comm, ratio_dot, dot_comm. ring. Qed.
