"""Genesys AudioHook.

`messages` are the protocol's, `session` turns them into audio, `captions` sends transcripts back, `signature` checks
who opens a session.
"""
