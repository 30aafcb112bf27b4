"""Units that the weather is told in.

value metric | us
"""

from __future__ import annotations

from dialog.values.phrases import LEFT_OVER, PhraseParser
from dialog.values.tokens import word_set

UNITS = {
    "metric": (
        "celsius;celcius;celsuis;centigrade;in c;degrees c;metric;in millimeters;in millimetres;in mm;"
        "in centimeters;in centimetres;in cm"
    ),
    "us": "fahrenheit;farenheit;fahrenheight;in f;degrees f;imperial;in inches",
}


class UnitsParser(PhraseParser):
    """Reads type `units`."""

    def __init__(self) -> None:
        super().__init__("units", UNITS, left_over=LEFT_OVER | word_set("units unit degrees"))
