"""Fine-tuning of CTC models with NeMo: its data, its networks and its files, in the training loop of the others."""
