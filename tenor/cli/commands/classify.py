"""`tenor classify`: sentiment, intent and values of sentences."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from tenor.cli.context import settings
from tenor.errors import BadInput
from tenor.runtime.profiles import EVERY_CORE

if TYPE_CHECKING:
    from nlp.inference.types import SentenceAnalysis

CHUNK = 1 << 16
"""Bytes read at once: a file goes through in batches of a thousand lines."""


def classify(
    context: typer.Context,
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Sentences; without any, the lines of stdin.")
    ] = None,
    intents: Annotated[
        Path | None, typer.Option("--intents", metavar="FILE", help="Intents to tell apart, in place of ours.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", metavar="FOLDER", help="Another model; what it does not tell, ours does.")
    ] = None,
) -> None:
    """Tell how sentences feel, what they want, and which values are in them. JSON lines, one a sentence.

    Lines of standard input are answered as they come, empty ones included, so that answers stay beside questions.
    """
    from nlp.inference.backend import open_backend
    from nlp.inference.plugins import load_classifiers

    chosen = settings(context, unless_set=EVERY_CORE, language__intents=_path(intents), language__model=_path(model))
    if not texts and sys.stdin.isatty():
        raise BadInput("nothing to classify", 'tenor classify "my card was stolen", or sentences on standard input')
    backend = open_backend(chosen)
    classifiers = load_classifiers(chosen.language.classifiers, backend)
    for batch in [texts] if texts else _arriving():
        found = backend.analyze(batch)
        for understood, labels in zip(found, classifiers.labels(found), strict=True):
            shown = _shown(understood) | ({"labels": labels} if chosen.language.classifiers else {})
            typer.echo(json.dumps(shown, ensure_ascii=False))


def _path(given: Path | None) -> str | None:
    return str(given) if given else None


def _arriving() -> Iterator[Sequence[str]]:
    """Lines of standard input, as many at a time as are there: a program that waits for each answer gets it."""
    stdin = cast(io.BufferedReader, sys.stdin.buffer)
    rest, count = b"", 0
    while chunk := stdin.read1(CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from _decoded(lines, count)
        count += len(lines)
    if rest:
        yield from _decoded([rest], count)


def _decoded(lines: Sequence[bytes], before: int) -> Iterator[Sequence[str]]:
    """The lines as text; when one is none, those before it are answered before that is told."""
    texts: list[str] = []
    try:
        texts.extend(line.decode("utf-8").rstrip("\r") for line in lines)  # keeps those before one that is none
    except UnicodeDecodeError:
        if texts:
            yield texts
        raise BadInput(f"line {before + len(texts) + 1} of standard input is not UTF-8 text") from None
    if texts:
        yield texts


def _shown(understood: SentenceAnalysis) -> dict[str, object]:
    shown: dict[str, object] = {
        "text": understood.text,
        "sentiment": understood.sentiment,
        "sentiment_scores": {label: round(score, 4) for label, score in understood.sentiment_scores.items()},
        "intent": understood.intent,
        "intent_score": round(understood.intent_score, 4),
        "slots": understood.slots,
    }
    if understood.language != "en":
        shown["language"] = understood.language
    return shown
