"""Prices, stock, facts about products and reservations as one says them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dialog.replies.phrases import listed, money, other_city, place_name, store_name
from dialog.values.quantity import in_plural

Item = Mapping[str, Any]
ANOTHER: Final = "Tell me another product and I will look it up."


def prices(result: Mapping[str, Any], slots: Mapping[str, Any]) -> str:
    found = result.get("items") or []
    if not found:
        return _nothing(result, slots)
    if city := other_city(slots.get("location"), found[0]):
        told = _offers(found, {**slots, "location": city})
        return f"There is no store of ours in {place_name(slots['location'])}; the nearest are in {city}. {told}"
    return _offers(found, slots)


def _offers(found: list[Item], slots: Mapping[str, Any]) -> str:
    wanted, at = _wanted(slots), _city(slots)
    sort = str(slots.get("sort") or "")
    first = found[0]
    where = f" at {first['store']}" if first.get("store") else ""
    total = (
        f", or {money(first['total'], first.get('currency'))} for {_amount(slots)}"
        if first.get("total") and slots.get("quantity")
        else ""
    )
    price = f"{money(first['price'], first.get('currency'))}{where}{total}"
    if sort == "price.low":
        return f"The cheapest {wanted}{at}: {first['name']} for {price}."
    if sort == "price.high":
        return f"The most expensive {wanted}{at}: {first['name']} for {price}."
    if sort.startswith("rating"):
        word = "best" if sort == "rating.high" else "lowest"
        return f"The {word}-rated {wanted}{at}: {first['name']} for {price}, rated {first.get('rating')} of 5."
    if len(found) == 1:
        return f"{first['name']}{at} costs {price}."
    offers = listed([f"{one['name']} for {money(one['price'], one.get('currency'))}" for one in _different(found)[:3]])
    return f"For {wanted}{at} I found {offers}{where if _one_store(found) else ''}{total}."


def stock(result: Mapping[str, Any], slots: Mapping[str, Any]) -> str:
    wanted = _wanted(slots)
    found = result.get("items") or []
    if not found:
        return _nothing(result, slots)
    there = [one for one in found if one.get("quantity")]
    if not there:
        city = other_city(slots.get("location"), found[0])
        where = f"{_city(slots)} or the nearest stores in {city}" if city else _city(slots)
        return f"No, sorry: nothing is left of {wanted}{where} right now."
    if slots.get("quantity") and result.get("enough") is False:
        best = max(there, key=lambda one: one["quantity"])
        return f"Not that many: {best['store']}{_in(best)} has {best['quantity']} of {best['name']}."
    first = there[0]
    same = list({one["store"]: one for one in reversed(there) if one["name"] == first["name"]}.values())[::-1]
    places = listed([f"{one['quantity']} at {one['store']}{_in(one)}" for one in same[:2]])
    if other_city(slots.get("location"), first):
        where = place_name(slots["location"])
        return f"Not in {where}: no store of ours is there. The nearest have {first['name']}, with {places}."
    return f"Yes, we have {wanted} in stock: {first['name']}, with {places}."


def facts(result: Mapping[str, Any], slots: Mapping[str, Any]) -> str:
    found = result.get("items") or []
    wanted = str(slots.get("item") or "that")
    if found:
        first = found[0]
        return f"{str(first['answer']).rstrip('.')}. That is from the {first['source']}."
    if result.get("known"):
        return f"I have nothing written about that for {wanted}. The store or its maker will know."
    return f"I don't know a product called {wanted}. {ANOTHER}"


def reserved(result: Mapping[str, Any], slots: Mapping[str, Any]) -> str:
    wanted = str(slots.get("item") or "that")
    if result.get("reserved"):
        until = f" until {result['until']}" if result.get("until") else ""
        count = result.get("quantity") or 1
        many = f"{count} of " if count != 1 else ""
        return (
            f"Done: {many}{result.get('name') or wanted} {'are' if many else 'is'} reserved at {result.get('store')}"
            f"{_address(result)}{until}. Your reference is {result.get('reference')}."
        )
    reasons = {
        "unknown_item": f"I couldn't find {wanted}, so nothing is reserved.",
        "unknown_store": f"I couldn't find that store{_city(slots)}, so nothing is reserved.",
        "sold_out": f"{wanted} is sold out there, so nothing is reserved.",
        "not_enough": f"There are only {result.get('quantity')} left, so nothing is reserved.",
        "unknown_variant": f"{wanted} doesn't come like that, so nothing is reserved.",
    }
    said = reasons.get(str(result.get("reason")), f"I couldn't reserve {wanted}.")
    return said[:1].upper() + said[1:]


def _nothing(result: Mapping[str, Any], slots: Mapping[str, Any]) -> str:
    wanted = _wanted(slots)
    others = result.get("alternatives") or []
    if others and slots.get("price"):
        first = others[0]
        where = f" at {first['store']}" if first.get("store") else ""
        offer = f"{first['name']} for {money(first['price'], first.get('currency'))}{where}"
        return f"I found no {wanted}{_city(slots)}. What comes nearest is {offer}."
    if others:
        first = others[0]
        return (
            f"{store_name(slots.get('store')) or 'That store'} has no {wanted}, but {first['name']} is "
            f"{money(first['price'], first.get('currency'))} at {first.get('store') or 'another store'}."
        )
    if result.get("known"):
        return f"I found no {wanted}{_at(slots)}{_city(slots)}."
    return f"I couldn't find a product called {wanted}. {ANOTHER}"


def _wanted(slots: Mapping[str, Any]) -> str:
    measured = " " in str(slots.get("size") or "")  # "55 inch"
    words = [str(slots[name]) for name in (*(("size",) if measured else ()), "color", "item") if slots.get(name)]
    size = f" in size {slots['size']}" if slots.get("size") and not measured else ""
    return (" ".join(words) or "that") + size + _limits(slots.get("price"))


def _limits(price: Any) -> str:
    if not isinstance(price, Mapping):
        return ""
    least, most = price.get("least"), price.get("most")
    if least is not None and most is not None:
        return f" between {_round(least)} and {_round(most)}"
    return f" under {_round(most)}" if most is not None else f" over {_round(least)}" if least is not None else ""


def _round(limit: Any) -> str:
    return money(limit).removesuffix(".00")


def _amount(slots: Mapping[str, Any]) -> str:
    quantity = slots.get("quantity")
    if isinstance(quantity, Mapping):
        amount = quantity.get("amount")
        shown = int(amount) if isinstance(amount, float) and amount.is_integer() else amount
        unit = str(quantity.get("unit") or "")
        return f"{shown} {unit if shown == 1 else in_plural(unit)}".strip()
    return str(quantity)


def _city(slots: Mapping[str, Any]) -> str:
    place = place_name(slots.get("location"))
    return f" in {place}" if place else ""


def _at(slots: Mapping[str, Any]) -> str:
    return f" at {store_name(slots['store'])}" if slots.get("store") else ""


def _in(item: Item) -> str:
    return f" in {item['city']}" if item.get("city") else ""


def _address(result: Mapping[str, Any]) -> str:
    parts = [str(result[name]) for name in ("address", "city") if result.get(name)]
    return f", {', '.join(parts)}," if parts else ""


def _different(found: list[Item]) -> list[Item]:
    """One offer per product."""
    return list({str(one["name"]): one for one in reversed(found)}.values())[::-1]


def _one_store(found: list[Item]) -> bool:
    return len({one.get("store") for one in found[:3]}) == 1
