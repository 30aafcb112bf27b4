"""One folder per heading of `tenor --help`, and one file per command, named after it."""
