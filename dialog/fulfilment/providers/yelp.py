"""Yelp's Places API: stores and restaurants near a place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialog.fulfilment import answers, arguments
from dialog.fulfilment.api import ApiClient
from dialog.fulfilment.results import PlacesResult, Store
from dialog.fulfilment.shapes import sorted_stores
from dialog.fulfilment.types import ActionCall, ActionFailed, ActionResult

LIMIT = 20
METRES_PER_MILE = 1609.344
SORT_BY = {"rating.high": "rating", "distance": "distance"}
"""Yelp cannot sort by price nor the worst first; we do."""


class Yelp:
    source = "yelp"

    def __init__(self, url: str, key: str) -> None:
        self._url = url.rstrip("/")
        self._key = key
        self._api = ApiClient(self.source)

    async def run(self, call: ActionCall) -> ActionResult:
        place = arguments.place(call.arguments)
        if place is None:
            raise ActionFailed("no place to look near")
        item, store = arguments.text(call.arguments, "item"), arguments.text(call.arguments, "store")
        sort = arguments.sort(call.arguments)
        query: dict[str, Any] = {
            "term": " ".join(part for part in (item, store) if part) or None,
            "sort_by": SORT_BY.get(sort, "best_match"),
            "limit": LIMIT,
        }
        if place.latitude is not None and place.longitude is not None:
            query |= {"latitude": place.latitude, "longitude": place.longitude}
        else:
            query["location"] = ", ".join(part for part in (place.name, place.state) if part)
        headers = {"Authorization": f"Bearer {self._key}"}
        answer = answers.mapping(await self._api.get(f"{self._url}/v3/businesses/search", query, headers), "the answer")
        rows = answers.rows(answer.get("businesses"), "businesses")
        found = [near for row in rows if (near := _store(row))]
        result: PlacesResult = {"stores": sorted_stores(found, sort), "known": bool(found), "alternatives": []}
        return ActionResult(result=dict(result), source=self.source)

    async def close(self) -> None:
        await self._api.close()


def _store(row: Mapping[str, Any]) -> Store | None:
    """None for one without a name or closed for good."""
    name = answers.text(row.get("name"))
    if name is None or row.get("is_closed") is True:
        return None
    metres, price = answers.number(row.get("distance")), answers.text(row.get("price"))
    kind = answers.text(answers.inside(row, "categories.0.title"))
    return {
        "name": name,
        "type": kind.lower() if kind else "",
        "address": answers.text(answers.inside(row, "location.address1")) or "",
        "city": answers.text(answers.inside(row, "location.city")) or "",
        "state": answers.text(answers.inside(row, "location.state")) or "",
        "distance_mi": None if metres is None else round(metres / METRES_PER_MILE, 1),
        "rating": answers.number(row.get("rating")),
        "price_level": min(4, len(price)) if price else None,
        "open_now": None,
        "opens": None,
        "closes": None,
        "telephone": answers.text(row.get("display_phone")),
    }
