"""Any HTTP API that answers JSON: an action is a request with values in it, and where in the answer the rows are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from dialog.flow.template import Template
from dialog.fulfilment import answers, shapes
from dialog.fulfilment.api import ApiClient
from dialog.fulfilment.providers import parameters
from dialog.fulfilment.types import ActionCall, ActionFailed, ActionResult

METHODS = ("GET", "POST", "PUT")
MOST_ROWS = 200
_NEVER = datetime.min.replace(tzinfo=UTC)
"""A look-up by key has no clock."""


@dataclass(frozen=True, kw_only=True)
class HttpRequest:
    """How an action asks, and how its answer is read."""

    url: Template
    method: str = "GET"
    query: Mapping[str, Template] = field(default_factory=dict)
    headers: Mapping[str, Template] = field(default_factory=dict)
    body: Mapping[str, Template] = field(default_factory=dict)
    rows: str = ""
    """Dotted path to the list of rows; the whole answer when empty. A mapping there is one row."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """From a field of the result to the dotted path in a row; without any, rows are taken as they are."""


class HttpAction:
    def __init__(self, api: ApiClient, action: str, request: HttpRequest, secrets: Mapping[str, str]) -> None:
        self.source = api.name
        self._action = action
        self._api = api
        self._request = request
        self._secrets = dict(secrets)

    async def run(self, call: ActionCall) -> ActionResult:
        rows = await self._rows(self._request, call)
        return ActionResult(result=self._result(call, rows), source=self.source)

    async def close(self) -> None:
        await self._api.close()

    async def _rows(self, request: HttpRequest, call: ActionCall) -> list[dict[str, Any]]:
        values = parameters.present(parameters.of(call))
        context = {**values, "secrets": self._secrets}
        # What a shopper said stays one part of the path.
        in_path = {name: quote(str(value), safe="") for name, value in values.items()}
        changes = request.method != "GET"
        answer = await self._api.ask(
            request.method,
            request.url.render({**in_path, "secrets": self._secrets}),
            query={name: said for name, template in request.query.items() if (said := template.render(context))},
            headers={
                **({"Idempotency-Key": quote(call.key, safe="-_.~")} if changes else {}),
                **{name: _header(template.render(context)) for name, template in request.headers.items()},
            },
            json={name: template.render(context) for name, template in request.body.items()} or None,
            changes=changes,
        )
        found = answers.inside(_readable(answer, request.rows), request.rows)
        listed = answers.rows([found] if isinstance(found, Mapping) else found, "what `rows` leads to")[:MOST_ROWS]
        if not request.fields:
            return [dict(row) for row in listed]
        return [{name: answers.inside(row, path) for name, path in request.fields.items()} for row in listed]

    def _result(self, call: ActionCall, rows: list[dict[str, Any]]) -> dict[str, Any]:
        if self._action == "reserve":
            return _reservation(rows)
        return shapes.result_of(self._action, call, rows)


class HttpLookupAction(HttpAction):
    """One whose API can be asked what became of a key."""

    def __init__(
        self, api: ApiClient, action: str, request: HttpRequest, secrets: Mapping[str, str], lookup: HttpRequest
    ) -> None:
        super().__init__(api, action, request, secrets)
        self._lookup = lookup

    async def lookup(self, key: str) -> ActionResult | None:
        call = ActionCall(name=self._action, arguments={}, now=_NEVER, key=key)
        rows = await self._rows(self._lookup, call)
        return ActionResult(result=self._result(call, rows), source=self.source) if rows else None


def _readable(answer: Any, path: str) -> Any:
    """The answer, in which the first step of the path exists: an error page in JSON is not "nothing found"."""
    first = path.partition(".")[0]
    if first and not (isinstance(answer, Mapping) and first in answer):
        raise ActionFailed(f"an answer without {first!r}")
    return answer


def _header(value: str) -> str:
    """No line breaks: what a shopper said is no further header."""
    return " ".join(value.split())


def _reservation(rows: list[dict[str, Any]]) -> dict[str, Any]:
    if not rows:
        raise ActionFailed("a reservation without an answer", uncertain=True)
    row = rows[0]
    reference = answers.text(row.get("reference"))
    return {
        "reserved": reference is not None,
        "reason": None if reference else "sold_out",
        "reference": reference,
        "name": answers.text(row.get("name")),
        "store": answers.text(row.get("store")),
        "address": answers.text(row.get("address")),
        "city": answers.text(row.get("city")),
        "quantity": answers.whole(row.get("quantity")) or 0,
        "price": answers.number(row.get("price")),
        "currency": answers.text(row.get("currency")),
        "until": answers.text(row.get("until")),
    }
