(** * Uniqueness in the words of the paper: permutations and splitting; and the narrowest optimal network *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Permutation.
From Relu Require Import Spec Vectors Duality Checker Soundness Upper Strict Unique Existence.
Import ListNotations.
Open Scope R_scope.

(** w = t u with t >= 0, and the t *)
Fixpoint same_vector (a b : list R) : bool :=
  match a, b with
  | [], [] => true
  | x :: a', y :: b' => if Req_EM_T x y then same_vector a' b' else false
  | _, _ => false end.
Lemma same_vector_spec : forall a b, same_vector a b = true <-> a = b.
Proof.
  induction a as [|x a IH]; intros [|y b]; simpl; split; intros H; try discriminate; auto.
  - destruct (Req_EM_T x y) as [->|]; [|discriminate]. f_equal. apply IH; auto.
  - injection H as -> ->. destruct (Req_EM_T y y); [apply IH; auto|congruence].
Qed.
(** the multiple of u that w is, if it is one: u.w/u.u *)
Definition along (u w : list R) : R := dot u w / dot u u.
Definition on_ray (u w : list R) : R :=
  if Rle_dec 0 (along u w) then if same_vector (vscale (along u w) u) w then along u w else 0 else 0.
Lemma vscale_vscale a b : forall u, vscale a (vscale b u) = vscale (a * b) u.
Proof. intros u. unfold vscale. rewrite map_map. apply map_ext. intros; ring. Qed.
Lemma vscale_one u : vscale 1 u = u.
Proof. unfold vscale. rewrite <- (map_id u) at 2. apply map_ext. intros; ring. Qed.
Lemma along_scale u t : dot u u <> 0 -> along u (vscale t u) = t.
Proof. intros H. unfold along. rewrite dot_scale. field. auto. Qed.
Lemma on_ray_scale u t : dot u u <> 0 -> 0 <= t -> on_ray u (vscale t u) = t.
Proof.
  intros H Ht. unfold on_ray. rewrite along_scale by auto. destruct (Rle_dec 0 t); [|lra].
  destruct (same_vector (vscale t u) (vscale t u)) eqn:E; auto.
  assert (X := proj2 (same_vector_spec (vscale t u) (vscale t u)) eq_refl). congruence.
Qed.
Lemma on_ray_nonzero u w : on_ray u w <> 0 -> 0 < on_ray u w /\ w = vscale (on_ray u w) u.
Proof.
  unfold on_ray. destruct (Rle_dec 0 (along u w)) as [h|h]; [|congruence].
  destruct (same_vector (vscale (along u w) u) w) eqn:E; [|congruence]. apply same_vector_spec in E.
  intros N. split; [lra|congruence].
Qed.
Lemma vscale_inj t u w : t <> 0 -> vscale t u = vscale t w -> u = w.
Proof.
  intros Ht E. rewrite <- (vscale_one u), <- (vscale_one w). replace 1 with (/ t * t) by (field; auto).
  rewrite <- !vscale_vscale. congruence.
Qed.
Lemma on_ray_homogeneous u : dot u u <> 0 -> homogeneous (on_ray u).
Proof.
  intros H t w Ht. fold (vscale t w). destruct (Rle_lt_or_eq_dec _ _ Ht) as [ht|<-].
  - destruct (Req_EM_T (on_ray u w) 0) as [e|e].
    + destruct (Req_EM_T (on_ray u (vscale t w)) 0) as [e'|e']; [rewrite e, e'; ring|]. exfalso.
      destruct (on_ray_nonzero _ _ e') as [p E].
      assert (W : w = vscale (/ t * on_ray u (vscale t w)) u).
      { apply (vscale_inj t); [lra|]. rewrite vscale_vscale. rewrite E at 1. f_equal. field. lra. }
      rewrite W in e. rewrite on_ray_scale in e; auto.
      * assert (0 < / t * on_ray u (vscale t w)) by (apply Rmult_lt_0_compat; auto; apply Rinv_0_lt_compat; auto). lra.
      * left. apply Rmult_lt_0_compat; auto. apply Rinv_0_lt_compat; auto.
    + destruct (on_ray_nonzero _ _ e) as [p E]. rewrite E at 1. rewrite vscale_vscale, on_ray_scale; auto. nra.
  - rewrite Rmult_0_l. replace (vscale 0 w) with (vscale 0 w) by auto.
    destruct (Req_EM_T (on_ray u (vscale 0 w)) 0) as [e|e]; auto. exfalso.
    unfold on_ray in e. unfold along in e. rewrite dot_scale in e. replace (0 * dot u w / dot u u) with 0 in e by
      (field; auto).
    destruct (Rle_dec 0 0); [|lra]. destruct (same_vector _ _); congruence.
Qed.

(** ** What permutations and splitting keep *)
Lemma measure_permutation phi N N' : Permutation N N' -> measure phi N = measure phi N'.
Proof. induction 1; simpl; try destruct x; try destruct y; lra. Qed.
Lemma homogeneous_zero phi w : homogeneous phi -> dot w w = 0 -> phi w = 0.
Proof.
  intros H Z. assert (E : w = map (Rmult 0) w).
  { clear -Z. induction w as [|a w IH]; simpl in *; auto. pose proof (dot_self_nonneg w).
    assert (a * a = 0) by nra. assert (a = 0) by nra. subst. f_equal; [ring|]. apply IH. lra. }
  rewrite E, H by lra. ring.
Qed.
Theorem same_neurons_measure N N' : same_neurons N N' -> same_measure N N'.
Proof.
  induction 1; intros phi Hphi; simpl.
  - apply measure_permutation; auto.
  - rewrite !Hphi by auto. transitivity ((a * a + b * b) * (v * phi w) + measure phi net); [rewrite H1; ring|ring].
  - ring.
  - symmetry. auto.
  - rewrite IHsame_neurons1; auto.
Qed.
Lemma same_cons x N N' : same_neurons N N' -> same_neurons (x :: N) (x :: N').
Proof.
  induction 1.
  - apply by_permutation. constructor; auto.
  - eapply by_steps; [apply by_permutation, perm_swap|]. eapply by_steps; [apply (by_splitting a b w v (x :: net));
      auto|].
    apply by_permutation. eapply Permutation_trans; [|apply perm_swap]. constructor. apply perm_swap.
  - eapply by_steps; [apply by_permutation, perm_swap|]. apply by_zero; auto.
  - apply by_symmetry. auto.
  - eapply by_steps; eauto.
Qed.

(** ** One neuron for each ray *)
(** balanced neurons whose output weight has the sign of a function of the ray *)
Definition regular (h : list R -> R) (nr : neuron) : Prop :=
  snd nr <> 0 /\ dot (fst nr) (fst nr) = snd nr * snd nr /\ 0 < snd nr * h (fst nr).
Definition apart (N : network) : Prop :=
  ForallOrdPairs (fun a b : neuron => on_ray (fst a) (fst b) = 0) N.

Lemma regular_dot h w v : regular h (w, v) -> dot w w <> 0.
Proof. intros (N & B & _). simpl in *. nra. Qed.

(** two neurons on one ray are one neuron *)
Lemma join h w v w' v' N : homogeneous h -> regular h (w, v) -> regular h (w', v') -> on_ray w w' <> 0 ->
  exists w'' v'', regular h (w'', v'') /\ same_neurons ((w, v) :: (w', v') :: N) ((w'', v'') :: N) /\
    length w'' = length w /\ exists c, 0 < c /\ w'' = vscale c w.
Proof.
  intros Hh R1 R2 Ry. destruct (on_ray_nonzero _ _ Ry) as [Ht E]. set (t := on_ray w w') in *.
  assert (R1' := R1). assert (R2' := R2). destruct R1' as (N1 & B1 & S1). destruct R2' as (N2 & B2 & S2). simpl in *.
  assert (V : v' = t * v).
  { rewrite E in B2, S2. rewrite dot_scale2, B1 in B2. unfold vscale in S2. rewrite Hh in S2 by lra.
    assert (P : (v' - t * v) * (v' + t * v) = 0) by lra. apply Rmult_integral in P. destruct P as [P|P]; [lra|].
    exfalso. assert (v' = - (t * v)) by lra. subst v'. assert (0 < t * t) by nra. nra. }
  set (c := sqrt (1 + t * t)). assert (Hc : c * c = 1 + t * t) by (apply sqrt_sqrt; nra).
  assert (Pc : 0 < c) by (apply sqrt_lt_R0; nra).
  exists (vscale c w), (c * v). split; [|split; [|split]].
  - repeat split; simpl.
    + apply Rmult_integral_contrapositive_currified; lra.
    + rewrite dot_scale2, B1. ring.
    + unfold vscale. rewrite Hh by lra. assert (0 < c * c) by nra. nra.
  - apply by_symmetry.
    assert (A : (w, v) = (map (Rmult (/ c)) (vscale c w), / c * (c * v))).
    { f_equal; [|field; lra]. fold (vscale (/ c) (vscale c w)). rewrite vscale_vscale, Rinv_l, vscale_one by lra.
      auto. }
    assert (B : (w', v') = (map (Rmult (t / c)) (vscale c w), t / c * (c * v))).
    { f_equal; [|rewrite V; field; lra]. fold (vscale (t / c) (vscale c w)). rewrite vscale_vscale, E. f_equal. field.
      lra. }
    rewrite A, B. apply by_splitting.
    + left. apply Rinv_0_lt_compat; auto.
    + left. apply Rdiv_lt_0_compat; auto.
    + replace (/ c * / c + t / c * (t / c)) with ((1 + t * t) / (c * c)) by (field; lra). rewrite Hc. field. nra.
  - unfold vscale. apply map_length.
  - exists c. auto.
Qed.

(** a network with one regular neuron more, and still at most one for each ray *)
Lemma insert_neuron h w v : homogeneous h -> regular h (w, v) -> forall M, Forall (regular h) M -> apart M ->
  exists M', Forall (regular h) M' /\ apart M' /\ same_neurons ((w, v) :: M) M' /\ (length M' <= S (length M))%nat /\
    forall a, In a M' -> (exists c, 0 < c /\ fst a = vscale c w) \/ In a M.
Proof.
  intros Hh Rw M FM AM. revert w v Rw. induction AM as [|[w1 v1] M AF AM IH]; intros w v Rw.
  - exists [(w, v)]. repeat split; auto.
    + repeat constructor.
    + apply by_permutation, Permutation_refl.
    + intros a [<-|[]]. left. exists 1. split; [lra|]. simpl. rewrite vscale_one. auto.
  - assert (R1 := Forall_inv FM). assert (F1 := Forall_inv_tail FM).
    destruct (Req_EM_T (on_ray w1 w) 0) as [e|e].
    + destruct (IH F1 w v Rw) as (M' & F' & A' & S' & L' & O').
      exists ((w1, v1) :: M'). split; [constructor; auto|]. split; [|split; [|split]].
      * constructor; auto. apply Forall_forall. intros a Ia. destruct (O' a Ia) as [(c & Pc & Ec)|I].
        -- simpl. rewrite Ec. unfold vscale.
           rewrite (on_ray_homogeneous w1 (regular_dot _ _ _ R1) c w (Rlt_le _ _ Pc)). simpl in e. rewrite e. ring.
        -- rewrite Forall_forall in AF. exact (AF a I).
      * eapply by_steps; [apply by_permutation, perm_swap|]. apply same_cons. auto.
      * simpl. lia.
      * intros a [<-|Ia]; [right; simpl; auto|]. destruct (O' a Ia) as [X|X]; [left; auto|right; simpl; auto].
    + destruct (join h w1 v1 w v M Hh R1 Rw e) as (w2 & v2 & R2 & S2 & _ & c & Pc & E2).
      assert (Hb : on_ray w1 w <> 0) by auto. destruct (on_ray_nonzero _ _ Hb) as [Pt Et].
      exists ((w2, v2) :: M). split; [constructor; auto|]. split; [|split; [|split]].
      * constructor; auto. apply Forall_forall. intros [wa va] Ia. rewrite Forall_forall in AF. specialize (AF _ Ia).
        simpl in *.
        destruct (Req_EM_T (on_ray w2 wa) 0) as [z|z]; auto. exfalso. destruct (on_ray_nonzero _ _ z) as [P Ez].
        set (t := on_ray w2 wa) in *. clearbody t. assert (Ptc : 0 < t * c) by (apply Rmult_lt_0_compat; auto).
        rewrite Ez, E2, vscale_vscale in AF. rewrite on_ray_scale in AF; [lra|apply (regular_dot h w1 v1); auto|lra].
      * eapply by_steps; [apply by_permutation, perm_swap|]. exact S2.
      * simpl. lia.
      * intros a [<-|Ia]; [left|right; simpl; auto]. exists (c / on_ray w1 w). split; [apply Rdiv_lt_0_compat; auto|].
        simpl. rewrite E2. rewrite Et at 2. rewrite vscale_vscale. f_equal. field. lra.
Qed.
Theorem one_for_each_ray h : homogeneous h -> forall N, Forall (fun nr => regular h nr \/ (snd nr = 0 /\ dot (fst nr)
  (fst nr) = 0)) N ->
  exists M, Forall (regular h) M /\ apart M /\ same_neurons N M /\ (length M <= length N)%nat /\
    forall d, well_formed d N -> well_formed d M.
Proof.
  intros Hh. induction 1 as [|[w v] N HR _ (M & FM & AM & SM & LM & WM)].
  - exists []. repeat split; auto; try constructor. apply Permutation_refl.
  - destruct HR as [HR|[Z1 Z2]].
    + destruct (insert_neuron h w v Hh HR M FM AM) as (M' & F' & A' & S' & L' & O').
      exists M'. repeat split; auto; [|simpl; lia|].
      * eapply by_steps; [apply same_cons; exact SM|exact S'].
      * intros d W. assert (W0 := Forall_inv W). simpl in W0. specialize (WM d (Forall_inv_tail W)).
        unfold well_formed in *. rewrite Forall_forall in *. intros a Ia. destruct (O' a Ia) as [(c & _ & ->)|I]; auto.
        unfold vscale. rewrite map_length. auto.
    + simpl in *. subst v. exists M. repeat split; auto.
      * eapply by_steps; [apply by_zero; auto|exact SM].
      * intros d W. apply WM. exact (Forall_inv_tail W).
Qed.

(** ** Equal measures, one neuron for each ray: the same neurons *)
Lemma measure_on_ray h w v : forall M, Forall (regular h) M -> apart M -> regular h (w, v) ->
  (exists w' v', In (w', v') M /\ on_ray w w' <> 0 /\ measure (on_ray w) M = v' * on_ray w w') \/
  measure (on_ray w) M = 0.
Proof.
  intros M F A. induction A as [|[w1 v1] M AF A IH]; intros Rw; [right; auto|].
  assert (R1 := Forall_inv F). specialize (IH (Forall_inv_tail F) Rw). simpl.
  destruct (Req_EM_T (on_ray w w1) 0) as [e|e].
  - rewrite e. destruct IH as [(w' & v' & I & N & E)|E]; [left; exists w', v'; split; [auto|split; auto; lra]|right;
      lra].
  - left. exists w1, v1. split; [auto|]. split; [auto|].
    assert (Z : measure (on_ray w) M = 0).
    { destruct (on_ray_nonzero _ _ e) as [P E]. assert (FM := Forall_inv_tail F). clear IH F.
      induction AF as [|[w2 v2] M A2 AF IHM]; simpl; auto.
      inversion A; subst. rewrite (IHM ltac:(auto) (Forall_inv_tail FM)).
      destruct (Req_EM_T (on_ray w w2) 0) as [z|z]; [rewrite z; ring|]. exfalso.
      destruct (on_ray_nonzero _ _ z) as [P2 E2]. simpl in A2.
      assert (X : w2 = vscale (on_ray w w2 / on_ray w w1) w1).
      { rewrite E at 2. rewrite vscale_vscale. rewrite E2 at 1. f_equal. field. lra. }
      rewrite X in A2. rewrite on_ray_scale in A2.
      - assert (0 < on_ray w w2 / on_ray w w1) by (apply Rdiv_lt_0_compat; auto). lra.
      - apply (regular_dot h w1 v1); auto.
      - left. apply Rdiv_lt_0_compat; auto. }
    lra.
Qed.
Lemma found_again h M M' : homogeneous h -> Forall (regular h) M -> apart M -> Forall (regular h) M' -> apart M' ->
  same_measure M M' ->
  incl M M'.
Proof.
  intros Hh F A F' A' SM [w v] I. assert (Rw : regular h (w, v)) by (rewrite Forall_forall in F; auto).
  assert (Dw := regular_dot _ _ _ Rw). assert (R0 := Rw). destruct R0 as (Nv & Bv & Sv). simpl in *.
  assert (O1 : on_ray w w = 1).
  { pose proof (on_ray_scale w 1 Dw ltac:(lra)) as X. rewrite vscale_one in X. auto. }
  assert (M1 : measure (on_ray w) M = v).
  { clear SM F' A'. induction A as [|[w1 v1] M AF A IH]; simpl in *; [tauto|].
    assert (F1 := Forall_inv F). assert (F2 := Forall_inv_tail F). destruct I as [E|I].
    - injection E as -> ->. rewrite O1.
      assert (Z : measure (on_ray w) M = 0).
      { clear -AF. induction AF as [|[w2 v2] M A2 AF IH]; simpl in *; auto. rewrite IH, A2. ring. }
      lra.
    - rewrite (IH F2 I). rewrite Forall_forall in AF. specialize (AF _ I). simpl in AF.
      destruct (Req_EM_T (on_ray w w1) 0) as [z|z]; [rewrite z; ring|]. exfalso.
      destruct (on_ray_nonzero _ _ z) as [P E].
      assert (X : w = vscale (/ on_ray w w1) w1).
      { rewrite E at 2. rewrite vscale_vscale, Rinv_l, vscale_one by lra. auto. }
      rewrite X in AF. rewrite on_ray_scale in AF; [|apply (regular_dot h w1 v1); auto|left; apply Rinv_0_lt_compat;
        auto].
      pose proof (Rinv_0_lt_compat _ P). lra. }
  rewrite (SM (on_ray w) (on_ray_homogeneous w Dw)) in M1.
  destruct (measure_on_ray h w v M' F' A' Rw) as [(w' & v' & I' & N' & E')|E']; [|congruence].
  rewrite E' in M1. destruct (on_ray_nonzero _ _ N') as [P E]. set (t := on_ray w w') in *.
  assert (R' : regular h (w', v')) by (rewrite Forall_forall in F'; auto). destruct R' as (Nv' & Bv' & Sv'). simpl in *.
  rewrite E, dot_scale2, Bv in Bv'. rewrite <- M1 in Bv'.
  assert (T4 : t = 1).
  { assert (v' * v' * (1 - t * t * (t * t)) = 0) by lra. assert (0 < v' * v') by nra.
    assert (1 - t * t * (t * t) = 0) by (apply Rmult_eq_reg_l with (v' * v'); lra).
    assert ((1 - t) * ((1 + t) * (1 + t * t)) = 0) by lra. apply Rmult_integral in H2. destruct H2; nra. }
  rewrite T4 in *. rewrite vscale_one in E. subst w'. replace v with v' by lra. exact I'.
Qed.
Lemma apart_nodup h M : Forall (regular h) M -> apart M -> NoDup M.
Proof.
  intros F A. induction A as [|[w v] M AF A IH]; constructor; [|apply IH; exact (Forall_inv_tail F)].
  intros I. rewrite Forall_forall in AF. specialize (AF _ I). simpl in AF. assert (R1 := Forall_inv F).
  pose proof (on_ray_scale w 1 (regular_dot _ _ _ R1) ltac:(lra)) as X. rewrite vscale_one in X. lra.
Qed.

(** neurons of an optimal network are regular, or zero *)
Lemma optimal_regular p net : problem_facts p -> optimal_for p net ->
  Forall (fun nr => regular (hsum (rows_of p) (resid (rows_of p) (y_of p) net)) nr \/
                    (snd nr = 0 /\ dot (fst nr) (fst nr) = 0)) net.
Proof.
  intros Pf O. assert (Ly := lengths_agree p Pf). assert (Hl := lambda_pos p Pf).
  destruct (opt_conditions _ _ _ _ _ Ly O) as [D A]. destruct O as [W _]. unfold well_formed in W.
  rewrite Forall_forall in *. intros [w v] I. specialize (A _ I). specialize (W _ I). simpl in W.
  destruct (Req_EM_T v 0) as [->|Nv].
  - right. split; auto. unfold active in A. simpl in *. pose proof (dot_self_nonneg w). nra.
  - left. destruct (active_norm _ _ _ _ _ _ Hl D W A Nv) as [B H]. repeat split; simpl; auto. rewrite H.
    assert (0 < v * v) by nra. nra.
Qed.

Lemma same_neurons_objective p N N' : same_neurons N N' -> objective p N = objective p N'.
Proof.
  intros S. assert (P : penalty N = penalty N').
  { induction S; simpl; try lra.
    - induction H; simpl; try destruct x; try destruct y; lra.
    - fold (vscale a w) (vscale b w). rewrite !dot_scale2.
      transitivity ((a * a + b * b) * (dot w w + v * v) + penalty net); [rewrite H1; ring|ring]. }
  assert (O : forall z, out N z = out N' z).
  { intros z. assert (M : forall N, out N z = measure (fun w => relu (dot z w)) N).
    { induction N0 as [|[w v] N0 IH]; simpl; auto. rewrite IH. auto. }
    rewrite !M. apply (same_neurons_measure _ _ S). intros t u Ht. fold (vscale t u).
    rewrite dot_scale, relu_scale; auto. }
  unfold objective, J. rewrite P. do 2 f_equal. generalize (rows_of p) as rows, (y_of p) as y. clear - O.
  induction rows as [|z rows IH]; intros [|yk y]; simpl; auto. rewrite IH, O. auto.
Qed.

(** ** p-unique: if the measure is unique, all optimal networks have the same neurons up to permutation and splitting,
    and the network with one neuron for each ray is the narrowest of them *)
Theorem unique_measure_in_words p N0 : problem_facts p -> optimal_for p N0 ->
  (forall N, optimal_for p N -> same_measure N0 N) ->
  exists M, optimal_for p M /\ (forall N, optimal_for p N -> same_neurons N M /\ (length M <= length N)%nat) /\
    apart M /\ Forall (fun nr => snd nr <> 0) M.
Proof.
  intros Pf O0 U. assert (Ly := lengths_agree p Pf).
  pose proof (optimal_regular p N0 Pf O0) as R0. set (h := hsum (rows_of p) (resid (rows_of p) (y_of p) N0)) in *.
  assert (Hh : homogeneous h) by apply hsum_hom.
  destruct (one_for_each_ray h Hh N0 R0) as (M & F & A & S & L & W). exists M.
  split; [|split; [|split; [exact A|eapply Forall_impl; [|exact F]; intros nr K; apply K]]].
  - destruct O0 as [W0 M0]. split; [apply W; auto|]. intros N' W'. fold (objective p M) (objective p N').
    rewrite <- (same_neurons_objective p N0 M S). apply M0. auto.
  - intros N O.
    assert (ER : resid (rows_of p) (y_of p) N0 = resid (rows_of p) (y_of p) N).
    { apply vsub_zero; [rewrite !resid_len; auto|]. eapply predictions_unique; eauto. }
    pose proof (optimal_regular p N Pf O) as R2. rewrite <- ER in R2. fold h in R2.
    destruct (one_for_each_ray h Hh N R2) as (M2 & F2 & A2 & S2 & L2 & _).
    assert (SMM : same_measure M M2).
    { intros phi Hphi. rewrite <- (same_neurons_measure _ _ S phi Hphi), <- (same_neurons_measure _ _ S2 phi Hphi).
      apply U; auto. }
    assert (P : Permutation M M2).
    { apply NoDup_Permutation; [eapply apart_nodup; eauto|eapply apart_nodup; eauto|].
      intros x. split; intros I; [apply (found_again h M M2)|apply (found_again h M2 M)]; auto.
      intros phi Hphi. symmetry. auto. }
    split; [|rewrite (Permutation_length P); auto].
    eapply by_steps; [exact S2|]. apply by_permutation, Permutation_sym. auto.
Qed.
(** What an accepted certificate says: there is an optimal network, one of them is the narrowest, and all others are
    this one, up to permutation and splitting. *)
Lemma narrowest_apart p c s q : check_unique p c s q = true ->
  exists M, optimal_for p M /\ (forall N, optimal_for p N -> same_neurons N M /\ (length M <= length N)%nat) /\
    apart M /\ Forall (fun nr => snd nr <> 0) M.
Proof.
  intros E. assert (Es : exists A B, run_strict p c s = Some (A, B)).
  { unfold check_unique in E. destruct (run_strict p c s) as [[A B]|]; [eauto|discriminate]. }
  destruct Es as (A & B & Es). destruct (strict_facts _ _ _ _ _ Es) as [ER _].
  destruct (run_sound _ _ _ _ ER) as (Pf & _).
  destruct (optimal_exists (lambda_of p) (rows_of p) (y_of p) (p_dim p) (lambda_pos p Pf)) as (N0 & O0 & _).
  apply (unique_measure_in_words p N0 Pf O0). intros N O. eapply unique_sound; eauto.
Qed.
Theorem p_unique p c s q : check_unique p c s q = true ->
  exists M, optimal_for p M /\ forall N, optimal_for p N -> same_neurons N M /\ (length M <= length N)%nat.
Proof. intros E. destruct (narrowest_apart _ _ _ _ E) as (M & O & U & _). eauto. Qed.
