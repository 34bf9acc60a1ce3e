(** * Uniqueness: all optimal networks are the same up to permutation and splitting of their neurons *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool Arith.
From Relu Require Import Spec Vectors Duality Checker Cones Soundness Upper Strict.
Import ListNotations.
Open Scope R_scope.

(** ** Finite sums *)
Fixpoint sumn (m : nat) (f : nat -> R) : R :=
  match m with O => 0 | S m' => sumn m' f + f m' end.
Lemma sumn_ext m f g : (forall i, (i < m)%nat -> f i = g i) -> sumn m f = sumn m g.
Proof. induction m; simpl; intros E; auto. rewrite IHm, E; auto. Qed.
Lemma sumn_le m f g : (forall i, (i < m)%nat -> f i <= g i) -> sumn m f <= sumn m g.
Proof. induction m; simpl; intros E; [lra|]. assert (sumn m f <= sumn m g) by auto. specialize (E m ltac:(lia)). lra.
Qed.
Lemma sumn_lt m f g j : (forall i, (i < m)%nat -> f i <= g i) -> (j < m)%nat -> f j < g j ->
  sumn m f < sumn m g.
Proof.
  induction m; simpl; intros E Hj L; [lia|]. destruct (Nat.eq_dec j m) as [->|ne].
  - assert (sumn m f <= sumn m g) by (apply sumn_le; auto). lra.
  - assert (sumn m f < sumn m g) by (apply IHm; auto; lia). specialize (E m ltac:(lia)). lra.
Qed.
Lemma sumn_plus m f g : sumn m (fun i => f i + g i) = sumn m f + sumn m g.
Proof. induction m; simpl; [ring|rewrite IHm; ring]. Qed.
Lemma sumn_zero m f : (forall i, (i < m)%nat -> f i = 0) -> sumn m f = 0.
Proof. induction m; simpl; intros E; auto. rewrite IHm, E by auto. ring. Qed.
Lemma sumn_swap m n f : sumn m (fun i => sumn n (fun j => f i j)) = sumn n (fun j => sumn m (fun i => f i j)).
Proof.
  induction m; simpl; [rewrite sumn_zero; auto|]. rewrite IHm, <- sumn_plus. reflexivity.
Qed.
Lemma sumn_abs m f : Rabs (sumn m f) <= sumn m (fun i => Rabs (f i)).
Proof. induction m; simpl; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. lra. Qed.
Definition off (j : nat) (f : nat -> R) (i : nat) : R := if Nat.eqb i j then 0 else f i.
Lemma sumn_off m f j : (j < m)%nat -> sumn m f = f j + sumn m (off j f).
Proof.
  induction m; simpl; intros Hj; [lia|]. unfold off at 2. destruct (Nat.eq_dec j m) as [->|ne].
  - rewrite Nat.eqb_refl. rewrite (sumn_ext m (off m f) f); [ring|].
    intros i Hi. unfold off. destruct (Nat.eqb_spec i m); auto; lia.
  - destruct (Nat.eqb_spec m j); [lia|]. rewrite IHm by lia. ring.
Qed.

(** strictly column dominant => a kernel vector's columns vanish *)
Lemma dominance m (M : nat -> nat -> R) (Q : nat -> Prop) :
  (forall i, (i < m)%nat -> sumn m (fun j => M i j) = 0) ->
  (forall j, (j < m)%nat -> Q j \/ sumn m (off j (fun i => Rabs (M i j))) < Rabs (M j j)) ->
  (forall j, Q j -> forall i, M i j = 0) -> forall j, (j < m)%nat -> Q j.
Proof.
  intros Z D V j Hj. destruct (D j Hj) as [q|s]; auto. exfalso.
  assert (A : sumn m (fun i => Rabs (M i i)) <= sumn m (fun i => sumn m (off i (fun j => Rabs (M i j))))).
  { apply sumn_le. intros i Hi. specialize (Z i Hi). rewrite (sumn_off m _ i Hi) in Z.
    replace (M i i) with (- sumn m (off i (fun j0 => M i j0))) by lra. rewrite Rabs_Ropp.
    eapply Rle_trans; [apply sumn_abs|]. apply sumn_le. intros k _. unfold off.
    destruct (Nat.eqb k i); [rewrite Rabs_R0|]; lra. }
  assert (B : sumn m (fun i => sumn m (off i (fun j => Rabs (M i j)))) =
              sumn m (fun j => sumn m (off j (fun i => Rabs (M i j))))).
  { unfold off. rewrite sumn_swap. apply sumn_ext. intros a _. apply sumn_ext. intros b _.
    rewrite Nat.eqb_sym. reflexivity. }
  assert (C : sumn m (fun j => sumn m (off j (fun i => Rabs (M i j)))) < sumn m (fun i => Rabs (M i i))).
  { apply (sumn_lt m _ _ j); auto. intros k Hk. destruct (D k Hk) as [q|s']; [|lra].
    rewrite (sumn_zero m); [apply Rabs_pos|]. intros i _. unfold off.
    destruct (Nat.eqb i k); auto. rewrite (V k q). apply Rabs_R0. }
  lra.
Qed.

(** ** Parallel active vectors *)
Definition row_ok (xi rk : R) (z u1 u2 : list R) : Prop :=
  (0 <= dot z u1 /\ 0 <= dot z u2) \/ (dot z u1 <= 0 /\ dot z u2 <= 0) \/ xi * rk <= 0.
Lemma superadd xi u1 u2 : length u1 = length u2 -> forall rows r,
  Forall2 (fun z rk => row_ok xi rk z u1 u2) rows r ->
  xi * hsum rows r u1 + xi * hsum rows r u2 <= xi * hsum rows r (vadd u1 u2).
Proof.
  intros L. induction 1 as [|z rk rows r Hk _ IH]; simpl; [lra|].
  rewrite dot_vadd by auto.
  assert (xi * rk * (relu (dot z u1) + relu (dot z u2)) <= xi * rk * relu (dot z u1 + dot z u2)).
  { destruct Hk as [[A B]|[[A B]|A]].
    - unfold relu. rewrite !Rmax_right by lra. lra.
    - unfold relu. rewrite !Rmax_left by lra. lra.
    - pose proof (relu_add (dot z u1) (dot z u2)). nra. }
  lra.
Qed.
Lemma sq_zero_eq a b : forall u1 u2, length u1 = length u2 ->
  dot (vscale a u1) (vscale a u1) + dot (vscale b u2) (vscale b u2) - 2 * dot (vscale a u1) (vscale b u2) <= 0 ->
  vscale a u1 = vscale b u2.
Proof.
  assert (N : forall u1 u2, length u1 = length u2 ->
    0 <= dot (vscale a u1) (vscale a u1) + dot (vscale b u2) (vscale b u2) - 2 * dot (vscale a u1) (vscale b u2)).
  { induction u1; intros [|y u2] L; simpl in *; try discriminate; [lra|].
    specialize (IHu1 u2 ltac:(lia)). pose proof (Rle_0_sqr (a * a0 - b * y)). unfold Rsqr in *. lra. }
  induction u1 as [|x u1 IH]; intros [|y u2] L h; simpl in *; try discriminate; auto.
  pose proof (N u1 u2 ltac:(lia)) as N1. pose proof (Rle_0_sqr (a * x - b * y)) as N2. unfold Rsqr in N2.
  f_equal; [|apply IH; [lia|lra]].
  assert (E : (a * x - b * y) * (a * x - b * y) = 0) by lra.
  apply Rmult_integral in E. destruct E; lra.
Qed.

Lemma parallel lam rows r d xi u1 v1 u2 v2 : 0 < lam -> (xi = 1 \/ xi = -1) ->
  (forall u, length u = d -> dual_ok lam rows r u) -> length u1 = d -> length u2 = d ->
  active lam rows r (u1, v1) -> active lam rows r (u2, v2) -> 0 < xi * v1 -> 0 < xi * v2 ->
  Forall2 (fun z rk => row_ok xi rk z u1 u2) rows r ->
  vscale (xi * v2) u1 = vscale (xi * v1) u2.
Proof.
  intros Hl Hxi D L1 L2 A1 A2 P1 P2 F.
  assert (N1 : v1 <> 0) by (intros ->; lra). assert (N2 : v2 <> 0) by (intros ->; lra).
  destruct (active_norm _ _ _ _ _ _ Hl D L1 A1 N1) as [Q1 H1].
  destruct (active_norm _ _ _ _ _ _ Hl D L2 A2 N2) as [Q2 H2].
  assert (LL : length u1 = length u2) by congruence.
  pose proof (superadd xi u1 u2 LL _ _ F) as SA.
  assert (Ls : length (vadd u1 u2) = d) by (rewrite vadd_len; auto).
  pose proof (dual_ok_sq _ _ _ _ Hl (D _ Ls)) as S.
  rewrite H1, H2 in SA. set (h := hsum rows r (vadd u1 u2)) in *.
  assert (NN : dot (vadd u1 u2) (vadd u1 u2) = dot u1 u1 + dot u2 u2 + 2 * dot u1 u2).
  { rewrite dot_vadd, (dot_comm (vadd u1 u2) u1), (dot_comm (vadd u1 u2) u2), !dot_vadd by auto.
    rewrite (dot_comm u2 u1). ring. }
  rewrite NN, Q1, Q2 in S.
  assert (X2 : xi * xi = 1) by (destruct Hxi; subst; ring).
  set (a := xi * v1) in *. set (b := xi * v2) in *.
  assert (V1 : v1 * v1 = a * a) by (unfold a; nra). assert (V2 : v2 * v2 = b * b) by (unfold b; nra).
  rewrite V1, V2 in S.
  assert (HH : lam * (a + b) <= xi * h) by (unfold a, b; lra).
  assert (S' : (xi * h) * (xi * h) <= lam * lam * (a * a + b * b + 2 * dot u1 u2)) by nra.
  assert (S2 : lam * (a + b) * (lam * (a + b)) <= (xi * h) * (xi * h)).
  { assert (0 <= lam * (a + b)) by nra. apply Rmult_le_compat; auto. }
  assert (S3 : lam * lam * (a * b) <= lam * lam * dot u1 u2) by nra.
  assert (S4 : a * b <= dot u1 u2) by (apply Rmult_le_reg_l in S3; auto; nra).
  apply sq_zero_eq; auto.
  rewrite !dot_scale2, dot_scale, (dot_comm (vscale b u1)), dot_scale, (dot_comm u2 u1), Q1, Q2, V1, V2.
  assert (0 < a * b) by nra. nra.
Qed.

(** ** Cones of groups *)
Lemma dot_zeros l : forall k, dot (repeat 0 k) l = 0.
Proof. intros k; revert l. induction k; destruct l; simpl; auto. rewrite IHk. ring. Qed.
Lemma zeros_nonneg k : Forall (Rle 0) (repeat 0 k).
Proof. induction k; simpl; constructor; auto; lra. Qed.
Lemma in_cone_app_l G1 G2 u : in_cone G1 u -> in_cone (G1 ++ G2) u.
Proof.
  intros (x & L & F & E). exists (x ++ repeat 0 (length G2)). repeat split.
  - rewrite !app_length, repeat_length. lia.
  - apply Forall_app; split; auto using zeros_nonneg.
  - intros v. rewrite map_app, dot_app by (rewrite map_length; auto). rewrite dot_zeros, E. ring.
Qed.
Lemma in_cone_app_r G1 G2 u : in_cone G2 u -> in_cone (G1 ++ G2) u.
Proof.
  intros (x & L & F & E). exists (repeat 0 (length G1) ++ x). repeat split.
  - rewrite !app_length, repeat_length. lia.
  - apply Forall_app; split; auto using zeros_nonneg.
  - intros v. rewrite map_app, dot_app by (rewrite map_length, repeat_length; auto).
    rewrite dot_zeros, E. ring.
Qed.
Fixpoint members (j : nat) (idx : list nat) (Gs : list cone) : cone :=
  match idx, Gs with
  | i :: idx', G :: Gs' => if Nat.eqb i j then G ++ members j idx' Gs' else members j idx' Gs'
  | _, _ => [] end.
Lemma members_cone u G : in_cone G u -> forall idx Gs, length idx = length Gs -> In G Gs ->
  exists j, In j idx /\ in_cone (members j idx Gs) u.
Proof.
  intros IC. induction idx as [|i idx IH]; intros [|G0 Gs] L I; simpl in *; try discriminate; try tauto.
  destruct I as [->|I].
  - exists i. rewrite Nat.eqb_refl. split; auto. apply in_cone_app_l; auto.
  - destruct (IH Gs ltac:(lia) I) as (j & Ij & C). exists j. split; auto.
    destruct (Nat.eqb i j); auto. apply in_cone_app_r; auto.
Qed.

Definition allpos (G : cone) (z : list Z) : bool := forallb (fun g : list Z => (0 <=? dotZ z g)%Z) G.
Definition allneg (G : cone) (z : list Z) : bool := forallb (fun g : list Z => (dotZ z g <=? 0)%Z) G.
Definition smooth (G : cone) (z : list Z) : bool := allpos G z || allneg G z.
Fixpoint upZ (rows : list (list Z)) (b : list Z) (sm : list bool) (g : list Z) : Z :=
  match rows, b, sm with
  | z :: rows', bk :: b', s :: sm' =>
      ((if s then bk else Z.max 0 bk) * Z.max 0 (dotZ z g) + upZ rows' b' sm' g)%Z
  | _, _, _ => 0%Z end.

Section Cone.
Variables (G : cone) (x u : list R).
Hypothesis Fx : Forall (Rle 0) x.
Hypothesis Hx : forall v, dot v u = dot x (map (form v) G).
Lemma allpos_dot z : allpos G z = true -> 0 <= dot (iz z) u.
Proof.
  unfold allpos. rewrite forallb_forall. intros A. rewrite Hx. apply dot_nonneg; auto.
  rewrite Forall_map. apply Forall_forall. intros g I. specialize (A g I). apply Z.leb_le in A.
  unfold form. rewrite <- dotZ_R. apply IZR_le; auto.
Qed.
Lemma allneg_dot z : allneg G z = true -> dot (iz z) u <= 0.
Proof.
  unfold allneg. rewrite forallb_forall. intros A. rewrite Hx.
  apply Rle_trans with (dot x (map (fun _ => 0) G)).
  - apply dot_map_le; auto. apply Forall_forall. intros g I. specialize (A g I). apply Z.leb_le in A.
    unfold form. rewrite <- dotZ_R. apply IZR_le; auto.
  - rewrite dot_map_zero; auto. lra.
Qed.
Lemma relu_up z : relu (dot (iz z) u) <= dot x (map (fun g : list Z => relu (dot (iz z) (iz g))) G).
Proof. rewrite Hx. eapply Rle_trans; [apply relu_dot_sub; auto|]. rewrite map_map. apply Rle_refl. Qed.
Lemma relu_smooth z : smooth G z = true ->
  relu (dot (iz z) u) = dot x (map (fun g : list Z => relu (dot (iz z) (iz g))) G).
Proof.
  unfold smooth. intros S. apply orb_prop in S. destruct S as [A|A].
  - pose proof (allpos_dot z A). unfold relu at 1. rewrite Rmax_right by auto. rewrite Hx.
    f_equal. apply map_ext_in. intros g I. unfold allpos in A. rewrite forallb_forall in A.
    specialize (A g I). apply Z.leb_le in A. unfold form, relu. rewrite <- dotZ_R.
    rewrite Rmax_right; auto. apply IZR_le; auto.
  - pose proof (allneg_dot z A). unfold relu at 1. rewrite Rmax_left by auto.
    rewrite dot_map_zero; auto.
    intros g I. unfold allneg in A. rewrite forallb_forall in A.
    specialize (A g I). apply Z.leb_le in A. unfold relu. rewrite <- dotZ_R.
    rewrite Rmax_left; auto. apply IZR_le; auto.
Qed.
Lemma up_R : forall rows b,
  hsum (map iz rows) (iz b) u <=
  dot x (map (fun g : list Z => IZR (upZ rows b (map (smooth G) rows) g)) G).
Proof.
  induction rows as [|z rows IH]; intros [|bk b]; simpl;
    try (rewrite dot_map_zero; auto; lra).
  specialize (IH b).
  rewrite (map_ext _ (fun g : list Z => IZR (if smooth G z then bk else Z.max 0 bk) * relu (dot (iz z) (iz g))
     + IZR (upZ rows b (map (smooth G) rows) g))).
  2:{ intros g. rewrite plus_IZR, mult_IZR, relu_IZR, dotZ_R. reflexivity. }
  rewrite dot_map_add, dot_map_scale.
  apply Rplus_le_compat; auto.
  destruct (smooth G z) eqn:S.
  - rewrite (relu_smooth z S). lra.
  - pose proof (relu_up z). pose proof (relu_nonneg (dot (iz z) u)). rewrite relu_IZR.
    pose proof (relu_ge (IZR bk)). pose proof (relu_nonneg (IZR bk)). nra.
Qed.
End Cone.

(** ** The p-uniqueness checker *)
(** The cones are gathered into m classes, those below mp of sign +; on the cones of class j the sums B_i.(Zu)_+ are
    dominated by that of i = j, so that weights on the classes follow from the predictions. *)
Record classes := Classes { q_mp : nat; q_m : nat; q_pidx : list nat; q_nidx : list nat; q_B : list (list Z) }.
Fixpoint sumnZ (m : nat) (f : nat -> Z) : Z :=
  match m with O => 0%Z | S m' => (sumnZ m' f + f m')%Z end.
Definition nuZ (rows B : list (list Z)) (m j : nat) (sm : list bool) (g : list Z) : Z :=
  (upZ rows (map Z.opp (nth j B [])) sm g +
   sumnZ m (fun i => if Nat.eqb i j then 0 else
     Z.max (upZ rows (nth i B []) sm g) (upZ rows (map Z.opp (nth i B [])) sm g)))%Z.
Definition kink_ok (c : cover) (u : upper) (xi t : Z) : bool :=
  ((xi * t <? 0) && (2 * (u_un u * c_lowd c - c_lown c * u_ud u) * (c_tden c * c_tden c)
                     <=? t * t * (u_ud u * c_lowd c)))%Z.
Definition gens_of (q : classes) (OP ON : list cone) (j : nat) : cone :=
  if Nat.ltb j (q_mp q) then members j (q_pidx q) OP else members j (q_nidx q) ON.
Definition sgn (q : classes) (j : nat) : Z := if Nat.ltb j (q_mp q) then 1%Z else (-1)%Z.
Definition check_group (p : problem) (c : cover) (s : margin) (q : classes) (OP ON : list cone) (j : nat) : bool :=
  let G := gens_of q OP ON j in let sm := map (smooth G) (p_rows p) in
  forallb (fun zt => smooth G (fst zt) || kink_ok c (m_upper s) (sgn q j) (snd zt))
          (combine (p_rows p) (c_theta c))
  && forallb (fun g : list Z => let nu := nuZ (p_rows p) (q_B q) (q_m q) j sm g in
       (nu <=? 0)%Z && ((dotZ g g =? 0)%Z || (nu <? 0)%Z)) G.
Definition unique_ok (p : problem) (c : cover) (s : margin) (q : classes) (A B : list cone) : bool :=
  Nat.eqb (length (q_pidx q)) (length A) && Nat.eqb (length (q_nidx q)) (length B)
  && forallb (fun i => Nat.ltb i (q_mp q) && Nat.ltb i (q_m q)) (q_pidx q)
  && forallb (fun i => Nat.leb (q_mp q) i && Nat.ltb i (q_m q)) (q_nidx q)
  && forallb (check_group p c s q A B) (seq 0 (q_m q)).
Definition check_unique (p : problem) (c : cover) (s : margin) (q : classes) : bool :=
  match run_strict p c s with None => false | Some (A, B) => unique_ok p c s q A B end.

(** ** Soundness *)
Lemma sumnZ_R m f : IZR (sumnZ m f) = sumn m (fun i => IZR (f i)).
Proof. induction m; simpl; auto. rewrite plus_IZR, IHm. auto. Qed.
Lemma sumn_scale k m f : sumn m (fun i => k * f i) = k * sumn m f.
Proof. induction m; simpl; [ring|rewrite IHm; ring]. Qed.
Lemma sumn_dot (f : nat -> list Z -> R) x G : forall m,
  sumn m (fun i => dot x (map (f i) G)) = dot x (map (fun g => sumn m (fun i => f i g)) G).
Proof.
  induction m; simpl.
  - rewrite dot_map_zero; auto.
  - rewrite IHm, dot_map_add. reflexivity.
Qed.
Lemma hsum_opp u : forall rows b, hsum rows (iz (map Z.opp b)) u = - hsum rows (iz b) u.
Proof. induction rows; destruct b; simpl; try ring. rewrite IHrows, opp_IZR. ring. Qed.
Lemma hsum_rat rd u : 0 < IZR rd -> forall rows b,
  hsum (map (ratio rd) rows) b u = / IZR rd * hsum (map iz rows) b u.
Proof.
  intros hr. induction rows; destruct b; simpl; try ring.
  rewrite IHrows, ratio_dot, relu_scale by (try lra; left; apply Rinv_0_lt_compat; auto). ring.
Qed.
Lemma hsum_hom rows b : homogeneous (hsum rows b).
Proof.
  intros t u Ht. revert b. induction rows; destruct b; simpl; try ring.
  fold (vscale t u). rewrite dot_scale, IHrows, relu_scale by auto. ring.
Qed.

Lemma neg_dot (nu : list Z -> R) : forall x G, Forall (Rle 0) x ->
  (forall g, In g G -> nu g <= 0 /\ (dot (iz g) (iz g) = 0 \/ nu g < 0)) ->
  dot x (map nu G) < 0 \/ (dot x (map nu G) <= 0 /\ forall v, dot x (map (form v) G) = 0).
Proof.
  induction x as [|a x IH]; intros [|g G] F A; simpl; try (right; split; [lra|auto]).
  assert (Fa := Forall_inv F). assert (Ft := Forall_inv_tail F). simpl in Fa.
  destruct (A g) as [A1 A2]; [simpl; auto|].
  assert (IH' := IH G Ft). destruct IH' as [I|[I1 I2]].
  { intros g' I'. apply A. simpl; auto. }
  - left. nra.
  - destruct (Rle_lt_or_eq_dec _ _ Fa) as [pa|<-].
    + destruct A2 as [A2|A2].
      * right. split; [nra|]. intros v. rewrite I2. unfold form at 1.
        pose proof (cauchy v (iz g)) as C. rewrite A2 in C.
        assert (dot v (iz g) = 0) by nra. rewrite H. ring.
      * left. nra.
    + right. split; [lra|]. intros v. rewrite I2. ring.
Qed.

Lemma dom_at rows B m j G e : (j < m)%nat -> in_cone G e -> dot e e <> 0 ->
  forallb (fun g : list Z => let nu := nuZ rows B m j (map (smooth G) rows) g in
       (nu <=? 0)%Z && ((dotZ g g =? 0)%Z || (nu <? 0)%Z)) G = true ->
  sumn m (off j (fun i => Rabs (hsum (map iz rows) (iz (nth i B [])) e))) <
  hsum (map iz rows) (iz (nth j B [])) e.
Proof.
  intros Hj (x & Lx & Fx & Hx) Ne E.
  set (sm := map (smooth G) rows) in *.
  set (fi := fun (i : nat) (g : list Z) => IZR (if Nat.eqb i j then 0%Z else
     Z.max (upZ rows (nth i B []) sm g) (upZ rows (map Z.opp (nth i B [])) sm g))).
  assert (A : sumn m (off j (fun i => Rabs (hsum (map iz rows) (iz (nth i B [])) e))) <=
              sumn m (fun i => dot x (map (fi i) G))).
  { apply sumn_le. intros i Hi. unfold off, fi. destruct (Nat.eqb i j).
    - rewrite dot_map_zero; auto. lra.
    - pose proof (up_R G x e Fx Hx rows (nth i B [])) as U1.
      pose proof (up_R G x e Fx Hx rows (map Z.opp (nth i B []))) as U2. fold sm in U1, U2.
      rewrite hsum_opp in U2.
      apply Rabs_le. split.
      + apply Ropp_le_cancel. rewrite Ropp_involutive. eapply Rle_trans; [exact U2|].
        apply dot_map_le; auto. apply Forall_forall. intros g _. apply IZR_le. lia.
      + eapply Rle_trans; [exact U1|]. apply dot_map_le; auto. apply Forall_forall. intros g _.
        apply IZR_le. lia. }
  pose proof (up_R G x e Fx Hx rows (map Z.opp (nth j B []))) as U. fold sm in U. rewrite hsum_opp in U.
  rewrite sumn_dot in A.
  assert (T : dot x (map (fun g : list Z => IZR (upZ rows (map Z.opp (nth j B [])) sm g)) G) +
              dot x (map (fun g => sumn m (fun i => fi i g)) G) =
              dot x (map (fun g : list Z => IZR (nuZ rows B m j sm g)) G)).
  { rewrite <- dot_map_add. f_equal. apply map_ext. intros g. unfold nuZ, fi. rewrite plus_IZR, sumnZ_R. auto. }
  destruct (neg_dot (fun g : list Z => IZR (nuZ rows B m j sm g)) x G Fx) as [Ng|[_ Z]].
  - rewrite forallb_forall in E. intros g I. specialize (E g I). cbn zeta in E.
    apply andb_prop in E. destruct E as [E1 E2]. apply Z.leb_le in E1. split; [apply IZR_le; auto|].
    apply orb_prop in E2. destruct E2 as [E2|E2].
    + left. apply Z.eqb_eq in E2. rewrite <- dotZ_R, E2. auto.
    + right. apply Z.ltb_lt in E2. apply IZR_lt; auto.
  - lra.
  - exfalso. apply Ne. rewrite Hx. apply Z.
Qed.

Lemma rows_ok rd td g2 xi G u1 u2 : 0 < IZR rd -> 0 < IZR td -> in_cone G u1 -> in_cone G u2 ->
  forall rows thZ r, length rows = length thZ -> length rows = length r ->
  dot (vsub r (ratio td thZ)) (vsub r (ratio td thZ)) <= g2 ->
  (forall zt, In zt (combine rows thZ) -> smooth G (fst zt) = true \/
     (xi * IZR (snd zt) < 0 /\ g2 <= (IZR (snd zt) / IZR td) * (IZR (snd zt) / IZR td))) ->
  Forall2 (fun z rk => row_ok xi rk z u1 u2) (map (ratio rd) rows) r.
Proof.
  intros hr ht (x1 & _ & F1 & H1) (x2 & _ & F2 & H2).
  induction rows as [|z rows IH]; intros [|t th] [|rk r] L1 L2 D A; simpl in *; try discriminate; constructor.
  - pose proof (dot_self_nonneg (vsub r (ratio td th))) as Dn.
    assert (ir := Rinv_0_lt_compat _ hr).
    unfold row_ok. rewrite !ratio_dot by lra.
    destruct (A (z, t) (or_introl eq_refl)) as [S|[K1 K2]]; simpl in *.
    + unfold smooth in S. apply orb_prop in S. destruct S as [S|S].
      * left. pose proof (allpos_dot G x1 u1 F1 H1 z S). pose proof (allpos_dot G x2 u2 F2 H2 z S).
        split; apply Rmult_le_pos; lra.
      * right; left. pose proof (allneg_dot G x1 u1 F1 H1 z S). pose proof (allneg_dot G x2 u2 F2 H2 z S).
        split; nra.
    + right; right. set (q := IZR t / IZR td) in *.
      assert (Q : xi * q < 0).
      { unfold q. assert (it := Rinv_0_lt_compat _ ht). unfold Rdiv. nra. }
      assert (X : (rk - q) * (rk - q) <= q * q) by lra.
      assert (Y : 0 <= rk * q) by nra.
      destruct (Rle_lt_dec (xi * rk) 0) as [h|h]; auto. exfalso.
      assert (0 < xi * rk * - (xi * q)) by (apply Rmult_lt_0_compat; lra).
      assert (0 <= xi * xi) by nra. nra.
  - apply (IH th r); auto.
    + pose proof (Rle_0_sqr (rk - IZR t / IZR td)) as Sq. unfold Rsqr in Sq. fold (ratio td th) in D. lra.
Qed.

(** signed, group-labelled neurons *)
Definition lab : Type := (R * (nat * neuron))%type.
Fixpoint Sd (phi : list R -> R) (j : nat) (L : list lab) : R :=
  match L with [] => 0
  | (sg, (i, nr)) :: L' => (if Nat.eqb i j then sg * (snd nr * phi (fst nr)) else 0) + Sd phi j L' end.
Fixpoint St (phi : list R -> R) (L : list lab) : R :=
  match L with [] => 0 | (sg, (i, nr)) :: L' => sg * (snd nr * phi (fst nr)) + St phi L' end.
Lemma Sd_total phi m : forall L : list lab, Forall (fun l => (fst (snd l) < m)%nat) L ->
  sumn m (fun j => Sd phi j L) = St phi L.
Proof.
  induction L as [|[sg [i nr]] L IH]; intros F; simpl.
  - apply sumn_zero; auto.
  - rewrite sumn_plus, IH by (exact (Forall_inv_tail F)). f_equal.
    assert (Hi := Forall_inv F). simpl in Hi. rewrite (sumn_off m _ i Hi), Nat.eqb_refl.
    rewrite sumn_zero; [ring|]. intros k _. unfold off. destruct (Nat.eqb_spec k i); auto.
    destruct (Nat.eqb_spec i k); auto. congruence.
Qed.
Lemma Sd_rep j e ve : ve <> 0 -> forall L : list lab,
  (forall sg w v, In (sg, (j, (w, v))) L -> forall phi, homogeneous phi -> ve * phi w = v * phi e) ->
  exists al, forall phi, homogeneous phi -> Sd phi j L = al * phi e.
Proof.
  intros Hv. induction L as [|[sg [i [w v]]] L IH]; intros A; simpl.
  - exists 0. intros; ring.
  - destruct IH as (al & E). { intros; eapply A; simpl; eauto. }
    destruct (Nat.eqb_spec i j) as [->|ne].
    + exists (sg * v * v / ve + al). intros phi Hp. rewrite (E phi Hp).
      pose proof (A sg w v (or_introl eq_refl) phi Hp) as B.
      replace (phi w) with (v * phi e / ve) by (rewrite <- B; field; auto). field; auto.
    + exists al. intros phi Hp. rewrite (E phi Hp). ring.
Qed.
Lemma Sd_case j : forall L : list lab,
  (exists sg nr, In (sg, (j, nr)) L) \/ (forall phi, Sd phi j L = 0).
Proof.
  induction L as [|[sg [i nr]] L IH]; simpl; auto.
  destruct (Nat.eqb_spec i j) as [->|ne]; [left; eauto|].
  destruct IH as [(sg' & nr' & I)|Z]; [left; eauto|]. right. intros. rewrite Z. ring.
Qed.

Lemma tout_resid N1 N2 : forall rows y b, length rows = length y ->
  resid rows y N1 = resid rows y N2 -> tout rows b N1 = tout rows b N2.
Proof.
  induction rows as [|z rows IH]; intros [|yk y] [|bk b] L E; simpl in *; try discriminate; auto.
  injection E as E1 E2. rewrite (IH y b) by (auto; lia). replace (out N1 z) with (out N2 z) by lra. auto.
Qed.
Lemma measure_tout rows b N : measure (hsum rows b) N = tout rows b N.
Proof. induction N as [|[w v] N IH]; simpl; [rewrite tout_nil; auto|]. rewrite tout_cons, IH. auto. Qed.

Lemma unique_facts p c s q : check_unique p c s q = true -> exists A B,
  run_strict p c s = Some (A, B) /\
  length (q_pidx q) = length A /\ length (q_nidx q) = length B /\
  (forall i, In i (q_pidx q) -> (i < q_mp q)%nat /\ (i < q_m q)%nat) /\
  (forall i, In i (q_nidx q) -> (q_mp q <= i)%nat /\ (i < q_m q)%nat) /\
  (forall j, (j < q_m q)%nat -> check_group p c s q A B j = true).
Proof.
  unfold check_unique. intros E. destruct (run_strict p c s) as [[A B]|]; [|discriminate]. exists A, B.
  unfold unique_ok in E.
  apply andb_prop in E; destruct E as [E E5]. apply andb_prop in E; destruct E as [E E4].
  apply andb_prop in E; destruct E as [E E3]. apply andb_prop in E; destruct E as [E1 E2].
  rewrite forallb_forall in E3, E4, E5. apply Nat.eqb_eq in E1, E2.
  split; [reflexivity|]. split; [auto|]. split; [auto|]. split; [|split].
  - intros i I. specialize (E3 i I). apply andb_prop in E3. destruct E3 as [X Y]. apply Nat.ltb_lt in X, Y. auto.
  - intros i I. specialize (E4 i I). apply andb_prop in E4. destruct E4 as [X Y].
    apply Nat.leb_le in X. apply Nat.ltb_lt in Y. auto.
  - intros j Hj. apply E5. apply in_seq. lia.
Qed.
Lemma strict_facts p c s A B : run_strict p c s = Some (A, B) ->
  run p c = Some (A, B) /\ check_upper p (m_upper s) = true.
Proof.
  unfold run_strict. intros E. destruct (strict_ok p c s) eqn:S; [|discriminate]. split; auto.
  unfold strict_ok in S. destruct (merge _ _ _ _) as [[cf c0]|]; [|discriminate].
  do 5 (apply andb_prop in S; destruct S as [S _]). auto.
Qed.

(** what is known about a labelled neuron of an optimal network with residual r *)
Definition okn p q A B r (l : nat * neuron) : Prop :=
  (fst l < q_m q)%nat /\
  in_cone (gens_of q A B (fst l)) (fst (snd l)) /\
  0 < IZR (sgn q (fst l)) * snd (snd l) /\
  length (fst (snd l)) = p_dim p /\ active (lambda_of p) (rows_of p) r (snd l).

Lemma lengths_agree p : problem_facts p -> length (rows_of p) = length (y_of p).
Proof. intros [_ _ _ _ L]. unfold rows_of, y_of, ratio. rewrite !map_length. auto. Qed.

Lemma annotate p c s q A B net : run_strict p c s = Some (A, B) ->
  length (q_pidx q) = length A -> length (q_nidx q) = length B ->
  (forall i, In i (q_pidx q) -> (i < q_mp q)%nat /\ (i < q_m q)%nat) ->
  (forall i, In i (q_nidx q) -> (q_mp q <= i)%nat /\ (i < q_m q)%nat) -> optimal_for p net ->
  exists l : list (nat * neuron), Forall (okn p q A B (resid (rows_of p) (y_of p) net)) l /\
    forall sg phi, St phi (map (fun l => (sg, l)) l) = sg * measure phi net.
Proof.
  intros Es L1 L2 I1 I2 O.
  destruct (strict_facts _ _ _ _ _ Es) as [ER _]. destruct (run_sound _ _ _ _ ER) as (Pf & _).
  destruct (opt_conditions _ _ _ _ _ (lengths_agree p Pf) O) as [_ Ac].
  pose proof (neurons_in_cones p c s A B Es net O) as SS.
  assert (W := proj1 O). unfold well_formed in W. rewrite Forall_forall in W, Ac.
  set (r := resid (rows_of p) (y_of p) net) in *. clearbody r. clear O.
  induction net as [|[w v] net IH].
  - exists []. split; [constructor|]. intros; simpl; ring.
  - destruct IH as (l & FA & EA).
    { intros; apply Ac; simpl; auto. } { intros; eapply SS; simpl; eauto. } { intros; apply W; simpl; auto. }
    destruct (SS w v (or_introl eq_refl)) as (Sp & Sn & _).
    pose proof (W (w, v) (or_introl eq_refl)) as Lw. pose proof (Ac (w, v) (or_introl eq_refl)) as Aw.
    destruct (total_order_T 0 v) as [[hp|h0]|hn].
    + destruct (Sp hp) as (G & IG & CG).
      destruct (members_cone w G CG _ _ L1 IG) as (j & Ij & Cj). destruct (I1 j Ij) as [J1 J2].
      exists ((j, (w, v)) :: l). split.
      * constructor; auto. unfold okn, gens_of, sgn. simpl.
        apply Nat.ltb_lt in J1. rewrite J1. repeat split; auto. lra.
      * intros sg phi. simpl. rewrite EA. ring.
    + exists l. split; auto. intros sg phi. rewrite EA. simpl. rewrite <- h0. ring.
    + destruct (Sn hn) as (G & IG & CG).
      destruct (members_cone w G CG _ _ L2 IG) as (j & Ij & Cj). destruct (I2 j Ij) as [J1 J2].
      exists ((j, (w, v)) :: l). split.
      * constructor; auto. unfold okn, gens_of, sgn. simpl.
        apply Nat.ltb_ge in J1. rewrite J1. repeat split; auto. lra.
      * intros sg phi. simpl. rewrite EA. ring.
Qed.

Lemma St_app phi L1 L2 : St phi (L1 ++ L2) = St phi L1 + St phi L2.
Proof. induction L1 as [|[sg [i nr]] L1 IH]; simpl; [ring|rewrite IH; ring]. Qed.

(** All optimal networks put the same weight on every ray. *)
Theorem unique_sound p c s q : check_unique p c s q = true ->
  forall N1 N2, optimal_for p N1 -> optimal_for p N2 -> same_measure N1 N2.
Proof.
  intros E N1 N2 O1 O2 phi0 Hphi0. revert phi0 Hphi0.
  destruct (unique_facts _ _ _ _ E) as (A & B & Es & X1 & X2 & X3 & X4 & CG).
  destruct (strict_facts _ _ _ _ _ Es) as [ER Eu].
  destruct (run_sound _ _ _ _ ER) as (Pf & Et & Elo & Lt & _).
  assert (Ly := lengths_agree p Pf). assert (Hlam := lambda_pos p Pf).
  destruct (upper_sound _ _ Eu) as (_ & _ & Hud).
  assert (LrZ : length (p_rows p) = length (c_theta c)).
  { unfold rows_of, theta_of, ratio in Lt. rewrite !map_length in Lt. auto. }
  assert (hr := IZR_lt _ _ (pf_rden p Pf)). assert (ht := IZR_lt _ _ Et). assert (hlo := IZR_lt _ _ Elo).
  assert (hud := IZR_lt _ _ Hud).
  pose proof (predictions_unique _ _ _ _ _ _ Ly O1 O2) as PU.
  assert (ER' : resid (rows_of p) (y_of p) N1 = resid (rows_of p) (y_of p) N2).
  { apply vsub_zero; auto. rewrite !resid_len; auto. }
  destruct (annotate _ _ _ _ _ _ _ Es X1 X2 X3 X4 O1) as (A1 & F1 & S1).
  destruct (annotate _ _ _ _ _ _ _ Es X1 X2 X3 X4 O2) as (A2 & F2 & S2).
  destruct (opt_conditions _ _ _ _ _ Ly O1) as [Dr _].
  pose proof (residual_in_ball _ _ _ _ _ N1 ER Eu O1) as Hg.
  rewrite <- ER' in F2. rename ER into ERun. rename ER' into ER. set (r := resid (rows_of p) (y_of p) N1) in *.
  assert (Lr : length (rows_of p) = length r) by (unfold r; rewrite resid_len; auto).
  set (g2 := gap2 c (m_upper s)) in *.
  (* the combined list *)
  set (L := map (fun l => (1, l)) A1 ++ map (fun l => (-1, l)) A2).
  assert (FL : Forall (fun l : lab => okn p q A B r (snd l)) L).
  { unfold L. apply Forall_app. split; rewrite Forall_map; simpl; auto. }
  assert (TL : forall phi, St phi L = measure phi N1 - measure phi N2).
  { intros phi. unfold L. rewrite St_app, S1, S2. ring. }
  set (be := fun i : nat => hsum (rows_of p) (iz (nth i (q_B q) []))).
  assert (Hbe : forall i, homogeneous (be i)) by (intros i; apply hsum_hom).
  assert (FI : Forall (fun l : lab => (fst (snd l) < q_m q)%nat) L).
  { eapply Forall_impl; [|exact FL]. intros l K. apply K. }
  rewrite Forall_forall in FL.
  assert (QJ : forall j, (j < q_m q)%nat -> forall phi, homogeneous phi -> Sd phi j L = 0).
  { apply (dominance (q_m q) (fun i j => Sd (be i) j L) (fun j => forall phi, homogeneous phi -> Sd phi j L = 0)).
    - intros i _. rewrite Sd_total by auto. rewrite TL. unfold be. rewrite !measure_tout.
      rewrite (tout_resid N1 N2 _ _ _ Ly ER). ring.
    - intros j Hj. destruct (Sd_case j L) as [(sg & [e ve] & I)|Z]; [|left; auto].
      destruct (FL _ I) as (_ & Ce & Pe & Le & Ae). simpl in *.
      specialize (CG j Hj). unfold check_group in CG. apply andb_prop in CG. destruct CG as [CR CD].
      set (G := gens_of q A B j) in *.
      assert (Hxi : IZR (sgn q j) = 1 \/ IZR (sgn q j) = -1)
        by (unfold sgn; destruct (j <? q_mp q)%nat; auto).
      assert (Nv : ve <> 0) by (intros ->; lra).
      destruct (Sd_rep j e ve Nv L) as (al & Ral).
      { intros sg' w v I' phi Hphi. destruct (FL _ I') as (_ & Cw & Pw & Lw & Aw). simpl in *. fold G in Cw.
        assert (RO : Forall2 (fun z rk => row_ok (IZR (sgn q j)) rk z e w) (rows_of p) r).
        { unfold rows_of. apply (rows_ok (p_rden p) (c_tden c) g2 (IZR (sgn q j)) G e w hr ht Ce Cw _ (c_theta c));
            auto.
          - rewrite <- Lr. unfold rows_of. rewrite map_length. auto.
          - intros zt Izt. rewrite forallb_forall in CR. specialize (CR zt Izt).
            apply orb_prop in CR. destruct CR as [CR|CR]; auto. right.
            unfold kink_ok in CR. apply andb_prop in CR. destruct CR as [K1 K2].
            apply Z.ltb_lt in K1. apply Z.leb_le in K2. split.
            + apply IZR_lt in K1. rewrite mult_IZR in K1. auto.
            + apply IZR_le in K2. rewrite ?mult_IZR, ?minus_IZR, ?mult_IZR in K2. unfold g2, gap2, upper_of, lower_of.
              apply Rmult_le_reg_r with (IZR (c_tden c) * IZR (c_tden c) * (IZR (u_ud (m_upper s)) * IZR (c_lowd c))).
              { repeat apply Rmult_lt_0_compat; auto. }
              eapply Rle_trans; [|eapply Rle_trans; [exact K2|]]; apply Req_le; field; repeat split; lra. }
        pose proof (parallel _ _ _ _ _ e ve w v Hlam Hxi Dr Le Lw Ae Aw Pe Pw RO) as PP.
        assert (PH : phi (vscale (IZR (sgn q j) * v) e) = phi (vscale (IZR (sgn q j) * ve) w)) by congruence.
        unfold vscale in PH. rewrite !Hphi in PH by lra.
        destruct Hxi as [X|X]; rewrite X in PH; lra. }
      assert (Ne : dot e e <> 0).
      { destruct (active_norm _ _ _ _ _ _ Hlam Dr Le Ae Nv) as [Q _]. rewrite Q. nra. }
      destruct (Req_dec al 0) as [->|Nal].
      + left. intros phi Hphi. rewrite Ral by auto. ring.
      + right. pose proof (dom_at _ _ _ _ _ _ Hj Ce Ne CD) as DA.
        assert (EQ : forall i, Sd (be i) j L = al / IZR (p_rden p) * hsum (map iz (p_rows p)) (iz (nth i (q_B q) []))
          e).
        { intros i. rewrite Ral by auto. unfold be, rows_of. rewrite hsum_rat by auto. field. lra. }
        assert (Pal : 0 < Rabs (al / IZR (p_rden p))).
        { apply Rabs_pos_lt. unfold Rdiv. apply Rmult_integral_contrapositive_currified; auto.
          apply Rinv_neq_0_compat. lra. }
        rewrite (sumn_ext _ _ (fun i => Rabs (al / IZR (p_rden p)) *
           off j (fun i => Rabs (hsum (map iz (p_rows p)) (iz (nth i (q_B q) [])) e)) i)).
        2:{ intros i _. unfold off. destruct (Nat.eqb i j); [ring|]. rewrite EQ, Rabs_mult. auto. }
        rewrite sumn_scale, EQ, Rabs_mult. apply Rmult_lt_compat_l; auto.
        eapply Rlt_le_trans; [exact DA|]. apply Rle_abs.
    - intros j Z i. apply Z. auto. }
  intros phi Hphi. assert (T := TL phi). rewrite <- (Sd_total phi (q_m q) L FI) in T.
  rewrite sumn_zero in T; [lra|]. intros j Hj. apply QJ; auto.
Qed.

(** In particular they are the same function on all of R^d. *)
Corollary function_unique p c s q : check_unique p c s q = true ->
  forall N1 N2, optimal_for p N1 -> optimal_for p N2 -> forall z, out N1 z = out N2 z.
Proof.
  intros E N1 N2 O1 O2 z.
  assert (M : forall N, out N z = measure (fun w => relu (dot z w)) N).
  { induction N as [|[w v] N IH]; simpl; auto. rewrite IH. auto. }
  rewrite !M. eapply unique_sound; eauto. intros t u Ht. fold (vscale t u). rewrite dot_scale, relu_scale; auto.
Qed.
