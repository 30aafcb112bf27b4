"""The data of places is whole and reads quickly."""

from __future__ import annotations

import subprocess
import sys
import zoneinfo
from pathlib import Path

from dialog.values.place.gazetteer import gazetteer
from dialog.values.place.states import NAMES

DATA = Path(__file__).parents[4] / "dialog" / "values" / "place" / "data"


def test_every_place_can_be_used() -> None:
    places = [place for found in gazetteer().places.values() for place in found]
    assert len(places) > 3_000
    assert {place.state for place in places} == set(NAMES)
    zones = {place.timezone for place in places}
    assert all(zoneinfo.ZoneInfo(zone) for zone in zones)
    for place in places:
        assert 15 < place.latitude < 72
        assert -180 < place.longitude < -60
        assert place.population > 0
        assert place.name.isascii()


def test_no_city_is_listed_twice() -> None:
    for found in gazetteer().places.values():
        assert len({(place.name, place.state) for place in found}) == len(found)


def test_the_vocabulary_hides_no_city() -> None:
    """A word that is there is never taken for a misspelling, so a city of that name would never be found."""
    known = gazetteer()
    hidden = {word for word in known.vocabulary if word in known.places and not known.is_ordinary(word)}
    assert hidden == set()


def test_geonames_is_named() -> None:
    text = (DATA / "GEONAMES.txt").read_text("utf-8")
    assert "https://www.geonames.org" in text
    assert "creativecommons.org/licenses/by/4.0" in text


def test_importing_the_parser_reads_no_places() -> None:
    code = (
        "import dialog.values.place.parser\n"
        "from dialog.values.place.gazetteer import gazetteer\n"
        "print(gazetteer.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=DATA.parents[3])
    assert done.stdout.strip() == "0"
