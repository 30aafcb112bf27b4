"""Language models of every make, as they run: the encoder, what reads it, and the golden answers that prove a copy."""
