"""Browsers: the page for shoppers, whose microphone and loudspeaker belong to a conversation that is also written.

`session` is its socket. What admits it is a ticket of the dashboard's (`tenor/assistant/voice_ticket.py`).
"""
