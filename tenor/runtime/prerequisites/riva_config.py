"""Whether our addresses are those of a Riva quick start: `tenor doctor --riva-config config.sh`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from tenor.errors import BadInput
from tenor.runtime.prerequisites.finding import Finding
from tenor.settings import Settings

SPEECH_PORT = "riva_speech_api_port"
OTHER_PORT = "riva_vision_api_port"
"""Its sibling in most quick starts; whatever else ends so will do."""
_ASSIGNED = re.compile(r"^\s*(?:export\s+)?(riva_\w+_api_port)=(?:\"(.*?)\"|'(.*?)'|([^\s#;]*))", re.MULTILINE)
_PORT = re.compile(r"^[0-9]{1,5}$")


def compare_riva_config(path: Path, settings: Settings) -> list[Finding]:
    """One finding per address. A file that cannot be read is BadInput; the shell is never asked what is in it."""
    ports = _read_ports(path)
    if not ports:
        raise BadInput(f"{path} sets no {SPEECH_PORT}", "name the config.sh of Riva's quick start")
    other = OTHER_PORT if OTHER_PORT in ports else next((name for name in ports if name != SPEECH_PORT), OTHER_PORT)
    speech = _compared("speech.address", settings.speech.address, SPEECH_PORT, ports)
    language = _compared("language.address", settings.language_server.address, other, ports)
    if language.verdict == "bad" and settings.language.backend == "local":
        language = replace(language, verdict="note", detail=f"{language.detail}; nobody asks it (language.backend)")
    return [speech, language]


def _read_ports(path: Path) -> dict[str, str]:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", "name the config.sh of Riva's quick start") from None
    return {name: double or single or bare for name, double, single, bare in _ASSIGNED.findall(text)}


def _compared(what: str, address: str, name: str, ports: dict[str, str]) -> Finding:
    ours = address.rpartition(":")[2]
    wanted = ports.get(name)
    if wanted is None:
        return Finding(what, "note", f"{address}; the file sets no {name}")
    if not _PORT.match(wanted):
        return Finding(what, "note", f"{address}; {name} is {wanted!r}, which is no number", f"set {name} to a port")
    if ours == wanted:
        return Finding(what, "ok", f"{address}, as {name}={wanted}")
    host = address.rpartition(":")[0] or "localhost"
    return Finding(
        what,
        "bad",
        f"{address} differs from {name}={wanted}",
        f'set {what} = "{host}:{wanted}", or {name}="{ours}" in the file',
    )
