(* Trees in the compact form of the evidence `cover` (FORMAT.md), unpacked: vertices are numbered, points and vectors of
   leaves are derived. Nothing here is trusted: whatever comes out is checked. *)
module Int = Z
open Checker

(* A face: u, the gradient on it times den, and where it is a plane two vectors that span it. *)
type face = { u : Int.t array; den : Int.t; v : Int.t array; plane : Int.t array list }
(* A neuron in its piece: v and the shares of the rows of f2 and of f1, all times den. *)
type piece = { den : Int.t; c : Int.t list; concave : Int.t list; convex : Int.t array }
type tie = Neuron of piece | Face of face

type streams = { codes : string; multipliers : string; data : string; rows : string }

let rule, turned, atoms, neuron, ray, sign, star, on_plane = (200, 201, 202, 203, 204, 210, 211, 212)
let weight = 256
let fail what = failwith ("packed tree: " ^ what)

(* the floor of x 2^-k, k of any sign *)
let shift x k = if k >= 0 then Int.shift_right x k else Int.shift_left x (-k)
let longest v = Array.fold_left (fun m x -> max m (Int.numbits x)) 0 v
let dot a b =
  let s = ref Int.zero in
  Array.iteri (fun i x -> s := Int.add !s (Int.mul x b.(i))) a;
  !s

(* a vector of length about 2^30 along g *)
let unit g =
  let v = Array.map (fun x -> shift x (longest g - 29)) g in
  let size = Int.sqrt (dot v v) in
  Array.map (fun x -> Int.to_int (Int.fdiv (Int.shift_left x 30) size)) v

let bits_of v = Array.fold_left (fun m x -> max m (Int.numbits (Int.of_int x))) 0 v
let shortened bits v = let k = max 0 (bits_of v - bits) in if k = 0 then v else Array.map (fun x -> x asr k) v
let list_of v = Array.to_list (Array.map Int.of_int v)

(* sum_i k_i U_i *)
let mixed d ks us =
  let v = Array.make d 0 in
  Array.iteri (fun i u -> let k = ks i in Array.iteri (fun l x -> v.(l) <- v.(l) + (k * x)) u) us;
  v

(* x with sum_i x_i g_i = u, over the rationals *)
let coordinates (gs : Int.t array array) (u : Int.t array) =
  let r = Array.length gs and d = Array.length u in
  let m = Array.init d (fun l -> Array.init (r + 1) (fun i -> Q.of_bigint (if i < r then gs.(i).(l) else u.(l)))) in
  let pivots = Array.make r (-1) in
  let row = ref 0 in
  for i = 0 to r - 1 do
    match List.find_opt (fun l -> Q.sign m.(l).(i) <> 0) (List.init (d - !row) (fun k -> !row + k)) with
    | None -> fail "generators of a star that are not independent"
    | Some l ->
      let t = m.(l) in
      m.(l) <- m.(!row);
      m.(!row) <- Array.map (fun x -> Q.div x t.(i)) t;
      for k = 0 to d - 1 do
        if k <> !row && Q.sign m.(k).(i) <> 0 then
          let f = m.(k).(i) in
          m.(k) <- Array.mapi (fun j x -> Q.sub x (Q.mul f m.(!row).(j))) m.(k)
      done;
      pivots.(i) <- !row;
      incr row
  done;
  for k = !row to d - 1 do if Q.sign m.(k).(r) <> 0 then fail "a vector outside the span of its cone" done;
  Array.init r (fun i -> m.(pivots.(i)).(r))

