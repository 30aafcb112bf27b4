"""Words of a shopper made comparable: small letters, singular, without what says nothing about the thing."""

from __future__ import annotations

import re
import unicodedata
from importlib.resources import files

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+(?:\.\d+)?")

LONGEST = 200
"""Characters that are looked at."""

FILLERS = frozenset(files("dialog.fulfilment.sample").joinpath("data/fillers.txt").read_text("utf-8").split())
"""Words that do not name a thing. A colour or a size narrows a wish down, but as an argument of its own."""

COLORS = frozenset(
    ("red", "blue", "green", "black", "white", "gray", "grey", "brown", "yellow", "pink", "purple", "orange", "beige",
     "navy", "silver", "gold", "khaki")
)  # fmt: skip
CONTAINERS = frozenset(("bag", "bottle", "box", "carton", "pack"))
"""These say nothing in "a bag of chips", but much in "a laptop bag"."""
STORE_FILLERS = frozenset(
    ("place", "shop", "store", "restaurant", "joint", "spot", "location", "branch", "outlet", "station", "company")
)

_SCREEN = frozenset(("inch", "in", "gb", "tb", "hz", "k", "watt", "w"))
_IRREGULAR = {
    "knives": "knife", "shelves": "shelf", "loaves": "loaf", "leaves": "leaf", "scarves": "scarf", "mice": "mouse",
    "children": "child", "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth", "cookies": "cookie",
    "movies": "movie", "pies": "pie", "ties": "tie", "hoodies": "hoodie", "smoothies": "smoothie", "shoes": "shoe",
    "groceries": "grocery", "inches": "inch", "brownies": "brownie", "beanies": "beanie", "veggies": "veggie",
    "television": "tv", "tvs": "tv", "televisions": "tv", "colour": "color", "doughnuts": "donut", "doughnut": "donut",
}  # fmt: skip


def words(text: str) -> list[str]:
    """The words in singular, in order; apostrophes fall out, so `levi's` is `levi`."""
    straight = text[:LONGEST].replace("\u2019", "'").replace("&", " and ").replace("%", " percent ").lower()
    plain = unicodedata.normalize("NFKD", straight).encode("ascii", "ignore").decode()
    return [singular(word.removesuffix("'s").replace("'", "")) for word in _WORD.findall(plain)]


def singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "oes", "zes")):
        return word[:-2]
    return word[:-1]


_SAID_NOTHING = frozenset(singular(word) for word in FILLERS) | FILLERS
_STORE_NOTHING = _SAID_NOTHING | STORE_FILLERS


def content(said: list[str]) -> list[str]:
    """Those that name the thing. A number is kept where it belongs to the name (`iphone 17`, `55 inch tv`), and
    falls off where it counts or is a size (`2 pounds of beef`, `jeans size 32`)."""
    kept = []
    for index, word in enumerate(said):
        before = said[index - 1] if index else ""
        after = said[index + 1] if index + 1 < len(said) else ""
        if word[0].isdigit():
            if after not in _SCREEN and (index == 0 or before == "size" or after in _SAID_NOTHING):
                continue
            kept.append(word)
        elif word in CONTAINERS and after == "of":
            continue
        elif word not in _SAID_NOTHING or (word == "in" and kept and kept[-1][0].isdigit()):
            kept.append("inch" if word == "in" else word)
    return kept


def store_content(said: list[str]) -> list[str]:
    return [word for word in said if word not in _STORE_NOTHING]
