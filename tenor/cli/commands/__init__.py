"""One file per command, named after it."""
