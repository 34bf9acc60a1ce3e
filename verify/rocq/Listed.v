(** * The bound by a list of pieces: multipliers for every choice of signs that rows can have

    A tree divides the space by the signs of rows. On a piece h(u) = sum_k t_k (z_k.u)_+ <= sum_k m_k z_k.u <= |Z'm| |u|
    if t_k (x)_+ <= m_k x for every x that the side of row k allows. A side that only z_k.u = 0 has, because rows on
    their sides have a sum of zero, is no piece: the other side holds it. *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool.
From Relu Require Import Spec Vectors Duality Checker Cones Soundness.
Import ListNotations.
Open Scope R_scope.

(** ** The evidence and its checker *)
Inductive pieces :=
| Piece (m : list Z)                                             (* in parts of the scale *)
| Divide (k : nat) (on off : pieces)
| Only (k : nat) (side : bool) (a : list Z) (rest : pieces).     (* sum_j a_j z_j = 0 with the signs of the other side *)
Record listed := Listed { i_theta : list Z;  i_tden : Z;  i_lown : Z;  i_lowd : Z;  i_scale : Z;
  i_pos : pieces;  i_neg : pieces }.

Open Scope Z_scope.
Fixpoint put (k : nat) (b : bool) (s : list (option bool)) : list (option bool) :=
  match s, k with [], _ => [] | _ :: s', O => Some b :: s' | x :: s', S k' => x :: put k' b s' end.
Definition allowed (x : option bool) (t m : Z) : bool :=
  match x with Some true => t <=? m | Some false => m <=? 0 | None => (t <=? m) && (m <=? 0) end.
Fixpoint all_allowed (s : list (option bool)) (th m : list Z) : bool :=
  match s, th, m with
  | [], [], [] => true
  | x :: s', t :: th', a :: m' => allowed x t a && all_allowed s' th' m'
  | _, _, _ => false end.
Definition signed (x : option bool) (a : Z) : bool :=
  match x with Some true => 0 <=? a | Some false => a <=? 0 | None => a =? 0 end.
Fixpoint all_signed (s : list (option bool)) (a : list Z) : bool :=
  match s, a with [], [] => true | x :: s', y :: a' => signed x y && all_signed s' a' | _, _ => false end.
(** theta in parts of the scale; |Z'm| <= ln/ld, and beyond its first b entries, which are all that is seen, it is 0 *)
Fixpoint walk (b : nat) (rows : list (list Z)) (th : list Z) (ln ld : Z) (s : list (option bool)) (t : pieces) : bool :=
  match t with
  | Piece m => let v := combine_rows m rows in all_allowed s th m && zeroZ (skipn b v) && (dotZ v v * (ld * ld) <=? ln * ln)
  | Divide k on off => walk b rows th ln ld (put k true s) on && walk b rows th ln ld (put k false s) off
  | Only k side a rest =>
      all_signed (put k (negb side) s) a && negb (nth k a 0 =? 0) && zeroZ (combine_rows a rows)
      && walk b rows th ln ld (put k side s) rest end.
Definition check_listed (b : nat) (p : problem) (c : listed) : bool :=
  let th := map (Z.mul (i_scale c)) (i_theta c) in
  let ln := p_lnum p * p_rden p * i_tden c * i_scale c in
  let none := map (fun _ => None) (p_rows p) in
  problem_ok p && bound_ok p (i_theta c) (i_tden c) (i_lown c) (i_lowd c) && (0 <? i_scale c)
  && walk b (p_rows p) th ln (p_lden p) none (i_pos c) && walk b (p_rows p) (map Z.opp th) ln (p_lden p) none (i_neg c).
Close Scope Z_scope.

(** ** Soundness *)
Definition on_side (x : option bool) (h : R) : Prop :=
  match x with Some true => 0 <= h | Some false => h <= 0 | None => True end.
Fixpoint at_sides (s : list (option bool)) (rows : list (list Z)) (u : list R) : Prop :=
  match s, rows with
  | [], [] => True
  | x :: s', z :: rows' => on_side x (form u z) /\ at_sides s' rows' u
  | _, _ => False end.
Lemma at_none u : forall rows, at_sides (map (fun _ => None) rows) rows u.
Proof. induction rows; simpl; auto. Qed.
Lemma at_put u b : forall rows s k, at_sides s rows u -> on_side (Some b) (form u (nth k rows [])) ->
  at_sides (put k b s) rows u.
Proof.
  induction rows as [|z rows IH]; intros [|x s] [|k] A H; simpl in *; try tauto. destruct A as [A1 A2]. split; auto.
Qed.
Lemma allowed_R x t m h : allowed x t m = true -> on_side x h -> IZR t * relu h <= IZR m * h.
Proof.
  intros E H. destruct x as [[|]|]; simpl in *.
  - apply Z.leb_le, IZR_le in E. rewrite relu_pos by auto. apply Rmult_le_compat_r; auto.
  - apply Z.leb_le, IZR_le in E. rewrite relu_neg by auto. nra.
  - apply andb_prop in E. destruct E as [E1 E2]. apply Z.leb_le, IZR_le in E1, E2.
    destruct (Rle_lt_dec 0 h); [rewrite relu_pos by auto|rewrite relu_neg by lra]; nra.
Qed.
Lemma piece_R u : forall rows s th m, at_sides s rows u -> all_allowed s th m = true ->
  hsum (map iz rows) (iz th) u <= dot (iz m) (map (form u) rows).
Proof.
  induction rows as [|z rows IH]; intros [|x s] [|t th] [|a m] A E; simpl in *; try tauto; try discriminate; [lra|].
  destruct A as [A1 A2]. apply andb_prop in E. destruct E as [E1 E2]. specialize (IH s th m A2 E2).
  pose proof (allowed_R _ _ _ _ E1 A1) as Q. unfold form in Q at 1. rewrite (dot_comm u) in Q.
  fold (iz th) (iz m). lra.
Qed.
Lemma signed_R x a h : signed x a = true -> on_side x h -> 0 <= IZR a * h.
Proof.
  intros E H. destruct x as [[|]|]; simpl in *.
  - apply Z.leb_le, IZR_le in E. nra.
  - apply Z.leb_le, IZR_le in E. nra.
  - apply Z.eqb_eq in E. subst. lra.
Qed.
Lemma sum_nonneg u : forall rows s a, at_sides s rows u -> all_signed s a = true -> 0 <= dot (iz a) (map (form u) rows).
Proof.
  induction rows as [|z rows IH]; intros [|x s] [|y a] A E; simpl in *; try tauto; try discriminate; try lra.
  destruct A as [A1 A2]. apply andb_prop in E. destruct E as [E1 E2]. specialize (IH s a A2 E2).
  pose proof (signed_R _ _ _ E1 A1). fold (iz a). lra.
Qed.
Lemma flat_R u : forall rows s a k, at_sides s rows u -> all_signed s a = true -> dot (iz a) (map (form u) rows) = 0 ->
  nth k a 0%Z <> 0%Z -> form u (nth k rows []) = 0.
Proof.
  induction rows as [|z rows IH]; intros [|x s] [|y a] k A E S N; simpl in *; try tauto; try discriminate.
  - destruct k; tauto.
  - destruct A as [A1 A2]. apply andb_prop in E. destruct E as [E1 E2].
    pose proof (signed_R _ _ _ E1 A1) as P. pose proof (sum_nonneg u rows s a A2 E2) as Q. fold (iz a) in S.
    destruct k as [|k]; [|apply (IH s a k); auto; lra].
    assert (Y : IZR y <> 0) by (apply not_0_IZR; exact N). apply Rmult_eq_reg_l with (IZR y); auto. lra.
Qed.
Lemma side_dec b h : on_side (Some b) h \/ on_side (Some (negb b)) h.
Proof. destruct b; simpl; lra. Qed.
Lemma seen_dot : forall b v u, zeroZ (skipn b v) = true -> dot (iz v) u = dot (iz v) (firstn b u).
Proof.
  induction b as [|b IH]; intros v u E; [rewrite (zeroZ_R u) by exact E; destruct v; auto|].
  destruct v as [|x v], u as [|y u]; simpl in *; auto. fold (iz v). rewrite (IH v u E). auto.
Qed.
Lemma walk_sound b rows th ln ld u U : 0 < IZR ld -> 0 <= IZR ln -> 0 <= U -> dot (firstn b u) (firstn b u) <= U * U ->
  forall t s, walk b rows th ln ld s t = true -> at_sides s rows u -> hsum (map iz rows) (iz th) u <= IZR ln / IZR ld * U.
Proof.
  intros hd hn HU Hu. induction t as [m|k on IH1 off IH2|k side a rest IH]; intros s E A; cbn [walk] in E.
  - apply andb_prop in E. destruct E as [E1 E2]. apply andb_prop in E1. destruct E1 as [E1 E3].
    apply Z.leb_le, IZR_le in E2. rewrite !mult_IZR, dotZ_R in E2.
    eapply Rle_trans; [apply (piece_R u rows s th m A E1)|]. rewrite <- combine_rows_R.
    rewrite (seen_dot b) by exact E3. eapply Rle_trans; [apply Rle_abs|]. apply dot_abs_le; auto.
    { apply Rmult_le_pos; auto. left. apply Rinv_0_lt_compat. auto. }
    apply Rmult_le_reg_r with (IZR ld * IZR ld); [nra|].
    replace (IZR ln / IZR ld * (IZR ln / IZR ld) * (IZR ld * IZR ld)) with (IZR ln * IZR ln) by (field; lra). exact E2.
  - apply andb_prop in E. destruct E as [E1 E2].
    destruct (side_dec true (form u (nth k rows []))) as [H|H]; [apply (IH1 _ E1)|apply (IH2 _ E2)]; apply at_put; auto.
  - split_andb E. apply (IH _ E0). apply at_put; auto.
    destruct (side_dec side (form u (nth k rows []))) as [H|H]; auto.
    assert (Z0 : form u (nth k rows []) = 0).
    { apply (flat_R u rows (put k (negb side) s) a k); auto; [apply at_put; auto| |].
      - rewrite <- combine_rows_R. apply zeroZ_R. auto.
      - apply negb_true_iff, Z.eqb_neq in E2. exact E2. }
    rewrite Z0. destruct side; simpl; lra.
Qed.
Lemma hsum_ratio rd td w : 0 < IZR rd -> 0 < IZR td -> forall th rows,
  hsum (map (ratio rd) rows) (ratio td th) w = / (IZR rd * IZR td) * hsum (map iz rows) (iz th) w.
Proof.
  intros hr ht. induction th as [|a th IH]; intros [|z rows]; simpl; try ring.
  fold (ratio td th) (iz th). rewrite IH, ratio_dot, relu_scale by (left; apply Rinv_0_lt_compat; auto). field. lra.
Qed.
Lemma hsum_times k w : forall th rows, hsum (map iz rows) (iz (map (Z.mul k) th)) w = IZR k * hsum (map iz rows) (iz th) w.
Proof.
  induction th as [|a th IH]; intros [|z rows]; simpl; try ring. fold (iz (map (Z.mul k) th)) (iz th).
  rewrite IH, mult_IZR. ring.
Qed.
Theorem listed_feasible b p c : check_listed b p c = true ->
  problem_facts p /\ bound_ok p (i_theta c) (i_tden c) (i_lown c) (i_lowd c) = true /\
  seen_ok (lambda_of p) b (p_dim p) (rows_of p) (ratio (i_tden c) (i_theta c)).
Proof.
  unfold check_listed. intros E.
  apply andb_prop in E. destruct E as [E En]. apply andb_prop in E. destruct E as [E Ep].
  apply andb_prop in E. destruct E as [E ES]. apply andb_prop in E. destruct E as [Pf Eb].
  apply Z.ltb_lt in ES. apply problem_ok_facts in Pf.
  destruct (bound_ok_facts _ _ _ _ _ Pf Eb) as (Ht & Hlo & Lt & Low).
  assert (Hlam := lambda_pos p Pf). destruct Pf as [Hr Hy Hln Hld Hl].
  assert (hr := IZR_lt _ _ Hr). assert (ht := IZR_lt _ _ Ht). assert (hld := IZR_lt _ _ Hld). assert (hs := IZR_lt _ _ ES).
  assert (hln := IZR_lt _ _ Hln).
  split; [constructor; auto|]. split; [exact Eb|]. apply below_seen; [left; auto|]. intros w Lw.
  set (ln := (p_lnum p * p_rden p * i_tden c * i_scale c)%Z) in *.
  assert (N0 : 0 <= IZR ln).
  { unfold ln. rewrite !mult_IZR. left. repeat apply Rmult_lt_0_compat; auto. }
  assert (W : forall th t, walk b (p_rows p) th ln (p_lden p) (map (fun _ => None) (p_rows p)) t = true ->
    forall U, 0 <= U -> dot (firstn b w) (firstn b w) <= U * U -> hsum (map iz (p_rows p)) (iz th) w <= IZR ln / IZR (p_lden p) * U).
  { intros th t ET U HU Hu. apply (walk_sound _ _ _ _ _ _ _ hld N0 HU Hu _ _ ET). apply at_none. }
  assert (Opp : hsum (map iz (p_rows p)) (iz (map Z.opp (map (Z.mul (i_scale c)) (i_theta c)))) w =
    - hsum (map iz (p_rows p)) (iz (map (Z.mul (i_scale c)) (i_theta c))) w).
  { rewrite (map_ext Z.opp (Z.mul (-1))) by (intros; lia). rewrite hsum_times. lra. }
  unfold rows_of. rewrite hsum_ratio by auto. set (h := hsum _ _ w).
  set (K := IZR (p_rden p) * IZR (i_tden c) * IZR (i_scale c)).
  assert (HK : 0 < K) by (unfold K; repeat apply Rmult_lt_0_compat; auto).
  assert (HL : forall U, IZR ln / IZR (p_lden p) * U = K * (lambda_of p * U)).
  { intros U. unfold K, ln, lambda_of. rewrite !mult_IZR. field. lra. }
  split; intros U HU Hu; apply Rmult_le_reg_l with K; auto.
  - pose proof (W _ _ Ep U HU Hu) as Q. rewrite hsum_times in Q. fold h in Q. rewrite HL in Q.
    replace (K * (/ (IZR (p_rden p) * IZR (i_tden c)) * h)) with (IZR (i_scale c) * h) by (unfold K; field; lra). exact Q.
  - pose proof (W _ _ En U HU Hu) as Q. rewrite Opp, hsum_times in Q. fold h in Q. rewrite HL in Q.
    replace (K * - (/ (IZR (p_rden p) * IZR (i_tden c)) * h)) with (- (IZR (i_scale c) * h)) by (unfold K; field; lra).
    exact Q.
Qed.

(** No network of any width has a smaller objective. *)
Theorem listed_sound p c : check_listed (p_dim p) p c = true ->
  forall net, well_formed (p_dim p) net -> IZR (i_lown c) / IZR (i_lowd c) <= objective p net.
Proof.
  intros E net W. destruct (listed_feasible _ _ _ E) as (Pf & Eb & Fe).
  destruct (bound_ok_facts _ _ _ _ _ Pf Eb) as (_ & _ & Lt & Low).
  eapply Rle_trans; [exact Low|]. apply weak_duality; auto.
  { unfold rows_of, y_of, ratio. rewrite !map_length. apply pf_len; auto. }
  eapply Forall_impl; [|exact W]. intros [w v] Lw v'. simpl in *. rewrite <- (firstn_all w), Lw. rewrite firstn_all2 at 1 by lia. apply Fe; auto.
Qed.
