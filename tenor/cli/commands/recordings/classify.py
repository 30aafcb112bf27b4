"""`tenor classify`: sentiment, intent and values of sentences."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import msgspec
import typer

from tenor.cli.context import settings
from tenor.cli.output import complain, echo
from tenor.errors import BadInput
from tenor.runtime.profiles import EVERY_CORE

if TYPE_CHECKING:
    from nlp.inference.plugins import Classifiers
    from nlp.inference.types import Backend, SentenceAnalysis, SentenceContext

CHUNK = 1 << 16
"""Bytes read at once: a file goes through in batches of a thousand lines."""
SHOWN_WORDS, LEAST = 5, 0.01
"""Words that people are shown as an answer's reasons, and how much they must have moved it."""


class InputFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class OutputFormat(StrEnum):
    JSON = "json"
    TEXT = "text"


class SentenceLine(msgspec.Struct, frozen=True):
    """A line of `--input json`."""

    text: str
    role: Literal["caller", "agent"] | None = None
    before: str | None = None


def classify(
    context: typer.Context,
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="Sentences; by default the lines of standard input.")
    ] = None,
    intents: Annotated[
        Path | None,
        typer.Option("--intents", metavar="FILE", help="Intents to choose from, instead of those that ship."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="FOLDER", help="Your model; the shipped one answers what it does not."),
    ] = None,
    form: Annotated[
        InputFormat,
        typer.Option(
            "--input", help='What a line is: a sentence, or JSON {"text", "role", "before"}, of which text is needed.'
        ),
    ] = InputFormat.TEXT,
    why: Annotated[bool, typer.Option("--why", help="Also say how much each word counted for the answer.")] = False,
    output: Annotated[
        OutputFormat, typer.Option("--output", help="JSON lines for programs, or text for people.")
    ] = OutputFormat.JSON,
) -> None:
    """Classify sentences: sentiment, intent and the values in them, as one line of JSON per sentence.

    Lines of standard input are answered one by one, empty ones included, so that line N of the output belongs to line N
    of the input. With --input json, a line may say who speaks (caller or agent) and what was said before. A line that
    cannot be read gives {"error", "line"}, the others go on, and the command exits with 2.

    With --why, the model is asked again without each word: the influence of a word is what the score loses.
    """
    from nlp.inference.backend import open_backend
    from nlp.inference.plugins import load_classifiers

    chosen = settings(context, unless_set=EVERY_CORE, language__intents=_path(intents), language__model=_path(model))
    if not texts and sys.stdin.isatty():
        raise BadInput("nothing to classify", 'tenor classify "my card was stolen", or sentences on standard input')
    backend = open_backend(chosen)
    asking = Asking(backend, load_classifiers(chosen.language.classifiers, backend), why)
    show = _print if output is OutputFormat.JSON else _print_text
    if form is InputFormat.JSON:
        batches = [[text.encode() for text in texts]] if texts else _chunks()
        if not _answer_json(batches, asking, show):
            raise typer.Exit(2)
        return
    for batch in [texts] if texts else _arriving():
        for shown in asking.answers(batch):
            show(shown)


class Asking:
    """Answers as they are shown, with the reasons if they are wanted."""

    def __init__(self, backend: Backend, classifiers: Classifiers, why: bool) -> None:
        self._backend, self._classifiers, self._why = backend, classifiers, why

    def answers(
        self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()
    ) -> Iterator[dict[str, object]]:  # fmt: skip
        from nlp.evaluation.word_influence import word_influences

        found = self._backend.analyze(texts, contexts)
        labels = self._classifiers.labels(found)
        reasons = word_influences(self._backend, found, contexts) if self._why else [None] * len(found)
        for understood, own, reason in zip(found, labels, reasons, strict=True):
            shown = _shown(understood) | ({"labels": own} if self._classifiers else {})
            yield shown | ({"why": asdict(reason)} if reason is not None else {})


def _answer_json(
    batches: Iterable[Sequence[bytes]], asking: Asking, show: Callable[[dict[str, Any]], None]
) -> bool:  # fmt: skip
    """Every line in its order; whether all of them could be read."""
    from nlp.inference.types import SentenceContext

    numbers, all_read = count(1), True
    for batch in batches:
        lines = [_read(line, number) for line, number in zip(batch, numbers, strict=False)]
        read = [line for line in lines if isinstance(line, SentenceLine)]
        contexts = [SentenceContext(line.role or "", line.before) for line in read]
        answers = asking.answers([line.text for line in read], contexts)
        for line in lines:
            all_read = all_read and isinstance(line, SentenceLine)
            show(next(answers) if isinstance(line, SentenceLine) else line)
    return all_read


def _read(line: bytes, number: int) -> SentenceLine | dict[str, object]:
    try:
        return msgspec.json.decode(line, type=SentenceLine)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        what = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        complain(f"line {number}: {what}")
        return {"error": what, "line": number}


def _print(value: dict[str, Any]) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False))


def _print_text(value: dict[str, Any]) -> None:
    """A sentence with its answers below it, each with the words that moved it most."""
    if "error" in value:  # which was complained of
        return
    echo(value["text"])
    reasons = value.get("why", {})
    scores = {"sentiment": value["sentiment_scores"].get(value["sentiment"], 0.0), "intent": value["intent_score"]}
    for head, score in scores.items():
        echo(f"  {value[head]} {score:.2f}{_reasons(reasons.get(head, ()))}")
    for name, text in {**value["slots"], **value.get("labels", {})}.items():
        echo(f"  {name}: {text}")


def _reasons(words: Sequence[dict[str, Any]]) -> str:
    strongest = [one for one in words if abs(one["moved"]) >= LEAST][:SHOWN_WORDS]
    return "   " + ", ".join(f"{one['word']} {one['moved']:+.2f}" for one in strongest) if strongest else ""


def _path(given: Path | None) -> str | None:
    return str(given) if given else None


def _arriving() -> Iterator[Sequence[str]]:
    """Lines of standard input as text."""
    before = 0
    for lines in _chunks():
        yield from _decoded(lines, before)
        before += len(lines)


def _chunks() -> Iterator[Sequence[bytes]]:
    """Lines of standard input, as many at a time as are there: a program that waits for each answer gets it."""
    stdin = cast(io.BufferedReader, sys.stdin.buffer)
    rest = b""
    while chunk := stdin.read1(CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:
            yield lines
    if rest:
        yield [rest]


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
