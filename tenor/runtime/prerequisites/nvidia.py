"""What NVIDIA Riva and its training tools need on a machine with a GPU: `tenor doctor --for nvidia`."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from tenor.aio import in_thread
from tenor.errors import TenorError
from tenor.runtime.prerequisites.finding import Finding, answer_of
from tenor.runtime.riva import recognizer_models
from tenor.settings import Settings

IMAGES = "nvcr.io/nvidia/riva/"


async def nvidia(settings: Settings) -> list[Finding]:
    """In order: each needs what stands before it. A key is only looked for, never read."""
    docker = await in_thread(lambda: answer_of("docker", "version", "--format", "{{.Server.Version}}"))
    return [
        await in_thread(_driver),
        _docker(docker),
        await in_thread(lambda: _container_toolkit(docker)),
        _ngc_key(),
        _ngc_command(),
        await in_thread(lambda: _riva_images(docker)),
        await _riva(settings),
        _training(),
    ]


def _driver() -> Finding:
    gpus = answer_of("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    if gpus:
        return Finding("1 GPU and driver", "ok", "; ".join(gpus.splitlines()))
    detail = "nvidia-smi finds no GPU" if shutil.which("nvidia-smi") else "nvidia-smi was not found"
    return Finding("1 GPU and driver", "bad", detail, "install NVIDIA's driver; nvidia-smi must list the GPU")


def _docker(version: str | None) -> Finding:
    if version:
        return Finding("2 Docker", "ok", f"server {version}")
    detail = "the server does not answer" if shutil.which("docker") else "docker was not found"
    return Finding("2 Docker", "bad", detail, "install Docker, start it, and let your account use it (group docker)")


def _container_toolkit(docker: str | None) -> Finding:
    what = "3 container toolkit"
    runtimes = answer_of("docker", "info", "--format", "{{json .Runtimes}}") if docker else None
    if runtimes and '"nvidia"' in runtimes:
        return Finding(what, "ok", "Docker has the runtime nvidia")
    detail = "Docker has no runtime nvidia" if docker else "not looked at: Docker comes first"
    remedy = "install nvidia-container-toolkit, run nvidia-ctk runtime configure --runtime=docker, restart Docker"
    return Finding(what, "bad", detail, remedy)


def _ngc_key() -> Finding:
    if os.environ.get("NGC_API_KEY"):
        return Finding("4 NGC key", "ok", "NGC_API_KEY is set")
    if (Path.home() / ".ngc" / "config").is_file():
        return Finding("4 NGC key", "ok", "ngc config set was done")
    return Finding("4 NGC key", "bad", "none is set", "make a key at NGC, then ngc config set, or export NGC_API_KEY")


def _ngc_command() -> Finding:
    found = shutil.which("ngc")
    if found:
        return Finding("5 NGC command", "ok", found)
    return Finding("5 NGC command", "bad", "ngc was not found", "download the NGC CLI and put it on the PATH")


def _riva_images(docker: str | None) -> Finding:
    what = "6 Riva's images"
    names = answer_of("docker", "images", "--format", "{{.Repository}}:{{.Tag}}") if docker else None
    found = sorted(name for name in (names or "").splitlines() if name.startswith(IMAGES))
    if found:
        return Finding(what, "ok", ", ".join(found))
    detail = "none is here" if docker else "not looked at: Docker comes first"
    remedy = "ngc registry resource download-version nvidia/riva/riva_quickstart:VERSION, then bash riva_init.sh in it"
    return Finding(what, "bad", detail, remedy)


async def _riva(settings: Settings) -> Finding:
    address = settings.speech.address
    try:
        models = await recognizer_models(settings.speech)
    except TenorError as error:
        remedy = "bash riva_start.sh in the quick start's folder; speech.address names the server (port 50051)"
        return Finding("7 Riva server", "bad", error.message, remedy)
    return Finding("7 Riva server", "ok", f"{address}: {', '.join(models)}")


def _training() -> Finding:
    """Riva comes first: what is trained is served there."""
    there = [name for name, found in (("NeMo", find_spec("nemo")), ("TAO", shutil.which("tao"))) if found]
    if there:
        return Finding("8 training tools", "ok", ", ".join(there))
    detail = "neither NeMo nor TAO; only training speech models needs one"
    return Finding("8 training tools", "note", detail, "pip install 'nemo_toolkit[asr]' in an environment of its own")
