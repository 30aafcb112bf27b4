"""Databases and APIs of one's own, declared in YAML."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pytest

from deploy.postgres.server import Server
from dialog.fulfilment.providers.declarations import read_providers
from dialog.fulfilment.providers.sql import query_fault
from dialog.fulfilment.runner import ActionRunner
from dialog.fulfilment.types import Action, ActionFailed
from tenor.errors import BadInput
from tests.conftest import postgres_database
from tests.dialog.fulfilment.calls import BOSTON, call_of, days
from tests.dialog.fulfilment.conftest import ApiServer, Reply

SECRETS = {"shop": "s3cret"}


def declared(folder: Path, text: str) -> dict[str, Action]:
    file = folder / "providers.yml"
    file.write_text(text, "utf-8")
    return dict(read_providers(file, SECRETS)["ours"])


async def ask(actions: dict[str, Action], name: str, **arguments: Any) -> Any:
    return (await ActionRunner(actions, timeout_s=10, retries=0).run(call_of(name, **arguments))).result


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """CREATE TABLE offers (title TEXT, shop TEXT, town TEXT, pieces INTEGER, cents INTEGER);
            INSERT INTO offers VALUES ('Blue Jeans', 'North', 'Boston', 3, 4999),
            ('Black Jeans', 'South', 'Boston', 0, 3999), ('Jeans', 'East', 'Denver', 7, 2999),
            ('Milk', 'North', 'Boston', 12, 379);"""
        )
    return path


def sql(database: Path, actions: str) -> str:
    return f"ours:\n  sql: {{url: 'sqlite:///{database}'}}\n  actions:\n{actions}"


STOCK = """
    stock:
      query: |
        SELECT title, shop AS store, town AS city, pieces AS quantity, cents / 100.0 AS price FROM offers
        WHERE title LIKE :item_like AND (:location IS NULL OR town = :location) ORDER BY pieces DESC
      fields: {name: title}
"""


async def test_a_query_answers_with_what_the_shopper_said_as_parameters(tmp_path: Path, database: Path) -> None:
    actions = declared(tmp_path, sql(database, STOCK))
    result = await ask(actions, "stock", item="jeans", location=BOSTON)
    assert [(item["name"], item["store"], item["quantity"]) for item in result["items"]] == [
        ("Blue Jeans", "North", 3),
        ("Black Jeans", "South", 0),
    ]
    assert (result["available"], result["enough"]) == (3, True)
    everywhere = await ask(actions, "stock", item="jeans")
    assert len(everywhere["items"]) == 3
    assert (await ask(actions, "stock", item="unobtainium"))["items"] == []


@pytest.mark.parametrize("said", ["'; DROP TABLE offers; --", "x' OR '1'='1", "%", "_"])
async def test_what_a_shopper_says_is_never_sql(tmp_path: Path, database: Path, said: str) -> None:
    actions = declared(tmp_path, sql(database, STOCK))
    assert (await ask(actions, "stock", item=said))["items"] == []
    assert (await ask(actions, "stock", item="milk"))["available"] == 12


async def test_prices_are_sorted_whatever_the_query_does(tmp_path: Path, database: Path) -> None:
    text = sql(database, "    prices: {query: 'SELECT title AS name, cents / 100.0 AS price FROM offers'}\n")
    result = await ask(declared(tmp_path, text), "prices", item="jeans", sort="price.low", quantity=2)
    assert [item["price"] for item in result["items"]] == [3.79, 29.99, 39.99, 49.99]
    assert result["items"][0]["total"] == 7.58


async def test_an_action_of_ones_own_gets_its_rows(tmp_path: Path, database: Path) -> None:
    text = sql(database, "    towns: {query: 'SELECT DISTINCT town FROM offers WHERE shop = :chain ORDER BY 1'}\n")
    assert await ask(declared(tmp_path, text), "towns", chain="North") == {"items": [{"town": "Boston"}]}


async def test_the_database_itself_refuses_to_be_written(tmp_path: Path, database: Path) -> None:
    """Even if a writing query slipped past the reader."""
    from dialog.fulfilment.providers.sql import SqlAction, SqlDatabase

    action = SqlAction(SqlDatabase("ours", f"sqlite:///{database}"), "own", "DELETE FROM offers RETURNING title", {})
    with pytest.raises(ActionFailed):
        await action.run(call_of("own"))
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM offers").fetchone() == (4,)


async def test_a_query_that_fails_or_lacks_columns_is_a_failure(tmp_path: Path, database: Path) -> None:
    for query in ("SELECT nothing FROM nowhere", "SELECT title AS name FROM offers"):
        actions = declared(tmp_path, sql(database, f"    prices: {{query: '{query}'}}\n"))
        with pytest.raises(ActionFailed) as caught:
            await ask(actions, "prices", item="jeans")
        assert "nowhere" not in str(caught.value)


async def test_a_query_without_an_end_is_stopped(
    tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dialog.fulfilment.providers.sql.LONGEST_S", 0.2)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n"
    with pytest.raises(ActionFailed):
        await ask(declared(tmp_path, sql(database, f"    own: {{query: '{endless}'}}\n")), "own")


@pytest.mark.postgres
async def test_postgresql_answers_the_same_and_cannot_be_written(tmp_path: Path, postgres: Server) -> None:
    url = postgres_database(postgres, "template0")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE offers (title TEXT, shop TEXT, pieces INTEGER, price NUMERIC(8, 2), since DATE)"
        )
        connection.execute("INSERT INTO offers VALUES ('Blue Jeans', 'North', 3, 49.99, '2026-11-01')")
        connection.execute("CREATE FUNCTION sell() RETURNS INTEGER LANGUAGE sql AS 'DELETE FROM offers RETURNING 1'")
    text = f"""\
