"""Chat logs and e-mails in the forms people have them: who wrote what, and when."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.text.conversation import TextOptions
from ingest.text.field_names import Columns
from ingest.text.timestamps import parse
from tests.ingest.text.reading import read, said, turns

EXAMPLES = Path(__file__).parents[3] / "examples" / "conversations"


@pytest.mark.parametrize(
    "text",
    [
        "Agent: Hello, how can I help?\nCustomer: My parcel: it is late.\n",
        "[10:02] Agent: Hello, how can I help?\n[10:03] Customer: My parcel: it is late.\n",
        "10:02:11 Agent: Hello, how can I help?\n10:03:00 Customer: My parcel: it is late.\n",
        "2026-10-05 10:02 Agent: Hello, how can I help?\n2026-10-05 10:03 Customer: My parcel: it is late.\n",
        "Agent (10:02): Hello, how can I help?\nCustomer (10:03): My parcel: it is late.\n",
        "Support team: Hello,\r\nhow can I help?\r\nVisitor: My parcel: it is late.\r\n",
        "12/10/2026, 10:02 - Agent: Hello, how can I help?\n12/10/2026, 10:03 - Ann: My parcel: it is late.\n",
    ],
)
def test_a_dialogue_in_a_text_file(tmp_path: Path, text: str) -> None:
    [conversation] = read(tmp_path / "chat.txt", text)
    assert conversation.roles == ["caller", "agent"]
    spoken = " ".join(words for role, words in said(conversation) if role == "agent")
    assert spoken == "Hello, how can I help?"
    assert said(conversation)[-1] == ("caller", "My parcel: it is late.")


def test_names_that_say_nothing_are_caller_and_agent_in_their_order(tmp_path: Path) -> None:
    text = "Ann: Hi\nBob: Hello Ann\nAnn: My card is lost\n"
    [conversation] = read(tmp_path / "chat.txt", text)
    assert said(conversation) == [("caller", "Hi"), ("agent", "Hello Ann"), ("caller", "My card is lost")]
    [turned] = read(tmp_path / "chat.txt", text, TextOptions(agents=("ann",)))
    assert said(turned)[0] == ("agent", "Hi")
    assert said(turned)[1] == ("caller", "Hello Ann")


def test_a_third_person_has_a_channel_of_their_own(tmp_path: Path) -> None:
    text = "Customer: Hi\nAgent: Hello\nSystem: Eve joined\nEve: I take over\n"
    [conversation] = read(tmp_path / "chat.txt", text)
    assert conversation.roles == ["caller", "agent", "system", "other 1"]
    assert [turn.channel for turn in turns(conversation)] == [0, 1, 2, 3]


def test_lines_without_names_are_the_callers(tmp_path: Path) -> None:
    [lines] = read(tmp_path / "a.txt", "My card is lost.\nWhat now?\n")
    assert said(lines) == [("caller", "My card is lost."), ("caller", "What now?")]
    [paragraphs] = read(tmp_path / "b.txt", "Note: my card\nis lost.\n\nWhat now?\n")
    assert [text for _, text in said(paragraphs)] == ["Note: my card", "is lost.", "What now?"]


def test_times_become_positions_in_the_call(tmp_path: Path) -> None:
    [conversation] = read(tmp_path / "chat.txt", "[23:59:30] Agent: a\n[23:59:30] Customer: b\n[00:00:10] Agent: c\n")
    starts = [turn.start_ms for turn in turns(conversation)]
    assert starts == [0, 1, 40_000]  # the second has the same second and comes after; the third is on the next day


def test_without_times_a_message_takes_as_long_as_reading_it(tmp_path: Path) -> None:
    [conversation] = read(tmp_path / "chat.txt", "Agent: 0123456789\nCustomer: yes\n")
    assert [(turn.start_ms, turn.end_ms) for turn in turns(conversation)] == [(0, 600), (600, 780)]
    assert "none" in conversation.info().attributes["times"]


def test_a_table_holds_conversations_however_they_are_mixed(tmp_path: Path) -> None:
    table = (
        "Conversation ID;Created At;Sender Type;Message;Agent\n"
        "7;2026-10-05T10:00:05Z;agent;Hello;nadia\n"
        '8;2026-10-05T10:00:01Z;customer;"Hi; it is me\nand my ""card""";\n'
        "7;2026-10-05T10:00:00Z;customer;Hi there;nadia\n"
    )
    first, second = read(tmp_path / "chats.csv", table)
    assert said(first) == [("caller", "Hi there"), ("agent", "Hello")]  # by time
    assert said(second) == [("caller", "Hi; it is me"), ("caller", 'and my "card"')]
    assert first.info().agent == "nadia"
    assert first.info().started_at == parse("2026-10-05T10:00:00Z")
    assert first.call.startswith("chat-7-")
    assert first.call != second.call


