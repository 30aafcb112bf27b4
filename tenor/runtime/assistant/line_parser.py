"""A line alone, as the assistant reads it: the model's reading, checked by the rules and by the shop's catalogue."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from dialog.engine.interpretation.line import LABELS, SUGGESTED
from dialog.understanding.tags import bio_tags
from dialog.understanding.types import Intent, Reading, Span
from dialog.values.shop.item import ItemParser
from nlp.inference.assistant.assistant_model import DEFAULT, AssistantModel, Parsed, slots_of
from nlp.inference.assistant.tag_rules import ruled
from tenor.runtime.assistant.assistant import parsers_of
from tenor.runtime.assistant.understanding import UNSURE, CheckedModel
from tenor.taxonomy.assistant import NO_MATCH

NAMED: Final = ("item", "store")
"""Types of slots whose values the catalogue knows."""
SHOPPING: Final = frozenset(("price_check", "inventory_check", "store_location", "product_info", "reserve"))
"""Intents of lines in which a word of the catalogue is meant as one: a lost wallet is not for sale."""


class LineParser:
    """What `tenor assistant parse` prints, so that it is never worse than the conversation."""

    def __init__(self, folder: Path | None = None) -> None:
        self._model = AssistantModel(folder or DEFAULT)
        self._checked = CheckedModel(self._model)
        parsers = parsers_of(NAMED)
        self._catalogues = {
            label: parser.catalogue
            for kind, parser in parsers.items()
            if isinstance(parser, ItemParser)
            for label in LABELS[kind]
        }

    def read(self, text: str) -> Parsed:
        [parsed] = self._model.read([text])
        if not parsed.tokens:
            return parsed
        reading = self._checked.check(parsed)
        intent, spans = self._intent(reading), self._spans(reading)
        tags = ruled(parsed.tokens, bio_tags(text, spans) if spans else parsed.tags, intent.name)
        return replace(
            parsed, intent=intent.name, intent_score=intent.score, tags=tags, slots=slots_of(parsed.tokens, tags)
        )

    def _intent(self, reading: Reading) -> Intent:
        """A thing of the shop and nothing else is no small talk ("milk")."""
        first, words = reading.intents[0], reading.text.strip(" .?!")
        chatter = first.name.startswith("smalltalk.") and first.score < UNSURE
        if chatter and any(one.knows(words) for one in self._catalogues.values()):
            return Intent(NO_MATCH, first.score)
        return first

    def _spans(self, reading: Reading) -> list[Span]:
        """Those that are sure, and of the others those that the catalogue knows and nothing else stands on."""
        kept = [span for span in reading.spans if span.score >= SUGGESTED]
        ideas = [span for span in reading.spans if span.score < SUGGESTED]
        reach = max((span.end for span in ideas), default=0)
        near = [one for one in kept if one.start < reach]
        for span in ideas if reading.intents[0].name in SHOPPING else ():
            free = not any(one.start < span.end and span.start < one.end for one in near)
            if free and self._knows(span):
                kept.append(span)
                near.append(span)
        return sorted(kept, key=lambda span: span.start)

    def _knows(self, span: Span) -> bool:
        catalogue = self._catalogues.get(span.slot)
        return catalogue is not None and catalogue.knows(span.text)
