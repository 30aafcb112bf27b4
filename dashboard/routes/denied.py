"""A request that is understood and not carried out, with the reason for whoever made it."""

from __future__ import annotations


class Denied(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason
