"""The registry of models: versions, what the gate said of them, and what is in force. tenor/model_store reads it."""
