"""One module per claim of the paper, named after its label; each holds LABEL, STATEMENT and CLAIM."""
