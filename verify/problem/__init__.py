"""The problem and the data that a certificate speaks of."""
