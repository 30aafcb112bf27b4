"""Calls written for others and brought into another installation: nothing lost, nothing trusted."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import random
import uuid
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]
from sqlmodel import Session, select
from typer.testing import CliRunner

from storage.db.engine import Database, open_database
from storage.privacy import tombstones
from storage.queries import calls
from storage.queries.calls import WholeCall
from storage.search import SearchQuery, search
from storage.tables import Agent, Audit, Call, Customer
from storage.transfer import exporter, importer
from storage.transfer.document import document_of, unpacked
from storage.transfer.exporter import Format, file_name, harmless, recording_of, render
from storage.transfer.importer import FoundDocument, ImportResult
from storage.transfer.vcon import identity
from storage.viewer import HOUSE
from tenor.cli.app import app
from tenor.errors import BadInput
from tenor.settings import Settings
from tests.storage.conversations import START, add_alert, add_call, add_label, add_note

AUDIO = b"fLaC" + random.Random(1).randbytes(5000)
NASTY = '=HYPERLINK("http://evil")\n"quoted", <b>bold</b> 🙂 \u202eright to left'


@pytest.fixture
def elsewhere(tmp_path: Path, new_home: Callable[[Path], Settings]) -> Iterator[tuple[Database, Settings]]:
    """Another installation, empty."""
    settings = new_home(tmp_path / "elsewhere")
    opened = open_database(settings)
    yield opened, settings
    opened.close()


@pytest.fixture
def whole(database: Database, database_settings: Settings) -> WholeCall:
    recordings = Path(database_settings.recordings_url)
    recordings.mkdir(parents=True)
    (recordings / "original name.flac").write_bytes(AUDIO)
    with database.begin() as session:
        add_call(
            session,
            "call/1",
            "I want to cancel.",
            NASTY,
            "Thank you.",
            sentences={0: {"slots": {"date": "monday"}, "mood": -0.1 / 3, "times": {"captured": START + 0.1}}},
            agent="ann",
            customer="+1 555 0101",
            queue="billing",
            task="cancel",
            metrics={"talk_share.agent": 1 / 3},
            attributes={"file": "a.wav"},
            recording="original name.flac",
            mood_caller=-0.25,
        )
        add_label(session, "call/1/0/0", "text", "I want to candle.")
        add_label(session, "call/1/0/2000", "sentiment", "positive")
        add_label(session, "call/1/1/1000", "role", "caller")
        add_alert(session, "call/1", "cancellation", sentence="call/1/0/0")
        add_note(session, "call/1", "offer a discount")
        session.add(Agent(name="ann", display_name="Ann", team="red"))
        session.add(Customer(id="+1 555 0101", display_name="Carla"))
        add_call(session, "chat-1", "hello there", "hi", medium="chat", started_at=START + 60)
    with database.session() as session:
        found = calls.whole(session, HOUSE, "call/1")
    assert found
    return found


def written(database: Database, settings: Settings, form: Format, call: str = "call/1") -> bytes:
    with database.session() as session:
        found = calls.whole(session, HOUSE, call)
        assert found
        return render(session, found, form, recording_of(settings, found)).encode()


def rows(session: Session, call: str) -> dict[str, Any]:
    """All that is kept of a call, but for when it was written down and what the recording's file is called."""
    found = calls.whole(session, HOUSE, call)
    assert found
    document = document_of(session, found)
    del document["exported_at"], document["call"]["recording"]
    return document


