"""The dialogs of a vCon: recordings, messages, and what else happened in the call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ingest.sources import EXTENSIONS
from ingest.text.formats import email_html
from ingest.text.timestamps import parse
from ingest.vcon import bodies
from ingest.warnings import Warnings
from tenor.errors import BadInput

CLOCK_ONLY = 365 * 86400.0
_OVERLAP_S = 1.0
"""Clocks of two recordings one after the other may differ by so much."""


class RecordedPart(NamedTuple):
    content: bytes
    ending: str
    """Of its file: `.wav`."""


class TextMessage(NamedTuple):
    party: int
    at: float | None
    text: str


@dataclass
class Dialogs:
    recordings: list[RecordedPart] = field(default_factory=list)
    on_channels: list[int] = field(default_factory=list)
    """The parties of the recording, as its channels come."""
    texts: list[TextMessage] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    """The parties that take part, the first of them the one who began."""
    started_at: float | None = None
    transfers: list[str] = field(default_factory=list)
    silence: str = ""
    """Why nothing was said."""
    starts: dict[int, float] = field(default_factory=dict)
    """When a dialog began, by its number."""

    def offset(self, dialog: int) -> float:
        """In seconds from the beginning of the call."""
        start = self.starts.get(dialog)
        return max(0.0, start - self.started_at) if start is not None and self.started_at is not None else 0.0

    def release(self) -> None:
        """The bytes of the recordings lie in files."""
        self.recordings = [part._replace(content=b"") for part in self.recordings]


def read(given: Sequence[Mapping[str, Any]], people: int, folder: Path | None, warnings: Warnings) -> Dialogs:
    found = Dialogs()
    spoken: list[tuple[float | None, float, int]] = []
    parts: dict[int, RecordedPart] = {}
    for number, dialog in enumerate(given):
        place, kind = f"$.dialog[{number}]", dialog.get("type")
        at = _when(dialog, place, warnings)
        if at is not None:
            found.starts[number] = at
            found.started_at = at if found.started_at is None else min(found.started_at, at)
        own = _parties(dialog, people, place)
        if kind in ("recording", "text"):
            found.order += [party for party in _first(dialog, own, people) if party not in found.order]
        match kind:
            case "recording" if not (dialog.get("body") or dialog.get("url")):
                found.silence = found.silence or "its recording is not in it"
            case "recording":
                parts[number] = RecordedPart(bodies.content(dialog, place, folder), _ending(dialog))
                length = dialog.get("duration")
                spoken.append((at, float(length) if isinstance(length, int | float) else 0.0, number))
                found.on_channels = found.on_channels or own
            case "text":
                _take_text(found, dialog, own, at, place, folder, warnings)
            case "incomplete":
                found.silence = f"an incomplete call ({str(dialog.get('disposition') or 'no reason given')[:40]})"
            case "transfer":
                found.transfers.append(_transfer(dialog))
            case _:
                warnings.add(f"left out: a dialog of type {str(kind)[:40]!r}")
    spoken.sort(key=lambda one: (one[0] is not None, one[0] or 0.0, one[2]))
    _check_overlap(spoken)
    found.recordings = [parts[number] for _, _, number in spoken]
    found.texts.sort(key=lambda one: one.at if one.at is not None else 0.0)
    return found


def _check_overlap(spoken: Sequence[tuple[float | None, float, int]]) -> None:
    for (start, length, number), (after, _, other) in pairwise(spoken):
        if start is not None and after is not None and after < start + length - _OVERLAP_S:
            raise BadInput(
                f"two recordings of the same time at `$.dialog[{number}]` and `$.dialog[{other}]`",
                "make one file of them, each party on a channel of its own",
            )


def _take_text(
    found: Dialogs,
    dialog: Mapping[str, Any],
    own: Sequence[int],
    at: float | None,
    place: str,
    folder: Path | None,
    warnings: Warnings,
) -> None:
    mediatype = str(dialog.get("mediatype") or dialog.get("mimetype") or "text/plain").partition(";")[0].strip().lower()
    if not mediatype.startswith("text/"):
        warnings.add(f"left out: a text of the type {mediatype[:40]}")
        return
    text = bodies.text(dialog, place, folder)
    if mediatype == "text/html":
        text = email_html.to_text(text)
    if text := text.strip():
        found.texts.append(TextMessage(own[0] if own else 0, at, text))


def _parties(dialog: Mapping[str, Any], people: int, place: str) -> list[int]:
    """One number, a list of them, or a list with a list for each channel."""
    given = dialog.get("parties")
    listed = given if isinstance(given, list) else [] if given is None else [given]
    numbers: list[int] = []
    for one in listed:
        one = one[0] if isinstance(one, list) and one else one
        if not isinstance(one, int) or isinstance(one, bool) or not 0 <= one < max(people, 1):
            raise BadInput(f"no such party at `{place}.parties`")
        numbers.append(one)
    return numbers


def _first(dialog: Mapping[str, Any], own: list[int], people: int) -> list[int]:
    originator = dialog.get("originator")
    if isinstance(originator, int) and not isinstance(originator, bool) and 0 <= originator < people:
        return [originator, *(party for party in own if party != originator)]
    return own


def _when(dialog: Mapping[str, Any], place: str, warnings: Warnings) -> float | None:
    given = dialog.get("start")
    if given in (None, ""):
        return None
    at = parse(str(given))
    if at is None or at < CLOCK_ONLY:
        warnings.add(f"cannot read the time {str(given)[:40]!r} at `{place}.start`")
        return None
    return at


def _ending(dialog: Mapping[str, Any]) -> str:
    """What the file is called; decoders look into it anyway."""
    mediatype = str(dialog.get("mediatype") or dialog.get("mimetype") or "").partition(";")[0]
    for name in (str(dialog.get("filename") or ""), str(dialog.get("url") or "").partition("?")[0]):
        if (ending := PurePosixPath(name).suffix.lower()) in EXTENSIONS:
            return ending
    kind = f".{mediatype.rpartition('/')[2].removeprefix('x-')}"
    return kind if kind in EXTENSIONS else ".wav"


def _transfer(dialog: Mapping[str, Any]) -> str:
    def one(key: str) -> str:
        value = dialog.get(key, dialog.get(key.replace("-", "_")))
        return str(value) if isinstance(value, int) else "?"

    return f"party {one('transferor')} transferred party {one('transferee')} to party {one('transfer-target')}"
