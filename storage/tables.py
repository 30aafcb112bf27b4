"""The tables. Times of the day are seconds since the Unix epoch, times of a call milliseconds from its beginning.

What the models said and what people said are kept apart: a row of `sentences` is the models', a row of `labels`
is a person's, and neither overwrites the other.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, Column, Index, text
from sqlmodel import Field, SQLModel

LIVE = "state IN ('ringing', 'live')"
"""Calls going on now. The few there are have an index of their own, for queries that say so in these words."""


def _json(kind: Any = dict) -> Any:
    return Field(default_factory=kind, sa_column=Column(JSON, nullable=False))


class Call(SQLModel, table=True):
    """One conversation, spoken or written. What pages sort and sum by is a column of its own."""

    __tablename__ = "calls"
    __table_args__ = (
        Index("calls_live", "started_at", sqlite_where=text(LIVE), postgresql_where=text(LIVE)),
        Index("calls_by_state", "state", "started_at", "id"),
        Index("calls_by_agent", "agent", "started_at", "id"),
        Index("calls_by_customer", "customer", "started_at", "id"),
        Index("calls_by_time", "started_at", "id"),
    )

    id: str = Field(primary_key=True)
    medium: str = "voice"
    source: str = ""
    site: str = ""
    queue: str = ""
    agent: str = ""
    customer: str = ""
    language: str = "en-US"
    roles: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    """As the platform told; `swapped` says whether a person turned them round."""
    swapped: bool = False
    started_at: float = 0.0
    ended_at: float | None = None
    duration_ms: int = 0
    state: str = "ringing"
    state_at: float = 0.0
    reason: str = ""
    task: str = ""
    task_score: float = 0.0
    sentences: int = 0
    alerts: int = 0
    escalations: int = 0
    mood_caller: float | None = None
    """Mean mood of that side's sentences; None when it said nothing."""
    mood_agent: float | None = None
    talk_share_agent: float | None = None
    silence_share: float | None = None
    metrics: dict[str, Any] = _json()
    """Latest CallMetrics.values."""
    metrics_ms: int = 0
    """Position in the call up to which they count."""
    scorecard: list[Any] = _json(list)
    """Its points as rules and intents filled them (tenor.events.ScorePoint); what people say of them is in `scores`."""
    curves: str = ""
    """While it is going on, the moods of its last sentences as JSON, `{"caller": [[start_ms, mood], ...], ...}`: worked
    out when something is said, not each time somebody looks."""
    recording: str = ""
    """File name under the recordings' folder; empty: there is none."""
    recorded: bool = False
    """Whether the recorder is done with it, be there a recording or not."""
    redact: str = ""
    summary: dict[str, Any] = _json()
    """What it was about and what came of it, as the language stage says (tenor.events.CallSummary)."""
    written_summary: dict[str, Any] = _json()
    """What a language model wrote of it (tenor.events.WrittenSummary): `text`, `model`, `at`, `at_ms`."""
    mended: dict[str, Any] = _json()
    """What people put right in it, by the id of the point (storage/summaries.py)."""
    wrap_up: str = ""
    """The code with which a person said how it ended."""
    handover: dict[str, Any] = _json()
    """Of a conversation with the assistant: who has it (tenor/assistant/handover.py)."""
    waiting: bool = False
    """Whether it waits for a person, so that any agent may take it."""
    sample: bool = False
    """Made up to have something to show (attribute `sample`: `yes`); `tenor sample remove` takes all of it away."""
    attributes: dict[str, Any] = _json()


class Sentence(SQLModel, table=True):
    """One sentence as the models understood it."""

    __tablename__ = "sentences"
    __table_args__ = (
        # Holds all that a call's curves and sums are made of, so that these never read the rows.
        Index("sentences_of_call", "call", "start_ms", "end_ms", "role", "mood"),
        Index("sentences_by_time", "spoken_at"),
        Index("sentences_by_sentiment", "sentiment", "spoken_at", "id"),
        Index("sentences_by_intent", "intent", "spoken_at", "id"),
    )

    id: str = Field(primary_key=True)
    call: str = Field(foreign_key="calls.id", ondelete="CASCADE")
    channel: int
    role: str
    revision: int = 0
    start_ms: int
    end_ms: int
    spoken_at: float
    text: str
    sentiment: str
    sentiment_scores: dict[str, Any] = _json()
    mood: float = 0.0
    intent: str
    intent_score: float
    slots: dict[str, Any] = _json()
    labels: dict[str, Any] = _json()
    """What further classifiers said."""
    language: str = "en"
    models: dict[str, Any] = _json()
    times: dict[str, Any] = _json()
    latency_ms: float | None = None
    """From the end of its audio to its publication."""
    novelty: float | None = None
    """How far it is from everything that its model learned from, 0 to 1; None if the model does not say."""
    confidence: float | None = None
    """How sure the recogniser was of its words, 0 to 1; None where it does not say, and of what was written."""


