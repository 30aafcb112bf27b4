"""Answers about products of the sample shop from what is written about them; what is not written is not answered."""

from __future__ import annotations

import itertools
import json

from dialog.fulfilment import arguments
from dialog.fulfilment.results import ProductAnswer, ProductInfoResult
from dialog.fulfilment.sample.catalogue import listed, table
from dialog.fulfilment.sample.shop import Row, SampleShop
from dialog.fulfilment.sample.words import words
from dialog.fulfilment.types import ActionCall, ActionResult

MOST = 3

WARRANTY = frozenset(("warranty", "guarantee", "guaranteed", "cover", "covered", "insurance", "defect", "broken"))
RETURNS = frozenset(("return", "returned", "refund", "exchange"))
HOW_TO = frozenset(("how", word) for word in ("do", "can", "could", "should", "to", "would", "must", "i", "you"))
GENERAL = frozenset(("spec", "specification", "detail", "feature", "tell", "info", "information", "describe"))
ASKED_AS = {
    "age": "age old",
    "alcohol": "alcohol percent strong",
    "battery": "battery charge last runtime",
    "calories": "calorie",
    "capacity": "capacity hold big",
    "contains": "contain allergen ingredient nut allergy allergic",
    "cooking time": "cook long minute",
    "gluten": "gluten wheat",
    "height": "height tall high",
    "holds": "hold weight heavy carry",
    "material": "material made fabric",
    "memory": "memory ram",
    "noise": "noise loud quiet",
    "noise cancelling": "noise cancelling",
    "origin": "origin come grown country",
    "pages": "page long",
    "ports": "port usb hdmi connector",
    "power": "power watt",
    "resolution": "resolution pixel 4k",
    "screen": "screen display inch big diagonal",
    "size": "size dimension big wide long measure large",
    "storage": "storage disk drive space gb",
    "trial": "trial try night",
    "warm to": "warm cold temperature degree",
    "waterproof": "waterproof water rain resistant wet",
    "weight": "weight weigh heavy light",
    "width": "width wide big",
}
"""Words by which one asks for a specification, in singular; any other one is asked for by its name."""


class SampleProductInfo:
    source = "sample"

    def __init__(self, shop: SampleShop) -> None:
        self._shop = shop

    async def run(self, call: ActionCall) -> ActionResult:
        item, question = arguments.text(call.arguments, "item"), arguments.text(call.arguments, "question")
        products = self._shop.products(item) if item else []
        rows = self._shop.rows(
            "SELECT * FROM products WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY rating DESC, price",
            ids=json.dumps(products),
        )
        asked = words(question)
        answers: list[ProductAnswer] = []
        for row in rows:
            answer = _answer(row, asked)
            if answer and len(answers) < MOST and answer["answer"] not in [one["answer"] for one in answers]:
                answers.append(answer)
        result: ProductInfoResult = {"items": answers, "known": bool(products)}
        return ActionResult(result=dict(result), source=self.source, sample=True)


def _answer(row: Row, asked: list[str]) -> ProductAnswer | None:
    """Terms first, then a specification, or a how-to where one asks how to do something, then all specifications if
    that was the question."""
    said = set(asked)
    if said & WARRANTY and (text := _terms(row["department"], "warranty")):
        return {"name": row["name"], "answer": text, "source": f"warranty terms, {row['department']}"}
    if said & RETURNS and (text := _terms(row["department"], "returns")):
        return {"name": row["name"], "answer": text, "source": f"return terms, {row['department']}"}
    specifications = [part.split(": ", 1) for part in listed(row["specifications"])]
    fitting = [(key, value) for key, value in specifications if said & set(ASKED_AS.get(key, key).split())]
    how = bool(HOW_TO & set(itertools.pairwise(asked)))
    if (how or not fitting) and (text := _how_to(row["type"], said)):
        return {"name": row["name"], "answer": text, "source": f"how-to: {row['type']}"}
    if not said or said & GENERAL:
        fitting = fitting or [(key, value) for key, value in specifications]
    if not fitting:
        return None
    text = "; ".join(f"{key}: {value}" for key, value in fitting)
    return {
        "name": row["name"],
        "answer": f"{text[0].upper()}{text[1:]}.",
        "source": f"specifications of {row['name']}",
    }


def _terms(department: str, kind: str) -> str:
    return next((row[kind] for row in table("departments") if row["department"] == department), "")


def _how_to(kind: str, said: set[str]) -> str:
    """The how-to of this type that shares most words with the question."""
    best, most = "", 0
    for row in table("how_tos"):
        if kind in listed(row["types"]):
            shared = sum(set(words(phrase)) <= said for phrase in listed(row["words"]))
            if shared > most:
                best, most = row["answer"], shared
    return best
