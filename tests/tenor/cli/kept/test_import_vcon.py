"""`tenor import` of vCons that other programs made: understood, kept, and told what was left out."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import soundfile

from tests.ingest.vcon.test_call import DEEPGRAM, VOICE, message, packed, recorded, vcon, wav
from tests.tenor.cli.command import tenor
from tests.tenor.cli.speech import WORDS, reading

pytestmark = pytest.mark.slow

CHAT = vcon(message(0, "My parcel is late and I am furious.", 0), message(1, "I am sorry about that.", 1), uuid="chat")


def sealed(given: dict[str, Any]) -> dict[str, Any]:
    """A signature around it, as JWS writes it."""
    return {"payload": packed(json.dumps(given).encode()), "signatures": [{"protected": "e30", "signature": "eA"}]}


def spoken(folder: Path, ending: str = ".mp3") -> bytes:
    path = folder / f"spoken{ending}"
    soundfile.write(path, reading(7), 16000)
    return path.read_bytes()


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / ".tenor" / "tenor.db")) as opened:
        return opened.execute(query).fetchall()


def test_a_folder_of_vcons_of_other_programs(tmp_path: Path) -> None:
    folder = tmp_path / "vcons"
    folder.mkdir()
    transcript = {"type": "transcript", "dialog": 0, "vendor": "Deepgram", "body": DEEPGRAM}
    mp3 = {**VOICE, "body": packed(spoken(tmp_path)), "encoding": "base64url", "mediatype": "audio/mpeg"}
    given = {
        "chat.vcon": CHAT,
        "recorded.vcon": vcon(mp3, uuid="recorded", parties=[{"role": "customer"}])
        | {"dialog": [{**mp3, "parties": 0}]},
        "signed.json": sealed(vcon(recorded(wav()), uuid="signed", analysis=[transcript])),
        "encrypted.vcon": {"ciphertext": "x", "protected": "x", "recipients": []},
        "remote.vcon": vcon({**VOICE, "url": "https://recordings.example/9.wav"}, uuid="remote"),
        "missed.vcon": vcon({"type": "incomplete", "start": VOICE["start"], "disposition": "busy"}, uuid="missed"),
    }
    for name, one in given.items():
        (folder / name).write_text(json.dumps(one))
    (folder / "lines.jsonl").write_text("\n".join(json.dumps(one) for one in (CHAT, CHAT | {"uuid": "second"})))
    with zipfile.ZipFile(folder / "more.zip", "w") as made:
        made.writestr("a/third.vcon", json.dumps(CHAT | {"uuid": "third"}))

    done = tenor("import", folder, cwd=tmp_path, timeout=280)
    assert done.returncode == 1
    assert done.stdout.strip() == "5 imported, 1 here already, the same, 3 not readable"
    for told in (
        "encrypted.vcon: the vCon is encrypted (JWE)",
        "remote.vcon: the content is not in the vCon but at https://recordings.example/9.wav",
        "put 9.wav into the vCon's folder",
        "missed.vcon: nothing in it was said: an incomplete call (busy)",
        "signed.json: it is signed; the signature was not verified",
    ):
        assert told in done.stderr
    calls = {
        row[0]: row[1:] for row in rows(tmp_path, "SELECT id, medium, agent, state, recording, duration_ms FROM calls")
    }
    assert calls.keys() == {f"vcon-{name}" for name in ("chat", "recorded", "signed", "second", "third")}
    assert {row[2] for row in calls.values()} == {"analysed"}
    assert calls["vcon-chat"][:2] == ("chat", "Anna Bell")
    assert calls["vcon-signed"][3]
    assert calls["vcon-recorded"][3]
    heard = " ".join(
        text for (text,) in rows(tmp_path, "SELECT text FROM sentences WHERE call = 'vcon-recorded' ORDER BY start_ms")
    )
    assert WORDS[0] in heard.lower()
    said = rows(
        tmp_path, "SELECT role, start_ms, text, sentiment FROM sentences WHERE call = 'vcon-signed' ORDER BY start_ms"
    )
    assert [row[:3] for row in said] == [("caller", 500, "My card."), ("agent", 1500, "Sure.")]
    assert all(row[3] for row in said)
    recording = tmp_path / ".tenor" / "recordings" / calls["vcon-signed"][3]
    assert soundfile.info(recording).duration == pytest.approx(2.0, abs=0.1)
    assert soundfile.info(recording).channels == 2
    assert rows(tmp_path, "SELECT DISTINCT started_at FROM calls WHERE id != 'vcon-recorded'") == [(1772463600.0,)]

    again = tenor("import", folder, cwd=tmp_path, timeout=280)
    assert again.stdout.strip() == "6 here already, the same, 3 not readable"
    changed = tmp_path / "changed.vcon"
    changed.write_text(json.dumps(CHAT | {"subject": "late"}))
    differs = tenor("import", changed, cwd=tmp_path)
    assert (differs.returncode, differs.stdout.strip()) == (1, "1 left as they were")
    replaced = tenor("import", "--replace", changed, cwd=tmp_path)
    assert (replaced.returncode, replaced.stdout.strip()) == (0, "1 imported"), replaced.stderr
    tenor("erase", "--call", "vcon-chat", "--yes", cwd=tmp_path)
    assert tenor("import", changed, cwd=tmp_path).stdout.strip() == "1 erased here before"


def test_a_recording_is_silenced_where_its_transcript_names_a_card(tmp_path: Path) -> None:
    words = [
        {"text": word, "start": 0.2 + 0.05 * n, "end": 0.25 + 0.05 * n}
        for n, word in enumerate(["4111", "1111", "1111", "1111"])
    ]
    body = [{"party": 0, "start": 0.0, "end": 1.9, "text": "4111 1111 1111 1111", "words": words}]
    given = vcon(recorded(wav()), analysis=[{"type": "transcript", "body": body}], uuid="card")
    (tmp_path / "card.vcon").write_text(json.dumps(given))
    done = tenor("import", "--redact", "audio", tmp_path / "card.vcon", cwd=tmp_path)
    assert done.stdout.strip() == "1 imported", done.stderr
    [(text,)] = rows(tmp_path, "SELECT text FROM sentences")
    assert "4111" not in text
    [(name,)] = rows(tmp_path, "SELECT recording FROM calls")
    samples, rate = soundfile.read(tmp_path / ".tenor" / "recordings" / name)
    assert not samples[int(0.2 * rate) : int(0.4 * rate), 0].any()
    assert samples[int(0.2 * rate) : int(0.4 * rate), 1].any()
