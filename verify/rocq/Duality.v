(** * Weak duality, and what holds for every optimal network *)
From Coq Require Import Reals ZArith List Lra Lia Psatz.
From Relu Require Import Spec Vectors.
Import ListNotations.
Open Scope R_scope.

(** h(u) = sum_k theta_k (z_k.u)_+ *)
Fixpoint hsum (rows : list (list R)) (th u : list R) : R :=
  match rows, th with
  | z :: rows', t :: th' => t * relu (dot z u) + hsum rows' th' u
  | _, _ => 0 end.
(** theta.(predictions) *)
Fixpoint tout (rows : list (list R)) (th : list R) (net : network) : R :=
  match rows, th with
  | z :: rows', t :: th' => t * out net z + tout rows' th' net
  | _, _ => 0 end.

(** Dual feasibility at u, |h(u)| <= lambda |u|, and the form in which it is used. *)
Definition feasible_at lam rows th u : Prop := below (hsum rows th u) lam u /\ below (- hsum rows th u) lam u.
Definition dual_ok lam rows th u : Prop := forall v, v * hsum rows th u <= lam / 2 * (dot u u + v * v).
Lemma one_sided_dual lam h u v : 0 <= lam -> 0 <= v -> below h lam u -> v * h <= lam / 2 * (dot u u + v * v).
Proof.
  intros Hl Hv H. pose proof (dot_self_nonneg u) as Hu. destruct (Rle_lt_or_eq_dec _ _ Hv) as [h0|<-]; [|nra].
  set (U := (dot u u + v * v) / (2 * v)).
  assert (E : 2 * v * U = dot u u + v * v) by (unfold U; field; lra).
  assert (HU : 0 <= U) by nra.
  assert (S : dot u u <= U * U).
  { apply Rmult_le_reg_l with (4 * (v * v)); [nra|]. replace (4 * (v * v) * (U * U)) with ((2 * v * U) * (2 * v * U))
      by ring.
    rewrite E. pose proof (Rle_0_sqr (dot u u - v * v)) as Sq. unfold Rsqr in Sq. lra. }
  specialize (H U HU S). replace (lam / 2 * (dot u u + v * v)) with (v * (lam * U)) by (rewrite <- E; field).
  apply Rmult_le_compat_l; auto.
Qed.
Lemma feasible_dual_ok lam rows th u : 0 <= lam -> feasible_at lam rows th u -> dual_ok lam rows th u.
Proof.
  intros Hl [H1 H2] v. destruct (Rle_lt_dec 0 v) as [Hv|Hv].
  - apply one_sided_dual; auto.
  - replace (v * hsum rows th u) with (- v * - hsum rows th u) by ring.
    replace (v * v) with (- v * - v) by ring. apply one_sided_dual; auto. lra.
Qed.

(** ** Weak duality *)
Lemma tout_nil rows : forall th, tout rows th [] = 0.
Proof. induction rows; destruct th; simpl; auto. rewrite IHrows. ring. Qed.
Lemma tout_cons w v net rows : forall th, tout rows th ((w, v) :: net) = v * hsum rows th w + tout rows th net.
Proof. induction rows; destruct th; simpl; try ring. rewrite IHrows. ring. Qed.

Lemma tout_bound lam rows th net :
  Forall (fun nr => dual_ok lam rows th (fst nr)) net -> tout rows th net <= lam / 2 * penalty net.
Proof.
  induction 1 as [|[w v] net Hw _ IH]; simpl.
  - rewrite tout_nil. lra.
  - rewrite tout_cons. specialize (Hw v). simpl in Hw. lra.
Qed.

Lemma fenchel net : forall rows y th, length rows = length y -> length rows = length th ->
  dot y th - / 2 * dot th th <= / 2 * loss rows y net + tout rows th net.
Proof.
  induction rows as [|z rows IH]; intros [|yk y] [|t th]; simpl; intros L1 L2; try discriminate; try lra.
  specialize (IH y th ltac:(lia) ltac:(lia)).
  pose proof (pow2_ge_0 (out net z - yk + t)). simpl in *. nra.
