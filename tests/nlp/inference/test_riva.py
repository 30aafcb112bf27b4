"""Sentences analyzed by a Riva server: ours, over the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from riva.client.proto import riva_nlp_pb2 as pb
from riva.client.proto import riva_nlp_pb2_grpc

from nlp.evaluation.alignment import ReferenceSentence
from nlp.evaluation.pipeline import judge
from nlp.inference.backend import open_backend, open_local
from nlp.inference.local import LocalBackend
from nlp.inference.riva import RivaBackend
from nlp.inference.types import ModelInfo, ModelTask, ScoredLabel, SentenceAnalysis
from nlp.riva_service import register
from nlp.worker import NlpWorker
from tenor.errors import BadInput, Refused, Unavailable
from tenor.settings import LanguageSettings, Settings, SpeechSettings
from tenor.taxonomy.in_force import sentiments_in_force
from tests.nlp.rig import Rig, said

TEXTS = (
    "I lost my debit card on Friday",
    "This is the worst service I have ever had",
    "",
    "где моя посылка",
    "you have been so kind, thank you",
    "purple monkeys juggle the moon",
)


@pytest.fixture(scope="module")
def local() -> LocalBackend:
    return LocalBackend()


@asynccontextmanager
async def serving(backend: Any, port: int = 0) -> AsyncIterator[int]:
    server = grpc.aio.server()
    if backend is not None:
        register(backend)(server)
    port = server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    try:
        yield port
    finally:
        await server.stop(0)


def backend(port: int, **speech: Any) -> RivaBackend:
    settings = Settings(
        language=LanguageSettings(backend="riva"), speech=SpeechSettings(address=f"127.0.0.1:{port}", **speech)
    )
    made = open_backend(settings)
    assert isinstance(made, RivaBackend)
    return made


async def ask(backend: RivaBackend, texts: Sequence[str] = TEXTS) -> list[SentenceAnalysis]:
    return await asyncio.to_thread(backend.analyze, texts)


async def test_the_same_as_in_process(local: LocalBackend) -> None:
    async with serving(local) as port:
        riva = backend(port)
        there = await ask(riva)
    for one, other in zip(there, local.analyze(TEXTS), strict=True):
        assert (one.text, one.sentiment, one.language) == (other.text, other.sentiment, other.language)
        assert one.sentiment_scores[one.sentiment] == pytest.approx(other.sentiment_scores[one.sentiment], abs=1e-5)
        assert one.intent == other.intent
        assert one.slots == other.slots
        assert one.mood == pytest.approx(other.mood, abs=0.4)
    assert riva.versions == {
        "sentiment": "riva:riva_text_classification_sentiment",
        "intent": "riva:riva_intent_callcenter",
        "slots": "riva:riva_slots",
    }
    assert "card_replacement" in riva.tasks


async def test_language_may_have_a_server_of_its_own(local: LocalBackend, unused_tcp_port: int) -> None:
    async with serving(local) as port:
        language = LanguageSettings(backend="riva", address=f"127.0.0.1:{port}")
        speech = SpeechSettings(address=f"127.0.0.1:{unused_tcp_port}")
        made = open_backend(Settings(language=language, speech=speech))
        assert (await asyncio.to_thread(made.analyze, ["I lost my debit card"]))[0].intent == "card_replacement"


async def test_examples_of_nvidia_s_own_clients(local: LocalBackend) -> None:
    async with serving(local) as port, grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = riva_nlp_pb2_grpc.RivaLanguageUnderstandingStub(channel)
        request = pb.TextTransformRequest(text=["can you prove that you are self aware"])
        assert [*(await stub.PunctuateText(request)).text] == ["Can you prove that you are self aware?"]
        texts = ["Where is San Francisco?", "Jensen Huang is the CEO of NVIDIA Corporation."]
        request = pb.TokenClassRequest(text=texts, model=pb.NLPModelParams(model_name="riva_ner"))
        named = (await stub.ClassifyTokens(request)).results
        assert [[one.label[0].class_name for one in found.results] for found in named] == [["LOC"], ["PER", "ORG"]]
        [entities] = (await stub.AnalyzeEntities(pb.AnalyzeEntitiesRequest(query=texts[0]))).results
        [place] = entities.results
        assert (place.token, place.label[0].class_name) == ("san francisco", "LOC")
        assert (place.span[0].start, place.span[0].end) == (9, 21)


class NoTokens:
    """A server without a model for tokens, and whose models do not say what they are for."""

    def __init__(self, local: LocalBackend) -> None:
        self._local = local
        self.models = [ModelInfo("riva_intent_callcenter", ModelTask.INTENT, domain="callcenter")]
        self.models.append(ModelInfo("my_sentiment", ModelTask.TEXT))

    async def classify(self, model: str, texts: Sequence[str]) -> list[ScoredLabel]:
        return await self._local.classify("sentiment", texts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._local, name)


async def test_values_come_with_the_intent_where_there_is_no_model_for_them(local: LocalBackend) -> None:
    async with serving(NoTokens(local)) as port:
        [found] = await ask(backend(port), ["I lost my debit card on Friday"])
    assert (found.intent, found.slots) == ("card_replacement", {"date": "Friday"})


class Nothing:
    models = (ModelInfo("riva_punctuation", ModelTask.PUNCTUATION),)


@pytest.mark.parametrize(
    ("server", "told"),
    [
        (None, "have no language services since 2024"),
        (Nothing(), "lacks a model for sentiment (ClassifyText) and intents (AnalyzeIntent); it has: riva_punctuation"),
    ],
)
async def test_a_server_without_language_models_is_told_at_once(server: Any, told: str) -> None:
    async with serving(server) as port:
        with pytest.raises(Refused) as caught:
            await ask(backend(port))
    assert told in caught.value.message
    assert "language.backend" in caught.value.hint


async def test_the_stage_does_not_even_start_with_such_a_server(tmp_path: Path) -> None:
    async with serving(Nothing()) as port, Rig(tmp_path, backend(port)) as rig:
        stage = NlpWorker(rig.bus, rig.settings, rig.backend)
        with pytest.raises(Refused, match="cannot understand sentences"):
            await asyncio.wait_for(stage.run(), 10)


async def test_nobody_there(unused_tcp_port: int) -> None:
    with pytest.raises(Unavailable, match=f"127.0.0.1:{unused_tcp_port}"):
        await ask(backend(unused_tcp_port))


def test_a_certificate_that_is_not_there() -> None:
    with pytest.raises(BadInput, match=r"nowhere\.pem"):
        backend(1, root_cert="nowhere.pem")


class Guard(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Lets in who has the word."""

    async def intercept_service(self, continuation: Callable[..., Any], details: Any) -> Any:
        if ("authorization", "Bearer sesame") in tuple(details.invocation_metadata):
            return await continuation(details)

        async def refuse(request: Any, context: Any) -> None:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "no key")

        return grpc.unary_unary_rpc_method_handler(refuse)


