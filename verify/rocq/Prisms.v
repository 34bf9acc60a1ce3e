(** * Free biases: the norm is that of the weights, and the sum of t = P'theta is 0

    As a function of the bias the left side is linear between the points at which a row is 0, and constant at both ends:
    it is enough to look at u with z_k.u = 0 for some row. These lie in prisms over the sign cones of the weights. *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool FMapPositive.
From Relu Require Import Spec Vectors Duality Checker Cones Soundness Upper Leaders Listed.
Import ListNotations.
Open Scope R_scope.

(** ** The checker *)
Open Scope Z_scope.
Definition unit_last (m : nat) : list Z := repeat 0 m ++ [1].
(** cone j: the lower points of generators 0 to j, the upper ones from j on *)
Fixpoint stairs (H : Z) (e : list Z) (low G : cone) : list cone :=
  match G with
  | [] => []
  | g :: G' => (low ++ axpy (- H) e g :: axpy H e g :: map (axpy H e) G') :: stairs H e (low ++ [axpy (- H) e g]) G' end.
Fixpoint walk_all (walk : cone -> Z -> bool) (roots : list cone) (k : Z) : bool :=
  match roots with [] => true | G :: roots' => walk G k && walk_all walk roots' (k + 1) end.
Definition number (path : list bool) : Z := fold_left (fun m (on : bool) => 2 * m + if on then 1 else 0) path 0.
Definition height_ok (H rd : Z) (rows : list (list Z)) (G : cone) : bool :=
  forallb (fun z => forallb (fun g => Z.abs (dotZ z g) <=? H * rd) G) rows.

Definition walk_root (m : nat) (P N : list wrow) (c0 : list Z) (ln2 ld2 qn qd lam0 : Z)
    (choose : list (list Z) -> list Z -> list bool) (sb : Z -> node) (T : PositiveMap.t gen) (G : cone) (k : Z) : bool :=
  let PC := map (coarse_row qn qd) P in
  let NC := map (coarse_row qn qd) N in
  let c0C := map (round qn qd) c0 in
  match check_tree m N NC ln2 ld2 lam0 (choose NC) T (fun _ _ _ _ _ _ _ => None) P c0 PC []
      (map (fun g => (g, value PC c0C g)) G) (sb k) [] with Some _ => true | None => false end.
