"""The types of states, by the name flows write."""

from dialog.engine.states.base import StateType, state_type

__all__ = ["StateType", "state_type"]
