"""What a command starts from: the settings in force, who gives it, and a way to run async work."""

from __future__ import annotations

import asyncio
import getpass
import signal
import stat
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from tenor import telemetry
from tenor.errors import BadInput
from tenor.layers import LoadedSettings, load
from tenor.runtime.profiles import load_settings
from tenor.settings import Settings

if TYPE_CHECKING:
    from storage.viewer import Viewer

T = TypeVar("T")
INTERRUPTED = 130


class Context:
    """Options given before the command's name."""

    def __init__(self, config_file: str, assignments: list[str], home: str, log_level: str | None) -> None:
        self._file = Path(config_file) if config_file else None
        self._flags: dict[str, Any] = {}
        for assignment in assignments:
            name, equals, value = assignment.partition("=")
            if not equals:
                raise BadInput(f"--set takes NAME=VALUE, not {assignment!r}", "e.g. --set speech.language=en-US")
            self._flags[name.strip()] = value
        if home:
            self._flags["home"] = home
        if log_level:
            self._flags["telemetry.log_level"] = log_level

    def loaded(self) -> LoadedSettings:
        """The settings, each with where it comes from."""
        return load(self._flags, file=self._file)

    def settings(self, unless_set: Mapping[str, Any], **flags: Any) -> Settings:
        """With the command's own flags on top, written `bus__url=...`, of which None means not given; and with defaults
        of its own where nothing is set."""
        return load_settings({**self._flags, **_named(flags)}, unless_set=unless_set, file=self._file)

    def arguments(self, **flags: Any) -> list[str]:
        """Options that give another process of ours the same settings."""
        file = ["--config", str(self._file)] if self._file else []
        assignments = (f"{name}={value}" for name, value in {**self._flags, **_named(flags)}.items())
        return [*file, *(word for assignment in assignments for word in ("--set", assignment))]


def _named(flags: Mapping[str, Any]) -> dict[str, Any]:
    return {name.replace("__", "."): value for name, value in flags.items() if value is not None}


def settings(
    context: typer.Context, *, unless_set: Mapping[str, Any] = {}, stays: bool = False, **flags: Any
) -> Settings:
    """The settings in force for this command, with telemetry set up accordingly.

    `unless_set` are this command's own defaults, by dotted name. One that `stays` serves metrics."""
    given: Context = context.obj
    chosen = given.settings(unless_set, **flags)
    _close_to_others(chosen.home)
    telemetry.configure(chosen.telemetry)
    if stays:
        telemetry.serve_metrics(chosen.telemetry)
    return chosen


def _close_to_others(home: Path) -> None:
    """A home folder of an earlier version could be read by everybody on the machine."""
    with suppress(OSError):  # there is none yet, or it belongs to somebody else
        if (mode := home.stat().st_mode) & 0o077:
            home.chmod(stat.S_IMODE(mode) & 0o700)


def user_name() -> str:
    """Who gives the command, for the audit trail and receipts: the account on this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as containers have
        return "unknown"


def viewer() -> Viewer:
    """Who gives commands on this machine may do everything, and is named."""
    from storage.viewer import Viewer

    return Viewer(user_name(), "administrator")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run async work to its end. Ctrl-C and SIGTERM cancel it, so that it can leave things in order."""

    async def main() -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return asyncio.run(main())
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise typer.Exit(INTERRUPTED) from None


def run_until_interrupted(work: Coroutine[Any, Any, Any]) -> None:
    """For commands that only end by Ctrl-C: then that is no error."""
    with suppress(typer.Exit):
        run(work)
