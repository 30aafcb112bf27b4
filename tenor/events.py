"""Everything that travels on the bus. docs/events.md is the wire specification: `make docs` makes its tables
from this file.

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
    """What is known about a call when it begins. It is part of CallStarted and CallState."""

    source: str
    """Where the call comes from: `file`, `microphone`, `web`, `twilio`, `genesys`, `audiosocket`, `jambonz`."""
    roles: tuple[str, ...]
    """Who speaks on each channel, by channel number: `("caller", "agent")`. A person who takes a conversation from the
    assistant is on the channel after these, as `agent`."""
    started_at: float
    """When the first sample was spoken."""
    speakers: tuple[str, ...] = ()
    """Of a call with two people on one channel of audio: who calls and who answers, `("caller", "agent")`. Their voices
    are told apart: the channel of what they say is the number of the voice, and `roles` names the voices as well as is
    known; another CallState may name them the other way round. Empty: each channel is one side."""
    medium: Medium = "voice"
    """How the call is held. A chat or an e-mail exchange is a call, too. A conversation on the web is `voice` while its
    microphone is on, and `chat` otherwise."""
    rate: int = 0
    """Samples per second of the audio as it was received; 0 if that is not known yet."""
    site: str = ""
    """The company's site to which the call belongs."""
    queue: str = ""
    """The call-centre queue through which it came."""
    agent: str = ""
    """Account name of the agent on the call."""
    customer: str = ""
    """Who calls: a customer id or telephone number, as the platform names it."""
    language: str = "en-US"
    """BCP 47 tag of the spoken language."""
    record: bool = True
    """Whether a recording may be kept."""
    redact: Redact | None = None
    """What to redact before anything is published; None leaves it to the setting `speech.redact`."""
    attributes: dict[str, str] = {}
    """What else the platform said: file name, codec, custom parameters."""


class CallStarted(Event, tag="call_started", frozen=True, kw_only=True):
    """The first event of a call. It is published again when a source reconnects, and when its medium changes."""

    info: Call
    """Everything that is known so far."""


class AudioChunk(Event, tag="audio_chunk", frozen=True, kw_only=True):
    """About 100 ms of one channel: 16-bit little-endian PCM, at the rate at which it was received."""

    channel: int
    """Index into `Call.roles`."""
    seq: int
    """Counts from 0 on each channel; a chunk that comes twice has the same number."""
    start_ms: int
    """Position of the first sample."""
    rate: int
    """Samples per second."""
    pcm: bytes
    """The samples."""
    captured_at: float
    """When the last sample was spoken, as far as that is known. Every latency is counted from here. 0: long ago, as
    in a recording that is put on the bus as fast as it is taken, for which nobody waits."""


class CallEnded(Event, tag="call_ended", frozen=True, kw_only=True):
    """The last event of a call."""

    reason: str
    """`hangup`, `end of file`, `connection lost`, `stopped`, ..."""
    at: float
    """When the source ended the call."""
    failed: bool = False
    """True if the source broke. What was recognised is kept, and the call ends as failed, with this reason."""
    audio_only: bool = False
    """True if only its audio is over: the call goes on in writing, and may be spoken again after another
    CallStarted."""


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One word of a final transcript."""

    text: str
    """Spelled exactly as in the transcript."""
    start_ms: int
    """Position of its first sound."""
    end_ms: int
    """Position of its last sound."""
    confidence: float = 0.0
    """0..1; 0 if the recogniser does not say."""
    speaker: int = 0
    """1..N if the recogniser tells the speakers of one channel apart, otherwise 0."""


class Redaction(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a final whose words were redacted."""

    kind: str
    """What was redacted: `card`, `person`, ..."""
    start_ms: int
    """Position of its first sound. If audio is redacted, too, the recording is silent from here"""
    end_ms: int
    """to here: the position of its last sound."""


