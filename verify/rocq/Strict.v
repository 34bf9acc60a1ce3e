(** * Where the neurons of every optimal network lie, and the weight that near-optimal networks have elsewhere *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool.
From Relu Require Import Spec Vectors Duality Checker Cones Soundness Upper.
Import ListNotations.
Open Scope R_scope.

(** r* is the residual of the optimal networks, |r* - theta|^2 <= 2 (upper - lower) =: gap2, and |Z|_F bounds what a
    change of theta changes in h. So no neuron lies where h <= lambda' |.|, if lambda' + |Z|_F sqrt(gap2) < lambda. *)
Record margin := Margin { m_upper : upper; m_num : Z; m_den : Z }.   (* |Z|_F sqrt(gap2) <= m_num/m_den *)

Definition frobeniusZ (rows : list (list Z)) : Z := fold_right (fun z a => (dotZ z z + a)%Z) 0%Z rows.

Open Scope Z_scope.
Definition strict_ok (p : problem) (c : cover) (s : margin) : bool :=
  let u := m_upper s in let F := frobeniusZ (p_rows p) in
  match merge (c_reps c) (p_rows p) (c_theta c) (c_merge c) with None => false | Some (cf, _) =>
  let radius := c_lam0 c + rounding (pos_part (c_reps c) cf) (pos_part (c_reps c) (map Z.opp cf)) (p_dim p) in
  let den := c_qnum c * (p_rden p * c_tden c) in      (* lambda' = radius qden / den *)
  check_upper p u && (0 <? m_num s) && (0 <? m_den s) && (0 <? F)
  && ((radius * c_qden c * m_den s + m_num s * den) * p_lden p <? p_lnum p * (den * m_den s))
  && (F * (2 * (u_un u * c_lowd c - c_lown c * u_ud u)) * (m_den s * m_den s)
      <=? m_num s * m_num s * (p_rden p * p_rden p * (u_ud u * c_lowd c)))
  end.
Close Scope Z_scope.
Definition run_strict (p : problem) (c : cover) (s : margin) : option (list spot * list spot) :=
  if strict_ok p c s then run p c else None.

Lemma frobenius_R rd : 0 < IZR rd -> forall rows,
  frob (map (ratio rd) rows) = IZR (frobeniusZ rows) / (IZR rd * IZR rd).
Proof.
  intros hr. induction rows; simpl; [field; lra|].
  rewrite IHrows, ratio_dot2, <- dotZ_R, plus_IZR. field; lra.
Qed.

(** the squared distance of theta from the residual of every optimal network *)
Definition gap2 (c : cover) (u : upper) : R := 2 * (upper_of u - lower_of c).
Lemma residual_in_ball p c A B u net : run p c = Some (A, B) -> check_upper p u = true -> optimal_for p net ->
  dot (vsub (resid (rows_of p) (y_of p) net) (theta_of c)) (vsub (resid (rows_of p) (y_of p) net) (theta_of c))
    <= gap2 c u.
Proof.
  intros ER EU [W O]. destruct (run_sound _ _ _ _ ER) as (Pf & _ & _ & Lt & _ & Low & _ & Fe & _).
  destruct (upper_sound _ _ EU) as (Wu & Ju & _). specialize (O _ Wu). unfold objective in Ju.
  assert (Ly : length (rows_of p) = length (y_of p)).
  { unfold rows_of, y_of, ratio. rewrite !map_length. apply pf_len; auto. }
  assert (Df : forall u, length u = p_dim p -> dual_ok (lambda_of p) (rows_of p) (theta_of c) u).
  { intros v Lv. apply feasible_dual_ok; auto. left. apply lambda_pos; auto. }
  pose proof (resid_close _ _ _ _ net (theta_of c) Ly Lt W Df) as RC. unfold gap2. lra.
Qed.

(** An active neuron has no part that the rows do not see; so it lies in the cone, not only over it. *)
Lemma active_norm lam rows r d w v : 0 < lam ->
  (forall u, length u = d -> dual_ok lam rows r u) -> length w = d ->
  active lam rows r (w, v) -> v <> 0 -> dot w w = v * v /\ hsum rows r w = lam * v.
Proof.
  unfold active. simpl. intros Hl D L A Hv.
  pose proof (D w L) as Dw. pose proof (dual_ok_sq lam rows r w Hl Dw) as S.
  set (h := hsum rows r w) in *. set (q := dot w w) in *.
  (* v h = lam/2 (q + v^2), h^2 <= lam^2 q  =>  (q - v^2)^2 <= 0 *)
  assert (E : (v * h) * (v * h) <= v * v * (lam * lam * q)) by nra.
  rewrite A in E.
  assert (E2 : lam * lam * ((q - v * v) * (q - v * v)) <= 0) by nra.
  assert (E3 : (q - v * v) * (q - v * v) = 0).
  { pose proof (Rle_0_sqr (q - v * v)) as P. unfold Rsqr in P.
    assert (PL : 0 < lam * lam) by nra.
    destruct (Rle_lt_or_eq_dec _ _ P) as [p|p]; auto.
    pose proof (Rmult_lt_0_compat _ _ PL p). lra. }
  apply Rmult_integral in E3. assert (Q : q = v * v) by (destruct E3; lra). split; auto.
  rewrite Q in A. apply Rmult_eq_reg_l with v; auto. lra.
Qed.
Lemma hsum_seen rd rows w w1 : (forall z, In z rows -> dot (iz z) w1 = dot (iz z) w) -> forall r,
  hsum (map (ratio rd) rows) r w1 = hsum (map (ratio rd) rows) r w.
Proof.
  intros H. induction rows as [|z rows IH]; intros [|t r]; simpl; auto.
  rewrite !ratio_dot, (H z) by (simpl; auto). rewrite IH; auto. intros; apply H; simpl; auto.
Qed.
Lemma active_pinned p basis null r x s w v : 0 < lambda_of p -> orthogonal (p_rows p) null = true ->
  (forall u, length u = p_dim p -> dual_ok (lambda_of p) (rows_of p) r u) -> length w = p_dim p ->
  active (lambda_of p) (rows_of p) r (w, v) -> v <> 0 -> pinned_over basis null x w s -> pinned x w s.
Proof.
  intros Hl Or D Lw Ac Nv (w1 & RP & (y & Ly & Fy & Hy & HR & HD & Hc)).
  destruct (active_norm _ _ _ _ _ _ Hl D Lw Ac Nv) as [Q H].
  assert (S : hsum (rows_of p) r w1 = hsum (rows_of p) r w).
  { apply hsum_seen. intros z Iz. apply (rp_sees _ _ _ _ RP). intros b Ib.
    unfold orthogonal in Or. rewrite forallb_forall in Or. specialize (Or z Iz). rewrite forallb_forall in Or.
    specialize (Or b Ib). apply Z.eqb_eq in Or. rewrite <- dotZ_R, Or. auto. }
  pose proof (dual_ok_sq _ _ _ _ Hl (D w1 (eq_trans (rp_length _ _ _ _ RP) Lw))) as B. rewrite S, H in B.
  assert (Le : dot w w <= dot w1 w1).
  { rewrite Q. assert (0 < lambda_of p * lambda_of p) by nra.
    apply Rmult_le_reg_l with (lambda_of p * lambda_of p); auto. lra. }
  exists y. repeat split; auto; [intros a|]; rewrite (rp_all _ _ _ _ RP Le); auto.
Qed.

(** Every neuron of every optimal network, of any width, lies in the cone of a listed leaf of its sign, or is zero. *)
Theorem neurons_in_cones p c s A B : run_strict p c s = Some (A, B) -> forall net, optimal_for p net ->
  forall w v, In (w, v) net ->
    (0 < v -> exists x, In x A /\ pinned (unit_of p c * hsum (rows_of p) (theta_of c) w) w x) /\
    (v < 0 -> exists x, In x B /\ pinned (unit_of p c * - hsum (rows_of p) (theta_of c) w) w x) /\
    (v = 0 -> dot w w = 0).
Proof.
  unfold run_strict. intros E net O w v I. destruct (strict_ok p c s) eqn:ES; [|discriminate].
  destruct (run_sound _ _ _ _ E) as (Pf & Ht & Hlo & Lt & Eort & Low & (HL0 & HLL) & Fe & KA & KB).
  unfold strict_ok in ES. unfold strict_lambda in *.
  assert (Eqn : (0 < c_qnum c)%Z).
  { unfold run in E. destruct (merge _ _ _ _) as [[cf' c0']|]; [|discriminate].
    destruct (0 <? c_qnum c)%Z eqn:Q; [apply Z.ltb_lt; auto|]. rewrite !andb_false_r in E. discriminate. }
  destruct (merge _ _ _ _) as [[cf c0]|] eqn:EM; [|discriminate].
  set (radius := (c_lam0 c + rounding _ _ _)%Z) in *.
  split_andb ES. to_Prop. rename ES into EU.
  pose proof (residual_in_ball _ _ _ _ _ net E EU O) as RB.
  assert (Ly : length (rows_of p) = length (y_of p)).
  { unfold rows_of, y_of, ratio. rewrite !map_length. apply pf_len; auto. }
  destruct (opt_conditions _ _ _ _ _ Ly O) as [Dr Ac].
  destruct (upper_sound _ _ EU) as (_ & _ & Hud).
  assert (Lw : length w = p_dim p).
  { destruct O as [W _]. unfold well_formed in W. rewrite Forall_forall in W. exact (W (w, v) I). }
  rewrite Forall_forall in Ac. specialize (Ac (w, v) I).
  set (r := resid (rows_of p) (y_of p) net) in *.
  assert (Hlam := lambda_pos p Pf). destruct Pf as [Hr Hy Hln Hld Hpl].
  assert (hr := IZR_lt _ _ Hr). assert (ht := IZR_lt _ _ Ht). assert (hld := IZR_lt _ _ Hld).
  assert (hmn := IZR_lt _ _ ES4). assert (hmd := IZR_lt _ _ ES3). assert (hF := IZR_lt _ _ ES2).
  assert (hud := IZR_lt _ _ Hud). assert (hlo := IZR_lt _ _ Hlo). assert (hqn := IZR_lt _ _ Eqn).
  set (mu := IZR (m_num s) / IZR (m_den s)).
  set (lam' := IZR radius * (IZR (c_qden c) / IZR (c_qnum c)) / (IZR (p_rden p) * IZR (c_tden c))) in *.
  assert (Hmu : 0 < mu) by (apply Rdiv_lt_0_compat; auto).
  set (F := IZR (frobeniusZ (p_rows p)) / (IZR (p_rden p) * IZR (p_rden p))).
  assert (HFp : 0 < F) by (apply Rdiv_lt_0_compat; auto; apply Rmult_lt_0_compat; auto).
  assert (HFf : frob (rows_of p) <= F) by (unfold rows_of; rewrite frobenius_R by auto; unfold F; lra).
  assert (Hl : lam' + mu < lambda_of p).
  { unfold lam', mu, lambda_of. apply IZR_lt in ES1. rewrite ?mult_IZR, ?plus_IZR, ?mult_IZR in ES1.
    apply Rmult_lt_reg_r with (IZR (p_lden p) * (IZR (c_qnum c) * (IZR (p_rden p) * IZR (c_tden c)) * IZR (m_den s))).
    { repeat apply Rmult_lt_0_compat; auto. }
    eapply Rle_lt_trans; [|eapply Rlt_le_trans; [exact ES1|]]; apply Req_le; field; repeat split; lra. }
  assert (Hq : F * dot (vsub r (theta_of c)) (vsub r (theta_of c)) <= mu * mu).
  { apply Rle_trans with (F * gap2 c (m_upper s)); [apply Rmult_le_compat_l; lra|].
    apply IZR_le in ES0. rewrite ?mult_IZR, ?minus_IZR, ?mult_IZR in ES0.
    unfold F, mu, gap2, upper_of, lower_of.
    apply Rmult_le_reg_r with (IZR (p_rden p) * IZR (p_rden p) * (IZR (u_ud (m_upper s)) * IZR (c_lowd c))
       * (IZR (m_den s) * IZR (m_den s))).
    { repeat apply Rmult_lt_0_compat; auto. }
    eapply Rle_trans; [|eapply Rle_trans; [exact ES0|]]; apply Req_le; field; repeat split; lra. }
  assert (Lr : length r = length (theta_of c)) by (unfold r; rewrite resid_len; auto).
  repeat split.
  - intros Hv. destruct (KA w Lw) as [K|(G & IG & K)]; [exfalso|].
    2:{ exists G. split; auto. eapply active_pinned; eauto. lra. }
    pose proof (one_sided_dual lam' _ w v HL0 ltac:(lra) K) as B1.
    assert (v = 0) by (eapply (no_active (lambda_of p) lam' mu F); eauto). lra.
  - intros Hv. destruct (KB w Lw) as [K|(G & IG & K)]; [exfalso|].
    2:{ exists G. split; auto. eapply active_pinned; eauto. lra. }
    pose proof (one_sided_dual lam' _ w (- v) HL0 ltac:(lra) K) as B1.
    assert (B' : v * hsum (rows_of p) (theta_of c) w <= lam' / 2 * (dot w w + v * v)) by lra.
    assert (v = 0) by (eapply (no_active (lambda_of p) lam' mu F); eauto). lra.
  - intros ->. unfold active in Ac. simpl in Ac. pose proof (dot_self_nonneg w). nra.
Qed.

(** ** Near-optimal networks: the squared weight off the cones is at most 2 (J(net) - lower)/(lambda - lambda') *)
Definition marked (l : list (bool * neuron)) : network := map snd (filter fst l).
Definition in_listed (c : cover) (A B : list spot) (nr : neuron) : Prop :=
  (0 < snd nr /\ exists x, In x A /\ in_shadow (c_basis c) (c_null c) (map fst (fst x)) (fst nr)) \/
  (snd nr < 0 /\ exists x, In x B /\ in_shadow (c_basis c) (c_null c) (map fst (fst x)) (fst nr)).

Theorem near_optimal p c A B : run p c = Some (A, B) ->
  forall net, well_formed (p_dim p) net -> exists l : list (bool * neuron),
    map snd l = net /\ (forall nr, In (false, nr) l -> in_listed c A B nr) /\
    (lambda_of p - strict_lambda p c) / 2 * penalty (marked l) <= objective p net - lower_of c.
Proof.
  intros E net W. destruct (run_sound _ _ _ _ E) as (Pf & _ & _ & Lt & _ & Low & (HL0 & HLL) & Fe & KA & KB).
  assert (Ly : length (rows_of p) = length (y_of p)).
  { unfold rows_of, y_of, ratio. rewrite !map_length. apply pf_len; auto. }
  assert (Hlam := lambda_pos p Pf). set (lam' := strict_lambda p c) in *.
  pose proof (identity net _ _ _ Ly Lt) as ID.
  pose proof (dot_self_nonneg (vsub (resid (rows_of p) (y_of p) net) (theta_of c))) as SQ.
  assert (M : exists l, map snd l = net /\ (forall nr, In (false, nr) l -> in_listed c A B nr) /\
    (lambda_of p - lam') / 2 * penalty (marked l)
      <= lambda_of p / 2 * penalty net - tout (rows_of p) (theta_of c) net).
  { clear ID SQ. induction net as [|[w v] net IH].
    - exists []. simpl. repeat split; try tauto. rewrite tout_nil. lra.
    - assert (Lw := Forall_inv W). simpl in Lw.
      destruct (IH (Forall_inv_tail W)) as (l & El & Il & Bl).
      pose proof (feasible_dual_ok _ _ _ w (Rlt_le _ _ Hlam) (Fe w Lw) v) as Dw. pose proof (dot_self_nonneg w) as Hw.
      assert (C : in_listed c A B (w, v) \/
                  v * hsum (rows_of p) (theta_of c) w <= lam' / 2 * (dot w w + v * v)).
      { destruct (total_order_T 0 v) as [[hp|h0]|hn].
        - destruct (KA w Lw) as [K|(x & Ix & w1 & RP & PC)]; [|left; left; split; auto; exists x; split; auto;
            exists w1; split; auto; eapply pinned_cone; eauto].
          right. apply one_sided_dual; auto. lra.
        - right. rewrite <- h0. nra.
        - destruct (KB w Lw) as [K|(x & Ix & w1 & RP & PC)]; [|left; right; split; auto; exists x; split; auto;
            exists w1; split; auto; eapply pinned_cone; eauto].
          right. pose proof (one_sided_dual lam' _ w (- v) HL0 ltac:(lra) K). lra. }
      rewrite tout_cons. cbn [penalty]. destruct C as [C|C].
      + exists ((false, (w, v)) :: l). split; [simpl; congruence|]. split.
        * intros nr [Eq|I]; [injection Eq as <-; auto|auto].
        * change (marked ((false, (w, v)) :: l)) with (marked l). lra.
      + exists ((true, (w, v)) :: l). split; [simpl; congruence|]. split.
        * intros nr [Eq|I]; [discriminate|auto].
        * change (marked ((true, (w, v)) :: l)) with ((w, v) :: marked l). cbn [penalty]. lra. }
  destruct M as (l & El & Il & Bl). exists l. repeat split; auto. unfold objective, J. lra.
Qed.
