"""One module per kind of answer: what the encoder's outputs mean as intents, sentiments, slots, aspects."""