@pytest.mark.parametrize("form", ["json", "vcon"])
def test_a_call_comes_out_as_it_went_in(
    form: Format,
    whole: WholeCall,
    database: Database,
    database_settings: Settings,
    elsewhere: tuple[Database, Settings],
) -> None:
    there, settings = elsewhere
    content = written(database, database_settings, form)
    document = importer.read(FoundDocument("file", content))
    assert importer.store(there, settings, document, by="root") == ImportResult("call/1", "imported")
    with database.session() as here_session, there.session() as session:
        assert rows(session, "call/1") == rows(here_session, "call/1")
        kept = session.get_one(Call, "call/1")
        assert (Path(settings.recordings_url) / kept.recording).read_bytes() == AUDIO
        assert search(session, HOUSE, SearchQuery(words="candle")).hits

    again = importer.read(FoundDocument("file", written(database, database_settings, form)))
    assert importer.store(there, settings, again, by="root").outcome == "unchanged"
    back = importer.read(FoundDocument("file", content))  # where it came from, it is there too
    assert importer.store(database, database_settings, back, by="root").outcome == "unchanged"


def test_a_call_that_differs_is_left_alone_unless_asked(
    whole: WholeCall, database: Database, database_settings: Settings, elsewhere: tuple[Database, Settings]
) -> None:
    there, settings = elsewhere
    document = written(database, database_settings, "json")
    importer.store(there, settings, importer.read(FoundDocument("file", document)), by="root")
    with there.begin() as session:
        add_label(session, "call/1/0/0", "intent", "cancel")
        session.get_one(Call, "call/1").task = "complaint"
    result = importer.store(there, settings, importer.read(FoundDocument("file", document)), by="root")
    assert (result.outcome, result.detail) == ("conflict", "it is here already and differs in call, labels")
    with there.session() as session:
        assert session.get_one(Call, "call/1").task == "complaint"
    result = importer.store(there, settings, importer.read(FoundDocument("file", document)), by="root", replace=True)
    assert result.outcome == "replaced"
    with database.session() as here_session, there.session() as session:
        assert rows(session, "call/1") == rows(here_session, "call/1")


def test_what_was_erased_does_not_come_back(
    whole: WholeCall, database: Database, database_settings: Settings, elsewhere: tuple[Database, Settings]
) -> None:
    there, settings = elsewhere
    with there.begin() as session:
        tombstones.mark(session, "call/1", START)
    document = importer.read(FoundDocument("file", written(database, database_settings, "json")))
    assert importer.store(there, settings, document, by="root").outcome == "erased"
    assert not Path(settings.recordings_url).exists()


def test_the_vcon_is_what_the_draft_says(whole: WholeCall, database: Database, database_settings: Settings) -> None:
    made = json.loads(written(database, database_settings, "vcon"))
    assert made["vcon"] == "0.4.0"
    assert uuid.UUID(made["uuid"]).version == 8
    assert made["uuid"] == identity("call/1")
    assert datetime.fromisoformat(made["created_at"]).timestamp() == START
    assert made["parties"] == [
        {"role": "customer", "tel": "+1-555-0101"},
        {"role": "agent", "name": "ann", "validation": "none"},
    ]
    (dialog,) = made["dialog"]
    assert dialog["type"] == "recording"
    assert dialog["parties"] == [0, 1]  # one a channel
    assert (dialog["mediatype"], dialog["encoding"], dialog["duration"]) == ("audio/flac", "base64url", 3.0)
    assert dialog["content_hash"].startswith("sha512-")
    assert unpacked(dialog["body"]) == AUDIO
    analysis = {one["type"]: one for one in made["analysis"]}
    assert set(analysis) == {"transcript", "sentiment", "intent", "task", "summary", "metrics"}
    for one in analysis.values():
        assert (one["dialog"], one["vendor"], one["encoding"]) == ([0], "Tenor", "json")
    transcript = json.loads(analysis["transcript"]["body"])
    assert [one["text"] for one in transcript] == ["I want to candle.", NASTY, "Thank you."]
    assert [one["role"] for one in transcript] == ["caller", "caller", "caller"]

    with database.session() as session:
        audio = recording_of(database_settings, whole)
        referred = json.loads(render(session, whole, "vcon", audio, "https://recordings.example/"))["dialog"][0]
        silent = json.loads(render(session, whole, "vcon"))
        chat = calls.whole(session, HOUSE, "chat-1")
        assert chat
        written_down = json.loads(render(session, chat, "vcon"))["dialog"]
    assert referred["url"] == "https://recordings.example/original%20name.flac"
    assert referred["content_hash"] == dialog["content_hash"]
    assert "body" not in referred
    assert silent["dialog"] == [{key: dialog[key] for key in ("type", "start", "duration", "parties")}]
    assert [(one["type"], one["parties"], one["body"]) for one in written_down] == [
        ("text", 0, "hello there"),
        ("text", 1, "hi"),
    ]


