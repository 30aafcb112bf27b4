"""A provider that is down is asked by one conversation at a time, not by all."""

from __future__ import annotations

from dialog.fulfilment.breaker import CircuitBreaker


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_after_the_pause_one_conversation_tries_and_the_others_wait_for_it() -> None:
    clock = Clock()
    breaker = CircuitBreaker(failures=2, open_s=30, clock=clock)
    for _ in range(2):
        assert breaker.allows()
        breaker.failed()
    assert not breaker.allows()
    clock.now = 31
    assert [breaker.allows() for _ in range(3)] == [True, False, False]
    breaker.succeeded()
    assert [breaker.allows() for _ in range(3)] == [True, True, True]


def test_a_success_in_between_starts_the_count_anew() -> None:
    breaker = CircuitBreaker(failures=2, open_s=30, clock=Clock())
    for _ in range(5):
        breaker.failed()
        breaker.succeeded()
    breaker.failed()
    assert breaker.allows()
