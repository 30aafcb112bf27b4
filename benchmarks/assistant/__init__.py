"""The assistant, in text and on the telephone."""
