"""The recipe `whisper`: fine-tune the recogniser from its own weights, and export it for `tenor riva`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from rich.progress import Progress, TaskID

from asr.local.stt.engines.whisper_folder import checked_folder, packaged_folder
from finetune.export.whisper_export import Weights, export_whisper
from finetune.progress import progress
from finetune.recipes.base import MODEL, JsonlRunRecord, RunRecord, StopRequest, TrainingRow, stoppable
from finetune.train.whisper import model_file, preparation, segments
from finetune.train.whisper.windows import WindowMix, WindowPlanner
from tenor.errors import Unavailable
from tenor.model_store.card import Kind


class WhisperParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What can be set. The defaults are those of the measurements in docs/speech-tuning.md."""

    model: Annotated[str, Meta(description="Folder of the model to start from; empty: the packaged one.")] = ""
    name: Annotated[str, Meta(description="Name of the new model.")] = "whisper-tuned"
    version: Annotated[str, Meta(description="Its version.")] = "1"
    steps: Annotated[int, Meta(description="Training steps.", ge=1)] = 360
    batch: Annotated[int, Meta(description="Windows per step.", ge=1, le=256)] = 4
    rate: Annotated[float, Meta(description="Learning rate at its highest; it falls to 0.", gt=0)] = 3e-5
    warmup: Annotated[int, Meta(description="Steps until the rate is reached.", ge=0)] = 8
    live: Annotated[
        float,
        Meta(description="Share of batches with windows as live speech is decoded, the others joint.", ge=0, le=1),
    ] = 1 / 3
    noise_only: Annotated[
        float, Meta(description="Share of segments without words that are heard, with empty text.", ge=0, le=1)
    ] = 0.5
    noise_share: Annotated[float, Meta(description="Share of windows that get noise.", ge=0, le=1)] = 0.35
    noise_snr_low: Annotated[float, Meta(description="Lowest ratio of speech to that noise, in dB.")] = 5.0
    noise_snr_high: Annotated[float, Meta(description="Highest ratio of speech to that noise, in dB.")] = 30.0
    noise_snr_measured: Annotated[
        float, Meta(description="Beside clean speech, word errors are also told with noise of so many dB.")
    ] = 15.0
    spec_augment: Annotated[bool, Meta(description="Hide a band and two moments of every window.")] = True
    average: Annotated[
        float,
        Meta(description="Share of the mean weights that stays at each step; 0: the last weights count.", ge=0, lt=1),
    ] = 0.98
    kept: Annotated[
        float,
        Meta(
            description="Share of the weights before training in the new ones: the model stays good at other speech.",
            ge=0,
            lt=1,
        ),
    ] = 0.3
    least_match: Annotated[
        float, Meta(description="Windows of which the model recognises a smaller share are left out.", ge=0, le=1)
    ] = 0.4
    precision: Annotated[
        Literal["float32", "bfloat16"], Meta(description="Bfloat16 is quicker where the processor has it (AMP).")
    ] = "float32"
    weights: Annotated[Weights, Meta(description="How the model is written: float16, or int8 in half the bytes.")] = (
        "float16"
    )
    seed: Annotated[int, Meta(description="The same seed gives the same model.")] = 7
    threads: Annotated[int, Meta(description="Processor threads.", ge=1, le=256)] = 2
    checkpoint_every: Annotated[int, Meta(description="Steps between checkpoints.", ge=1)] = 60
    validate_every: Annotated[int, Meta(description="Steps between looks at the validation loss.", ge=1)] = 60


class WhisperRecipe:
    """See docs/speech-tuning.md."""

    name = "whisper"
    kind: Kind = "speech"
    parameters = WhisperParameters
    presets: Mapping[str, Mapping[str, Any]] = {
        "quick": {"steps": 40, "checkpoint_every": 20, "validate_every": 20},
        "long": {"steps": 720},
    }

    def run(self, rows: Sequence[TrainingRow], parameters: WhisperParameters, out: Path, record: RunRecord) -> Path:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # waiting threads leave a busy processor to others
        if find_spec("torch") is None:
            raise Unavailable("the recipe whisper needs torch", "pip install 'tenor[finetune]'")
        with stoppable() as stop:  # from the first moment: decoding what is learned from takes minutes
            return _run(rows, parameters, out, record, stop)


def _run(
    rows: Sequence[TrainingRow], parameters: WhisperParameters, out: Path, record: RunRecord, stop: StopRequest
) -> Path:
    from finetune.train.loop import joined_processes

    with joined_processes() as rank, progress(quiet=rank > 0) as bar:
        told = record if rank == 0 else JsonlRunRecord(Path(os.devnull))
        told.parameters(msgspec.to_builtins(parameters))
        began, spent = time.monotonic(), time.process_time()
        parent = checked_folder(Path(parameters.model)) if parameters.model else packaged_folder()
        everything = segments.usable_segments(rows, told)
        segments.enough_to_train(everything)
        before, learned = _prepared(parent, everything, parameters, told, bar, stop)
        values = _trained(parent, learned, parameters, out, told, bar, stop)
        if rank == 0:
            folder = _exported(parent, values, parameters, out)
            if before.words:
                after = _errors(folder, everything, parameters, bar, stop)
                noisy = [_errors(one, everything, parameters, bar, stop, noisy=True) for one in (parent, folder)]
                for name, how, (first, last) in (
                    ("val_wer", "clean", (before, after)),
                    ("val_wer_noisy", f"with {parameters.noise_snr_measured:g} dB of noise", noisy),
                ):
                    told.point(0, name, first.rate)
                    told.point(parameters.steps, name, last.rate)
                    rates = f"{first.rate:.2%} before, {last.rate:.2%} now"
                    told.note(f"word errors on {first.words} words kept apart, {how}: {rates}")
            told.point(parameters.steps, "seconds", time.monotonic() - began)
            told.point(parameters.steps, "processor_seconds", time.process_time() - spent)
            told.artifact(folder)
    return out / MODEL


