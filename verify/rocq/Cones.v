(** * Cones: a star covers its cone, other generators span it, the signed unit vectors span everything *)
From Coq Require Import Reals ZArith List Lra Lia Psatz Bool.
From Relu Require Import Spec Vectors Checker.
Import ListNotations.
Open Scope R_scope.

(** u = sum_i x_i g_i with x >= 0, said by the values of all linear forms *)
Definition form (v : list R) (g : list Z) : R := dot v (iz g).
Definition in_cone (G : cone) (u : list R) : Prop :=
  exists x, length x = length G /\ Forall (Rle 0) x /\ forall v, dot v u = dot x (map (form v) G).

Fixpoint subs (tau : R) (t x : list R) : list R :=
  match t, x with a :: t', b :: x' => b - tau * a :: subs tau t' x' | _, _ => [] end.
Lemma subs_len tau : forall t x, length t = length x -> length (subs tau t x) = length x.
Proof. induction t; destruct x; simpl; intros; try discriminate; auto. Qed.
Lemma subs_dot tau : forall t x l, length t = length x ->
  dot (subs tau t x) l = dot x l - tau * dot t l.
Proof.
  induction t; destruct x; destruct l; simpl; intros; try discriminate; try ring.
  rewrite IHt by lia. ring.
Qed.
Lemma subs_nonneg tau t x : Forall2 (fun a b => tau * a <= b) t x -> Forall (Rle 0) (subs tau t x).
Proof. induction 1; simpl; constructor; auto. lra. Qed.

Lemma argmin : forall t x : list R, length t = length x ->
  Forall (Rle 0) t -> Forall (Rle 0) x -> Exists (Rlt 0) t ->
  exists T1 ti T2 X1 xi X2 tau, t = T1 ++ ti :: T2 /\ x = X1 ++ xi :: X2 /\
    length T1 = length X1 /\ 0 < ti /\ xi = tau * ti /\ 0 <= tau /\
    Forall2 (fun a b => tau * a <= b) t x.
