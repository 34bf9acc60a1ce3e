"""relu_cert: train a two-layer ReLU network to its global optimum, and prove what was found."""

__version__ = "0.1.0"
