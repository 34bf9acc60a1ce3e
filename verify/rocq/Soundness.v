(** * Soundness: what an accepted cover proves *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool FMapPositive.
From Relu Require Import Spec Vectors Duality Checker Cones.
Import ListNotations.
Open Scope R_scope.

Ltac split_andb E := repeat match type of E with (_ && _)%bool = true =>
    let E' := fresh E in apply andb_prop in E; destruct E as [E E'] end.
Ltac to_Prop := repeat match goal with
    | h : (_ <? _)%Z = true |- _ => apply Z.ltb_lt in h
    | h : (_ <=? _)%Z = true |- _ => apply Z.leb_le in h
    | h : Nat.eqb _ _ = true |- _ => apply Nat.eqb_eq in h end.

(** ** Sums over rows, over the reals *)
Fixpoint wsum (P : list wrow) (u : list R) : R :=
  match P with [] => 0 | (k, z) :: P' => IZR k * relu (dot (iz z) u) + wsum P' u end.
Fixpoint rsum (W : list (list Z)) (u : list R) : R :=
  match W with [] => 0 | w :: W' => relu (dot (iz w) u) + rsum W' u end.
Definition nonneg (P : list wrow) : Prop := Forall (fun r => 0 <= IZR (fst r)) P.

Lemma wsumZ_R P g : IZR (wsumZ P g) = wsum P (iz g).
Proof.
  induction P as [|[k z] P IH]; simpl; auto. rewrite <- IH, <- dotZ_R, <- relu_IZR.
  destruct (0 <? dotZ z g)%Z eqn:E; [apply Z.ltb_lt in E|apply Z.ltb_ge in E].
  - rewrite Z.max_r, plus_IZR, mult_IZR by lia. ring.
  - rewrite Z.max_l by lia. ring.
Qed.
Lemma rsumZ_R W g : IZR (rsumZ W g) = rsum W (iz g).
Proof.
  induction W as [|w W IH]; simpl; auto. rewrite <- IH, <- dotZ_R, <- relu_IZR.
  destruct (0 <? dotZ w g)%Z eqn:E; [apply Z.ltb_lt in E|apply Z.ltb_ge in E].
  - rewrite Z.max_r, plus_IZR by lia. ring.
  - rewrite Z.max_l by lia. ring.
Qed.
Lemma value_R PC c0C g : IZR (value PC c0C g) = rsum PC (iz g) + dot (iz c0C) (iz g).
Proof. unfold value. rewrite plus_IZR, rsumZ_R, dotZ_R. auto. Qed.
Lemma pos_part_nonneg : forall rows th, nonneg (pos_part rows th).
Proof.
  induction rows as [|z rows IH]; intros [|t th]; simpl; try constructor.
  destruct (0 <? t)%Z eqn:E; [|apply IH]. constructor; [|apply IH].
  apply Z.ltb_lt in E. simpl. apply IZR_le. lia.
Qed.
Lemma wsum_nonneg P u : nonneg P -> 0 <= wsum P u.
Proof.
  induction 1 as [|[k z] P h _ IH]; simpl in *; [lra|]. pose proof (relu_nonneg (dot (iz z) u)). nra.
Qed.
Lemma rsum_nonneg W u : 0 <= rsum W u.
Proof. induction W as [|w W IH]; simpl; [lra|]. pose proof (relu_nonneg (dot (iz w) u)). lra. Qed.

(** ** Rows on one line *)
Fixpoint csum (cf : list Z) (reps : list (list Z)) (u : list R) : R :=
  match cf, reps with c :: cf', z :: reps' => IZR c * relu (dot (iz z) u) + csum cf' reps' u | _, _ => 0 end.
Lemma csum_split u : forall reps cf,
  csum cf reps u = wsum (pos_part reps cf) u - wsum (pos_part reps (map Z.opp cf)) u.
Proof.
  induction reps as [|z reps IH]; intros [|t cf]; simpl; try ring.
  rewrite IH. destruct (0 <? t)%Z eqn:E1; destruct (0 <? - t)%Z eqn:E2;
    try apply Z.ltb_lt in E1; try apply Z.ltb_lt in E2;
    try apply Z.ltb_ge in E1; try apply Z.ltb_ge in E2; try lia; simpl.
  - ring.
  - rewrite opp_IZR. ring.
  - replace t with 0%Z by lia. ring.
Qed.
Lemma addn_len x : forall l k, length (addn k x l) = length l.
Proof. induction l; intros [|k]; simpl; auto. Qed.
Lemma addn_R u x : forall reps cf k, length cf = length reps ->
  csum (addn k x cf) reps u = csum cf reps u + IZR x * relu (dot (iz (nth k reps [])) u).
Proof.
  induction reps as [|z reps IH]; intros [|a cf] k L; try discriminate.
  - destruct k; simpl; rewrite relu_0; ring.
  - injection L as L. destruct k as [|k]; simpl.
    + rewrite plus_IZR. ring.
    + rewrite IH by auto. ring.
Qed.
Lemma csum_zero u : forall reps, csum (map (fun _ => 0%Z) reps) reps u = 0.
Proof. induction reps; simpl; auto. rewrite IHreps. ring. Qed.

(** merging changes nothing: rden tden h(u) = sum_g cf_g (rep_g.u)_+ + c0.u *)
Theorem merge_R rd td u reps : (0 < rd)%Z -> (0 < td)%Z -> forall rows th mg cf c0,
  merge reps rows th mg = Some (cf, c0) -> length cf = length reps /\
  IZR rd * IZR td * hsum (map (ratio rd) rows) (ratio td th) u = csum cf reps u + dot (iz c0) u.
Proof.
  intros hr ht. assert (hr' := IZR_lt _ _ hr). assert (ht' := IZR_lt _ _ ht).
  induction rows as [|z rows IH]; intros [|t th] mg cf c0 E; simpl in E; try discriminate.
  - injection E as <- <-. split; [apply map_length|]. rewrite csum_zero. simpl. ring.
  - destruct mg as [|[k m] mg]; try discriminate.
    destruct (merge reps rows th mg) as [[cf1 c1]|] eqn:EM; try discriminate.
    destruct (IH _ _ _ _ EM) as [L1 H1]. clear IH EM.
    destruct (zeroZ _) eqn:EZ in E; try discriminate.
    apply (zeroZ_R u) in EZ. rewrite axpy_R, scale_R in EZ.
    set (r := dot (iz (nth k reps [])) u) in *.
    assert (Ez : dot (iz z) u = IZR m * r) by lra.
    assert (HL : IZR rd * IZR td * hsum (map (ratio rd) (z :: rows)) (ratio td (t :: th)) u =
      IZR t * relu (dot (iz z) u) + (csum cf1 reps u + dot (iz c1) u)).
    { rewrite <- H1. simpl. rewrite Rmult_plus_distr_l. f_equal.
      rewrite ratio_dot by lra. rewrite relu_scale by (left; apply Rinv_0_lt_compat; lra).
      field; lra. }
    destruct (0 <=? m)%Z eqn:Em; injection E as <- <-.
    + apply Z.leb_le in Em. apply IZR_le in Em. rewrite addn_len. split; auto.
      rewrite HL, addn_R, Ez, relu_scale, mult_IZR by auto. fold r. ring.
    + apply Z.leb_gt in Em. apply IZR_lt in Em. rewrite addn_len. split; auto.
      rewrite HL, addn_R, axpy_R, mult_IZR, opp_IZR, Ez by auto. fold r.
      replace (IZR m * r) with ((- IZR m) * (- r)) at 1 by ring.
      rewrite relu_scale by lra. pose proof (relu_diff r).
      replace (relu (- r)) with (relu r - r) by lra. ring.
Qed.

(** ** The leaf lemma

    F bounds f1 on the generators, f1 is sublinear, a = c + (a point of the zonotope of f2), |c| <= B:
    then f1(u) - f2(u) <= B |u|. (All over a common denominator D.) *)
