"""Data of the parsers, and the script that makes it."""
