"""Labels from files of others: bad rows are named, the rest is taken, nothing comes twice; and back again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select

from storage.db.engine import Database
from storage.labels.files.bring_in import bring_in
from storage.labels.files.export import LabelFormat, labels_of, written
from storage.labels.files.formats import BadRow, LabelRow, read_labels
from storage.queries.turns import between, corrected_turns
from storage.tables import Call, Label, Sentence, Turn
from storage.transfer.nemo import LabelledLine, labelled_line, nemo_files
from storage.viewer import HOUSE
from tenor import events
from tenor.errors import BadInput
from tests.storage.conversations import NAMES
from tests.storage.events import sentence as event
from tests.storage.rows import call, sentence, store


class Reader:
    """A model that finds everything neutral, and takes the word `secret` out."""

    def redacted(self, text: str) -> str:
        return text.replace("secret", "[REDACTED]")

    def read(self, texts: Sequence[str]) -> Sequence[events.Sentence]:
        return [event("", 0, text=self.redacted(text)) for text in texts]


def import_file(database: Database, path: Path, author: str = "") -> tuple[Counter[str], list[BadRow]]:
    counts: Counter[str] = Counter()
    wrong: list[BadRow] = []
    for done in bring_in(database, read_labels(path), by="root", names=NAMES, reader=Reader(), author=author):
        counts.update(done.labels)
        wrong += done.wrong
    return +counts, wrong


def labels(database: Database) -> list[Label]:
    with database.session() as session:
        return list(session.exec(select(Label).order_by(col(Label.id))))


def test_a_table_labels_sentences_that_are_here_and_words_that_are_not(database: Database, tmp_path: Path) -> None:
    store(database, call("one"), sentence("one", 0, text="my card since monday"))
    path = tmp_path / "labels.csv"
    path.write_text(
        "sentence,text,sentiment,intent,slots,author,at\n"
        'one/0/0,,negative,card_problem,"[""O"",""B-product"",""O"",""B-date""]",ann,1790000000\n'
        ",I want my money back,negative,refund,,,\n"
        ",my secret is out,neutral,,,,\n"
        "one/0/9,,negative,,,,\n"
        ",good morning,cheerful,greeting,,,\n"
        ",too,many,cells,in,this,row,here\n"
        ",no label,,,,,\n"
        ",when,neutral,,,,yesterday\n"
    )
    counts, wrong = import_file(database, path, author="vendor")
    assert counts == {"imported": 7, "refused": 5}
    assert [(row.place.rpartition(":")[2], row.reason) for row in sorted(wrong)] == [
        ("5", "there is no sentence 'one/0/9'"),
        ("6", "there is no sentiment 'cheerful' in force; there are: negative, neutral, positive"),
        ("7", "8 cells where the header has 7"),
        ("8", "no label: none of sentiment, intent, slots"),
        ("9", "'yesterday' is no time in seconds"),
    ]
    made = labels(database)
    assert {(row.author, row.why, row.where) for row in made} == {
        ("ann", "import", "import"),
        ("vendor", "import", "import"),
    }
    assert made[0].at == 1790000000
    with database.session() as session:
        words = {row.text for row in session.exec(select(Sentence)).all()}
        calls = session.exec(select(Call).where(col(Call.source) == "import")).all()
    assert words == {"my card since monday", "I want my money back", "my [REDACTED] is out", "good morning"}
    assert len(calls) == 3, "each text stands for itself when data are split"
    counts, _ = import_file(database, path, author="vendor")
    assert counts == {"unchanged": 7, "refused": 5}
    assert len(labels(database)) == 7


def test_json_lines_that_cannot_be_read_are_named(database: Database, tmp_path: Path) -> None:
    store(database, call("one"), sentence("one", 0, text="my card since monday"))
    path = tmp_path / "labels.jsonl"
    path.write_text(
        '{"sentence": "one/0/0", "kind": "slots", "value": ["O", "O", "O", "B-date"]}\n'
        '{"sentence": "one/0/0", "sentiment": 3}\n'
        "{half\n"
        "[]\n"
        "\n"
        '{"sentence": "one/0/0", "sentimant": "negative"}\n'
        '{"sentence": "one/0/0", "kind": "text", "value": "other words"}\n'
        '{"sentence": "one/0/0", "slots": "O O O"}\n'
    )
    counts, wrong = import_file(database, path)
    assert counts == {"imported": 1, "refused": 6}
    assert {row.place.rpartition(":")[2]: row.reason for row in wrong} == {
        "2": "no sentiment",
        "3": "JSON is malformed: object keys must be strings (byte 1)",
        "4": "not a JSON object",
        "6": "nothing is called 'sentimant'",
        "7": "labels of 'text' are not brought in: only sentiment, intent, slots",
        "8": "3 tags for 4 words",
    }


def test_nemos_files_come_in_as_turns_and_go_out_the_same(database: Database, tmp_path: Path) -> None:
    lines = [
        LabelledLine("where can i get the best pasta", "find_the_store", ("B-interrogative.location", *"OO", "B-verb",
                     "B-article", "B-rating.high", "B-item.type")),
        LabelledLine("milk price", "price_check", ("B-item.type", "O")),
        LabelledLine("will it snow", "weather.snow_yes_no", ("O", "O", "O")),
    ]  # fmt: skip
    files = nemo_files(lines)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert import_file(database, tmp_path) == ({"imported": 6}, [])
    assert import_file(database, tmp_path) == ({"unchanged": 6}, [])
    with database.session() as session:
        found = set()
        for turns in between(session, HOUSE, 0, 1e12):
            corrected = corrected_turns(session, turns)
            found |= {labelled_line(turn, corrected) for turn in turns}
        assert {line for line in found if line} == set(lines)
    assert nemo_files(line for line in found if line) == files
    (tmp_path / "train.tsv").write_text("sentence\tlabel\nmilk\t99\nsecret milk\t0\nno number\n")
    (tmp_path / "train_slots.tsv").write_text("0\n0 0\n\n")
    (tmp_path / "test.tsv").unlink()
    _, wrong = import_file(database, tmp_path)
    assert [row.reason.partition(":")[0] for row in sorted(wrong)] == [
        "'99' is no number of the dictionary's 4",
        "personal data in the line",
        "'no number' is no number of the dictionary's 4",
    ]
    (tmp_path / "train_slots.tsv").write_text("0\n")
    with pytest.raises(BadInput, match=r"has 1 lines, train\.tsv has 3 sentences"):
        import_file(database, tmp_path)


@pytest.mark.parametrize("form", ["label-studio", "jsonl", "csv"])
def test_what_is_exported_comes_in_elsewhere(form: LabelFormat, database: Database, tmp_path: Path) -> None:
    store(database, call("one"), sentence("one", 0, text="my card since monday"))
    with database.begin() as session:
        session.add(
            Turn(id="one/1", call="one", turn=1, at=1.0, input="red shirt", intent="price_check", tags=["O", "O"])
        )
    rows = [
        {"sentence": "one/0/0", "sentiment": "negative", "slots": ["O", "B-product", "O", "B-date"], "author": "ann"},
        {"sentence": "one/0/0", "sentiment": "neutral", "author": "bob"},
        {"turn": "one/1", "intent": "find_the_store", "slots": ["B-item.color", "B-item.type"], "author": "ann"},
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert import_file(database, path)[1] == []

    def told() -> set[tuple[Any, ...]]:
        return {(row.sentence, row.turn, row.kind, row.value, row.author) for row in labels(database)}

    before = told()
    with database.session() as session:
        content = written(labels_of(session, HOUSE), form)
    exported = tmp_path / f"out.{'json' if form == 'label-studio' else form}"
    exported.write_bytes(content)
    assert import_file(database, exported) == ({"unchanged": 5}, [])
    with database.begin() as session:
        for row in session.exec(select(Label)).all():
            session.delete(row)
    assert import_file(database, exported) == ({"imported": 5}, [])
    assert told() == before
    if form == "label-studio":
        task = json.loads(content)[0]
        assert task["data"]["text"] == "my card since monday"
        spans = [one["value"] for one in task["annotations"][0]["result"] if one["type"] == "labels"]
        assert spans[0] == {"start": 3, "end": 7, "text": "card", "labels": ["product"]}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.csv", b"", "the columns are missing"),
        ("a.csv", b"text,colour\nx,y\n", "no column is called 'colour'"),
        ("a.csv", "text,sentiment\nfür,neutral\n".encode("latin-1"), "is not UTF-8"),
        ("a.json", b"{}", "is no export of Label Studio"),
        ("a.json", b"[", "Input data was truncated"),
        ("a.xml", b"<a/>", "none of the formats we read"),
        ("b.tsv", b"sentence\tlabel\n", "cannot read .*dict.intents.csv"),
    ],
)
def test_a_file_that_is_none_says_so(name: str, content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInput, match=reason):
        list(read_labels(path))


def test_tasks_of_label_studio_that_are_odd_are_named(tmp_path: Path) -> None:
    result = {"from_name": "sentiment", "to_name": "text", "type": "choices", "value": {"choices": ["negative"]}}
    tasks = [
        {"data": {"text": "fine"}, "annotations": [{"completed_by": 7, "result": [result]}]},
        {"data": {"audio": "x.wav"}},
        {"data": {"text": "x"}, "annotations": [{"result": [{"type": "choices"}]}]},
        {"data": {"text": "x"}, "annotations": [{"was_cancelled": True, "result": []}]},
        "not a task",
    ]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(tasks))
    first, *rest = read_labels(path)
    assert isinstance(first, LabelRow)
    assert (first.author, first.values, first.text) == ("label-studio-7", {"sentiment": "negative"}, "fine")
    assert [row.reason for row in rest if isinstance(row, BadRow)] == [
        "no data.text",
        "a result that is not Label Studio's",
        "no data.text",
    ]
