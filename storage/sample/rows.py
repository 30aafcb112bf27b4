"""A generated call as rows of the tables, as the stages would have written them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

from storage.sample.conversation import AGENT, CALLER, SCRIPT, SampleConversation, SampleLine
from storage.sample.story import PEOPLE, PlannedCall, queue_of
from tenor.taxonomy.aspects import CLASSIFIER

SENTIMENTS = ("negative", "neutral", "positive")
ROLES = [CALLER, AGENT]
MODELS = {"sentiment": "sample", "intent": "sample"}
GAPS_MS = {"voice": (250, 1600), "chat": (8_000, 60_000), "email": (600_000, 14_400_000)}
LABELLED = 0.06
"""Share of calls of which some sentences were reviewed."""
CONFIRMED = 0.2
"""Share of calls whose scorecard a manager confirmed."""
Row = dict[str, Any]


class CallRows:
    """All rows of one call, by table name."""

    def __init__(self, planned: PlannedCall) -> None:
        self.planned, self.rng = planned, planned.rng
        conversation = SampleConversation(
            self.rng, planned.task, planned.agent.display_name, planned.customer.display_name, planned.product
        )
        lines = conversation.compose(planned.temper, written=planned.medium != "voice")
        self.failed = self.rng.random() < 0.012 and planned.medium == "voice"
        if self.failed:
            lines = lines[: self.rng.randrange(4)]
        self.lines = lines
        self.tables: dict[str, list[Row]] = defaultdict(list)
        sentences = self.tables["sentences"]
        at_ms = self.rng.randrange(200, 1500)
        for line in lines:
            sentence = self._sentence(line, at_ms)
            sentences.append(sentence)
            at_ms = sentence["end_ms"] + self._pause(line)
        self.duration_ms = (sentences[-1]["end_ms"] if sentences else 0) + 800
        self._alerts(lines, sentences)
        self._note(sentences)
        self._labels(lines, sentences)
        self.scorecard = _scorecard(lines, sentences)
        self.tables["calls"].append(self._call(sentences))
        if self.rng.random() < 0.004:
            self.tables["dead_letters"].append(self._dead())
        self._scores()

    @property
    def ended_at(self) -> float:
        return self.planned.started_at + self.duration_ms / 1000

    def _pause(self, line: SampleLine) -> int:
        pause = self.rng.randint(*GAPS_MS[self.planned.medium])
        if line.part == "hold" and self.planned.medium == "voice":
            tired = 1.6 if self.planned.temper.warmth < 0 else 1.0
            pause += int(self.rng.uniform(4_000, 22_000) * tired)
        return pause

    def _sentence(self, line: SampleLine, at_ms: int) -> Row:
        rng, call = self.rng, self.planned
        voice = call.medium == "voice"
        channel = ROLES.index(line.role)
        end_ms = at_ms + (int(len(line.text.split()) * rng.uniform(300, 430)) + 250 if voice else 0)
        spoken_at = call.started_at + end_ms / 1000
        predicted = line.sentiment if rng.random() > 0.06 else rng.choice(SENTIMENTS)
        scores = _scores(rng, predicted)
        times = stage_times(rng, spoken_at, voice)
        return {
            "id": f"{call.id}/{channel}/{at_ms}",
            "call": call.id,
            "channel": channel,
            "role": line.role,
            "revision": 0,
            "start_ms": at_ms,
            "end_ms": end_ms,
            "spoken_at": spoken_at,
            "text": line.text,
            "sentiment": predicted,
            "sentiment_scores": scores,
            "mood": round(scores["positive"] - scores["negative"], 4),
            "intent": line.intent,
            "intent_score": round(rng.uniform(0.35, 0.6) if rng.random() < 0.12 else rng.uniform(0.75, 0.99), 4),
            "slots": {},
            "labels": {CLASSIFIER: line.aspects} if line.aspects else {},
            "language": "en",
            "models": MODELS,
            "times": times,
            "latency_ms": round((times["sentence_published"] - times["captured"]) * 1000, 1) if voice else None,
            "novelty": None,
            "confidence": round(0.8 + 0.19 * max(scores.values()), 3) if voice else None,
        }

    def _call(self, sentences: Sequence[Row]) -> Row:
        call, alerts = self.planned, self.tables["alerts"]
        metrics = call_metrics(self.rng, sentences, self.duration_ms, voice=call.medium == "voice")
        state = "failed" if self.failed else "analysed"
        return {
            "id": call.id,
            "medium": call.medium,
            "source": "sample",
            "site": call.agent.site,
            "queue": queue_of(call.task),
            "agent": call.agent.name,
            "customer": call.customer.id,
            "language": "en-US",
            "roles": ROLES,
            "swapped": False,
            "started_at": call.started_at,
            "ended_at": self.ended_at,
            "duration_ms": self.duration_ms,
            "state": state,
            "state_at": self.ended_at + 1,
            "reason": self.rng.choice(SCRIPT["failures"]) if self.failed else "hangup",
            "task": "" if self.failed else call.task,
            "task_score": 0.0 if self.failed else round(self.rng.uniform(0.55, 0.98), 3),
            "summary": _summary(call.task, self.lines, sentences),
            "mended": {},
            "wrap_up": "",
            "sentences": len(sentences),
            "alerts": len(alerts),
            "escalations": sum(alert["escalation"] for alert in alerts),
            "mood_caller": metrics.get("mood.caller"),
            "mood_agent": metrics.get("mood.agent"),
            "talk_share_agent": metrics.get("talk_share.agent"),
            "silence_share": metrics.get("silence_share"),
            "metrics": metrics,
            "metrics_ms": self.duration_ms,
            "scorecard": self.scorecard,
            "recording": "",
            "redact": "",
            "sample": True,
            "attributes": {},
        }

    def _alerts(self, lines: Sequence[SampleLine], sentences: Sequence[Row]) -> None:
        angry = 0
        for line, sentence in zip(lines, sentences, strict=True):
            if line.role == CALLER:
                angry = angry + 1 if line.sentiment == "negative" else 0
            if angry == 3:
                self._alert(
                    "caller-upset", "critical", "The caller has been unhappy for 3 sentences in a row", sentence, True
                )
            if line.part == "manager":
                self._alert("asks-for-manager", "critical", "The caller asks for a manager", sentence, True)
            if line.intent == "cancel":
                self._alert("cancels", "warning", "The caller wants to cancel", sentence)
        for before, after in pairwise(sentences):
            if self.planned.medium == "voice" and after["start_ms"] - before["end_ms"] > 20_000:
                self._alert("long-silence", "info", "20 s of silence", before)
                break

    def _alert(self, rule: str, severity: str, text: str, sentence: Row, escalation: bool = False) -> None:
        self.tables["alerts"].append(
            {
                "id": f"{self.planned.id}/{rule}/{sentence['end_ms']}",
                "call": self.planned.id,
                "rule": rule,
                "severity": severity,
                "text": text,
                "at_ms": sentence["end_ms"],
                "at": sentence["spoken_at"] + 0.4,
                "escalation": escalation,
                "sentence": sentence["id"],
            }
        )

    def _note(self, sentences: Sequence[Row]) -> None:
        worst = min(sentences, key=lambda sentence: float(sentence["mood"]), default=None)
        wanted = 0.6 if any(alert["escalation"] for alert in self.tables["alerts"]) else 0.03
        if worst is None or self.rng.random() > wanted:
            return
        at = worst["spoken_at"] + self.rng.uniform(5, 40)
        read = self.rng.random() < 0.9
        self.tables["notes"].append(
            {
                "id": f"{self.planned.id}/note",
                "call": self.planned.id,
                "author": self.rng.choice(PEOPLE["managers"]),
                "text": self.rng.choice(SCRIPT["notes"]),
                "at": at,
                "sentence": worst["id"],
                "acknowledged_by": self.planned.agent.name if read else "",
                "acknowledged_at": at + self.rng.uniform(3, 90) if read else None,
            }
        )

    def _labels(self, lines: Sequence[SampleLine], sentences: Sequence[Row]) -> None:
        rng = self.rng
        if len(sentences) < 4 or rng.random() > LABELLED:
            return
        pairs = list(zip(lines, sentences, strict=True))
        chosen = rng.sample(pairs, 3)
        chosen += [pair for pair in pairs if pair[0].sentiment != "neutral" and pair not in chosen][:2]
        first, second = PEOPLE["reviewers"]
        for line, sentence in chosen:
            self._label(sentence, first, line.sentiment if rng.random() < 0.95 else rng.choice(SENTIMENTS))
            if rng.random() < 0.7:
                self._label(sentence, second, line.sentiment if rng.random() < 0.88 else rng.choice(SENTIMENTS))
            if rng.random() < 0.12:
                self._label(sentence, PEOPLE["careless"], rng.choice(SENTIMENTS))
            if rng.random() < 0.3:
                self._label(sentence, first, line.intent, "intent")
                self._label(sentence, second, line.intent if rng.random() < 0.9 else "unknown", "intent")

    def _label(self, sentence: Row, author: str, value: str, kind: str = "sentiment") -> None:
        rng = self.rng
        self.tables["labels"].append(
            {
                "sentence": sentence["id"],
                "call": self.planned.id,
                "kind": kind,
                "value": value,
                "predicted": sentence[kind],
                "author": author,
                "at": self.ended_at + rng.uniform(600, 7200),
                "seconds": round(rng.lognormvariate(1.1, 0.5), 1),
                "where": "review",
                "sample": True,
                "turn": None,
                "author_role": "analyst",
                "why": "sample",
                "model": sentence["models"].get(kind, ""),
                "held": False,
            }
        )

    def _scores(self) -> None:
        """A manager confirms some cards, and mends a point here and there."""
        if self.failed or self.rng.random() > CONFIRMED:
            return
        author, at = self.rng.choice(PEOPLE["managers"]), self.ended_at + self.rng.uniform(3600, 90_000)
        for point in self.scorecard:
            mended = point["value"] != "not_due" and self.rng.random() < 0.06
            value = {"yes": "no", "no": "yes"}[point["value"]] if mended else point["value"]
            self.tables["scores"].append(
                {
                    "call": self.planned.id,
                    "point": point["point"],
                    "asks": point["asks"],
                    "value": value,
                    "proposed": point["value"],
                    "author": author,
                    "author_role": "manager",
                    "at": at,
                    "sample": True,
                }
            )

    def _dead(self) -> Row:
        stage, topic, reason = self.rng.choice(SCRIPT["dead"])
        offset = self.rng.randrange(1000, 900_000)
        return {
            "id": f"{topic}/{self.planned.id}/{offset}",
            "call": self.planned.id,
            "stage": stage,
            "reason": reason,
            "topic": topic,
            "partition": self.rng.randrange(4),
            "offset": offset,
            "at": self.ended_at,
        }


def _scorecard(lines: Sequence[SampleLine], sentences: Sequence[Row]) -> list[Row]:
    """As the form that ships would have it."""
    said = {line.part: sentence for line, sentence in reversed(list(zip(lines, sentences, strict=True)))}
    if not any(line.role == AGENT for line in lines):
        return []
    card = []
    for name, point in SCRIPT["scorecard"].items():
        asked = said.get(point["due"]) if "due" in point else {"id": "", "start_ms": 0}
        met = said.get(point["met"])
        value = "not_due" if asked is None else "yes" if met else "no"
        proof = met or asked if asked is not None else None
        where = {"sentence": proof["id"], "at_ms": proof["start_ms"]} if proof else {"sentence": "", "at_ms": 0}
        card.append({"point": name, "asks": point["asks"], "value": value, **where})
    return card


def _scores(rng: Random, label: str) -> dict[str, float]:
    sure = rng.uniform(0.4, 0.56) if rng.random() < 0.12 else min(0.99, rng.uniform(0.75, 1.0))
    others = [name for name in SENTIMENTS if name != label]
    share = rng.uniform(0.2, 0.8)
    scores = {label: sure, others[0]: (1 - sure) * share, others[1]: (1 - sure) * (1 - share)}
    best = max(scores, key=scores.__getitem__)
    scores[label], scores[best] = scores[best], scores[label]  # the label is the likeliest, as with a model
    return {name: round(scores[name], 4) for name in SENTIMENTS}


def stage_times(rng: Random, spoken_at: float, voice: bool) -> dict[str, float]:
    """When the sentence passed each stage; the waits are those of an ordinary day."""
    waits = (
        [("arrived", 0.44), ("ended", 0.004), ("recognised", rng.lognormvariate(-1.7, 0.35)), ("published", 0.004)]
        if voice
        else []
    )
    waits += [("understood", rng.lognormvariate(-4.3, 0.3)), ("sentence_published", 0.003)]
    times, at = {"captured": round(spoken_at, 4)}, spoken_at
    for name, wait in waits:
        at += wait * rng.uniform(0.8, 1.3)
        times[name] = round(at, 4)
    return times


def call_metrics(rng: Random, sentences: Sequence[Row], duration_ms: int, *, voice: bool) -> dict[str, float]:
    values: dict[str, float] = {}
    talk = {role: sum(s["end_ms"] - s["start_ms"] for s in sentences if s["role"] == role) / 1000 for role in ROLES}
    spoken = sum(talk.values())
    for role in ROLES:
        own = [s for s in sentences if s["role"] == role]
        if not own:
            continue
        words = sum(len(s["text"].split()) for s in own)
        moods = [s["mood"] for s in own]
        values |= {f"words.{role}": words, f"sentences.{role}": len(own), f"mood.{role}": sum(moods) / len(moods)}
        values |= {f"mood_now.{role}": moods[-1], f"mood_trend.{role}": (moods[-1] - moods[0]) * 60_000 / duration_ms}
        if voice and talk[role]:
            values |= {
                f"talk_s.{role}": talk[role],
                f"talk_share.{role}": talk[role] / spoken,
                f"words_per_minute.{role}": words * 60 / talk[role],
                f"longest_monologue_s.{role}": max(s["end_ms"] - s["start_ms"] for s in own) / 1000,
                f"interruptions.{role}": rng.choice((0, 0, 0, 1, 2)),
                f"loudness.{role}": rng.uniform(-32, -22),
            }
    if voice and spoken:
        silence = max(0.0, duration_ms / 1000 - spoken)
        gaps = [after["start_ms"] - before["end_ms"] for before, after in pairwise(sentences)]
        values |= {"silence_s": silence, "silence_share": silence * 1000 / duration_ms, "overlap_s": 0.0}
        values["silence_longest_s"] = max(gaps, default=0) / 1000
    return {name: round(value, 4) for name, value in values.items()}


POINTS = {"wish": "wanted", "upset": "wanted", "details": "detail", "fix": "done"}
"""What of a generated call is in its summary, by the part that says it."""


def _summary(task: str, lines: Sequence[SampleLine], sentences: Sequence[Row]) -> Row:
    said = [(POINTS[line.part], row) for line, row in zip(lines, sentences, strict=True) if line.part in POINTS]
    points = [
        {
            "id": f"{kind}:{row['id']}",
            "kind": kind,
            "text": row["text"],
            "sentence": row["id"],
            "at_ms": row["start_ms"],
        }
        for kind, row in said
    ]
    if not points:
        return {}
    solved = any(point["kind"] == "done" for point in points)
    if not solved:
        points.append({**points[0], "id": f"open:{points[0]['sentence']}", "kind": "open", "text": NOT_SAID})
    title = task.replace("_", " ").capitalize()
    return {"headline": title, "outcome": "done" if solved else "open", "points": points}


NOT_SAID = "Nobody said what comes of it"
