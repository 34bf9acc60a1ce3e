"""From a problem and lambda to facts: train, ask a prover, refine, prove."""
