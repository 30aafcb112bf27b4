"""Conversation tests for authors of flows: what a shopper does, and what is expected, in YAML, on virtual time."""
