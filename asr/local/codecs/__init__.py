"""Bytes to samples (decoder.py, which knows by the first bytes what comes) and samples to bytes (encoders.py)."""
