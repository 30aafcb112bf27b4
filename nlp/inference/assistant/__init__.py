"""The assistant's own model: the intent of a shopper's line and the slot of each word."""
