"""Commands under "Start here" in `tenor --help`."""
