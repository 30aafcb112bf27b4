"""What callers say, and what of it may be kept."""

from __future__ import annotations

import time

import pytest

from tenor.events import Word
from tenor.redaction import KINDS
from tenor.redaction.patterns import PatternRedactor
from tenor.redaction.utterance import confirms

REDACTOR = PatternRedactor()

SECRET = [
    # cards
    ("my card is 4111 1111 1111 1111", "my card is [card]"),
    ("My card number is 4111-1111-1111-1111.", "My card number is [card]."),
    ("it's 4111111111111111, thanks", "it's [card], thanks"),
    ("3782 822463 10005", "[card]"),
    ("four one one one one one one one one one one one one one one one", "[card]"),
    ("four triple one one triple one double one double one one triple one", "[card]"),
    ("forty one eleven eleven eleven eleven eleven eleven eleven", "[card]"),
    ("the card number is four one one one uh one one one one 1111 1111", "the card number is [card]"),
    ("it is 4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 okay", "it is [card] okay"),
    ("Visa 4111 1111 1111 1112", "Visa [card]"),
    ("the security code is 123", "the security code is [card]"),
    ("cvv one two three", "cvv [card]"),
    ("it expires 05/27", "it expires [card]"),
    ("my credit card ends in four two four two", "my credit card ends in [card]"),
    ("my card is 4,111 1,111 1,111 1,111", "my card is [card]"),
    ("my card is 4-1-1-1 1-1-1-1 1-1-1-1 1-1-1-1", "my card is [card]"),
    ("4,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "[card]"),
    ("card: 4111\u20131111\u20131111\u20131111", "card: [card]"),
    ("card #4111111111111111", "card #[card]"),
    ("it expires oh five slash twenty seven", "it expires [card]"),
    ("the last four are 4242", "the last four are [number]"),
    ("it ends in 4242 i think", "it ends in [card] i think"),
    ("the three digits on the back are one two three", "the three digits on the back are [card]"),
    ("4111*1111*1111*1111", "[card]"),
    ("I paid $4111111111111111", "I paid [card]"),
    ("I paid $4111 1111 1111 1111 today", "I paid [card] today"),
    ("\u20ac4111-1111-1111-1111", "[card]"),
    ("the code on the back is 456", "the code on the back is [card]"),
    ("the last three on the back four five six", "the last three on the back [card]"),
    ("the code at the back is one two three", "the code at the back is [card]"),
    (
        "expires december twenty twenty seven and the code on the back is one two three",
        "expires [birth date] and the code on the back is [card]",
    ),
    ("my cvv's 456", "my cvv's [card]"),
    ("it's four triple one then four ones then four ones and four ones", "it's [card] and [card]"),
    # in groups, with what is said between them
    (
        "my card number is four one one one okay one one one one okay one one one one okay one one one one",
        "my card number is [card] okay [card] okay [card] okay [card]",
    ),
    (
        "four one one one that's right one one one one uh-huh one one one one got it one one one one thanks",
        "[card] that's right [card] uh-huh [card] got it [card] thanks",
    ),
    ("it is four one one okay five five five yes", "it is [number] okay [number] yes"),
    ("the account is one two three okay four five six okay", "the account is [account] okay [account] okay"),
    (
        "account number triple seven double four oh and then nine two one thanks",
        "account number [account] and then [account] thanks",
    ),
    (
        "my card number let me get it out of my wallet hold on now here it comes 4111 did you get that 1111 thanks",
        "my card number let me get it out of my wallet hold on now here it comes [card] did you get that [card] thanks",
    ),
    # accounts
    ("my account number is 12345678", "my account number is [account]"),
    ("account number one two three four five six", "account number [account]"),
    ("account number double five oh nine two one", "account number [account]"),
    ("the routing number is 021000021", "the routing number is [account]"),
    ("my social is 123-45-6789", "my social is [account]"),
    ("social security number one two three forty five sixty seven eighty nine", "social security number [account]"),
    ("it is 9988776655443", "it is [account]"),
    ("my pin is 4321", "my pin is [account]"),
    ("my pin's 4 3 2 1", "my pin's [account]"),
    ("my pin\u2019s 4321", "my pin\u2019s [account]"),
    ("my account number is three sevens four oh two", "my account number is [account]"),
    ("the password's correct horse battery staple", "the password's [account]"),
    ("the passcode's one two three four", "the passcode's [account]"),
    ("my account ends in double seven one", "my account ends in [account]"),
    ("my password is hunter2", "my password is [account]"),
    ("the old password was flamingo 42 i think", "the old password was [account] i think"),
    ("the passcode is one two three four", "the passcode is [account]"),
    ("password: hunter2", "password: [account]"),
    ("the password's hunter2", "the password's [account]"),
    ("my memorable word is pineapple", "my memorable word is [account]"),
    ("my password is big dog forty two and i need help", "my password is [account] and i need help"),
    ("the verification code is 123456 okay thanks", "the verification code is [account] okay thanks"),
    ("sort code 20-00-00", "sort code [account]"),
    # with letters in them
    ("my passport number is X1234567", "my passport number is [account]"),
    ("my passport number is x one two three four five six seven", "my passport number is [account]"),
    ("licence number D123-4567-8901", "licence number [account]"),
    ("My account is AB-48213-XY.", "My account is [account]."),
    ("it's a b four eight two one three x y", "it's [number]"),
    ("GB29 NWBK 6016 1331 9268 19", "[account]"),
    ("my iban is gb29 nwbk 6016 1331 9268 19 thanks", "my iban is [account] thanks"),
    ("g b two nine n w b k six zero one six one three three one nine two six eight one nine", "[account]"),
    ("DE89370400440532013000", "[account]"),
    ("national insurance number QQ 12 34 56 C", "national insurance number [account]"),
    # telephones
    ("call me at 555-123-4567", "call me at [phone]"),
    ("call me at (555) 123-4567 please", "call me at [phone] please"),
    ("(415) 555 2671", "[phone]"),
    ("my phone number's five", "my phone number's [phone]"),
    ("my number is +44 20 7946 0958", "my number is [phone]"),
    ("you can reach me on five five five one two three four five six seven", "you can reach me on [phone]"),
    ("it's five five five, one two three, four five six seven.", "it's [phone]."),
    ("my phone number is oh seven nine double one one two three four five six", "my phone number is [phone]"),
    ("555-0199", "[phone]"),
    ("1-800-555-0199", "[phone]"),
    # e-mail
    ("john.smith@gmail.com", "[email]"),
    ("write to John.Smith+shop@mail.example.co.uk, please", "write to [email], please"),
    ("my email is john dot smith at gmail dot com", "my email is [email]"),
    ("my email is john smith at gmail dot com thanks", "my email is [email] thanks"),
    ("it's j o h n underscore nine two at yahoo dot co dot uk", "it's [email]"),
    ("it is john.smith at gmail.com", "it is [email]"),
    ("Sure, jsmith@gmail dot com.", "Sure, [email]."),
    ("john smith at g mail dot com", "[email]"),
    ("you can write to john smith at hot mail dot com please", "you can write to [email] please"),
    ("john dot smith at company dot app", "[email]"),
    ("my email is jane at my shop dot online thanks", "my email is [email] thanks"),
    ("it's ann underscore lee at firm dot co dot uk", "it's [email]"),
    ("jsmith at gmail", "[email]"),
    ("reach me at john dot smith at hot mail dot com", "reach me at [email]"),
    ("it's john smith at smith and sons dot org", "it's [email]"),
    ("it's ann lee at a o l dot com", "it's [email]"),
    ("my email is jsmith ninety two", "my email is [email]"),
    ("my email address is john dot smith", "my email address is [email]"),
    # dates of birth
    ("my date of birth is March 3rd, 1982.", "my date of birth is [birth date]."),
    ("march third nineteen eighty two", "[birth date]"),
    ("the third of march nineteen eighty two", "the [birth date]"),
    ("i was born on the 3rd of March 1982 in Ohio", "i was born on the [birth date] in Ohio"),
    ("date of birth 03/03/1982", "date of birth [birth date]"),
    ("1982-03-03", "[birth date]"),
    ("my birthday is may fifth", "my birthday is [birth date]"),
    ("december twenty fifth two thousand and one", "[birth date]"),
    ("my date of birth is the fourth of the seventh eighty two", "my date of birth is the [birth date]"),
    ("the 4th of the 7th 1982", "the [birth date]"),
    ("born on 4/7/82", "born on [birth date]"),
    ("4th July 1982", "[birth date]"),
    ("my date of birth is four seven eighty two", "my date of birth is [birth date]"),
    ("date of birth 4 / 7 / 1982", "date of birth [birth date]"),
    ("dob: 04071982", "dob: [birth date]"),
    ("i was born in nineteen eighty two", "i was born in [birth date]"),
    ("born in march 1982", "born in [birth date]"),
    ("my birthday is july fourth oh two", "my birthday is [birth date]"),
    ("nineteen eighty two july fourth", "[birth date]"),
    ("1982 July 4th", "[birth date]"),
    ("nineteen eighty two, the fourth of july", "[birth date]"),
    ("two thousand and one july fourth", "[birth date]"),
    # groups of a number, alone
    ("four one one one", "[number]"),
    ("4111.", "[number]."),
    ("yes it's four one one one", "yes it's [number]"),
    # several at once
    (
        "call 555-123-4567 or write to ann at shop dot com",
        "call [phone] or write to [email]",
    ),
]

ORDINARY = [
    "I would like to cancel my order.",
    "that is fifty dollars and twenty cents",
    "it costs $1,500.00 in total",
    "I paid 4500 dollars",
    "two thousand five hundred dollars",
    "thirty five percent of forty equals fourteen",
    "at five thirty pm",
    "the meeting is at 12:45 pm",
    "I have been a customer since 2019",
    "in nineteen ninety nine we moved",
    "My account was opened in 2015",
    "I ordered two of them three weeks ago",
    "my order number is 48213",
    "order number four eight two one three",
    "the tracking number is 1234567890",
    "can you check order 1234567890",
    "reference: 12345678",
    "it was $1234567890",
    "call me back in 200 days",
    "the model number on the back is 4567",
    "two eights",
    "the password's correct",
    "the password is wrong apparently",
    "in 2019 march was cold",
    "we meet on twenty six july",
    "flight 1472 to Boston",
    "my zip code is 94043",
    "one two three",
    "give me one second",
    "it arrived on march third",
    "I will call you on May 5th, 2025",
    "oh no, oh dear",
    "look at that dot on the screen",
    "meet me at the shop",
    "there were 300 people at the store",
    "one of the two",
    "double check that please",
    "seven days a week, twenty four hours a day",
    "the total was 1500",
    "4 out of 5 stars",
    "we are open 24/7",
    "it happened twice in 24 hours",
    "May I ask you something?",
    "I may second that",
    "my password is not working",
    "the password is really hard to remember",
    "my order number is AB-48213-XY",
    "my account works on the iphone14 and in 1080p",
    "I called about my account on the 3rd",
    "the first of the second batch",
    "since march 2019",
    "my birthday is in 3 weeks",
    "my email is not working",
    "I can't get into my email at home",
    "look at the red dot on the screen",
    "the password was reset",
    "between 200 and 300 people, or 400",
    "it costs 1,500 and not 2,000",
    "my order number is 482 okay 135 okay",
    "it came in 2019, right, and in 2020",
]


@pytest.mark.parametrize(("said", "kept"), SECRET)
def test_secrets_are_taken_out(said: str, kept: str) -> None:
    assert REDACTOR.redact(said, ()).text == kept


@pytest.mark.parametrize("said", ORDINARY)
def test_ordinary_numbers_stay(said: str) -> None:
    assert REDACTOR.redact(said, ()).text == said


@pytest.mark.parametrize(("said", "kept"), SECRET)
def test_nothing_leaks_through_the_words(said: str, kept: str) -> None:
    words = tuple(Word(text=word, start_ms=100 * n, end_ms=100 * n + 90) for n, word in enumerate(said.split()))
    redacted = REDACTOR.redact(said, words)
    assert " ".join(word.text for word in redacted.words) == kept.replace("(", "").replace("#", "")
    assert redacted.words[0].start_ms == 0
    assert redacted.words[-1].end_ms == words[-1].end_ms


@pytest.mark.parametrize(("said", "kept"), SECRET)
def test_words_spelled_otherwise_are_judged_by_themselves(said: str, kept: str) -> None:
    words = tuple(Word(text=word, start_ms=n, end_ms=n) for n, word in enumerate(said.lower().replace(",", "").split()))
    secrets = {word.text for word in words} - set(kept.lower().replace(",", "").split())
    assert not secrets & {word.text for word in REDACTOR.redact(said, words).words}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>6011</b> 0009 9013&nbsp;9424, please", "<b>[card], please"),
        ("My card<br>6011 0009<br/>9013 9424", "My card<br>[card]"),
        ("mail <jane@acme.io> now", "mail <[email]> now"),
        ("if a<b and b>c then 5 < 6 & 7", "if a<b and b>c then 5 < 6 & 7"),
    ],
)
def test_markup_that_was_pasted_hides_nothing(text: str, shown: str) -> None:
    assert PatternRedactor(KINDS).redact(text, ()).text == shown


