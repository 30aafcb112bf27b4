"""The stage that keeps recordings: audio from the bus, one file for each call."""
