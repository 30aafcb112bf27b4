"""Whatever comes in is read or refused in a line, in moments. `make fuzz` does it with as many inputs as one likes."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, Phase, given, seed, settings

from tenor.errors import TenorError
from tenor.yaml.nodes import Faulty
from tests.fuzz.mutation import mutated
from tests.fuzz.readers import Reader, one_line, readers

INPUTS = int(os.environ.get("FUZZ", 20_000))
ROUND = 5000
"""Hypothesis keeps what it has tried: a million at once would fill the memory."""
LONGEST_S = 5.0
READERS = readers()


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", READERS)
def test_nothing_breaks_a_reader(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = READERS[name]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    left = INPUTS * reader.share // sum(one.share for one in READERS.values())
    begin = random.randrange(1 << 30) if "FUZZ" in os.environ else 1
    for number in range(begin, begin + -(-left // ROUND)):
        count = min(left, ROUND)
        left -= count
        _round(reader, tmp_path, count, number)


def _round(reader: Reader, folder: Path, count: int, number: int) -> None:
    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(mutated(reader.corpus, reader.words))
    def try_all(content: bytes) -> None:
        began = time.thread_time()
        try:
            reader.read(content, folder / "input")
        except Faulty:
            pass  # a line for each mistake
        except TenorError as error:
            one_line(error)
        assert time.thread_time() - began < LONGEST_S

    try_all()
