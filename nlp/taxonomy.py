"""What callers may want: names, descriptions and examples, from a YAML file that people edit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tenor.errors import BadInput

DEFAULT = Path(__file__).parent / "intents.yaml"
UNKNOWN = "unknown"
"""The intent of a sentence that is none of them; not a name of the file."""
FEWEST = 3
"""Fewer examples than this say nothing about how else a wish can be put."""


@dataclass(frozen=True, slots=True)
class WantedIntent:
    name: str
    description: str
    examples: tuple[str, ...]
    task: bool = False
    """Whether a whole call can be about it."""


@dataclass(frozen=True, slots=True)
class Taxonomy:
    intents: tuple[WantedIntent, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(intent.name for intent in self.intents)

    @property
    def tasks(self) -> frozenset[str]:
        return frozenset(intent.name for intent in self.intents if intent.task)


def read(path: Path = DEFAULT) -> Taxonomy:
    """The taxonomy in a file; BadInput names everything that is wrong with it."""
    try:
        # The base loader makes no booleans of `yes` and `no`, which are examples here.
        tree = yaml.load(path.read_text("utf-8"), yaml.BaseLoader)
    except OSError as error:
        raise BadInput(f"cannot read intents from {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text") from None
    except yaml.YAMLError as error:
        raise BadInput(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(tree, dict) or not tree:
        raise BadInput(f"{path} has no intents", "a mapping: name -> description, examples")
    faults = [f"{name}: {fault}" for name, entry in tree.items() for fault in _faults(name, entry)]
    if faults:
        raise BadInput(f"{path}: {'; '.join(faults)}", "an intent has a description and a list of some ten examples")
    return Taxonomy(
        tuple(
            WantedIntent(name, entry["description"], tuple(entry["examples"]), entry.get("task") == "true")
            for name, entry in tree.items()
        )
    )


def _faults(name: str, entry: Any) -> list[str]:
    if name == UNKNOWN:
        return ["is what a sentence without an intent is called; choose another name"]
    if not isinstance(entry, dict):
        return ["is not a mapping"]
    faults = [f"there is no key {key!r}" for key in sorted(entry.keys() - {"description", "examples", "task"})]
    if not isinstance(entry.get("description"), str):
        faults.append("has no description")
    examples = entry.get("examples")
    if not isinstance(examples, list) or not all(isinstance(example, str) and example.strip() for example in examples):
        faults.append("has no list of examples")
    elif len(set(examples)) < FEWEST:
        faults.append(f"has fewer than {FEWEST} different examples")
    if entry.get("task", "true") not in ("true", "false"):
        faults.append("task is true or false")
    return faults
