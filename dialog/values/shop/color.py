"""Colours: "dark blue", "navy", "off-white".

value the colour in lower case: "dark blue", "gray" ("grey" is the same)
"""

from __future__ import annotations

from dialog.values.phrases import PhraseParser
from dialog.values.tokens import word_list, word_set

BASIC = word_list(
    "black white gray red blue green yellow orange purple pink brown navy beige tan ivory cream maroon "
    "burgundy teal turquoise aqua cyan magenta violet lavender lilac indigo gold silver bronze copper "
    "charcoal olive khaki mint coral salmon peach rose plum mauve fuchsia crimson scarlet rust mustard lime "
    "emerald sage taupe camel chestnut mahogany walnut oak espresso slate graphite champagne wheat cobalt"
)
SHADES = word_list(
    "dark light bright pale deep hot baby royal sky forest navy army olive mint lime hunter steel off "
    "midnight rose space"
)
OTHERS = {
    "gray": "grey;graye",
    "off white": "off white",
    "multicolor": "multicolor;multicolored;multicolour;multi color;multi colored;rainbow",
    "rose gold": "rose gold",
    "beige": "beigh;bage",
    "burgundy": "burgandy",
    "turquoise": "turquois;turqoise",
    "black and white": "black and white",
    "tie dye": "tie dye;tie dyed",
    "camouflage": "camo;camouflage",
    "blue": "blew",
}
# Words that are more often another thing: only after "in", "color" or another colour, or before one.
DOUBTFUL = word_set(
    "gold silver cream orange rose peach plum salmon lime olive mint coral copper bronze rust mustard sage "
    "oak walnut camel chestnut espresso slate wheat champagne tan emerald violet indigo blew cobalt mahogany"
)


# Of food the colour is part of the name: brown sugar is not sugar that comes in brown.
FOODS = word_set(
    "sugar rice bread wine tea bean beans pepper peppers onion onions apple apples olive olives cheese cabbage lentils "
    "lentil chocolate vinegar mustard beer potato potatoes grapes grape corn asparagus meat curry eggs egg mushrooms "
    "mushroom juice soda velvet curry salsa sauce gravy butter syrup tuna"
)
# Goods, too, if nothing follows that could have the colour: charcoal, but a charcoal suit.
GOODS = word_set("charcoal lavender")
AFTER_GOODS = word_set("in at on near left and or for to available cost costs today please") | {""}
ENDS = word_set("please and or color one ones if for size instead")


class ColorParser(PhraseParser):
    """Reads type `color`."""

    def __init__(self) -> None:
        phrases: dict[str, str] = {}
        for color in BASIC:
            shades = [f"{shade} {color}" for shade in SHADES if shade != color]
            phrases[color] = ";".join([color, f"{color} colored", f"{color} color"])
            for shade in shades:
                phrases[shade] = ";".join([shade, shade.replace("gray", "grey")])
        for color, spellings in OTHERS.items():
            phrases[color] = ";".join(filter(None, [phrases.get(color, ""), spellings]))
        super().__init__("color", phrases)

    def _length(self, keys: list[str], i: int, *, lenient: bool = False) -> int:
        n = super()._length(keys, i, lenient=lenient)
        if n and not lenient and keys[i + n : i + n + 1] and keys[i + n] in FOODS:
            return 0
        before = keys[i - 1] if i else ""
        following = keys[i + 1] if i + 1 < len(keys) else ""
        if n == 1 and not lenient and keys[i] in GOODS:
            return 0 if following in AFTER_GOODS and before not in ("in", "color", "colour", "or") else n
        if n != 1 or lenient or keys[i] not in DOUBTFUL:
            return n
        ends = not following or following in ENDS
        named = before in ("in", "color", "colour", "the", "or") and ends
        return n if named or following in ("colored", "color", "one", "ones") else 0
