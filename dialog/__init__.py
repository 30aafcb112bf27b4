"""The assistant: a dialog manager driven by flows in YAML, for shoppers who talk or type.

a line --> understanding/ (intent, slots) --> engine/ (one pure step) --> effects: say, call, wait, hand over, end
            values/ (places, dates, ...)       ^      |
flow/ (YAML, checked) ------------------------'      '--> fulfilment/ (weather, places, prices, stock, ...)
"""

from dialog.fulfilment.types import Action
from dialog.understanding.types import Intent, Reading, Span, Understander
from dialog.values.types import Parser

__all__ = ["Action", "Intent", "Parser", "Reading", "Span", "Understander"]
