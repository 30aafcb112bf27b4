"""One module for each form a conversation is exported in; each reads a file into messages."""