Definition check_prisms_side (m : nat) (H rd : Z) (rows : list (list Z)) (P N : list wrow) (c0 : list Z)
    (ln2 ld2 qn qd lam0 : Z) (W : cone) (choose : list (list Z) -> list Z -> list bool) (sb : Z -> node) (s : side) : bool :=
  let T := table (map (coarse_row qn qd) P) (map (round qn qd) c0) (s_verts s) 1 (PositiveMap.empty gen) in
  check_roots (fun G path => match G with
      | a :: b :: G' => zeroZ (axpy (-1) (unit_last m) a) && zeroZ (axpy 1 (unit_last m) b) && height_ok H rd rows G'
          && Nat.leb 1 (length G')
          && walk_all (walk_root m P N c0 ln2 ld2 qn qd lam0 choose sb T) (stairs H (unit_last m) [] G')
               (number path * Z.of_nat (length W))
      | _ => false end) W [unit_last m; map Z.opp (unit_last m)] [].

Definition row_ok (m : nat) (rd R : Z) (z : list Z) : bool :=
  Nat.eqb (length z) (S m) && (nth m z 0 =? rd) && (dotZ z (unit_last m) =? rd) && (dotZ (firstn m z) (firstn m z) <=? (R * rd) * (R * rd)).
Definition wide_rounding (P N : list wrow) (m : nat) (R : Z) : Z :=
  (Z.of_nat (length P) + Z.of_nat (length N) + 1) * (Z.sqrt_up (Z.of_nat m) + R).
(** the evidence is a cover whose basis is that of the weights; R bounds the lengths of the rows, H the prisms *)
Definition check_prisms (p : problem) (c : cover) (H R : Z) : bool :=
  let m := pred (p_dim p) in
  let th := c_theta c in
  match merge (c_reps c) (p_rows p) th (c_merge c) with None => false | Some (cf, c0) =>
  let P := pos_part (c_reps c) cf in
  let N := pos_part (c_reps c) (map Z.opp cf) in
  let ln := p_lnum p * p_rden p * c_tden c in
  let ln2 := ln * ln in let ld2 := p_lden p * p_lden p in
  Nat.eqb (p_dim p) (S m) && problem_ok p && (0 <? c_tden c) && Nat.eqb (length (p_rows p)) (length th) && (sumZ th =? 0)
  && (0 <=? R) && (0 <? H) && (0 <? c_qnum c) && (0 <? c_qden c) && (0 <=? c_lam0 c)
  && ((c_lam0 c + wide_rounding P N m R) * c_qden c * p_lden p <=? c_qnum c * ln)
  && root_ok (p_dim p) P N c0 (unit_last m :: c_basis c) (c_null c) (c_span c) && orthogonal (p_rows p) (c_null c)
  && orthogonal [unit_last m] (c_null c)
  && forallb (row_ok m (p_rden p) R) (p_rows p)
  && check_prisms_side m H (p_rden p) (p_rows p) P N c0 ln2 ld2 (c_qnum c) (c_qden c) (c_lam0 c) (c_basis c) (c_on c)
       (c_sub c) (c_pos c)
  && check_prisms_side m H (p_rden p) (p_rows p) N P (map Z.opp c0) ln2 ld2 (c_qnum c) (c_qden c) (c_lam0 c) (c_basis c)
       (c_on c) (fun k => c_sub c (k + 2 ^ Z.of_nat (length (c_basis c)) * Z.of_nat (length (c_basis c)))) (c_neg c)
  end.
Close Scope Z_scope.

(** ** Between bends *)
Fixpoint gsum (A th : list R) (b : R) : R :=
  match A, th with a :: A', t :: th' => t * relu (a + b) + gsum A' th' b | _, _ => 0 end.
Fixpoint total_of (l : list R) : R := match l with [] => 0 | x :: l' => x + total_of l' end.
Lemma bend_below b : forall A : list R, (forall a, In a A -> b < - a) \/
  exists lo, In lo A /\ - lo <= b /\ forall a, In a A -> - a <= b -> - a <= - lo.
Proof.
  induction A as [|a A IH]; [left; intros a []|].
  destruct (Rle_lt_dec (- a) b) as [h|h].
  - right. destruct IH as [IH|(lo & I & L & M)].
    + exists a. repeat split; [left; auto|auto|]. intros x [<-|Ix] Hx; [lra|]. specialize (IH x Ix). lra.
    + destruct (Rle_lt_dec lo a) as [c|c]; [exists lo|exists a].
      * repeat split; [right; auto|auto|]. intros x [<-|Ix] Hx; [lra|auto].
      * repeat split; [left; auto|auto|]. intros x [<-|Ix] Hx; [lra|]. specialize (M x Ix Hx). lra.
  - destruct IH as [IH|(lo & I & L & M)].
    + left. intros x [<-|Ix]; auto.
    + right. exists lo. repeat split; [right; auto|auto|]. intros x [<-|Ix] Hx; [lra|auto].
Qed.
Lemma bend_above b : forall A : list R, (forall a, In a A -> - a < b) \/
  exists hi, In hi A /\ b <= - hi /\ forall a, In a A -> b <= - a -> - hi <= - a.
Proof.
  intros A. destruct (bend_below (- b) (map Ropp A)) as [N|(lo & I & L & M)].
  - left. intros a I. specialize (N (- a) (in_map Ropp A a I)). lra.
  - right. apply in_map_iff in I. destruct I as (hi & <- & I). exists hi. repeat split; auto; [lra|].
    intros a Ia Ha. specialize (M (- a) (in_map Ropp A a Ia) ltac:(lra)). lra.
Qed.
Lemma gsum_zero b : forall A th, (forall a, In a A -> b < - a) -> gsum A th b = 0.
Proof.
  induction A as [|a A IH]; intros [|t th] H; simpl; auto. rewrite IH by (intros; apply H; right; auto).
  rewrite relu_neg by (specialize (H a (or_introl eq_refl)); lra). ring.
Qed.
Lemma gsum_line b : forall A th, length A = length th -> (forall a, In a A -> - a <= b) ->
  gsum A th b = dot th A + b * total_of th.
Proof.
  induction A as [|a A IH]; intros [|t th] L H; simpl in *; try discriminate; [ring|].
  rewrite IH by (auto; intros; apply H; right; auto). rewrite relu_pos by (specialize (H a (or_introl eq_refl)); lra). ring.
Qed.
Lemma gsum_affine l b h : l <= b -> b <= h -> forall A th,
  (forall a, In a A -> - a <= l \/ h <= - a) ->
  (h - l) * gsum A th b = (h - b) * gsum A th l + (b - l) * gsum A th h.
Proof.
  intros H1 H2. induction A as [|a A IH]; intros [|t th] H; simpl; try ring.
  assert (E : (h - l) * relu (a + b) = (h - b) * relu (a + l) + (b - l) * relu (a + h)).
  { destruct (H a (or_introl eq_refl)) as [C|C].
    - rewrite !relu_pos by lra. ring.
    - rewrite (relu_neg (a + b)), (relu_neg (a + l)) by lra. destruct (Rle_lt_or_eq_dec _ _ C) as [c|c].
      + rewrite relu_neg by lra. ring.
      + rewrite relu_neg by lra. ring. }
  assert (IH' := IH th ltac:(intros; apply H; right; auto)).
  replace ((h - l) * (t * relu (a + b) + gsum A th b)) with (t * ((h - l) * relu (a + b)) + (h - l) * gsum A th b) by ring.
  rewrite E, IH'. ring.
Qed.
Theorem bends A th B b : length A = length th -> total_of th = 0 -> 0 <= B ->
  (forall a, In a A -> gsum A th (- a) <= B) -> gsum A th b <= B.
Proof.
  intros L Z0 HB H. destruct (bend_below b A) as [N|(lo & Il & Ll & Ml)]; [rewrite gsum_zero; auto|].
  destruct (bend_above b A) as [N|(hi & Ih & Lh & Mh)].
  - specialize (H lo Il). rewrite gsum_line in *; auto.
    + rewrite Z0 in *. lra.
    + intros a Ia. apply Ml; auto. specialize (N a Ia). lra.
    + intros a Ia. specialize (N a Ia). lra.
  - destruct (Rle_lt_dec (- hi) (- lo)) as [c|c].
    + assert (E : b = - lo) by lra. rewrite E. apply H; auto.
    + pose proof (gsum_affine (- lo) b (- hi) Ll Lh A th) as E.
      assert (S : forall a, In a A -> - a <= - lo \/ - hi <= - a).
      { intros a Ia. destruct (Rle_lt_dec (- a) b) as [x|x]; [left; auto|right; apply Mh; auto; lra]. }
      specialize (E S). pose proof (H lo Il). pose proof (H hi Ih).
      apply Rmult_le_reg_l with (- hi - - lo); [lra|]. rewrite E. nra.
Qed.

(** ** Prisms *)
Lemma highs_R H e v : forall tau (G : cone), length tau = length G ->
  dot tau (map (form v) (map (axpy H e) G)) = dot tau (map (form v) G) + IZR H * form v e * total_of tau.
Proof.
  induction tau as [|t tau IH]; intros [|g G] L; simpl in *; try discriminate; [ring|]. rewrite IH by lia.
  unfold form at 1. rewrite dot_comm, axpy_R. unfold form. rewrite !(dot_comm v). ring.
Qed.
Theorem stairs_cover H e u : forall (G : cone) low X tau y, length X = length low -> Forall (Rle 0) X ->
  length tau = length G -> Forall (Rle 0) tau -> G <> [] -> - total_of tau <= y <= total_of tau ->
  (forall v, dot v u = dot X (map (form v) low) + dot tau (map (form v) G) + y * IZR H * form v e) ->
  exists C, In C (stairs H e low G) /\ in_cone C u.
Proof.
  induction G as [|g G IH]; intros low X [|t tau] y LX FX L F NE Hy E; try discriminate; [congruence|].
  assert (t0 := Forall_inv F). assert (F' := Forall_inv_tail F). cbn [total_of] in Hy. simpl in t0, L.
  assert (Lo : forall v k, form v (axpy k e g) = form v g + IZR k * form v e).
  { intros v k. unfold form. rewrite dot_comm, axpy_R, !(dot_comm v). ring. }
  cbn [stairs]. destruct (Rle_lt_dec (total_of tau - t) y) as [c|c].
  - exists (low ++ axpy (- H) e g :: axpy H e g :: map (axpy H e) G). split; [left; auto|].
    exists (X ++ (t + total_of tau - y) / 2 :: (t - total_of tau + y) / 2 :: tau). split; [|split].
    + rewrite !app_length. cbn [length]. rewrite map_length. lia.
    + apply Forall_app. split; auto. constructor; [lra|]. constructor; [lra|auto].
    + intros v. rewrite E, map_app, dot_app by (rewrite map_length; auto). cbn [map dot].
      rewrite !Lo, highs_R by lia. rewrite opp_IZR. field.
  - destruct (IH (low ++ [axpy (- H) e g]) (X ++ [t]) tau (y + t)) as (C & I & K); auto.
    + rewrite !app_length. simpl. lia.
    + apply Forall_app. split; auto.
    + intros ->. destruct tau; [|discriminate]. simpl in *. lra.
    + lra.
    + intros v. rewrite E, map_app, dot_app by (rewrite map_length; auto). cbn [map dot]. rewrite Lo, opp_IZR. ring.
    + exists C. split; [right; auto|auto].
Qed.
Lemma walk_all_in walk : forall roots k, walk_all walk roots k = true -> forall G, In G roots -> exists i, walk G i = true.
Proof.
  induction roots as [|R roots IH]; intros k E G I; [destruct I|]. cbn [walk_all] in E. apply andb_prop in E.
  destruct E as [E1 E2]. destruct I as [<-|I]; eauto.
Qed.

(** ** One sign *)
Record row_facts (m : nat) (rd R : Z) (z : list Z) : Prop := RowFacts {
  rf_len : length z = S m; rf_last : nth m z 0%Z = rd; rf_unit : dotZ z (unit_last m) = rd;
  rf_norm : (dotZ (firstn m z) (firstn m z) <= (R * rd) * (R * rd))%Z }.
Lemma row_ok_facts m rd R rows z : forallb (row_ok m rd R) rows = true -> In z rows -> row_facts m rd R z.
Proof.
  intros E I. rewrite forallb_forall in E. specialize (E z I). unfold row_ok in E. split_andb E. to_Prop.
  apply Z.eqb_eq in E1, E2. constructor; auto.
Qed.
Lemma dot_last z u' b : forall m, length z = S m -> length u' = m ->
  dot (iz z) (u' ++ [b]) = dot (iz (firstn m z)) u' + IZR (nth m z 0%Z) * b.
Proof.
  intros m. revert z u'. induction m as [|m IH]; intros [|x z] [|a u'] L1 L2; simpl in *; try discriminate.
  - destruct z; [|discriminate]. simpl. ring.
  - fold (iz z) (iz (firstn m z)). rewrite IH by lia. ring.
Qed.
Lemma abs_map_square (l : list R) : dot (map Rabs l) (map Rabs l) = dot l l.
Proof.
  induction l as [|a l IH]; simpl; auto. rewrite IH. f_equal. rewrite <- Rabs_mult. apply Rabs_right.
  pose proof (Rle_0_sqr a) as S. unfold Rsqr in S. lra.
Qed.
Section Side.
Variables (m : nat) (H rd R1 : Z) (rows : list (list Z)) (P N : list wrow) (c0 : list Z) (ln ld qn qd lam0 : Z).
Variables (W : cone) (choose : list (list Z) -> list Z -> list bool) (sb : Z -> node) (s : side).
Hypothesis (NP : nonneg P) (NN : nonneg N).
Hypothesis (Hln : (0 < ln)%Z) (Hld : (0 < ld)%Z) (Hqn : (0 < qn)%Z) (Hqd : (0 < qd)%Z) (Hlam0 : (0 <= lam0)%Z).
Hypothesis (HH : (0 < H)%Z) (HR : (0 <= R1)%Z) (Hrd : (0 < rd)%Z).
Hypothesis rows_good : forallb (row_ok m rd R1) rows = true.
Hypothesis radius : IZR (lam0 + wide_rounding P N m R1) * (IZR qd / IZR qn) <= IZR ln / IZR ld.

Definition bent (u : list R) : Prop := exists z, In z rows /\ dot (iz z) u = 0.
Definition inside (u : list R) : Prop := forall u' b, u = u' ++ [b] -> length u' = m -> bent u ->
  below (wsum P u + dot (iz c0) u - wsum N u) (IZR ln / IZR ld) u'.

Lemma bias_bound u' b : length u' = m -> bent (u' ++ [b]) ->
  forall U, 0 <= U -> dot u' u' <= U * U -> Rabs b <= IZR R1 * U.
Proof.
  intros L (z & Iz & E) U HU Hu. destruct (row_ok_facts _ _ _ _ z rows_good Iz) as [Lz Nz _ Sz].
  rewrite (dot_last z u' b m Lz L), Nz in E. assert (hr := IZR_lt _ _ Hrd).
  assert (hR := IZR_le _ _ HR). apply IZR_le in Sz. rewrite dotZ_R, !mult_IZR in Sz.
  pose proof (dot_abs_le (iz (firstn m z)) u' (IZR R1 * IZR rd) U ltac:(nra) HU Sz Hu) as D.
  apply Rmult_le_reg_l with (IZR rd); auto. rewrite <- (Rabs_right (IZR rd)) at 1 by lra. rewrite <- Rabs_mult.
  replace (IZR rd * b) with (- dot (iz (firstn m z)) u') by lra. rewrite Rabs_Ropp. lra.
Qed.
Lemma cone_inside T C k u : (forall i g, PositiveMap.find i T = Some g ->
    snd g = value (map (coarse_row qn qd) P) (map (round qn qd) c0) (fst g)) ->
  walk_root m P N c0 (ln * ln) (ld * ld) qn qd lam0 choose sb T C k = true -> in_cone C u -> inside u.
Proof.
  unfold walk_root. intros HT E I u' b Eu Lu B. set (PC := map (coarse_row qn qd) P) in *.
  set (NC := map (coarse_row qn qd) N) in *. set (c0C := map (round qn qd) c0) in *.
  destruct (check_tree _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [acc|] eqn:ET; [|discriminate].
  set (kappa := IZR qn / IZR qd). set (sd := IZR (Z.sqrt_up (Z.of_nat m) + R1)).
  set (M := S (length P)). set (L := IZR ln / IZR ld) in *.
  assert (hqn := IZR_lt _ _ Hqn). assert (hqd := IZR_lt _ _ Hqd).
  assert (hln := IZR_lt _ _ Hln). assert (hld := IZR_lt _ _ Hld).
  assert (Hkap : 0 < kappa) by (apply Rdiv_lt_0_compat; auto).
  assert (Hsd : 0 <= sd) by (apply IZR_le; pose proof (Z.sqrt_up_nonneg (Z.of_nat m)); lia).
  assert (HL : 0 <= L) by (left; apply Rdiv_lt_0_compat; auto).
  assert (BB : forall U, 0 <= U -> dot u' u' <= U * U -> Rabs b <= IZR R1 * U)
    by (apply bias_bound; auto; rewrite <- Eu; auto).
  assert (CV : forall l U, 0 <= U -> dot u' u' <= U * U ->
    Rabs (kappa * dot (iz l) u - dot (iz (map (round qn qd) l)) u) <= sd * U).
  { intros l U HU Hu. destruct (round_vector qn qd Hqd l) as (er & Fe & Ee). unfold kappa. rewrite Ee.
    eapply Rle_trans; [apply dot_unit_box; auto|]. rewrite Eu, app_length, map_app. cbn [length].
    rewrite repeat_app, dot_app by (rewrite repeat_length, map_length; auto). cbn [map repeat dot].
    unfold sd. rewrite plus_IZR, Rmult_plus_distr_r, Rmult_1_l, Rplus_0_r. apply Rplus_le_compat; [|apply BB; auto].
    eapply Rle_trans; [apply Rle_abs|]. apply unit_box_norm; auto.
    - apply Forall_forall. intros x Ix. apply repeat_spec in Ix. subst x. rewrite Rabs_R1. lra.
    - apply IZR_le, Z.sqrt_up_nonneg.
    - rewrite map_length, Lu, INR_IZR_INZ, <- mult_IZR. apply IZR_le. apply Z.sqrt_sqrt_up_spec. apply Zle_0_nat.
    - rewrite abs_map_square. exact Hu. }
  assert (CR : forall Q, Forall2 (close u u' kappa sd) Q (map (coarse_row qn qd) Q)).
  { induction Q as [|r Q IHQ]; simpl; constructor; auto. intros U HU Hu.
    rewrite coarse_row_is_round. specialize (CV (map (Z.mul (fst r)) (snd r)) U HU Hu). rewrite scale_R in CV.
    exact CV. }
  assert (HL2 : forall D cc, cc * IZR (ld * ld) <= IZR (ln * ln) * (D * D) -> cc <= (L * D) * (L * D)).
  { intros D cc H0. rewrite !mult_IZR in H0. unfold L.
    apply Rmult_le_reg_r with (IZR ld * IZR ld); [nra|]. eapply Rle_trans; [exact H0|].
    apply Req_le. field. lra. }
  assert (S0 : state_ok u u' (value PC c0C) kappa sd (wsum P u + dot (iz c0) u) M P c0 PC []).
  { constructor; auto; [apply CR|]. exists c0C, 1%nat. split; [|split].
    - intros U HU Hu. rewrite Rmult_1_l. apply CV; auto.
    - unfold M. lia.
    - intros g. simpl. lia. }
  assert (C0 : cached (value PC c0C) (map (fun g => (g, value PC c0C g)) C)).
  { unfold cached. rewrite Forall_map. apply Forall_forall. auto. }
  assert (I0 : in_cone (map fst (map (fun g => (g, value PC c0C g)) C)) u).
  { rewrite map_map. simpl. rewrite map_id. exact I. }
  assert (SE : forall c : list Z, (length c <= m)%nat -> dot (iz c) u = dot (iz c) u').
  { intros c Lc. rewrite Eu. rewrite <- Lu in Lc. clear -Lc. revert u' Lc. induction c as [|x c IH]; intros [|a u'] L; simpl in *;
      auto; try lia. fold (iz c). rewrite IH by lia. reflexivity. }
  assert (R0 : settled u u' N lam0 kappa sd L (wsum P u + dot (iz c0) u) M acc).
  { eapply (tree_sound u u' m); [exact Hkap|exact Hsd|exact HL|exact Hlam0|exact SE|exact HL2|exact NN|apply CR|exact HT| |
      |exact S0|exact C0|exact ET|exact I0]; intros; discriminate. }
  destruct R0 as [R0|[R0 _]]; [|exact R0].
  intros U HU Hu. specialize (R0 U HU Hu).
  apply Rle_trans with (IZR (lam0 + wide_rounding P N m R1) * (IZR qd / IZR qn) * U);
    [|apply Rmult_le_compat_r; auto].
  unfold wide_rounding. rewrite plus_IZR, mult_IZR, !plus_IZR, <- !INR_IZR_INZ. rewrite <- (plus_IZR (Z.sqrt_up _)). fold sd.
  apply Rmult_le_reg_l with kappa; auto. eapply Rle_trans; [exact R0|]. apply Req_le.
  unfold M, kappa. rewrite S_INR. field. lra.
Qed.

Theorem prism_side_sound u : check_prisms_side m H rd rows P N c0 (ln * ln) (ld * ld) qn qd lam0 W choose sb s = true ->
  in_cone ([unit_last m; map Z.opp (unit_last m)] ++ signs_of W) u -> inside u.
Proof.
  unfold check_prisms_side. set (T := table _ _ _ _ _). intros E I.
  assert (HT : forall i g, PositiveMap.find i T = Some g ->
    snd g = value (map (coarse_row qn qd) P) (map (round qn qd) c0) (fst g)).
  { intros k g. apply table_cached. intros i g' F. rewrite PositiveMap.gempty in F. discriminate. }
  refine (roots_sound inside _ _ W _ [] u E I). clear u I E. intros G path u E (x & Lx & Fx & Hx).
  destruct G as [|a0 [|b0 G]]; try discriminate. split_andb E. apply Nat.leb_le in E1.
  destruct x as [|x0 [|x1 tau]]; try discriminate. assert (f0 := Forall_inv Fx). assert (Fx' := Forall_inv_tail Fx).
  assert (f1 := Forall_inv Fx'). assert (Ft := Forall_inv_tail Fx'). simpl in f0, f1, Lx.
  assert (hH := IZR_lt _ _ HH). assert (hr := IZR_lt _ _ Hrd).
  assert (Fa : forall v, form v a0 = form v (unit_last m)).
  { intros v. apply (zeroZ_R v) in E. rewrite axpy_R in E. unfold form. rewrite !(dot_comm v). lra. }
  assert (Fb : forall v, form v b0 = - form v (unit_last m)).
  { intros v. apply (zeroZ_R v) in E3. rewrite axpy_R in E3. unfold form. rewrite !(dot_comm v). lra. }
  assert (Hu : forall v, dot v u = dot tau (map (form v) G) + (x0 - x1) * form v (unit_last m)).
  { intros v. rewrite Hx. cbn [map dot]. rewrite Fa, Fb. ring. }
  intros u' b Eu Lu B.
  assert (Y : Rabs (x0 - x1) <= IZR H * total_of tau).
  { destruct B as (z & Iz & Ez). rewrite Hu in Ez. destruct (row_ok_facts _ _ _ _ z rows_good Iz) as [_ _ Uz _]. rewrite form_iz, Uz in Ez.
    unfold height_ok in E2. rewrite forallb_forall in E2. specialize (E2 z Iz).
    assert (A : Rabs (dot tau (map (form (iz z)) G)) <= IZR H * IZR rd * total_of tau).
    { clear -E2 Ft Lx. assert (L : length tau = length G) by lia. clear Lx. revert tau Ft L.
      induction G as [|g G IH]; intros [|t tau] F L; simpl in *; try discriminate.
      - rewrite Rabs_R0. lra.
      - apply andb_prop in E2. destruct E2 as [E1 E2]. apply Z.leb_le, IZR_le in E1. rewrite abs_IZR, mult_IZR in E1.
        assert (t0 := Forall_inv F). simpl in t0. specialize (IH E2 tau (Forall_inv_tail F) ltac:(lia)).
        eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_right t), form_iz by lra. nra. }
    apply Rmult_le_reg_l with (IZR rd); auto. rewrite <- (Rabs_right (IZR rd)) at 1 by lra. rewrite <- Rabs_mult.
    replace (IZR rd * (x0 - x1)) with (- dot tau (map (form (iz z)) G)) by lra. rewrite Rabs_Ropp. lra. }
  destruct (stairs_cover H (unit_last m) u G [] [] tau ((x0 - x1) / IZR H)) as (C & IC & KC); auto.
  - lia.
  - intros ->. simpl in E1. lia.
  - assert (A := Rle_abs (x0 - x1)). assert (A' := Rle_abs (- (x0 - x1))). rewrite Rabs_Ropp in A'.
    split; apply Rmult_le_reg_l with (IZR H); auto;
      replace (IZR H * ((x0 - x1) / IZR H)) with (x0 - x1) by (field; lra); lra.
  - intros v. rewrite Hu. simpl. field. lra.
  - destruct (walk_all_in _ _ _ E0 C IC) as (i & Wi).
    exact (cone_inside T C i u HT Wi KC u' b Eu Lu B).
Qed.
End Side.

(** ** Both signs, and all biases *)
Lemma hsum_gsum rd m u' b : 0 < IZR rd -> length u' = m -> forall rows th,
  (forall z, In z rows -> length z = S m /\ nth m z 0%Z = rd) ->
  hsum (map (ratio rd) rows) th (u' ++ [b]) = gsum (map (fun z => dot (ratio rd (firstn m z)) u') rows) th b.
Proof.
  intros hr L. induction rows as [|z rows IH]; intros [|t th] Hz; simpl; auto.
  destruct (Hz z (or_introl eq_refl)) as (Lz & Nz). rewrite IH by (intros; apply Hz; right; auto). f_equal. f_equal. f_equal.
  rewrite !ratio_dot, (dot_last z u' b m Lz L), Nz. field. lra.
Qed.
Lemma gsum_opp b : forall A th, gsum A (map Ropp th) b = - gsum A th b.
Proof. induction A as [|a A IH]; intros [|t th]; simpl; try ring. rewrite IH. ring. Qed.
Lemma total_opp : forall l, total_of (map Ropp l) = - total_of l.
Proof. induction l; simpl; [ring|]. rewrite IHl. ring. Qed.
Lemma total_ratio den : 0 < IZR den -> forall l, total_of (ratio den l) = IZR (sumZ l) / IZR den.
Proof.
  intros h. induction l as [|x l IH]; [simpl; unfold Rdiv; ring|]. change (sumZ (x :: l)) with (x + sumZ l)%Z.
  cbn [ratio map total_of]. fold (ratio den l). rewrite IH, plus_IZR. field. lra.
Qed.
Lemma last_split m (w : list R) : length w = S m -> w = firstn m w ++ [nth m w 0].
Proof.
  revert w. induction m as [|k IH]; intros [|x l] L; simpl in *; try discriminate.
  - destruct l; [reflexivity|discriminate].
  - f_equal. apply IH. lia.
Qed.
(** it is enough to look where some row is 0 *)
Lemma all_biases lam m rd td rows th : 0 <= lam -> 0 < IZR rd -> 0 < IZR td -> length rows = length th -> sumZ th = 0%Z ->
  (forall z, In z rows -> length z = S m /\ nth m z 0%Z = rd) ->
  (forall u' b, length u' = m -> bent rows (u' ++ [b]) ->
    below (hsum (map (ratio rd) rows) (ratio td th) (u' ++ [b])) lam u' /\
    below (- hsum (map (ratio rd) rows) (ratio td th) (u' ++ [b])) lam u') ->
  seen_ok lam m (S m) (map (ratio rd) rows) (ratio td th).
Proof.
  intros Hl hr ht LT SZ ROWS BENT. apply below_seen; auto. intros w Lw. rewrite (last_split m w Lw).
  assert (Lu : length (firstn m w) = m) by (rewrite firstn_length; lia).
  rewrite firstn_app, Lu, Nat.sub_diag, firstn_O, app_nil_r, firstn_firstn, Nat.min_id.
  set (u' := firstn m w) in *. set (b := nth m w 0).
  set (A := map (fun z => dot (ratio rd (firstn m z)) u') rows). set (h := ratio td th) in *.
  assert (HG : forall x, hsum (map (ratio rd) rows) h (u' ++ [x]) = gsum A h x) by (intros x; apply hsum_gsum; auto).
  assert (LA : length A = length h) by (unfold A, h, ratio; rewrite !map_length; auto).
  assert (Z0 : total_of h = 0) by (unfold h; rewrite total_ratio, SZ by auto; unfold Rdiv; ring).
  assert (BA : forall a, In a A -> bent rows (u' ++ [- a])).
  { intros a Ia. apply in_map_iff in Ia. destruct Ia as (z & <- & Iz). exists z. split; auto.
    destruct (ROWS z Iz) as (Lz & Nz). rewrite (dot_last z u' _ m Lz Lu), Nz, ratio_dot. field. lra. }
  split; intros U HU Hu.
  - rewrite HG. apply bends; auto; [nra|]. intros a Ia. rewrite <- HG. apply (BENT u' (- a) Lu (BA a Ia)); auto.
  - rewrite HG, <- gsum_opp. apply bends; [rewrite map_length; auto|rewrite total_opp, Z0; ring|nra|].
    intros a Ia. rewrite gsum_opp, <- HG. apply (BENT u' (- a) Lu (BA a Ia)); auto.
Qed.
Theorem prisms_sound p c H R1 : check_prisms p c H R1 = true ->
  0 < lambda_of p /\ (0 < c_tden c)%Z /\
  seen_ok (lambda_of p) (pred (p_dim p)) (p_dim p) (rows_of p) (theta_of c).
Proof.
  unfold check_prisms. set (m := pred (p_dim p)). intros E. destruct (merge _ _ _ _) as [[cf c0]|] eqn:EM; [|discriminate].
  set (P := pos_part (c_reps c) cf) in *. set (N := pos_part (c_reps c) (map Z.opp cf)) in *.
  split_andb E.
  match goal with h : check_prisms_side _ _ _ _ N P _ _ _ _ _ _ _ _ _ _ = true |- _ => rename h into CN end.
  match goal with h : check_prisms_side _ _ _ _ P N _ _ _ _ _ _ _ _ _ _ = true |- _ => rename h into CP end.
  match goal with h : forallb (row_ok _ _ _) _ = true |- _ => rename h into RG end.
  match goal with h : orthogonal [unit_last _] _ = true |- _ => rename h into OE end.
  match goal with h : orthogonal (p_rows p) _ = true |- _ => rename h into OR end.
  match goal with h : root_ok _ _ _ _ _ _ _ = true |- _ => rename h into RO end.
  match goal with h : problem_ok p = true |- _ => rename h into PO end.
  to_Prop.
  match goal with h : (sumZ _ =? 0)%Z = true |- _ => apply Z.eqb_eq in h; rename h into SZ end.
  apply problem_ok_facts in PO. assert (Hl := lambda_pos p PO). destruct PO as [Hr Hy Hln0 Hld _].
  match goal with h : p_dim p = S m |- _ => rename h into DM end.
  match goal with h : (0 < c_tden c)%Z |- _ => rename h into Ht end.
  match goal with h : length (p_rows p) = length (c_theta c) |- _ => rename h into LT end.
  match goal with h : ((_ + wide_rounding _ _ _ _) * _ * _ <= _)%Z |- _ => rename h into RD end.
  match goal with h : (0 < c_qnum c)%Z |- _ => rename h into Hqn end.
  match goal with h : (0 < c_qden c)%Z |- _ => rename h into Hqd end.
  match goal with h : (0 <= c_lam0 c)%Z |- _ => rename h into Hl0 end.
  match goal with h : (0 <= R1)%Z |- _ => rename h into HR end.
  match goal with h : (0 < H)%Z |- _ => rename h into HH end.
  split; auto. split; auto.
  set (ln := (p_lnum p * p_rden p * c_tden c)%Z) in *. assert (Hln : (0 < ln)%Z) by (unfold ln; nia).
  assert (hr := IZR_lt _ _ Hr). assert (ht := IZR_lt _ _ Ht). assert (hln := IZR_lt _ _ Hln).
  assert (hld := IZR_lt _ _ Hld). assert (hqn := IZR_lt _ _ Hqn). assert (hqd := IZR_lt _ _ Hqd).
  assert (HK : 0 < IZR (p_rden p) * IZR (c_tden c)) by (apply Rmult_lt_0_compat; auto).
  assert (RA : IZR (c_lam0 c + wide_rounding P N m R1) * (IZR (c_qden c) / IZR (c_qnum c)) <= IZR ln / IZR (p_lden p)).
  { apply IZR_le in RD. rewrite !mult_IZR in RD. apply Rmult_le_reg_r with (IZR (c_qnum c) * IZR (p_lden p));
      [apply Rmult_lt_0_compat; auto|]. eapply Rle_trans; [|eapply Rle_trans; [exact RD|]]; apply Req_le; field; lra. }
  assert (RB : IZR (c_lam0 c + wide_rounding N P m R1) * (IZR (c_qden c) / IZR (c_qnum c)) <= IZR ln / IZR (p_lden p)).
  { replace (wide_rounding N P m R1) with (wide_rounding P N m R1) by (unfold wide_rounding; lia). exact RA. }
  assert (NP : nonneg P) by apply pos_part_nonneg. assert (NN : nonneg N) by apply pos_part_nonneg.
  assert (ROWS : forall z, In z (p_rows p) -> length z = S m /\ nth m z 0%Z = p_rden p).
  { intros z Iz. destruct (row_ok_facts _ _ _ _ z RG Iz). auto. }
  assert (HLeq : IZR ln / IZR (p_lden p) = IZR (p_rden p) * IZR (c_tden c) * lambda_of p).
  { unfold ln, lambda_of. rewrite !mult_IZR. field. lra. }
  (* at points where some row is zero *)
  assert (BENT : forall u' b, length u' = m -> bent (p_rows p) (u' ++ [b]) ->
    below (hsum (rows_of p) (theta_of c) (u' ++ [b])) (lambda_of p) u' /\
    below (- hsum (rows_of p) (theta_of c) (u' ++ [b])) (lambda_of p) u').
  { intros u' b Lu B. set (u := u' ++ [b]) in *.
    assert (Lw : length u = p_dim p) by (unfold u; rewrite app_length, Lu, DM; simpl; lia).
    unfold root_ok in RO. split_andb RO.
    destruct (row_part_exists (p_dim p) (unit_last m :: c_basis c) (c_null c) (c_span c) u RO RO4 RO3 Lw) as (u1 & RP).
    assert (SEE : forall a, orthogonal [a] (c_null c) = true -> dot (iz a) u1 = dot (iz a) u).
    { intros a O. apply (rp_sees _ _ _ _ RP). intros q Iq. unfold orthogonal in O. cbn [forallb] in O.
      rewrite andb_true_r in O. rewrite forallb_forall in O. specialize (O q Iq). apply Z.eqb_eq in O.
      rewrite <- dotZ_R, O. auto. }
    assert (L1 : length u1 = S m) by (rewrite (rp_length _ _ _ _ RP); lia).
    set (u1' := firstn m u1). set (b1 := nth m u1 0).
    assert (E1 : u1 = u1' ++ [b1]).
    { unfold u1', b1. clear -L1. revert u1 L1. induction m as [|k IH]; intros [|x l] L; simpl in *; try discriminate.
      - destruct l; [reflexivity|discriminate].
      - f_equal. apply IH. lia. }
    assert (Lu1 : length u1' = m) by (unfold u1'; rewrite firstn_length; lia).
    assert (EL : forall (l : list R) x, length l = m -> dot (iz (unit_last m)) (l ++ [x]) = x).
    { intros l x. clear. unfold unit_last. revert l. induction m as [|k IH]; intros [|y l] L; simpl in *; try discriminate.
      - ring.
      - rewrite IH by lia. ring. }
    assert (EB : b1 = b).
    { pose proof (SEE _ OE) as S0. rewrite E1 in S0. unfold u in S0. rewrite !EL in S0 by auto. exact S0. }
    assert (NM : dot u1' u1' <= dot u' u').
    { pose proof (rp_norm _ _ _ _ RP) as Q. rewrite E1 in Q. unfold u in Q.
      rewrite !dot_app in Q by auto. cbn [dot] in Q. rewrite EB in Q. lra. }
    assert (B1 : bent (p_rows p) u1).
    { destruct B as (z & Iz & Ez). exists z. split; auto. rewrite SEE; auto. unfold orthogonal in *. cbn [forallb].
      rewrite andb_true_r. rewrite forallb_forall in OR. apply OR; auto. }
    assert (SP : forall V, orthogonal (map snd V) (c_null c) = true -> wsum V u1 = wsum V u)
      by (intros V O; exact (seen_P _ _ _ _ V RP O)).
    assert (S0 : dot (iz c0) u1 = dot (iz c0) u) by (apply SEE; auto).
    assert (OP : dot (iz (map Z.opp c0)) u1 = - dot (iz c0) u) by (rewrite opp_R, S0; auto).
    pose proof (rp_cone _ _ _ _ RP) as IC. cbn [signs_of] in IC.
    pose proof (prism_side_sound m H (p_rden p) R1 (p_rows p) P N c0 ln (p_lden p) (c_qnum c) (c_qden c) (c_lam0 c)
      (c_basis c) (c_on c) (c_sub c) (c_pos c) NP NN Hln Hld Hqn Hqd Hl0 HH HR Hr RG RA u1 CP IC u1' b1 E1 Lu1 B1) as X1.
    pose proof (prism_side_sound m H (p_rden p) R1 (p_rows p) N P (map Z.opp c0) ln (p_lden p) (c_qnum c) (c_qden c)
      (c_lam0 c) (c_basis c) (c_on c) _ (c_neg c) NN NP Hln Hld Hqn Hqd Hl0 HH HR Hr RG RB u1 CN IC u1' b1 E1 Lu1 B1) as X2.
    rewrite (SP P RO2), (SP N RO1) in X1, X2. rewrite S0 in X1. rewrite OP in X2.
    destruct (merge_R (p_rden p) (c_tden c) u (c_reps c) Hr Ht _ _ _ _ _ EM) as (_ & MR).
    rewrite csum_split in MR. fold P N in MR. fold (rows_of p) (theta_of c) in MR.
    set (h := hsum (rows_of p) (theta_of c) u) in *. rewrite HLeq in X1, X2.
    split; intros U HU Hu; [specialize (X1 U HU ltac:(lra)); clear X2|specialize (X2 U HU ltac:(lra)); clear X1];
      apply Rmult_le_reg_l with (IZR (p_rden p) * IZR (c_tden c)); auto; lra. }
  rewrite DM. apply all_biases; auto. left. auto.
Qed.

(** ** Leaders beside free biases: where a row is 0, rd^2 b^2 <= longest |w|^2, and kappa times that is added to the form *)
Open Scope Z_scope.
Definition most (l : list Z) : Z := fold_right Z.max 0 l.
Definition free_len (m : nat) (rows : list (list Z)) (z : list Z) : Z :=
  if zeroZ (skipn m z) then dotZ z z else most (map (fun z' => let x := firstn m (axpy (-1) z' z) in dotZ x x) rows).
Definition free_ball (m : nat) (rd longest : Z) (k : cell) : list term :=
  map (fun e => (k_nu k - Z.max 0 (k_kappa k) * longest, e)) (axes m) ++ [(Z.max 0 (k_kappa k) * (rd * rd), unit_last m)].
Definition check_free_leaders (p : problem) (c : leaders) : bool :=
  let m := pred (p_dim p) in let th := d_theta c in let ln := p_lnum p * p_rden p * d_tden c in
  let longest := most (map (fun z => dotZ (firstn m z) (firstn m z)) (p_rows p)) in
  let lead := check_leading (free_len m (p_rows p)) (free_ball m (p_rden p) longest) (d_root c) (d_G c) (d_R c) ln
    (p_lden p) (p_dim p) (p_rows p) in
  problem_ok p && bound_ok p th (d_tden c) (d_lown c) (d_lowd c)
  && (0 <? d_G c) && (0 <? d_R c) && Nat.eqb (p_dim p) (S m) && (sumZ th =? 0)
  && forallb (fun z => Nat.eqb (length z) (S m) && (nth m z 0 =? p_rden p)) (p_rows p)
  && forallb (fun e => zeroZ (skipn m e)) (k_centres (d_pos c) ++ k_centres (d_neg c))
  && lead th (d_pos c) && lead (map Z.opp th) (d_neg c).
Close Scope Z_scope.

Lemma most_in : forall l x, In x l -> (x <= most l)%Z.
Proof. induction l as [|a l IH]; intros x I; simpl; [destruct I|]. destruct I as [<-|I]; [|specialize (IH x I)]; lia. Qed.
Lemma skipn_axpy k : forall m a b, zeroZ (skipn m a) = true -> zeroZ (skipn m b) = true -> zeroZ (skipn m (axpy k a b)) = true.
Proof.
  induction m as [|m IH]; [|intros [|x a] [|y b] A B; simpl in *; auto].
  - simpl. induction a as [|x a IH]; intros [|y b] A B; simpl in *; auto.
    + apply andb_prop in A. destruct A as [A1 A2]. apply Z.eqb_eq in A1. subst. rewrite Z.mul_0_r. simpl. apply (IH []); auto.
    + apply andb_prop in A, B. destruct A as [A1 A2], B as [B1 B2]. apply Z.eqb_eq in A1, B1. subst. rewrite Z.mul_0_r. simpl.
      apply IH; auto.
  - apply (IH a []); auto. destruct m; auto.
Qed.
Section Bent.
Variables (m : nat) (rd : Z) (rows : list (list Z)) (u' : list R) (b U : R).
Hypothesis (Hr : 0 < IZR rd) (Lu : length u' = m) (HU : dot u' u' <= U * U) (B : bent rows (u' ++ [b])).
Hypothesis (ROWS : forall z, In z rows -> length z = S m /\ nth m z 0%Z = rd).
Let u := u' ++ [b].
Lemma short_R x : dot (iz x) u' * dot (iz x) u' <= IZR (dotZ x x) * (U * U).
Proof. rewrite dotZ_R. eapply Rle_trans; [apply cauchy|]. apply Rmult_le_compat_l; auto using dot_self_nonneg. Qed.
Lemma short_first x : dot (iz (firstn m x)) u' = dot (iz x) u'.
Proof.
  rewrite <- Lu. clear. revert x. induction u' as [|a l IH]; intros [|y x]; simpl; auto. f_equal. apply IH.
Qed.
Lemma flat_len z : zeroZ (skipn m z) = true -> dot (iz z) u * dot (iz z) u <= IZR (free_len m rows z) * (U * U).
Proof.
  intros E. unfold free_len. rewrite E, (seen_dot m z u E). unfold u. rewrite <- Lu, firstn_app, Nat.sub_diag, firstn_O,
    app_nil_r, firstn_all. apply short_R.
Qed.
Lemma row_len z : In z rows -> dot (iz z) u * dot (iz z) u <= IZR (free_len m rows z) * (U * U).
Proof.
  intros I. destruct (zeroZ (skipn m z)) eqn:E; [apply flat_len; auto|]. unfold free_len. rewrite E.
  destruct B as (z' & I' & E'). destruct (ROWS z I) as (Lz & Nz), (ROWS z' I') as (Lz' & Nz').
  rewrite (dot_last z' u' b m Lz' Lu), Nz' in E'. set (x := firstn m (axpy (-1) z' z)).
  assert (X : dot (iz z) u = dot (iz x) u').
  { unfold u, x. rewrite (dot_last z u' b m Lz Lu), Nz, !short_first, axpy_R. rewrite short_first in E'. lra. }
  rewrite X. eapply Rle_trans; [apply short_R|]. apply Rmult_le_compat_r; [pose proof (dot_self_nonneg u'); lra|].
  apply IZR_le, most_in, in_map_iff. exists z'. auto.
Qed.
Lemma ball_R k : (0 <= k_nu k)%Z ->
  squares (free_ball m rd (most (map (fun z => dotZ (firstn m z) (firstn m z)) rows)) k) u <= IZR (k_nu k) * (U * U).
Proof.
  intros Hn. apply IZR_le in Hn. unfold free_ball. set (L := most _). set (kap := Z.max 0 (k_kappa k)).
  assert (hk : 0 <= IZR kap) by (apply IZR_le; unfold kap; lia).
  rewrite squares_app, <- Lu. unfold u at 1. rewrite axes_R. cbn [squares fst snd].
  assert (EL : dot (iz (unit_last (length u'))) u = b).
  { unfold u, unit_last. clear. induction u' as [|a l IH]; simpl; [ring|]. fold (iz (repeat 0%Z (length l) ++ [1%Z])).
    rewrite IH. ring. }
  rewrite EL, minus_IZR, !mult_IZR.
  destruct B as (z & I & E). destruct (ROWS z I) as (Lz & Nz). rewrite (dot_last z u' b m Lz Lu), Nz in E.
  assert (Q : IZR rd * b * (IZR rd * b) <= IZR L * dot u' u').
  { replace (IZR rd * b) with (- dot (iz (firstn m z)) u') by lra.
    replace (- dot (iz (firstn m z)) u' * - dot (iz (firstn m z)) u') with
      (dot (iz (firstn m z)) u' * dot (iz (firstn m z)) u') by ring.
    eapply Rle_trans; [apply cauchy|]. apply Rmult_le_compat_r; [apply dot_self_nonneg|]. rewrite <- dotZ_R.
    apply IZR_le, most_in, in_map_iff. exists z. auto. }
  assert (P : IZR (k_nu k) * dot u' u' <= IZR (k_nu k) * (U * U)) by (apply Rmult_le_compat_l; auto).
  apply (Rmult_le_compat_l (IZR kap)) in Q; auto. lra.
Qed.
End Bent.
Theorem free_leaders_sound p c : check_free_leaders p c = true ->
  (0 < d_tden c)%Z /\
  seen_ok (lambda_of p) (pred (p_dim p)) (p_dim p) (rows_of p) (ratio (d_tden c) (d_theta c)).
Proof.
  unfold check_free_leaders. set (m := pred (p_dim p)). intros E. cbv zeta in E.
  apply andb_prop in E. destruct E as [E En]. apply andb_prop in E. destruct E as [E Ep].
  apply andb_prop in E. destruct E as [E EC]. apply andb_prop in E. destruct E as [E ER].
  apply andb_prop in E. destruct E as [E SZ]. apply andb_prop in E. destruct E as [E DM].
  apply andb_prop in E. destruct E as [E HQ]. apply andb_prop in E. destruct E as [E HG].
  apply andb_prop in E. destruct E as [Pf Eb].
  apply Z.ltb_lt in HQ, HG. apply Z.eqb_eq in SZ. apply Nat.eqb_eq in DM. apply problem_ok_facts in Pf.
  destruct (bound_ok_facts _ _ _ _ _ Pf Eb) as (Ht & Hlo & Lt & Low).
  assert (Hlam := lambda_pos p Pf). destruct Pf as [Hr Hy Hln Hld Hl].
  assert (hr := IZR_lt _ _ Hr). assert (ht := IZR_lt _ _ Ht). assert (hld := IZR_lt _ _ Hld).
  split; auto. rewrite DM.
  assert (ROWS : forall z, In z (p_rows p) -> length z = S m /\ nth m z 0%Z = p_rden p).
  { intros z I. rewrite forallb_forall in ER. specialize (ER z I). apply andb_prop in ER. destruct ER as [E1 E2].
    apply Nat.eqb_eq in E1. apply Z.eqb_eq in E2. auto. }
  assert (LT : length (p_rows p) = length (d_theta c)).
  { unfold ratio in Lt. unfold rows_of in Lt. rewrite ?map_length in Lt. lia. }
  unfold rows_of. apply all_biases; auto; [left; auto|]. intros u' b Lu B.
  set (u := u' ++ [b]) in *.
  assert (W : forall th k, forallb (fun e => zeroZ (skipn m e)) (k_centres k) = true ->
    check_leading (free_len m (p_rows p)) (free_ball m (p_rden p) (most (map (fun z => dotZ (firstn m z) (firstn m z)) (p_rows p))))
      (d_root c) (d_G c) (d_R c) (p_lnum p * p_rden p * d_tden c) (p_lden p) (p_dim p) (p_rows p) th k = true ->
    below (hsum (map iz (p_rows p)) (iz th) u) (IZR (p_lnum p * p_rden p * d_tden c) / IZR (p_lden p)) u').
  { intros th k FC C U HU Hu. rewrite forallb_forall in FC.
    refine (leading_sound _ _ _ _ _ _ _ _ _ _ _ u U HG HQ Hld HU _ _ _ C).
    - intros z I. apply (row_len m (p_rden p)); auto.
    - intros e e' I I' n. apply (flat_len m (p_rows p)); auto. apply skipn_axpy; auto.
    - intros k' Hk. apply (ball_R m (p_rden p)); auto. }
  rewrite forallb_app in EC. apply andb_prop in EC. destruct EC as [Cp Cn].
  apply (W _ _ Cp) in Ep. apply (W _ _ Cn) in En. rewrite hsum_ratio by auto.
  rewrite (map_ext Z.opp (Z.mul (-1))) in En by (intros; lia). rewrite hsum_times in En.
  set (h := hsum _ _ u) in *. set (K := IZR (p_rden p) * IZR (d_tden c)).
  assert (HK : 0 < K) by (unfold K; apply Rmult_lt_0_compat; auto).
  assert (HL : forall U, IZR (p_lnum p * p_rden p * d_tden c) / IZR (p_lden p) * U = K * (lambda_of p * U)).
  { intros U. unfold K, lambda_of. rewrite !mult_IZR. field. lra. }
  split; intros U HU Hu; apply Rmult_le_reg_l with K; auto; rewrite <- HL.
  - replace (K * (/ K * h)) with h by (field; lra). apply Ep; auto.
  - replace (K * - (/ K * h)) with (-1 * h) by (field; lra). apply En; auto.
Qed.
