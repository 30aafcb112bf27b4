"""Commands under "Run the services" in `tenor --help`; `tenor assistant` has a folder of its own."""
