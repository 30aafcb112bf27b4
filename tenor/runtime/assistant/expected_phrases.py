"""What the recogniser should expect in calls that the assistant answers: the settings' phrases, and the names that the
parsers of its slots know."""

from __future__ import annotations

from typing import Final

from dialog.fulfilment.sample.catalogue import table
from tenor.settings import Settings

NAMES: Final = (("products", "type"), ("store_types", "type"), ("cities", "city"))
"""Tables of the sample shop, and the columns with the names of its products, its stores and their cities."""
SHORTEST: Final = 4
"""Letters of a name: briefer ones are heard everywhere."""


def expected_phrases(settings: Settings) -> list[str]:
    """None, if the settings name none."""
    boosted = settings.assistant.boosted
    if not boosted:
        return []
    names = {row[column] for name, column in NAMES for row in table(name) if len(row[column]) >= SHORTEST}
    known = {form for phrase in boosted for form in (phrase.lower(), phrase.lower().removesuffix("s"))}
    return [*boosted, *sorted(name for name in names if name.lower() not in known)]