async def test_metadata_is_sent(local: LocalBackend) -> None:
    server = grpc.aio.server(interceptors=[Guard()])
    register(local)(server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        [found] = await ask(backend(port, metadata={"authorization": "Bearer sesame"}), ["hello"])
        assert found.intent == "greeting"
        with pytest.raises(Refused, match="no key"):
            await ask(backend(port))
    finally:
        await server.stop(0)


async def test_the_stage_waits_for_a_server_that_is_away(
    tmp_path: Path, local: LocalBackend, unused_tcp_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nlp.worker.PAUSE_S", 0.05)
    async with Rig(tmp_path, backend(unused_tcp_port)) as rig:
        rig.start()
        await rig.state("live")
        await rig.say(said("I lost my card.", 0))
        await rig.state("ended")
        await asyncio.sleep(0.5)
        assert await rig.sentences() == []
        async with serving(local, unused_tcp_port):
            await rig.analysed()
            [sentence] = await rig.sentences()
            assert (sentence.intent, sentence.models["intent"]) == ("card_replacement", "riva:riva_intent_callcenter")


async def test_our_server_tells_the_intents_of_its_own_settings(tmp_path: Path) -> None:
    """What `tenor riva` serves, also where the pipeline beside it asks a server."""
    file = tmp_path / "intents.yaml"
    file.write_text("taxi: {description: d, examples: [order a taxi, get me a cab, i need a ride to the airport]}\n")
    async with serving(open_local(LanguageSettings(backend="riva", intents=str(file)))) as port:
        [found] = await ask(backend(port), ["could you order me a cab"])
    assert found.intent == "taxi"


async def test_the_pipeline_is_measured_through_a_server(local: LocalBackend) -> None:
    """It tells one label per sentence, where our model tells what all are worth."""
    sentences = [ReferenceSentence("c", 0, "caller", 0, 1, text, [text]) for text in TEXTS[:2]]
    async with serving(local) as port:
        riva = backend(port)
        judged = await asyncio.to_thread(judge, riva, sentences, sentiments_in_force(LanguageSettings(backend="riva")))
    assert judged.agreement.labels == ("negative", "neutral", "positive")
    assert judged.agreement.estimates()["mean difference"].value == 0
