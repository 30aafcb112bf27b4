"""The actions that ship, by name, with the providers that the settings choose, and actions of an author's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import cast

from dialog.flow.model import ActionSpec
from dialog.fulfilment.handover import Handover
from dialog.fulfilment.sample.places import SamplePlaces
from dialog.fulfilment.sample.product_info import SampleProductInfo
from dialog.fulfilment.sample.selling import SamplePrices, SampleReserve, SampleStock
from dialog.fulfilment.sample.shop import SampleShop
from dialog.fulfilment.sample.weather import SampleWeather
from dialog.fulfilment.types import Action
from tenor.errors import BadInput
from tenor.settings import AssistantSettings

PROVIDED = ("weather", "places", "prices", "stock", "product_info", "reserve")
"""Actions that a provider carries out; `handover` is Tenor's own."""
ORDERS = "sample-orders.db"

Provider = Mapping[str, Action]


def actions(provider: str | AssistantSettings = "sample", home: Path | None = None) -> dict[str, Action]:
    """Every action that ships, by name: all by one provider, or each by the one that the settings name. What the
    sample shop reserves is kept in the home folder, or in memory when there is none."""
    settings = AssistantSettings(provider=provider) if isinstance(provider, str) else provider
    known = _Providers(settings, home)
    return {**{name: known.action(name) for name in PROVIDED}, "handover": Handover()}


def actions_of(specs: Mapping[str, ActionSpec], shipped: Mapping[str, Action]) -> dict[str, Action]:
    """The actions of an assistant by the names that its flows give them: shipped ones, and instances of classes by
    import path."""
    return {name: _action_of(spec, shipped) for name, spec in specs.items()}


class _Providers:
    """Made when one is first asked for, and once each. Only those in use are imported: an HTTP client and SQLAlchemy
    take a second that nobody who tries the sample should wait."""

    def __init__(self, settings: AssistantSettings, home: Path | None) -> None:
        self._settings = settings
        self._home = home
        self._own = self._declared()
        self._made: dict[str, Provider] = {}
        self._shipped: Mapping[str, Callable[[], Provider]] = {
            "sample": self._sample,
            "open-meteo": self._open_meteo,
            "weatherstack": self._weatherstack,
            "yelp": self._yelp,
            "ebay": self._ebay,
        }

    def action(self, name: str) -> Action:
        chosen = str(getattr(self._settings, name)) or self._settings.provider
        provider = self._provider(chosen)
        if name not in provider:
            raise BadInput(f"the provider {chosen!r} has no action {name!r}", f"set assistant.{name} to one that has")
        return provider[name]

    def _provider(self, name: str) -> Provider:
        if name not in self._made:
            if name in self._shipped:
                self._made[name] = self._shipped[name]()
            elif name in self._own:
                self._made[name] = self._own[name]
            else:
                there_are = ", ".join((*self._shipped, *self._own))
                raise BadInput(f"there is no provider {name!r}", f"there are: {there_are}; see assistant.providers")
        return self._made[name]

    def _declared(self) -> Mapping[str, Provider]:
        if not self._settings.providers:
            return {}
        from dialog.fulfilment.providers.declarations import read_providers

        secrets = {name: secret.get_secret_value() for name, secret in self._settings.secrets.items()}
        return read_providers(Path(self._settings.providers), secrets)

    def _sample(self) -> Provider:
        if self._home is not None:
            self._home.mkdir(parents=True, exist_ok=True)
        shop = SampleShop(self._home / ORDERS if self._home else None)
        return {
            "weather": SampleWeather(),
            "places": SamplePlaces(shop),
            "prices": SamplePrices(shop),
            "stock": SampleStock(shop),
            "product_info": SampleProductInfo(shop),
            "reserve": SampleReserve(shop),
        }

    def _open_meteo(self) -> Provider:
        from dialog.fulfilment.providers.open_meteo import OpenMeteo

        settings = self._settings
        key = settings.open_meteo_key.get_secret_value()
        return {"weather": OpenMeteo(settings.open_meteo_url, settings.open_meteo_geocoder_url, key)}

    def _weatherstack(self) -> Provider:
        from dialog.fulfilment.providers.weatherstack import WeatherStack

        key = _needed(self._settings.weatherstack_key.get_secret_value(), "weatherstack", "weatherstack_key")
        return {"weather": WeatherStack(self._settings.weatherstack_url, key)}

    def _yelp(self) -> Provider:
        from dialog.fulfilment.providers.yelp import Yelp

        key = _needed(self._settings.yelp_key.get_secret_value(), "yelp", "yelp_key")
        return {"places": Yelp(self._settings.yelp_url, key)}

    def _ebay(self) -> Provider:
        from dialog.fulfilment.providers.ebay import Ebay

        client = _needed(self._settings.ebay_client_id, "ebay", "ebay_client_id")
        secret = _needed(self._settings.ebay_client_secret.get_secret_value(), "ebay", "ebay_client_secret")
        return {"prices": Ebay(self._settings.ebay_url, client, secret)}


def _needed(value: str, provider: str, setting: str) -> str:
    if not value:
        raise BadInput(f"the provider {provider!r} needs a key", f"set assistant.{setting}")
    return value


def _action_of(spec: ActionSpec, shipped: Mapping[str, Action]) -> Action:
    where = f"{spec.where.file}:{spec.where.line}:{spec.where.column}"
    if ":" not in spec.call:
        if spec.call not in shipped:
            raise BadInput(f"{where}: there is no action {spec.call!r}", f"there are: {', '.join(shipped)}")
        return shipped[spec.call]
    module, _, name = spec.call.partition(":")
    try:
        made = getattr(import_module(module), name)()
    except Exception as error:  # somebody else's code
        raise BadInput(
            f"{where}: {spec.call} cannot be used: {type(error).__name__}: {error}",
            "an action is a class that is made without arguments, in a module on Python's path",
        ) from None
    if not callable(getattr(made, "run", None)):
        raise BadInput(f"{where}: {spec.call} is no action: it has no `run`", "see docs/assistant-providers.md")
    return cast(Action, made)
