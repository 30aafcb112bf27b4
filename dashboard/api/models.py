"""What the API answers: the models that its OpenAPI document is made of.

Times of the day are seconds since the Unix epoch, times of a call milliseconds from its beginning.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


class ApiModel(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class Problem(ApiModel):
    """RFC 9457: what went wrong."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""
    errors: list[str] = Field([], description="where the request is wrong, if it is")


class Handover(ApiModel):
    """Who has a conversation with the assistant."""

    state: str = Field("", description="empty (the assistant has it), waiting, missed (nobody came yet) or taken")
    since: float = 0.0
    queue: str = ""
    reason: str = Field("", description="why a person was called for: asked, failures, mood, rule NAME, ...")
    agent: str = Field("", description="account name of the person who has it")


class NewLine(ApiModel):
    text: str = Field(description="at most 2,000 characters")
    id: str = Field("", max_length=64, description="one of yours: a line that is sent again is taken once")


class WrittenLine(ApiModel):
    line: str = Field(description="id of the line, which its first sentence has, too")


class SummaryPoint(ApiModel):
    """One point of a summary, with the sentence that says so."""

    id: str
    kind: str = Field(description="wanted, detail, done, promised, mood or open")
    text: str
    name: str = Field("", description="of a detail: what kind of value it is, or the question that it answers")
    by: str = Field("", description="of a promise: who made it, by role,")
    until: str = Field("", description="and until when, as it was said")
    sentence: str = ""
    at_ms: int = 0
    mended_by: str = Field("", description="who put it right, if somebody did")


class Summary(ApiModel):
    """What a call was about and what came of it, as people left it."""

    headline: str
    outcome: str = Field(description="done, promised, unconfirmed, open, or empty while nobody knows")
    points: list[SummaryPoint]


class WrittenSummary(ApiModel):
    """What a language model wrote of a call, unchecked."""

    text: str
    model: str
    at: float


class MendedPoint(ApiModel):
    """What a person says of a point of a summary."""

    point: str = Field(description="id of the point, or `outcome`")
    text: str = Field("", description="what it should say; empty: it is wrong and goes")
    withdrawn: bool = Field(False, description="what the summary said counts again")


class WrapUp(ApiModel):
    code: str = Field(description="one of `/wrap-up-codes`, or empty")


class WrapUpCodes(ApiModel):
    codes: dict[str, str]


class NewNote(ApiModel):
    text: str = Field(description="at most 2,000 characters")
    sentence: str = Field("", description="the sentence that it is about, if it is about one")


class WrittenNote(ApiModel):
    note: str = Field(description="id of the note")


class NewLabel(ApiModel):
    kind: str = Field(description="sentiment, intent, slots, text or role")
    value: str


class Labelled(ApiModel):
    """A sentence as people left it."""

    call: str
    sentence: str
    role: str
    text: str
    sentiment: str
    intent: str


class ErasureReceipt(ApiModel):
    """That a call was erased, without saying what was in it."""

    receipt: str = Field(description="number of the receipt")
    at: str
    by: str
    rows: dict[str, int] = Field(description="deleted or made nameless, by table")
    recordings: int
    copies: dict[str, int]
    bus_records: int
    bus_kept_until: str | None = Field(description="when the last of what the bus still holds will be gone")
    notes: list[str]


class Call(ApiModel):
    """A conversation, spoken or written."""

    id: str
    medium: str = Field(description="voice, chat or email")
    source: str
    site: str
    queue: str
    agent: str
    customer: str
    language: str
    roles: list[str]
    swapped: bool = Field(description="whether a person turned the sides round")
    started_at: float
    ended_at: float | None
    duration_ms: int
    state: str = Field(description="ringing, live, ended, analysed or failed")
    reason: str
    task: str = Field(description="what the call is about")
    task_score: float
    sentences: int
    alerts: int
    escalations: int
    mood_caller: float | None = Field(description="mean, -1 to 1")
    mood_agent: float | None
    talk_share_agent: float | None
    silence_share: float | None
    metrics: dict[str, Any]
    recorded: bool = Field(description="whether there is a recording")
    summary: Summary
    written_summary: WrittenSummary | None = Field(description="by a language model, where one is asked")
    wrap_up: str = Field(description="the code that a person chose")
    handover: Handover
    sample: bool = Field(description="made up to have something to show")


