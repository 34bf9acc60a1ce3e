(** * Uniqueness: all optimal networks put the same weight on every ray

    An active neuron w in a fine leaf (D, c) has c.w >= D (lambda - mu) |w| and |c| <= D lambda: it is all but parallel
    to c. So the neurons of a class see the rows off the kinks of c from one side, and on the kinks the residual is
    concave, or they lie on the tips of their leaf, which are on one side of every row: they are parallel. And sums of
    rows that tell the c apart tell the classes apart. *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool Arith.
From Relu Require Import Spec Vectors Duality Checker Cones Soundness Upper Strict Tips.
Import ListNotations.
Open Scope R_scope.

(** ** Finite sums *)
Fixpoint sumn (m : nat) (f : nat -> R) : R :=
  match m with O => 0 | S m' => sumn m' f + f m' end.
Lemma sumn_ext m f g : (forall i, (i < m)%nat -> f i = g i) -> sumn m f = sumn m g.
Proof. induction m; simpl; intros E; auto. rewrite IHm, E; auto. Qed.
Lemma sumn_le m f g : (forall i, (i < m)%nat -> f i <= g i) -> sumn m f <= sumn m g.
Proof. induction m; simpl; intros E; [lra|]. assert (sumn m f <= sumn m g) by auto. specialize (E m ltac:(lia)). lra.
Qed.
Lemma sumn_lt m f g j : (forall i, (i < m)%nat -> f i <= g i) -> (j < m)%nat -> f j < g j ->
  sumn m f < sumn m g.
Proof.
  induction m; simpl; intros E Hj L; [lia|]. destruct (Nat.eq_dec j m) as [->|ne].
  - assert (sumn m f <= sumn m g) by (apply sumn_le; auto). lra.
  - assert (sumn m f < sumn m g) by (apply IHm; auto; lia). specialize (E m ltac:(lia)). lra.
Qed.
Lemma sumn_plus m f g : sumn m (fun i => f i + g i) = sumn m f + sumn m g.
Proof. induction m; simpl; [ring|rewrite IHm; ring]. Qed.
Lemma sumn_zero m f : (forall i, (i < m)%nat -> f i = 0) -> sumn m f = 0.
Proof. induction m; simpl; intros E; auto. rewrite IHm, E by auto. ring. Qed.
Lemma sumn_swap m n f : sumn m (fun i => sumn n (fun j => f i j)) = sumn n (fun j => sumn m (fun i => f i j)).
Proof.
  induction m; simpl; [rewrite sumn_zero; auto|]. rewrite IHm, <- sumn_plus. reflexivity.
Qed.
Lemma sumn_abs m f : Rabs (sumn m f) <= sumn m (fun i => Rabs (f i)).
Proof. induction m; simpl; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. lra. Qed.
Definition off (j : nat) (f : nat -> R) (i : nat) : R := if Nat.eqb i j then 0 else f i.
Lemma sumn_off m f j : (j < m)%nat -> sumn m f = f j + sumn m (off j f).
Proof.
  induction m; simpl; intros Hj; [lia|]. unfold off at 2. destruct (Nat.eq_dec j m) as [->|ne].
  - rewrite Nat.eqb_refl. rewrite (sumn_ext m (off m f) f); [ring|].
    intros i Hi. unfold off. destruct (Nat.eqb_spec i m); auto; lia.
  - destruct (Nat.eqb_spec m j); [lia|]. rewrite IHm by lia. ring.
Qed.

(** strictly column dominant => a kernel vector's columns vanish *)
Lemma dominance m (M : nat -> nat -> R) (Q : nat -> Prop) :
  (forall i, (i < m)%nat -> sumn m (fun j => M i j) = 0) ->
  (forall j, (j < m)%nat -> Q j \/ sumn m (off j (fun i => Rabs (M i j))) < Rabs (M j j)) ->
  (forall j, Q j -> forall i, M i j = 0) -> forall j, (j < m)%nat -> Q j.
Proof.
  intros Z D V j Hj. destruct (D j Hj) as [q|s]; auto. exfalso.
  assert (A : sumn m (fun i => Rabs (M i i)) <= sumn m (fun i => sumn m (off i (fun j => Rabs (M i j))))).
  { apply sumn_le. intros i Hi. specialize (Z i Hi). rewrite (sumn_off m _ i Hi) in Z.
    replace (M i i) with (- sumn m (off i (fun j0 => M i j0))) by lra. rewrite Rabs_Ropp.
    eapply Rle_trans; [apply sumn_abs|]. apply sumn_le. intros k _. unfold off.
    destruct (Nat.eqb k i); [rewrite Rabs_R0|]; lra. }
  assert (B : sumn m (fun i => sumn m (off i (fun j => Rabs (M i j)))) =
              sumn m (fun j => sumn m (off j (fun i => Rabs (M i j))))).
  { unfold off. rewrite sumn_swap. apply sumn_ext. intros a _. apply sumn_ext. intros b _.
    rewrite Nat.eqb_sym. reflexivity. }
  assert (C : sumn m (fun j => sumn m (off j (fun i => Rabs (M i j)))) < sumn m (fun i => Rabs (M i i))).
  { apply (sumn_lt m _ _ j); auto. intros k Hk. destruct (D k Hk) as [q|s']; [|lra].
    rewrite (sumn_zero m); [apply Rabs_pos|]. intros i _. unfold off.
    destruct (Nat.eqb i k); auto. rewrite (V k q). apply Rabs_R0. }
  lra.
Qed.

(** ** Parallel active vectors *)
Lemma sq_zero_eq a b : forall u1 u2, length u1 = length u2 ->
  dot (vscale a u1) (vscale a u1) + dot (vscale b u2) (vscale b u2) - 2 * dot (vscale a u1) (vscale b u2) <= 0 ->
  vscale a u1 = vscale b u2.
Proof.
  assert (N : forall u1 u2, length u1 = length u2 ->
    0 <= dot (vscale a u1) (vscale a u1) + dot (vscale b u2) (vscale b u2) - 2 * dot (vscale a u1) (vscale b u2)).
  { induction u1; intros [|y u2] L; simpl in *; try discriminate; [lra|].
    specialize (IHu1 u2 ltac:(lia)). pose proof (Rle_0_sqr (a * a0 - b * y)). unfold Rsqr in *. lra. }
  induction u1 as [|x u1 IH]; intros [|y u2] L h; simpl in *; try discriminate; auto.
  pose proof (N u1 u2 ltac:(lia)) as N1. pose proof (Rle_0_sqr (a * x - b * y)) as N2. unfold Rsqr in N2.
  f_equal; [|apply IH; [lia|lra]].
  assert (E : (a * x - b * y) * (a * x - b * y) = 0) by lra.
  apply Rmult_integral in E. destruct E; lra.
Qed.

Lemma parallel lam rows r d xi u1 v1 u2 v2 : 0 < lam -> (xi = 1 \/ xi = -1) ->
  (forall u, length u = d -> dual_ok lam rows r u) -> length u1 = d -> length u2 = d ->
  active lam rows r (u1, v1) -> active lam rows r (u2, v2) -> 0 < xi * v1 -> 0 < xi * v2 ->
  xi * hsum rows r u1 + xi * hsum rows r u2 <= xi * hsum rows r (vadd u1 u2) ->
  vscale (xi * v2) u1 = vscale (xi * v1) u2.
Proof.
  intros Hl Hxi D L1 L2 A1 A2 P1 P2 SA.
  assert (N1 : v1 <> 0) by (intros ->; lra). assert (N2 : v2 <> 0) by (intros ->; lra).
  destruct (active_norm _ _ _ _ _ _ Hl D L1 A1 N1) as [Q1 H1].
  destruct (active_norm _ _ _ _ _ _ Hl D L2 A2 N2) as [Q2 H2].
  assert (LL : length u1 = length u2) by congruence.
  assert (Ls : length (vadd u1 u2) = d) by (rewrite vadd_len; auto).
  pose proof (dual_ok_sq _ _ _ _ Hl (D _ Ls)) as S.
  rewrite H1, H2 in SA. set (h := hsum rows r (vadd u1 u2)) in *.
  assert (NN : dot (vadd u1 u2) (vadd u1 u2) = dot u1 u1 + dot u2 u2 + 2 * dot u1 u2).
  { rewrite dot_vadd, (dot_comm (vadd u1 u2) u1), (dot_comm (vadd u1 u2) u2), !dot_vadd by auto.
    rewrite (dot_comm u2 u1). ring. }
  rewrite NN, Q1, Q2 in S.
  assert (X2 : xi * xi = 1) by (destruct Hxi; subst; ring).
  set (a := xi * v1) in *. set (b := xi * v2) in *.
  assert (V1 : v1 * v1 = a * a) by (unfold a; nra). assert (V2 : v2 * v2 = b * b) by (unfold b; nra).
  rewrite V1, V2 in S.
  assert (HH : lam * (a + b) <= xi * h) by (unfold a, b; lra).
  assert (S' : (xi * h) * (xi * h) <= lam * lam * (a * a + b * b + 2 * dot u1 u2)) by nra.
  assert (S2 : lam * (a + b) * (lam * (a + b)) <= (xi * h) * (xi * h)).
  { assert (0 <= lam * (a + b)) by nra. apply Rmult_le_compat; auto. }
  assert (S3 : lam * lam * (a * b) <= lam * lam * dot u1 u2) by nra.
  assert (S4 : a * b <= dot u1 u2) by (apply Rmult_le_reg_l in S3; auto; nra).
  apply sq_zero_eq; auto.
  rewrite !dot_scale2, dot_scale, (dot_comm (vscale b u1)), dot_scale, (dot_comm u2 u1), Q1, Q2, V1, V2.
  assert (0 < a * b) by nra. nra.
Qed.

(** ** The checker *)
(** The fine leaves are gathered into m classes, those below mp of sign +. Each class has a direction, which says on
    which side of a line it is, and sums of rows B, which tell it from the others; the D and c of the leaves have the
    number of their class; each leaf has the number of its D and c, unless it is *null*: no neuron lies in it. s = sn/sd
    bounds the distance of a unit neuron from the direction of its c. *)
Record classes := Classes {
  q_mp : nat;  q_m : nat;  q_dirs : list (list Z);  q_B : list (list Z);
  q_at : list (nat * (Z * list Z));  q_pidx : list nat;  q_nidx : list nat;  q_sn : Z;  q_sd : Z }.
Definition sgn (q : classes) (j : nat) : Z := if Nat.ltb j (q_mp q) then 1%Z else (-1)%Z.
Definition dir (q : classes) (j : nat) : list Z := nth j (q_dirs q) [].

Open Scope Z_scope.
Fixpoint sumnZ (m : nat) (f : nat -> Z) : Z := match m with O => 0 | S m' => sumnZ m' f + f m' end.
Fixpoint hsumZ (rows : list (list Z)) (b g : list Z) : Z :=
  match rows, b with z :: rows', bk :: b' => bk * Z.max 0 (dotZ z g) + hsumZ rows' b' g | _, _ => 0 end.
(** sums over the rows of line g: theta_k |m_k|, and m_k^2 *)
Fixpoint line_weight (g : nat) (mg : list (nat * Z)) (th : list Z) : Z :=
  match mg, th with (k, m) :: mg', t :: th' => (if Nat.eqb k g then t * Z.abs m else 0) + line_weight g mg' th' | _, _
    => 0 end.
Fixpoint line_square (g : nat) (mg : list (nat * Z)) : Z :=
  match mg with [] => 0 | (k, m) :: mg' => (if Nat.eqb k g then m * m else 0) + line_square g mg' end.
(** x is on the side of line z that u is on *)
Definition same_side (u z x : list Z) : bool := if 0 <=? dotZ z u then 0 <=? dotZ z x else dotZ z x <=? 0.

Section Check.
Variables (p : problem) (c : cover) (s : margin) (q : classes).
Let ln := p_lnum p * p_rden p * c_tden c.
(** z.w has the sign of z.c for every neuron w of the class *)
Definition sure (a : Z * list Z) (z : list Z) : bool :=
  dotZ z z * (2 * m_num s * p_lden p) * ((ln * fst a) * (ln * fst a))
  <? dotZ z (snd a) * dotZ z (snd a) * (m_den s * p_lnum p) * (p_lden p * p_lden p).
(** the weight of line g has the sign - xi in every optimal residual *)
Definition concave (xi : Z) (g : nat) : bool :=
  let t := line_weight g (c_merge c) (c_theta c) in let u := m_upper s in
  (xi * t <? 0) && (2 * (u_un u * c_lowd c - c_lown c * u_ud u) * (c_tden c * c_tden c) * line_square g (c_merge c)
                    <=? t * t * (u_ud u * c_lowd c)).
Definition check_at (ja : nat * (Z * list Z)) : bool :=
  let j := fst ja in let D := fst (snd ja) in let v := snd (snd ja) in
  Nat.ltb j (q_m q) && (0 <? D) && Nat.eqb (length v) (p_dim p)
  && (dotZ v v * (p_lden p * p_lden p) <=? (ln * D) * (ln * D))
  && (sumnZ (q_m q) (fun i => if Nat.eqb i j then 0 else Z.abs (hsumZ (p_rows p) (nth i (q_B q) []) v)) * (p_lden p *
    q_sd q)
      + sumnZ (q_m q) (fun i => norm_up (nth i (q_B q) [])) * (q_sn q * Z.sqrt_up (frobeniusZ (p_rows p))) * (ln * D)
      <? hsumZ (p_rows p) (nth j (q_B q) []) v * (p_lden p * q_sd q)).
(** the lines that are neither concave nor surely seen from the side of the class *)
Definition lines : list (nat * list Z) := combine (seq 0 (length (c_reps c))) (c_reps c).
Definition unsure (ja : nat * (Z * list Z)) : list (nat * list Z) :=
  filter (fun gz => negb (sure (snd ja) (snd gz) && same_side (dir q (fst ja)) (snd gz) (snd (snd ja))
                          || concave (sgn q (fst ja)) (fst gz))) lines.
(** |c| < D (lambda - mu) *)
Definition null (x : spot) : bool :=
  let less := p_rden p * c_tden c * fst (snd x) * (p_lnum p * m_den s - m_num s * p_lden p) in
  let den := p_lden p * m_den s in
  dotZ (snd (snd x)) (snd (snd x)) * (den * den) <? less * less.
(** a generator with much room, and one where c.g <= D h(g), on the side of the class of all rows and unsure lines *)
Definition far (D : Z) (g : gen) : bool :=
  2 * p_lnum p * q_sn q * (p_rden p * c_tden c * D) * norm_up (fst g) <=? snd g * (p_lden p * q_sd q).
Definition tip (ja : nat * (Z * list Z)) (U : list (nat * list Z)) (g : gen) : bool :=
  let u := dir q (fst ja) in
  (dotZ (snd (snd ja)) (fst g) <=? fst (snd ja) * (sgn q (fst ja) * hsumZ (p_rows p) (c_theta c) (fst g)))
  && forallb (fun z => same_side u z (fst g)) (p_rows p) && forallb (fun gz => same_side u (snd gz) (fst g)) U.
Definition sided (ja : nat * (Z * list Z)) (U : list (nat * list Z)) (G : list gen) : bool :=
  forallb (fun gz => forallb (fun g : gen => same_side (dir q (fst ja)) (snd gz) (fst g)) G) U
  || forallb (fun g : gen => Nat.leb (length (fst g)) (p_dim p) && (far (fst (snd ja)) g || tip ja U g)) G.
(** the leaves of one sign are null or in classes lo to hi - 1, and on the sides of their class *)
Fixpoint placed (lo hi : nat) (U : list (nat * (Z * list Z) * list (nat * list Z))) (idx : list nat) (A : list spot)
    : bool :=
  match idx, A with
  | [], [] => true
  | k :: idx', x :: A' =>
      (null x ||
       match nth_error U k with None => false | Some (ja, Uk) =>
         Nat.leb lo (fst ja) && Nat.ltb (fst ja) hi && (fst (snd x) =? fst (snd ja))
         && zeroZ (axpy (-1) (snd (snd x)) (snd (snd ja))) && sided ja Uk (fst x) end)
      && placed lo hi U idx' A'
  | _, _ => false end.
Definition unique_ok (A B : list spot) : bool :=
  let U := map (fun ja => (ja, unsure ja)) (q_at q) in
  placed 0 (Nat.min (q_mp q) (q_m q)) U (q_pidx q) A && placed (q_mp q) (q_m q) U (q_nidx q) B
  && (0 <? q_sn q) && (q_sn q <=? q_sd q) && (2 * m_num s * p_lden p * (q_sd q * q_sd q) <=? q_sn q * q_sn q * (m_den
    s *
    p_lnum p))
  && forallb check_at (q_at q).
End Check.
Close Scope Z_scope.
Definition check_unique (p : problem) (c : cover) (s : margin) (q : classes) : bool :=
  match run_strict p c s with None => false | Some (A, B) => unique_ok p c s q A B end.

Lemma sumn_scale k m f : sumn m (fun i => k * f i) = k * sumn m f.
Proof. induction m; simpl; [ring|rewrite IHm; ring]. Qed.
Lemma sumnZ_R m f : IZR (sumnZ m f) = sumn m (fun i => IZR (f i)).
Proof. induction m; simpl; auto. rewrite plus_IZR, IHm. auto. Qed.
Lemma hsumZ_R g : forall rows b, IZR (hsumZ rows b g) = hsum (map iz rows) (iz b) (iz g).
Proof.
  induction rows as [|z rows IH]; intros [|bk b]; simpl; auto. rewrite plus_IZR, mult_IZR, relu_IZR, dotZ_R, IH. auto.
Qed.
Lemma frobeniusZ_R : forall rows, IZR (frobeniusZ rows) = frob (map iz rows).
Proof. induction rows as [|z rows IH]; simpl; auto. rewrite plus_IZR, dotZ_R, IH. auto. Qed.
Lemma hsum_rat rd u : 0 < IZR rd -> forall rows b,
  hsum (map (ratio rd) rows) b u = / IZR rd * hsum (map iz rows) b u.
Proof.
  intros hr. induction rows; destruct b; simpl; try ring.
  rewrite IHrows, ratio_dot, relu_scale by (try lra; left; apply Rinv_0_lt_compat; auto). ring.
Qed.
Lemma hsum_hom rows b : homogeneous (hsum rows b).
Proof.
  intros t u Ht. revert b. induction rows; destruct b; simpl; try ring.
  fold (vscale t u). rewrite dot_scale, IHrows, relu_scale by auto. ring.
Qed.

(** ** Neurons near a class *)
Lemma relu_contracts a b : (relu a - relu b) * (relu a - relu b) <= (a - b) * (a - b).
Proof.
  destruct (Rle_lt_dec 0 a) as [ha|ha]; destruct (Rle_lt_dec 0 b) as [hb|hb].
  - rewrite !relu_pos by auto. lra.
  - rewrite (relu_pos a), (relu_neg b) by lra. assert (0 <= a * - b) by (apply Rmult_le_pos; lra). nra.
  - rewrite (relu_neg a), (relu_pos b) by lra. assert (0 <= - a * b) by (apply Rmult_le_pos; lra). nra.
  - rewrite !relu_neg by lra. pose proof (Rle_0_sqr (a - b)) as S. unfold Rsqr in S. lra.
Qed.
Lemma dot_diff a b : length a = length b -> dot (vsub a b) (vsub a b) = dot a a - 2 * dot a b + dot b b.
Proof. intros L. rewrite dot_vsub by auto. rewrite !(dot_comm _ (vsub a b)), !dot_vsub by auto.
rewrite (dot_comm b a). ring. Qed.
Lemma diff_sees z a b : length a = length b -> dot z (vsub a b) = dot z a - dot z b.
Proof. intros L. rewrite dot_comm, dot_vsub by auto. rewrite (dot_comm a), (dot_comm b). auto. Qed.

Lemma hvec_contracts rows w x : length w = length x ->
  dot (vsub (hvec rows w) (hvec rows x)) (vsub (hvec rows w) (hvec rows x)) <= frob rows * dot (vsub w x) (vsub w x).
Proof.
  intros L. induction rows as [|z rows IH]; simpl; [lra|]. pose proof (cauchy z (vsub w x)) as C.
  rewrite diff_sees in C by auto. fold (hvec rows w) (hvec rows x).
  pose proof (relu_contracts (dot z w) (dot z x)). lra.
Qed.

Section Near.
(** l = D K lambda; c.w >= l (1 - mu/lambda) |v|, |w| = |v|, |c| <= l *)
Variables (c w : list R) (v l lam mu : R).
Hypothesis (Hl : 0 < l) (Hlam : 0 < lam) (Hmu : 0 <= mu) (Lc : length w = length c) (Hv : v <> 0).
Hypothesis (Hw : dot w w = v * v) (Hc : dot c c <= l * l) (Hcw : l / lam * (lam - mu) * Rabs v <= dot c w).
Let t := Rabs v / l.
Lemma t_pos : 0 < t. Proof. apply Rdiv_lt_0_compat; auto. apply Rabs_pos_lt; auto. Qed.
Lemma abs_sq : Rabs v * Rabs v = v * v. Proof. rewrite <- Rabs_mult. apply Rabs_right. nra. Qed.
Lemma near_class : dot (vsub w (vscale t c)) (vsub w (vscale t c)) <= 2 * mu / lam * (v * v).
Proof.
  rewrite dot_diff by (unfold vscale; rewrite map_length; auto). rewrite dot_scale2, dot_scale, Hw, (dot_comm w c).
  assert (Ht := t_pos).
  assert (A : t * (l / lam * (lam - mu) * Rabs v) <= t * dot c w) by (apply Rmult_le_compat_l; lra).
  assert (B : t * t * dot c c <= t * t * (l * l)) by (apply Rmult_le_compat_l; auto; nra).
  replace (t * (l / lam * (lam - mu) * Rabs v)) with ((1 - mu / lam) * (Rabs v * Rabs v)) in A by (unfold t; field;
    lra).
  replace (t * t * (l * l)) with (Rabs v * Rabs v) in B by (unfold t; field; lra). rewrite abs_sq in A, B.
  replace (2 * mu / lam * (v * v)) with (2 * (mu / lam * (v * v))) by (field; lra). lra.
Qed.
Lemma near_sign z : dot z z * (2 * mu / lam) * (l * l) < dot z c * dot z c -> 0 < dot z w * dot z c.
Proof.
  intros S. pose proof near_class as N. pose proof (cauchy z (vsub w (vscale t c))) as C.
  rewrite diff_sees, dot_scale in C by (unfold vscale; rewrite map_length; auto). assert (Ht := t_pos).
  assert (B : dot z z * dot (vsub w (vscale t c)) (vsub w (vscale t c)) <= dot z z * (2 * mu / lam * (v * v)))
    by (apply Rmult_le_compat_l; auto using dot_self_nonneg).
  assert (T2 : t * t * (l * l) = v * v) by (rewrite <- abs_sq; unfold t; field; lra).
  set (x := dot z w) in *. set (y := dot z c) in *.
  assert (D : (x - t * y) * (x - t * y) < t * y * (t * y)).
  { apply Rle_lt_trans with (dot z z * (2 * mu / lam) * (l * l) * (t * t)).
    - replace (dot z z * (2 * mu / lam) * (l * l) * (t * t)) with (dot z z * (2 * mu / lam) * (t * t * (l * l))) by
        ring.
      rewrite T2. lra.
    - replace (t * y * (t * y)) with (y * y * (t * t)) by ring. apply Rmult_lt_compat_r; auto. nra. }
  assert (E : 0 < t * (x * y)) by nra. apply Rmult_lt_reg_l with t; auto. lra.
Qed.
(** the sum of rows at w is that at c, but for s w0 |v| *)
Lemma near_sum rows b sb w0 : 0 <= sb -> 0 <= w0 -> dot b b <= sb * sb -> frob rows * (2 * mu / lam) <= w0 * w0 ->
  Rabs (hsum rows b w - t * hsum rows b c) <= sb * w0 * Rabs v.
Proof.
  intros Hs H0 Hb HF. assert (Ht := t_pos). pose proof near_class as N.
  set (x := vscale t c). assert (Lx : length w = length x) by (unfold x, vscale; rewrite map_length; auto).
  assert (Ex : hsum rows b x = t * hsum rows b c).
  { unfold x. clear - Ht. revert b. induction rows as [|z rows IH]; intros [|bk b]; simpl; try ring.
    rewrite IH, dot_scale, relu_scale by lra. ring. }
  rewrite <- Ex, !hsum_dot.
  assert (Lh : forall a e, length (hvec rows a) = length (hvec rows e)) by (intros; unfold hvec; rewrite !map_length;
    auto).
  rewrite <- diff_sees by auto. pose proof (cauchy b (vsub (hvec rows w) (hvec rows x))) as C.
  pose proof (hvec_contracts rows w x Lx) as V.
  assert (FN : 0 <= frob rows) by (clear; induction rows as [|z rows IH]; simpl; [lra|pose proof (dot_self_nonneg z);
    lra]).
  apply abs_le_of_sq; [pose proof (Rabs_pos v); repeat apply Rmult_le_pos; auto|].
  eapply Rle_trans; [exact C|].
  apply Rle_trans with (sb * sb * (frob rows * (2 * mu / lam * (v * v)))).
  - apply Rmult_le_compat; auto using dot_self_nonneg. eapply Rle_trans; [exact V|]. apply Rmult_le_compat_l; auto.
  - replace (sb * w0 * Rabs v * (sb * w0 * Rabs v)) with (sb * sb * (w0 * w0 * (Rabs v * Rabs v))) by ring.
    rewrite abs_sq.
    apply Rmult_le_compat_l; [nra|]. replace (frob rows * (2 * mu / lam * (v * v))) with (frob rows * (2 * mu / lam) *
      (v * v)) by ring.
    apply Rmult_le_compat_r; auto. nra.
Qed.
End Near.

(** ** Lines: the residual is superadditive at two neurons of a class *)
Definition bend (z u1 u2 : list R) : R := relu (dot z (vadd u1 u2)) - relu (dot z u1) - relu (dot z u2).
Lemma bend_nonpos z u1 u2 : length u1 = length u2 -> bend z u1 u2 <= 0.
Proof. intros L. unfold bend. rewrite dot_vadd by auto. pose proof (relu_add (dot z u1) (dot z u2)). lra. Qed.
Lemma bend_zero z u1 u2 : length u1 = length u2 ->
  (0 <= dot z u1 /\ 0 <= dot z u2) \/ (dot z u1 <= 0 /\ dot z u2 <= 0) -> bend z u1 u2 = 0.
Proof.
  intros L [[h1 h2]|[h1 h2]]; unfold bend; rewrite dot_vadd by auto;
    [rewrite !relu_pos by lra|rewrite !relu_neg by lra]; ring.
Qed.
Lemma bend_scale z p m u1 u2 : length u1 = length u2 -> (forall x, dot z x = m * dot p x) ->
  bend z u1 u2 = Rabs m * bend p u1 u2.
Proof.
  intros L H. unfold bend. rewrite !H, !dot_vadd by auto. destruct (Rle_lt_dec 0 m) as [h|h].
  - rewrite Rabs_right by lra. rewrite !relu_scale by auto. ring.
  - rewrite Rabs_left by auto. set (a := dot p u1). set (b := dot p u2).
    assert (E : forall x, relu (m * x) = - m * (relu x - x)).
    { intros x. replace (m * x) with (- m * - x) by ring. rewrite relu_scale by lra. pose proof (relu_diff x).
      f_equal. lra. }
    rewrite !E. ring.
Qed.
Fixpoint line_real (g : nat) (mg : list (nat * Z)) (r : list R) : R :=
  match mg, r with (k, m) :: mg', t :: r' => (if Nat.eqb k g then t * Rabs (IZR m) else 0) + line_real g mg' r' | _, _
    => 0 end.
Definition line_vector (g : nat) (mg : list (nat * Z)) : list R :=
  map (fun km : nat * Z => if Nat.eqb (fst km) g then Rabs (IZR (snd km)) else 0) mg.
Lemma line_real_dot g : forall mg r, line_real g mg r = dot (line_vector g mg) r.
Proof. induction mg as [|[k m] mg IH]; intros [|t r]; simpl; auto. rewrite IH. destruct (Nat.eqb k g); ring. Qed.
Lemma line_square_R g : forall mg, IZR (line_square g mg) = dot (line_vector g mg) (line_vector g mg).
Proof.
  induction mg as [|[k m] mg IH]; simpl; auto. rewrite plus_IZR, IH. destruct (Nat.eqb k g); [|simpl; ring].
  rewrite mult_IZR, <- Rabs_mult, Rabs_right by nra. ring.
Qed.
Lemma line_weight_R g td : 0 < IZR td -> forall mg th, line_real g mg (ratio td th) = IZR (line_weight g mg th) / IZR
  td.
Proof.
  intros h. induction mg as [|[k m] mg IH]; intros [|t th]; simpl; try (field; lra).
  rewrite IH, plus_IZR. destruct (Nat.eqb k g); [rewrite mult_IZR, abs_IZR|simpl]; field; lra.
Qed.
Definition on_line (reps : list (list Z)) (z : list Z) (km : nat * Z) : Prop :=
  forall x, dot (iz z) x = IZR (snd km) * dot (iz (nth (fst km) reps [])) x.
Lemma merge_on_line reps : forall rows th mg cf c0, merge reps rows th mg = Some (cf, c0) ->
  exists mg', Forall2 (on_line reps) rows mg' /\ forall g r, length r = length rows -> line_real g mg r = line_real g
    mg' r.
Proof.
  induction rows as [|z rows IH]; intros [|t th] mg cf c0 E; simpl in E; try discriminate.
  - exists []. split; [constructor|]. intros g [|x r] L; [|discriminate]. destruct mg as [|[k m] mg]; auto.
  - destruct mg as [|[k m] mg]; try discriminate. destruct (merge reps rows th mg) as [[cf1 c1]|] eqn:EM; try
      discriminate.
    destruct (zeroZ _) eqn:EZ in E; try discriminate. destruct (IH _ _ _ _ EM) as (mg' & F & H).
    exists ((k, m) :: mg'). split.
    + constructor; auto. intros x. apply (zeroZ_R x) in EZ. rewrite axpy_R, scale_R in EZ. simpl. lra.
    + intros g [|a r] L; [discriminate|]. simpl. rewrite (H g r) by (simpl in L; lia). auto.
Qed.
Lemma sum_by_lines (f : nat -> R) n : (forall g, (n <= g)%nat -> f g = 0) -> forall mg r,
  dot r (map (fun km : nat * Z => Rabs (IZR (snd km)) * f (fst km)) mg) = sumn n (fun g => line_real g mg r * f g).
Proof.
  intros H0. induction mg as [|[k m] mg IH]; intros [|t r]; simpl; try (rewrite sumn_zero; auto; intros; ring).
  rewrite IH. rewrite (sumn_ext n (fun g => ((if Nat.eqb k g then t * Rabs (IZR m) else 0) + line_real g mg r) * f g)
    (fun g => (if Nat.eqb k g then t * Rabs (IZR m) * f g else 0) + line_real g mg r * f g)).
  2:{ intros i _. destruct (Nat.eqb k i); ring. }
  rewrite sumn_plus. f_equal. destruct (lt_dec k n) as [h|h].
  - rewrite (sumn_off n _ k h), Nat.eqb_refl. rewrite sumn_zero; [ring|]. intros i _. unfold off.
    destruct (Nat.eqb_spec i k); auto. destruct (Nat.eqb_spec k i); auto. congruence.
  - rewrite H0 by lia. rewrite sumn_zero; [ring|]. intros i Hi. destruct (Nat.eqb_spec k i); auto. lia.
Qed.
Lemma superadd_lines rd reps rows mg r xi u1 u2 : 0 < IZR rd -> length u1 = length u2 -> Forall2 (on_line reps) rows
  mg ->
  length r = length rows ->
  (forall g, (g < length reps)%nat -> bend (iz (nth g reps [])) u1 u2 = 0 \/ xi * line_real g mg r <= 0) ->
  xi * hsum (map (ratio rd) rows) r u1 + xi * hsum (map (ratio rd) rows) r u2
    <= xi * hsum (map (ratio rd) rows) r (vadd u1 u2).
Proof.
  intros Hr L F Lr HG. set (f := fun g => bend (iz (nth g reps [])) u1 u2).
  assert (E : IZR rd * (hsum (map (ratio rd) rows) r (vadd u1 u2) - hsum (map (ratio rd) rows) r u1
                        - hsum (map (ratio rd) rows) r u2)
              = dot r (map (fun km : nat * Z => Rabs (IZR (snd km)) * f (fst km)) mg)).
  { clear HG. revert r Lr. induction F as [|z [k m] rows mg O F IH]; intros [|t r] Lr; simpl in *; try discriminate;
      try ring.
    specialize (IH r ltac:(lia)). rewrite <- IH. unfold f. rewrite <- (bend_scale (iz z) _ (IZR m)) by auto.
    unfold bend. rewrite !ratio_dot, !relu_scale by (left; apply Rinv_0_lt_compat; auto). field. lra. }
  assert (S : 0 <= xi * dot r (map (fun km : nat * Z => Rabs (IZR (snd km)) * f (fst km)) mg)).
  { rewrite (sum_by_lines f (length reps)).
    - rewrite <- sumn_scale. apply Rle_trans with (sumn (length reps) (fun _ => 0)); [rewrite sumn_zero; auto; lra|].
      apply sumn_le. intros g Hg. pose proof (bend_nonpos (iz (nth g reps [])) u1 u2 L) as B. unfold f.
      destruct (HG g Hg) as [Z0|N]; [rewrite Z0; lra|]. nra.
    - intros g Hg. unfold f. rewrite nth_overflow by lia. unfold bend. simpl. rewrite relu_0. ring. }
  assert (X : 0 <= IZR rd * (xi * (hsum (map (ratio rd) rows) r (vadd u1 u2) - hsum (map (ratio rd) rows) r u1
                        - hsum (map (ratio rd) rows) r u2))).
  { replace (IZR rd * (xi * (hsum (map (ratio rd) rows) r (vadd u1 u2) - hsum (map (ratio rd) rows) r u1
                        - hsum (map (ratio rd) rows) r u2))) with
      (xi * dot r (map (fun km : nat * Z => Rabs (IZR (snd km)) * f (fst km)) mg)) by (rewrite <- E; ring). auto. }
  assert (0 <= xi * (hsum (map (ratio rd) rows) r (vadd u1 u2) - hsum (map (ratio rd) rows) r u1
                        - hsum (map (ratio rd) rows) r u2)) by (apply Rmult_le_reg_l with (IZR rd); auto; lra).
  lra.
Qed.
(** a line whose weight is far on the side of - xi stays there in the ball *)
Lemma concave_line g mg th td g2 xi r : 0 < IZR td -> (xi = 1 \/ xi = -1) -> length r = length (ratio td th) ->
  dot (vsub r (ratio td th)) (vsub r (ratio td th)) <= g2 ->
  xi * IZR (line_weight g mg th) < 0 ->
  g2 * IZR (line_square g mg) <= (IZR (line_weight g mg th) / IZR td) * (IZR (line_weight g mg th) / IZR td) ->
  xi * line_real g mg r <= 0.
Proof.
  intros ht Hxi L Hg N S. rewrite line_real_dot. pose proof (line_weight_R g td ht mg th) as W.
  rewrite line_real_dot in W.
  pose proof (cauchy (line_vector g mg) (vsub r (ratio td th))) as C. rewrite diff_sees, W, <- line_square_R in C by
    auto.
  set (X := IZR (line_weight g mg th) / IZR td) in *. set (Y := dot (line_vector g mg) r) in *.
  assert (NX : xi * X < 0).
  { unfold X. assert (i := Rinv_0_lt_compat _ ht). unfold Rdiv. nra. }
  assert (SQ : 0 <= IZR (line_square g mg)) by (rewrite line_square_R; apply dot_self_nonneg).
  assert (B : (Y - X) * (Y - X) <= X * X).
  { eapply Rle_trans; [exact C|]. eapply Rle_trans; [|exact S]. rewrite Rmult_comm. apply Rmult_le_compat_r; auto. }
  destruct Hxi as [-> | ->]; nra.
Qed.

(** signed, group-labelled neurons *)
Definition lab : Type := (R * (nat * neuron))%type.
Fixpoint Sd (phi : list R -> R) (j : nat) (L : list lab) : R :=
  match L with [] => 0
  | (sg, (i, nr)) :: L' => (if Nat.eqb i j then sg * (snd nr * phi (fst nr)) else 0) + Sd phi j L' end.
Fixpoint St (phi : list R -> R) (L : list lab) : R :=
  match L with [] => 0 | (sg, (i, nr)) :: L' => sg * (snd nr * phi (fst nr)) + St phi L' end.
Lemma Sd_total phi m : forall L : list lab, Forall (fun l => (fst (snd l) < m)%nat) L ->
  sumn m (fun j => Sd phi j L) = St phi L.
Proof.
  induction L as [|[sg [i nr]] L IH]; intros F; simpl.
  - apply sumn_zero; auto.
  - rewrite sumn_plus, IH by (exact (Forall_inv_tail F)). f_equal.
    assert (Hi := Forall_inv F). simpl in Hi. rewrite (sumn_off m _ i Hi), Nat.eqb_refl.
    rewrite sumn_zero; [ring|]. intros k _. unfold off. destruct (Nat.eqb_spec k i); auto.
    destruct (Nat.eqb_spec i k); auto. congruence.
Qed.
Lemma Sd_rep j e ve : ve <> 0 -> forall L : list lab,
  (forall sg w v, In (sg, (j, (w, v))) L -> forall phi, homogeneous phi -> ve * phi w = v * phi e) ->
  exists al, forall phi, homogeneous phi -> Sd phi j L = al * phi e.
Proof.
  intros Hv. induction L as [|[sg [i [w v]]] L IH]; intros A; simpl.
  - exists 0. intros; ring.
  - destruct IH as (al & E). { intros; eapply A; simpl; eauto. }
    destruct (Nat.eqb_spec i j) as [->|ne].
    + exists (sg * v * v / ve + al). intros phi Hp. rewrite (E phi Hp).
      pose proof (A sg w v (or_introl eq_refl) phi Hp) as B.
      replace (phi w) with (v * phi e / ve) by (rewrite <- B; field; auto). field; auto.
    + exists al. intros phi Hp. rewrite (E phi Hp). ring.
Qed.
Lemma Sd_case j : forall L : list lab,
  (exists sg nr, In (sg, (j, nr)) L) \/ (forall phi, Sd phi j L = 0).
Proof.
  induction L as [|[sg [i nr]] L IH]; simpl; auto.
  destruct (Nat.eqb_spec i j) as [->|ne]; [left; eauto|].
  destruct IH as [(sg' & nr' & I)|Z]; [left; eauto|]. right. intros. rewrite Z. ring.
Qed.

Lemma tout_resid N1 N2 : forall rows y b, length rows = length y ->
  resid rows y N1 = resid rows y N2 -> tout rows b N1 = tout rows b N2.
Proof.
  induction rows as [|z rows IH]; intros [|yk y] [|bk b] L E; simpl in *; try discriminate; auto.
  injection E as E1 E2. rewrite (IH y b) by (auto; lia). replace (out N1 z) with (out N2 z) by lra. auto.
Qed.
Lemma measure_tout rows b N : measure (hsum rows b) N = tout rows b N.
Proof. induction N as [|[w v] N IH]; simpl; [rewrite tout_nil; auto|]. rewrite tout_cons, IH. auto. Qed.

Lemma strict_facts p c s A B : run_strict p c s = Some (A, B) ->
  run p c = Some (A, B) /\ check_upper p (m_upper s) = true.
Proof.
  unfold run_strict. intros E. destruct (strict_ok p c s) eqn:S; [|discriminate]. split; auto.
  unfold strict_ok in S. destruct (merge _ _ _ _) as [[cf c0]|]; [|discriminate].
  do 5 (apply andb_prop in S; destruct S as [S _]). auto.
Qed.

(** what is known about a labelled neuron of an optimal network with residual r *)
Definition scale_of (p : problem) (c : cover) (a : Z * list Z) : R := IZR (fst a) * (unit_of p c * lambda_of p).
Definition on_side (u z : list Z) (w : list R) : Prop :=
  if (0 <=? dotZ z u)%Z then 0 <= dot (iz z) w else dot (iz z) w <= 0.
Definition near_at p c s (a : Z * list Z) (nr : neuron) : Prop :=
  scale_of p c a / lambda_of p * (lambda_of p - IZR (m_num s) / IZR (m_den s)) * Rabs (snd nr)
    <= dot (iz (snd a)) (fst nr).
Definition okn p c s q r (l : nat * neuron) : Prop :=
  (fst l < q_m q)%nat /\ 0 < IZR (sgn q (fst l)) * snd (snd l) /\
  length (fst (snd l)) = p_dim p /\ active (lambda_of p) (rows_of p) r (snd l) /\
  (exists a, In (fst l, a) (q_at q) /\ near_at p c s a (snd l)) /\
  forall g z, In (g, z) (lines c) -> concave c s (sgn q (fst l)) g = true \/ on_side (dir q (fst l)) z (fst (snd l)).

Lemma lengths_agree p : problem_facts p -> length (rows_of p) = length (y_of p).
Proof. intros [_ _ _ _ L]. unfold rows_of, y_of, ratio. rewrite !map_length. auto. Qed.

(** |h_r(w) - h_theta(w)| <= mu |w| for residuals in the ball *)
Lemma residual_moves p c s r w v : frob (rows_of p) * dot (vsub r (theta_of c)) (vsub r (theta_of c)) <= (IZR (m_num
  s) / IZR (m_den s)) * (IZR (m_num s) / IZR (m_den s)) ->
  0 <= IZR (m_num s) / IZR (m_den s) -> length r = length (theta_of c) -> dot w w = v * v ->
  Rabs (hsum (rows_of p) r w - hsum (rows_of p) (theta_of c) w) <= IZR (m_num s) / IZR (m_den s) * Rabs v.
Proof.
  intros HD Hm L Hw. rewrite !hsum_dot. rewrite <- dot_vsub by auto.
  pose proof (cauchy (vsub r (theta_of c)) (hvec (rows_of p) w)) as C. pose proof (hvec_frob w (rows_of p)) as F.
  set (mu := IZR (m_num s) / IZR (m_den s)) in *. set (g := dot (vsub r (theta_of c)) (vsub r (theta_of c))) in *.
  apply abs_le_of_sq; [pose proof (Rabs_pos v); nra|]. eapply Rle_trans; [exact C|].
  assert (A : Rabs v * Rabs v = v * v) by (rewrite <- Rabs_mult; apply Rabs_right; nra).
  replace (mu * Rabs v * (mu * Rabs v)) with (mu * mu * (Rabs v * Rabs v)) by ring. rewrite A.
  assert (Hg : 0 <= g) by apply dot_self_nonneg.
  apply Rle_trans with (g * (frob (rows_of p) * dot w w)); [apply Rmult_le_compat_l; auto|]. rewrite Hw.
  replace (g * (frob (rows_of p) * (v * v))) with (frob (rows_of p) * g * (v * v)) by ring.
  apply Rmult_le_compat_r; auto. nra.
Qed.

(** ** The sides of a neuron in a leaf *)
Lemma on_side_sum b y (G : list gen) u z w : Forall (Rle 0) y ->
  dot (iz z) w = dot (part b y G) (map (fun g => form (iz z) (fst g)) G) ->
  (forall g, In g G -> b g = true -> same_side u z (fst g) = true) -> on_side u z w.
Proof.
  intros F E H. unfold on_side. rewrite E. assert (Z0 := dot_map_zero gen (fun _ => 0) G (part b y G) ltac:(auto)).
  assert (S : forall g, In g G -> b g = true ->
    if (0 <=? dotZ z u)%Z then 0 <= form (iz z) (fst g) else form (iz z) (fst g) <= 0).
  { intros g I Eg. specialize (H g I Eg). unfold same_side in H. unfold form. rewrite <- dotZ_R.
    destruct (0 <=? dotZ z u)%Z; apply Z.leb_le, IZR_le in H; lra. }
  destruct (0 <=? dotZ z u)%Z; rewrite <- Z0; apply part_le; auto.
Qed.
Lemma same_side_R u z x : same_side u z x = true -> on_side u z (iz x).
Proof.
  unfold same_side, on_side. rewrite <- dotZ_R. destruct (0 <=? dotZ z u)%Z; intros H; apply Z.leb_le, IZR_le in H; lra.
Qed.
Lemma part_all (f : gen -> R) : forall y G, dot y (map f G) = dot (part (fun _ => true) y G) (map f G).
Proof. induction y as [|a y IH]; intros [|g G]; simpl; auto. rewrite IH. auto. Qed.
Lemma hsum_units rd td u : 0 < IZR rd -> 0 < IZR td -> forall rows b,
  IZR rd * IZR td * hsum (map (ratio rd) rows) (ratio td b) u = hsum (map iz rows) (iz b) u.
Proof.
  intros hr ht. assert (hi := Rinv_0_lt_compat _ hr). induction rows as [|z rows IH]; intros [|t b]; simpl; try ring.
  rewrite <- IH, ratio_dot, relu_scale by lra. field. lra.
Qed.
(** h changes by at most |r - theta| |Z|_F |f| more at w than at t = w - f *)
Lemma residual_shift rows r th w t f mu S : length r = length th -> length w = length t ->
  (forall a, dot a w = dot a t + dot a f) -> 0 <= mu -> frob rows * dot (vsub r th) (vsub r th) <= mu * mu ->
  0 <= S -> dot f f <= S * S ->
  Rabs ((hsum rows r w - hsum rows th w) - (hsum rows r t - hsum rows th t)) <= mu * S.
Proof.
  intros Lr Lt Hf H0 Hm HS Hff. rewrite !hsum_dot, <- !dot_vsub by auto.
  assert (Lh : length (hvec rows w) = length (hvec rows t)) by (unfold hvec; rewrite !map_length; auto).
  rewrite <- diff_sees by auto. pose proof (cauchy (vsub r th) (vsub (hvec rows w) (hvec rows t))) as C.
  assert (FF : dot (vsub w t) (vsub w t) = dot f f).
  { assert (V : forall a, dot a (vsub w t) = dot a f) by (intros a; rewrite diff_sees, Hf by auto; ring).
    rewrite V, dot_comm, V. auto. }
  pose proof (hvec_contracts rows w t Lt) as V. rewrite FF in V.
  set (g := dot (vsub r th) (vsub r th)) in *. assert (G0 : 0 <= g) by apply dot_self_nonneg.
  apply abs_le_of_sq; [apply Rmult_le_pos; auto|]. eapply Rle_trans; [exact C|].
  apply Rle_trans with (g * (frob rows * dot f f)); [apply Rmult_le_compat_l; auto|].
  replace (g * (frob rows * dot f f)) with (frob rows * g * dot f f) by ring.
  replace (mu * S * (mu * S)) with (mu * mu * (S * S)) by ring. apply Rmult_le_compat; auto; [|apply dot_self_nonneg].
  apply Rmult_le_pos; auto. clear. induction rows as [|z rows IH]; simpl; [lra|pose proof (dot_self_nonneg z); lra].
Qed.

Section Neuron.
Variables (p : problem) (c : cover) (s : margin) (q : classes) (r w : list R) (v mu : R).
Hypothesis (Pf : problem_facts p) (Ht : (0 < c_tden c)%Z) (Lr : length r = length (theta_of c)).
Hypothesis (Emu : mu = IZR (m_num s) / IZR (m_den s)) (Hmn : (0 < m_num s)%Z) (Hmd : (0 < m_den s)%Z).
Hypothesis (Hmu : mu < lambda_of p).
Hypothesis (Hsn : (0 < q_sn q)%Z) (Hsd : (q_sn q <= q_sd q)%Z)
  (Hss : 2 * mu <= IZR (q_sn q) / IZR (q_sd q) * (IZR (q_sn q) / IZR (q_sd q)) * lambda_of p).
Hypothesis (HFr : frob (rows_of p) * dot (vsub r (theta_of c)) (vsub r (theta_of c)) <= mu * mu).
Hypothesis (Dr : forall u, length u = p_dim p -> dual_ok (lambda_of p) (rows_of p) r u).
Hypothesis (Lw : length w = p_dim p) (Nv : v <> 0) (Ac : active (lambda_of p) (rows_of p) r (w, v)).

Lemma mu_pos : 0 < mu. Proof. rewrite Emu. apply Rdiv_lt_0_compat; apply IZR_lt; auto. Qed.
Lemma unit_pos : 0 < unit_of p c.
Proof. unfold unit_of. apply Rmult_lt_0_compat; apply IZR_lt; auto. apply pf_rden; auto. Qed.
(** h at theta, times the sign of v, is at least (lambda - mu) |v| *)
Lemma active_high xi : 0 < xi * v -> (xi = 1 \/ xi = -1) ->
  dot w w = v * v /\ xi * hsum (rows_of p) r w = lambda_of p * Rabs v /\
  (lambda_of p - mu) * Rabs v <= xi * hsum (rows_of p) (theta_of c) w.
Proof.
  intros Hx Hxi. destruct (active_norm _ _ _ _ _ _ (lambda_pos p Pf) Dr Lw Ac Nv) as [Q H].
  assert (M : Rabs (hsum (rows_of p) r w - hsum (rows_of p) (theta_of c) w) <= mu * Rabs v).
  { rewrite Emu in *. apply residual_moves; auto. pose proof mu_pos. rewrite Emu in *. lra. }
  apply abs_bounds in M. rewrite H in M. split; [auto|]. split; [rewrite H|]; destruct Hxi as [-> | ->].
  - rewrite Rabs_right by lra. ring.
  - rewrite Rabs_left by lra. ring.
  - rewrite Rabs_right in * by lra. lra.
  - rewrite Rabs_left in * by lra. lra.
Qed.

Variables (xi : R) (x : spot).
Hypothesis (Hx : 0 < xi * v) (Hxi : xi = 1 \/ xi = -1).
Hypothesis (Hpin : pinned (unit_of p c * (xi * hsum (rows_of p) (theta_of c) w)) w x).
Lemma pinned_near : near_at p c s (snd x) (w, v).
Proof.
  destruct (active_high xi Hx Hxi) as (_ & _ & H). destruct Hpin as (y & _ & Fy & _ & HR & HD & HP).
  unfold near_at, scale_of. cbn [fst snd]. pose proof (dot_nonneg _ _ Fy HR) as N. pose proof unit_pos as HK.
  rewrite <- Emu. assert (Hlam := lambda_pos p Pf). set (D := IZR (fst (snd x))) in *.
  replace (D * (unit_of p c * lambda_of p) / lambda_of p * (lambda_of p - mu) * Rabs v) with
    (D * unit_of p c * ((lambda_of p - mu) * Rabs v)) by (field; lra).
  assert (D * unit_of p c * ((lambda_of p - mu) * Rabs v) <= D * unit_of p c * (xi * hsum (rows_of p) (theta_of c) w)).
  { apply Rmult_le_compat_l; auto. apply Rmult_le_pos; lra. }
  lra.
Qed.
(** no neuron lies in a null leaf *)
Lemma not_null : null p c s x = false.
Proof.
  pose proof pinned_near as N. destruct (null p c s x) eqn:E; auto. exfalso. unfold null in E.
  destruct Hpin as (_ & _ & _ & _ & _ & HD & _). destruct (active_high xi Hx Hxi) as (Q & _ & _).
  apply Z.ltb_lt, IZR_lt in E. rewrite !mult_IZR, minus_IZR, !mult_IZR, dotZ_R in E.
  unfold near_at, scale_of in N. cbn [fst snd] in N. rewrite <- Emu in N.
  assert (Hlam := lambda_pos p Pf). pose proof unit_pos as HK. unfold unit_of in *.
  assert (hld := IZR_lt _ _ (pf_lden p Pf)). assert (hmd := IZR_lt _ _ Hmd).
  set (D := IZR (fst (snd x))) in *. set (a := iz (snd (snd x))) in *.
  set (L := D * (IZR (p_rden p) * IZR (c_tden c)) * (lambda_of p - mu)).
  assert (PL : 0 < L) by (unfold L; apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; auto|lra]).
  assert (E' : dot a a < L * L).
  { apply Rmult_lt_reg_r with (IZR (p_lden p) * IZR (m_den s) * (IZR (p_lden p) * IZR (m_den s))).
    { repeat apply Rmult_lt_0_compat; auto. }
    eapply Rlt_le_trans; [exact E|]. apply Req_le. unfold L, lambda_of. rewrite Emu. field. lra. }
  assert (N' : L * Rabs v <= dot a w).
  { eapply Rle_trans; [|exact N]. apply Req_le. unfold L. field. lra. }
  assert (PA : 0 < Rabs v) by (apply Rabs_pos_lt; auto).
  assert (A2 : Rabs v * Rabs v = v * v) by (rewrite <- Rabs_mult; apply Rabs_right; nra).
  pose proof (cauchy a w) as C. rewrite Q, <- A2 in C.
  assert (X : L * Rabs v * (L * Rabs v) <= dot a w * dot a w).
  { assert (0 <= L * Rabs v) by (apply Rmult_le_pos; lra). apply Rmult_le_compat; auto. }
  assert (dot a a * (Rabs v * Rabs v) < L * L * (Rabs v * Rabs v)) by (apply Rmult_lt_compat_r; auto; nra). lra.
Qed.

(** the class of the leaf, and its D and c *)
Variables (j : nat) (a : Z * list Z).
Hypothesis (Exi : xi = IZR (sgn q j)) (EDa : fst (snd x) = fst a).
Hypothesis (Eca : forall u, dot (iz (snd (snd x))) u = dot (iz (snd a)) u).
Hypothesis (Ca : check_at p c q (j, a) = true).
Lemma near_class_at : near_at p c s a (w, v).
Proof. pose proof pinned_near as N. unfold near_at, scale_of in *. cbn [fst snd] in *. rewrite <- EDa, <- Eca. auto.
  Qed.
Lemma scale_pos : 0 < scale_of p c a.
Proof.
  destruct Hpin as (_ & _ & _ & _ & _ & HD & _). rewrite EDa in HD. unfold scale_of.
  apply Rmult_lt_0_compat; auto. apply Rmult_lt_0_compat; [apply unit_pos|apply lambda_pos; auto].
Qed.
Lemma scale_int : scale_of p c a = IZR (p_lnum p * p_rden p * c_tden c * fst a) / IZR (p_lden p).
Proof.
  assert (hld := IZR_lt _ _ (pf_lden p Pf)). unfold scale_of, unit_of, lambda_of. rewrite !mult_IZR. field. lra.
Qed.
Lemma at_norm : length (iz (snd a)) = p_dim p /\ dot (iz (snd a)) (iz (snd a)) <= scale_of p c a * scale_of p c a.
Proof.
  assert (Cb := Ca). unfold check_at in Cb. cbn [fst snd] in Cb. split_andb Cb. to_Prop. split; [unfold iz; rewrite
    map_length; auto|].
  assert (hld := IZR_lt _ _ (pf_lden p Pf)). rewrite scale_int.
  match goal with h : (dotZ _ _ * _ <= _)%Z |- _ => apply IZR_le in h; rewrite mult_IZR, dotZ_R in h;
    rewrite !(mult_IZR (p_lnum p * p_rden p * c_tden c * fst a)) in h; rewrite mult_IZR in h;
    apply Rmult_le_reg_r with (IZR (p_lden p) * IZR (p_lden p)); [nra|]; eapply Rle_trans; [exact h|] end.
  apply Req_le. field. lra.
Qed.
Lemma near_scaled : scale_of p c a / lambda_of p * (lambda_of p - mu) * Rabs v <= dot (iz (snd a)) w.
Proof. pose proof near_class_at as N. unfold near_at in N. rewrite <- Emu in N. exact N. Qed.

Lemma sure_side u z : sure p c s a z = true -> same_side u z (snd a) = true -> on_side u z w.
Proof.
  intros S1 S2. destruct (active_high xi Hx Hxi) as (Q & _ & _). destruct at_norm as [La Na].
  unfold sure in S1. apply Z.ltb_lt, IZR_lt in S1. rewrite ?mult_IZR, ?dotZ_R in S1.
  assert (hld := IZR_lt _ _ (pf_lden p Pf)). assert (hln := IZR_lt _ _ (pf_lnum p Pf)). assert (hmd := IZR_lt _ _ Hmd).
  assert (SG : dot (iz z) (iz z) * (2 * mu / lambda_of p) * (scale_of p c a * scale_of p c a)
               < dot (iz z) (iz (snd a)) * dot (iz z) (iz (snd a))).
  { rewrite scale_int, Emu, !mult_IZR. unfold lambda_of.
    apply Rmult_lt_reg_r with (IZR (m_den s) * IZR (p_lnum p) * (IZR (p_lden p) * IZR (p_lden p))).
    { repeat apply Rmult_lt_0_compat; auto. }
    eapply Rle_lt_trans; [|eapply Rlt_le_trans; [exact S1|]]; apply Req_le; field; repeat split; lra. }
  pose proof (near_sign (iz (snd a)) w v (scale_of p c a) (lambda_of p) mu scale_pos (lambda_pos p Pf)
    ltac:(congruence) Nv Q Na near_scaled (iz z) SG) as P.
  apply same_side_R in S2. unfold on_side in *. destruct (0 <=? dotZ z u)%Z; nra.
Qed.

Lemma tips_sides u U : forallb (fun g : gen => Nat.leb (length (fst g)) (p_dim p)
    && (far p c q (fst a) g || tip p c q (j, a) U g)) (fst x) = true -> u = dir q j ->
  forall gz, In gz U -> on_side u (snd gz) w.
Proof.
  intros HG -> gz IU. destruct (active_high xi Hx Hxi) as (Q & HR & HH). destruct at_norm as [La Na].
  destruct Hpin as (y & Ly & Fy & Hy & Rm & HD & HP). rewrite Eca in HP.
  rewrite forallb_forall in HG. set (G := fst x) in *. set (fr := far p c q (fst a)) in *.
  assert (Hlam := lambda_pos p Pf). assert (hr := IZR_lt _ _ (pf_rden p Pf)). assert (ht := IZR_lt _ _ Ht).
  assert (hld := IZR_lt _ _ (pf_lden p Pf)). assert (Hm := mu_pos). assert (HK := unit_pos).
  assert (hsn := IZR_lt _ _ Hsn). assert (hsd : 0 < IZR (q_sd q)) by (apply IZR_lt; lia).
  set (sr := IZR (q_sn q) / IZR (q_sd q)) in *. assert (Ps : 0 < sr) by (apply Rdiv_lt_0_compat; auto).
  set (t := vector_of (p_dim p) (part (others fr) y G) (map fst G)).
  set (f := vector_of (p_dim p) (part fr y G) (map fst G)).
  assert (Et : forall b, dot b t = dot (part (others fr) y G) (map (fun g => form b (fst g)) G))
    by (intros b; unfold t; rewrite vector_of_R, map_map; auto).
  assert (Ef : forall b, dot b f = dot (part fr y G) (map (fun g => form b (fst g)) G))
    by (intros b; unfold f; rewrite vector_of_R, map_map; auto).
  assert (Lt : length t = p_dim p).
  { apply vector_of_len. rewrite Forall_map. apply Forall_forall. intros g I. specialize (HG g I).
    apply andb_prop in HG. apply Nat.leb_le. apply HG. }
  assert (TIP : forall g, In g G -> others fr g = true -> tip p c q (j, a) U g = true).
  { intros g I O. specialize (HG g I). apply andb_prop in HG. destruct HG as [_ HG]. unfold others in O.
    apply negb_true_iff in O. fold fr in HG. rewrite O in HG. exact HG. }
  assert (Ewt : forall b, dot b w = dot b t + dot b f).
  { intros b. rewrite Et, Ef, Hy, map_map, Rplus_comm. apply part_split. }
  set (l := scale_of p c a). assert (El : l / lambda_of p = IZR (fst a) * unit_of p c) by (unfold l, scale_of; field;
    lra).
  assert (Pl : 0 < l) by apply scale_pos.
  assert (W : forall b, dot b w = dot b t).
  { apply (far_part_zero (iz (snd a)) w t f v l (lambda_of p) mu sr
      (xi * hsum (rows_of p) (theta_of c) w) (xi * hsum (rows_of p) (theta_of c) t)
      (xi * hsum (rows_of p) r w) (xi * hsum (rows_of p) r t) y G fr); auto.
    - split; auto. unfold sr. apply Rmult_le_reg_r with (IZR (q_sd q)); auto. apply IZR_le in Hsd.
      replace (IZR (q_sn q) / IZR (q_sd q) * IZR (q_sd q)) with (IZR (q_sn q)) by (field; lra). lra.
    - intros b S HS Hb.
      pose proof (near_class (iz (snd a)) w v l (lambda_of p) mu Pl Hlam ltac:(congruence) Nv Q Na near_scaled) as NC.
      replace (Rabs v / l * dot (iz (snd a)) b) with (dot (vscale (Rabs v / l) (iz (snd a))) b)
        by (rewrite (dot_comm (vscale _ _)), dot_scale, (dot_comm b); auto).
      rewrite <- dot_vsub by (unfold vscale; rewrite map_length; congruence).
      apply dot_abs_le; auto; [apply Rmult_le_pos; [lra|apply Rabs_pos]|]. eapply Rle_trans; [exact NC|].
      replace (sr * Rabs v * (sr * Rabs v)) with (sr * sr * (Rabs v * Rabs v)) by ring.
      rewrite <- Rabs_mult, (Rabs_right (v * v)) by nra. apply Rmult_le_compat_r; [nra|].
      apply Rmult_le_reg_r with (lambda_of p); auto.
      replace (2 * mu / lambda_of p * lambda_of p) with (2 * mu) by (field; lra). lra.
    - rewrite El. rewrite <- EDa. lra.
    - intros g I Eg. unfold fr, far in Eg. apply Z.leb_le, IZR_le in Eg. rewrite ?mult_IZR in Eg.
      rewrite El. unfold sr, lambda_of, unit_of.
      apply Rmult_le_reg_r with (IZR (p_lden p) * IZR (q_sd q)); [apply Rmult_lt_0_compat; auto|].
      eapply Rle_trans; [|exact Eg]. apply Req_le. field. lra.
    - rewrite El. rewrite (hsum_part (others fr) y G t Fy Et).
      + rewrite Et.
        pose proof (dot_map_mult gen (IZR (fst a) * (unit_of p c * xi)) (fun g => hsum (rows_of p) (theta_of c)
          (iz (fst g))) (part (others fr) y G) G) as X. set (sum := dot _ _) in X at 2.
        apply Rle_trans with (IZR (fst a) * (unit_of p c * xi) * sum); [|apply Req_le; unfold sum, gen; ring].
        rewrite <- X. clear X.
        apply part_le; auto. intros g I Eg. specialize (TIP g I Eg). unfold tip in TIP. cbn [fst snd] in TIP.
        apply andb_prop in TIP. destruct TIP as [T _]. apply andb_prop in T. destruct T as [T _].
        apply Z.leb_le, IZR_le in T. rewrite !mult_IZR, hsumZ_R, dotZ_R, <- Exi in T. unfold form.
        rewrite <- (hsum_units (p_rden p) (c_tden c)) in T by auto. fold (rows_of p) (theta_of c) in T.
        unfold unit_of. lra.
      + intros z Iz. unfold rows_of in Iz. apply in_map_iff in Iz. destruct Iz as (z0 & <- & Iz).
        assert (S : forall g, In g G -> others fr g = true -> on_side (dir q j) z0 (iz (fst g))).
        { intros g I Eg. specialize (TIP g I Eg). unfold tip in TIP. apply andb_prop in TIP. destruct TIP as [T _].
          apply andb_prop in T. destruct T as [_ T]. rewrite forallb_forall in T. apply same_side_R. exact (T z0 Iz). }
        assert (hi := Rinv_0_lt_compat _ hr). unfold on_side in S. unfold form.
        destruct (0 <=? dotZ z0 (dir q j))%Z; [left|right]; intros g I Eg; specialize (S g I Eg); rewrite ratio_dot.
        * apply Rmult_le_pos; lra.
        * rewrite <- (Rmult_0_r (/ IZR (p_rden p))). apply Rmult_le_compat_l; lra.
    - intros S HS Hff. pose proof (residual_shift (rows_of p) r (theta_of c) w t f mu S Lr ltac:(congruence) Ewt
        ltac:(lra) HFr HS Hff) as B. apply abs_bounds in B. destruct Hxi as [-> | ->]; lra.
    - pose proof (dual_ok_sq _ _ _ _ Hlam (Dr t Lt)) as B. destruct Hxi as [-> | ->]; lra. }
  apply (on_side_sum (others fr) y G); auto; [rewrite W; apply Et|].
  intros g I Eg. specialize (TIP g I Eg). unfold tip in TIP. apply andb_prop in TIP. destruct TIP as [_ T].
  rewrite forallb_forall in T. exact (T gz IU).
Qed.

Theorem neuron_sides : sided p c q (j, a) (unsure p c s q (j, a)) (fst x) = true ->
  forall g z, In (g, z) (lines c) -> concave c s (sgn q j) g = true \/ on_side (dir q j) z w.
Proof.
  intros Hs g z I. destruct (concave c s (sgn q j) g) eqn:Ec; [left; auto|right].
  destruct (sure p c s a z && same_side (dir q j) z (snd a)) eqn:Es.
  { apply andb_prop in Es. destruct Es. apply sure_side; auto. }
  assert (IU : In (g, z) (unsure p c s q (j, a))).
  { unfold unsure. apply filter_In. split; auto. cbn [fst snd]. rewrite Ec, Es. auto. }
  unfold sided in Hs. apply orb_prop in Hs. destruct Hs as [Hs|Hs].
  - rewrite forallb_forall in Hs. specialize (Hs _ IU). cbn [fst snd] in Hs. rewrite forallb_forall in Hs.
    destruct Hpin as (y & Ly & Fy & Hy & _). apply (on_side_sum (fun _ => true) y (fst x)); auto.
    rewrite Hy, map_map. apply part_all.
  - exact (tips_sides (dir q j) _ Hs eq_refl (g, z) IU).
Qed.
End Neuron.

Lemma placed_spot p c s q : forall idx A lo hi U, placed p c s q lo hi U idx A = true ->
  forall sp, In sp A -> null p c s sp = false -> exists ja Uk, In (ja, Uk) U /\ (lo <= fst ja)%nat /\ (fst ja <
    hi)%nat /\
    fst (snd sp) = fst (snd ja) /\ (forall u, dot (iz (snd (snd sp))) u = dot (iz (snd (snd ja))) u) /\
    sided p c q ja Uk (fst sp) = true.
Proof.
  induction idx as [|k idx IH]; intros [|a A] lo hi U E sp I N; simpl in E, I; try discriminate; try tauto.
  apply andb_prop in E. destruct E as [E E']. destruct I as [->|I]; [|eapply IH; eauto].
  rewrite N in E. cbn [orb] in E. destruct (nth_error U k) as [[ja Uk]|] eqn:EU; [|discriminate].
  split_andb E. to_Prop. exists ja, Uk. split; [eapply nth_error_In; eauto|].
  match goal with h : Nat.leb _ _ = true |- _ => apply Nat.leb_le in h end.
  match goal with h : Nat.ltb _ _ = true |- _ => apply Nat.ltb_lt in h end.
  match goal with h : (_ =? _)%Z = true |- _ => apply Z.eqb_eq in h end.
  repeat split; auto. intros u. match goal with h : zeroZ _ = true |- _ => apply (zeroZ_R u) in h; rewrite axpy_R in
    h; lra end.
Qed.
(** the strict test, as facts over the reals *)
Lemma strict_reals p c s A B : run_strict p c s = Some (A, B) -> exists mu, mu = IZR (m_num s) / IZR (m_den s) /\ 0 <
  mu /\
  (0 < m_num s)%Z /\ (0 < m_den s)%Z /\ frob (rows_of p) * gap2 c (m_upper s) <= mu * mu /\ mu < lambda_of p.
Proof.
  intros E. destruct (strict_facts _ _ _ _ _ E) as [ER EU]. destruct (run_sound _ _ _ _ ER) as (Pf & Ht & Hlo & _ & _
    & _ & (HL0 & _) & _).
  destruct (upper_sound _ _ EU) as (_ & _ & Hud). unfold run_strict in E.
  destruct (strict_ok p c s) eqn:S; [|discriminate].
  assert (Eqn : (0 < c_qnum c)%Z).
  { unfold run in ER. destruct (merge _ _ _ _) as [[cf' c0']|]; [|discriminate].
    destruct (0 <? c_qnum c)%Z eqn:Q; [apply Z.ltb_lt; auto|]. rewrite !andb_false_r in ER. discriminate. }
  unfold strict_ok in S. unfold strict_lambda in HL0. destruct (merge _ _ _ _) as [[cf c0]|] eqn:EM; [|discriminate].
  set (radius := (c_lam0 c + rounding _ _ _)%Z) in *. split_andb S. to_Prop.
  destruct Pf as [Hr Hy Hln Hld Hpl].
  assert (hr := IZR_lt _ _ Hr). assert (ht := IZR_lt _ _ Ht). assert (hld := IZR_lt _ _ Hld).
  assert (hmn := IZR_lt _ _ S4). assert (hmd := IZR_lt _ _ S3). assert (hqn := IZR_lt _ _ Eqn).
  assert (hud := IZR_lt _ _ Hud). assert (hlo := IZR_lt _ _ Hlo).
  exists (IZR (m_num s) / IZR (m_den s)). split; [auto|]. split; [apply Rdiv_lt_0_compat; auto|]. split; [auto|].
  split; [auto|]. split.
  - unfold rows_of. rewrite frobenius_R by auto. apply IZR_le in S0. rewrite ?mult_IZR, ?minus_IZR, ?mult_IZR in S0.
    unfold gap2, upper_of, lower_of.
    apply Rmult_le_reg_r with (IZR (p_rden p) * IZR (p_rden p) * (IZR (u_ud (m_upper s)) * IZR (c_lowd c))
       * (IZR (m_den s) * IZR (m_den s))).
    { repeat apply Rmult_lt_0_compat; auto. }
    eapply Rle_trans; [|eapply Rle_trans; [exact S0|]]; apply Req_le; field; repeat split; lra.
  - assert (Hl : IZR radius * (IZR (c_qden c) / IZR (c_qnum c)) / (IZR (p_rden p) * IZR (c_tden c)) + IZR (m_num s) /
      IZR (m_den s) < lambda_of p).
    { unfold lambda_of. apply IZR_lt in S1. rewrite ?mult_IZR, ?plus_IZR, ?mult_IZR in S1.
      apply Rmult_lt_reg_r with (IZR (p_lden p) * (IZR (c_qnum c) * (IZR (p_rden p) * IZR (c_tden c)) * IZR (m_den s))).
      { repeat apply Rmult_lt_0_compat; auto. }
      eapply Rle_lt_trans; [|eapply Rlt_le_trans; [exact S1|]]; apply Req_le; field; repeat split; lra. }
    lra.
Qed.

(** what unique_ok says, in parts *)
Lemma unique_parts p c s q A B : unique_ok p c s q A B = true ->
  let U := map (fun ja => (ja, unsure p c s q ja)) (q_at q) in
  placed p c s q 0 (Nat.min (q_mp q) (q_m q)) U (q_pidx q) A = true /\
  placed p c s q (q_mp q) (q_m q) U (q_nidx q) B = true /\
  (0 < q_sn q)%Z /\ (q_sn q <= q_sd q)%Z /\
  (2 * m_num s * p_lden p * (q_sd q * q_sd q) <= q_sn q * q_sn q * (m_den s * p_lnum p))%Z /\
  forall ja, In ja (q_at q) -> check_at p c q ja = true.
Proof.
  unfold unique_ok. intros E. split_andb E. to_Prop. repeat split; auto. apply forallb_forall. auto.
Qed.

Lemma spread_ok p s q mu : problem_facts p -> mu = IZR (m_num s) / IZR (m_den s) -> (0 < m_den s)%Z ->
  (0 < q_sn q)%Z -> (q_sn q <= q_sd q)%Z ->
  (2 * m_num s * p_lden p * (q_sd q * q_sd q) <= q_sn q * q_sn q * (m_den s * p_lnum p))%Z ->
  2 * mu <= IZR (q_sn q) / IZR (q_sd q) * (IZR (q_sn q) / IZR (q_sd q)) * lambda_of p.
Proof.
  intros Pf Emu Hd H1 H2 H. apply IZR_le in H. rewrite !mult_IZR in H. assert (hld := IZR_lt _ _ (pf_lden p Pf)).
  assert (hmd := IZR_lt _ _ Hd). assert (hsd : 0 < IZR (q_sd q)) by (apply IZR_lt; lia). rewrite Emu. unfold lambda_of.
  apply Rmult_le_reg_r with (IZR (p_lden p) * IZR (m_den s) * (IZR (q_sd q) * IZR (q_sd q)));
    [repeat apply Rmult_lt_0_compat; auto|].
  eapply Rle_trans; [|eapply Rle_trans; [exact H|]]; apply Req_le; field; lra.
Qed.

Lemma frob_spread rows mu lam sr : 0 < lam -> 0 < mu -> 2 * mu <= sr * sr * lam ->
  frob (map iz rows) * (2 * mu / lam) <= sr * IZR (Z.sqrt_up (frobeniusZ rows)) * (sr * IZR (Z.sqrt_up (frobeniusZ
    rows))).
Proof.
  intros Hl Hm H. set (F := Z.sqrt_up (frobeniusZ rows)).
  assert (N : 0 <= IZR (frobeniusZ rows)).
  { rewrite frobeniusZ_R. clear. induction rows as [|z rows IH]; simpl; [lra|]. pose proof (dot_self_nonneg (iz z)).
    lra. }
  replace (sr * IZR F * (sr * IZR F)) with (IZR F * IZR F * (sr * sr)) by ring. rewrite <- frobeniusZ_R.
  apply Rmult_le_compat; auto.
  - left. apply Rdiv_lt_0_compat; lra.
  - rewrite <- mult_IZR. apply IZR_le, Z.sqrt_sqrt_up_spec. apply le_IZR. auto.
  - apply Rmult_le_reg_r with lam; auto. replace (2 * mu / lam * lam) with (2 * mu) by (field; lra). lra.
Qed.
(** the neurons of an optimal network that are not zero, each with its class *)
Definition weighty (nr : neuron) : bool := if Req_EM_T (snd nr) 0 then false else true.
Lemma annotate p c s q A B net : run_strict p c s = Some (A, B) -> unique_ok p c s q A B = true -> optimal_for p net ->
  exists l : list (nat * neuron), Forall (okn p c s q (resid (rows_of p) (y_of p) net)) l /\
    map snd l = filter weighty net /\ forall sg phi, St phi (map (fun l => (sg, l)) l) = sg * measure phi net.
Proof.
  intros Es EU O. destruct (strict_facts _ _ _ _ _ Es) as [ER Eu]. destruct (run_sound _ _ _ _ ER) as (Pf & Ht & _ &
    Lt & _).
  assert (Ly := lengths_agree p Pf). assert (Hlam := lambda_pos p Pf).
  destruct (opt_conditions _ _ _ _ _ Ly O) as [Dr Ac].
  pose proof (neurons_in_cones p c s A B Es net O) as SS. pose proof (residual_in_ball _ _ _ _ _ net ER Eu O) as RB.
  destruct (strict_reals _ _ _ _ _ Es) as (mu & Emu & Hmu & Hn & Hd & Hg & Hml).
  destruct (unique_parts _ _ _ _ _ _ EU) as (PA & PB & Sn0 & Sd0 & M2 & CA). clear EU.
  pose proof (spread_ok _ _ _ _ Pf Emu Hd Sn0 Sd0 M2) as Hss.
  assert (W := proj1 O). unfold well_formed in W. rewrite Forall_forall in W, Ac.
  assert (Lr : length (resid (rows_of p) (y_of p) net) = length (theta_of c)) by (rewrite resid_len; auto).
  set (r := resid (rows_of p) (y_of p) net) in *.
  assert (HFr : frob (rows_of p) * dot (vsub r (theta_of c)) (vsub r (theta_of c)) <= mu * mu).
  { eapply Rle_trans; [|exact Hg]. apply Rmult_le_compat_l; auto.
    clear. induction (rows_of p) as [|z rows IH]; simpl; [lra|pose proof (dot_self_nonneg z); lra]. }
  clearbody r. clear O RB.
  assert (ONE : forall w v, In (w, v) net -> v <> 0 -> exists j, okn p c s q r (j, (w, v))).
  { intros w v I Nv. destruct (SS w v I) as (Sp & Sn & _). specialize (W _ I). simpl in W. specialize (Ac _ I).
    assert (GO : forall xi sp lo hi idx S, 0 < xi * v -> (xi = 1 \/ xi = -1) -> In sp S ->
      pinned (unit_of p c * (xi * hsum (rows_of p) (theta_of c) w)) w sp ->
      placed p c s q lo hi (map (fun ja => (ja, unsure p c s q ja)) (q_at q)) idx S = true ->
      (forall j, (lo <= j)%nat -> (j < hi)%nat -> IZR (sgn q j) = xi) -> exists j, okn p c s q r (j, (w, v))).
    { intros xi sp lo hi idx S Hx Hxi Isp Psp PS HS.
      assert (NN : null p c s sp = false)
        by (eapply not_null with (r := r) (w := w) (v := v) (mu := mu) (xi := xi); eauto).
      destruct (placed_spot _ _ _ _ _ _ _ _ _ PS sp Isp NN) as ([j a] & Uk & IU & J1 & J2 & ED & Ec & Sd').
      apply in_map_iff in IU. destruct IU as (ja & EU & Ia). injection EU as -> <-. simpl in J1, J2, ED, Ec.
      assert (Ca := CA _ Ia). assert (Exi := eq_sym (HS j J1 J2)).
      exists j. repeat split; simpl; auto.
      - assert (Cb := Ca). unfold check_at in Cb. split_andb Cb. apply Nat.ltb_lt. auto.
      - rewrite <- Exi. auto.
      - exists a. split; auto.
        eapply near_class_at with (r := r) (mu := mu) (xi := xi) (x := sp); eauto.
      - intros g z Ig.
        eapply neuron_sides with (r := r) (mu := mu) (xi := xi) (x := sp) (v := v); eauto. }
    destruct (Rtotal_order v 0) as [hn|[h0|hp]]; [|congruence|].
    - destruct (Sn hn) as (sp & Isp & Psp).
      apply (GO (-1) sp _ _ _ _ ltac:(lra) ltac:(auto) Isp) with (2 := PB).
      + replace (-1 * hsum (rows_of p) (theta_of c) w) with (- hsum (rows_of p) (theta_of c) w) by ring. auto.
      + intros j J1 J2. unfold sgn. destruct (Nat.ltb_spec j (q_mp q)); [lia|auto].
    - destruct (Sp hp) as (sp & Isp & Psp).
      apply (GO 1 sp _ _ _ _ ltac:(lra) ltac:(auto) Isp) with (2 := PA).
      + rewrite Rmult_1_l. auto.
      + intros j J1 J2. unfold sgn. destruct (Nat.ltb_spec j (q_mp q)); [auto|lia]. }
  clear SS. induction net as [|[w v] net IH].
  - exists []. repeat split; [constructor|]. intros; simpl; ring.
  - destruct IH as (l & FA & IA & EA).
    { intros; apply Ac; simpl; auto. } { intros; apply W; simpl; auto. } { intros; eapply ONE; simpl; eauto. }
    cbn [filter]. unfold weighty at 1. cbn [snd]. destruct (Req_EM_T v 0) as [->|Nv].
    + exists l. repeat split; auto. intros sg phi. rewrite EA. simpl. ring.
    + destruct (ONE w v (or_introl eq_refl) Nv) as (j & J). exists ((j, (w, v)) :: l). repeat split.
      * constructor; auto.
      * simpl. rewrite IA. auto.
      * intros sg phi. simpl. rewrite EA. ring.
Qed.
Lemma St_app phi L1 L2 : St phi (L1 ++ L2) = St phi L1 + St phi L2.
Proof. induction L1 as [|[sg [i nr]] L1 IH]; simpl; [ring|rewrite IH; ring]. Qed.

(** two neurons of one class are parallel *)
Lemma class_parallel p c s q A B net j e ve w v : run_strict p c s = Some (A, B) -> optimal_for p net ->
  okn p c s q (resid (rows_of p) (y_of p) net) (j, (e, ve)) -> okn p c s q (resid (rows_of p) (y_of p) net) (j, (w,
    v)) ->
  vscale (IZR (sgn q j) * v) e = vscale (IZR (sgn q j) * ve) w.
Proof.
  intros Es O (_ & Pe & Le & Ae & _ & Se) (_ & Pw & Lw & Aw & _ & Sw). cbn [fst snd] in *.
  destruct (strict_facts _ _ _ _ _ Es) as [ERun Eu]. destruct (run_sound _ _ _ _ ERun) as (Pf & Et & Elo & Lt & _).
  assert (Ly := lengths_agree p Pf). assert (Hlam := lambda_pos p Pf). destruct (upper_sound _ _ Eu) as (_ & _ & Hud).
  destruct (opt_conditions _ _ _ _ _ Ly O) as [Dr _]. pose proof (residual_in_ball _ _ _ _ _ net ERun Eu O) as Hg.
  assert (Lr : length (rows_of p) = length (resid (rows_of p) (y_of p) net)) by (rewrite resid_len; auto).
  set (r := resid (rows_of p) (y_of p) net) in *. clearbody r.
  assert (EMG : exists cf c0, merge (c_reps c) (p_rows p) (c_theta c) (c_merge c) = Some (cf, c0)).
  { unfold run in ERun. destruct (merge _ _ _ _) as [[cf c0]|]; [eauto|discriminate]. }
  destruct EMG as (cf & c0 & EM). destruct (merge_on_line _ _ _ _ _ _ EM) as (mg & OL & EL).
  assert (hr := IZR_lt _ _ (pf_rden p Pf)). assert (ht := IZR_lt _ _ Et). assert (hlo := IZR_lt _ _ Elo).
  assert (hud := IZR_lt _ _ Hud).
  assert (Hxi : IZR (sgn q j) = 1 \/ IZR (sgn q j) = -1) by (unfold sgn; destruct (j <? q_mp q)%nat; auto).
  apply (parallel (lambda_of p) (rows_of p) r (p_dim p)); auto.
  unfold rows_of. apply (superadd_lines (p_rden p) (c_reps c) (p_rows p) mg); auto.
  - congruence.
  - rewrite <- Lr. unfold rows_of. apply map_length.
  - intros g Hg'.
    assert (Ig : In (g, nth g (c_reps c) []) (lines c)).
    { unfold lines. clear - Hg'. assert (X := combine_nth (seq 0 (length (c_reps c))) (c_reps c) g 0%nat []
      (seq_length _ _)).
      rewrite seq_nth in X by auto. simpl in X. rewrite <- X. apply nth_In.
      rewrite combine_length, seq_length. lia. }
    destruct (Se _ _ Ig) as [CR|CE]; [|destruct (Sw _ _ Ig) as [CR|CW]].
    3:{ left. apply bend_zero; [congruence|]. unfold on_side in CE, CW. destruct (0 <=? _)%Z; [left|right]; auto. }
    all: right; unfold concave in CR; apply andb_prop in CR; destruct CR as [K1 K2]; apply Z.ltb_lt in K1;
      apply Z.leb_le in K2; rewrite <- (EL g r) by (rewrite <- Lr; unfold rows_of; apply map_length);
      apply (concave_line g (c_merge c) (c_theta c) (c_tden c) (gap2 c (m_upper s))); auto;
      [unfold theta_of in Lt; congruence|apply IZR_lt in K1; rewrite mult_IZR in K1; auto|];
      apply IZR_le in K2; rewrite ?mult_IZR, ?minus_IZR, ?mult_IZR in K2; unfold gap2, upper_of, lower_of;
      apply Rmult_le_reg_r with (IZR (c_tden c) * IZR (c_tden c) * (IZR (u_ud (m_upper s)) * IZR (c_lowd c)));
      [repeat apply Rmult_lt_0_compat; auto|];
      (eapply Rle_trans; [|eapply Rle_trans; [exact K2|]]); apply Req_le; field; repeat split; lra.
Qed.

(** All optimal networks put the same weight on every ray. *)
Theorem unique_sound p c s q : check_unique p c s q = true ->
  forall N1 N2, optimal_for p N1 -> optimal_for p N2 -> same_measure N1 N2.
Proof.
  intros E N1 N2 O1 O2. unfold check_unique in E. destruct (run_strict p c s) as [[A B]|] eqn:Es; [|discriminate].
  destruct (strict_facts _ _ _ _ _ Es) as [ERun Eu].
  destruct (run_sound _ _ _ _ ERun) as (Pf & Et & Elo & Lt & _).
  destruct (strict_reals _ _ _ _ _ Es) as (mu & Emu & Hmu & Hmn & Hmd & Hgg & Hml).
  assert (Ly := lengths_agree p Pf). assert (Hlam := lambda_pos p Pf).
  assert (hr := IZR_lt _ _ (pf_rden p Pf)). assert (ht := IZR_lt _ _ Et).
  assert (hld := IZR_lt _ _ (pf_lden p Pf)).
  assert (hln := IZR_lt _ _ (pf_lnum p Pf)).
  assert (hmn := IZR_lt _ _ Hmn). assert (hmd := IZR_lt _ _ Hmd).
  pose proof (predictions_unique _ _ _ _ _ _ Ly O1 O2) as PU.
  assert (ER : resid (rows_of p) (y_of p) N1 = resid (rows_of p) (y_of p) N2).
  { apply vsub_zero; auto. rewrite !resid_len; auto. }
  destruct (annotate _ _ _ _ _ _ _ Es E O1) as (A1 & F1 & _ & S1).
  destruct (annotate _ _ _ _ _ _ _ Es E O2) as (A2 & F2 & _ & S2).
  destruct (opt_conditions _ _ _ _ _ Ly O1) as [Dr _].
  rewrite <- ER in F2. set (r := resid (rows_of p) (y_of p) N1) in *.
  destruct (unique_parts _ _ _ _ _ _ E) as (_ & _ & Sn0 & Sd0 & M2 & CG).
  pose proof (spread_ok _ _ _ _ Pf Emu Hmd Sn0 Sd0 M2) as Hss. assert (hsn := IZR_lt _ _ Sn0).
  assert (hsd : 0 < IZR (q_sd q)) by (apply IZR_lt; lia). set (sr := IZR (q_sn q) / IZR (q_sd q)) in *.
  assert (Ps : 0 < sr) by (apply Rdiv_lt_0_compat; auto). set (F := Z.sqrt_up (frobeniusZ (p_rows p))).
  assert (HF0 : 0 <= IZR F) by (apply IZR_le, Z.sqrt_up_nonneg).
  set (w0 := sr * IZR F). assert (Hw0 : 0 <= w0) by (apply Rmult_le_pos; lra).
  pose proof (frob_spread (p_rows p) mu (lambda_of p) sr Hlam Hmu Hss) as HW. fold F w0 in HW.
  set (L := map (fun l => (1, l)) A1 ++ map (fun l => (-1, l)) A2).
  assert (FL : Forall (fun l : lab => okn p c s q r (snd l)) L).
  { unfold L. apply Forall_app. split; rewrite Forall_map; simpl; auto. }
  assert (TL : forall phi, St phi L = measure phi N1 - measure phi N2).
  { intros phi. unfold L. rewrite St_app, S1, S2. ring. }
  set (be := fun i : nat => hsum (rows_of p) (iz (nth i (q_B q) []))).
  assert (Hbe : forall i, homogeneous (be i)) by (intros i; apply hsum_hom).
  assert (FI : Forall (fun l : lab => (fst (snd l) < q_m q)%nat) L).
  { eapply Forall_impl; [|exact FL]. intros l K. apply K. }
  rewrite Forall_forall in FL.
  assert (QJ : forall j, (j < q_m q)%nat -> forall phi, homogeneous phi -> Sd phi j L = 0).
  { apply (dominance (q_m q) (fun i j => Sd (be i) j L) (fun j => forall phi, homogeneous phi -> Sd phi j L = 0)).
    - intros i _. rewrite Sd_total by auto. rewrite TL. unfold be. rewrite !measure_tout.
      rewrite (tout_resid N1 N2 _ _ _ Ly ER). ring.
    - intros j Hj. destruct (Sd_case j L) as [(sg & [e ve] & I)|Z]; [|left; auto].
      destruct (FL _ I) as (_ & Pe & Le & Ae & (a & Ia & Ce) & _). simpl in *.
      assert (CJ := CG _ Ia). unfold check_at in CJ. cbn [fst snd] in CJ. apply andb_prop in CJ. destruct CJ as [CJ CD].
      apply andb_prop in CJ. destruct CJ as [CJ CC]. apply andb_prop in CJ. destruct CJ as [CJ CL].
      apply andb_prop in CJ. destruct CJ as [_ CA].
      apply Z.ltb_lt in CA, CD. apply Z.leb_le in CC. apply Nat.eqb_eq in CL. assert (hD := IZR_lt _ _ CA).
      unfold near_at in Ce. cbn [fst snd] in Ce.
      set (ll := scale_of p c a) in *.
      assert (EL0 : ll = IZR (p_lnum p * p_rden p * c_tden c * fst a) / IZR (p_lden p)).
      { unfold ll, scale_of, unit_of, lambda_of. rewrite !mult_IZR. field. lra. }
      assert (Hll : 0 < ll).
      { rewrite EL0. apply Rdiv_lt_0_compat; auto. rewrite !mult_IZR. repeat apply Rmult_lt_0_compat; auto. }
      assert (HCC : dot (iz (snd a)) (iz (snd a)) <= ll * ll).
      { apply IZR_le in CC. rewrite mult_IZR, dotZ_R, !(mult_IZR (p_lnum p * p_rden p * c_tden c * fst a)) in CC.
        rewrite mult_IZR in CC.
        rewrite EL0. apply Rmult_le_reg_r with (IZR (p_lden p) * IZR (p_lden p)); [nra|].
        eapply Rle_trans; [exact CC|]. apply Req_le. field. lra. }
      assert (Hxi : IZR (sgn q j) = 1 \/ IZR (sgn q j) = -1) by (unfold sgn; destruct (j <? q_mp q)%nat; auto).
      assert (Nv : ve <> 0) by (intros ->; lra).
      assert (LC : length (iz (snd a)) = p_dim p) by (unfold iz; rewrite map_length; auto).
      rewrite <- Emu in Ce.
      destruct (Sd_rep j e ve Nv L) as (al & Ral).
      { intros sg' w v I' phi Hphi. pose proof (class_parallel _ _ _ _ _ _ _ _ _ _ _ _ Es O1 (FL _ I) (FL _ I')) as PP.
        destruct (FL _ I') as (_ & Pw & _). simpl in Pw.
        assert (PH : phi (vscale (IZR (sgn q j) * v) e) = phi (vscale (IZR (sgn q j) * ve) w)) by congruence.
        unfold vscale in PH. rewrite !Hphi in PH by lra.
        destruct Hxi as [X|X]; rewrite X in PH; lra. }
      destruct (Req_dec al 0) as [->|Nal].
      + left. intros phi Hphi. rewrite Ral by auto. ring.
      + right. destruct (active_norm _ _ _ _ _ _ Hlam Dr Le Ae Nv) as [Qe _].
        assert (NS : forall i, Rabs (hsum (map iz (p_rows p)) (iz (nth i (q_B q) [])) e
            - Rabs ve / ll * IZR (hsumZ (p_rows p) (nth i (q_B q) []) (snd a))) <= IZR (norm_up (nth i (q_B q) [])) *
                w0 * Rabs ve).
        { intros i. rewrite hsumZ_R. apply (near_sum (iz (snd a)) e ve ll (lambda_of p) mu); auto; try congruence; try
            lra.
          - apply norm_up_R.
          - apply norm_up_R. }
        assert (Pv : 0 < Rabs ve) by (apply Rabs_pos_lt; auto). assert (Pvl : 0 < Rabs ve / ll) by (apply
          Rdiv_lt_0_compat; auto).
        assert (DA : sumn (q_m q) (off j (fun i => Rabs (hsum (map iz (p_rows p)) (iz (nth i (q_B q) [])) e)))
                     < hsum (map iz (p_rows p)) (iz (nth j (q_B q) [])) e).
        { set (Hf := fun i => IZR (hsumZ (p_rows p) (nth i (q_B q) []) (snd a))).
          set (Sf := fun i => IZR (norm_up (nth i (q_B q) []))).
          assert (U1 : sumn (q_m q) (off j (fun i => Rabs (hsum (map iz (p_rows p)) (iz (nth i (q_B q) [])) e)))
            <= sumn (q_m q) (off j (fun i => Rabs ve / ll * Rabs (Hf i) + w0 * Rabs ve * Sf i))).
          { apply sumn_le. intros i _. unfold off. destruct (Nat.eqb i j); [lra|]. specialize (NS i).
            fold (Hf i) in NS. fold (Sf i) in NS.
            pose proof (Rabs_triang (hsum (map iz (p_rows p)) (iz (nth i (q_B q) [])) e - Rabs ve / ll * Hf i) (Rabs
              ve / ll * Hf i)) as T.
            rewrite (Rabs_mult (Rabs ve / ll)), (Rabs_right (Rabs ve / ll)) in T by lra.
            replace (hsum (map iz (p_rows p)) (iz (nth i (q_B q) [])) e - Rabs ve / ll * Hf i + Rabs ve / ll * Hf i)
              with (hsum (map iz (p_rows p)) (iz (nth i (q_B q) [])) e) in T by ring. lra. }
          assert (U2 : Rabs ve / ll * Hf j - w0 * Rabs ve * Sf j <= hsum (map iz (p_rows p)) (iz (nth j (q_B q) [])) e).
          { specialize (NS j). fold (Hf j) in NS. fold (Sf j) in NS.
            pose proof (Rle_abs (- (hsum (map iz (p_rows p)) (iz (nth j (q_B q) [])) e - Rabs ve / ll * Hf j))) as T.
            rewrite Rabs_Ropp in T. lra. }
          assert (ES1 : sumn (q_m q) (off j (fun i => Rabs ve / ll * Rabs (Hf i) + w0 * Rabs ve * Sf i))
            = Rabs ve / ll * sumn (q_m q) (off j (fun i => Rabs (Hf i))) + w0 * Rabs ve * sumn (q_m q) (off j Sf)).
          { rewrite <- !sumn_scale, <- sumn_plus. apply sumn_ext. intros i _. unfold off.
            destruct (Nat.eqb i j); ring. }
          assert (ES2 : sumn (q_m q) Sf = Sf j + sumn (q_m q) (off j Sf)) by (apply sumn_off; auto).
          assert (KEY : sumn (q_m q) (off j (fun i => Rabs (Hf i))) + sumn (q_m q) Sf * w0 * ll < Hf j).
          { apply IZR_lt in CD. rewrite plus_IZR, !(mult_IZR (sumnZ _ _)), !(mult_IZR (hsumZ _ _ _)) in CD.
            fold F in CD. rewrite (mult_IZR (sumnZ (q_m q) (fun i => norm_up (nth i (q_B q) [])) * (q_sn q * F))),
              (mult_IZR (sumnZ _ _) (q_sn q * F)), (mult_IZR (q_sn q) F) in CD.
            rewrite !sumnZ_R in CD. rewrite (mult_IZR (p_lden p) (q_sd q)) in CD.
            assert (SE : sumn (q_m q) (fun i => IZR (if Nat.eqb i j then 0%Z else Z.abs (hsumZ (p_rows p) (nth i (q_B
              q) []) (snd a))))
              = sumn (q_m q) (off j (fun i => Rabs (Hf i)))).
            { apply sumn_ext. intros i _. unfold off, Hf. destruct (Nat.eqb i j); auto. apply abs_IZR. }
            rewrite SE in CD. fold (Hf j) in CD. change (sumn (q_m q) (fun i => IZR (norm_up (nth i (q_B q) []))))
              with (sumn (q_m q) Sf) in CD.
            apply Rmult_lt_reg_r with (IZR (p_lden p) * IZR (q_sd q)); [apply Rmult_lt_0_compat; auto|].
            eapply Rle_lt_trans; [|exact CD]. apply Req_le. rewrite EL0. unfold w0, sr. field. lra. }
          assert (KEY' : Rabs ve / ll * (sumn (q_m q) (off j (fun i => Rabs (Hf i))) + sumn (q_m q) Sf * w0 * ll) <
            Rabs ve / ll * Hf j)
            by (apply Rmult_lt_compat_l; auto).
          rewrite Rmult_plus_distr_l in KEY'.
          replace (Rabs ve / ll * (sumn (q_m q) Sf * w0 * ll)) with (w0 * Rabs ve * sumn (q_m q) Sf) in KEY' by
            (field; lra).
          rewrite ES2 in KEY'. lra. }
        assert (EQ : forall i, Sd (be i) j L = al / IZR (p_rden p) * hsum (map iz (p_rows p)) (iz (nth i (q_B q) []))
          e).
        { intros i. rewrite Ral by auto. unfold be, rows_of. rewrite hsum_rat by auto. field. lra. }
        assert (Pal : 0 < Rabs (al / IZR (p_rden p))).
        { apply Rabs_pos_lt. unfold Rdiv. apply Rmult_integral_contrapositive_currified; auto.
          apply Rinv_neq_0_compat. lra. }
        rewrite (sumn_ext _ _ (fun i => Rabs (al / IZR (p_rden p)) *
           off j (fun i => Rabs (hsum (map iz (p_rows p)) (iz (nth i (q_B q) [])) e)) i)).
        2:{ intros i _. unfold off. destruct (Nat.eqb i j); [ring|]. rewrite EQ, Rabs_mult. auto. }
        rewrite sumn_scale, EQ, Rabs_mult. apply Rmult_lt_compat_l; auto.
        eapply Rlt_le_trans; [exact DA|]. apply Rle_abs.
    - intros j Z i. apply Z. auto. }
  intros phi Hphi. assert (T := TL phi). rewrite <- (Sd_total phi (q_m q) L FI) in T.
  rewrite sumn_zero in T; [lra|]. intros j Hj. apply QJ; auto.
Qed.

(** In particular they are the same function on all of R^d. *)
Corollary function_unique p c s q : check_unique p c s q = true ->
  forall N1 N2, optimal_for p N1 -> optimal_for p N2 -> forall z, out N1 z = out N2 z.
Proof.
  intros E N1 N2 O1 O2 z.
  assert (M : forall N, out N z = measure (fun w => relu (dot z w)) N).
  { induction N as [|[w v] N IH]; simpl; auto. rewrite IH. auto. }
  rewrite !M. eapply unique_sound; eauto. intros t u Ht. fold (vscale t u). rewrite dot_scale, relu_scale; auto.
Qed.
