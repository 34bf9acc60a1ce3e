(** * Several outputs: |F(u)| <= lambda |u|, F(u) = Theta'P(Zu)_+ in R^C, by the quadratic lemma on a tree of cones

    On cone(g_i) lines that do not change sign are linear. For a crossing line k with weight W_k in R^C, height p_k.u and
    a share 0 <= s_k <= S let delta_k = S (p_k.u)_+ - s_k p_k.u: it is >= 0 and at most sum_i x_i D_ki for u = sum x_i g_i.
    S F = l + sum_k delta_k W_k with l linear, so |S F|^2 = |l|^2 + sum_k delta_k W_k.(2 l + sum_l delta_l W_l), and what
    stands there is at most sum_i x_i T_ki. That is a quadratic form in x, and so is |u|^2. *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool.
From Relu Require Import Spec Vectors Duality Checker Cones Soundness Upper Leaders Terms.
Import ListNotations.
Open Scope R_scope.

(** ** The evidence and its checker *)
Inductive branch :=
| Quadratic (S : Z) (shares : list Z) (K : Z) (N : list (list Z))
    (* shares of the crossing lines in parts of S; K times the form, less N, is definite; without N its entries are >= 0 *)
| Bisect (i k : nat) (p q h : Z) (a b : branch).
    (* h m = p g_i + q g_j, j = i + k + 1; m replaces g_i in a, g_j in b *)
Record wide := Wide {
  w_T : list (list Z);  w_tden : Z;                              (* the columns of P'Theta *)
  w_reps : list (list Z);  w_merge : list (nat * Z);             (* row k is m times representative g *)
  w_basis : list (list Z);  w_null : list (list Z);  w_span : list (Z * list Z);
  w_lens : list Z;                                               (* at least |W_k|, for each line *)
  w_level : Z;  w_pairs : nat;                                   (* at most lambda^2, in units; lines up to which pairs count *)
  w_root : list bool -> branch }.                                  (* of the sign cone with these signs, the last one first *)

Open Scope Z_scope.
(** *** Definite, by elimination without fractions *)
Definition scaled (k : Z) (M : list (list Z)) : list (list Z) := map (map (Z.mul k)) M.
Fixpoint definite (last : Z) (fuel : nat) (M : list (list Z)) : bool :=
  match fuel, M with
  | _, [] => true
  | O, _ => false
  | S fuel', r :: M' =>
      let a := head r in let b := tl r in let C := map (@tl Z) M' in
      let C1 := add_rows (-1) b b (scaled a C) in
      (0 <? a) && zeroZ (axpy (-1) (map head M') b) && Nat.leb (length b) (length C)
      && forallb (forallb (fun x => x mod last =? 0)) C1
      && definite a fuel' (map (map (fun x => x / last)) C1)
  end.
Definition gram (G : list (list Z)) : list (list Z) := map (fun g => map (dotZ g) G) G.
Fixpoint mixed (a : Z) (A : list (list Z)) (b : Z) (B : list (list Z)) : list (list Z) :=
  match A, B with r :: A', s :: B' => axpy a r (map (Z.mul b) s) :: mixed a A' b B' | _, _ => [] end.

(** *** Lines: a row, its weights, a bound of their length. F at a point; those that cross a cone, with heights, share. *)
Record line := Line { n_row : list Z; n_W : list Z; n_len : Z }.
Record item := Item { t_W : list Z; t_len : Z; t_V : list Z; t_s : Z }.
Fixpoint value_at (lines : list line) (C0 : list (list Z)) (g : list Z) : list Z :=
  match lines with
  | [] => map (fun c => dotZ c g) C0
  | l :: lines' => axpy (Z.max 0 (dotZ (n_row l) g)) (n_W l) (value_at lines' C0 g) end.
Fixpoint crossing (S : Z) (G : list (list Z)) (lines : list line) (shares : list Z) : option (list item) :=
  match lines with
  | [] => Some []
  | l :: lines' =>
      let V := map (dotZ (n_row l)) G in
      if forallb (fun x => 0 <=? x) V || forallb (fun x => x <=? 0) V then crossing S G lines' shares
      else match shares with
        | [] => None
        | s :: shares' =>
            if (0 <=? s) && (s <=? S) then
              match crossing S G lines' shares' with
              | Some its => Some (Item (n_W l) (n_len l) V s :: its) | None => None end
            else None end end.
Definition room_of (S : Z) (it : item) : list Z := map (fun v => S * Z.max 0 v - t_s it * v) (t_V it).
Fixpoint less_each (D W : list Z) (Ls : list (list Z)) : list (list Z) :=
  match D, Ls with x :: D', L :: Ls' => axpy (- x) W L :: less_each D' W Ls' | _, _ => [] end.
Fixpoint linear (S : Z) (base : list (list Z)) (its : list item) : list (list Z) :=
  match its with [] => scaled S base | it :: its' => less_each (room_of S it) (t_W it) (linear S base its') end.
(** sum_l (W_k.W_l)_+ D_l, or |W_k||W_l| in the place of the products *)
Fixpoint bends (S : Z) (pairs : bool) (k : item) (its : list item) : list Z :=
  match its with
  | [] => []
  | l :: its' =>
      axpy (if pairs then Z.max 0 (dotZ (t_W k) (t_W l)) else t_len k * t_len l) (room_of S l) (bends S pairs k its') end.
Definition slope_of (S : Z) (pairs : bool) (its : list item) (Ls : list (list Z)) (k : item) : list Z :=
  axpy 2 (map (dotZ (t_W k)) Ls) (bends S pairs k its).
Fixpoint least (m : Z) (T V : list Z) : option Z :=
  match T, V with
  | t :: T', v :: V' =>
      if v =? 0 then least m T' V' else
      let x := - t * m / Z.abs v in
      Some (match least m T' V' with Some y => Z.min x y | None => x end)
  | _, _ => None end.
Fixpoint kept (m k : Z) (T V : list Z) : bool :=
  match T, V with t :: T', v :: V' => (k * Z.abs v <=? m * - t) && kept m k T' V' | [], [] => true | _, _ => false end.
(** the form: less the sum over the crossing lines *)
Fixpoint less_lines (S : Z) (pairs : bool) (all its : list item) (Ls : list (list Z)) (M : list (list Z))
    : list (list Z) :=
  match its with
  | [] => M
  | it :: its' =>
      let M' := less_lines S pairs all its' Ls M in
      let T := slope_of S pairs all Ls it in
      if forallb (fun x => x <=? 0) T then
        let m := Z.min (t_s it) (S - t_s it) in
        let k := match least m T (t_V it) with Some k => k | None => 0 end in
        if (0 <? k) && kept m k T (t_V it) then add_rows (2 * k) (t_V it) (t_V it) M' else M'
      else
        let P := map (Z.max 0) T in let D := room_of S it in
        add_rows (-1) D P (add_rows (-1) P D M') end.
Definition leaf_ok (C0 : list (list Z)) (lines : list line) (level : Z) (pairs : nat) (G : list (list Z))
    (S : Z) (shares : list Z) (K : Z) (N : list (list Z)) : bool :=
  match crossing S G lines shares with
  | None => false
  | Some its =>
      let Ls := linear S (map (value_at lines C0) G) its in
      let M := less_lines S (Nat.leb (length its) pairs) its its Ls (mixed (2 * S * S * level) (gram G) (-2) (gram Ls)) in
      (0 <? S)
      && match N with
         | [] => forallb (forallb (fun x => 0 <=? x)) M
         | _ => (0 <? K) && forallb (forallb (fun x => 0 <=? x)) N && Nat.eqb (length N) (length M)
             && definite 1 (length M) (mixed K M (-1) N) end end.

(** *** The tree *)
Fixpoint cut {A : Type} (k : nat) (l : list A) : option (list A * A * list A) :=
  match l, k with
  | [], _ => None
  | x :: l', O => Some ([], x, l')
  | x :: l', S k' => match cut k' l' with Some (a, y, b) => Some (x :: a, y, b) | None => None end end.
Fixpoint check_node (ok : list (list Z) -> Z -> list Z -> Z -> list (list Z) -> bool) (G : list (list Z)) (t : branch)
    : bool :=
  match t with
  | Quadratic whole shares K N => ok G whole shares K N
  | Bisect i k p q h a b =>
      match cut i G with
      | None => false
      | Some (G1, x, R) => match cut k R with
        | None => false
        | Some (G2, y, G3) =>
            let v := axpy p x (map (Z.mul q) y) in let m := map (fun z => z / h) v in
            (0 <? p) && (0 <? q) && (0 <? h) && zeroZ (axpy (- h) m v)
            && check_node ok (G1 ++ m :: G2 ++ y :: G3) a && check_node ok (G1 ++ x :: G2 ++ m :: G3) b end end end.
(** *** All of it *)
Fixpoint merged (reps rows : list (list Z)) (Ts : list (list Z)) (mg : list (nat * Z)) : option (list (list Z * list Z)) :=
  match Ts with
  | [] => Some []
  | T :: Ts' => match merge reps rows T mg, merged reps rows Ts' mg with
      | Some x, Some l => Some (x :: l) | _, _ => None end end.
Fixpoint cons_each (a : list Z) (M : list (list Z)) : list (list Z) :=
  match a, M with x :: a', r :: M' => (x :: r) :: cons_each a' M' | _, _ => [] end.
Definition weights_of (reps : list (list Z)) (cols : list (list Z * list Z)) : list (list Z) :=
  fold_right (fun c M => cons_each (fst c) M) (map (fun _ => []) reps) cols.
Fixpoint lines_of (reps W : list (list Z)) (lens : list Z) : option (list line) :=
  match reps, W, lens with
  | [], [], _ => Some []
  | z :: reps', w :: W', a :: lens' =>
      if (0 <=? a) && (dotZ w w <=? a * a) then
        match lines_of reps' W' lens' with Some l => Some (Line z w a :: l) | None => None end
      else None
  | _, _, _ => None end.
Definition spans (d : nat) (e : wide) (C0 : list (list Z)) : bool :=
  rebase_ok (map (fun g => (g, 0)) (units d)) (w_span e) (signs_of (w_basis e) ++ signs_of (w_null e))
  && forallb (fun b => Nat.leb (length b) d) (w_basis e)
  && orthogonal (w_basis e) (w_null e) && orthogonal (w_reps e) (w_null e) && orthogonal C0 (w_null e).
Definition wide_feasible (p : problem) (e : wide) : bool :=
  match merged (w_reps e) (p_rows p) (w_T e) (w_merge e) with
  | None => false
  | Some cols =>
      let C0 := map snd cols in
      match lines_of (w_reps e) (weights_of (w_reps e) cols) (w_lens e) with
      | None => false
      | Some lines =>
          let ln := p_lnum p * p_rden p * w_tden e in
          (0 <? p_rden p) && (0 <? w_tden e) && (0 <? p_lnum p) && (0 <? p_lden p)
          && (w_level e * (p_lden p * p_lden p) <=? ln * ln) && (0 <=? w_level e) && spans (p_dim p) e C0
          && check_roots (fun G path => check_node (leaf_ok C0 lines (w_level e) (w_pairs e)) G (w_root e path))
               (w_basis e) [] [] end end.

(** P'theta = t and B'theta = 0, for each output; the sum of 2 td y.theta - yden |theta|^2 *)
Fixpoint spread_ok (p : problem) (t : terms) (td tden : Z) (Y Th Ts : list (list Z)) : bool :=
  match Y, Th, Ts with
  | [], [], [] => true
  | y :: Y', th :: Th', T :: Ts' =>
      Nat.eqb (length y) (length (p_y p)) && Nat.eqb (length th) (length (p_y p))
      && zeroZ (axpy (- tden) (spreadZ t th) (map (Z.mul (td * bags_den t)) T)) && zeroZ (combine_rows th (t_free t))
      && spread_ok p t td tden Y' Th' Ts'
  | _, _, _ => false end.
Fixpoint dual_sum (yd td : Z) (Y Th : list (list Z)) : Z :=
  match Y, Th with y :: Y', th :: Th' => 2 * td * dotZ y th - yd * dotZ th th + dual_sum yd td Y' Th' | _, _ => 0 end.
(** squares, and the norm of all weights *)
Definition of_squares (p : problem) (t : terms) : bool := negb (t_logistic t) && Nat.eqb (t_seen t) (p_dim p).
Definition check_wide (p : problem) (t : terms) (Y : list (list Z)) (e : wide) (Th : list (list Z)) (td lown lowd : Z)
    : bool :=
  of_squares p t && wide_feasible p e && terms_ok p t && (0 <? td) && (0 <? lowd) && spread_ok p t td (w_tden e) Y Th (w_T e)
  && (lown * (2 * p_yden p * (td * td)) <=? lowd * dual_sum (p_yden p) td Y Th).

Record wide_fit := WideFit { x_net : list (list Z * list Z); x_wden : Z; x_beta : list (list Z); x_bden : Z;
  x_un : Z; x_ud : Z }.
Definition outputZ (c : nat) (u : wide_fit) : fit :=
  Fit (map (fun nr => (fst nr, nth c (snd nr) 0)) (x_net u)) (x_wden u) (nth c (x_beta u) []) (x_bden u) 0 1.
Fixpoint wide_penaltyZ (N : list (list Z * list Z)) : Z :=
  match N with [] => 0 | nr :: N' => dotZ (fst nr) (fst nr) + dotZ (snd nr) (snd nr) + wide_penaltyZ N' end.
Fixpoint wide_lossZ (p : problem) (t : terms) (A : Z) (c : nat) (Y : list (list Z)) (u : wide_fit) : Z :=
  match Y with
  | [] => 0
  | y :: Y' => squaresZ A (p_yden p) y (predictionsZ p t (outputZ c u)) + wide_lossZ p t A (S c) Y' u end.
Definition check_wide_fit (p : problem) (t : terms) (Y : list (list Z)) (u : wide_fit) : bool :=
  let wd2 := x_wden u * x_wden u in
  let A := out_den p t (outputZ 0 u) * (t_fden t * x_bden u) in
  let q := 2 * ((A * p_yden p) * (A * p_yden p)) in
  of_squares p t && terms_ok p t && (0 <? x_wden u) && (0 <? x_bden u) && (0 <? x_ud u)
  && forallb (fun nr => Nat.eqb (length (fst nr)) (p_dim p)) (x_net u)
  && ((wide_lossZ p t A 0 Y u * (2 * p_lden p * wd2) + p_lnum p * wide_penaltyZ (x_net u) * q) * x_ud u
      <=? x_un u * (q * (2 * p_lden p * wd2))).
Close Scope Z_scope.

(** ** Forms *)
Lemma quad_scaled k M x : quad (scaled k M) x = IZR k * quad M x.
Proof.
  unfold quad, rows_at, scaled. rewrite map_map. rewrite (map_ext _ (fun r => IZR k * dot (iz r) x)) by
    (intros; apply scale_R). rewrite dot_comm, dot_map_scale, dot_comm. reflexivity.
Qed.
Lemma divided last M : (0 < last)%Z -> forallb (forallb (fun x => x mod last =? 0)%Z) M = true ->
  M = scaled last (map (map (fun x => x / last)%Z) M).
Proof.
  intros Hl E. unfold scaled. induction M as [|r M IH]; auto. cbn [forallb] in E. apply andb_prop in E. destruct E as [E1 E2].
  cbn [map]. rewrite <- IH by auto. f_equal. clear -Hl E1. induction r as [|x r IH]; auto. cbn [forallb] in E1.
  apply andb_prop in E1. destruct E1 as [E1 E2]. cbn [map]. rewrite <- IH by auto. f_equal. apply Z.eqb_eq in E1.
  pose proof (Z.div_mod x last ltac:(lia)). lia.
Qed.
Theorem definite_sound : forall fuel last M, (0 < last)%Z -> definite last fuel M = true -> forall x, 0 <= quad M x.
Proof.
  assert (End : forall x, 0 <= quad [] x) by (intros; unfold quad; simpl; lra).
  induction fuel as [|fuel IH]; intros last M Hl E x; destruct M as [|r M]; try discriminate; auto.
  cbn [definite] in E. set (a := head r) in *. set (b := tl r) in *. set (C := map (@tl Z) M) in *.
  set (C1 := add_rows _ _ _ _) in *. split_andb E. to_Prop. apply Nat.leb_le in E2.
  assert (ha := IZR_lt _ _ E). assert (hl := IZR_lt _ _ Hl).
  destruct x as [|x0 x]; [unfold quad; rewrite dot_nil_r; lra|].
  assert (Hb : dot (iz (map head M)) x = dot (iz b) x).
  { apply (zeroZ_R x) in E3. rewrite axpy_R in E3. lra. }
  assert (Q : quad (r :: M) (x0 :: x) = IZR a * (x0 * x0) + 2 * x0 * dot (iz b) x + quad C x).
  { unfold quad. change (rows_at (r :: M) (x0 :: x)) with (dot (iz r) (x0 :: x) :: rows_at M (x0 :: x)).
    cbn [dot]. rewrite head_tail, rows_at_cons. fold C a b. rewrite Hb. ring. }
  specialize (IH a _ E E0 x). apply divided in E1; auto.
  assert (Q1 : quad C1 x = IZR a * quad C x - dot (iz b) x * dot (iz b) x).
  { unfold C1, quad. rewrite add_rows_R by (unfold scaled; rewrite map_length; auto). fold (quad (scaled a C) x).
    rewrite quad_scaled. unfold quad. ring. }
  rewrite E1, quad_scaled in Q1. set (q := quad (map _ C1) x) in *. rewrite Q.
  pose proof (Rle_0_sqr (IZR a * x0 + dot (iz b) x)) as Sq. unfold Rsqr in Sq.
  apply Rmult_le_reg_l with (IZR a); auto. nra.
Qed.
Lemma nonneg_quad M x : forallb (forallb (fun y => 0 <=? y)%Z) M = true -> Forall (Rle 0) x -> 0 <= quad M x.
Proof.
  intros E F. unfold quad. rewrite dot_comm. apply dot_nonneg; auto. unfold rows_at. rewrite Forall_map.
  apply Forall_forall. intros r I. rewrite forallb_forall in E. specialize (E r I). rewrite dot_comm. apply dot_nonneg; auto.
  unfold iz. rewrite Forall_map. apply Forall_forall. intros y Iy. rewrite forallb_forall in E. specialize (E y Iy).
  apply Z.leb_le in E. apply IZR_le. exact E.
Qed.
Lemma mixed_R a b X : forall A B x, length A = length B ->
  dot (rows_at (mixed a A b B) X) x = IZR a * dot (rows_at A X) x + IZR b * dot (rows_at B X) x.
Proof.
  unfold rows_at. induction A as [|r A IH]; intros [|s B] x L; simpl in *; try discriminate; [ring|].
  destruct x as [|x0 x]; [ring|]. rewrite IH by lia. rewrite axpy_R, scale_R. ring.
Qed.
Lemma mixed_len a b : forall A B, length A = length B -> length (mixed a A b B) = length A.
Proof. induction A; intros [|s B] L; simpl in *; try discriminate; auto. Qed.

(** u = sum_i x_i g_i, x >= 0 *)
Definition at_point (G : list (list Z)) (x u : list R) : Prop := forall v, dot v u = dot x (map (form v) G).
Lemma gram_quad G x u : at_point G x u -> quad (gram G) x = dot u u.
Proof.
  intros H. unfold quad, rows_at, gram. rewrite map_map. rewrite H, dot_comm. f_equal. apply map_ext. intros g.
  unfold form. rewrite (dot_comm u (iz g)), H. rewrite dot_comm. f_equal. unfold iz at 1. rewrite map_map.
  apply map_ext. intros h. rewrite form_iz. reflexivity.
Qed.
Lemma height_R G x u z : at_point G x u -> dot (iz z) u = dot x (iz (map (dotZ z) G)).
Proof.
  intros H. rewrite H. f_equal. unfold iz at 2. rewrite map_map. apply map_ext. intros g. apply form_iz.
Qed.

(** ** The quadratic lemma *)
Lemma axpy_le k n : forall a b, (length a <= n)%nat -> (length b <= n)%nat -> (length (axpy k a b) <= n)%nat.
Proof.
  intros a. revert n. induction a as [|x a IH]; intros n [|y b] La Lb; simpl in *; auto; destruct n as [|n]; try lia;
    apply le_n_S; apply IH; simpl; lia.
Qed.
Section Leaf.
Variables (C0 G : list (list Z)) (S : Z) (x u F : list R).
Hypotheses (HS : (0 < S)%Z) (Hat : at_point G x u) (Hx : Forall (Rle 0) x).
Let h (it : item) : R := dot x (iz (t_V it)).
Let delta (it : item) : R := IZR S * relu (h it) - IZR (t_s it) * h it.
Let D (it : item) : R := dot x (iz (room_of S it)).
Fixpoint esum (v : list R) (its : list item) : R :=
  match its with [] => 0 | it :: r => delta it * dot v (iz (t_W it)) + esum v r end.
Fixpoint rsums (v : list R) (its : list item) : R :=
  match its with [] => 0 | it :: r => D it * dot v (iz (t_W it)) + rsums v r end.
Fixpoint vsum (v : list R) (lines : list line) : R :=
  match lines with [] => 0 | l :: r => relu (dot (iz (n_row l)) u) * dot v (iz (n_W l)) + vsum v r end.
Let steep (l : line) : R := dot x (map (fun g => relu (IZR (dotZ (n_row l) g))) G).
Fixpoint ssum (v : list R) (lines : list line) : R :=
  match lines with [] => 0 | l :: r => steep l * dot v (iz (n_W l)) + ssum v r end.
Definition at_c0 (v : list R) : R := dot v (map (fun c => dot (iz c) u) C0).

Lemma c0_R : forall l v, dot x (map (fun g => dot v (iz (map (fun c => dotZ c g) l))) G) =
  dot v (map (fun c => dot (iz c) u) l).
Proof.
  induction l as [|c l IH]; intros v.
  - simpl. rewrite (dot_nil_r v). apply dot_map_zero. intros. first [reflexivity|apply dot_nil_r].
  - destruct v as [|a v]; [simpl; apply dot_map_zero; auto|]. cbn [map iz dot].
    rewrite (dot_map_add _ (fun g => a * IZR (dotZ c g)) (fun g => dot v (iz (map (fun c => dotZ c g) l)))), IH.
    rewrite dot_map_scale. f_equal. f_equal. rewrite (height_R G x u c Hat). unfold iz. rewrite map_map. reflexivity.
Qed.
Lemma value_R v : forall lines, dot x (map (form v) (map (value_at lines C0) G)) = at_c0 v + ssum v lines.
Proof.
  intros lines. rewrite map_map. induction lines as [|l lines IH]; cbn [value_at ssum].
  - unfold form, at_c0. rewrite <- c0_R. ring.
  - rewrite (map_ext _ (fun g => dot v (iz (n_W l)) * relu (IZR (dotZ (n_row l) g)) + form v (value_at lines C0 g))).
    + rewrite dot_map_add, IH, dot_map_scale. unfold steep. ring.
    + intros g. unfold form. rewrite dot_comm, axpy_R, relu_IZR. rewrite (dot_comm v (iz (n_W l))), (dot_comm v). ring.
Qed.

Record item_ok (it : item) : Prop := ItemOk {
  io_len : length (t_V it) = length G; io_low : (0 <= t_s it)%Z; io_high : (t_s it <= S)%Z;
  io_pos : (0 <= t_len it)%Z; io_norm : (dotZ (t_W it) (t_W it) <= t_len it * t_len it)%Z }.
Definition line_ok (l : line) : Prop := (0 <= n_len l)%Z /\ (dotZ (n_W l) (n_W l) <= n_len l * n_len l)%Z.
Lemma room_R it : D it = IZR S * dot x (map relu (iz (t_V it))) - IZR (t_s it) * h it.
Proof.
  unfold D, h, room_of. generalize (t_V it). intros V.
  replace (iz (map (fun v => S * Z.max 0 v - t_s it * v)%Z V)) with
    (map (fun v => IZR S * relu (IZR v) + - IZR (t_s it) * IZR v) V).
  - rewrite (dot_map_add _ (fun v => IZR S * relu (IZR v)) (fun v => - IZR (t_s it) * IZR v)), !dot_map_scale.
    unfold iz. rewrite map_map. ring.
  - unfold iz. rewrite map_map. apply map_ext. intros v. rewrite minus_IZR, !mult_IZR, relu_IZR. ring.
Qed.
Lemma delta_range it : item_ok it -> 0 <= delta it <= D it.
Proof.
  intros [_ H1 H2 _ _]. apply IZR_le in H1, H2. rewrite room_R. unfold delta. assert (hS := IZR_lt _ _ HS).
  pose proof (relu_nonneg (h it)). pose proof (relu_ge (h it)). split.
  - assert (IZR (t_s it) * h it <= IZR (t_s it) * relu (h it)) by (apply Rmult_le_compat_l; auto).
    assert (IZR (t_s it) * relu (h it) <= IZR S * relu (h it)) by (apply Rmult_le_compat_r; auto). lra.
  - pose proof (relu_dot_sub x (iz (t_V it)) Hx) as R. fold (h it) in R.
    assert (IZR S * relu (h it) <= IZR S * dot x (map relu (iz (t_V it)))) by (apply Rmult_le_compat_l; lra). lra.
Qed.
Lemma same_side V : forallb (fun y => 0 <=? y)%Z V || forallb (fun y => y <=? 0)%Z V = true ->
  dot x (map relu (iz V)) = relu (dot x (iz V)).
Proof.
  intros E. apply orb_prop in E. destruct E as [E|E].
  - assert (A : map relu (iz V) = iz V).
    { unfold iz. rewrite map_map. apply map_ext_in. intros y I. rewrite forallb_forall in E. specialize (E y I).
      apply Z.leb_le, IZR_le in E. apply relu_pos. exact E. }
    rewrite A. symmetry. apply relu_pos. apply dot_nonneg; auto. unfold iz. rewrite Forall_map. apply Forall_forall.
    intros y I. rewrite forallb_forall in E. specialize (E y I). apply Z.leb_le, IZR_le in E. exact E.
  - rewrite relu_neg.
    + unfold iz. rewrite map_map. apply dot_map_zero. intros y I. rewrite forallb_forall in E. specialize (E y I).
      apply Z.leb_le, IZR_le in E. apply relu_neg. exact E.
    + assert (A : 0 <= dot x (map (fun y => - IZR y) V)).
      { apply dot_nonneg; auto. rewrite Forall_map. apply Forall_forall. intros y I. rewrite forallb_forall in E.
        specialize (E y I). apply Z.leb_le, IZR_le in E. lra. }
      rewrite (map_ext _ (fun y => -1 * IZR y)) in A by (intros; ring). rewrite dot_map_scale in A. fold (iz V) in A. lra.
Qed.
Lemma crossing_R v : forall lines shares its, Forall line_ok lines -> crossing S G lines shares = Some its ->
  Forall item_ok its /\ IZR S * ssum v lines - IZR S * vsum v lines = rsums v its - esum v its.
Proof.
  induction lines as [|l lines IH]; intros shares its FL E; cbn [crossing] in E.
  - injection E as <-. split; [constructor|]. simpl. ring.
  - assert (L0 := Forall_inv FL). assert (FL' := Forall_inv_tail FL). cbn [ssum vsum].
    assert (Q : steep l = dot x (map relu (iz (map (dotZ (n_row l)) G)))).
    { unfold steep, iz. rewrite !map_map. reflexivity. }
    rewrite (height_R G x u (n_row l) Hat). set (V := map (dotZ (n_row l)) G) in *.
    destruct (_ || _) eqn:EV in E.
    + destruct (IH _ _ FL' E) as (F1 & E1). split; auto. rewrite Q, (same_side V EV). lra.
    + destruct shares as [|s shares]; [discriminate|]. destruct (_ && _)%bool eqn:Es in E; [|discriminate].
      destruct (crossing S G lines shares) as [its'|] eqn:E0; [|discriminate]. injection E as <-.
      destruct (IH _ _ FL' E0) as (F1 & E1). apply andb_prop in Es. destruct Es as [s1 s2]. to_Prop. split.
      * constructor; auto. destruct L0. constructor; simpl; auto. unfold V. apply map_length.
      * cbn [rsums esum]. set (it := Item _ _ _ _). rewrite (room_R it). unfold delta, h. cbn [it t_V t_s t_W].
        rewrite Q. fold (iz V). lra.
Qed.
Lemma less_each_R v W : forall Dl Ls y, length Dl = length Ls ->
  dot y (map (form v) (less_each Dl W Ls)) = dot y (map (form v) Ls) - dot y (iz Dl) * dot v (iz W).
Proof.
  induction Dl as [|d Dl IH]; intros [|L Ls] y E; try discriminate; [simpl; rewrite !dot_nil_r; ring|].
  destruct y as [|a y]; [simpl; ring|]. cbn [less_each map iz dot]. rewrite IH by (simpl in E; lia).
  unfold form at 1. rewrite dot_comm, axpy_R, opp_IZR. unfold form at 2. rewrite (dot_comm (iz W)), (dot_comm (iz L)).
  fold (iz Dl). ring.
Qed.
Lemma less_each_len W : forall Dl Ls, length Dl = length Ls -> length (less_each Dl W Ls) = length Ls.
Proof. induction Dl; intros [|L Ls] E; simpl in *; try discriminate; auto. Qed.
Lemma room_len it : item_ok it -> length (room_of S it) = length G.
Proof. intros [L _ _ _ _]. unfold room_of. rewrite map_length. exact L. Qed.
Lemma linear_R v base its : length base = length G -> Forall item_ok its ->
  length (linear S base its) = length G /\
  dot x (map (form v) (linear S base its)) = IZR S * dot x (map (form v) base) - rsums v its.
Proof.
  intros L. induction 1 as [|it its I _ (LI & IH)]; cbn [linear rsums].
  - unfold scaled. rewrite map_length, map_map. split; auto.
    rewrite (map_ext _ (fun g => IZR S * form v g)); [rewrite dot_map_scale; ring|].
    intros g. unfold form. rewrite dot_comm, scale_R, dot_comm. reflexivity.
  - rewrite less_each_len by (rewrite room_len; auto). split; auto.
    rewrite less_each_R by (rewrite room_len; auto). rewrite IH. fold (D it). ring.
Qed.

Variables (lines : list line) (its : list item).
Hypothesis HF : forall v, dot v F = at_c0 v + vsum v lines.
Hypothesis (HL : Forall line_ok lines) (shares : list Z) (Hc : crossing S G lines shares = Some its).
Let Ls := linear S (map (value_at lines C0) G) its.
Let l := real_sum x Ls.
Lemma its_ok : Forall item_ok its.
Proof. exact (proj1 (crossing_R [] lines shares its HL Hc)). Qed.
Lemma Ls_len : length Ls = length G.
Proof. apply (linear_R []); [apply map_length|apply its_ok]. Qed.
Lemma split_R v : IZR S * dot v F = dot v l + esum v its.
Proof.
  unfold l. rewrite real_sum_R. unfold Ls. destruct (linear_R v (map (value_at lines C0) G) its) as (_ & ->);
    [apply map_length|apply its_ok|]. rewrite value_R, HF. destruct (crossing_R v lines shares its HL Hc) as (_ & E). lra.
Qed.
Definition bracket (it : item) : R := 2 * dot (iz (t_W it)) l + esum (iz (t_W it)) its.
Fixpoint qsum (some : list item) : R := match some with [] => 0 | it :: r => delta it * bracket it + qsum r end.
Lemma esum_F : forall some, IZR S * esum F some + esum l some = qsum some.
Proof.
  induction some as [|it some IH]; cbn [esum qsum]; [ring|]. rewrite <- IH. unfold bracket.
  pose proof (split_R (iz (t_W it))) as E. rewrite (dot_comm _ F) in E. rewrite (dot_comm l). nra.
Qed.
Lemma square_R : IZR S * IZR S * dot F F = dot l l + qsum its.
Proof.
  rewrite <- esum_F. pose proof (split_R F) as E1. pose proof (split_R l) as E2. rewrite (dot_comm l F) in E2. nra.
Qed.
Lemma bends_R pairs k : item_ok k -> forall some, Forall item_ok some ->
  esum (iz (t_W k)) some <= dot x (iz (bends S pairs k some)) /\ (length (bends S pairs k some) <= length G)%nat.
Proof.
  intros Ik. induction 1 as [|it some I _ (IH & LI)]; cbn [esum bends]; [rewrite dot_nil_r; simpl; split; [lra|lia]|].
  split; [|apply axpy_le; auto; rewrite room_len; auto].
  rewrite (dot_comm x), axpy_R, (dot_comm _ x), (dot_comm _ x). fold (D it).
  pose proof (delta_range it I) as [d0 d1].
  assert (P : dot (iz (t_W k)) (iz (t_W it)) <= IZR (if pairs then Z.max 0 (dotZ (t_W k) (t_W it)) else t_len k * t_len it) /\
    0 <= IZR (if pairs then Z.max 0 (dotZ (t_W k) (t_W it)) else t_len k * t_len it)).
  { destruct pairs.
    - rewrite relu_IZR, dotZ_R. split; [apply relu_ge|apply relu_nonneg].
    - destruct Ik as [_ _ _ p1 n1]. destruct I as [_ _ _ p2 n2]. apply IZR_le in p1, p2, n1, n2.
      rewrite dotZ_R, mult_IZR in n1, n2. rewrite mult_IZR. split; [|nra].
      eapply Rle_trans; [apply Rle_abs|]. apply dot_abs_le; auto. }
  destruct P as [P0 P1]. set (f := IZR (if pairs then _ else _)) in *.
  assert (delta it * dot (iz (t_W k)) (iz (t_W it)) <= delta it * f) by (apply Rmult_le_compat_l; auto).
  assert (delta it * f <= D it * f) by (apply Rmult_le_compat_r; auto). lra.
Qed.
Lemma slope_R pairs k : item_ok k ->
  bracket k <= dot x (iz (slope_of S pairs its Ls k)) /\ (length (slope_of S pairs its Ls k) <= length G)%nat.
Proof.
  intros Ik. destruct (bends_R pairs k Ik its its_ok) as (B & LB). unfold slope_of. split.
  - rewrite (dot_comm x), axpy_R, (dot_comm _ x), (dot_comm _ x). unfold bracket, l. rewrite real_sum_R.
    replace (iz (map (dotZ (t_W k)) Ls)) with (map (form (iz (t_W k))) Ls); [lra|].
    unfold iz at 2. rewrite map_map. apply map_ext. intros g. apply form_iz.
  - apply axpy_le; auto. rewrite map_length, Ls_len. auto.
Qed.
Lemma kept_R m k : forall T V y, Forall (Rle 0) y -> kept m k T V = true ->
  IZR k * dot y (iz (map Z.abs V)) <= IZR m * - dot y (iz T) /\ Rabs (dot y (iz V)) <= dot y (iz (map Z.abs V)).
Proof.
  induction T as [|t T IH]; intros [|v V] y Fy E; try discriminate.
  - simpl. rewrite !dot_nil_r, Rabs_R0. lra.
  - destruct y as [|a y]; [simpl; rewrite Rabs_R0; lra|]. cbn [kept] in E. apply andb_prop in E. destruct E as [E1 E2].
    apply Z.leb_le, IZR_le in E1. rewrite !mult_IZR, opp_IZR in E1. assert (a0 := Forall_inv Fy). simpl in a0.
    destruct (IH V y (Forall_inv_tail Fy) E2) as (I1 & I2). cbn [map iz dot]. fold (iz T) (iz V) (iz (map Z.abs V)).
    rewrite abs_IZR in *. split; [nra|]. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_right a) by lra.
    lra.
Qed.
Lemma less_lines_R pairs M : length M = length G -> forall some, Forall item_ok some ->
  length (less_lines S pairs its some Ls M) = length G /\
  quad (less_lines S pairs its some Ls M) x <= quad M x - 2 * qsum some.
Proof.
  intros LM. induction 1 as [|it some I _ (LI & IH)]; cbn [less_lines qsum]; [split; auto; lra|].
  set (M' := less_lines S pairs its some Ls M) in *. set (T := slope_of S pairs its Ls it) in *.
  destruct (slope_R pairs it I) as (B & LT). fold T in B, LT. pose proof (delta_range it I) as [d0 d1].
  assert (DB : delta it * bracket it <= delta it * dot x (iz T)) by (apply Rmult_le_compat_l; auto).
  destruct (forallb (fun y => y <=? 0)%Z T) eqn:ET.
  - assert (T0 : dot x (iz T) <= 0).
    { assert (A : 0 <= dot x (map (fun y => - IZR y) T)).
      { apply dot_nonneg; auto. rewrite Forall_map. apply Forall_forall. intros y Iy. rewrite forallb_forall in ET.
        specialize (ET y Iy). apply Z.leb_le, IZR_le in ET. lra. }
      rewrite (map_ext _ (fun y => -1 * IZR y)) in A by (intros; ring). rewrite dot_map_scale in A. fold (iz T) in A. lra. }
    set (m := Z.min (t_s it) (S - t_s it)). set (k := match least m T (t_V it) with Some k => k | None => 0%Z end).
    destruct (_ && _)%bool eqn:EK; [|split; auto; nra]. apply andb_prop in EK. destruct EK as [k0 EK]. to_Prop.
    destruct (kept_R m k T (t_V it) x Hx EK) as (K1 & K2). apply IZR_lt in k0.
    rewrite add_rows_len. split; auto. unfold quad in *.
    rewrite add_rows_R by (rewrite LI; destruct I; lia). rewrite mult_IZR, (dot_comm (iz (t_V it)) x).
    change (dot x (iz (t_V it))) with (h it) in *.
    assert (DM : IZR m * Rabs (h it) <= delta it).
    { destruct I as [_ s0 s1 _ _]. apply IZR_le in s0, s1. unfold delta.
      assert (m1 : IZR m <= IZR (t_s it)) by (apply IZR_le; unfold m; lia).
      assert (m2 : IZR m <= IZR S - IZR (t_s it)) by (rewrite <- minus_IZR; apply IZR_le; unfold m; lia).
      unfold Rabs. destruct (Rcase_abs (h it)) as [hn|hp]; [rewrite relu_neg by lra|rewrite relu_pos by lra]; nra. }
    pose proof (Rabs_pos (h it)) as hp. set (a := Rabs (h it)) in *.
    assert (AA : h it * h it = a * a).
    { unfold a. rewrite <- Rabs_mult. symmetry. apply Rabs_right. nra. }
    assert (X1 : IZR m * a * - dot x (iz T) <= delta it * - dot x (iz T)) by (apply Rmult_le_compat_r; lra).
    assert (X2 : a * (IZR k * dot x (iz (map Z.abs (t_V it)))) <= a * (IZR m * - dot x (iz T)))
      by (apply Rmult_le_compat_l; auto).
    assert (X3 : IZR k * (a * a) <= IZR k * (a * dot x (iz (map Z.abs (t_V it)))))
      by (apply Rmult_le_compat_l; [lra|]; apply Rmult_le_compat_l; auto).
    rewrite AA. lra.
  - set (P := map (Z.max 0) T). rewrite !add_rows_len. split; auto. unfold quad in *.
    assert (LP : (length P <= length G)%nat) by (unfold P; rewrite map_length; auto).
    rewrite add_rows_R by (rewrite add_rows_len, LI; auto).
    rewrite add_rows_R by (rewrite LI, room_len; auto). rewrite (dot_comm (iz P) x), (dot_comm (iz (room_of S it)) x).
    fold (D it).
    assert (P0 : 0 <= dot x (iz P) /\ dot x (iz T) <= dot x (iz P)).
    { unfold P, iz. rewrite map_map. split.
      - apply dot_nonneg; auto. rewrite Forall_map. apply Forall_forall. intros y _. apply IZR_le. lia.
      - apply dot_map_le; auto. apply Forall_forall. intros y _. apply IZR_le. lia. }
    destruct P0 as [P0 P1].
    assert (delta it * dot x (iz T) <= delta it * dot x (iz P)) by (apply Rmult_le_compat_l; auto).
    assert (delta it * dot x (iz P) <= D it * dot x (iz P)) by (apply Rmult_le_compat_r; auto). lra.
Qed.
End Leaf.

Theorem leaf_sound C0 lines level pairs G whole shares K N x u F : at_point G x u -> Forall (Rle 0) x ->
  Forall line_ok lines -> (forall v, dot v F = at_c0 C0 u v + vsum u v lines) ->
  leaf_ok C0 lines level pairs G whole shares K N = true -> dot F F <= IZR level * dot u u.
Proof.
  intros Hat Hx HL HF E. unfold leaf_ok in E. destruct (crossing whole G lines shares) as [its|] eqn:Hc; [|discriminate].
  set (Ls := linear whole _ its) in *. set (Q := mixed _ _ _ _) in *. set (M := less_lines _ _ _ _ _ _) in *.
  apply andb_prop in E. destruct E as [HS E]. to_Prop. assert (hS := IZR_lt _ _ HS).
  pose proof (Ls_len C0 G whole x u Hat Hx lines its HL shares Hc) as LL. fold Ls in LL.
  assert (LG : forall A, length (gram A) = length A) by (intros; apply map_length).
  assert (LQ : length Q = length G) by (unfold Q; rewrite mixed_len; rewrite !LG; auto).
  destruct (less_lines_R C0 G whole x u HS Hat Hx lines its HL shares Hc (Nat.leb (length its) pairs) Q LQ its
    (its_ok G whole x u Hat Hx lines its HL shares Hc)) as (LM & B).
  pose proof (square_R C0 G whole x u F Hat Hx lines its HF HL shares Hc) as SQ. fold Ls in SQ, B, LM. fold M in B, LM.
  assert (QQ : quad Q x = 2 * IZR whole * IZR whole * IZR level * dot u u - 2 * dot (real_sum x Ls) (real_sum x Ls)).
  { unfold Q, quad. rewrite mixed_R by (rewrite !LG; auto). fold (quad (gram G) x) (quad (gram Ls) x).
    rewrite (gram_quad G x u Hat), (gram_quad Ls x (real_sum x Ls)) by (intros v; apply real_sum_R).
    rewrite !mult_IZR. ring. }
  assert (P : 0 <= quad M x).
  { destruct N as [|r N]; [apply nonneg_quad; auto|]. split_andb E. to_Prop.
    pose proof (definite_sound _ _ _ (eq_refl : (0 < 1)%Z) E0 x) as DF. unfold quad in DF. rewrite mixed_R in DF by auto.
    fold (quad M x) (quad (r :: N) x) in DF. pose proof (nonneg_quad (r :: N) x E2 Hx) as N0. apply IZR_lt in E.
    apply Rmult_le_reg_l with (IZR K); auto. lra. }
  apply Rmult_le_reg_l with (2 * IZR whole * IZR whole); [nra|]. lra.
Qed.

(** ** The tree, and the sign cones of the basis *)
Lemma cut_spec A : forall k (l : list A) a x b, cut k l = Some (a, x, b) -> l = a ++ x :: b.
Proof.
  induction k as [|k IH]; intros [|y l] a x b E; simpl in E; try discriminate.
  - injection E as <- <- <-. reflexivity.
  - destruct (cut k l) as [[[a' x'] b']|] eqn:C; [|discriminate]. injection E as <- <- <-. simpl. f_equal. apply IH; auto.
Qed.
Lemma split_covers G1 a G2 b G3 m p q h u : 0 < p -> 0 < q -> 0 < h ->
  (forall v, h * form v m = p * form v a + q * form v b) -> in_cone (G1 ++ a :: G2 ++ b :: G3) u ->
  in_cone (G1 ++ m :: G2 ++ b :: G3) u \/ in_cone (G1 ++ a :: G2 ++ m :: G3) u.
Proof.
  intros Hp Hq Hh Hm (x & Lx & Fx & Hx).
  destruct (coefficients_cut x G1 a _ Lx Fx) as (X1 & s & Y & -> & L1 & LY & F1 & F2 & FY).
  destruct (coefficients_cut Y G2 b G3 LY FY) as (X2 & t & X3 & -> & L2 & L3 & F3 & F4 & F5).
  assert (E : forall v, dot v u = dot X1 (map (form v) G1) + (s * form v a + (dot X2 (map (form v) G2) +
    (t * form v b + dot X3 (map (form v) G3))))).
  { intros v. rewrite Hx, map_app, dot_app by (rewrite map_length; auto). cbn [map dot].
    rewrite map_app, dot_app by (rewrite map_length; auto). cbn [map dot]. ring. }
  assert (M : forall v, form v m = (p * form v a + q * form v b) / h) by (intros v; rewrite <- Hm; field; lra).
  destruct (Rle_lt_dec (s * q) (t * p)) as [C|C].
  - left. exists (X1 ++ s * h / p :: X2 ++ (t - s * q / p) :: X3). split; [|split].
    + rewrite !app_length. cbn [length]. rewrite !app_length. cbn [length]. lia.
    + assert (0 <= t - s * q / p) by (apply Rmult_le_reg_r with p; auto; field_simplify; lra).
      assert (0 <= s * h / p) by (apply Rmult_le_pos; [nra|left; apply Rinv_0_lt_compat; auto]).
      repeat (apply Forall_app; split; auto; constructor; auto).
    + intros v. rewrite E, map_app, dot_app by (rewrite map_length; auto). cbn [map dot].
      rewrite map_app, dot_app by (rewrite map_length; auto). cbn [map dot]. rewrite M. field. lra.
  - right. exists (X1 ++ (s - t * p / q) :: X2 ++ t * h / q :: X3). split; [|split].
    + rewrite !app_length. cbn [length]. rewrite !app_length. cbn [length]. lia.
    + assert (0 <= s - t * p / q) by (apply Rmult_le_reg_r with q; auto; field_simplify; lra).
      assert (0 <= t * h / q) by (apply Rmult_le_pos; [nra|left; apply Rinv_0_lt_compat; auto]).
      repeat (apply Forall_app; split; auto; constructor; auto).
    + intros v. rewrite E, map_app, dot_app by (rewrite map_length; auto). cbn [map dot].
      rewrite map_app, dot_app by (rewrite map_length; auto). cbn [map dot]. rewrite M. field. lra.
Qed.
Theorem node_sound (goal : list R -> Prop) ok :
  (forall G whole shares K N u, ok G whole shares K N = true -> in_cone G u -> goal u) ->
  forall t G u, check_node ok G t = true -> in_cone G u -> goal u.
Proof.
  intros H. induction t as [whole shares K N|i k p q h a IHa b IHb]; intros G u E I; cbn [check_node] in E; [eauto|].
  destruct (cut i G) as [[[G1 x] Rs]|] eqn:C1; [|discriminate].
  destruct (cut k Rs) as [[[G2 y] G3]|] eqn:C2; [|discriminate].
  apply cut_spec in C1, C2. subst Rs G. split_andb E. to_Prop.
  apply IZR_lt in E, E4, E3.
  destruct (split_covers G1 x G2 y G3 (map (fun z => z / h)%Z (axpy p x (map (Z.mul q) y))) (IZR p) (IZR q) (IZR h) u)
    as [J|J]; auto; [|eauto|eauto].
  intros v. apply (zeroZ_R v) in E2. rewrite axpy_R, opp_IZR in E2.
  assert (A : dot (iz (axpy p x (map (Z.mul q) y))) v = IZR p * dot (iz x) v + IZR q * dot (iz y) v)
    by (rewrite axpy_R, scale_R; ring).
  unfold form. rewrite !(dot_comm v). set (w := iz (map _ _)) in *. lra.
Qed.
(** ** All lines of all outputs *)
Definition column_value (reps : list (list Z)) (u : list R) (c : list Z * list Z) : R :=
  csum (fst c) reps u + dot (iz (snd c)) u.
Lemma merged_R rd td u reps rows mg : (0 < rd)%Z -> (0 < td)%Z -> forall Ts cols,
  merged reps rows Ts mg = Some cols ->
  Forall (fun c => length (fst c) = length reps) cols /\
  map (column_value reps u) cols = map (fun T => IZR rd * IZR td * hsum (map (ratio rd) rows) (ratio td T) u) Ts.
Proof.
  intros hr ht. induction Ts as [|T Ts IH]; intros cols E; cbn [merged] in E.
  - injection E as <-. split; constructor.
  - destruct (merge reps rows T mg) as [[cf c0]|] eqn:EM; [|discriminate].
    destruct (merged reps rows Ts mg) as [l|]; [|discriminate]. injection E as <-.
    destruct (IH l eq_refl) as (F & E). destruct (merge_R rd td u reps hr ht _ _ _ _ _ EM) as (L & V).
    split; [constructor; auto|]. cbn [map]. rewrite E, V. reflexivity.
Qed.
Fixpoint weigh (u v : list R) (reps W : list (list Z)) : R :=
  match reps, W with z :: reps', w :: W' => relu (dot (iz z) u) * dot v (iz w) + weigh u v reps' W' | _, _ => 0 end.
Lemma weigh_nil u v : forall reps, weigh u v reps (map (fun _ => []) reps) = 0.
Proof. induction reps; simpl; auto. rewrite IHreps, dot_nil_r. ring. Qed.
Lemma weigh_nil_v u : forall reps W, weigh u [] reps W = 0.
Proof. induction reps; intros [|w W]; simpl; auto. rewrite IHreps. ring. Qed.
Lemma weigh_cons u a v : forall reps cf W, length cf = length reps -> length W = length reps ->
  weigh u (a :: v) reps (cons_each cf W) = a * csum cf reps u + weigh u v reps W.
Proof.
  induction reps as [|z reps IH]; intros [|c cf] [|w W] L1 L2; simpl in *; try discriminate; [ring|].
  fold (iz w). rewrite IH by lia. ring.
Qed.
Lemma weights_len reps cols : Forall (fun c : list Z * list Z => length (fst c) = length reps) cols ->
  length (weights_of reps cols) = length reps.
Proof.
  induction 1 as [|c cols L _ IH]; cbn [weights_of fold_right]; [apply map_length|]. fold (weights_of reps cols).
  revert L IH. generalize (weights_of reps cols) as W. generalize (length reps) as n. generalize (fst c) as cf.
  induction cf as [|x cf IHc]; intros n [|w W] L1 L2; simpl in *; try lia. destruct n; [lia|].
  rewrite (IHc n W); lia.
Qed.
Lemma values_R reps u : forall cols v, Forall (fun c : list Z * list Z => length (fst c) = length reps) cols ->
  dot v (map (column_value reps u) cols) = at_c0 (map snd cols) u v + weigh u v reps (weights_of reps cols).
Proof.
  induction cols as [|c cols IH]; intros v F; cbn [map weights_of fold_right].
  - unfold at_c0. cbn [map]. rewrite weigh_nil. ring.
  - fold (weights_of reps cols). destruct v as [|a v]; [unfold at_c0; rewrite weigh_nil_v; simpl; ring|].
    assert (F1 := Forall_inv_tail F). rewrite weigh_cons; [|exact (Forall_inv F)|apply weights_len; auto].
    unfold at_c0 in *. cbn [map dot]. rewrite IH by auto. unfold column_value at 1. ring.
Qed.
Lemma lines_R u v : forall reps W lens lines, lines_of reps W lens = Some lines ->
  Forall line_ok lines /\ vsum u v lines = weigh u v reps W.
Proof.
  induction reps as [|z reps IH]; intros [|w W] lens lines E; cbn [lines_of] in E; try discriminate.
  - injection E as <-. split; [constructor|reflexivity].
  - destruct lens as [|a lens]; [discriminate|]. destruct (_ && _)%bool eqn:C in E; [|discriminate].
    destruct (lines_of reps W lens) as [l|] eqn:E0; [|discriminate]. injection E as <-.
    destruct (IH _ _ _ E0) as (F & V). apply andb_prop in C. destruct C as [C1 C2]. to_Prop. split.
    + constructor; auto. split; auto.
    + simpl. rewrite V. reflexivity.
Qed.
Lemma seen_column basis null u u1 reps c : row_part basis null u u1 -> orthogonal reps null = true ->
  orthogonal [snd c] null = true -> column_value reps u1 c = column_value reps u c.
Proof.
  intros [_ _ See _ _] O1 O2. unfold column_value.
  assert (K : forall a, orthogonal [a] null = true -> dot (iz a) u1 = dot (iz a) u).
  { intros a O. apply See. intros b Ib. unfold orthogonal in O. cbn [forallb] in O. rewrite andb_true_r in O.
    rewrite forallb_forall in O. specialize (O b Ib). apply Z.eqb_eq in O. rewrite <- dotZ_R, O. auto. }
  rewrite (K (snd c) O2). f_equal. revert O1. generalize (fst c) as cf. induction reps as [|z reps IH]; intros [|x cf] O;
    simpl; auto. unfold orthogonal in O. cbn [forallb] in O. apply andb_prop in O. destruct O as [Oz O].
  rewrite (IH cf O), (K z); auto. unfold orthogonal. cbn [forallb]. rewrite Oz. reflexivity.
Qed.
Definition columns (p : problem) (e : wide) (u : list R) : list R :=
  map (fun T => hsum (rows_of p) (ratio (w_tden e) T) u) (w_T e).
(** |F(u)| <= lambda |u|, F(u) the sums of all columns of P'Theta *)
Theorem wide_feasible_sound p e : wide_feasible p e = true -> 0 < lambda_of p /\ (0 < w_tden e)%Z /\
  forall u, length u = p_dim p -> dot (columns p e u) (columns p e u) <= lambda_of p * lambda_of p * dot u u.
Proof.
  unfold wide_feasible. intros E. destruct (merged _ _ _ _) as [cols|] eqn:EM; [|discriminate].
  destruct (lines_of _ _ _) as [lines|] eqn:EL; [|discriminate]. split_andb E. to_Prop.
  assert (hr := IZR_lt _ _ E). assert (ht := IZR_lt _ _ E6). assert (hn := IZR_lt _ _ E5). assert (hd := IZR_lt _ _ E4).
  split; [apply Rdiv_lt_0_compat; auto|]. split; auto. intros u Lu.
  unfold spans in E1. split_andb E1.
  destruct (row_part_exists (p_dim p) (w_basis e) (w_null e) (w_span e) u E1 E10 E9 Lu) as (u1 & RP).
  destruct (merged_R (p_rden p) (w_tden e) u (w_reps e) (p_rows p) (w_merge e) E E6 _ _ EM) as (FC & VC).
  set (F := map (column_value (w_reps e) u1) cols).
  assert (EF : F = map (column_value (w_reps e) u) cols).
  { unfold F. apply map_ext_in. intros c Ic. eapply seen_column; [exact RP|exact E8|].
    unfold orthogonal in *. cbn [forallb]. rewrite andb_true_r. rewrite forallb_forall in E7. apply E7.
    apply in_map. exact Ic. }
  assert (B : dot F F <= IZR (w_level e) * dot u1 u1).
  { set (goal := fun w => dot (map (column_value (w_reps e) w) cols) (map (column_value (w_reps e) w) cols)
      <= IZR (w_level e) * dot w w). change (goal u1).
    assert (LG : forall G whole shares K N w, leaf_ok (map snd cols) lines (w_level e) (w_pairs e) G whole shares K N = true ->
      in_cone G w -> goal w).
    { intros G whole shares K N w O (x & Lx & Fx & Hx). unfold goal.
      destruct (lines_R w [] _ _ _ _ EL) as (FL & _).
      refine (leaf_sound _ _ _ _ _ _ _ _ _ _ _ _ Hx Fx FL _ O). intros v. rewrite values_R by auto.
      destruct (lines_R w v _ _ _ _ EL) as (_ & ->). reflexivity. }
    assert (NG : forall G path w, check_node (leaf_ok (map snd cols) lines (w_level e) (w_pairs e)) G (w_root e path) = true ->
      in_cone G w -> goal w).
    { intros G path w. apply (node_sound goal _ LG). }
    refine (roots_sound goal _ NG (w_basis e) [] [] u1 E0 _). exact (rp_cone _ _ _ _ RP). }
  rewrite EF, VC in B.
  set (k := IZR (p_rden p) * IZR (w_tden e)) in *.
  assert (Hk : 0 < k) by (apply Rmult_lt_0_compat; auto).
  assert (S : dot (map (fun T => k * hsum (map (ratio (p_rden p)) (p_rows p)) (ratio (w_tden e) T) u) (w_T e))
      (map (fun T => k * hsum (map (ratio (p_rden p)) (p_rows p)) (ratio (w_tden e) T) u) (w_T e)) =
    k * k * dot (columns p e u) (columns p e u)).
  { unfold columns, rows_of. rewrite <- (map_map (fun T => hsum (map (ratio (p_rden p)) (p_rows p)) (ratio (w_tden e) T) u)
      (Rmult k)). fold (vscale k (map (fun T => hsum (map (ratio (p_rden p)) (p_rows p)) (ratio (w_tden e) T) u) (w_T e))).
    apply dot_scale2. }
  rewrite S in B. apply IZR_le in E3, E2. rewrite !mult_IZR in E3. pose proof (rp_norm _ _ _ _ RP) as Nm.
  apply Rmult_le_reg_l with (k * k); [nra|]. eapply Rle_trans; [exact B|].
  apply Rle_trans with (IZR (w_level e) * dot u u); [apply Rmult_le_compat_l; auto|].
  replace (k * k * (lambda_of p * lambda_of p * dot u u)) with (k * k * (lambda_of p * lambda_of p) * dot u u) by ring.
  apply Rmult_le_compat_r; [apply dot_self_nonneg|].
  apply Rmult_le_reg_r with (IZR (p_lden p) * IZR (p_lden p)); [nra|]. eapply Rle_trans; [exact E3|]. apply Req_le.
  unfold k, lambda_of. field. lra.
Qed.

(** ** Weak duality *)
Definition well_formed_wide (d : nat) (net : wide_network) : Prop := Forall (fun nr => length (fst nr) = d) net.
Fixpoint touts (p : problem) (e : wide) (c : nat) (Ts : list (list Z)) (net : wide_network) : R :=
  match Ts with
  | [] => 0
  | T :: Ts' => tout (rows_of p) (ratio (w_tden e) T) (output c net) + touts p e (S c) Ts' net end.
Fixpoint aims (p : problem) (e : wide) (c : nat) (Ts : list (list Z)) (w v : list R) : R :=
  match Ts with
  | [] => 0
  | T :: Ts' => nth c v 0 * hsum (rows_of p) (ratio (w_tden e) T) w + aims p e (S c) Ts' w v end.
Lemma touts_cons p e w v net : forall Ts c, touts p e c Ts ((w, v) :: net) = aims p e c Ts w v + touts p e c Ts net.
Proof.
  induction Ts as [|T Ts IH]; intros c; cbn [touts aims]; [ring|]. rewrite IH. cbn [output map fst snd].
  fold (output c net). rewrite tout_cons. ring.
Qed.
Lemma touts_nil p e : forall Ts c, touts p e c Ts [] = 0.
Proof. induction Ts; intros c; cbn [touts]; [ring|]. rewrite IHTs. cbn [output map]. rewrite tout_nil. ring. Qed.
Lemma skipn_nth (v : list R) : forall c, skipn c v = match skipn c v with [] => [] | _ => nth c v 0 :: skipn (S c) v end /\
  (skipn c v = [] -> nth c v 0 = 0 /\ skipn (S c) v = []).
Proof.
  induction v as [|a v IH]; intros [|c]; simpl; auto.
  - split; auto. discriminate.
  - destruct (IH c) as (A & B). auto.
Qed.
Lemma aims_dot p e w : forall Ts c v,
  aims p e c Ts w v = dot (skipn c v) (map (fun T => hsum (rows_of p) (ratio (w_tden e) T) w) Ts).
Proof.
  induction Ts as [|T Ts IH]; intros c v; cbn [aims map]; [rewrite dot_nil_r; auto|]. rewrite IH.
  destruct (skipn_nth v c) as (A & B). destruct (skipn c v) as [|a r] eqn:Q.
  - destruct (B eq_refl) as (-> & ->). simpl. ring.
  - rewrite A. reflexivity.
Qed.
Lemma touts_bound p e net : 0 < lambda_of p ->
  (forall u, length u = p_dim p -> dot (columns p e u) (columns p e u) <= lambda_of p * lambda_of p * dot u u) ->
  well_formed_wide (p_dim p) net -> touts p e 0 (w_T e) net <= lambda_of p / 2 * wide_penalty net.
Proof.
  intros Hl H. induction 1 as [|[w v] net L _ IH]; [rewrite touts_nil; simpl; lra|].
  rewrite touts_cons, aims_dot. cbn [wide_penalty]. simpl in L. specialize (H w L). unfold columns in H. cbn [skipn].
  set (F := map _ (w_T e)) in *. pose proof (young (lambda_of p) 1 F v) as Y. rewrite (dot_comm v F).
  assert (2 * lambda_of p * dot F v <= lambda_of p * lambda_of p * (dot w w + dot v v)) by nra.
  assert (dot F v <= lambda_of p / 2 * (dot w w + dot v v)); [|lra].
  apply Rmult_le_reg_l with (2 * lambda_of p); [lra|]. lra.
Qed.
Lemma dual_sum_R p t e td net beta : 0 < IZR td -> 0 < IZR (w_tden e) -> terms_ok p t = true ->
  forall Y Th Ts c, spread_ok p t td (w_tden e) Y Th Ts = true ->
  IZR (dual_sum (p_yden p) td Y Th) / (2 * IZR (p_yden p) * (IZR td * IZR td)) <=
  wide_loss p t c Y net beta + touts p e c Ts net.
Proof.
  intros ht hT OK. unfold terms_ok in OK. split_andb OK. to_Prop.
  assert (hy : 0 < IZR (p_yden p)) by (apply IZR_lt; auto).
  induction Y as [|y Y IH]; intros [|th Th] [|T Ts] c E; cbn [spread_ok] in E; try discriminate.
  - simpl. unfold Rdiv. lra.
  - cbn [dual_sum wide_loss touts]. split_andb E. to_Prop. specialize (IH _ _ (S c) E0).
    destruct (predictions_seen p t th td T (w_tden e) (output c net) (nth c beta [])) as (LF & D0);
      auto; try (apply IZR_lt; auto; fail).
    pose proof (square_fenchel (ratio (p_yden p) y) (ratio td th) (predictions p t (output c net) (nth c beta []))) as Q.
    specialize (Q ltac:(unfold ratio; rewrite map_length; congruence) ltac:(unfold ratio; rewrite !map_length; congruence)).
    rewrite !ratio_dot2, <- !dotZ_R in Q. rewrite plus_IZR, minus_IZR, !mult_IZR.
    assert (X : (2 * IZR td * IZR (dotZ y th) - IZR (p_yden p) * IZR (dotZ th th)) / (2 * IZR (p_yden p) * (IZR td * IZR td))
      = / IZR (p_yden p) * / IZR td * IZR (dotZ y th) - / 2 * (/ IZR td * / IZR td * IZR (dotZ th th))) by (field; lra).
    unfold Rdiv in *. rewrite Rmult_plus_distr_r. lra.
Qed.
(** No network with several outputs, of any width, has a smaller objective. *)
Theorem wide_sound p t Y e Th td lown lowd : check_wide p t Y e Th td lown lowd = true ->
  forall net beta, well_formed_wide (p_dim p) net -> IZR lown / IZR lowd <= objective_wide p t Y net beta.
Proof.
  unfold check_wide. intros E net beta W. split_andb E. to_Prop.
  destruct (wide_feasible_sound p e E5) as (Hl & HT & Fe). apply IZR_lt in HT.
  assert (ht := IZR_lt _ _ E3). assert (hlo := IZR_lt _ _ E2).
  pose proof (dual_sum_R p t e td net beta ht HT E4 Y Th (w_T e) 0 E1) as D.
  pose proof (touts_bound p e net Hl Fe W) as B. unfold objective_wide.
  unfold terms_ok in E4. split_andb E4. to_Prop. assert (hy : 0 < IZR (p_yden p)) by (apply IZR_lt; auto).
  eapply Rle_trans; [|eapply Rle_trans; [exact D|lra]]. apply IZR_le in E0. rewrite !mult_IZR in E0.
  apply Rmult_le_reg_r with (IZR lowd * (2 * IZR (p_yden p) * (IZR td * IZR td))).
  { repeat apply Rmult_lt_0_compat; auto; lra. }
  eapply Rle_trans; [|eapply Rle_trans; [exact E0|]]; apply Req_le; field; lra.
Qed.

(** ** The objective of a network *)
Definition wide_of (u : wide_fit) : wide_network :=
  map (fun nr => (ratio (x_wden u) (fst nr), ratio (x_wden u) (snd nr))) (x_net u).
Definition betas_of (u : wide_fit) : list (list R) := map (ratio (x_bden u)) (x_beta u).
Lemma output_R u c : output c (wide_of u) = net_of (x_wden u) (f_net (outputZ c u)).
Proof.
  unfold output, wide_of, net_of, outputZ. cbn [f_net]. rewrite !map_map. apply map_ext. intros [w v]. cbn [fst snd].
  f_equal. pose proof (map_nth (fun x => IZR x / IZR (x_wden u)) v 0%Z c) as M. cbv beta in M. unfold ratio.
  rewrite <- M. f_equal. unfold Rdiv. ring.
Qed.
Lemma coefficients_R u c : nth c (betas_of u) [] = ratio (f_bden (outputZ c u)) (f_beta (outputZ c u)).
Proof. unfold betas_of, outputZ. cbn [f_bden f_beta]. apply (map_nth (ratio (x_bden u)) (x_beta u) []). Qed.
Lemma wide_penalty_R u : 0 < IZR (x_wden u) ->
  wide_penalty (wide_of u) = IZR (wide_penaltyZ (x_net u)) / (IZR (x_wden u) * IZR (x_wden u)).
Proof.
  intros hw. unfold wide_of. induction (x_net u) as [|[w v] N IH]; cbn [map wide_penalty wide_penaltyZ fst snd]; [field; lra|].
  rewrite IH, !ratio_dot2, <- !dotZ_R, !plus_IZR. field. lra.
Qed.
Lemma wide_loss_R p t u A : terms_ok p t = true -> 0 < IZR (x_wden u) -> 0 < IZR (x_bden u) ->
  A = (out_den p t (outputZ 0 u) * (t_fden t * x_bden u))%Z -> 0 < IZR A /\ forall Y c,
  wide_loss p t c Y (wide_of u) (betas_of u) =
  IZR (wide_lossZ p t A c Y u) / (2 * ((IZR A * IZR (p_yden p)) * (IZR A * IZR (p_yden p)))).
Proof.
  intros OK hw hb EA. unfold terms_ok in OK. split_andb OK. to_Prop.
  assert (hy : 0 < IZR (p_yden p)) by (apply IZR_lt; auto).
  assert (FF : forall c, fit_facts p t (outputZ c u)) by (intros c; constructor; auto; apply IZR_lt; auto).
  assert (hA : 0 < IZR A).
  { destruct (FF 0%nat) as [f1 _ _ f2 f3 f4 _]. rewrite EA. unfold out_den. rewrite !mult_IZR.
    repeat apply Rmult_lt_0_compat; auto. }
  split; auto. induction Y as [|y Y IH]; intros c; cbn [wide_loss wide_lossZ]; [field; lra|].
  rewrite IH, output_R, coefficients_R. change (x_wden u) with (f_wden (outputZ c u)).
  rewrite predictions_R by auto.
  change (out_den p t (outputZ c u) * (t_fden t * f_bden (outputZ c u)))%Z with
    (out_den p t (outputZ 0 u) * (t_fden t * x_bden u))%Z. rewrite <- EA.
  rewrite squares_R, plus_IZR by auto. field. lra.
Qed.
Theorem wide_fit_sound p t Y u : check_wide_fit p t Y u = true ->
  well_formed_wide (p_dim p) (wide_of u) /\ objective_wide p t Y (wide_of u) (betas_of u) <= IZR (x_un u) / IZR (x_ud u).
Proof.
  unfold check_wide_fit. intros U. split_andb U. to_Prop.
  apply IZR_lt in U4, U3, U2.
  destruct (wide_loss_R p t u _ U5 U4 U3 eq_refl) as (hA & L).
  set (A := (out_den p t (outputZ 0 u) * (t_fden t * x_bden u))%Z) in *. split.
  - unfold well_formed_wide, wide_of. rewrite Forall_map. apply Forall_forall. intros nr I.
    rewrite forallb_forall in U1. specialize (U1 nr I). apply Nat.eqb_eq in U1. simpl. unfold ratio. rewrite map_length. auto.
  - unfold objective_wide. rewrite L, wide_penalty_R by auto. unfold terms_ok in U5. split_andb U5. to_Prop.
    assert (hy : 0 < IZR (p_yden p)) by (apply IZR_lt; auto). assert (hl : 0 < IZR (p_lden p)) by (apply IZR_lt; auto).
    unfold lambda_of. apply IZR_le in U0. rewrite ?mult_IZR, ?plus_IZR, ?mult_IZR in U0.
    apply Rmult_le_reg_r with (IZR (x_ud u) * (2 * (IZR A * IZR (p_yden p) * (IZR A * IZR (p_yden p)))
      * (2 * IZR (p_lden p) * (IZR (x_wden u) * IZR (x_wden u))))).
    { repeat apply Rmult_lt_0_compat; auto; lra. }
    eapply Rle_trans; [|eapply Rle_trans; [exact U0|]]; apply Req_le; field; repeat split; lra.
Qed.
(** Both bounds. *)
Theorem wide_bounds p t Y e Th td lown lowd u :
  check_wide p t Y e Th td lown lowd = true -> check_wide_fit p t Y u = true ->
  (forall net beta, well_formed_wide (p_dim p) net -> IZR lown / IZR lowd <= objective_wide p t Y net beta) /\
  exists net beta, well_formed_wide (p_dim p) net /\ objective_wide p t Y net beta <= IZR (x_un u) / IZR (x_ud u).
Proof.
  intros E U. split; [eapply wide_sound; eauto|]. destruct (wide_fit_sound _ _ _ _ U) as (W & Q). eauto.
Qed.