Proof.
  induction t as [|a t IH]; intros [|b x] L Ft Fx E; simpl in *; try discriminate.
  { inversion E. }
  assert (Fa := Forall_inv Ft). assert (Ft' := Forall_inv_tail Ft).
  assert (Fb := Forall_inv Fx). assert (Fx' := Forall_inv_tail Fx).
  simpl in *. injection L as L.
  assert (D : Exists (Rlt 0) t \/ Forall (fun a => a = 0) t).
  { clear - Ft'. induction Ft' as [|h l h0 _ IH]; auto. destruct IH; auto.
    destruct (Rle_lt_or_eq_dec _ _ h0); auto. }
  destruct D as [D|D].
  - destruct (IH x L) as (T1 & ti & T2 & X1 & xi & X2 & tau & -> & -> & L1 & P1 & E1 & P2 & F2);
      auto.
    destruct (Rle_lt_dec (tau * a) b) as [hle|hlt].
    + exists (a :: T1), ti, T2, (b :: X1), xi, X2, tau. simpl. repeat split; auto; try congruence.
    + assert (ha : 0 < a) by (destruct (Rle_lt_or_eq_dec _ _ Fa); auto; subst; nra).
      assert (hb : b = b / a * a) by (field; lra).
      assert (ht : 0 <= b / a) by (apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; auto).
      assert (hle : b / a <= tau) by nra.
      exists [], a, (T1 ++ ti :: T2), [], b, (X1 ++ xi :: X2), (b / a). simpl.
      repeat split; auto. constructor; [lra|].
      clear - F2 hle Ft'. induction F2 as [|h k l l' hk _ IH]; constructor.
      * assert (h0 := Forall_inv Ft'). simpl in h0. nra.
      * apply IH. exact (Forall_inv_tail Ft').
  - assert (ha : 0 < a).
    { apply Exists_exists in E. destruct E as (e & [<-|Ie] & he); auto.
      rewrite Forall_forall in D. rewrite (D e Ie) in he. lra. }
    assert (hb : b = b / a * a) by (field; lra).
    assert (ht : 0 <= b / a) by (apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; auto).
    exists [], a, t, [], b, x, (b / a). simpl. repeat split; auto.
    constructor; [lra|]. clear - D L Fx' ht.
    revert x L Fx'. induction D as [|h l h0 _ IH]; intros [|b' x'] L F; simpl in *;
      try discriminate; constructor.
    + assert (h1 := Forall_inv F). simpl in h1. subst. lra.
    + apply IH; auto. exact (Forall_inv_tail F).
Qed.

Lemma F2_length (A B : Type) (Q : A -> B -> Prop) l l' : Forall2 Q l l' -> length l = length l'.
Proof. induction 1; simpl; auto. Qed.

(** If p = sum_i t_i g_i with t >= 0, t <> 0, then the cones with p in place of a g_i with t_i > 0 cover cone(G). *)
Theorem star_covers (G : cone) (t : list R) p u : length t = length G ->
  (forall v, form v p = dot t (map (form v) G)) ->
  Forall (Rle 0) t -> Exists (Rlt 0) t -> in_cone G u ->
  exists T1 ti T2 G1 g G2, t = T1 ++ ti :: T2 /\ G = G1 ++ g :: G2 /\
    length T1 = length G1 /\ 0 < ti /\ in_cone (G1 ++ p :: G2) u.
Proof.
  intros Lt Ep Fw Ew (x & Lx & Fx & Hx).
  destruct (argmin t x) as
    (T1 & ti & T2 & X1 & xi & X2 & tau & Et & Ex & L1 & P1 & E1 & P2 & F2); auto; [congruence|].
  assert (LG := Lt). rewrite Et in LG. rewrite app_length in LG. simpl in LG.
  rewrite Ex, app_length in Lx. simpl in Lx.
  destruct (nth_error G (length T1)) as [g|] eqn:Eg.
  2:{ apply nth_error_None in Eg. lia. }
  apply nth_error_split in Eg. destruct Eg as (G1 & G2 & EG & LG1).
  assert (L2 : length T2 = length X2).
  { rewrite EG, app_length in LG, Lx. simpl in LG, Lx. lia. }
  assert (LG2 : length X2 = length G2).
  { rewrite EG, app_length in Lx. simpl in Lx. lia. }
  exists T1, ti, T2, G1, g, G2. repeat split; auto.
  rewrite Et, Ex in F2.
  apply Forall2_app_inv_l in F2. destruct F2 as (Y1 & Y2 & FY1 & FY2 & EY).
  assert (LY : length Y1 = length X1) by (rewrite <- (F2_length _ _ _ _ _ FY1); auto).
  apply app_eq_app in EY.
  assert (EY1 : Y1 = X1 /\ Y2 = xi :: X2).
  { destruct EY as (l & [[A B]|[A B]]); subst; rewrite app_length in LY;
      assert (l = []) by (destruct l; simpl in *; auto; lia); subst; simpl in *;
      rewrite app_nil_r in *; auto. }
  destruct EY1; subst Y1 Y2. inversion FY2; subst.
  exists (subs tau T1 X1 ++ tau :: subs tau T2 X2). repeat split.
  - rewrite !app_length. simpl. rewrite !subs_len by auto. lia.
  - apply Forall_app; split; [|constructor; auto]; apply subs_nonneg; auto.
  - intros v. rewrite Hx. assert (Hp := Ep v).
    rewrite !map_app in *. simpl in *.
    rewrite dot_app in Hp by (rewrite map_length; lia).
    rewrite !dot_app by (rewrite ?subs_len, map_length; lia). simpl in *.
    rewrite !subs_dot by lia. rewrite Hp. ring.
Qed.

(** ** Other generators *)
Lemma combine_rows_R v : forall y G, dot (iz (combine_rows y G)) v = dot (iz y) (map (form v) G).
Proof.
  induction y; intros [|g G]; simpl; try ring. rewrite axpy_R, IHy. unfold form at 2. rewrite (dot_comm v). ring.
Qed.
Theorem rebase_covers G' u : forall (G : list gen) Y, rebase_ok G Y G' = true -> in_cone (map fst G) u -> in_cone G' u.
Proof.
  intros G Y E (x & Lx & Fx & Hx). rewrite map_length in Lx.
  assert (A : exists x', length x' = length G' /\ Forall (Rle 0) x' /\
     forall v, dot x (map (form v) (map fst G)) = dot x' (map (form v) G')).
  { clear Hx. revert Y x E Lx Fx. induction G as [|g G IH]; intros Y x E Lx Fx.
    - exists (repeat 0 (length G')). split; [apply repeat_length|]. split.
      + clear. induction (length G'); simpl; constructor; auto. lra.
      + intros v. destruct x; try discriminate. clear. simpl.
        induction G'; simpl; auto. rewrite <- IHG'. ring.
    - destruct x as [|x0 x]; try discriminate. injection Lx as Lx.
      destruct Y as [|[m y] Y]; try discriminate. cbn [rebase_ok] in E.
      apply andb_prop in E. destruct E as [E ER]. apply andb_prop in E. destruct E as [E EZ].
      apply andb_prop in E. destruct E as [E EL]. apply andb_prop in E. destruct E as [Em Ey].
      apply Z.ltb_lt in Em. apply IZR_lt in Em. apply Nat.eqb_eq in EL.
      destruct (IH Y x ER Lx (Forall_inv_tail Fx)) as (x' & L' & F' & H').
      assert (F0 := Forall_inv Fx). simpl in F0.
      assert (HX : 0 <= x0 / IZR m) by (apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; auto).
      assert (LL : length (iz y) = length x') by (unfold iz; rewrite map_length; congruence).
      exists (subs (- (x0 / IZR m)) (iz y) x'). split; [|split].
      + rewrite subs_len; auto.
      + apply subs_nonneg. clear - Ey F' LL HX. revert x' F' LL. induction y as [|a y IH]; intros [|b x'] F' LL;
          simpl in *; try discriminate; constructor.
        * apply andb_prop in Ey. destruct Ey as [Ea _]. apply Z.leb_le in Ea. apply IZR_le in Ea.
          assert (b0 := Forall_inv F'). simpl in b0. nra.
        * apply IH; auto. { apply andb_prop in Ey. tauto. } exact (Forall_inv_tail F').
      + intros v. rewrite subs_dot by auto. simpl. rewrite H'.
        apply (zeroZ_R v) in EZ. rewrite axpy_R, scale_R, combine_rows_R in EZ.
        unfold form at 1. rewrite (dot_comm v).
        replace (dot (iz y) (map (form v) G')) with (IZR m * dot (iz (fst g)) v) by lra.
        field. lra. }
  destruct A as (x' & L' & F' & H'). exists x'. repeat split; auto.
  intros v. rewrite Hx. apply H'.
Qed.

(** ** The 2d signed unit vectors *)
Theorem units_span d u : length u = d -> in_cone (units d) u.
Proof.
  intros Lu. revert u Lu. induction d as [|d IH]; intros [|a u] Lu; simpl in *; try discriminate.
  - exists []. repeat split; auto. intros; rewrite dot_nil_r; auto.
  - destruct (IH u) as (x & L & F & E); [lia|].
    exists (relu a :: relu (- a) :: x). simpl. rewrite map_length. split; [congruence|split].
    + constructor; [apply relu_nonneg|constructor; [apply relu_nonneg|exact F]].
    + intros [|b v]; simpl; rewrite map_map; unfold form; simpl.
      * rewrite dot_map_zero by auto. ring.
      * rewrite (map_ext _ (form v)) by (intros; unfold form; simpl; ring).
        rewrite <- E. rewrite !dot_nil_r. rewrite <- (relu_diff a) at 1. ring.
Qed.

(** A generator may be divided by a positive number. *)
Lemma divide_generator (G1 G2 : cone) p q m u : 0 <= m -> (forall v, form v q = m * form v p) ->
  in_cone (G1 ++ q :: G2) u -> in_cone (G1 ++ p :: G2) u.
Proof.
  intros Hm Hq (x & Lx & Fx & Hx). rewrite app_length in Lx. simpl in Lx.
  destruct (nth_error x (length G1)) as [xi|] eqn:E.
  2:{ apply nth_error_None in E. lia. }
  apply nth_error_split in E. destruct E as (X1 & X2 & -> & L1). rewrite app_length in Lx. simpl in Lx.
  apply Forall_app in Fx. destruct Fx as [F1 F2]. assert (F3 := Forall_inv F2). assert (F4 := Forall_inv_tail F2).
  exists (X1 ++ m * xi :: X2). split; [|split].
  - rewrite !app_length. simpl. lia.
  - apply Forall_app; split; auto. constructor; auto. simpl in F3. nra.
  - intros v. rewrite Hx, !map_app. rewrite !dot_app by (rewrite map_length; auto). simpl. rewrite Hq. ring.
Qed.

(** ** The space of the rows: u = u' + u'' with u' in the span of a basis, u'' orthogonal to it *)
Fixpoint real_sum (x : list R) (G : cone) : list R :=
  match x, G with a :: x', g :: G' =>
    (fix go (g : list Z) (r : list R) : list R :=
       match g with [] => r | b :: g' => match r with [] => a * IZR b :: go g' [] | c :: r' => a * IZR b + c :: go g'
         r' end end)
    g (real_sum x' G')
  | _, _ => [] end.
Lemma real_sum_R v : forall x G, dot v (real_sum x G) = dot x (map (form v) G).
Proof.
  induction x as [|a x IH]; intros [|g G]; simpl; try apply dot_nil_r.
  rewrite <- IH. clear IH. generalize (real_sum x G) as r. unfold form. revert v. clear.
  induction g as [|b g IH]; intros v r; simpl; [rewrite dot_nil_r; ring|].
  destruct r as [|c r]; destruct v as [|w v]; simpl; try ring; rewrite IH; [rewrite dot_nil_r|]; ring.
Qed.
Lemma real_sum_len d : forall x G, Forall (fun g => (length g <= d)%nat) G -> (length (real_sum x G) <= d)%nat.
Proof.
  induction x as [|a x IH]; intros [|g G] F; simpl; try lia.
  assert (F0 := Forall_inv F). specialize (IH G (Forall_inv_tail F)). revert F0 IH. clear F.
  generalize (real_sum x G) as r.
  revert d. clear. induction g as [|b g IH]; intros d r F0 Hr; simpl in *; [auto|].
  destruct d; [lia|]. destruct r as [|c r]; simpl in *; apply le_n_S; apply IH; simpl; lia.
Qed.
Lemma dot_pad k : forall v l, dot v (l ++ repeat 0 k) = dot v l.
Proof.
  induction v as [|a v IH]; intros l; [reflexivity|]. destruct l as [|b l]; simpl; [|rewrite IH; auto].
  clear. revert v a. induction k as [|k IH]; intros [|b v] a; simpl; auto; try ring. rewrite IH. ring.
Qed.

Lemma orthogonal_signs A B : orthogonal A B = true -> forall a b, In a A -> In b (signs_of B) -> dot (iz a) (iz b) = 0.
Proof.
  unfold orthogonal. rewrite forallb_forall. intros O a b Ia Ib. specialize (O a Ia). rewrite forallb_forall in O.
  induction B as [|g B IH]; simpl in Ib; [tauto|].
  assert (Z0 : dot (iz a) (iz g) = 0).
  { specialize (O g (or_introl eq_refl)). apply Z.eqb_eq in O. rewrite <- dotZ_R, O. auto. }
  destruct Ib as [<-|[<-|Ib]]; auto.
  - rewrite dot_comm, opp_R, dot_comm, Z0. ring.
  - apply IH; auto. intros h Ih. apply O. right. auto.
Qed.

(** u' is the part of u in the space of the rows *)
Record row_part (basis null : cone) (u u1 : list R) : Prop := RowPart {
  rp_cone : in_cone (signs_of basis) u1;
  rp_length : length u1 = length u;
  rp_sees : forall a, (forall b, In b null -> dot (iz a) (iz b) = 0) -> dot (iz a) u1 = dot (iz a) u;
  rp_norm : dot u1 u1 <= dot u u;
  rp_all : dot u u <= dot u1 u1 -> forall v, dot v u = dot v u1 }.

Theorem row_part_exists d basis null span u :
  rebase_ok (map (fun g => (g, 0%Z)) (units d)) span (signs_of basis ++ signs_of null) = true ->
  forallb (fun b : list Z => Nat.leb (length b) d) basis = true -> orthogonal basis null = true -> length u = d ->
  exists u1, row_part basis null u u1.
Proof.
  intros ER EL EO Lu.
  assert (I : in_cone (signs_of basis ++ signs_of null) u).
  { eapply rebase_covers; [exact ER|]. rewrite map_map. simpl. rewrite map_id. apply units_span; auto. }
  destruct I as (x & Lx & Fx & Hx). rewrite app_length in Lx.
  set (x1 := firstn (length (signs_of basis)) x). set (x2 := skipn (length (signs_of basis)) x).
  assert (Ex : x = x1 ++ x2) by (symmetry; apply firstn_skipn).
  assert (L1 : length x1 = length (signs_of basis)) by (unfold x1; rewrite firstn_length; lia).
  assert (L2 : length x2 = length (signs_of null)) by (unfold x2; rewrite skipn_length; lia).
  rewrite Ex in Fx. apply Forall_app in Fx. destruct Fx as [F1 F2].
  set (s1 := real_sum x1 (signs_of basis)). set (u1 := s1 ++ repeat 0 (d - length s1)).
  set (u2 := real_sum x2 (signs_of null)).
  assert (H1 : forall v, dot v u1 = dot x1 (map (form v) (signs_of basis))).
  { intros v. unfold u1, s1. rewrite dot_pad. apply real_sum_R. }
  assert (Hu : forall v, dot v u = dot v u1 + dot v u2).
  { intros v. rewrite H1. unfold u2. rewrite !real_sum_R, Hx, Ex, map_app, dot_app by (rewrite map_length; auto).
    auto. }
  assert (Z12 : dot u1 u2 = 0).
  { unfold u2. rewrite real_sum_R. apply dot_map_zero. intros n In2. unfold form. rewrite dot_comm.
    rewrite H1. apply dot_map_zero. intros b Ib. unfold form. rewrite dot_comm.
    clear -EO In2 Ib. revert Ib. unfold orthogonal in EO. induction basis as [|g B IH]; simpl; [tauto|].
    cbn [forallb] in EO. apply andb_prop in EO. destruct EO as [E1 E2].
    assert (Og : dot (iz g) (iz n) = 0).
    { apply (orthogonal_signs [g] null); simpl; auto. unfold orthogonal. simpl. rewrite E1. auto. }
    intros [<-|[<-|Ib]]; auto. rewrite opp_R, Og. ring. }
  assert (NN : dot u u = dot u1 u1 + dot u2 u2).
  { rewrite Hu, (dot_comm u u1), (dot_comm u u2), !Hu, Z12, (dot_comm u2 u1), Z12. ring. }
  assert (L3 : length u1 = d).
  { assert (L3 : (length s1 <= d)%nat); [|unfold u1; rewrite app_length, repeat_length; lia].
    apply real_sum_len. rewrite forallb_forall in EL. clear -EL. induction basis as [|b B IH]; simpl; constructor.
    + specialize (EL b (or_introl eq_refl)). apply Nat.leb_le; auto.
    + constructor; [|apply IH; intros; apply EL; simpl; auto].
      specialize (EL b (or_introl eq_refl)). apply Nat.leb_le in EL. rewrite map_length. auto. }
  exists u1. constructor.
  - exists x1. auto.
  - congruence.
  - intros a Ha. rewrite Hu. unfold u2. rewrite (real_sum_R (iz a) x2). rewrite dot_map_zero; [ring|].
    intros n In2. unfold form. assert (O : orthogonal [a] null = true).
    { unfold orthogonal. cbn [forallb]. rewrite andb_true_r. apply forallb_forall. intros b Ib. apply Z.eqb_eq.
      apply eq_IZR. rewrite dotZ_R. auto. }
    apply (orthogonal_signs [a] null O); simpl; auto.
  - pose proof (dot_self_nonneg u2). lra.
  - intros Le v. rewrite Hu. pose proof (cauchy v u2) as C. pose proof (dot_self_nonneg u2).
    replace (dot u2 u2) with 0 in C by lra. nra.
Qed.
Definition in_shadow (basis null G : cone) (u : list R) : Prop := exists u1, row_part basis null u u1 /\ in_cone G u1.

(** ** The sign cones of a basis *)
Lemma form_iz z g : form (iz z) g = IZR (dotZ z g).
Proof. unfold form. rewrite dotZ_R. reflexivity. Qed.
Lemma coefficients_cut (x : list R) : forall (A : cone) a B, length x = length (A ++ a :: B) -> Forall (Rle 0) x ->
  exists X1 t X2, x = X1 ++ t :: X2 /\ length X1 = length A /\ length X2 = length B /\ Forall (Rle 0) X1 /\ 0 <= t /\
    Forall (Rle 0) X2.
Proof.
  induction x as [|t x IH]; intros [|g A] a B L F; simpl in L; try discriminate.
  - exists [], t, x. assert (F0 := Forall_inv F). assert (F1 := Forall_inv_tail F). repeat split; auto; lia.
  - destruct (IH A a B ltac:(lia) (Forall_inv_tail F)) as (X1 & s & X2 & -> & L1 & L2 & F1 & F2 & F3).
    exists (t :: X1), s, X2. assert (F0 := Forall_inv F). repeat split; simpl; auto.
Qed.
Lemma cone_signs g B pre u : in_cone (pre ++ g :: map Z.opp g :: B) u ->
  in_cone (pre ++ g :: B) u \/ in_cone (pre ++ map Z.opp g :: B) u.
Proof.
  intros (x & Lx & Fx & Hx). destruct (coefficients_cut x pre g _ Lx Fx) as (X1 & s & Y & -> & L1 & LY & F1 & F2 & FY).
  destruct Y as [|t X2]; [discriminate|]. assert (F3 := Forall_inv FY). assert (F4 := Forall_inv_tail FY).
  simpl in LY. simpl in F3.
  assert (O : forall v, form v (map Z.opp g) = - form v g) by (intros v; unfold form; rewrite !(dot_comm v); apply opp_R).
  assert (E : forall v, dot v u = dot X1 (map (form v) pre) + ((s - t) * form v g + dot X2 (map (form v) B))).
  { intros v. rewrite Hx, map_app, dot_app by (rewrite map_length; auto). cbn [map dot]. rewrite O. ring. }
  destruct (Rle_lt_dec t s) as [C|C]; [left; exists (X1 ++ (s - t) :: X2)|right; exists (X1 ++ (t - s) :: X2)].
  - repeat split; [rewrite !app_length; simpl; lia|apply Forall_app; split; auto; constructor; auto; lra|].
    intros v. rewrite E, map_app, dot_app by (rewrite map_length; auto). cbn [map dot]. ring.
  - repeat split; [rewrite !app_length; simpl; lia|apply Forall_app; split; auto; constructor; auto; lra|].
    intros v. rewrite E, map_app, dot_app by (rewrite map_length; auto). cbn [map dot]. rewrite O. ring.
Qed.
Theorem roots_sound (goal : list R -> Prop) ok : (forall G path u, ok G path = true -> in_cone G u -> goal u) ->
  forall B pre path u, check_roots ok B pre path = true -> in_cone (pre ++ signs_of B) u -> goal u.
Proof.
  intros H. induction B as [|g B IH]; intros pre path u E I; cbn [check_roots signs_of] in *.
  - rewrite app_nil_r in I. eauto.
  - apply andb_prop in E. destruct E as [E1 E2]. destruct (cone_signs g (signs_of B) pre u I) as [J|J].
    + apply (IH (pre ++ [g]) (true :: path)); auto. rewrite <- app_assoc. exact J.
    + apply (IH (pre ++ [map Z.opp g]) (false :: path)); auto. rewrite <- app_assoc. exact J.
Qed.
