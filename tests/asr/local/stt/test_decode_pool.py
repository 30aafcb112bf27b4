"""Finals wait their turn; interims do not wait."""

from __future__ import annotations

import threading

from asr.local.stt.decode_pool import DecodePool


def test_an_interim_is_begun_only_while_no_final_is_under_way() -> None:
    pool = DecodePool(workers=2)
    gate = threading.Event()

    def wait(answer: str) -> str:
        gate.wait(10)
        return answer

    first = pool.offer(lambda: wait("interim"))
    assert first is not None
    assert pool.offer(lambda: "another interim") is None, "one interim at a time"
    gate.set()
    assert first.result(10) == "interim"
    gate.clear()
    finals = [pool.submit(lambda: wait("final"))]
    assert pool.offer(lambda: "late interim") is None, "although a decoder would be free"
    finals += [pool.submit(lambda: wait("final")) for _ in range(2)]
    assert pool.waiting == 1
    gate.set()
    assert [future.result(10) for future in finals] == ["final"] * 3
    pool.close()


def test_a_cancelled_job_is_not_run_and_a_failed_one_tells() -> None:
    pool = DecodePool(workers=1)
    gate, ran = threading.Event(), threading.Event()

    def run() -> str:
        ran.set()
        return "unwanted"

    pool.submit(lambda: str(gate.wait(10)))
    unwanted = pool.submit(run)
    broken = pool.submit(lambda: dict[str, str]()["missing"])
    assert unwanted.cancel()
    gate.set()
    assert isinstance(broken.exception(10), KeyError)
    assert not ran.is_set()
    pool.close()
