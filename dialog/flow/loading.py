"""An assistant from its files: a folder, or a list of them; checked, or refused with everything that is wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dialog.flow.builder import build
from dialog.flow.checker import check
from dialog.flow.draft import Draft
from dialog.flow.faults import FaultyAssistant, FlowFault, fault
from dialog.flow.model import Assistant, Where
from dialog.flow.reading.reader import read_file
from tenor.bounded_dict import BoundedDict
from tenor.errors import BadInput
from tenor.yaml.nodes import Faulty, read_text

SHIPPED: Final = Path(__file__).parent.parent / "flows" / "retail"
STARTER: Final = SHIPPED.parent / "starter"
"""What an author of an assistant begins with."""
SUFFIXES: Final = (".yml", ".yaml")
MAIN: Final = "main_flow"
MOST_FILES: Final = 200
VERSIONS_KEPT: Final = 8
"""Earlier versions that conversations may still be on."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What came of reading an assistant."""

    assistant: Assistant | None
    """None when there are faults."""
    faults: tuple[FlowFault, ...]
    warnings: tuple[FlowFault, ...]


def load(paths: Path | Sequence[Path] = SHIPPED) -> Assistant:
    """The assistant of a folder or of some files; FaultyAssistant tells every mistake."""
    report = check_files(paths)
    if report.assistant is None:
        raise FaultyAssistant(report.faults, report.warnings)
    return report.assistant


def check_files(paths: Path | Sequence[Path] = SHIPPED) -> CheckReport:
    """Read an assistant and tell what is wrong with it. Only paths that are not there raise."""
    texts: dict[str, str] = {}
    unreadable: list[FlowFault] = []
    for path in files_of(paths):
        try:
            texts[str(path)] = read_text(path)
        except Faulty as faulty:
            unreadable += [fault(Where(faulty.path, one.line, one.column), one.message) for one in faulty.faults]
    return check_texts(texts, unreadable)


def check_texts(texts: Mapping[str, str], unreadable: Sequence[FlowFault] = ()) -> CheckReport:
    """The same from texts by file name, as a conversation's version keeps them."""
    draft = Draft(texts={Path(file).name: text for file, text in texts.items()})
    draft.unreadable |= {Path(one.where.file).stem for one in unreadable}
    found = list(unreadable)
    seen: dict[str, str] = {}
    for file, text in texts.items():
        name = Path(file).stem
        if name in seen:
            found.append(fault(Where(file, 1, 1), f"flow {name!r} is there twice; the first is {seen[name]}"))
            continue
        seen[name] = file
        found += read_file(name, file, text, draft)
    draft.main = _main(draft)
    found += check(draft)
    faults = tuple(sorted({one for one in found if one.severity == "fault"}))
    warnings = tuple(sorted({one for one in found if one.severity == "warning"}))
    return CheckReport(None if faults else build(draft, version_of(draft.texts)), faults, warnings)


def files_of(paths: Path | Sequence[Path]) -> list[Path]:
    """The files of an assistant: of a folder all that end in .yml, the main flow first."""
    found: list[Path] = []
    for path in [paths] if isinstance(paths, Path) else paths:
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.suffix in SUFFIXES and one.is_file())
            if not inside:
                raise BadInput(f"{path} has no .yml file", "`tenor assistant new FOLDER` writes a small assistant")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise BadInput(f"there is no file or folder {path}", "give the folder of an assistant, or its .yml files")
    if len(found) > MOST_FILES:
        raise BadInput(
            f"{len(found)} files: an assistant has at most {MOST_FILES}", "give a folder with its files only"
        )
    return sorted(dict.fromkeys(found), key=lambda path: path.stem != MAIN)


def version_of(texts: Mapping[str, str]) -> str:
    """The same for the same files, whatever folder they lie in."""
    digest = hashlib.sha256()
    for name in sorted(texts):
        for part in (name, texts[name]):
            digest.update(f"{len(part)}:{part}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:12]


def _main(draft: Draft) -> str:
    """`main_flow`, else the only flow."""
    if MAIN in draft.flows or MAIN in draft.unreadable:
        return MAIN
    return next(iter(draft.flows)) if len(draft.flows) == 1 else ""


class AssistantFolder:
    """The assistant of a folder that people edit while it runs.

    A changed file is taken over at the next `refresh`; a wrong one is refused, its faults are kept in `faults`, and the
    assistant stays what it was. Earlier versions can be had for the conversations that began with them.
    """

    def __init__(self, paths: Path | Sequence[Path] = SHIPPED) -> None:
        self._paths = paths
        self._seen = self._stamps()
        self.assistant = load(paths)
        self.faults: tuple[FlowFault, ...] = ()
        self._versions: BoundedDict[str, Assistant] = BoundedDict(VERSIONS_KEPT)
        self._versions[self.assistant.version] = self.assistant

    def version(self, version: str) -> Assistant | None:
        """The assistant that a conversation began with, if it is kept still."""
        return self._versions.get(version)

    def refresh(self) -> bool:
        """Look at the files again; whether the assistant is another one now."""
        stamps = self._stamps()
        if stamps == self._seen:
            return False
        self._seen = stamps
        try:
            report = check_files(self._paths)
        except BadInput as error:  # the folder is being moved
            self.faults = (fault(Where(str(self._paths), 1, 1), error.message),)
            return False
        self.faults = report.faults
        if report.assistant is None or report.assistant.version == self.assistant.version:
            return False
        self.assistant = report.assistant
        self._versions[self.assistant.version] = self.assistant
        return True

    def _stamps(self) -> tuple[tuple[str, int, int], ...]:
        """What changes when a file does."""
        try:
            return tuple(_stamp(path) for path in files_of(self._paths))
        except (BadInput, OSError):
            return ()


def _stamp(path: Path) -> tuple[str, int, int]:
    found = path.stat()
    return (str(path), found.st_mtime_ns, found.st_size)
