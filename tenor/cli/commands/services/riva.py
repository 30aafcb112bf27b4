"""`tenor riva`: our CPU server on Riva's API."""

from __future__ import annotations

import typer

from tenor.cli.context import run_until_interrupted, settings
from tenor.runtime.riva import local_riva
from tenor.stage import run_stages


def riva(
    context: typer.Context,
    host: str | None = typer.Option(None, help="Address to listen on (default 127.0.0.1)."),
    port: int | None = typer.Option(None, help="gRPC port (default 50051)."),
    http_port: int | None = typer.Option(None, help="Port of the realtime WebSocket and health (default 9000)."),
    engine: str | None = typer.Option(None, help="Engine for finals: whisper-tiny, whisper-telephone, moonshine-tiny."),
    voice: str | None = typer.Option(None, help="Voice for speech output: ttspico, flite, espeak-ng, piper or none."),
    threads: int | None = typer.Option(None, help="Utterances decoded at once (default 2)."),
) -> None:
    """Serve speech recognition and synthesis on Riva's gRPC API, on this machine's CPU.

    Any Riva client can use it; our own workers find it at localhost:50051. SIGTERM or Ctrl-C lets open
    streams finish for up to 10 seconds.
    """
    chosen = settings(
        context,
        stays=True,
        riva__host=host,
        riva__port=port,
        riva__http_port=http_port,
        riva__engine=engine,
        riva__voice=voice,
        riva__threads=threads,
    )

    async def work() -> None:
        await run_stages([local_riva(chosen.riva, chosen.language, chosen.models_folder)])

    run_until_interrupted(work())
