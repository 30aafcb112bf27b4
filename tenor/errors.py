"""Errors a person reads: one line that says what is wrong, one that says what to do about it."""

from __future__ import annotations


class TenorError(Exception):
    """Anything we can explain. The command line prints it without a traceback and exits with its code."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadInput(TenorError):
    """What was given cannot be used: a file, a setting, a role list."""

    exit_code = 2


class Unavailable(TenorError):
    """A service we need is not there: Kafka, Riva, a port."""

    exit_code = 3


class Refused(TenorError):
    """A service is there but does not accept what we asked (a model or language it does not have)."""

    exit_code = 4