class Calls(ApiModel):
    calls: list[Call]
    after: str = Field(description="give this to get the page that follows; empty: there is none")


class Label(ApiModel):
    """What a person said of a sentence; the newest of a kind counts."""

    kind: str = Field(description="sentiment, intent, text or role")
    value: str
    author: str
    at: float


class Sentence(ApiModel):
    """A sentence as people left it; `labels` has what they said, `models` which model said the rest."""

    id: str
    call: str
    channel: int
    role: str
    revision: int
    start_ms: int
    end_ms: int
    spoken_at: float
    text: str
    sentiment: str
    sentiment_scores: dict[str, float]
    mood: float
    intent: str
    intent_score: float
    slots: dict[str, Any]
    language: str
    models: dict[str, Any]
    classifiers: dict[str, str] = Field(description='what further classifiers say: `{"aspect": "delivery,product"}`')
    latency_ms: float | None
    labels: list[Label]


class SuggestedSlot(ApiModel):
    """Characters `start` to `end` of the text, `end` not included."""

    slot: str
    start: int
    end: int
    text: str


class Suggestion(ApiModel):
    """What the models suggest for a sentence or a turn of the assistant."""

    id: str
    call: str
    text: str
    sentiment: str = Field(description="empty for a turn")
    sentiment_scores: dict[str, float]
    intent: str = Field(description="empty for a turn that answers a question")
    intent_score: float
    tags: list[str] = Field(description="one per word, as BIO")
    slots: list[SuggestedSlot]
    models: dict[str, Any]
    novelty: float | None = Field(description="how unlike everything the model has learned, 0 to 1")


class ModelVersion(ApiModel):
    """A version of a model, and what it is here."""

    id: str
    name: str
    version: int
    kind: str = Field(description="language, assistant or speech")
    state: str = Field(description="champion (in force), previous, candidate or rejected")
    promoted_at: float | None = Field(description="when it was promoted last")
    sha256: str = Field(description="over its files; empty for what ships")
    by: str
    why: str


class Sentences(ApiModel):
    sentences: list[Sentence]
    after: str = Field(description="give this to get the page that follows; empty: there is none")


class Alert(ApiModel):
    """A rule fired."""

    id: str
    call: str
    rule: str
    severity: str = Field(description="info, warning or critical")
    text: str
    at_ms: int
    at: float
    escalation: bool
    sentence: str


class RaisedAlert(Alert):
    """With the call it was raised in."""

    agent: str
    customer: str
    queue: str
    site: str


class Alerts(ApiModel):
    alerts: list[RaisedAlert]
    after: str = Field(description="give this to get the page that follows; empty: there is none")


class Note(ApiModel):
    """A manager to an agent."""

    id: str
    author: str
    text: str
    at: float
    sentence: str
    acknowledged_by: str
    acknowledged_at: float | None


class Confirmed(ApiModel):
    """A person's word."""

    value: str = Field(description="yes, no or not_due")
    author: str
    at: float


class ScorePoint(ApiModel):
    """A point of the scorecard as rules and intents filled it in; it counts once a person has confirmed it."""

    point: str
    asks: str
    value: str = Field(description="yes, no or not_due")
    sentence: str = Field(description="the sentence that proves it, or, of a no, that asked for it")
    at_ms: int
    confirmed: Confirmed | None


class Scorecard(ApiModel):
    points: list[ScorePoint]


class ConfirmPoints(ApiModel):
    points: dict[str, str] = Field(description="by point: yes, no or not_due", max_length=100)


class CallDetail(ApiModel):
    """A call with its alerts and notes; its sentences are at `/calls/{call}/sentences`."""

    call: Call
    alerts: list[Alert]
    notes: list[Note]
    scorecard: list[ScorePoint]


class LiveSentence(ApiModel):
    id: str
    role: str
    start_ms: int
    end_ms: int
    text: str
    sentiment: str
    mood: float
    intent: str


class LiveAlert(ApiModel):
    id: str
    rule: str
    severity: str
    text: str
    at_ms: int
    at: float
    escalation: bool
    sentence: str


