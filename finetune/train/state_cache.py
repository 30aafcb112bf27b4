"""The shared encoder's states, computed once and kept in a file: training on them again begins at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from concurrent.futures import Executor
from pathlib import Path

import numpy as np

from nlp.inference.models.token_encoder import EncodedText, TokenEncoder

AT_ONCE = 512


class StateCache:
    """Texts as half-precision states. `path`: a file to keep them in, of this encoder alone; None keeps none."""

    def __init__(self, encoder: TokenEncoder, path: Path | None = None, readers: Executor | None = None) -> None:
        self._encoder, self._path, self._readers = encoder, path, readers
        self._kept: dict[bytes, EncodedText] = {}
        if path is not None and path.is_file():
            with np.load(path, allow_pickle=False) as stored:
                if str(stored["encoder"]) == encoder.card.sha256:
                    self._read(stored)

    def encode(self, texts: Iterable[str]) -> dict[str, EncodedText]:
        """Every text that is not empty."""
        keys = {text: hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in texts if text}
        new = sorted(text for text, key in keys.items() if key not in self._kept)
        for first in range(0, len(new), AT_ONCE):
            part = new[first : first + AT_ONCE]
            for text, one in zip(part, self._encoder.encode(part, self._readers), strict=True):
                self._kept[keys[text]] = EncodedText(one.states.astype(np.float16), one.offsets)
        if new and self._path is not None:
            self._write(self._path)
        return {text: self._kept[key] for text, key in keys.items()}

    def _read(self, stored: np.lib.npyio.NpzFile) -> None:
        ends = np.cumsum(stored["lengths"])
        keys, states, offsets = stored["keys"].tobytes(), stored["states"], stored["offsets"]
        for number, (end, length) in enumerate(zip(ends, stored["lengths"], strict=True)):
            places = [(int(a), int(b)) for a, b in offsets[end - length : end]]
            self._kept[keys[32 * number : 32 * number + 32]] = EncodedText(states[end - length : end], places)

    def _write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part.npz")
        kept = list(self._kept.values())
        np.savez(
            part,
            encoder=np.array(self._encoder.card.sha256),
            keys=np.frombuffer(b"".join(self._kept), np.uint8),
            lengths=np.array([len(one.states) for one in kept]),
            states=np.concatenate([one.states for one in kept]),
            offsets=np.concatenate([np.array(one.offsets, np.int32) for one in kept]),
        )
        part.replace(path)