class Transcript(Event, tag="transcript", frozen=True, kw_only=True):
    """What was said in one utterance. An interim replaces the interim before it; the final replaces them all."""

    channel: int
    """Index into `Call.roles`."""
    role: str
    """Who speaks on that channel."""
    utterance: str
    """Id made from content: `call/channel/start_ms`. Interims of an utterance share another id,
    `call/channel/~N`, because the start is certain only in the final."""
    start_ms: int
    """Position of the first word."""
    end_ms: int
    """Position of the end of the last word."""
    text: str
    """What was said, after redaction."""
    final: bool
    """True: the text will not change any more."""
    words: tuple[Word, ...] = ()
    """The words of a final, in order, with their times."""
    stability: float = 0.0
    """Of an interim: how unlikely its text is to change, 0..1."""
    confidence: float = 0.0
    """Of a final, 0..1."""
    model: str = ""
    """Name of the recognition model, as the server gives it."""
    redacted: tuple[Redaction, ...] = ()
    """Of a final: what was redacted, without the words."""
    loudness: float | None = None
    """Of a final: how loud its words were, in dB below full scale; None for text."""
    heard_ms: int = 0
    """Of a final: everything on this channel before this position has been published; recognition resumes here."""
    written: bool = False
    """True: a line that was written on the web, perhaps while the same side also speaks."""
    times: dict[str, float] = {}
    """When it passed each stage: `captured` (its last word was spoken), `arrived` (the chunk that proves
    its end was complete), `ended` (that chunk was sent), `recognised`, `published`."""


class Heard(Event, tag="heard", frozen=True, kw_only=True):
    """Confirmed silence: nothing was said on this channel since its last final, up to `heard_ms`."""

    channel: int
    """Index into `Call.roles`."""
    heard_ms: int
    """Everything on this channel before this position is done; recognition resumes here."""


class Sentence(Event, tag="sentence", frozen=True, kw_only=True):
    """One classified sentence. A higher revision replaces a lower one with the same id."""

    channel: int
    """Index into `Call.roles`."""
    role: str
    """Who said it."""
    sentence: str
    """Id made from content: `call/channel/start_ms`; of a text, from the message."""
    revision: int
    """Counts from 0; the next revision comes when later speech continues the sentence."""
    start_ms: int
    """Position of the first word."""
    end_ms: int
    """Position of the end of the last word."""
    text: str
    """The sentence, after redaction."""
    sentiment: str
    """The most probable label."""
    sentiment_scores: dict[str, float]
    """The probability of every label."""
    mood: float = 0.0
    """From -1 (negative) to 1 (positive): the scores, weighted by the valence of their labels."""
    intent: str
    """What the speaker wants; `unknown` if no intent fits."""
    intent_score: float
    """Its probability."""
    slots: dict[str, str] = {}
    """Dates, amounts, names, ... in the sentence."""
    labels: dict[str, str] = {}
    """The answers of further classifiers, by the classifier's name: `{"topic": "delivery"}`."""
    language: str = "en"
    """`other` if the models do not know its language; the other answers then mean nothing."""
    models: dict[str, str] = {}
    """Which version of which model gave each answer: `{"sentiment": ..., "intent": ..., "speech": ...}`; `speech` is
    the recogniser, as its server names it, and is missing in what was written."""
    times: dict[str, float] = {}
    """When it passed each stage, including the times of its transcript."""
    novelty: float | None = None
    """How far it is from everything that its model learned from, 0 to 1; None if the model does not say."""
    confidence: float | None = None
    """How sure the recogniser was of its words, 0 to 1; None if it does not say, and of what was written."""


AUDIO_STOPPED = "audio stopped"
"""What people read as the reason of a call that ended by itself."""


def says_audio_stopped(reason: str) -> bool:
    """Whether the reason alone says so: version 0.2 published nothing else, and the database keeps nothing else."""
    return reason == AUDIO_STOPPED


class CallState(Event, tag="call_state", frozen=True, kw_only=True):
    """A call changed its state. `reason` is for people, above all if the call failed."""

    state: State
    """`ringing`, `live`, `ended`, `analysed` or `failed`."""
    at: float
    """When it changed to that state."""
    reason: str = ""
    """Why, as a text for people."""
    info: Call | None = None
    """What is known about the call; present with every `live`."""
    audio_stopped: bool = False
    """True: it ended only because no more audio came. It is `live` again if more comes after all."""

    def __post_init__(self) -> None:
        if says_audio_stopped(self.reason):
            msgspec.structs.force_setattr(self, "audio_stopped", True)


class ScorePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A point of the scorecard, as rules and intents fill it. It counts nowhere until a person has confirmed it."""

    point: str
    """Its name in the form."""
    asks: str
    """What it asks for, for people."""
    value: Literal["yes", "no", "not_due"]
    """Whether the agent did it, or whether this call did not ask for it."""
    sentence: str = ""
    """The sentence that proves it, or, of a `no`, that asked for it; empty if there is none."""
    at_ms: int = 0
    """Position of that in the call."""


Outcome = Literal["", "done", "promised", "unconfirmed", "open"]
"""What came of a call: the agent said that it is done, or that it will be; the caller wanted nothing more, though
nobody said so; or neither. Empty: not known (yet)."""


class SummaryPoint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One point of a call's summary."""

    id: str
    """Which point of the summary it is, made of its kind and its sentence."""
    kind: Literal["wanted", "detail", "done", "promised", "mood", "open"]
    """What it says: what the caller wanted, a value that belongs to it, what was done, what somebody promised, how the
    mood went, what is open."""
    text: str
    """The point, mostly in the words that were said."""
    name: str = ""
    """Of a detail: the kind of value, as slots are called, or the question to which it is the answer."""
    by: str = ""
    """Of a promise: the role of who made it,"""
    until: str = ""
    """and until when, as it was said."""
    sentence: str = ""
    """Id of the sentence that says so."""
    at_ms: int = 0
    """Position of that sentence."""


class CallSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a call was about and what came of it."""

    headline: str = ""
    """The call in a line."""
    outcome: Outcome = ""
    """`done`, `promised`, `unconfirmed` (the caller wanted nothing more, but nobody said that it was done) or `open`;
    empty while nobody knows."""
    points: tuple[SummaryPoint, ...] = ()
    """By kind."""


class CallMetrics(Event, tag="call_metrics", frozen=True, kw_only=True):
    """The metrics of the conversation so far: talk share, silence, overlap, words per minute, ..."""

    at_ms: int
    """Position in the call up to which the metrics count."""
    values: dict[str, float]
    """Metrics by name, those of a side as `name.role`; docs/language.md lists them."""
    task: str = ""
    """What the whole call is about so far: an intent, or `unknown`."""
    task_score: float = 0.0
    """Its share of the evidence."""
    summary: CallSummary | None = None
    """What the call is about and what came of it so far; None if that is what was published last. Since version
    0.3."""
    final: bool = False
    """True: the call is over, and these are its last metrics."""
    scorecard: tuple[ScorePoint, ...] = ()
    """Of a call that is over and in which the agent spoke: the points of the scorecard."""


class Alert(Event, tag="alert", frozen=True, kw_only=True):
    """A rule fired."""

    alert: str
    """Id made from content: `call/rule/at_ms`."""
    rule: str
    """Name of the rule."""
    severity: Literal["info", "warning", "critical"]
    """How important it is."""
    text: str
    """What happened, for a person."""
    at_ms: int
    """Position in the call."""
    at: float
    """When the rule fired."""
    escalation: bool = False
    """Whether a manager should step in, and not only know about it."""
    sentence: str = ""
    """The sentence that caused it, if there is one."""


class TurnReply(msgspec.Struct, frozen=True, kw_only=True):
    """One thing the assistant said."""

    text: str
    """As it is said or shown."""
    interruptible: bool = True
    """False: it is said to its end, whatever the shopper says meanwhile."""
    card: dict[str, Any] | None = None
    """For a screen: `action`, and its `result`."""


class TurnAction(msgspec.Struct, frozen=True, kw_only=True):
    """An action that was called in a turn, and what came of it."""

    name: str
    """`weather`, `places`, `prices`, ..."""
    arguments: dict[str, Any]
    """Those that were used, remembered ones included."""
    result: dict[str, Any] | None = None
    """What it answered; None if it failed."""
    error: str = ""
    """Why it failed, for those who run Tenor; the shopper is told in the flow's words."""
    key: str = ""
    """The same for the same wish: an action that changes something does it once per key."""
    ms: float | None = None
    """How long it took; None if the answer of an earlier attempt was used."""
    source: str = ""
    """Who answered: `sample`, `open-meteo`, ..."""
    uncertain: bool = False
    """True: it failed, but may have happened all the same."""


