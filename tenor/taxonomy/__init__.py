"""Which intents and sentiments there are, and from where on a mood is more than neutral."""
