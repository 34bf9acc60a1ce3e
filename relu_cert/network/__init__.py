"""Networks that somebody trained: reading and writing them, and exact statements about them."""
