(** * The leaders: dual feasibility by one inequality and a test of definiteness

    t_k = z_k.u, U = |u|. A leader l is cancelled against its neighbours: a |t_l| - sum_k |w_k| |t_k| <= |v.u| with
    v = a z_l - sum_k w_k z_k. So with loads xi theta_k + |p_k| + q_k taken up by the leaders,
      2 xi sum_k theta_k (t_k)_+ <= b.u + sum_l |v_l.u| - sum_k q_k |t_k|,    b = sum_k (xi theta_k - p_k) z_k,
    and 2 |v.u| U <= g (v.u)^2 + e U^2 for g e >= 1, |t_k| U >= t_k^2/|z_k|: what is left is a quadratic form in (U, u).
    With centres c_i this may be done on each cell {u : c_i.u >= c_j.u for all j}: its normals n = c_i - c_j count as
    rows without theta, and since n.u >= 0 there, any load that is left on them is a linear term, and more may be
    added. Of leaders whose signs are tied |v_l.u| U = S_l (v_l.u) with S_l = U or -U, and the form is one in (S, U, u):
    a sum of an odd number of these, with signs, is at least U in size (the triangle inequalities have three). *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool.
From Relu Require Import Spec Vectors Duality Checker Cones Soundness.
Import ListNotations.
Open Scope R_scope.

(** ** The evidence and its checker *)
Record leader := Leader { l_row : nat;  l_a : Z;  l_g : Z;  l_e : Z;  l_near : list (nat * Z) }.
Record cell := Cell {
  k_p : list Z;  k_q : list (Z * Z);              (* p_k; q_k and r_k with r_k |z_k| <= R, for rows and normals *)
  k_more : list Z;                                (* what is added to the load of the normals *)
  k_leaders : list leader;
  k_tied : list leader;  k_ties : list (Z * list (nat * Z));   (* r >= 0, and w with an odd sum over the S_l and U *)
  k_sigma : Z;  k_nu : Z;  k_kappa : Z }.          (* kappa: with free biases, see Prisms.v *)
Record leading := Leading { k_centres : list (list Z);  k_cells : list cell }.   (* for one sign *)
Record leaders := Leaders {
  d_theta : list Z;  d_tden : Z;  d_lown : Z;  d_lowd : Z;
  d_G : Z;  d_R : Z;                              (* denominators of g and r *)
  d_pos : leading;  d_neg : leading;
  d_root : Z -> Z }.                              (* about the square root: any answer is sound *)

Open Scope Z_scope.
(** *** A quadratic form as a sum of squares k (l.x)^2, and as a matrix (rows may be shorter: zeros follow) *)
Definition term : Type := (Z * list Z)%type.
Fixpoint add_rows (k : Z) (w v : list Z) (M : list (list Z)) : list (list Z) :=
  match v, M with
  | vi :: v', r :: M' => (if vi =? 0 then r else axpy (k * vi) w r) :: add_rows k w v' M'
  | _, _ => M end.
Definition matrix (d : nat) (terms : list term) : list (list Z) :=
  fold_right (fun t M => add_rows (fst t) (snd t) (snd t) M) (repeat [] d) terms.

(** *** Positive semidefinite, by a Cholesky factor that is rounded: what is cut off is a debt of the diagonal *)
Definition head (r : list Z) : Z := match r with [] => 0 | x :: _ => x end.
Fixpoint psd (root : Z -> Z) (fuel : nat) (debts : list Z) (M : list (list Z)) : bool :=
  match fuel, M with
  | _, [] => zeroZ debts
  | O, _ => false
  | S fuel', r :: M' =>
      let a := head r in let b := tl r in let C := map (@tl Z) M' in
      let s := root (a - head debts - Z.of_nat (length b) * root a) in
      let l := map (fun x => x / s) b in
      let rest := map Z.abs (axpy (- s) l b) in
      zeroZ (axpy (-1) (map head M') b) && Nat.leb (length b) (length C)
      && (head debts + 2 * sumZ rest <=? 2 * (a - s * s))
      && psd root fuel' (axpy 2 rest (tl debts)) (add_rows (-1) l l C)
  end.

(** *** One sign *)
Fixpoint near_vector (rows : list (list Z)) (near : list (nat * Z)) : list Z :=
  match near with [] => [] | (k, w) :: near' => axpy (- w) (nth k rows []) (near_vector rows near') end.
Definition lead_vector (rows : list (list Z)) (l : leader) : list Z :=
  axpy (l_a l) (nth (l_row l) rows []) (near_vector rows (l_near l)).
Fixpoint load_near (near : list (nat * Z)) (load : list Z) : list Z :=
  match near with [] => load | (k, w) :: near' => addn k (Z.abs w) (load_near near' load) end.
Fixpoint unload (ls : list leader) (load : list Z) : list Z :=
  match ls with [] => load | l :: ls' => unload ls' (addn (l_row l) (- l_a l) (load_near (l_near l) load)) end.
Fixpoint loads (th p : list Z) (q : list (Z * Z)) : list Z :=
  match th, p, q with t :: th', pk :: p', qr :: q' => t + Z.abs pk + fst qr :: loads th' p' q' | _, _, _ => [] end.
Fixpoint slope (rows : list (list Z)) (th p : list Z) : list Z :=
  match rows, th, p with z :: rows', t :: th', pk :: p' => axpy (t - pk) z (slope rows' th' p') | _, _, _ => [] end.
Fixpoint axes (d : nat) : list (list Z) := match d with O => [] | S d' => [1] :: map (cons 0) (axes d') end.
Fixpoint q_terms (G : Z) (rows : list (list Z)) (q : list (Z * Z)) : list term :=
  match rows, q with z :: rows', qr :: q' => (2 * G * (fst qr * snd qr), 0 :: z) :: q_terms G rows' q' | _, _ => [] end.
(** |z.u|^2 <= len z |u|^2 *)
Fixpoint q_ok (len : list Z -> Z) (R : Z) (rows : list (list Z)) (q : list (Z * Z)) : bool :=
  match rows, q with
  | [], [] => true
  | z :: rows', (qk, r) :: q' => (0 <=? qk) && (0 <=? r) && (r * r * len z <=? R * R) && q_ok len R rows' q'
  | _, _ => false end.
(** g e >= 1; a leader that is wholly cancelled (its twins) needs none *)
Definition leader_ok (G : Z) (rows : list (list Z)) (l : leader) : bool :=
  (0 <=? l_g l) && (0 <=? l_e l) && ((G <=? l_g l * l_e l) || zeroZ (lead_vector rows l)).
Fixpoint e_sum (ls : list leader) : Z := match ls with [] => 0 | l :: ls' => l_e l + e_sum ls' end.
Fixpoint plus (a b : list Z) : list Z :=
  match a, b with x :: a', y :: b' => x + y :: plus a' b' | _, _ => [] end.