class Alert(SQLModel, table=True):
    __tablename__ = "alerts"
    __table_args__ = (Index("alerts_of_call", "call"), Index("alerts_by_time", "at"))

    id: str = Field(primary_key=True)
    call: str = Field(foreign_key="calls.id", ondelete="CASCADE")
    rule: str
    severity: str
    text: str
    at_ms: int
    at: float
    escalation: bool = False
    sentence: str = ""


class Note(SQLModel, table=True):
    """A manager to an agent."""

    __tablename__ = "notes"
    __table_args__ = (Index("notes_of_call", "call"),)

    id: str = Field(primary_key=True)
    call: str = Field(foreign_key="calls.id", ondelete="CASCADE")
    author: str
    text: str
    at: float
    sentence: str = ""
    acknowledged_by: str = ""
    acknowledged_at: float | None = None


class Turn(SQLModel, table=True):
    """One exchange with the assistant. What was said in it is in `sentences`, too, as of any call."""

    __tablename__ = "turns"
    __table_args__ = (Index("turns_of_call", "call", "turn"), Index("turns_by_time", "at"))

    id: str = Field(primary_key=True)
    """call/turn."""
    call: str = Field(foreign_key="calls.id", ondelete="CASCADE")
    turn: int
    event: str = "heard"
    """What caused it: the shopper, silence, a key, a person."""
    cause: list[Any] = _json(list)
    """Ids of the utterances that caused it."""
    at: float
    """When its cause was published."""
    at_ms: int = 0
    input: str
    intent: str = ""
    intent_score: float = 0.0
    tags: list[Any] = _json(list)
    """Of each word of `input` the slot, as BIO."""
    state: str = ""
    states: list[Any] = _json(list)
    slots: dict[str, Any] = _json()
    actions: list[Any] = _json(list)
    replies: list[Any] = _json(list)
    handover: dict[str, Any] = _json()
    heard: str = ""
    mood: float | None = None
    ended: bool = False
    assistant: str = ""
    flow: str = ""
    """Version of the flows."""
    model: str = ""
    """What understood the line."""
    session: dict[str, Any] = _json()
    """What the dialog manager knew after the turn, for those who look into it."""
    trace: list[Any] = _json(list)
    times: dict[str, Any] = _json()
    latency_ms: float | None = None
    """From the publication of its cause to its own."""


class Label(SQLModel, table=True):
    """A person's word on a sentence, or on a turn of the assistant: the sentiment, intent, slots, text or speaker it
    should have had. Never changed, only held; the newest of a person on a sentence and kind is what that person says
    now."""

    __tablename__ = "labels"
    __table_args__ = (
        Index("labels_of_sentence", "sentence"),
        Index("labels_of_call", "call"),
        Index("labels_by_author", "author", "at"),
        Index("labels_of_turn", "turn"),
    )

    id: int | None = Field(default=None, primary_key=True)
    sentence: str | None = Field(default=None, foreign_key="sentences.id", ondelete="CASCADE")
    """What it is about; None: a turn."""
    call: str = Field(foreign_key="calls.id", ondelete="CASCADE")
    kind: str
    """`sentiment`, `intent`, `slots`, `text` or `role`."""
    value: str
    """Of slots: a JSON array, of each word its tag as BIO."""
    predicted: str
    """What the model had said; equal to `value` when a person agreed."""
    author: str
    at: float
    seconds: float | None = None
    """How long the person looked before answering."""
    where: str = "call"
    """`call` page, `review` or `import`."""
    sample: bool = False
    turn: str | None = Field(default=None, foreign_key="turns.id", ondelete="CASCADE")
    """The turn that it is about, if it is not about a sentence."""
    author_role: str = ""
    """What the author was when they said it; empty: not known."""
    why: str = ""
    """Why the person was asked (storage/labels/why.py); empty: not known."""
    model: str = ""
    """Which model had answered."""
    held: bool = False
    """True: it counts nowhere until a person decides."""


