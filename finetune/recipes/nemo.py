"""The recipe `nemo`: a CTC model of NeMo, restored or built, fine-tuned, and exported for `tenor riva` and Riva."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from asr.local.stt.engines.ctc_folder import WORD_START
from finetune.recipes.base import MODEL, NEMO_FILE, RunRecord, StopRequest, TrainingRow, needs_nemo, stoppable
from finetune.train.nemo.manifest import AddedNoise, Manifest, plain_text, write_manifest
from finetune.train.whisper import segments
from tenor.model_store.card import Kind

_COMPARED = 8
"""Segments on which the exported model is compared with NeMo's own transcription."""


class NemoParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What can be set. `layers` to `dropout` are of a model that is built."""

    model: Annotated[
        str, Meta(description="The .nemo file to start from, of people whom you trust; empty: a new model.")
    ] = ""
    vocabulary: Annotated[
        Literal["own", "characters", "bpe"],
        Meta(description="The tokens: the model's own (a new one's are characters), characters, or pieces of words."),
    ] = "own"
    pieces: Annotated[int, Meta(description="How many pieces of words, of bpe.", ge=16, le=8192)] = 128
    text: Annotated[
        Literal["plain", "written"],
        Meta(description="Plain: small letters, no marks, numbers as they are spoken. Written: as people wrote it."),
    ] = "plain"
    layers: Annotated[int, Meta(description="Conformer layers.", ge=1, le=64)] = 4
    width: Annotated[int, Meta(description="Width of a layer.", ge=8, le=4096, multiple_of=8)] = 144
    heads: Annotated[int, Meta(description="Attention heads.", ge=1, le=64)] = 4
    subsampling: Annotated[int, Meta(description="Frames of 10 ms that are joined into one.", ge=2, le=8)] = 4
    dropout: Annotated[float, Meta(description="Share of values that are dropped in training.", ge=0, lt=1)] = 0.1
    epochs: Annotated[int, Meta(description="How often every segment is heard.", ge=1)] = 10
    batch: Annotated[int, Meta(description="Segments per step.", ge=1, le=1024)] = 8
    encoder_rate: Annotated[float, Meta(description="Learning rate of the encoder at its highest.", gt=0)] = 1e-4
    decoder_rate: Annotated[float, Meta(description="Learning rate of the decoder at its highest.", gt=0)] = 1e-3
    spec_augment: Annotated[bool, Meta(description="Hide bands and moments of what is heard.")] = True
    noise_share: Annotated[float, Meta(description="Share of segments that get noise.", ge=0, le=1)] = 0.25
    noise_snr_low: Annotated[float, Meta(description="Lowest ratio of speech to that noise, in dB.")] = 10.0
    noise_snr_high: Annotated[float, Meta(description="Highest ratio of speech to that noise, in dB.")] = 30.0
    precision: Annotated[
        Literal["float32", "bfloat16"], Meta(description="Bfloat16 is quicker where the processor has it (AMP).")
    ] = "float32"
    language: Annotated[str, Meta(description="Language that the server says the model is for.")] = "en-US"
    name: Annotated[str, Meta(description="Name of the new model.")] = "nemo-tuned"
    version: Annotated[str, Meta(description="Its version.")] = "1"
    seed: Annotated[int, Meta(description="The same seed gives the same model.")] = 7
    threads: Annotated[int, Meta(description="Processor threads.", ge=1, le=256)] = 2
    checkpoint_every: Annotated[int, Meta(description="Steps between checkpoints; 0: only when stopped.", ge=0)] = 100
    validate_every: Annotated[int, Meta(description="Epochs between looks at what was kept apart.", ge=0)] = 1


class NemoRecipe:
    """See docs/speech-tuning.md."""

    name = "nemo"
    kind: Kind = "speech"
    parameters = NemoParameters
    presets: Mapping[str, Mapping[str, Any]] = {
        "tiny": {"layers": 2, "width": 48, "epochs": 20, "encoder_rate": 1e-3, "decoder_rate": 3e-3},
        "papers": {"batch": 128, "epochs": 10},
    }

    def run(self, rows: Sequence[TrainingRow], parameters: NemoParameters, out: Path, record: RunRecord) -> Path:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # waiting threads leave a busy processor to others
        needs_nemo()
        with stoppable() as stop:
            return _run(rows, parameters, out, record, stop)


def _run(
    rows: Sequence[TrainingRow], parameters: NemoParameters, out: Path, record: RunRecord, stop: StopRequest
) -> Path:
    from finetune.train.loop import LoopOptions, RunPlace, joined_processes, repeatable
    from finetune.train.nemo.trainer import train_nemo

    spoken = _spoken(rows, parameters, record)
    options = LoopOptions(
        epochs=parameters.epochs, batch=parameters.batch, layer_rate=parameters.encoder_rate,
        head_rate=parameters.decoder_rate, seed=parameters.seed, threads=parameters.threads,
        precision=parameters.precision, checkpoint_every=parameters.checkpoint_every,
        validate_every=parameters.validate_every,
    )  # fmt: skip
    with joined_processes() as rank, _manifests(spoken, parameters, out / f"data-{rank}") as (training, validation):
        if rank == 0:
            record.parameters(msgspec.to_builtins(parameters))
        repeatable(parameters.seed, parameters.threads)
        model = _model(training.texts, parameters, out / f"tokenizer-{rank}")
        train_nemo(model, training, validation, options, RunPlace(out, record, stop))
        if rank == 0:
            _export(model, validation, parameters, out, record)
    return out / MODEL


def _spoken(rows: Sequence[TrainingRow], parameters: NemoParameters, record: RunRecord) -> list[segments.SpeechSegment]:
    """Segments with words, as the model is to write them."""
    write = plain_text if parameters.text == "plain" else str
    usable = segments.usable_segments(rows, record)
    written = [replace(one, text=write(one.text)) for one in usable]
    spoken = [one for one in written if one.text]
    segments.enough_to_train(spoken)
    return spoken


@contextmanager
def _manifests(
    spoken: Sequence[segments.SpeechSegment], parameters: NemoParameters, folder: Path
) -> Iterator[tuple[Manifest, Manifest]]:
    """Of what is trained on and of what is kept apart. They hold words and voices, so they do not outlive the run."""
    noise = AddedNoise(parameters.noise_share, (parameters.noise_snr_low, parameters.noise_snr_high), parameters.seed)
    try:
        training = write_manifest([one for one in spoken if one.split == "train"], folder, "train", noise)
        yield training, write_manifest([one for one in spoken if one.split == "val"], folder, "validation")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _model(texts: Sequence[str], parameters: NemoParameters, tokenizer: Path) -> Any:
    from finetune.train.nemo.model import NewModel, TokenChoice, built, restored, with_vocabulary

    choice = TokenChoice(parameters.vocabulary, parameters.pieces, tokenizer)
    if parameters.model:
        model = with_vocabulary(restored(Path(parameters.model)), texts, choice)
    else:
        size = NewModel(
            parameters.layers, parameters.width, parameters.heads, parameters.subsampling, parameters.dropout
        )
        model = built(size, texts, choice)
    if not parameters.spec_augment:
        model.spec_augmentation = None
    return model


def _export(model: Any, validation: Manifest, parameters: NemoParameters, out: Path, record: RunRecord) -> None:
    from finetune.export.ctc_export import export_ctc

    model.eval()
    model.save_to(str(out / NEMO_FILE))
    heard = nemo_texts(model, validation.audio[:_COMPARED])
    card = {
        "name": parameters.name,
        "version": parameters.version,
        "parent": Path(parameters.model).name if parameters.model else "",
        "parameters": msgspec.to_builtins(parameters),
    }
    folder = export_ctc(model, out / MODEL, card, parameters.language)
    served = _served(folder, validation.audio[:_COMPARED])
    same = sum(one == other for one, other in zip(heard, served, strict=True))
    record.note(f"the exported model writes what NeMo writes on {same} of {len(heard)} segments")
    record.artifact(folder)
    record.artifact(out / NEMO_FILE)


def nemo_texts(model: Any, audio: Sequence[Path]) -> list[str]:
    """What NeMo itself writes for each file. A mark of a word's beginning that stands alone stays in its text."""
    found = model.transcribe(list(map(str, audio)), batch_size=1, verbose=False)
    return [" ".join(one.text.replace(WORD_START, " ").split()) for one in found]


def _served(folder: Path, audio: Sequence[Path]) -> list[str]:
    """What the server hears in each file."""
    import soundfile

    from asr.local.stt.engines.base import DecodeOptions
    from asr.local.stt.engines.ctc import CtcEngine

    engine = CtcEngine(folder)
    found = []
    for path in audio:
        samples, _ = soundfile.read(path, dtype="float32")
        hypotheses = engine.decode(samples, DecodeOptions())
        found.append(" ".join(word.text for word in hypotheses[0].words) if hypotheses else "")
    return found
