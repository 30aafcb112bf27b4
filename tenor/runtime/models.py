"""Models of the registry, loaded: whether one gives its golden answers, and how it would answer calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import structlog

from tenor.bus.opening import open_bus
from tenor.errors import BadInput, TenorError
from tenor.events import MODELS, ModelPromoted
from tenor.model_store.card import CARD, Kind
from tenor.model_store.golden import FILE, GoldenAnswer
from tenor.model_store.promotion_log import Promotion
from tenor.settings import LanguageSettings, RivaSettings, Settings

log = structlog.get_logger(__name__)

GOLDEN: dict[Kind, tuple[str, ...]] = {
    "language": (
        "I lost my card on the train this morning.",
        "This is the third time I call and nobody helps me.",
        "Thank you so much, that was really quick.",
        "Could you tell me the balance of my savings account?",
        "I want my money back for the broken kettle.",
        "Please hold on while I look that up.",
        "My name is Rosa Lind and I was born in May.",
        "When do you open on Saturday?",
        "The website logs me out again and again.",
        "No, that is not what I ordered.",
    ),
    "assistant": (
        "will it rain in Boston tomorrow",
        "how much is the blue kettle",
        "do you have running shoes in size ten",
        "where is the nearest store",
        "find me an italian restaurant downtown",
        "put two lamps aside for me",
        "what can you do",
        "I would like to talk to a person",
        "is the kettle dishwasher safe",
        "never mind",
    ),
    "speech": (),
}
"""What is asked of a model that comes without golden answers. A recogniser's need audio: its maker adds them."""


def check_model(kind: Kind, folder: Path, riva: RivaSettings | None = None) -> None:
    """Load the model, have it give its golden answers, and let it go. TenorError says what is wrong."""
    try:
        if kind == "language":
            from nlp.inference.backend import open_local

            open_local(LanguageSettings(), folder)
        elif kind == "assistant":
            from tenor.runtime.assistant.understanding import open_assistant_model

            open_assistant_model(folder)
        else:
            from asr.local.stt.engines.golden import open_checked

            open_checked(folder, riva or RivaSettings()).close()
    except TenorError:
        raise
    except Exception as error:  # whatever a foreign file makes of a loader
        raise BadInput(f"{folder} cannot be loaded: {type(error).__name__}: {error}") from None


def golden_for(kind: Kind, folder: Path) -> bytes:
    """Golden answers for a model that has none: what it answers here. Empty where it has some, or cannot have any."""
    texts = GOLDEN[kind]
    if (folder / FILE).exists() or not texts or not (folder / CARD).exists():
        return b""
    answered = zip(texts, _ask(kind, folder, texts), strict=True)
    golden = [GoldenAnswer(text=text, answers=answers) for text, answers in answered]
    return b"".join(msgspec.json.encode(one) + b"\n" for one in golden)


def _ask(kind: Kind, folder: Path, texts: Sequence[str]) -> list[dict[str, str]]:
    from nlp.inference.models.golden import assistant_answers, language_answers

    if kind == "assistant":
        from nlp.inference.assistant.assistant_model import AssistantModel

        return assistant_answers(AssistantModel(folder), texts)
    from nlp.inference.models.language_model import open_model

    return language_answers(open_model(folder), texts)


async def wake_workers(settings: Settings, promotion: Promotion) -> bool:
    """Tell the bus of a promotion. False when it cannot be told: workers look at the log by themselves, too."""
    event = ModelPromoted(
        call="", kind=promotion.kind, model=promotion.model, at=promotion.at, effective_at=promotion.effective_at,
        by=promotion.by,
    )  # fmt: skip
    quick = settings.model_copy(update={"bus": settings.bus.model_copy(update={"patience_s": 3.0})})
    try:
        async with open_bus(quick) as bus:
            await bus.publish(MODELS, event)
    except TenorError as error:
        log.warning("the bus was not told of the promotion", reason=error.message)
        return False
    return True


def pinned_by(settings: Settings, kind: Kind) -> str:
    """The setting that keeps promotions of this kind from counting here; empty where none does."""
    if kind == "language" and settings.language.model:
        return "language.model"
    if kind == "language" and settings.language.backend == "riva":
        return "language.backend"
    if kind == "speech" and settings.riva.recognizer_path:
        return "riva.ctc_path" if settings.riva.ctc_path else "riva.whisper_path"
    return "speech.model" if kind == "speech" and settings.speech.model else ""
