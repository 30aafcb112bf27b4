"""Tells English from other languages, well enough to say that only English is understood."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from dialog.values.tokens import word_set

_TELLING: Final = {
    "es": (
        "estas estoy bien buenos buenas dias tardes noches senor ayuda quisiera comprar usted cual cuanto cuanta "
        "cuantos cuantas cuesta cuestan precio donde esta estan hace tiempo manana hoy quiero necesito puedo hola "
        "puede gracias tiene tienen llover lluvia llueve tienda tiendas cerca ropa zapatos pantalones vaqueros camisa "
        "camiseta comida mas barato clima ciudad busco habla hablas espanol"
    ),
    "fr": (
        "allez bonsoir acheter suis avez quel quelle quels quelles quoi combien coute coutent bonjour merci demain "
        "aujourd'hui pleuvoir pleut veux voudrais peux puis magasin magasins plait trouver cherche chaussures proche "
        "parlez francais meteo"
    ),
    "de": (
        "geht guten wie kaufen habt ihr ist wo viel kostet kosten ich sie wir wird morgen heute wetter regnen regnet "
        "bitte danke hallo und fur nicht kann mochte haben gibt geschaft nachste suche wann warum welche wieviel hosen "
        "schuhe milch sprechen deutsch"
    ),
    "it": (
        "cosa quanto quanta quanti costano sono ciao grazie domani oggi piovere piove vorrei posso negozio nella "
        "buongiorno scarpe pantaloni vicino parla parli italiano"
    ),
    "pt": (
        "qual onde quanto custa custam ola obrigado obrigada amanha hoje chover quero posso loja nao voce vai sapatos "
        "calcas leite comprar fala portugues"
    ),
}
"""Words that say which language it is, without accents: many people type none."""
_COMMON: Final = {
    "es": "el la los las un una que como para por con y es en de del mi tu va tal a al hay leche",
    "fr": "le la les un une des est ou il elle je vous nous et en de du pour avec fait va ca a plus lait temps comment",
    "de": "der die das den dem ein eine einen was du es in mit mir im am tag abend gut",
    "it": "il lo la gli le i un una che come tempo per con di del si sei fa e a dove latte costa",
    "pt": "o a os as um uma que como e esta para com de do da tempo",
}
"""Words that stand in names, on menus and in English, too."""
_ENGLISH: Final = word_set(
    "the a is are was will what where when how much many do does can i you it in at for of to and with my me near get "
    "buy find have any need want tomorrow today weather rain price cost store stock please not no yes this that there"
)
_WORD: Final = re.compile(r"[^\W\d_][\w']*")
_LEAST: Final = 3
"""What a line must say for another language; a telling word says two, a small one one."""


def foreign(text: str) -> bool:
    """Whether the line is in another script, or clearly in a language that is not English."""
    letters = [one for one in text if one.isalpha()]
    if letters and sum(not _latin(one) for one in letters) > len(letters) / 2:
        return True
    words = [_plain(word) for word in _WORD.findall(text)]
    if len(words) < 2:
        return False
    english = sum(word in _ENGLISH for word in words)
    marks = 1 if re.search("[¿¡]", text) else 0
    return any(_is_in(words, language, english, marks if language == "es" else 0) for language in _TELLING)


def _is_in(words: list[str], language: str, english: int, marks: int) -> bool:
    telling = sum(word in _KNOWN[language] for word in words) + marks
    common = sum(word in _SMALL[language] for word in words)
    enough = 2 * telling + common >= _LEAST and telling + common > english * 1.5
    return telling > 0 and enough and 2 * telling + common >= len(words) * 0.5


def _plain(word: str) -> str:
    """In lower case and without accents."""
    return unicodedata.normalize("NFKD", word.lower()).encode("ascii", "ignore").decode()


def _latin(letter: str) -> bool:
    return "LATIN" in unicodedata.name(letter, "")


_KNOWN: Final = {language: frozenset(words.split()) for language, words in _TELLING.items()}
_SMALL: Final = {language: frozenset(words.split()) for language, words in _COMMON.items()}
