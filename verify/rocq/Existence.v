(** * Existence: an optimal network exists, and n + 1 neurons suffice

    So the statements about all optimal networks are not empty. Caratheodory's argument on neurons: with more than n + 1
    of them, some combination of their predictions and penalties vanishes, and scaling the neurons along it removes one
    without any change of the objective. Then a continuous function on a box has a minimum. *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Arith.
From Relu Require Import Spec Vectors.
Import ListNotations.
Open Scope R_scope.

(** ** Fewer equations than unknowns *)
Theorem kernel : forall k (V : list (nat -> R)), (k < length V)%nat -> exists al, length al = length V /\
  (exists x, In x al /\ x <> 0) /\ forall j, (j < k)%nat -> dot al (map (fun f => f j) V) = 0.
Proof.
  induction k as [|k IH]; intros V L.
  - exists (repeat 1 (length V)). split; [apply repeat_length|]. split; [|intros; lia].
    exists 1. split; [|lra]. destruct V; simpl in *; [lia|auto].
  - assert (D : (forall f, In f V -> f k = 0) \/ exists f, In f V /\ f k <> 0).
    { clear. induction V as [|f V IH]; [left; simpl; tauto|].
      destruct (Req_EM_T (f k) 0) as [e|e]; [|right; exists f; simpl; auto].
      destruct IH as [IH|(g & I & H)]; [|right; exists g; simpl; auto].
      left. intros g [<-|I]; auto. }
    destruct D as [D|(f & I & H)].
    + destruct (IH V ltac:(lia)) as (al & La & Na & Ea). exists al. repeat split; auto.
      intros j Hj. destruct (Nat.eq_dec j k) as [->|ne]; [|apply Ea; lia]. apply dot_map_zero. auto.
    + apply in_split in I. destruct I as (A & B & ->).
      rewrite app_length in L. simpl in L.
      destruct (IH (map (fun g j => g j - g k / f k * f j) (A ++ B))) as (al & La & Na & Ea).
      { rewrite map_length, app_length. lia. }
      rewrite map_length, app_length in La.
      set (aA := firstn (length A) al). set (aB := skipn (length A) al).
      assert (EA : al = aA ++ aB) by (symmetry; apply firstn_skipn).
      assert (LA : length aA = length A) by (unfold aA; rewrite firstn_length; lia).
      assert (LB : length aB = length B) by (unfold aB; rewrite skipn_length; lia).
      set (s := fun j => dot aA (map (fun g => g j) A) + dot aB (map (fun g => g j) B)).
      exists (aA ++ - (s k / f k) :: aB). split; [|split].
      * rewrite !app_length. simpl. lia.
      * destruct Na as (x & Ix & Nx). exists x. split; auto. rewrite EA in Ix. apply in_app_or in Ix.
        apply in_or_app. simpl. tauto.
      * intros j Hj. rewrite map_app. cbn [map]. rewrite dot_app by (rewrite map_length; auto). cbn [dot].
        assert (G : s j - s k / f k * f j = 0).
        { destruct (Nat.eq_dec j k) as [->|ne]; [field; auto|]. specialize (Ea j ltac:(lia)).
          rewrite map_map, map_app, EA, dot_app in Ea by (rewrite map_length; auto).
          assert (X : forall l x, dot x (map (fun g : nat -> R => g j - g k / f k * f j) l) =
             dot x (map (fun g => g j) l) - f j / f k * dot x (map (fun g => g k) l)).
          { clear -H. induction l as [|g l IHl]; intros [|x0 x]; simpl; try ring. rewrite IHl. field. auto. }
          rewrite !X in Ea. unfold s. rewrite <- Ea. field. auto. }
        unfold s in *. lra.
Qed.

(** ** A network with more than n + 1 neurons can lose one *)
Definition effect (z : list R) (nr : neuron) : R := snd nr * relu (dot z (fst nr)).
Definition cost (nr : neuron) : R := dot (fst nr) (fst nr) + snd nr * snd nr.
Lemma out_effect z : forall net, out net z = dot (repeat 1 (length net)) (map (effect z) net).
Proof. induction net as [|[w v] net IH]; simpl; auto. rewrite IH. unfold effect. simpl. ring. Qed.
Lemma penalty_cost : forall net, penalty net = dot (repeat 1 (length net)) (map cost net).
Proof. induction net as [|[w v] net IH]; simpl; auto. rewrite IH. unfold cost. simpl. ring. Qed.

(** each neuron counted be_i times; those counted 0 times are left out *)
Fixpoint recount (be : list R) (net : network) : network :=
  match be, net with
  | b :: be', (w, v) :: net' =>
      if Req_EM_T b 0 then recount be' net' else (vscale (sqrt b) w, sqrt b * v) :: recount be' net'
  | _, _ => [] end.
Lemma recount_out z : forall be net, Forall (Rle 0) be -> length be = length net ->
  out (recount be net) z = dot be (map (effect z) net).
Proof.
  induction be as [|b be IH]; intros [|[w v] net] F L; simpl in *; try discriminate; auto.
  assert (F0 := Forall_inv F). assert (F1 := Forall_inv_tail F). simpl in F0. specialize (IH net F1 ltac:(lia)).
  destruct (Req_EM_T b 0) as [->|ne]; [rewrite IH; ring|]. simpl. rewrite IH, dot_scale, relu_scale by apply sqrt_pos.
  unfold effect. simpl. pose proof (sqrt_sqrt b F0) as S. rewrite <- S at 3. ring.
Qed.
Lemma recount_penalty : forall be net, Forall (Rle 0) be -> length be = length net ->
  penalty (recount be net) = dot be (map cost net).
Proof.
  induction be as [|b be IH]; intros [|[w v] net] F L; simpl in *; try discriminate; auto.
  assert (F0 := Forall_inv F). assert (F1 := Forall_inv_tail F). simpl in F0. specialize (IH net F1 ltac:(lia)).
  destruct (Req_EM_T b 0) as [->|ne]; [rewrite IH; ring|]. simpl. rewrite IH, dot_scale2.
  unfold cost. simpl. pose proof (sqrt_sqrt b F0) as S. replace (sqrt b * v * (sqrt b * v)) with (sqrt b * sqrt b * (v
    * v)) by ring.
  rewrite S. ring.
Qed.
Lemma recount_wf d : forall be net, well_formed d net -> well_formed d (recount be net).
Proof.
  induction be as [|b be IH]; intros [|[w v] net] W; simpl; try constructor.
  assert (W0 := Forall_inv W). assert (W1 := Forall_inv_tail W). simpl in W0.
  destruct (Req_EM_T b 0); [apply IH; auto|]. constructor; [|apply IH; auto]. simpl. unfold vscale.
  rewrite map_length. auto.
Qed.
Lemma recount_len : forall be net, (length (recount be net) <= length net)%nat.
Proof.
  induction be as [|b be IH]; intros [|[w v] net]; simpl; try lia. specialize (IH net).
  destruct (Req_EM_T b 0); simpl; lia.
Qed.
Lemma recount_shorter : forall be net, length be = length net -> In 0 be -> (length (recount be net) < length net)%nat.
Proof.
  induction be as [|b be IH]; intros [|[w v] net] L I; simpl in *; try discriminate; try tauto.
  destruct (Req_EM_T b 0) as [e|ne]; [pose proof (recount_len be net); lia|].
  destruct I as [I|I]; [congruence|]. simpl. specialize (IH net ltac:(lia) I). lia.
Qed.

Lemma smallest : forall l : list R, l <> [] -> exists x, In x l /\ forall y, In y l -> x <= y.
Proof.
  induction l as [|a l IH]; intros H; [congruence|]. destruct l as [|b l].
  - exists a. split; [left; auto|]. intros y [<-|[]]. lra.
  - destruct IH as (x & I & M); [discriminate|]. destruct (Rle_lt_dec a x) as [h|h].
    + exists a. split; [left; auto|]. intros y [<-|Iy]; [lra|]. specialize (M y Iy). lra.
    + exists x. split; [right; auto|]. intros y [<-|Iy]; [lra|auto].
Qed.

Lemma lose_a_neuron rows d net : well_formed d net -> (S (length rows) < length net)%nat ->
  exists net', well_formed d net' /\ (length net' < length net)%nat /\
    (forall z, In z rows -> out net' z = out net z) /\ penalty net' = penalty net.
Proof.
  intros W L.
  set (coord := fun (nr : neuron) (j : nat) => if Nat.eqb j (length rows) then cost nr else effect (nth j rows []) nr).
  destruct (kernel (S (length rows)) (map coord net)) as (al0 & La0 & (x0 & Ix0 & Nx0) & E0).
  { rewrite map_length. auto. }
  rewrite map_length in La0.
  assert (K : exists al, length al = length net /\ (exists x, In x al /\ x < 0) /\
    forall j, (j < S (length rows))%nat -> dot al (map (fun nr => coord nr j) net) = 0).
  { assert (E1 : forall j, (j < S (length rows))%nat -> dot al0 (map (fun nr => coord nr j) net) = 0).
    { intros j Hj. specialize (E0 j Hj). rewrite map_map in E0. exact E0. }
    destruct (Rlt_le_dec x0 0) as [h|h]; [exists al0; split; [auto|split; eauto]|].
    exists (vscale (-1) al0). split; [unfold vscale; rewrite map_length; auto|]. split.
    - exists (-1 * x0). split; [apply in_map; auto|lra].
    - intros j Hj. rewrite dot_comm, dot_scale, dot_comm, E1 by auto. ring. }
  clear al0 La0 x0 Ix0 Nx0 E0. destruct K as (al & La & (x0 & Ix0 & Nx0) & E0).
  destruct (smallest al) as (m & Im & Hm); [intros ->; destruct Ix0|].
  assert (Hm0 : m < 0) by (specialize (Hm x0 Ix0); lra).
  set (t := - / m). assert (Ht : 0 < t) by (unfold t; pose proof (Rinv_lt_0_compat m Hm0); lra).
  assert (Htm : t * m = -1) by (unfold t; field; lra).
  set (be := map (fun a => 1 + t * a) al).
  assert (Fb : Forall (Rle 0) be).
  { unfold be. rewrite Forall_map. apply Forall_forall. intros a Ia. specialize (Hm a Ia). nra. }
  assert (Lb : length be = length net) by (unfold be; rewrite map_length; auto).
  assert (Zb : In 0 be).
  { unfold be. apply in_map_iff. exists m. split; auto. lra. }
  assert (X : forall F : neuron -> R, dot al (map F net) = 0 -> dot be (map F net) = dot (repeat 1 (length net)) (map
    F net)).
  { assert (Y : forall (a l : list R), length a = length l ->
      dot (map (fun a => 1 + t * a) a) l = dot (repeat 1 (length l)) l + t * dot a l).
    { clear. induction a; intros [|b l] H; simpl in *; try discriminate; try ring. rewrite IHa by lia. ring. }
    intros F E. unfold be. rewrite Y by (rewrite map_length; auto). rewrite E, map_length. ring. }
  exists (recount be net). split; [apply recount_wf; auto|]. split; [apply recount_shorter; auto|]. split.
  - intros z Iz. rewrite recount_out, out_effect by auto. apply X.
    apply (In_nth rows z []) in Iz. destruct Iz as (j & Hj & <-). specialize (E0 j ltac:(lia)). unfold coord in E0.
    destruct (Nat.eqb_spec j (length rows)); [lia|]. exact E0.
  - rewrite recount_penalty, penalty_cost by auto. apply X.
    specialize (E0 (length rows) ltac:(lia)). unfold coord in E0. rewrite Nat.eqb_refl in E0. exact E0.
Qed.

Lemma loss_ext net net' : forall rows y, (forall z, In z rows -> out net' z = out net z) -> loss rows y net' = loss
  rows y net.
