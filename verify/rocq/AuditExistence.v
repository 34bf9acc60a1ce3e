(** * The axioms of the existence of an optimal network (`make audit` reads this) *)
From Relu Require Import Existence.
Print Assumptions optimal_exists.
Print Assumptions best_of_width.
