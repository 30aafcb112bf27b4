"""Files made to break a reader: each is read in moments, or refused in a line, and stops no other."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
import pytest

from ingest.options import IngestOptions
from ingest.sources import Source
from ingest.text import conversation as conversations
from ingest.text.conversation import open_text
from ingest.text.formats import plain_text
from ingest.text.publisher import publish_text_files
from tenor import reading
from tenor.bus import Bus
from tenor.errors import BadInput, TenorError
from tenor.redaction.patterns import PatternRedactor
from tenor.settings import SpeechSettings
from tests.ingest.text.reading import read, said, turns

HEAD = "From: anna@b.example\nSubject: my bill\n"
HTML = f"{HEAD}Content-Type: text/html\n\n"
LONG = 60_000
NESTED = "".join(f"Content-Type: multipart/mixed; boundary=b{depth}\n\n--b{depth}\n" for depth in range(2000))


def attached(header: str) -> str:
    return f"{HEAD}Content-Type: multipart/mixed; boundary=a\n\n--a\n\nhi\n--a\n{header}\n\nx\n--a--\n"


READ = {
    "brackets in the sender.eml": f"From: {'(' * 1000}\nSubject: my bill\n\nhi\n",
    "brackets in a type.eml": attached(f"Content-Type: {'(' * 1000}"),
    "brackets in a file's name.eml": attached(f"Content-Disposition: {'(' * 1000}"),
    "a file's name in idna.eml": attached("Content-Disposition: attachment; filename*=idna''%ff%fe"),
    "an encoding in idna.eml": f"{HEAD}Content-Type: text/plain; charset*=idna'en'%ff\n\nhi\n",
    "ten thousand senders.eml": f"From: {'a,' * 10_000}\n\nhi\n",
    "ten thousand parameters.eml": f"{HEAD}Content-Type: text/plain; {'a*0=b; ' * 10_000}\n\nhi\n",
    "a date without end.eml": f"From: a\nDate: {'1 ' * LONG}\n\nhi\n",
    "times that are no numbers.csv": "text,time\nhi,inf\nhi,nan\nhi,-inf\nhi,1e308\nhi,2020-01-01\n",
    "times that are no numbers.json": '[{"text": "hi", "time": "-inf"}, {"text": "hi", "time": Infinity}]',
    "five thousand digits.csv": f"text,time\nhi,{'9' * 5000}\n",
    "years out of the calendar.csv": "text,time\nhi,9999-12-31T23:59:59-23:59\nhi,0001-01-01T00:00:00+23:59\n",
    "a lone surrogate.json": '[{"text": "hi\\udfff", "role": "\\ud800", "customer": "\\ud801x", "subject": "\\ud800"}]',
    "a name and many blanks.txt": f"Anna{' ' * LONG}x\n" * 3 + "Anna: hi\n",
    "a time and many blanks.txt": f"10:02{' ' * LONG}-{' ' * LONG}!\nAnna: hi\n",
    "a time and many blanks.csv": f"text,time\nhi,1:11{' ' * LONG}x\n",
    "on, wrote and many blanks.eml": f"{HEAD}\nhi\non 1 Jan 2026 Anna wrote{' ' * LONG}x\n",
    "on and many wrote.eml": f"{HEAD}\nhi\non 1 Jan 2026{' wrote' * LONG} x\n",
    "dashes and blanks.eml": f"{HEAD}\nhi\n{'-' * LONG}{' ' * LONG}x\n",
    "regards and blanks.eml": f"{HEAD}\nhi\nregards{' ' * LONG}x\n",
    "tags that never end.eml": f"{HTML}hi{'<a ' * LONG}\n",
    "tags with a quotation that never ends.eml": HTML + "hi" + "<a >" * LONG + "<a b='" * (LONG + 1) + "\n",
    "elements that never end.eml": f"{HTML}hi{'<blockquote><p>' * LONG}{'</b>' * LONG}\n",
    "comments that never end.eml": f"{HTML}hi{'<!--' * LONG}\n",
    "scripts that never end.eml": f"{HTML}hi{'<script>' * LONG}\n",
    "one column too many.csv": ",".join(["text", *map(str, range(20_000))]) + "\n" + "hi\n" * 2000,
    "many threads.mbox": "".join(f"From x\nFrom: a\nMessage-ID: <{number}>\n\nhi\n\n" for number in range(1500)),
}
REFUSED = {
    "idna.eml": (f"{HEAD}Content-Type: text/plain; charset=idna\n\nhi\n", "'idna', an encoding nobody knows"),
    "punycode.eml": (f"{HEAD}Content-Type: text/plain; charset=punycode\n\nhi\n", "'punycode'"),
    "undefined.eml": (f"{HEAD}Content-Type: text/plain; charset=undefined\n\nhi\n", "'undefined'"),
    "nested.eml": (HEAD + NESTED + "\nhi\n", "holds no text"),
    "nested.json": ('{"a":' * LONG, "nested too deeply"),
    "digits.json": (f'[{{"text": "hi", "time": {"9" * 5000}}}]', "thousands of digits"),
    "digits.jsonl": (f'{{"text": {"9" * 5000}}}\n', "line 1: a number of thousands of digits"),
    "crowd.csv": ("text,speaker\n" + "".join(f"hi,{number}\n" for number in range(30_000)), "30,000 people"),
    "reference.eml": (f"{HTML}hi &#{'9' * 5000};\n", "cannot be read: ValueError"),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_strange_is_read_in_moments(tmp_path: Path, name: str) -> None:
    began = time.thread_time()
    found = read(tmp_path / name, READ[name])
    for one in found:
        assert msgspec.json.encode(one.info())
        assert all(0 <= turn.start_ms < turn.end_ms < 2**31 for turn in turns(one))
    assert said(found[0])[-1][1].startswith("hi") or said(found[0])[0][1].startswith(("hi", "Anna", "10:02"))
    assert time.thread_time() - began < 5


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_in_a_line(tmp_path: Path, name: str) -> None:
    content, words = REFUSED[name]
    began = time.thread_time()
    with pytest.raises(BadInput) as refused:
        read(tmp_path / name, content)
    assert name in refused.value.message
    assert words in refused.value.message
    assert "\n" not in refused.value.message
    assert time.thread_time() - began < 5


def test_whatever_a_reader_raises_is_the_files_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(lines: object) -> None:
        raise ZeroDivisionError("secret words")

    monkeypatch.setattr(plain_text, "read", fails)
    with pytest.raises(BadInput, match=r"a\.txt cannot be read: ZeroDivisionError"):
        read(tmp_path / "a.txt", "hi")


def test_reading_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mail that is small and slow, whatever makes it slow."""
    monkeypatch.setattr(reading, "FREE_S", 0.0)
    monkeypatch.setattr(reading, "S_PER_MB", 0.01)
    with pytest.raises(BadInput, match="takes too long to read"):
        read(tmp_path / "a.eml", attached("Content-Type: image/png") * 500)