ours:
  sql: {{url: "{url}"}}
  actions:
    stock:
      query: SELECT title AS name, shop AS store, pieces AS quantity, price FROM offers WHERE title ILIKE :item_like
    since: {{query: "SELECT since, price FROM offers"}}
    sneaky: {{query: SELECT sell()}}
"""
    actions = declared(tmp_path, text)
    stock = await ask(actions, "stock", item="jeans")
    assert (stock["items"][0]["quantity"], stock["items"][0]["price"]) == (3, 49.99)
    assert await ask(actions, "since") == {"items": [{"since": "2026-11-01", "price": 49.99}]}
    with pytest.raises(ActionFailed):
        await ask(actions, "sneaky")
    assert (await ask(actions, "stock", item="jeans"))["available"] == 3


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("SELECT 1", None),
        ("  -- what there is\nWITH a AS (SELECT 1) SELECT * FROM a;", None),
        ("SELECT 'drop; table' AS name, replace(title, 'a', 'b') AS title FROM offers", None),
        ("DELETE FROM offers", "begins with SELECT"),
        ("SELECT 1; DROP TABLE offers", "one statement"),
        ("WITH a AS (DELETE FROM offers RETURNING 1) SELECT * FROM a", "DELETE writes"),
    ],
)
def test_only_a_query_that_reads_is_taken(query: str, fault: str | None) -> None:
    found = query_fault(query)
    assert (found is None) if fault is None else fault in (found or "")


def http(server: ApiServer, actions: str) -> str:
    return (
        f"ours:\n  http:\n    url: {server.url}/api\n    headers: {{Authorization: 'Bearer {{{{secrets.shop}}}}'}}\n"
        f"  actions:\n{actions}"
    )


PRICES = """
    prices:
      path: /search/{{item}}
      query: {q: "{{item}}", town: "{{location}}", colour: "{{color}}"}
      rows: data.hits
      fields: {name: title, price: price.value, currency: price.currency, store: shops.0.name, rating: stars}
"""


async def test_an_api_is_asked_and_read_as_declared(tmp_path: Path, server: ApiServer) -> None:
    hit = {"title": "Jeans", "price": {"value": "49.99", "currency": "EUR"}, "shops": [{"name": "North"}], "stars": 4}
    server.replies["/api/search/blue%20jeans%2F"] = Reply({"data": {"hits": [hit]}})
    result = await ask(declared(tmp_path, http(server, PRICES)), "prices", item="blue jeans/", location=BOSTON)
    item = result["items"][0]
    assert (item["name"], item["price"], item["currency"], item["store"]) == ("Jeans", 49.99, "EUR", "North")
    asked = server.asked[0]
    assert asked.query == {"q": "blue jeans/", "town": "Boston"}, "what nobody said is not sent"
    assert asked.headers["authorization"] == "Bearer s3cret"


@pytest.mark.parametrize("said", ["../../admin", "x?a=b#c", "{{secrets.shop}}", "a\r\nX-Evil: 1"])
async def test_what_a_shopper_says_stays_one_part_of_the_path(tmp_path: Path, server: ApiServer, said: str) -> None:
    text = PRICES + '      headers: {X-Said: "{{item}}"}\n'
    with pytest.raises(ActionFailed):
        await ask(declared(tmp_path, http(server, text)), "prices", item=said)
    asked = server.asked[0]
    assert asked.path.startswith("/api/search/")
    assert asked.path.count("/") == 3
    assert "x-evil" not in asked.headers
    assert "s3cret" not in asked.path


async def test_rows_of_the_wrong_types_are_a_failure(tmp_path: Path, server: ApiServer) -> None:
    actions = declared(tmp_path, http(server, PRICES))
    for body in ({"data": {"hits": "many"}}, {"data": {"hits": [3]}}, {"data": {"hits": [{"title": "x"}]}}):
        server.replies["/api/search/jeans"] = Reply(body)
        with pytest.raises(ActionFailed):
            await ask(actions, "prices", item="jeans")
    server.replies["/api/search/jeans"] = Reply({"data": {}})
    assert (await ask(actions, "prices", item="jeans"))["items"] == []


async def test_whatever_an_api_does_wrong_is_a_failure(tmp_path: Path, server: ApiServer, misbehaving: Reply) -> None:
    server.replies["/api/search/jeans"] = misbehaving
    with pytest.raises(ActionFailed) as caught:
        await ask(declared(tmp_path, http(server, PRICES)), "prices", item="jeans")
    assert "secret" not in str(caught.value)


async def test_weather_of_ones_own_is_summed_up_like_any_other(tmp_path: Path, server: ApiServer) -> None:
    text = "    weather: {path: /days, query: {place: '{{location}}', from: '{{from}}', to: '{{to}}'}}\n"
    rows = [{"date": f"2026-11-{day}", "high_f": 40 + day, "rain_chance": day} for day in (19, 18, 25)]
    server.replies["/api/days"] = Reply(rows)
    actions = declared(tmp_path, http(server, text))
    result = await ask(actions, "weather", location=BOSTON, when=days("2026-11-18", "2026-11-20"))
    assert [day["date"] for day in result["days"]] == ["2026-11-18", "2026-11-19"]
    assert (result["summary"]["high_f"], server.asked[0].query["to"]) == (59, "2026-11-20")


RESERVE = """
    reserve:
      method: POST
      path: /orders
      body: {item: "{{item}}", pieces: "{{quantity}}"}
      fields: {reference: id, name: item, quantity: pieces}
      lookup: {path: "/orders/{{key}}", rows: order, fields: {reference: id, name: item, quantity: pieces}}
