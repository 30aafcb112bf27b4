"""Labels in files that others wrote: CSV, JSON lines, NeMo's files, Label Studio's export. Read row by row; a row that
cannot be read is told with its place, and the rest is read all the same.

CSV, JSONL       a row per sentence: sentence, turn or text, then sentiment, intent, slots, and author, at; or a row per
                 label: kind and value in place of the names, as `tenor labels export` writes them
NeMo             the folder with dict.intents.csv, dict.slots.csv and the *.tsv: lines of shoppers
Label Studio     the JSON export: choices called sentiment or intent, and labels of spans as slots
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from storage.labels.tags import SlotSpan, tags_at, write_tags
from tenor.errors import BadInput
from tenor.reading import listed, reading

KINDS = ("sentiment", "intent", "slots")
COLUMNS = ("sentence", "turn", "text", *KINDS, "kind", "value", "author", "at")
IGNORED = ("call", "predicted", "author_role", "seconds", "where", "why", "model", "held", "sample")
"""What our own export also has: who brings labels in cannot say that somebody else was asked at random."""
MOST_BYTES = 1 << 28
LONGEST_TEXT = 10_000


class LabelRow(NamedTuple):
    """What somebody said of a sentence, of a turn, or of words alone."""

    place: str
    """Where in the file, for people."""
    values: dict[str, str]
    """By kind; slots as tags."""
    sentence: str = ""
    turn: str = ""
    text: str = ""
    of_shopper: bool = False
    """Whether the words are a line to the assistant."""
    author: str = ""
    at: float | None = None


class BadRow(NamedTuple):
    place: str
    reason: str


def read_labels(path: Path) -> Iterator[LabelRow | BadRow]:
    """The rows of a file, or of a folder of NeMo's."""
    with reading(str(path)):
        yield from _rows(path)


def _rows(path: Path) -> Iterator[LabelRow | BadRow]:
    if path.is_dir():
        yield from _nemo(path)
        return
    if path.suffix == ".tsv":
        yield from _nemo_pair(path)
        return
    text = _text(path)
    match path.suffix.lower():
        case ".csv":
            yield from _csv(path, text)
        case ".jsonl" | ".ndjson":
            yield from _lines(path, text)
        case ".json":
            yield from _label_studio(path, text)
        case _:
            raise BadInput(f"{path} is none of the formats we read", "CSV, JSONL, Label Studio's JSON, NeMo's folder")


def _csv(path: Path, text: str) -> Iterator[LabelRow | BadRow]:
    rows = csv.reader(io.StringIO(text, newline=""))
    header = [cell.strip().lower() for cell in next(rows, [])]
    if not set(header) & {"sentence", "turn", "text"} or len(set(header)) != len(header):
        raise BadInput(f"{path}: line 1: the columns are {listed(header) or 'missing'}", f"such as {','.join(COLUMNS)}")
    if strange := [name for name in header if name not in (*COLUMNS, *IGNORED)]:
        raise BadInput(f"{path}: line 1: no column is called {strange[0][:100]!r}", f"one of {', '.join(COLUMNS)}")
    try:
        for cells in rows:
            place = f"{path}:{rows.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                yield BadRow(place, f"{len(cells)} cells where the header has {len(header)}")
                continue
            yield _row(place, {name: cell for name, cell in zip(header, cells, strict=True) if cell.strip()})
    except csv.Error as error:
        yield BadRow(f"{path}:{rows.line_num}", str(error))


def _lines(path: Path, text: str) -> Iterator[LabelRow | BadRow]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            told = msgspec.json.decode(line)
        except (msgspec.MsgspecError, RecursionError) as error:
            yield BadRow(f"{path}:{number}", str(error))
            continue
        if isinstance(told, dict):
            yield _row(
                f"{path}:{number}", {str(name): value for name, value in told.items() if value not in (None, "")}
            )
        else:
            yield BadRow(f"{path}:{number}", "not a JSON object")


