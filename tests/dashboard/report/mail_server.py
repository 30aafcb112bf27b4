"""A mail server on the loopback address: it speaks SMTP with STARTTLS and AUTH, and keeps what it is sent."""

from __future__ import annotations

import base64
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

USER, PASSWORD = "reports", "a secret"


class MailServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, certificates: Path | None) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.mails: list[EmailMessage] = []
        self.receivers: list[str] = []
        self.log: list[str] = []
        self.refuses = ""
        """An address whose mail is not taken."""
        self.context: ssl.SSLContext | None = None
        if certificates is not None:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificates / "mail.crt", certificates / "mail.key")

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Session(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self._encrypted = False
        self._say("220 mail.example ready")
        while line := self.rfile.readline():
            command, _, rest = line.decode().strip().partition(" ")
            self.server.log.append(command.upper())
            if not self._answer(command.upper(), rest):
                return

    def _answer(self, command: str, rest: str) -> bool:
        if command in ("EHLO", "HELO"):
            offers = ["AUTH PLAIN"] + (["STARTTLS"] if self.server.context and not self._encrypted else [])
            self._say(
                "\r\n".join(["250-mail.example", *(f"250-{offer}" for offer in offers[:-1]), f"250 {offers[-1]}"])
            )
        elif command == "STARTTLS" and self.server.context is not None:
            self._say("220 go ahead")
            try:
                self.connection = self.server.context.wrap_socket(self.connection, server_side=True)
            except (ssl.SSLError, OSError):
                return False
            self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
            self._encrypted = True
        elif command == "AUTH":
            told = base64.b64decode(rest.partition(" ")[2]).split(b"\0")[1:]
            right = told == [USER.encode(), PASSWORD.encode()]
            self._say("235 welcome" if right else "535 wrong password")
        elif command == "RCPT":
            refused = bool(self.server.refuses) and self.server.refuses in rest
            self._say("550 no such mailbox" if refused else "250 ok")
            if not refused:
                self.server.receivers.append(rest)
        elif command == "DATA":
            self._say("354 go on")
            lines: list[bytes] = []
            while (line := self.rfile.readline()) not in (b".\r\n", b""):
                lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
            mail = message_from_bytes(b"".join(lines), policy=policy.default)
            assert isinstance(mail, EmailMessage)
            self.server.mails.append(mail)
            self._say("250 taken")
        else:
            self._say("221 bye" if command == "QUIT" else "250 ok")
            return command != "QUIT"
        return True

    def _say(self, line: str) -> None:
        self.wfile.write(line.encode() + b"\r\n")
        self.wfile.flush()


@contextmanager
def mail_server(certificates: Path | None = None) -> Iterator[MailServer]:
    server = MailServer(certificates)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
