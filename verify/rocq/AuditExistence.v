(** * The axioms of what rests on limits: existence, logarithms, and uniqueness in the words of the paper (`make audit` reads
  this) *)
From Relu Require Import Existence Words Width Terms Softmax.
Print Assumptions optimal_exists.
Print Assumptions best_of_width.
Print Assumptions p_unique.
Print Assumptions narrowest.
Print Assumptions logistic_bounds.
Print Assumptions soft_bounds.
