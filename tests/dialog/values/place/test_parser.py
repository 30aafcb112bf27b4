"""What a shopper means by the name of a place."""

from __future__ import annotations

import pytest

from dialog.values.place.parser import PlaceParser
from tests.dialog.values.lines import CONTEXT

PLACES = PlaceParser()


def found(line: str) -> list[str]:
    return [f"{value.value['name']}, {value.value['state']}" for value in PLACES.find(line, CONTEXT)]


def answered(line: str) -> str | None:
    value = PLACES.answer(line, CONTEXT)
    return None if value is None else f"{value.value['name']}, {value.value['state']}"


def test_a_place_has_what_a_weather_service_needs() -> None:
    (value,) = PLACES.find("will it rain next week in Los Angeles?", CONTEXT)
    assert (value.text, value.start, value.end) == ("Los Angeles", 26, 37)
    assert value.value == {
        "name": "Los Angeles",
        "state": "CA",
        "latitude": pytest.approx(34.05, abs=0.01),
        "longitude": pytest.approx(-118.24, abs=0.01),
        "timezone": "America/Los_Angeles",
        "population": 3820914,
    }


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("los angelas", "Los Angeles, CA"),
        ("san fransisco", "San Francisco, CA"),
        ("sea attle", "Seattle, WA"),
        ("chigago", "Chicago, IL"),
        ("bostin", "Boston, MA"),
        ("new yourk", "New York, NY"),
        ("pheonix", "Phoenix, AZ"),
        ("philidelphia", "Philadelphia, PA"),
        ("filadelfia", "Philadelphia, PA"),
        ("minneapolus", "Minneapolis, MN"),
        ("cincinatti", "Cincinnati, OH"),
        ("albuquerqe", "Albuquerque, NM"),
        ("pittsburg pa", "Pittsburgh, PA"),
        ("tuscon", "Tucson, AZ"),
        ("milwakee", "Milwaukee, WI"),
        ("sacremento", "Sacramento, CA"),
        ("saint lewis", "St. Louis, MO"),
        ("fee nicks", "Phoenix, AZ"),
        ("port land oregon", "Portland, OR"),
        ("dull ooth", "Duluth, MN"),
    ],
)
def test_a_misspelt_or_misheard_name_is_understood(line: str, place: str) -> None:
    assert answered(line) == place
    assert found(f"what's the weather in {line} tomorrow") == [place]


@pytest.mark.parametrize(
    "line",
    [
        *("jeans", "milk", "thai food", "tomorrow", "walmart", "memory", "yes", "no", "okay", "sure", "help", "cancel"),
        *("i don't know", "what did you say", "the cheapest one", "laptop memory", "how much is it", "a person please"),
        *("running shoes", "next week", "friday", "in stock", "the blue one", "uh", "", "near me", "here", "at home"),
        *("never mind", "stop", "repeat that", "texas", "london", "qwertyville", "federal taxes", "the weather"),
    ],
)
def test_what_is_no_place_answers_no_question_for_one(line: str) -> None:
    assert answered(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "how much are mobile phones",
        "do you have reading glasses",
        "is there orange juice",
        "do you have it in orange",
        "what a surprise",
        "buffalo wings",
        "boston cream pie",
        "new york strip steak",
        "philadelphia cream cheese",
        "a normal price",
        "what's the price of sandy brown pants",
        "converse shoes in size ten",
        "columbia jackets on sale",
        "hollister hoodies",
        "a hoover vacuum",
        "where can i get the best pasta",
        "jeans with the lowest price",
        "will it rain in the spring",
        "do you sell auburn hair dye",
        "the independence of the judges",
        "i hope you can help",
        "white oak flooring",
        "can i pay in cash",
        "is it in stock at target",
        "it may snow and i need a new coat for winter",
    ],
)
def test_ordinary_words_are_no_cities(line: str) -> None:
    assert found(line) == []