(** nu |u|^2, or less *)
Definition plain_ball (d : nat) (k : cell) : list term := map (fun e => (k_nu k, e)) (axes d).
Definition form_terms (G R : Z) (ball : list term) (rows : list (list Z)) (b : list Z) (k : cell) : list term :=
  [(k_sigma k + G * R, [1]); (G * R, 0 :: b); (- (G * R), 1 :: b)]
  ++ map (fun t => (fst t, 0 :: snd t)) ball
  ++ map (fun l => (- (R * l_g l), 0 :: lead_vector rows l)) (k_leaders k)
  ++ q_terms G rows (k_q k).
(** with a variable S more for each leader that is tied, in front: e S^2 - 2 S (v.u), times K *)
Fixpoint tied_terms (K : Z) (rows : list (list Z)) (ls : list leader) (terms : list term) : list term :=
  match ls with
  | [] => terms
  | l :: ls' =>
      let v := repeat 0 (length ls') ++ 0 :: lead_vector rows l in
      (K * (l_e l + 1), [1]) :: (K, 0 :: v) :: (- K, 1 :: v)
      :: map (fun t => (fst t, 0 :: snd t)) (tied_terms K rows ls' terms) end.
Definition tie_vector (m : nat) (w : list (nat * Z)) : list Z :=
  fold_right (fun x v => addn (fst x) (snd x) v) (repeat 0 (S m)) w.
Definition tie_ok (m : nat) (t : Z * list (nat * Z)) : bool :=
  (0 <=? fst t) && Z.odd (sumZ (tie_vector m (snd t))).

(** On the cell with these normals ln/ld bounds sum_k th_k (z_k.u)_+ / |u|. *)
Definition check_cell (len : list Z -> Z) (ball : cell -> list term) (root : Z -> Z) (G R ln ld : Z) (d : nat) (data : list (list Z)) (th : list Z)
    (normals : list (list Z)) (k : cell) : bool :=
  let rows := data ++ normals in
  let none := map (fun _ => 0) normals in
  let th := th ++ none in let p := k_p k ++ none in
  let ls := k_leaders k ++ k_tied k in
  let left := unload ls (loads th p (k_q k)) in
  let n := length data in let m := length (k_tied k) in
  let b := axpy 1 (combine_rows (plus (skipn n left) (k_more k)) normals) (slope rows th p) in
  let terms := map (fun t => (- fst t, tie_vector m (snd t))) (k_ties k)
    ++ tied_terms (G * R) rows (k_tied k) (form_terms G R (ball k) rows b k) in
  (0 <=? k_nu k) && Nat.eqb (length rows) (length th) && Nat.eqb (length rows) (length p)
  && Nat.eqb (length (k_more k)) (length normals) && forallb (fun x => 0 <=? x) (k_more k)
  && q_ok len R rows (k_q k) && forallb (leader_ok G rows) (k_leaders k) && forallb (fun l => 0 <=? l_a l) ls
  && forallb (tie_ok m) (k_ties k)
  && forallb (fun x => x <=? 0) (firstn n left)
  && forallb (fun t => Nat.leb (length (snd t)) (m + S d)) terms
  && ((k_sigma k + k_nu k + G * R * e_sum ls - sumZ (map fst (k_ties k))) * ld <=? ln * (4 * (G * R)))
  && psd root (m + S d) [] (matrix (m + S d) terms).

Fixpoint check_cells (test : list (list Z) -> cell -> bool) (all centres : list (list Z)) (cells : list cell) : bool :=
  match centres, cells with
  | [], [] => true
  | c :: centres', k :: cells' => test (map (fun c' => axpy (-1) c' c) all) k && check_cells test all centres' cells'
  | _, _ => false end.
Definition check_leading (len : list Z -> Z) (ball : cell -> list term) (root : Z -> Z) (G R ln ld : Z) (d : nat)
    (rows : list (list Z)) (th : list Z) (k : leading) : bool :=
  let test := check_cell len ball root G R ln ld d rows th in
  match k_centres k, k_cells k with
  | [], [c] => test [] c
  | [], _ => false
  | centres, cells => check_cells test centres centres cells end.

Definition check_leaders (p : problem) (c : leaders) : bool :=
  let th := d_theta c in let ln := p_lnum p * p_rden p * d_tden c in
  let lead := check_leading (fun z => dotZ z z) (plain_ball (p_dim p)) (d_root c) (d_G c) (d_R c) ln (p_lden p) (p_dim p)
    (p_rows p) in
  problem_ok p && bound_ok p th (d_tden c) (d_lown c) (d_lowd c)
  && (0 <? d_G c) && (0 <? d_R c)
  && lead th (d_pos c) && lead (map Z.opp th) (d_neg c).
Close Scope Z_scope.

(** ** Quadratic forms *)
Definition rows_at (M : list (list Z)) (x : list R) : list R := map (fun r => dot (iz r) x) M.
Definition quad (M : list (list Z)) (x : list R) : R := dot (rows_at M x) x.
Fixpoint squares (terms : list term) (x : list R) : R :=
  match terms with [] => 0 | t :: ts => IZR (fst t) * (dot (iz (snd t)) x * dot (iz (snd t)) x) + squares ts x end.

Lemma add_rows_len k w : forall v M, length (add_rows k w v M) = length M.
Proof. induction v; intros [|r M]; simpl; auto. Qed.
Lemma add_rows_R k w X : forall v M x, (length v <= length M)%nat ->
  dot (rows_at (add_rows k w v M) X) x = dot (rows_at M X) x + IZR k * (dot (iz v) x * dot (iz w) X).
Proof.
  unfold rows_at. induction v as [|vi v IH]; intros [|r M] x L; simpl in *; try ring; [lia|].
  destruct x as [|xi x]; simpl; [ring|]. rewrite IH by lia.
  destruct (Z.eqb_spec vi 0) as [->|]; [ring|]. rewrite axpy_R, mult_IZR. ring.
Qed.
Lemma matrix_len d terms : length (matrix d terms) = d.
Proof. induction terms; simpl; [apply repeat_length|]. rewrite add_rows_len. auto. Qed.
Lemma matrix_R d x terms : forallb (fun t : term => Nat.leb (length (snd t)) d) terms = true ->
  quad (matrix d terms) x = squares terms x.
Proof.
  induction terms as [|t terms IH]; intros F.
  - unfold quad, matrix, rows_at. cbn [fold_right squares]. rewrite dot_comm, dot_map_zero; auto.
    intros g I. apply repeat_spec in I. subst. reflexivity.
  - cbn [forallb] in F. apply andb_prop in F. destruct F as [F1 F2]. apply Nat.leb_le in F1.
    cbn [matrix fold_right squares]. fold (matrix d terms). unfold quad in *.
    rewrite add_rows_R by (rewrite matrix_len; auto). rewrite IH by auto. ring.
Qed.
Lemma squares_app x : forall a b, squares (a ++ b) x = squares a x + squares b x.
Proof. induction a; intros b; simpl; [ring|]. rewrite IHa. ring. Qed.

Lemma head_tail r x0 x : dot (iz r) (x0 :: x) = IZR (head r) * x0 + dot (iz (tl r)) x.
Proof. destruct r; simpl; ring. Qed.
Lemma rows_at_cons M x0 x X : dot (rows_at M (x0 :: X)) x = x0 * dot (iz (map head M)) x + dot (rows_at (map (@tl Z)
  M) X) x.
Proof.
  unfold rows_at. revert x. induction M as [|r M IH]; intros [|xi x]; simpl; try ring.
  rewrite IH, head_tail. ring.
Qed.
Definition sq (x : list R) : list R := map (fun a => a * a) x.
Lemma debts_R x0 : forall rest x,
  - (IZR (sumZ (map Z.abs rest)) * (x0 * x0) + dot (iz (map Z.abs rest)) (sq x)) <= 2 * x0 * dot (iz rest) x.
Proof.
  assert (Hx := Rle_0_sqr x0). unfold Rsqr in Hx.
  induction rest as [|r rest IH]; intros x; [simpl; lra|]. cbn [map]. change (sumZ (Z.abs r :: map Z.abs rest)) with
    (Z.abs r + sumZ (map Z.abs rest))%Z. rewrite plus_IZR. assert (P := Rabs_pos (IZR r)). rewrite <- abs_IZR in P.
  destruct x as [|x1 x]; simpl; [specialize (IH []); rewrite !dot_nil_r in *; nra|]. specialize (IH x).
  fold (iz (map Z.abs rest)) (sq x) (iz rest).
  assert (B : - (IZR (Z.abs r) * (x0 * x0 + x1 * x1)) <= 2 * x0 * (IZR r * x1)).
  { rewrite abs_IZR in *. pose proof (Rle_0_sqr (x0 + x1)) as A1. pose proof (Rle_0_sqr (x0 - x1)) as A2. unfold Rsqr in *.
    unfold Rabs. destruct (Rcase_abs (IZR r)); nra. }
  lra.
Qed.
Theorem psd_sound root : forall fuel debts M, psd root fuel debts M = true -> forall x, dot (iz debts) (sq x) <= 2 * quad M x.
Proof.
  assert (End : forall debts x, zeroZ debts = true -> dot (iz debts) (sq x) <= 2 * quad [] x).
  { intros debts x Z. rewrite (zeroZ_R _ _ Z). unfold quad. simpl. lra. }
  induction fuel as [|fuel IH]; intros debts M E x; destruct M as [|r M]; try discriminate; auto.
  cbn [psd] in E. set (s := root _) in E. set (b := tl r) in *. set (C := map (@tl Z) M) in *.
  set (l := map _ b) in E. set (a := head r) in *. split_andb E. to_Prop. apply Nat.leb_le in E2.
  apply IZR_le in E1. rewrite plus_IZR, !mult_IZR, minus_IZR, mult_IZR in E1.
  destruct x as [|x0 x]; [unfold quad, sq; simpl; rewrite !dot_nil_r; lra|].
  assert (Hb : dot (iz (map head M)) x = dot (iz b) x).
  { apply (zeroZ_R x) in E. rewrite axpy_R in E. lra. }
  assert (Q : quad (r :: M) (x0 :: x) = IZR a * (x0 * x0) + 2 * x0 * dot (iz b) x + quad C x).
  { unfold quad. change (rows_at (r :: M) (x0 :: x)) with (dot (iz r) (x0 :: x) :: rows_at M (x0 :: x)).
    cbn [dot]. rewrite head_tail, rows_at_cons. fold C a b. rewrite Hb. ring. }
  specialize (IH _ _ E0 x). unfold quad in IH. rewrite add_rows_R in IH by (unfold l; rewrite map_length; auto).
  fold (quad C x) in IH. rewrite axpy_R in IH.
  pose proof (debts_R x0 (axpy (- s) l b) x) as D. rewrite axpy_R, opp_IZR in D.
  set (rest := map Z.abs _) in *. change (sq (x0 :: x)) with (x0 * x0 :: sq x). rewrite head_tail, Q.
  pose proof (Rle_0_sqr (IZR s * x0 + dot (iz l) x)) as Sq. pose proof (Rle_0_sqr x0) as Hx. unfold Rsqr in *.
  set (y := dot (iz l) x) in *. set (z := dot (iz b) x) in *. nra.
Qed.

(** ** One sign *)
Section Sign.
Variables (len : list Z -> Z) (ball : cell -> list term).
Variables (root : Z -> Z) (G Q : Z) (d : nat) (rows : list (list Z)) (u : list R) (U : R).
Hypothesis (HG : (0 < G)%Z) (HR : (0 < Q)%Z).
Hypothesis (U_nonneg : 0 <= U).
Let t (z : list Z) : R := dot (iz z) u.
Hypothesis (U_len : forall z, In z rows -> t z * t z <= IZR (len z) * (U * U)).
Hypothesis (U_ball : forall k, (0 <= k_nu k)%Z -> squares (ball k) u <= IZR (k_nu k) * (U * U)).
Let T : list R := map (fun z => Rabs (t z)) rows.

Lemma addn_dot : forall l V k x, length l = length V -> dot (iz (addn k x l)) V = dot (iz l) V + IZR x * nth k V 0.
Proof.
  induction l as [|a l IH]; intros [|v V] k x L; simpl in *; try discriminate.
  - destruct k; simpl; ring.
  - destruct k; simpl; [rewrite plus_IZR; ring|]. rewrite IH by lia. ring.
Qed.
Lemma nth_T k : nth k T 0 = Rabs (t (nth k rows [])).
Proof.
  unfold T. destruct (lt_dec k (length rows)) as [h|h].
  - rewrite (nth_indep _ 0 (Rabs (t []))) by (rewrite map_length; auto).
    rewrite (map_nth (fun z => Rabs (t z))). reflexivity.
  - rewrite !nth_overflow by (rewrite ?map_length; lia). unfold t. simpl. rewrite Rabs_R0. auto.
Qed.
Lemma load_near_len near load : length (load_near near load) = length load.
Proof. induction near as [|[k w] near IH]; simpl; auto. rewrite addn_len. auto. Qed.
Lemma near_bound near : forall load a, length load = length T ->
  dot (iz load) T + Rabs a <= dot (iz (load_near near load)) T + Rabs (a + dot (iz (near_vector rows near)) u).
Proof.
  induction near as [|[k w] near IH]; intros load a L; simpl.
  - rewrite Rplus_0_r. lra.
  - rewrite addn_dot by (rewrite load_near_len; auto). rewrite nth_T, axpy_R, opp_IZR, abs_IZR.
    fold (t (nth k rows [])).
    specialize (IH load a L). set (x := dot (iz (near_vector rows near)) u) in *.
    pose proof (Rabs_triang (a + (- IZR w * t (nth k rows []) + x)) (IZR w * t (nth k rows []))) as Tr.
    rewrite Rabs_mult in Tr.
    replace (a + (- IZR w * t (nth k rows []) + x) + IZR w * t (nth k rows [])) with (a + x) in Tr by ring. lra.
Qed.
Fixpoint lead_sum (ls : list leader) : R :=
  match ls with [] => 0 | l :: ls' => Rabs (dot (iz (lead_vector rows l)) u) + lead_sum ls' end.
Lemma unload_bound : forall ls load, length load = length T -> forallb (fun l => 0 <=? l_a l)%Z ls = true ->
  dot (iz load) T <= dot (iz (unload ls load)) T + lead_sum ls.
Proof.
  induction ls as [|l ls IH]; intros load L F; simpl in *; [lra|].
  apply andb_prop in F. destruct F as [F1 F2]. to_Prop. specialize (IH (addn (l_row l) (- l_a l) (load_near (l_near l) load))).
  rewrite addn_len, load_near_len in IH. specialize (IH L F2).
  rewrite addn_dot in IH by (rewrite load_near_len; auto). rewrite nth_T, opp_IZR in IH.
  pose proof (near_bound (l_near l) load (IZR (l_a l) * t (nth (l_row l) rows [])) L) as N.
  rewrite Rabs_mult, (Rabs_right (IZR (l_a l))) in N by (apply Rle_ge, IZR_le; auto).
  unfold lead_vector. rewrite axpy_R. fold (t (nth (l_row l) rows [])). lra.
Qed.

(** the parts of the quadratic form at (U, u) *)
Lemma leaders_R : forall ls, forallb (leader_ok G rows) ls = true ->
  2 * IZR G * IZR Q * U * lead_sum ls <=
  - squares (map (fun l => ((- (Q * l_g l))%Z, (0 :: lead_vector rows l)%Z)) ls) (U :: u)
  + IZR G * IZR Q * IZR (e_sum ls) * (U * U).
Proof.
  assert (hG := IZR_lt _ _ HG). assert (hR := IZR_lt _ _ HR). pose proof U_nonneg as HU.
  induction ls as [|l ls IH]; intros F; simpl in *; [lra|].
  apply andb_prop in F. destruct F as [F1 F2]. specialize (IH F2). unfold leader_ok in F1. split_andb F1. to_Prop.
  set (x := dot (iz (lead_vector rows l)) u) in *. rewrite opp_IZR, mult_IZR, plus_IZR. apply IZR_le in F1, F3.
  assert (Hx : 2 * IZR G * (Rabs x * U) <= IZR (l_g l) * (x * x) + IZR G * IZR (l_e l) * (U * U)).
  { apply orb_prop in F0. destruct F0 as [F0|F0].
    2:{ apply (zeroZ_R u) in F0. fold x in F0. rewrite F0, Rabs_R0.
        assert (0 <= IZR G * IZR (l_e l)) by (apply Rmult_le_pos; lra). nra. }
    apply Z.leb_le, IZR_le in F0. rewrite mult_IZR in F0.
    assert (X2 : Rabs x * Rabs x = x * x) by (rewrite <- Rabs_mult; apply Rabs_right; nra).
    rewrite <- X2. set (y := Rabs x) in *. assert (Hy : 0 <= y) by apply Rabs_pos.
    set (A := IZR (l_g l)) in *. set (B := IZR G * IZR (l_e l)).
    assert (HB : 0 <= B) by (unfold B; nra). assert (AB : IZR G * IZR G <= A * B) by (unfold B; apply (Rmult_le_compat_l (IZR G)) in F0; lra).
    (* 2 G y U <= A y^2 + B U^2, as G^2 <= A B *)
    set (s := 2 * IZR G * (y * U)). set (m := A * (y * y) + B * (U * U)).
    assert (Hm : 0 <= m) by (unfold m; nra).
    assert (S2 : s * s <= m * m).
    { unfold s, m. assert (0 <= (y * U) * (y * U)) by nra.
      pose proof (Rle_0_sqr (A * (y * y) - B * (U * U))) as Sq. unfold Rsqr in Sq. nra. }
    pose proof (abs_le_of_sq s m Hm S2). pose proof (Rle_abs s). lra. }
  apply (Rmult_le_compat_l (IZR Q)) in Hx; [|lra].
  set (SS := squares _ _) in *. replace (0 * U + x) with x by ring. lra.
Qed.

(** leaders that are tied: S_l = U times the sign of v_l.u *)
Definition sign_of (l : leader) : Z := if Rle_dec 0 (dot (iz (lead_vector rows l)) u) then 1%Z else (-1)%Z.
Definition signed_U (ss : list Z) : list R := map (fun s => IZR s * U) ss.
Lemma zeros_R (w : list Z) y : forall S, dot (iz (repeat 0%Z (length S) ++ w)) (S ++ y) = dot (iz w) y.
Proof. induction S as [|a S IH]; simpl; auto. fold (iz (repeat 0%Z (length S) ++ w)). rewrite IH. ring. Qed.
Lemma shifted_R x0 x : forall terms, squares (map (fun t : term => (fst t, (0 :: snd t)%Z)) terms) (x0 :: x) =
  squares terms x.
Proof. induction terms as [|t' ts IH]; simpl; auto. fold (iz (snd t')). rewrite IH. ring. Qed.
Lemma tied_R K terms : forall ls,
  squares (tied_terms K rows ls terms) (signed_U (map sign_of ls) ++ U :: u) =
  squares terms (U :: u) + IZR K * (IZR (e_sum ls) * (U * U) - 2 * U * lead_sum ls).
Proof.
  induction ls as [|l ls IH]; [simpl; ring|]. cbn [tied_terms map signed_U app squares fst snd e_sum lead_sum].
  fold (signed_U (map sign_of ls)). rewrite shifted_R, IH.
  assert (V : dot (iz (repeat 0%Z (length ls) ++ 0%Z :: lead_vector rows l)) (signed_U (map sign_of ls) ++ U :: u) =
    dot (iz (lead_vector rows l)) u).
  { assert (L : length ls = length (signed_U (map sign_of ls))) by (unfold signed_U; rewrite !map_length; auto).
    rewrite L, zeros_R. simpl. ring. }
  set (v := repeat 0%Z (length ls) ++ 0%Z :: lead_vector rows l) in *.
  cbn [iz map dot]. fold (iz v). rewrite V. unfold sign_of. set (x := dot (iz (lead_vector rows l)) u).
  rewrite opp_IZR, mult_IZR, !plus_IZR. unfold Rabs.
  destruct (Rle_dec 0 x) as [p|p], (Rcase_abs x) as [n|n]; try lra; ring.
Qed.
Lemma signed_R y : forall ss w, length w = length ss -> dot (iz w) (signed_U ss ++ y) = U * IZR (dotZ w ss).
Proof.
  induction ss as [|s ss IH]; intros [|a w] L; simpl in *; try discriminate; [ring|].
  rewrite plus_IZR, mult_IZR. fold (iz w) (signed_U ss). rewrite (IH w) by lia. ring.
Qed.
Lemma odd_R : forall ss w, length w = length ss -> Forall (fun s => Z.odd s = true) ss ->
  Z.odd (dotZ w ss) = Z.odd (sumZ w).
Proof.
  induction ss as [|s ss IH]; intros [|a w] L F; simpl in *; try discriminate; auto.
  rewrite !Z.odd_add, Z.odd_mul, (Forall_inv F), (IH w) by (auto; eapply Forall_inv_tail; eauto). rewrite andb_true_r. auto.
Qed.
Lemma tie_len m : forall w, length (tie_vector m w) = S m.
Proof. unfold tie_vector. induction w; simpl; [rewrite repeat_length|rewrite addn_len]; auto. Qed.
Lemma ties_R tied : forall ties, forallb (tie_ok (length tied)) ties = true ->
  squares (map (fun t => ((- fst t)%Z, tie_vector (length tied) (snd t))) ties) (signed_U (map sign_of tied) ++ U :: u) <=
  - IZR (sumZ (map fst ties)) * (U * U).
Proof.
  induction ties as [|[r w] ties IH]; intros F; cbn [map squares fst snd forallb] in *; [simpl; lra|].
  apply andb_prop in F. destruct F as [F1 F2]. specialize (IH F2). unfold tie_ok in F1. split_andb F1. to_Prop.
  cbn [fst snd] in *. set (v := tie_vector (length tied) w) in *. set (ss := map sign_of tied ++ [1%Z]).
  assert (L : length v = length ss).
  { unfold v, ss. rewrite tie_len, app_length, map_length. simpl. lia. }
  assert (X : signed_U (map sign_of tied) ++ U :: u = signed_U ss ++ u).
  { unfold ss, signed_U. rewrite map_app, <- app_assoc. simpl. rewrite Rmult_1_l. auto. }
  assert (O : Forall (fun s => Z.odd s = true) ss).
  { apply Forall_app. split; [|repeat constructor]. apply Forall_forall. intros s I. apply in_map_iff in I.
    destruct I as (l & <- & _). unfold sign_of. destruct (Rle_dec _ _); auto. }
  rewrite <- (odd_R ss v L O) in F0. rewrite X in *. rewrite (signed_R u ss v L). set (z := dotZ v ss) in *.
  assert (Z1 : (1 <= z * z)%Z) by (destruct z; [discriminate|nia|nia]).
  apply IZR_le in Z1, F1. rewrite mult_IZR in Z1. unfold sumZ in *. cbn [fold_right]. rewrite opp_IZR, plus_IZR.
  pose proof (Rle_0_sqr U) as HU. unfold Rsqr in HU.
  assert (P : IZR r * (U * U) * 1 <= IZR r * (U * U) * (IZR z * IZR z)) by (apply Rmult_le_compat_l; nra). lra.
Qed.
Lemma lead_sum_app b : forall a, lead_sum (a ++ b) = lead_sum a + lead_sum b.
Proof. induction a; simpl; [ring|]. rewrite IHa. ring. Qed.
Lemma e_sum_app b : forall a, e_sum (a ++ b) = (e_sum a + e_sum b)%Z.
Proof. induction a; simpl; auto. rewrite IHa. lia. Qed.
Fixpoint q_sum (rws : list (list Z)) (q : list (Z * Z)) : R :=
  match rws, q with z :: rws', qr :: q' => IZR (fst qr) * Rabs (t z) + q_sum rws' q' | _, _ => 0 end.
Lemma q_R : forall rws q, (forall z, In z rws -> In z rows) -> q_ok len Q rws q = true ->
  squares (q_terms G rws q) (U :: u) <= 2 * IZR G * IZR Q * U * q_sum rws q.
Proof.
  assert (hG := IZR_lt _ _ HG). assert (hR := IZR_lt _ _ HR). pose proof U_nonneg as HU.
  induction rws as [|z rws IH]; intros [|[qk r] q] I F; cbn [squares q_terms q_sum q_ok fst snd] in *;
    try discriminate; [lra|].
  split_andb F. to_Prop. specialize (IH q (fun z' I' => I z' (or_intror I')) F0).
  change (dot (iz (0%Z :: z)) (U :: u)) with (0 * U + t z).
  apply IZR_le in F, F2, F1. rewrite !mult_IZR in F1.
  rewrite !mult_IZR. replace (0 * U + t z) with (t z) by ring.
  assert (A : IZR r * Rabs (t z) <= IZR Q * U).
  { pose proof (U_len z (I z (or_introl eq_refl))) as C.
    assert (X2 : Rabs (t z) * Rabs (t z) = t z * t z) by (rewrite <- Rabs_mult; apply Rabs_right; nra).
    pose proof (Rabs_pos (t z)) as Hy. set (y := Rabs (t z)) in *.
    assert (S2 : (IZR r * y) * (IZR r * y) <= (IZR Q * U) * (IZR Q * U)).
    { replace ((IZR r * y) * (IZR r * y)) with (IZR r * IZR r * (y * y)) by ring. rewrite X2.
      apply Rle_trans with (IZR r * IZR r * (IZR (len z) * (U * U))).
      - apply Rmult_le_compat_l; [nra|auto].
      - replace (IZR r * IZR r * (IZR (len z) * (U * U))) with (IZR r * IZR r * IZR (len z) * (U * U)) by
          ring.
        replace ((IZR Q * U) * (IZR Q * U)) with (IZR Q * IZR Q * (U * U)) by ring.
        apply Rmult_le_compat_r; [nra|auto]. }
    pose proof (abs_le_of_sq _ (IZR Q * U) ltac:(nra) S2). pose proof (Rle_abs (IZR r * y)). lra. }
  assert (X2 : t z * t z = Rabs (t z) * Rabs (t z)) by (rewrite <- Rabs_mult; symmetry; apply Rabs_right; nra).
  rewrite X2. pose proof (Rabs_pos (t z)) as Hy. set (y := Rabs (t z)) in *.
  assert (B : 2 * IZR G * (IZR qk * y) * (IZR r * y) <= 2 * IZR G * (IZR qk * y) * (IZR Q * U)).
  { apply Rmult_le_compat_l; auto. apply Rmult_le_pos; [lra|apply Rmult_le_pos; auto]. }
  lra.
