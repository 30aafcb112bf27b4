"""Words of a question as recognisers write them down, and what was said: "how mulch is", "the lowest prize"."""

from __future__ import annotations

import re
from typing import Final

_LEADING: Final = r"^((?:(?:and|so|um|uh|ok|okay|hi|hey|hello|yes|no)[\s,]+)*)"
_MEANT: Final = tuple(
    (re.compile(heard, re.IGNORECASE), meant)
    for heard, meant in (
        # Nobody begins a question with what one wears.
        (rf"{_LEADING}(?:wear|ware)(?= (?:is|are|can|could|do|would)\b)", r"\1where"),
        (rf"{_LEADING}(?:wears|wares)(?= (?:the|a|there)\b)", r"\1where's"),
        (
            r"\bhow (?:mulch|mush|munch|march|match|mutch|muck)(?= (?:is|are|r|our|does|do|for|would|will|it|the|a)\b)",
            "how much",
        ),
        (r"\bhow (?:called|coal|coaled|code)(?= (?:is|was|does|do|will|would) (?:it|the)\b)", "how cold"),
        (r"\bhow (?:warn|worm|form)(?= (?:is|was|does|do|will|would) (?:it|the)\b)", "how warm"),
        (r"\bhow much our(?= \w)", "how much are"),
        # The first word was not heard.
        (rf"{_LEADING}(much|many)(?= (?:is|are|do|does|will|would|[a-z]+ (?:do|does|are|is))\b)", r"\1how \2"),
        (r"\bhow many (?:watch|walks|once)(?= (?:do|does|is|are)\b)", "how many watts"),
        (r"\b(lowest|highest|best|cheapest|average|what's the|whats the|what is the) prize\b", r"\1 price"),
        (r"\bprize(s?)(?= (?:of|for|on)\b)", r"price\1"),
        (r"\b(near|close|cheap|cheep|high|low|larg|small) est\b", r"\1est"),
        (r"\b(be|is it|it's|be a) sonny\b", r"\1 sunny"),
        (r"\bin (?:stalk|stalks|stocks)\b", "in stock"),
        (r"\b(is|are|was|will) their(?= (?:an?|any|some|be)\b)", r"\1 there"),
        (r"\btheir(?= (?:today|tomorrow|tonight|on|this|next|now)\b)", "there"),
        (r"\b(like|near|around|over) their(?=\W*$)", r"\1 there"),
        (rf"{_LEADING}wood(?= (?:it|you|there|i|they)\b)", r"\1would"),
        (r"\b(where(?: is|'s|s)) (the|that|this) story\b", r"\1 \2 store"),
        (
            r"\bpears? of (?=(?:\w+ ){0,2}(?:jeans|pants|trousers|shorts|shoes|boots|sneakers|socks|gloves|glasses)\b)",
            "pair of ",
        ),
        (rf"{_LEADING}due(?= (?:you|they|we|i)\b)", r"\1do"),
        (r"\b(?:rite|write) (?=now\b)", "right "),
        (r"\b(a|any|still|they|it|is) oh pen\b", r"\1 open"),
        (r"\bhow far a ?(?:weigh|way)\b", "how far away"),
        (r"\b(weather|it|there) bee\b", r"\1 be"),
        (r"\b(?:navi gate|navy gate)\b", "navigate"),
        (r"\brest(?:or|er|a|au)? (?:or )?(?:ant|ont|runt|rant)(s?)\b", r"restaurant\1"),
    )
)


_TYPED: Final = {
    "teh": "the", "hte": "the", "neerest": "nearest", "nearst": "nearest", "nearset": "nearest",
    "plce": "place", "palce": "place", "whts": "whats", "thre": "there", "wher": "where",
    "were's": "where's", "resturant": "restaurant", "resturants": "restaurants", "restaraunt": "restaurant",
    "restaurent": "restaurant", "pharmcy": "pharmacy", "wether": "weather", "wheather": "weather",
    "tempature": "temperature", "temprature": "temperature", "humidty": "humidity", "forcast": "forecast",
    "chepest": "cheapest", "cheepest": "cheapest", "cheep": "cheap",
    "pric": "price", "pleas": "please", "plese": "please", "plase": "please",
    "stok": "stock", "rian": "rain", "sonw": "snow",
}  # fmt: skip
"""Words that are no others, as they are mistyped."""
_TYPO: Final = re.compile(rf"\b({'|'.join(map(re.escape, _TYPED))})\b", re.IGNORECASE)


def as_meant(text: str) -> str:
    """The line with what was misheard as it was meant; what could be meant is left alone."""
    for heard, meant in _MEANT:
        text = heard.sub(meant, text)
    return _TYPO.sub(lambda found: _TYPED[found[1].lower()], text)