def test_a_conversation_of_years_stays_within_what_databases_count(tmp_path: Path) -> None:
    [conversation] = read(tmp_path / "a.csv", "text,time\nhi,2001-01-01\nare you there,2026-01-01\nyes,2027-01-01\n")
    starts = [turn.start_ms for turn in turns(conversation)]
    assert starts[0] == 0 < starts[1] < starts[2] < 2**31


def test_a_file_whose_name_is_no_text(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"ch\xe4t.txt")
    with open(path, "wb") as file:
        file.write(b"Agent: hi\n")
    [conversation] = open_text(Source("file", os.fsdecode(path)), IngestOptions())
    assert conversation.name == "ch\N{REPLACEMENT CHARACTER}t.txt"
    assert msgspec.json.encode(conversation.info())


@pytest.fixture
def bus_settings(embedded_settings: object) -> object:
    return embedded_settings


@pytest.mark.slow
async def test_hostile_files_stop_no_other(bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them in one command with two good ones, and one on which publishing itself fails."""
    (folder := tmp_path / "files").mkdir()
    for name, content in {**READ, **{name: content for name, (content, _) in REFUSED.items()}}.items():
        (folder / name).write_text(content)
    for name in ("0 first.txt", "broken while it is published.txt", "zz last.txt"):
        (folder / name).write_text(f"Agent: {name}\n")
    turned = conversations.Conversation.turns

    def breaking(conversation: conversations.Conversation) -> object:
        if conversation.name.startswith("broken"):
            raise OverflowError("of a database")
        return turned(conversation)

    monkeypatch.setattr(conversations.Conversation, "turns", breaking)
    sources = [Source("file", str(path)) for path in sorted(folder.iterdir())]
    redactor = PatternRedactor(SpeechSettings().redact_kinds)
    results = await publish_text_files(bus, sources, SpeechSettings(), redactor, concurrency=4)
    refused = {result.source.name: result.error for result in results if result.error}
    assert refused.keys() == {*REFUSED, "broken while it is published.txt"}
    assert all(isinstance(error, TenorError) for error in refused.values())
    assert {result.source.name for result in results if result.published} == READ.keys() | {
        "0 first.txt",
        "zz last.txt",
    }
