"""What all flows of an assistant share: slots, actions, guarded topics, patterns, intents of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, get_args

from dialog.flow.draft import Reference
from dialog.flow.known_names import SLOT_TYPES, reply_texts
from dialog.flow.model import ActionSpec, Filler, GuardedTopic, Keep, Patterns, Slot
from dialog.flow.reading.file_context import FileContext
from dialog.flow.state_types import IMPORT_PATH
from tenor.taxonomy.assistant import SLOT_NAMES
from tenor.yaml import fields
from tenor.yaml.nodes import Mapping, Node, Text

SLOT_KEYS: Final = ("type", "ask", "keep", "confirm", "depends_on", "choices", "labels")
ACTION_KEYS: Final = ("call", "needs", "uses", "timeout", "retries", "changes", "confirm", "key", "filler")
GUARD_KEYS: Final = ("like", "unless", "say")
PATTERN_KEYS: Final = (
    "failures", "silence", "text_silence", "handover", "digressions", "digress_above", "replies",
)  # fmt: skip
HANDOVER_KEYS: Final = ("queue", "wait", "mood")
INTENT_KEYS: Final = ("like",)
MOST_RETRIES: Final = 10
MOST_EXAMPLES: Final = 500


def read_slots(context: FileContext, node: Node) -> None:
    for key, value in context.entries(node, "`slots`"):
        tree = _declared(context, key, value, "a slot", SLOT_KEYS, context.draft.slots)
        if tree is not None:
            context.draft.slots[key.value] = _slot(context, key, tree)


def _slot(context: FileContext, key: Text, tree: Mapping) -> Slot:
    faults, given = context.faults, _Given(tree)
    kind = given.read("type", lambda node: fields.text(node, faults, "`type` of a slot")) or "text"
    if not tree.get("type"):
        faults.add(key, f"slot {key.value!r} has no `type`")
    elif kind not in SLOT_TYPES and not IMPORT_PATH.fullmatch(kind):
        place = tree.get("type")
        assert isinstance(place, Text)
        faults.unknown(place, "type of slots", SLOT_TYPES)
    choices = given.read("choices", lambda node: fields.texts(node, faults, "`choices`")) or []
    if kind == "choice" and not choices:
        faults.add(key, f"slot {key.value!r} is a choice and has no `choices`")
    labels = given.read("labels", lambda node: fields.texts(node, faults, "`labels`")) or []
    for label in labels:
        if label.value not in SLOT_NAMES:
            faults.unknown(label, "label", SLOT_NAMES)
    return Slot(
        name=key.value,
        type=kind,
        where=context.where(key),
        ask=given.read("ask", lambda node: context.templates(node, "`ask`")) or (),
        keep=given.read("keep", lambda node: fields.choice(node, faults, "`keep`", get_args(Keep))) or "topic",
        confirm_below=_or(given.read("confirm", lambda node: _confirm_below(context, node)), 0.6),
        depends_on=given.read("depends_on", lambda node: context.references(node, "slot", "`depends_on`")) or (),
        choices=tuple(one.value for one in choices),
        labels=tuple(one.value for one in labels),
    )


def _confirm_below(context: FileContext, node: Node) -> float | None:
    """`below 0.6`, `always`, `never`."""
    value = fields.text(node, context.faults, "`confirm`")
    if value is None:
        return None
    if value in ("always", "never"):
        return 1.01 if value == "always" else 0.0
    found = fields.quantity(value.removeprefix("below "))
    if not value.startswith("below ") or found is None or found[1] or not 0 <= found[0] <= 1:
        context.faults.add(node, f"`confirm` of a slot is `below 0.6`, `always` or `never`, not {value!r}")
        return None
    return found[0]


def read_actions(context: FileContext, node: Node) -> None:
    for key, value in context.entries(node, "`actions`"):
        tree = _declared(context, key, value, "an action", ACTION_KEYS, context.draft.actions)
        if tree is not None:
            context.draft.actions[key.value] = _action(context, key, tree)


def _action(context: FileContext, key: Text, tree: Mapping) -> ActionSpec:
    faults, given = context.faults, _Given(tree)
    call = given.read("call", lambda node: fields.text(node, faults, "`call`")) or key.value
    place = tree.get("call") or key
    context.draft.references.append(("implementation", Reference(call, context.where(place))))
    needs = given.read("needs", lambda node: context.references(node, "slot", "`needs`")) or ()
    uses = given.read("uses", lambda node: context.references(node, "slot", "`uses`")) or ()
    same = given.read("key", lambda node: fields.texts(node, faults, "`key`")) or []
    for one in same:
        if one.value not in {name for given in (*needs, *uses) for name in given.split(" or ")}:
            faults.add(one, f"`key` names {one.value!r}, which the action neither needs nor uses")
    changes = given.read("changes", lambda node: fields.text(node, faults, "`changes`")) or "nothing"
    confirm = given.read("confirm", lambda node: context.template(node, "`confirm`"))
    if changes != "nothing" and tree.get("confirm") is None:
        faults.add(key, f"action {key.value!r} changes something ({changes}) and has no `confirm` to ask before")
    return ActionSpec(
        name=key.value,
        call=call,
        where=context.where(key),
        needs=needs,
        uses=uses,
        timeout_ms=given.read("timeout", lambda node: fields.duration(node, faults, "`timeout`")) or 3000,
        retries=_or(given.read("retries", lambda node: context.whole(node, "`retries`", 0, MOST_RETRIES)), 2),
        changes=changes,
        confirm=confirm,
        key=tuple(one.value for one in same),
        filler=given.read("filler", lambda node: _filler(context, node)),
    )


def _filler(context: FileContext, node: Node) -> Filler | None:
    tree = fields.mapping(node, context.faults, "`filler`")
    if tree is None:
        return None
    fields.unknown_keys(tree, context.faults, "key of a filler", ("after", "say"))
    after, say = tree.get("after"), tree.get("say")
    if say is None:
        context.faults.add(node, "`filler` has no `say`")
        return None
    after_ms = fields.duration(after, context.faults, "`after`") if after is not None else 1000
    text = context.template(say, "`say`")
    return Filler(after_ms=after_ms or 1000, say=text) if text is not None else None


def read_guard(context: FileContext, node: Node) -> None:
    for key, value in context.entries(node, "`guard`"):
        tree = _declared(context, key, value, "a guarded topic", GUARD_KEYS, context.draft.guards)
        if tree is None:
            continue
        like, unless, say = tree.get("like"), tree.get("unless"), tree.get("say")
        for name, given in (("like", like), ("say", say)):
            if given is None:
                context.faults.add(key, f"guarded topic {key.value!r} has no `{name}`")
        sentences = fields.texts(like, context.faults, "`like`") if like is not None else []
        exceptions = fields.texts(unless, context.faults, "`unless`") if unless is not None else []
        text = context.template(say, "`say`") if say is not None else None
        if text is not None:
            context.draft.guards[key.value] = GuardedTopic(
                name=key.value,
                like=tuple(one.value for one in sentences),
                unless=tuple(one.value for one in exceptions),
                say=text,
                where=context.where(key),
            )


def read_intents(context: FileContext, node: Node) -> None:
    """Intents of one's own, by examples: `loyalty.points: {like: [how many points do i have]}`."""
    draft = context.draft
    for key, value in context.entries(node, "`intents`"):
        if key.value in draft.examples:
            context.faults.add(key, _twice("intent", key, draft.examples[key.value][0].file, context.file))
            continue
        tree = value if isinstance(value, Mapping) else None
        if tree is not None:
            fields.unknown_keys(tree, context.faults, "key of an intent", INTENT_KEYS)
        like = tree.get("like") if tree is not None else value
        if like is None:
            context.faults.add(key, f"intent {key.value!r} has no examples under `like`")
            continue
        sentences = fields.texts(like, context.faults, f"`like` of {key.value!r}")
        if len(sentences) > MOST_EXAMPLES:
            context.faults.add(like, f"more than {MOST_EXAMPLES} examples: train a model instead")
        draft.examples[key.value] = (context.where(key), tuple(one.value for one in sentences))


