"""How a conversation goes: who speaks when (turns), its metrics, and the task that the whole call is about."""