def test_every_vcon_is_valid_by_the_drafts_names_types_and_required_fields(
    whole: WholeCall, database: Database, database_settings: Settings
) -> None:
    schema = json.loads(Path(__file__).with_name("vcon_schema.json").read_text())
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    with database.begin() as session:
        twice = {1: {"id": "chat-2/0/0.1", "channel": 0, "start_ms": 3000, "spoken_at": START + 3}}
        add_call(session, "chat-2", "My parcel is late.", "Where is it?", "I look.", sentences=twice, medium="chat")
        add_call(session, "mail-1", medium="email", customer="carla@example.com", agent="ann")
        add_call(session, "missed-1", customer="NG-1033", state="failed")
    with database.session() as session:
        audio = recording_of(database_settings, whole)
        rendered = [
            render(session, whole, "vcon", *more) for more in ((), (audio,), (audio, "https://recordings.example/"))
        ]
        for name in ("chat-1", "chat-2", "mail-1", "missed-1"):
            found = calls.whole(session, HOUSE, name)
            assert found
            rendered.append(render(session, found, "vcon"))
    made = [json.loads(one) for one in rendered]
    for one in made:
        validator.validate(one)
        assert all(attachment["dialog"] < len(one["dialog"]) for attachment in one["attachments"])
        assert {at for analysis in one["analysis"] for at in analysis["dialog"]} == set(range(len(one["dialog"])))
    messages = [(one["body"], datetime.fromisoformat(one["start"]).timestamp() - START) for one in made[4]["dialog"]]
    assert messages == [("My parcel is late. Where is it?", 0.0), ("I look.", 2.0)]  # as they were sent
    assert [len(one["dialog"]) for one in made] == [1, 1, 1, 2, 2, 1, 1]


def test_the_table_the_text_and_the_subtitles(whole: WholeCall, database: Database) -> None:
    table = list(csv.DictReader(io.StringIO(exporter.table([whole]))))
    assert [row["text"] for row in table] == ["I want to candle.", harmless(NASTY), "Thank you."]
    assert table[0]["original_text"] == "I want to cancel."
    assert table[2]["sentiment"] == "positive"
    assert table[0]["customer"] == "'+1 555 0101"
    for cell in ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\n=1", "\ufeff=1", "\u200b=1", "\uff1d1+1", "\0=1"):
        assert harmless(cell).startswith("'")
        assert harmless(cell).replace("'", "") == cell
    for separator in (";", "\t", "|", "\n", "\r\n"):
        assert harmless(f"a{separator}=1+1") == f"a{separator}'=1+1"
    assert (harmless(-0.5), harmless("fine")) == (-0.5, "fine")

    text = exporter.to_read(whole)
    assert "[0:00] caller (neutral): I want to candle." in text
    assert text.count("\n") == 7 + 1 + 3 + 1 + 1  # about it, sentences, alert, note: one line each

    subtitles = exporter.subtitles(whole).split("\n\n")
    assert subtitles[0] == "1\n00:00:00,000 --> 00:00:00,900\ncaller: I want to candle."
    assert subtitles[1].count("\n") == 2  # however many lines were said
    with database.session() as session:
        chat = calls.whole(session, HOUSE, "chat-1")
        assert chat
        with pytest.raises(BadInput, match="written, not spoken"):
            exporter.subtitles(chat)


