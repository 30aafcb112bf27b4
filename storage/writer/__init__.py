"""The stage that keeps what was understood: events from the bus into the tables, each once."""
