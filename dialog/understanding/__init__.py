"""What a line wants: intents and slots. `types` has the contract; the command line injects what keeps it."""
