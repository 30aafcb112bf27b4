"""Playback: what the assistant answers, spoken to the caller.

    turns -> clips (one a sentence) -> Riva's synthesis -> pacer -> the platform's socket
                                                              `-> channel 1 of the call, as far as it was heard

The caller's sound and words stop it; what was heard goes on the bus as transcripts and as TurnSpoken.
"""

from ingest.gateway.playback.playback import AudioSink, Playback
from ingest.gateway.playback.service import PlaybackService

__all__ = ["AudioSink", "Playback", "PlaybackService"]
