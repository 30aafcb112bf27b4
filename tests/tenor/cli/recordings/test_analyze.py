"""`tenor analyze`: what a user gets for recordings, chats and e-mails, good ones, odd ones and bad ones."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import soundfile

from tenor.cli.params import reading_from_flags
from tenor.errors import BadInput
from tenor.settings import Settings
from tests.tenor.cli import speech
from tests.tenor.cli.command import environment, tenor

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
EXAMPLES = ROOT / "examples" / "conversations"
KEYS = ["channel", "role", "start_ms", "end_ms", "text", "sentiment", "sentiment_scores", "intent", "intent_score"]

GOOD = {
    "angry.txt": "Customer: This is the worst service I have ever had.\nAgent: Let me check that for you.\n",
    "arabic.txt": "Customer: أريد إلغاء اشتراكي من فضلك لأنه غالي جدا\n",
    "emoji.csv": "role,text\ncustomer,I love it 😍😍\n",
    "french.txt": "Customer: Je voudrais annuler mon abonnement parce que c'est trop cher pour moi.\n",
    "markup.txt": "Customer: <script>alert('x')</script> my order's total is wrong; DROP TABLE calls;--\n",
}
BAD: dict[str, bytes] = {
    "binary.txt": bytes(range(256)) * 4,
    "empty.txt": b"",
    "latin.txt": "Customer: Grüße\n".encode("latin-1"),
    "untitled.csv": b"who,words\nagent,hello\n",
}
HOURS = {"started_at", "ended_at", "state_at", "spoken_at", "at", "times", "latency_ms"}
"""Columns that differ from one run to the next."""
Document = dict[str, Any]


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Document], list[Document], str]:
    """A folder of everything in one go: documents by file, all of them in order, complaints."""
    folder = tmp_path_factory.mktemp("chats")
    for name, text in GOOD.items():
        (folder / name).write_text(text)
    for name, content in BAD.items():
        (folder / name).write_bytes(content)
    shutil.copy(EXAMPLES / "late-parcel.csv", folder)
    shutil.copy(EXAMPLES / "refund.mbox", folder / "refund.mbox")
    (folder / "again").mkdir()
    shutil.copy(EXAMPLES / "refund.mbox", folder / "again" / "refund.mbox")
    done = tenor("analyze", "--json", folder, folder / "missing.txt", cwd=folder)
    assert done.returncode == 2
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    return {document["call"]["file"]: document for document in documents}, documents, done.stderr


Chats = tuple[dict[str, Document], list[Document], str]


def test_a_document_has_the_promised_shape(chats: Chats) -> None:
    for document in chats[1]:
        assert list(document) == ["call", "sentences", "summary", "metrics", "alerts"]
    document = chats[0]["angry.txt"]
    first, second = document["sentences"]
    assert [name for name in first if name != "labels"] == [*KEYS, "slots"]
    assert (first["role"], first["channel"], first["sentiment"]) == ("caller", 0, "negative")
    assert (second["role"], second["channel"]) == ("agent", 1)
    assert sum(first["sentiment_scores"].values()) == pytest.approx(1, abs=0.01)
    assert document["metrics"]["words.caller"] == 9
    assert (document["call"]["medium"], document["call"]["state"]) == ("chat", "analysed")


def test_files_come_in_their_order_and_a_table_holds_several_calls(chats: Chats) -> None:
    files = [document["call"]["file"].partition(",")[0] for document in chats[1]]
    named = sorted([*GOOD, *BAD, "late-parcel.csv", "late-parcel.csv", "refund.mbox"])
    assert files[:-1] == ["refund.mbox", *named]  # the folder `again` first
    assert files[-1].endswith("missing.txt")
    parcel = chats[0]["late-parcel.csv, C-2041"]
    assert parcel["call"]["task"] in ("delivery_problem", "order_status")  # a parcel that has not come is both
    assert parcel["call"]["agent"] == "nadia"
    assert chats[0]["late-parcel.csv, C-2042"]["call"]["task"] == "account_access"


def test_an_email_thread_is_a_call(chats: Chats) -> None:
    [thread] = [one for one in chats[1] if one["call"]["file"] == "refund.mbox" and not one["call"]["reason"]]
    assert thread["call"]["medium"] == "email"
    assert {sentence["role"] for sentence in thread["sentences"]} == {"caller", "agent"}
    assert thread["sentences"][-1]["sentiment"] == "positive"


@pytest.mark.parametrize("name", ["french.txt", "arabic.txt"])
def test_another_language_is_said_not_guessed(chats: Chats, name: str) -> None:
    document = chats[0][name]
    [sentence] = document["sentences"]
    assert (sentence["language"], sentence["intent"], sentence["sentiment"]) == ("other", "unknown", "neutral")
    assert "language" in document["call"]["warnings"][0]


def test_what_callers_write_stays_as_they_wrote_it(chats: Chats) -> None:
    words = " ".join(sentence["text"] for sentence in chats[0]["markup.txt"]["sentences"])
    assert words == GOOD["markup.txt"].removeprefix("Customer: ").strip()
    assert chats[0]["emoji.csv"]["sentences"][0]["text"] == "I love it 😍😍"
    assert chats[0]["emoji.csv"]["sentences"][0]["sentiment"] == "positive"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("binary.txt", "no text"),
        ("empty.txt", "holds no text"),
        ("latin.txt", "line 1: byte 0xfc"),
        ("untitled.csv", "its columns: who, words"),
    ],
)
def test_a_file_that_cannot_be_read_says_why_and_the_rest_go_on(chats: Chats, name: str, reason: str) -> None:
    document = chats[0][name]
    assert document["call"]["state"] == "failed"
    assert reason in document["call"]["reason"]
    assert document["sentences"] == []


def test_the_same_conversation_twice_is_told(chats: Chats) -> None:
    reasons = [one["call"]["reason"] for one in chats[1] if one["call"]["file"] == "refund.mbox"]
    assert sorted(reasons) == ["", "refund.mbox has the same content as one before it"]


def test_people_get_a_conversation_and_chats_need_no_recogniser(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom tenor.cli.app import app\n"
        "app(['analyze', *sys.argv[1:]], standalone_mode=False)\n"
        "loaded = {'asr', 'ctranslate2', 'moonshine_voice', 'riva'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(EXAMPLES / "subscription.txt")],
        cwd=tmp_path,
        env={**environment(), "PYTHONPATH": str(ROOT), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert any("- caller  Nobody told me about the new price" in line for line in lines)
    assert any("task cancel" in line for line in lines)
    assert any("! warning: The caller wants to cancel" in line for line in lines)


def test_kept_calls_are_in_the_database_once(tmp_path: Path) -> None:
    from storage.db.engine import open_database
    from storage.queries.calls import page, whole
    from storage.viewer import HOUSE

    arguments = ("--home", tmp_path / "home", "analyze", "--json", "--store", EXAMPLES / "late-parcel.csv")
    first = tenor(*arguments, cwd=tmp_path)
    database = open_database(Settings(home=tmp_path / "home"))
    with database.session() as session:
        calls = page(session, HOUSE).calls
        rows = whole(session, HOUSE, calls[0].id)
    assert {(call.state, call.medium, call.agent) for call in calls} == {
        ("analysed", "chat", "nadia"),
        ("analysed", "chat", "tom"),
    }
    assert rows is not None
    assert len(rows.sentences) == 14
    again = tenor(*arguments, cwd=tmp_path)
    for before, after in zip(first.stdout.splitlines(), again.stdout.splitlines(), strict=True):
        known, found = json.loads(before), json.loads(after)
        assert found["sentences"] == known["sentences"]
        assert found["metrics"] == known["metrics"]
        assert found["call"]["started_at"] == known["call"]["started_at"]
    with database.session() as session:
        assert len(page(session, HOUSE).calls) == 2
    database.close()
    read = tenor(*(given for given in arguments if given != "--json"), cwd=tmp_path)
    assert all(f"kept as call {call.id}" in read.stdout for call in calls)


def test_what_is_understood_again_replaces_what_is_kept(tmp_path: Path) -> None:
    """With other rules, and with redaction that was forgotten: the words are then in no file of the database."""
    (tmp_path / "card.txt").write_text("Customer: My card is 6011 0009 9013 9424.\nCustomer: I want to cancel it.\n")
    (tmp_path / "rules.yaml").write_text('sees-it:\n  when: {says: [cancel it]}\n  raise: alert\n  say: "Seen"\n')
    keep = ("--home", tmp_path / "home", "analyze", "--json", "--store", tmp_path / "card.txt")
    first = json.loads(tenor(*keep, cwd=tmp_path).stdout)
    changed = ("--redact", "text", "--rules", tmp_path / "rules.yaml")
    left = json.loads(tenor(*keep, *changed, cwd=tmp_path).stdout)
    assert (left["sentences"], left["alerts"]) == (first["sentences"], first["alerts"])
    again = json.loads(tenor(*keep, *changed, "--again", cwd=tmp_path).stdout)
    assert [sentence["text"] for sentence in again["sentences"]] == ["My card is [card].", "I want to cancel it."]
    assert [alert["text"] for alert in again["alerts"]] == ["Seen"]
    told = json.loads(tenor(*keep, cwd=tmp_path).stdout)
    assert (told["sentences"], told["alerts"]) == (again["sentences"], again["alerts"])
    for file in (tmp_path / "home").glob("tenor.db*"):
        assert b"9424" not in file.read_bytes()
    assert tenor(*keep[:3], "--again", tmp_path / "card.txt", cwd=tmp_path).returncode == 2


def test_an_erased_call_is_understood_but_not_kept(tmp_path: Path) -> None:
    (tmp_path / "late.txt").write_text("Customer: My parcel is late.\n")
    home = ("--home", tmp_path / "home")
    keep = (*home, "analyze", "--store", tmp_path / "late.txt")
    call = tenor(*keep, cwd=tmp_path).stdout.split()[-1]
    assert tenor(*home, "erase", "--call", call, "--yes", cwd=tmp_path).returncode == 0
    done = tenor(*keep, cwd=tmp_path)
    assert "My parcel is late." in done.stdout
    assert "kept as" not in done.stdout
    assert "was erased from the database" in done.stderr


def test_a_recording_and_a_chat_in_one_go_redacted(tmp_path: Path) -> None:
    (tmp_path / "card.txt").write_text("Customer: My card number is 6011 0009 9013 9424, please block it.\n")
    call = ROOT / "examples" / "calls" / "lost-card.ogg"
    kept = ("--home", tmp_path / "home")
    done = tenor(*kept, "analyze", "--json", "--store", "--redact", "text", call, tmp_path / "card.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    spoken, written = map(json.loads, done.stdout.splitlines())
    assert spoken["call"]["task"] == "card_replacement"
    assert spoken["call"]["medium"] == "voice"
    assert {"talk_share.caller", "silence_share", "words_per_minute.agent"} <= spoken["metrics"].keys()
    assert {sentence["role"] for sentence in spoken["sentences"]} == {"caller", "agent"}
    for document in (spoken, written):
        assert "[card]" in " ".join(sentence["text"] for sentence in document["sentences"])
        assert "9424" not in json.dumps(document)
    [recording] = (tmp_path / "home" / "recordings").glob("*.flac")
    assert recording.name.startswith(spoken["call"]["id"])
    told = json.loads(tenor(*kept, "analyze", "--json", "--store", call, cwd=tmp_path).stdout)
    assert told["call"]["warnings"] == spoken["call"]["warnings"] != []
    recording.unlink()  # as if the run had been killed before this was done
    with sqlite3.connect(tmp_path / "home" / "tenor.db") as database:
        database.execute("UPDATE calls SET recording = '', recorded = 0 WHERE medium = 'voice'")
    tenor(*kept, "analyze", "--store", call, cwd=tmp_path)
    assert recording.exists()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_again_and_again_the_next_run_completes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """kill -9 while calls are being written, at other moments each time. What had been heard lies nowhere then."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    folder = tmp_path / "calls"
    folder.mkdir()
    sound = speech.reading(24.0)
    for number in range(8):
        soundfile.write(folder / f"{number}.wav", sound[number * 48000 : (number + 1) * 48000], 16000)
        (folder / f"{number}.txt").write_text(f"Customer: My parcel {number} is late, and I want to cancel.\n")
    calm, disturbed = tmp_path / "calm", tmp_path / "disturbed"
    keep = ("analyze", "--json", "--store", "--jobs", "2", "--redact", "audio", folder)
    assert tenor("--home", calm, *keep, cwd=tmp_path).returncode == 0
    for count, pause in ((1, 0.0), (7, 0.1)):
        process = subprocess.Popen(
            [sys.executable, "-m", "tenor", "--home", str(disturbed), *map(str, keep)],
            env={**environment(), "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            while len(_rows(disturbed)["calls"]) < count:
                assert process.poll() is None
                time.sleep(0.02)
            time.sleep(pause)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert len(_rows(disturbed)["calls"]) < 16  # it was not done yet
    assert tenor("--home", disturbed, *keep, cwd=tmp_path).returncode == 0
    assert _kept(disturbed) == _kept(calm)
    assert len(_kept(calm)["recordings"]) == 8
    assert not list(tmp_path.glob("tenor-*"))


def _kept(home: Path) -> dict[str, Any]:
    """Rows by table and what the recordings hold: of a home that nobody writes to, where files stay."""
    files = (home / "recordings").iterdir()
    return {**_rows(home), "recordings": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}}


def _rows(home: Path) -> dict[str, list[dict[str, Any]]]:
    """Rows by table, without the hour at which they were made."""
    found: dict[str, list[dict[str, Any]]] = {"calls": []}
    if (home / "tenor.db").exists():
        with closing(sqlite3.connect(f"file:{home / 'tenor.db'}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            with suppress(sqlite3.OperationalError):  # it is being made
                for table in ("calls", "sentences", "alerts", "agents", "customers"):
                    rows = map(dict, database.execute(f"SELECT * FROM {table} ORDER BY 1"))
                    found[table] = [{key: row[key] for key in row.keys() - HOURS} for row in rows]
    return found


def test_ctrl_c_ends_it_in_order(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    with (tmp_path / "many.csv").open("w") as table:
        table.write("call,role,text\n")
        table.writelines(f"{number},customer,My parcel {number} is late again.\n" for number in range(20_000))
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "tenor", "analyze", "--json", "many.csv"],
        cwd=tmp_path,
        env={**environment(), "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["call"]["state"] == "analysed"
    os.kill(process.pid, signal.SIGINT)
    _, complaints = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in complaints
    assert not list((tmp_path / "tmp").glob("tenor-*"))


def test_wrong_flags_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--format takes"):
        reading_from_flags("docx", None, "", "", "", "", "", "")
    with pytest.raises(BadInput, match="--medium takes"):
        reading_from_flags(None, "fax", "", "", "", "", "", "")
    done = tenor("analyze", "--rules", "nowhere.yaml", EXAMPLES, cwd=tmp_path)
    assert done.returncode == 2
    assert "nowhere.yaml" in done.stderr
