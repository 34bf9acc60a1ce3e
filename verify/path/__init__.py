"""Pieces of the regularisation path."""
