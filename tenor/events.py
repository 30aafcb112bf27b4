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
Medium = Literal["voice", "chat", "email"]


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    call: str
    """Id of the call; the key on the bus."""
    v: int = 1
    """Version of this event's shape. A reader accepts what it knows and ignores fields it doesn't."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a call when it begins. Travels in CallStarted and CallState."""

    source: str
    """Where it comes from: `file`, `microphone`, `twilio`, `genesys`, `audiosocket`, `jambonz`."""
    roles: tuple[str, ...]
    """Who speaks on each channel, by channel number: `("caller", "agent")`."""
    started_at: float
    """When the first sample was spoken."""
    medium: Medium = "voice"
    """Spoken, or written: a chat or an e-mail exchange is a call too."""
    rate: int = 0
    """Samples a second of the audio as it came; 0 when not known yet."""
    site: str = ""
    """Which of the company's places the call belongs to."""
    queue: str = ""
    """The call-centre queue it came through."""
    agent: str = ""
    """Account name of the agent on the call."""
    customer: str = ""
    """Who calls: a customer id or telephone number, as the platform tells."""
    language: str = "en-US"
    """BCP 47 tag of the language spoken."""
    record: bool = True
    """Whether a recording may be kept."""
    redact: Redact | None = None
    """What to take out before anything is published; None leaves it to the setting `speech.redact`."""
    attributes: dict[str, str] = {}
    """Whatever else the platform told: file name, codec, custom parameters."""


class CallStarted(Event, tag="call_started", frozen=True, kw_only=True):
    """First event of a call. Comes again, unchanged, when a source reconnects."""

    info: Call
    """All that is known so far."""


class AudioChunk(Event, tag="audio_chunk", frozen=True, kw_only=True):
    """About 100 ms of one channel, 16-bit little-endian PCM at the rate it was received in."""

    channel: int
    """Index into `Call.roles`."""
    seq: int
    """Counts up from 0 on each channel; a chunk heard twice has the same number."""
    start_ms: int
    """Position of the first sample."""
    rate: int
    """Samples a second."""
    pcm: bytes
    """The samples."""
    captured_at: float
    """When the last sample was spoken, as far as we know: the zero of every latency."""


class CallEnded(Event, tag="call_ended", frozen=True, kw_only=True):
    """Last event of a call."""

    reason: str
    """`hangup`, `end of file`, `connection lost`, `stopped`, ..."""
    at: float
    """When the source ended it."""
    failed: bool = False
    """True when the source broke: what was heard is kept, and the call ends as failed with this reason."""


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One word of a final transcript."""

    text: str
    """Spelled exactly as in the transcript."""
    start_ms: int
    """Position of its first sound."""
    end_ms: int
    """Position of its last sound."""
    confidence: float = 0.0
    """0..1; 0 when the recogniser does not tell."""
    speaker: int = 0
    """1..N when the recogniser tells speakers of one channel apart, else 0."""


class Redaction(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a final whose words were taken out."""

    kind: str
    """What it was: `card`, `person`, ..."""
    start_ms: int
    """Position of its first sound: from here"""
    end_ms: int
    """to here a recording is silenced, when audio is redacted too."""


class Transcript(Event, tag="transcript", frozen=True, kw_only=True):
    """What was said in one utterance. An interim replaces the one before it; a final is the last word."""

    channel: int
    """Index into `Call.roles`."""
    role: str
    """Who speaks on that channel."""
    utterance: str
    """Id made from content: `call/channel/start_ms`. Interims of an utterance share an id of their own,
    `call/channel/~N`, since the start is only certain in the final."""
    start_ms: int
    """Position of the first word."""
    end_ms: int
    """Position of the end of the last word."""
    text: str
    """What was said; after redaction, if any."""
    final: bool
    """True: certain and not going to change."""
    words: tuple[Word, ...] = ()
    """The words of a final, in order, with their times."""
    stability: float = 0.0
    """Of an interim: how unlikely its text is to change, 0..1."""
    confidence: float = 0.0
    """Of a final, 0..1."""
    model: str = ""
    """Name of the model that heard it, as the server tells."""
    redacted: tuple[Redaction, ...] = ()
    """Of a final: what was taken out, without the words."""
    loudness: float | None = None
    """Of a final: how loud its words were, in dB below full scale; None for text."""
    heard_ms: int = 0
    """For a final: everything on this channel before this has been written down; hearing resumes here."""
    times: dict[str, float] = {}
    """When it passed each stage: `captured` (its last word was spoken), `arrived` (the chunk that proves
    its end was complete), `ended` (that chunk had been sent), `recognised`, `published`."""


