(** * Bags, free terms, the logistic loss: bounds on the ground of a cover, or of leaders, of the rows

    With t = P'theta these prove |t.(Zu)_+| <= lambda |u|, whatever the targets are: they are checked beside targets 0.
    Where B'theta = 0 too, theta bounds the objective of the outputs P (Zw)_+ + B beta. *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool.
From Relu Require Import Spec Vectors Duality Checker Cones Soundness Upper Leaders Listed Prisms.
Import ListNotations.
Open Scope R_scope.

(** ** exp x >= r for rational numbers: (1 + x/2^K)^(2^K) <= exp x, by squaring; all rounded down to 2^-B *)
Open Scope Z_scope.
Fixpoint squared (K : nat) (B v : Z) : Z := match K with O => v | S K' => squared K' B (v * v / B) end.
(** K squarings, in units of 1/B: exp (xn/xd) >= rn/rd? *)
Definition exp_above (K : nat) (B xn xd rn rd : Z) : bool :=
  let v := B + B * xn / (xd * 2 ^ Z.of_nat K) in
  (0 <? B) && (0 <? xd) && (0 <? rd) && (0 <=? v) && (rn * B <=? squared K B v * rd).
Close Scope Z_scope.

Lemma squared_R B : (0 < B)%Z -> forall K v x, (0 <= v)%Z -> IZR v / IZR B <= exp x ->
  IZR (squared K B v) / IZR B <= exp (2 ^ K * x).
Proof.
  intros HB. assert (hB := IZR_lt _ _ HB). induction K as [|K IH]; intros v x Hv E; cbn [squared pow].
  - rewrite Rmult_1_l. exact E.
  - replace (2 * 2 ^ K * x) with (2 ^ K * (x + x)) by ring. apply IH; [apply Z.div_pos; nia|].
    rewrite exp_plus. pose proof (Z.mul_div_le (v * v) B HB) as D. apply IZR_le in D, Hv. rewrite !mult_IZR in D.
    assert (F : 0 <= IZR v / IZR B) by (apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; auto).
    apply Rle_trans with (IZR v / IZR B * (IZR v / IZR B)); [|apply Rmult_le_compat; auto].
    apply Rmult_le_reg_r with (IZR B * IZR B); [nra|].
    replace (IZR (v * v / B) / IZR B * (IZR B * IZR B)) with (IZR B * IZR (v * v / B)) by (field; lra).
    replace (IZR v / IZR B * (IZR v / IZR B) * (IZR B * IZR B)) with (IZR v * IZR v) by (field; lra). exact D.
Qed.
Theorem exp_above_R K B xn xd rn rd : exp_above K B xn xd rn rd = true ->
  0 < IZR xd /\ 0 < IZR rd /\ IZR rn / IZR rd <= exp (IZR xn / IZR xd).
Proof.
  unfold exp_above. intros E. split_andb E. to_Prop. rename E into HB.
  assert (HP : (0 < 2 ^ Z.of_nat K)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (hB := IZR_lt _ _ HB). assert (hx := IZR_lt _ _ E3). assert (hr := IZR_lt _ _ E2). assert (hP := IZR_lt _ _ HP).
  repeat split; auto. set (v := (B + B * xn / (xd * 2 ^ Z.of_nat K))%Z) in *.
  assert (P2 : IZR (2 ^ Z.of_nat K) = 2 ^ K) by (rewrite <- pow_IZR; reflexivity).
  set (x := IZR xn / IZR xd / 2 ^ K).
  assert (S0 : IZR v / IZR B <= exp x).
  { eapply Rle_trans; [|apply exp_ineq1_le]. unfold v, x. rewrite plus_IZR.
    assert (D : (xd * 2 ^ Z.of_nat K * (B * xn / (xd * 2 ^ Z.of_nat K)) <= B * xn)%Z) by (apply Z.mul_div_le; nia).
    apply IZR_le in D. rewrite !mult_IZR, P2 in D. rewrite P2 in hP.
    set (w := IZR (B * xn / (xd * 2 ^ Z.of_nat K))) in *.
    apply Rmult_le_reg_r with (IZR B * (IZR xd * 2 ^ K)); [repeat apply Rmult_lt_0_compat; auto|].
    replace ((IZR B + w) / IZR B * (IZR B * (IZR xd * 2 ^ K))) with (IZR B * (IZR xd * 2 ^ K) + IZR xd * 2 ^ K * w)
      by (field; lra).
    replace ((1 + IZR xn / IZR xd / 2 ^ K) * (IZR B * (IZR xd * 2 ^ K))) with (IZR B * (IZR xd * 2 ^ K) + IZR B * IZR xn)
      by (field; lra). lra. }
  pose proof (squared_R B HB K v x E1 S0) as S1.
  replace (2 ^ K * x) with (IZR xn / IZR xd) in S1 by (unfold x; rewrite P2 in hP; field; lra).
  eapply Rle_trans; [|exact S1]. apply IZR_le in E0. rewrite !mult_IZR in E0.
  apply Rmult_le_reg_r with (IZR rd * IZR B); [apply Rmult_lt_0_compat; auto|].
  replace (IZR rn / IZR rd * (IZR rd * IZR B)) with (IZR rn * IZR B) by (field; lra).
  replace (IZR (squared K B v) / IZR B * (IZR rd * IZR B)) with (IZR (squared K B v) * IZR rd) by (field; lra). exact E0.
Qed.

(** ** The losses from below: g <= loss y f + t f for all f *)
Lemma square_below y t f : y * t - / 2 * (t * t) <= square y f + t * f.
Proof. unfold square. pose proof (Rle_0_sqr (f - y + t)) as S. unfold Rsqr in S. simpl. lra. Qed.
Lemma square_fenchel : forall y th f, length f = length y -> length th = length y ->
  dot y th - / 2 * dot th th <= total square y f + dot th f.
Proof.
  induction y as [|a y IH]; intros [|t th] [|b f] L1 L2; simpl in *; try discriminate; [lra|].
  specialize (IH th f ltac:(lia) ltac:(lia)). pose proof (square_below a t b). lra.
Qed.
(** the entropy of a = y t, by logarithms from above: L1 >= ln a, L2 >= ln (1 - a) *)
Lemma logistic_below y t a L1 L2 f : y * y = 1 -> a = y * t -> 0 <= a <= 1 -> a <= exp L1 -> 1 - a <= exp L2 ->
  - (a * L1 + (1 - a) * L2) <= logistic y f + t * f.
Proof.
  intros Hy Ea Ha H1 H2. unfold logistic. destruct (Req_EM_T y 0) as [->|_]; [lra|]. set (s := y * f). replace (t * f) with (a * s) by (unfold s; rewrite Ea; replace (y * t * (y * f)) with (y * y * (t * f)) by ring; rewrite Hy; ring).
  set (M := - (a * L1 + (1 - a) * L2) - a * s). enough (G : M <= ln (1 + exp (- s))) by (unfold M in G; lra).
  rewrite <- (ln_exp M). assert (PM := exp_pos M).
  assert (K : exp M <= 1 + exp (- s)).
  { assert (A : (1 - a) * (1 + (- M - L2)) <= exp (- M)).
    { replace (- M) with (L2 + (- M - L2)) at 2 by ring. rewrite exp_plus.
      pose proof (exp_ineq1_le (- M - L2)). pose proof (exp_pos (- M - L2)). pose proof (exp_pos L2). nra. }
    assert (B : a * (1 + (- M - s - L1)) <= exp (- M) * exp (- s)).
    { rewrite <- exp_plus. replace (- M + - s) with (L1 + (- M - s - L1)) by ring. rewrite exp_plus.
      pose proof (exp_ineq1_le (- M - s - L1)). pose proof (exp_pos (- M - s - L1)). pose proof (exp_pos L1). nra. }
    assert (C : 1 <= exp (- M) * (1 + exp (- s))) by (unfold M in *; nra).
    apply Rmult_le_reg_l with (exp (- M)); [apply exp_pos|]. rewrite <- exp_plus.
    replace (- M + M) with 0 by ring. rewrite exp_0. exact C. }
  destruct (Rle_lt_or_eq_dec _ _ K) as [h|h]; [left; apply ln_increasing; auto|right; rewrite h; auto].
Qed.

(** ** The checkers *)
(** With free biases by a cover of prisms of height H, the rows of which are at most R long. *)
Inductive point := ByCover (c : cover) | ByLeaders (c : leaders) | ByListed (c : listed) | ByPrisms (c : cover) (H R : Z).
Open Scope Z_scope.
(** the rows and lambda, without targets *)
Definition bare (p : problem) : problem :=
  Problem (p_dim p) (p_rows p) (p_rden p) (map (fun _ => 0) (p_rows p)) 1 (p_lnum p) (p_lden p).
Definition point_num (e : point) : list Z :=
  match e with ByCover c | ByPrisms c _ _ => c_theta c | ByLeaders c => d_theta c | ByListed c => i_theta c end.
Definition point_den (e : point) : Z :=
  match e with ByCover c | ByPrisms c _ _ => c_tden c | ByLeaders c => d_tden c | ByListed c => i_tden c end.
(** t = P'theta is feasible *)
Definition point_ok (p : problem) (t : terms) (e : point) : bool :=
  match e with
  | ByCover c => check (bare p) c && Nat.eqb (t_seen t) (p_dim p)
  | ByLeaders c => if Nat.eqb (t_seen t) (p_dim p) then check_leaders (bare p) c
                   else check_free_leaders (bare p) c && Nat.eqb (t_seen t) (pred (p_dim p))
  | ByListed c => check_listed (t_seen t) (bare p) c
  | ByPrisms c H R => check_prisms (bare p) c H R && Nat.eqb (t_seen t) (pred (p_dim p)) end.

Definition outputs (p : problem) (t : terms) : nat :=
  match t_bags t with None => length (p_rows p) | Some (P, _) => length P end.
Definition bags_den (t : terms) : Z := match t_bags t with None => 1 | Some (_, q) => q end.
Definition terms_ok (p : problem) (t : terms) : bool :=
  (0 <? p_rden p) && (0 <? p_yden p) && (0 <? p_lnum p) && (0 <? p_lden p) && (0 <? bags_den t) && (0 <? t_fden t)
  && Nat.eqb (outputs p t) (length (p_y p)) && (Nat.eqb (length (t_free t)) 0 || Nat.eqb (length (t_free t)) (length (p_y p))).

(** P'theta *)
Definition spreadZ (t : terms) (th : list Z) : list Z :=
  match t_bags t with None => th | Some (P, _) => combine_rows th P end.
(** bounds of exponentials: K squarings in units of 1/B; logarithms are over e_den *)
Record exps := Exps { e_K : nat; e_B : Z; e_den : Z }.
(** the numerator of sum -(a L1 + (1 - a) L2) over D e_den, a = an/D; None where something is wrong *)
Fixpoint entropyZ (x : exps) (D yd : Z) (y th : list Z) (logs : list (Z * Z)) : option Z :=
  match y, th, logs with
  | [], [], _ => Some 0
  | yk :: y', t :: th', (L1, L2) :: logs' =>
      let a := yk * t in
      if yk =? 0 then
        match entropyZ x D yd y' th' logs' with
        | Some s => if e_den x * ((yd * t) * (yd * t)) <=? L1 * (D * D) * 2 then Some (s - D * L1) else None
        | None => None end
      else if (yk * yk =? yd * yd) && (0 <=? a) && (a <=? D)
         && exp_above (e_K x) (e_B x) L1 (e_den x) a D && exp_above (e_K x) (e_B x) L2 (e_den x) (D - a) D
      then match entropyZ x D yd y' th' logs' with
           | Some s => Some (s - (a * L1 + (D - a) * L2)) | None => None end
      else None
  | _, _, _ => None end.
(** lower <= the dual value of theta *)
Definition value_ok (p : problem) (t : terms) (th : list Z) (td : Z) (x : exps) (logs : list (Z * Z)) (lown lowd : Z)
    : bool :=
  if t_logistic t then
    match entropyZ x (p_yden p * td) (p_yden p) (p_y p) th logs with
    | Some s => (0 <? e_den x) && (lown * (p_yden p * td * e_den x) <=? lowd * s)
    | None => false end
  else lown * (2 * p_yden p * (td * td)) <=? lowd * (2 * td * dotZ (p_y p) th - p_yden p * dotZ th th).
Definition check_terms (p : problem) (t : terms) (e : point) (th : list Z) (td : Z) (x : exps) (logs : list (Z * Z))
    (lown lowd : Z) : bool :=
  point_ok p t e && terms_ok p t && (0 <? td) && (0 <? lowd) && Nat.eqb (length (p_y p)) (length th)
  && zeroZ (axpy (- point_den e) (spreadZ t th) (map (Z.mul (td * bags_den t)) (point_num e)))
  && zeroZ (combine_rows th (t_free t))
  && value_ok p t th td x logs lown lowd.

(** An upper bound: a network, coefficients of the free columns, for the logistic loss numbers E >= exp(-y f) and
    U >= ln (1 + E). *)
Record fit := Fit { f_net : list (list Z * Z); f_wden : Z; f_beta : list Z; f_bden : Z; f_un : Z; f_ud : Z }.
Definition poolZ (t : terms) (outs : list Z) : list Z :=
  match t_bags t with None => outs | Some (P, _) => map (fun q => dotZ q outs) P end.
Fixpoint plusZ (a b : list Z) : list Z := match a, b with x :: a', y :: b' => x + y :: plusZ a' b' | _, _ => a end.
Definition out_den (p : problem) (t : terms) (u : fit) : Z := bags_den t * (p_rden p * (f_wden u * f_wden u)).
Definition predictionsZ (p : problem) (t : terms) (u : fit) : list Z :=
  plusZ (map (Z.mul (t_fden t * f_bden u)) (poolZ t (map (outZ (f_net u)) (p_rows p))))
    (map (fun b => out_den p t u * dotZ b (f_beta u)) (t_free t)).
Fixpoint seen_penaltyZ (m : nat) (N : list (list Z * Z)) : Z :=
  match N with [] => 0 | nr :: N' => dotZ (firstn m (fst nr)) (firstn m (fst nr)) + snd nr * snd nr + seen_penaltyZ m N' end.
Fixpoint squaresZ (A yd : Z) (y f : list Z) : Z :=
  match y, f with yk :: y', x :: f' => let e := x * yd - yk * A in e * e + squaresZ A yd y' f' | _, _ => 0 end.
Fixpoint logisticZ (x : exps) (yd A : Z) (y f : list Z) (logs : list (Z * Z)) : option Z :=
  match y, f, logs with
  | [], _, _ => Some 0
  | yk :: y', fk :: f', (E, U) :: logs' =>
      if (if yk =? 0 then e_den x * (fk * fk) <=? U * (A * A) * 2
          else (0 <? E) && exp_above (e_K x) (e_B x) (yk * fk) (yd * A) (e_den x) E
            && exp_above (e_K x) (e_B x) U (e_den x) (e_den x + E) (e_den x))
      then match logisticZ x yd A y' f' logs' with Some s => Some (s + U) | None => None end
      else None
  | _, _, _ => None end.
(** the loss is at most fst/snd *)
Definition lossZ_above (p : problem) (t : terms) (u : fit) (x : exps) (logs : list (Z * Z)) : option (Z * Z) :=
  let A := out_den p t u * (t_fden t * f_bden u) in
  if t_logistic t then
    match logisticZ x (p_yden p) A (p_y p) (predictionsZ p t u) logs with
    | Some s => Some (s, e_den x) | None => None end
  else Some (squaresZ A (p_yden p) (p_y p) (predictionsZ p t u), 2 * ((A * p_yden p) * (A * p_yden p))).
Definition check_fit (p : problem) (t : terms) (u : fit) (x : exps) (logs : list (Z * Z)) : bool :=
  let wd2 := f_wden u * f_wden u in
  terms_ok p t && (0 <? f_wden u) && (0 <? f_bden u) && (0 <? f_ud u)
  && forallb (fun nr => Nat.eqb (length (fst nr)) (p_dim p)) (f_net u)
  && match lossZ_above p t u x logs with
     | Some (s, q) => (0 <? q) && ((s * (2 * p_lden p * wd2) + p_lnum p * seen_penaltyZ (t_seen t) (f_net u) * q) * f_ud u
         <=? f_un u * (q * (2 * p_lden p * wd2)))
     | None => false end.
Close Scope Z_scope.

(** ** Weak duality *)
Lemma feasible_seen lam d rows th : 0 <= lam -> (forall u, length u = d -> feasible_at lam rows th u) ->
  seen_ok lam d d rows th.
Proof. intros Hl F w v L. rewrite firstn_all2 by lia. apply (feasible_dual_ok lam rows th w Hl (F w L)). Qed.
Theorem point_sound p t e : point_ok p t e = true ->
  (0 < point_den e)%Z /\
  seen_ok (lambda_of p) (t_seen t) (p_dim p) (rows_of p) (ratio (point_den e) (point_num e)).
Proof.
  destruct e as [c|c|c|c H R0]; cbn [point_ok point_den point_num]; intros E.
  - apply andb_prop in E. destruct E as [E S]. apply Nat.eqb_eq in S. rewrite S. unfold check in E. destruct (run (bare p) c) as [[A B]|] eqn:ER; [|discriminate].
    destruct (run_sound _ _ _ _ ER) as (Pf & Hc & _ & _ & _ & _ & _ & Fe & _). split; auto.
    apply feasible_seen; [left; exact (lambda_pos _ Pf)|exact Fe].
  - destruct (Nat.eqb (t_seen t) (p_dim p)) eqn:S.
    + apply Nat.eqb_eq in S. rewrite S. destruct (leaders_feasible _ _ E) as (Pf & Eb & Fe).
      destruct (bound_ok_facts _ _ _ _ _ Pf Eb) as (Ht & _). split; auto.
      apply feasible_seen; [left; exact (lambda_pos _ Pf)|exact Fe].
    + apply andb_prop in E. destruct E as [E S']. apply Nat.eqb_eq in S'. rewrite S'. exact (free_leaders_sound _ _ E).
  - destruct (listed_feasible _ _ _ E) as (Pf & Eb & Fe). destruct (bound_ok_facts _ _ _ _ _ Pf Eb) as (Ht & _). split; auto.
  - apply andb_prop in E. destruct E as [E S]. apply Nat.eqb_eq in S. rewrite S. destruct (prisms_sound _ _ _ _ E) as (_ & Ht & Fe). split; [exact Ht|exact Fe].
Qed.
Lemma tout_seen lam m d rows th net : seen_ok lam m d rows th -> well_formed d net ->
  tout rows th net <= lam / 2 * seen_penalty m net.
Proof.
  intros S. induction 1 as [|[w v] net Lw _ IH]; simpl; [rewrite tout_nil; lra|].
  rewrite tout_cons. specialize (S w v Lw). lra.
Qed.

Lemma spread_R td pd f P : 0 < IZR td -> 0 < IZR pd -> forall th,
  dot (ratio td th) (map (fun q => dot (ratio pd q) f) P) = / (IZR td * IZR pd) * dot (iz th) (map (form f) P).
Proof.
  intros ht hp. induction P as [|q P IH]; intros [|t th]; try (cbn [ratio map iz dot]; ring).
  assert (Q : form f q = dot (iz q) f) by (unfold form; apply dot_comm).
  change (IZR t / IZR td * dot (ratio pd q) f + dot (ratio td th) (map (fun q => dot (ratio pd q) f) P) =
    / (IZR td * IZR pd) * (IZR t * form f q + dot (iz th) (map (form f) P))).
  rewrite IH, ratio_dot, Q. field. lra.
Qed.
Lemma pool_R t td th outs : 0 < IZR td -> 0 < IZR (bags_den t) ->
  dot (ratio td th) (pool t outs) = / (IZR td * IZR (bags_den t)) * dot (iz (spreadZ t th)) outs.
Proof.
  unfold pool, spreadZ, bags_den. intros ht hp. destruct (t_bags t) as [[P q]|].
  - rewrite spread_R, combine_rows_R by auto. reflexivity.
  - rewrite ratio_dot. f_equal. field. lra.
Qed.
Lemma added_len : forall a b, length (added a b) = length a.
Proof. induction a as [|x a IH]; intros [|y b]; simpl; auto. Qed.
Lemma dot_added : forall th a b, b = [] \/ length b = length a -> dot th (added a b) = dot th a + dot th b.
Proof.
  intros th a b [->|L]; [destruct a; simpl; rewrite ?dot_nil_r; destruct th; simpl; ring|]. revert th b L.
  induction a as [|x a IH]; intros [|t th] [|y b] L; simpl in *; try discriminate; try ring. rewrite IH by lia. ring.
Qed.

Lemma logistic_zero y f : y = 0 -> logistic y f = square 0 f.
Proof. intros ->. unfold logistic. destruct (Req_EM_T 0 0); [reflexivity|congruence]. Qed.
Lemma entropy_R x D yd : 0 < IZR yd -> forall y th td logs s, D = (yd * td)%Z -> (0 < td)%Z ->
  entropyZ x D yd y th logs = Some s -> 0 < IZR (e_den x) ->
  length y = length th /\ forall f, length f = length y ->
  IZR s / (IZR D * IZR (e_den x)) <= total logistic (ratio yd y) f + dot (ratio td th) f.
Proof.
  intros hy. induction y as [|yk y IH]; intros [|t th] td logs s ED Ht E he; simpl in E; try discriminate.
  - injection E as <-. split; auto. intros [|b f] L; simpl in *; try discriminate. unfold Rdiv. lra.
  - destruct logs as [|[L1 L2] logs]; [discriminate|]. destruct (yk =? 0)%Z eqn:Z0.
    { apply Z.eqb_eq in Z0. subst yk. destruct (entropyZ x D yd y th logs) as [s0|] eqn:E0; [|discriminate].
      destruct (_ <=? _)%Z eqn:C in E; [|discriminate]. injection E as <-.
      destruct (IH _ _ _ _ ED Ht E0 he) as [LL IHf]. split; [simpl; congruence|].
      intros [|b f] L; [discriminate|]. specialize (IHf f ltac:(simpl in L; lia)).
      assert (ht := IZR_lt _ _ Ht). assert (DR : IZR D = IZR yd * IZR td) by (rewrite ED; apply mult_IZR).
      apply Z.leb_le, IZR_le in C. rewrite !mult_IZR, DR in C. cbn [ratio map total dot]. fold (ratio yd y) (ratio td th).
      assert (Q : IZR t / IZR td * (IZR t / IZR td) <= 2 * (IZR L1 / IZR (e_den x))).
      { apply Rmult_le_reg_r with (IZR (e_den x) * (IZR yd * IZR td * (IZR yd * IZR td)));
          [apply Rmult_lt_0_compat; auto; assert (0 < IZR yd * IZR td) by (apply Rmult_lt_0_compat; auto); nra|].
        eapply Rle_trans; [|eapply Rle_trans; [exact C|]]; apply Req_le; field; lra. }
      replace (IZR (s0 - D * L1) / (IZR D * IZR (e_den x))) with
        (IZR s0 / (IZR D * IZR (e_den x)) - IZR L1 / IZR (e_den x)).
      2:{ rewrite minus_IZR, mult_IZR, DR. field. lra. }
      rewrite (logistic_zero (IZR 0 / IZR yd)) by (unfold Rdiv; ring).
      pose proof (square_below 0 (IZR t / IZR td) b). lra. }
    destruct (_ && _)%bool eqn:C in E; [|discriminate].
    destruct (entropyZ x D yd y th logs) as [s0|] eqn:E0; [|discriminate]. injection E as <-.
    destruct (IH _ _ _ _ ED Ht E0 he) as [LL IHf]. split; [simpl; congruence|].
    intros [|b f] L; [discriminate|]. specialize (IHf f ltac:(simpl in L; lia)).
    split_andb C. apply Z.eqb_eq in C. apply Z.leb_le in C2, C3.
    destruct (exp_above_R _ _ _ _ _ _ C1) as (_ & hD & X1). destruct (exp_above_R _ _ _ _ _ _ C0) as (_ & _ & X2).
    assert (ht := IZR_lt _ _ Ht). assert (DR : IZR D = IZR yd * IZR td) by (rewrite ED; apply mult_IZR).
    rewrite minus_IZR in X2. apply IZR_le in C2, C3. apply (f_equal IZR) in C. rewrite !mult_IZR in *.
    set (a := IZR yk * IZR t / IZR D) in *.
    assert (Q : - (a * (IZR L1 / IZR (e_den x)) + (1 - a) * (IZR L2 / IZR (e_den x)))
      <= logistic (IZR yk / IZR yd) b + IZR t / IZR td * b).
    { apply logistic_below; auto.
      - replace (IZR yk / IZR yd * (IZR yk / IZR yd)) with (IZR yk * IZR yk / (IZR yd * IZR yd)) by (field; lra).
        rewrite C. field. lra.
      - unfold a. rewrite DR. field. lra.
      - unfold a. split; [apply Rmult_le_pos; [exact C3|left; apply Rinv_0_lt_compat; auto]|].
        apply Rmult_le_reg_r with (IZR D); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
      - eapply Rle_trans; [|exact X2]. apply Req_le. unfold a. field. lra. }
    cbn [ratio map total dot]. fold (ratio yd y) (ratio td th).
    replace (IZR (s0 - (yk * t * L1 + (D - yk * t) * L2)) / (IZR D * IZR (e_den x))) with
      (IZR s0 / (IZR D * IZR (e_den x)) - (a * (IZR L1 / IZR (e_den x)) + (1 - a) * (IZR L2 / IZR (e_den x)))).
    + lra.
    + rewrite minus_IZR, plus_IZR, !mult_IZR, minus_IZR, mult_IZR. unfold a. field. lra.
Qed.

Lemma predictions_seen p t th td tn c net beta :
  0 < IZR td -> 0 < IZR c -> 0 < IZR (bags_den t) -> 0 < IZR (t_fden t) -> outputs p t = length (p_y p) ->
  (length (t_free t) =? 0)%nat || (length (t_free t) =? length (p_y p))%nat = true ->
  zeroZ (axpy (- c) (spreadZ t th) (map (Z.mul (td * bags_den t)) tn)) = true ->
  zeroZ (combine_rows th (t_free t)) = true ->
  length (predictions p t net beta) = length (p_y p) /\
  dot (ratio td th) (predictions p t net beta) = tout (rows_of p) (ratio c tn) net.
Proof.
  intros ht Hc hb hf EO EF ES EZ. rewrite tout_dot, (ratio_dot c). set (f0 := fvec (rows_of p) net).
  assert (S : dot (ratio td th) (pool t f0) = / IZR c * dot (iz tn) f0).
  { rewrite pool_R by auto. pose proof (zeroZ_R f0 _ ES) as Z0. rewrite axpy_R, scale_R in Z0.
    rewrite opp_IZR, mult_IZR in Z0. apply Rmult_eq_reg_l with (IZR c * (IZR td * IZR (bags_den t))).
    - field_simplify; [lra|lra|lra].
    - apply Rgt_not_eq. repeat apply Rmult_lt_0_compat; auto. }
  set (fb := map (fun b => dot (ratio (t_fden t) b) beta) (t_free t)).
  assert (Z1 : dot (ratio td th) fb = 0).
  { unfold fb. rewrite spread_R, <- combine_rows_R, (zeroZ_R beta _ EZ) by auto. ring. }
  assert (LP : length (pool t f0) = length (p_y p)).
  { rewrite <- EO. unfold pool, outputs, f0, fvec, rows_of. destruct (t_bags t) as [[P q]|]; rewrite ?map_length; auto. }
  unfold predictions. fold fb. fold (fvec (rows_of p) net). fold f0. split; [rewrite added_len; exact LP|].
  rewrite dot_added; [rewrite S, Z1; ring|].
  apply orb_prop in EF. unfold fb. rewrite map_length, LP. destruct EF as [EF|EF]; apply Nat.eqb_eq in EF; auto.
  left. destruct (t_free t); [reflexivity|discriminate].
Qed.

(** No network of any width, with whatever coefficients, has an objective below what bounds loss y f + theta.f. *)
Theorem terms_below loss p t e th td x logs lown lowd : check_terms p t e th td x logs lown lowd = true ->
  (forall f, length f = length (p_y p) -> IZR lown / IZR lowd <= total loss (y_of p) f + dot (ratio td th) f) ->
  forall net beta, well_formed (p_dim p) net -> IZR lown / IZR lowd <= objective_with loss p t net beta.
Proof.
  unfold check_terms. intros E V net beta W. split_andb E.
  destruct (point_sound _ _ _ E) as (Hc & Fe). unfold terms_ok in E6. split_andb E6. to_Prop.
  apply IZR_lt in Hc. pose proof (tout_seen _ _ _ _ _ _ Fe W) as T.
  destruct (predictions_seen p t th td (point_num e) (point_den e) net beta) as (LF & D0);
    auto; try (apply IZR_lt; auto; fail).
  specialize (V _ LF). unfold objective_with. lra.
Qed.
Record terms_facts (p : problem) (t : terms) (th : list Z) (td : Z) (x : exps) (logs : list (Z * Z)) (lown lowd : Z)
    : Prop := TermsFacts {
  tf_y : (0 < p_yden p)%Z; tf_t : (0 < td)%Z; tf_low : (0 < lowd)%Z; tf_len : length (p_y p) = length th;
  tf_value : value_ok p t th td x logs lown lowd = true }.
Lemma check_terms_facts p t e th td x logs lown lowd : check_terms p t e th td x logs lown lowd = true ->
  terms_facts p t th td x logs lown lowd.
Proof. unfold check_terms, terms_ok. intros E. split_andb E. split_andb E6. to_Prop. constructor; auto. Qed.

Theorem squares_sound p t e th td x logs lown lowd : t_logistic t = false ->
  check_terms p t e th td x logs lown lowd = true ->
  forall net beta, well_formed (p_dim p) net -> IZR lown / IZR lowd <= objective_with square p t net beta.
Proof.
  intros S E. apply (terms_below square _ _ _ _ _ _ _ _ _ E). intros f LF.
  destruct (check_terms_facts _ _ _ _ _ _ _ _ _ E) as [Hy Ht Hlo Lt V]. unfold value_ok in V. rewrite S in V.
  assert (hy := IZR_lt _ _ Hy). assert (ht := IZR_lt _ _ Ht). assert (hlo := IZR_lt _ _ Hlo). unfold y_of.
  eapply Rle_trans; [|apply square_fenchel; unfold ratio; rewrite !map_length; auto].
  rewrite !ratio_dot2, <- !dotZ_R.
  to_Prop. apply IZR_le in V. rewrite ?minus_IZR, ?mult_IZR, ?minus_IZR, ?mult_IZR in V.
  apply Rmult_le_reg_r with (IZR lowd * (2 * IZR (p_yden p) * (IZR td * IZR td))).
  { repeat apply Rmult_lt_0_compat; auto; lra. }
  eapply Rle_trans; [|eapply Rle_trans; [exact V|]]; apply Req_le; field; lra.
Qed.
Theorem logistic_sound p t e th td x logs lown lowd : t_logistic t = true ->
  check_terms p t e th td x logs lown lowd = true ->
  forall net beta, well_formed (p_dim p) net -> IZR lown / IZR lowd <= objective_with logistic p t net beta.
Proof.
  intros S E. apply (terms_below logistic _ _ _ _ _ _ _ _ _ E). intros f LF.
  destruct (check_terms_facts _ _ _ _ _ _ _ _ _ E) as [Hy Ht Hlo Lt V]. unfold value_ok in V. rewrite S in V.
  assert (hy := IZR_lt _ _ Hy). assert (ht := IZR_lt _ _ Ht). assert (hlo := IZR_lt _ _ Hlo). unfold y_of.
  destruct (entropyZ x (p_yden p * td) (p_yden p) (p_y p) th logs) as [s|] eqn:ES; [|discriminate].
  apply andb_prop in V. destruct V as [he V]. to_Prop. apply IZR_lt in he.
  destruct (entropy_R _ _ _ hy _ _ _ _ _ eq_refl Ht ES he) as [_ Q]. specialize (Q f LF).
  eapply Rle_trans; [|exact Q]. apply IZR_le in V. rewrite !mult_IZR in *.
  apply Rmult_le_reg_r with (IZR lowd * (IZR (p_yden p) * IZR td * IZR (e_den x)));
    [repeat apply Rmult_lt_0_compat; auto|].
  eapply Rle_trans; [|eapply Rle_trans; [exact V|]]; apply Req_le; field; repeat split; lra.
Qed.

(** ** The objective of a network *)
Lemma ratio_nth_scale k den l : 0 < IZR k -> 0 < IZR den -> ratio (k * den) (map (Z.mul k) l) = ratio den l.
Proof.
  intros hk hd. unfold ratio. rewrite map_map. apply map_ext. intros a. rewrite !mult_IZR. field. lra.
Qed.
Lemma added_R den : 0 < IZR den -> forall a b, added (ratio den a) (ratio den b) = ratio den (plusZ a b).
Proof.
  intros hd. induction a as [|x a IH]; intros [|y b]; simpl; auto. unfold ratio in *. rewrite IH, plus_IZR.
  f_equal. field. lra.
Qed.
Lemma outputs_R rd wd N rows : 0 < IZR rd -> 0 < IZR wd ->
  map (out (net_of wd N)) (map (ratio rd) rows) = ratio (rd * (wd * wd)) (map (outZ N) rows).
Proof.
  intros hr hw. unfold ratio at 2. rewrite !map_map. apply map_ext. intros z.
  rewrite outZ_R by auto. rewrite !mult_IZR. auto.
Qed.
Lemma poolZ_R t den outs : 0 < IZR (bags_den t) -> 0 < IZR den ->
  pool t (ratio den outs) = ratio (bags_den t * den) (poolZ t outs).
Proof.
  unfold pool, poolZ, bags_den. intros hb hd. destruct (t_bags t) as [[P q]|].
  - unfold ratio at 3. rewrite map_map. apply map_ext. intros r. rewrite ratio_dot2, <- dotZ_R, mult_IZR. field. lra.
  - replace (1 * den)%Z with den by lia. reflexivity.
Qed.
Record fit_facts (p : problem) (t : terms) (u : fit) : Prop := FitFacts {
  ff_r : 0 < IZR (p_rden p); ff_y : 0 < IZR (p_yden p); ff_l : 0 < IZR (p_lden p); ff_b : 0 < IZR (bags_den t);
  ff_f : 0 < IZR (t_fden t); ff_w : 0 < IZR (f_wden u); ff_c : 0 < IZR (f_bden u) }.
Lemma predictions_R p t u : fit_facts p t u ->
  predictions p t (net_of (f_wden u) (f_net u)) (ratio (f_bden u) (f_beta u)) =
  ratio (out_den p t u * (t_fden t * f_bden u)) (predictionsZ p t u).
Proof.
  intros [hr _ _ hb hf hw hc]. unfold predictions, predictionsZ, rows_of. rewrite outputs_R by auto.
  assert (HA : 0 < IZR (p_rden p * (f_wden u * f_wden u))) by (rewrite !mult_IZR; repeat apply Rmult_lt_0_compat; auto).
  rewrite poolZ_R by auto. fold (out_den p t u).
  assert (HO : 0 < IZR (out_den p t u)) by (unfold out_den; rewrite mult_IZR; apply Rmult_lt_0_compat; auto).
  assert (HC : 0 < IZR (t_fden t * f_bden u)) by (rewrite mult_IZR; apply Rmult_lt_0_compat; auto).
  assert (HB : 0 < IZR (out_den p t u * (t_fden t * f_bden u))) by (rewrite mult_IZR; apply Rmult_lt_0_compat; auto).
  rewrite <- (ratio_nth_scale (t_fden t * f_bden u) (out_den p t u)) by auto.
  rewrite (Z.mul_comm (t_fden t * f_bden u) (out_den p t u)), <- added_R by auto. f_equal.
  unfold ratio at 3. rewrite map_map. apply map_ext. intros b. rewrite ratio_dot2, <- dotZ_R, !mult_IZR.
  rewrite mult_IZR in HB. field. repeat split; lra.
Qed.
Lemma squares_R A yd : 0 < IZR A -> 0 < IZR yd -> forall y f,
  total square (ratio yd y) (ratio A f) = IZR (squaresZ A yd y f) / (2 * ((IZR A * IZR yd) * (IZR A * IZR yd))).
Proof.
  intros hA hy. induction y as [|a y IH]; intros [|b f]; try (cbn [total ratio map squaresZ]; field; lra).
  cbn [ratio map total squaresZ]. fold (ratio yd y) (ratio A f). rewrite IH. unfold square.
  rewrite plus_IZR, mult_IZR, minus_IZR, !mult_IZR. field. lra.
Qed.
Lemma logistic_R x A yd : 0 < IZR A -> 0 < IZR yd -> forall y f logs s, logisticZ x yd A y f logs = Some s ->
  0 < IZR (e_den x) -> total logistic (ratio yd y) (ratio A f) <= IZR s / IZR (e_den x).
Proof.
  intros hA hy. induction y as [|a y IH]; intros f logs s E he; simpl in E.
  - injection E as <-. simpl. unfold Rdiv. lra.
  - destruct f as [|b f]; [discriminate|]. destruct logs as [|[E0 U] logs]; [discriminate|].
    destruct (if (a =? 0)%Z then _ else _) eqn:C in E; [|discriminate].
    destruct (logisticZ x yd A y f logs) as [s0|] eqn:ES; [|discriminate]. injection E as <-.
    specialize (IH f logs s0 ES he). destruct (a =? 0)%Z eqn:Z0.
    { apply Z.eqb_eq in Z0. subst a. apply Z.leb_le, IZR_le in C. rewrite !mult_IZR in C.
      cbn [ratio map total]. fold (ratio yd y) (ratio A f). rewrite plus_IZR.
      replace ((IZR s0 + IZR U) / IZR (e_den x)) with (IZR s0 / IZR (e_den x) + IZR U / IZR (e_den x)) by (field; lra).
      enough (Q : logistic (IZR 0 / IZR yd) (IZR b / IZR A) <= IZR U / IZR (e_den x)) by lra.
      rewrite (logistic_zero (IZR 0 / IZR yd)) by (unfold Rdiv; ring). unfold square.
      apply Rmult_le_reg_r with (IZR A * IZR A * (2 * IZR (e_den x))); [repeat apply Rmult_lt_0_compat; lra|].
      eapply Rle_trans; [|eapply Rle_trans; [exact C|]]; apply Req_le; field; lra. }
    apply Z.eqb_neq in Z0. split_andb C. to_Prop. assert (h0 := IZR_lt _ _ C).
    destruct (exp_above_R _ _ _ _ _ _ C1) as (_ & _ & X1). destruct (exp_above_R _ _ _ _ _ _ C0) as (_ & _ & X2).
    cbn [ratio map total]. fold (ratio yd y) (ratio A f). rewrite plus_IZR.
    assert (Q : logistic (IZR a / IZR yd) (IZR b / IZR A) <= IZR U / IZR (e_den x)).
    { unfold logistic. destruct (Req_EM_T (IZR a / IZR yd) 0) as [E|_].
      { exfalso. apply Z0, eq_IZR. replace (IZR a) with (IZR a / IZR yd * IZR yd) by (field; lra). rewrite E. ring. }
      rewrite <- (ln_exp (IZR U / IZR (e_den x))). rewrite !mult_IZR, ?plus_IZR in *.
      assert (P0 := exp_pos (- (IZR a / IZR yd * (IZR b / IZR A)))).
      assert (K : 1 + exp (- (IZR a / IZR yd * (IZR b / IZR A))) <= exp (IZR U / IZR (e_den x))).
      { eapply Rle_trans; [|exact X2]. rewrite exp_Ropp.
        replace (IZR a / IZR yd * (IZR b / IZR A)) with (IZR a * IZR b / (IZR yd * IZR A)) by (field; lra).
        assert (X3 : / exp (IZR a * IZR b / (IZR yd * IZR A)) <= / (IZR (e_den x) / IZR E0)).
        { apply Rinv_le_contravar; auto. apply Rdiv_lt_0_compat; auto. }
        replace ((IZR (e_den x) + IZR E0) / IZR (e_den x)) with (1 + / (IZR (e_den x) / IZR E0)) by (field; lra). lra. }
      destruct (Rle_lt_or_eq_dec _ _ K) as [h|h]; [left; apply ln_increasing; lra|right; rewrite h; auto]. }
    replace ((IZR s0 + IZR U) / IZR (e_den x)) with (IZR s0 / IZR (e_den x) + IZR U / IZR (e_den x)) by (field; lra). lra.
Qed.
Lemma firstn_ratio den m : forall l, firstn m (ratio den l) = ratio den (firstn m l).
Proof. intros l. unfold ratio. rewrite firstn_map. reflexivity. Qed.
Lemma seen_penaltyZ_R m wd : 0 < IZR wd -> forall N,
  seen_penalty m (net_of wd N) = IZR (seen_penaltyZ m N) / (IZR wd * IZR wd).
Proof.
  intros hw. induction N as [|[w v] N IH]; simpl; [field; lra|].
  try fold (net_of wd N). rewrite IH, firstn_ratio, ratio_dot2, <- dotZ_R by lra.
  rewrite !plus_IZR, !mult_IZR. field; lra.
Qed.

Definition network_of_fit (u : fit) : network := net_of (f_wden u) (f_net u).
Definition coefficients_of (u : fit) : list R := ratio (f_bden u) (f_beta u).
Theorem fit_below loss p t u x logs : check_fit p t u x logs = true ->
  (forall A s q, 0 < IZR A -> 0 < IZR (p_yden p) -> A = (out_den p t u * (t_fden t * f_bden u))%Z ->
    lossZ_above p t u x logs = Some (s, q) -> (0 < q)%Z ->
    total loss (y_of p) (ratio A (predictionsZ p t u)) <= IZR s / IZR q) ->
  well_formed (p_dim p) (network_of_fit u) /\
  objective_with loss p t (network_of_fit u) (coefficients_of u) <= IZR (f_un u) / IZR (f_ud u).
Proof.
  unfold check_fit, network_of_fit, coefficients_of. intros U V. split_andb U.
  destruct (lossZ_above p t u x logs) as [[s q]|] eqn:EL; [|discriminate]. unfold terms_ok in U. split_andb U.
  apply andb_prop in U0. destruct U0 as [Hq U0]. to_Prop.
  assert (FF : fit_facts p t u) by (constructor; apply IZR_lt; auto). assert (FF' := FF).
  destruct FF' as [hr hy hl hb hf hw hc]. assert (hq := IZR_lt _ _ Hq). assert (hu := IZR_lt _ _ U2). split.
  - unfold well_formed, net_of. rewrite Forall_map. apply Forall_forall. intros nr I.
    rewrite forallb_forall in U1. specialize (U1 nr I). apply Nat.eqb_eq in U1.
    simpl. unfold ratio. rewrite map_length. auto.
  - unfold objective_with. rewrite predictions_R, seen_penaltyZ_R by auto.
    assert (HO : 0 < IZR (out_den p t u)).
    { unfold out_den. rewrite !mult_IZR. repeat apply Rmult_lt_0_compat; auto. }
    assert (HA : 0 < IZR (out_den p t u * (t_fden t * f_bden u))).
    { rewrite !mult_IZR. repeat apply Rmult_lt_0_compat; auto. }
    set (A := (out_den p t u * (t_fden t * f_bden u))%Z) in *.
    pose proof (V A s q HA hy eq_refl eq_refl Hq) as L.
    eapply Rle_trans; [apply Rplus_le_compat_r; exact L|].
    unfold lambda_of. apply IZR_le in U0. rewrite ?mult_IZR, ?plus_IZR, ?mult_IZR in U0.
    apply Rmult_le_reg_r with (IZR (f_ud u) * (IZR q * (2 * IZR (p_lden p) * (IZR (f_wden u) * IZR (f_wden u))))).
    { repeat apply Rmult_lt_0_compat; auto; lra. }
    eapply Rle_trans; [|eapply Rle_trans; [exact U0|]]; apply Req_le; field; repeat split; lra.
Qed.

Theorem squares_fit p t u x logs : t_logistic t = false -> check_fit p t u x logs = true ->
  well_formed (p_dim p) (network_of_fit u) /\
  objective_with square p t (network_of_fit u) (coefficients_of u) <= IZR (f_un u) / IZR (f_ud u).
Proof.
  intros S U. apply (fit_below square _ _ _ _ _ U). intros A s q HA Hy EA EL _. unfold lossZ_above in EL.
  rewrite S, <- EA in EL.
  assert (Es : s = squaresZ A (p_yden p) (p_y p) (predictionsZ p t u)) by congruence.
  assert (Eq : q = (2 * ((A * p_yden p) * (A * p_yden p)))%Z) by congruence. unfold y_of.
  rewrite squares_R, Es, Eq, !(mult_IZR _ (_ * _)), (mult_IZR A (p_yden p)) by auto. apply Rle_refl.
Qed.
Theorem logistic_fit p t u x logs : t_logistic t = true -> check_fit p t u x logs = true ->
  well_formed (p_dim p) (network_of_fit u) /\
  objective_with logistic p t (network_of_fit u) (coefficients_of u) <= IZR (f_un u) / IZR (f_ud u).
Proof.
  intros S U. apply (fit_below logistic _ _ _ _ _ U). intros A s q HA Hy EA EL Hq. unfold lossZ_above in EL.
  rewrite S, <- EA in EL. destruct (logisticZ _ _ _ _ _) as [s0|] eqn:ES in EL; [|discriminate].
  assert (s0 = s) by congruence. assert (e_den x = q) by congruence. subst s0 q. unfold y_of.
  eapply logistic_R; eauto. apply IZR_lt. auto.
Qed.

(** Both bounds, with either loss. *)
Theorem squares_bounds p t e th td x logs lown lowd u x' logs' : t_logistic t = false ->
  check_terms p t e th td x logs lown lowd = true -> check_fit p t u x' logs' = true ->
  (forall net beta, well_formed (p_dim p) net -> IZR lown / IZR lowd <= objective_with square p t net beta) /\
  exists net beta, well_formed (p_dim p) net /\ objective_with square p t net beta <= IZR (f_un u) / IZR (f_ud u).
Proof.
  intros S E U. split; [eapply squares_sound; eauto|]. destruct (squares_fit _ _ _ _ _ S U) as (W & Q). eauto.
Qed.
Theorem logistic_bounds p t e th td x logs lown lowd u x' logs' : t_logistic t = true ->
  check_terms p t e th td x logs lown lowd = true -> check_fit p t u x' logs' = true ->
  (forall net beta, well_formed (p_dim p) net -> IZR lown / IZR lowd <= objective_with logistic p t net beta) /\
  exists net beta, well_formed (p_dim p) net /\ objective_with logistic p t net beta <= IZR (f_un u) / IZR (f_ud u).
Proof.
  intros S E U. split; [eapply logistic_sound; eauto|]. destruct (logistic_fit _ _ _ _ _ S U) as (W & Q). eauto.
Qed.

(** ** What the terms are *)
(** Without terms it is the objective of before. *)
Lemma total_loss net : forall y rows, length rows = length y ->
  total square y (map (out net) rows) = / 2 * loss rows y net.
Proof.
  induction y as [|a y IH]; intros [|z rows] L; simpl in *; try discriminate; [lra|].
  rewrite IH by lia. unfold square. simpl. lra.
Qed.
Lemma seen_all d net : well_formed d net -> seen_penalty d net = penalty net.
Proof. induction 1 as [|[w v] net L _ IH]; simpl; auto. rewrite IH, firstn_all2 by (simpl in L; lia). auto. Qed.
Theorem plain p net beta : length (p_rows p) = length (p_y p) -> well_formed (p_dim p) net ->
  objective_with square p (Terms None [] 1 (p_dim p) false) net beta = objective p net.
Proof.
  intros L W. unfold objective_with, objective, J, predictions, pool. cbn [t_bags t_free t_fden t_seen t_logistic map].
  rewrite seen_all by auto. rewrite <- total_loss by (unfold rows_of, y_of, ratio; rewrite !map_length; auto).
  destruct (map (out net) (rows_of p)); reflexivity.
Qed.
(** Rows of zeros with target 0, at which a free column has the numbers r, add c^2/2 for each r. *)
Lemma total_app loss : forall y f y' f', length y = length f -> total loss (y ++ y') (f ++ f') = total loss y f + total loss y' f'.
Proof.
  induction y as [|a y IH]; intros [|b f] y' f' L; simpl in *; try discriminate; [lra|]. rewrite IH by lia. lra.
Qed.
Theorem decayed loss c : (forall f, loss 0 f = square 0 f) -> forall r f y b, length y = length f -> length b = length f ->
  total loss (y ++ map (fun _ => 0) r) (added (f ++ map (fun _ => 0) r) (map (Rmult c) (b ++ r))) =
  total loss y (added f (map (Rmult c) b)) + dot r r / 2 * c ^ 2.
Proof.
  intros Sq r f y b L1 L2. assert (E : added (f ++ map (fun _ => 0) r) (map (Rmult c) (b ++ r)) =
    added f (map (Rmult c) b) ++ map (Rmult c) r).
  { revert b L2. clear y L1. induction f as [|x f IH]; intros [|a b] L2; simpl in *; try discriminate.
    - induction r as [|x r IH]; simpl; auto. rewrite IH. f_equal. lra.
    - rewrite IH by lia. auto. }
  rewrite E, total_app by (rewrite added_len; auto). f_equal.
  clear -Sq. induction r as [|x r IH]; simpl; [lra|]. rewrite IH, Sq. unfold square. field.
Qed.