@pytest.mark.parametrize(
    "unseen",
    ["\u200b", "\u00ad", "\u200d", "\ufeff", "\u0301", "\ufe0f\u20e3"],
    ids=["zero width space", "soft hyphen", "joiner", "byte order mark", "accent", "keycap"],
)
def test_what_is_not_seen_hides_nothing(unseen: str) -> None:
    digits = [digit + unseen for digit in "4111111111111111"]
    card = "".join(digits)
    assert REDACTOR.redact(f"it's {card} ok", ()).text == "it's [card] ok"
    assert REDACTOR.redact(f"it's {' '.join(digits)} ok", ()).text == "it's [card] ok"
    assert REDACTOR.redact(f"my pass{unseen}word is hunter2", ()).text == f"my pass{unseen}word is [account]"
    words = tuple(Word(text=word, start_ms=0, end_ms=1) for word in ("it's", card))
    assert [word.text for word in REDACTOR.redact(f"it's {card}", words).words] == ["it's", "[card]"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("jane\uff20acme.io", "[email]"),
        ("<4111 1111 1111 1111>", "<[card]>"),
        ("\uff14\uff11\uff11\uff11 1111 1111 1111", "[card]"),
        ("4111 1111 1111 1111\U0001f44d", "[card]\U0001f44d"),
        ("caf\u00e9 \U0001f642 call 555-123-4567 \U0001f642", "caf\u00e9 \U0001f642 call [phone] \U0001f642"),
    ],
)
def test_signs_of_one_look_are_one(said: str, kept: str) -> None:
    assert REDACTOR.redact(said, ()).text == kept


