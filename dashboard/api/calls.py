"""Calls, what was said in them, their recordings, and their alerts."""

# Annotations are evaluated where they stand: FastAPI could not find `Who` by its name.

import time
from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response

from dashboard.api import models
from dashboard.api.auth import ApiAuth, Requester
from dashboard.api.caching import ETagRoute
from dashboard.api.changes import changing
from dashboard.api.errors import RESPONSES
from dashboard.corrections import Corrections
from dashboard.routes.recordings import Recordings
from dashboard.summaries import SummaryChanges
from storage.db.engine import Database
from storage.queries import alerts, calls, live
from storage.queries.alerts import AlertFilter
from storage.queries.calls import CallFilter, WholeCall
from storage.scorecards.confirming import card_of, scored
from storage.summaries import left
from storage.tables import Alert, Call, Sentence

MOST = 500
MOST_SENTENCES = 2000
Text = Annotated[str, Query(max_length=200)]
Moment = Annotated[float | None, Query(description="seconds since the Unix epoch")]
After = Annotated[str, Query(max_length=1000, description="`after` of the page before")]
Limit = Annotated[int, Query(ge=1, le=MOST)]


def router(
    database: Database,
    auth: ApiAuth,
    audio: Recordings,
    summaries: SummaryChanges,
    corrections: Corrections,
    origins: list[str],
) -> APIRouter:
    made = APIRouter(route_class=ETagRoute, responses=RESPONSES, tags=["calls"])
    Who = Annotated[Requester, Depends(auth.requester)]  # noqa: N806
    Changes = Annotated[Requester, Depends(changing(auth, origins))]  # noqa: N806

    @made.get("/calls")
    def list_calls(
        who: Who,
        agent: Text = "",
        customer: Text = "",
        site: Text = "",
        queue: Text = "",
        medium: Text = "",
        task: Text = "",
        state: Annotated[tuple[str, ...], Query(max_length=5)] = (),
        since: Moment = None,
        until: Moment = None,
        alerts: bool | None = None,
        escalations: bool | None = None,
        sample: bool | None = None,
        after: After = "",
        limit: Limit = 50,
    ) -> models.Calls:
        """Calls, newest first."""
        wanted = CallFilter(
            agent=agent,
            customer=customer,
            site=site,
            queue=queue,
            medium=medium,
            task=task,
            states=state,
            since=since,
            until=until,
            alerts=alerts,
            escalations=escalations,
            sample=sample,
        )
        with database.session() as session:
            page = calls.page(session, who.viewer, wanted, after=after, limit=limit)
            return models.Calls(calls=[call_of(one) for one in page.calls], after=page.after)

    @made.get("/calls/{call:path}/sentences")
    def list_sentences(
        who: Who, call: str, after: After = "", limit: Annotated[int, Query(ge=1, le=MOST_SENTENCES)] = 500
    ) -> models.Sentences:
        """What was said in a call, in order of time, as people left it."""
        whole = _whole(database, who, call)
        rows = whole.sentences
        if after:
            places = [number for number, row in enumerate(rows) if row.id == after]
            if not places:
                raise HTTPException(400, "`after` is no sentence of this call")
            rows = rows[places[0] + 1 :]
        page = [_sentence(whole, row) for row in rows[:limit]]
        return models.Sentences(sentences=page, after=page[-1].id if len(rows) > limit else "")

    @made.get("/calls/{call:path}/recording", response_class=Response, responses=_AUDIO)
    async def get_recording(who: Who, call: str, request: Request) -> Response:
        """The recording, both sides as channels; byte ranges are served."""
        response = await audio.serve(request, who.viewer, call, lambda: auth.still_valid(who))
        if response.status_code == 404:
            raise HTTPException(404, "there is no such recording, or none that you may hear")
        return response

    @made.post("/calls/{call:path}/summary", status_code=202)
    async def mend_summary(who: Changes, call: str, said: models.MendedPoint) -> models.MendedPoint:
        """Put a point of a call's summary right, strike it out with an empty text, or say another outcome (point
        `outcome`). It is kept beside what the summary said, which `withdrawn` brings back."""
        mended = await summaries.mend(who.viewer, call, said.point, said.text, withdrawn=said.withdrawn)
        return models.MendedPoint(point=mended.point, text=mended.text, withdrawn=mended.withdrawn)

    @made.post("/calls/{call:path}/wrap-up", status_code=202)
    async def wrap_call_up(who: Changes, call: str, said: models.WrapUp) -> models.WrapUp:
        """Say with a code how a call ended; an empty one takes back what was said."""
        return models.WrapUp(code=(await summaries.wrap_up(who.viewer, call, said.code)).code)

    @made.post("/calls/{call:path}/notes", status_code=202, responses=_NOT_YOURS)
    async def write_note(who: Changes, call: str, said: models.NewNote) -> models.WrittenNote:
        """Write to the agent on a call, about the call or a sentence of it, as managers do on the Call page."""
        return models.WrittenNote(note=(await corrections.note(who.viewer, call, said.text, said.sentence)).note)

    @made.post("/sentences/{sentence:path}/labels")
    async def label_sentence(who: Changes, sentence: str, said: models.NewLabel) -> models.Labelled:
        """Say what a sentence should have been: its sentiment, intent, slots, text or speaker. Your label is kept
        beside what the models said, and the answer is how the sentence stands now."""
        now = await corrections.label(who.viewer, sentence, said.kind, said.value)
        return models.Labelled(call=str(now["call"]), sentence=sentence, **now["as_left"])

    @made.get("/wrap-up-codes")
    def list_wrap_up_codes(who: Who) -> models.WrapUpCodes:
        """The codes that there are, with a text for people."""
        return models.WrapUpCodes(codes=summaries.codes)

    @made.post("/calls/{call:path}/scorecard", responses=_REFUSED)
    def confirm_scorecard(who: Changes, call: str, said: models.ConfirmPoints) -> models.Scorecard:
        """Confirm or mend points of a call's scorecard. The newest word of a point counts; a point of which nobody said
        anything counts nowhere."""
        _whole(database, who, call)
        points = scored(database, who.viewer, call, said.points)
        return models.Scorecard(points=[models.ScorePoint.model_validate(point) for point in points])

    @made.get("/calls/{call:path}")
    def get_call(who: Who, call: str) -> models.CallDetail:
        """One call with its alerts and notes."""
        whole = _whole(database, who, call)
        return models.CallDetail(
            call=call_of(whole.call),
            alerts=[_alert(row) for row in whole.alerts],
            notes=[models.Note.model_validate(row) for row in whole.notes],
            scorecard=[models.ScorePoint.model_validate(point) for point in card_of(whole.call, whole.scores)],
        )

    @made.get("/live", tags=["live"])
    def list_live(who: Who, site: Text = "", queue: Text = "") -> models.Live:
        """The calls going on now, as tiles of the Live page show them; `/events` tells what changes."""
        with database.session() as session:
            found = live.live_calls(session, who.viewer, site=site, queue=queue)
        return models.Live(at=time.time(), calls=[models.LiveCall.model_validate(one) for one in found])

    @made.get("/alerts", tags=["live"])
    def list_alerts(
        who: Who,
        rule: Text = "",
        severity: Text = "",
        escalation: bool | None = None,
        agent: Text = "",
        queue: Text = "",
        site: Text = "",
        since: Moment = None,
        until: Moment = None,
        after: After = "",
        limit: Limit = 50,
    ) -> models.Alerts:
        """Alerts of all calls, newest first."""
        given = {"rule": rule, "severity": severity, "agent": agent, "queue": queue, "site": site}
        wanted = AlertFilter(**given, escalation=escalation, since=since, until=until)
        with database.session() as session:
            page = alerts.page(session, who.viewer, wanted, after=after, limit=limit)
            return models.Alerts(alerts=[_raised(*one) for one in page.alerts], after=page.after)

    return made


