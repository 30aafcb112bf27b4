"""Lines of shoppers as NeMo's files for joint intent and slot models (JointIntentSlotDataDesc).

dict.intents.csv    one intent per line; its index is its line, from 0
dict.slots.csv      one label per line: 26 B-, the same 26 I-, O
train.tsv           header `sentence<TAB>label`, then a sentence and the index of its intent
train_slots.tsv     no header: of each word the index of its label, so line n belongs to line n + 1 of train.tsv
test.tsv, test_slots.tsv    a fifth of the sentences, which are not in the others
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from storage.labels.tags import read_tags
from storage.tables import Turn
from tenor.errors import BadInput
from tenor.taxonomy.assistant import INTENTS, NEMO_INTENTS, SLOT_LABELS, SPOKEN_INTENTS, printed_intent, routed_intent

FILES = ("dict.intents.csv", "dict.slots.csv", "train.tsv", "train_slots.tsv", "test.tsv", "test_slots.tsv")
HEADER = "sentence\tlabel\n"
TEST_SHARE = 5
"""Every fifth sentence is for measuring; a sentence that comes again is on the same side."""
ALL_INTENTS = tuple(dict.fromkeys((*NEMO_INTENTS, *map(printed_intent, SPOKEN_INTENTS))))
"""The white paper's three first, under their numbers there."""
_LABELS = {label: index for index, label in enumerate(SLOT_LABELS)}


class LabelledLine(NamedTuple):
    text: str
    """Words with one blank between them."""
    intent: str
    """As it is printed: `find_the_store`, `unknown`."""
    tags: tuple[str, ...]


def labelled_line(turn: Turn, corrected: Mapping[str, Mapping[str, str]]) -> LabelledLine | None:
    """The shopper's line of a turn with its labels; None where there are none: an answer such as "boston" has the
    intent of its question, which the line alone does not show. `corrected`: what people say of turns
    (storage/queries/turns.py)."""
    words, said = turn.input.split(), corrected.get(turn.id, {})
    intent = said.get("intent", turn.intent if turn.intent_score > 0 else "")
    try:
        tags = read_tags(said["slots"]) if "slots" in said else turn.tags
    except BadInput:  # of a document that another program wrote
        return None
    known = routed_intent(intent) in INTENTS
    if not words or not known or len(words) != len(tags) or not _LABELS.keys() >= set(tags):
        return None
    return LabelledLine(" ".join(words), printed_intent(routed_intent(intent)), tuple(tags))


def nemo_files(lines: Iterable[LabelledLine], *, all_intents: bool = False) -> dict[str, str]:
    """The six files by name. The dictionary of intents has the white paper's three and those that occur, or all:
    training that goes on from an earlier model needs the same numbers."""
    unique = sorted(set(lines))
    used = {line.intent for line in unique}
    intents = [name for name in ALL_INTENTS if all_intents or name in NEMO_INTENTS or name in used]
    made = dict.fromkeys(FILES, "")
    made["dict.intents.csv"] = "".join(f"{name}\n" for name in intents)
    made["dict.slots.csv"] = "".join(f"{label}\n" for label in SLOT_LABELS)
    made["train.tsv"] = made["test.tsv"] = HEADER
    for line in unique:
        side = "test" if is_for_test(line.text) else "train"
        made[f"{side}.tsv"] += f"{line.text}\t{intents.index(line.intent)}\n"
        made[f"{side}_slots.tsv"] += " ".join(str(_LABELS[tag]) for tag in line.tags) + "\n"
    return made


def is_for_test(text: str) -> bool:
    return hashlib.sha256(text.lower().encode("utf-8", "surrogatepass")).digest()[0] % TEST_SHARE == 0
