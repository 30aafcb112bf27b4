"""Scorecards of calls: rules and intents propose (nlp/scorecard), a person confirms or mends.

confirming   what a person says of a call's points, and how the card stands then
filling      cards of past calls that a form filled in anew
statistics   how often points were met on the calls that people confirmed, with intervals
"""
