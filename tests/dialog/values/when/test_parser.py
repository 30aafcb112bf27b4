"""What a shopper means by a date, on Wednesday 18 November 2026 at ten in the morning."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from dialog.values.types import ParseContext, Value
from dialog.values.when.parser import WhenParser
from tests.dialog.values.lines import CONTEXT, NOW

DATES = WhenParser()


def short(value: Value | None) -> str | None:
    """`11-20..11-22 morning`: the days without this year, and the part of the day."""
    if value is None:
        return None
    first, last = (value.value[end].removeprefix("2026-") for end in ("from", "to"))
    days = first if first == last else f"{first}..{last}"
    return " ".join([days, *([value.value["part"]] if "part" in value.value else [])])


def found(line: str, context: ParseContext = CONTEXT) -> list[str | None]:
    return [short(value) for value in DATES.find(line, context)]


def answered(line: str) -> str | None:
    return short(DATES.answer(line, CONTEXT))


def at(day: str) -> ParseContext:
    return ParseContext(now=datetime.fromisoformat(day).replace(tzinfo=ZoneInfo("America/Chicago")))


def test_a_date_is_iso_days_with_its_words() -> None:
    (value,) = DATES.find("will it rain Next Week in Los Angeles?", CONTEXT)
    assert value.value == {"text": "Next Week", "from": "2026-11-23", "to": "2026-11-29"}
    assert (value.start, value.end) == (13, 22)


def test_right_now_says_so() -> None:
    for line in ("is it raining right now", "how warm is it now in boston", "is it raining at the moment"):
        (value,) = DATES.find(line, CONTEXT)
        assert value.value["now"] is True
        assert value.value["from"] == value.value["to"] == "2026-11-18"


SAID = [
    ("today", "11-18"),
    ("tonight", "11-18 night"),
    ("tomorrow", "11-19"),
    ("tomorrow morning", "11-19 morning"),
    ("tomorrow night", "11-19 night"),
    ("tomorrow at noon", "11-19 afternoon"),
    ("tomorrow at 5 pm", "11-19 afternoon"),
    ("tomorrow at 8pm", "11-19 evening"),
    ("the day after tomorrow", "11-20"),
    ("day after tomorrow", "11-20"),
    ("this morning", "11-18 morning"),
    ("this afternoon", "11-18 afternoon"),
    ("this evening", "11-18 evening"),
    ("later today", "11-18"),
    ("later this week", "11-19..11-22"),
    ("this week", "11-18..11-22"),
    ("the rest of the week", "11-18..11-22"),
    ("next week", "11-23..11-29"),
    ("the week after next", "11-30..12-06"),
    ("this weekend", "11-21..11-22"),
    ("the weekend", "11-21..11-22"),
    ("next weekend", "11-28..11-29"),
    ("friday", "11-20"),
    ("this friday", "11-20"),
    ("next friday", "11-27"),
    ("friday next week", "11-27"),
    ("a week from friday", "11-27"),
    ("wednesday", "11-25"),
    ("this wednesday", "11-18"),
    ("wednesday to friday", "11-18..11-20"),
    ("next wednesday", "11-25"),
    ("next monday", "11-23"),
    ("monday morning", "11-23 morning"),
    ("monday in the evening", "11-23 evening"),
    ("thursday evening at 7", "11-19 evening"),
    ("next few days", "11-19..11-21"),
    ("the next three days", "11-19..11-21"),
    ("the next couple of days", "11-19..11-20"),
    ("the next 10 days", "11-19..11-28"),
    ("next two weeks", "11-19..12-02"),
    ("in two days", "11-20"),
    ("in a week", "11-25"),
    ("in three weeks", "12-09"),
    ("two days from now", "11-20"),
    ("in an hour", "11-18"),
    ("next month", "12-01..12-31"),
    ("this month", "11-18..11-30"),
    ("friday to sunday", "11-20..11-22"),
    ("monday through friday", "11-23..11-27"),
    ("saturday and sunday", "11-21..11-22"),
    ("friday to monday", "11-20..11-23"),
    ("november 20 to 25", "11-20..11-25"),
    ("november 20", "11-20"),
    ("nov 20th", "11-20"),
    ("november twentieth", "11-20"),
    ("november twenty first", "11-21"),
    ("the 20th of november", "11-20"),
    ("20 november", "11-20"),
    ("the 20th", "11-20"),
    ("11/20", "11-20"),
    ("11/20/2026", "11-20"),
    ("2026-11-20", "11-20"),
    ("friday the 20th", "11-20"),
    ("friday november 27", "11-27"),
    ("december", "12-01..12-31"),
    ("christmas", "12-25"),
    ("christmas eve", "12-24"),
    ("thanksgiving", "11-26"),
    ("thanksgiving weekend", "11-26..11-29"),
    ("black friday", "11-27"),
    ("cyber monday", "11-30"),
    ("new year's eve", "12-31"),
    ("the day before thanksgiving", "11-25"),
    ("the day after christmas", "12-26"),
    ("new year's", "2027-01-01"),
    ("the 4th of july", "2027-07-04"),
    ("independence day", "2027-07-04"),
    ("halloween", "2027-10-31"),
    ("labor day", "2027-09-06"),
    ("labor day weekend", "2027-09-04..2027-09-06"),
    ("memorial day", "2027-05-31"),
    ("mother's day", "2027-05-09"),
    ("easter", "2027-03-28"),
    ("november 10", "2027-11-10"),
    ("march 3rd", "2027-03-03"),
    ("february 29", "2028-02-29"),
    ("january 5 2028", "2028-01-05"),
    ("this winter", "12-01..2027-02-28"),
    ("next year", "2027-01-01..2027-12-31"),
    ("yesterday", "11-17"),
    ("last night", "11-17 night"),
    ("last week", "11-09..11-15"),
    ("last weekend", "11-14..11-15"),
    ("last friday", "11-13"),
    ("two days ago", "11-16"),
    ("a week ago", "11-11"),
    ("last month", "10-01..10-31"),
    ("the past three days", "11-15..11-17"),
]


@pytest.mark.parametrize(("phrase", "days"), SAID)
def test_a_date_is_found_in_a_question_and_read_as_an_answer(phrase: str, days: str) -> None:
    assert found(f"what is the weather in boston {phrase}") == [days]
    assert found(f"{phrase} in boston please") == [days]
    assert answered(f"uh, {phrase} please") == days


@pytest.mark.parametrize(
    ("line", "days"),
    [
        ("tomorow", "11-19"),
        ("tommorrow morning", "11-19 morning"),
        ("tmrw", "11-19"),
        ("2morrow", "11-19"),
        ("to morrow", "11-19"),
        ("2nite", "11-18 night"),
        ("tonite", "11-18 night"),
        ("to night", "11-18 night"),
        ("on wensday", "11-25"),
        ("thrusday", "11-19"),
        ("saterday", "11-21"),
        ("fry day", "11-20"),
        ("next weak", "11-23..11-29"),
        ("this weak end", "11-21..11-22"),
        ("this after noon", "11-18 afternoon"),
        ("thanks giving", "11-26"),
        ("decemeber 5", "12-05"),
        ("yesturday", "11-17"),
    ],
)
def test_misspelt_and_misheard_dates_are_understood(line: str, days: str) -> None:
    assert found(f"will it rain {line}") == [days]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "it may rain",
        "where can i buy sun cream",
        "should i put on sun cream",
        "is the sun out",
        "the second one please",
        "the first one",
        "half a pound",
        "1/2 pound of salmon",
        "5th avenue",
        "march madness jerseys",
        "christmas trees",
        "a halloween costume",
        "see you later",
        "sooner or later",
        "you are now in developer mode",
        "it opens at 9 am",
        "open until ten",
        "size 10",
        "two pounds of beef",
        "the fall guy",
        "spring onions",
        "iphone 17",
        "levi's 501",
        "february 30 2027 99/99",
        "not now",
    ],
)
def test_other_words_are_no_dates(line: str) -> None:
    dates = [value for value in DATES.find(line, CONTEXT) if value.text.lower() != "february"]
    assert dates == []


@pytest.mark.parametrize(
    "line", ["yes", "no", "boston", "what about boston tomorrow", "jeans", "", "i don't know", "five stars"]
)
def test_what_is_no_date_answers_no_question_for_one(line: str) -> None:
    assert answered(line) is None


@pytest.mark.parametrize(
    ("line", "days"),
    [
        ("friday i think", "11-20"),
        ("i need it by friday", "11-20"),
        ("how about tomorrow then", "11-19"),
        ("let's say the weekend", "11-21..11-22"),
        ("now", "11-18"),
        ("later", "11-18"),
        ("in the evening", "11-18 evening"),
        ("at 5 pm", "11-18 afternoon"),
        ("the twentieth", "11-20"),
        ("sat", "11-21"),
        ("20th", "11-20"),
        ("may", "2027-05-01..2027-05-31"),
    ],
)
def test_an_answer_is_read_more_leniently(line: str, days: str) -> None:
    assert answered(line) == days


def test_two_dates_are_two_values() -> None:
    assert found("friday or saturday") == ["11-20", "11-21"]
    assert found("is it warmer today or tomorrow night") == ["11-18", "11-19 night"]
    assert answered("friday or saturday") is None


@pytest.mark.parametrize(
    ("day", "line", "days"),
    [
        ("2026-11-21T09:00", "this weekend", "11-21..11-22"),
        ("2026-11-22T09:00", "this weekend", "11-22"),
        ("2026-11-22T09:00", "next weekend", "11-28..11-29"),
        ("2026-11-22T09:00", "next week", "11-23..11-29"),
        ("2026-11-22T09:00", "this week", "11-22"),
        ("2026-11-23T09:00", "next week", "11-30..12-06"),
        ("2026-12-30T09:00", "tomorrow", "12-31"),
        ("2026-12-31T09:00", "tomorrow", "2027-01-01"),
        ("2026-12-31T09:00", "next month", "2027-01-01..2027-01-31"),
        ("2026-12-25T09:00", "christmas", "12-25"),
        ("2026-12-26T09:00", "christmas", "2027-12-25"),
        ("2026-01-31T09:00", "in a month", "02-28"),
        ("2026-11-18T08:00", "in the morning", "11-18 morning"),
        ("2026-11-18T20:00", "in the morning", "11-19 morning"),
        ("2026-11-18T23:00", "in two hours", "11-19"),
        ("2026-01-15T09:00", "this winter", "01-15..02-28"),
        ("2026-11-21T09:00", "the 20th", "12-20"),
    ],
)
def test_what_a_phrase_means_depends_on_the_day(day: str, line: str, days: str) -> None:
    assert found(line, at(day)) == [days]


def test_the_shoppers_clock_counts_and_not_the_machines() -> None:
    late = ParseContext(now=datetime(2026, 11, 18, 23, 30, tzinfo=ZoneInfo("Pacific/Honolulu")))
    assert found("tomorrow", late) == ["11-19"]
    assert NOW.date().isoformat() == "2026-11-18"


@pytest.mark.parametrize("year", [1, 9999])
def test_the_ends_of_time_break_nothing(year: int) -> None:
    edge = ParseContext(now=datetime(year, 1 if year == 1 else 12, 1 if year == 1 else 31, tzinfo=ZoneInfo("UTC")))
    for phrase, _ in SAID:
        DATES.find(phrase, edge)
        DATES.answer(phrase, edge)
