"""What the assistant can do: actions behind one protocol, and the providers that carry them out."""
