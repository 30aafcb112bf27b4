"""The learning loop: archive, datasets, the gate, a model promoted while calls go on."""