_AUDIO: dict[int | str, dict[str, Any]] = {
    200: {"content": {"audio/flac": {}, "audio/ogg": {}}, "description": "The whole file"},
    206: {"content": {"audio/flac": {}, "audio/ogg": {}}, "description": "The range asked for"},
}


_NOT_YOURS: dict[int | str, dict[str, Any]] = {403: {"description": "This role does not write notes"}}
_REFUSED: dict[int | str, dict[str, Any]] = {
    403: {"description": "This role does not confirm scorecards, or the call is your own"}
}


def call_of(row: Call) -> models.Call:
    told = {"recorded": bool(row.recording), "summary": left(row), "written_summary": row.written_summary or None}
    return models.Call.model_validate({**row.model_dump(), **told})


def _whole(database: Database, who: Requester, call: str) -> WholeCall:
    with database.session() as session:
        whole = calls.whole(session, who.viewer, call)
    if whole is None:
        raise HTTPException(404, "there is no such call, or none that you may see")
    return whole


def _sentence(whole: WholeCall, row: Sentence) -> models.Sentence:
    labels = _labels(whole.labels.get(row.id, []))
    told = {**row.model_dump(), **whole.said(row), "classifiers": row.labels, "labels": labels}
    return models.Sentence.model_validate(told)


def _labels(labels: Iterable[Any]) -> list[models.Label]:
    return [models.Label.model_validate(label) for label in labels]


def _alert(row: Alert) -> models.Alert:
    return models.Alert.model_validate(row)


def _raised(alert: Alert, call: Call) -> models.RaisedAlert:
    of_call = {name: getattr(call, name) for name in ("agent", "customer", "queue", "site")}
    return models.RaisedAlert.model_validate({**alert.model_dump(), **of_call})
