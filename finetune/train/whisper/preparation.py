"""Before training: the current model decodes everything once, and its spelling goes onto people's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from asr.local.stt.engines.base import DecodeOptions
from asr.local.stt.engines.whisper import WhisperEngine
from finetune.recipes.base import Paused, StopRequest
from finetune.train.whisper import texts
from finetune.train.whisper.segments import SpeechSegment
from finetune.train.whisper.sound import Noise, window_audio
from finetune.train.whisper.windows import WindowPlan


@dataclass(frozen=True, slots=True)
class DecodedWindow:
    plan: WindowPlan
    people: list[str]
    model: list[str]


@dataclass(frozen=True, slots=True)
class WordErrors:
    errors: int = 0
    words: int = 0

    @property
    def rate(self) -> float:
        return self.errors / max(self.words, 1)


def decode_windows(
    folder: Path | None,
    plans: Sequence[WindowPlan],
    segments: Sequence[SpeechSegment],
    *,
    threads: int,
    stop: StopRequest,
    on_done: Callable[[], None] = lambda: None,
    noise_snr_db: float | None = None,
    seed: int = 0,
) -> list[DecodedWindow]:
    """What the model of this folder (None: the packaged one) writes for each window, beside people's words. With noise
    of `noise_snr_db`, each window has its own, the same for every model. Paused when it is asked to stop; what was
    decoded is words, and is not kept."""
    engine = WhisperEngine(folder, window_s=15.0, workers=threads)

    def decode(numbered: tuple[int, WindowPlan]) -> DecodedWindow:
        if stop.asked:
            raise Paused("paused while it decoded windows", "the same command decodes them again")
        number, plan = numbered
        noise = None if noise_snr_db is None else Noise(noise_snr_db, seed + number)
        hypotheses = engine.decode(window_audio(plan, segments, noise), DecodeOptions())
        said = " ".join(word.text for word in hypotheses[0].words) if hypotheses else ""
        people = [word for one in plan.segments for word in texts.spell_out(segments[one].text)]
        on_done()
        return DecodedWindow(plan, people, texts.spell_out(said))

    try:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(decode, enumerate(plans)))
    finally:
        engine.close()


def word_errors(windows: Sequence[DecodedWindow]) -> WordErrors:
    errors = sum(texts.word_errors(one.people, one.model) for one in windows)
    return WordErrors(errors, sum(len(one.people) for one in windows))


def with_learned_texts(
    segments: Sequence[SpeechSegment], windows: Sequence[DecodedWindow], least_match: float
) -> tuple[list[SpeechSegment], int]:
    """The segments with the texts to learn, without those of windows in which too little matches (how many is told):
    there the offsets or the words are wrong, or the recording is."""
    spelling = texts.Spelling()
    for window in windows:
        spelling.count(window.model)
    learned: dict[int, str | None] = {}
    for window in windows:
        if texts.match(window.people, window.model) < least_match:
            learned |= dict.fromkeys(window.plan.segments)
            continue
        marked = texts.with_marks(window.people, window.model, spelling)
        for number in window.plan.segments:
            count = len(texts.spell_out(segments[number].text))
            learned[number] = " ".join(marked[:count])
            marked = marked[count:]
    kept = []
    for number, segment in enumerate(segments):
        text = learned.get(number, "")
        if text is not None:
            kept.append(replace(segment, text=text))
    return kept, len(segments) - len(kept)
