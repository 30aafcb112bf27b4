"""CTranslate2's `model.bin`: read into arrays, and written back with other values in the same places.

    header      version of the format (6) | name and revision of the specification | number of variables
    variable    name | rank, shape | type | bytes of the payload | payload
    end         aliases: a name that stands for the variable of another name

Numbers are little-endian; a text has its length, its bytes and a zero byte before it ends.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tenor.errors import BadInput

Array = npt.NDArray[Any]

_FORMAT = 6
_TYPES: dict[int, np.dtype[Any]] = {
    number: np.dtype(name) for number, name in enumerate(("<f4", "i1", "<i2", "<i4", "<f2"))
}
"""CTranslate2's numbers of the types; bfloat16, which numpy does not know, is left out."""
_NUMBERS = {kind: number for number, kind in _TYPES.items()}
_INT8_LIMIT = 127.0


@dataclass(frozen=True, slots=True)
class ModelFile:
    """All that a `model.bin` contains."""

    specification: str
    revision: int
    variables: dict[str, Array]
    aliases: dict[str, str]

    def with_values(self, values: dict[str, Array]) -> ModelFile:
        """The same file with other values, which take the types and must have the shapes of the old ones."""
        variables = dict(self.variables)
        for name, value in values.items():
            old = variables[name]
            if value.shape != old.shape:
                raise ValueError(f"{name} has shape {old.shape}, not {value.shape}")
            variables[name] = value.astype(old.dtype)
        return replace(self, variables=variables)

    def quantised(self) -> ModelFile:
        """The matrices as int8 with a scale per row, exactly as CTranslate2 makes them of this file when it loads it
        with `compute_type="int8"`: the same answers from half of the bytes. Such a file cannot be trained on."""
        variables: dict[str, Array] = {}
        for name, value in self.variables.items():
            if name.endswith("/weight") and value.ndim == 2 and value.dtype != np.int8:
                wide = value.astype(np.float32)
                peaks = np.abs(wide).max(axis=1)
                scales = np.where(peaks > 0, np.float32(_INT8_LIMIT) / np.where(peaks > 0, peaks, 1), 1)
                scales = scales.astype(np.float32)
                variables[name] = np.rint(wide * scales[:, None]).astype(np.int8)
                variables[f"{name}_scale"] = scales
            else:
                variables[name] = value
        scaled = {f"{alias}_scale": f"{name}_scale" for alias, name in self.aliases.items() if name.endswith("/weight")}
        return replace(self, variables=dict(sorted(variables.items())), aliases={**self.aliases, **scaled})


def read(path: Path) -> ModelFile:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", "name a folder with a Whisper model") from error
    try:
        return _parsed(_Reader(data))
    except (struct.error, UnicodeDecodeError, ValueError, KeyError) as error:
        raise BadInput(f"{path} is not a whole model in CTranslate2's format: {error}", "copy it again") from error


def to_bytes(model: ModelFile) -> bytes:
    parts = [
        struct.pack("<I", _FORMAT),
        _text(model.specification),
        struct.pack("<II", model.revision, len(model.variables)),
    ]
    for name, value in model.variables.items():
        payload = np.ascontiguousarray(value).tobytes()
        shape = struct.pack(f"<B{value.ndim}I", value.ndim, *value.shape)
        parts += [_text(name), shape, struct.pack("<BI", _NUMBERS[value.dtype], len(payload)), payload]
    parts.append(struct.pack("<I", len(model.aliases)))
    parts += [_text(alias) + _text(name) for alias, name in model.aliases.items()]
    return b"".join(parts)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def numbers(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return found

    def text(self) -> str:
        (length,) = self.numbers("H")
        return self.take(length).removesuffix(b"\0").decode()

    def take(self, length: int) -> bytes:
        if self.at + length > len(self.data):
            raise ValueError(f"it ends after {len(self.data)} bytes")
        self.at += length
        return self.data[self.at - length : self.at]


def _parsed(reader: _Reader) -> ModelFile:
    (version,) = reader.numbers("I")
    if version != _FORMAT:
        raise ValueError(f"version {version} of the format, not {_FORMAT}")
    specification = reader.text()
    revision, count = reader.numbers("II")
    variables: dict[str, Array] = {}
    for _ in range(count):
        name = reader.text()
        (rank,) = reader.numbers("B")
        shape = reader.numbers(f"{rank}I")
        number, size = reader.numbers("BI")
        if number not in _TYPES:
            raise ValueError(f"{name} is of type {number}, which is not known")
        if math.prod(shape) * _TYPES[number].itemsize != size:
            raise ValueError(f"{name} has {size} bytes, too many or too few for its shape {shape}")
        variables[name] = np.frombuffer(reader.take(size), _TYPES[number]).reshape(shape)
    (count,) = reader.numbers("I")
    aliases = {}
    for _ in range(count):
        alias = reader.text()
        aliases[alias] = reader.text()
    if reader.at != len(reader.data):
        raise ValueError(f"{len(reader.data) - reader.at} bytes come after its end")
    return ModelFile(specification, revision, variables, aliases)


def _text(text: str) -> bytes:
    data = text.encode() + b"\0"
    return struct.pack("<H", len(data)) + data
