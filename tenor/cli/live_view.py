"""The terminal view of live calls: finals scroll away upwards, what is being said stands below.

    0:07 delivery  caller  My parcel was supposed to come on Monday.            0.5 s
    0:11 delivery  agent   I am sorry to hear that. Let me have a look.         0.6 s
    --------------------------------------------------------------------------------
    delivery  0:14 caller  it still has not
    card      0:09 agent   can you tell me the

On anything but a terminal only finals and call states are printed, one per line.
"""

from __future__ import annotations

from typing import Any, Self

from rich.console import Group
from rich.live import Live
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tenor.cli.output import clock, console
from tenor.events import Call, CallState, Transcript

ROLE_STYLES = {"caller": "cyan", "agent": "green"}
CALL_STYLES = ("magenta", "blue", "yellow", "bright_red", "bright_cyan", "bright_green")


class LiveView:
    """Draws events as they come. `plain` draws nothing (the caller prints itself)."""

    def __init__(self, *, plain: bool = False) -> None:
        self._interims: dict[tuple[str, int], Transcript] = {}
        self._names: dict[str, str] = {}
        self._delays: list[float] = []
        self.finals = 0
        live = console.is_terminal and not plain
        self._live = Live(console=console, auto_refresh=False, transient=True) if live else None

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._live:
            self._live.stop()

    def show(self, event: Any) -> None:
        if isinstance(event, CallState):
            self._show_state(event)
        elif isinstance(event, Transcript) and event.final:
            self._interims.pop((event.call, event.channel), None)
            self.finals += 1
            self._show_final(event)
        elif isinstance(event, Transcript) and event.text:
            self._interims[event.call, event.channel] = event
        elif isinstance(event, Transcript):  # taken back: another voice said it
            self._interims.pop((event.call, event.channel), None)

    def refresh(self) -> None:
        """Redraw what is being said."""
        if self._live:
            rows = Table.grid(padding=(0, 1))
            for event in sorted(self._interims.values(), key=lambda e: (e.call, e.channel)):
                said = Text(event.text, style="bright_black italic", overflow="ellipsis", no_wrap=True)
                rows.add_row(self._name(event.call), _role(event.role), said)
            self._live.update(Group(Rule(style="dim"), rows) if self._interims else Text(""), refresh=True)

    def delay(self, share: float) -> float:
        """Seconds from the end of speech to here that this share of the finals stayed under."""
        delays = sorted(self._delays)
        return delays[min(int(len(delays) * share), len(delays) - 1)] if delays else 0.0

    def _show_final(self, event: Transcript) -> None:
        delay = ""
        if "captured" in event.times and "published" in event.times:
            seconds = event.times["published"] - event.times["captured"]
            self._delays.append(seconds)
            delay = f"{seconds:.1f} s" if 0 <= seconds < 60 else ""
        name, role = self._name(event.call), _role(event.role)
        if not console.is_terminal:
            line = f"{clock(event.start_ms):>7} {name.plain:14} {role.plain:6} {event.text}  {delay}"
            console.print(line.rstrip(), soft_wrap=True, markup=False)
            return
        row = Table.grid(padding=(0, 1), expand=True)
        row.add_column(width=7, justify="right", style="dim")
        row.add_column(width=14, no_wrap=True)
        row.add_column(width=6, no_wrap=True)
        row.add_column(ratio=1)
        row.add_column(justify="right", style="dim")
        row.add_row(clock(event.start_ms), name, role, Text(event.text), delay)
        console.print(row)

    def _show_state(self, event: CallState) -> None:
        if event.info:
            self._names[event.call] = _name(event.info, event.call)
        if event.state in ("ended", "failed"):
            for key in [key for key in self._interims if key[0] == event.call]:
                del self._interims[key]
        style = "red" if event.state == "failed" else "dim"
        reason = f": {event.reason}" if event.reason else ""
        console.print(Text.assemble("        ", self._name(event.call), (f" {event.state}{reason}", style)))

    def _name(self, call: str) -> Text:
        name = self._names.setdefault(call, call)
        style = CALL_STYLES[list(self._names).index(call) % len(CALL_STYLES)]
        return Text(name, style=style, overflow="ellipsis", no_wrap=True)


def _role(role: str) -> Text:
    return Text(role, style=ROLE_STYLES.get(role, "white"))


def _name(info: Call, call: str) -> str:
    """Something shorter than the id where the source told a name."""
    return info.attributes.get("name") or info.attributes.get("file", call).rsplit("/", 1)[-1].rsplit(".", 1)[0]