def test_columns_can_be_named(tmp_path: Path) -> None:
    table = "a\tb\tc\td\n1\tx\tHello\t10:00\n1\ty\tHi\t10:01\n"
    columns = Columns(text="c", speaker="b", time="d", conversation="a")
    [conversation] = read(tmp_path / "t.tsv", table, TextOptions(columns=columns, agents=("x",)))
    assert said(conversation) == [("agent", "Hello"), ("caller", "Hi")]
    assert turns(conversation)[1].start_ms == 60_000


MESSAGES = [{"role": "user", "content": "Hi", "timestamp": 1791191524}, {"role": "assistant", "content": "Hello"}]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", json.dumps(MESSAGES)),
        ("b.json", json.dumps({"id": "x", "messages": MESSAGES})),
        ("c.json", json.dumps({"conversations": [{"id": "x", "turns": MESSAGES}]})),
        ("d.jsonl", "\n".join(json.dumps(message) for message in MESSAGES)),
        ("e.jsonl", json.dumps({"id": "x", "messages": MESSAGES})),
        ("f.ndjson", json.dumps({"call": {"id": "x"}, "sentences": MESSAGES}) + "\n\n"),
    ],
)
def test_json_in_its_usual_shapes(tmp_path: Path, name: str, content: str) -> None:
    [conversation] = read(tmp_path / name, content)
    assert said(conversation) == [("caller", "Hi"), ("agent", "Hello")]
    assert conversation.info().started_at == 1791191524


def test_an_email_is_what_its_writer_wrote(tmp_path: Path) -> None:
    mail = (
        "From: Ann Lee <ann@mail.example>\nTo: help@shop.example\nSubject: =?utf-8?q?L=C3=A4mp?=\n"
        "Date: Mon, 05 Oct 2026 08:31:00 +0200\nContent-Type: text/plain; charset=iso-8859-1\n"
        "Content-Transfer-Encoding: quoted-printable\n\n"
        "Dear all,\n\nmy l=E4mp never came, and I have now been waiting for it for three\nweeks.\n\n"
        "Kind regards\nAnn Lee\n+49 555 0101\n\n"
        "On Fri, 2 Oct 2026, Shop <help@shop.example> wrote:\n> It is on its way.\n"
    )
    [conversation] = read(tmp_path / "mail.eml", mail)
    long = "my lämp never came, and I have now been waiting for it for three weeks."
    assert said(conversation) == [("caller", "Dear all,"), ("caller", long)]
    info = conversation.info()
    assert (info.medium, info.attributes["subject"]) == ("email", "Lämp")
    assert info.started_at == parse("2026-10-05T06:31:00Z")


def test_an_email_in_html_with_a_quotation_and_an_attachment(tmp_path: Path) -> None:
    mail = (
        "From: support@shop.example\nSubject: Re: x\nMIME-Version: 1.0\n"
        "Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: text/html; charset=utf-8\n\n"
        "<style>p {}</style><p>We are <b>sorry</b>.<br>It comes&nbsp;today.</p><script>alert(1)</script>"
        "<blockquote>my lamp</blockquote><p>Thanks</p>\n--B\nContent-Type: image/png\n"
        "Content-Disposition: attachment; filename=a.png\n\nxx\n--B--\n"
    )
    [conversation] = read(tmp_path / "mail.eml", mail)
    assert said(conversation) == [("agent", "We are sorry. It comes today."), ("agent", "Thanks")]
    assert conversation.info().attributes["attachments"] == "1 left out"


def test_the_sample_conversations(tmp_path: Path) -> None:
    chats = read(tmp_path / "late-parcel.csv", (EXAMPLES / "late-parcel.csv").read_bytes())
    assert [chat.info().agent for chat in chats] == ["nadia", "tom"]
    [thread] = read(tmp_path / "refund.mbox", (EXAMPLES / "refund.mbox").read_bytes())
    assert [role for role, _ in said(thread)] == ["caller", "caller", "agent", "agent", "caller"]
    assert all("Keller" not in text or text == "Dear Ms Keller," for _, text in said(thread))
    [chat] = read(tmp_path / "subscription.txt", (EXAMPLES / "subscription.txt").read_bytes())
    assert len(said(chat)) == 7


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-10-05T10:00:00+02:00", 1791187200),
        ("2026-10-05 08:00:00", 1791187200),
        ("1791187200", 1791187200),
        ("1791187200000", 1791187200),
        ("Mon, 05 Oct 2026 08:00:00 +0000", 1791187200),
        ("25/12/2026, 08:00", 1798185600),
        ("12/25/26 8:00 AM", 1798185600),
        ("05/10/2026 10:00", 36_000),  # the fifth or the tenth month? Only the clock is certain.
        ("[10:02:03]", 36_123),
        ("1:30 pm", 48_600),
        ("24:00", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_times_as_exports_write_them(text: str, seconds: float | None) -> None:
    assert parse(text) == seconds
