"""The settings say who carries out what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from dialog.flow.model import ActionSpec, Where
from dialog.fulfilment.registry import ORDERS, actions, actions_of
from dialog.fulfilment.types import ActionCall, ActionResult
from tenor.errors import BadInput
from tenor.settings import AssistantSettings
from tests.dialog.fulfilment.calls import BOSTON, call_of

NAMES = {"weather", "places", "prices", "stock", "product_info", "reserve", "handover"}


class Loyalty:
    async def run(self, call: ActionCall) -> ActionResult:
        return ActionResult(result={"points": 7}, source="ours")


class NeedsSomething:
    def __init__(self, something: str) -> None:
        pass


def source(action: Any) -> str:
    return str(action.source)


def test_without_settings_everything_is_the_sample() -> None:
    assert set(actions()) == NAMES
    assert {source(action) for name, action in actions().items() if name != "handover"} == {"sample"}


def test_each_action_has_the_provider_that_its_setting_names(tmp_path: Path) -> None:
    file = tmp_path / "providers.yml"
    file.write_text("ours: {sql: {url: 'sqlite://'}, actions: {stock: {query: SELECT 1}}}", "utf-8")
    found = actions(
        AssistantSettings(
            weather="open-meteo",
            places="yelp",
            prices="ebay",
            stock="ours",
            providers=str(file),
            yelp_key=SecretStr("k"),
            ebay_client_id="i",
            ebay_client_secret=SecretStr("s"),
        )
    )
    assert {name: source(action) for name, action in found.items()} == {
        "weather": "open-meteo",
        "places": "yelp",
        "prices": "ebay",
        "stock": "ours",
        "product_info": "sample",
        "reserve": "sample",
        "handover": "tenor",
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"provider": "smaple"}, "no provider 'smaple'"),
        ({"weather": "yelp", "yelp_key": SecretStr("k")}, "'yelp' has no action 'weather'"),
        ({"places": "yelp"}, "'yelp' needs a key"),
        ({"weather": "weatherstack"}, "'weatherstack' needs a key"),
        ({"prices": "ebay", "ebay_client_id": "i"}, "'ebay' needs a key"),
        ({"providers": "/nowhere/providers.yml", "stock": "ours"}, "cannot read"),
    ],
)
def test_settings_that_do_not_fit_are_told_with_a_way_out(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        actions(AssistantSettings(**settings))
    assert message in caught.value.message


async def test_what_is_reserved_is_kept_in_the_home_folder(tmp_path: Path) -> None:
    home = tmp_path / "not" / "there"
    await actions("sample", home)["reserve"].run(call_of("reserve", key="k", item="tv", location=BOSTON))
    assert (home / ORDERS).exists()


def spec(name: str, call: str) -> ActionSpec:
    return ActionSpec(name=name, call=call, where=Where("main_flow.yml", 3, 5))


async def test_flows_name_shipped_actions_and_classes_of_their_own() -> None:
    shipped = actions()
    named = actions_of(
        {"forecast": spec("forecast", "weather"), "loyalty": spec("loyalty", f"{__name__}:Loyalty")}, shipped
    )
    assert named["forecast"] is shipped["weather"]
    assert (await named["loyalty"].run(call_of("loyalty"))).result == {"points": 7}


@pytest.mark.parametrize(
    "call", ["wether", "no.such.module:Thing", f"{__name__}:Nothing", f"{__name__}:NeedsSomething", "builtins:dict"]
)
def test_an_action_that_cannot_be_used_is_told_with_its_place(call: str) -> None:
    with pytest.raises(BadInput, match=r"main_flow\.yml:3:5"):
        actions_of({"own": spec("own", call)}, actions())
