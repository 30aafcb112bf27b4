"""Scorecards: what a good call has, point by point, looked for with the conditions of rules when a call is over.

form = read(path)                               parser; scorecard.yaml is what ships, docs/scorecards.md the language
engine = rules.engine_for(call, id, form.matchers())
points = form.fill(engine.history, call)        each with its proof; a person confirms or mends it (storage/scores)
"""

from nlp.scorecard.form import ScoreForm
from nlp.scorecard.parser import DEFAULT, form_in_force
from nlp.scorecard.parser import read_form as read

__all__ = ["DEFAULT", "ScoreForm", "form_in_force", "read"]
