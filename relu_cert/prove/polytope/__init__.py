"""The polytope of optimal weights: all minimal networks, their graph, and the shortest point between them."""