Qed.

Theorem weak_duality lam rows y th net :
  length rows = length y -> length rows = length th ->
  Forall (fun nr => dual_ok lam rows th (fst nr)) net ->
  dot y th - / 2 * dot th th <= J lam rows y net.
Proof.
  intros L1 L2 F. pose proof (fenchel net rows y th L1 L2).
  pose proof (tout_bound _ _ _ _ F). unfold J. lra.
Qed.

(** ** Optimality conditions *)
Fixpoint resid (rows : list (list R)) (y : list R) (net : network) : list R :=
  match rows, y with
  | z :: rows', yk :: y' => (yk - out net z) :: resid rows' y' net
  | _, _ => [] end.
Definition hvec (rows : list (list R)) (u : list R) : list R := map (fun z => relu (dot z u)) rows.
Definition fvec (rows : list (list R)) (net : network) : list R := map (out net) rows.

Lemma hsum_dot u : forall rows th, hsum rows th u = dot th (hvec rows u).
Proof. induction rows; destruct th; simpl; auto. rewrite IHrows. auto. Qed.
Lemma tout_dot net : forall rows th, tout rows th net = dot th (fvec rows net).
Proof. induction rows; destruct th; simpl; auto. rewrite IHrows. auto. Qed.
Lemma resid_len net : forall rows y, length rows = length y -> length (resid rows y net) = length rows.
Proof. induction rows; destruct y; simpl; intros; try discriminate; auto. Qed.
(** exact primal-dual identity *)
Lemma identity net : forall rows y th, length rows = length y -> length rows = length th ->
  / 2 * loss rows y net + tout rows th net - (dot y th - / 2 * dot th th) =
  / 2 * dot (vsub (resid rows y net) th) (vsub (resid rows y net) th).
Proof.
  induction rows as [|z rows IH]; intros [|yk y] [|t th]; simpl; intros L1 L2;
    try discriminate; try ring.
  specialize (IH y th ltac:(lia) ltac:(lia)). simpl in IH. lra.
Qed.

Lemma out_add e v u net z : 0 <= e ->
  out ((vscale e u, e * v) :: net) z = e * e * (v * relu (dot z u)) + out net z.
Proof. intros. simpl. rewrite dot_scale, relu_scale by auto. ring. Qed.
Lemma loss_add e v u net : 0 <= e -> forall rows y,
  loss rows y ((vscale e u, e * v) :: net) =
  loss rows y net - 2 * (e * e) * v * hsum rows (resid rows y net) u +
  (e * e) * (e * e) * (v * v) * dot (hvec rows u) (hvec (firstn (length y) rows) u).
Proof.
  intros He. induction rows as [|z rows IH]; intros [|yk y]; try (simpl; ring).
  cbn [loss length firstn hvec map resid hsum dot]. rewrite out_add by auto.
    unfold hvec in IH. rewrite IH. ring.
Qed.

(** (i) the residual of an optimal network is dual feasible *)
Lemma opt_dual lam rows y d net u : length rows = length y ->
  optimal lam rows y d net -> length u = d -> dual_ok lam rows (resid rows y net) u.
