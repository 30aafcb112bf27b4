"""Transcripts in the shapes in which programs put them into vCons.

the draft's WTF extension   segments with speaker numbers, words beside them
Deepgram                    results.channels[].alternatives[], utterances, paragraphs
AssemblyAI                  utterances, in milliseconds
Amazon Transcribe           results.items, one per word
Google                      results[].alternatives[].words, times such as "1.2s"
Azure                       recognizedPhrases, in ticks of 100 ns
Rev                         monologues of elements
Whisper, Tenor, others      a list of pieces with a text, a start and an end
text                        lines, with or without a name before them
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from ingest.text.formats import plain_text


class HeardWord(NamedTuple):
    text: str
    start_s: float
    end_s: float
    confidence: float = 0.0


class Segment(NamedTuple):
    """What somebody said without a break."""

    speaker: str
    """As the transcript names them; empty: it does not."""
    text: str
    start_s: float | None = None
    end_s: float | None = None
    words: tuple[HeardWord, ...] = ()
    party: int | None = None
    """The number of the party, where the transcript says that."""
    channel: int | None = None
    """The channel of the recording."""


_TEXT = ("text", "transcript", "message", "content", "display", "punctuated_word", "word")
_START = ("start", "start_time", "startTime", "start_s", "begin", "timestamp", "ts", "offset")
_END = ("end", "end_time", "endTime", "end_s", "stop", "end_ts")
_SPEAKER = ("speaker", "speaker_label", "speakerTag", "speaker_id", "name", "role", "participant", "user")
_SLOWEST_S = 20.0
"""Nobody takes so many seconds for a word: it was milliseconds."""
PAUSE_S = 1.0
"""Words of one speaker that come after a longer pause are another segment."""


def read(body: str) -> list[Segment]:
    """The segments in the order of time; none if the shape is not known. Raises nothing."""
    try:
        given: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        given = body
    if isinstance(given, str):
        return [Segment(message.speaker, message.text, message.at) for message in _lines(given) if message.text.strip()]
    for shape in _SHAPES:
        try:
            found = [one for one in shape(given) if one.text.strip()]
        except (TypeError, ValueError, KeyError, AttributeError, IndexError):
            continue
        if found:
            return sorted(_in_seconds(found), key=lambda one: one.start_s if one.start_s is not None else 0.0)
    return []


def _lines(text: str) -> Iterable[Any]:
    return plain_text.read(line + "\n" for line in text.splitlines())


def _wtf(given: Any) -> Iterator[Segment]:
    """The World Transcription Format: the words of a segment are numbers in the list of words."""
    words = given.get("words") or []
    for piece in given["segments"]:
        own = [words[number] for number in piece.get("words") or [] if isinstance(number, int)]
        own = own or [word for word in piece.get("words") or [] if isinstance(word, Mapping)]
        yield _piece(piece, own)


def _utterances(given: Any) -> Iterator[Segment]:
    holder = given.get("results", given)
    for piece in holder["utterances"]:
        yield _piece(piece, piece.get("words") or [])


def _deepgram(given: Any) -> Iterator[Segment]:
    """Of one channel, or of several; `paragraphs` know the speaker, and words do."""
    holder = given.get("results", given)
    channels = holder.get("channels", [{"alternatives": [holder]}])
    several = len(channels) > 1
    for number, channel in enumerate(channels):
        best = channel["alternatives"][0]
        if best.get("words"):
            yield from _from_words(best["words"], number if several else None)
        else:
            for paragraph in best["paragraphs"]["paragraphs"]:
                for sentence in paragraph["sentences"]:
                    found = _piece(sentence, [])
                    yield found._replace(speaker=_name(paragraph.get("speaker")), channel=number if several else None)


def _amazon(given: Any) -> Iterator[Segment]:
    words: list[dict[str, Any]] = []
    for item in given["results"]["items"]:
        best = item["alternatives"][0]
        if item.get("type") == "punctuation":
            if words:
                words[-1]["text"] += best["content"]
            continue
        label = item.get("speaker_label", item.get("channel_label"))
        words.append({"text": best["content"], "start": item["start_time"], "end": item["end_time"], "speaker": label})
    return _from_words(words)


def _google(given: Any) -> Iterator[Segment]:
    for result in given["results"]:
        best = result["alternatives"][0]
        channel = result["channelTag"] - 1 if isinstance(result.get("channelTag"), int) else None
        words = best.get("words") or []
        if words:
            yield from _from_words(words, channel)
        else:
            yield Segment("", str(best["transcript"]), end_s=_seconds(result.get("resultEndTime")), channel=channel)


def _azure(given: Any) -> Iterator[Segment]:
    for phrase in given["recognizedPhrases"]:
        start = phrase["offsetInTicks"] / 1e7
        end = start + phrase["durationInTicks"] / 1e7
        speaker, best = _name(phrase.get("speaker")), phrase["nBest"][0]
        yield Segment(speaker, str(best["display"]), start, end, channel=None if speaker else phrase.get("channel"))


def _rev(given: Any) -> Iterator[Segment]:
    for monologue in given["monologues"]:
        elements = monologue["elements"]
        words = [one for one in elements if one.get("type") == "text"]
        text = "".join(str(one.get("value", "")) for one in elements)
        heard = tuple(_word({**one, "text": one["value"]}) for one in words)
        begin, end = (heard[0].start_s, heard[-1].end_s) if heard else (None, None)
        yield Segment(_name(monologue.get("speaker")), text, begin, end, heard)


def _pieces(given: Any) -> Iterator[Segment]:
    """Any list of pieces with a text."""
    if isinstance(given, Mapping):
        names = ("segments", "transcript", "sentences", "turns", "messages", "monologues", "items", "dialogue")
        given = next((given[name] for name in names if isinstance(given.get(name), list)), ())
    for piece in given:
        yield _piece(piece, piece.get("words") or [])


def _alone(given: Any) -> Iterator[Segment]:
    """Nothing but a text: what a program says that knows neither times nor speakers."""
    found = next((given[key] for key in ("transcript", "text") if given.get(key)), None)
    found = found["text"] if isinstance(found, Mapping) else found
    if isinstance(found, str):
        yield from (Segment(message.speaker, message.text, message.at) for message in _lines(found))


_SHAPES: tuple[Callable[[Any], Iterator[Segment]], ...] = (
    *(_utterances, _wtf, _deepgram, _amazon, _google, _azure, _rev, _pieces, _alone),
)


def _piece(piece: Mapping[str, Any], words: Iterable[Mapping[str, Any]]) -> Segment:
    party, channel = piece.get("party"), piece.get("channel")
    text = next((piece[key] for key in _TEXT if isinstance(piece.get(key), str)), None)
    if text is None:
        raise KeyError("text")
    start, end = _first(piece, _START), _first(piece, _END)
    if end is None and start is not None and (length := _seconds(piece.get("duration"))) is not None:
        end = start + length
    return Segment(
        next((_name(piece[key]) for key in _SPEAKER if piece.get(key) is not None), ""),
        text.strip(),
        start,
        end,
        tuple(_word(word) for word in words if _first(word, _START) is not None),
        party if isinstance(party, int) and not isinstance(party, bool) else None,
        channel if isinstance(channel, int) and not isinstance(channel, bool) else None,
    )


def _from_words(words: Iterable[Mapping[str, Any]], channel: int | None = None) -> Iterator[Segment]:
    """Words as the segments of those who said them."""
    said: list[HeardWord] = []
    before = ""
    for one in words:
        word = _word(one)
        speaker = next((_name(one[key]) for key in _SPEAKER if one.get(key) is not None), "")
        if said and (speaker != before or word.start_s - said[-1].end_s > PAUSE_S):
            yield _joined(before, said, channel)
            said = []
        said.append(word)
        before = speaker
    if said:
        yield _joined(before, said, channel)


def _joined(speaker: str, said: list[HeardWord], channel: int | None) -> Segment:
    text = " ".join(word.text for word in said)
    return Segment(speaker, text, said[0].start_s, said[-1].end_s, tuple(said), channel=channel)


def _word(word: Mapping[str, Any]) -> HeardWord:
    text = next((word[key] for key in ("punctuated_word", *_TEXT) if isinstance(word.get(key), str)), "")
    start = _first(word, _START) or 0.0
    end = _first(word, _END)
    sure = word.get("confidence", word.get("probability"))
    return HeardWord(
        text.strip(), start, start if end is None else end, float(sure) if isinstance(sure, int | float) else 0.0
    )


def _in_seconds(found: list[Segment]) -> list[Segment]:
    words, spoken_s = 0, 0.0
    for one in found:
        if one.start_s is not None and one.end_s is not None:
            words, spoken_s = words + len(one.text.split()), spoken_s + one.end_s - one.start_s
    if not words or spoken_s / words < _SLOWEST_S:
        return found
    return [
        one._replace(
            start_s=None if one.start_s is None else one.start_s / 1000,
            end_s=None if one.end_s is None else one.end_s / 1000,
            words=tuple(word._replace(start_s=word.start_s / 1000, end_s=word.end_s / 1000) for word in one.words),
        )
        for one in found
    ]


def _first(piece: Mapping[str, Any], names: Iterable[str]) -> float | None:
    return next((at for name in names if (at := _seconds(piece.get(name))) is not None), None)


def _seconds(value: Any) -> float | None:
    """A number, as such or written: `1.2`, `1.2s`, `{"seconds": 1, "nanos": 200000000}`."""
    if isinstance(value, Mapping):
        value = float(value.get("seconds", 0)) + float(value.get("nanos", 0)) / 1e9
    if isinstance(value, str):
        try:
            value = float(value.strip().removesuffix("s"))
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e12 else None


def _name(value: Any) -> str:
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("name", "label", "id") if value.get(key) is not None), "")
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
