(* Reads a text, calls the extracted checkers, prints what they were called with and what they said.
   Nothing here is trusted but this: the problem and the bounds that are printed are those the checkers saw.
   The grammar is in README.md of this folder. *)
module Int = Z (* zarith's; the extracted file has a module of that name, too *)
open Checker

let input = if Array.length Sys.argv > 1 && Sys.argv.(1) <> "-" then open_in_bin Sys.argv.(1) else stdin
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

let leaves = ref 0

let rec tree d = match token () with
  | "F" -> incr leaves; let den = number () in let c = numbers d in let k = small () in Fine (den, c, numbers k)
  | "C" ->
    incr leaves;
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
  | "R" -> Ref Int.zero
  | t -> fail "a node" t

and forest d = match token () with
  | "." -> Nil
  | "_" -> Skip (forest d)
  | "t" -> let t = number () in let ch = tree d in let f = forest d in Child (t, ch, f)
  | t -> fail "a child" t

(* Which rows are on at p. Any answer is sound; so rows and points are cut to short integers. *)
let choose rows =
  let short bits l =
    let m = List.fold_left (fun m x -> max m (Int.numbits x)) 0 l in
    let s = max 0 (m - bits) in
    Array.of_list (List.map (fun x -> Int.to_int (Int.shift_right x s)) l) in
  let rows = Array.of_list (List.map (short 30) rows) in
  fun p ->
    let p = short 28 p in
    let on = ref [] in
    for k = Array.length rows - 1 downto 0 do
      let row = Array.unsafe_get rows k in
      let v = ref 0 in
      for l = 0 to min (Array.length row) (Array.length p) - 1 do
        v := !v + Array.unsafe_get row l * Array.unsafe_get p l
      done;
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

let read_upper d p =
  let m = small () in
  let wden = number () in
  let net = many m (fun () -> let w = numbers d in let v = number () in (w, v)) in
  let un = number () in
  let ud = number () in
  let ok = check_upper p { u_net = net; u_wden = wden; u_un = un; u_ud = ud } in
  Printf.printf "upper %s %s %s\n%!" (Int.to_string un) (Int.to_string ud) (said ok)

let read_side d =
  expect "vertices";
  let k = small () in
  let verts = many k (fun () -> numbers d) in
  { s_verts = verts; s_tree = tree d }

let read_cover d n p =
  expect "lines";
  let r = small () in
  let reps = many r (fun () -> numbers d) in
  let nats = Array.init (r + 1) nat in
  let merge = many n (fun () ->
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
  let pos = read_side d in
  let neg = read_side d in
  let c = { c_reps = reps; c_merge = merge; c_theta = theta; c_tden = tden; c_lown = lown; c_lowd = lowd;
            c_qnum = qnum; c_qden = qden; c_lam0 = lam0; c_pos = pos; c_neg = neg;
            c_sub = (fun _ -> tree d); c_on = choose } in
  let result = run p c in
  let ok = result <> None in
  if ok then expect "end";
  Printf.printf "lower %s %s %s\n" (Int.to_string lown) (Int.to_string lowd) (said ok);
  (match result with
   | Some (a, b) -> Printf.printf "cones %d %d of %d leaves\n%!" (List.length a) (List.length b) !leaves
   | None -> ())

let () =
  try
    expect "problem";
    let p = read_problem () in
    let d = of_nat p.p_dim in
    let n = List.length p.p_rows in
    echo_problem p;
    let rec sections () = match token () with
      | "" -> ()
      | "upper" -> read_upper d p; sections ()
      | "cover" -> read_cover d n p; sections ()
      | t -> fail "a section" t in
    sections ()
  with Failure message | Invalid_argument message ->
    Printf.printf "malformed %s\n" message;
    exit 1
