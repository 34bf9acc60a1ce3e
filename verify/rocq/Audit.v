(** * What is proved, and on which axioms: `make audit` compares them with the two of the standard library's reals *)
From Relu Require Import Spec Checker Soundness Upper Strict Unique Leaders Existence.
Check check_sound.
Check bounds_sound.
Check leaders_sound.
Check neurons_in_cones.
Check near_optimal.
Check unique_sound.
Check function_unique.
Check optimal_exists.
Check best_of_width.
Print Assumptions bounds_sound.
Print Assumptions leaders_sound.
Print Assumptions neurons_in_cones.
Print Assumptions near_optimal.
Print Assumptions unique_sound.
Print Assumptions function_unique.
Print Assumptions optimal_exists.
Print Assumptions best_of_width.
