"""Dates: the parser, its grammar, and the arithmetic of days."""
