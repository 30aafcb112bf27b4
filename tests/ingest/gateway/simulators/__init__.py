"""Clients that behave as the telephone platforms do, on good days and bad ones."""
