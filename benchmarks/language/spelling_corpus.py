"""Spellings of numbers, e-mail addresses, passwords and addresses, put together by code: what redaction must find.

    value          made up: a card number with its check digit, an IBAN, a date of birth, ...
    groups         as on the card, all in one, in pairs, digit by digit; some in words
    separator      what people and programs put between groups
    key, medium    what says what it is, and where it stands: a sentence, JSON, XML, a query string, a file name, ...

Everything follows from the seed. `ordinary` makes texts in the same media in which nothing is secret.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from random import Random
from typing import NamedTuple, TypeVar
from urllib.parse import quote, quote_plus

from tenor.redaction.numbers.runs import luhn

PER_KIND = 400
SEED = 16
T = TypeVar("T")


class Piece(NamedTuple):
    text: str
    secret: bool = True


Made = tuple[list[Piece], str]
"""A value, and how it was made."""


class Spelling(NamedTuple):
    kind: str
    text: str
    secrets: tuple[tuple[int, int], ...]
    """The characters of which none may stay readable."""
    made_of: str
    """Separator and medium, to see what those that are missed have in common."""


class Medium(NamedTuple):
    name: str
    form: str
    """{key} and {value}."""
    encode: Callable[[str], str] = str


# -- what stands between the groups

TIGHT = ("", " ", "-", ".", "/", ",", "_", "*")
LOOSE = (":", "|", "+", "=", "~", ";", "#", "&", "\\", "^", "'", '"', "`", "!", "?", "<", ">")
WIDE = ("  ", "\t", "\n", "\r\n", " - ", " / ", " | ", " : ", ", ", "; ", " + ", " = ", " ~ ", " _ ", ". ", " . ")
DOUBLE = ("--", "__", "...", "::", "||", "//", ")(", "][", "}{", "','", '","', "->", "=>", "><")
# Blanks, dashes, dots and an arrow of Unicode.
SIGNS: tuple[str, ...] = ("\u00a0", "\u2009", "\u202f", "\u3000", "\u2010", "\u2011", "\u2013", "\u2014", "\u2212")
SIGNS += ("\u00b7", "\u2022", "\u30fb", "\u2192", "\u2028", "\u2044", "\uff0d", "\uff0f", "\U0001f642")
UNSEEN = ("\u200b", "\u2060", "\u00ad", "\ufe0f\u20e3")
"""Zero-width signs, a soft hyphen, keycaps."""
MARKUP = ("<br>", "</td><td>", "</b> <b>", "&nbsp;", "&#45;", "&ndash;", "%20", "%2D", "</span><span class='n'>")
SEPARATORS = (*TIGHT, *LOOSE, *WIDE, *DOUBLE, *SIGNS, *UNSEEN, *MARKUP)
SPOKEN = (" dash ", " slash ", " dot ", " space ", " then ", " comma ", " underscore ", " hyphen ")
ASIDE = (" and ", " okay ", " uh ", ", right, ")
IN_WORDS = (" ", ", ", "-", ".", ",", "/", "_", " - ", ". ", "\n", " ... ", "+", ":", "|")
"""Between digits that are written as words."""

# -- where it stands


def _csv(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if re.search('[,"\n]', text) else text


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _url(text: str) -> str:
    return quote(text, safe="")


MEDIA = (
    Medium("sentence", "my {key} is {value}"),
    Medium("sentence", "{key} {value}"),
    Medium("sentence", "{key}: {value}, thanks"),
    Medium("sentence", "Hello, the {key} is {value}. Please help!"),
    Medium("sentence", "so my {key}, that would be {value} okay"),
    Medium("sentence", "{key} - {value}"),
    Medium("sentence", "{key}\n{value}\n"),
    Medium("sentence", "({key} {value})"),
    Medium("sentence", "{key} \u2192 {value}"),
    Medium("subject", "Re: {key} {value}"),
    Medium("subject", "FW: [ext] {key} {value} - urgent"),
    Medium("subject", "{key}={value}?"),
    Medium("sender", '"{key} {value}" <shop@example.com>'),
    Medium("json", '{{"{key}":"{value}","step":2}}', _json),
    Medium("json", '{{"id": 7, "{key}": "{value}"}}', lambda text: json.dumps(text, ensure_ascii=False)[1:-1]),
    Medium("json in a string", '{{\\"{key}\\":\\"{value}\\"}}', lambda text: _json(_json(text))),
    Medium("xml", "<{key}>{value}</{key}>", html.escape),
    Medium("xml", '<pay {key}="{value}" step="2"/>', html.escape),
    Medium("html", "<tr><th>{key}</th><td>{value}</td></tr>", html.escape),
    Medium("html", '<input name="{key}" value="{value}">', html.escape),
    Medium("query", "https://shop.example/pay?step=2&{key}={value}&lang=en", _url),
    Medium("query", "?{key}={value}", quote_plus),
    Medium("form", "step=2&{key}={value}", quote_plus),
    Medium("path", "/v1/{key}/{value}/edit", _url),
    Medium("csv", "7,{key},{value},open", _csv),
    Medium("csv", '"{key}";"{value}";"EUR"', lambda text: text.replace('"', '""')),
    Medium("log", "INFO pay {key}={value} status=ok"),
    Medium("log", "[worker] {key}:{value}|state:open"),
    Medium("yaml", "{key}: '{value}'", lambda text: text.replace("'", "''")),
    Medium("ini", "{key} = {value}"),
    Medium("markdown", "| {key} | {value} |"),
    Medium("markdown", "- {key}: **{value}**"),
    Medium("markdown", "{key} `{value}`"),
    Medium("sql", "WHERE {key}='{value}'", lambda text: text.replace("'", "''")),
    Medium("code", "{{'{key}': '{value}'}}", lambda text: repr(text + '"')[1:-2]),
    Medium("code", '$card["{key}"] => "{value}";', _json),
    Medium("header", "X-{key}: {value}"),
)
UNNAMED = (
    *(Medium("bare", form) for form in ("{value}", "it's {value}", "{value}, please", "Hi! {value} thanks")),
    *(Medium("bare", form) for form in ("\u201c{value}\u201d", "<{value}>", "[{value}]", "*{value}*")),
    *(Medium("id", form) for form in ("call_{value}_1", "note-{value}", "conv:{value}", "#{value}")),
    Medium("file", "scan_{value}.pdf"),
    Medium("file", "C:\\docs\\{value}.txt"),
    Medium("path", "/users/{value}/edit", quote),
    Medium("queue", "payments/{value}"),
    Medium("csv", "7,{value},open"),
    Medium("url", "tel:{value}", quote),
    Medium("url", "https://a.example/?{value}", quote_plus),
)
"""Without a word that says what it is: enough for what is known by its form."""
GLUED = (Medium("glued", "ref{value}"), Medium("glued", "{value}EUR"), Medium("glued", "No.{value}"))
AS_SAID = frozenset({"sentence", "subject", "bare"})
"""Media in which people write as they speak."""

KEYS = {
    "card": "card number/card/cardNumber/card_number/CARD/pan/credit card/creditCard/cc/ccnum",
    "cvv": "cvv/CVV2/cvc/security code/securityCode/card_cvv/cvv_code",
    "expiry": "expiry/expiry date/expiryDate/expires/exp/card_exp/expiration",
    "account": "account number/account/accountNumber/account_no/acct/ACCOUNT",
    "iban": "iban/IBAN/customer_iban/iban number",
    "sort code": "sort code/sortCode/sort_code/bsb",
    "ssn": "ssn/social security number/SSN/social/ssnNumber",
    "insurance": "national insurance number/insurance number/ni_insurance",
    "passport": "passport number/passport/passportNumber/licence number",
    "pin": "pin/PIN/pin code/pin_code/cardPin",
    "password": "password/Password/pwd/user_password/passphrase/newPassword/passwd",
    "phone": "phone number/phone/mobile/phoneNumber/contact_phone/TEL/cell",
    "email": "email/e-mail/email address/userEmail/email_address/mail",
    "birth date": "date of birth/dob/DOB/birthDate/birth_date/birthday",
    "address": "address/home address/homeAddress/shipping_address",
}
BY_FORM = frozenset({"card", "iban", "ssn", "insurance", "phone", "email", "birth date", "address"})
"""Kinds that are known without a key."""
NUMBERS = frozenset({"card", "account", "ssn", "phone", "sort code"})
"""Kinds whose groups people part with words, too."""


def spellings(per_kind: int = PER_KIND, seed: int = SEED) -> Iterator[Spelling]:
    """So many of each kind: every separator and every medium again and again, in ever other pairs."""
    for kind, keys in KEYS.items():
        chance = Random(f"{seed} {kind}")
        separators = _endless(SEPARATORS, chance)
        media = _endless(MEDIA + UNNAMED * (kind in BY_FORM) + GLUED * (kind in ("card", "ssn")), chance)
        for _ in range(per_kind):
            separator, medium = next(separators), next(media)
            if medium.name in AS_SAID and kind in NUMBERS and chance.random() < 0.25:
                separator = chance.choice(SPOKEN + ASIDE * (kind == "card"))
            in_words = medium.name in AS_SAID and chance.random() < 0.3
            value, how = _VALUES[kind](chance, separator, in_words)
            yield _written(kind, value, chance.choice(keys.split("/")), medium, f"{how} in {medium.name}")


def _endless(choices: Sequence[T], chance: Random) -> Iterator[T]:
    return cycle(chance.sample(choices, len(choices)))


def _written(kind: str, value: Sequence[Piece], key: str, medium: Medium, made_of: str) -> Spelling:
    if medium.name in ("xml", "html", "query", "form", "path", "header"):
        key = key.replace(" ", "-" if medium.name == "header" else "_")
    before, after = medium.form.replace("{value}", "\0").format(key=key).split("\0")
    text, secrets = before, []
    for piece in value:
        start = len(text)
        text += medium.encode(piece.text)
        if piece.secret:
            secrets.append((start, len(text)))
    return Spelling(kind, text + after, tuple(secrets), made_of)


# -- numbers

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
ISSUED = (
    ("4", 16, (4, 4, 4, 4)), ("4", 16, (4, 4, 4, 4)), ("51", 16, (4, 4, 4, 4)), ("55", 16, (4, 4, 4, 4)),
    ("2221", 16, (4, 4, 4, 4)), ("34", 15, (4, 6, 5)), ("37", 15, (4, 6, 5)), ("36", 14, (4, 6, 4)),
    ("6011", 16, (4, 4, 4, 4)), ("62", 19, (6, 13)), ("3530", 16, (4, 4, 4, 4)), ("6759", 19, (4, 4, 4, 4, 3)),
)  # fmt: skip
"""How card numbers begin, how long they are, and their groups as printed."""


def random_digits(chance: Random, count: int, first: str = "123456789") -> str:
    return chance.choice(first) + "".join(chance.choices("0123456789", k=count - 1))


def card_number(chance: Random) -> tuple[str, Sequence[int]]:
    """A number with a fitting check digit, and its groups."""
    start, length, groups = chance.choice(ISSUED)
    body = start + "".join(chance.choices("0123456789", k=length - len(start) - 1))
    return next(body + last for last in "0123456789" if luhn(body + last)), groups


def iban(chance: Random) -> str:
    countries = (("GB", "NWBK", 14), ("DE", "", 18), ("NL", "ABNA", 10), ("FR", "", 23), ("IE", "AIBK", 14))
    country, bank, count = chance.choice(countries)
    account = bank + random_digits(chance, count)
    check = 98 - int("".join(str(int(sign, 36)) for sign in account + country + "00")) % 97
    return f"{country}{check:02}{account}"


def _cut(digits: str, sizes: Sequence[int]) -> list[str]:
    found, at = [], 0
    for size in sizes:
        found.append(digits[at : at + size])
        at += size
    return found


def _joined(groups: Sequence[str], separator: str) -> list[Piece]:
    pieces = [Piece(groups[0])]
    for group in groups[1:]:
        pieces += [Piece(separator, secret=False), Piece(group)]
    return pieces


def _number(groups: Sequence[str], chance: Random, separator: str, in_words: bool) -> Made:
    """Groups with a separator, or every digit in words."""
    if in_words:
        separator = chance.choice(IN_WORDS)
        return _joined([DIGITS[int(digit)] for digit in "".join(groups)], separator), f"words {separator!r}"
    return _joined(groups, separator), repr(separator)


def _card(chance: Random, separator: str, in_words: bool) -> Made:
    digits, printed = card_number(chance)
    pairs = [2] * (len(digits) // 2) + [1] * (len(digits) % 2)
    sizes = chance.choice([printed, printed, printed, pairs, [1] * len(digits)])
    return _number(_cut(digits, sizes), chance, separator, in_words)


def _groups(*sizes: int, first: str = "123456789") -> Callable[[Random, str, bool], Made]:
    def made(chance: Random, separator: str, in_words: bool) -> Made:
        return _number(_cut(random_digits(chance, sum(sizes), first), sizes), chance, separator, in_words)

    return made


def _expiry(chance: Random, separator: str, in_words: bool) -> Made:
    return _number([f"{chance.randint(1, 12):02}", str(chance.randint(26, 35))], chance, separator, in_words)


COUNTRIES = (
    ("", (3, 3, 4)), ("1", (3, 3, 4)), ("+1", (3, 3, 4)), ("+44", (2, 4, 4)), ("+49", (3, 4, 4)), ("0", (4, 6)),
)  # fmt: skip


def _phone(chance: Random, separator: str, in_words: bool) -> Made:
    country, sizes = chance.choice(COUNTRIES)
    parts = _cut(random_digits(chance, sum(sizes), "23456789"), sizes)
    if country == "0":
        parts[0] = "0" + parts[0]
    elif country and not in_words:
        parts = [country.removeprefix("+"), *parts]
    pieces, how = _number(parts, chance, separator, in_words)
    return [Piece("+" * country.startswith("+"), secret=False), *pieces], how


# -- with letters


def _iban(chance: Random, separator: str, in_words: bool) -> Made:
    text = iban(chance)
    if chance.random() < 0.2 and separator != "\\":  # "gb29\nwbk" is a new line
        text = text.lower()
    return _joined([text[at : at + 4] for at in range(0, len(text), 4)], separator), repr(separator)


def _insurance(chance: Random, separator: str, in_words: bool) -> Made:
    digits = random_digits(chance, 6)
    parts = ["AB", digits[:2], digits[2:4], digits[4:], chance.choice("ABCD")]
    return _joined(parts, separator), repr(separator)


def _passport(chance: Random, separator: str, in_words: bool) -> Made:
    parts = [chance.choice("CEHKX") + random_digits(chance, 3), random_digits(chance, 4)]
    return _joined(parts, separator), repr(separator)


PASSWORDS = ("hunter2", "Tr0ub4dor&3", "p@ss!w0rd", "Sommer.2019", "Qx7_kd93", "x#9%plum", "blue|42|dog", "R2-d2-C3po")


def _password(chance: Random, separator: str, in_words: bool) -> Made:
    return [Piece(chance.choice(PASSWORDS))], "as typed"


AT: tuple[str, ...] = (
    "@",
    "@",
    " @ ",
    " at ",
    "(at)",
    "[at]",
    " (at) ",
    " [at] ",
    "{at}",
    "<at>",
    " AT ",
    "_at_",
    "-at-",
)
AT += ("%40", "&#64;", "\uff20", "@ ", " @", "(@)", "/at/", " at sign ")
DOT = (".", ".", " dot ", "(dot)", "[dot]", " . ", " DOT ", "[.]", "{dot}", "_dot_", "\u3002", " .", ". ")
LOCALS = (("jane",), ("jane", "doe"), ("j", "smith"), ("jane", "van", "dyk"), ("jsmith92",), ("sandra",))
HOSTS = ("acme", "gmail", "example", "quiltworks", "hotmail")
ENDINGS = (("com",), ("org",), ("co", "uk"), ("de",))


def _email(chance: Random, separator: str, in_words: bool) -> Made:
    at, dot = chance.choice(AT), chance.choice(DOT)
    if at in ("@", "%40", "&#64;", "\uff20") and chance.random() < 0.5:
        dot = "."
    inside = dot if "dot" in dot.lower() else chance.choice("._-+") if at in ("@", "%40") else "."
    pieces = [*_joined(chance.choice(LOCALS), inside), Piece(at, secret=False), Piece(chance.choice(HOSTS))]
    for part in chance.choice(ENDINGS):
        pieces += [Piece(dot, secret=False), Piece(part, secret=False)]
    return pieces, f"{at!r} {dot!r}"


MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November")


def _birth_date(chance: Random, separator: str, in_words: bool) -> Made:
    day, month, year = chance.randint(1, 28), chance.randint(1, 11), chance.randint(1930, 2008)
    forms = [[f"{day:02}", f"{month:02}", str(year)], [str(year), f"{month:02}", f"{day:02}"]]
    if separator.strip() and separator not in UNSEEN:
        name = chance.choice((MONTHS[month - 1], MONTHS[month - 1][:3]))
        forms += [[str(day), name, str(year)], [name, str(day), str(year)], [str(year), name, str(day)]]
    separator = separator or "/"
    return _joined(chance.choice(forms), separator), repr(separator)


FLATS: tuple[str, ...] = ("Flat 3, ", "flat 2b ", "Apt 4, ", "Unit 5/", "3/", "Flat 3, Oak House, ", "Suite 200, ")
FLATS += ("Floor 2, ", "Flat A, ", "Apartment 12B, ", "Room 4, ", "2nd floor, ", "#4, ", "No. 7, ", "")
HOUSES = ("12", "221", "12a", "12-14", "7")
STREETS = ("High Street", "Baker Street", "Elm Avenue", "Station Road", "Maple Lane", "Kingsway Crescent")


def _address(chance: Random, separator: str, in_words: bool) -> Made:
    flat = chance.choice(FLATS)
    house = f"{chance.choice(HOUSES)} {chance.choice(STREETS)}"
    number = re.search(r"\d+[a-zA-Z]?\b", flat)
    if number is None:
        return [Piece(flat, secret=False), Piece(house)], f"flat {flat!r}"
    start, end = number.span()
    pieces = [Piece(flat[:start], secret=False), Piece(number[0]), Piece(flat[end:], secret=False), Piece(house)]
    return pieces, f"flat {flat!r}"


_VALUES: dict[str, Callable[[Random, str, bool], Made]] = {
    "card": _card, "cvv": _groups(3), "expiry": _expiry, "account": _groups(4, 4), "iban": _iban,
    "sort code": _groups(2, 2, 2), "ssn": _groups(3, 2, 4, first="12345678"), "insurance": _insurance,
    "passport": _passport, "pin": _groups(4), "password": _password, "phone": _phone, "email": _email,
    "birth date": _birth_date, "address": _address,
}  # fmt: skip


# -- nothing secret

ORDINARY = (
    "at {hour}:{minute}", "from {hour}:{minute} to {hour}:{minute}", "it costs ${n}.{minute}", "{n} of {n} boxes",
    "version {d}.{d}.{n}", "{d}:{d} for us", "{d}/{d} stars", "{n}%", "{n} x {n} cm", "{d}+{d}={d}", "page {n}",
    "in 20{minute}", "20{minute}-{month}-{minute}T{hour}:{minute}:{minute}Z", "{n} | {d} | ${n}", "step={d}",
    "order number {n}{minute}{n}", "tracking {n}{minute}{n}{n}", "build #{n}", "id={d}", "flight BA{n}", "room {n}",
    '{"qty":{d},"price":{n}.{minute}}', "<qty>{d}</qty>", "?page={d}&size={n}", "utf-8", "iso8601", "A{d}",
    "{d}-{d} days", "{n} km/h", "ratio {d}:{d}", "{d},{n},{minute}",
)  # fmt: skip
AROUND = ("{}", "it was {} I think", "see {} please", "Hello, {}. Thanks", "[{}]", '"{}"')
SIZES = {"n": (10, 999), "d": (1, 9), "hour": (0, 23), "minute": (10, 28), "month": (10, 12)}
_FIGURE = re.compile(r"\{(n|d|hour|minute|month)\}")


def ordinary(count: int = 1000, seed: int = SEED) -> Iterator[str]:
    """Figures that are no secret, in sentences, JSON, logs and tables."""
    chance = Random(f"{seed} ordinary")
    for _ in range(count):
        text = _FIGURE.sub(lambda found: str(chance.randint(*SIZES[found[1]])), chance.choice(ORDINARY))
        yield chance.choice(AROUND).replace("{}", text)
