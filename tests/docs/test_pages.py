"""What the pages name exists: links and pictures, commands with their flags, settings, files and modules."""

from __future__ import annotations

import importlib
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tenor import events
from tenor.cli.app import app
from tenor.events import TOPICS
from tenor.layers import FIELDS, FILE, load

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
FOLDERS = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))
NAMED = (*FOLDERS, "deploy", "docs")
"""Folders whose files the pages name."""

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")
LINK = re.compile(r"\]\(([^)\s]+)\)|<img[^>]* src=\"([^\"]+)\"")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)
every_page_of_today = pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=name_of
)
"""What a changelog names was there when it was written."""


def blocks(page: Path) -> list[tuple[str, str]]:
    """Fenced blocks: language and text."""
    return FENCE.findall(page.read_text("utf-8"))


def spans(page: Path) -> list[str]:
    """Code within the text, its line breaks as spaces."""
    return [" ".join(span.split()) for span in SPAN.findall(FENCE.sub("", page.read_text("utf-8")))]


@every_page
def test_every_link_and_picture_leads_somewhere(page: Path) -> None:
    for link in (one or other for one, other in LINK.findall(FENCE.sub("", page.read_text("utf-8")))):
        if "://" in link or link.startswith("mailto:"):
            continue
        file, _, heading = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{link} does not exist"
        assert not heading or heading in anchors(target), f"{link}: there is no such heading"


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub and GitLab name them in links."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page_of_today
def test_every_command_exists_with_its_flags(page: Path) -> None:
    wrong = [f"{line}: {fault}" for line in commands(page) if (fault := fault_of(line))]
    assert not wrong


def commands(page: Path) -> Iterator[str]:
    """What the page says that one can type, from the word `tenor` on."""
    for _, block in blocks(page):
        for line in block.replace("\\\n", " ").splitlines():
            if found := re.match(r"(?:\$ )?(?:export .*&& |cat \S+ \| |\.venv/bin/)?(tenor( .*)?)$", line):
                yield re.split(r"\s{2,}|\s#\s|\s[|>]|;", found[1])[0]
    yield from (span for span in spans(page) if re.match(r"tenor( |$)", span))


@cache
def tenor() -> Any:
    """The command line: a group of commands."""
    return typer.main.get_command(app)


def fault_of(line: str) -> str:
    """What is wrong with a command; nothing: it can be typed."""
    command = tenor()
    words = shlex.split(re.sub(r"[\[\]]|\.\.\.", " ", line))[1:]
    known = options(command)
    while words:
        word = words.pop(0)
        name = word.partition("=")[0]
        if name.startswith("-") and name != "-":
            if name not in known:
                return f"{command.name} has no {name}"
            if known[name] and "=" not in word and words:
                words.pop(0)
        elif hasattr(command, "commands"):
            if word not in command.commands:
                return f"there is no {command.name} {word}"
            command = command.commands[word]
            known = options(command)
    return ""


def options(command: Any) -> dict[str, bool]:
    """The flags of a command, and whether each takes a value."""
    found = {"--help": False, "-h": False}
    for option in command.params:
        if option.param_type_name == "option":
            takes = not option.is_flag and not option.count
            found |= dict.fromkeys((*option.opts, *option.secondary_opts), takes)
    return found


@every_page_of_today
def test_every_flag_named_alone_exists(page: Path) -> None:
    named = {found[0] for span in spans(page) if (found := re.match(r"--[a-z][a-z-]+", span))}
    assert not named - flags()


@cache
def flags() -> frozenset[str]:
    def of(command: Any) -> Iterator[str]:
        yield from options(command)
        if hasattr(command, "commands"):
            for below in command.commands.values():
                yield from of(below)

    others = (
        path.read_text("utf-8") for folder in ("benchmarks", "finetune") for path in ROOT.glob(f"{folder}/**/*.py")
    )
    return frozenset(of(tenor())) | {flag for text in others for flag in re.findall(r"\"(--[a-z][a-z-]+)\"", text)}


@every_page_of_today
def test_every_file_named_exists(page: Path) -> None:
    words = [word.lstrip("(").rstrip(").,:;") for span in spans(page) for word in span.split()]
    paths = [word for word in words if re.fullmatch(rf"({'|'.join(NAMED)})/[\w./*-]*", word)]
    assert not [path for path in paths if not list(ROOT.glob(path.rstrip("/")))]


@every_page_of_today
def test_every_dotted_name_is_a_setting_a_topic_or_in_the_code(page: Path) -> None:
    names = [span for span in spans(page) if re.fullmatch(rf"({'|'.join(FOLDERS)})\.\w[\w.]*\*?(:\w+)?", span)]
    assert not [name for name in names if not is_known(name)]


@every_page_of_today
def test_every_field_of_an_event_exists(page: Path) -> None:
    named = [found for span in spans(page) if (found := re.fullmatch(r"([A-Z]\w+)\.(\w+)", span))]
    known = {
        (name, field): hasattr(getattr(events, name, None), field) for name, field in (one.groups() for one in named)
    }
    assert not [".".join(name) for name, there in known.items() if hasattr(events, name[0]) and not there]


@every_page_of_today
def test_every_module_in_a_command_or_example_exists(page: Path) -> None:
    text = "\n".join([*(block for _, block in blocks(page)), *spans(page)])
    run = re.findall(rf"python3? -m (({'|'.join(FOLDERS)})[\w.]*)", text)
    imported = re.findall(rf"^from (({'|'.join(FOLDERS)})[\w.]*) import (.+)$", text, re.MULTILINE)
    assert not [module for module, _ in run if not in_code(module)]
    for module, _, names in imported:
        assert not [name for name in names.split(",") if not in_code(f"{module}.{name.strip()}")]


def is_known(name: str) -> bool:
    """A setting, several (`bus.sasl_*`), a topic, the settings file, or something that can be imported."""
    if name in FIELDS or name in {FILE, *(topic.name for topic in TOPICS)}:
        return True
    if name.endswith("*"):
        return any(setting.startswith(name[:-1]) for setting in FIELDS)
    return in_code(name.replace(":", "."))


def in_code(name: str) -> bool:
    """Whether a dotted name is a module, or something within one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@every_page_of_today
def test_settings_files_and_variables_are_right(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(
        text for language, text in blocks(page) if language == "toml" and "[auth]" not in text
    ):
        file = tmp_path / f"{number}.toml"
        file.write_text(block)
        load(file=file, environment={})
    variables = set(re.findall(r"\bTENOR_[A-Z]+__[A-Z_]+\b", page.read_text("utf-8")))
    assert not {name for name in variables if name.removeprefix("TENOR_").lower().replace("__", ".") not in FIELDS}


@every_page_of_today
def test_every_make_target_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    text = "\n".join([*(block for _, block in blocks(page)), *spans(page)])
    assert not set(re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)) - targets


@pytest.mark.parametrize("name", ["measurements.md", "decisions.md"])
def test_the_table_at_the_top_of_a_long_page_names_every_section(name: str) -> None:
    top, _, rest = (ROOT / "docs" / name).read_text().partition("\n## ")
    headings = re.findall(r"^## (.+)$", "## " + rest, re.MULTILINE)
    assert headings
    assert [heading for heading in headings if f"[{heading}](#" not in top] == []