def _read(moods: Any) -> Any:
    """As the database has them: JSON."""
    return msgspec.json.decode(msgspec.json.encode(moods))


class LiveCall(ApiModel):
    """A call going on now."""

    id: str
    state: str
    medium: str
    agent: str
    customer: str
    site: str
    queue: str
    started_at: float
    task: str
    swapped: bool
    mood_caller: float | None
    mood_agent: float | None
    sentences: int
    alerts: int
    escalations: int
    metrics: dict[str, Any]
    sample: bool
    handover: Handover
    moods: Annotated[dict[str, list[tuple[int, float]]], BeforeValidator(_read)] = Field(
        description="by side: position in milliseconds, and mood"
    )
    last: LiveSentence | None
    raised: list[LiveAlert]


class Live(ApiModel):
    at: float
    calls: list[LiveCall]


class Figure(ApiModel):
    """A mean over calls; `low` and `high` enclose it with 95 % confidence, when there is more than one."""

    n: int
    mean: float | None
    low: float | None
    high: float | None


class Tally(ApiModel):
    """Some calls summed up."""

    calls: int
    figures: dict[str, Figure] = Field(
        description="mood_caller, mood_agent, talk_share_agent, silence_share, escalated (share), minutes"
    )


class Agent(ApiModel):
    name: str
    display_name: str
    team: str
    site: str
    tally: Tally


class Agents(ApiModel):
    since: float
    until: float
    agents: list[Agent]


class Step(ApiModel):
    first: str = Field(description="first day, as 2026-11-16")
    tally: Tally


class AgentHistory(ApiModel):
    name: str
    display_name: str
    team: str
    site: str
    since: float
    until: float
    total: Tally
    before: Tally = Field(description="the period before, as long")
    steps: list[Step]


class PointStep(ApiModel):
    first: str = Field(description="first day, as 2026-11-16")
    met: Figure


class PointHistory(ApiModel):
    """How often a point was met, over the calls on which a person confirmed it and that asked for it."""

    point: str
    asks: str
    met: Figure
    steps: list[PointStep]


class AgentScorecard(ApiModel):
    name: str
    since: float
    until: float
    points: list[PointHistory]


class Fit(ApiModel):
    """A free agent, and how calls like this one went with them."""

    agent: str
    display_name: str
    team: str
    calls: int = Field(description="such calls of theirs in the last 180 days")
    share: float = Field(description="of calls that went well, drawn towards that of all; the order goes by it")
    own: Figure


class Fits(ApiModel):
    """A suggestion: nothing is assigned by it."""

    task: str
    unhappy: bool
    basis: str = Field(description="which calls were compared: task and mood, task, mood, all calls")
    calls: int
    share: float | None = Field(description="of calls that went well, with everybody")
    agents: list[Fit] = Field(description="best first")


class Customer(ApiModel):
    id: str
    display_name: str
    total: Tally
    calls: list[Call] = Field(description="the newest 50")


class Mark(ApiModel):
    start: int
    end: int


class Snippet(ApiModel):
    text: str
    marks: list[Mark] = Field(description="what was found in `text`, by character positions")
    cut_before: bool
    cut_after: bool


class Hit(ApiModel):
    """A sentence that was found."""

    sentence: str
    call: str
    snippet: Snippet
    original: Snippet | None = Field(description="what the models wrote down, when a person corrected it")
    channel: int
    role: str
    start_ms: int
    end_ms: int
    spoken_at: float
    sentiment: str
    mood: float
    intent: str
    language: str
    task: str
    medium: str
    agent: str
    customer: str
    queue: str
    site: str
    started_at: float
    rules: tuple[str, ...]
    sample: bool


class Hits(ApiModel):
    hits: list[Hit]
    cursor: str | None = Field(description="give this to get the page that follows; null: there is none")


class CallHit(ApiModel):
    """A call that was found by several of its sentences."""

    call: str
    started_at: float
    medium: str
    task: str
    agent: str
    customer: str
    queue: str
    site: str
    sample: bool
    sentences: list[Hit] = Field(description="one for each sentence that must be there, in the order of the search")


class CallHits(ApiModel):
    calls: list[CallHit]
    total: int = Field(description="calls on all pages")
    cursor: str | None = Field(description="give this to get the page that follows; null: there is none")
