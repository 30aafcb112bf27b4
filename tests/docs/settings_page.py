"""The tables of docs/settings.md, made from tenor/settings.py: `make docs`, or `python -m tests.docs.settings_page`."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from tenor.layers import FIELDS, PREFIX
from tenor.settings import Section, Settings

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"

MARK = "<!-- Made by `make docs` from tenor/settings.py, from here to the end. -->\n"


def page() -> str:
    """The whole page as it must be: its introduction as it stands, and the tables made from the settings."""
    introduction = PAGE.read_text("utf-8").partition(MARK)[0]
    return "\n".join([introduction + MARK, *_sections()])


def _sections() -> list[str]:
    parts = ["## `home`: one setting outside the sections\n", *_table({"home": FIELDS["home"]})]
    for name, field in Settings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, Section):
            inside = {key: setting for key, setting in FIELDS.items() if key.startswith(f"{name}.")}
            about = textwrap.fill(" ".join((section.__doc__ or "").split()), 120)
            parts += [f"## Section `{name}`\n", f"{about}\n", *_table(inside)]
    return parts


def _table(fields: dict[str, FieldInfo]) -> list[str]:
    rows = ["| setting | default | takes | meaning | environment variable |", "|---|---|---|---|---|"]
    for name, field in fields.items():
        cells = (f"`{name}`", f"`{default(field)}`", _takes(field), field.description or "", f"`{variable(name)}`")
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return ["\n".join(rows) + "\n"]


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper().replace(".", "__")


def default(field: FieldInfo) -> str:
    """The default as JSON, which TOML reads alike but for tables."""
    value = field.get_default(call_default_factory=True)
    return json.dumps("" if isinstance(value, SecretStr) else str(value) if isinstance(value, Path) else value)


KINDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    Path: "a path",
    SecretStr: "a secret",
}


def _takes(field: FieldInfo) -> str:
    return _kind(field.annotation) + _limits(field)


def _kind(annotation: Any) -> str:
    arguments = [argument for argument in get_args(annotation) if argument is not NoneType]
    origin = get_origin(annotation)
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in arguments)
    if origin is Annotated:
        return _kind(arguments[0])
    if origin is list:
        return f"a list of {_kind(arguments[0])}"
    if origin is dict:
        return f"a table: name to {_kind(arguments[1])}"
    return KINDS[annotation]


def _limits(field: FieldInfo) -> str:
    limits = {kind: getattr(one, kind) for one in field.metadata for kind in ("ge", "gt", "le") if hasattr(one, kind)}
    words = {"ge": "at least", "gt": "more than", "le": "at most"}
    if limits.keys() == {"ge", "le"}:
        return f", {limits['ge']} to {limits['le']}"
    return "".join(f", {words[kind]} {limit}" for kind, limit in limits.items())


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
