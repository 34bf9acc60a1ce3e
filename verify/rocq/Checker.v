(** * The checker of a cover: integers only

    With t = xi theta, f1(u) = sum_{t_k > 0} t_k (z_k.u)_+ and f2(u) = sum_{t_k < 0} |t_k| (z_k.u)_+, a cover proves
    f1 - f2 <= lambda |.| for xi = 1 and xi = -1. Rows on one line are merged first, so that
    xi sum_k theta_k (z_k.u)_+ = f1(u) - f2(u) + c0.u, with f1 and f2 over one representative of each line. *)
From Coq Require Import ZArith List Bool FMapPositive.
From Relu Require Import Spec Vectors.
Import ListNotations.
Open Scope Z_scope.

(** ** The evidence *)

(** A weighted row (k, z) stands for k (z.u)_+ with k >= 0. *)
Definition wrow : Type := (Z * list Z)%type.

(** The tree. Every node speaks of a cone, given by generators; a generator is a number in the table of vertices. *)
Inductive node : Type :=
| Fine (D : Z) (c s h : list Z)
    (* a leaf over the rows themselves: c/D with |c/D| <= lambda, weights s_k/D in [0, 1] on the rows of f2,
       multipliers h_j >= 0 of the sides on which the node lies, the last split first *)
| Coarse (D : Z) (c : list Z) (atoms : list (Z * list Z))
    (* a leaf over the rounded rows: |c/D| <= lambda0, weights w_j/D on the rows of f2 that are on at p_j *)
