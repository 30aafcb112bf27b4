"""From an engine's words to the text that was asked for: punctuation, numbers, boosted phrases."""
