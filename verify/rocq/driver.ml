(* Reads a text, calls the extracted checkers, prints what they were called with and what they said.
   Nothing here is trusted but this: the problem and the bounds that are printed are those the checkers saw.
   The grammar is in README.md of this folder. *)
module Int = Z (* zarith's; the extracted file has a module of that name, too *)
open Checker

let written = Array.length Sys.argv > 1 && Sys.argv.(1) = "--write"
let input =
  let last = Array.length Sys.argv - 1 in
  if last = 0 || Sys.argv.(last) = "--write" then stdin else open_in_bin Sys.argv.(last)
let buffer = Bytes.create 65536
let position = ref 0
let filled = ref 0

let next_char () =
  if !position >= !filled then begin
    filled := Stdlib.input input buffer 0 (Bytes.length buffer);
    position := 0
  end;
  if !filled = 0 then '\000'
  else begin
    let c = Bytes.get buffer !position in
    incr position;
    c
  end

let is_space c = c = ' ' || c = '\n'
let word = Buffer.create 64

(* the next word; the empty one at the end *)
let token () =
  let c = ref (next_char ()) in
  while is_space !c do c := next_char () done;
  Buffer.clear word;
  while not (is_space !c) && !c <> '\000' do
    Buffer.add_char word !c;
    c := next_char ()
  done;
  Buffer.contents word

let fail what found = failwith (Printf.sprintf "expected %s, found %S" what found)
let expect w = let t = token () in if t <> w then fail w t

let small () =
  let t = token () in
  match int_of_string_opt t with Some k when k >= 0 && k < 1 lsl 30 -> k | _ -> fail "a small number" t

(* a number in decimal, or x<k for x 2^k *)
let number () =
  let t = token () in
  try
    match String.index_opt t '<' with
    | None -> Int.of_string t
    | Some i ->
      let k = int_of_string (String.sub t (i + 1) (String.length t - i - 1)) in
      if k < 0 || k > 100000 then fail "a shift" t;
      Int.shift_left (Int.of_string (String.sub t 0 i)) k
  with Invalid_argument _ | Failure _ -> fail "a number" t

let rec many k f = if k <= 0 then [] else let x = f () in x :: many (k - 1) f
let many k f = if k < 10000 then many k f else List.rev (List.rev (List.init k (fun _ -> f ())))
let numbers k = many k number
let rec nat k = if k = 0 then O else S (nat (k - 1))
let positive () = let k = small () in if k = 0 then fail "a positive number" "0" else Int.of_int k

let rec tree d = match token () with
  | "F" ->
    let den = number () in
    let c = numbers d in
    let k = small () in
    let s = numbers k in
    let k = small () in
    Fine (den, c, s, numbers k)
  | "C" ->
    let den = number () in
    let c = numbers d in
    let k = small () in
    Coarse (den, c, many k (fun () -> let w = number () in let p = numbers d in (w, p)))
  | "B" ->
    let k = small () in
    let g = many k positive in
    let l = small () in
    let y = many l (fun () -> let m = number () in let v = numbers k in (m, v)) in
    Rebase (g, y, tree d)
  | "N" -> let k = nat (small ()) in let on = tree d in let off = tree d in Sign (k, on, off)
  | "S" -> let p = positive () in let m = number () in Star (p, m, forest d)
  | t -> fail "a node" t

and forest d = match token () with
  | "." -> Nil
  | "_" -> Skip (forest d)
  | "t" -> let t = number () in let ch = tree d in let f = forest d in Child (t, ch, f)
  | t -> fail "a child" t

(* bytes in hexadecimal; - for none *)
let bytes () =
  let t = token () in
  if t = "-" then ""
  else begin
    if String.length t mod 2 = 1 then fail "pairs of hexadecimal digits" "an odd number of them";
    String.init (String.length t / 2) (fun i -> Char.chr (int_of_string ("0x" ^ String.sub t (2 * i) 2)))
  end

(* Which rows are on at p. Any answer is sound; so rows and points are cut to short integers. *)
let choose rows =
  let short bits l =
    let m = List.fold_left (fun m x -> max m (Int.numbits x)) 0 l in
    let k = max 0 (m - bits) in
    Array.of_list (List.map (fun x -> Int.to_int (Int.shift_right x k)) l) in
  let rows = Array.of_list (List.map (short 29) rows) in
  fun p ->
    let p = short 28 p in
    let on = ref [] in
    for k = Array.length rows - 1 downto 0 do
      let row = Array.unsafe_get rows k in
      let width = if Array.length row < Array.length p then Array.length row else Array.length p in
      let v = ref 0 in
      for l = 0 to width - 1 do v := !v + (Array.unsafe_get row l * Array.unsafe_get p l) done;
      on := (!v > 0) :: !on
    done;
    !on

let print_all l = List.iter (fun x -> print_char ' '; print_string (Int.to_string x)) l

let read_problem () =
  let d = small () in
  let n = small () in
  let rden = number () in
  let rows = many n (fun () -> numbers d) in
  let yden = number () in
  let y = numbers n in
  let lnum = number () in
  let lden = number () in
  { p_dim = nat d; p_rows = rows; p_rden = rden; p_y = y; p_yden = yden; p_lnum = lnum; p_lden = lden }

let rec of_nat = function O -> 0 | S k -> 1 + of_nat k

let echo_problem p =
  Printf.printf "problem %d %d" (of_nat p.p_dim) (List.length p.p_rows);
  print_all [ p.p_rden ];
  List.iter print_all p.p_rows;
  print_all (p.p_yden :: p.p_y);
  print_all [ p.p_lnum; p.p_lden ];
  print_newline ()

let said ok = if ok then "accepted" else "rejected"

let read_upper d accepts =
  let m = small () in
  let wden = number () in
  let net = many m (fun () -> let w = numbers d in let v = number () in (w, v)) in
  let un = number () in
  let ud = number () in
  let u = { u_net = net; u_wden = wden; u_un = un; u_ud = ud } in
  Printf.printf "upper %s %s %s\n%!" (Int.to_string un) (Int.to_string ud) (said (accepts u));
  u

let read_tie d = match token () with
  | "face" ->
    let vector () = Array.of_list (numbers d) in
    let u = vector () in
    let den = number () in
    let v = vector () in
    let k = small () in
    Packed.Face { u; den; v; plane = many k vector }
  | "neuron" ->
    let den = number () in
    let c = numbers d in
    let k = small () in
    let concave = numbers k in
    let k = small () in
    Packed.Neuron { den; c; concave; convex = Array.of_list (numbers k) }
  | t -> fail "a tie" t

(* a table of vertices and a tree, written out or packed; the subtrees that it refers to *)
let read_side d prisms basis ties lam0 convex concave c0 first = match token () with
  | "vertices" ->
    let k = small () in
    let verts = many k (fun () -> numbers d) in
    ({ s_verts = verts; s_tree = tree d }, fun _ -> failwith "no such subtree")
  | "packed" ->
    let codes = bytes () in
    let multipliers = bytes () in
    let data = bytes () in
    let rows = bytes () in
    if Int.numbits lam0 > 44 then fail "at most 44 bits" (Int.to_string lam0);
    let padded = Array.init d (fun l -> match List.nth_opt c0 l with Some x -> x | None -> Int.zero) in
    let packed, top =
      Packed.prepare first d prisms basis ties (Int.to_int lam0) convex concave padded { Packed.codes; multipliers; data;
        rows } in
    ({ s_verts = Packed.vertices packed; s_tree = top }, fun k -> Packed.subtree packed (k - first))
  | t -> fail "a side" t

(* the signed unit vectors in terms of vectors and their negatives: m, and numbers >= 0 *)
let spanned d vectors =
  List.concat (List.init d (fun i ->
    let x = Packed.coordinates vectors (Array.init d (fun l -> if l = i then Int.one else Int.zero)) in
    let m = Array.fold_left (fun m q -> Int.lcm m (Q.den q)) Int.one x in
    let parts sign = List.concat_map (fun q ->
      let t = Int.mul sign (Int.divexact (Int.mul m (Q.num q)) (Q.den q)) in
      [ Int.max t Int.zero; Int.max (Int.neg t) Int.zero ]) (Array.to_list x) in
    [ (m, parts Int.one); (m, parts Int.minus_one) ]))

let read_cover ?prisms d n p =
  expect "lines";
  let r = small () in
  let reps = many r (fun () -> numbers d) in
  let nats = Array.init (r + 1) nat in
  let lines = many n (fun () ->
    let g = small () in
    if g > r then fail "a line" (string_of_int g);
    let m = number () in
    (nats.(g), m)) in
  expect "theta";
  let tden = number () in
  let theta = numbers n in
  expect "lower";
  let lown = number () in
  let lowd = number () in
  expect "coarse";
  let qnum = number () in
  let qden = number () in
  let lam0 = number () in
  expect "basis";
  let b = small () in
  let basis = many b (fun () -> numbers d) in
  let k = small () in
  let null = many k (fun () -> numbers d) in
  let last = List.init d (fun l -> if l = d - 1 then Int.one else Int.zero) in
  let whole = if prisms = None then basis else last :: basis in
  let span = spanned d (Array.of_list (List.map Array.of_list (whole @ null))) in
  expect "ties";
  let ties = Array.of_list (many (small ()) (fun () -> read_tie d)) in
  let cf, c0 = match merge reps p.p_rows theta lines with Some x -> x | None -> ([], []) in
  let convex = pos_part reps cf in
  let concave = pos_part reps (List.map Int.neg cf) in
  let vectors = Array.of_list (List.map Array.of_list basis) in
  let roots = if prisms = None then 1 lsl b else (1 lsl b) * b in
  let pos, sub_pos = read_side d prisms vectors ties lam0 convex concave c0 0 in
  let neg, sub_neg = read_side d prisms vectors ties lam0 concave convex (List.map Int.neg c0) roots in
  expect "end";
  let sub k = let k = Int.to_int k in if k < roots then sub_pos k else sub_neg k in
  { c_reps = reps; c_merge = lines; c_theta = theta; c_tden = tden; c_lown = lown; c_lowd = lowd;
    c_qnum = qnum; c_qden = qden; c_lam0 = lam0; c_basis = basis; c_null = null; c_span = span;
    c_pos = pos; c_neg = neg; c_sub = sub; c_on = choose }

let check_cover p c =
  let result = run p c in
  Printf.printf "lower %s %s %s\n" (Int.to_string c.c_lown) (Int.to_string c.c_lowd) (said (result <> None));
  result

(* The number of the listed direction with the least angle to c. A proposal, like all else here. *)
let nearest directions first last c =
  let float v = (* shortened first: long integers would be infinite *)
    let k = max 0 (List.fold_left (fun m x -> max m (Int.numbits x)) 0 v - 60) in
    List.map (fun x -> Int.to_float (Int.shift_right x k)) v in
  let product a b = List.fold_left2 (fun s x y -> s +. (x *. y)) 0. a b in
  let along v = let size = sqrt (product v v) in if size = 0. then v else List.map (fun x -> x /. size) v in
  let best = ref first and value = ref neg_infinity in
  for j = first to last - 1 do
    let v = product (along (float c)) (along (float directions.(j))) in
    if v > !value then begin best := j; value := v end
  done;
  !best

(* after all that: whether the optimal networks are one, up to permutation and splitting *)
let read_unique d n p network cover spread =
  let wn = number () in
  let wd = number () in
  let mp = small () in
  let m = small () in
  let directions = Array.of_list (many m (fun () -> numbers d)) in
  let beta = Array.of_list (many m (fun () -> numbers n)) in
  let least, ok = match (network, cover, spread) with
    | Some u, Some (c, Some (pos, neg)), Some (num, den) when m > 0 ->
      let margin = { m_upper = u; m_num = num; m_den = den } in
      let dull x = null p c margin x in
      let class_of lo hi x = (nat (nearest directions lo hi (snd (snd x))), snd x) in
      let of_sign lo hi spots =
        List.sort_uniq compare (List.filter_map (fun x -> if dull x then None else Some (class_of lo hi x)) spots) in
      let at = of_sign 0 mp pos @ of_sign mp m neg in
      let index x = let rec go i = function [] -> 0 | (_, a) :: l -> if a = snd x then i else go (i + 1) l in go 0 in
      let placed skip spots =
        let here = List.filteri (fun i _ -> i >= skip) at in
        List.map (fun x -> nat (if dull x then 0 else skip + index x here)) spots in
      let first = List.length (of_sign 0 mp pos) in
      let q = { q_mp = nat mp; q_m = nat m; q_dirs = Array.to_list directions; q_B = Array.to_list beta; q_at = at;
                q_pidx = placed 0 pos; q_nidx = placed first neg; q_sn = wn; q_sd = wd } in
      if written then Written.classes q;
      let ok = unique_ok p c margin q pos neg in
      ((if ok then of_nat (least_width p c margin q) else 0), ok)
    | _ -> (0, false) in
  Printf.printf "unique %d %d %s\n%!" least m (said ok)

(* after a network and a cover: whether all neurons of all optimal networks lie in the cones of the cover's fine
  leaves *)
let read_strict p network cover =
  let num = number () in
  let den = number () in
  match (network, cover) with
  | Some u, Some (c, Some (a, b)) ->
    let ok = strict_ok p c { m_upper = u; m_num = num; m_den = den } in
    Printf.printf "neurons %d %d %s\n%!" (List.length a) (List.length b) (said ok);
    if ok then Some (num, den) else None
  | _ -> print_string "neurons 0 0 rejected\n"; None

let weights () = many (small ()) (fun () -> let k = nat (small ()) in let w = number () in (k, w))

let read_leader () =
  let row = nat (small ()) in
  let a = number () in
  let g = number () in
  let e = number () in
  { l_row = row; l_a = a; l_g = g; l_e = e; l_near = weights () }

let read_leading d n =
  let count = small () in
  let centres = many count (fun () -> numbers d) in
  let cells = many (max 1 count) (fun () ->
    expect "cell";
    let p = numbers n in
    let q = many (n + count) (fun () -> let q = number () in let r = number () in (q, r)) in
    let more = numbers count in
    let sigma = number () in
    let nu = number () in
    let kappa = number () in
    let ls = many (small ()) read_leader in
    let tied = many (small ()) read_leader in
    let ties = many (small ()) (fun () -> let r = number () in (r, weights ())) in
    { k_p = p; k_q = q; k_more = more; k_leaders = ls; k_tied = tied; k_ties = ties; k_sigma = sigma;
      k_nu = nu; k_kappa = kappa }) in
  { k_centres = centres; k_cells = cells }

let read_leaders d n =
  expect "theta";
  let tden = number () in
  let theta = numbers n in
  expect "lower";
  let lown = number () in
  let lowd = number () in
  expect "scales";
  let g = number () in
  let r = number () in
  expect "centres";
  let pos = read_leading d n in
  expect "centres";
  let neg = read_leading d n in
  expect "end";
  { d_theta = theta; d_tden = tden; d_lown = lown; d_lowd = lowd; d_G = g; d_R = r; d_pos = pos; d_neg = neg;
    d_root = (fun x -> if Int.sign x < 0 then Int.zero else Int.sqrt x) }

let rec read_pieces n = match token () with
  | "P" -> Piece (numbers n)
  | "D" -> let k = nat (small ()) in let on = read_pieces n in let off = read_pieces n in Divide (k, on, off)
  | "O" -> let k = nat (small ()) in let side = small () = 1 in let a = numbers n in Only (k, side, a, read_pieces n)
  | t -> fail "a piece" t

let read_listed n =
  expect "theta";
  let tden = number () in
  let theta = numbers n in
  expect "lower";
  let lown = number () in
  let lowd = number () in
  expect "scale";
  let scale = number () in
  let pos = read_pieces n in
  let neg = read_pieces n in
  expect "end";
  { i_theta = theta; i_tden = tden; i_lown = lown; i_lowd = lowd; i_scale = scale; i_pos = pos; i_neg = neg }

let check_list p c =
  Printf.printf "lower %s %s %s\n%!" (Int.to_string c.i_lown) (Int.to_string c.i_lowd) (said (check_listed p.p_dim p c))

let check_led p c =
  if written then Written.leaders c;
  Printf.printf "lower %s %s %s\n%!" (Int.to_string c.d_lown) (Int.to_string c.d_lowd) (said (check_leaders p c))

(* bags, free columns, the loss, and the targets of the outputs *)
let read_terms n p =
  let loss = token () in
  if not (List.mem loss [ "squares"; "logistic"; "softmax" ]) then fail "a loss" loss;
  let seen = small () in
  expect "bags";
  let count = small () in
  let bags = if count = 0 then None else let den = number () in Some (many count (fun () -> numbers n), den) in
  expect "free";
  let columns = small () in
  let fden = number () in
  let outputs = small () in
  let free = if columns = 0 then [] else many outputs (fun () -> numbers columns) in
  let yden = number () in
  let y = numbers outputs in
  Printf.printf "terms %s %d bags %d" loss seen count;
  (match bags with None -> () | Some (rows, den) -> print_all [ den ]; List.iter print_all rows);
  Printf.printf " free %d %s %d" columns (Int.to_string fden) outputs;
  List.iter print_all free;
  print_all (yden :: y);
  print_newline ();
  ({ p with p_y = y; p_yden = yden },
   { t_bags = bags; t_free = free; t_fden = fden; t_seen = nat seen; t_logistic = loss <> "squares" }, loss, columns, outputs)

(* a tree over the directions of several outputs, below a cone; the child in which g_j is replaced comes first *)
let rec read_tree cone = match token () with
  | "L" ->
    let whole = number () in
    let shares = numbers (small ()) in
    let times = number () in
    let d = Array.length cone in
    if Int.sign times = 0 then Quadratic (whole, shares, times, [])
    else begin
      let m = Array.make_matrix d d Int.zero in
      for i = 0 to d - 1 do
        for j = i + 1 to d - 1 do
          let x = number () in
          m.(i).(j) <- x;
          m.(j).(i) <- x
        done
      done;
      Quadratic (whole, shares, times, List.map Array.to_list (Array.to_list m))
    end
  | "S" ->
    let i = small () in
    let j = small () in
    if i >= j || j >= Array.length cone then fail "an edge" (string_of_int j);
    let p = number () in
    let q = number () in
    let v = List.map2 (fun x y -> Int.add (Int.mul p x) (Int.mul q y)) cone.(i) cone.(j) in
    let h = List.fold_left Int.gcd Int.zero v in
    if Int.sign h = 0 then fail "another edge" "opposite generators";
    let m = List.map (fun x -> Int.divexact x h) v in
    let replaced k = let c = Array.copy cone in c.(k) <- m; c in
    let second = read_tree (replaced j) in
    let first = read_tree (replaced i) in
    Bisect (nat i, nat (j - i - 1), p, q, h, first, second)
  | t -> fail "a node" t

let signed_basis basis mask = List.mapi (fun i g -> if mask lsr i land 1 = 1 then g else List.map Int.neg g) basis

let read_exps () =
  expect "exps";
  let squarings = nat (small ()) in
  let unit = number () in
  let eden = number () in
  { e_K = squarings; e_B = unit; e_den = eden }

(* with several outputs: targets, lines, P'Theta, the tree, and both bounds *)
let read_outputs d n q t loss columns outputs =
  let count = small () in
  let targets = many count (fun () -> numbers outputs) in
  Printf.printf "outputs %d" count;
  List.iter print_all targets;
  print_newline ();
  expect "lines";
  let r = small () in
  let reps = many r (fun () -> numbers d) in
  let nats = Array.init (r + 1) nat in
  let lines = many n (fun () -> let g = small () in let m = number () in
    if g > r then fail "a line" (string_of_int g); (nats.(g), m)) in
  expect "weights";
  let tden = number () in
  let weights = many count (fun () -> numbers n) in
  let lens = numbers r in
  let level = number () in
  let pairs = nat (small ()) in
  expect "basis";
  let b = small () in
  let basis = many b (fun () -> numbers d) in
  let k = small () in
  let null = many k (fun () -> numbers d) in
  let span = spanned d (Array.of_list (List.map Array.of_list (basis @ null))) in
  if b > 20 then fail "at most 20 directions" (string_of_int b);
  let roots = Array.make (1 lsl b) None in
  for mask = 0 to (1 lsl b) - 1 do
    roots.(mask) <- Some (read_tree (Array.of_list (signed_basis basis mask)))
  done;
  let root path = (* the sign of the last vector is the first *)
    let mask = List.fold_left (fun m on -> (2 * m) + if on then 1 else 0) 0 path in
    match roots.(mask) with Some t -> t | None -> failwith "no such root" in
  let e = { w_T = weights; w_tden = tden; w_reps = reps; w_merge = lines; w_basis = basis; w_null = null;
            w_span = span; w_lens = lens; w_level = level; w_pairs = pairs; w_root = root } in
  let soft = loss = "softmax" in
  let x = if soft then read_exps () else { e_K = O; e_B = Int.zero; e_den = Int.zero } in
  let logs k = many (if soft then k else 0) (fun () -> numbers outputs) in
  expect "upper";
  let m = small () in
  let wden = number () in
  let net = many m (fun () -> let w = numbers d in let v = numbers count in (w, v)) in
  let bden = number () in
  let beta = many count (fun () -> numbers columns) in
  let above = logs 1 in
  let chances = logs count in
  let un = number () in
  let ud = number () in
  let u = { x_net = net; x_wden = wden; x_beta = beta; x_bden = bden; x_un = un; x_ud = ud } in
  Printf.printf "upper %s %s %s\n%!" (Int.to_string un) (Int.to_string ud) (said (
    match above with [ us ] -> check_soft_fit q t targets u x us chances | _ -> check_wide_fit q t targets u));
  expect "theta";
  let tden = number () in
  let theta = many count (fun () -> numbers outputs) in
  let below = logs count in
  expect "lower";
  let lown = number () in
  let lowd = number () in
  Printf.printf "lower %s %s %s\n%!" (Int.to_string lown) (Int.to_string lowd) (said (
    if soft then check_soft q t targets e theta tden x below lown lowd
    else check_wide q t targets e theta tden lown lowd))

(* one output: a network and its coefficients, theta and its value, on the ground of a point *)
let read_single d q t columns outputs point =
  let x = read_exps () in
  let logs () = if t.t_logistic then many outputs (fun () -> let a = number () in let b = number () in (a, b)) else [] in
  expect "upper";
  let m = small () in
  let wden = number () in
  let net = many m (fun () -> let w = numbers d in let v = number () in (w, v)) in
  let bden = number () in
  let beta = numbers columns in
  let above = logs () in
  let un = number () in
  let ud = number () in
  let u = { f_net = net; f_wden = wden; f_beta = beta; f_bden = bden; f_un = un; f_ud = ud } in
  Printf.printf "upper %s %s %s\n%!" (Int.to_string un) (Int.to_string ud) (said (check_fit q t u x above));
  expect "theta";
  let tden = number () in
  let theta = numbers outputs in
  let below = logs () in
  expect "lower";
  let lown = number () in
  let lowd = number () in
  Printf.printf "lower %s %s %s\n%!" (Int.to_string lown) (Int.to_string lowd)
    (said (check_terms q t point theta tden x below lown lowd))

(* with terms: the proof that P'theta is feasible, and what rests on it *)
let read_bounds d n p =
  let q, t, loss, columns, outputs = read_terms n p in
  let ground = token () in
  if (loss = "softmax") <> (ground = "outputs" && t.t_logistic) then fail "squares, or softmax beside several outputs" loss;
  match ground with
  | "cover" -> read_single d q t columns outputs (ByCover (read_cover d n p))
  | "prisms" ->
    let height = number () in
    let longest = number () in
    read_single d q t columns outputs (ByPrisms (read_cover ~prisms:height d n p, height, longest))
  | "leaders" -> read_single d q t columns outputs (ByLeaders (read_leaders d n))
  | "listed" -> read_single d q t columns outputs (ByListed (read_listed n))
  | "outputs" -> read_outputs d n q t loss columns outputs
  | w -> fail "a cover, leaders, a list or outputs" w

let () =
  try
    expect "problem";
    let p = read_problem () in
    let d = of_nat p.p_dim in
    let n = List.length p.p_rows in
    echo_problem p;
    let rec sections network cover spread = match token () with
      | "" -> ()
      | "upper" -> let u = read_upper d (check_upper p) in sections (Some u) cover None
      | "cover" ->
        let c = read_cover d n p in
        if written then Written.cover c;
        sections network (Some (c, check_cover p c)) None
      | "strict" -> let spread = read_strict p network cover in sections network cover spread
      | "unique" -> read_unique d n p network cover spread; sections network cover spread
      | "terms" -> read_bounds d n p; sections network cover spread
      | "leaders" -> check_led p (read_leaders d n); sections network cover spread
      | "listed" -> check_list p (read_listed n); sections network cover spread
      | t -> fail "a section" t in
    sections None None None
  with
  | Failure message | Invalid_argument message | Sys_error message -> Printf.printf "malformed %s\n" message; exit 1
  | Stack_overflow | Out_of_memory | Not_found | Division_by_zero | Int.Overflow -> print_endline "malformed text";
    exit 1