def read_patterns(context: FileContext, node: Node) -> None:
    tree = fields.mapping(node, context.faults, "`patterns`")
    if tree is None:
        return
    faults, given, usual = context.faults, _Given(tree), Patterns()
    fields.unknown_keys(tree, faults, "pattern", PATTERN_KEYS)
    handover = tree.get("handover")
    inner = fields.mapping(handover, faults, "`handover`") if handover is not None else None
    if inner is not None:
        fields.unknown_keys(inner, faults, "key of `handover`", HANDOVER_KEYS)
    person = _Given(inner or Mapping(node.line, node.column, ()))
    context.draft.patterns = Patterns(
        failures=given.read("failures", lambda one: context.whole(one, "`failures`", 1, 10)) or usual.failures,
        silence_ms=given.read("silence", lambda one: fields.duration(one, faults, "`silence`")) or usual.silence_ms,
        text_silence_ms=given.read("text_silence", lambda one: fields.duration(one, faults, "`text_silence`"))
        or usual.text_silence_ms,
        handover_queue=person.read("queue", lambda one: fields.text(one, faults, "`queue`")) or usual.handover_queue,
        handover_wait_ms=person.read("wait", lambda one: fields.duration(one, faults, "`wait`"))
        or usual.handover_wait_ms,
        handover_mood=person.read("mood", lambda one: _mood_below(context, one)),
        digressions=_or(
            given.read("digressions", lambda one: context.whole(one, "`digressions`", 0, 10)), usual.digressions
        ),
        digress_above=_or(
            given.read("digress_above", lambda one: fields.share(one, faults, "`digress_above`")), usual.digress_above
        ),
        replies=given.read("replies", lambda one: _replies(context, one)) or {},
    )


