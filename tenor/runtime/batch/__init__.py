"""Many recordings and texts through a temporary pipeline, to results in their order."""
