"""Sentences analyzed by a Riva server that has language services: `tenor riva`, or NVIDIA's until 2024.

ClassifyText     the sentiment, all sentences in one call
ClassifyTokens   the values in it, all sentences in one call
AnalyzeIntent    the intent (and the values, where there is no model for tokens), one call per sentence, side by side

The server gives the likeliest label and its score, no others: so the mood is that label's worth times its score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
import stamina
from riva.client.proto import riva_nlp_pb2 as pb
from riva.client.proto import riva_nlp_pb2_grpc

from nlp.inference.language_id import is_foreign
from nlp.inference.types import ENGLISH, OTHER, Entity, ModelTask, ScoredLabel, SentenceAnalysis, SentenceContext
from tenor.errors import Refused, TenorError, Unavailable
from tenor.riva_channel import open_channel
from tenor.settings import SpeechSettings
from tenor.taxonomy.intents import UNKNOWN, Taxonomy
from tenor.taxonomy.sentiments import valence_of

NEUTRAL = "neutral"
DEADLINE_S = 5.0
ATTEMPTS = 3
_TEMPORARY = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.CANCELLED,
}
"""What may be over in a moment."""
_MISSING = {grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.NOT_FOUND}
_DENIED = {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED}


@dataclass(frozen=True, slots=True)
class ServerModels:
    """What the server has, by name."""

    sentiment: str
    intent: str
    domain: str
    """Empty: the server finds out for itself."""
    tokens: str
    """Empty: there is none, and the intent's values have to do."""

    @property
    def versions(self) -> dict[str, str]:
        names = {"sentiment": self.sentiment, "intent": self.intent, "slots": self.tokens or self.intent}
        return {what: f"riva:{name}" for what, name in names.items()}


