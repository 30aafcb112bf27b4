"""What of a setting may be shown: everything but its secrets, also those inside addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

STARS = "********"
_SECRET_NAME = re.compile(r"key|token|secret|pass|auth|credential|signature|\bpin\b", re.I)
_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*:/{2,})(?:(?P<user>\S*)@)?(?P<place>[^?#\s]*)(?P<rest>\S*)", re.I)
"""A password may hold any sign but a blank, so it ends before the last @."""
_PARAMETER = re.compile(r"(?<=[?&#;])([^=&#;]+)=[^&#;]*")
_TOLD_BY_ADDRESS = {"language.webhooks"}
"""Whoever knows such an address may write there: Slack's and Teams' hooks carry their key in the path."""
_SENT = {"speech.metadata"}
"""Whatever is sent with a request lets it in; no name of a key says for sure that it does not."""


def shown(name: str, value: Any) -> Any:
    """The value of this setting, as anybody may see it."""
    if isinstance(value, SecretStr):
        return STARS if value.get_secret_value() else ""
    if isinstance(value, Mapping):
        hide = name in _SENT
        return {key: STARS if hide or _SECRET_NAME.search(key) else shown(name, item) for key, item in value.items()}
    if isinstance(value, list):
        return [shown(name, item) for item in value]
    if isinstance(value, bool | int | float):
        return value
    return address_shown(str(value), path=name not in _TOLD_BY_ADDRESS)


def address_shown(text: str, *, path: bool = True) -> str:
    """Addresses in a text without passwords, keys and, unless `path`, without what follows the host."""

    def hidden(found: re.Match[str]) -> str:
        scheme, user, place, rest = found.group("scheme", "user", "place", "rest")
        name, colon, _ = (user or "").partition(":")
        who = f"{name if colon else ''}{':' if colon else ''}{STARS}@" if user else ""
        if not path and "/" in place:
            return f"{scheme}{who}{place.partition('/')[0]}/{STARS}"
        without_values = _PARAMETER.sub(rf"\1={STARS}", rest)
        return f"{scheme}{who}{place}{without_values}"

    return _ADDRESS.sub(hidden, text)