def test_names_of_files_are_safe_and_distinct() -> None:
    assert file_name("call-1.2_x") == "call-1.2_x"
    made = [file_name(name) for name in ("a/b", "a_b", "a b", "../../etc/passwd", "é", "", ".hidden", "x" * 500)]
    assert len(set(made)) == len(made)
    assert all("/" not in name and not name.startswith(".") and len(name) < 120 for name in made)


def change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """A change at a place like `sentences.0.text`; `...` takes it away."""

    def apply(document: dict[str, Any]) -> None:
        *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        inside: Any = document
        for part in way:
            inside = inside[part]
        if value is ...:
            del inside[last]
        else:
            inside[last] = value

    return apply


HOSTILE = [
    ("tenor", ..., "no call of Tenor"),
    ("version", 99, "version 99 of the format is unknown"),
    ("call.id", ..., r"`id` - at `\$.call`"),
    ("call.id", "", r"\$.call.id"),
    ("sentences.1.text", ..., r"`text` - at `\$.sentences\[1\]`"),
    ("sentences.0.start_ms", "soon", r"\$.sentences\[0\].start_ms"),
    ("sentences.0.start_ms", 2**40, r"\$.sentences\[0\].start_ms"),
    ("sentences.0.text", "a\x00b", r"NUL.*\$.sentences\[0\].text"),
    ("sentences.0.call", "another", r"\$.sentences\[0\].call"),
    ("sentences.0.id", "call/1/1/1000", r"\$.sentences\[1\].id"),
    ("sentences", {}, r"\$.sentences"),
    ("call.started_at", -1e12, r"\$.call.started_at"),
    ("call.ended_at", 1e300, r"\$.call.ended_at"),
    ("call.state", "live", r"not over when it was exported: `\$.call.state`"),
    ("call.roles", [1], r"\$.call.roles\[0\]"),
    ("call.surprise", 1, "unknown field `surprise`"),
    ("labels.0.sentence", "nothing", r"\$.labels\[0\].sentence"),
    ("recording.body", "!!!", r"base64url at `\$.recording.body`"),
    ("recording.body", "AAAA", "hash differs"),
    ("recording.mediatype", "text/html", r"\$.recording.mediatype"),
]


@pytest.mark.parametrize(("path", "value", "said"), HOSTILE, ids=[f"{path}={value}" for path, value, _ in HOSTILE])
def test_what_is_wrong_is_said_with_its_place(
    path: str, value: Any, said: str, good: dict[str, Any], elsewhere: tuple[Database, Settings]
) -> None:
    there, settings = elsewhere
    change(path, value)(good)
    with pytest.raises(BadInput, match=said):
        importer.store(there, settings, importer.read(FoundDocument("f", json.dumps(good).encode())), by="root")
    with there.session() as session:
        assert calls.page(session, HOUSE).calls == []