"""


async def test_an_order_carries_its_key_and_can_be_looked_up(tmp_path: Path, server: ApiServer) -> None:
    order = {"id": "A-7", "item": "TV", "pieces": 2}
    server.replies["/api/orders"] = [Reply({}, 503), Reply(order)]
    server.replies["/api/orders/k-1"] = Reply({"order": order})
    server.replies["/api/orders/k-2"] = Reply({"order": None})
    runner = ActionRunner(declared(tmp_path, http(server, RESERVE)), timeout_s=10)
    call = call_of("reserve", key="k-1", item="TV", quantity=2)
    done = await runner.run(call, changes="order")
    assert (done.result["reserved"], done.result["reference"], done.result["quantity"]) == (True, "A-7", 2)
    assert [asked.headers["idempotency-key"] for asked in server.asked] == ["k-1", "k-1"], "tried again, same key"
    assert json.loads(server.asked[0].body) == {"item": "TV", "pieces": "2"}
    found = await runner.lookup(call)
    assert found is not None
    assert found.result == done.result
    assert await runner.lookup(call_of("reserve", key="k-2")) is None


async def test_an_order_without_a_lookup_is_tried_once(tmp_path: Path, server: ApiServer) -> None:
    server.replies["/api/orders"] = Reply({}, 503)
    without = RESERVE[: RESERVE.index("      lookup")]
    with pytest.raises(ActionFailed) as caught:
        await ActionRunner(declared(tmp_path, http(server, without))).run(
            call_of("reserve", item="TV"), changes="order"
        )
    assert caught.value.uncertain
    assert len(server.asked) == 1


def test_every_mistake_of_a_file_is_told_at_once_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "providers.yml"
    file.write_text(
        """\
both: {sql: {url: "sqlite://"}, http: {url: "https://x.example"}, actions: {stock: {query: SELECT 1}}}
neither: {actions: {stock: {query: SELECT 1}}}
none: {sql: {url: "sqlite://"}}
writes: {sql: {url: "sqlite://"}, actions: {stock: {query: DELETE FROM a, table: b}}}
address: {http: {url: ftp://x.example}, actions: {prices: {}}}
request:
  http: {url: "https://x.example"}
  actions:
    prices: {method: FETCH, path: search, rows: [], fields: {prize: cost}, query: {q: "{{ item.__class__ }}"}}
    stock: {path: "/a/{{secrets.shp}}"}
list: []
""",
        "utf-8",
    )
    with pytest.raises(BadInput) as caught:
        read_providers(file, SECRETS)
    told = caught.value.message
    for line, part in (
        (1, "either `sql` or `http`"),
        (2, "either `sql` or `http`"),
        (3, "no `actions`"),
        (4, "begins with SELECT"),
        (4, "'table'"),
        (5, "https://"),
        (9, "'FETCH'"),
        (9, "begins with /"),
        (9, "did you mean 'price'?"),
        (10, "no secret 'shp'; did you mean 'shop'?"),
        (11, "mapping"),
    ):
        assert any(f":{line}:" in fault and part in fault for fault in told.splitlines()), (line, part, told)
    assert sum(":9:" in fault for fault in told.splitlines()) == 5


def test_a_database_nobody_can_reach_is_told_in_two_lines(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        declared(tmp_path, "ours: {sql: {url: 'dbase:///x'}, actions: {stock: {query: SELECT 1}}}")
    assert "ours" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("text", ["", "[]", "a: &x 1", "ours: 3", "x" * 10, "\x00"])
def test_a_file_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput):
        declared(tmp_path, text)
