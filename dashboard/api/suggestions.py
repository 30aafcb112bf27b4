"""What the models suggest, for labelling tools: one sentence or turn at a time."""

# Annotations are evaluated where they stand: FastAPI could not find `Who` by its name.

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException

from dashboard.api import models
from dashboard.api.auth import ApiAuth, Requester
from dashboard.api.caching import ETagRoute
from dashboard.api.errors import RESPONSES
from storage.db.engine import Database
from storage.labels.suggestions import Suggestion, suggestion_of_sentence, suggestion_of_turn


def router(database: Database, auth: ApiAuth) -> APIRouter:
    made = APIRouter(route_class=ETagRoute, responses=RESPONSES, tags=["labels"])
    Who = Annotated[Requester, Depends(auth.requester)]  # noqa: N806

    @made.get("/suggestions/sentence/{sentence:path}")
    def suggest_for_sentence(who: Who, sentence: str) -> models.Suggestion:
        """Sentiment, intent and slots that the models suggest for a sentence, with their scores."""
        with database.session() as session:
            return _answer(suggestion_of_sentence(session, who.viewer, sentence), "sentence")

    @made.get("/suggestions/turn/{turn:path}")
    def suggest_for_turn(who: Who, turn: str) -> models.Suggestion:
        """Intent and slots that the model suggests for what a shopper said to the assistant."""
        with database.session() as session:
            return _answer(suggestion_of_turn(session, who.viewer, turn), "turn")

    return made


def _answer(found: Suggestion | None, what: str) -> models.Suggestion:
    if found is None:
        raise HTTPException(404, f"there is no such {what}, or none that you may see")
    return models.Suggestion.model_validate(found)
