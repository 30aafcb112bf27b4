"""Words around a name that say whether a place is meant."""

from __future__ import annotations

from dialog.values.tokens import word_set

# Before a place, as good as always.
CUES = word_set("in near around at outside downtown nearby from inside within over")
# "four" and "two" are what a recogniser makes of "for" and "to".
WEAK_CUES = word_set("for to of by about four 4 2")
ZIP_CUES = word_set("zip code zipcode in near at for around")
WEATHER_WORDS = word_set(
    "weather forecast temperature temperatures temp rain raining snow snowing humidity sun sunny cloudy wind degrees"
)
# Before "for" and "to" these make a place of an ordinary word: "weather for mobile", "drive to reading".
WEATHER = WEATHER_WORDS | word_set(
    "directions drive go going get move moving fly flying heading travel traveling coming"
)
# Between the cue and the name: "in downtown Chicago", "near the city of Reading".
BETWEEN = word_set("downtown uptown midtown greater the metro central sunny beautiful rainy lovely old")
# What may stand after an ordinary word that is a place; anything else makes it part of another phrase ("in mobile
# phones", "for reading glasses").
AFTER = word_set(
    "today tonight tomorrow now right this next on at in for during over later and or but please thanks is "
    "are will would can could do does did has have that which who with after before until by the a an be get "
    "it i we you area airport weather forecast store stores location open closed close closes hold have carry "
    "stock sell sells rn pls plz thx tmrw tonite 2nite right then than currently as if when where while "
    "yesterday last was were because since so monday tuesday wednesday thursday friday saturday sunday"
)
# "how much snow did buffalo get": between these an ordinary word is a place.
BEFORE_SUBJECT = word_set("did does will is has can would do")
AFTER_SUBJECT = word_set("get gets have be receive see expect getting going expecting usually")
# "buffalo wings", "boston cream pie", "new york strip": not the city.
DISHES_AND_TEAMS = word_set(
    "wings wing sauce cream strip cheesesteak cheesesteaks cheesecake style chowder barbecue bbq rub bulls "
    "cubs bears cowboys lakers dodgers yankees mets knicks celtics patriots packers broncos eagles giants "
    "jets steelers jersey jerseys times logs check chicken"
)
# After "in" these are no places either, unless their state is said.
SEASONS_AND_COLORS = word_set("spring orange green plum golden walnut pearl auburn hickory")
# "is there a Target here" has no name of a place in it, nor have these.
NOWHERE = word_set(
    "here there me you us them him her it home work nearby town this that these those stock general total "
    "person particular advance fact case bulk time style sight mind my your our their his its what which "
    "where"
)
# After the abbreviation of a state that is also a word; "portland or the beach" names no state.
AFTER_STATE = AFTER - word_set("the a an in at i you it")
# No name that is misspelt or misheard has one of these in it.
SMALL = AFTER | CUES | WEAK_CUES | NOWHERE | WEATHER_WORDS
