"""A scorecard is filled from a call that is over: what is met, with the sentence that proves it."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from nlp.rules import KnownNames
from nlp.rules.parser import read_rules
from nlp.rules.replay import watch_again
from nlp.scorecard import form_in_force, read
from nlp.scorecard.parser import KEYS
from tenor.events import Sentence
from tenor.settings import Settings
from tenor.taxonomy import intents as taxonomy
from tenor.yaml.nodes import Faulty
from tests.nlp.rules.calls import CALL, info, rules, said

PAGE = Path(__file__).parents[3] / "docs" / "scorecards.md"
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
UPSET = "upset:\n  when: {caller: negative, in a row: 2}\n"


def filled(folder: Path, form: str, *sentences: Sentence, **known: Any) -> dict[str, tuple[str, str]]:
    path = folder / "scorecard.yaml"
    path.write_text(dedent(form), "utf-8")
    return values(folder, path, *sentences, **known)


def values(folder: Path, path: Path | None, *sentences: Sentence, **known: Any) -> dict[str, tuple[str, str]]:
    card = read(path)
    ruleset, about = rules(folder, UPSET), info(**known)
    _, history = watch_again(ruleset, CALL, about, sentences, 60_000, frozenset(), [*card.conditions()])
    return {one.point: (one.value, one.sentence) for one in card.fill(history, about)}


def agent(text: str, at_s: float, **known: Any) -> Sentence:
    return said(text, at_s, "agent", **known)


def test_the_form_that_ships_finds_what_a_good_call_has_and_a_bad_one_lacks(tmp_path: Path) -> None:
    good = (
        agent("Good morning, this is Anna.", 0, intent="greeting"),
        said("My card is gone.", 4, intent="card_replacement", sentiment="negative"),
        said("This is the second time!", 8, intent="complaint", sentiment="negative"),
        agent("I am so sorry.", 12, intent="apology"),
        agent("May I have your full name?", 15, intent="ask_details"),
        agent("I will send a new one today.", 20, intent="resolution"),
        agent("Is there anything else?", 25, intent="offer_help"),
    )
    ids = {text.text: text.sentence for text in good}
    assert values(tmp_path, None, *good) == {
        "greeted": ("yes", ids["Good morning, this is Anna."]),
        "verified": ("yes", ids["May I have your full name?"]),
        "apologised": ("yes", ids["I am so sorry."]),
        "next-step": ("yes", ids["I will send a new one today."]),
        "closed": ("yes", ids["Is there anything else?"]),
    }
    bad = (
        agent("Sorry to keep you waiting.", 0, intent="apology"),
        said("My card is gone.", 4, intent="card_replacement"),
        said("This is the second time!", 8, intent="complaint", sentiment="negative"),
        agent("Hm.", 12),
    )
    asked = bad[1].sentence
    assert values(tmp_path, None, *bad) == {
        "greeted": ("no", ""),
        "verified": ("no", asked),
        "apologised": ("no", bad[2].sentence),  # what was said before there was trouble is no answer to it
        "next-step": ("no", ""),
        "closed": ("no", ""),
    }
    calm = (agent("Hello.", 0, intent="greeting"), said("When do you open?", 3, intent="opening_hours"))
    assert values(tmp_path, None, *calm)["apologised"] == values(tmp_path, None, *calm)["verified"] == ("not_due", "")


def test_the_form_that_ships_names_only_what_there_is() -> None:
    card = form_in_force(Settings())
    assert [point.name for point in card.points] == ["greeted", "verified", "apologised", "next-step", "closed"]
    assert not form_in_force(Settings.model_validate({"language": {"scorecard": "off"}})).points


def test_a_point_may_wait_for_a_rule_that_fired_during_the_call(tmp_path: Path) -> None:
    form = """
        calmed:
          asks: Brings a caller who is upset back
          due: {rule: upset}
          afterwards: yes
          met: {feels: positive, who: caller}
    """
    first = said("No!", 1, sentiment="negative")
    upset = (first, said("Never!", 3, sentiment="negative"), agent("Let me see.", 6))
    thanks = said("Oh, lovely.", 9, sentiment="positive")
    assert filled(tmp_path, form, *upset, thanks) == {"calmed": ("yes", thanks.sentence)}
    assert filled(tmp_path, form, *upset) == {"calmed": ("no", upset[1].sentence)}
    assert filled(tmp_path, form, first, agent("Let me see.", 6), thanks) == {"calmed": ("not_due", "")}


def test_a_revised_sentence_proves_only_what_it_says_now(tmp_path: Path) -> None:
    form = "sorry:\n  asks: Says sorry\n  met: {says: sorry, who: agent}\n"
    first = agent("I am sorry", 1)
    revised = agent("I am Sorrel from billing.", 1, sentence=first.sentence, revision=1, lasts_s=3)
    assert filled(tmp_path, form, first) == {"sorry": ("yes", first.sentence)}
    assert filled(tmp_path, form, first, revised) == {"sorry": ("no", "")}


def test_a_point_is_only_for_its_calls_and_nothing_is_filled_where_no_agent_spoke(tmp_path: Path) -> None:
    form = "sold:\n  asks: Offers something\n  met: {says: offer, who: agent}\n  only for: {queue: sales}\n"
    one = agent("We have an offer.", 1)
    assert filled(tmp_path, form, one, queue="sales") == {"sold": ("yes", one.sentence)}
    assert filled(tmp_path, form, one, queue="cards") == {}
    assert filled(tmp_path, form, said("An offer?", 1), queue="sales") == {}


@pytest.mark.parametrize(
    ("form", "fault"),
    [
        ("a:\n  met: {says: hi}\n", "1:1: point 'a' has no `asks`"),
        ("a:\n  asks: x\n", "1:1: point 'a' has no `met`"),
        ("a:\n  asks: x\n  mett: {says: hi}\n", "3:3: there is no key of a point 'mett'; did you mean 'met'?"),
        ("a:\n  asks: x\n  met: {silence: 20 s}\n", "3:8: a form is filled when the call is over"),
        ("a:\n  asks: x\n  met: {rule: upsett}\n", "3:15: there is no rule 'upsett'; did you mean 'upset'?"),
        ("a:\n  asks: x\n  met: {intent: refnd}\n", "3:17: there is no intent 'refnd'; did you mean 'refund'?"),
        ("a:\n  asks: x\n  met: {says: hi}\n  afterwards: yes\n", "4:15: `afterwards` is about what made"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, form: str, fault: str) -> None:
    path = tmp_path / "scorecard.yaml"
    path.write_text(form)
    with pytest.raises(Faulty) as told:
        read(path, KnownNames(intents=taxonomy.read().names, rules=["upset"]))
    assert any(str(line).startswith(f"{path}:{fault}") for line in str(told.value).splitlines()), str(told.value)


@pytest.mark.parametrize("block", BLOCKS)
def test_every_example_of_the_page_is_right(tmp_path: Path, block: str) -> None:
    path = tmp_path / "example.yaml"
    path.write_text(block)
    rules = [rule.name for rule in read_rules()]
    assert len(read(path, KnownNames(intents=taxonomy.read().names, rules=rules)))


def test_every_key_is_on_the_page() -> None:
    assert not [key for key in KEYS if f"`{key}`" not in PAGE.read_text("utf-8")]
