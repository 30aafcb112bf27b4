"""Real providers: the APIs whose clients ship, and databases and APIs that a YAML file declares."""
