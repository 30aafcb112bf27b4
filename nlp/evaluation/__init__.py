"""How good the models are: frozen sentences to measure with, and the measures."""
