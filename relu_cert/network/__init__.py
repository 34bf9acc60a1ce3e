"""Networks that somebody trained: reading and writing them, and exact statements about them."""

from relu_cert.network.biases import fold
from relu_cert.network.formats import from_scnn, from_sklearn, read_network, rounded, write_network
from relu_cert.network.model import Origin, TrainedNetwork
from relu_cert.network.objective import (
    ConvexNeuron,
    Interval,
    convex_form,
    convex_objective,
    network_of,
    objective,
)
from relu_cert.network.penalty import Conversion, Penalty, convert, penalty

__all__ = [
    "Conversion",
    "ConvexNeuron",
    "Interval",
    "Origin",
    "Penalty",
    "TrainedNetwork",
    "convert",
    "convex_form",
    "convex_objective",
    "fold",
    "from_scnn",
    "from_sklearn",
    "network_of",
    "objective",
    "penalty",
    "read_network",
    "rounded",
    "write_network",
]
