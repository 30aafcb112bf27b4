"""eBay's Browse API: what an item costs there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from dialog.fulfilment import answers, arguments
from dialog.fulfilment.api import ApiClient, Unauthorized
from dialog.fulfilment.results import PricedItem, PricesResult
from dialog.fulfilment.shapes import sorted_items
from dialog.fulfilment.types import ActionCall, ActionFailed, ActionResult

LIMIT = 20
MARKETPLACE = "EBAY_US"
SCOPE = "https://api.ebay.com/oauth/api_scope"
SORTS = {"price.low": "price", "price.high": "-price"}
EARLY_S = 60.0
"""A token is renewed this long before it ends."""


class Ebay:
    source = "ebay"

    def __init__(self, url: str, client_id: str, client_secret: str) -> None:
        self._url = url.rstrip("/")
        self._client = (client_id, client_secret)
        self._api = ApiClient(self.source)
        self._token = ""
        self._token_until = 0.0
        self._renewing = asyncio.Lock()

    async def run(self, call: ActionCall) -> ActionResult:
        item = arguments.text(call.arguments, "item")
        if not item:
            raise ActionFailed("no item to look for")
        sort = arguments.sort(call.arguments)
        narrower = (arguments.text(call.arguments, name) for name in ("color", "size"))
        query = {"q": " ".join(part for part in (item, *narrower) if part), "limit": LIMIT, "sort": SORTS.get(sort)}
        if limits := _limits(call):
            query["filter"] = limits
        try:
            answer = await self._search(query)
        except Unauthorized:  # the token was taken back before its time
            self._token_until = 0.0
            answer = await self._search(query)
        pieces = arguments.quantity(call.arguments) if "quantity" in call.arguments else 0
        rows = answers.rows(answer.get("itemSummaries"), "itemSummaries")  # absent when nothing was found
        found = [priced for row in rows if (priced := _item(row, item, pieces))]
        result: PricesResult = {"items": sorted_items(found, sort), "known": bool(found), "alternatives": []}
        return ActionResult(result=dict(result), source=self.source)

    async def close(self) -> None:
        await self._api.close()

    async def _search(self, query: Mapping[str, Any]) -> Mapping[str, Any]:
        headers = {"Authorization": f"Bearer {await self._valid_token()}", "X-EBAY-C-MARKETPLACE-ID": MARKETPLACE}
        url = f"{self._url}/buy/browse/v1/item_summary/search"
        return answers.mapping(await self._api.get(url, query, headers), "the answer")

    async def _valid_token(self) -> str:
        async with self._renewing:
            if time.monotonic() < self._token_until:
                return self._token
            answer = answers.mapping(
                await self._api.ask(
                    "POST",
                    f"{self._url}/identity/v1/oauth2/token",
                    form={"grant_type": "client_credentials", "scope": SCOPE},
                    auth=self._client,
                ),
                "the token",
            )
            token, lasts = answers.text(answer.get("access_token")), answers.number(answer.get("expires_in"))
            if token is None or lasts is None:
                raise ActionFailed("ebay: no token")
            self._token, self._token_until = token, time.monotonic() + lasts - EARLY_S
            return token


def _limits(call: ActionCall) -> str:
    """The limits of a price, as eBay's filter has them."""
    least, most = arguments.price(call.arguments)
    if least is None and most is None:
        return ""
    low, high = ("" if limit is None else f"{limit:g}" for limit in (least, most))
    return f"price:[{low}..{high}],priceCurrency:USD"


def _item(row: Mapping[str, Any], wished: str, pieces: int) -> PricedItem | None:
    """None for an offer without a title or a price (auctions have none)."""
    title = answers.text(row.get("title"))
    price = answers.number(answers.inside(row, "price.value"))
    if title is None or price is None:
        return None
    item: PricedItem = {
        "name": title,
        "type": wished,
        "brand": None,
        "price": price,
        "currency": answers.text(answers.inside(row, "price.currency")) or "USD",
        "store": "eBay",
        "city": None,
        "rating": None,
        "colors": [],
        "sizes": [],
    }
    if pieces:
        item["total"] = round(price * pieces, 2)
    return item
