"""Words that say what a number near them is."""

from __future__ import annotations

from collections.abc import Sequence

_CONTEXTS = {
    "card": "card cards visa mastercard amex discover credit debit cvv cvc cvv2 cvc2 csc expiry expires expiration "
    "security ends ending digits back cardnumber cardno ccnum ccnumber creditcard",
    "account": "account accounts acct acctno accountno accountnumber iban routing sort bsb ssn social pin passport "
    "license licence insurance password passcode verification otp",
    "phone": "phone iphone telephone mobile cell cellphone call reach text fax dial callback phonenumber",
    "order": "order orders tracking reference confirmation ticket invoice case zip postal postcode extension room "
    "flight model serial item part version apartment suite unit gate bus train page step size channel sku",
    "birth_date": "born birth birthday dob d.o.b birthdate dateofbirth",
}
_ONLY_BESIDE = {"card": "pan cc exp thru", "account": "acc", "phone": "tel"}
"""Right before the number, or they are other words."""
_KINDS = {word: kind for kind, words in _CONTEXTS.items() for word in words.split()}
_BESIDE = {word: kind for kind, words in _ONLY_BESIDE.items() for word in words.split()}
CUES = frozenset(_KINDS)
SHORT = frozenset(
    {"cvv", "cvc", "cvv2", "cvc2", "csc", "security", "expiry", "expires", "expiration", "exp", "thru", "pin"}
    | {"ends", "ending", "digits", "back"}
)
"""Three digits behind them are enough."""
_WEAK = frozenset({"ends", "ending", "digits", "back"})
"""`my account ends in`, `the code on the back`: of a card, unless another word says of what."""
_BETWEEN = "number no code date num nr value is was are that would be will it's its"
_NAMING = frozenset(_BETWEEN.split())
"""May stand between a label and its value."""
REACH, FAR = 10, 25
"""How many words before something may say what it is; how many, if they are as clear as `card number`."""


def told_by(cores: Sequence[str]) -> tuple[str, str]:
    """What the words before a number say it is, and the word that says so."""
    weak = ""
    for at in reversed(range(len(cores))):
        near = len(cores) - at <= REACH or "number" in cores[at + 1 : at + 3]
        word = cores[at].removesuffix("'s")
        kind = _KINDS.get(word) or (_BESIDE.get(word) if _NAMING.issuperset(cores[at + 1 :]) else None)
        if near and kind and _says(cores, at):
            if word not in _WEAK:
                return kind, weak or word
            weak = word
    return ("card", weak) if weak else ("", "")


def _says(cores: Sequence[str], at: int) -> bool:
    """Not `security` of anything but a code; not `back` as in `call me back`; `thru` only as in `valid thru`."""
    if cores[at] == "thru":
        return list(cores[max(0, at - 1) : at]) in (["valid"], ["good"], ["exp"])
    if cores[at] == "security":
        return list(cores[at + 1 : at + 2]) == ["code"]
    return cores[at] != "back" or list(cores[max(0, at - 2) : at]) in (["on", "the"], ["at", "the"])


def labelled(cores: Sequence[str]) -> tuple[str, str]:
    """What the label right before a number says it is (`sort code: 20|00|00`), and the word that says so."""
    end = len(cores)
    while end and cores[end - 1] in _NAMING:
        end -= 1
    word = cores[end - 1] if end else ""
    return _KINDS.get(word) or _BESIDE.get(word, ""), word
