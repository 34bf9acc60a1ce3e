(** * The narrowest optimal network: how many classes must have a neuron *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool Arith.
From Relu Require Import Spec Vectors Duality Checker Cones Soundness Upper Strict Tips Unique Existence Words.
Import ListNotations.
Open Scope R_scope.

(** If no neuron is in class j, the sum of rows B_j sees only what the other classes show of it, which is little: at
    most the sum of all v^2 times the most that a unit neuron shows. But B_j.(y - r) is known. *)
Open Scope Z_scope.
Section Check.
Variables (p : problem) (c : cover) (s : margin) (q : classes).
Let ln := p_lnum p * p_rden p * c_tden c.
(** the sum of all v^2 is at most 2 J / lambda *)
Definition most : Z := 2 * u_un (m_upper s) * p_lden p / (u_ud (m_upper s) * p_lnum p) + 1.
Definition must (j : nat) : bool :=
  let b := nth j (q_B q) [] in let nb := norm_up b in let F := Z.sqrt_up (frobeniusZ (p_rows p)) in
  let x := Z.abs (c_tden c * dotZ b (p_y p) - p_yden p * dotZ b (c_theta c)) in
  (nb * m_num s * p_rden p * (p_yden p * c_tden c) <? x * m_den s)
  && forallb (fun ja : nat * (Z * list Z) => Nat.eqb (fst ja) j ||
       let D := fst (snd ja) in
       (nb * m_num s * p_rden p * (p_yden p * c_tden c) * (p_rden p * (ln * D) * q_sd q)
        + most * (m_den s * (p_yden p * c_tden c)) *
          (Z.abs (hsumZ (p_rows p) b (snd (snd ja))) * (p_lden p * q_sd q) + nb * (q_sn q * F) * (ln * D))
        <? x * m_den s * (p_rden p * (ln * D) * q_sd q))) (q_at q).
Definition least_width : nat := length (filter must (seq 0 (q_m q))).
End Check.
Close Scope Z_scope.

Lemma tout_of_resid N : forall rows y b, length rows = length y -> tout rows b N = dot b y - dot b (resid rows y N).
Proof.
  induction rows as [|z rows IH]; intros [|yk y] [|bk b] L; simpl in *; try discriminate; try ring.
  rewrite (IH y b) by lia. ring.
Qed.
Fixpoint squares (l : list (nat * neuron)) : R :=
  match l with [] => 0 | (_, (_, v)) :: l' => v * v + squares l' end.
Lemma squares_penalty : forall net l, map snd l = filter weighty net -> squares l <= penalty net.
Proof.
  induction net as [|[w v] net IH]; intros l E; simpl in E.
  - destruct l; [simpl; lra|discriminate].
  - pose proof (dot_self_nonneg w). unfold weighty in E at 1. simpl in E. destruct (Req_EM_T v 0) as [->|Nv].
    + simpl. specialize (IH l E). nra.
    + destruct l as [|[j [w' v']] l]; simpl in E; [discriminate|]. injection E as -> -> E. simpl.
      specialize (IH l E). nra.
Qed.
(** a sum of small parts is small *)
Lemma small_sum phi V X : 0 < V -> 0 < X -> forall l, squares l <= V ->
  (forall j w v, In (j, (w, v)) l -> v <> 0 /\ exists b, Rabs (phi w) <= b * Rabs v /\ V * b < X) ->
  Rabs (St phi (map (fun l => (1, l)) l)) < X.
Proof.
  intros HV HX l HS H.
  assert (A : (l = [] \/ V * Rabs (St phi (map (fun l => (1, l)) l)) < X * squares l)).
  { clear HS. induction l as [|[j [w v]] l IH]; [left; auto|right].
    destruct (H j w v (or_introl eq_refl)) as (Nv & b & B1 & B2).
    assert (IH' : V * Rabs (St phi (map (fun l => (1, l)) l)) <= X * squares l).
    { destruct IH as [->|I]; [intros; eapply H; simpl; eauto|simpl; rewrite Rabs_R0; lra|lra]. }
    simpl. assert (PA : 0 < Rabs v) by (apply Rabs_pos_lt; auto).
    assert (V2 : Rabs v * Rabs v = v * v) by (rewrite <- Rabs_mult; apply Rabs_right; nra).
    eapply Rle_lt_trans; [apply Rmult_le_compat_l; [lra|apply Rabs_triang]|]. rewrite Rmult_1_l, Rabs_mult.
    assert (T : V * (Rabs v * Rabs (phi w)) < X * (v * v)).
    { apply Rle_lt_trans with (V * b * (v * v)).
      - rewrite <- V2. replace (V * b * (Rabs v * Rabs v)) with (V * (Rabs v * (b * Rabs v))) by ring.
        apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra.
      - apply Rmult_lt_compat_r; auto. nra. }
    lra. }
  destruct A as [->|A]; [simpl; rewrite Rabs_R0; auto|]. apply Rmult_lt_reg_l with V; auto.
  eapply Rlt_le_trans; [exact A|]. rewrite (Rmult_comm V). apply Rmult_le_compat_l; lra.
Qed.

(** no optimal network is narrower than least_width *)
Theorem least_width_sound p c s q : check_unique p c s q = true ->
  forall net, optimal_for p net -> (least_width p c s q <= length net)%nat.
Proof.
  intros E net O. unfold check_unique in E. destruct (run_strict p c s) as [[A B]|] eqn:Es; [|discriminate].
  destruct (strict_facts _ _ _ _ _ Es) as [ERun Eu]. destruct (run_sound _ _ _ _ ERun) as (Pf & Et & Elo & Lt & _).
  destruct (strict_reals _ _ _ _ _ Es) as (mu & Emu & Hmu & Hmn & Hmd & Hgg & Hml).
  assert (Ly := lengths_agree p Pf). assert (Hlam := lambda_pos p Pf).
  destruct (annotate _ _ _ _ _ _ _ Es E O) as (l & FL & EL & SL).
  destruct (unique_parts _ _ _ _ _ _ E) as (_ & _ & Sn0 & Sd0 & M2 & CG).
  pose proof (residual_in_ball _ _ _ _ _ net ERun Eu O) as RB. destruct (opt_conditions _ _ _ _ _ Ly O) as [Dr _].
  destruct (upper_sound _ _ Eu) as (Wu & Ju & Hud).
  assert (Fpos : (0 < frobeniusZ (p_rows p))%Z).
  { unfold run_strict in Es. destruct (strict_ok p c s) eqn:S; [|discriminate]. unfold strict_ok in S.
    destruct (merge _ _ _ _) as [[cf c0]|]; [|discriminate]. split_andb S. to_Prop. auto. }
  assert (hr := IZR_lt _ _ (pf_rden p Pf)). assert (ht := IZR_lt _ _ Et). assert (hy := IZR_lt _ _ (pf_yden p Pf)).
  assert (hld := IZR_lt _ _ (pf_lden p Pf)). assert (hln := IZR_lt _ _ (pf_lnum p Pf)).
  assert (hmn := IZR_lt _ _ Hmn). assert (hmd := IZR_lt _ _ Hmd). assert (hud := IZR_lt _ _ Hud).
  pose proof (spread_ok _ _ _ _ Pf Emu Hmd Sn0 Sd0 M2) as Hss. assert (hsn := IZR_lt _ _ Sn0).
  assert (hsd : 0 < IZR (q_sd q)) by (apply IZR_lt; lia).
  assert (HV : squares l <= IZR (most p s)).
  { eapply Rle_trans; [apply squares_penalty; exact EL|]. destruct O as [W0 O]. specialize (O _ Wu). unfold objective
    in Ju.
    assert (PJ : lambda_of p / 2 * penalty net <= upper_of (m_upper s)).
    { eapply Rle_trans; [|eapply Rle_trans; [exact O|exact Ju]]. unfold J.
      pose proof (loss_nonneg net (rows_of p) (y_of p)). lra. }
    unfold most. set (a := (2 * u_un (m_upper s) * p_lden p)%Z). set (b := (u_ud (m_upper s) * p_lnum p)%Z).
    assert (Hb : (0 < b)%Z) by (unfold b; pose proof (pf_lnum p Pf); nia).
    assert (D := Z.mul_succ_div_gt a b Hb). apply IZR_lt in D. rewrite mult_IZR in D. unfold Z.succ in D.
    apply Rmult_le_reg_l with (IZR b); [apply IZR_lt; auto|]. eapply Rle_trans; [|left; exact D].
    unfold a, b. rewrite !mult_IZR. unfold upper_of in PJ. unfold lambda_of in PJ.
    replace (IZR (u_ud (m_upper s)) * IZR (p_lnum p) * penalty net) with
      (2 * (IZR (u_ud (m_upper s)) * IZR (p_lden p)) * (IZR (p_lnum p) / IZR (p_lden p) / 2 * penalty net)) by (field;
        lra).
    eapply Rle_trans; [apply Rmult_le_compat_l; [|exact PJ]|apply Req_le; field; lra].
    apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra. }
  assert (IN : forall j, In j (filter (must p c s q) (seq 0 (q_m q))) -> In j (map fst l)).
  { intros j Ij. apply filter_In in Ij. destruct Ij as [_ Ej]. destruct (in_dec Nat.eq_dec j (map fst l)) as [|NI];
    auto.
    exfalso. unfold must in Ej. apply andb_prop in Ej. destruct Ej as [E1 E2]. set (b := nth j (q_B q) []) in *.
    set (nb := norm_up b) in *. set (F := Z.sqrt_up (frobeniusZ (p_rows p))) in *.
    set (x := Z.abs (c_tden c * dotZ b (p_y p) - p_yden p * dotZ b (c_theta c))) in *.
    destruct (norm_up_R b) as [Nb0 Nb]. fold nb in Nb0, Nb.
    set (r := resid (rows_of p) (y_of p) net) in *.
    assert (Lr : length r = length (theta_of c)) by (unfold r; rewrite resid_len; auto).
    set (phi := hsum (rows_of p) (iz b)).
    set (X := IZR x / (IZR (p_yden p) * IZR (c_tden c)) - IZR nb * (mu * IZR (p_rden p))).
    (* what is known of b.(y - r) *)
    assert (LOW : X <= Rabs (St phi (map (fun l => (1, l)) l))).
    { rewrite SL, Rmult_1_l. unfold phi. rewrite measure_tout, (tout_of_resid net _ (y_of p)) by auto. fold r.
      assert (R1 : Rabs (dot (iz b) (vsub r (theta_of c))) <= IZR nb * (mu * IZR (p_rden p))).
      { apply dot_abs_le; auto; [apply Rmult_le_pos; lra|]. eapply Rle_trans; [exact RB|].
        assert (FR := frobenius_R (p_rden p) hr (p_rows p)). fold (rows_of p) in FR. rewrite FR in Hgg.
        assert (F1 : 1 <= IZR (frobeniusZ (p_rows p))) by (apply IZR_le; lia).
        assert (G0 : 0 <= gap2 c (m_upper s)) by (eapply Rle_trans; [apply dot_self_nonneg|exact RB]).
        assert (Hgg' : IZR (frobeniusZ (p_rows p)) * gap2 c (m_upper s) <= mu * mu * (IZR (p_rden p) * IZR (p_rden p))).
        { apply Rmult_le_reg_r with (/ (IZR (p_rden p) * IZR (p_rden p))); [apply Rinv_0_lt_compat; nra|].
          replace (mu * mu * (IZR (p_rden p) * IZR (p_rden p)) * / (IZR (p_rden p) * IZR (p_rden p))) with (mu * mu)
            by (field; lra). unfold Rdiv in Hgg. lra. }
        nra. }
      assert (Ex : Rabs (dot (iz b) (y_of p) - dot (iz b) (theta_of c)) = IZR x / (IZR (p_yden p) * IZR (c_tden c))).
      { unfold x. rewrite abs_IZR, minus_IZR, !mult_IZR, !dotZ_R. unfold y_of, theta_of.
        rewrite !(dot_comm (iz b) (ratio _ _)), !ratio_dot, !(dot_comm _ (iz b)).
        replace (/ IZR (p_yden p) * dot (iz b) (iz (p_y p)) - / IZR (c_tden c) * dot (iz b) (iz (c_theta c))) with
          ((IZR (c_tden c) * dot (iz b) (iz (p_y p)) - IZR (p_yden p) * dot (iz b) (iz (c_theta c))) *
           / (IZR (p_yden p) * IZR (c_tden c))) by (field; lra).
        rewrite Rabs_mult, (Rabs_right (/ _)); [auto|]. left. apply Rinv_0_lt_compat. apply Rmult_lt_0_compat; auto. }
      rewrite diff_sees in R1 by auto. unfold X. rewrite <- Ex.
      pose proof (Rabs_triang (dot (iz b) (y_of p) - dot (iz b) r) (dot (iz b) r - dot (iz b) (theta_of c))) as T.
      replace (dot (iz b) (y_of p) - dot (iz b) r + (dot (iz b) r - dot (iz b) (theta_of c))) with
        (dot (iz b) (y_of p) - dot (iz b) (theta_of c)) in T by ring. lra. }
    assert (X0 : 0 < X).
    { unfold X. apply Z.ltb_lt, IZR_lt in E1. rewrite !mult_IZR in E1. rewrite Emu.
      assert (IZR nb * (IZR (m_num s) / IZR (m_den s) * IZR (p_rden p)) < IZR x / (IZR (p_yden p) * IZR (c_tden c)));
        [|lra].
      apply Rmult_lt_reg_r with (IZR (m_den s) * (IZR (p_yden p) * IZR (c_tden c))); [repeat apply Rmult_lt_0_compat;
        auto|].
      eapply Rle_lt_trans; [|eapply Rlt_le_trans; [exact E1|]]; apply Req_le; field; lra. }
    assert (HM : 0 < IZR (most p s)).
    { destruct (Rle_lt_dec (IZR (most p s)) 0) as [h|h]; auto. exfalso.
      assert (Z0 : Rabs (St phi (map (fun l => (1, l)) l)) = 0); [|lra].
      destruct l as [|[i [w v]] l0]; [simpl; apply Rabs_R0|]. exfalso.
      assert (P0 := Forall_inv FL). destruct P0 as (_ & P0 & _). simpl in P0, HV.
      assert (forall l, 0 <= squares l) by (clear; induction l as [|[i [w v]] l IH]; simpl; [lra|nra]).
      specialize (H l0). assert (0 < v * v) by (assert (v <> 0) by (intros ->; lra); nra). lra. }
    assert (HIGH : Rabs (St phi (map (fun l => (1, l)) l)) < X); [|lra].
    apply (small_sum phi (IZR (most p s))); auto. intros i w v I.
    rewrite Forall_forall in FL. destruct (FL _ I) as (_ & Pv & Lw & Aw & (a & Ia & Na) & _). simpl in *.
    assert (Nv : v <> 0) by (intros ->; lra). split; auto.
    assert (NE : i <> j) by (intros ->; apply NI; apply in_map_iff; exists (j, (w, v)); auto).
    rewrite forallb_forall in E2. specialize (E2 _ Ia). cbn [fst snd] in E2. apply orb_prop in E2.
    destruct E2 as [E2|E2]; [apply Nat.eqb_eq in E2; congruence|].
    assert (Ca := CG _ Ia). unfold check_at in Ca. cbn [fst snd] in Ca. split_andb Ca. to_Prop.
    destruct (active_norm _ _ _ _ _ _ Hlam Dr Lw Aw Nv) as [Qw _].
    assert (EL0 : scale_of p c a = IZR (p_lnum p * p_rden p * c_tden c * fst a) / IZR (p_lden p)).
    { unfold scale_of, unit_of, lambda_of. rewrite !mult_IZR. field. lra. }
    assert (hD : 0 < IZR (fst a)) by (apply IZR_lt; auto).
    assert (Hll : 0 < scale_of p c a).
    { unfold scale_of, unit_of. apply Rmult_lt_0_compat; [auto|]. apply Rmult_lt_0_compat; [|auto]. apply
      Rmult_lt_0_compat; auto. }
    assert (HCC : dot (iz (snd a)) (iz (snd a)) <= scale_of p c a * scale_of p c a).
    { match goal with h : (dotZ (snd a) (snd a) * _ <= _)%Z |- _ => apply IZR_le in h; rewrite mult_IZR, dotZ_R in h;
        rewrite !(mult_IZR (p_lnum p * p_rden p * c_tden c * fst a)) in h; rewrite mult_IZR in h; rewrite EL0;
        apply Rmult_le_reg_r with (IZR (p_lden p) * IZR (p_lden p)); [nra|]; eapply Rle_trans; [exact h|] end.
      apply Req_le. field. lra. }
    set (sr := IZR (q_sn q) / IZR (q_sd q)) in *. assert (Ps : 0 < sr) by (apply Rdiv_lt_0_compat; auto).
    assert (HF0 : 0 <= IZR F) by (apply IZR_le, Z.sqrt_up_nonneg).
    assert (NS : Rabs (hsum (map iz (p_rows p)) (iz b) w - Rabs v / scale_of p c a * hsum (map iz (p_rows p)) (iz b) (iz
      (snd a))) <= IZR nb * (sr * IZR F) * Rabs v).
    { unfold near_at in Na. cbn [fst snd] in Na. rewrite <- Emu in Na.
      apply (near_sum (iz (snd a)) w v (scale_of p c a) (lambda_of p) mu); auto; try lra.
      - unfold iz. rewrite map_length. congruence.
      - apply Rmult_le_pos; lra.
      - apply frob_spread; auto. }
    exists ((Rabs (hsum (map iz (p_rows p)) (iz b) (iz (snd a))) / scale_of p c a + IZR nb * (sr * IZR F)) / IZR
      (p_rden p)).
    split.
    - unfold phi, rows_of. rewrite hsum_rat, Rabs_mult, Rabs_right by (auto; left; apply Rinv_0_lt_compat; auto).
      set (H0 := hsum (map iz (p_rows p)) (iz b) (iz (snd a))) in *. set (H1 := hsum (map iz (p_rows p)) (iz b) w) in *.
      replace ((Rabs H0 / scale_of p c a + IZR nb * (sr * IZR F)) / IZR (p_rden p) * Rabs v) with
        (/ IZR (p_rden p) * (Rabs v / scale_of p c a * Rabs H0 + IZR nb * (sr * IZR F) * Rabs v)) by (field; lra).
      apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; auto|].
      pose proof (Rabs_triang (H1 - Rabs v / scale_of p c a * H0) (Rabs v / scale_of p c a * H0)) as T.
      replace (H1 - Rabs v / scale_of p c a * H0 + Rabs v / scale_of p c a * H0) with H1 in T by ring.
      rewrite (Rabs_mult (Rabs v / scale_of p c a)), (Rabs_right (Rabs v / scale_of p c a)) in T.
      2:{ apply Rle_ge. apply Rmult_le_pos; [apply Rabs_pos|left; apply Rinv_0_lt_compat; auto]. } lra.
    - apply IZR_lt in E2. rewrite plus_IZR in E2. rewrite ?mult_IZR, ?plus_IZR, ?mult_IZR, ?abs_IZR in E2.
      rewrite hsumZ_R in E2. set (H0 := hsum (map iz (p_rows p)) (iz b) (iz (snd a))) in *. unfold X, sr. rewrite Emu,
        EL0.
      rewrite !mult_IZR.
      set (K := IZR (p_lnum p) * IZR (p_rden p) * IZR (c_tden c) * IZR (fst a)) in *.
      assert (PK : 0 < K) by (unfold K; repeat apply Rmult_lt_0_compat; auto).
      set (Y := IZR (p_yden p) * IZR (c_tden c)) in *. assert (PY : 0 < Y) by (unfold Y; apply Rmult_lt_0_compat; auto).
      apply Rmult_lt_reg_r with (IZR (m_den s) * Y * (IZR (p_rden p) * K * IZR (q_sd q)));
        [repeat apply Rmult_lt_0_compat; auto|].
      replace (IZR (most p s) * ((Rabs H0 / (K / IZR (p_lden p)) + IZR nb * (IZR (q_sn q) / IZR (q_sd q) * IZR F)) /
          IZR (p_rden p)) * (IZR (m_den s) * Y * (IZR (p_rden p) * K * IZR (q_sd q)))) with
        (IZR (most p s) * (IZR (m_den s) * Y) * (Rabs H0 * (IZR (p_lden p) * IZR (q_sd q)) + IZR nb * (IZR (q_sn q) *
          IZR F) * K)) by (field; lra).
      replace ((IZR x / Y - IZR nb * (IZR (m_num s) / IZR (m_den s) * IZR (p_rden p))) *
          (IZR (m_den s) * Y * (IZR (p_rden p) * K * IZR (q_sd q)))) with
        (IZR x * IZR (m_den s) * (IZR (p_rden p) * K * IZR (q_sd q)) - IZR nb * IZR (m_num s) * IZR (p_rden p) * Y *
          (IZR (p_rden p) * K * IZR (q_sd q))) by (field; lra).
      lra. }
  assert (ND : NoDup (filter (must p c s q) (seq 0 (q_m q)))) by (apply NoDup_filter, seq_NoDup).
  pose proof (NoDup_incl_length ND IN) as LE. unfold least_width. rewrite map_length in LE.
  assert (LL : length l = length (filter weighty net)) by (rewrite <- EL, map_length; auto).
  assert (length (filter weighty net) <= length net)%nat by (clear; induction net as [|a net IH]; simpl; [lia|];
    destruct (weighty a); simpl; lia). lia.
Qed.

(** neurons on different rays are in different classes *)
Lemma classes_differ p c s q A B net : run_strict p c s = Some (A, B) -> optimal_for p net ->
  forall l, Forall (okn p c s q (resid (rows_of p) (y_of p) net)) l -> apart (map snd l) -> NoDup (map fst l).
Proof.
  intros Es O. destruct (strict_facts _ _ _ _ _ Es) as [ER _]. destruct (run_sound _ _ _ _ ER) as (Pf & _).
  assert (Hl := lambda_pos p Pf). destruct (opt_conditions _ _ _ _ _ (lengths_agree p Pf) O) as [Dr _].
  induction l as [|[j [e ve]] l IH]; intros F Ap; constructor.
  - intros I. apply in_map_iff in I. destruct I as ([j' [w v]] & Ej & I). simpl in Ej. subst j'.
    assert (F0 := Forall_inv F). assert (F1 := Forall_inv_tail F). rewrite Forall_forall in F1. specialize (F1 _ I).
    pose proof (class_parallel _ _ _ _ _ _ _ _ _ _ _ _ Es O F0 F1) as P.
    destruct F0 as (_ & Pe & Le & Ae & _). destruct F1 as (_ & Pw & _). simpl in *.
    assert (Ne : ve <> 0) by (intros ->; lra). destruct (active_norm _ _ _ _ _ _ Hl Dr Le Ae Ne) as [Qe _].
    assert (De : dot e e <> 0) by (rewrite Qe; nra). set (x := IZR (sgn q j)) in *.
    assert (W : w = vscale (x * v / (x * ve)) e).
    { apply (vscale_inj (x * ve)); [lra|]. rewrite vscale_vscale.
      replace (x * ve * (x * v / (x * ve))) with (x * v) by (field; split; intros Z; rewrite Z in *; lra). auto. }
    assert (P0 : 0 < x * v / (x * ve)) by (apply Rdiv_lt_0_compat; auto).
    assert (Z : on_ray e w = 0).
    { inversion Ap as [|? ? H0 ?]. rewrite Forall_forall in H0. apply (H0 (w, v)). apply in_map_iff.
      exists (j, (w, v)). auto. }
    rewrite W, on_ray_scale in Z; auto; lra.
  - apply IH; [exact (Forall_inv_tail F)|]. inversion Ap; auto.
Qed.

(** The narrowest optimal network: all others are this one, up to permutation and splitting, and its width is known. *)
Theorem narrowest p c s q : check_unique p c s q = true ->
  exists M, optimal_for p M /\ (forall N, optimal_for p N -> same_neurons N M /\ (length M <= length N)%nat) /\
    (least_width p c s q <= length M <= q_m q)%nat.
Proof.
  intros E. destruct (narrowest_apart _ _ _ _ E) as (M & O & U & Ap & NZ). exists M.
  split; [exact O|]. split; [exact U|]. split.
  - apply least_width_sound; auto.
  - unfold check_unique in E. destruct (run_strict p c s) as [[A B]|] eqn:Es; [|discriminate].
    destruct (annotate _ _ _ _ _ _ _ Es E O) as (l & F & EL & _).
    assert (EM : filter weighty M = M).
    { clear - NZ. induction NZ as [|[w v] M Nv _ IH]; simpl; auto. unfold weighty. simpl in *.
      destruct (Req_EM_T v 0); [tauto|]. fold weighty. f_equal. exact IH. }
    rewrite EM in EL. rewrite <- EL in Ap. pose proof (classes_differ _ _ _ _ _ _ _ Es O l F Ap) as ND.
    rewrite <- EL, map_length, <- (map_length fst), <- (seq_length (q_m q) 0). apply NoDup_incl_length; auto.
    intros j I. apply in_map_iff in I. destruct I as (a & <- & I). rewrite Forall_forall in F.
    apply in_seq. destruct (F _ I) as [J _]. simpl. lia.
Qed.
