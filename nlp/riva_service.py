# ruff: noqa: N802 (gRPC gives the names of the methods)
"""Riva's language service, on whatever models there are.

NVIDIA deprecated most of it in 2024 and current Riva servers no longer answer; ours does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import grpc
from riva.client.proto import riva_nlp_pb2, riva_nlp_pb2_grpc

from nlp.inference.types import Entity, LanguageModels, ModelInfo, ModelTask, ScoredLabel

SERVICE = "nvidia.riva.nlp.RivaLanguageUnderstanding"
_NO_MATCH = "nomatch.none"

Context = Any


def register(language_models: LanguageModels) -> Callable[[grpc.aio.Server], None]:
    """What a server calls to offer this service."""

    def add(server: grpc.aio.Server) -> None:
        riva_nlp_pb2_grpc.add_RivaLanguageUnderstandingServicer_to_server(LanguageService(language_models), server)

    return add


class LanguageService(riva_nlp_pb2_grpc.RivaLanguageUnderstandingServicer):  # type: ignore[misc]
    """Texts are answered in the order they came, as many as came. A model that is not there is answered as Riva does; a
    task without any is UNIMPLEMENTED."""

    def __init__(self, language_models: LanguageModels) -> None:
        self._language_models = language_models

    async def ClassifyText(self, request: Any, context: Context) -> Any:
        model = await self._batch_model(ModelTask.TEXT, request, context)
        response = riva_nlp_pb2.TextClassResponse(id=_id(request))
        for label in await self._language_models.classify(model, list(request.text)):
            response.results.add(labels=[_label(label)])
        return response

    async def ClassifyTokens(self, request: Any, context: Context) -> Any:
        model = await self._batch_model(ModelTask.TOKENS, request, context)
        response = riva_nlp_pb2.TokenClassResponse(id=_id(request))
        for found in await self._language_models.tag(model, list(request.text)):
            response.results.add(results=_values(found))
        return response

    async def AnalyzeEntities(self, request: Any, context: Context) -> Any:
        model = await self._model(ModelTask.ENTITIES, "", request.options.lang, context)
        await _needs(context, query=request.query)
        [found] = await self._language_models.tag(model, [request.query])
        response = riva_nlp_pb2.TokenClassResponse(id=_id(request))
        response.results.add(results=_values(found))
        return response

    async def AnalyzeIntent(self, request: Any, context: Context) -> Any:
        await self._model(ModelTask.INTENT, "", request.options.lang, context)
        await _needs(context, query=request.query)
        response = riva_nlp_pb2.AnalyzeIntentResponse(id=_id(request))
        domain = request.options.domain.strip() or await self._language_models.domain(request.query)
        if domain is None:
            response.domain.class_name = response.domain_str = _NO_MATCH
            return response
        known = {model.domain: model.name for model in self._models(ModelTask.INTENT)}
        if domain not in known:
            await _not_a_model(context, f"riva_intent_{domain}")
        found = await self._language_models.intent(known[domain], request.query)
        response.intent.CopyFrom(_label(found.intent))
        response.domain.CopyFrom(_label(found.domain))
        response.domain_str = found.domain.name
        response.slots.extend(_values(found.slots))
        return response

    async def PunctuateText(self, request: Any, context: Context) -> Any:
        return await self._rewritten(ModelTask.PUNCTUATION, request, context)

    async def TransformText(self, request: Any, context: Context) -> Any:
        return await self._rewritten(ModelTask.TRANSFORM, request, context)

    async def NaturalQuery(self, request: Any, context: Context) -> Any:
        model = await self._model(ModelTask.QUESTIONS, "", "", context)
        await _needs(context, query=request.query, context=request.context)
        limit = max(1, request.top_n)
        answers = await self._language_models.answer(model, request.query, request.context, limit)
        response = riva_nlp_pb2.NaturalQueryResponse(id=_id(request))
        for answer in answers[:limit]:
            response.results.add(answer=answer.text, score=answer.score)
        return response

    async def GetRivaNLPConfig(self, request: Any, context: Context) -> Any:
        response = riva_nlp_pb2.RivaNLPConfigResponse()
        for model in self._language_models.models:
            if request.model_name in ("", model.name):
                parameters = {"language_code": model.language, "task": model.task.value}
                if model.domain:
                    parameters["domain"] = model.domain
                response.model_config.add(model_name=model.name, parameters=parameters)
        return response

    async def _rewritten(self, task: ModelTask, request: Any, context: Context) -> Any:
        model = await self._batch_model(task, request, context)
        texts = await self._language_models.rewrite(model, list(request.text))
        return riva_nlp_pb2.TextTransformResponse(text=texts, id=_id(request))

    async def _batch_model(self, task: ModelTask, request: Any, context: Context) -> str:
        """The model of a request that carries several texts."""
        model = await self._model(task, request.model.model_name, request.model.language_code, context)
        if not request.text:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "text must not be empty")
        return model

    async def _model(self, task: ModelTask, name: str, language: str, context: Context) -> str:
        """A name wins over a language, and the first model of the task over both when neither is given."""
        models = self._models(task)
        if not models and not name:
            await context.abort(
                grpc.StatusCode.UNIMPLEMENTED, f"this server has no model for {task.value.replace('_', ' ')}"
            )
        for model in models:
            if name in (model.name, "") and (name or _speaks(model, language)):
                return model.name
        if name:
            await _not_a_model(context, name)
        await context.abort(
            grpc.StatusCode.INVALID_ARGUMENT,
            f"no model for language {language}; there are {', '.join(sorted({model.language for model in models}))}",
        )
        raise AssertionError("abort raises")

    def _models(self, task: ModelTask) -> list[ModelInfo]:
        return [model for model in self._language_models.models if model.task is task]


def _speaks(model: ModelInfo, language: str) -> bool:
    return language.lower() in ("", model.language.lower(), model.language.partition("-")[0].lower())


async def _not_a_model(context: Context, name: str) -> NoReturn:
    """Riva's own sentence."""
    text = f"Error: Model {name} is not a Riva API model, execution cannot be done"
    await context.abort(grpc.StatusCode.INVALID_ARGUMENT, text)
    raise AssertionError("abort raises")


async def _needs(context: Context, /, **fields: str) -> None:
    for name, value in fields.items():
        if not value.strip():
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"{name} must not be empty")


def _id(request: Any) -> Any:
    return request.id if request.HasField("id") else None


def _label(label: ScoredLabel) -> Any:
    return riva_nlp_pb2.Classification(class_name=label.name, score=label.score)


def _values(entities: Iterable[Entity]) -> list[Any]:
    """Riva writes tokens in lower case and counts the last character in."""
    return [
        riva_nlp_pb2.TokenClassValue(
            token=entity.text.lower(),
            label=[_label(entity.label)],
            span=[riva_nlp_pb2.Span(start=entity.start, end=entity.end - 1)],
        )
        for entity in entities
    ]
