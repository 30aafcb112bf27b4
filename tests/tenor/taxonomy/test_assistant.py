"""The paper's labels of the assistant, counted and in its order."""

from tenor.taxonomy import assistant


def test_the_counts_are_those_of_the_paper() -> None:
    assert len(assistant.ROUTED_INTENTS) == 20
    assert len(assistant.SLOT_NAMES) == 26
    assert len(assistant.SLOT_LABELS) == 53
    assert assistant.NEMO_INTENTS == ("price_check", "find_the_store", "unknown")


def test_slot_labels_stand_where_the_papers_rows_expect_them() -> None:
    def named(row: str) -> list[str]:
        return [assistant.SLOT_LABELS[int(number)] for number in row.split()]

    assert named("20 46 24 25 6 32 6") == [
        "B-interrogative.manner", "I-interrogative.manner", "B-verb", "B-article", "B-item.type", "I-item.type",
        "B-item.type",
    ]  # fmt: skip
    assert named("23 52 14 40") == ["B-interrogative", "O", "B-cost.low", "I-cost.low"]


def test_every_name_is_there_once() -> None:
    assert len(set(assistant.INTENTS)) == len(assistant.INTENTS)
    assert len(set(assistant.SLOT_LABELS)) == len(assistant.SLOT_LABELS)
    assert assistant.SERVICE_ERROR not in assistant.SPOKEN_INTENTS


def test_an_alias_leads_to_the_routed_name_and_back() -> None:
    assert assistant.routed_intent("find_the_store") == "store_location"
    assert assistant.routed_intent("unknown") == "nomatch.none"
    assert assistant.routed_intent("price_check") == "price_check"
    assert assistant.printed_intent("store_location") == "find_the_store"
    assert assistant.printed_intent("nomatch.none") == "unknown"
    assert assistant.printed_intent("weather.snow") == "weather.snow"
