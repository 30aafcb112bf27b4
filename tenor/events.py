"""Everything that travels on the bus. docs/events.md is the wire specification made from this file.

An event is a frozen struct with a tag (`type`) and a version (`v`). It is keyed by its call, so one
call stays in order on one partition. Times of the call are whole milliseconds from its beginning;
times of the day are seconds since the Unix epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

State = Literal["ringing", "live", "ended", "analysed", "failed"]
Redact = Literal["off", "text", "audio"]
"""`audio` means text and audio."""


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    call: str
    """Id of the call; the key on the bus."""
    v: int = 1
    """Version of this event's shape. A reader accepts what it knows and ignores fields it doesn't."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a call when it begins. Travels in CallStarted and CallState."""

    source: str
    """Where the audio comes from: `file`, `microphone`, `twilio`, `genesys`, `audiosocket`, `jambonz`."""
    roles: tuple[str, ...]
    """Who speaks on each channel, by channel number: `("caller", "agent")`."""
    started_at: float
    rate: int = 0
    """Samples a second of the audio as it came; 0 when not known yet."""
    site: str = ""
    queue: str = ""
    agent: str = ""
    customer: str = ""
    language: str = "en-US"
    record: bool = True
    """Whether a recording may be kept."""
    redact: Redact = "off"
    attributes: dict[str, str] = {}
    """Whatever else the platform told: file name, codec, custom parameters."""


class CallStarted(Event, tag="call_started", frozen=True, kw_only=True):
    """First event of a call. Comes again, unchanged, when a source reconnects."""

    info: Call


class AudioChunk(Event, tag="audio_chunk", frozen=True, kw_only=True):
    """About 100 ms of one channel, 16-bit little-endian PCM at the rate it was received in."""

    channel: int
    seq: int
    """Counts up from 0 on each channel; a chunk heard twice has the same number."""
    start_ms: int
    rate: int
    pcm: bytes
    captured_at: float
    """When the last sample was spoken, as far as we know: the zero of every latency."""


class CallEnded(Event, tag="call_ended", frozen=True, kw_only=True):
    """Last event of a call."""

    reason: str
    """`hangup`, `end of file`, `connection lost`, `stopped`, ..."""
    at: float
    failed: bool = False
    """True when the source broke: what was heard is kept, and the call ends as failed with this reason."""


class Word(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    start_ms: int
    end_ms: int
    confidence: float = 0.0
    speaker: int = 0
    """1..N when the recogniser tells speakers of one channel apart, else 0."""


class Transcript(Event, tag="transcript", frozen=True, kw_only=True):
    """What was said in one utterance. An interim replaces the one before it; a final is the last word."""

    channel: int
    role: str
    utterance: str
    """Id made from content: `call/channel/start_ms`. Interims of an utterance share an id of their own,
    `call/channel/~N`, since the start is only certain in the final."""
    start_ms: int
    end_ms: int
    text: str
    final: bool
    words: tuple[Word, ...] = ()
    stability: float = 0.0
    confidence: float = 0.0
    model: str = ""
    heard_ms: int = 0
    """For a final: everything on this channel before this has been written down; hearing resumes here."""
    times: dict[str, float] = {}
    """When it passed each stage: `captured` (end of its audio), `ended` (end of speech found),
    `recognised`, `published`."""


class Heard(Event, tag="heard", frozen=True, kw_only=True):
    """Nothing was said on this channel up to `heard_ms` since its last final: silence, confirmed."""

    channel: int
    heard_ms: int


class Sentence(Event, tag="sentence", frozen=True, kw_only=True):
    """One sentence, understood. A higher revision replaces a lower one under the same id."""

    channel: int
    role: str
    sentence: str
    revision: int
    start_ms: int
    end_ms: int
    text: str
    sentiment: str
    sentiment_scores: dict[str, float]
    intent: str
    intent_score: float
    slots: dict[str, str] = {}
    models: dict[str, str] = {}
    """Which model version said what: `{"sentiment": ..., "intent": ...}`."""
    times: dict[str, float] = {}


class CallState(Event, tag="call_state", frozen=True, kw_only=True):
    """A call changed state. `reason` is for people, above all when it failed."""

    state: State
    at: float
    reason: str = ""
    info: Call | None = None


class CallMetrics(Event, tag="call_metrics", frozen=True, kw_only=True):
    """Conversation figures so far: talk share, silence, overlap, words a minute, ..."""

    at_ms: int
    values: dict[str, float]


class Alert(Event, tag="alert", frozen=True, kw_only=True):
    """A rule fired."""

    alert: str
    rule: str
    severity: Literal["info", "warning", "critical"]
    text: str
    at_ms: int
    sentence: str = ""


class Turn(Event, tag="turn", frozen=True, kw_only=True):
    """One exchange with the assistant."""

    turn: int
    input: str
    states: tuple[str, ...]
    slots: dict[str, str]
    action: str
    reply: str
    times: dict[str, float] = {}


class Note(Event, tag="note", frozen=True, kw_only=True):
    """A manager to an agent, pinned to a sentence if one is named."""

    note: str
    author: str
    text: str
    at: float
    sentence: str = ""


class NoteAcknowledged(Event, tag="note_acknowledged", frozen=True, kw_only=True):
    note: str
    by: str
    at: float


class DeadLetter(Event, tag="dead_letter", frozen=True, kw_only=True):
    """What could not be read or handled, why, and where it came from."""

    stage: str
    reason: str
    topic: str
    partition: int
    offset: int
    value: bytes
    at: float


class Unreadable(ValueError):
    """Bytes on a topic that are no event of it."""


class Topic:
    """A named stream of events of certain kinds, with its encoding and how long it is kept."""

    def __init__(self, name: str, kinds: Any, retention_s: int, *, codec: Literal["json", "msgpack"] = "json"):
        self.name = name
        self.retention_s = retention_s
        if codec == "json":
            self._encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
            self._decode: Callable[[bytes], Any] = msgspec.json.Decoder(kinds).decode
        else:
            self._encode = msgspec.msgpack.Encoder().encode
            self._decode = msgspec.msgpack.Decoder(kinds).decode

    def __repr__(self) -> str:
        return f"Topic({self.name})"

    def encode(self, event: Event) -> bytes:
        return self._encode(event)

    def decode(self, value: bytes) -> Any:
        """The event in `value`; raises Unreadable with the reason when there is none."""
        try:
            return self._decode(value)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise Unreadable(str(error)) from None


HOUR, DAY = 3600, 86400

AUDIO = Topic("tenor.audio", CallStarted | AudioChunk | CallEnded, 4 * HOUR, codec="msgpack")
"""Raw audio, so kept briefly: long enough to outlast a night's outage of the recogniser, no longer."""
TRANSCRIPTS = Topic("tenor.transcripts", Transcript | Heard, DAY)
SENTENCES = Topic("tenor.sentences", Sentence, 7 * DAY)
CALLS = Topic("tenor.calls", CallState | CallMetrics | Alert, 7 * DAY)
TURNS = Topic("tenor.turns", Turn, 7 * DAY)
NOTES = Topic("tenor.notes", Note | NoteAcknowledged, 7 * DAY)
DEAD = Topic("tenor.dead", DeadLetter, 7 * DAY)

TOPICS = (AUDIO, TRANSCRIPTS, SENTENCES, CALLS, TURNS, NOTES, DEAD)
