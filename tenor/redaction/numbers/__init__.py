"""What is a number in a text, and what kind of number it is.

    spoken    words that are digits
    runs      digits that belong together
    cues      words near them that say what they are
    verdicts  the kind of each run
    codes     letters and digits in one

`patterns` asks `verdicts` and `codes`; the rest is theirs.
"""
