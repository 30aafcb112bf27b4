"""The ways between the states of a draft: what can be reached, and what goes round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dialog.flow.draft import Draft, StateDraft


@dataclass(frozen=True, slots=True)
class Loop:
    """States that lead to each other without waiting for the shopper."""

    states: tuple[StateDraft, ...]
    endless: bool
    """No way leads out."""


class Graph:
    def __init__(self, draft: Draft) -> None:
        self._states = {state.full_name: state for flow in draft.flows.values() for state in flow.states.values()}
        self._targets = {name: [to.full_name for to in draft.targets(state)] for name, state in self._states.items()}
        self.reachable = self._reached(draft)
        """Full names of the states that a conversation can get to."""

    def _reached(self, draft: Draft) -> set[str]:
        main = draft.flows.get(draft.main)
        first = main.states.get(main.first) if main is not None else None
        roots = [first, *(draft.intent_target(intent) for intent in draft.intent_transitions)]
        waiting = [root.full_name for root in roots if root is not None]
        found = set(waiting)
        while waiting:
            new = [name for name in self._targets[waiting.pop()] if name not in found]
            found.update(new)
            waiting += new
        return found

    def loops(self) -> Iterator[Loop]:
        """Every group of states that lead to each other, input states left out, in the order of the files."""
        passing = {name for name, state in self._states.items() if (kind := state.kind) and not kind.waits}
        position = {name: index for index, name in enumerate(self._states)}
        for group in _components({name: [to for to in self._targets[name] if to in passing] for name in passing}):
            inside = set(group)
            if len(group) == 1 and group[0] not in self._targets[group[0]]:
                continue
            kinds = [self._states[name].kind for name in group]
            out = any(to not in inside for name in group for to in self._targets[name])
            ends = any(kind is not None and kind.ends for kind in kinds)
            group.sort(key=position.__getitem__)
            yield Loop(tuple(self._states[name] for name in group), endless=not out and not ends)


def _components(targets: dict[str, list[str]]) -> Iterator[list[str]]:
    """Strongly connected components (Tarjan), with a stack of its own: a chain of 20,000 states is no problem."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_names: list[str] = []
    is_open: set[str] = set()
    for root in targets:
        if root in index:
            continue
        work = [(root, iter(targets[root]))]
        index[root] = low[root] = len(index)
        open_names.append(root)
        is_open.add(root)
        while work:
            name, rest = work[-1]
            for to in rest:
                if to not in index:
                    index[to] = low[to] = len(index)
                    open_names.append(to)
                    is_open.add(to)
                    work.append((to, iter(targets[to])))
                    break
                if to in is_open:
                    low[name] = min(low[name], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    group = [open_names.pop()]
                    while group[-1] != name:
                        group.append(open_names.pop())
                    is_open.difference_update(group)
                    yield group
