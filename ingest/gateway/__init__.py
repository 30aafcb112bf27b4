"""The telephony gateway: phone platforms stream calls in, chunks of audio go out on the bus.

    socket -> session (one a platform) -> leg -> call -> track (one a channel) -> outbox -> bus

A session speaks one platform's protocol and answers at once. A leg is one socket's part in a call, a
track is one channel on the call's clock. The outbox is the only place that waits for the bus.
"""

from ingest.gateway.gateway import Gateway

__all__ = ["Gateway"]
