"""Networks with several outputs: training, the tree with quadratic leaves, the exact certificate."""