def _row(place: str, told: Mapping[str, Any]) -> LabelRow | BadRow:
    """A row of names and values, from CSV or JSON."""
    if strange := [name for name in told if name not in (*COLUMNS, *IGNORED)]:
        return BadRow(place, f"nothing is called {strange[0]!r}")
    values: dict[str, str] = {}
    wanted = {kind: told[kind] for kind in KINDS if kind in told}
    if "kind" in told:
        if told["kind"] not in KINDS:
            return BadRow(place, f"labels of {str(told['kind'])[:30]!r} are not brought in: only {', '.join(KINDS)}")
        wanted[str(told["kind"])] = told.get("value", "")
    for kind, value in wanted.items():
        if isinstance(value, list):
            value = write_tags(str(tag) for tag in value)
        if not isinstance(value, str) or not value.strip():
            return BadRow(place, f"no {kind}")
        if kind == "slots" and not value.lstrip().startswith("["):
            value = write_tags(value.split())
        values[kind] = value.strip()
    about = {name: told.get(name, "") for name in ("sentence", "turn", "text", "author")}
    if not all(isinstance(value, str) for value in about.values()):
        return BadRow(place, "sentence, turn, text and author are texts")
    if not values:
        return BadRow(place, f"no label: none of {', '.join(KINDS)}")
    if not (about["sentence"] or about["turn"] or about["text"].strip()):
        return BadRow(place, "neither sentence, turn nor text")
    if len(about["text"]) > LONGEST_TEXT:
        return BadRow(place, f"a text of {len(about['text'])} characters")
    at = told.get("at")
    try:
        at = None if at in (None, "") else float(at)
    except (TypeError, ValueError):
        return BadRow(place, f"{str(at)[:30]!r} is no time in seconds")
    if at is not None and not 0 <= at < 253_402_300_800:
        return BadRow(place, f"{at} is no time in seconds since 1970")
    return LabelRow(place, values, **about, at=at)


def _nemo(folder: Path) -> Iterator[LabelRow | BadRow]:
    files = sorted(path for path in folder.glob("*.tsv") if not path.stem.endswith("_slots"))
    if not files:
        raise BadInput(f"no labels in the folder {folder}", "NeMo's folder has dict.intents.csv and train.tsv")
    for path in files:
        yield from _nemo_pair(path)


def _nemo_pair(path: Path) -> Iterator[LabelRow | BadRow]:
    """A .tsv of sentences and the _slots.tsv beside it, by the dictionaries beside both."""
    intents = _text(path.with_name("dict.intents.csv")).split()
    slots = _text(path.with_name("dict.slots.csv")).split()
    lines = _text(path).splitlines()[1:]
    beside = path.with_name(f"{path.stem}_slots.tsv")
    tags = _text(beside).splitlines() if beside.exists() else []
    if tags and len(tags) != len(lines):
        raise BadInput(
            f"{beside} has {len(tags)} lines, {path.name} has {len(lines)} sentences", "they belong together"
        )
    for number, line in enumerate(lines):
        place = f"{path}:{number + 2}"
        text, tab, intent = line.rpartition("\t")
        try:
            values = {"intent": intents[_index(intent, intents)]}
            if tags:
                values["slots"] = write_tags(slots[_index(one, slots)] for one in tags[number].split())
        except ValueError as error:
            yield BadRow(place, str(error))
            continue
        if not tab or not text.strip():
            yield BadRow(place, "no sentence, tab and number")
            continue
        yield LabelRow(place, values, text=" ".join(text.split()), of_shopper=True)


def _index(cell: str, names: list[str]) -> int:
    if not cell.strip().isdecimal() or int(cell) >= len(names):
        raise ValueError(f"{cell[:30]!r} is no number of the dictionary's {len(names)}")
    return int(cell)


def _label_studio(path: Path, text: str) -> Iterator[LabelRow | BadRow]:
    try:
        tasks = msgspec.json.decode(text)
    except msgspec.MsgspecError as error:
        raise BadInput(f"{path}: {error}", "Label Studio's export is a JSON array of tasks") from None
    if not isinstance(tasks, list):
        raise BadInput(f"{path} is no export of Label Studio", "it is a JSON array of tasks")
    for number, task in enumerate(tasks):
        place = f"{path}: task {number + 1}"
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(data, dict) or not isinstance(data.get("text"), str):
            yield BadRow(place, "no data.text")
            continue
        for annotation in task.get("annotations") or ():
            if isinstance(annotation, dict) and not annotation.get("was_cancelled"):
                yield _annotation(place, data, annotation)


def _annotation(place: str, data: Mapping[str, Any], annotation: Mapping[str, Any]) -> LabelRow | BadRow:
    text, told = data["text"], {name: data[name] for name in ("sentence", "turn") if data.get(name)}
    values: dict[str, Any] = {}
    spans: list[SlotSpan] = []
    try:
        for one in annotation.get("result") or ():
            value, name = one["value"], one["from_name"]
            if one["type"] == "choices" and name in ("sentiment", "intent"):
                values[name] = value["choices"][0]
            elif one["type"] == "labels":
                spans.append(SlotSpan(str(value["labels"][0]), int(value["start"]), int(value["end"])))
    except (KeyError, TypeError, IndexError, ValueError, AttributeError):
        return BadRow(place, "a result that is not Label Studio's")
    if spans:
        values["slots"] = write_tags(tags_at(text, spans))
    by = annotation.get("completed_by")
    author = by.get("email") if isinstance(by, Mapping) else f"label-studio-{by}" if isinstance(by, int) else ""
    return _row(place, {**values, **told, "text": text, **({"author": author} if author else {})})


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadInput(f"{path} has {path.stat().st_size >> 20} MB", f"at most {MOST_BYTES >> 20} MB at once")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8", "save it as UTF-8") from None