def _exported(parent: Path, values: dict[str, model_file.Array], parameters: WhisperParameters, out: Path) -> Path:
    before = model_file.read(parent / "model.bin")
    model = before.with_values(
        {name: _mixed(value, before.variables[name], parameters.kept) for name, value in values.items()}
    )
    card = {
        "name": parameters.name,
        "version": parameters.version,
        "parent": parameters.model or "packaged",
        "parameters": msgspec.to_builtins(parameters),
    }
    return export_whisper(parent, model, out / MODEL, card, parameters.weights)


def _mixed(trained: model_file.Array, before: model_file.Array, kept: float) -> model_file.Array:
    mixed: model_file.Array = (1 - kept) * trained + kept * before.astype(np.float32)
    return mixed


def _prepared(
    parent: Path,
    everything: Sequence[segments.SpeechSegment],
    parameters: WhisperParameters,
    record: RunRecord,
    bar: Progress,
    stop: StopRequest,
) -> tuple[preparation.WordErrors, list[segments.SpeechSegment]]:
    """How many words the present model gets wrong of those kept apart, and everything with the texts to learn."""
    from finetune.train.loop import gathered, process_rank

    plans = WindowPlanner(everything, WindowMix(live=0.0, noise_only=0.0)).once()
    rank, world = process_rank()
    with _task(bar, "listening", len(plans[rank::world])) as task:
        windows = gathered(
            preparation.decode_windows(
                parent, plans[rank::world], everything, threads=parameters.threads, stop=stop,
                on_done=lambda: bar.update(task, advance=1),
            )
        )  # fmt: skip
    apart = [one for one in windows if everything[one.plan.segments[0]].split == "val"]
    learned, dropped = preparation.with_learned_texts(everything, windows, parameters.least_match)
    if dropped:
        record.note(f"left out: {dropped} segments of windows that hardly match their text")
    record.note(f"{len(learned)} segments in {len(plans)} windows")
    return preparation.word_errors(apart), learned


def _errors(
    folder: Path, everything: Sequence[segments.SpeechSegment], parameters: WhisperParameters, bar: Progress,
    stop: StopRequest, *, noisy: bool = False,
) -> preparation.WordErrors:  # fmt: skip
    apart = [one for one in everything if one.split == "val"]
    plans = WindowPlanner(apart, WindowMix(live=0.0, noise_only=0.0)).once()
    with _task(bar, "measuring", len(plans)) as task:
        windows = preparation.decode_windows(
            folder, plans, apart, threads=parameters.threads, stop=stop, on_done=lambda: bar.update(task, advance=1),
            noise_snr_db=parameters.noise_snr_measured if noisy else None, seed=parameters.seed,
        )  # fmt: skip
    return preparation.word_errors(windows)


def _trained(
    parent: Path,
    learned: Sequence[segments.SpeechSegment],
    parameters: WhisperParameters,
    out: Path,
    record: RunRecord,
    bar: Progress,
    stop: StopRequest,
) -> dict[str, model_file.Array]:
    from tokenizers import Tokenizer

    from finetune.train.whisper.network import WhisperNetwork
    from finetune.train.whisper.trainer import TrainerOptions, TrainerStep, WhisperTrainer

    options = TrainerOptions(
        steps=parameters.steps,
        batch=parameters.batch,
        rate=parameters.rate,
        warmup=parameters.warmup,
        mix=WindowMix(parameters.live, parameters.noise_only),
        noise_share=parameters.noise_share,
        noise_snr_db=(parameters.noise_snr_low, parameters.noise_snr_high),
        spec_augment=parameters.spec_augment,
        average=parameters.average,
        mixed_precision=parameters.precision == "bfloat16",
        seed=parameters.seed,
        threads=parameters.threads,
        checkpoint_every=parameters.checkpoint_every,
        validate_every=parameters.validate_every,
    )
    network = WhisperNetwork(model_file.read(parent / "model.bin"))
    trainer = WhisperTrainer(network, Tokenizer.from_file(str(parent / "tokenizer.json")), learned, options, out)
    first = trainer.validation_loss()
    if first is not None:
        record.point(0, "val_loss", first)
    began = time.monotonic()
    heard = 0.0
    with _task(bar, "training", parameters.steps) as task:

        def on_step(done: TrainerStep) -> None:
            nonlocal heard
            heard += done.seconds
            speed = heard / (time.monotonic() - began)
            record.point(done.step, "loss", done.loss)
            record.point(done.step, "audio_speed", speed)
            if done.validation is not None:
                record.point(done.step, "val_loss", done.validation)
            bar.update(task, completed=done.step, loss=f"loss {done.loss:.3f}, {speed:.1f} s of audio per s")

        trainer.run(on_step, stop)
    return network.values()


@contextmanager
def _task(bar: Progress, what: str, total: int) -> Iterator[TaskID]:
    yield bar.add_task(what, total=total, loss="")
