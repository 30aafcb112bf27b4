"""The assistant put together: its flows, its actions and what understands; as a stage, for a chat, for its tests."""