Proof.
  induction rows as [|z rows IH]; intros [|yk y] H; simpl; auto.
  rewrite H by (simpl; auto). rewrite IH; auto. intros; apply H; simpl; auto.
Qed.
(** Width n + 1 suffices: every network has one of width at most n + 1 with the same objective. *)
Theorem narrow_enough lam rows y d : forall net, well_formed d net -> exists net', well_formed d net' /\
  (length net' <= S (length rows))%nat /\ J lam rows y net' = J lam rows y net.
Proof.
  assert (A : forall k net, (length net <= k)%nat -> well_formed d net -> exists net', well_formed d net' /\
    (length net' <= S (length rows))%nat /\ J lam rows y net' = J lam rows y net).
  { induction k as [|k IH]; intros net Lk W.
    - exists net. repeat split; auto. lia.
    - destruct (le_lt_dec (length net) (S (length rows))) as [h|h]; [exists net; auto|].
      destruct (lose_a_neuron rows d net W h) as (n1 & W1 & L1 & O1 & P1).
      destruct (IH n1 ltac:(lia) W1) as (n2 & W2 & L2 & J2). exists n2. repeat split; auto.
      rewrite J2. unfold J. rewrite P1, (loss_ext net n1); auto. }
  intros net W. apply (A (length net)); auto.
Qed.

(** ** A Lipschitz function on a box has a minimum *)
Definition in_box (k : nat) (B : R) (x : list R) : Prop := length x = k /\ Forall (fun a => Rabs a <= B) x.
Fixpoint dist (x y : list R) : R := match x, y with a :: x', b :: y' => Rabs (a - b) + dist x' y' | _, _ => 0 end.
Lemma dist_nonneg : forall x y, 0 <= dist x y.
Proof. induction x; destruct y; simpl; try lra. specialize (IHx y). pose proof (Rabs_pos (a - r)). lra. Qed.
Definition lipschitz_on (k : nat) (B : R) (f : list R -> R) (K : R) : Prop :=
  0 <= K /\ forall x y, in_box k B x -> in_box k B y -> Rabs (f x - f y) <= K * dist x y.
Lemma box_diameter B : forall k x y, in_box k B x -> in_box k B y -> dist x y <= 2 * B * INR k.
Proof.
  induction k as [|k IH]; intros x y [Lx Fx] [Ly Fy]; destruct x, y; try discriminate; [simpl; lra|].
  assert (X := Forall_inv Fx). assert (Y := Forall_inv Fy). simpl in X, Y.
  specialize (IH x y ltac:(split; [simpl in *; lia|exact (Forall_inv_tail Fx)]) ltac:(split; [simpl in *; lia|exact
    (Forall_inv_tail Fy)])).
  rewrite S_INR. cbn [dist]. pose proof (Rabs_triang r (- r0)) as T. rewrite Rabs_Ropp in T.
  replace (r - r0) with (r + - r0) by ring. lra.
Qed.
Definition clamp (B t : R) : R := Rmax (- B) (Rmin t B).
Lemma clamp_in B t : 0 <= B -> Rabs (clamp B t) <= B.
Proof. intros H. unfold clamp, Rmax, Rmin. apply Rabs_le. repeat destruct Rle_dec; lra. Qed.
Lemma clamp_id B t : Rabs t <= B -> clamp B t = t.
Proof.
  intros H. pose proof (Rle_abs t). pose proof (Rle_abs (- t)) as N. rewrite Rabs_Ropp in N.
  unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
Qed.
Lemma clamp_lip B s t : 0 <= B -> Rabs (clamp B s - clamp B t) <= Rabs (s - t).
Proof.
  intros HB. unfold clamp, Rmax, Rmin. unfold Rabs. repeat destruct Rle_dec; repeat destruct Rcase_abs; lra.
Qed.
Lemma zeros_in_box k B : 0 <= B -> in_box k B (repeat 0 k).
Proof.
  intros H. split; [apply repeat_length|]. apply Forall_forall. intros a I. apply repeat_spec in I. subst.
  rewrite Rabs_R0. auto.
Qed.
Lemma cons_in_box k B t x : Rabs t <= B -> in_box k B x -> in_box (S k) B (t :: x).
Proof. intros Ht [L F]. split; [simpl; congruence|constructor; auto]. Qed.

Theorem box_minimum B : 0 <= B -> forall k f K, lipschitz_on k B f K ->
  exists x, in_box k B x /\ forall y, in_box k B y -> f x <= f y.
Proof.
  intros HB. induction k as [|k IH]; intros f K [HK Lip].
  - exists []. split; [split; auto|]. intros y [Ly _]. destruct y; [lra|discriminate].
  - set (E := fun t r => exists x, in_box k B x /\ r = - f (clamp B t :: x)).
    assert (inb : forall t x, in_box k B x -> in_box (S k) B (clamp B t :: x)).
    { intros t x I. apply cons_in_box; auto. apply clamp_in; auto. }
    assert (ne : forall t, exists r, E t r).
    { intros t. exists (- f (clamp B t :: repeat 0 k)). exists (repeat 0 k). split; auto. apply zeros_in_box; auto. }
    assert (bd : forall t, bound (E t)).
    { intros t. exists (- f (clamp B t :: repeat 0 k) + K * (2 * B * INR (S k))). intros r (x & Ix & ->).
      pose proof (Lip _ _ (inb t x Ix) (inb t _ (zeros_in_box k B HB))) as A.
      pose proof (box_diameter B _ _ _ (inb t x Ix) (inb t _ (zeros_in_box k B HB))) as D.
      pose proof (Rle_abs (- (f (clamp B t :: x) - f (clamp B t :: repeat 0 k)))) as A'. rewrite Rabs_Ropp in A'.
      assert (K * dist (clamp B t :: x) (clamp B t :: repeat 0 k) <= K * (2 * B * INR (S k))) by (apply
        Rmult_le_compat_l; auto).
      lra. }
    set (g := fun t => proj1_sig (completeness (E t) (bd t) (ne t))).
    assert (g_lub : forall t, is_lub (E t) (g t)).
    { intros t. unfold g. exact (proj2_sig (completeness (E t) (bd t) (ne t))). }
    assert (g_lip : forall s t, g s <= g t + K * Rabs (s - t)).
    { intros s t. apply (proj2 (g_lub s)). intros r (x & Ix & ->).
      assert (U := proj1 (g_lub t) (- f (clamp B t :: x)) (ex_intro _ x (conj Ix eq_refl))).
      pose proof (Lip _ _ (inb t x Ix) (inb s x Ix)) as A. cbn [dist] in A.
      assert (D0 : dist x x = 0).
      { clear. induction x; simpl; auto. rewrite IHx. replace (a - a) with 0 by ring. rewrite Rabs_R0. ring. }
      rewrite D0, Rplus_0_r in A.
      pose proof (Rle_abs (f (clamp B t :: x) - f (clamp B s :: x))). pose proof (clamp_lip B t s HB) as C.
      rewrite (Rabs_minus_sym s t).
      assert (K * Rabs (clamp B t - clamp B s) <= K * Rabs (t - s)) by (apply Rmult_le_compat_l; auto). lra. }
    destruct (continuity_ab_maj g (- B) B) as (t0 & Max & Ht0); [lra| |].
    { intros c _ eps Heps. exists (eps / (K + 1)). split; [apply Rdiv_lt_0_compat; lra|].
      intros x [_ Hx]. unfold dist in Hx. simpl in Hx. simpl. unfold R_dist in *.
      pose proof (g_lip x c) as A1. pose proof (g_lip c x) as A2. rewrite (Rabs_minus_sym c x) in A2.
      assert (H : K * Rabs (x - c) < eps).
      { pose proof (Rabs_pos (x - c)). apply Rle_lt_trans with ((K + 1) * Rabs (x - c)); [nra|].
        apply Rlt_le_trans with ((K + 1) * (eps / (K + 1))); [apply Rmult_lt_compat_l; lra|].
        apply Req_le. field. lra. }
      apply Rabs_def1; lra. }
    assert (Hb0 : Rabs t0 <= B) by (apply Rabs_le; lra).
    destruct (IH (fun x => f (t0 :: x)) K) as (x0 & Ix0 & M0).
    { split; auto. intros x y Ix Iy.
      pose proof (Lip _ _ (cons_in_box k B t0 x Hb0 Ix) (cons_in_box k B t0 y Hb0 Iy)) as A.
      cbn [dist] in A. replace (t0 - t0) with 0 in A by ring. rewrite Rabs_R0, Rplus_0_l in A. exact A. }
    exists (t0 :: x0). split; [apply cons_in_box; auto|]. intros [|t y] [Ly Fy]; [discriminate|].
    assert (Ht := Forall_inv Fy). simpl in Ht. assert (Iy : in_box k B y) by (split; [simpl in Ly; lia|exact
      (Forall_inv_tail Fy)]).
    assert (U := proj1 (g_lub t) (- f (clamp B t :: y)) (ex_intro _ y (conj Iy eq_refl))).
    rewrite (clamp_id B t Ht) in U.
    assert (G0 : g t0 <= - f (t0 :: x0)).
    { apply (proj2 (g_lub t0)). intros r (x & Ix & ->). rewrite clamp_id by auto. specialize (M0 x Ix). lra. }
    assert (Hin : - B <= t <= B).
    { pose proof (Rle_abs t). pose proof (Rle_abs (- t)) as N. rewrite Rabs_Ropp in N. lra. }
    specialize (Max t Hin). lra.
Qed.

(** ** The objective is Lipschitz on every box *)
Definition tame (k : nat) (B : R) (f : list R -> R) : Prop := exists K, lipschitz_on k B f K.
Section Tame.
Variables (k : nat) (B : R).
Hypothesis HB : 0 <= B.
Lemma tame_bounded f : tame k B f -> exists M, 0 <= M /\ forall x, in_box k B x -> Rabs (f x) <= M.
Proof.
  intros (K & HK & L). exists (Rabs (f (repeat 0 k)) + K * (2 * B * INR k)). split.
  - pose proof (Rabs_pos (f (repeat 0 k))). pose proof (pos_INR k).
    assert (0 <= K * (2 * B * INR k)) by (repeat apply Rmult_le_pos; lra). lra.
  - intros x Ix. assert (I0 := zeros_in_box k B HB). pose proof (L x _ Ix I0). pose proof (box_diameter B k x _ Ix I0).
    assert (K * dist x (repeat 0 k) <= K * (2 * B * INR k)) by (apply Rmult_le_compat_l; auto).
    pose proof (Rabs_triang (f x - f (repeat 0 k)) (f (repeat 0 k))) as T.
    replace (f x - f (repeat 0 k) + f (repeat 0 k)) with (f x) in T by ring. lra.
Qed.
Lemma tame_const c : tame k B (fun _ => c).
Proof.
  exists 0. split; [lra|]. intros x y _ _. replace (c - c) with 0 by ring. rewrite Rabs_R0. lra.
Qed.
Lemma tame_nth i : tame k B (fun x => nth i x 0).
Proof.
  exists 1. split; [lra|]. intros x y [Lx _] [Ly _]. rewrite Rmult_1_l. assert (L : length x = length y) by congruence.
  clear Lx Ly. revert i y L. induction x as [|a x IH]; intros i [|b y] L; try discriminate.
  - destruct i; simpl; replace (0 - 0) with 0 by ring; rewrite Rabs_R0; lra.
  - destruct i as [|i]; simpl; [pose proof (dist_nonneg x y); lra|].
    specialize (IH i y ltac:(simpl in L; lia)). pose proof (Rabs_pos (a - b)). lra.
Qed.
Lemma tame_add f g : tame k B f -> tame k B g -> tame k B (fun x => f x + g x).
Proof.
  intros (K & HK & L) (K' & HK' & L'). exists (K + K'). split; [lra|]. intros x y Ix Iy.
  replace (f x + g x - (f y + g y)) with ((f x - f y) + (g x - g y)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. specialize (L x y Ix Iy). specialize (L' x y Ix Iy). lra.
Qed.
Lemma tame_mul f g : tame k B f -> tame k B g -> tame k B (fun x => f x * g x).
Proof.
  intros Tf Tg. destruct (tame_bounded f Tf) as (M & HM & Bf). destruct (tame_bounded g Tg) as (M' & HM' & Bg).
  destruct Tf as (K & HK & L), Tg as (K' & HK' & L'). exists (K * M' + M * K'). split; [nra|]. intros x y Ix Iy.
  replace (f x * g x - f y * g y) with ((f x - f y) * g x + f y * (g x - g y)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
  specialize (L x y Ix Iy). specialize (L' x y Ix Iy). specialize (Bf y Iy). specialize (Bg x Ix).
  pose proof (Rabs_pos (f x - f y)). pose proof (Rabs_pos (g x - g y)). pose proof (Rabs_pos (f y)).
  pose proof (Rabs_pos (g x)).
  pose proof (dist_nonneg x y).
  assert (Rabs (f x - f y) * Rabs (g x) <= K * dist x y * M') by (apply Rmult_le_compat; auto).
  assert (Rabs (f y) * Rabs (g x - g y) <= M * (K' * dist x y)) by (apply Rmult_le_compat; auto). lra.
Qed.
Lemma tame_relu f : tame k B f -> tame k B (fun x => relu (f x)).
Proof.
  intros (K & HK & L). exists K. split; auto. intros x y Ix Iy. eapply Rle_trans; [|apply (L x y Ix Iy)].
  unfold relu, Rmax, Rabs. repeat destruct Rle_dec; repeat destruct Rcase_abs; lra.
Qed.
Lemma tame_ext f g : (forall x, f x = g x) -> tame k B f -> tame k B g.
Proof. intros E (K & HK & L). exists K. split; auto. intros x y Ix Iy. rewrite <- !E. auto. Qed.

(** a network of width m whose weights are the entries of x, from entry i on *)
Fixpoint decode (d m i : nat) (x : list R) : network :=
  match m with
  | O => []
  | S m' => (map (fun l => nth (i + l) x 0) (seq 0 d), nth (i + d) x 0) :: decode d m' (i + d + 1) x
  end.
Lemma decode_wf d x : forall m i, well_formed d (decode d m i x).
Proof.
  induction m; intros i; simpl; constructor; [|apply IHm]. simpl. rewrite map_length, seq_length. auto.
Qed.
Lemma decode_len d x : forall m i, length (decode d m i x) = m.
Proof. induction m; intros i; simpl; auto. Qed.
Lemma tame_dot z : forall (l : list nat) i, tame k B (fun x => dot z (map (fun j => nth (i + j) x 0) l)).
Proof.
  induction z as [|a z IH]; intros l i; simpl; [apply tame_const|]. destruct l as [|j l]; simpl; [apply tame_const|].
  apply tame_add; [|apply IH]. apply tame_mul; [apply tame_const|apply tame_nth].
Qed.
Lemma tame_dot2 : forall (l : list nat) i,
  tame k B (fun x => dot (map (fun j => nth (i + j) x 0) l) (map (fun j => nth (i + j) x 0) l)).
Proof.
  induction l as [|j l IH]; intros i; simpl; [apply tame_const|].
  apply tame_add; [|apply IH]. apply tame_mul; apply tame_nth.
Qed.
Lemma tame_out d z : forall m i, tame k B (fun x => out (decode d m i x) z).
Proof.
  induction m as [|m IH]; intros i; simpl; [apply tame_const|].
  apply tame_add; [|apply IH]. apply tame_mul; [apply tame_nth|apply tame_relu, tame_dot].
Qed.
Lemma tame_penalty d : forall m i, tame k B (fun x => penalty (decode d m i x)).
Proof.
  induction m as [|m IH]; intros i; simpl; [apply tame_const|].
  apply tame_add; [|apply IH]. apply tame_add; [apply tame_dot2|]. apply tame_mul; apply tame_nth.
Qed.
Lemma tame_loss d m i : forall rows y, tame k B (fun x => loss rows y (decode d m i x)).
Proof.
  induction rows as [|z rows IH]; intros [|yk y]; simpl; try apply tame_const.
  apply tame_add; [|apply IH].
  apply (tame_ext (fun x => (out (decode d m i x) z + - yk) * (out (decode d m i x) z + - yk))); [intros; ring|].
  apply tame_mul; apply tame_add; try apply tame_out; apply tame_const.
Qed.
Lemma tame_J lam rows y d m : tame k B (fun x => J lam rows y (decode d m 0 x)).
Proof.
  unfold J. apply tame_add; (apply tame_mul; [apply tame_const|]); [apply tame_loss|apply tame_penalty].
Qed.
End Tame.

(** ** Networks as points of a box *)
Fixpoint encode (net : network) : list R := match net with [] => [] | (w, v) :: net' => w ++ v :: encode net' end.
Lemma encode_len d : forall net, well_formed d net -> length (encode net) = ((d + 1) * length net)%nat.
Proof.
  induction net as [|[w v] net IH]; intros W; simpl; [lia|]. assert (W0 := Forall_inv W). simpl in W0.
  rewrite app_length. simpl. rewrite (IH (Forall_inv_tail W)). lia.
Qed.
Lemma read_back (w r : list R) : map (fun l => nth l (w ++ r) 0) (seq 0 (length w)) = w.
Proof.
  induction w as [|a w IH]; simpl; auto. f_equal. rewrite <- seq_shift, map_map. exact IH.
Qed.
Lemma decode_shift d pre x : forall m i, decode d m (length pre + i) (pre ++ x) = decode d m i x.
Proof.
  induction m as [|m IH]; intros i; simpl; auto. f_equal; [f_equal|].
  - apply map_ext. intros l. rewrite <- Nat.add_assoc. apply app_nth2_plus.
  - rewrite <- Nat.add_assoc. apply app_nth2_plus.
  - replace (length pre + i + d + 1)%nat with (length pre + (i + d + 1))%nat by lia. apply IH.
Qed.
Definition zero_neuron (d : nat) : neuron := (repeat 0 d, 0).
Lemma decode_zeros d k : forall m i, decode d m i (repeat 0 k) = repeat (zero_neuron d) m.
Proof.
  assert (N : forall j, nth j (repeat 0 k) 0 = 0) by (induction k; intros [|j]; simpl; auto).
  assert (A : forall i n a, map (fun l => nth (i + l) (repeat 0 k) 0) (seq a n) = repeat 0 n).
  { intros i. induction n as [|n IH]; intros a; simpl; auto. rewrite N, IH. auto. }
  induction m as [|m IH]; intros i; simpl; auto. rewrite IH, N, A. auto.
Qed.
Lemma decode_encode d k : forall net j, well_formed d net ->
  decode d (length net + j) 0 (encode net ++ repeat 0 k) = net ++ repeat (zero_neuron d) j.
Proof.
  induction net as [|[w v] net IH]; intros j W; simpl.
  - apply decode_zeros.
  - assert (W0 := Forall_inv W). simpl in W0. rewrite <- app_assoc. cbn [app].
    set (x := w ++ v :: encode net ++ repeat 0 k).
    assert (E1 : map (fun l => nth l x 0) (seq 0 d) = w) by (unfold x; rewrite <- W0; apply read_back).
    assert (E2 : nth d x 0 = v).
    { unfold x. rewrite <- W0. rewrite <- (Nat.add_0_r (length w)) at 1. rewrite app_nth2_plus. reflexivity. }
    assert (E3 : decode d (length net + j) (d + 1) x = net ++ repeat (zero_neuron d) j).
    { replace (d + 1)%nat with (length (w ++ [v]) + 0)%nat by (rewrite app_length; simpl; lia).
      replace x with ((w ++ [v]) ++ (encode net ++ repeat 0 k)) by (unfold x; rewrite <- app_assoc; reflexivity).
      rewrite decode_shift. apply IH. exact (Forall_inv_tail W). }
    rewrite E1, E2, E3. reflexivity.
Qed.
Lemma dot_zeros_r z : forall d, dot z (repeat 0 d) = 0.
Proof. induction z; intros [|d]; simpl; auto. rewrite IHz. ring. Qed.
Lemma zeros_out d z : forall j, out (repeat (zero_neuron d) j) z = 0.
Proof.
  induction j as [|j IH]; [reflexivity|].
  change (0 * relu (dot z (repeat 0 d)) + out (repeat (zero_neuron d) j) z = 0). rewrite IH. ring.
Qed.
Lemma zeros_penalty d : forall j, penalty (repeat (zero_neuron d) j) = 0.
Proof.
  induction j as [|j IH]; [reflexivity|].
  change (dot (repeat 0 d) (repeat 0 d) + 0 * 0 + penalty (repeat (zero_neuron d) j) = 0).
  rewrite IH, dot_zeros_r. ring.
Qed.
Lemma J_zeros lam rows y d net j : J lam rows y (net ++ repeat (zero_neuron d) j) = J lam rows y net.
Proof.
  assert (O : forall z, out (net ++ repeat (zero_neuron d) j) z = out net z).
  { intros z. induction net as [|[w v] net IH]; simpl; [apply zeros_out|rewrite IH; auto]. }
  assert (P : penalty (net ++ repeat (zero_neuron d) j) = penalty net).
  { clear O. induction net as [|[w v] net IH]; simpl; [apply zeros_penalty|rewrite IH; auto]. }
  unfold J. rewrite P, (loss_ext net); auto.
Qed.
Lemma loss_nonneg net : forall rows y, 0 <= loss rows y net.
Proof. induction rows; intros [|yk y]; cbn [loss]; try lra. pose proof (pow2_ge_0 (out net a - yk)).
specialize (IHrows y). lra. Qed.
Lemma penalty_nonneg net : 0 <= penalty net.
Proof. induction net as [|[w v] net IH]; simpl; [lra|]. pose proof (dot_self_nonneg w). nra. Qed.
Lemma entries_bounded Q : 0 <= Q -> forall net, penalty net <= Q -> Forall (fun a => Rabs a <= Q + 1) (encode net).
Proof.
  intros HQ. assert (One : forall a, a * a <= Q -> Rabs a <= Q + 1) by (intros a H; apply abs_le_of_sq; nra).
  assert (Ent : forall w, dot w w <= Q -> Forall (fun a => Rabs a <= Q + 1) w).
  { induction w as [|a w IH]; intros H; constructor; simpl in H; pose proof (dot_self_nonneg w).
    - apply One. nra.
    - apply IH. nra. }
  induction net as [|[w v] net IH]; intros H; simpl in *; [constructor|].
  pose proof (penalty_nonneg net). pose proof (dot_self_nonneg w).
  apply Forall_app. split; [apply Ent; nra|]. constructor; [apply One; nra|]. apply IH. nra.
Qed.

(** ** Existence *)
(** For every width m there is a network of m neurons that is best among all networks of at most m neurons. *)
Theorem best_of_width lam rows y d m : 0 < lam -> exists net, well_formed d net /\ length net = m /\
  forall net', well_formed d net' -> (length net' <= m)%nat -> J lam rows y net <= J lam rows y net'.
Proof.
  intros Hl. set (J0 := J lam rows y []).
  assert (H0 : 0 <= J0).
  { unfold J0, J. cbn [penalty]. pose proof (loss_nonneg [] rows y). lra. }
  set (Q := 2 * J0 / lam). assert (HQ : 0 <= Q) by (unfold Q; apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat;
    auto]).
  set (k := ((d + 1) * m)%nat). assert (HB : 0 <= Q + 1) by lra.
  destruct (tame_J k (Q + 1) HB lam rows y d m) as (K & LK).
  destruct (box_minimum (Q + 1) HB k _ K LK) as (x & Ix & Mx).
  exists (decode d m 0 x). split; [apply decode_wf|]. split; [apply decode_len|]. intros net' W' L'.
  assert (Base : J lam rows y (decode d m 0 x) <= J0).
  { specialize (Mx _ (zeros_in_box k (Q + 1) HB)). rewrite decode_zeros in Mx.
    rewrite <- (app_nil_l (repeat (zero_neuron d) m)), J_zeros in Mx. exact Mx. }
  destruct (Rle_lt_dec J0 (J lam rows y net')) as [h|h]; [lra|].
  assert (P : penalty net' <= Q).
  { unfold J in h. pose proof (loss_nonneg net' rows y). unfold Q.
    apply Rmult_le_reg_l with (lam / 2); [lra|]. replace (lam / 2 * (2 * J0 / lam)) with J0 by (field; lra). lra. }
  pose proof (entries_bounded Q HQ net' P) as FE. pose proof (encode_len d net' W') as LE.
  set (j := (m - length net')%nat). set (x' := encode net' ++ repeat 0 (k - length (encode net'))).
  assert (Ix' : in_box k (Q + 1) x').
  { unfold x'. split.
    - rewrite app_length, repeat_length. unfold k. rewrite LE. nia.
    - apply Forall_app. split; auto. apply zeros_in_box; auto. }
  specialize (Mx x' Ix').
  assert (E : decode d m 0 x' = net' ++ repeat (zero_neuron d) j).
  { unfold x'. replace m with (length net' + j)%nat at 1 by (unfold j; lia). apply decode_encode; auto. }
  rewrite E, J_zeros in Mx. exact Mx.
Qed.

(** An optimal network exists, with at most n + 1 neurons. *)
Theorem optimal_exists lam rows y d : 0 < lam -> exists net, optimal lam rows y d net /\ length net = S (length rows).
Proof.
  intros Hl. destruct (best_of_width lam rows y d (S (length rows)) Hl) as (net & W & L & M).
  exists net. split; auto. split; auto. intros net' W'.
  destruct (narrow_enough lam rows y d net' W') as (n1 & W1 & L1 & J1). rewrite <- J1. apply M; auto.
Qed.