| Rebase (G' : list positive) (Y : list (Z * list Z)) (ch : node)
    (* other generators: m_i g_i = sum_j y_ij g'_j with y_ij >= 0 < m_i *)
| Sign (k : nat) (on off : node)
    (* the sign of row k of f1: z.u >= 0 in one child, z.u <= 0 in the other *)
| Star (p : positive) (m : Z) (f : forest)
    (* m p = sum_i t_i g_i; a child for each i with t_i > 0, in which p replaces g_i *)
| Ref (k : Z)
    (* the subtree of number k, to be fetched *)
with forest : Type :=
| Nil
| Skip (f : forest)
| Child (t : Z) (ch : node) (f : forest).

Record side := Side { s_verts : list (list Z); s_tree : node }.

Record cover := Cover {
  c_reps : list (list Z);  c_merge : list (nat * Z);         (* row k is m times representative g *)
  c_theta : list Z;  c_tden : Z;  c_lown : Z;  c_lowd : Z;   (* theta, and the lower bound *)
  c_qnum : Z;  c_qden : Z;  c_lam0 : Z;                      (* the scale of the rounded rows, and lambda0 *)
  c_basis : list (list Z);  c_null : list (list Z);          (* of the space of the rows, and orthogonal to it *)
  c_span : list (Z * list Z);                                (* the signed unit vectors in terms of both *)
  c_pos : side;  c_neg : side;
  c_sub : Z -> node;                                         (* fetches subtrees *)
  c_on : list (list Z) -> list Z -> list bool }.             (* which rows are on at a point: any answer is sound *)

(** ** Sums over rows *)
Fixpoint pos_part (rows : list (list Z)) (th : list Z) : list wrow :=
  match rows, th with
  | z :: rows', t :: th' => if 0 <? t then (t, z) :: pos_part rows' th' else pos_part rows' th'
  | _, _ => [] end.

(** sum of k (z.g)_+ over weighted rows, and of (w.g)_+ over rows *)
Fixpoint wsumZ (P : list wrow) (g : list Z) : Z :=
  match P with [] => 0 | (k, z) :: P' =>
    let v := dotZ z g in if 0 <? v then k * v + wsumZ P' g else wsumZ P' g end.
Fixpoint rsumZ (W : list (list Z)) (g : list Z) : Z :=
  match W with [] => 0 | w :: W' =>
    let v := dotZ w g in if 0 <? v then v + rsumZ W' g else rsumZ W' g end.

(** c + sum of s_k k z over weighted rows; c + the sum of the rows that are on; c + sum_j y_j g_j *)
Fixpoint combine_weighted (s : list Z) (N : list wrow) (c : list Z) : list Z :=
  match s, N with
  | sk :: s', (k, z) :: N' =>
      if sk =? 0 then combine_weighted s' N' c else axpy (sk * k) z (combine_weighted s' N' c)
  | _, _ => c end.
Fixpoint sum_on (on : list bool) (W : list (list Z)) (acc : list Z) : list Z :=
  match on, W with
  | b :: on', w :: W' => sum_on on' W' (if b then add w acc else acc)
  | _, _ => acc end.
Fixpoint combine_rows (y : list Z) (G : list (list Z)) : list Z :=
  match y, G with yk :: y', g :: G' => axpy yk g (combine_rows y' G') | _, _ => [] end.

(** ** Rows on one line: sum_k t_k (z_k.u)_+ = sum_g cf_g (rep_g.u)_+ + c0.u *)
Fixpoint addn (k : nat) (x : Z) (l : list Z) : list Z :=
  match l with [] => [] | a :: l' => match k with O => a + x :: l' | S k' => a :: addn k' x l' end end.
Fixpoint merge (reps rows : list (list Z)) (th : list Z) (mg : list (nat * Z)) : option (list Z * list Z) :=
  match rows, th, mg with
  | [], [], _ => Some (map (fun _ => 0) reps, [])
  | z :: rows', t :: th', (k, m) :: mg' =>
      match merge reps rows' th' mg' with
      | None => None
      | Some (cf, c0) =>
          if zeroZ (axpy (-1) (map (Z.mul m) (nth k reps [])) z) then
            if 0 <=? m then Some (addn k (t * m) cf, c0) else Some (addn k (t * - m) cf, axpy t z c0)
          else None
      end
  | _, _, _ => None end.

(** ** The table of vertices: each with f1 + c0 over the rounded rows, computed once *)
Definition gen : Type := (list Z * Z)%type.
Definition value (PC : list (list Z)) (c0C g : list Z) : Z := rsumZ PC g + dotZ c0C g.
Fixpoint table (PC : list (list Z)) (c0C : list Z) (verts : list (list Z)) (k : positive)
    (T : PositiveMap.t gen) : PositiveMap.t gen :=
  match verts with
  | [] => T
  | g :: verts' => table PC c0C verts' (Pos.succ k) (PositiveMap.add k (g, value PC c0C g) T)
  end.
Fixpoint fetch (T : PositiveMap.t gen) (l : list positive) : option (list gen) :=
  match l with
  | [] => Some []
  | k :: l' => match PositiveMap.find k T, fetch T l' with
      | Some g, Some G => Some (g :: G) | _, _ => None end
  end.

Fixpoint rebase_ok (G : list gen) (Y : list (Z * list Z)) (G' : list (list Z)) : bool :=
  match G, Y with
  | [], _ => true
  | g :: G1, (m, y) :: Y1 =>
      (0 <? m) && forallb (fun x => 0 <=? x) y && Nat.eqb (length y) (length G')
      && zeroZ (axpy (-1) (combine_rows y G') (map (Z.mul m) (fst g))) && rebase_ok G1 Y1 G'
  | _, _ => false end.

(** sum_i t_i g_i over the children of a star *)
Fixpoint star_point (f : forest) (G : list gen) : list Z :=
  match f, G with
  | Skip f', _ :: G' => star_point f' G'
  | Child t _ f', g :: G' => axpy t (fst g) (star_point f' G')
  | _, _ => [] end.
Fixpoint has_child (f : forest) : bool :=
  match f with Nil => false | Skip f' => has_child f' | Child _ _ _ => true end.

(** a split row z, w when rounded, and its side: what f1 at g becomes when (w.g)_+ is replaced by w.g, or by 0 *)
Definition signed : Type := (list Z * list Z * bool)%type.
Fixpoint adjust (cs : list signed) (g : list Z) : Z :=
  match cs with
  | [] => 0
  | (_, w, on) :: cs' => (if on : bool then Z.min 0 (dotZ w g) else - Z.max 0 (dotZ w g)) + adjust cs' g
  end.

(** a - sum_j h_j (+-z_j), where +-z_j.u >= 0 on the side of split j *)
Fixpoint lean (h : list Z) (cs : list signed) (a : list Z) : list Z :=
  match h, cs with
  | x :: h', (z, _, on) :: cs' => if x =? 0 then lean h' cs' a else axpy (if on : bool then - x else x) z (lean h' cs' a)
  | _, _ => a end.

(** the list without its entry k *)
Fixpoint drop {A : Type} (k : nat) (l : list A) : list A :=
  match l with [] => [] | x :: l' => match k with O => l' | S k' => x :: drop k' l' end end.

(** ** The tree. Accepted trees return their fine leaves, put before those in acc. *)
Definition cone : Type := list (list Z).
Definition spot : Type := (list gen * (Z * list Z))%type.   (* a fine leaf: its generators with their rooms, D and c *)

Section Tree.
Variables (seen : nat) (N : list wrow) (NC : list (list Z)) (ln2 ld2 lam0 : Z) (on : list Z -> list bool).
(** the norm is that of the first `seen` entries, and a leaf's c has no others *)
Variable T : PositiveMap.t gen.

Fixpoint combine_atoms (atoms : list (Z * list Z)) (c : list Z) : list Z :=
  match atoms with
  | [] => c
  | (w, p) :: atoms' => axpy w (sum_on (on p) NC []) (combine_atoms atoms' c)
  end.
Definition sumZ : list Z -> Z := fold_right Z.add 0.

(** the room at g: a.g - D (f1(g) + c0.g) >= 0; an accepted leaf returns its generators with their rooms *)
Definition room (P : list wrow) (c0 : list Z) (D : Z) (a g : list Z) : Z := dotZ a g - D * (wsumZ P g + dotZ c0 g).
Definition fine_leaf (P : list wrow) (c0 : list Z) (cs : list signed) (G : list gen) (D : Z) (c s h : list Z)
    : option (list gen) :=
  let a := lean h cs (combine_weighted s N c) in
  let rooms := map (fun g : gen => (fst g, room P c0 D a (fst g))) G in
  if Nat.leb (length c) seen && (0 <? D) && (dotZ c c * ld2 <=? ln2 * (D * D)) && forallb (fun x => (0 <=? x) && (x <=? D)) s
     && forallb (fun x => 0 <=? x) h && forallb (fun g : gen => 0 <=? snd g) rooms then Some rooms else None.

Definition coarse_leaf (cs : list signed) (G : list gen) (D : Z) (c : list Z) (atoms : list (Z * list Z)) : bool :=
  Nat.leb (length c) seen && (0 <? D) && (dotZ c c <=? (lam0 * D) * (lam0 * D))
  && forallb (fun x => 0 <=? fst x) atoms && (sumZ (map fst atoms) <=? D)
  && (let a := combine_atoms atoms c in
      forallb (fun g : gen => D * (snd g + adjust cs (fst g)) <=? dotZ a (fst g)) G).

Variable sub : list wrow -> list Z -> list (list Z) -> list signed -> list gen -> Z -> list spot -> option (list spot).

Fixpoint check_tree (P : list wrow) (c0 : list Z) (PC : list (list Z)) (cs : list signed) (G : list gen)
    (t : node) (acc : list spot) {struct t} : option (list spot) :=
  match t with
  | Fine D c s h =>
      match fine_leaf P c0 cs G D c s h with Some rooms => Some ((rooms, (D, c)) :: acc) | None => None end
  | Coarse D c atoms => if coarse_leaf cs G D c atoms then Some acc else None
  | Rebase l Y ch => match fetch T l with
      | Some G' => if rebase_ok G Y (map fst G') then check_tree P c0 PC cs G' ch acc else None
      | None => None end
  | Sign k t1 t2 =>
      let P' := drop k P in let PC' := drop k PC in
      let r := nth k P (0, []) in let w := nth k PC [] in
      match check_tree P' (axpy (fst r) (snd r) c0) PC' ((snd r, w, true) :: cs) G t1 acc with
      | Some acc' => check_tree P' c0 PC' ((snd r, w, false) :: cs) G t2 acc'
      | None => None end
  | Star k m f => match PositiveMap.find k T with
      | Some p =>
          if (0 <? m) && zeroZ (axpy (- m) (fst p) (star_point f G)) && has_child f
          then check_forest P c0 PC cs [] p G f acc else None
      | None => None end
  | Ref k => sub P c0 PC cs G k acc
  end
with check_forest (P : list wrow) (c0 : list Z) (PC : list (list Z)) (cs : list signed)
    (pre : list gen) (p : gen) (post : list gen) (f : forest) (acc : list spot) {struct f} : option (list spot) :=
  match f with
  | Nil => Some acc
  | Skip f' => match post with
      | [] => None
      | g :: post' => check_forest P c0 PC cs (pre ++ [g]) p post' f' acc end
  | Child t ch f' => match post with
      | [] => None
      | g :: post' => if 0 <? t then
          match check_tree P c0 PC cs (pre ++ p :: post') ch acc with
          | Some acc' => check_forest P c0 PC cs (pre ++ [g]) p post' f' acc'
          | None => None end else None end
  end.
End Tree.

(** ** One sign: from the cone of the signed basis of the space of the rows *)
Definition round (qn qd : Z) (x : Z) : Z := x * qn / qd.
Definition coarse_row (qn qd : Z) (r : wrow) : list Z := map (fun x => round qn qd (fst r * x)) (snd r).
Fixpoint units (d : nat) : list (list Z) :=
  match d with O => [] | S d' => [1] :: [-1] :: map (cons 0) (units d') end.

Fixpoint signs_of (G : cone) : cone := match G with [] => [] | g :: G' => g :: map Z.opp g :: signs_of G' end.
Definition orthogonal (A B : cone) : bool := forallb (fun a => forallb (fun b => dotZ a b =? 0) B) A.
(** the sign cones of a basis, below other generators; the sign of the last vector is the first of the path *)
Fixpoint check_roots (ok : list (list Z) -> list bool -> bool) (B pre : list (list Z)) (path : list bool) : bool :=
  match B with
  | [] => ok pre path
  | g :: B' => check_roots ok B' (pre ++ [g]) (true :: path) && check_roots ok B' (pre ++ [map Z.opp g]) (false :: path) end.
(** basis and null vectors span everything, are orthogonal, and no row sees a null vector *)
Definition root_ok (d : nat) (P N : list wrow) (c0 : list Z) (basis null : cone) (span : list (Z * list Z)) : bool :=
  rebase_ok (map (fun g => (g, 0)) (units d)) span (signs_of basis ++ signs_of null)
  && forallb (fun b => Nat.leb (length b) d) basis
  && orthogonal basis null && orthogonal (map snd P) null && orthogonal (map snd N) null && orthogonal [c0] null.

Definition check_side (d : nat) (P N : list wrow) (c0 : list Z) (ln2 ld2 qn qd lam0 : Z) (basis : cone)
    (choose : list (list Z) -> list Z -> list bool) (sb : Z -> node) (s : side) : option (list spot) :=
  let PC := map (coarse_row qn qd) P in
  let NC := map (coarse_row qn qd) N in
  let c0C := map (round qn qd) c0 in
  let T := table PC c0C (s_verts s) 1 (PositiveMap.empty gen) in
  let walk := check_tree d N NC ln2 ld2 lam0 (choose NC) T in
  let fetched P c0 PC cs G k acc := walk (fun _ _ _ _ _ _ _ => None) P c0 PC cs G (sb k) acc in
  walk fetched P c0 PC [] (map (fun g => (g, value PC c0C g)) (signs_of basis)) (s_tree s) [].

(** ** Both signs. An accepted cover returns its fine leaves: there alone neurons of optimal networks may lie. *)
Definition problem_ok (p : problem) : bool :=
  (0 <? p_rden p) && (0 <? p_yden p) && (0 <? p_lnum p) && (0 <? p_lden p)
  && Nat.eqb (length (p_rows p)) (length (p_y p))
  && forallb (fun z => Nat.eqb (length z) (p_dim p)) (p_rows p).

(** lower <= y.theta - |theta|^2/2 *)
Definition bound_ok (p : problem) (th : list Z) (td lown lowd : Z) : bool :=
  (0 <? td) && (0 <? lowd) && Nat.eqb (length (p_rows p)) (length th)
  && (lown * (2 * p_yden p * (td * td)) <=? lowd * (2 * td * dotZ (p_y p) th - p_yden p * dotZ th th)).

(** the error of rounding: at most ceil(sqrt d) for each row and for c0 *)
Definition rounding (P N : list wrow) (d : nat) : Z :=
  (Z.of_nat (length P) + Z.of_nat (length N) + 1) * Z.sqrt_up (Z.of_nat d).

Definition run (p : problem) (c : cover) : option (list spot * list spot) :=
  let th := c_theta c in let td := c_tden c in
  match merge (c_reps c) (p_rows p) th (c_merge c) with None => None | Some (cf, c0) =>
  let P := pos_part (c_reps c) cf in
  let N := pos_part (c_reps c) (map Z.opp cf) in
  let ln := p_lnum p * p_rden p * td in
  let ln2 := ln * ln in let ld2 := p_lden p * p_lden p in
  if problem_ok p && bound_ok p th td (c_lown c) (c_lowd c)
     && (0 <? c_qnum c) && (0 <? c_qden c) && (0 <=? c_lam0 c)
     && ((c_lam0 c + rounding P N (p_dim p)) * c_qden c * p_lden p <=? c_qnum c * ln)
     && root_ok (p_dim p) P N c0 (c_basis c) (c_null c) (c_span c) && orthogonal (p_rows p) (c_null c) then
    match check_side (p_dim p) P N c0 ln2 ld2 (c_qnum c) (c_qden c) (c_lam0 c) (c_basis c) (c_on c) (c_sub c) (c_pos c) with
    | None => None
    | Some A =>
        match check_side (p_dim p) N P (map Z.opp c0) ln2 ld2 (c_qnum c) (c_qden c) (c_lam0 c) (c_basis c) (c_on c) (c_sub c)
                         (c_neg c) with
        | None => None
        | Some B => Some (A, B) end
    end
  else None end.

Definition check (p : problem) (c : cover) : bool := match run p c with Some _ => true | None => false end.

(** A choice of rows at a point, by the signs of shortened rows (the entries have at most 29 bits). *)
Definition shorten (bits : Z) (l : list Z) : list Z :=
  let m := fold_right (fun x m => Z.max (Z.abs x) m) 0 l in
  let k := Z.max 0 (Z.log2 m + 1 - bits) in map (fun x => Z.shiftr x k) l.
Definition on_short (W : list (list Z)) : list Z -> list bool :=
  let S := map (shorten 29) W in fun p => map (fun w => 0 <? dotZ w p) S.
