"""Many files through pipelines that are gone afterwards: in order, each pipeline with its share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from ingest.options import IngestOptions
from ingest.sources import Source
from ingest.text.conversation import TextOptions
from nlp.inference.backend import open_backend
from nlp.worker import NlpWorker
from tenor.events import SENTENCES
from tenor.runtime.batch import runner
from tenor.runtime.batch.runner import BatchJob, in_order, run_batch
from tenor.runtime.redactor import make_redactor
from tenor.settings import Settings


async def test_so_many_files_have_a_pipeline_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "FILES_PER_PIPELINE", 3)
    settings = Settings(home=tmp_path)
    backend = open_backend(settings)
    for number in range(8):
        (tmp_path / f"{number}.txt").write_text(f"Customer: My order {number} is late.\nAgent: I am sorry.\n")
    sources = [Source("file", str(tmp_path / f"{number}.txt")) for number in range(8)]
    job = BatchJob(SENTENCES, IngestOptions(), TextOptions(), make_redactor(settings))
    homes = []

    def stages(bus: Any, own: Settings) -> list[NlpWorker]:
        homes.append(own.home)
        return [NlpWorker(bus, own, backend)]

    found = [result async for result in run_batch(settings, sources, job, stages)]
    assert [result.file for result in found] == [f"{number}.txt" for number in range(8)]
    assert all(len(result.sentences) == 2 and not result.error for result in found)
    assert len(set(homes)) == 3
    assert not any(home.exists() for home in homes)


async def test_answers_come_in_order_and_no_more_than_so_many_ahead() -> None:
    taken: list[int] = []

    async def items() -> AsyncIterator[int]:
        for number in range(50):
            taken.append(number)
            yield number

    async def work(number: int) -> int:
        await asyncio.sleep(0.03 if number == 0 else 0)
        return number

    answers: list[int] = []
    async for answer in in_order(items(), work, 10):
        assert len(taken) - len(answers) <= 11
        answers.append(answer)
    assert answers == list(range(50))