class Turn(Event, tag="turn", frozen=True, kw_only=True):
    """One exchange with the assistant. The first Turn of a number counts; one that comes again is ignored."""

    turn: int
    """Counts from 0, the greeting."""
    input: str
    """What the shopper said or typed, after redaction; empty for the greeting and after silence."""
    states: tuple[str, ...]
    """The states of the flow that were passed, in order, as `flow.state`."""
    slots: dict[str, str]
    """What is known after the turn."""
    action: str
    """The fulfilment that was called, if there was one; the last, if there were several."""
    reply: str
    """What the assistant answered: its replies, joined."""
    times: dict[str, float] = {}
    """When it passed each stage: `captured` and `published` of what caused it, `stepped` (the engine was asked),
    `turn_published`."""
    event: str = "heard"
    """What caused it: `start`, `heard`, `key`, `silence`, `taken_over`, `given_back`, `nobody_came`, or `escalated`, an
    alert that wants a person to step in."""
    cause: tuple[str, ...] = ()
    """The utterances that caused it."""
    read_to: int = 0
    """Offset on `tenor.transcripts` after the last of them, and on"""
    turns_to: int = 0
    """`tenor.turns` after what came from there: a successor ignores what lies before."""
    at: float = 0.0
    """When its cause was published: the clock by which the turn was taken."""
    at_ms: int = 0
    """Position in the call at which the assistant answers."""
    intent: str = ""
    """What the shopper wants, as flows route it."""
    intent_score: float = 0.0
    """Its probability; 0 if the intent was not read from this line."""
    tags: tuple[str, ...] = ()
    """Of each word of the input (split at blanks) the slot, as BIO: `B-item.type`, `O`."""
    state: str = ""
    """Where the conversation stands after the turn, as `flow.state`."""
    actions: tuple[TurnAction, ...] = ()
    """All that were called, in order."""
    replies: tuple[TurnReply, ...] = ()
    """All that was said, in order."""
    written: bool = False
    """True: the replies were shown in writing, and the assistant's stage has published them as transcripts. False: what
    plays them publishes what was heard."""
    handover: dict[str, str] = {}
    """If a person is called for: `queue`, `reason`, `summary`."""
    heard: str = ""
    """Of a conversation by voice: what was heard of the replies before this turn, over which the shopper may have
    spoken."""
    mood: float | None = None
    """Of the shopper's line, from -1 to 1; None if nobody says."""
    wait_until: float = 0.0
    """When silence is a turn of its own; 0: never."""
    ended: bool = False
    """True: the conversation is over."""
    assistant: str = ""
    """Name of the assistant,"""
    flow: str = ""
    """and the version of its flows. A conversation ends with the version with which it began."""
    model: str = ""
    """The model that understood the line, as NAME-N; empty if there was no line, or if rules alone understood it."""
    session: dict[str, Any] = {}
    """Everything the dialog manager knows after the turn: a successor goes on from here."""
    trace: tuple[tuple[str, str], ...] = ()
    """What the dialog manager went by, in order: rule and detail."""


class ActionStarted(Event, tag="action_started", frozen=True, kw_only=True):
    """An action that changes something is about to be called. Published before the call, so that no successor calls it
    again without asking whether it was done."""

    turn: int
    """The turn that wants it."""
    action: str
    """Its name."""
    key: str
    """The same for the same wish of the same turn; the provider gets it, too."""
    arguments: dict[str, Any]
    """With which it is called."""
    at: float
    """When."""


