"""Where settings come from: each layer overrides the one before, and every value remembers its layer."""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_origin

from pydantic import BaseModel, ValidationError

from tenor.errors import BadInput
from tenor.secret_values import shown
from tenor.settings import Settings

FILE = "tenor.toml"
PREFIX = "TENOR_"

Flat = dict[str, Any]
"""Values by dotted name, `bus.url`."""


class LoadedSettings(NamedTuple):
    settings: Settings
    origins: dict[str, str]
    """Dotted name -> `default`, the file, the environment variable or `flag`."""


def names(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting's dotted name with its field."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from names(field.annotation, f"{prefix}{name}.")
        else:
            yield prefix + name, field


FIELDS = dict(names())


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> LoadedSettings:
    """The settings in force. A file named explicitly must exist; `tenor.toml` here is optional."""
    environment = os.environ if environment is None else environment
    values: Flat = {}
    origins = dict.fromkeys(FIELDS, "default")
    file = file or (Path(environment["TENOR_CONFIG"]) if environment.get("TENOR_CONFIG") else None)
    for origin, layer in (
        *_from_file(file or Path(FILE), required=file is not None),
        *_from_environment(environment),
        *(("flag", {name: value}) for name, value in (flags or {}).items() if value is not None),
    ):
        for name, value in layer.items():
            if name not in FIELDS:
                raise BadInput(f"{origin}: there is no setting {name!r}", nearest(name))
            values[name] = _parsed(name, value, origin)
            origins[name] = origin
    try:
        return LoadedSettings(Settings.model_validate(_nested(values)), origins)
    except ValidationError as error:
        raise _explained(error, origins) from None


def _from_file(path: Path, *, required: bool) -> Iterator[tuple[str, Flat]]:
    if not required and not path.exists():
        return
    try:
        yield str(path), dict(_flattened(tomllib.loads(path.read_text("utf-8"))))
    except OSError as error:
        raise BadInput(f"cannot read settings from {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not valid TOML: {error}") from None


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Flat]]:
    sections = {name.partition(".")[0] for name in FIELDS if "." in name}
    for variable, value in environment.items():
        if not variable.startswith(PREFIX):
            continue
        name = variable.removeprefix(PREFIX).lower().replace("__", ".")
        if name in FIELDS or (name.partition(".")[0] in sections and "." in name):
            yield variable, {name: value}


def _flattened(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        name = prefix + key
        if isinstance(value, Mapping) and name not in FIELDS:
            yield from _flattened(value, f"{name}.")
        else:
            yield name, value


def _nested(values: Flat) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in values.items():
        *sections, last = name.split(".")
        node = tree
        for section in sections:
            node = node.setdefault(section, {})
        node[last] = value
    return tree


def _parsed(name: str, value: Any, origin: str) -> Any:
    """Lists and tables may be written as text: `a,b` or JSON; `key=value,...` or JSON."""
    kind = get_origin(FIELDS[name].annotation)
    if not isinstance(value, str) or kind not in (list, dict):
        return value
    text = value.strip()
    if text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise BadInput(f"{origin}: {name} is not valid JSON: {error}") from None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if kind is list:
        return parts
    if not all("=" in part for part in parts):
        raise BadInput(f"{origin}: {name} takes key=value,key=value or a JSON object")
    return dict(part.split("=", 1) for part in parts)


def _explained(error: ValidationError, origins: Mapping[str, str]) -> BadInput:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    field = next((FIELDS[key] for key in (name, name.rsplit(".", 1)[0]) if key in FIELDS), None)
    got = "" if field is not None and "Secret" in str(field.annotation) else f" (got {shown(name, first['input'])!r})"
    hint = f"{name}: {field.description}" if field is not None and field.description else ""
    message = first["msg"][:1].lower() + first["msg"][1:]
    return BadInput(f"setting {name} from {origins.get(name, 'flag')}: {message}{got}", hint)


def nearest(name: str) -> str:
    near = difflib.get_close_matches(name, FIELDS, 3)
    return f"did you mean {' or '.join(near)}?" if near else "`tenor config` lists every setting"
