"""Other languages are noticed, and English with foreign dishes in it is English."""

from __future__ import annotations

import pytest

from dialog.understanding.language import foreign


@pytest.mark.parametrize(
    "line",
    [
        "hola, donde puedo comprar leche",
        "¿cuánto cuesta la leche?",
        "wie wird das wetter morgen in der stadt",
        "où est le magasin le plus proche",
        "quel temps fait-il demain à boston",
        "quanto costa il latte per favore",
        "onde posso comprar um computador",
        "¿cuánto cuestan los pantalones vaqueros?",
        "cuanto cuestan los pantalones vaqueros",
        "va a llover manana en boston",
        "tienen leche",
        "¿hay jeans?",
        "combien coute un jean",
        "parlez-vous français",
        "est-ce qu'il va pleuvoir demain",
        "was kosten die schuhe",
        "wo ist der naechste supermarkt",
        "haben sie milch",
        "vai chover amanha",
        "天気はどうですか",
        "какая погода в бостоне",
        "ما هو الطقس",
    ],
)
def test_other_languages(line: str) -> None:
    assert foreign(line)


@pytest.mark.parametrize(
    "line",
    [
        "where can i get tacos al pastor in san diego",
        "do you have la croix in stock",
        "weather in los angeles",
        "is there a café near des moines",
        "el paso",
        "las vegas",
        "how much is crème brûlée",
        "dulce de leche",
        "a caffe latte",
        "cafe au lait",
        "dove soap",
        "a hose",
        "costa mesa",
        "costa del sol",
        "merci beaucoup",
        "",
        "ok",
    ],
)
def test_english_with_foreign_names(line: str) -> None:
    assert not foreign(line)