class Heard(Event, tag="heard", frozen=True, kw_only=True):
    """Nothing was said on this channel up to `heard_ms` since its last final: silence, confirmed."""

    channel: int
    """Index into `Call.roles`."""
    heard_ms: int
    """Everything on this channel before this is dealt with; hearing resumes here."""


class Sentence(Event, tag="sentence", frozen=True, kw_only=True):
    """One sentence, understood. A higher revision replaces a lower one under the same id."""

    channel: int
    """Index into `Call.roles`."""
    role: str
    """Who said it."""
    sentence: str
    """Id made from content: `call/channel/start_ms`; for text, the position."""
    revision: int
    """Counts up from 0 when later speech turns out to continue the sentence."""
    start_ms: int
    """Position of the first word."""
    end_ms: int
    """Position of the end of the last word."""
    text: str
    """The sentence, after redaction, if any."""
    sentiment: str
    """The likeliest label."""
    sentiment_scores: dict[str, float]
    """Every label's probability."""
    mood: float = 0.0
    """From -1 (negative) to 1 (positive): the scores, weighed by what their labels are worth."""
    intent: str
    """What was wanted; `unknown` when no intent fits."""
    intent_score: float
    """Its probability."""
    slots: dict[str, str] = {}
    """Dates, amounts, names, ... found in it."""
    labels: dict[str, str] = {}
    """What further classifiers said, by the classifier's name: `{"topic": "delivery"}`."""
    language: str = "en"
    """`other` when it is not in a language the models know; then nothing else was told."""
    models: dict[str, str] = {}
    """Which model version said what: `{"sentiment": ..., "intent": ...}`."""
    times: dict[str, float] = {}
    """When it passed each stage, those of its transcript included."""


AUDIO_STOPPED = "audio stopped"
"""The reason of a call that ended by itself. It is live again when there is more audio after all."""


class CallState(Event, tag="call_state", frozen=True, kw_only=True):
    """A call changed state. `reason` is for people, above all when it failed."""

    state: State
    """`ringing`, `live`, `ended`, `analysed` or `failed`."""
    at: float
    """When it came into that state."""
    reason: str = ""
    """Why, in words."""
    info: Call | None = None
    """What is known of the call; with every `live`."""


class CallMetrics(Event, tag="call_metrics", frozen=True, kw_only=True):
    """Conversation figures so far: talk share, silence, overlap, words a minute, ..."""

    at_ms: int
    """Position in the call up to which they count."""
    values: dict[str, float]
    """Figures by name, sides told apart as `name.role`; docs/language.md lists them."""
    task: str = ""
    """What the whole call is about, as far as one can tell by now; `unknown` or an intent."""
    task_score: float = 0.0
    """Its share of the evidence."""
    final: bool = False
    """True: the call is over and these are its last."""


class Alert(Event, tag="alert", frozen=True, kw_only=True):
    """A rule fired."""

    alert: str
    """Id made from content: `call/rule/at_ms`."""
    rule: str
    """Name of the rule."""
    severity: Literal["info", "warning", "critical"]
    """How much it matters."""
    text: str
    """What happened, for a person."""
    at_ms: int
    """Position in the call."""
    at: float
    """When it fired."""
    escalation: bool = False
    """Whether a manager should step in, not only know."""
    sentence: str = ""
    """The sentence that set it off, if one did."""


class Turn(Event, tag="turn", frozen=True, kw_only=True):
    """One exchange with the assistant."""

    turn: int
    """Counts up from 0."""
    input: str
    """What the shopper said or typed."""
    states: tuple[str, ...]
    """States of the flow passed through, in order."""
    slots: dict[str, str]
    """What is known after the turn."""
    action: str
    """Fulfilment that was called, if any."""
    reply: str
    """What the assistant answered."""
    times: dict[str, float] = {}
    """When it passed each stage."""


class Note(Event, tag="note", frozen=True, kw_only=True):
    """A manager to an agent, pinned to a sentence if one is named."""

    note: str
    """Id of the note."""
    author: str
    """Account name of the manager."""
    text: str
    """The note."""
    at: float
    """When it was written."""
    sentence: str = ""
    """The sentence it is pinned to, if any."""


class NoteAcknowledged(Event, tag="note_acknowledged", frozen=True, kw_only=True):
    """The agent has read it."""

    note: str
    """Id of the note."""
    by: str
    """Account name of the agent."""
    at: float
    """When it was read."""


class DeadLetter(Event, tag="dead_letter", frozen=True, kw_only=True):
    """What could not be read or handled, why, and where it came from."""

    stage: str
    """Who could not handle it."""
    reason: str
    """Why."""
    topic: str
    """Where it lay: topic,"""
    partition: int
    """partition,"""
    offset: int
    """and offset."""
    value: bytes
    """The record as it was."""
    at: float
    """When it was given up."""


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