@pytest.mark.parametrize(
    ("line", "places"),
    [
        ("will it rain in mobile tomorrow", ["Mobile, AL"]),
        ("weather in reading", ["Reading, PA"]),
        ("weather for Mobile", ["Mobile, AL"]),
        ("Orange, CA", ["Orange, CA"]),
        ("normal illinois", ["Normal, IL"]),
        ("is it cold in surprise", ["Surprise, AZ"]),
        ("how much snow did buffalo get last night", ["Buffalo, NY"]),
        ("weather in bend oregon", ["Bend, OR"]),
        ("jeans in boston or denver", ["Boston, MA", "Denver, CO"]),
        ("the naperville store", ["Naperville, IL"]),
        ("from dallas to houston", ["Dallas, TX", "Houston, TX"]),
        ("Boise's weather", ["Boise, ID"]),
        ("i'm in downtown Chicago", ["Chicago, IL"]),
        ("weather in WASHINGTON DC", ["Washington, DC"]),
        ("🌮 in Austin!!!", ["Austin, TX"]),
    ],
)
def test_places_are_found_in_a_line(line: str, places: list[str]) -> None:
    assert found(line) == places


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("LA", "Los Angeles, CA"),
        ("L.A.", "Los Angeles, CA"),
        ("nyc", "New York, NY"),
        ("new york city", "New York, NY"),
        ("New York, New York", "New York, NY"),
        ("the big apple", "New York, NY"),
        ("philly", "Philadelphia, PA"),
        ("vegas", "Las Vegas, NV"),
        ("SF", "San Francisco, CA"),
        ("san fran", "San Francisco, CA"),
        ("frisco", "San Francisco, CA"),
        ("D.C.", "Washington, DC"),
        ("washington d.c.", "Washington, DC"),
        ("nola", "New Orleans, LA"),
        ("st louis", "St. Louis, MO"),
        ("St. Louis", "St. Louis, MO"),
        ("saint louis missouri", "St. Louis, MO"),
        ("ft worth", "Fort Worth, TX"),
        ("ft. worth, tx", "Fort Worth, TX"),
        ("portland oregon", "Portland, OR"),
        ("portland, or", "Portland, OR"),
        ("portland or", "Portland, OR"),
        ("portland maine", "Portland, ME"),
        ("springfield mass", "Springfield, MA"),
        ("kansas city kansas", "Kansas City, KS"),
        ("Coeur d'Alene", "Coeur d'Alene, ID"),
        ("winston-salem", "Winston-Salem, NC"),
        ("lees summit", "Lee's Summit, MO"),
        ("sedona", "Sedona, AZ"),
        ("lake tahoe", "South Lake Tahoe, CA"),
        ("paris, texas", "Paris, TX"),
        ("uh, in tucson please", "Tucson, AZ"),
        ("i think it's um omaha", "Omaha, NE"),
        ("yuma tomorrow", "Yuma, AZ"),
        ("the city of boston", "Boston, MA"),
        ("how about denver then", "Denver, CO"),
        ("mobile", "Mobile, AL"),
        ("the chicago area", "Chicago, IL"),
        ("i live in fargo", "Fargo, ND"),
        ("no i meant omaha", "Omaha, NE"),
    ],
)
def test_an_answer_is_read_as_people_give_it(line: str, place: str) -> None:
    assert answered(line) == place


def test_or_between_two_cities_is_no_state() -> None:
    assert found("portland or seattle") == ["Portland, OR", "Seattle, WA"]
    assert PLACES.find("portland or seattle", CONTEXT)[0].text == "portland"


def test_a_question_is_no_answer() -> None:
    assert answered("what is the price of milk in boston") is None


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("Portland", ["OR", "ME"]),
        ("Springfield", ["MO", "MA", "IL"]),
        ("Columbus", ["OH", "GA"]),
        ("Aurora", ["CO", "IL"]),
        ("Arlington", ["TX", "VA"]),
        ("Columbia", ["SC", "MO", "MD"]),
        ("frisco", ["CA", "TX"]),
    ],
)
def test_a_name_of_several_large_cities_gives_the_largest_and_the_others(name: str, states: list[str]) -> None:
    value = PLACES.answer(name, CONTEXT)
    assert value is not None
    assert [place["state"] for place in (value.value, *value.alternatives)][: len(states)] == states


def test_a_city_on_two_sides_of_a_border_is_one() -> None:
    value = PLACES.answer("Kansas City", CONTEXT)
    assert value is not None
    assert (value.value["state"], value.alternatives) == ("MO", ())


@pytest.mark.parametrize(
    "name",
    [
        "Boston",
        "Houston",
        "Denver",
        "Dallas",
        "Austin",
        "Miami",
        "Jacksonville",
        "New York",
        "portland, or",
        "Cleveland",
    ],
)
def test_a_name_that_means_one_city_is_no_question(name: str) -> None:
    value = PLACES.answer(name, CONTEXT)
    assert value is not None
    assert value.alternatives == ()


def test_a_misspelt_name_is_less_sure_than_a_right_one() -> None:
    right, misspelt, heard = (PLACES.answer(line, CONTEXT) for line in ("phoenix", "pheonix", "fee nicks"))
    assert right is not None
    assert misspelt is not None
    assert heard is not None
    assert right.score == 1 > misspelt.score
    assert heard.score < 1
