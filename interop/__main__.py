"""`python -m interop`: install each client, run it, and say what came out.

Every client script gets the server's address and a recording, and prints one line of JSON:
the transcript it received, and how many seconds of speech it was given for a text.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import venv
import wave
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import soxr

from asr import LocalRecognizer, RivaServer, ServerOptions
from asr.local.tts.voices import find_voice
from nlp import riva_service
from nlp.inference.local import LocalBackend
from tenor.settings import RivaSettings

FOLDER = Path(".tenor/interop")
SCRIPTS = Path(__file__).parent / "clients"
WORDS = "best of times"
PATIENCE_S = 180


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    requirements: tuple[str, ...]
    script: str
    secure: bool = False


CLIENTS = (
    Client("nvidia-riva-client 2.14.0", ("nvidia-riva-client==2.14.0", "protobuf<6"), "nvidia.py"),
    Client("nvidia-riva-client 2.14.0, TLS", ("nvidia-riva-client==2.14.0", "protobuf<6"), "nvidia.py", secure=True),
    Client("nvidia-riva-client 2.27.0", ("nvidia-riva-client==2.27.0",), "nvidia.py"),
    Client("nvidia-riva-client 2.27.0, TLS", ("nvidia-riva-client==2.27.0",), "nvidia.py", secure=True),
    Client("LiveKit Agents", ("livekit-plugins-nvidia==1.8.9",), "livekit_agents.py"),
    Client("Pipecat", ("pipecat-ai[nvidia]==1.14.0",), "pipecat_services.py"),
    Client(
        "LangChain", ("langchain-community==0.4.2", "nvidia-riva-client==2.14.0", "protobuf<6"), "langchain_riva.py"
    ),
)


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    recording = _recording(FOLDER / "reading.wav")
    _certificate(FOLDER)
    return asyncio.run(_run(recording))


async def _run(recording: Path) -> int:
    recognizer, voice = LocalRecognizer(RivaSettings()), find_voice()
    services = {riva_service.SERVICE: riva_service.register(LocalBackend())}
    plain = RivaServer(ServerOptions(port=0, http_port=None), recognizer, voice, services=services)
    secure = RivaServer(
        ServerOptions(
            port=0,
            http_port=None,
            tls_cert=FOLDER / "server.pem",
            tls_key=FOLDER / "server.key",
            api_key="interop",
        ),
        recognizer,
        voice,
        services=services,
    )
    failures = 0
    for server in (plain, secure):
        await server.start()
    try:
        for client in CLIENTS:
            server = secure if client.secure else plain
            wrong = await asyncio.to_thread(_try, client, server.port, recording, voice is not None)
            print(f"{'FAILED' if wrong else 'ok':7}{client.name}{': ' + wrong if wrong else ''}", flush=True)
            failures += bool(wrong)
    finally:
        for server in (plain, secure):
            await server.stop(1)
        recognizer.close()
    return 1 if failures else 0


def _try(client: Client, port: int, recording: Path, speaks: bool) -> str:
    """What went wrong, or nothing."""
    try:
        command = [str(_environment(client)), str(SCRIPTS / client.script), f"localhost:{port}", str(recording)]
        if client.secure:
            command += [str(FOLDER / "server.pem"), "interop"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    if done.returncode:
        return done.stderr.strip()[-2000:]
    heard = json.loads(done.stdout.strip().splitlines()[-1])
    if WORDS not in heard["transcript"].lower():
        return f"heard {heard['transcript']!r}"
    if speaks and not 1 < heard["speech_s"] < 10:
        return f"was given {heard['speech_s']} s of speech"
    return ""


def _environment(client: Client) -> Path:
    """The Python of the client's own virtual environment, made when it is not there yet."""
    folder = (FOLDER / client.requirements[0].replace("[", "-").replace("]", "")).absolute()
    python = folder / "bin" / "python"
    ready = folder / ".ready"
    if not ready.exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *client.requirements],
            check=True,
            capture_output=True,
        )
        ready.touch()
    return python


def _recording(path: Path) -> Path:
    """Six seconds of a reading that ships with one of our engines, and a second of silence."""
    with files("moonshine_voice").joinpath("assets/two_cities.wav").open("rb") as stored, wave.open(stored) as file:
        samples = np.frombuffer(file.readframes(int(5.9 * file.getframerate())), np.int16)
        narrow = soxr.resample(samples, file.getframerate(), 16000)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes(np.concatenate([narrow, np.zeros(16000, np.int16)]).tobytes())
    return path


def _certificate(folder: Path) -> None:
    command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=localhost"
    command += " -addext subjectAltName=DNS:localhost -keyout server.key -out server.pem"
    subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
