"""Riva's realtime protocol, JSON events on a WebSocket; transcription.py and synthesis.py are its two sessions."""
