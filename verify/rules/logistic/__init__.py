"""The rules that are others with the logistic loss."""
