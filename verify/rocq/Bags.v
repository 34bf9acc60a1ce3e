(** * Bags: outputs that are sums over rows

    With t = P'theta a cover of the rows proves |t.(Zu)_+| <= lambda |u|, whatever the targets are: it is checked beside
    targets 0. What theta bounds then is the objective of the outputs P (Zw)_+. *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool.
From Relu Require Import Spec Vectors Duality Checker Cones Soundness Upper.
Import ListNotations.
Open Scope R_scope.

(** ** The checkers *)
Open Scope Z_scope.
(** the rows and lambda, without targets *)
Definition bare (p : problem) : problem :=
  Problem (p_dim p) (p_rows p) (p_rden p) (map (fun _ => 0) (p_rows p)) 1 (p_lnum p) (p_lden p).
Definition bags_ok (p : problem) (b : bags) : bool :=
  (0 <? p_yden p) && (0 <? b_den b) && Nat.eqb (length (b_rows b)) (length (p_y p)).
(** t = P'theta, all over their denominators; lower <= y.theta - |theta|^2/2 *)
Definition check_bags (p : problem) (b : bags) (c : cover) (th : list Z) (td lown lowd : Z) : bool :=
  check (bare p) c && bags_ok p b && (0 <? td) && (0 <? lowd) && Nat.eqb (length (p_y p)) (length th)
  && zeroZ (axpy (- c_tden c) (combine_rows th (b_rows b)) (map (Z.mul (td * b_den b)) (c_theta c)))
  && (lown * (2 * p_yden p * (td * td)) <=? lowd * (2 * td * dotZ (p_y p) th - p_yden p * dotZ th th)).

Fixpoint bag_lossZ (A yd : Z) (P : list (list Z)) (y f : list Z) : Z :=
  match P, y with
  | q :: P', yk :: y' => let e := dotZ q f * yd - yk * A in e * e + bag_lossZ A yd P' y' f
  | _, _ => 0 end.
Definition check_upper_bags (p : problem) (b : bags) (u : upper) : bool :=
  let wd := u_wden u in let A := b_den b * (p_rden p * (wd * wd)) in let B := A * p_yden p in
  problem_ok (bare p) && bags_ok p b && (0 <? wd) && (0 <? u_ud u)
  && forallb (fun nr => Nat.eqb (length (fst nr)) (p_dim p)) (u_net u)
  && ((bag_lossZ A (p_yden p) (b_rows b) (p_y p) (map (outZ (u_net u)) (p_rows p)) * (p_lden p * (wd * wd))
       + p_lnum p * penaltyZ (u_net u) * (B * B)) * u_ud u
      <=? u_un u * (2 * (B * B) * (p_lden p * (wd * wd)))).
Close Scope Z_scope.

(** ** Weak duality *)
Lemma bag_fenchel f : forall P y th, length P = length y -> length P = length th ->
  dot y th - / 2 * dot th th <= / 2 * bag_loss P y f + dot th (map (fun q => dot q f) P).
Proof.
  induction P as [|q P IH]; intros [|yk y] [|t th]; simpl; intros L1 L2; try discriminate; try lra.
  specialize (IH y th ltac:(lia) ltac:(lia)).
  pose proof (pow2_ge_0 (dot q f - yk + t)). simpl in *. nra.
Qed.
Lemma spread_R td pd f P : 0 < IZR td -> 0 < IZR pd -> forall th,
  dot (ratio td th) (map (fun q => dot q f) (map (ratio pd) P)) = / (IZR td * IZR pd) * dot (iz th) (map (form f) P).
Proof.
  intros ht hp. induction P as [|q P IH]; intros [|t th]; try (cbn [ratio map iz dot]; ring).
  assert (Q : form f q = dot (iz q) f) by (unfold form; apply dot_comm).
  change (IZR t / IZR td * dot (ratio pd q) f + dot (ratio td th) (map (fun q => dot q f) (map (ratio pd) P)) =
    / (IZR td * IZR pd) * (IZR t * form f q + dot (iz th) (map (form f) P))).
  rewrite IH, ratio_dot, Q. field. lra.
Qed.

(** No network of any width has a smaller objective. *)
Theorem bags_sound p b c th td lown lowd : check_bags p b c th td lown lowd = true ->
  forall net, well_formed (p_dim p) net -> IZR lown / IZR lowd <= objective_bags p b net.
Proof.
  unfold check_bags, bags_ok, check. intros E net W.
  destruct (run (bare p) c) as [[A B]|] eqn:ER; [|discriminate].
  apply andb_prop in E. destruct E as [E Low]. apply andb_prop in E. destruct E as [E Sp].
  apply andb_prop in E. destruct E as [E Lth].
  apply andb_prop in E. destruct E as [E Hlo]. apply andb_prop in E. destruct E as [E Htd].
  apply andb_prop in E. destruct E as [_ E]. apply andb_prop in E. destruct E as [E Lb].
  apply andb_prop in E. destruct E as [Hy Hb].
  apply Z.ltb_lt in Hy, Hb, Htd, Hlo. apply Nat.eqb_eq in Lb, Lth. apply Z.leb_le in Low.
  apply IZR_lt in Hy, Hb, Htd, Hlo.
  destruct (run_sound _ _ _ _ ER) as (Pf & Hc & _ & Lt & _ & _ & _ & Fe & _). apply IZR_lt in Hc.
  assert (Fo : Forall (fun nr => dual_ok (lambda_of p) (rows_of p) (theta_of c) (fst nr)) net).
  { eapply Forall_impl; [|exact W]. simpl. intros nr Ln. apply feasible_dual_ok.
    - left. exact (lambda_pos _ Pf).
    - exact (Fe (fst nr) Ln). }
  pose proof (tout_bound _ _ _ _ Fo) as T. rewrite tout_dot in T. unfold theta_of in T.
  rewrite ratio_dot in T.
  assert (S : / IZR (c_tden c) * dot (iz (c_theta c)) (fvec (rows_of p) net) =
    / (IZR td * IZR (b_den b)) * dot (iz th) (map (form (fvec (rows_of p) net)) (b_rows b))).
  { pose proof (zeroZ_R (fvec (rows_of p) net) _ Sp) as Z0. rewrite axpy_R, combine_rows_R, scale_R in Z0.
    rewrite opp_IZR, mult_IZR in Z0.
    apply Rmult_eq_reg_l with (IZR (c_tden c) * (IZR td * IZR (b_den b))).
    - field_simplify; [lra|lra|lra].
    - apply Rgt_not_eq. repeat apply Rmult_lt_0_compat; auto. }
  rewrite S in T. rewrite <- (spread_R td (b_den b)) in T by auto.
  pose proof (bag_fenchel (fvec (rows_of p) net) (P_of b) (y_of p) (ratio td th)) as F.
  assert (L1 : length (P_of b) = length (y_of p)) by (unfold P_of, y_of, ratio; rewrite !map_length; auto).
  assert (L2 : length (P_of b) = length (ratio td th))
    by (unfold P_of, ratio; rewrite !map_length; rewrite Lb; auto).
  specialize (F L1 L2). unfold objective_bags, J_bags. unfold P_of in *. fold (fvec (rows_of p) net).
  eapply Rle_trans; [|eapply Rle_trans; [exact F|lra]].
  unfold y_of. rewrite !ratio_dot2, <- !dotZ_R.
  apply IZR_le in Low. rewrite ?minus_IZR, ?mult_IZR, ?minus_IZR, ?mult_IZR in Low.
  apply Rmult_le_reg_r with (IZR lowd * (2 * IZR (p_yden p) * (IZR td * IZR td))).
  { repeat apply Rmult_lt_0_compat; auto; lra. }
  eapply Rle_trans; [|eapply Rle_trans; [exact Low|]]; apply Req_le; field; lra.
Qed.

(** ** The objective of a network *)
Lemma outputs_R rd wd N rows : 0 < IZR rd -> 0 < IZR wd ->
  map (out (net_of wd N)) (map (ratio rd) rows) = ratio (rd * (wd * wd)) (map (outZ N) rows).
Proof.
  intros hr hw. unfold ratio at 2. rewrite !map_map. apply map_ext. intros z.
  rewrite outZ_R by auto. rewrite !mult_IZR. auto.
Qed.
Lemma bag_lossZ_R pd fd yd f : 0 < IZR pd -> 0 < IZR fd -> 0 < IZR yd -> forall P y,
  bag_loss (map (ratio pd) P) (ratio yd y) (ratio fd f) =
  IZR (bag_lossZ (pd * fd) yd P y f) / ((IZR pd * IZR fd * IZR yd) * (IZR pd * IZR fd * IZR yd)).
Proof.
  intros hp hf hy. induction P as [|q P IH]; intros [|yk y]; try (cbn [bag_loss bag_lossZ map ratio]; field; lra).
  cbn [map ratio bag_loss bag_lossZ]. fold (ratio yd y). rewrite IH, ratio_dot2, <- dotZ_R.
  rewrite plus_IZR, mult_IZR, minus_IZR, !mult_IZR. field; lra.
Qed.

Theorem upper_bags_sound p b u : check_upper_bags p b u = true ->
  well_formed (p_dim p) (network_of u) /\ objective_bags p b (network_of u) <= upper_of u.
Proof.
  unfold check_upper_bags, bags_ok, network_of, upper_of. intros U.
  apply andb_prop in U. destruct U as [U U4]. apply andb_prop in U. destruct U as [U U3].
  apply andb_prop in U. destruct U as [U U2]. apply andb_prop in U. destruct U as [U U1].
  apply andb_prop in U. destruct U as [Up Ub]. apply problem_ok_facts in Up. destruct Up as [Er _ Eln Eld _].
  apply andb_prop in Ub. destruct Ub as [Ub _]. apply andb_prop in Ub. destruct Ub as [Ey Eb].
  apply Z.ltb_lt in U1, U2, Ey, Eb. apply Z.leb_le in U4. cbn [bare p_rden p_lnum p_lden] in Er, Eln, Eld.
  apply IZR_lt in Er, Ey, Eb, Eln, Eld, U1, U2. split.
  - unfold well_formed, net_of. rewrite Forall_map. apply Forall_forall. intros nr I.
    rewrite forallb_forall in U3. specialize (U3 nr I). apply Nat.eqb_eq in U3.
    simpl. unfold ratio. rewrite map_length. auto.
  - unfold objective_bags, J_bags, P_of, rows_of, y_of, lambda_of.
    rewrite outputs_R by auto.
    assert (HA : 0 < IZR (p_rden p * (u_wden u * u_wden u)))
      by (rewrite !mult_IZR; repeat apply Rmult_lt_0_compat; auto).
    rewrite bag_lossZ_R, penaltyZ_R by auto. rewrite (mult_IZR (p_rden p)), (mult_IZR (u_wden u)).
    apply IZR_le in U4. rewrite ?mult_IZR, ?plus_IZR, ?mult_IZR in U4.
    set (S := IZR (bag_lossZ (b_den b * (p_rden p * (u_wden u * u_wden u))) (p_yden p) (b_rows b) (p_y p)
      (map (outZ (u_net u)) (p_rows p)))) in *.
    set (Rg := IZR (penaltyZ (u_net u))) in *.
    set (B := IZR (b_den b) * (IZR (p_rden p) * (IZR (u_wden u) * IZR (u_wden u))) * IZR (p_yden p)) in *.
    assert (HB : 0 < B) by (unfold B; repeat apply Rmult_lt_0_compat; auto).
    apply Rmult_le_reg_r with
      (IZR (u_ud u) * (2 * (B * B) * (IZR (p_lden p) * (IZR (u_wden u) * IZR (u_wden u))))).
    { repeat apply Rmult_lt_0_compat; auto; lra. }
    eapply Rle_trans; [|eapply Rle_trans; [exact U4|]]; apply Req_le; field; repeat split; lra.
Qed.

(** Both bounds. *)
Theorem bags_bounds p b c u th td lown lowd :
  check_bags p b c th td lown lowd = true -> check_upper_bags p b u = true ->
  (forall net, well_formed (p_dim p) net -> IZR lown / IZR lowd <= objective_bags p b net) /\
  exists net, well_formed (p_dim p) net /\ objective_bags p b net <= upper_of u.
Proof.
  intros E U. split; [eapply bags_sound; eauto|]. destruct (upper_bags_sound _ _ _ U) as (W & Q). eauto.
Qed.

(** A dense network is P = I: every row is an output. *)
Fixpoint unit_rows (pre : list R) (n : nat) : list (list R) :=
  match n with O => [] | S n' => (pre ++ [1]) :: unit_rows (pre ++ [0]) n' end.
Lemma unit_dot f x : forall pre g, length pre = length g -> Forall (fun a => a = 0) pre ->
  dot (pre ++ [1]) (g ++ x :: f) = x.
Proof.
  induction pre as [|a pre IH]; intros [|y g]; simpl; intros L F; try discriminate.
  - ring.
  - inversion F; subst. rewrite IH by (auto; lia). ring.
Qed.
Lemma dense_loss f : forall y pre g, length f = length y -> length pre = length g -> Forall (fun a => a = 0) pre ->
  bag_loss (unit_rows pre (length f)) y (g ++ f) = dot (vsub f y) (vsub f y).
Proof.
  induction f as [|x f IH]; intros [|yk y] pre g L1 L2 F; simpl in *; try discriminate; auto.
  rewrite unit_dot by auto. replace (g ++ x :: f) with ((g ++ [x]) ++ f) by (rewrite <- app_assoc; auto).
  rewrite IH; [ring|lia|rewrite !app_length; simpl; lia|apply Forall_app; auto].
Qed.
