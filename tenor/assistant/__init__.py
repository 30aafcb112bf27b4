"""What several stages share of a conversation of the assistant: who has it, and who may speak in it."""
