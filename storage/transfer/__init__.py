"""Calls written for others and brought in from elsewhere: JSON, vCon, tables, text, subtitles."""
