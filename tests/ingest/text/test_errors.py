"""Text that is wrong or odd: every complaint names the file and the place, and words stay words."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import pytest

from ingest.text.conversation import TextOptions
from ingest.text.field_names import Columns
from tenor.errors import BadInput
from tests.ingest.text.reading import read, said, turns


def refusal(path: Path, content: str | bytes, reading: TextOptions | None = None, **options: object) -> BadInput:
    with pytest.raises(BadInput) as caught:
        read(path, content, reading, **options)
    assert path.name in caught.value.message
    return caught.value


def test_not_utf8_says_where_and_what_to_do(tmp_path: Path) -> None:
    content = "Agent: Hello\nCustomer: Grüß Gott\n".encode("cp1252")
    error = refusal(tmp_path / "chat.txt", content)
    assert error.message == "chat.txt, line 2: byte 0xfc at position 25 is not UTF-8 text"
    assert "--encoding" in error.hint
    [conversation] = read(tmp_path / "chat.txt", content, TextOptions(encoding="cp1252"))
    assert said(conversation)[1] == ("caller", "Grüß Gott")


def test_the_place_of_a_wrong_byte_far_into_a_file(tmp_path: Path) -> None:
    content = b"text\n" + b"hello there\n" * 20_000 + b"a\xc3\x28\n"
    error = refusal(tmp_path / "far.csv", content)
    assert "line 20002: byte 0xc3 at position 240006" in error.message


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le"])
def test_encodings_with_a_mark_are_found(tmp_path: Path, encoding: str) -> None:
    content = "text\nBonjour 😀 naïve\n".encode(encoding)
    if encoding == "utf-16-le":
        assert "--encoding utf-16-le" in refusal(tmp_path / "a.csv", content).hint
        [conversation] = read(tmp_path / "a.csv", content, TextOptions(encoding=encoding))
    else:
        [conversation] = read(tmp_path / "a.csv", content)
    assert said(conversation) == [("caller", "Bonjour 😀 naïve")]


def test_an_encoding_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no encoding 'klingon'"):
        read(tmp_path / "a.txt", "hi", TextOptions(encoding="klingon"))
    with pytest.raises(BadInput, match="there is no encoding 'base64'"):
        read(tmp_path / "a.txt", "hi", TextOptions(encoding="base64"))


def test_a_time_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    content = "text,time\nhello,2026-11-02 10:00:00\nare you there,quarter past ten\nyes,\n"
    [conversation] = read(tmp_path / "a.csv", content)
    assert [text for _, text in said(conversation)] == ["hello", "are you there", "yes"]
    expected = "cannot read the time 'quarter past ten'; such messages follow the one before them"
    assert list(conversation.warnings) == [expected]
    assert conversation.info().attributes["warnings"] == expected
    content = '[{"text": "hello", "sent_at": "soon"}]'
    [conversation] = read(tmp_path / "a.json", content)
    assert list(conversation.warnings) == [expected.replace("quarter past ten", "soon")]


def test_a_table_without_the_text_names_its_columns(tmp_path: Path) -> None:
    error = refusal(tmp_path / "a.csv", "id,who,when\n1,agent,10:00\n")
    assert "id, who, when" in error.message
    assert "--text-column" in error.hint
    error = refusal(tmp_path / "a.csv", "id,text\n1,hi\n", TextOptions(columns=Columns(text="words")))
    assert "no column 'words'" in error.message
    assert "2 columns 'text'" in refusal(tmp_path / "a.csv", "text,who,text\nhi,agent,ho\n").message
    assert "id, text" in error.hint


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", "role,text\nagent,hello, you\n", "line 2: 3 columns, but the header has 2"),
        ("b.csv", 'role,text\nagent,"hello\nagent,hi\n', "line 3: a quotation is never closed"),
        ("c.jsonl", '{"text": "hi"}\n{"text": \n', "line 2, column"),
        ("d.jsonl", '{"text": "hi"}\n{"id": 3}\n', "line 2: no key that holds the text; its keys: id"),
        ("e.json", '[{"text": "hi"}, 7]', "item 2: '7' is no message"),
        ("f.json", '{"text": "hi"', "line 1, column"),
        ("g.eml", "just words\n\nand more\n", "no header"),
        ("h.txt", "", "holds no text"),
        ("i.csv", "text,role\n  ,agent\n", "holds no text"),
        ("j.eml", "From: a@b.example\n\n> quoted\n", "holds no text"),
        ("k.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 20, "no text"),
        ("l.txt", b"%PDF-1.7 ...", "a PDF file"),
        ("m.txt", b"\x01\x02\x03\x04words\x05\x06" * 20, "no text"),
        ("n.eml", "From: a@b.example\nContent-Type: text/plain; charset=klingon\n\nhi\n", "'klingon'"),
        ("o.mbox", "", "holds no text"),
        ("p.json", "[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, name: str, content: str | bytes, words: str) -> None:
    assert words in refusal(tmp_path / name, content).message


def test_a_sentence_of_five_megabytes_is_taken_in_pieces(tmp_path: Path) -> None:
    words = "and then I called again "
    began = time.monotonic()
    [conversation] = read(tmp_path / "long.csv", f'role,text\ncustomer,"{words * (5_000_000 // len(words))}"\n')
    pieces = turns(conversation)
    assert time.monotonic() - began < 10
    assert max(len(piece.text) for piece in pieces) <= 2000
    assert " ".join(piece.text for piece in pieces).split() == words.split() * (5_000_000 // len(words))
    assert "characters was taken in pieces" in next(iter(conversation.warnings))
    [solid] = read(tmp_path / "solid.txt", "x" * 5_000_000)
    assert sum(len(piece.text) for piece in turns(solid)) == 5_000_000


def test_no_number_is_cut_in_two(tmp_path: Path) -> None:
    [conversation] = read(tmp_path / "a.txt", "word " * 398 + "4111 1111 1111 1111 is my card " + "word " * 300)
    assert any("4111 1111 1111 1111" in turn.text for turn in turns(conversation))


@pytest.mark.parametrize(
    "words",
    [
        "👩‍👩‍👧 thank you 😊😊",
        "אני רוצה לבטל את המנוי שלי",
        "<script>alert('x')</script> & <b>bold</b>",
        "Robert'); DROP TABLE calls;--",
        '=HYPERLINK("http://x")',
    ],
)
def test_words_stay_words(tmp_path: Path, words: str) -> None:
    [conversation] = read(tmp_path / "a.txt", words)
    assert said(conversation) == [("caller", words)]


def test_bare_control_characters_are_left_out(tmp_path: Path) -> None:
    [conversation] = read(tmp_path / "a.jsonl", '{"text": "a\\u0000b\\u0007c\\ud800d"}')
    assert said(conversation) == [("caller", "abcd")]


def test_one_id_for_several_conversations_is_refused(tmp_path: Path) -> None:
    assert "one call id for the 2" in refusal(tmp_path / "a.csv", "call,text\n1,a\n2,b\n", call="mine").message


def test_the_same_content_is_the_same_call(tmp_path: Path) -> None:
    first, again = (read(tmp_path / "a.txt", "Agent: hi\nCustomer: hello\n")[0].call for _ in range(2))
    other = read(tmp_path / "a.txt", "Agent: hi\nCustomer: hello!\n")[0].call
    assert first == again != other


@pytest.mark.slow
def test_a_huge_file_takes_little_memory(tmp_path: Path) -> None:
    """In a process of its own: forty megabytes of chats, mixed, without keeping them in memory."""
    path = tmp_path / "huge.csv"
    with path.open("w") as file:
        file.write("conversation,role,text\n")
        for number in range(80_000):
            file.write(f"{number % 1000},customer,{'I am still waiting for my parcel ' * 15}\n")
    assert path.stat().st_size > 38_000_000
    child = os.fork()
    if child == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        from ingest.sources import Source
        from ingest.text.conversation import open_text

        count = sum(1 for one in open_text(Source("file", str(path))) for _ in one.turns())
        grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        os._exit(0 if count == 80_000 and grown_mb < 25 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
