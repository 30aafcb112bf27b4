"""Commands under "Work with recordings" in `tenor --help`."""
