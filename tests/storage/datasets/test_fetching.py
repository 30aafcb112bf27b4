"""A public set is fetched once, in pieces if need be, and is what its hash says."""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from storage.datasets import fetching
from storage.datasets.fetching import fetch, unpack
from tenor.errors import BadInput, Refused
from tenor.settings import Settings
from tests.storage.datasets.material import calls_folder


class Web:
    """One file that can be asked for in parts, and breaks off after so many bytes."""

    def __init__(self, content: bytes) -> None:
        self.content, self.breaks_after = content, len(content)
        self.asked: list[str] = []
        self.url = ""


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    packed = tmp_path / "train.tar.gz"
    with tarfile.open(packed, "w:gz") as tar:
        tar.add(calls_folder(tmp_path / "given" / "train", calls=3), "train")
    web = Web(packed.read_bytes())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range", "")
            web.asked.append(asked)
            if self.path != "/train.tar.gz":
                self.send_error(404)
                return
            first = int(re.sub(r"\D", "", asked)) if asked else 0
            self.send_response(206 if asked else 200)
            self.send_header("Content-Length", str(len(web.content) - first))
            self.end_headers()
            self.wfile.write(web.content[first : first + web.breaks_after])

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    web.url = f"http://127.0.0.1:{server.server_address[1]}/train.tar.gz"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield web
    server.shutdown()
    server.server_close()
    thread.join()


def test_it_is_fetched_once_and_goes_on_where_it_broke_off(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "PAUSE_S", 0.0)
    settings = Settings(home=tmp_path / "home")
    web.breaks_after = len(web.content) // 3 + 1

    made = fetch(settings, web.url, "calls", by="root", sha256=hashlib.sha256(web.content).hexdigest())

    assert (made.reference, sum(made.counts.values()), made.declared) == ("calls@1", 6, True)
    assert [bool(asked) for asked in web.asked] == [False, True, True]
    assert fetch(settings, web.url, "calls", by="root") == made
    assert len(web.asked) == 3, "it is there already"
    assert list((tmp_path / "home" / "fetched").iterdir()) == []


def test_another_file_than_the_hash_says_is_refused(web: Web, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    with pytest.raises(Refused, match="not what it should be"):
        fetch(settings, web.url, "calls", by="root", sha256="0" * 64)
    with pytest.raises(Refused, match="404"):
        fetch(settings, web.url.replace("train", "none"), by="root")
    with pytest.raises(BadInput, match="no public set"):
        fetch(settings, "mini-librispeach", by="root")


@pytest.mark.slow
def test_what_leads_out_of_a_set_or_blows_up_is_refused(tmp_path: Path) -> None:
    for name, kind in (("../x", tarfile.REGTYPE), ("/etc/x", tarfile.REGTYPE), ("x", tarfile.SYMTYPE)):
        with tarfile.open(tmp_path / "bad.tar", "w") as tar:
            member = tarfile.TarInfo(name)
            member.size, member.type, member.linkname = 1, kind, "/etc/passwd"
            tar.addfile(member, io.BytesIO(b"x"))
        with pytest.raises(BadInput, match="refused"):
            unpack(tmp_path / "bad.tar", tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as packed, packed.open("zeros", "w") as out:
        for _ in range(1100):
            out.write(bytes(1 << 20))
    with pytest.raises(BadInput, match="unpacked it is more"):
        unpack(tmp_path / "bomb.zip", tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as packed:
        packed.writestr("../../x", b"x")
    with pytest.raises(BadInput, match="leads out"):
        unpack(tmp_path / "bad.zip", tmp_path / "out")
    assert not (tmp_path.parent / "x").exists()
