(** * What is proved, and on which axioms (`make audit` reads this)

    The bounds and the statements about optimal networks rest on two axioms of the standard library's reals; existence
    rests on two more, which compactness needs. *)
From Relu Require Import Spec Checker Soundness Upper Prisms Terms Outputs Strict Unique Leaders Listed.
Print Assumptions bounds_sound.
Print Assumptions prisms_sound.
Print Assumptions squares_bounds.
Print Assumptions wide_bounds.
Print Assumptions leaders_sound.
Print Assumptions listed_sound.
Print Assumptions neurons_in_cones.
Print Assumptions near_optimal.
Print Assumptions unique_sound.
Print Assumptions function_unique.
