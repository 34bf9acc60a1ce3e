"""The dual constraint of networks with several outputs, proved by a tree of cones and quadratic forms."""
