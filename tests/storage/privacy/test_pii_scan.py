"""What lies unredacted is found wherever it lies, told without its words, and gone for good when it was masked."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import pytest
from sqlalchemy import update
from sqlmodel import col, select
from typer.testing import CliRunner, Result

from storage.db.engine import Database, open_database
from storage.db.vacuum import compact
from storage.privacy import pii_scan
from storage.privacy.scan_report import ScanReport
from storage.search import SearchQuery, search
from storage.tables import Alert, Audit, Call, Label, Sentence
from storage.viewer import HOUSE
from tenor.cli.app import app
from tenor.events import Word
from tenor.redaction import KINDS, RedactedText
from tenor.redaction.patterns import PatternRedactor
from tenor.runtime.redactor import FinderWhenNeeded
from tenor.settings import Settings
from tests.storage.conversations import START, add_call, add_label, add_note
from tests.storage.privacy.test_erasure import found_in, relation_files, tables_with
from tests.storage.rows import alert
from tests.tenor.cli.command import tenor

CARD = "4111 1111 1111 1111"
TELEPHONE = "617-555-0134"
NAME = "Beatrix"
PLANTED = (CARD, TELEPHONE, NAME)
USUAL = frozenset({"card", "account", "phone", "email", "birth_date"})
DULL = ("How can I help you today?", "I would like to know when you are open.")


@pytest.fixture(scope="module")
def redactor() -> PatternRedactor:
    """With the language model, as the command has it."""
    return PatternRedactor(KINDS, FinderWhenNeeded(Settings()))


def fill(database: Database) -> None:
    with database.begin() as session:
        slots = {1: {"slots": {"card_number": CARD.replace(" ", ""), "day": "today"}}}
        lines = ("Your card number, please?", f"My card number is {CARD}.", "Thanks.", "Bye now.")
        add_call(session, "open", *lines, sentences=slots, queue="payments", recording="open.flac", redact="off")
        add_label(session, "open/1/1000", "text", f"My card number is {CARD}, yes.")
        session.execute(update(Label).values(predicted=lines[1]))
        add_note(session, "open", f"Call them back at {TELEPHONE}.")
        session.add(alert("open", 1000, text=f"card: {CARD}!", sentence="open/1/1000"))
        named = ("Whom am I speaking to?", f"My name is {NAME}.", *DULL)
        add_call(session, "named", *named, queue="support", redact="text", attributes={"subject": f"From {TELEPHONE}"})
        slipped = (f"Please call {TELEPHONE}.", "I will.", *DULL)
        add_call(session, "slipped", *slipped, queue="support", redact="audio", recording="slipped.flac")
        add_call(session, "clean", *DULL, queue="support", redact="text", customer="617-555-0199")


def looked(database: Database, redactor: PatternRedactor) -> ScanReport:
    return pii_scan.scan(database, redactor, prevented=USUAL).report()


def test_it_says_how_much_lies_where_and_not_what(database: Database, redactor: PatternRedactor) -> None:
    fill(database)
    report = looked(database, redactor)
    assert (report.calls, report.affected) == (4, 3)
    assert report.tables == {
        "alerts": {"card": 1},
        "labels": {"card": 2},  # the correction, and what it corrects
        "notes": {"phone": 1},
        "sentences": {"card": 1, "person": 1, "phone": 1},
        "slots": {"card": 1},
        "subjects": {"phone": 1},
    }
    assert report.queues == {"payments": {"card": 5, "phone": 1}, "support": {"person": 1, "phone": 2}}
    assert report.kinds == {"card": 5, "phone": 3, "person": 1}
    assert [(one.call, one.mode, one.found) for one in report.worst] == [
        ("open", "off", 6),
        ("named", "text", 2),
        ("slipped", "audio", 1),
    ]
    assert report.recordings == ["open"]  # that of the other call was silenced
    assert report.told == {"customer": {"phone": 1}}
    assert not [word for word in PLANTED if word in str(report)]


def test_an_anomaly_is_what_redaction_should_have_taken_out(database: Database, redactor: PatternRedactor) -> None:
    fill(database)
    assert [one.call for one in looked(database, redactor).anomalies] == ["named", "slipped"]  # one by its subject
    with database.begin() as session:
        session.execute(update(Call).where(col(Call.id) == "named").values(attributes={}))
    assert [one.call for one in looked(database, redactor).anomalies] == ["slipped"]  # names are not redacted here


def test_what_was_masked_is_gone_and_not_found_again(
    database: Database, database_settings: Settings, redactor: PatternRedactor, request: pytest.FixtureRequest
) -> None:
    fill(database)
    totals = pii_scan.scan(database, redactor)
    masked = pii_scan.mask(database, redactor, totals, by="root")
    assert (masked.calls, masked.left) == (3, [])
    assert masked.rows == {"sentences": 3, "labels": 1, "notes": 1, "alerts": 1, "calls": 1}
    compact(database)

    files = relation_files(request, database)() if database.is_postgres else database_settings.home
    for word in (*PLANTED, CARD.replace(" ", "")):
        assert tables_with(database, word) == []
        assert found_in(files, word) == []
    with database.session() as session:
        said = session.get_one(Sentence, "open/1/1000")
        assert (said.text, said.slots) == ("My card number is [card].", {"card_number": "[card]", "day": "today"})
        assert session.scalars(select(Alert.text)).one() == "card: [card]!"
        assert search(session, HOUSE, SearchQuery(words=NAME)).hits == []
        assert len(search(session, HOUSE, SearchQuery(words="card number is")).hits) == 1
        trail = {row.subject: row.detail for row in session.scalars(select(Audit))}
        assert trail["named"] == {"rows": {"sentences": 1, "calls": 1}, "found": {"person": 1, "phone": 1}}
        assert session.get_one(Call, "clean").customer == "617-555-0199"
    again = pii_scan.scan(database, redactor)
    assert again.affected == 0
    assert pii_scan.mask(database, redactor, again, by="root").calls == 0


def test_a_summary_repeats_no_secret_of_its_call(database: Database, redactor: PatternRedactor) -> None:
    point = {"id": "detail:c/0/0", "kind": "detail", "text": CARD, "sentence": "c/0/0"}
    mended = {"wanted:c/0/0": {"text": f"Pays with {CARD}", "by": "ann", "at": START, "withdrawn": False}}
    with database.begin() as session:
        summary = {"headline": f"Payment: {CARD}", "outcome": "done", "points": [point]}
        add_call(session, "c", f"My card number is {CARD}.", summary=summary, mended=mended)
    pii_scan.mask(database, redactor, pii_scan.scan(database, redactor), by="root")
    with database.session() as session:
        call = session.get_one(Call, "c")
        masked = {"headline": "Payment: [card]", "outcome": "done", "points": [{**point, "text": "[card]"}]}
        assert call.summary == masked
        assert call.mended["wanted:c/0/0"]["text"] == "Pays with [card]"
    assert pii_scan.scan(database, redactor).report().affected == 0


def test_a_number_over_several_sentences_is_found_with_what_stands_before(sqlite_settings: Settings) -> None:
    database = open_database(sqlite_settings)
    spoken = (
        "my card number is four one one one",
        "okay",
        "one one one one",
        "right",
        "two two two",
        "yes",
        "six to two",
    )
    with database.begin() as session:
        add_call(session, "long", *spoken)
    redactor = PatternRedactor(KINDS)
    pii_scan.mask(database, redactor, pii_scan.scan(database, redactor), by="root")
    with database.session() as session:
        texts = session.scalars(
            select(Sentence.text).where(col(Sentence.channel) == 0).order_by(col(Sentence.start_ms))
        )
        assert list(texts) == ["my card number is [card]", "[card]", "[card]", "[card]"]
    assert pii_scan.scan(database, redactor).affected == 0
    database.close()


def test_a_call_that_is_not_over_is_left_and_told(database: Database, redactor: PatternRedactor) -> None:
    with database.begin() as session:
        add_call(session, "now", f"I am at {TELEPHONE}.", state="live")
    masked = pii_scan.mask(database, redactor, pii_scan.scan(database, redactor), by="root")
    assert (masked.calls, masked.left) == (0, ["now"])
    assert tables_with(database, TELEPHONE)


def test_a_sentence_that_changed_meanwhile_is_left_for_the_next_time(database: Database) -> None:
    with database.begin() as session:
        add_call(session, "one", f"I am at {TELEPHONE}.")

    class Slow(PatternRedactor):
        """So slow that somebody is faster."""

        def redact(self, text: str, words: Sequence[Word], *, before: str = "", final: bool = True) -> RedactedText:
            with database.begin() as session:
                session.execute(update(Sentence).values(text=f"No, I am at {TELEPHONE}."))
            return super().redact(text, words, before=before, final=final)

    quick = PatternRedactor(KINDS)
    assert pii_scan.mask(database, Slow(KINDS), pii_scan.scan(database, quick), by="root").calls == 0
    assert pii_scan.mask(database, quick, pii_scan.scan(database, quick), by="root").calls == 1
    with database.session() as session:
        assert session.scalars(select(Sentence.text)).one() == "No, I am at [phone]."


def test_conversations_that_lie_here_twice(database: Database) -> None:
    with database.begin() as session:
        for number in range(pii_scan.PIECE + 1):  # more than are looked at together
            add_call(session, f"other {number:02}", *DULL, f"It is {'very ' * number} late.")
        add_call(session, "a", *DULL, "Well, thank you.")
        add_call(session, "z", *DULL, "Well, thank you.", started_at=START + 5)
        add_call(session, "turned", DULL[1], DULL[0], "Well, thank you.")
        add_call(session, "silent 1", "Hello?")
        add_call(session, "silent 2", "Hello?")
    report = pii_scan.scan(database, PatternRedactor()).report()
    assert report.duplicates == [["a", "z"]]
    assert (report.affected, report.calls) == (0, pii_scan.PIECE + 6)


@pytest.mark.slow
def test_the_command(sqlite_settings: Settings) -> None:
    home = sqlite_settings.home
    database = open_database(sqlite_settings)
    fill(database)
    with database.begin() as session:
        session.execute(update(Call).where(col(Call.id) != "open").values(started_at=time.time()))
    database.close()

    def scanned(*arguments: str, expected: int) -> str:
        done = tenor("--home", home, "db", "scan", *arguments, cwd=home)
        assert done.returncode == expected, done.stderr
        assert not [word for word in PLANTED if word in done.stdout + done.stderr]
        return done.stdout

    recent = json.loads(scanned("--since", "1h", "--kinds", "phone,person", "--json", expected=1))
    assert (recent["calls"], recent["kinds"], recent["recordings"]) == (3, {"phone": 2, "person": 1}, [])
    shown = scanned("--redact", "--yes", expected=1)
    assert [line.split() for line in shown.splitlines()[1:3]] == [["named", "text", "2"], ["slipped", "audio", "1"]]
    for line in ("masked        3 calls: ", "recordings    not changed: 1 call above"):
        assert line in shown
    assert [word for word in PLANTED if found_in(home, word)] == []
    assert "found         0 in 0 calls" in scanned(expected=0)


def test_the_command_asks_first(sqlite_settings: Settings) -> None:
    database = open_database(sqlite_settings)
    fill(database)

    def scanned(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["--home", str(sqlite_settings.home), "db", "scan", *arguments])

    assert "nothing is called 'names'" in str(scanned("--kinds", "card,names").exception)
    assert "what to look for" in str(scanned("--kinds", "", "--redact", "--yes").exception)
    assert "'1 month' is no time" in str(scanned("--since", "1 month").exception)
    shown = scanned("--kinds", "card", "--redact")
    assert "nothing is masked: 5 places in 1 call would be, for good, with --yes" in shown.stderr
    assert "  open  sentences  My card number is [card]." in shown.stdout.splitlines()
    assert CARD not in shown.output
    told = json.loads(scanned("--kinds", "card", "--redact", "--json").stdout)
    assert {"call": "open", "table": "alerts", "text": "card: [card]!"} in told["as_masked"]
    assert "masked" not in told
    assert tables_with(database, CARD)
    database.close()


def test_only_the_kinds_that_are_asked_for_are_masked(database: Database) -> None:
    """Numbers that only might be secret, places beside a word such as "card", and slots that their sentence shows."""
    kept = (
        "1234",
        "My card was stolen, I live at 1234 Main Street, Springfield, IL 62704.",
        "My order number is 48213990.",
        f"Call me at {TELEPHONE}.",
    )
    slots = {2: {"slots": {"house": "1234", "zip": "62704"}}, 4: {"slots": {"order_number": "48213990"}}}
    with database.begin() as session:
        lines = [line for one in (*kept, f"{CARD}, please.") for line in (one, "Okay.")]
        add_call(session, "one", *lines, sentences={**slots, 8: {"slots": {"card_number": CARD.replace(" ", "-")}}})
    redactor = PatternRedactor(("card",))
    totals = pii_scan.scan(database, redactor, kinds=("card",))
    assert totals.report().tables == {"sentences": {"card": 1}, "slots": {"card": 1}}
    assert [one.text for one in totals.masked_texts()] == ["[card], please.", "card_number: [card]"]
    pii_scan.mask(database, redactor, totals, by="root", kinds=("card",))
    with database.session() as session:
        said = session.scalars(
            select(Sentence).where(col(Sentence.channel) == 0).order_by(col(Sentence.start_ms))
        ).all()
        assert [one.text for one in said] == [*kept, "[card], please."]
        assert [one.slots for one in said[1:3]] == [slots[2]["slots"], slots[4]["slots"]]
