"""The path of the optimal network in lambda, proved on whole intervals."""

from relu_cert.callable import make_callable

make_callable(__name__)
