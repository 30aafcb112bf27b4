"""Commands under "Learn from it" in `tenor --help`."""