Qed.

Lemma loads_len : forall th p q rws, length rws = length th -> length rws = length p -> q_ok len Q rws q = true ->
  length (loads th p q) = length rws.
Proof.
  induction th as [|a th IH]; intros [|b p] [|[qk r] q] [|z rws] L1 L2 F; simpl in *; try discriminate; auto.
  split_andb F. f_equal. apply IH; auto; lia.
Qed.
(** 2 sum_k th_k (t_k)_+ <= b.u + loads.|t| - q.|t| *)
Lemma loads_R : forall th p q rws, length rws = length th -> length rws = length p -> q_ok len Q rws q = true ->
  2 * hsum (map iz rws) (iz th) u <=
  dot (iz (slope rws th p)) u + dot (iz (loads th p q)) (map (fun z => Rabs (t z)) rws) - q_sum rws q.
Proof.
  induction th as [|a th IH]; intros [|b p] [|[qk r] q] [|z rws] L1 L2 F; simpl in *; try discriminate; try lra.
  split_andb F. specialize (IH p q rws ltac:(lia) ltac:(lia) F0).
  rewrite axpy_R, minus_IZR. fold (t z). rewrite !plus_IZR, abs_IZR.
  assert (A : 2 * relu (t z) = t z + Rabs (t z)) by (pose proof (relu_sum (t z)); pose proof (relu_diff (t z)); lra).
  pose proof (Rle_abs (IZR b * t z)) as B. rewrite Rabs_mult in B. nra.
