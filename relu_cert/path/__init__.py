"""The path of the optimal network in lambda, proved on whole intervals."""
