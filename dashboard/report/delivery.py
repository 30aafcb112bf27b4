"""Where a report goes: a file, or a mail with the report beside a few lines of text."""

from __future__ import annotations

import os
import re
import smtplib
import ssl
import time
from collections.abc import Sequence
from email.message import EmailMessage
from email.utils import formatdate, make_msgid, parseaddr
from pathlib import Path

from dashboard.report.figures import WeekReport
from dashboard.report.page import first_lines, page
from tenor.errors import BadInput, Refused, Unavailable
from tenor.settings import ReportSettings, Settings

SMTP_S = 30.0


def dashboard_link(settings: Settings) -> str:
    return settings.report.link or f"http://localhost:{settings.dashboard.port}"


def file_name(report: WeekReport) -> str:
    """report-2026-W46-north.html"""
    words = re.findall(r"[^\W_]+", report.name.casefold())
    return f"report-{report.week}-{'-'.join(words)[:80]}.html"


def write(report: WeekReport, settings: Settings, path: Path) -> Path:
    """Whole or not at all; into a folder under a name of its own."""
    if path.is_dir() or not path.suffix:
        path.mkdir(parents=True, exist_ok=True)
        path /= file_name(report)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(page(report, dashboard_link(settings)), "utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return path


def check_addresses(addresses: Sequence[str]) -> None:
    for address in addresses:
        bare = parseaddr(address)[1]
        if not re.fullmatch(r"[^\s@]+@[^\s@]+", bare) or any(sign in address for sign in "\r\n,"):
            raise BadInput(f"{address!r} is no mail address")


def check_mail(settings: ReportSettings, addresses: Sequence[str]) -> None:
    """Whether a mail can be sent at all, before anything is made."""
    check_addresses(addresses)
    if not settings.smtp_host:
        raise BadInput("no mail server is set", "set report.smtp_host, and report.smtp_from")
    if not sender(settings):
        raise BadInput("no address to send mails from is set", "set report.smtp_from")
    check_addresses([sender(settings)])
    if settings.smtp_user and settings.smtp_security == "none":
        raise BadInput(
            "a password would go to the mail server in the clear", "set report.smtp_security to starttls or tls"
        )


def sender(settings: ReportSettings) -> str:
    return settings.smtp_from or settings.smtp_user


def mail(report: WeekReport, settings: Settings, addresses: Sequence[str]) -> None:
    """Send it to all of them, in one mail."""
    given = settings.report
    check_mail(given, addresses)
    message = EmailMessage()
    message["Subject"] = f"Week of {report.name}, {report.week}"
    message["From"], message["To"] = sender(given), ", ".join(addresses)
    message["Date"] = formatdate(time.time())
    message["Message-ID"] = make_msgid(domain=parseaddr(sender(given))[1].partition("@")[2])
    lines = [*first_lines(report), "", "The whole report is attached: open it in a browser."]
    message.set_content("\n".join(lines) + "\n")
    html = page(report, dashboard_link(settings)).encode("utf-8")
    message.add_attachment(html, maintype="text", subtype="html", filename=file_name(report))
    where = f"the mail server {given.smtp_host}:{given.smtp_port}"
    try:
        with _connection(given) as server:
            if given.smtp_user:
                server.login(given.smtp_user, given.smtp_password.get_secret_value())
            refused = server.send_message(message)
    except smtplib.SMTPAuthenticationError:
        raise Refused(f"{where} refuses report.smtp_user and its password") from None
    except smtplib.SMTPNotSupportedError as error:
        raise Refused(f"{where}: {error}", "does report.smtp_security fit the port?") from None
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPSenderRefused, smtplib.SMTPDataError) as error:
        raise Refused(f"{where} does not take the mail: {_told(error)}") from None
    except ssl.SSLError as error:
        hint = "does report.smtp_security fit the port, and does this machine know who signed its certificate?"
        raise Unavailable(f"{where}: no safe connection ({error.reason or error})", hint) from None
    except (OSError, smtplib.SMTPException) as error:
        raise Unavailable(f"{where} does not answer: {error}") from None
    if refused:
        raise Refused(f"{where} does not take the mail for {', '.join(sorted(refused))}")


def _connection(settings: ReportSettings) -> smtplib.SMTP:
    """To the server, encrypted as far as the settings ask for it."""
    if settings.smtp_security == "tls":
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(settings.smtp_host, settings.smtp_port, timeout=SMTP_S, context=context)
    server = smtplib.SMTP(settings.smtp_host, settings.smtp_port, timeout=SMTP_S)
    if settings.smtp_security == "starttls":
        try:
            server.starttls(context=ssl.create_default_context())
        except BaseException:
            server.close()
            raise
    return server


def _told(error: smtplib.SMTPException) -> str:
    """What the server said, without the text of the mail."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return "; ".join(f"{name}: {_line(reason)}" for name, (_, reason) in error.recipients.items())
    return _line(getattr(error, "smtp_error", b""))


def _line(reason: bytes | str) -> str:
    text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
    return " ".join(text.split())[:200]