class RivaBackend:
    def __init__(self, server: SpeechSettings, taxonomy: Taxonomy) -> None:
        self._address = server.address
        self._metadata = tuple(server.metadata.items())
        self._taxonomy = taxonomy
        self._models: ServerModels | None = None
        channel = open_channel(server, use_aio=False)
        self._stub = riva_nlp_pb2_grpc.RivaLanguageUnderstandingStub(channel)

    @property
    def versions(self) -> dict[str, str]:
        return self._models.versions if self._models is not None else {}  # else nothing was asked yet

    def valence(self, sentiment: str) -> float:
        return valence_of(sentiment)

    @property
    def tasks(self) -> frozenset[str]:
        return self._taxonomy.tasks

    def analyze(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[SentenceAnalysis]:
        """Every text in its order; Riva's services have no place for contexts. Unavailable when the server does not
        answer, Refused when it never will."""
        try:
            for attempt in stamina.retry_context(on=_is_temporary, attempts=ATTEMPTS, wait_initial=0.1, wait_max=1.0):
                with attempt:
                    return self._analyze(texts)
        except grpc.RpcError as error:
            raise self._error(error) from None
        raise AssertionError("an attempt returns or raises")

    def _analyze(self, texts: Sequence[str]) -> list[SentenceAnalysis]:
        models = self._models = self._models or self._list_models()
        readable = [index for index, text in enumerate(texts) if text.strip() and not is_foreign(text)]
        asked = [texts[index] for index in readable]
        found = [_no_analysis(text, models.versions) for text in texts]
        if not asked:
            return found
        intents = [self._request_intent(models, text) for text in asked]  # on their way while we ask the rest
        sentiments = self._stub.ClassifyText(
            pb.TextClassRequest(text=asked, model=pb.NLPModelParams(model_name=models.sentiment)), **self._options
        ).results
        values = [one.results for one in self._tag(models, asked)] if models.tokens else None
        for number, index in enumerate(readable):
            intent = intents[number].result()
            entities = values[number] if values is not None else intent.slots
            found[index] = _analysis(texts[index], sentiments[number].labels[0], intent, entities, models.versions)
        return found

    def _request_intent(self, models: ServerModels, text: str) -> Any:
        request = pb.AnalyzeIntentRequest(query=text, options=pb.AnalyzeIntentOptions(domain=models.domain))
        return self._stub.AnalyzeIntent.future(request, **self._options)

    def _tag(self, models: ServerModels, texts: Sequence[str]) -> Any:
        request = pb.TokenClassRequest(text=texts, model=pb.NLPModelParams(model_name=models.tokens))
        return self._stub.ClassifyTokens(request, **self._options).results

    def _list_models(self) -> ServerModels:
        """The server's models, told apart by their task where it says that, and else by their name."""
        listed = self._stub.GetRivaNLPConfig(pb.RivaNLPConfigRequest(), **self._options).model_config
        models = [(model.model_name, dict(model.parameters)) for model in listed]
        sentiment = next((name for name, _ in models if "sentiment" in name), "")
        intent = next(((name, about) for name, about in models if name.startswith("riva_intent_")), None)
        tokens = [name for name, about in models if about.get("task") == ModelTask.TOKENS or name == "riva_ner"]
        missing = ["sentiment (ClassifyText)"] * (not sentiment) + ["intents (AnalyzeIntent)"] * (intent is None)
        if missing or intent is None:
            names = ", ".join(sorted({name for name, _ in models})) or "none"
            raise Refused(f"{self._nothing} It lacks a model for {' and '.join(missing)}; it has: {names}", _LOCAL)
        name, about = intent
        return ServerModels(
            sentiment, name, about.get("domain", name.removeprefix("riva_intent_")), (tokens or [""])[0]
        )

    @property
    def _options(self) -> dict[str, Any]:
        return {"timeout": DEADLINE_S, "metadata": self._metadata}

    @property
    def _nothing(self) -> str:
        return f"the Riva server at {self._address} cannot understand sentences."

    def _error(self, error: Any) -> TenorError | ValueError:
        code, details = error.code(), error.details()
        if code in _TEMPORARY:
            return Unavailable(f"no answer from the Riva server at {self._address}: {details}", _ADDRESSES)
        if code in _MISSING:
            return Refused(f"{self._nothing} NVIDIA's have no language services since 2024 ({details})", _LOCAL)
        if code in _DENIED:
            return Refused(f"the Riva server at {self._address} does not let us in: {details}", "see speech.metadata")
        return ValueError(code.name)  # this sentence, not the server; its words are nobody's business


_ADDRESSES = "see language.address, or speech.address if that is empty"
_LOCAL = 'set language.backend = "local", or run `tenor riva`'


def _is_temporary(error: Exception) -> bool:
    return isinstance(error, grpc.RpcError) and error.code() in _TEMPORARY


def _analysis(
    text: str, sentiment: Any, analyzed: Any, values: Iterable[Any], models: Mapping[str, str]
) -> SentenceAnalysis:
    domain, dot, name = analyzed.intent.class_name.partition(".")
    intent = (name if dot else domain) or UNKNOWN  # none at all: no domain fits
    score = analyzed.intent.score
    return SentenceAnalysis(
        text,
        sentiment.class_name,
        {sentiment.class_name: sentiment.score},
        intent,
        score,
        tuple(_entity(text, value) for value in values),
        {intent: score},
        mood=valence_of(sentiment.class_name) * sentiment.score,
        models=models,
    )


def _entity(text: str, value: Any) -> Entity:
    """Riva writes tokens in lower case and counts the last character in."""
    start, end = value.span[0].start, value.span[0].end + 1
    return Entity(text[start:end], ScoredLabel(value.label[0].class_name, value.label[0].score), start, end)


def _no_analysis(text: str, models: Mapping[str, str]) -> SentenceAnalysis:
    language = OTHER if text.strip() else ENGLISH
    return SentenceAnalysis(text, NEUTRAL, {NEUTRAL: 1.0}, UNKNOWN, 0.0, language=language, models=models)
