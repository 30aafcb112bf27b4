"""Measurements, as ratios in one run: machines are noisy, so nothing here is a timed test."""