class Score(SQLModel, table=True):
    """A person's word on a point of a call's scorecard. Never changed; the newest of a point counts, and what nobody
    said counts nowhere."""

    __tablename__ = "scores"
    __table_args__ = (Index("scores_of_call", "call", "point"),)

    id: int | None = Field(default=None, primary_key=True)
    call: str = Field(foreign_key="calls.id", ondelete="CASCADE")
    point: str
    asks: str = ""
    """What the point asked for then: forms change."""
    value: str
    """`yes`, `no` or `not_due`."""
    proposed: str = ""
    """What rules and intents had filled in; equal to `value` when the person agreed."""
    author: str
    author_role: str = ""
    at: float
    sample: bool = False


class LabelHold(SQLModel, table=True):
    """An author whose labels wait for a person's decision, or waited: what that person decided is kept."""

    __tablename__ = "label_holds"
    __table_args__ = (Index("label_holds_of_author", "author"),)

    id: int | None = Field(default=None, primary_key=True)
    author: str
    reason: str
    """For people to read."""
    at: float
    by: str = ""
    """Who held them; empty: the check did."""
    ended_at: float | None = None
    ended_by: str = ""


class Run(SQLModel, table=True):
    """One training. Its words are in the dataset, its model in the registry; here is how it was made."""

    __tablename__ = "runs"
    __table_args__ = (Index("runs_by_time", "started_at"),)

    id: int | None = Field(default=None, primary_key=True)
    recipe: str
    dataset: str
    """NAME@N, with which it began."""
    dataset_sha256: str = ""
    parent: str = ""
    """The model that it started from."""
    parameters: dict[str, Any] = _json()
    preset: str = ""
    sweep: str = ""
    """Runs that were started together, to try parameters out."""
    state: str = "running"
    """`running`, `paused`, `done`, `failed` or `stopped`."""
    by: str
    command: str = ""
    code: dict[str, Any] = _json()
    """Version of Tenor, commit, and whether something was changed since."""
    environment: dict[str, Any] = _json()
    """Python, processor, packages."""
    host: str = ""
    pid: int = 0
    started_at: float
    ended_at: float | None = None
    seen_at: float = 0.0
    """When it was last heard of. How long it took is not stored: it follows from the times."""
    resources: dict[str, Any] = _json()
    """Processor seconds, most memory, most memory of a GPU."""
    artifacts: list[Any] = _json(list)
    model: str = ""
    """What came of it, in the registry."""
    error: str = ""


class RunPoint(SQLModel, table=True):
    """One point of a curve of a run."""

    __tablename__ = "run_points"
    __table_args__ = (Index("points_of_run", "run", "name", "step"),)

    id: int | None = Field(default=None, primary_key=True)
    run: int = Field(foreign_key="runs.id", ondelete="CASCADE")
    name: str
    step: int
    value: float
    at: float


class Team(SQLModel, table=True):
    """Who shares the machines for training, and how much is theirs."""

    __tablename__ = "teams"

    name: str = Field(primary_key=True)
    quota: int
    """In thousandths of a share."""
    created_at: float
    by: str = ""


class Job(SQLModel, table=True):
    """A training, or an interactive program, that waits for its share of a machine, has it, or had it."""

    __tablename__ = "jobs"
    __table_args__ = (Index("jobs_by_state", "state", "id"), Index("jobs_of_team", "team", "id"))

    id: int | None = Field(default=None, primary_key=True)
    team: str
    words: list[Any] = _json(list)
    """The command, without `tenor` if it is one of Tenor's."""
    place: str = "queue"
    """`queue`, or the cluster that it was given to: `kubernetes` or `slurm`."""
    share: int
    """In thousandths."""
    interactive: bool = False
    priority: int = 1
    limit_s: float = 0.0
    """How long an interactive job may run; 0: as long as it likes."""
    state: str = "pending"
    """`pending`, `running`, `paused`, `done`, `failed` or `stopped`."""
    asked: str = ""
    """What a running job is to do: `pause` or `stop`,"""
    asked_at: float | None = None
    """and since when it knows."""
    by: str
    submitted_at: float
    started_at: float | None = None
    """When it was started last."""
    ended_at: float | None = None
    host: str = ""
    """Where it runs, or ran; its log and checkpoints are there."""
    pid: int = 0
    mark: str = ""
    """In the environment of its process, so that no other process is taken for it."""
    run: int = 0
    """The run that it became; 0: none yet."""
    deaths: int = 0
    """How often its process was killed without anybody asking."""
    error: str = ""


