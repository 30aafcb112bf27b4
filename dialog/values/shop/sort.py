"""Sort orders: "the cheapest", "best rated", "nearest".

value price.low | price.high | rating.high | rating.low | distance
"""

from __future__ import annotations

from dialog.values.phrases import PhraseParser

ORDERS = {
    "price.low": (
        "cheap;cheaper;cheapest;cheepest;chepest;the least expensive;least expensive;less expensive;lowest price;"
        "lowest priced;lowest prices;lowest cost;low price;low prices;low cost;low priced;lower price;best price;"
        "best prices;best deal;best deals;best value;affordable;most affordable;inexpensive;budget;on a budget;"
        "budget friendly;least costly;price low to high;cost the least;costs the least;bargain;smallest price;"
        "sort by price;by price;not too expensive;not expensive;economical;most economical;discounted"
    ),
    "price.high": (
        "most expensive;dearest;priciest;highest price;highest priced;highest prices;highest cost;expensive;"
        "more expensive;pricey;pricier;high end;highest end;top of the line;premium;luxury;fanciest;costliest;"
        "most costly;price high to low;costs the most;cost the most;fancy;upscale;high price;high priced;dearer"
    ),
    "rating.high": (
        "best;best rated;best rate of;best reviewed;top;top rated;top notch;highest rated;highest rating;"
        "highest ratings;high rated;highly rated;high rating;best rating;best ratings;best reviews;good reviews;"
        "great reviews;most popular;five star;5 star;four star;4 star;highest reviewed;well rated;better rated;"
        "most recommended;number one;finest;sort by rating;by rating;good rating;good ratings;well reviewed;"
        "favorite;higher rated;greatest"
    ),
    "rating.low": (
        "worst;worst rated;worst reviewed;lowest rated;lowest rating;lowest ratings;low rated;poorly rated;"
        "least popular;worst reviews;bad reviews;one star;1 star;lower rated;low rating;worst rating"
    ),
    "distance": (
        "nearest;closest;closer;nearer;nearby;near by;close by;near me;close to me;around here;near here;"
        "closest to me;nearest to me;nearest one;shortest distance;by distance;sort by distance;"
        "within walking distance;walking distance;newest"
    ),
}
_DEAR = "expensive;pricey;fancy;costly;dear;upscale;posh;overpriced;high end"
_NOT = "not;not too;not so;not very;not that;not overly;nothing;nothing too;nothing so;isn't too;aren't too"
ORDERS["price.low"] += "".join(f";{no} {dear}" for no in _NOT.split(";") for dear in _DEAR.split(";"))
# "best buy" is a store, "top" a piece of clothing unless something is sorted by it.
NOT_BEFORE = {"best": ("buy", "by", "western"), "top": ("and", "tops", "in", "for", "with", ""), "budget": ("rental",)}

# "nearest", as recognisers hear it: a supermarket is looked for by where it is, not by when it was opened.
ONLY_BEFORE = {
    "newest": (
        *("store", "shop", "supermarket", "restaurant", "pharmacy", "bakery", "bank", "hotel", "grocery", "drugstore"),
        *("cafe", "coffee", "gas", "hospital", "mall"),
    )
}


class SortParser(PhraseParser):
    """Reads type `sort`."""

    def __init__(self) -> None:
        super().__init__("sort", ORDERS, not_before=NOT_BEFORE, only_before=ONLY_BEFORE)
