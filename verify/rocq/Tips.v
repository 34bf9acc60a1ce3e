(** * Where lines bend up: an active neuron in a leaf has no part along generators with room

    The leaf says D h(w) + sum_i y_i room_i <= c.w for w = sum_i y_i g_i. Let t be the part of w along the *tips*, the
    generators at which c.g = D h(g), and suppose that all others are *far*: room >= 2 lambda s D |g|, with
    s^2 >= 2 mu/lambda. Then w = t: the way from w to t gains more in h than it costs in |.|, at first order. *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool.
From Relu Require Import Spec Vectors Duality Checker Cones Soundness.
Import ListNotations.
Open Scope R_scope.

Lemma abs_bounds x b : Rabs x <= b -> - b <= x <= b.
Proof. intros H. pose proof (Rle_abs x). pose proof (Rle_abs (- x)) as N. rewrite Rabs_Ropp in N. lra. Qed.

(** the part of y that belongs to some generators *)
Fixpoint part (b : gen -> bool) (y : list R) (G : list gen) : list R :=
  match y, G with a :: y', g :: G' => (if b g then a else 0) :: part b y' G' | _, _ => [] end.
Definition others (b : gen -> bool) (g : gen) : bool := negb (b g).
Lemma part_split b (f : gen -> R) : forall y G, dot y (map f G) = dot (part b y G) (map f G) + dot (part (others b) y G)
  (map f G).
Proof.
  induction y as [|a y IH]; intros [|g G]; simpl; try ring. rewrite IH. unfold others. destruct (b g); simpl; ring.
Qed.
Lemma part_le b (f h : gen -> R) : forall y G, Forall (Rle 0) y -> (forall g, In g G -> b g = true -> f g <= h g) ->
  dot (part b y G) (map f G) <= dot (part b y G) (map h G).
Proof.
  induction y as [|a y IH]; intros [|g G] F H; simpl; try lra.
  assert (F0 := Forall_inv F). assert (IH' := IH G (Forall_inv_tail F) ltac:(intros; apply H; simpl; auto)).
  destruct (b g) eqn:E; [|lra]. specialize (H g (or_introl eq_refl) E). nra.
Qed.
Lemma part_nonneg b : forall y G, Forall (Rle 0) y -> Forall (Rle 0) (part b y G).
Proof.
  induction y as [|a y IH]; intros [|g G] F; simpl; constructor; [|apply IH; exact (Forall_inv_tail F)].
  assert (F0 := Forall_inv F). destruct (b g); lra.
Qed.
Lemma dot_map_mult (A : Type) k (f : A -> R) : forall x (G : list A),
  dot x (map (fun g => k * f g) G) = k * dot x (map f G).
Proof. induction x as [|a x IH]; intros [|g G]; simpl; try ring. rewrite IH. ring. Qed.

(** where all values have one sign, the sum of their positive parts is that of the sum *)
Lemma part_relu b (f : gen -> R) y G : Forall (Rle 0) y ->
  (forall g, In g G -> b g = true -> 0 <= f g) \/ (forall g, In g G -> b g = true -> f g <= 0) ->
  relu (dot (part b y G) (map f G)) = dot (part b y G) (map (fun g => relu (f g)) G).
Proof.
  assert (Z0 : forall x (G : list gen), dot x (map (fun _ => 0) G) = 0) by (intros; apply dot_map_zero; auto).
  intros F [H|H].
  - rewrite relu_pos.
    + apply Rle_antisym; apply part_le; auto; intros g I E; rewrite relu_pos by auto; lra.
    + rewrite <- (Z0 (part b y G) G). apply part_le; auto.
  - rewrite relu_neg.
    + rewrite <- (Z0 (part b y G) G). apply Rle_antisym; apply part_le; auto; intros g I E; rewrite relu_neg by auto;
        lra.
    + rewrite <- (Z0 (part b y G) G). apply part_le; auto.
Qed.
Lemma hsum_part b y G t : Forall (Rle 0) y ->
  (forall a, dot a t = dot (part b y G) (map (fun g => form a (fst g)) G)) ->
  forall rows th, (forall z, In z rows -> (forall g, In g G -> b g = true -> 0 <= form z (fst g)) \/
    (forall g, In g G -> b g = true -> form z (fst g) <= 0)) ->
  hsum rows th t = dot (part b y G) (map (fun g => hsum rows th (iz (fst g))) G).
Proof.
  intros F Ht. induction rows as [|z rows IH]; intros [|x th] H; simpl; try (symmetry; apply dot_map_zero; auto).
  rewrite dot_map_add, dot_map_mult, IH by (intros; apply H; simpl; auto).
  rewrite Ht, (part_relu b (fun g => form z (fst g))) by (auto; apply H; simpl; auto). auto.
Qed.

(** the sum of a part, as a vector of d entries *)
Definition vector_of (d : nat) (x : list R) (G : cone) : list R :=
  real_sum x G ++ repeat 0 (d - length (real_sum x G)).
Lemma vector_of_R d x G v : dot v (vector_of d x G) = dot x (map (form v) G).
Proof. unfold vector_of. rewrite dot_pad. apply real_sum_R. Qed.
Lemma vector_of_len d x G : Forall (fun g => (length g <= d)%nat) G -> length (vector_of d x G) = d.
Proof.
  intros F. unfold vector_of. rewrite app_length, repeat_length. pose proof (real_sum_len d x G F). lia.
Qed.

(** the length of a vector of integers, rounded up *)
Definition norm_up (b : list Z) : Z := Z.sqrt_up (dotZ b b).
Lemma norm_up_R b : 0 <= IZR (norm_up b) /\ dot (iz b) (iz b) <= IZR (norm_up b) * IZR (norm_up b).
Proof.
  unfold norm_up. split; [apply IZR_le, Z.sqrt_up_nonneg|]. rewrite <- dotZ_R, <- mult_IZR. apply IZR_le.
  apply Z.sqrt_sqrt_up_spec. apply le_IZR. rewrite dotZ_R. apply dot_self_nonneg.
Qed.

Section Tips.
(** l = D K lambda; hw, ht: h at theta of w and t; rw, rt: at the residual *)
Variables (c w t f : list R) (v l lam mu s : R) (hw ht rw rt : R) (y : list R) (G : list gen) (far : gen -> bool).
Hypothesis (Hl : 0 < l) (Hlam : 0 < lam) (Hs : 0 < s <= 1) (Hss : 2 * mu <= s * s * lam).
Hypothesis (Hv : v <> 0) (Hw : dot w w = v * v) (Hc : dot c c <= l * l).
Hypothesis (Near : forall a S, 0 <= S -> dot a a <= S * S -> Rabs (dot w a - Rabs v / l * dot c a) <= s * Rabs v * S).
Hypothesis (Fy : Forall (Rle 0) y) (Hrooms : Forall (Rle 0) (rooms_of G)).
Hypothesis (Hwt : forall a, dot a w = dot a t + dot a f).
Hypothesis (Hf : forall a, dot a f = dot (part far y G) (map (fun g => form a (fst g)) G)).
Hypothesis (Hpin : l / lam * hw + dot y (rooms_of G) <= dot c w) (Hhw : (lam - mu) * Rabs v <= hw).
Hypothesis (Hfar : forall g, In g G -> far g = true ->
  2 * lam * s * (l / lam) * IZR (norm_up (fst g)) <= IZR (snd g)).
Hypothesis (Htip : dot c t <= l / lam * ht).
Hypothesis (Hlip : forall S, 0 <= S -> dot f f <= S * S -> (rw - hw) - (rt - ht) <= mu * S).
Hypothesis (Hrw : rw = lam * Rabs v) (Hrt : rt * rt <= lam * lam * dot t t).

Let size (g : gen) : R := IZR (norm_up (fst g)).
Let E : R := dot (part far y G) (map size G).
Lemma size_nonneg g : 0 <= size g. Proof. apply norm_up_R. Qed.
Lemma E_nonneg : 0 <= E.
Proof.
  apply dot_nonneg; [apply part_nonneg; auto|]. rewrite Forall_map. apply Forall_forall. intros; apply size_nonneg.
Qed.
Lemma seen_part a S : 0 <= S -> dot a a <= S * S -> Rabs (dot a f) <= S * E.
Proof.
  intros H0 Ha. unfold E. rewrite <- dot_map_mult, Hf.
  assert (B : forall g, - (S * size g) <= form a (fst g) <= S * size g).
  { intros g. unfold form. pose proof (dot_abs_le a (iz (fst g)) S (size g) H0 (size_nonneg g) Ha) as D.
    apply abs_bounds. apply D. apply norm_up_R. }
  assert (N : dot (part far y G) (map (fun g => -1 * form a (fst g)) G)
              <= dot (part far y G) (map (fun g => S * size g) G))
    by (apply part_le; auto; intros g _ _; specialize (B g); lra).
  rewrite dot_map_mult in N. apply Rabs_le. split; [lra|]. apply part_le; auto. intros g _ _. apply B.
Qed.
Lemma part_small : dot f f <= E * E.
Proof.
  unfold E at 2. rewrite Hf, <- dot_map_mult. apply part_le; auto. intros g _ _. destruct (norm_up_R (fst g)) as [N0 N].
  pose proof (seen_part (iz (fst g)) _ N0 N) as B. apply abs_bounds in B. unfold form.
  rewrite dot_comm. unfold size. lra.
Qed.
Lemma rooms_far : 2 * lam * s * (l / lam) * E <= dot y (rooms_of G).
Proof.
  unfold rooms_of, E in *. rewrite (part_split far (fun g => IZR (snd g))).
  assert (N : 0 <= dot (part (others far) y G) (map (fun g : gen => IZR (snd g)) G))
    by (apply dot_nonneg; auto; apply part_nonneg; auto).
  apply Rle_trans with (dot (part far y G) (map (fun g : gen => IZR (snd g)) G)); [|lra].
  rewrite <- dot_map_mult. apply part_le; auto.
Qed.
(** so w and t are the same *)
Theorem far_part_zero : forall a, dot a w = dot a t.
Proof.
  set (A := Rabs v). assert (PA : 0 < A) by (apply Rabs_pos_lt; auto).
  assert (A2 : A * A = v * v) by (unfold A; rewrite <- Rabs_mult; apply Rabs_right; nra).
  pose proof E_nonneg as E0. pose proof rooms_far as RF. pose proof part_small as FE.
  assert (Pl : 0 < l / lam) by (apply Rdiv_lt_0_compat; auto).
  (* c.w <= l A, so E <= s A / 4 *)
  assert (CW : dot c w <= l * A).
  { pose proof (dot_abs_le c w l A ltac:(lra) ltac:(lra) Hc ltac:(lra)) as C. apply abs_bounds in C. lra. }
  fold A in Hhw, Hrw, Near.
  assert (E1 : 4 * E <= s * A).
  { assert (X : l / lam * (2 * lam * s * E) <= l / lam * (mu * A)).
    { apply Rle_trans with (dot c w - l / lam * hw); [lra|].
      assert (l / lam * ((lam - mu) * A) <= l / lam * hw) by (apply Rmult_le_compat_l; lra).
      replace (l / lam * (mu * A)) with (l * A - l / lam * ((lam - mu) * A)) by (field; lra). lra. }
    apply Rmult_le_reg_l in X; auto. assert (P : 0 < lam * s / 2) by (apply Rmult_lt_0_compat; [nra|lra]).
    apply Rmult_le_reg_l with (lam * s / 2); auto.
    assert (2 * mu * A <= s * s * lam * A) by (apply Rmult_le_compat_r; lra). lra. }
  set (W := dot w f).
  assert (BW : Rabs W <= A * E) by (apply seen_part; lra).
  apply abs_bounds in BW. set (B := W / A). assert (EB : B * A = W) by (unfold B; field; lra).
  assert (B1 : - E <= B <= E) by (split; apply Rmult_le_reg_r with A; auto; lra).
  (* the part along c *)
  assert (CF : lam / l * dot c f <= lam * B + lam * s * E).
  { assert (N := Near f E E0 FE). rewrite Rabs_minus_sym in N. fold W in N. apply abs_bounds in N.
    apply Rmult_le_reg_l with (A / lam); [apply Rdiv_lt_0_compat; auto|].
    replace (A / lam * (lam / l * dot c f)) with (A / l * dot c f) by (field; lra).
    replace (A / lam * (lam * B + lam * s * E)) with (B * A + s * A * E) by (field; lra). lra. }
  assert (HH : hw - ht <= lam / l * dot c f - 2 * lam * s * E).
  { apply Rmult_le_reg_l with (l / lam); auto.
    replace (l / lam * (lam / l * dot c f - 2 * lam * s * E)) with
      (dot c f - 2 * lam * s * (l / lam) * E) by (field; lra).
    pose proof (Hwt c). lra. }
  pose proof (Hlip E E0 FE) as LI.
  assert (X : lam * (A - B) + lam * s / 2 * E <= rt).
  { assert (mu * E <= lam * s / 2 * E).
    { apply Rmult_le_compat_r; auto. assert (s * s * lam <= s * 1 * lam); [|lra].
      apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra. }
    lra. }
  assert (TT : dot t t <= (A - B) * (A - B) + E * E).
  { pose proof (Hwt w) as T1. pose proof (Hwt t) as T2. pose proof (Hwt f) as T3. fold W in T1.
    rewrite (dot_comm f w) in T3. fold W in T3. rewrite (dot_comm t w) in T2. rewrite (dot_comm f t) in T3.
    rewrite Hw in T1. replace ((A - B) * (A - B)) with (A * A - 2 * (B * A) + B * B) by ring. rewrite EB, A2.
    pose proof (Rle_0_sqr B) as Sq. unfold Rsqr in Sq. lra. }
  assert (AB : 3 / 4 * A <= A - B).
  { assert (s * A <= 1 * A) by (apply Rmult_le_compat_r; lra). lra. }
  assert (E = 0).
  { destruct (Rle_lt_or_eq_dec _ _ E0) as [h|h]; auto. exfalso.
    assert (P : 0 <= lam * (A - B) + lam * s / 2 * E) 
      by (assert (0 <= lam * s / 2 * E) by (repeat apply Rmult_le_pos; lra);
          assert (0 <= lam * (A - B)) by (apply Rmult_le_pos; lra); lra).
    assert (Q : (lam * (A - B) + lam * s / 2 * E) * (lam * (A - B) + lam * s / 2 * E) <= rt * rt)
      by (apply Rmult_le_compat; auto).
    assert (Q1 : lam * lam * ((A - B) * (A - B) + (A - B) * (s * E)) <=
                 (lam * (A - B) + lam * s / 2 * E) * (lam * (A - B) + lam * s / 2 * E)).
    { pose proof (Rle_0_sqr (lam * s / 2 * E)) as Sq. unfold Rsqr in Sq. lra. }
    assert (Q2 : lam * lam * ((A - B) * (A - B) + (A - B) * (s * E)) <= lam * lam * ((A - B) * (A - B) + E * E)).
    { assert (lam * lam * dot t t <= lam * lam * ((A - B) * (A - B) + E * E)); [|lra].
      apply Rmult_le_compat_l; auto. apply Rmult_le_pos; lra. }
    apply Rmult_le_reg_l in Q2; [|apply Rmult_lt_0_compat; auto].
    assert (Q3 : (A - B) * s <= E) by (apply Rmult_le_reg_r with E; auto; lra).
    assert (3 / 4 * A * s <= (A - B) * s) by (apply Rmult_le_compat_r; lra).
    assert (0 < A * s) by (apply Rmult_lt_0_compat; lra). lra. }
  intros a. rewrite Hwt. pose proof (dot_self_nonneg a) as Na.
  pose proof (seen_part a (dot a a + 1) ltac:(lra) ltac:(nra)) as Z. rewrite H, Rmult_0_r in Z.
  apply abs_bounds in Z. lra.
Qed.
End Tips.
