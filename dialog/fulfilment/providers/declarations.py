"""Providers that a YAML file declares: SQL databases with their queries, HTTP APIs with their requests.

shop_db:
  sql: {url: "postgresql://assistant@db/shop"}
  actions:
    stock: {query: "SELECT name, store, quantity FROM stock WHERE name ILIKE :item_like"}
shop_api:
  http: {url: "https://api.shop.example", headers: {Authorization: "Bearer {{secrets.shop}}"}}
  actions:
    prices: {path: /search, query: {q: "{{item}}"}, rows: data.items, fields: {name: title, price: price.value}}
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from dialog.flow.template import Template, TemplateFault
from dialog.fulfilment.api import ApiClient
from dialog.fulfilment.providers.http import METHODS, HttpAction, HttpLookupAction, HttpRequest
from dialog.fulfilment.providers.sql import SqlAction, SqlDatabase, query_fault
from dialog.fulfilment.shapes import FIELDS
from dialog.fulfilment.types import Action
from tenor.yaml import fields, nodes
from tenor.yaml.nodes import Faults, Node, Text, read

REQUEST_KEYS = ("method", "path", "query", "headers", "body", "rows", "fields")
HTTP_KEYS = (*REQUEST_KEYS, "lookup")
SQL_KEYS = ("query", "fields")

Provider = Mapping[str, Action]


def read_providers(path: Path, secrets: Mapping[str, str]) -> dict[str, Provider]:
    """By name; Faulty tells everything that is wrong with the file."""
    faults = Faults()
    reader = _Reader(faults, secrets)
    tree = read(path, faults)
    found = {key.value: provider for key, node in tree if (provider := reader.provider(key, node)) is not None}
    faults.raise_if_any(path)
    return found


class _Reader:
    def __init__(self, faults: Faults, secrets: Mapping[str, str]) -> None:
        self._faults = faults
        self._secrets = secrets

    def provider(self, key: Text, node: Node) -> Provider | None:
        tree = fields.mapping(node, self._faults, f"provider {key.value!r}")
        if tree is None:
            return None
        fields.unknown_keys(tree, self._faults, "key of a provider", ("sql", "http", "actions"))
        sql, http, listed = tree.get("sql"), tree.get("http"), tree.get("actions")
        if (sql is None) == (http is None):
            self._faults.add(key, f"provider {key.value!r} has either `sql` or `http`")
        actions = fields.mapping(listed, self._faults, "`actions`") if listed is not None else None
        if actions is None or not actions.entries:
            self._faults.add(key, f"provider {key.value!r} has no `actions`")
            return None
        if sql is not None:
            return self._sql(key.value, sql, actions)
        return self._http(key.value, http, actions) if http is not None else None

    def _sql(self, name: str, node: Node, actions: nodes.Mapping) -> Provider | None:
        tree = fields.mapping(node, self._faults, "`sql`")
        url = self._url(tree, node) if tree is not None else None
        if tree is not None:
            fields.unknown_keys(tree, self._faults, "key of `sql`", ("url",))
        queries = [(key.value, query) for key, one in actions if (query := self._query(key, one)) is not None]
        if url is None or self._faults.found:
            return None
        database = SqlDatabase(name, url)
        return {action: SqlAction(database, action, *query) for action, query in queries}

    def _query(self, key: Text, node: Node) -> tuple[str, dict[str, str]] | None:
        tree = fields.mapping(node, self._faults, f"action {key.value!r}")
        if tree is None:
            return None
        fields.unknown_keys(tree, self._faults, "key of an action", SQL_KEYS)
        found = tree.get("query")
        if found is None:
            self._faults.add(key, f"action {key.value!r} has no `query`")
            return None
        query = fields.text(found, self._faults, "`query`")
        if query is not None and (fault := query_fault(query)):
            self._faults.add(found, fault)
        return (query, self._fields(key.value, tree)) if query is not None else None

    def _http(self, name: str, node: Node, actions: nodes.Mapping) -> Provider | None:
        tree = fields.mapping(node, self._faults, "`http`")
        if tree is None:
            return None
        fields.unknown_keys(tree, self._faults, "key of `http`", ("url", "headers"))
        url = self._url(tree, node)
        if url is not None and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            self._faults.add(node, "`url` is an address that begins with https:// or http://")
        shared = self._templates(tree, "headers")
        api = ApiClient(name)
        found = {key.value: self._action(api, url or "", shared, key, one) for key, one in actions}
        return {action: made for action, made in found.items() if made is not None}

    def _action(
        self, api: ApiClient, url: str, shared: Mapping[str, Template], key: Text, node: Node
    ) -> HttpAction | None:
        tree = fields.mapping(node, self._faults, f"action {key.value!r}")
        if tree is None:
            return None
        fields.unknown_keys(tree, self._faults, "key of an action", HTTP_KEYS)
        request = self._request(url, shared, key.value, tree)
        below = tree.get("lookup")
        if below is None:
            return HttpAction(api, key.value, request, self._secrets)
        asked = fields.mapping(below, self._faults, "`lookup`")
        if asked is None:
            return None
        fields.unknown_keys(asked, self._faults, "key of `lookup`", REQUEST_KEYS)
        lookup = self._request(url, shared, key.value, asked)
        return HttpLookupAction(api, key.value, request, self._secrets, lookup)

    def _request(self, url: str, shared: Mapping[str, Template], action: str, tree: nodes.Mapping) -> HttpRequest:
        method, path, rows = tree.get("method"), tree.get("path"), tree.get("rows")
        address = path.value if isinstance(path, Text) else ""
        if path is not None and not address.startswith("/"):
            self._faults.add(path, "`path` is a text that begins with /")
        chosen = fields.choice(method, self._faults, "method", METHODS) if method is not None else "GET"
        return HttpRequest(
            url=self._template(path or tree, url.rstrip("/") + address),
            method=chosen or "GET",
            query=self._templates(tree, "query"),
            headers={**shared, **self._templates(tree, "headers")},
            body=self._templates(tree, "body"),
            rows=(fields.text(rows, self._faults, "`rows`") or "") if rows is not None else "",
            fields=self._fields(action, tree),
        )

    def _url(self, tree: nodes.Mapping, node: Node) -> str | None:
        """An address with secrets in it, which a file need not hold itself."""
        found = tree.get("url")
        if found is None:
            self._faults.add(node, "there is no `url`")
            return None
        url = fields.text(found, self._faults, "`url`")
        return self._template(found, url, only_secrets=True).render({"secrets": self._secrets}) if url else None

    def _fields(self, action: str, tree: nodes.Mapping) -> dict[str, str]:
        node = tree.get("fields")
        below = fields.mapping(node, self._faults, "`fields`") if node is not None else None
        named: dict[str, str] = {}
        for key, value in below or ():
            if action in FIELDS and key.value not in FIELDS[action]:
                self._faults.unknown(key, f"field of {action}", FIELDS[action])
            named[key.value] = fields.text(value, self._faults, f"field {key.value!r}") or ""
        return named

    def _templates(self, tree: nodes.Mapping, name: str) -> dict[str, Template]:
        node = tree.get(name)
        below = fields.mapping(node, self._faults, f"`{name}`") if node is not None else None
        found: dict[str, Template] = {}
        for key, value in below or ():
            if text := fields.text(value, self._faults, f"{key.value!r} of `{name}`"):
                found[key.value] = self._template(value, text)
        return found

    def _template(self, place: nodes.Place, text: str, *, only_secrets: bool = False) -> Template:
        """Its names are known; slots of the author's own cannot be, so only secrets are checked to be there."""
        try:
            template = Template.parse(text)
        except TemplateFault as error:
            self._faults.add(place, error.message)
            return Template.parse("")
        if only_secrets and (others := template.names - {"secrets"}):
            self._faults.add(place, f"only secrets may stand in a url, not {sorted(others)[0]!r}")
        if "secrets" in template.names:
            for name in _secrets_of(text):
                if name not in self._secrets:
                    known = self._secrets or {"(none is set)": ""}
                    self._faults.add(
                        place, f"there is no secret {name!r}{nodes.meant(name, known)}; set assistant.secrets"
                    )
        return template


def _secrets_of(text: str) -> list[str]:
    return [part.split("}}")[0].strip().split("|")[0].strip() for part in text.split("secrets.")[1:]]
