"""A made-up shop and made-up weather, so that an assistant can be tried without accounts and without a network."""