class ActionDone(Event, tag="action_done", frozen=True, kw_only=True):
    """What came of an action that was started. A successor uses this answer and does not call again."""

    turn: int
    """The turn that wanted it."""
    key: str
    """Of the action that was started."""
    done: TurnAction
    """What came of it."""
    at: float
    """When."""


class TurnFiller(Event, tag="turn_filler", frozen=True, kw_only=True):
    """Said while a slow action runs, before its Turn."""

    turn: int
    """The turn that is being taken."""
    text: str
    """What is said."""
    at: float
    """When."""


class TurnSpoken(Event, tag="turn_spoken", frozen=True, kw_only=True):
    """How much of a turn's replies was heard: all, or what came before the shopper spoke over them. Published by what
    plays them, when it is done."""

    turn: int
    """Whose replies."""
    text: str
    """What was heard of them."""
    at: float
    """When playing stopped."""


class KeyPressed(Event, tag="key_pressed", frozen=True, kw_only=True):
    """A key of the telephone. A choice of the assistant's own, not a number to be kept: longer numbers are redacted."""

    digit: str
    """`0` to `9`, `*` or `#`."""
    at: float
    """When."""


class CallTakenOver(Event, tag="call_taken_over", frozen=True, kw_only=True):
    """A person has taken the conversation: the assistant is silent, but listens. Of several the first counts, until
    that person gives it back."""

    agent: str
    """Account name of the person."""
    at: float
    """When."""


class CallGivenBack(Event, tag="call_given_back", frozen=True, kw_only=True):
    """The person has given the conversation back to the assistant. From anybody else it means nothing."""

    agent: str
    """Account name of the person."""
    at: float
    """When."""
    unanswered: bool = False
    """Nobody had taken it: a telephone platform brings the caller back from its queue."""


class Note(Event, tag="note", frozen=True, kw_only=True):
    """A message from a manager to an agent, about a call or about one sentence."""

    note: str
    """Id of the note."""
    author: str
    """Account name of the manager."""
    text: str
    """The note."""
    at: float
    """When it was written."""
    sentence: str = ""
    """The sentence that it is about, if there is one."""


class NoteAcknowledged(Event, tag="note_acknowledged", frozen=True, kw_only=True):
    """The agent has read a note."""

    note: str
    """Id of the note."""
    by: str
    """Account name of the agent."""
    at: float
    """When it was read."""


class WrittenSummary(Event, tag="written_summary", frozen=True, kw_only=True):
    """A language model wrote a summary of a call that is over. It stands beside the one that is made of sentences.
    Since version 0.3."""

    at_ms: int
    """Position in the call up to which it was read: `at_ms` of its last metrics."""
    text: str
    """Plain text, as others wrote it: it is shown as text and is no instruction."""
    model: str
    """Who wrote it, as the settings name the model."""
    at: float
    """When."""


class SummaryMended(Event, tag="summary_mended", frozen=True, kw_only=True):
    """A person put a point of a call's summary right. The newest of a point counts. Since version 0.3."""

    point: str
    """Id of the point, or `outcome`."""
    text: str
    """What it should say; an outcome: one of those that a summary has. Empty: the point is wrong and goes."""
    author: str
    """Account name of the person."""
    at: float
    """When."""
    withdrawn: bool = False
    """True: what the summary said counts again."""


class WrapUp(Event, tag="wrap_up", frozen=True, kw_only=True):
    """A person said with a code how a call ended. The newest counts. Since version 0.3."""

    code: str
    """One of the list of `language.wrap_up`; empty: none."""
    author: str
    """Account name of the person."""
    at: float
    """When."""