class JobEvent(SQLModel, table=True):
    """What became of a job when: who had how much of the machines follows from these."""

    __tablename__ = "job_events"
    __table_args__ = (Index("job_events_by_time", "at"), Index("events_of_job", "job", "id"))

    id: int | None = Field(default=None, primary_key=True)
    job: int = Field(foreign_key="jobs.id", ondelete="CASCADE")
    team: str
    at: float
    state: str
    """The state from here on."""
    share: int
    """How much of a machine it has from here on: 0 unless it is running."""
    detail: str = ""


class JobRunner(SQLModel, table=True):
    """The process that starts jobs on a machine: one per machine, as long as it renews this."""

    __tablename__ = "job_runners"

    host: str = Field(primary_key=True)
    holder: str
    """Which process, by a word that it made up."""
    capacity: int
    """In thousandths of a share."""
    until: float


class Outbox(SQLModel, table=True):
    """Events to be published: written in the transaction of what they tell, deleted once they are on the bus."""

    __tablename__ = "outbox"
    __table_args__ = (Index("outbox_of_call", "call"),)

    id: int | None = Field(default=None, primary_key=True)
    call: str = Field(foreign_key="calls.id", ondelete="CASCADE")
    event: str
    """As it goes on the bus: JSON."""
    at: float


class Agent(SQLModel, table=True):
    __tablename__ = "agents"

    name: str = Field(primary_key=True)
    """The account name that CallStarted carries."""
    display_name: str = ""
    team: str = ""
    site: str = ""
    sample: bool = False


class Customer(SQLModel, table=True):
    __tablename__ = "customers"

    id: str = Field(primary_key=True)
    display_name: str = ""
    sample: bool = False


class Account(SQLModel, table=True):
    """Who may sign in, when sign-in is local."""

    __tablename__ = "accounts"

    name: str = Field(primary_key=True)
    role: str
    """`agent`, `manager`, `analyst` or `administrator`."""
    password: str
    """argon2 hash."""
    created_at: float
    version: int = 0
    """Counts up when sessions and tokens given out before must end."""


class EndedSession(SQLModel, table=True):
    """A sign-in that was ended before its time: what was given out in it opens nothing any more."""

    __tablename__ = "ended_sessions"

    id: str = Field(primary_key=True)
    until: float
    """When it would have ended by itself, and can be forgotten."""


class SavedSearch(SQLModel, table=True):
    __tablename__ = "searches"
    __table_args__ = (Index("searches_of_owner", "owner"),)

    id: int | None = Field(default=None, primary_key=True)
    owner: str
    name: str
    query: dict[str, Any] = _json()
    at: float


class DeadLetter(SQLModel, table=True):
    """What a stage could not read, without the bytes: those stay on the bus until its retention ends."""

    __tablename__ = "dead_letters"
    __table_args__ = (Index("dead_letters_by_time", "at"),)

    id: str = Field(primary_key=True)
    """topic/partition/offset."""
    call: str
    stage: str
    reason: str
    topic: str
    partition: int
    offset: int = Field(sa_type=BigInteger)
    at: float


class Audit(SQLModel, table=True):
    """Who did what. Holds no caller's words; rows of an erased call keep only a fingerprint of its id."""

    __tablename__ = "audit"
    __table_args__ = (Index("audit_by_time", "at"),)

    id: int | None = Field(default=None, primary_key=True)
    at: float
    who: str
    action: str
    """`call.listened`, `call.exported`, `call.erased`, `label.made`, `account.added`, ..."""
    subject: str = ""
    detail: dict[str, Any] = _json()


