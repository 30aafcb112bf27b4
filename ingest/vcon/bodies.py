"""What is in a vCon: bytes inline, or in a file beside it. Nothing is fetched from the network."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from tenor.errors import BadInput

HASHES = {"sha512": hashlib.sha512, "sha384": hashlib.sha384, "sha256": hashlib.sha256}
_TO_URL_SAFE = str.maketrans("+/", "-_")
_NAME_LENGTH = 120


def content(holder: Mapping[str, Any], place: str, folder: Path | None) -> bytes:
    """The bytes of a dialog or an analysis; `place` is where it stands, for errors. A `url` is a file in `folder`."""
    body, encoding = holder.get("body"), holder.get("encoding")
    if body in (None, "") and holder.get("url"):
        found = _beside(holder, place, folder)
    elif not isinstance(body, str):
        # `json` is a string in the draft, and an object in many programs.
        if body is None or body == "":
            raise BadInput(f"neither a body nor an address at `{place}`")
        found = msgspec.json.encode(body)
    elif encoding == "base64url":
        found = unpacked(body, f"{place}.body")
    elif encoding in (None, "", "none", "json"):
        found = body.encode("utf-8", "surrogatepass")
    else:
        raise BadInput(f"unknown encoding {str(encoding)[:40]!r} at `{place}.encoding`", "base64url, json or none")
    _check(found, holder.get("content_hash"), place)
    return found


def text(holder: Mapping[str, Any], place: str, folder: Path | None) -> str:
    try:
        return content(holder, place, folder).decode()
    except UnicodeDecodeError:
        raise BadInput(f"the text is not UTF-8 at `{place}.body`") from None


def unpacked(packed: str, place: str) -> bytes:
    """base64url; programs that write plain base64, or break it into lines, are understood."""
    plain = "".join(packed.split()).rstrip("=").translate(_TO_URL_SAFE)
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadInput(f"not base64url at `{place}`") from None


def _beside(holder: Mapping[str, Any], place: str, folder: Path | None) -> bytes:
    """The file that an address names, if it lies beside the vCon under its name: no path is followed."""
    url = str(holder["url"])
    path = urlsplit(url).path if "://" in url else url
    names = [PurePosixPath(unquote(path).replace("\\", "/")).name, str(holder.get("filename") or "")]
    names = [name for name in names if name and name == PurePosixPath(name).name and name not in (".", "..")]
    for name in names if folder else ():
        assert folder is not None
        try:
            return (folder / name).read_bytes()
        except (OSError, ValueError):
            continue
    shown = (names[0] if names else "the file")[:_NAME_LENGTH]
    raise BadInput(
        f"the content is not in the vCon but at {url.partition('?')[0][:_NAME_LENGTH]} (`{place}.url`)",
        f"nothing is fetched from the network: put {shown} into the vCon's folder and import it again",
    )


def _check(found: bytes, given: Any, place: str) -> None:
    """That it is what was meant, as far as one of its hashes is of a kind we know."""
    hashes: Iterable[Any] = given if isinstance(given, list) else [given]
    for one in hashes:
        if not isinstance(one, str):
            continue
        name, _, digest = one.partition("-")
        kind = HASHES.get(name.lower().replace("-", ""))
        if kind is None:
            continue
        if unpacked(digest, f"{place}.content_hash") != kind(found).digest():
            raise BadInput(f"the content is not the one that was meant: its hash differs at `{place}.content_hash`")
        return
