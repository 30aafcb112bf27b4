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

PLATFORMS = ("genesys", "twilio", "genesys", "audiosocket", "genesys", "jambonz")


class Crowd:
    def __init__(self, port: int, audiosocket_port: int, calls: int, seconds: float) -> None:
        self._port = port
        self._audiosocket_port = audiosocket_port
        self._calls = calls
        self._caller = tone(CALLER_HZ, seconds)
        self._agent = tone(AGENT_HZ, seconds)
        self._all_answered = asyncio.Barrier(calls)
        self.answers: list[float] = []

    async def run(self) -> None:
        await asyncio.gather(*(self._call(number) for number in range(self._calls)))

    async def _answered(self, began: float) -> None:
        self.answers.append(time.monotonic() - began)
        await self._all_answered.wait()

    async def _call(self, number: int) -> None:
        began = time.monotonic()
        match PLATFORMS[number % len(PLATFORMS)]:
            case "genesys":
                async with AudioHook(self._port, f"crowd-{number}") as hook:
                    await self._answered(began)
                    await hook.speak(self._caller, self._agent, paced=True)
            case "twilio":
                async with TwilioStream(self._port, f"crowd-{number}") as stream:
                    await self._answered(began)
                    await stream.speak({"inbound": self._caller, "outbound": self._agent}, paced=True)
                    await stream.stop()
            case "audiosocket":
                async with AudioSocket(self._audiosocket_port, uuid.UUID(int=number)) as asterisk:
                    await self._answered(began)
                    await asterisk.speak(self._caller, paced=True)
                    await asterisk.hang_up()
            case _:
                async with Listen(self._port, f"crowd-{number}") as listen:
                    await self._answered(began)
                    await listen.speak(interleave(self._caller, self._agent), paced=True)


async def main() -> None:
    crowd = Crowd(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    await crowd.run()
    sys.stdout.write(json.dumps(sorted(crowd.answers)) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