def _mood_below(context: FileContext, node: Node) -> float | None:
    """`below -0.5`."""
    value = fields.text(node, context.faults, "`mood`")
    try:
        below = float((value or "").removeprefix("below "))
    except ValueError:
        below = float("nan")
    if value is None:
        return None
    if not value.startswith("below ") or not -1 < below <= 1:
        context.faults.add(node, f"`mood` of `handover` is `below -0.5`, with a number from -1 to 1, not {value!r}")
        return None
    return below


def _replies(context: FileContext, node: Node) -> dict[str, Any]:
    known, found = reply_texts(), {}
    for key, value in context.entries(node, "`replies`"):
        if known and key.value not in known:
            context.faults.unknown(key, "reply", known)
        texts = context.templates(value, f"reply `{key.value}`", known.get(key.value, frozenset()))
        if texts:
            found[key.value] = texts
    return found


def _declared(
    context: FileContext, key: Text, node: Node, what: str, keys: tuple[str, ...], earlier: dict[str, Any]
) -> Mapping | None:
    """The mapping of a thing that is declared once, whatever the file."""
    if not context.name(key, what):
        return None
    if key.value in earlier:
        context.faults.add(key, _twice(what.split()[-1], key, earlier[key.value].where.file, context.file))
        return None
    tree = fields.mapping(node, context.faults, f"{what} {key.value!r}")
    if tree is not None:
        fields.unknown_keys(tree, context.faults, f"key of {what}", keys)
    return tree


def _twice(what: str, key: Text, first: str, file: str) -> str:
    return f"{what} {key.value!r} is declared twice" + ("" if first == file else f"; the first is in {first}")


def _or(value: Any, usual: Any) -> Any:
    return usual if value is None else value


class _Given:
    """What a mapping holds under a key, read if it is there."""

    def __init__(self, tree: Mapping) -> None:
        self._tree = tree

    def read(self, key: str, how: Callable[[Node], Any]) -> Any:
        node = self._tree.get(key)
        return how(node) if node is not None else None
