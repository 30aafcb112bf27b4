"""Yes and no, in the ways people say them.

value true | false
"""

from __future__ import annotations

from dialog.values.phrases import LEFT_OVER, PhraseParser
from dialog.values.tokens import word_set

YES = (
    "yes;yeah;yep;yup;yea;ya;yas;yess;yess;sure;sure thing;ok;okay;okey;k;kk;alright;all right;right;correct;"
    "thats right;that is right;thats correct;exactly;absolutely;definitely;certainly;of course;indeed;"
    "affirmative;please do;go ahead;do it;do that;sounds good;sounds great;sounds fine;fine;perfect;great;"
    "good;why not;by all means;uh huh;mhm;mm hmm;you bet;for sure;that works;works for me;i do;i would;it is;"
    "lets do it;lets do that;yes please;go for it;true;y;totally;thats it;thats the one;that one;i guess so;"
    "i think so;si;very well;agreed;confirm;confirmed;i confirm;yes sir;yes maam;yes i am;yes it is;"
    "you got it"
)
NO = (
    "no;nope;nah;na;naw;nay;no thanks;no thank you;not really;not now;not today;not yet;negative;dont;do not;"
    "please dont;rather not;id rather not;i would rather not;no way;never;never mind;nevermind;cancel;stop;"
    "wrong;thats wrong;that is wrong;incorrect;not correct;not right;thats not right;that is not right;"
    "thats not it;n;i dont think so;i dont;i do not;i wouldnt;it isnt;it is not;its not;false;no need;"
    "not at all;absolutely not;definitely not;of course not;certainly not;uh uh;nuh uh;i think not;leave it;"
    "forget it;not that one;not that"
)


class YesNoParser(PhraseParser):
    """Reads type `yes_no`. The first that is said counts: "no, that's fine" is a no."""

    def __init__(self) -> None:
        extra = word_set("thanks thank you please that it do so i am this sounds very much")
        super().__init__("yes_no", {True: YES, False: NO}, left_over=LEFT_OVER | extra)
