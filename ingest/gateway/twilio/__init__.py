"""Twilio Media Streams, and Telnyx and Talkdesk, which speak the same.

`session` turns its messages into audio, `reorder` puts their frames in order, `signature` checks who sends them.
"""
