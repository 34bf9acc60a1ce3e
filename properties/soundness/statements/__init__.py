"""One statement a file, each a Claim like those of the paper, run by `python -m properties soundness`."""
