"""Pictures of an assistant."""