type side = {
  d : int;
  seen : int; (* the entries of a leaf's c *)
  roots : Int.t array array array; (* the generators of each root *)
  ties : tie array;
  bound : int;
  convex : wrow array;
  concave : wrow array;
  c0 : Int.t array;
  streams : streams;
  ids : (Int.t array, int) Hashtbl.t;
  mutable vertices : Int.t array array;
  mutable units : int array array; (* empty: not derived yet *)
  mutable count : int;
  starts : (int * int * int * int) array; (* where the streams stand at each root *)
}

let number s g =
  match Hashtbl.find_opt s.ids g with
  | Some k -> k
  | None ->
    if s.count = Array.length s.vertices then begin
      s.vertices <- Array.append s.vertices (Array.make (s.count + 64) [||]);
      s.units <- Array.append s.units (Array.make (s.count + 64) [||])
    end;
    s.vertices.(s.count) <- g;
    s.count <- s.count + 1;
    Hashtbl.add s.ids g s.count;
    s.count

let vertex s k = s.vertices.(k - 1)
let unit_of s k =
  if s.units.(k - 1) = [||] then s.units.(k - 1) <- unit (vertex s k);
  s.units.(k - 1)

let rec nat k = if k = 0 then O else S (nat (k - 1))
let position k l = let rec go i = function [] -> fail "a line split twice" | x :: l -> if x = k then i else go (i + 1)
  l in go 0 l

let strict_leaf s cone turn (points : (int * (int -> int)) list) =
  let us = Array.map (unit_of s) cone in
  let v = shortened 29 (mixed s.d turn us) in
  let v = Array.mapi (fun l x -> if l < s.seen then x else 0) v in
  let square = Array.fold_left (fun a x -> Int.add a (Int.mul (Int.of_int x) (Int.of_int x))) Int.zero v in
  let size = Int.to_int (Int.sqrt square) + 1 and high = s.bound asr 13 in
  let c = Array.map (fun x ->
    let whole = abs x * high / size and rest = abs x * high mod size in
    let q = (whole lsl 13) + ((rest lsl 13) / size) in
    weight * if x < 0 then -q else q) v in
  let point (w, q) = (Int.of_int w, list_of (shortened 28 (mixed s.d (fun i -> (16 * q i) + 1) us))) in
  Coarse (Int.of_int weight, list_of (Array.sub c 0 s.seen), List.map point points)

(* The vector of a plane without a part of generator `facet`, inside the cone. *)
let meeting gs plane facet =
  match plane with
  | [ f; g ] when facet < Array.length gs ->
    let x = coordinates gs f and y = coordinates gs g in
    let a = y.(facet) and b = Q.neg x.(facet) in
    let inside = Array.for_all2 (fun p q -> Q.sign (Q.add (Q.mul a p) (Q.mul b q)) >= 0) x y in
    let a, b = if inside then (a, b) else (Q.neg a, Q.neg b) in
    let a, b = (Int.mul (Q.num a) (Q.den b), Int.mul (Q.num b) (Q.den a)) in
    let e = Array.mapi (fun l p -> Int.add (Int.mul a p) (Int.mul b g.(l))) f in
    let h = Array.fold_left Int.gcd Int.zero e in
    if Int.sign h = 0 then fail "a plane that meets no facet";
    Array.map (fun p -> Int.divexact p h) e
  | _ -> fail "a plane and a facet"

let face_leaf s cone { u; den; v; _ } points =
  let side (_, z) = dot (Array.of_list z) u in
  let same g row = Int.sign (dot (Array.of_list (snd row)) g) = Int.sign (side row) in
  let tip g = Array.for_all (same g) s.convex && Array.for_all (same g) s.concave in
  let tips = Array.map (fun g -> tip (vertex s g)) cone in
  let whole = Int.mul (Int.of_int weight) den in
  let us = Array.map (fun g -> Array.map Int.of_int (unit_of s g)) cone in
  let at q =
    let p = Array.make s.d Int.zero in
    Array.iteri (fun i x ->
      if not tips.(i) then
        Array.iteri (fun l y -> p.(l) <- Int.add p.(l) (Int.mul (Int.of_int (q i)) y)) x) us;
    p in
  let points = List.map (fun (w, q) -> let p = at q in (Int.mul (Int.of_int w) den, p, dot p p)) points in
  let share row =
    let z = Array.of_list (snd row) in
    let h = Int.sign (side row) in
    if h > 0 then whole
    else if h < 0 then Int.zero
    else
      let zz = dot z z in
      List.fold_left (fun a (w, p, pp) ->
        let v = dot z p in
        if Int.sign v > 0 && Int.gt (Int.shift_left (Int.mul v v) 48) (Int.mul zz pp) then Int.add a w else a)
        Int.zero points in
  let c = Array.map (Int.mul (Int.of_int weight)) v in
  Fine (whole, Array.to_list (Array.sub c 0 s.seen), Array.to_list (Array.map share s.concave), [])

(* A neuron's leaf on the sides of the splits above it: a share beyond 1, or below 0, is a multiplier of the side. *)
let neuron_leaf s { den; c; concave; convex } split =
  let beyond (row, on) = Int.mul (fst s.convex.(row)) (Int.max Int.zero (if on then Int.sub convex.(row) den else
    Int.neg convex.(row))) in
  Fine (den, List.filteri (fun l _ -> l < s.seen) c, concave, List.map beyond split)

(* One root. `build` is false in the first pass, which only numbers the vertices. *)
let walk s index build (codes, multipliers, data, rows) =
  let pc = ref codes and pm = ref multipliers and pd = ref data and pr = ref rows in
  let next text at = let b = Char.code text.[!at] in incr at; b in
  let r = Array.length s.roots.(index) in
  let edges = Array.of_list (List.concat_map (fun i -> List.init (r - 1 - i) (fun k -> (i, i + 1 + k))) (List.init r
    Fun.id)) in
  let point () =
    let at = !pd in
    pd := at + r;
    if !pd > String.length s.streams.data then fail "too little data";
    fun i -> Char.code s.streams.data.[at + i] in
  let read_atoms () =
    let count = next s.streams.data pd in
    let rec go left k =
      if k = 0 then []
      else
        let w = if k = 1 then left else next s.streams.data pd in
        let q = point () in
        (w, q) :: go (left - w) (k - 1) in
    go weight count in
  let nothing = Ref Int.zero in
  let replaced cone i g = let c = Array.copy cone in c.(i) <- g; c in
  let forest children = (* (i, t, tree), ascending *)
    let rec go i = function
      | [] -> Nil
      | (k, t, ch) :: rest when k = i -> Child (t, ch, go (i + 1) rest)
      | l -> Skip (go (i + 1) l) in
    go 0 children in
  let rec node cone split alive =
    let code = next s.streams.codes pc in
    if code < Array.length edges then begin
      let i, j = edges.(code) in
      let k = next s.streams.multipliers pm in
      let m = Int.shift_right (Int.shift_left (Int.of_int (2 + (k land 1))) ((k lsr 1) land 63)) 1 in
      let p, q = if k lsr 7 = 1 then (Int.one, m) else (m, Int.one) in
      let a = vertex s cone.(i) and b = vertex s cone.(j) in
      let g = Array.mapi (fun l x -> Int.add (Int.mul p x) (Int.mul q b.(l))) a in
      let h = Array.fold_left Int.gcd Int.zero g in
      if Int.sign h = 0 then fail "opposite generators";
      let id = number s (Array.map (fun x -> Int.divexact x h) g) in
      let second = node (replaced cone j id) split alive in
      let first = node (replaced cone i id) split alive in
      if build then Star (Int.of_int id, h, forest [ (i, p, first); (j, q, second) ]) else nothing
    end
    else if code = rule then if build then strict_leaf s cone (fun _ -> 1) [ (weight, fun _ -> 1) ] else nothing
    else if code = turned then
      let turn = point () in
      if build then strict_leaf s cone turn [ (weight, fun _ -> 1) ] else nothing
    else if code = atoms then
      let points = read_atoms () in
      let turn = point () in
      if build then strict_leaf s cone turn points else nothing
    else if code = neuron then
      match s.ties.(next s.streams.data pd) with Neuron piece -> neuron_leaf s piece split | Face _ -> fail "a face for a neuron"
    else if code = ray then begin
      let tie = s.ties.(next s.streams.data pd) in
      let points = read_atoms () in
      match tie with
      | Face face -> if build then face_leaf s cone face points else nothing
      | Neuron _ -> fail "a neuron for a face"
    end
    else if code = sign then begin
      let low = next s.streams.rows pr in
      let row = low lor (next s.streams.rows pr lsl 8) in
      let k = position row alive in
      let alive = List.filter (fun x -> x <> row) alive in
      let off = node cone ((row, false) :: split) alive in
      let on = node cone ((row, true) :: split) alive in
      Sign (nat k, on, off)
    end
    else if code = star || code = on_plane then begin
      let face = match s.ties.(next s.streams.data pd) with Face f -> f | Neuron _ -> fail "a star at a neuron" in
      let low = next s.streams.data pd in
      let middle = next s.streams.data pd in
      let chosen = low lor (middle lsl 8) lor (next s.streams.data pd lsl 16) in
      let u = if code = star then face.u
        else meeting (Array.map (vertex s) cone) face.plane (next s.streams.data pd) in
      let id = number s u in
      let x = if build then coordinates (Array.map (vertex s) cone) u else [||] in
      let m = Array.fold_left (fun m q -> Int.lcm m (Q.den q)) Int.one x in
      let rec children i = (* the last is read first *)
        if i < 0 then []
        else
          let ch = if chosen lsr i land 1 = 1 then Some (node (replaced cone i id) split alive) else None in
          let rest = children (i - 1) in
          match ch with
          | Some ch when build && Q.sign x.(i) > 0 -> (i, Int.divexact (Int.mul m (Q.num x.(i))) (Q.den x.(i)), ch) ::
            rest
          | _ -> rest in
      let found = List.rev (children (r - 1)) in
      if build then Star (Int.of_int id, m, forest found) else nothing
    end
    else fail ("code " ^ string_of_int code) in
  let root = Array.map (number s) s.roots.(index) in
  let found = node root [] (List.init (Array.length s.convex) Fun.id) in
  (found, root, (!pc, !pm, !pd, !pr))

let zero_vector d = Array.make d Int.zero

(* The signed vectors of a basis. *)
let signed basis mask = Array.mapi (fun i g -> if mask lsr i land 1 = 1 then g else Array.map Int.neg g) basis

(* The cone of the signed basis is split at 0 into the sign cones; each of them is a subtree of its own. *)
let top s r first =
  let zero = Int.of_int (number s (zero_vector s.d)) in
  let root mask =
    let ids = Array.to_list (Array.map (fun g -> Int.of_int (number s g)) s.roots.(mask)) in
    let sign i = mask lsr i land 1 = 1 in
    let coefficients k = List.init r (fun i -> if 2 * i + (if sign i then 0 else 1) = k then Int.one else Int.zero) in
    Rebase (ids, List.init (2 * r) (fun k -> (Int.one, coefficients k)), Ref (Int.of_int (first + mask))) in
  let rec split i mask =
    if i = r then root mask
    else
      let rec skips k f = if k = 0 then f else Skip (skips (k - 1) f) in
      Star (zero, Int.one, skips (2 * i) (Child (Int.one, split (i + 1) mask,
        Child (Int.one, split (i + 1) (mask lor (1 lsl i)), Nil)))) in
  split 0 0

(* The sign cones; with free biases the cones of the prisms over them. *)
let roots_of d prisms basis =
  let r = Array.length basis in
  match prisms with
  | None -> Array.init (1 lsl r) (signed basis)
  | Some height ->
    let shifted k g = Array.mapi (fun l x -> if l = d - 1 then Int.add x k else x) g in
    let cone index =
      let g = signed basis (index / r) and j = index mod r in
      Array.append (Array.map (shifted (Int.neg height)) (Array.sub g 0 (j + 1)))
        (Array.map (shifted height) (Array.sub g j (r - j))) in
    Array.init ((1 lsl r) * r) cone

let prepare first d prisms basis ties bound convex concave c0 streams =
  let roots = roots_of d prisms basis in
  let s = { d; seen = (if prisms = None then d else d - 1); roots; ties; bound; convex = Array.of_list convex;
            concave = Array.of_list concave; c0; streams; ids = Hashtbl.create 4096; vertices = [||]; units = [||];
            count = 0; starts = Array.make (Array.length roots) (0, 0, 0, 0) } in
  let at = ref (0, 0, 0, 0) in
  for index = 0 to Array.length roots - 1 do
    s.starts.(index) <- !at;
    let _, _, next = walk s index false !at in
    at := next
  done;
  let t = streams in
  if !at <> String.(length t.codes, length t.multipliers, length t.data, length t.rows) then fail "streams not used up";
  let tree = if prisms = None then top s (Array.length basis) first else Ref Int.zero in
  (s, tree)

let subtree s index = let found, _, _ = walk s index true s.starts.(index) in found
let vertices s = List.init s.count (fun k -> Array.to_list s.vertices.(k))