class Model(SQLModel, table=True):
    """One version of a model of the registry. Whether it is in force says the log of promotions."""

    __tablename__ = "models"
    __table_args__ = (Index("models_by_name", "name", "version", unique=True),)

    id: str = Field(primary_key=True)
    """NAME-N."""
    name: str
    version: int
    kind: str
    """`language`, `speech` or `assistant`."""
    sha256: str
    """Digest of its folder."""
    parent: str = ""
    run: str = ""
    dataset: str = ""
    snapshot: str = ""
    at: float
    """When it was registered,"""
    by: str
    """by whom,"""
    why: str = ""
    """and what for."""
    card: dict[str, Any] = _json()
    """What its model.json says, without lists of labels and files."""


class Gate(SQLModel, table=True):
    """What the gate said of a model. The newest of a model counts."""

    __tablename__ = "gates"
    __table_args__ = (Index("gates_of_model", "model", "at"),)

    id: int | None = Field(default=None, primary_key=True)
    model: str
    against: str = ""
    """The model that it was compared with."""
    passed: bool
    verdict: str = ""
    """One line for people."""
    figures: dict[str, Any] = _json()
    at: float
    by: str


class Promotion(SQLModel, table=True):
    """The log of promotions, for queries. The file is the truth; what is missing here is taken from it."""

    __tablename__ = "promotions"
    __table_args__ = (Index("promotions_by_time", "at"),)

    id: str = Field(primary_key=True)
    """kind/at/model."""
    kind: str
    model: str
    sha256: str
    at: float
    effective_at: float
    by: str
    why: str
    previous: str
    at_once: bool = False


class Shadow(SQLModel, table=True):
    """How a candidate would have answered where another was in force: counts, no words."""

    __tablename__ = "shadows"
    __table_args__ = (Index("shadows_of_model", "model", "at"),)

    id: int | None = Field(default=None, primary_key=True)
    model: str
    against: str
    live: bool = False
    """On calls that were going on, not on stored ones."""
    sentences: int
    changed: int
    counts: dict[str, Any] = _json()
    """By answer, `{"sentiment": {"neutral > negative": 12}}`."""
    at: float
    by: str


class DriftSum(SQLModel, table=True):
    """What a measure of drift came to on a day, over the calls of the house, of a queue or of a site: sums, no words
    and no ids. storage/drift/ratios.py says what they are good for."""

    __tablename__ = "drift_sums"
    __table_args__ = (
        Index("drift_sums_by_day", "day"),
        Index("drift_sums_of_measure", "scope", "name", "measure", "day"),
    )

    id: int | None = Field(default=None, primary_key=True)
    day: str
    """YYYY-MM-DD, in UTC: the day on which its calls began."""
    scope: str
    """`house`, `queue` or `site`."""
    name: str
    """Of the queue or site."""
    measure: str
    """`sentiment`, `intent`, `expected`, `accuracy`, ...; storage/drift/measures.py lists them."""
    value: str
    """The label whose share it is, or the kind of answer; empty where a measure has one figure only."""
    model: str
    """Which model answered, as sentences name it."""
    calls: int
    part: float
    whole: float
    part_squares: float
    products: float
    whole_squares: float


class DriftTest(SQLModel, table=True):
    """Whether a measure differed on a day from what it was, as it was known then."""

    __tablename__ = "drift_tests"
    __table_args__ = (
        Index("drift_tests_by_day", "day"),
        Index("drift_tests_of_measure", "scope", "name", "measure", "value", "day"),
    )

    id: int | None = Field(default=None, primary_key=True)
    day: str
    kind: str
    """`data` or `concept`."""
    scope: str
    name: str
    measure: str
    value: str
    model: str
    against: str
    """What `before` comes from: the model's first `days`, or the `gate` that it passed."""
    calls: int
    now: float
    before: float
    error: float
    """Standard error of the difference."""
    p: float
    """How probable such a difference is by chance,"""
    corrected: float
    """and among as many tests as were made (Holm)."""
    together: float
    """The same of the last two or seven days together, whichever is less probable."""
    alarm: bool
    at: float


class ArchiveKey(SQLModel, table=True):
    """What opens a call's blocks in an archive that cannot be rewritten. The call may have left the database."""

    __tablename__ = "archive_keys"
    __table_args__ = (Index("archive_keys_of_call", "call", unique=True),)

    id: str = Field(primary_key=True)
    call: str
    secret: bytes
    made_at: float


class Tombstone(SQLModel, table=True):
    """A call that was erased for good: what the bus still holds of it is not written again."""

    __tablename__ = "erased"

    fingerprint: str = Field(primary_key=True)
    """SHA-256 of the call's id."""
    erased_at: float