class Label(Event, tag="label", frozen=True, kw_only=True):
    """A person's answer about a sentence, about a turn of the assistant, or about which side of a call is whose. It is
    in the database before it is published. It may come twice: `author`, `sentence`, `turn`, `kind` and `at` together
    identify a label."""

    kind: Literal["sentiment", "intent", "slots", "text", "role", "sides"]
    """What it is about: the sentiment, intent, slots, text or speaker that a sentence should have (a turn: intent or
    slots), or whether the two `sides` of the call are the wrong way round."""
    value: str
    """The person's answer. Of `slots` it is a JSON array with the BIO tag of each word; of `sides` it is `swapped`, or
    `told` if they are as the platform told them."""
    author: str
    """Account name of the person."""
    author_role: str
    """The person's role at that time: `agent`, `manager`, `analyst` or `administrator`."""
    at: float
    """When the person made the label."""
    sentence: str = ""
    """Id of the sentence; empty if the label is about a turn or about the whole call."""
    predicted: str = ""
    """What the model or the platform had said."""
    where: str = ""
    """Where it was made: `call`, `review` or `import`."""
    withdrawn: bool = False
    """True: the person takes the label back; `at` is still when the label was made."""
    sample: bool = False
    """Whether the call is generated sample data."""
    turn: str = ""
    """`call/turn`, if it is about a turn of the assistant."""
    seconds: float | None = None
    """How long the person looked before answering."""
    why: str = ""
    """Why the person was asked: `sample` (at random), `unsure`, `disputed`, `doubted`, `novel`, `second`, `rare`,
    `control`, `call` (nobody asked: on the call's page) or `import`."""
    model: str = ""
    """Which model had answered."""
    held: bool = False
    """True: the label counts nowhere until a person decides about its author."""


class ModelPromoted(Event, tag="model_promoted", frozen=True, kw_only=True):
    """A model was promoted or rolled back. It only wakes those who load models; the truth is the log of promotions
    (docs/models.md). Its `call` is empty."""

    kind: str
    """`language`, `speech` or `assistant`."""
    model: str
    """The model, as NAME-N."""
    at: float
    """When it was promoted."""
    effective_at: float
    """From when it counts."""
    by: str
    """Account name of the person."""


class ModelLoaded(Event, tag="model_loaded", frozen=True, kw_only=True):
    """A process has loaded a promoted model, or could not. Its `call` is empty."""

    kind: str
    """`language`, `speech` or `assistant`."""
    model: str
    """The model, as NAME-N."""
    stage: str
    """The stage that the process belongs to,"""
    process: str
    """and where it runs: host and process id."""
    at: float
    """When."""
    reason: str = ""
    """Why it could not be loaded; empty if it is. The model before it stays in place."""


class DeadLetter(Event, tag="dead_letter", frozen=True, kw_only=True):
    """A record that a stage could not read or handle, the reason, and where it came from."""

    stage: str
    """The stage that could not handle it."""
    reason: str
    """Why."""
    topic: str
    """The topic of the record,"""
    partition: int
    """its partition,"""
    offset: int
    """and its offset."""
    value: bytes
    """The record as it was."""
    at: float
    """When the stage gave it up."""


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
"""Raw audio is kept only as long as an outage of the recogniser may last."""
TRANSCRIPTS = Topic("tenor.transcripts", Transcript | Heard, DAY)
SENTENCES = Topic("tenor.sentences", Sentence, 7 * DAY)
CALLS = Topic("tenor.calls", CallState | CallMetrics | Alert | WrittenSummary, 7 * DAY)
TURNS = Topic(
    "tenor.turns",
    Turn | ActionStarted | ActionDone | TurnFiller | TurnSpoken | KeyPressed | CallTakenOver | CallGivenBack,
    7 * DAY,
)
"""What came of a conversation with the assistant is its state. Who reads only turns ignores the other events."""
NOTES = Topic("tenor.notes", Note | NoteAcknowledged | SummaryMended | WrapUp, 7 * DAY)
LABELS = Topic("tenor.labels", Label, 7 * DAY)
"""Since version 0.3."""
MODELS = Topic("tenor.models", ModelPromoted | ModelLoaded, 7 * DAY)
"""Since version 0.3."""
DEAD = Topic("tenor.dead", DeadLetter, 7 * DAY)

TOPICS = (AUDIO, TRANSCRIPTS, SENTENCES, CALLS, TURNS, NOTES, LABELS, MODELS, DEAD)
