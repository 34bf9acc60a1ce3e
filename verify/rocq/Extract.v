(** * The checkers as OCaml functions over zarith's integers

    Trusted here: that zarith's operations are those of Z, as the standard library maps them, and the four lines below
    (comparisons, and division that rounds down, with x/0 = 0 as in Z). *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From Relu Require Import Checker Upper Strict Unique Width Leaders Listed Terms Outputs Softmax.
Extract Inlined Constant Z.leb => "Big_int_Z.le_big_int".
Extract Inlined Constant Z.ltb => "Big_int_Z.lt_big_int".
Extract Inlined Constant Z.eqb => "Big_int_Z.eq_big_int".
Extract Constant Z.div => "fun a b -> match Big_int_Z.sign_big_int b with
  | 0 -> Big_int_Z.zero_big_int
  | 1 -> Big_int_Z.div_big_int a b
  | _ -> Big_int_Z.div_big_int (Big_int_Z.minus_big_int a) (Big_int_Z.minus_big_int b)".
Extraction "checker.ml" run check_upper strict_ok null unique_ok least_width check_leaders check_listed
  check_terms check_fit check_wide check_wide_fit check_soft check_soft_fit.
