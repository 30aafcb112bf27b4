"""Several sentences of one call: what is found is what the words say, and what is wrong is told with its column."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenor.errors import BadInput
from tenor.search.calls import CallSearch, Position, read

KNOWN = {
    "role": ("caller", "agent"),
    "intent": ("cancel", "refund"),
    "sentiment": ("negative", "neutral"),
    "aspect": ("price", "delivery"),
}
SEARCHES = (
    "(a)",
    "not (a)",
    "(a) then (b)",
    "(a) and (b)",
    "(a) not (b)",
    "(a) then (b) then (c)",
    "(a) then not (b)",
    "(a) then not (b) then (c)",
    "not (a) then (b)",
    "(a) and not (b) then (c)",
    "(a) then (b) and (c) then not (b)",
    "not (a) and not (b)",
    "(a) then (a)",
)


def holds(search: CallSearch, places: list[list[Position]]) -> bool:
    """As the words say: of all ways to choose sentences, one in which nothing unwanted stands in its place."""

    def chain_holds(number: int) -> bool:
        chain = search.chains[number]
        wanted = [step.sentence for step in chain if step.wanted]
        for chosen in product(*(places[sentence] for sentence in wanted)):
            if list(chosen) != sorted(set(chosen)):
                continue
            borders = [(-1, ""), *chosen, (10**9, "")]
            gap, fits = 0, True
            for step in chain:
                if step.wanted:
                    gap += 1
                elif any(borders[gap] < place < borders[gap + 1] for place in places[step.sentence]):
                    fits = False
            if fits:
                return True
        return False

    return all(chain_holds(number) for number in range(len(search.chains)))


spoken = st.lists(st.sampled_from(["a", "b", "c", "a b", "b c", "x"]), max_size=8)


@given(text=st.sampled_from(SEARCHES), said=spoken)
def test_a_call_is_found_when_the_words_say_so(text: str, said: list[str]) -> None:
    search = read(text)
    places = [[(number, "") for number, line in enumerate(said) if wanted.matches(line)] for wanted in search.sentences]
    for last in (False, True):
        found = search.find(places, last=last)
        assert (found is not None) == holds(search, places)
        if found is not None:
            assert found.keys() == set(search.wanted)
            assert all(place in places[sentence] for sentence, place in found.items())
            for chain in search.chains:
                chosen = [found[step.sentence] for step in chain if step.wanted]
                assert chosen == sorted(set(chosen))


def test_a_sentence_is_like_its_brackets() -> None:
    search = read('(role:caller intent:cancel,refund "my account" -please canc*)', KNOWN)
    (sentence,) = search.sentences
    assert sentence.matches("CANCEL my Account", role="caller", intent="refund")
    assert not sentence.matches("cancel my account", role="agent", intent="refund")
    assert not sentence.matches("cancel my account", role="caller", intent="greeting")
    assert not sentence.matches("cancel my account, please", role="caller", intent="cancel")
    assert not sentence.matches("account my cancel", role="caller", intent="cancel")
    (about,) = read("(aspect:price,delivery late)", KNOWN).sentences
    assert about.matches("It was late.", aspect="product,delivery")
    assert not about.matches("It was late.", aspect="product")
    assert not about.matches("It was late.", aspect="")
    assert read("NOT(a)then(b)THEN  not (c)").text == "not (a) then (b) then not (c)"
    assert read('("a) then (b")').sentences[0].words == '"a) then (b"'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["column 1: no sentence in brackets"]),
        ("refund", ["column 1: no sentence in brackets"]),
        ("(rol:caller x)", ["column 2: a search has no 'rol'; did you mean 'role'?"]),
        ("(role:calller)", ["column 2: there is no role 'calller'; did you mean 'caller'?"]),
        ("(intent:cancle)", ["column 2: there is no intent 'cancle'; did you mean 'cancel'?"]),
        ("(aspect:prise)", ["column 2: there is no aspect 'prise'; did you mean 'price'?"]),
        ("(role: caller)", ["column 2: 'role' has no value"]),
        ("(a) thn (b)", ["column 5: 'thn' joins no sentences; did you mean 'then'?"]),
        ("(a) or (b)", ["column 5: 'or' joins no sentences"]),
        ("(a) (b)", ["column 4: between two sentences"]),
        ("(a) then", ["column 5: after 'then', a sentence"]),
        ("then (a)", ["column 1: 'then' joins nothing here"]),
        ("(a) then then (b)", ["column 5: 'then then' joins nothing here"]),
        ("(a) late (b)", ["column 5: 'late' is outside the brackets"]),
        ("(a) not (b) then (c)", ["column 9: is that not said before the next?"]),
        ("(a", ["column 1: this bracket is not closed"]),
        ("(a))", ["column 4: no bracket is open here"]),
        ("((a))", ["column 2: brackets inside brackets", "column 5: no bracket is open here"]),
        ("() and (-)", ["column 1: no word and no field", "column 8: no word and no field"]),
        ("(a) queue:billing", ["column 5: 'queue' is about the call and not a sentence"]),
        ("(queue:billing a)", ["column 2: 'queue' is about the call: it belongs outside"]),
        ("(a) role:agent", ["column 5: 'role' is about a sentence: it belongs in brackets"]),
        (" and ".join(["(a)"] * 9), ["column 65: more than 8 sentences"]),
        ("(" + "a" * 1000 + ")", ["column 1001: longer than 1000 characters"]),
    ],
)
def test_what_is_wrong_is_told_with_its_column(text: str, told: list[str]) -> None:
    with pytest.raises(BadInput) as refused:
        read(text, KNOWN)
    lines = refused.value.message.splitlines()
    assert len(lines) == len(told)
    assert all(line.startswith(words) for line, words in zip(lines, told, strict=True)), lines


@given(st.text(alphabet='ab ()":-*,norethd\u0301', max_size=60))
def test_whatever_is_typed_is_read_or_told(text: str) -> None:
    told = ""
    try:
        assert read(read(text, KNOWN).text, KNOWN) == read(text, KNOWN)
    except BadInput as refused:
        told = refused.message
    assert told.startswith("column ") or not told