Qed.

Theorem form_sound ln ld th p b k : (0 < ld)%Z -> (0 <= k_nu k)%Z ->
  length rows = length th -> length rows = length p -> q_ok len Q rows (k_q k) = true ->
  forallb (leader_ok G rows) (k_leaders k) = true ->
  forallb (fun l => 0 <=? l_a l)%Z (k_leaders k ++ k_tied k) = true ->
  let m := length (k_tied k) in let ls := k_leaders k ++ k_tied k in
  forallb (tie_ok m) (k_ties k) = true ->
  let terms := map (fun t => ((- fst t)%Z, tie_vector m (snd t))) (k_ties k)
    ++ tied_terms (G * Q) rows (k_tied k) (form_terms G Q (ball k) rows b k) in
  forallb (fun t : term => Nat.leb (length (snd t)) (m + S d)) terms = true ->
  ((k_sigma k + k_nu k + G * Q * e_sum ls - sumZ (map fst (k_ties k))) * ld <= ln * (4 * (G * Q)))%Z ->
  psd root (m + S d) [] (matrix (m + S d) terms) = true ->
  dot (iz (slope rows th p)) u + dot (iz (unload ls (loads th p (k_q k)))) T <= dot (iz b) u ->
  hsum (map iz rows) (iz th) u <= IZR ln / IZR ld * U.
