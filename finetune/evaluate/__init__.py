"""How good a model is: scores, calibration, and the scores on every set there is."""