Proof.
  intros L (W & O) Lu v. destruct (Rle_lt_dec (v * hsum rows (resid rows y net) u)
    (lam / 2 * (dot u u + v * v))) as [h|h]; auto. exfalso.
  set (A := v * hsum rows (resid rows y net) u - lam / 2 * (dot u u + v * v)) in *.
  set (Q := v * v * dot (hvec rows u) (hvec rows u)).
  assert (HQ : 0 <= Q) by (unfold Q; pose proof (dot_self_nonneg (hvec rows u)); nra).
  assert (HA : 0 < A) by (unfold A; lra).
  set (e := A / (Q + 1 + A)).
  assert (He : 0 < e) by (unfold e; apply Rdiv_lt_0_compat; lra).
  assert (Ee : e * (Q + 1 + A) = A) by (unfold e; field; lra).
  assert (He1 : e < 1) by nra.
  specialize (O ((vscale e u, e * v) :: net)).
  assert (W' : well_formed d ((vscale e u, e * v) :: net)).
  { constructor; auto. simpl. unfold vscale. rewrite map_length. auto. }
  specialize (O W'). unfold J in O. rewrite loss_add in O by lra.
  rewrite <- L, firstn_all in O. cbn [penalty] in O. rewrite dot_scale2 in O.
  assert (X : 0 <= e * e * (- A + e * e * Q / 2)) by (unfold A, Q; nra).
  assert (X2 : - A + e * e * Q / 2 < 0).
  { assert (e * Q <= A) by nra. assert (e * e * Q <= e * A) by nra. nra. }
  assert (0 < e * e) by nra. nra.
Qed.

(** (ii) complementary slackness, by shrinking the whole network *)
Definition shrink (s : R) (net : network) : network :=
  map (fun nr : neuron => (vscale s (fst nr), s * snd nr)) net.
Lemma shrink_out s z net : 0 <= s -> out (shrink s net) z = s * s * out net z.
Proof.
  intros Hs. induction net as [|[w v] net IH]; simpl; [ring|].
  fold (shrink s net). rewrite IH, dot_scale, relu_scale by auto. ring.
Qed.
Lemma shrink_penalty s net : penalty (shrink s net) = s * s * penalty net.
Proof.
  induction net as [|[w v] net IH]; simpl; [ring|]. fold (shrink s net). rewrite IH, dot_scale2. ring.
Qed.
Lemma shrink_loss s net : 0 <= s -> forall rows y,
  loss rows y (shrink s net) = loss rows y net + 2 * (1 - s * s) * tout rows (resid rows y net) net
   + (1 - s * s) * (1 - s * s) * dot (fvec rows net) (fvec (firstn (length y) rows) net).
Proof.
  intros Hs. induction rows as [|z rows IH]; intros [|yk y]; try (simpl; ring).
  cbn [loss length firstn fvec map resid tout dot]. rewrite shrink_out by auto.
    unfold fvec in IH. rewrite IH. ring.
Qed.
Lemma opt_slack lam rows y d net : length rows = length y -> optimal lam rows y d net ->
  lam / 2 * penalty net <= tout rows (resid rows y net) net.
Proof.
  intros L (W & O). destruct (Rle_lt_dec (lam / 2 * penalty net) (tout rows (resid rows y net) net))
    as [h|h]; auto. exfalso.
  set (A := lam / 2 * penalty net - tout rows (resid rows y net) net) in *.
  set (Q := dot (fvec rows net) (fvec rows net)).
  assert (HQ : 0 <= Q) by apply dot_self_nonneg.
  assert (HA : 0 < A) by (unfold A; lra).
  set (e := A / (2 * (Q + 1 + A))).
  assert (He : 0 < e) by (unfold e; apply Rdiv_lt_0_compat; lra).
  assert (Ee : 2 * e * (Q + 1 + A) = A) by (unfold e; field; lra).
  assert (He1 : e < 1) by nra.
  specialize (O (shrink (1 - e) net)).
  assert (W' : well_formed d (shrink (1 - e) net)).
  { unfold well_formed, shrink in *. rewrite Forall_map. eapply Forall_impl; [|exact W].
    simpl. intros [w v] E. simpl in *. unfold vscale. rewrite map_length. auto. }
  specialize (O W'). unfold J in O. rewrite shrink_loss, shrink_penalty in O by lra.
  rewrite <- L, firstn_all in O. fold Q in O.
  set (k := 1 - (1 - e) * (1 - e)) in *.
  assert (Hk : 0 < k) by (unfold k; nra). assert (Hk2 : k <= 2 * e) by (unfold k; nra).
  assert (X : 0 <= k * (- A + k * Q / 2)).
  { unfold A. replace ((1 - e) * (1 - e)) with (1 - k) in O by (unfold k; ring). nra. }
  assert (X2 : - A + k * Q / 2 < 0).
  { assert (k * Q <= 2 * e * Q) by nra. nra. }
  nra.
Qed.

Definition active lam rows r (nr : neuron) : Prop :=
  snd nr * hsum rows r (fst nr) = lam / 2 * (dot (fst nr) (fst nr) + snd nr * snd nr).
Lemma all_active lam rows r net : Forall (fun nr => dual_ok lam rows r (fst nr)) net ->
  lam / 2 * penalty net <= tout rows r net -> Forall (active lam rows r) net.
Proof.
  induction 1 as [|[w v] net Hw F IH]; intros T; [constructor|].
  rewrite tout_cons in T. cbn [penalty] in T. pose proof (tout_bound _ _ _ _ F) as TB.
  specialize (Hw v) as Hv. cbn [fst] in Hv.
  constructor; [unfold active; simpl; lra|apply IH; lra].
Qed.

Theorem opt_conditions lam rows y d net : length rows = length y -> optimal lam rows y d net ->
  (forall u, length u = d -> dual_ok lam rows (resid rows y net) u) /\
  Forall (active lam rows (resid rows y net)) net.
Proof.
  intros L O. assert (A : forall u, length u = d -> dual_ok lam rows (resid rows y net) u)
    by (intros; eapply opt_dual; eauto).
  split; auto. apply all_active; [|eapply opt_slack; eauto].
  destruct O as [W _]. eapply Forall_impl; [|exact W]. simpl. auto.
Qed.

(** (iii) the residual of every optimal network is close to any good dual point *)
Theorem resid_close lam rows y d net th : length rows = length y -> length rows = length th ->
  well_formed d net -> (forall u, length u = d -> dual_ok lam rows th u) ->
  / 2 * dot (vsub (resid rows y net) th) (vsub (resid rows y net) th)
    <= J lam rows y net - (dot y th - / 2 * dot th th).
Proof.
  intros L1 L2 W F. rewrite <- identity by auto. unfold J.
  assert (T : tout rows th net <= lam / 2 * penalty net).
  { apply tout_bound. eapply Forall_impl; [|exact W]. simpl. auto. }
  lra.
Qed.

(** the predictions of optimal networks are unique *)
Theorem predictions_unique lam rows y d N1 N2 : length rows = length y ->
  optimal lam rows y d N1 -> optimal lam rows y d N2 ->
  dot (vsub (resid rows y N1) (resid rows y N2)) (vsub (resid rows y N1) (resid rows y N2)) = 0.
Proof.
  intros L O1 O2. destruct (opt_conditions _ _ _ _ _ L O2) as [F2 A2].
  pose proof (resid_len N2 rows y L) as L2.
  destruct O1 as [W1 M1]. assert (O2' := O2). destruct O2' as [W2 M2].
  pose proof (resid_close lam rows y d N1 (resid rows y N2) L (eq_sym L2) W1 F2) as C.
  pose proof (identity N2 rows y (resid rows y N2) L (eq_sym L2)) as I.
  pose proof (opt_slack _ _ _ _ _ L O2) as S.
  specialize (M1 N2 W2).
  assert (Z : dot (vsub (resid rows y N2) (resid rows y N2)) (vsub (resid rows y N2) (resid rows y N2)) = 0).
  { generalize (resid rows y N2). induction l; simpl; auto. rewrite IHl. ring. }
  pose proof (dot_self_nonneg (vsub (resid rows y N1) (resid rows y N2))).
  unfold J in *. lra.
Qed.

(** ** Perturbation of theta *)
Fixpoint frob (rows : list (list R)) : R :=
  match rows with [] => 0 | z :: rows' => dot z z + frob rows' end.
Lemma hvec_frob u : forall rows, dot (hvec rows u) (hvec rows u) <= frob rows * dot u u.
Proof.
  induction rows as [|z rows IH]; simpl; [lra|].
  pose proof (cauchy z u). fold (hvec rows u).
  assert (relu (dot z u) * relu (dot z u) <= dot z u * dot z u).
  { unfold relu, Rmax. destruct Rle_dec; nra. }
  nra.
Qed.
(** an active neuron cannot sit where theta has slack mu *)
Lemma no_active lam lam' mu F rows th r u v :
  0 < mu -> 0 < F -> lam' + mu < lam -> frob rows <= F -> length r = length th ->
  F * dot (vsub r th) (vsub r th) <= mu * mu ->
  v * hsum rows th u <= lam' / 2 * (dot u u + v * v) ->
  active lam rows r (u, v) -> v = 0.
Proof.
  unfold active. simpl. intros Hmu HF Hl HFr L HD Hth Ha.
  pose proof (young (mu / F) v (vsub r th) (hvec rows u)) as Y.
  pose proof (hvec_frob u rows) as HH. pose proof (dot_self_nonneg u) as Hu.
  assert (HH' : dot (hvec rows u) (hvec rows u) <= F * dot u u) by nra.
  rewrite !hsum_dot in *. rewrite dot_vsub in Y by auto.
  set (q := dot (vsub r th) (vsub r th)) in *.
  set (hh := dot (hvec rows u) (hvec rows u)) in *.
  assert (Hm : 0 < mu / F) by (apply Rdiv_lt_0_compat; auto).
  assert (Hq : q <= mu * (mu / F)).
  { apply Rmult_le_reg_l with F; auto. replace (F * (mu * (mu / F))) with (mu * mu) by (field; lra). auto. }
  assert (A1 : mu / F * (mu / F) * hh <= mu / F * (mu * dot u u)).
  { replace (mu / F * (mu * dot u u)) with (mu / F * (mu / F) * (F * dot u u)) by (field; lra).
    apply Rmult_le_compat_l; auto. nra. }
  assert (A2 : v * v * q <= mu / F * (mu * (v * v))) by nra.
  assert (A3 : 2 * (v * (dot r (hvec rows u) - dot th (hvec rows u))) <= mu * (dot u u + v * v)).
  { apply Rmult_le_reg_l with (mu / F); auto. nra. }
  assert (A4 : (lam - lam' - mu) * (dot u u + v * v) <= 0) by nra.
  assert (v * v <= 0) by nra. nra.
Qed.


(** feasibility at u, squared *)
Lemma dual_ok_sq lam rows th u : 0 < lam -> dual_ok lam rows th u ->
  hsum rows th u * hsum rows th u <= lam * lam * dot u u.
Proof.
  intros Hl D. specialize (D (hsum rows th u / lam)).
  set (h := hsum rows th u) in *.
  assert (X : 2 * lam * (h / lam * h) <= 2 * lam * (lam / 2 * (dot u u + h / lam * (h / lam))))
    by (apply Rmult_le_compat_l; lra).
  replace (2 * lam * (h / lam * h)) with (2 * (h * h)) in X by (field; lra).
  replace (2 * lam * (lam / 2 * (dot u u + h / lam * (h / lam)))) with (lam * lam * dot u u + h * h)
    in X by (field; lra). lra.
Qed.

(** |t.(Zw)_+| <= lambda |w|, for the norm that the penalty sees *)
Definition seen_ok (lam : R) (m d : nat) (rows : list (list R)) (th : list R) : Prop := forall w v, length w = d ->
  v * hsum rows th w <= lam / 2 * (dot (firstn m w) (firstn m w) + v * v).
Lemma below_seen lam m d rows th : 0 <= lam -> (forall w, length w = d ->
  below (hsum rows th w) lam (firstn m w) /\ below (- hsum rows th w) lam (firstn m w)) -> seen_ok lam m d rows th.
Proof.
  intros Hl F w v Lw. destruct (F w Lw) as [K1 K2]. destruct (Rle_lt_dec 0 v) as [Hv|Hv]; [apply one_sided_dual; auto|].
  replace (v * hsum rows th w) with (- v * - hsum rows th w) by ring.
  replace (v * v) with (- v * - v) by ring. apply one_sided_dual; auto; lra.
Qed.
