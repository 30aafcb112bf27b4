"""The assistant that ships holds every conversation that its authors wrote down."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from dialog.flow.loading import SHIPPED
from dialog.testing.report import told
from dialog.testing.suite import SuiteResult
from tenor.runtime.assistant.conversation_tests import run_conversations, select
from tenor.settings import Settings

pytestmark = pytest.mark.slow

LEAST_BY_RULES: Final = 0.95
"""The share that goes well where no model is there and rules understand."""


@pytest.fixture(scope="module")
def result() -> SuiteResult:
    """As a shopper has them: the understander in force."""
    return asyncio.run(run_conversations(Settings(), select([], None, SHIPPED)))


def test_every_conversation_goes_as_it_was_written_down(result: SuiteResult) -> None:
    assert not result.failed, "\n".join(told(result))


def test_without_a_model_nearly_all_go_well_too() -> None:
    by_rules = asyncio.run(run_conversations(Settings(), select([], None, SHIPPED), model=False))
    share = 1 - len(by_rules.failed) / len(by_rules.outcomes)
    assert share >= LEAST_BY_RULES, "\n".join(told(by_rules))


def test_there_are_hundreds_and_they_take_milliseconds(result: SuiteResult) -> None:
    assert len(result.outcomes) >= 200
    times = sorted(one.took_s for one in result.outcomes)
    assert times[len(times) // 2] < 0.1


def test_conversations_go_through_every_state_but_those_for_a_service_that_fails(result: SuiteResult) -> None:
    assert set(result.coverage.missing_states()) <= {"main_flow.error", "error_flow.error_state"}
    assert len(result.coverage.missing_ways()) <= 3


def test_names_tell_conversations_apart(result: SuiteResult) -> None:
    places = {(one.where.file, one.name) for one in result.outcomes}
    assert len(places) == len(result.outcomes)