def test_spans_tell_what_was_where() -> None:
    said = "my card is 4111 1111 1111 1111, call 555-123-4567"
    spans = REDACTOR.redact(said, ()).spans
    assert [(said[start:end], kind) for start, end, kind in spans] == [
        ("4111 1111 1111 1111", "card"),
        ("555-123-4567", "phone"),
    ]


@pytest.mark.parametrize(
    ("shown", "kept"),
    [
        ("my card number is four one one one", "my card number is [card]"),
        ("it's four one one one one one one one", "it's [account]"),
        ("it's four one one one one", "it's [number]"),
        ("it's four one one one f", "it's [number]"),
        ("sure 4111 1", "sure [number]"),
        ("my email is john dot smith", "my email is [email]"),
        ("my email is john dot smith at g", "my email is [email]"),
        ("my email is john dot", "my email is [email]"),
        ("it was four one", "it was …"),
        ("hello i would like to", "hello i would like to"),
    ],
)
def test_an_interim_never_shows_a_number_that_is_still_being_said(shown: str, kept: str) -> None:
    assert REDACTOR.redact(shown, (), final=False).text == kept


def test_every_interim_of_a_card_hides_all_but_its_first_digits() -> None:
    words = ("sure it's " + "four one one one " * 4).split()
    for length in range(1, len(words) + 1):
        shown = REDACTOR.redact(" ".join(words[:length]), (), final=False).text
        assert sum(word in ("four", "one") for word in shown.split()) <= 3


