"""What a commit's note has room for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenor.bus.commit_note import MAX_BYTES, CommitNote, checked_note

CALLS = st.lists(st.tuples(st.text(min_size=1, max_size=400), st.integers(0, 2**62)), max_size=80)


@given(CALLS, st.integers(0, 2**62))
def test_it_never_outgrows_a_commit_and_comes_back_as_it_was(calls: list[tuple[str, int]], offset: int) -> None:
    note = CommitNote(offset, offset, reached=offset).with_resting(calls)
    assert CommitNote.read(checked_note(note.write())) == note


def test_the_most_important_calls_are_named_and_one_that_is_too_long_costs_no_other() -> None:
    calls = [("x" * MAX_BYTES, 1), *((f"call-{number}", number) for number in range(1000))]
    resting = list(CommitNote(7).with_resting(calls).resting)
    assert resting == [f"call-{number}" for number in range(len(resting))]
    assert len(resting) > 200
    assert len(CommitNote(7).with_resting(calls).write()) > MAX_BYTES - 20
    assert CommitNote(7, resting=dict(calls)).with_resting(calls) == CommitNote(7).with_resting(calls)
