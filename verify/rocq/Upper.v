(** * The upper bound: the objective of a network whose weights are integers over a common denominator *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool.
From Relu Require Import Spec Vectors Checker Soundness.
Import ListNotations.
Open Scope R_scope.

Record upper := Upper { u_net : list (list Z * Z); u_wden : Z; u_un : Z; u_ud : Z }.
Definition net_of (wd : Z) (N : list (list Z * Z)) : network :=
  map (fun nr => (ratio wd (fst nr), IZR (snd nr) / IZR wd)) N.
Open Scope Z_scope.
Fixpoint outZ (N : list (list Z * Z)) (z : list Z) : Z :=
  match N with [] => 0 | nr :: N' => snd nr * Z.max 0 (dotZ z (fst nr)) + outZ N' z end.
Fixpoint lossZ (A yd : Z) (rows : list (list Z)) (y : list Z) N : Z :=
  match rows, y with
  | z :: rows', yk :: y' =>
      let e := outZ N z * yd - yk * A in e * e + lossZ A yd rows' y' N
  | _, _ => 0 end.
Fixpoint penaltyZ (N : list (list Z * Z)) : Z :=
  match N with [] => 0 | nr :: N' => dotZ (fst nr) (fst nr) + snd nr * snd nr + penaltyZ N' end.
Definition check_upper (p : problem) (u : upper) : bool :=
  let wd := u_wden u in let A := p_rden p * (wd * wd) in
  let B := A * p_yden p in
  problem_ok p && (0 <? wd) && (0 <? u_ud u)
  && forallb (fun nr => Nat.eqb (length (fst nr)) (p_dim p)) (u_net u)
  && ((lossZ A (p_yden p) (p_rows p) (p_y p) (u_net u) * (p_lden p * (wd * wd))
       + p_lnum p * penaltyZ (u_net u) * (B * B)) * u_ud u
      <=? u_un u * (2 * (B * B) * (p_lden p * (wd * wd)))).
Close Scope Z_scope.

Lemma outZ_R rd wd : 0 < IZR rd -> 0 < IZR wd -> forall N z,
  out (net_of wd N) (ratio rd z) = IZR (outZ N z) / (IZR rd * (IZR wd * IZR wd)).
Proof.
  intros hr hw. induction N as [|[w v] N IH]; intros z; simpl; [field; lra|].
  try fold (net_of wd N). rewrite IH, ratio_dot2, <- dotZ_R by lra.
  rewrite relu_scale, plus_IZR, mult_IZR, relu_IZR.
  - field; lra.
  - left. apply Rmult_lt_0_compat; apply Rinv_0_lt_compat; auto.
Qed.
Lemma penaltyZ_R wd : 0 < IZR wd -> forall N,
  penalty (net_of wd N) = IZR (penaltyZ N) / (IZR wd * IZR wd).
Proof.
  intros hw. induction N as [|[w v] N IH]; simpl; [field; lra|].
  try fold (net_of wd N). rewrite IH, ratio_dot2, <- dotZ_R by lra.
  rewrite !plus_IZR, !mult_IZR. field; lra.
Qed.
Lemma lossZ_R rd wd yd N : 0 < IZR rd -> 0 < IZR wd -> 0 < IZR yd -> forall rows y,
  loss (map (ratio rd) rows) (ratio yd y) (net_of wd N) =
  IZR (lossZ (rd * (wd * wd)) yd rows y N) /
   ((IZR rd * (IZR wd * IZR wd) * IZR yd) * (IZR rd * (IZR wd * IZR wd) * IZR yd)).
Proof.
  intros hr hw hy. induction rows as [|z rows IH]; intros [|yk y];
    try (cbn [loss lossZ map ratio]; field; lra).
  cbn [map ratio loss lossZ]. fold (ratio yd y). rewrite IH, outZ_R by auto.
  rewrite plus_IZR, mult_IZR, minus_IZR, !mult_IZR. field; lra.
Qed.

Definition network_of (u : upper) : network := net_of (u_wden u) (u_net u).
Definition upper_of (u : upper) : R := IZR (u_un u) / IZR (u_ud u).

Theorem upper_sound p u : check_upper p u = true ->
  well_formed (p_dim p) (network_of u) /\ objective p (network_of u) <= upper_of u /\ (0 < u_ud u)%Z.
Proof.
  unfold check_upper, network_of, upper_of. intros U. apply andb_prop in U. destruct U as [U U4].
  apply andb_prop in U. destruct U as [U U3]. apply andb_prop in U. destruct U as [U U2].
  apply andb_prop in U. destruct U as [Up U1]. apply problem_ok_facts in Up. destruct Up as [Er Ey Eln Eld _].
  apply Z.ltb_lt in U1, U2. apply Z.leb_le in U4. assert (Hud := U2).
  apply IZR_lt in Er, Ey, Eln, Eld, U1, U2. split; [|split; [|exact Hud]].
  - unfold well_formed, net_of. rewrite Forall_map. apply Forall_forall. intros nr I.
    rewrite forallb_forall in U3. specialize (U3 nr I). apply Nat.eqb_eq in U3.
    simpl. unfold ratio. rewrite map_length. auto.
  - unfold objective, J, rows_of, y_of, lambda_of. rewrite lossZ_R, penaltyZ_R by auto.
    apply IZR_le in U4. rewrite ?mult_IZR, ?plus_IZR, ?mult_IZR in U4.
    set (S := IZR (lossZ (p_rden p * (u_wden u * u_wden u)) (p_yden p) (p_rows p) (p_y p) (u_net u))) in *.
    set (Rg := IZR (penaltyZ (u_net u))) in *.
    set (B := IZR (p_rden p) * (IZR (u_wden u) * IZR (u_wden u)) * IZR (p_yden p)) in *.
    assert (HB : 0 < B) by (unfold B; repeat apply Rmult_lt_0_compat; auto).
    apply Rmult_le_reg_r with
      (IZR (u_ud u) * (2 * (B * B) * (IZR (p_lden p) * (IZR (u_wden u) * IZR (u_wden u))))).
    { repeat apply Rmult_lt_0_compat; auto; lra. }
    eapply Rle_trans; [|eapply Rle_trans; [exact U4|]]; apply Req_le; field; repeat split; lra.
Qed.

(** Both bounds: no network is better than lower, and one is as good as upper. *)
Theorem bounds_sound p c u : check p c = true -> check_upper p u = true ->
  (forall net, well_formed (p_dim p) net -> lower_of c <= objective p net) /\
  exists net, well_formed (p_dim p) net /\ objective p net <= upper_of u.
Proof.
  intros E U. split; [apply check_sound; auto|]. destruct (upper_sound _ _ U) as (W & B & _). eauto.
Qed.
