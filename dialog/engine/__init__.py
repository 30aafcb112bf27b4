"""What the assistant says next: a pure function of the conversation so far, what happened, and the clock."""

from dialog.engine.engine import Engine

__all__ = ["Engine"]
