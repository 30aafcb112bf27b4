"""Recordings, chats and e-mails to results: what `tenor transcribe` and `tenor analyze` run on.

paths --> find_inputs --> recogniser (if there is anything to hear) --> run_batch --> CallResult by CallResult
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, aclosing

from ingest.options import IngestOptions
from ingest.text.conversation import TextOptions, text_format_of
from ingest.vcon.call import VconCall
from tenor.bus import Bus
from tenor.errors import BadInput
from tenor.events import SENTENCES, TRANSCRIPTS
from tenor.runtime.batch.call_result import CallResult
from tenor.runtime.batch.inputs import Input, MissingInput, Paths, find_inputs, recording_options
from tenor.runtime.batch.progress import BatchProgress, ProgressCallback
from tenor.runtime.batch.runner import BatchJob, run_batch
from tenor.runtime.profiles import batch_settings, change_settings, ensure_logging
from tenor.runtime.redactor import make_redactor
from tenor.runtime.result_stream import BlockingStream, in_own_task
from tenor.runtime.riva import recognizer
from tenor.runtime.stages import make_stage
from tenor.settings import Settings
from tenor.stage import Stage


def analyze(
    paths: Paths,
    settings: Settings | None = None,
    *,
    options: IngestOptions | None = None,
    reading: TextOptions | None = None,
    folders: bool = False,
    riva: str | None = None,
    jobs: int = 4,
    store: bool = False,
    again: bool = False,
    progress: ProgressCallback | None = None,
) -> Generator[CallResult, None, None]:
    """Understand recordings, chats and e-mails: how each sentence feels, what is wanted, and how the call went.

        for result in analyze("calls/"):
            for sentence in result.sentences:
                print(sentence.role, sentence.sentiment, sentence.intent, sentence.text)

    Results come in the order of the files, and of the calls in them. A file that cannot be read is a result with an
    `error`, and the rest go on; what keeps the whole batch from going on is raised as a `TenorError`. Ctrl-C, an error
    in the loop or leaving it cancels the work, and nothing stays behind.

    paths: files, folders, globs, `-` for standard input, `mic`, or URLs such as `s3://bucket/calls/`.
    settings: those of `batch_settings()` by default.
    options: how a recording becomes a call; those of `recording_options(settings)` by default.
    reading: how text is read where its file does not tell by itself.
    folders: the recordings of a folder are one conversation.
    riva: `host:port` of a Riva server; by default one of our own serves this batch, on this machine's CPU.
    jobs: recordings at once.
    store: store calls in the database, where the dashboard shows them. Those that are there already are not analysed
        again but read from it, unless `again`.
    progress: told of every step, in the thread that reads the results, while it waits for one.
    """
    stream: BlockingStream[CallResult, BatchProgress] = BlockingStream(progress)
    return stream.read(
        analyze_async(
            paths,
            settings,
            options=options,
            reading=reading,
            folders=folders,
            riva=riva,
            jobs=jobs,
            store=store,
            again=again,
            progress=stream.tell,
        )
    )


def analyze_async(
    paths: Paths,
    settings: Settings | None = None,
    *,
    options: IngestOptions | None = None,
    reading: TextOptions | None = None,
    folders: bool = False,
    riva: str | None = None,
    jobs: int = 4,
    store: bool = False,
    again: bool = False,
    progress: ProgressCallback | None = None,
    vcons: Sequence[VconCall] = (),
) -> AsyncGenerator[CallResult, None]:
    """`analyze` for programs with an event loop; cancelling the task that reads cancels the work.

        async with aclosing(analyze_async("calls/")) as results:
            async for result in results:
                ...

    `aclosing` ends the work at once when the loop is left early. `progress` is called on the event loop: it must be
    quick, and an error in it ends the batch. `vcons` come after the paths; those that are to be recognised are not
    mixed with those whose words are known and whose recording is only kept.
    """
    if again and not store:
        raise BadInput("again replaces what store has stored", "give both")
    settings = _batch(settings, riva)
    options = options or recording_options(settings)
    settings = change_settings(settings, ingest={"roles": list(options.roles)})  # rules may name them
    inputs = [*find_inputs(paths, folders=folders), *vcons]
    reading = reading or TextOptions()
    results = _analyze(settings, inputs, options, reading, riva is None, jobs, store, again, progress)
    return in_own_task(results)


def transcribe(
    paths: Paths,
    settings: Settings | None = None,
    *,
    options: IngestOptions | None = None,
    folders: bool = False,
    riva: str | None = None,
    jobs: int = 4,
    progress: ProgressCallback | None = None,
) -> Generator[CallResult, None, None]:
    """Write down recordings: who said what and when. Parameters and errors are those of `analyze`.

    for result in transcribe(["monday.wav", "tuesday.mp3"], progress=lambda step: print(step.done, step.files)):
        for utterance in result.utterances:
            print(utterance.start_ms, utterance.role, utterance.text)
    """
    stream: BlockingStream[CallResult, BatchProgress] = BlockingStream(progress)
    return stream.read(
        transcribe_async(paths, settings, options=options, folders=folders, riva=riva, jobs=jobs, progress=stream.tell)
    )


def transcribe_async(
    paths: Paths,
    settings: Settings | None = None,
    *,
    options: IngestOptions | None = None,
    folders: bool = False,
    riva: str | None = None,
    jobs: int = 4,
    progress: ProgressCallback | None = None,
) -> AsyncGenerator[CallResult, None]:
    """`transcribe` for programs with an event loop, as `analyze_async` is `analyze`."""
    settings = _batch(settings, riva)
    job = BatchJob(TRANSCRIPTS, options or recording_options(settings), jobs=jobs)
    inputs = find_inputs(paths, text=False, folders=folders)
    return in_own_task(_transcribe(settings, inputs, job, riva is None, progress))


def _batch(settings: Settings | None, riva: str | None) -> Settings:
    """Nobody reads interim text of a batch."""
    settings = settings or batch_settings()
    ensure_logging(settings)
    return change_settings(settings, speech={"interim": False} | ({"address": riva} if riva else {}))


async def _analyze(
    settings: Settings,
    inputs: Sequence[Input | VconCall],
    options: IngestOptions,
    reading: TextOptions,
    own: bool,
    jobs: int,
    store: bool,
    again: bool,
    progress: ProgressCallback | None,
) -> AsyncGenerator[CallResult, None]:
    from nlp.inference.backend import open_backend
    from nlp.worker import NlpWorker

    # Chats need no recogniser.
    spoken = any(_is_heard(given, reading) for given in inputs)
    async with AsyncExitStack() as stack:
        result_store = None
        if store:
            from tenor.runtime.batch.result_store import ResultStore  # with a database, which few batches need

            result_store = await asyncio.to_thread(ResultStore, settings, again=again)
            stack.push_async_callback(result_store.close)  # interrupted, too
        backend = await asyncio.to_thread(open_backend, settings)
        job = BatchJob(SENTENCES, options, reading, make_redactor(settings), jobs, result_store)

        def stages(bus: Bus, settings: Settings) -> list[Stage]:
            made: list[Stage] = [NlpWorker(bus, settings, backend)]
            made += [make_stage("asr", bus, settings)] if spoken else []
            return [*made, *(result_store.stages(bus, settings) if result_store else ())]

        if spoken:
            settings = await stack.enter_async_context(recognizer(settings, own=own))
        results = await stack.enter_async_context(aclosing(run_batch(settings, inputs, job, stages, progress)))
        async for result in results:
            yield result


def _is_heard(given: Input | VconCall, reading: TextOptions) -> bool:
    """Whether it needs a recogniser."""
    if isinstance(given, VconCall):
        return given.to_recognize
    return not isinstance(given, MissingInput) and not (reading.format or text_format_of(given))


async def _transcribe(
    settings: Settings, inputs: Sequence[Input], job: BatchJob, own: bool, progress: ProgressCallback | None
) -> AsyncGenerator[CallResult, None]:
    def stages(bus: Bus, settings: Settings) -> list[Stage]:
        return [make_stage("asr", bus, settings)]

    async with (
        recognizer(settings, own=own) as settings,
        aclosing(run_batch(settings, inputs, job, stages, progress)) as results,
    ):
        async for result in results:
            yield result