Proof.
  intros Hld CN L1 L2 CQ CL CA m ls CS terms CT CB CP LB. pose proof (U_ball k CN) as CN'.
  assert (hG := IZR_lt _ _ HG). assert (hR := IZR_lt _ _ HR). assert (hld := IZR_lt _ _ Hld).
  pose proof U_nonneg as HU.
  pose proof (psd_sound _ _ _ _ CP (signed_U (map sign_of (k_tied k)) ++ U :: u)) as PS. rewrite (matrix_R _ _ _ CT) in PS.
  unfold terms in PS. rewrite squares_app, tied_R in PS. unfold form_terms in PS. rewrite !squares_app, shifted_R in PS.
  assert (S3 : squares [((k_sigma k + G * Q)%Z, [1%Z]); ((G * Q)%Z, 0%Z :: b); ((- (G * Q))%Z, 1%Z :: b)] (U :: u) =
    IZR (k_sigma k) * (U * U) - 2 * (IZR G * IZR Q) * (U * dot (iz b) u)).
  { simpl. rewrite opp_IZR, plus_IZR, mult_IZR. ring. }
  rewrite S3, mult_IZR in PS. clear S3. change (dot (iz []) _) with 0 in PS.
  pose proof (ties_R (k_tied k) _ CS) as TR. fold m in TR. pose proof (leaders_R _ CL) as LR. pose proof (q_R _ _ (fun z I => I) CQ) as QR.
  pose proof (loads_R _ _ _ _ L1 L2 CQ) as LO. fold T in LO.
  assert (LL : length (loads th p (k_q k)) = length T).
  { unfold T. rewrite map_length. apply loads_len; auto. }
  pose proof (unload_bound _ _ LL CA) as UB. fold ls in UB. unfold ls at 2 in UB. rewrite lead_sum_app in UB.
  set (h := hsum (map iz rows) (iz th) u) in *. set (S1 := lead_sum (k_leaders k)) in *.
  set (S0 := lead_sum (k_tied k)) in *. set (S2 := q_sum rows (k_q k)) in *.
  set (SL := squares (map (fun l : leader => ((- (Q * l_g l))%Z, 0%Z :: lead_vector rows l)) (k_leaders k)) (U :: u))
    in *.
  set (SQ := squares (q_terms G rows (k_q k)) (U :: u)) in *.
  assert (K1 : 2 * h <= dot (iz b) u + S1 + S0 - S2) by lra.
  set (GR := IZR G * IZR Q) in *. assert (HGR : 0 < GR) by (unfold GR; nra).
  assert (K2 : 2 * GR * U * (2 * h) <= 2 * GR * U * (dot (iz b) u + S1 + S0 - S2)).
  { apply Rmult_le_compat_l; auto. nra. }
  set (W := IZR (k_sigma k) + IZR (k_nu k) + GR * IZR (e_sum ls) - IZR (sumZ (map fst (k_ties k)))).
  assert (K3 : 4 * GR * (h * U) <= W * (U * U)).
  { unfold W, ls. rewrite e_sum_app, plus_IZR. unfold GR in *. lra. }
  destruct (Rle_lt_or_eq_dec _ _ HU) as [HU'|HU0].
  - assert (K4 : 4 * GR * h <= W * U) by (apply Rmult_le_reg_r with U; auto; lra).
    apply IZR_le in CB. rewrite !mult_IZR, minus_IZR, !plus_IZR, !mult_IZR in CB. fold GR W in CB.
    apply Rmult_le_reg_l with (4 * GR * IZR ld); [apply Rmult_lt_0_compat; lra|].
    apply Rle_trans with (IZR ld * (W * U)); [apply (Rmult_le_compat_l (IZR ld)) in K4; lra|].
    replace (4 * GR * IZR ld * (IZR ln / IZR ld * U)) with (IZR ln * (4 * GR) * U) by (field; lra).
    apply (Rmult_le_compat_r U) in CB; lra.
  - assert (Z0 : forall z, In z rows -> t z = 0).
    { intros z I. pose proof (U_len z I) as C. rewrite <- HU0 in C. nra. }
    assert (H0 : h = 0).
    { unfold h. clear -Z0. revert th. induction rows as [|z l IH]; intros [|a th]; simpl; auto.
      fold (t z). rewrite Z0, relu_0, IH by (auto using in_eq, in_cons). ring. }
    rewrite H0, <- HU0. lra.
Qed.

Theorem cell_sound_rows ln ld data th normals k : (0 < ld)%Z -> rows = data ++ normals ->
  (forall n, In n normals -> 0 <= t n) -> check_cell len ball root G Q ln ld d data th normals k = true ->
  hsum (map iz data) (iz th) u <= IZR ln / IZR ld * U.
Proof.
  intros Hld ER HN C. unfold check_cell in C. rewrite <- ER in C.
  set (none := map (fun _ : list Z => 0%Z) normals) in *.
  set (left := unload (k_leaders k ++ k_tied k) (loads (th ++ none) (k_p k ++ none) (k_q k))) in *.
  set (b := axpy 1 _ _) in C. split_andb C. to_Prop.
  assert (Ln : length none = length normals) by (unfold none; apply map_length).
  assert (Lth : length data = length th).
  { rewrite ER, !app_length, Ln in C11. lia. }
  assert (HS : hsum (map iz rows) (iz (th ++ none)) u = hsum (map iz data) (iz th) u).
  { rewrite ER. unfold iz at 2. rewrite !map_app. fold (iz th) (iz none). clear - Lth. revert th Lth.
    induction data as [|z data IH]; intros [|a th] L; simpl in *; try discriminate.
    - unfold none. clear. induction normals as [|n ns IH]; simpl; auto. unfold iz in *. rewrite IH. ring.
    - f_equal. apply IH. lia. }
  rewrite <- HS. apply (form_sound ln ld (th ++ none) (k_p k ++ none) b k); auto.
  (* what is left on the rows is at most 0, what is left on the normals is linear *)
  unfold b. rewrite axpy_R. rewrite Rmult_1_l.
  assert (LL : length left = length rows).
  { unfold left. assert (LO : length (loads (th ++ none) (k_p k ++ none) (k_q k)) = length rows) by (apply loads_len;
      auto).
    rewrite <- LO. generalize (loads (th ++ none) (k_p k ++ none) (k_q k)) as l. generalize (k_leaders k ++ k_tied k) as ls. clear.
    induction ls as [|x ls IH]; intros l; simpl; auto. rewrite IH, addn_len, load_near_len. auto. }
  rewrite combine_rows_R.
  assert (B : dot (iz left) T <= dot (iz (plus (skipn (length data) left) (k_more k))) (map (form u) normals)).
  { unfold T. rewrite ER, map_app. rewrite <- (firstn_skipn (length data) left) at 1. unfold iz at 1. rewrite map_app.
    assert (Lf : length (firstn (length data) left) = length data).
    { rewrite firstn_length, LL, ER, app_length. lia. }
    assert (Ls : length (skipn (length data) left) = length normals).
    { rewrite skipn_length, LL, ER, app_length. lia. }
    rewrite dot_app by (rewrite !map_length; auto). fold (iz (firstn (length data) left)) (iz (skipn (length data)
      left)).
    assert (B1 : dot (iz (firstn (length data) left)) (map (fun z => Rabs (t z)) data) <= 0).
    { generalize (firstn (length data) left), C3. clear. intros l F. revert data.
      induction l as [|x l IH]; intros [|z data]; simpl; try lra.
      simpl in F. apply andb_prop in F. destruct F as [F1 F2]. apply Z.leb_le, IZR_le in F1. specialize (IH F2 data).
      pose proof (Rabs_pos (t z)). nra. }
    assert (B2 : dot (iz (skipn (length data) left)) (map (fun z => Rabs (t z)) normals) <=
      dot (iz (plus (skipn (length data) left) (k_more k))) (map (form u) normals)).
    { revert Ls C9 C8 HN. generalize (skipn (length data) left) as l. generalize (k_more k) as m. clear.
      intros m l. revert m normals. induction l as [|x l IH]; intros [|y m] [|n normals] L1 L2 F HN; simpl in *; try
        discriminate; try lra.
      apply andb_prop in F. destruct F as [F1 F2]. apply Z.leb_le, IZR_le in F1.
      specialize (IH m normals ltac:(lia) ltac:(lia) F2 ltac:(intros; apply HN; auto)).
      assert (P := HN n (or_introl eq_refl)). rewrite Rabs_right by lra.
      unfold form at 1. rewrite (dot_comm u (iz n)). fold (t n). rewrite plus_IZR. nra. }
    lra. }
  fold left. lra.
Qed.
End Sign.

(** every u lies in the cell of a centre with the largest product *)
Lemma largest_product (u : list R) : forall l : list (list Z), l <> [] ->
  exists c, In c l /\ forall c', In c' l -> dot (iz c') u <= dot (iz c) u.
Proof.
  induction l as [|a l IH]; intros H; [congruence|]. destruct l as [|b l].
  - exists a. split; [left; auto|]. intros c' [<-|[]]. lra.
  - destruct IH as (c & I & M); [discriminate|]. destruct (Rle_lt_dec (dot (iz c) u) (dot (iz a) u)) as [h|h].
    + exists a. split; [left; auto|]. intros y [<-|Iy]; [lra|]. specialize (M y Iy). lra.
    + exists c. split; [right; auto|]. intros y [<-|Iy]; [lra|auto].
Qed.
Lemma cells_in test all : forall centres cells, check_cells test all centres cells = true -> forall c, In c centres ->
  exists k, test (map (fun c' => axpy (-1) c' c) all) k = true.
Proof.
  induction centres as [|a centres IH]; intros [|k cells] E c I; simpl in *; try discriminate; try tauto.
  apply andb_prop in E. destruct E as [E1 E2]. destruct I as [<-|I]; eauto.
Qed.
Theorem leading_sound len ball root G Q ln ld d rows th k u U : (0 < G)%Z -> (0 < Q)%Z -> (0 < ld)%Z -> 0 <= U ->
  (forall z, In z rows -> dot (iz z) u * dot (iz z) u <= IZR (len z) * (U * U)) ->
  (forall c c', In c (k_centres k) -> In c' (k_centres k) ->
    let n := axpy (-1) c' c in dot (iz n) u * dot (iz n) u <= IZR (len n) * (U * U)) ->
  (forall k, (0 <= k_nu k)%Z -> squares (ball k) u <= IZR (k_nu k) * (U * U)) ->
  check_leading len ball root G Q ln ld d rows th k = true -> hsum (map iz rows) (iz th) u <= IZR ln / IZR ld * U.
Proof.
  intros HG HQ Hld HU HZ HC HB C.
  assert (CS : forall normals c, (forall n, In n normals -> 0 <= dot (iz n) u /\
      dot (iz n) u * dot (iz n) u <= IZR (len n) * (U * U)) ->
    check_cell len ball root G Q ln ld d rows th normals c = true -> hsum (map iz rows) (iz th) u <= IZR ln / IZR ld * U).
  { intros normals c HN E. apply (cell_sound_rows len ball root G Q d (rows ++ normals) u U HG HQ HU) with normals c; auto.
    - intros z I. apply in_app_or in I. destruct I as [I|I]; [auto|apply HN; auto].
    - intros n I. apply HN. auto. }
  unfold check_leading in C. destruct (k_centres k) as [|c0 centres] eqn:EC.
  - destruct (k_cells k) as [|c [|]]; try discriminate. apply (CS [] c); auto. intros n I; destruct I.
  - destruct (largest_product u (c0 :: centres)) as (c & I & M); [discriminate|].
    destruct (cells_in _ _ _ _ C c I) as (cl & T). eapply CS; [|exact T].
    intros n In'. apply in_map_iff in In'. destruct In' as (c' & <- & I'). split; [|apply HC; auto].
    rewrite axpy_R. specialize (M c' I'). lra.
Qed.
Lemma axes_R nu y : forall x, squares (map (fun e => (nu, e)) (axes (length x))) (x ++ y) = IZR nu * dot x x.
Proof.
  induction x as [|a x IH]; simpl; [ring|]. rewrite map_map.
  rewrite <- (map_map (fun e => (nu, e)) (fun t => (fst t, (0 :: snd t)%Z))), shifted_R, IH. ring.
Qed.

(** ** Both signs: theta is feasible *)
Theorem leaders_feasible p c : check_leaders p c = true ->
  problem_facts p /\ bound_ok p (d_theta c) (d_tden c) (d_lown c) (d_lowd c) = true /\
  forall w, length w = p_dim p -> feasible_at (lambda_of p) (rows_of p) (ratio (d_tden c) (d_theta c)) w.
Proof.
  unfold check_leaders. intros E.
  apply andb_prop in E. destruct E as [E En]. apply andb_prop in E. destruct E as [E Ep].
  apply andb_prop in E. destruct E as [E ER].
  apply andb_prop in E. destruct E as [E EG]. apply andb_prop in E. destruct E as [Pf Eb].
  apply Z.ltb_lt in ER, EG. apply problem_ok_facts in Pf.
  destruct (bound_ok_facts _ _ _ _ _ Pf Eb) as (Ht & Hlo & Lt & Low).
  assert (Hlam := lambda_pos p Pf). destruct Pf as [Hr Hy Hln Hld Hl].
  assert (hr := IZR_lt _ _ Hr). assert (ht := IZR_lt _ _ Ht). assert (hld := IZR_lt _ _ Hld).
  split; [constructor; auto|]. split; [exact Eb|]. intros w Lw.
  assert (HS : forall th, hsum (rows_of p) (ratio (d_tden c) th) w =
    / (IZR (p_rden p) * IZR (d_tden c)) * hsum (map iz (p_rows p)) (iz th) w).
  { intros th. unfold rows_of. generalize (p_rows p) as rws. revert th.
    induction th as [|a th IH]; intros [|z rws]; simpl; try ring.
    fold (ratio (d_tden c) th) (iz th). rewrite (IH rws).
    rewrite ratio_dot, relu_scale by (left; apply Rinv_0_lt_compat; auto). field. lra. }
  assert (Z2 : forall U z, dot w w <= U * U -> dot (iz z) w * dot (iz z) w <= IZR (dotZ z z) * (U * U)).
  { intros U z Hu. rewrite dotZ_R. eapply Rle_trans; [apply cauchy|]. apply Rmult_le_compat_l; auto using dot_self_nonneg. }
  assert (B2 : forall U k, dot w w <= U * U -> (0 <= k_nu k)%Z -> squares (plain_ball (p_dim p) k) w <= IZR (k_nu k) * (U * U)).
  { intros U k Hu Hk. apply IZR_le in Hk. unfold plain_ball. rewrite <- (app_nil_r w), <- Lw, axes_R.
    apply Rmult_le_compat_l; auto. }
  assert (Fp : forall U, 0 <= U -> dot w w <= U * U -> _) by
    (intros U HU Hu; refine (leading_sound _ _ _ _ _ _ _ _ _ _ _ w U EG ER Hld HU _ _ _ Ep); intros; auto).
  assert (Fn : forall U, 0 <= U -> dot w w <= U * U -> _) by
    (intros U HU Hu; refine (leading_sound _ _ _ _ _ _ _ _ _ _ _ w U EG ER Hld HU _ _ _ En); intros; auto).
  assert (Eop : hsum (map iz (p_rows p)) (iz (map Z.opp (d_theta c))) w = - hsum (map iz (p_rows p)) (iz (d_theta c))
    w).
  { generalize (map iz (p_rows p)) as rws. generalize (d_theta c) as th. clear.
    induction th as [|a th IH]; intros [|z rws]; simpl; try ring. fold (iz (map Z.opp th)) (iz th).
    rewrite IH, opp_IZR. ring. }
  assert (HK : 0 < IZR (p_rden p) * IZR (d_tden c)) by (apply Rmult_lt_0_compat; auto).
  set (K := IZR (p_rden p) * IZR (d_tden c)) in *. set (h := hsum _ (iz (d_theta c)) w) in *.
  assert (HL : forall U, K * (lambda_of p * U) = IZR (p_lnum p * p_rden p * d_tden c) / IZR (p_lden p) * U).
  { intros U. unfold K, lambda_of. rewrite !mult_IZR. field. lra. }
  unfold feasible_at. rewrite HS. fold h. split; intros U HU Hu; apply Rmult_le_reg_l with K; auto; rewrite HL.
  - rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. apply Fp; auto.
  - replace (K * - (/ K * h)) with (- h) by (field; lra). rewrite <- Eop. apply Fn; auto.
Qed.

(** No network of any width has a smaller objective. *)
Theorem leaders_sound p c : check_leaders p c = true ->
  forall net, well_formed (p_dim p) net -> IZR (d_lown c) / IZR (d_lowd c) <= objective p net.
Proof.
  intros E net W. destruct (leaders_feasible _ _ E) as (Pf & Eb & Fe).
  destruct (bound_ok_facts _ _ _ _ _ Pf Eb) as (_ & _ & Lt & Low).
  eapply Rle_trans; [exact Low|]. apply weak_duality; auto.
  { unfold rows_of, y_of, ratio. rewrite !map_length. apply pf_len; auto. }
  eapply Forall_impl; [|exact W]. intros [w v] Lw. simpl in *. apply feasible_dual_ok; auto.
  left. exact (lambda_pos p Pf).
Qed.
