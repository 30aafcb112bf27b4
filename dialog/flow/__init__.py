"""The language of flows: YAML files read into a checked model, and drawn."""
