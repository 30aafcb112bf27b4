"""What falls off an answer before it is read: hesitations, politeness, what leads in.

"uh, in tucson please" answers "which city?" with "tucson". Only the ends of a line are trimmed: what stands between
other words may be part of a name.
"""

from __future__ import annotations

from dialog.values.tokens import Token, tokenise, word_set

HESITATIONS = word_set(
    "uh uhh um umm uhm er erm eh ah ahh hm hmm hmmm mm mmm oh ooh well so like just actually basically maybe "
    "perhaps probably ok okay okey k alright right yeah yep yes yup sure anyway now then and but fine"
)
POLITENESS = word_set("please pls plz thanks thx ty thank you kindly sir maam mam dear love sweetie honey")
# Longer ones first: each is looked for as a whole.
LEAD_INS = tuple(
    sorted(
        (
            tuple(phrase.split())
            for phrase in (
                "i think",
                "i guess",
                "i believe",
                "i suppose",
                "i mean",
                "i meant",
                "i said",
                "i would like",
                "id like",
                "i want",
                "i need",
                "i am in",
                "im in",
                "i live in",
                "we live in",
                "we are in",
                "were in",
                "its in",
                "it is in",
                "its",
                "it is",
                "it would be",
                "that would be",
                "thatd be",
                "thats",
                "that is",
                "lets say",
                "let us say",
                "lets do",
                "lets go with",
                "let me see",
                "lets see",
                "let me think",
                "make it",
                "make that",
                "how about",
                "what about",
                "say",
                "you know",
                "kind of",
                "sort of",
                "i dont know",
                "the answer is",
                "my city is",
                "the city is",
                "the city of",
                "the town of",
                "the place is",
                "the location is",
                "for me",
                "no",
                "nope",
                "sorry",
                "wait",
                "no wait",
                "hold on",
                "the one in",
            )
        ),
        key=len,
        reverse=True,
    )
)
PREPOSITIONS = word_set("in at near to for from of on by around within inside outside about over out into the a an")
TRAILERS = tuple(
    tuple(phrase.split())
    for phrase in (
        "would be nice",
        "would be good",
        "would be great",
        "if possible",
        "if you can",
        "if you could",
        "if you would",
        "if you dont mind",
        "will do",
        "is fine",
        "works",
        "i think",
        "i guess",
        "i believe",
        "i suppose",
        "i said",
        "for me",
        "you know",
        "would you",
        "could you",
    )
)

SMALL_WORDS = HESITATIONS | POLITENESS
_LEAD_INS = {word: tuple(one for one in LEAD_INS if one[0] == word) for word in {one[0] for one in LEAD_INS}}
_TRAILERS = {word: tuple(one for one in TRAILERS if one[-1] == word) for word in {one[-1] for one in TRAILERS}}


def trim(tokens: list[Token], *, prepositions: bool = True) -> tuple[int, int]:
    """First token that counts, and the one after the last. Equal when nothing is left."""
    first, last = 0, len(tokens)
    keys = [token.key for token in tokens]
    moved = True
    while moved and first < last:
        moved = False
        if keys[first] in SMALL_WORDS or (prepositions and keys[first] in PREPOSITIONS):
            first += 1
            moved = True
            continue
        for phrase in _LEAD_INS.get(keys[first], ()):
            if first + len(phrase) <= last and tuple(keys[first : first + len(phrase)]) == phrase:
                first += len(phrase)
                moved = True
                break
    moved = True
    while moved and first < last:
        moved = False
        if keys[last - 1] in SMALL_WORDS:
            last -= 1
            moved = True
            continue
        for phrase in _TRAILERS.get(keys[last - 1], ()):
            if last - len(phrase) >= first and tuple(keys[last - len(phrase) : last]) == phrase:
                last -= len(phrase)
                moved = True
                break
    return first, last


def core(line: str, *, prepositions: bool = True) -> tuple[str, int, int]:
    """The words that are left, and where they stand: the whole of "uh, the blue one please" but "blue one".

    Empty, with equal positions, when nothing is left.
    """
    tokens = tokenise(line)
    first, last = trim(tokens, prepositions=prepositions)
    if first >= last:
        return "", 0, 0
    start, end = tokens[first].start, tokens[last - 1].end
    return line[start:end], start, end
