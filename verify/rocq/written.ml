(* Evidence as a term of the proof assistant: a cover with its subtrees in their places, classes, leaders. *)
module Int = Z
open Checker

let number x = if Int.sign x < 0 then "(" ^ Int.to_string x ^ ")" else Int.to_string x
let list f l = "[" ^ String.concat "; " (List.map f l) ^ "]"
let numbers = list number
let vectors = list numbers
let pair f g (a, b) = "(" ^ f a ^ ", " ^ g b ^ ")"
let positive x = Int.to_string x ^ "%positive"
let rec of_nat = function O -> 0 | S k -> 1 + of_nat k
let nat k = string_of_int (of_nat k) ^ "%nat"

let rec tree sub out = function
  | Fine (d, c, s, h) -> Printf.fprintf out "(Fine %s %s %s %s)" (number d) (numbers c) (numbers s) (numbers h)
  | Coarse (d, c, atoms) -> Printf.fprintf out "(Coarse %s %s %s)" (number d) (numbers c) (list (pair number numbers)
    atoms)
  | Rebase (g, y, ch) ->
    Printf.fprintf out "(Rebase %s %s %a)" (list positive g) (list (pair number numbers) y) (tree sub) ch
  | Sign (k, on, off) -> Printf.fprintf out "(Sign %s %a %a)" (nat k) (tree sub) on (tree sub) off
  | Star (p, m, f) -> Printf.fprintf out "(Star %s %s %a)" (positive p) (number m) (forest sub) f
  | Ref k -> tree sub out (sub k)

and forest sub out = function
  | Nil -> output_string out "Nil"
  | Skip f -> Printf.fprintf out "(Skip %a)" (forest sub) f
  | Child (t, ch, f) -> Printf.fprintf out "(Child %s %a\n %a)" (number t) (tree sub) ch (forest sub) f

let side sub out s = Printf.fprintf out "(Side %s\n %a)" (vectors s.s_verts) (tree sub) s.s_tree

let classes q =
  Printf.printf "classes\n(Classes %s %s\n %s\n %s\n %s\n %s %s %s %s)\n" (nat q.q_mp) (nat q.q_m) (vectors q.q_dirs)
    (vectors q.q_B) (list (pair nat (pair number numbers)) q.q_at) (list nat q.q_pidx) (list nat q.q_nidx)
    (number q.q_sn) (number q.q_sd)

let cover c =
  Printf.printf "cover\n(Cover %s\n %s\n %s %s %s %s %s %s %s\n %s %s %s\n %a\n %a (fun _ => Ref 0) on_short)\n"
    (vectors c.c_reps) (list (pair nat number) c.c_merge) (numbers c.c_theta) (number c.c_tden) (number c.c_lown)
    (number c.c_lowd) (number c.c_qnum) (number c.c_qden) (number c.c_lam0) (vectors c.c_basis) (vectors c.c_null)
    (list (pair number numbers) c.c_span) (side c.c_sub) c.c_pos (side c.c_sub) c.c_neg

let leader l =
  Printf.sprintf "Leader %s %s %s %s %s" (nat l.l_row) (number l.l_a) (number l.l_g) (number l.l_e)
    (list (pair nat number) l.l_near)
let cell k =
  Printf.sprintf "Cell %s %s %s\n %s\n %s %s %s %s %s" (numbers k.k_p) (list (pair number number) k.k_q) (numbers k.k_more)
    (list leader k.k_leaders) (list leader k.k_tied) (list (pair number (list (pair nat number))) k.k_ties)
    (number k.k_sigma) (number k.k_nu) (number k.k_kappa)
let leading s = Printf.sprintf "(Leading %s\n %s)" (vectors s.k_centres) (list cell s.k_cells)

let leaders c =
  Printf.printf "leaders\n(Leaders %s %s %s %s %s %s\n %s\n %s Z.sqrt)\n" (numbers c.d_theta) (number c.d_tden)
    (number c.d_lown) (number c.d_lowd) (number c.d_G) (number c.d_R) (leading c.d_pos) (leading c.d_neg)