@pytest.mark.parametrize(
    "utterances",
    [
        ["my card number is", "4111", "1111", "1111 11", "11"],
        ["four one one one", "one one one one", "one one one one", "one one one one"],
        ["yes it's four one one one", "one one one one", "one one", "double one", "one one one one"],
        ["what's my account number let me see", "it's twelve thirty four", "fifty six"],
        ["555", "123", "4567"],
        ["my card number is four one one one", "okay", "one one one one", "that's right", "one one", "got it", "one"],
        ["it's forty one eleven", "yes.", "eleven eleven", "uh-huh", "okay one one one one thanks"],
    ],
)
def test_a_number_read_in_groups_is_hidden_group_by_group(utterances: list[str]) -> None:
    before, shown = "", []
    for said in utterances:
        text = REDACTOR.redact(said, (), before=before).text
        before = before if confirms(text) else text
        shown.append(text)
    words = "four one double eleven forty twelve thirty fifty six 4111 1111 11 4567"
    digits = set(words.split())
    assert not digits & set(" ".join(shown).replace("my account", "").split())


def test_after_a_number_ordinary_talk_goes_on() -> None:
    assert REDACTOR.redact("that was two weeks ago", (), before="[card]").text == "that was two weeks ago"
    assert REDACTOR.redact("50 dollars please", (), before="[card]").text == "50 dollars please"


def test_only_the_kinds_asked_for() -> None:
    only_cards = PatternRedactor(["card"])
    said = "card 4111 1111 1111 1111 mail john@shop.com call 555-123-4567 born March 3rd 1982"
    assert only_cards.redact(said, ()).text == ("card [card] mail john@shop.com call 555-123-4567 born March 3rd 1982")
    assert PatternRedactor([]).redact(said, ()).text == said


def test_it_takes_less_than_a_millisecond_of_the_processor() -> None:
    texts = [said for said, _ in SECRET] + ORDINARY
    started = time.process_time()
    for _ in range(10):
        for said in texts:
            REDACTOR.redact(said, ())
    assert (time.process_time() - started) / (10 * len(texts)) < 0.001
