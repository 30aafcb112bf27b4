"""Small sets to import, and a database of labelled calls to make datasets of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from sqlmodel import Session

from storage.tables import Label
from tests.storage.conversations import START, add_call

RATE = 8000


def tone(path: Path, seconds: float = 1.0, channels: int = 1, seed: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    sound = np.random.default_rng(seed).integers(-2000, 2000, (round(seconds * RATE), channels)).astype("int16")
    soundfile.write(path, sound, RATE)


def calls_folder(folder: Path, calls: int = 6) -> Path:
    """As audio/SID.flac and calls/SID.json."""
    for number in range(calls):
        sid = f"call{number}"
        tone(folder / "audio" / f"{sid}.flac", 2.0, channels=2, seed=number)
        said = [
            {"ch": 1, "role": "caller", "offset_ms": 100, "dur_ms": 700, "text": f"hello this is caller {number}"},
            {"ch": 2, "role": "agent", "offset_ms": 900, "dur_ms": 800, "text": "how can i help [noise]"},
        ]
        record = {"sid": sid, "start_time_ms": 1000 * number, "caller": {"speaker_id": number}, "segments": said}
        (folder / "calls").mkdir(exist_ok=True)
        (folder / "calls" / f"{sid}.json").write_text(json.dumps(record))
    (folder / "README.md").write_text("where it comes from")
    return folder


def manifest(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def label(session: Session, sentence: str, kind: str, value: str, **about: Any) -> None:
    call = sentence.rsplit("/", 2)[0]
    given = {"author": "rita", "author_role": "analyst", "why": "sample", "at": START, "predicted": "neutral", **about}
    session.add(Label(sentence=sentence, call=call, kind=kind, value=value, **given))


def labelled_calls(session: Session, calls: int = 60) -> None:
    """Calls of sixty customers, one a day, each with two sentences that an analyst labelled at random."""
    for number in range(calls):
        name = f"call-{number}"
        lines = (f"This is the complaint number {number} of mine.", f"We will look at case {number} for you.")
        about: dict[str, Any] = {
            "customer": f"customer-{number}",
            "queue": "billing" if number % 2 else "cards",
            "agent": "amir",
        }
        add_call(session, name, *lines, started_at=START + number * 86_400, **about)
        label(session, f"{name}/0/0", "sentiment", "negative" if number % 3 else "neutral")
        label(session, f"{name}/1/1000", "sentiment", "neutral")
    session.commit()
