"""What comes in: recordings, written conversations and telephone calls, made into calls on the bus.

    files, URLs, a microphone  --> audio/    -- chunks of audio --+
    telephony platforms        --> gateway/  -- chunks of audio --+--> bus
    chat logs, e-mails         --> text/     -- transcripts ------+

`sources` finds what a person named, `options` says what is known of the call, `results` what became of it.
"""

from ingest.options import IngestOptions
from ingest.results import PublishedCall, SourceResult
from ingest.sources import Source, conversations, expand

__all__ = ["IngestOptions", "PublishedCall", "Source", "SourceResult", "conversations", "expand"]
