"""Sentiment, intent, slots, tasks and redaction: how good, and how fast."""
