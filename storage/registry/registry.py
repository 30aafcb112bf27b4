"""Versions of models: who made them, what the gate said, which is in force, and who may change that.

The files are the truth: a folder is a version, a line of the log a promotion. The tables make them searchable and carry
what has no file (gates, shadow runs, the audit trail). A process that was killed between the two is made good by the
next that looks (`sync`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import msgspec
from sqlalchemy import select
from sqlmodel import Session, col

from storage.db.engine import Database
from storage.registry import folders, promotion_writer
from storage.registry.promotion_writer import champion_of, lineage_of
from storage.tables import Audit, Gate, Model, Promotion, Shadow
from storage.viewer import Role, Viewer
from tenor.errors import BadInput, Refused
from tenor.model_store import promotion_log
from tenor.model_store.card import KINDS, Kind, read_card
from tenor.model_store.digest import verify
from tenor.model_store.shipped import SHIPPED, ShippedModel

State = Literal["champion", "previous", "candidate", "rejected"]
MAKES: tuple[Role, ...] = ("analyst", "administrator")
"""Who may train and register models,"""
PROMOTES: tuple[Role, ...] = ("analyst", "administrator")
"""and who may put them in force."""


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """A version as people see it."""

    name: str
    version: int
    kind: Kind
    state: State
    promoted_at: float | None
    """When it was promoted last."""
    effective_at: float | None
    """And from when that counts."""
    why: str
    """Of the last promotion, or of its registration."""
    by: str
    sha256: str
    at: float | None
    """When it was registered; None for what ships."""
    gate: Gate | None = None
    row: Model | None = None

    @property
    def id(self) -> str:
        return f"{self.name}-{self.version}"

    @property
    def ships(self) -> bool:
        return self.row is None


class Registry:
    def __init__(self, database: Database, models: Path | None) -> None:
        if models is None:
            raise BadInput(
                "learn.url is no folder, so there is no place for models",
                "name a folder that all workers share with learn.models",
            )
        self._database, self._models = database, models

    @property
    def database(self) -> Database:
        return self._database

    @property
    def folder(self) -> Path:
        return self._models

    def log(self) -> promotion_log.PromotionLog:
        return promotion_log.read_log_file(self._models)

    # -- what there is

    def versions(self, kind: Kind | None = None) -> list[ModelVersion]:
        """Every version, what ships first, then by name and number."""
        self.sync()
        with self._database.session() as session:
            rows = list(session.scalars(select(Model).order_by(col(Model.name), col(Model.version))))
            gates = _newest_gates(session)
        log = self.log()
        found = [_shipped(SHIPPED[one], log) for one in KINDS]
        found += [_version(row, gates.get(row.id), log) for row in rows]
        return [one for one in found if kind in (None, one.kind)]

    def version(self, model: str) -> ModelVersion:
        """One of them. BadInput, with what may be meant, when there is none."""
        known = {one.id: one for one in self.versions()}
        if model not in known:
            near = get_close_matches(model, known, 1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise BadInput(f"there is no model {model}", f"{meant}`tenor models list` shows all")
        return known[model]

    def path(self, version: ModelVersion) -> Path:
        found = SHIPPED[version.kind].path if version.ships else self._models / version.id
        if found is None or not found.is_dir():
            raise BadInput(f"the folder of {version.id} is gone", "import it again, or restore it")
        return found

    def champion(self, kind: Kind) -> ModelVersion:
        """What was promoted last; it may count only in a few seconds."""
        return self.version(champion_of(self.log(), kind))

    # -- what comes in

    def check_may_register(self, viewer: Viewer) -> None:
        """Refused for others, before anything large is sent."""
        _may(viewer, MAKES, "registers models")

    def add(
        self,
        viewer: Viewer,
        source: Path,
        *,
        name: str,
        kind: Kind | None = None,
        why: str = "",
        origin: Mapping[str, str] = {},
        golden: bytes = b"",
    ) -> ModelVersion:
        """Register a folder as a candidate: the next version of `name`."""
        self.check_may_register(viewer)
        if any(name == shipped.name for shipped in SHIPPED.values()):
            raise BadInput(f"{name} is what ships with Tenor", "give it a name of its own with --name")
        if not source.is_dir():
            raise BadInput(f"{source} is no folder")
        kind = kind or folders.kind_of(source, folders.known_card(source))
        added, _ = folders.add_folder(source, self._models, name=name, kind=kind, origin=dict(origin), golden=golden)
        return self._registered(viewer, added, why)

    def take_in(self, viewer: Viewer, part: Path, model: str, why: str) -> ModelVersion:
        """Register a complete folder, as it is, under the id that it has elsewhere."""
        self.check_may_register(viewer)
        if not folders.settle(part, self._models / model):
            raise BadInput(f"there is a {model} already, another one", "import it under another name with --name")
        return self._registered(viewer, model, why)

    def _registered(self, viewer: Viewer, model: str, why: str) -> ModelVersion:
        with self._database.begin() as session:
            if session.get(Model, model) is None:
                session.add(self._row(model, viewer.name, why))
                _note(session, viewer.name, "model.registered", model, why)
        return self.version(model)

    def record_gate(
        self, viewer: Viewer, model: str, *, passed: bool, verdict: str, figures: Mapping[str, Any], against: str = ""
    ) -> None:
        """What the gate said; the newest counts."""
        _may(viewer, MAKES, "judges models")
        version = self.version(model)
        with self._database.begin() as session:
            session.add(
                Gate(
                    model=version.id, against=against, passed=passed, verdict=verdict, figures=dict(figures),
                    at=time.time(), by=viewer.name,
                )
            )  # fmt: skip
            _note(session, viewer.name, "model.judged", version.id, "passed" if passed else "not passed")

    def record_shadow(self, shadow: Shadow) -> None:
        with self._database.begin() as session:
            session.add(shadow)

    # -- what is in force

    def promote(
        self,
        viewer: Viewer,
        model: str,
        why: str,
        *,
        force: bool = False,
        at_once: bool = False,
        replaces: str | None = None,
        check: Callable[[ModelVersion], None] | None = None,
    ) -> promotion_log.Promotion:
        """Put a version in force. `replaces`: the champion that the person saw; Refused if that is another by now.
        `check` raises what keeps the model from being loaded, which storage cannot know."""
        _may(viewer, PROMOTES, "promotes models")
        version = self.version(model)
        seen = replaces or self.champion(version.kind).id
        if seen == version.id:
            raise BadInput(f"{version.id} is in force already")
        if force and not why.strip():
            raise BadInput("--force needs a reason", "say why with --why")
        if not force:
            self._check_gate(version)
        if check is not None:
            check(version)
        return self._append(viewer, {seen: version}, why, at_once=at_once)[0]

    def promote_all(
        self, viewer: Viewer, models: Sequence[str], why: str, *, check: Callable[[ModelVersion], None]
    ) -> list[promotion_log.Promotion]:
        """Put versions of different kinds in force: all of them, or none if one cannot be."""
        _may(viewer, PROMOTES, "promotes models")
        versions = [self.version(model) for model in models]
        for version in versions:
            self._check_gate(version)
            check(version)
        return self._append(viewer, {self.champion(one.kind).id: one for one in versions}, why, at_once=False)

    def rollback(
        self, viewer: Viewer, kind: Kind, why: str, *, at_once: bool = False, replaces: str | None = None
    ) -> promotion_log.Promotion:
        """Promote the predecessor again. `replaces`: as for `promote`."""
        _may(viewer, PROMOTES, "rolls models back")
        if not why.strip():
            raise BadInput("a rollback needs a reason", "say why with --why")
        line = lineage_of(self.log(), kind)
        if len(line) < 2:
            raise BadInput(f"{line[-1]} is the first {kind} model here: there is nothing to go back to")
        return self._append(viewer, {replaces or line[-1]: self.version(line[-2])}, why, at_once=at_once)[0]

    def _check_gate(self, version: ModelVersion) -> None:
        way_out = f"`tenor models promote {version.id} --force --why REASON` promotes it all the same"
        if version.ships:
            return
        if version.state == "rejected":
            reason = (
                version.gate.verdict if version.gate is not None and not version.gate.passed else "it was rolled back"
            )
            raise BadInput(f"{version.id} is rejected: {reason}", way_out)
        if version.gate is None:
            raise BadInput(f"{version.id} has not passed the gate yet", way_out)

    def _append(
        self, viewer: Viewer, versions: Mapping[str, ModelVersion], why: str, *, at_once: bool
    ) -> list[promotion_log.Promotion]:
        """`versions`: by the model that each replaces."""
        now = time.time()
        made = []
        for previous, version in versions.items():
            if at_once and version.kind == "speech":
                raise BadInput("a recogniser cannot change within a call", "leave out --at-once")
            if not version.ships:
                verify(self.path(version), version.sha256)
            made.append(
                promotion_log.Promotion(
                    kind=version.kind,
                    model=version.id,
                    sha256=version.sha256,
                    at=now,
                    effective_at=now + promotion_log.EFFECTIVE_S,
                    by=viewer.name,
                    why=why.strip(),
                    previous=previous,
                    at_once=at_once,
                )
            )
        promotion_writer.append(self._models, made)
        self.sync()
        return made

    # -- files and tables

    def sync(self) -> None:
        """Bring into the tables what a process that was killed left only in files."""
        log = self.log()
        there = {model for model, _ in folders.versions(self._models)}
        with self._database.session() as session:
            missing = there - set(session.scalars(select(col(Model.id))))
            known = set(session.scalars(select(col(Promotion.id))))
        new = [one for one in log.promotions if _id(one) not in known]
        if not missing and not new:
            return
        with self._database.begin() as session:
            for model in sorted(missing):
                if session.get(Model, model) is None and (row := self._readable(model)) is not None:
                    session.add(row)
                    _note(session, row.by, "model.registered", model, row.why)
            for one in new:
                if session.get(Promotion, _id(one)) is None:
                    session.add(Promotion(id=_id(one), **msgspec.to_builtins(one)))
                    detail = f"{one.why} (replaces {one.previous})" if one.why else f"replaces {one.previous}"
                    _note(session, one.by, "model.promoted", one.model, detail)

    def _readable(self, model: str) -> Model | None:
        """A folder that holds no model does not keep the others from being listed."""
        try:
            return self._row(model, "", "found in the models' folder")
        except BadInput:
            return None

    def _row(self, model: str, by: str, why: str) -> Model:
        folder = self._models / model
        card = read_card(folder)
        if f"{card.name}-{card.version}" != model or card.kind not in KINDS or not card.digest:
            raise BadInput(f"{folder} was not made by the registry")
        figures = {"heads": {head: len(labels) for head, labels in card.heads.items()}, "thresholds": card.thresholds}
        return Model(
            id=model, name=card.name, version=int(card.version), kind=card.kind, sha256=card.digest,
            parent=card.parent, run=card.run, dataset=card.dataset, snapshot=card.snapshot, at=time.time(), by=by,
            why=why, card=figures,
        )  # fmt: skip


def _may(viewer: Viewer, roles: tuple[Role, ...], does: str) -> None:
    if viewer.role not in roles:
        raise Refused(f"your role, {viewer.role}, never {does}", f"ask somebody who is {' or '.join(roles)}")


def _note(session: Session, who: str, action: str, model: str, why: str) -> None:
    session.add(Audit(at=time.time(), who=who, action=action, subject=model, detail={"why": why} if why else {}))


def _id(one: promotion_log.Promotion) -> str:
    return f"{one.kind}/{one.at}/{one.model}"


def _newest_gates(session: Session) -> dict[str, Gate]:
    return {gate.model: gate for gate in session.scalars(select(Gate).order_by(col(Gate.at), col(Gate.id)))}


def _state(model: str, kind: Kind, gate: Gate | None, log: promotion_log.PromotionLog) -> State:
    line = lineage_of(log, kind)
    if model == line[-1]:
        return "champion"
    if model in line:
        return "previous"
    rolled_back = any(one.model == model for one in log.of(kind))
    return "rejected" if rolled_back or (gate is not None and not gate.passed) else "candidate"


def _last(model: str, kind: Kind, log: promotion_log.PromotionLog) -> promotion_log.Promotion | None:
    return next((one for one in reversed(log.of(kind)) if one.model == model), None)


def _shipped(one: ShippedModel, log: promotion_log.PromotionLog) -> ModelVersion:
    last = _last(one.id, one.kind, log)
    return ModelVersion(
        name=one.name, version=int(one.version), kind=one.kind, state=_state(one.id, one.kind, None, log),
        promoted_at=last.at if last else None, effective_at=last.effective_at if last else None,
        why=last.why if last else "ships with Tenor", by=last.by if last else "", sha256="", at=None,
    )  # fmt: skip


def _version(row: Model, gate: Gate | None, log: promotion_log.PromotionLog) -> ModelVersion:
    kind = next(kind for kind in KINDS if kind == row.kind)
    last = _last(row.id, kind, log)
    return ModelVersion(
        name=row.name, version=row.version, kind=kind, state=_state(row.id, kind, gate, log),
        promoted_at=last.at if last else None, effective_at=last.effective_at if last else None,
        why=last.why if last else row.why, by=last.by if last else row.by, sha256=row.sha256, at=row.at,
        gate=gate, row=row,
    )  # fmt: skip
