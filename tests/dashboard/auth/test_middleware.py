"""Sign-in and the middleware: who gets in where, over plain HTTP."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from dashboard.auth.accounts import FREE_TRIES, Accounts
from dashboard.auth.sign_in import COOKIE
from dashboard.auth.tokens import API, PAGE, SESSION, SignedTokens
from dashboard.routes.feed import MOST_STREAMS
from dashboard.routes.recordings import recording_url
from storage.recorder.store import recording_name
from storage.tables import Call
from storage.viewer import Role, Viewer
from tenor.web.signing import secret_of
from tests.dashboard.conftest import PASSWORD, House, Visit
from tests.dashboard.floor import FloorCall

pytestmark = pytest.mark.slow

HTML = {"accept": "text/html"}


def sign_in(client: httpx.Client, name: str, password: str = PASSWORD, **more: str) -> httpx.Response:
    form = {"name": name, "password": password, **more}
    return client.post("/sign-in", data=form, headers={"sec-fetch-site": "same-origin"})


@pytest.fixture
def client(guarded_house: House) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=guarded_house.address) as client:
        yield client


def tokens_of(house: House) -> SignedTokens:
    accounts = Accounts(house.floor.database)
    ours = accounts.version_of if house.settings.dashboard.sign_in == "local" else None
    versions = {"api_version_of": accounts.version_of, "has_ended": accounts.has_ended}
    return SignedTokens(secret_of(house.settings), ours, **versions)  # type: ignore[arg-type]


def token(house: House, name: str, role: Role) -> dict[str, str]:
    return {"authorization": f"Bearer {tokens_of(house).issue(Viewer(name, role), PAGE, 60)}"}


def events(house: House, headers: dict[str, str], call: str = "", *, until: str, within_s: float = 5.0) -> str:
    """What the feed says until it says `until`, or for as long as `within_s`."""
    host = house.address.removeprefix("http://").split(":")
    with closing(http.client.HTTPConnection(host[0], int(host[1]), timeout=within_s)) as connection:
        connection.request("GET", f"/feed?call={call}", headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        said, deadline = "", time.monotonic() + within_s
        while until not in said and time.monotonic() < deadline:
            try:
                said += answer.read1(65536).decode()
            except TimeoutError:
                break
        return said


def test_strangers_get_the_sign_in_page_and_nothing_else(client: httpx.Client) -> None:
    answer = client.get("/call?call=x", headers=HTML)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=/call%3Fcall%3Dx"
    for path in ("/", "/_stcore/host-config", "/media/x", "/component/x"):
        assert client.get(path).status_code == 401, path
    for path in ("/feed", "/audio/x", "/audio/x?token=nonsense"):
        assert client.get(path).status_code == 401, path
    for action in ("note", "acknowledge", "correct", "swap", "take", "write", "give-back"):
        assert client.post(f"/actions/{action}", json={}).status_code == 401
    page = client.get("/sign-in", headers=HTML)
    assert page.status_code == 200
    assert page.headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]


def test_a_sign_in_is_a_cookie_that_scripts_cannot_read(client: httpx.Client) -> None:
    answer = sign_in(client, "mia", next="/call?call=x")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/call?call=x"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert client.get("/", headers=HTML).status_code == 200
    assert client.get("/sign-in").status_code == 303
    left = client.post("/sign-out", headers={"sec-fetch-site": "same-origin"})
    assert left.headers["location"] == "/sign-in"
    assert COOKIE not in client.cookies
    assert client.get("/", headers=HTML).status_code == 303


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"]
)
def test_a_sign_in_leads_nowhere_else(client: httpx.Client, target: str) -> None:
    assert sign_in(client, "mia", next=target).headers["location"] == "/"


def test_another_site_can_neither_sign_in_nor_out(client: httpx.Client) -> None:
    form = {"name": "mia", "password": PASSWORD}
    assert client.post("/sign-in", data=form, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert client.post("/sign-in", data=form, headers={"origin": "https://evil.example"}).status_code == 403
    assert client.post("/sign-out", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert client.post("/sign-in", content=b"x" * 5000, headers={"sec-fetch-site": "same-origin"}).status_code == 413


def test_guessing_is_answered_ever_later(client: httpx.Client) -> None:
    tries = [sign_in(client, "victim<script>", "not the password") for _ in range(FREE_TRIES + 3)]
    assert [answer.status_code for answer in tries[:FREE_TRIES]] == [401] * FREE_TRIES
    assert "victim&lt;script&gt;" in tries[0].text
    assert tries[-1].status_code == 429
    assert "Too many tries" in tries[-1].text
    client.headers["x-forwarded-for"] = "203.0.113.9"  # nobody's word but a proxy's of the settings
    assert sign_in(client, "victim<script>", "not the password").status_code == 429


def test_who_guesses_does_not_keep_the_owner_of_the_name_out(guarded_house: House, client: httpx.Client) -> None:
    elsewhere = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(base_url=guarded_house.address, transport=elsewhere) as guesser:
        tries = [sign_in(guesser, "zoe", "not the password") for _ in range(FREE_TRIES + 3)]
    assert tries[-1].status_code == 429
    assert sign_in(client, "zoe").status_code == 303


TAKES_A_BODY = (
    *("/sign-in", "/sign-out", "/steps", "/actions/note", "/actions/correct", "/api/v1/calls/x/lines"),
    *(
        "/api/v1/calls/x/take",
        "/assistant/api/sessions",
        "/assistant/api/sessions/x/messages",
        "/_stcore/upload_file/x/y",
    ),
)


@pytest.mark.parametrize("path", TAKES_A_BODY)
def test_before_a_sign_in_nothing_large_is_taken_in(guarded_house: House, path: str) -> None:
    """Without a length, or with a wrong one, no more is read than a sign-in can be."""
    host, port = guarded_house.address.removeprefix("http://").split(":")
    method = "PUT" if "upload" in path else "POST"
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\n"
    for length in ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 10"):
        with socket.create_connection((host, int(port)), timeout=30) as stranger:
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
            stranger.sendall(f"{head}{length}\r\n\r\n".encode())
            sent = 0
            with suppress(ConnectionError):  # it hangs up, and the request is not over
                while sent < 20:
                    stranger.sendall(b"100000\r\n" + bytes(0x100000) + b"\r\n")
                    sent += 1
            assert sent < 20, "megabytes"


def test_signing_out_ends_the_session_wherever_its_cookie_went(guarded_house: House, client: httpx.Client) -> None:
    sign_in(client, "mia")
    stolen = {"cookie": f"{COOKIE}={client.cookies[COOKIE]}", **HTML}
    session = tokens_of(guarded_house).viewer(client.cookies[COOKIE], SESSION)
    assert session is not None
    page = {"authorization": f"Bearer {tokens_of(guarded_house).issue(session, PAGE, 60)}"}
    with httpx.Client(base_url=guarded_house.address) as other:
        sign_in(other, "mia")
        assert httpx.get(guarded_house.address, headers=stolen).status_code == 200
        client.post("/sign-out", headers={"sec-fetch-site": "same-origin"})
        assert httpx.get(guarded_house.address, headers=stolen).status_code == 303
        assert httpx.get(f"{guarded_house.address}/feed", headers=page).status_code == 401
        assert other.get("/", headers=HTML).status_code == 200  # signed in elsewhere as well


def test_an_account_made_again_does_not_bring_old_sessions_back(guarded_house: House, client: httpx.Client) -> None:
    accounts = Accounts(guarded_house.floor.database)
    accounts.add("phoenix", "manager", PASSWORD)
    sign_in(client, "phoenix")
    program = {"authorization": f"Bearer {tokens_of(guarded_house).issue(Viewer('phoenix', 'manager'), API, 60)}"}
    assert client.get("/", headers=HTML).status_code == 200
    assert client.get("/api/v1/calls", headers=program).status_code == 200
    accounts.remove("phoenix")
    accounts.add("phoenix", "manager", PASSWORD)
    time.sleep(1.1)
    assert client.get("/", headers=HTML).status_code == 303
    assert client.get("/api/v1/calls", headers=program).status_code == 401


def test_a_removed_account_hears_nothing_more_however_much_is_said(guarded_house: House) -> None:
    floor = guarded_house.floor
    accounts = Accounts(floor.database)
    accounts.add("leaver", "manager", PASSWORD)
    call = floor.call("anna")
    call.says("caller", "while she was here")
    call.written()
    host = guarded_house.address.removeprefix("http://").split(":")
    with closing(http.client.HTTPConnection(host[0], int(host[1]), timeout=20)) as connection:
        connection.request("GET", f"/feed?call={call.id}", headers=token(guarded_house, "leaver", "manager"))
        answer = connection.getresponse()
        heard = ""
        while "event: now" not in heard:
            heard += answer.read1(65536).decode()
        accounts.remove("leaver")
        gone = time.monotonic()
        while piece := answer.read1(65536).decode():  # ends when the stream is closed
            heard += piece
            if time.monotonic() - gone > 1.5:
                break
            call.says("caller", "still talking")
            time.sleep(0.1)
        last = "said to nobody who left"
        call.says("caller", last)
        heard += answer.read().decode()
    assert "while she was here" in heard
    assert last not in heard
    assert heard.rstrip().endswith("event: stale\ndata: {}")
    call.ends()


def test_a_removed_account_goes_on_with_no_page_and_no_recording(guarded_house: House, client: httpx.Client) -> None:
    accounts = Accounts(guarded_house.floor.database)
    accounts.add("quitter", "manager", PASSWORD)
    call = guarded_house.floor.call("anna")
    recorded(guarded_house, call, bytes(40_000_000))
    heard = recording_url(tokens_of(guarded_house), Viewer("quitter", "manager"), call.id, 60)
    sign_in(client, "quitter")
    stream = guarded_house.address.replace("http://", "ws://") + "/_stcore/stream"
    cookie = {"cookie": f"{COOKIE}={client.cookies[COOKIE]}"}
    got = 0
    with connect(stream, additional_headers=cookie) as page, client.stream("GET", heard) as recording:
        pieces = recording.iter_raw(65536)
        got += len(next(pieces))
        accounts.remove("quitter")
        time.sleep(1.1)
        with suppress(httpx.RemoteProtocolError):
            got += sum(len(piece) for piece in pieces)
        with suppress(ConnectionClosed):
            page.send(b"what an open page sends")
        with pytest.raises(ConnectionClosed) as closed:
            all(page.recv(timeout=10) for _ in range(1000))
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401
    assert 0 < got < 35_000_000, "what was on its way, and no more"
    call.ends()


def test_nobody_listens_to_more_streams_than_anybody_needs(guarded_house: House) -> None:
    host, port = guarded_house.address.removeprefix("http://").split(":")
    program = {"authorization": f"Bearer {tokens_of(guarded_house).issue(Viewer('ada', 'analyst'), API, 60)}"}

    def listening(path: str, headers: dict[str, str]) -> tuple[http.client.HTTPConnection, int]:
        connection = http.client.HTTPConnection(host, int(port), timeout=20)
        connection.request("GET", path, headers=headers)
        return connection, connection.getresponse().status

    own = [listening("/feed", token(guarded_house, "ada", "analyst")) for _ in range(MOST_STREAMS - 1)]
    own.append(listening("/api/v1/events", program))
    assert [status for _, status in own] == [200] * MOST_STREAMS
    for path, headers in (("/feed", token(guarded_house, "ada", "analyst")), ("/api/v1/events", program)):
        connection, status = listening(path, headers)
        connection.close()
        assert status == 429
    other, status = listening("/feed", token(guarded_house, "root", "administrator"))
    assert status == 200
    own[0][0].close()
    deadline = time.monotonic() + 20
    while (again := listening("/feed", token(guarded_house, "ada", "analyst")))[1] != 200:
        again[0].close()
        assert time.monotonic() < deadline, "a stream that was closed counts no more"
        time.sleep(0.1)
    for connection, _ in [*own, again, (other, 0)]:
        connection.close()


def test_a_changed_password_ends_sessions_and_streams(guarded_house: House, client: httpx.Client) -> None:
    accounts = Accounts(guarded_house.floor.database)
    accounts.add("temp", "manager", PASSWORD)
    sign_in(client, "temp")
    headers = token(guarded_house, "temp", "manager")
    assert client.get("/", headers=HTML).status_code == 200
    accounts.change("temp", password="another fine password")
    time.sleep(1.1)
    assert client.get("/", headers=HTML).status_code == 303
    assert client.get("/feed", headers=headers).status_code == 401


def test_the_feed_tells_each_only_what_is_theirs(guarded_house: House) -> None:
    floor = guarded_house.floor
    own, others = floor.call("anna"), floor.call("ben")
    own.says("caller", "for anna")
    others.says("caller", "for ben")
    others.note("a note for ben")
    own.says("caller", "the last word")
    everything = events(guarded_house, token(guarded_house, "mia", "manager"), until="the last word")
    assert everything.startswith("event: snapshot\n")
    assert "for anna" in everything
    assert "for ben" in everything
    hers = events(guarded_house, token(guarded_house, "anna", "agent"), until="the last word")
    assert "for anna" in hers
    assert "for ben" not in hers
    assert others.id not in hers
    one = events(guarded_house, token(guarded_house, "mia", "manager"), others.id, until="a note for ben")
    assert "for ben" in one
    assert "for anna" not in one
    pried = events(guarded_house, token(guarded_house, "anna", "agent"), others.id, until="for ben", within_s=1.5)
    assert json.loads(pried.split("data: ", 1)[1].split("\n")[0])["call"] is None
    assert "for ben" not in pried
    own.ends()
    others.ends()


def test_recordings_go_in_pieces_to_whose_they_are(guarded_house: House, client: httpx.Client) -> None:
    call = guarded_house.floor.call("anna")
    call.says("caller", "hello")
    recorded(guarded_house, call, bytes(range(256)) * 40)
    tokens = tokens_of(guarded_house)
    hers = recording_url(tokens, Viewer("anna", "agent"), call.id, 60)
    assert client.get(hers).content == bytes(range(256)) * 40
    part = client.get(hers, headers={"range": "bytes=256-259"})
    assert (part.status_code, part.content) == (206, bytes(range(4)))
    assert part.headers["content-range"] == "bytes 256-259/10240"
    assert client.get(hers, headers={"range": "bytes=-2"}).content == b"\xfe\xff"
    assert client.get(hers, headers={"range": "bytes=10238-"}).content == b"\xfe\xff"
    assert client.get(hers, headers={"range": "bytes=20000-"}).status_code == 416
    assert client.get(recording_url(tokens, Viewer("ben", "agent"), call.id, 60)).status_code == 404
    assert client.get(hers.replace(call.id, "another")).status_code == 401
    call.ends()


def recorded(house: House, call: FloorCall, content: bytes) -> None:
    folder = Path(house.settings.recordings_url)
    folder.mkdir(exist_ok=True)
    name = recording_name(call.id, "flac")
    (folder / name).write_bytes(content)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with house.floor.database.session() as session:
            if row := session.get(Call, call.id):
                row.recording = name
                session.add(row)
                session.commit()
                return
        time.sleep(0.05)


def test_actions_are_for_those_who_may(guarded_house: House, client: httpx.Client) -> None:
    call = guarded_house.floor.call("anna")
    said = call.says("caller", "hello")
    call.written()
    sign_in(client, "mia")

    def act(name: str, role: Role, action: str, **content: object) -> int:
        return client.post(f"/actions/{action}", json=content, headers=token(guarded_house, name, role)).status_code

    assert (
        client.post("/actions/note", json={"call": call.id, "text": "x"}).status_code == 401
    )  # the cookie is not enough
    assert act("anna", "agent", "note", call=call.id, text="to myself") == 403
    assert act("mia", "manager", "note", call=call.id, text="  ") == 400
    assert act("mia", "manager", "note", call="nothing", text="x") == 404
    assert act("mia", "manager", "note", call=call.id, text="x", more=1) == 400
    assert act("mia", "manager", "acknowledge", call=call.id, note="x") == 403
    assert act("ben", "agent", "acknowledge", call=call.id, note="x") == 404
    assert act("ben", "agent", "correct", sentence=said.sentence, kind="sentiment", value="positive") == 400
    assert act("anna", "agent", "correct", sentence=said.sentence, kind="shoe size", value="42") == 400
    assert act("anna", "agent", "correct", sentence=said.sentence, kind="role", value="nobody") == 400
    assert act("anna", "agent", "swap", call=call.id) == 403
    for action in ("take", "give-back"):
        assert act("ada", "analyst", action, call=call.id) == 403
        assert act("ben", "agent", action, call=call.id) == 404
        assert act("anna", "agent", action, call=call.id) == 409, "no conversation with the assistant"
        assert act("anna", "agent", action, call=call.id, more=1) == 400
    assert act("anna", "agent", "write", call=call.id, text="x") == 409
    assert act("anna", "agent", "write", call=call.id, text=" ") == 400
    big = client.post("/actions/note", content=b"x" * 100_000, headers=token(guarded_house, "mia", "manager"))
    assert big.status_code == 413
    call.ends()


def test_without_a_sign_in_names_that_point_here_from_elsewhere_are_turned_away(house: House) -> None:
    assert httpx.get(house.address, headers={"host": "evil.example"}).status_code == 421
    assert httpx.get(house.address + "/feed", headers={"host": "evil.example"}).status_code == 421
    port = house.address.rsplit(":", 1)[1]
    assert httpx.get(house.address, headers={"host": f"127.0.0.1:{port}"}).status_code == 200
    assert httpx.get(house.address, headers={"host": f"[::1]:{port}"}).status_code == 200


@pytest.mark.parametrize("header", ["x-forwarded-for", "x-forwarded-host", "forwarded"])
def test_without_a_sign_in_what_a_proxy_forwards_is_turned_away(house: House, header: str) -> None:
    for path in ("/", "/feed", "/api/v1/calls", "/assistant"):
        assert httpx.get(house.address + path, headers={header: "203.0.113.9"}).status_code == 421, path


def test_without_a_sign_in_another_site_of_this_machine_hears_nothing(house: House) -> None:
    stream = house.address.replace("http://", "ws://") + "/_stcore/stream"
    with pytest.raises(InvalidStatus, match="403"), connect(stream, origin=Origin("http://localhost:1234")):
        pass
    with connect(stream, origin=Origin(house.address)):
        pass


@pytest.mark.browser
def test_people_sign_in_see_their_pages_and_sign_out(guarded_house: House, visit: Visit) -> None:
    page = visit(guarded_house, "/", account="mia")
    expect(page.get_by_role("heading", name="Live")).to_be_visible()
    expect(page.get_by_text("mia · manager")).to_be_visible()
    agent = visit(guarded_house, "/", account="zoe")
    expect(agent.get_by_text("No call right now")).to_be_visible()
    expect(agent.get_by_role("link", name="Live")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to Tenor")).to_be_visible()
