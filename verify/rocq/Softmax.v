(** * The softmax cross-entropy: both bounds, by chances P = Y - Theta and logarithms that are checked as exponentials

    For p >= 0, p <= exp L: p (f - m - L) <= exp (f - m) - p. With m = ln sum_c exp f_c and sum_c p_c = 1 the sum over the
    classes is sum_c p_c (f_c - L_c) <= m: the loss is at least - sum p L - Theta.f, and Theta.f at most the penalty. *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool.
From Relu Require Import Spec Vectors Duality Checker Cones Soundness Upper Leaders Terms Outputs.
Import ListNotations.
Open Scope R_scope.

(** ** The checkers *)
Open Scope Z_scope.
(** a column of P, over yd td *)
Definition chances (yd td : Z) (y th : list Z) : list Z := axpy (- yd) th (map (Z.mul td) y).
(** the numerator of - sum a L over D e_den, L >= ln (a/D) where a > 0; None where something is wrong *)
Fixpoint columnZ (x : exps) (D : Z) (A logs : list Z) : option Z :=
  match A, logs with
  | [], _ => Some 0
  | a :: A', L :: logs' =>
      if (0 <=? a) && ((a =? 0) || exp_above (e_K x) (e_B x) L (e_den x) a D)
      then match columnZ x D A' logs' with Some s => Some (s - a * L) | None => None end
      else None
  | _, _ => None end.
(** all columns: the sum of the numerators, and of the columns *)
Fixpoint columnsZ (x : exps) (yd td : Z) (Y Th logs : list (list Z)) : option (Z * list Z) :=
  match Y, Th, logs with
  | [], [], _ => Some (0, [])
  | y :: Y', th :: Th', l :: logs' =>
      let A := chances yd td y th in
      match columnZ x (yd * td) A l, columnsZ x yd td Y' Th' logs' with
      | Some s, Some (s', T) => if Nat.eqb (length A) (length y) then Some (s + s', axpy 1 A T) else None
      | _, _ => None end
  | _, _, _ => None end.
Definition of_softmax (p : problem) (t : terms) (Y : list (list Z)) : bool :=
  t_logistic t && Nat.eqb (t_seen t) (p_dim p) && negb (Nat.eqb (length Y) 0)
  && forallb (fun y => Nat.eqb (length y) (length (p_y p))) Y.
Definition check_soft (p : problem) (t : terms) (Y : list (list Z)) (e : wide) (Th : list (list Z)) (td : Z) (x : exps)
    (logs : list (list Z)) (lown lowd : Z) : bool :=
  of_softmax p t Y && wide_feasible p e && terms_ok p t && (0 <? td) && (0 <? lowd) && (0 <? e_den x)
  && spread_ok p t td (w_tden e) Y Th (w_T e)
  && match columnsZ x (p_yden p) td Y Th logs with
     | Some (s, T) => zeroZ (axpy (- (p_yden p * td)) (map (fun _ => 1) (p_y p)) T)
         && (lown * (p_yden p * td * e_den x) <=? lowd * s)
     | None => false end.

(** An upper bound: U >= ln sum_c exp f_c for each row, because E >= exp (f_c - U) for each output, and sum_c E <= 1. *)
Fixpoint boundedZ (x : exps) (A : Z) (f Us Es : list Z) : bool :=
  match f, Us, Es with
  | [], [], [] => true
  | b :: f', U :: Us', E :: Es' =>
      (0 <? E) && exp_above (e_K x) (e_B x) (U * A - b * e_den x) (A * e_den x) (e_den x) E && boundedZ x A f' Us' Es'
  | _, _, _ => false end.
Fixpoint bounded_columns (p : problem) (t : terms) (x : exps) (A : Z) (c : nat) (Y : list (list Z)) (u : wide_fit)
    (Us : list Z) (Es : list (list Z)) : option (list Z) :=
  match Y, Es with
  | [], _ => Some []
  | _ :: Y', E :: Es' =>
      if boundedZ x A (predictionsZ p t (outputZ c u)) Us E then
        match bounded_columns p t x A (S c) Y' u Us Es' with Some T => Some (plusZ E T) | None => None end
      else None
  | _, _ => None end.
Fixpoint aimedZ (p : problem) (t : terms) (c : nat) (Y : list (list Z)) (u : wide_fit) : Z :=
  match Y with [] => 0 | y :: Y' => dotZ y (predictionsZ p t (outputZ c u)) + aimedZ p t (S c) Y' u end.
Definition totalZ (l : list Z) : Z := fold_right Z.add 0 l.
Definition check_soft_fit (p : problem) (t : terms) (Y : list (list Z)) (u : wide_fit) (x : exps) (Us : list Z)
    (Es : list (list Z)) : bool :=
  let wd2 := x_wden u * x_wden u in
  let A := out_den p t (outputZ 0 u) * (t_fden t * x_bden u) in
  let q := e_den x * (p_yden p * A) in
  of_softmax p t Y && terms_ok p t && (0 <? x_wden u) && (0 <? x_bden u) && (0 <? x_ud u) && (0 <? e_den x)
  && forallb (fun nr => Nat.eqb (length (fst nr)) (p_dim p)) (x_net u)
  && match bounded_columns p t x A 0 Y u Us Es with
     | Some T => forallb (fun E => E <=? e_den x) T
         && (((totalZ Us * (p_yden p * A) - e_den x * aimedZ p t 0 Y u) * (2 * p_lden p * wd2)
              + p_lnum p * wide_penaltyZ (x_net u) * q) * x_ud u <=? x_un u * (q * (2 * p_lden p * wd2)))
     | None => false end.
Close Scope Z_scope.

Lemma some_output p t Y : of_softmax p t Y = true -> Nat.eqb (length Y) 0 = false.
Proof. unfold of_softmax. intros E. split_andb E. apply negb_true_iff. assumption. Qed.

(** ** From below *)
Lemma chance_below a l f m : 0 <= a -> (a = 0 \/ a <= exp l) -> - (a * l) <= exp f * exp (- m) - a - a * f + a * m.
Proof.
  intros Ha H. rewrite <- exp_plus. destruct H as [->|H]; [pose proof (exp_pos (f + - m)); lra|].
  replace (f + - m) with (l + (f - m - l)) by ring. rewrite exp_plus.
  pose proof (exp_ineq1_le (f - m - l)) as G. pose proof (exp_pos (f - m - l)) as P. set (z := exp (f - m - l)) in *.
  assert (a * (1 + (f - m - l)) <= a * z) by (apply Rmult_le_compat_l; auto).
  assert (a * z <= exp l * z) by (apply Rmult_le_compat_r; lra). lra.
Qed.
Definition ones (m : list R) : list R := map (fun _ => 1) m.
Definition decays (m : list R) : list R := map (fun x => exp (- x)) m.
Lemma column_R x D : 0 < IZR D -> 0 < IZR (e_den x) -> forall A logs s f m, columnZ x D A logs = Some s ->
  length f = length A -> length m = length A ->
  IZR s / (IZR D * IZR (e_den x)) <=
  dot (map exp f) (decays m) - / IZR D * dot (iz A) (ones m) - / IZR D * dot (iz A) f + / IZR D * dot (iz A) m.
Proof.
  intros hD he. induction A as [|a A IH]; intros logs s f m E Lf Lm; cbn [columnZ] in E.
  - injection E as <-. destruct f; [|discriminate]. simpl. unfold Rdiv. lra.
  - destruct logs as [|L logs]; [discriminate|]. destruct (_ && _)%bool eqn:C in E; [|discriminate].
    destruct (columnZ x D A logs) as [s0|] eqn:E0; [|discriminate]. injection E as <-.
    destruct f as [|b f]; [discriminate|]. destruct m as [|c m]; [discriminate|].
    specialize (IH logs s0 f m E0 ltac:(simpl in Lf; lia) ltac:(simpl in Lm; lia)).
    apply andb_prop in C. destruct C as [C1 C2]. apply Z.leb_le, IZR_le in C1.
    assert (K : IZR a / IZR D = 0 \/ IZR a / IZR D <= exp (IZR L / IZR (e_den x))).
    { apply orb_prop in C2. destruct C2 as [C2|C2].
      - left. apply Z.eqb_eq in C2. rewrite C2. unfold Rdiv. ring.
      - right. apply (exp_above_R _ _ _ _ _ _ C2). }
    assert (A0 : 0 <= IZR a / IZR D) by (apply Rmult_le_pos; [exact C1|left; apply Rinv_0_lt_compat; auto]).
    pose proof (chance_below _ _ b c A0 K) as Q. cbn [map decays ones iz dot].
    fold (decays m) (ones m) (iz A).
    replace (IZR (s0 - a * L) / (IZR D * IZR (e_den x))) with
      (IZR s0 / (IZR D * IZR (e_den x)) - IZR a / IZR D * (IZR L / IZR (e_den x)))
      by (rewrite minus_IZR, mult_IZR; field; lra).
    unfold Rdiv in *. lra.
Qed.
(** every output, for any m: what the columns of P sum to is left *)
Lemma columns_R p t e td x net beta m : 0 < IZR td -> 0 < IZR (w_tden e) -> 0 < IZR (e_den x) -> terms_ok p t = true ->
  length m = length (p_y p) -> forall Y Th Ts logs c s T, spread_ok p t td (w_tden e) Y Th Ts = true ->
  columnsZ x (p_yden p) td Y Th logs = Some (s, T) ->
  length (exp_sums p t c Y net beta) = (if Nat.eqb (length Y) 0 then 0 else length (p_y p))%nat /\
  IZR s / (IZR (p_yden p * td) * IZR (e_den x)) <= dot (exp_sums p t c Y net beta) (decays m)
    - / IZR (p_yden p * td) * dot (iz T) (ones m) + / IZR (p_yden p * td) * dot (iz T) m
    - aimed p t c Y net beta + touts p e c Ts net.
Proof.
  intros ht hT he OK Lm. unfold terms_ok in OK. split_andb OK. to_Prop.
  assert (hy : 0 < IZR (p_yden p)) by (apply IZR_lt; auto).
  assert (hD : 0 < IZR (p_yden p * td)) by (rewrite mult_IZR; apply Rmult_lt_0_compat; auto).
  set (D := (p_yden p * td)%Z) in *.
  induction Y as [|y Y IH]; intros [|th Th] [|T0 Ts] logs c s T E EC; cbn [spread_ok] in E; try discriminate;
    cbn [columnsZ] in EC.
  - injection EC as <- <-. split; auto. simpl. unfold Rdiv. lra.
  - destruct logs as [|l logs]; [discriminate|]. cbn [exp_sums aimed touts]. split_andb E. to_Prop.
    set (A := chances (p_yden p) td y th) in *. fold D in EC.
    destruct (columnZ x D A l) as [s1|] eqn:K1; [|discriminate].
    destruct (columnsZ x (p_yden p) td Y Th logs) as [[s2 T2]|] eqn:K2; [|discriminate].
    destruct (Nat.eqb_spec (length A) (length y)) as [LA|]; [|discriminate]. injection EC as <- <-.
    destruct (IH Th Ts logs (S c) s2 T2 ltac:(assumption) K2) as (LS & Q).
    destruct (predictions_seen p t th td T0 (w_tden e) (output c net) (nth c beta [])) as (LF & D0);
      auto; try (apply IZR_lt; auto; fail).
    set (f := predictions p t (output c net) (nth c beta [])) in *.
    assert (LfA : length f = length A) by congruence. assert (LmA : length m = length A) by congruence.
    pose proof (column_R x D hD he A l s1 f m K1 LfA LmA) as C.
    assert (Af : / IZR D * dot (iz A) f = dot (ratio (p_yden p) y) f - dot (ratio td th) f).
    { unfold A, chances. rewrite axpy_R, scale_R, opp_IZR, !ratio_dot. unfold D. rewrite mult_IZR. field. lra. }
    rewrite added_len, map_length. split; [simpl; congruence|].
    rewrite (dot_comm _ (decays m)), dot_added, (dot_comm (decays m)), (dot_comm (decays m)).
    2:{ rewrite LS. destruct Y; [left; reflexivity|right; cbn; rewrite map_length; congruence]. }
    rewrite !axpy_R, plus_IZR, Rmult_1_l. unfold Rdiv in *. rewrite Rmult_plus_distr_r. lra.
Qed.
Lemma added_pos : forall a b, Forall (Rlt 0) a -> Forall (Rlt 0) b -> Forall (Rlt 0) (added a b).
Proof.
  induction a as [|x a IH]; intros [|y b] Fa Fb; simpl; auto. constructor; [|apply IH; eapply Forall_inv_tail; eauto].
  pose proof (Forall_inv Fa). pose proof (Forall_inv Fb). simpl in *. lra.
Qed.
Lemma exp_sums_pos p t net beta : forall Y c, Forall (Rlt 0) (exp_sums p t c Y net beta).
Proof.
  induction Y as [|y Y IH]; intros c; cbn [exp_sums]; [constructor|]. apply added_pos; auto. rewrite Forall_map.
  apply Forall_forall. intros f _. apply exp_pos.
Qed.
Lemma at_logarithms : forall S, Forall (Rlt 0) S -> dot S (decays (map ln S)) = dot (ones S) (ones S).
Proof.
  induction 1 as [|s S Hs _ IH]; [reflexivity|]. cbn [map decays ones dot]. fold (decays (map ln S)) (ones S). rewrite IH.
  rewrite exp_Ropp, exp_ln by auto. field. lra.
Qed.
Lemma sum_ones : forall (y : list Z) m, length m = length y ->
  dot (iz (map (fun _ => 1%Z) y)) m = fold_right Rplus 0 m /\ dot (iz (map (fun _ => 1%Z) y)) (ones m) = dot (ones m) (ones m).
Proof.
  induction y as [|a y IH]; intros [|b m] L; try discriminate; [simpl; auto|]. simpl in L.
  destruct (IH m ltac:(lia)) as (A & B). cbn [map iz dot ones fold_right]. fold (ones m). split; [rewrite <- A|rewrite <- B];
    unfold iz; ring.
Qed.
(** No network with several outputs, of any width, has a smaller objective. *)
Theorem soft_sound p t Y e Th td x logs lown lowd : check_soft p t Y e Th td x logs lown lowd = true ->
  forall net beta, well_formed_wide (p_dim p) net -> IZR lown / IZR lowd <= objective_softmax p t Y net beta.
Proof.
  unfold check_soft. intros E net beta W. split_andb E.
  destruct (columnsZ x (p_yden p) td Y Th logs) as [[s T]|] eqn:EC; [|discriminate].
  apply andb_prop in E0. destruct E0 as [EZ E0]. to_Prop.
  destruct (wide_feasible_sound p e E6) as (Hl & HT & Fe). apply IZR_lt in HT.
  assert (ht := IZR_lt _ _ E4). assert (hlo := IZR_lt _ _ E3). assert (he := IZR_lt _ _ E2).
  pose proof (touts_bound p e net Hl Fe W) as B. unfold objective_softmax.
  set (sums := exp_sums p t 0 Y net beta). set (m := map ln sums).
  assert (OK := E5). unfold terms_ok in OK. split_andb OK. to_Prop.
  assert (hy : 0 < IZR (p_yden p)) by (apply IZR_lt; auto).
  assert (hD : 0 < IZR (p_yden p * td)) by (rewrite mult_IZR; apply Rmult_lt_0_compat; auto).
  pose proof (some_output _ _ _ E) as NY.
  assert (LS : length sums = length (p_y p)).
  { pose proof (columns_R p t e td x net beta (map (fun _ => 0) (p_y p)) ht HT he E5 (map_length _ _) Y Th (w_T e) logs 0
      s T E1 EC) as (L & _). rewrite NY in L. exact L. }
  assert (Lm : length m = length (p_y p)) by (unfold m; rewrite map_length; exact LS).
  destruct (columns_R p t e td x net beta m ht HT he E5 Lm Y Th (w_T e) logs 0 s T E1 EC) as (_ & Q).
  fold sums in Q. unfold m in Q at 1. rewrite at_logarithms in Q by apply exp_sums_pos.
  assert (Z0 : forall v, dot (iz T) v = IZR (p_yden p * td) * dot (iz (map (fun _ => 1%Z) (p_y p))) v).
  { intros v. apply (zeroZ_R v) in EZ. rewrite axpy_R, opp_IZR in EZ. lra. }
  destruct (sum_ones (p_y p) m Lm) as (S1 & S2). rewrite !Z0, S1, S2 in Q.
  assert (ON : dot (ones sums) (ones sums) = dot (ones m) (ones m)).
  { unfold m, ones. rewrite map_map. reflexivity. }
  assert (C1 : forall v, / IZR (p_yden p * td) * (IZR (p_yden p * td) * v) = v) by (intros; field; lra).
  rewrite !C1 in Q.
  assert (V : IZR lown / IZR lowd <= IZR s / (IZR (p_yden p * td) * IZR (e_den x))).
  { apply IZR_le in E0. rewrite !mult_IZR in E0. rewrite mult_IZR in *.
    apply Rmult_le_reg_r with (IZR lowd * (IZR (p_yden p) * IZR td * IZR (e_den x))).
    { repeat apply Rmult_lt_0_compat; auto. }
    eapply Rle_trans; [|eapply Rle_trans; [exact E0|]]; apply Req_le; field; repeat split; lra. }
  lra.
Qed.

(** ** From above *)
(** s_k <= E_k/e v_k *)
Fixpoint under (e : R) (v s : list R) (E : list Z) : Prop :=
  match v, s, E with
  | [], [], [] => True
  | a :: v', b :: s', x :: E' => b <= IZR x / e * a /\ under e v' s' E'
  | _, _, _ => False end.
Lemma under_added e : forall v s E s' E', under e v s E -> under e v s' E' -> under e v (added s s') (plusZ E E').
Proof.
  induction v as [|a v IH]; intros [|b s] [|x E] [|b' s'] [|x' E'] H H'; simpl in *; try tauto.
  destruct H as [H1 H2], H' as [H3 H4]. split; [|apply IH; auto]. rewrite plus_IZR. unfold Rdiv in *. lra.
Qed.
Definition powers (e : R) (Us : list Z) : list R := map (fun U => exp (IZR U / e)) Us.
Lemma bounded_R x A : 0 < IZR A -> 0 < IZR (e_den x) -> forall f Us Es, boundedZ x A f Us Es = true ->
  under (IZR (e_den x)) (powers (IZR (e_den x)) Us) (map exp (ratio A f)) Es.
Proof.
  intros hA he. induction f as [|b f IH]; intros [|U Us] [|E Es] H; cbn [boundedZ] in H; try discriminate; [exact I|].
  split_andb H. to_Prop. apply IZR_lt in H. destruct (exp_above_R _ _ _ _ _ _ H1) as (_ & _ & X).
  cbn [ratio map powers under]. fold (ratio A f) (powers (IZR (e_den x)) Us). split; [|apply IH; auto].
  set (d := IZR U / IZR (e_den x)). set (z := IZR b / IZR A).
  replace (IZR (U * A - b * e_den x) / IZR (A * e_den x)) with (d - z) in X
    by (rewrite minus_IZR, !mult_IZR; unfold d, z; field; lra).
  replace d with (z + (d - z)) by ring. rewrite exp_plus. pose proof (exp_pos z) as P.
  apply Rmult_le_reg_l with (IZR (e_den x) / IZR E); [apply Rdiv_lt_0_compat; auto|].
  replace (IZR (e_den x) / IZR E * (IZR E / IZR (e_den x) * (exp z * exp (d - z)))) with (exp z * exp (d - z))
    by (field; lra).
  rewrite Rmult_comm. apply Rmult_le_compat_l; lra.
Qed.
Lemma under_logarithms e : 0 < e -> forall Us s E, under e (powers e Us) s E -> Forall (Rlt 0) s ->
  Forall (fun x => IZR x <= e) E -> fold_right Rplus 0 (map ln s) <= IZR (totalZ Us) / e.
Proof.
  intros he. induction Us as [|U Us IH]; intros [|b s] [|x E] H F FE; simpl in H; try tauto.
  - simpl. unfold Rdiv. lra.
  - destruct H as [H1 H2]. specialize (IH s E H2 (Forall_inv_tail F) (Forall_inv_tail FE)).
    assert (b0 := Forall_inv F). assert (x0 := Forall_inv FE). simpl in b0, x0.
    assert (K : b <= exp (IZR U / e)).
    { eapply Rle_trans; [exact H1|]. pose proof (exp_pos (IZR U / e)) as P. rewrite <- (Rmult_1_l (exp (IZR U / e))) at 2.
      apply Rmult_le_compat_r; [lra|]. apply Rmult_le_reg_r with e; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (ln b <= IZR U / e).
    { rewrite <- (ln_exp (IZR U / e)). destruct (Rle_lt_or_eq_dec _ _ K) as [h|h]; [left; apply ln_increasing; auto|].
      right. rewrite h. reflexivity. }
    unfold totalZ in *. cbn [map fold_right]. rewrite plus_IZR. unfold Rdiv in *. lra.
Qed.
Lemma bounded_columns_R p t x A u Us : 0 < IZR A -> 0 < IZR (e_den x) -> (forall c, fit_facts p t (outputZ c u)) ->
  A = (out_den p t (outputZ 0 u) * (t_fden t * x_bden u))%Z -> forall Y Es c T, Y <> [] ->
  bounded_columns p t x A c Y u Us Es = Some T ->
  under (IZR (e_den x)) (powers (IZR (e_den x)) Us) (exp_sums p t c Y (wide_of u) (betas_of u)) T.
Proof.
  intros hA he FF EA. induction Y as [|y Y IH]; intros Es c T NY E; [tauto|]. cbn [bounded_columns exp_sums] in *.
  destruct Es as [|E0 Es]; [discriminate|]. destruct (boundedZ _ _ _ _ _) eqn:EB; [|discriminate].
  destruct (bounded_columns p t x A (S c) Y u Us Es) as [T'|] eqn:ET; [|discriminate]. injection E as <-.
  rewrite output_R, coefficients_R. change (x_wden u) with (f_wden (outputZ c u)). rewrite predictions_R by auto.
  change (out_den p t (outputZ c u) * (t_fden t * f_bden (outputZ c u)))%Z with
    (out_den p t (outputZ 0 u) * (t_fden t * x_bden u))%Z. rewrite <- EA.
  pose proof (bounded_R x A hA he _ _ _ EB) as U0. destruct Y as [|y' Y].
  - simpl in ET. injection ET as <-. cbn [exp_sums].
    replace (added _ []) with (map exp (ratio A (predictionsZ p t (outputZ c u)))) by (destruct (map exp _); reflexivity).
    replace (plusZ E0 []) with E0 by (destruct E0; reflexivity). exact U0.
  - apply under_added; auto. apply (IH Es (S c) T'); [discriminate|exact ET].
Qed.
Lemma aimed_R p t u A : 0 < IZR A -> 0 < IZR (p_yden p) -> (forall c, fit_facts p t (outputZ c u)) ->
  A = (out_den p t (outputZ 0 u) * (t_fden t * x_bden u))%Z -> forall Y c,
  aimed p t c Y (wide_of u) (betas_of u) = IZR (aimedZ p t c Y u) / (IZR (p_yden p) * IZR A).
Proof.
  intros hA hy FF EA. induction Y as [|y Y IH]; intros c; cbn [aimed aimedZ]; [field; lra|].
  rewrite IH, output_R, coefficients_R. change (x_wden u) with (f_wden (outputZ c u)). rewrite predictions_R by auto.
  change (out_den p t (outputZ c u) * (t_fden t * f_bden (outputZ c u)))%Z with
    (out_den p t (outputZ 0 u) * (t_fden t * x_bden u))%Z. rewrite <- EA, ratio_dot2, <- dotZ_R, plus_IZR. field. lra.
Qed.
Theorem soft_fit_sound p t Y u x Us Es : check_soft_fit p t Y u x Us Es = true ->
  well_formed_wide (p_dim p) (wide_of u) /\ objective_softmax p t Y (wide_of u) (betas_of u) <= IZR (x_un u) / IZR (x_ud u).
Proof.
  unfold check_soft_fit. intros U. split_andb U.
  set (A := (out_den p t (outputZ 0 u) * (t_fden t * x_bden u))%Z) in *.
  destruct (bounded_columns p t x A 0 Y u Us Es) as [T|] eqn:ET; [|discriminate].
  apply andb_prop in U0. destruct U0 as [UE U0]. to_Prop. apply IZR_lt in U5, U4, U3, U2.
  destruct (wide_loss_R p t u A U6 U5 U4 eq_refl) as (hA & _).
  assert (OK := U6). unfold terms_ok in OK. split_andb OK. to_Prop.
  assert (hy : 0 < IZR (p_yden p)) by (apply IZR_lt; auto). assert (hl : 0 < IZR (p_lden p)) by (apply IZR_lt; auto).
  assert (FF : forall c, fit_facts p t (outputZ c u)) by (intros c; constructor; auto; apply IZR_lt; auto).
  pose proof (some_output _ _ _ U) as SY. split.
  - unfold well_formed_wide, wide_of. rewrite Forall_map. apply Forall_forall. intros nr I.
    rewrite forallb_forall in U1. specialize (U1 nr I). apply Nat.eqb_eq in U1. simpl. unfold ratio. rewrite map_length. auto.
  - unfold objective_softmax. rewrite (aimed_R p t u A), wide_penalty_R by auto.
    assert (NY : Y <> []) by (intros ->; discriminate SY).
    pose proof (bounded_columns_R p t x A u Us hA U2 FF eq_refl Y Es 0 T NY ET) as UN.
    assert (FE : Forall (fun z => IZR z <= IZR (e_den x)) T).
    { apply Forall_forall. intros z I. rewrite forallb_forall in UE. specialize (UE z I). apply Z.leb_le, IZR_le in UE. exact UE. }
    pose proof (under_logarithms _ U2 Us _ T UN (exp_sums_pos _ _ _ _ _ _) FE) as L.
    eapply Rle_trans; [apply Rplus_le_compat_r, Rplus_le_compat_r; exact L|].
    unfold lambda_of. apply IZR_le in U0. rewrite ?mult_IZR, ?plus_IZR, ?mult_IZR, ?minus_IZR, ?mult_IZR in U0.
    apply Rmult_le_reg_r with (IZR (x_ud u) * (IZR (e_den x) * (IZR (p_yden p) * IZR A)
      * (2 * IZR (p_lden p) * (IZR (x_wden u) * IZR (x_wden u))))).
    { repeat apply Rmult_lt_0_compat; auto; lra. }
    eapply Rle_trans; [|eapply Rle_trans; [exact U0|]]; apply Req_le; field; repeat split; lra.
Qed.
(** Both bounds. *)
Theorem soft_bounds p t Y e Th td x logs lown lowd u x' Us Es :
  check_soft p t Y e Th td x logs lown lowd = true -> check_soft_fit p t Y u x' Us Es = true ->
  (forall net beta, well_formed_wide (p_dim p) net -> IZR lown / IZR lowd <= objective_softmax p t Y net beta) /\
  exists net beta, well_formed_wide (p_dim p) net /\ objective_softmax p t Y net beta <= IZR (x_un u) / IZR (x_ud u).
Proof.
  intros E U. split; [eapply soft_sound; eauto|]. destruct (soft_fit_sound _ _ _ _ _ _ _ U) as (W & Q). eauto.
Qed.
