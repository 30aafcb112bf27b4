"""What the registry wrote, read by those who load models: cards, folders with their hashes and golden answers, and the
log of promotions, which says the model of every call.

    models/promotions.jsonl     one line per promotion, append-only; the truth about what is in force
    models/NAME-N/              model.json, the model's files, golden.jsonl

The writer is storage/registry. Nothing here unpickles anything.
"""

from tenor.model_store.card import CARD, ModelCard, no_model, read_card

__all__ = ["CARD", "ModelCard", "no_model", "read_card"]
