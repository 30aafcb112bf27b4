"""A vCon of another program, read: a call to be.

recording, no transcript   the speech stage writes it down, as any recording
recording and transcript   the words are the transcript's, and the recording is kept
transcript or texts alone  a call whose words need no recogniser
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ingest.options import IngestOptions
from ingest.sources import Source
from ingest.text.conversation import LONGEST_MS, READING_MS, WrittenTurn
from ingest.text.long_messages import LONGEST, pieces
from ingest.text.timestamps import parse
from ingest.vcon import dialogs, parties, transcripts
from ingest.vcon.bodies import text as text_of
from ingest.vcon.dialogs import Dialogs
from ingest.vcon.transcripts import Segment
from ingest.warnings import Warnings
from tenor.errors import BadInput
from tenor.events import Call, Medium, Word
from tenor.reading import reading

if TYPE_CHECKING:
    from ingest.audio.recording import Recording

VERSIONS = ("0.0.1", "0.0.2", "0.3.0", "0.4.0")
MOST_DIALOGS = 10_000
_KNOWN = {
    *("vcon", "uuid", "extensions", "critical", "must_support", "created_at", "updated_at", "subject", "redacted"),
    *("amended", "appended", "group", "parties", "dialog", "analysis", "attachments", "meta"),
}
SHORTEST_MS = 1


class VconCall:
    """`given` is the vCon without an envelope, `folder` where files may lie that it names, `scratch` a folder for its
    recording, which is there as long as the call is used."""

    def __init__(
        self,
        given: Mapping[str, Any],
        name: str,
        scratch: Path,
        options: IngestOptions,
        *,
        folder: Path | None = None,
        agents: Sequence[str] = (),
        signed: bool = False,
    ) -> None:
        self.name = name
        self.warnings = Warnings(name)
        with reading(name):
            try:
                self._read(given, scratch, options, folder, agents, signed)
            except BadInput as error:
                raise BadInput(f"{name}: {error.message}", error.hint) from None

    def _read(
        self,
        given: Mapping[str, Any],
        scratch: Path,
        options: IngestOptions,
        folder: Path | None,
        agents: Sequence[str],
        signed: bool,
    ) -> None:
        warnings = self.warnings
        if given.get("vcon") not in VERSIONS:
            warnings.add(f"vCon version {str(given.get('vcon'))[:20]!r} is not known here: read as {VERSIONS[-1]}")
        if signed:
            warnings.add("it is signed; the signature was not verified")
        people = _objects(given, "parties")
        if len(people) > parties.MOST or len(_objects(given, "dialog")) > MOST_DIALOGS:
            raise BadInput(f"more than {parties.MOST} parties or {MOST_DIALOGS} dialogs: no call has them")
        self._dialogs = found = dialogs.read(_objects(given, "dialog"), len(people), folder, warnings)
        segments = self._transcript(_objects(given, "analysis"), folder)
        order = found.order or list(range(len(people))) or [0, 1]
        named = [segment.party for segment in segments if segment.party is not None]
        order += [number for number in dict.fromkeys(named) if number not in order and 0 <= number < len(people)]
        self._parties = parties.assign(people, order, agents, warnings)
        self.roles = self._parties.roles
        self._voices: tuple[str, ...] = ()
        self._began = _time(given, found)
        self.medium: Medium = "voice" if found.recordings or segments else "chat"
        self._turns = self._spoken(segments) if segments else self._written(found)
        if not self._turns and not found.recordings:
            raise BadInput(f"nothing in it was said: {found.silence or 'it has no dialog'}")
        if found.recordings and not segments and found.texts:
            warnings.add(f"{_count(len(found.texts), 'message')} beside the recording left out")
        self._tell_rest(given)
        self.digest = hashlib.sha256(msgspec.json.encode(given, order="sorted")).hexdigest()
        identity = re.sub(r"[^A-Za-z0-9-]", "", str(given.get("uuid") or ""))[:64] or self.digest[:12]
        self.call = options.call or f"vcon-{identity}"
        self.options = replace(
            options,
            call=self.call,
            roles=self._recording_roles(options),
            speakers=1 if len(self._parties.roles) == 1 else options.speakers,
            agent=options.agent or self._parties.agent,
            customer=options.customer or self._parties.customer,
            started_at=self._began,
            attributes=self._attributes(given) | dict(options.attributes),
        )
        self._source = self._store(scratch) if found.recordings else None

    @property
    def to_recognize(self) -> bool:
        """Whether it has a recording, and nobody wrote down what was said in it."""
        return self._source is not None and not self._turns

    @property
    def has_recording(self) -> bool:
        return self._source is not None

    def recording(self) -> Recording:
        """Opened, which says whose channel is whose."""
        from ingest.audio.recording import open_recording  # decoders, which texts do not need

        assert self._source is not None
        recording = open_recording(self._source, self.options)
        self.roles = (*recording.roles, *(role for role in self._parties.roles if role not in recording.roles))
        self._voices = recording.speakers
        return recording

    def info(self) -> Call:
        options = self.options
        return Call(
            source="vcon",
            medium=self.medium,
            roles=self.roles,
            speakers=self._voices,
            started_at=self._began or time.time(),
            site=options.site,
            queue=options.queue,
            agent=options.agent,
            customer=options.customer,
            language=options.language,
            record=options.record,
            redact=options.redact,
            attributes={**options.attributes, **({"warnings": "\n".join(self.warnings)} if self.warnings else {})},
        )

    def turns(self) -> Iterator[WrittenTurn]:
        for party, turn in self._turns:
            role = self._parties.role(party)
            yield turn._replace(channel=self.roles.index(role), role=role)

    def _transcript(self, analyses: Sequence[Mapping[str, Any]], folder: Path | None) -> list[Segment]:
        """The first transcript that can be read; what else programs found out is left out, and told."""
        found: list[Segment] = []
        seen: list[Any] = []
        others: dict[str, int] = {}
        for number, analysis in enumerate(analyses):
            kind, vendor = str(analysis.get("type") or "")[:40], str(analysis.get("vendor") or "")[:40]
            named = f"{kind or 'analysis'} by {vendor}" if vendor else kind or "analysis"
            if "transcript" not in kind.lower():
                others[named] = others.get(named, 0) + 1
                continue
            read: list[Segment] = []
            try:
                read = transcripts.read(text_of(analysis, f"$.analysis[{number}]", folder))
            except BadInput as error:
                self.warnings.add(f"the {named} was left out: {error.message}")
                continue
            if not read:
                self.warnings.add(f"the {named} was left out: its shape is not known")
            elif analysis.get("dialog") in seen:
                self.warnings.add(f"the {named} was left out: the first transcript is used")
            else:
                seen.append(analysis.get("dialog"))
                found += self._placed(read, analysis.get("dialog"))
        for named, count in others.items():
            self.warnings.add(f"left out: {named}" + (f" ({count})" if count > 1 else ""))
        return sorted(found, key=lambda one: one.start_s or 0.0) if len(seen) > 1 else found

    def _placed(self, read: list[Segment], dialog: Any) -> list[Segment]:
        """Of a transcript of one of several dialogs: where in the call that dialog began."""
        number = dialog[0] if isinstance(dialog, list) and dialog else dialog
        offset = self._dialogs.offset(number) if isinstance(number, int) else 0.0
        if not offset:
            return read
        return [
            one._replace(
                start_s=None if one.start_s is None else one.start_s + offset,
                end_s=None if one.end_s is None else one.end_s + offset,
                words=tuple(
                    word._replace(start_s=word.start_s + offset, end_s=word.end_s + offset) for word in one.words
                ),
            )
            for one in read
        ]

    def _spoken(self, segments: list[Segment]) -> list[tuple[int, WrittenTurn]]:
        """Each with its party."""
        party_of = self._speakers(segments)
        turns: list[tuple[int, WrittenTurn]] = []
        newest_ms = dict.fromkeys(range(len(self.roles)), -1)
        end_ms = 0
        for segment in segments:
            party = party_of(segment)
            channel = self._parties.channels[party]
            text = " ".join(segment.text.split())
            start_ms = end_ms if segment.start_s is None else _ms(segment.start_s)
            start_ms = max(start_ms, newest_ms[channel] + 1)  # ids are made of it
            ends = start_ms + READING_MS * len(text) if segment.end_s is None else _ms(segment.end_s)
            end_ms = min(max(ends, start_ms + SHORTEST_MS), 2**31 - 1)
            newest_ms[channel] = start_ms
            words = tuple(
                Word(
                    text=word.text,
                    start_ms=_ms(word.start_s),
                    end_ms=max(_ms(word.start_s), _ms(word.end_s)),
                    confidence=min(max(word.confidence, 0.0), 1.0),
                )
                for word in segment.words
                if word.text
            )
            turns.append((party, WrittenTurn(channel, "", start_ms, end_ms, text, words)))
        return turns

    def _speakers(self, segments: list[Segment]) -> Any:
        """Which party said a segment: as the transcript says, else by the channel, else by the name of the speaker,
        else in the order in which they are heard."""
        order = self._dialogs.order or list(self._parties.channels)
        labels = list(dict.fromkeys(one.speaker for one in segments if one.party is None and one.channel is None))
        known = {
            label: self._parties.labels[label.casefold()]
            for label in labels
            if label.casefold() in self._parties.labels
        }
        for label in labels:
            number = next(
                (party for party in self._parties.channels if label.casefold() == self._parties.role(party)), None
            )
            if number is not None:
                known.setdefault(label, number)
        free = [number for number in order if number not in known.values()]
        unknown = [label for label in labels if label not in known]
        if unknown and len(order) > 1:
            if unknown == [""] and len(labels) == 1:
                self.warnings.add("the transcript does not say who speaks: all of it is one side's")
            else:
                self.warnings.add("which speaker of the transcript is which party is a guess, by who speaks first")
        for label in unknown:
            known[label] = free.pop(0) if free else order[-1]

        def party(segment: Segment) -> int:
            if segment.party is not None and segment.party in self._parties.channels:
                return segment.party
            if segment.channel is not None and 0 <= segment.channel < len(order):
                return order[segment.channel]
            return known.get(segment.speaker, order[0])

        return party

    def _written(self, found: Dialogs) -> list[tuple[int, WrittenTurn]]:
        turns: list[tuple[int, WrittenTurn]] = []
        end_ms = 0
        for message in found.texts:
            if message.at is not None and self._began:
                end_ms = max(end_ms, min(round((message.at - self._began) * 1000), LONGEST_MS))
            if len(message.text) > LONGEST:
                self.warnings.add(f"a message of {len(message.text):,} characters was taken in pieces")
            for piece in pieces(message.text):
                start_ms, end_ms = end_ms, end_ms + len(piece)
                turns.append((message.party, WrittenTurn(0, "", start_ms, end_ms, piece)))
        return turns

    def _recording_roles(self, options: IngestOptions) -> tuple[str, ...]:
        """Whose channel is whose: as the dialog lists its parties, if they are two."""
        own = [self._parties.role(number) for number in self._dialogs.on_channels if number in self._parties.channels]
        if len(own) == 2 and len(set(own)) == 2:
            return tuple(own)
        if len(set(own)) > 2:
            self.warnings.add("more than two parties share its recording: those of two channels are heard")
        return tuple(options.ordered_roles)

    def _attributes(self, given: Mapping[str, Any]) -> dict[str, str]:
        attributes = {
            "file": self.name.rpartition("/")[2],
            "vcon": str(given.get("uuid") or ""),
            "vcon_sha256": self.digest,
            "subject": str(given.get("subject") or "")[:500],
            "transfer": "; ".join(self._dialogs.transfers),
        }
        return {key: value for key, value in attributes.items() if value}

    def _tell_rest(self, given: Mapping[str, Any]) -> None:
        attachments = _objects(given, "attachments")
        if attachments:
            kinds = dict.fromkeys(
                str(one.get("purpose") or one.get("type") or one.get("filename") or "?")[:40] for one in attachments
            )
            self.warnings.add(f"left out: {_count(len(attachments), 'attachment')} ({', '.join(list(kinds)[:5])})")
        if given.get("group"):
            self.warnings.add("it belongs to a group of vCons, which are not looked for")
        if given.get("redacted"):
            self.warnings.add("it is the redacted form of another vCon")
        if strange := sorted(set(given) - _KNOWN):
            self.warnings.add(f"left out: the fields {', '.join(one[:40] for one in strange[:5])}")

    def _store(self, scratch: Path) -> Source:
        """The recording as a file, or its parts as files in the order of time."""
        made = []
        for number, recording in enumerate(self._dialogs.recordings):
            path = scratch / f"{hashlib.sha256(self.call.encode()).hexdigest()[:16]}-{number:05}{recording.ending}"
            path.write_bytes(recording.content)
            made.append(Source("file", str(path)))
        self._dialogs.release()
        return made[0] if len(made) == 1 else Source("folder", str(scratch), tuple(made))


def _objects(given: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    rows = given.get(name) or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput(f"not a list of objects at `$.{name}`")
    return rows


def _time(given: Mapping[str, Any], found: Dialogs) -> float | None:
    """When the conversation began, else when the vCon was made."""
    if found.started_at is not None:
        return found.started_at
    made = parse(str(given.get("created_at") or ""))
    return made if made is not None and made > 86400 * 365 else None


def _ms(seconds: float) -> int:
    return min(round(seconds * 1000), LONGEST_MS)


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
