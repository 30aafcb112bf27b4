"""Playback of one call, with barge-in: what the assistant says, until it is heard or the caller speaks over it.

playing --200 ms of sound--> paused --a word is recognised--> cut: what was not heard is dropped
   ^                           |
   '--nothing for a second-----'  from the beginning of the interrupted sentence
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

import structlog

from ingest.gateway import metrics
from ingest.gateway.playback.clip import Clip
from ingest.gateway.playback.keypad import Keypad
from ingest.gateway.playback.pacer import Pacer, SentFrame
from ingest.gateway.playback.sentences import split_sentences
from ingest.gateway.playback.sound_detector import SoundDetector
from ingest.gateway.playback.synthesizer import Synthesizer
from tenor.assistant.backchannel import is_backchannel
from tenor.events import Event, KeyPressed, Transcript, Turn, TurnFiller, TurnSpoken, Word

if TYPE_CHECKING:
    from ingest.gateway.call import PhoneCall

log = structlog.get_logger(__name__)

ROLE: Final = "assistant"
SOUND_MS: Final = 200
"""So much sound of the caller pauses the assistant."""
RESUME_S: Final = 1.0
"""So long it waits for a word of it,"""
STILL_MS: Final = 200
"""and until it has been quiet for so long,"""
LONGEST_PAUSE_S: Final = 4.0
"""but not for ever: a noise that goes on is no word."""
MARK_S: Final = 2.0
"""How long the end of a call waits to be told that everything was played,"""
TAIL_S: Final = 0.3
"""and how long where nobody tells."""


class AudioSink(Protocol):
    """A socket on which the caller hears us."""

    rate: int
    lead_ms: int
    """How far ahead frames may be sent: little, where what was sent cannot be cleared."""

    async def play(self, pcm: bytes) -> None:
        """20 ms of 16-bit samples."""
        ...

    async def clear(self) -> None:
        """Forget what has not been played."""
        ...

    async def mark(self, name: str) -> bool:
        """Ask to be told (`Playback.played`) when everything before it has been played; False: it cannot be told."""
        ...


class Playback:
    """Begins with the call and ends with it. Nothing here waits for the bus."""

    def __init__(self, call: PhoneCall, synthesizer: Synthesizer) -> None:
        self.channel = call.info.roles.index(ROLE)
        self._others = frozenset(range(len(call.info.roles))) - {self.channel}
        self._call = call
        self._synthesizer = synthesizer
        self._sink: AudioSink | None = None
        self._clips: deque[Clip] = deque()
        """What is not yet heard, in order."""
        self._pacer = Pacer()
        self._sound = SoundDetector()
        self._keypad = Keypad()
        self._muted = False
        self._paused_at: float | None = None
        self._at = 0
        """Samples on our channel up to the last one that was heard."""
        self._began_ms: int | None = None
        """Where the caller's audio had come when we began to be heard; None in silence."""
        self._shown_ms = -1
        """Where the last reply stands that was only shown."""
        self._turn = -1
        self._published_at = 0.0
        self._open: dict[int, list[str]] = {}
        """Of turns that are not yet reported: what was heard of them."""
        self._goodbye = ""
        """Why the call ends when everything is said."""
        self._stopped = False
        self._handed_over = False
        """Whether a person is to go on with it then."""
        self._marks: set[str] = set()
        """Of which the platform has not told yet that they were played."""
        self._marked = 0
        self._clear = False
        self._requests: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._running = asyncio.create_task(self._run(), name=f"playback {call.id}")

    # -- the call's socket

    def connect(self, sink: AudioSink) -> None:
        if self._stopped:
            return
        self._sink = sink
        self._marks.clear()
        for clip in self._clips:
            clip.again()
        self._changed.set()

    def mute(self, muted: bool) -> None:
        """On a page that shows the replies: they are told in writing, and what is being said stops."""
        self._muted = muted
        if muted and self._clips:
            self._interrupt()
            self._note_partial()
            self._paused_at = None
            rest = [clip for clip in self._clips if not clip.heard and not clip.filler and not clip.written]
            self._clips.clear()
            for clip in rest:
                self._show(clip)
            for turn in list(self._open):
                self._call.tell(self._report(turn))

    def played(self, mark: str) -> None:
        """The platform has played, or cleared, everything before that mark."""
        self._marks.discard(mark)
        self._changed.set()

    def disconnect(self, sink: object) -> None:
        """The socket is gone; on the next one the interrupted sentence is said again."""
        if self._sink is sink:
            self._sink = None
            self._interrupt()
            self._clear = False

    def stop(self) -> list[Event]:
        """The call is over, or a person's: what was heard of what was being said."""
        self._stopped = True
        self._running.cancel()
        for request in self._requests:
            request.cancel()
        self._account(self._pacer.heard())
        events = self._partial()
        self._note_partial()
        self._clips.clear()
        events += [event for turn in list(self._open) for event in self._report(turn)]
        return events

    # -- what the assistant says

    def take(self, event: Event) -> None:
        """An event of the call from the bus."""
        if self._stopped:
            return
        match event:
            case Turn() if event.turn > self._turn:  # the first of a number counts
                self._take_turn(event)
            case TurnFiller() if event.turn > self._turn and not self._muted:
                self._add(event.turn, event.text, filler=True)
            case Transcript() if event.channel != self.channel:
                self._hear(event)

    def _take_turn(self, turn: Turn) -> None:
        self._turn = turn.turn
        self._published_at = turn.times.get("turn_published", 0.0)
        if turn.event in ("heard", "key"):
            self._cut("cut", besides=turn.turn)
        if not turn.written:
            self._open[turn.turn] = []
        for reply in turn.replies:
            if not self._muted:
                self._add(turn.turn, reply.text, interruptible=reply.interruptible, written=turn.written)
            elif not turn.written:
                self._show(Clip(turn.turn, reply.text))
        if turn.ended:
            self._goodbye = "the assistant said goodbye"
        elif turn.handover.get("queue") and not self._call.in_writing:  # there the person writes
            self._handed_over = True
        self._changed.set()

    def _add(
        self, turn: int, text: str, *, interruptible: bool = True, filler: bool = False, written: bool = False
    ) -> None:
        for sentence in split_sentences(text):
            self._clips.append(Clip(turn, sentence, interruptible, filler, written))
        self._changed.set()

    # -- what the caller does

    def listen(self, rate: int, pcm: bytes) -> None:
        """Sound of the caller's. Enough of it pauses us."""
        self._sound.add(pcm, rate)
        speaking = self._clips and self._clips[0].interruptible and self._paused_at is None
        if speaking and self._sound.sound_ms >= SOUND_MS:
            self._paused_at = time.monotonic()
            self._interrupt()

    def press(self, digit: str) -> None:
        """A key: what is being said stops, as it does for a word."""
        if self._stopped or not self._keypad.tells(digit):
            metrics.IGNORED.labels(self._call.platform, "dtmf").inc()
            return
        self._cut("cut")
        self._call.tell([KeyPressed(call=self._call.id, digit=digit, at=time.time())])

    def _hear(self, said: Transcript) -> None:
        """A word of the caller's ends what is being said; a backchannel does not."""
        if not said.text.strip() or self._began_ms is None or said.end_ms <= self._began_ms:
            return
        if said.written or not is_backchannel(said.text):
            self._cut("cut")
        elif said.final and self._paused_at is not None:
            self._go_on("backchannel")

    def _cut(self, outcome: str, *, besides: int = -1) -> None:
        """Drop what may be interrupted. What is said to its end in any case stays."""
        if not self._clips or not self._clips[0].interruptible or self._clips[0].turn == besides:
            return
        if self._paused_at is None:
            self._interrupt()
        self._paused_at = None
        self._sound.forget()
        metrics.INTERRUPTIONS.labels(outcome).inc()
        turns = {clip.turn for clip in self._clips}
        rest = [clip for clip in self._clips if not clip.interruptible or clip.turn == besides]
        self._note_partial()
        self._clips = deque(rest)
        for turn in sorted(turns - {clip.turn for clip in rest}):
            self._call.tell(self._report(turn))
        self._began_ms = None
        self._changed.set()

    def _interrupt(self) -> None:
        """Silence, now; what was heard of the sentence is in the transcript."""
        if not self._clips:
            return
        self._account(self._pacer.heard() + self._pacer.clear())
        self._call.tell(self._partial())
        for clip in self._clips:
            clip.sent = 0
        self._clear = True
        self._changed.set()

    def _go_on(self, outcome: str) -> None:
        metrics.INTERRUPTIONS.labels(outcome).inc()
        self._paused_at = None
        self._sound.forget()
        for clip in self._clips:
            clip.again()
        self._changed.set()

    # -- playing

    async def _run(self) -> None:
        try:
            while True:
                await self._step()
        except Exception as error:
            # The call goes on without a voice; its audio and its other calls are not ours to end.
            log.exception("playback failed", call=self._call.id, error=type(error).__name__)

    async def _step(self) -> None:
        sink = self._sink
        if sink is None:
            await self._sleep(None)
            return
        self._account(self._pacer.heard())
        if self._clear:
            self._clear = False
            await self._to(sink, sink.clear())
        if self._paused_at is not None:
            await self._wait_for_words(self._paused_at)
            return
        clip = next((clip for clip in self._clips if not clip.all_sent), None)
        self._request(sink)
        if clip is None:
            await self._rest(sink)
        elif frame := clip.next_frame(2 * sink.rate // 50):
            if wait_s := self._pacer.wait_s(sink.lead_ms / 1000):
                await self._sleep(wait_s)
            else:
                await self._send(sink, clip, frame)
        else:
            await self._sleep(self._pacer.rest_s or None)

    async def _send(self, sink: AudioSink, clip: Clip, frame: bytes) -> None:
        self._pacer.sent(clip, frame)
        clip.sent += len(frame)
        if self._published_at and not clip.filler:
            metrics.FIRST_AUDIO.observe(max(0.0, time.time() - self._published_at))
            self._published_at = 0.0
        await self._to(sink, sink.play(frame))
        if clip.all_sent:
            self._marked += 1
            name = f"{clip.turn}.{self._marked}"
            self._marks.add(name)
            if not await self._to(sink, sink.mark(name)):
                self._marks.discard(name)

    async def _rest(self, sink: AudioSink) -> None:
        """Everything is sent; when it has been heard, the turn is over, and perhaps the call."""
        if rest_s := self._pacer.rest_s:
            await self._sleep(rest_s)
        elif not self._clips:
            self._began_ms = None
            for turn in list(self._open):
                self._call.tell(self._report(turn))
            if self._goodbye or self._handed_over:
                await self._end()
            await self._sleep(None)

    async def _end(self) -> None:
        """The last word must not be cut off: what was sent by now may still be on its way."""
        told = bool(self._marks)
        deadline = time.monotonic() + (MARK_S if told else TAIL_S)
        while (left := deadline - time.monotonic()) > 0 and (self._marks or not told):
            await self._sleep(left)
        if self._clips:
            return
        if self._goodbye:
            self._call.end(self._goodbye, for_good=True, code=1000)
        else:
            self._call.hand_over()

    async def _wait_for_words(self, paused_at: float) -> None:
        """A cough is no interruption: without a word the sentence is said again."""
        waited_s = time.monotonic() - paused_at
        still = self._sound.quiet_ms >= STILL_MS
        if (waited_s >= RESUME_S and still) or waited_s >= LONGEST_PAUSE_S:
            self._go_on("resumed")
        else:
            await self._sleep(max(0.02, RESUME_S - waited_s) if waited_s < RESUME_S else 0.1)

    async def _to(self, sink: AudioSink, sending: Awaitable[object]) -> bool:
        """The socket may be gone; its session notices that, too, and tells."""
        try:
            return bool(await sending)
        except Exception as error:
            log.info("the caller cannot be reached", call=self._call.id, error=type(error).__name__)
            self.disconnect(sink)
            return False

    async def _sleep(self, seconds: float | None) -> None:
        """Until then, or until something changes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        self._changed.clear()

    def _request(self, sink: AudioSink) -> None:
        """The first clips are synthesised, each when the one before it is."""
        for clip in self._clips:
            if not clip.requested:
                clip.requested = True
                filling = self._synthesizer.fill(clip, sink.rate, self._call.info.language, self._changed.set)
                request = asyncio.create_task(filling)
                self._requests.add(request)
                request.add_done_callback(self._requests.discard)
            if not clip.complete:
                return

    # -- what was heard

    @property
    def _rate(self) -> int:
        return self._sink.rate if self._sink is not None else self._call.info.rate or 8000

    def _account(self, frames: list[SentFrame]) -> None:
        """What was heard goes on our channel; of a sentence that was, the transcript is told."""
        for frame in frames:
            rate = len(frame.pcm) * 25
            if not frame.follows:
                elapsed_ms = self._call.clock.elapsed_ms() - int((time.monotonic() - frame.at) * 1000)
                self._at = max(self._at, elapsed_ms * rate // 1000)
            clip = frame.clip
            if not clip.heard:
                clip.start_ms = self._at * 1000 // rate
            if self._began_ms is None:
                self._began_ms = self._call.end_of(self._others)
            self._call.write(self.channel, rate, self._at, frame.pcm)
            self._at += len(frame.pcm) // 2
            clip.heard += len(frame.pcm)
        while self._clips and self._clips[0].all_heard and not (self._clips[0].failed and not self._clips[0].heard):
            self._said(self._clips.popleft())
        while self._clips and self._clips[0].complete and not self._clips[0].pcm:
            self._clips.popleft()  # could not be synthesised

    def _said(self, clip: Clip) -> None:
        if not clip.filler:
            self._open.get(clip.turn, []).append(clip.text)
        if not clip.written:
            self._call.tell([self._transcript(clip, clip.text)])
        if all(other.turn != clip.turn for other in self._clips):
            self._call.tell(self._report(clip.turn))

    def _partial(self) -> list[Event]:
        """The transcript of a sentence that was begun and not ended."""
        text = self._clips[0].text_heard(self._rate) if self._clips and not self._clips[0].written else ""
        return [self._transcript(self._clips[0], text)] if text else []

    def _note_partial(self) -> None:
        """What was heard of such a sentence belongs to what was heard of its turn."""
        if self._clips and (text := self._clips[0].text_heard(self._rate)) and not self._clips[0].filler:
            self._open.get(self._clips[0].turn, []).append(text)

    def _show(self, clip: Clip) -> None:
        """A reply that is read and not heard: all of it, now."""
        clip.start_ms = max(self._call.clock.elapsed_ms(), self._shown_ms + 1)
        self._shown_ms = clip.start_ms
        self._open.get(clip.turn, []).append(clip.text)
        self._call.tell([self._transcript(clip, clip.text)])

    def _report(self, turn: int) -> list[Event]:
        """How much of a turn's replies was heard, once."""
        heard = self._open.pop(turn, None)
        if heard is None:
            return []
        return [TurnSpoken(call=self._call.id, turn=turn, text=" ".join(heard), at=time.time())]

    def _transcript(self, clip: Clip, text: str) -> Transcript:
        start_ms = clip.start_ms
        words = tuple(
            Word(text=word, start_ms=start_ms + start, end_ms=start_ms + end, confidence=1.0)
            for word, start, end in clip.words_heard(self._rate)
        )
        end_ms = start_ms + clip.heard_ms(self._rate)
        now = time.time()
        return Transcript(
            call=self._call.id,
            channel=self.channel,
            role=ROLE,
            utterance=f"{self._call.id}/{self.channel}/{start_ms}",
            start_ms=start_ms,
            end_ms=max(end_ms, start_ms + 1),
            text=text,
            final=True,
            words=words,
            confidence=1.0,
            heard_ms=max(end_ms, start_ms + 1),
            times={"captured": now, "published": now},
        )
