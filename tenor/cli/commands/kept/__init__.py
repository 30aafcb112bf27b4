"""Commands under "What is kept" in `tenor --help`."""
