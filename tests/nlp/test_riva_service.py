"""The language service as the official client sees it, on a model made by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc
import pytest
from riva.client.proto import riva_nlp_pb2 as pb
from riva.client.proto import riva_nlp_pb2_grpc

from nlp.inference.types import Answer, Entity, IntentResult, ModelInfo, ModelTask, ScoredLabel
from nlp.riva_service import register

MOSCOW = "What is the weather on Wednesday in Moscow?"


class Handmade:
    """Knows one sentence."""

    def __init__(self, *models: ModelInfo) -> None:
        self.models: Sequence[ModelInfo] = models

    async def classify(self, model: str, texts: Sequence[str]) -> list[ScoredLabel]:
        return [ScoredLabel(f"{model}.{len(text)}", 0.5) for text in texts]

    async def tag(self, model: str, texts: Sequence[str]) -> list[list[Entity]]:
        slots = [
            Entity("Wednesday", ScoredLabel("weatherforecastdaily", 0.9), 23, 32),
            Entity("Moscow", ScoredLabel("weatherplace", 0.8), 36, 42),
        ]
        return [slots if text == MOSCOW else [] for text in texts]

    async def intent(self, model: str, text: str) -> IntentResult:
        [slots] = await self.tag(model, [text])
        return IntentResult(ScoredLabel("weather", 0.99), ScoredLabel("weather.weather", 0.98), tuple(slots))

    async def domain(self, text: str) -> str | None:
        return "weather" if "weather" in text else None

    async def rewrite(self, model: str, texts: Sequence[str]) -> list[str]:
        return [f"{text.capitalize()}." for text in texts]

    async def answer(self, model: str, query: str, context: str, limit: int) -> list[Answer]:
        return [Answer(word, 0.5) for word in context.split()]


ALL = Handmade(
    ModelInfo("sentiment", ModelTask.TEXT),
    ModelInfo("topics", ModelTask.TEXT, "de-DE"),
    ModelInfo("slots", ModelTask.TOKENS),
    ModelInfo("ner", ModelTask.ENTITIES),
    ModelInfo("riva_intent_weather", ModelTask.INTENT, domain="weather"),
    ModelInfo("punctuation", ModelTask.PUNCTUATION),
    ModelInfo("numbers", ModelTask.TRANSFORM),
    ModelInfo("qa", ModelTask.QUESTIONS),
)


async def serve(model: Handmade) -> AsyncIterator[Any]:
    server = grpc.aio.server()
    register(model)(server)
    port = server.add_insecure_port("localhost:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"localhost:{port}") as channel:
        yield riva_nlp_pb2_grpc.RivaLanguageUnderstandingStub(channel)
    await server.stop(0)


@pytest.fixture
async def stub() -> AsyncIterator[Any]:
    async for each in serve(ALL):
        yield each


@pytest.fixture
async def empty() -> AsyncIterator[Any]:
    async for each in serve(Handmade()):
        yield each


async def test_one_label_a_text_in_order(stub: Any) -> None:
    request = pb.TextClassRequest(text=["a", "abc", "ab"], top_n=5)
    request.id.value = "7"
    response = await stub.ClassifyText(request)
    assert [[label.class_name for label in result.labels] for result in response.results] == [
        ["sentiment.1"],
        ["sentiment.3"],
        ["sentiment.2"],
    ]
    assert response.id.value == "7"


async def test_a_model_s_name_wins_over_a_language(stub: Any) -> None:
    named = pb.TextClassRequest(text=["a"], model=pb.NLPModelParams(model_name="topics", language_code="en-US"))
    assert (await stub.ClassifyText(named)).results[0].labels[0].class_name == "topics.1"
    german = pb.TextClassRequest(text=["a"], model=pb.NLPModelParams(language_code="de"))
    assert (await stub.ClassifyText(german)).results[0].labels[0].class_name == "topics.1"


async def test_tokens_are_lower_case_with_the_last_character_counted_in(stub: Any) -> None:
    response = await stub.ClassifyTokens(pb.TokenClassRequest(text=[MOSCOW, "Nothing."]))
    found = [
        [(v.token, v.label[0].class_name, v.span[0].start, v.span[0].end) for v in sequence.results]
        for sequence in response.results
    ]
    assert found == [[("wednesday", "weatherforecastdaily", 23, 31), ("moscow", "weatherplace", 36, 41)], []]
    entities = await stub.AnalyzeEntities(pb.AnalyzeEntitiesRequest(query=MOSCOW))
    assert len(entities.results) == 1
    assert len(entities.results[0].results) == 2


@pytest.mark.parametrize("domain", ["weather", ""])
async def test_intent_and_slots(stub: Any, domain: str) -> None:
    options = pb.AnalyzeIntentOptions(domain=domain)
    response = await stub.AnalyzeIntent(pb.AnalyzeIntentRequest(query=MOSCOW, options=options))
    assert (response.intent.class_name, response.domain.class_name, response.domain_str) == (
        "weather.weather",
        "weather",
        "weather",
    )
    assert [slot.token for slot in response.slots] == ["wednesday", "moscow"]


async def test_no_domain_fits(stub: Any) -> None:
    response = await stub.AnalyzeIntent(pb.AnalyzeIntentRequest(query="Hello"))
    assert response.domain.class_name == "nomatch.none"
    assert not response.HasField("intent")
    assert not response.slots


async def test_rewriting_and_answers(stub: Any) -> None:
    for call in (stub.PunctuateText, stub.TransformText):
        response = await call(pb.TextTransformRequest(text=["can you", "yes"]))
        assert list(response.text) == ["Can you.", "Yes."]
    for top_n, count in ((0, 1), (2, 2)):
        response = await stub.NaturalQuery(pb.NaturalQueryRequest(query="What?", context="five or six", top_n=top_n))
        assert len(response.results) == count


async def test_the_list_of_models(stub: Any) -> None:
    listed = (await stub.GetRivaNLPConfig(pb.RivaNLPConfigRequest())).model_config
    assert len(listed) == len(ALL.models)
    [intent] = (await stub.GetRivaNLPConfig(pb.RivaNLPConfigRequest(model_name="riva_intent_weather"))).model_config
    assert dict(intent.parameters) == {"language_code": "en-US", "task": "intent_slot", "domain": "weather"}


CALLS = [
    ("ClassifyText", pb.TextClassRequest(text=["a"])),
    ("ClassifyTokens", pb.TokenClassRequest(text=["a"])),
    ("AnalyzeEntities", pb.AnalyzeEntitiesRequest(query="a")),
    ("AnalyzeIntent", pb.AnalyzeIntentRequest(query="a")),
    ("PunctuateText", pb.TextTransformRequest(text=["a"])),
    ("TransformText", pb.TextTransformRequest(text=["a"])),
    ("NaturalQuery", pb.NaturalQueryRequest(query="a", context="b")),
]


@pytest.mark.parametrize(("method", "request_"), CALLS, ids=[method for method, _ in CALLS])
async def test_a_task_without_a_model_is_unimplemented(empty: Any, method: str, request_: Any) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await getattr(empty, method)(request_)
    assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert raised.value.details().startswith("this server has no model for ")
    assert not (await empty.GetRivaNLPConfig(pb.RivaNLPConfigRequest())).model_config


NAMED = [
    ("ClassifyText", pb.TextClassRequest),
    ("ClassifyTokens", pb.TokenClassRequest),
    ("PunctuateText", pb.TextTransformRequest),
    ("TransformText", pb.TextTransformRequest),
]


@pytest.mark.parametrize(("method", "message"), NAMED, ids=[method for method, _ in NAMED])
async def test_a_model_that_is_not_there_is_answered_as_riva_does(
    stub: Any, empty: Any, method: str, message: Any
) -> None:
    for server in (stub, empty):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await getattr(server, method)(message(text=["a"], model=pb.NLPModelParams(model_name="foo")))
        assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert raised.value.details() == "Error: Model foo is not a Riva API model, execution cannot be done"


@pytest.mark.parametrize(
    ("method", "request_", "text"),
    [
        ("ClassifyText", pb.TextClassRequest(), "text must not be empty"),
        ("PunctuateText", pb.TextTransformRequest(), "text must not be empty"),
        ("AnalyzeEntities", pb.AnalyzeEntitiesRequest(query=" "), "query must not be empty"),
        ("NaturalQuery", pb.NaturalQueryRequest(query="a"), "context must not be empty"),
        (
            "AnalyzeIntent",
            pb.AnalyzeIntentRequest(query="a", options=pb.AnalyzeIntentOptions(domain="music")),
            "Error: Model riva_intent_music is not a Riva API model, execution cannot be done",
        ),
        (
            "ClassifyText",
            pb.TextClassRequest(text=["a"], model=pb.NLPModelParams(language_code="ru-RU")),
            "no model for language ru-RU; there are de-DE, en-US",
        ),
    ],
)
async def test_requests_that_make_no_sense(stub: Any, method: str, request_: Any, text: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await getattr(stub, method)(request_)
    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert raised.value.details() == text
