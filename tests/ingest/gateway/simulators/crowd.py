"""A crowd: many calls of all platforms at once, from a process of its own.

    python -m tests.ingest.gateway.simulators.crowd PORT AUDIOSOCKET_PORT CALLS SECONDS

Prints what each call waited for its answer, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import uuid

from tests.ingest.gateway.simulators.audiosocket import AudioSocket
from tests.ingest.gateway.simulators.genesys import AudioHook
from tests.ingest.gateway.simulators.jambonz import Listen
from tests.ingest.gateway.simulators.tones import AGENT_HZ, CALLER_HZ, interleave, tone
from tests.ingest.gateway.simulators.twilio import TwilioStream

PLATFORMS = ("genesys", "twilio", "genesys", "audiosocket", "jambonz")


async def one_call(port: int, audiosocket_port: int, number: int, seconds: float, answers: list[float]) -> None:
    caller, agent = tone(CALLER_HZ, seconds), tone(AGENT_HZ, seconds)
    began = time.monotonic()
    match PLATFORMS[number % len(PLATFORMS)]:
        case "genesys":
            async with AudioHook(port, f"crowd-{number}") as hook:
                answers.append(time.monotonic() - began)
                await hook.speak(caller, agent, paced=True)
        case "twilio":
            async with TwilioStream(port, f"crowd-{number}") as stream:
                answers.append(time.monotonic() - began)
                await stream.speak({"inbound": caller, "outbound": agent}, paced=True)
                await stream.stop()
        case "audiosocket":
            async with AudioSocket(audiosocket_port, uuid.UUID(int=number)) as asterisk:
                answers.append(time.monotonic() - began)
                await asterisk.speak(caller, paced=True)
                await asterisk.hang_up()
        case _:
            async with Listen(port, f"crowd-{number}") as listen:
                answers.append(time.monotonic() - began)
                await listen.speak(interleave(caller, agent), paced=True)


async def crowd(port: int, audiosocket_port: int, calls: int, seconds: float) -> None:
    answers: list[float] = []
    await asyncio.gather(*(one_call(port, audiosocket_port, number, seconds, answers) for number in range(calls)))
    sys.stdout.write(json.dumps(sorted(answers)) + "\n")


if __name__ == "__main__":
    asyncio.run(crowd(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