Theorem leaf_lemma (F rm : list Z -> R) (f1u f2u D B : R) (a c : list R) (G : cone) (x u u' : list R) :
  dot c u = dot c u' ->
  0 < D -> 0 <= B -> dot c c <= (B * D) * (B * D) ->
  Forall (Rle 0) x -> (forall v, dot v u = dot x (map (form v) G)) ->
  f1u <= dot x (map F G) ->
  Forall (fun g => D * F g + rm g <= dot a (iz g) /\ 0 <= rm g) G ->
  dot a u <= dot c u + D * f2u ->
  D * (f1u - f2u) + dot x (map rm G) <= dot c u /\ below (f1u - f2u) B u'.
Proof.
  intros Hs HD HB Hc Fx Hx H1 HG Ha.
  assert (A : D * dot x (map F G) + dot x (map rm G) <= dot a u).
  { rewrite Hx, <- dot_map_scale, <- dot_map_add. apply dot_map_le; auto. eapply Forall_impl; [|exact HG].
    intros g [Hg _]. exact Hg. }
  assert (A0 : 0 <= dot x (map rm G)).
  { apply dot_nonneg; auto. rewrite Forall_map. eapply Forall_impl; [|exact HG]. intros g [_ Hg]. exact Hg. }
  split; [nra|]. intros U HU Hu. pose proof (dot_below c u' (B * D) ltac:(nra) Hc U HU Hu) as C. rewrite <- Hs in C.
  apply Rmult_le_reg_l with D; auto. nra.
Qed.

(** sums of relus are sublinear *)
Lemma rsum_sublinear x (G : cone) u : Forall (Rle 0) x -> (forall v, dot v u = dot x (map (form v) G)) ->
  forall W, rsum W u <= dot x (map (fun g => rsum W (iz g)) G).
Proof.
  intros F E. induction W as [|w W IH]; simpl; [rewrite dot_map_zero; auto; lra|].
  rewrite (dot_map_add _ (fun g => relu (dot (iz w) (iz g)))).
  apply Rplus_le_compat; auto. rewrite E. eapply Rle_trans; [apply relu_dot_sub; auto|].
  rewrite map_map. apply Rle_refl.
Qed.
Lemma wsum_sublinear x (G : cone) u : Forall (Rle 0) x -> (forall v, dot v u = dot x (map (form v) G)) ->
  forall P, nonneg P -> wsum P u <= dot x (map (fun g => wsum P (iz g)) G).
Proof.
  intros F E. induction P as [|[k z] P IH]; intros NP; simpl; [rewrite dot_map_zero; auto; lra|].
  assert (k0 := Forall_inv NP). simpl in k0. assert (NP' := Forall_inv_tail NP).
  rewrite (dot_map_add _ (fun g => IZR k * relu (dot (iz z) (iz g)))).
  apply Rplus_le_compat; auto. rewrite dot_map_scale. apply Rmult_le_compat_l; auto. rewrite E.
  eapply Rle_trans; [apply relu_dot_sub; auto|]. rewrite map_map. apply Rle_refl.
Qed.

(** points of the zonotope of f2: by weights, and by rows that are on *)
Lemma weighted_below D c u : forall s N, nonneg N ->
  forallb (fun x => (0 <=? x) && (x <=? D))%Z s = true -> (0 < D)%Z ->
  dot (iz (combine_weighted s N c)) u <= dot (iz c) u + IZR D * wsum N u.
Proof.
  intros s N HN. revert s.
  induction HN as [|[k z] N h HN IH]; intros [|sk s] Hs HD; cbn [combine_weighted wsum]; try lra; simpl in h.
  - assert (hD := IZR_lt _ _ HD). pose proof (wsum_nonneg N u HN). pose proof (relu_nonneg (dot (iz z) u)).
    assert (0 <= IZR k * relu (dot (iz z) u)) by (apply Rmult_le_pos; auto).
    assert (0 <= IZR D * (IZR k * relu (dot (iz z) u) + wsum N u)) by (apply Rmult_le_pos; lra). lra.
  - cbn [forallb] in Hs. apply andb_prop in Hs. destruct Hs as [Hk Hs]. apply andb_prop in Hk. destruct Hk as [h1 h2].
    apply Z.leb_le in h1, h2. apply IZR_le in h1, h2.
    specialize (IH s Hs HD).
    pose proof (relu_nonneg (dot (iz z) u)). pose proof (relu_ge (dot (iz z) u)).
    set (r := relu (dot (iz z) u)) in *. assert (Hkr : 0 <= IZR k * r) by (apply Rmult_le_pos; auto).
    assert (hD := IZR_lt _ _ HD). assert (0 <= IZR D * (IZR k * r)) by (apply Rmult_le_pos; lra).
    assert (IZR sk * (IZR k * r) <= IZR D * (IZR k * r)) by (apply Rmult_le_compat_r; auto).
    destruct (sk =? 0)%Z; [lra|]. rewrite axpy_R, mult_IZR.
    assert (IZR sk * IZR k * dot (iz z) u <= IZR sk * (IZR k * r)).
    { rewrite Rmult_assoc. apply Rmult_le_compat_l; auto. apply Rmult_le_compat_l; auto. }
    lra.
Qed.
Lemma sum_on_below u : forall on W acc, dot (iz (sum_on on W acc)) u <= dot (iz acc) u + rsum W u.
Proof.
  induction on as [|b on IH]; intros W acc; simpl; [pose proof (rsum_nonneg W u); lra|].
  destruct W as [|w W]; simpl; [lra|]. eapply Rle_trans; [apply IH|].
  pose proof (relu_nonneg (dot (iz w) u)). pose proof (relu_ge (dot (iz w) u)).
  destruct b; rewrite ?add_R; lra.
Qed.
Lemma atoms_below NC on c u : forall atoms, forallb (fun x : Z * list Z => (0 <=? fst x)%Z) atoms = true ->
  dot (iz (combine_atoms NC on atoms c)) u <= dot (iz c) u + IZR (sumZ (map fst atoms)) * rsum NC u.
Proof.
  induction atoms as [|[w p] atoms IH]; intros Hw; cbn [combine_atoms map fst sumZ fold_right]; [lra|].
  cbn [forallb fst] in Hw. apply andb_prop in Hw. destruct Hw as [h1 h2]. apply Z.leb_le in h1. apply IZR_le in h1.
  fold (sumZ (map fst atoms)). rewrite axpy_R, plus_IZR. specialize (IH h2).
  pose proof (sum_on_below u (on p) NC []) as S. simpl in S. nra.
Qed.

(** ** Rounded rows *)
Lemma dot_unit_box : forall e u, Forall (fun a => Rabs a <= 1) e -> Rabs (dot e u) <= dot (repeat 1 (length u)) (map
  Rabs u).
Proof.
  induction e as [|a e IH]; intros u F; simpl.
  - rewrite Rabs_R0. induction u as [|b u IHu]; simpl; [lra|]. pose proof (Rabs_pos b). lra.
  - destruct u as [|b u]; simpl; [rewrite Rabs_R0; lra|].
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. specialize (IH u (Forall_inv_tail F)).
    assert (A := Forall_inv F). simpl in A. pose proof (Rabs_pos b). nra.
Qed.
Lemma unit_box_norm e u s U : Forall (fun a => Rabs a <= 1) e -> 0 <= s -> INR (length u) <= s * s ->
  0 <= U -> dot u u <= U * U -> Rabs (dot e u) <= s * U.
Proof.
  intros F Hs Hl HU Hu. eapply Rle_trans; [apply dot_unit_box; auto|].
  eapply Rle_trans; [apply Rle_abs|]. apply dot_abs_le; auto.
  - eapply Rle_trans; [|exact Hl]. clear.
    induction u as [|b u IH]; [simpl; lra|]. cbn [length repeat dot]. rewrite S_INR. simpl in IH. lra.
  - eapply Rle_trans; [|exact Hu]. apply Req_le. clear. induction u as [|b u IH]; simpl; auto. rewrite IH. f_equal.
    rewrite <- Rabs_mult. apply Rabs_right. nra.
Qed.
Lemma round_error qn qd x : (0 < qd)%Z -> Rabs (IZR qn / IZR qd * IZR x - IZR (round qn qd x)) <= 1.
Proof.
  intros h. unfold round. assert (hR := IZR_lt _ _ h).
  pose proof (Z.div_mod (x * qn) qd ltac:(lia)) as E. pose proof (Z.mod_pos_bound (x * qn) qd h) as [B1 B2].
  set (q := (x * qn / qd)%Z) in *. set (r := ((x * qn) mod qd)%Z) in *.
  apply IZR_le in B1. apply IZR_lt in B2. apply (f_equal IZR) in E. rewrite plus_IZR, !mult_IZR in E.
  replace (IZR qn / IZR qd * IZR x - IZR q) with (IZR r / IZR qd).
  - apply Rabs_le. split.
    + apply Rle_trans with 0; [lra|]. apply Rmult_le_pos; auto. left. apply Rinv_0_lt_compat; auto.
    + apply Rmult_le_reg_r with (IZR qd); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - apply Rmult_eq_reg_r with (IZR qd); [|lra]. field_simplify; lra.
Qed.
Lemma round_vector qn qd : (0 < qd)%Z -> forall l, exists e, Forall (fun a => Rabs a <= 1) e /\
  forall u, IZR qn / IZR qd * dot (iz l) u - dot (iz (map (round qn qd) l)) u = dot e u.
Proof.
  intros h. induction l as [|x l (e & F & E)].
  - exists []. split; [constructor|]. intros; simpl; ring.
  - exists ((IZR qn / IZR qd * IZR x - IZR (round qn qd x)) :: e). split.
    + constructor; auto. apply round_error; auto.
    + intros [|b u]; [rewrite !dot_nil_r; ring|]. specialize (E u). cbn [iz map dot].
      fold (iz l) (iz (map (round qn qd) l)).
      lra.
Qed.
Lemma coarse_row_is_round qn qd r : coarse_row qn qd r = map (round qn qd) (map (Z.mul (fst r)) (snd r)).
Proof. unfold coarse_row. rewrite map_map. reflexivity. Qed.

(** ** The tree, at a fixed point u *)
Section Point.
Variables (u u' : list R) (seen : nat) (N : list wrow) (NC : list (list Z)) (ln2 ld2 lam0 : Z) (on : list Z -> list bool).
Variables (T : PositiveMap.t gen) (base : list Z -> Z).
Variables (kappa sd L H1 : R) (M : nat).
(** kappa: the scale of the rounded rows; sd |u|: their error at u; L: lambda; H1 = f1(u) + c0.u; M: rows and one *)
Hypothesis (Hk : 0 < kappa) (Hsd : 0 <= sd) (HL : 0 <= L) (Hlam0 : (0 <= lam0)%Z).
(** u' : what the norm sees of u *)
Hypothesis Hseen : forall c : list Z, (length c <= seen)%nat -> dot (iz c) u = dot (iz c) u'.
Hypothesis HL2 : forall D cc, cc * IZR ld2 <= IZR ln2 * (D * D) -> cc <= (L * D) * (L * D).
Hypothesis NN : nonneg N.

Definition close (r : wrow) (w : list Z) : Prop :=
  forall U, 0 <= U -> dot u' u' <= U * U ->
  Rabs (kappa * (IZR (fst r) * dot (iz (snd r)) u) - dot (iz w) u) <= sd * U.
Hypothesis NNC : Forall2 close N NC.

Definition cached (G : list gen) : Prop := Forall (fun g : gen => snd g = base (fst g)) G.
Hypothesis HT : forall k g, PositiveMap.find k T = Some g -> snd g = base (fst g).

(** u is on the side of a split *)
Definition beside (s : signed) : Prop :=
  let '(z, _, on) := s in if on : bool then 0 <= dot (iz z) u else dot (iz z) u <= 0.
Lemma lean_below cs : Forall beside cs -> forall h a, forallb (fun x => 0 <=? x)%Z h = true ->
  dot (iz (lean h cs a)) u <= dot (iz a) u.
Proof.
  induction 1 as [|[[z w] on'] cs B _ IH]; intros [|x h] a Hh; cbn [lean]; try apply Rle_refl.
  cbn [forallb] in Hh. apply andb_prop in Hh. destruct Hh as [Hx Hh]. apply Z.leb_le, IZR_le in Hx.
  specialize (IH h a Hh). destruct (x =? 0)%Z; [exact IH|]. rewrite axpy_R. simpl in B.
  destruct on'; rewrite ?opp_IZR; nra.
Qed.

Record state_ok (P : list wrow) (c0 : list Z) (PC : list (list Z)) (cs : list signed) : Prop := StateOk {
  so_sides : Forall beside cs;
  so_nonneg : nonneg P;
  so_sum : wsum P u + dot (iz c0) u = H1;
  so_close : Forall2 close P PC;
  so_coarse : exists c0C j,
    (forall U, 0 <= U -> dot u' u' <= U * U -> Rabs (kappa * dot (iz c0) u - dot (iz c0C) u) <= INR j * (sd * U)) /\
    (j + length P <= M)%nat /\ forall g, (base g + adjust cs g = value PC c0C g)%Z }.

(** what a fine leaf (G, (D, c)) with |c| <= L D says about a point u = sum_i y_i g_i of its cone:
    D x + sum_i y_i room_i <= c.u, where x = f1 - f2 + c0 *)
Definition rooms_of (G : list gen) : list R := map (fun g : gen => IZR (snd g)) G.
Definition pinned (x : R) (v : list R) (s : spot) : Prop :=
  exists y, length y = length (fst s) /\ Forall (Rle 0) y /\
    (forall a, dot a v = dot y (map (form a) (map fst (fst s)))) /\
    Forall (Rle 0) (rooms_of (fst s)) /\ 0 < IZR (fst (snd s)) /\
    IZR (fst (snd s)) * x + dot y (rooms_of (fst s)) <= dot (iz (snd (snd s))) v.
Lemma pinned_cone x v s : pinned x v s -> in_cone (map fst (fst s)) v.
Proof. intros (y & Ly & Fy & Hy & _). exists y. rewrite map_length. auto. Qed.

(** what is proved about u: strictly inside, or inside and pinned by one of the leaves listed *)
Definition strictly_inside : Prop :=
  below (kappa * (H1 - wsum N u)) (IZR lam0 + (INR M + INR (length N)) * sd) u'.
Definition settled (acc : list spot) : Prop :=
  strictly_inside \/ (below (H1 - wsum N u) L u' /\ exists s, In s acc /\ pinned (H1 - wsum N u) u s).
Lemma settled_incl acc acc' : incl acc acc' -> settled acc -> settled acc'.
Proof. intros I [S|(S & s & Is & C)]; [left; auto|right; split; eauto]. Qed.

Lemma close_sum P PC U : nonneg P -> Forall2 close P PC -> 0 <= U -> dot u' u' <= U * U ->
  Rabs (kappa * wsum P u - rsum PC u) <= INR (length P) * (sd * U).
Proof.
  intros NP F HU Hu. induction F as [|[k z] w P PC C _ IH].
  - simpl. rewrite Rmult_0_r, Rminus_0_r, Rabs_R0. lra.
  - assert (k0 := Forall_inv NP). simpl in k0. specialize (IH (Forall_inv_tail NP)).
    cbn [length wsum rsum]. rewrite S_INR. specialize (C U HU Hu). cbn [fst snd] in C.
    assert (R1 : kappa * (IZR k * relu (dot (iz z) u)) = relu (kappa * (IZR k * dot (iz z) u))).
    { rewrite !relu_scale; auto. lra. }
    assert (C' := C). rewrite Rabs_minus_sym in C'. pose proof (relu_dist _ _ _ C). pose proof (relu_dist _ _ _ C').
    assert (Hr : Rabs (relu (kappa * (IZR k * dot (iz z) u)) - relu (dot (iz w) u)) <= sd * U) by (apply Rabs_le; lra).
    replace (kappa * (IZR k * relu (dot (iz z) u) + wsum P u) - (relu (dot (iz w) u) + rsum PC u))
      with ((relu (kappa * (IZR k * dot (iz z) u)) - relu (dot (iz w) u)) + (kappa * wsum P u - rsum PC u))
      by (rewrite <- R1; ring).
    eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma fine_leaf_sound P c0 PC cs G D c s h rooms : state_ok P c0 PC cs ->
  fine_leaf seen N ln2 ld2 P c0 cs G D c s h = Some rooms -> in_cone (map fst G) u -> pinned (H1 - wsum N u) u (rooms, (D, c)) /\ below (H1 - wsum N u) L u'.
Proof.
  intros S E (x & Lx & Fx & Hx). unfold fine_leaf in E.
  set (a := lean h cs (combine_weighted s N c)) in *.
  destruct (Nat.leb (length c) seen) eqn:El; [|discriminate]. apply Nat.leb_le in El.
  destruct (0 <? D)%Z eqn:ED; [|discriminate]. destruct (_ <=? _)%Z eqn:Ec in E; [|discriminate].
  destruct (forallb _ s) eqn:Es; [|discriminate]. destruct (forallb _ h) eqn:Eh; [|discriminate].
  destruct (forallb _ _) eqn:EG in E; [|discriminate]. injection E as <-. apply Z.ltb_lt in ED. apply Z.leb_le in Ec.
  assert (hD := IZR_lt _ _ ED). apply IZR_le in Ec. rewrite !mult_IZR, dotZ_R in Ec.
  destruct S as [SC NP SH _ _]. rewrite <- SH.
  set (rm := fun g => IZR (room P c0 D a g)).
  assert (ER : rooms_of (map (fun g : gen => (fst g, room P c0 D a (fst g))) G) = map rm (map fst G)).
  { unfold rooms_of. rewrite !map_map. reflexivity. }
  assert (EF : map fst (map (fun g : gen => (fst g, room P c0 D a (fst g))) G) = map fst G) by (rewrite map_map; auto).
  assert (Rm : Forall (fun g => 0 <= rm g) (map fst G)).
  { rewrite forallb_forall in EG. rewrite Forall_map. apply Forall_forall. intros g I. apply IZR_le, Z.leb_le.
    apply (EG (fst g, room P c0 D a (fst g))). apply in_map_iff. exists g. auto. }
  destruct (leaf_lemma (fun g => wsum P (iz g) + dot (iz c0) (iz g)) rm (wsum P u + dot (iz c0) u) (wsum N u) (IZR D) L
            (iz a) (iz c) (map fst G) x u u') as [L1 L2]; auto.
  - rewrite dot_map_add. apply Rplus_le_compat; [apply wsum_sublinear; auto|].
    rewrite Hx. apply Rle_refl.
  - eapply Forall_impl; [|exact Rm]. intros g Hg. split; auto. unfold rm, room.
    rewrite minus_IZR, mult_IZR, plus_IZR, wsumZ_R, !dotZ_R. lra.
  - eapply Rle_trans; [apply lean_below; auto|]. apply weighted_below; auto.
  - split; auto. exists x. cbn [fst snd]. rewrite ER, EF.
    rewrite !map_length in *. repeat split; auto. rewrite Forall_map. auto.
Qed.

Lemma coarse_leaf_sound P c0 PC cs G D c atoms : state_ok P c0 PC cs -> cached G ->
  coarse_leaf seen NC lam0 on cs G D c atoms = true -> in_cone (map fst G) u -> strictly_inside.
Proof.
  intros S C E (x & Lx & Fx & Hx). unfold coarse_leaf in E.
  apply andb_prop in E. destruct E as [E EG]. apply andb_prop in E. destruct E as [E Es].
  apply andb_prop in E. destruct E as [E Ew]. apply andb_prop in E. destruct E as [ED Ec]. apply andb_prop in ED. destruct ED as [El ED]. apply Nat.leb_le in El.
  apply Z.ltb_lt in ED. apply Z.leb_le in Ec, Es.
  assert (hD := IZR_lt _ _ ED). assert (h0 := IZR_le _ _ Hlam0).
  apply IZR_le in Ec, Es. rewrite !mult_IZR, dotZ_R in Ec.
  destruct S as [_ NP SH CP (c0C & j & Cc & Hj & Hv)].
  assert (A : below ((rsum PC u + dot (iz c0C) u) - rsum NC u) (IZR lam0) u').
  { eapply (leaf_lemma (fun g => IZR (base g + adjust cs g)) (fun _ => 0) _ _ (IZR D) (IZR lam0)
              (iz (combine_atoms NC on atoms c)) (iz c) (map fst G) x u u'); auto.
    - rewrite (map_ext _ (fun g => rsum PC (iz g) + dot (iz c0C) (iz g))) by (intros; rewrite Hv; apply value_R).
      rewrite dot_map_add. apply Rplus_le_compat; [apply rsum_sublinear; auto|]. rewrite Hx. apply Rle_refl.
    - rewrite forallb_forall in EG. rewrite Forall_map. apply Forall_forall. intros g I. specialize (EG g I).
      unfold cached in C. rewrite Forall_forall in C. rewrite (C g I) in EG.
      apply Z.leb_le, IZR_le in EG. rewrite mult_IZR, dotZ_R in EG. lra.
    - eapply Rle_trans; [apply atoms_below; auto|]. pose proof (rsum_nonneg NC u). nra. }
  intros U HU Hu. specialize (A U HU Hu). specialize (Cc U HU Hu). rewrite <- SH.
  pose proof (close_sum P PC U NP CP HU Hu) as B1. pose proof (close_sum N NC U NN NNC HU Hu) as B2.
  assert (HM : INR j + INR (length P) <= INR M) by (rewrite <- plus_INR; apply le_INR; auto).
  assert (HMe : (INR j + INR (length P)) * (sd * U) <= INR M * (sd * U)) by (apply Rmult_le_compat_r; [nra|auto]).
  pose proof (Rle_abs (kappa * wsum P u - rsum PC u)). pose proof (Rle_abs (kappa * dot (iz c0) u - dot (iz c0C) u)).
  pose proof (Rle_abs (- (kappa * wsum N u - rsum NC u))) as B3. rewrite Rabs_Ropp in B3. lra.
Qed.

(** *** sign splits *)
Lemma drop_wsum : forall P k,
  wsum P u = IZR (fst (nth k P (0%Z, []))) * relu (dot (iz (snd (nth k P (0%Z, [])))) u) + wsum (drop k P) u.
Proof. induction P as [|[w p] P IH]; intros [|k]; simpl; rewrite ?relu_0; try ring. rewrite (IH k). ring. Qed.
Lemma drop_rsumZ g : forall W k, (rsumZ W g = Z.max 0 (dotZ (nth k W []) g) + rsumZ (drop k W) g)%Z.
Proof.
  induction W as [|w W IH]; intros [|k]; simpl; auto.
  - destruct (Z.ltb_spec 0 (dotZ w g)); lia.
  - rewrite (IH k). destruct (0 <? dotZ w g)%Z; lia.
Qed.
Lemma drop_nonneg : forall P k, nonneg P -> nonneg (drop k P).
Proof.
  induction P as [|p P IH]; intros [|k] H; simpl; auto.
  - exact (Forall_inv_tail H).
  - constructor; [exact (Forall_inv H)|]. apply IH. exact (Forall_inv_tail H).
Qed.
Lemma drop_close : forall P PC k, Forall2 close P PC -> Forall2 close (drop k P) (drop k PC).
Proof.
  intros P PC k F. revert k. induction F as [|r w P PC C F IH]; intros [|k]; simpl; auto.
Qed.
Lemma nth_close P PC k : Forall2 close P PC -> close (nth k P (0%Z, [])) (nth k PC []).
Proof.
  intros F. revert k. induction F as [|r w P PC C F IH]; intros [|k]; simpl; auto;
    unfold close; simpl; intros U HU Hu; rewrite Rmult_0_l, Rmult_0_r, Rminus_0_r, Rabs_R0; nra.
Qed.
Lemma drop_length {A} : forall (l : list A) k, (length (drop k l) <= length l)%nat.
Proof. induction l; intros [|k]; simpl; auto. specialize (IHl k). lia. Qed.
Lemma drop_length_lt {A} : forall (l : list A) k, (k < length l)%nat -> S (length (drop k l)) = length l.
Proof. induction l; intros [|k] H; simpl in *; try lia. rewrite IHl; lia. Qed.

Lemma sign_on P c0 PC cs k : state_ok P c0 PC cs -> (k < length P)%nat ->
  0 <= dot (iz (snd (nth k P (0%Z, [])))) u ->
  state_ok (drop k P) (axpy (fst (nth k P (0%Z, []))) (snd (nth k P (0%Z, []))) c0) (drop k PC)
    ((snd (nth k P (0%Z, [])), nth k PC [], true) :: cs).
Proof.
  intros [SC NP SH CP (c0C & j & Cc & Hj & Hv)] Hk' Hs. constructor.
  - constructor; auto.
  - apply drop_nonneg; auto.
  - rewrite axpy_R, <- SH, (drop_wsum P k), relu_pos by auto. ring.
  - apply drop_close; auto.
  - exists (add (nth k PC []) c0C), (S j). split; [|split].
    + intros U HU Hu. specialize (Cc U HU Hu).
      rewrite axpy_R, add_R, S_INR. pose proof (nth_close _ _ k CP U HU Hu) as C.
      match goal with |- Rabs ?x <= _ => replace x with
        ((kappa * (IZR (fst (nth k P (0%Z, []))) * dot (iz (snd (nth k P (0%Z, [])))) u) - dot (iz (nth k PC [])) u)
         + (kappa * dot (iz c0) u - dot (iz c0C) u)) by ring end.
      eapply Rle_trans; [apply Rabs_triang|]. lra.
    + pose proof (drop_length_lt P k Hk'). lia.
    + intros g. specialize (Hv g). cbn [adjust]. unfold value in *. rewrite (drop_rsumZ g PC k) in Hv.
      assert (A : (dotZ (add (nth k PC []) c0C) g = dotZ (nth k PC []) g + dotZ c0C g)%Z).
      { apply eq_IZR. rewrite plus_IZR, !dotZ_R, add_R. auto. }
      lia.
Qed.
Lemma sign_off P c0 PC cs k : state_ok P c0 PC cs -> dot (iz (snd (nth k P (0%Z, [])))) u <= 0 ->
  state_ok (drop k P) c0 (drop k PC) ((snd (nth k P (0%Z, [])), nth k PC [], false) :: cs).
Proof.
  intros [SC NP SH CP (c0C & j & Cc & Hj & Hv)] Hs. constructor.
  - constructor; auto.
  - apply drop_nonneg; auto.
  - rewrite <- SH, (drop_wsum P k), relu_neg by auto. ring.
  - apply drop_close; auto.
  - exists c0C, j. split; [auto|split].
    + pose proof (drop_length P k). lia.
    + intros g. specialize (Hv g). cbn [adjust]. unfold value in *. rewrite (drop_rsumZ g PC k) in Hv. lia.
Qed.

(** *** star splits *)
Fixpoint weights (f : forest) (G : list gen) : list R :=
  match G with
  | [] => []
  | _ :: G' => match f with
     | Nil => 0 :: weights Nil G'
     | Skip f' => 0 :: weights f' G'
     | Child t _ f' => IZR t :: weights f' G' end
  end.
Lemma weights_len : forall G f, length (weights f G) = length G.
Proof. induction G; intros f; simpl; auto. destruct f; simpl; auto. Qed.
Lemma weights_nil_dot l : forall G, dot (weights Nil G) l = 0.
Proof. intros G; revert l. induction G; destruct l; simpl; auto. rewrite IHG. ring. Qed.
Lemma star_point_R v : forall G f, form v (star_point f G) = dot (weights f G) (map (form v) (map fst G)).
Proof.
  unfold form. induction G as [|g G IH]; intros f; simpl.
  - destruct f; simpl; apply dot_nil_r.
  - destruct f; simpl.
    + rewrite weights_nil_dot, dot_nil_r. ring.
    + rewrite IH. ring.
    + rewrite dot_comm, axpy_R, (dot_comm (iz (star_point f G))), IH. rewrite (dot_comm v). ring.
Qed.

Variable sub : list wrow -> list Z -> list (list Z) -> list signed -> list gen -> Z -> list spot -> option (list spot).
Local Notation walk := (check_tree seen N NC ln2 ld2 lam0 on T sub).
Local Notation walks := (check_forest seen N NC ln2 ld2 lam0 on T sub).
Lemma walk_star P c0 PC cs G k m f acc : walk P c0 PC cs G (Star k m f) acc =
  match PositiveMap.find k T with
  | Some p => if ((0 <? m)%Z && zeroZ (axpy (- m) (fst p) (star_point f G)) && has_child f)%bool
              then walks P c0 PC cs [] p G f acc else None
  | None => None end.
Proof. reflexivity. Qed.
Lemma walks_child P c0 PC cs pre p g post t ch f acc : walks P c0 PC cs pre p (g :: post) (Child t ch f) acc =
  if (0 <? t)%Z then match walk P c0 PC cs (pre ++ p :: post) ch acc with
    | Some acc' => walks P c0 PC cs (pre ++ [g]) p post f acc' | None => None end else None.
Proof. reflexivity. Qed.
Hypothesis Hsub_incl : forall P c0 PC cs G k acc acc', sub P c0 PC cs G k acc = Some acc' -> incl acc acc'.
Hypothesis Hsub : forall P c0 PC cs G k acc acc', state_ok P c0 PC cs -> cached G ->
  sub P c0 PC cs G k acc = Some acc' -> in_cone (map fst G) u -> settled acc'.

Scheme tree_mut := Induction for node Sort Prop with forest_mut := Induction for forest Sort Prop.

Lemma forest_weights_nonneg P c0 PC cs : forall f pre p G acc acc',
  walks P c0 PC cs pre p G f acc = Some acc' -> Forall (Rle 0) (weights f G).
Proof.
  assert (Z0 : forall G, Forall (Rle 0) (weights Nil G)) by (induction G; simpl; constructor; auto; lra).
  induction f as [|f IH|t ch f IH]; intros pre p G acc acc' E; auto; destruct G; cbn [weights];
    constructor; rewrite ?walks_child in E; try discriminate.
  - lra.
  - eapply IH; eauto.
  - destruct (0 <? t)%Z eqn:Et; [|discriminate]. apply Z.ltb_lt in Et. apply IZR_le. lia.
  - destruct (0 <? t)%Z; [|discriminate]. destruct (walk _ _ _ _ _ _ _); [|discriminate]. eapply IH; eauto.
Qed.
Lemma forest_weights_pos P c0 PC cs : forall f pre p G acc acc',
  walks P c0 PC cs pre p G f acc = Some acc' -> has_child f = true -> Exists (Rlt 0) (weights f G).
Proof.
  induction f as [|f IH|t ch f IH]; intros pre p G acc acc' E Hc; try discriminate;
    destruct G; rewrite ?walks_child in E; try discriminate; cbn [weights].
  - apply Exists_cons_tl. eapply IH; eauto.
  - apply Exists_cons_hd. destruct (0 <? t)%Z eqn:Et; [|discriminate]. apply Z.ltb_lt in Et. apply IZR_lt. auto.
Qed.
Lemma fetch_cached : forall l G, fetch T l = Some G -> cached G.
Proof.
  induction l as [|k l IH]; intros G E; simpl in E.
  - injection E as <-. constructor.
  - destruct (PositiveMap.find k T) as [g|] eqn:F; [|discriminate]. destruct (fetch T l); [|discriminate].
    injection E as <-. constructor; [eapply HT; eauto|apply IH; auto].
Qed.

(** cones once listed stay listed *)
Lemma tree_incl : forall t P c0 PC cs G acc acc', walk P c0 PC cs G t acc = Some acc' -> incl acc acc'.
Proof.
  apply (tree_mut
    (fun t => forall P c0 PC cs G acc acc', walk P c0 PC cs G t acc = Some acc' -> incl acc acc')
    (fun f => forall P c0 PC cs pre p post acc acc', walks P c0 PC cs pre p post f acc = Some acc' -> incl acc acc')).
  - intros D c s h P c0 PC cs G acc acc' E. cbn [check_tree] in E.
    destruct (fine_leaf _ _ _ _ _ _ _ _ _ _ _ _); [|discriminate]. injection E as <-. apply incl_tl, incl_refl.
  - intros D c atoms P c0 PC cs G acc acc' E. cbn [check_tree] in E.
    destruct (coarse_leaf _ _ _ _ _ _ _ _ _); [|discriminate]. injection E as <-. apply incl_refl.
  - intros l Y ch IH P c0 PC cs G acc acc' E. cbn [check_tree] in E.
    destruct (fetch T l); [|discriminate]. destruct (rebase_ok _ _ _); [|discriminate]. eauto.
  - intros k t1 IH1 t2 IH2 P c0 PC cs G acc acc' E. cbn [check_tree] in E.
    destruct (walk _ _ _ _ _ t1 acc) as [acc1|] eqn:E1; [|discriminate]. eapply incl_tran; eauto.
  - intros k m f IH P c0 PC cs G acc acc' E. rewrite walk_star in E.
    destruct (PositiveMap.find k T); [|discriminate]. destruct (_ && _ && _); [|discriminate]. eauto.
  - intros k P c0 PC cs G acc acc' E. eapply Hsub_incl. exact E.
  - intros P c0 PC cs pre p post acc acc' E. injection E as <-. apply incl_refl.
  - intros f IH P c0 PC cs pre p post acc acc' E. destruct post; [discriminate|]. eapply IH. exact E.
  - intros t ch IHt f IHf P c0 PC cs pre p post acc acc' E.
    destruct post as [|g post]; [discriminate|]. rewrite walks_child in E. destruct (0 <? t)%Z; [|discriminate].
    destruct (walk _ _ _ _ _ ch acc) as [acc1|] eqn:E1; [|discriminate]. eapply incl_tran; eauto.
Qed.
Lemma forest_incl : forall f P c0 PC cs pre p post acc acc',
  walks P c0 PC cs pre p post f acc = Some acc' -> incl acc acc'.
Proof.
  induction f as [|f IH|t ch f IH]; intros P c0 PC cs pre p post acc acc' E.
  - injection E as <-. apply incl_refl.
  - destruct post; [discriminate|]. eapply IH. exact E.
  - destruct post as [|g post]; [discriminate|]. rewrite walks_child in E. destruct (0 <? t)%Z; [|discriminate].
    destruct (walk _ _ _ _ _ ch acc) as [acc1|] eqn:E1; [|discriminate].
    eapply incl_tran; [eapply tree_incl|]; eauto.
Qed.

Theorem tree_sound : forall t P c0 PC cs G acc acc', state_ok P c0 PC cs -> cached G ->
  walk P c0 PC cs G t acc = Some acc' -> in_cone (map fst G) u -> settled acc'.
Proof.
  apply (tree_mut
    (fun t => forall P c0 PC cs G acc acc', state_ok P c0 PC cs -> cached G ->
       walk P c0 PC cs G t acc = Some acc' -> in_cone (map fst G) u -> settled acc')
    (fun f => forall P c0 PC cs pre p post acc acc', state_ok P c0 PC cs ->
       cached pre -> cached [p] -> cached post -> walks P c0 PC cs pre p post f acc = Some acc' ->
       forall T1 ti T2 G1 g G2, weights f post = T1 ++ ti :: T2 -> post = G1 ++ g :: G2 ->
         length T1 = length G1 -> 0 < ti -> in_cone (map fst (pre ++ G1 ++ p :: G2)) u -> settled acc')).
  - (* fine leaf *) intros D c s h P c0 PC cs G acc acc' S C E I. cbn [check_tree] in E.
    destruct (fine_leaf _ _ _ _ _ _ _ _ _ _ _ _) as [rooms|] eqn:EL; [|discriminate]. injection E as <-.
    destruct (fine_leaf_sound P c0 PC cs G D c s h rooms S EL I) as [P1 P2].
    right. split; auto. exists (rooms, (D, c)). simpl. auto.
  - (* coarse leaf *) intros D c atoms P c0 PC cs G acc acc' S C E I. cbn [check_tree] in E.
    destruct (coarse_leaf _ _ _ _ _ _ _ _ _) eqn:EL; [|discriminate]. injection E as <-.
    left. eapply coarse_leaf_sound; eauto.
  - (* other generators *) intros l Y ch IH P c0 PC cs G acc acc' S C E I. cbn [check_tree] in E.
    destruct (fetch T l) as [G'|] eqn:EF; [|discriminate]. destruct (rebase_ok _ _ _) eqn:ER; [|discriminate].
    eapply IH; [exact S|eapply fetch_cached; exact EF|exact E|]. eapply rebase_covers; eauto.
  - (* sign split *) intros k t1 IH1 t2 IH2 P c0 PC cs G acc acc' S C E I. cbn [check_tree] in E.
    destruct (walk _ _ _ _ _ t1 acc) as [acc1|] eqn:E1; [|discriminate].
    destruct (lt_dec k (length P)) as [Lk|Lk].
    + destruct (Rle_lt_dec 0 (dot (iz (snd (nth k P (0%Z, [])))) u)) as [h|h].
      * eapply settled_incl; [eapply tree_incl; exact E|].
        eapply IH1; [apply (sign_on P c0 PC cs k S Lk h)|exact C|exact E1|exact I].
      * eapply IH2; [apply (sign_off P c0 PC cs k S); lra|exact C|exact E|exact I].
    + eapply IH2; [apply (sign_off P c0 PC cs k S)|exact C|exact E|exact I].
      rewrite nth_overflow by lia. simpl. lra.
  - (* star *) intros k m f IH P c0 PC cs G acc acc' S C E I. rewrite walk_star in E.
    destruct (PositiveMap.find k T) as [p|] eqn:EF; [|discriminate].
    destruct (0 <? m)%Z eqn:Em; [|discriminate]. destruct (zeroZ _) eqn:EZ; [|discriminate].
    destruct (has_child f) eqn:Eh; [|discriminate]. cbn [andb] in E.
    destruct (star_covers (map fst G) (weights f G) (star_point f G) u) as
      (T1 & ti & T2 & G1 & g & G2 & Ew & EG & L0 & Pt & I'); auto.
    + rewrite map_length. apply weights_len.
    + intros v. apply star_point_R.
    + eapply forest_weights_nonneg; eauto.
    + eapply forest_weights_pos; eauto.
    + apply map_eq_app in EG. destruct EG as (A1 & A2 & EA & EA1 & EA2).
      destruct A2 as [|a A2]; simpl in EA2; [discriminate|]. injection EA2 as Ea EA2.
      apply (IH P c0 PC cs [] p G acc acc' S) with (T1 := T1) (ti := ti) (T2 := T2) (G1 := A1) (g := a) (G2 := A2);
        auto.
      * constructor.
      * constructor; [eapply HT; eauto|constructor].
      * rewrite L0, <- EA1, map_length. auto.
      * assert (EQ : map fst ([] ++ A1 ++ p :: A2) = G1 ++ fst p :: G2)
          by (simpl; rewrite map_app; simpl; f_equal; [exact EA1|f_equal; exact EA2]).
        eapply eq_ind_r with (P := fun G => in_cone G u); [|exact EQ].
        apply Z.ltb_lt, IZR_lt in Em.
        apply (divide_generator G1 G2 (fst p) (star_point f G) (IZR m)); [lra| |exact I'].
        intros v. apply (zeroZ_R v) in EZ. rewrite axpy_R, opp_IZR in EZ. unfold form.
        rewrite !(dot_comm v). lra.
  - (* subtree *) intros k P c0 PC cs G acc acc' S C E I. cbn [check_tree] in E. eapply Hsub; eauto.
  - (* no child left *) intros P c0 PC cs pre p post acc acc' _ _ _ _ _ T1 ti T2 G1 g G2 Ew _ _ Pt _. exfalso.
    revert T1 Ew. induction post; intros T1 Ew; destruct T1; simpl in *; try discriminate;
      injection Ew; intros; subst; [lra|eauto].
  - (* a generator with t_i = 0 *)
    intros f IH P c0 PC cs pre p post acc acc' S Cp Cq Cg E T1 ti T2 G1 g G2 Ew EG L0 Pt I.
    destruct post as [|g0 post]; [discriminate|].
    change (walks P c0 PC cs (pre ++ [g0]) p post f acc = Some acc') in E.
    assert (C0 := Forall_inv Cg). assert (C1 := Forall_inv_tail Cg).
    destruct T1 as [|t1 T1]; destruct G1 as [|g1 G1]; simpl in *; try discriminate.
    + injection Ew as Ew0 Ew. lra.
    + injection Ew as Ew0 Ew. injection EG as Eg0 EG. rewrite <- Eg0 in I.
      apply (IH P c0 PC cs (pre ++ [g0]) p post acc acc' S) with
        (T1 := T1) (ti := ti) (T2 := T2) (G1 := G1) (g := g) (G2 := G2); auto; try lia.
      * apply Forall_app; split; auto.
      * rewrite <- app_assoc. simpl. exact I.
  - (* a child *)
    intros t ch IHt f IHf P c0 PC cs pre p post acc acc' S Cp Cq Cg E T1 ti T2 G1 g G2 Ew EG L0 Pt I.
    destruct post as [|g0 post]; [discriminate|]. rewrite walks_child in E.
    destruct (0 <? t)%Z; [|discriminate]. destruct (walk _ _ _ _ _ ch acc) as [acc1|] eqn:E1; [|discriminate].
    assert (C0 := Forall_inv Cg). assert (C1 := Forall_inv_tail Cg).
    destruct T1 as [|t1 T1]; destruct G1 as [|g1 G1]; simpl in L0, Ew, EG, I; try discriminate.
    + injection EG as Eg0 EG. subst G2. eapply settled_incl; [eapply forest_incl; exact E|].
      eapply IHt; [exact S| |exact E1|exact I].
      apply Forall_app; split; auto. constructor; auto. exact (Forall_inv Cq).
    + injection Ew as Ew0 Ew. injection EG as Eg0 EG. rewrite <- Eg0 in I.
      apply (IHf P c0 PC cs (pre ++ [g0]) p post acc1 acc' S) with
        (T1 := T1) (ti := ti) (T2 := T2) (G1 := G1) (g := g) (G2 := G2); auto; try lia.
      * apply Forall_app; split; auto.
      * rewrite <- app_assoc. simpl. exact I.
Qed.
End Point.

(** ** One sign *)
(** the same said of a point over the space of the rows *)
Definition pinned_over (basis null : cone) (x : R) (u : list R) (s : spot) : Prop :=
  exists u1, row_part basis null u u1 /\ pinned x u1 s.

Lemma table_cached PC c0C : forall verts k T,
  (forall i g, PositiveMap.find i T = Some g -> snd g = value PC c0C (fst g)) ->
  forall i g, PositiveMap.find i (table PC c0C verts k T) = Some g -> snd g = value PC c0C (fst g).
Proof.
  induction verts as [|w verts IH]; intros k T HT i g E; simpl in E; [eapply HT; eauto|].
  eapply (IH (Pos.succ k)); [|exact E]. intros i' g' E'.
  destruct (Pos.eq_dec k i') as [->|ne].
  - rewrite PositiveMap.gss in E'. injection E' as <-. reflexivity.
  - rewrite PositiveMap.gso in E' by congruence. eapply HT; eauto.
Qed.

Section Side.
Variables (P N : list wrow) (c0 : list Z) (ln ld qn qd lam0 : Z).
Variables (d : nat) (basis null : cone) (span : list (Z * list Z)).
Variables (choose : list (list Z) -> list Z -> list bool) (sb : Z -> node) (s : side).
Hypothesis Hroot : root_ok d P N c0 basis null span = true.
Hypothesis (NP : nonneg P) (NN : nonneg N).
Hypothesis (Hln : (0 < ln)%Z) (Hld : (0 < ld)%Z) (Hqn : (0 < qn)%Z) (Hqd : (0 < qd)%Z) (Hlam0 : (0 <= lam0)%Z).

(** the strict radius: kappa (f1 - f2 + c0) <= (lambda0 + rounding) |u| *)
Definition strict_radius : R := IZR (lam0 + rounding P N d) * (IZR qd / IZR qn).

Lemma side_sound_at cones u :
  check_side d P N c0 (ln * ln) (ld * ld) qn qd lam0 basis choose sb s = Some cones ->
  length u = d -> in_cone (signs_of basis) u ->
  below (wsum P u + dot (iz c0) u - wsum N u) strict_radius u \/
  (below (wsum P u + dot (iz c0) u - wsum N u) (IZR ln / IZR ld) u /\
   exists x, In x cones /\ pinned (wsum P u + dot (iz c0) u - wsum N u) u x).
Proof.
  unfold check_side. intros E Lu Iu.
  set (PC := map (coarse_row qn qd) P) in *. set (NC := map (coarse_row qn qd) N) in *.
  set (c0C := map (round qn qd) c0) in *.
  set (T := table PC c0C (s_verts s) 1 (PositiveMap.empty gen)) in *.
  set (kappa := IZR qn / IZR qd). set (sd := IZR (Z.sqrt_up (Z.of_nat d))).
  set (M := S (length P)). set (L := IZR ln / IZR ld).
  assert (hqn := IZR_lt _ _ Hqn). assert (hqd := IZR_lt _ _ Hqd).
  assert (hln := IZR_lt _ _ Hln). assert (hld := IZR_lt _ _ Hld).
  assert (Hkap : 0 < kappa) by (apply Rdiv_lt_0_compat; auto).
  assert (Hsd : 0 <= sd) by (apply IZR_le, Z.sqrt_up_nonneg).
  assert (Hsd2 : INR (length u) <= sd * sd).
  { rewrite Lu. unfold sd. rewrite INR_IZR_INZ, <- mult_IZR. apply IZR_le.
    apply Z.sqrt_sqrt_up_spec. apply Zle_0_nat. }
  assert (HL : 0 <= L) by (left; apply Rdiv_lt_0_compat; auto).
  assert (CV : forall l U, 0 <= U -> dot u u <= U * U ->
    Rabs (kappa * dot (iz l) u - dot (iz (map (round qn qd) l)) u) <= sd * U).
  { intros l U HU Hu. destruct (round_vector qn qd Hqd l) as (er & Fe & Ee). unfold kappa. rewrite Ee.
    apply unit_box_norm; auto. }
  assert (CR : forall Q, Forall2 (close u u kappa sd) Q (map (coarse_row qn qd) Q)).
  { induction Q as [|r Q IHQ]; simpl; constructor; auto. intros U HU Hu.
    rewrite coarse_row_is_round. specialize (CV (map (Z.mul (fst r)) (snd r)) U HU Hu). rewrite scale_R in CV.
    exact CV. }
  assert (HL2 : forall D cc, cc * IZR (ld * ld) <= IZR (ln * ln) * (D * D) -> cc <= (L * D) * (L * D)).
  { intros D cc H. rewrite !mult_IZR in H. unfold L.
    apply Rmult_le_reg_r with (IZR ld * IZR ld); [nra|]. eapply Rle_trans; [exact H|].
    apply Req_le. field. lra. }
  assert (HT : forall k g, PositiveMap.find k T = Some g -> snd g = value PC c0C (fst g)).
  { intros k g. apply table_cached. intros i g' F. rewrite PositiveMap.gempty in F. discriminate. }
  assert (S0 : state_ok u u (value PC c0C) kappa sd (wsum P u + dot (iz c0) u) M P c0 PC []).
  { constructor; auto; [apply CR|]. exists c0C, 1%nat. split; [|split].
    - intros U HU Hu. rewrite Rmult_1_l. apply CV; auto.
    - unfold M. lia.
    - intros g. simpl. lia. }
  assert (C0 : cached (value PC c0C) (map (fun g => (g, value PC c0C g)) (signs_of basis))).
  { unfold cached. rewrite Forall_map. apply Forall_forall. auto. }
  assert (I0 : in_cone (map fst (map (fun g => (g, value PC c0C g)) (signs_of basis))) u).
  { rewrite map_map. simpl. rewrite map_id. exact Iu. }
  assert (R0 : settled u u N lam0 kappa sd L (wsum P u + dot (iz c0) u) M cones).
  { eapply (tree_sound u u d); [exact Hkap|exact Hsd|exact HL|exact Hlam0|intros; reflexivity|exact HL2|exact NN|apply CR|exact HT| |
      |exact S0|exact C0|exact E|exact I0].
    - intros P1 c1 PC1 cs G k acc acc' E1. eapply tree_incl; [|exact E1]. intros; discriminate.
    - intros P1 c1 PC1 cs G k acc acc' S1 C1 E1 I1.
      eapply (tree_sound u u d); [exact Hkap|exact Hsd|exact HL|exact Hlam0|intros; reflexivity|exact HL2|exact NN|apply CR|exact HT| |
        |exact S1|exact C1|exact E1|exact I1]; intros; discriminate. }
  destruct R0 as [R0|R0]; [left|right; exact R0].
  intros U HU Hu. specialize (R0 U HU Hu). unfold strict_radius, rounding.
  rewrite plus_IZR, mult_IZR, !plus_IZR, <- !INR_IZR_INZ. fold sd.
  apply Rmult_le_reg_l with kappa; auto. eapply Rle_trans; [exact R0|]. apply Req_le.
  unfold M, kappa. rewrite S_INR. field. lra.
Qed.

Lemma seen_P u u1 W : row_part basis null u u1 -> orthogonal (map snd W) null = true -> wsum W u1 = wsum W u.
Proof.
  intros [_ _ S _ _] O. induction W as [|[k z] W IH]; simpl in *; auto. unfold orthogonal in *. cbn [forallb] in O.
  apply andb_prop in O. destruct O as [O1 O2]. rewrite (IH O2). rewrite S; auto.
  intros b Ib. rewrite forallb_forall in O1. specialize (O1 b Ib). apply Z.eqb_eq in O1. rewrite <- dotZ_R, O1. auto.
Qed.
Theorem side_sound cones u :
  check_side d P N c0 (ln * ln) (ld * ld) qn qd lam0 basis choose sb s = Some cones -> length u = d ->
  below (wsum P u + dot (iz c0) u - wsum N u) strict_radius u \/
  (below (wsum P u + dot (iz c0) u - wsum N u) (IZR ln / IZR ld) u /\
   exists x, In x cones /\ pinned_over basis null (wsum P u + dot (iz c0) u - wsum N u) u x).
Proof.
  intros E Lu. assert (RO := Hroot). unfold root_ok in RO. split_andb RO.
  destruct (row_part_exists d basis null span u RO RO4 RO3 Lu) as (u1 & RP).
  assert (S0 : dot (iz c0) u1 = dot (iz c0) u).
  { apply (rp_sees _ _ _ _ RP). intros b Ib. unfold orthogonal in RO0. cbn [forallb] in RO0. rewrite andb_true_r in RO0.
    rewrite forallb_forall in RO0. specialize (RO0 b Ib). apply Z.eqb_eq in RO0. rewrite <- dotZ_R, RO0. auto. }
  rewrite <- S0, <- (seen_P u u1 P RP RO2), <- (seen_P u u1 N RP RO1). pose proof (rp_norm _ _ _ _ RP) as HN.
  assert (hqn := IZR_lt _ _ Hqn). assert (hqd := IZR_lt _ _ Hqd).
  assert (hln := IZR_lt _ _ Hln). assert (hld := IZR_lt _ _ Hld).
  assert (0 <= strict_radius).
  { unfold strict_radius. apply Rmult_le_pos; [|left; apply Rdiv_lt_0_compat; auto]. apply IZR_le.
    unfold rounding. pose proof (Z.sqrt_up_nonneg (Z.of_nat d)). nia. }
  assert (0 <= IZR ln / IZR ld) by (left; apply Rdiv_lt_0_compat; auto).
  destruct (side_sound_at cones u1 E (eq_trans (rp_length _ _ _ _ RP) Lu) (rp_cone _ _ _ _ RP))
    as [S1|(S1 & x & IG & IC)].
  - left. intros U HU Hu. apply S1; lra.
  - right. split; [intros U HU Hu; apply S1; lra|].
    exists x. split; auto. exists u1. auto.
Qed.
End Side.

(** ** Both signs *)
Definition theta_of (c : cover) : list R := ratio (c_tden c) (c_theta c).
Definition lower_of (c : cover) : R := IZR (c_lown c) / IZR (c_lowd c).

Record problem_facts (p : problem) : Prop := ProblemFacts {
  pf_rden : (0 < p_rden p)%Z; pf_yden : (0 < p_yden p)%Z; pf_lnum : (0 < p_lnum p)%Z; pf_lden : (0 < p_lden p)%Z;
  pf_len : length (p_rows p) = length (p_y p) }.
Lemma problem_ok_facts p : problem_ok p = true -> problem_facts p.
Proof. unfold problem_ok. intros E. split_andb E. to_Prop. constructor; auto. Qed.
Lemma lambda_pos p : problem_facts p -> 0 < lambda_of p.
Proof. intros [_ _ H1 H2 _]. apply Rdiv_lt_0_compat; apply IZR_lt; auto. Qed.

Lemma bound_ok_facts p th td lown lowd : problem_facts p -> bound_ok p th td lown lowd = true ->
  (0 < td)%Z /\ (0 < lowd)%Z /\ length (rows_of p) = length (ratio td th) /\
  IZR lown / IZR lowd <= dot (y_of p) (ratio td th) - / 2 * dot (ratio td th) (ratio td th).
Proof.
  intros [_ Ey _ _ _]. unfold bound_ok. intros E. split_andb E. to_Prop.
  repeat split; auto.
  - unfold rows_of, ratio. rewrite !map_length. auto.
  - assert (ht := IZR_lt _ _ E). assert (hlo := IZR_lt _ _ E2). assert (hy := IZR_lt _ _ Ey).
    unfold y_of. rewrite !ratio_dot2, <- !dotZ_R.
    apply IZR_le in E0. rewrite ?minus_IZR, ?mult_IZR, ?minus_IZR, ?mult_IZR in E0.
    apply Rmult_le_reg_r with (IZR lowd * (2 * IZR (p_yden p) * (IZR td * IZR td))).
    { repeat apply Rmult_lt_0_compat; auto; lra. }
    eapply Rle_trans; [|eapply Rle_trans; [exact E0|]]; apply Req_le; field; lra.
Qed.

(** the strict radius in the units of lambda *)
Definition strict_lambda (p : problem) (c : cover) : R :=
  match merge (c_reps c) (p_rows p) (c_theta c) (c_merge c) with
  | Some (cf, _) =>
      IZR (c_lam0 c + rounding (pos_part (c_reps c) cf) (pos_part (c_reps c) (map Z.opp cf)) (p_dim p))
      * (IZR (c_qden c) / IZR (c_qnum c)) / (IZR (p_rden p) * IZR (c_tden c))
  | None => 0 end.

(** theta and rows are integers over the product of their denominators *)
Definition unit_of (p : problem) (c : cover) : R := IZR (p_rden p) * IZR (c_tden c).

(** An accepted cover: theta is feasible, xi h <= lambda' |.| off the cones listed, and the bound is that of theta. *)
Theorem run_sound p c cones_pos cones_neg : run p c = Some (cones_pos, cones_neg) ->
  problem_facts p /\ (0 < c_tden c)%Z /\ (0 < c_lowd c)%Z /\
  length (rows_of p) = length (theta_of c) /\ orthogonal (p_rows p) (c_null c) = true /\
  lower_of c <= dot (y_of p) (theta_of c) - / 2 * dot (theta_of c) (theta_of c) /\
  0 <= strict_lambda p c <= lambda_of p /\
  (forall u, length u = p_dim p -> feasible_at (lambda_of p) (rows_of p) (theta_of c) u) /\
  (forall u, length u = p_dim p ->
     below (hsum (rows_of p) (theta_of c) u) (strict_lambda p c) u \/
     exists s, In s cones_pos /\ pinned_over (c_basis c) (c_null c) (unit_of p c * (hsum (rows_of p) (theta_of c) u))
       u s) /\
  (forall u, length u = p_dim p ->
     below (- hsum (rows_of p) (theta_of c) u) (strict_lambda p c) u \/
     exists s, In s cones_neg /\ pinned_over (c_basis c) (c_null c) (unit_of p c * (- hsum (rows_of p) (theta_of c)
       u)) u s).
Proof.
  unfold run, strict_lambda. intros E. destruct (merge _ _ _ _) as [[cf c0]|] eqn:EM; [|discriminate].
  set (P := pos_part (c_reps c) cf) in *. set (N := pos_part (c_reps c) (map Z.opp cf)) in *.
  destruct (problem_ok p) eqn:Ep; [|discriminate].
  destruct (bound_ok p _ _ _ _) eqn:Eb; [|discriminate].
  destruct (0 <? c_qnum c)%Z eqn:Eqn; [|discriminate]. destruct (0 <? c_qden c)%Z eqn:Eqd; [|discriminate].
  destruct (0 <=? c_lam0 c)%Z eqn:El0; [|discriminate]. destruct (_ <=? _)%Z eqn:Er in E; [|discriminate].
  destruct (root_ok _ _ _ _ _ _ _) eqn:Eroot in E; [|discriminate].
  destruct (orthogonal _ _) eqn:Eort in E; [|discriminate].
  cbn [andb] in E. to_Prop.
  destruct (check_side _ P N _ _ _ _ _ _ _ _ _ _) as [A|] eqn:EA; [|discriminate].
  destruct (check_side _ N P _ _ _ _ _ _ _ _ _ _) as [B|] eqn:EB; [|discriminate]. injection E as <- <-.
  apply problem_ok_facts in Ep. destruct (bound_ok_facts _ _ _ _ _ Ep Eb) as (Ht & Hlo & Hlen & Hlow).
  assert (Ep' := Ep). destruct Ep' as [Hr Hy Hln Hld _].
  set (ln := (p_lnum p * p_rden p * c_tden c)%Z) in *. assert (Hln' : (0 < ln)%Z) by (unfold ln; nia).
  set (lam' := IZR (c_lam0 c + rounding P N (p_dim p)) * (IZR (c_qden c) / IZR (c_qnum c))
               / (IZR (p_rden p) * IZR (c_tden c))).
  assert (hr := IZR_lt _ _ Hr). assert (ht := IZR_lt _ _ Ht). assert (hln := IZR_lt _ _ Hln).
  assert (hld := IZR_lt _ _ Hld). assert (hqn := IZR_lt _ _ Eqn). assert (hqd := IZR_lt _ _ Eqd).
  assert (HK : 0 < IZR (p_rden p) * IZR (c_tden c)) by (apply Rmult_lt_0_compat; auto).
  assert (Hrd : (0 <= c_lam0 c + rounding P N (p_dim p))%Z).
  { unfold rounding. pose proof (Z.sqrt_up_nonneg (Z.of_nat (p_dim p))). nia. }
  assert (HL0 : 0 <= lam').
  { unfold lam'. apply IZR_le in Hrd. apply Rmult_le_pos; [apply Rmult_le_pos; auto|].
    - left; apply Rdiv_lt_0_compat; auto.
    - left; apply Rinv_0_lt_compat; auto. }
  assert (HLL : lam' <= lambda_of p).
  { unfold lam', lambda_of. unfold ln in Er. apply IZR_le in Er. rewrite !mult_IZR in Er.
    apply Rmult_le_reg_r with (IZR (c_qnum c) * IZR (p_lden p) * (IZR (p_rden p) * IZR (c_tden c))).
    { repeat apply Rmult_lt_0_compat; auto. }
    eapply Rle_trans; [|eapply Rle_trans; [exact Er|]]; apply Req_le; field; repeat split; lra. }
  assert (HLeq : IZR ln / IZR (p_lden p) = IZR (p_rden p) * IZR (c_tden c) * lambda_of p).
  { unfold ln, lambda_of. rewrite !mult_IZR. field. lra. }
  assert (Hrad : strict_radius P N (c_qnum c) (c_qden c) (c_lam0 c) (p_dim p)
                 = IZR (p_rden p) * IZR (c_tden c) * lam').
  { unfold strict_radius, lam'. field. lra. }
  assert (Hrad' : strict_radius N P (c_qnum c) (c_qden c) (c_lam0 c) (p_dim p)
                 = IZR (p_rden p) * IZR (c_tden c) * lam').
  { rewrite <- Hrad. unfold strict_radius, rounding. do 3 f_equal. lia. }
  assert (Eroot' : root_ok (p_dim p) N P (map Z.opp c0) (c_basis c) (c_null c) (c_span c) = true).
  { unfold root_ok in *. apply andb_prop in Eroot. destruct Eroot as [R1 R5]. apply andb_prop in R1.
    destruct R1 as [R1 R4].
    apply andb_prop in R1. destruct R1 as [R1 R3]. rewrite R1, R3, R4. cbn [andb]. unfold orthogonal in *.
    cbn [forallb] in *. rewrite andb_true_r in *. rewrite forallb_forall in *. intros b Ib. specialize (R5 b Ib).
    apply Z.eqb_eq in R5. apply Z.eqb_eq. apply eq_IZR. rewrite dotZ_R, opp_R, <- dotZ_R, R5. simpl. lra. }
  assert (KEY : forall u, length u = p_dim p ->
    (below (hsum (rows_of p) (theta_of c) u) lam' u \/
      (below (hsum (rows_of p) (theta_of c) u) (lambda_of p) u /\ exists s, In s A /\ pinned_over (c_basis c) (c_null
        c) (unit_of p c * hsum (rows_of p) (theta_of c) u) u s)) /\
    (below (- hsum (rows_of p) (theta_of c) u) lam' u \/
      (below (- hsum (rows_of p) (theta_of c) u) (lambda_of p) u /\ exists s, In s B /\ pinned_over (c_basis c)
        (c_null c) (unit_of p c * - hsum (rows_of p) (theta_of c) u) u s))).
  { intros u Lu.
    destruct (merge_R (p_rden p) (c_tden c) u (c_reps c) Hr Ht _ _ _ _ _ EM) as [_ HS].
    rewrite csum_split in HS. fold P N in HS. fold (theta_of c) (rows_of p) in HS.
    assert (Q1 : wsum P u + dot (iz c0) u - wsum N u = unit_of p c * hsum (rows_of p) (theta_of c) u)
      by (unfold unit_of; lra).
    assert (Q2 : wsum N u + dot (iz (map Z.opp c0)) u - wsum P u = unit_of p c * - hsum (rows_of p) (theta_of c) u)
      by (unfold unit_of; rewrite opp_R; lra).
    assert (UP : forall x b y, below x (IZR (p_rden p) * IZR (c_tden c) * b) u ->
      x = IZR (p_rden p) * IZR (c_tden c) * y -> below y b u).
    { intros x b y Hx -> U HU Hu. specialize (Hx U HU Hu).
      apply Rmult_le_reg_l with (IZR (p_rden p) * IZR (c_tden c)); [exact HK|lra]. }
    destruct (side_sound P N c0 ln (p_lden p) _ _ _ _ _ _ _ _ _ _ Eroot (pos_part_nonneg _ _) (pos_part_nonneg _ _)
                Hln' Hld Eqn Eqd El0 A u EA Lu) as [S1|[S1 S2]];
    destruct (side_sound N P (map Z.opp c0) ln (p_lden p) _ _ _ _ _ _ _ _ _ _ Eroot' (pos_part_nonneg _ _)
                (pos_part_nonneg _ _) Hln' Hld Eqn Eqd El0 B u EB Lu) as [S3|[S3 S4]];
    rewrite ?Hrad, ?HLeq in S1; rewrite ?Hrad', ?HLeq in S3;
    (split; [first [left; apply (UP _ _ _ S1); lra
                   |right; split; [apply (UP _ _ _ S1); lra|rewrite <- Q1; exact S2]]
            |first [left; apply (UP _ _ _ S3); rewrite opp_R; lra
                   |right; split; [apply (UP _ _ _ S3); rewrite opp_R; lra|rewrite <- Q2; exact S4]]]). }
  split; [exact Ep|]. split; [exact Ht|]. split; [exact Hlo|]. split; [exact Hlen|]. split; [exact Eort|].
  split; [exact Hlow|].
  split; [split; auto|]. split; [|split].
  - intros u Lu. destruct (KEY u Lu) as [K1 K2]. split.
    + destruct K1 as [K1|[K1 _]]; auto. eapply below_weaker; eauto.
    + destruct K2 as [K2|[K2 _]]; auto. eapply below_weaker; eauto.
  - intros u Lu. destruct (KEY u Lu) as [[K1|[_ K1]] _]; auto.
  - intros u Lu. destruct (KEY u Lu) as [_ [K1|[_ K1]]]; auto.
Qed.

(** ** The main theorem: no network of any width has a smaller objective *)
Theorem check_sound p c : check p c = true ->
  forall net, well_formed (p_dim p) net -> lower_of c <= objective p net.
Proof.
  unfold check. intros E net W. destruct (run p c) as [[A B]|] eqn:ER; [|discriminate].
  destruct (run_sound _ _ _ _ ER) as (Pf & _ & _ & Lt & _ & Low & _ & Fe & _).
  eapply Rle_trans; [exact Low|]. apply weak_duality; auto.
  - unfold rows_of, y_of, ratio. rewrite !map_length. apply pf_len; auto.
  - eapply Forall_impl; [|exact W]. simpl. intros nr Ln. apply feasible_dual_ok; auto.
    left. apply lambda_pos; auto.
Qed.
