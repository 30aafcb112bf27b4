"""The language of searches, for what is kept and for rules: words, and several sentences of one call."""
