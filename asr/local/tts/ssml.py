"""Plain text or SSML cut into sentences, so that the first is heard while the rest is still being made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from asr.local.errors import invalid

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')]*\s+|\n{2,}")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|e\.g|i\.e|[A-Z])\.$")
_CLAUSE_END = re.compile(r"(?<=[,;:])\s+|\s+-\s+")
_LONG = 300
_LONGEST_BREAK_MS = 10_000
_STRENGTH_MS = {"none": 0, "x-weak": 50, "weak": 150, "medium": 400, "strong": 700, "x-strong": 1000}
_TIME = re.compile(r"\s*\+?(\d+(?:\.\d+)?)(ms|s)\s*")


@dataclass(frozen=True, slots=True)
class SsmlSentence:
    text: str
    pause_ms: int = 0
    """Silence that follows."""


def split_sentences(text: str) -> list[SsmlSentence]:
    """Plain text or SSML. Of SSML breaks are honoured; other tags are not read aloud and change nothing."""
    if not text.strip():
        raise invalid("text must not be empty")
    if not text.lstrip().startswith("<speak"):
        return [SsmlSentence(sentence) for sentence in _sentences(text)]
    sentences: list[SsmlSentence] = []
    for part in _walk(_parse(text.strip())):
        if isinstance(part, str):
            sentences += [SsmlSentence(sentence) for sentence in _sentences(part)]
        elif sentences:
            sentences[-1] = SsmlSentence(sentences[-1].text, min(_LONGEST_BREAK_MS, sentences[-1].pause_ms + part))
        else:
            sentences.append(SsmlSentence("", part))
    if not any(sentence.text for sentence in sentences):
        raise invalid("text must not be empty")
    return sentences


def plain_text(sentences: list[SsmlSentence]) -> str:
    """The words alone, as they are spoken."""
    return " ".join(sentence.text for sentence in sentences if sentence.text)


def _sentences(text: str) -> Iterator[str]:
    """Cut after sentence ends, not after abbreviations, and in clauses where a sentence is very long."""
    begun = ""
    for piece in _SENTENCE_END.split(text):
        begun = f"{begun} {piece}".strip()
        if _ABBREVIATION.search(begun):
            continue
        yield from _clauses(begun)
        begun = ""
    yield from _clauses(begun)


def _clauses(sentence: str) -> Iterator[str]:
    sentence = " ".join(sentence.split())
    if len(sentence) <= _LONG:
        if sentence:
            yield sentence
        return
    begun = ""
    for clause in _CLAUSE_END.split(sentence):
        for piece in re.findall(rf".{{1,{_LONG}}}(?:\s+|$)|\S{{1,{_LONG}}}", clause):
            if begun and len(begun) + len(piece) > _LONG:
                yield begun
                begun = ""
            begun = f"{begun} {piece.strip()}".strip()
    if begun:
        yield begun


def _parse(text: str) -> ElementTree.Element:
    if "<!" in text:
        raise invalid("text: SSML with a document type or a comment is not read")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise invalid(f"text: this SSML cannot be read ({error})") from None


def _walk(element: ElementTree.Element) -> Iterator[str | int]:
    """Text and pauses (in ms) in the order they are heard; text around other tags stays together."""
    collected = ""
    for part in _parts(element):
        if isinstance(part, str):
            collected += part
            continue
        yield collected
        collected = ""
        yield part
    yield collected


def _parts(element: ElementTree.Element) -> Iterator[str | int]:
    if element.tag.rpartition("}")[2] == "break":
        yield _pause_ms(element)
    else:
        yield element.text or ""
        for child in element:
            yield from _parts(child)
            yield child.tail or ""


def _pause_ms(element: ElementTree.Element) -> int:
    time = element.get("time")
    if time is None:
        return _STRENGTH_MS.get(element.get("strength", "medium"), _STRENGTH_MS["medium"])
    found = _TIME.fullmatch(time)
    if found is None:
        raise invalid(f"text: a break of {time!r} is neither seconds nor milliseconds")
    return min(_LONGEST_BREAK_MS, round(float(found[1]) * (1000 if found[2] == "s" else 1)))