@pytest.fixture
def good(sqlite_settings: Settings) -> dict[str, Any]:
    """A document that would be taken."""
    database = open_database(sqlite_settings)
    with database.begin() as session:
        add_call(session, "call/1", "one", "two", recording="a.flac")
        add_label(session, "call/1/0/0", "text", "won")
    Path(sqlite_settings.recordings_url).mkdir(parents=True)
    (Path(sqlite_settings.recordings_url) / "a.flac").write_bytes(AUDIO)
    made: dict[str, Any] = json.loads(written(database, sqlite_settings, "json"))
    database.close()
    return made


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "not JSON"),
        (b"[1, 2", "not JSON"),
        (b"[]", "no call of Tenor"),
        (b"{}", "no call of Tenor"),
        (
            b'{"vcon": "9.9", "attachments": [{"purpose": "tenor-call", "body": "{}"}]}',
            r"vCon version '9.9' is unknown at `\$.vcon`",
        ),
        (b'{"ciphertext": "x"}', "encrypted"),
        (b'{"payload": "*"}', r"base64url at `\$.payload`"),
        (b'{"vcon": "0.3.0", "attachments": 5}', r"\$.attachments"),
        (b'{"vcon": "0.3.0"}', "not of Tenor"),
        (b'{"vcon": "0.3.0", "attachments": [{"purpose": "tenor-call", "body": "{"}]}', r"\$.attachments\[0\].body"),
        (b'{"payload": "x", "signatures": []}', "signed"),
        (b"[" * 100_000, "not JSON|nested"),
    ],
)
def test_files_that_are_no_calls(content: bytes, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        importer.read(FoundDocument("file", content))


def test_zips_are_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def zipped(name: str, content: bytes, **options: Any) -> Path:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr(name, content, **options)
        return path

    with pytest.raises(BadInput, match="would unpack to 50 MB"):
        list(importer.documents(zipped("bomb.json", b"0" * (50 << 20))))
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(BadInput, match="not a zip"):
        list(importer.documents(broken))
    monkeypatch.setattr(importer, "MOST_FILES", 0)
    with pytest.raises(BadInput, match="1 files, more than 0"):
        list(importer.documents(zipped("a.json", b"{}")))
    monkeypatch.undo()
    (found,) = importer.documents(zipped("../../../etc/cron.d/a.json", b"{}"))  # a name, never a path
    assert found.content == b"{}"
    assert list(importer.documents(zipped("a.flac", b"x"))) == []
    monkeypatch.setattr(importer, "MOST_BYTES", 10)
    big = tmp_path / "big.json"
    big.write_bytes(b"x" * 11)
    with pytest.raises(BadInput, match="larger than a call"):
        list(importer.documents(big))


def test_the_commands(
    whole: WholeCall, database: Database, database_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENOR_STORAGE__URL", database_settings.storage_url)
    monkeypatch.setenv("TENOR_HOME", str(database_settings.home))
    monkeypatch.setenv("TENOR_TELEMETRY__LOG_LEVEL", "error")
    for form in ("json", "vcon", "csv", "txt", "srt"):
        done = run("export", "call/1", "--format", form)
        assert done.exit_code == 0
        assert "candle" in done.stdout
    two = run("export", "call/1", "chat-1", "--format", "csv").stdout
    assert len(list(csv.reader(io.StringIO(two)))) == 1 + 3 + 2
    many = tmp_path / "many.json"
    run("export", "--since", "2020-01-01", "--out", str(many))
    lines = many.read_text().splitlines()
    assert {json.loads(line)["call"]["id"] for line in lines} == {"call/1", "chat-1"}

    archive, folder = tmp_path / "out.zip", tmp_path / "out"
    run("export", "--since", "2020-01-01", "--audio", "--out", str(archive))
    run("export", "call/1", "--audio", "--format", "txt", "--out", str(folder))
    assert sorted(path.suffix for path in folder.iterdir()) == [".flac", ".txt"]
    with database.session() as session:
        trail = session.exec(select(Audit).where(Audit.action == "call.exported")).all()
    assert len(trail) == 5 + 2 + 2 + 2 + 1

    monkeypatch.delenv("TENOR_STORAGE__URL")
    monkeypatch.setenv("TENOR_HOME", str(tmp_path / "new"))
    assert run("import", str(archive)).stdout == "2 imported\n"
    assert run("import", str(archive)).stdout == "2 here already, the same\n"
    many.write_text("\n".join([lines[0], "", '{"tenor": "call"}', lines[1]]) + "\n")
    other = run("--set", f"storage.url=sqlite:///{tmp_path}/other.db", "import", str(many))
    assert (other.exit_code, other.stdout) == (1, "2 imported, 1 not readable\n")
    assert "many.json:3: version None" in other.stderr.replace("\n", "")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.json").write_text("{}")
    archive.rename(tmp_path / "bad" / "b.zip")
    mixed = run("import", str(tmp_path / "bad"))
    assert (mixed.exit_code, mixed.stdout) == (1, "2 here already, the same, 1 not readable\n")


def test_subtitles_of_chosen_calls_leave_out_what_was_written(
    whole: WholeCall, database_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENOR_STORAGE__URL", database_settings.storage_url)
    done = run("export", "--since", "2020-01-01", "--format", "srt", "--out", str(tmp_path / "out"))
    assert done.exit_code == 0
    assert [path.suffix for path in (tmp_path / "out").iterdir()] == [".srt"]


def test_the_trail_tells_what_went_out_before_an_export_failed(
    whole: WholeCall, database: Database, database_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENOR_STORAGE__URL", database_settings.storage_url)
    done = run("export", "call/1", "nothing", "--out", str(tmp_path / "out"))
    assert isinstance(done.exception, BadInput)
    with database.session() as session:
        assert session.exec(select(Audit.subject).where(Audit.action == "call.exported")).all() == ["call/1"]


def test_a_file_that_cannot_be_written_is_named_and_no_half_of_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with exporter.folder(tmp_path) as write, pytest.raises(BadInput, match=r"cannot write .*call\.json: No space"):
        write("call.json", b"{}")
    assert list(tmp_path.iterdir()) == []


def test_an_export_that_fails_leaves_the_file_there_was(
    whole: WholeCall, database_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENOR_STORAGE__URL", database_settings.storage_url)
    there = tmp_path / "out" / "transcript"  # a file, although its name has no suffix
    there.parent.mkdir()
    there.write_text("of yesterday")
    monkeypatch.setattr(Path, "replace", _full)
    done = run("export", "call/1", "--format", "txt", "--out", str(there))
    assert isinstance(done.exception, BadInput)
    assert "No space" in done.exception.message
    assert [(path.name, path.read_text()) for path in there.parent.iterdir()] == [("transcript", "of yesterday")]
    monkeypatch.undo()
    monkeypatch.setenv("TENOR_STORAGE__URL", database_settings.storage_url)
    assert run("export", "call/1", "--format", "txt", "--out", str(there)).exit_code == 0
    assert there.read_text() != "of yesterday"
    done = run("export", "call/1", "--format", "txt", "--out", "/dev/full")
    assert isinstance(done.exception, BadInput)
    assert "cannot write /dev/full: No space" in done.exception.message


def _full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_slip_in_a_path_is_told_before_anything_is_imported(
    whole: WholeCall, database_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENOR_STORAGE__URL", database_settings.storage_url)
    exported = tmp_path / "call.json"
    run("export", "call/1", "--out", str(exported))
    monkeypatch.setenv("TENOR_STORAGE__URL", f"sqlite:///{tmp_path}/new.db")
    done = run("import", str(exported), str(tmp_path / "nothing.json"))
    assert isinstance(done.exception, BadInput)
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["export"], "which calls"),
        (["export", "x", "--format", "doc"], "no format"),
        (["export", "x"], "no call 'x'"),
        (["export", "x", "--since", "yesterday"], "no time"),
        (["export", "x", "--agent", "ann"], "not both"),
        (["export", "--agent", "nobody"], "no call is like that"),
        (["export", "x", "y", "--format", "srt"], "several files"),
        (["export", "x", "--format", "csv", "--audio"], "cannot be inside"),
        (["export", "x", "--audio-url", "http://plain"], "https"),
        (["import", "nothing.json"], "no such file"),
        (["erase"], "say what to erase"),
        (["erase", "--call", "x"], "would be erased for good"),
        (["erase", "--call", "x", "--yes"], "no call 'x'"),
    ],
)
def test_commands_say_what_is_wrong(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENOR_HOME", str(tmp_path))
    done = run(*arguments)
    assert isinstance(done.exception, BadInput)
    assert said in done.exception.message


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_one_fault_of_many_lines_is_told_once(database_settings: Settings, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"tenor": "x"}\n' * 78)
    ended = CliRunner().invoke(app, ["--home", str(database_settings.home), "import", str(wrong)])
    assert (ended.exit_code, ended.stderr.count("this is no call of Tenor")) == (1, 2)
    assert f"{wrong}:1: " in ended.stderr
    assert "and 77 more like it" in ended.stderr
    assert "78 not readable" in ended.stdout
