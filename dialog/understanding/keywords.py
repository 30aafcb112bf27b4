"""A modest understander by rules: patterns for intents, and what is left of a line for items and stores.

It runs when no model is configured, and beside one as a check. Exact phrases that work everywhere ("say that
again") are its business in both cases.
"""

from __future__ import annotations

import re
from typing import Final

from dialog.understanding.types import Intent, Reading, Span
from dialog.understanding.words import CHAINS, FUNCTION_WORDS, PLAIN_STORES, STORE_WORDS, WEATHER_WORDS
from dialog.values.tokens import word_set
from tenor.taxonomy.assistant import NO_MATCH

_YES_NO: Final = re.compile(
    r"^(?:(?:and|so|but|um|uh|hi|hey|hello|ok|okay|well|please|can you tell me|do you know|tell me|i wonder|"
    r"wondering|"
    r"could you tell me|any idea|just|also)[\s,]+)*(?:if |whether )?"
    r"(?:will|won't|is|isn't|are|does|do|did|should|would|could|can|any|am|gonna|has|have|might|whether|if|need)\b"
)
_RAIN: Final = (
    r"rain|rains|rainy|raining|rained|rainfall|umbrella|drizzl\w*|showers|precipitation|raincoat|pouring|stay dry"
)
_SNOW: Final = r"snow|snows|snowy|snowing|snowed|snowfall|flurries|white christmas|blizzard|snow chains"
_TEMPERATURE: Final = (
    r"temperature|temperatures|temp|temps|degrees|how (?:hot|cold|warm|cool|chilly)|hot|cold|warm|chilly|freezing|"
    r"warmer|colder|(?:hotter|cooler) than|heat|(?:above|below|over|under) "
    r"(?:(?!\d+ (?:dollars|bucks))\d+|freezing|zero)|jacket|sweater|"
    r"coat|below zero|freeze|wear (?:shorts|a tank top|flip flops)"
)
_HUMID: Final = r"humid|humidity|muggy|sticky|damp"
_SUN: Final = r"sun|sunny|sunshine|sunglasses|sunscreen|sunblock|clear sk\w+"
_CLOUD: Final = r"cloud|clouds|cloudy|overcast|gr[ea]y sk\w+"
_WEATHER: Final = (
    r"weather|wether|wheather|weater|weahter|whether (?:in|like|today|tomorrow|for)|forecast|wind|winds|windy|"
    r"storm|storms|stormy|thunder\w*|nice out|nice outside|outside"
)
WEATHER_IDIOM: Final = (
    r"what(?:'s| is| will) it (?:gonna |going to )?(?:be )?like (?:in|at|out|outside|there|on|this|next|tomorrow|today|"
    r"tonight)|what (?:should|do|shall) i (?:wear|pack)|how should i dress"
)
"""Asks for the weather without a word of it."""
_WORN: Final = (
    r"(?:will|do|does|should|shall|would|might|won't|don't) (?:i|we|you|he|she|they|(?:my|the|our) \w+) "
    r"(?:really |also |still |even )?(?:need|wear|bring|pack|take|want)(?: to (?:wear|bring|pack|take|have))? "
    r"(?:(?:my|our|a|an|the|some|any|warm|heavy|winter|light|thick|good) )*"
)
_COLD_WEAR: Final = (
    r"(?:gloves|mittens|coats?|jackets?|sweaters?|scar(?:f|ves)|hats?|beanie|hoodie|layers|long sleeves)"
)
_SUN_WEAR: Final = r"(?:sunglasses|shades|sunscreen|sunblock|sun hat)"
_RAIN_WEAR: Final = r"(?:umbrellas?|raincoats?|rain (?:coats?|jackets?|boots)|poncho)"
WORN_OUTSIDE: Final = (
    rf"{_WORN}(?:{_COLD_WEAR}|{_SUN_WEAR}|{_RAIN_WEAR})\b(?! (?:in|of) (?:size|stock|store|color|colour)\b)"
)
"""Asks for the weather by what one would wear."""
_SHOPPING: Final = re.compile(
    r"\b(?:buy|sell|carry|price|prices|cost|costs|in stock|available|cheapest|store|shop|get an?|find an?|need "
    r"an? new|"
    r"looking for|reserve|do you have|(?:stores?|shops?|markets?)(?: \w+){0,3} (?:have|has|sell|sells|carry|carries)|"
    r"have you got|got any|how much (?:is|are|does|do|for)|boots|jackets|shovels?|waterproof|"
    r"coats|"
    r"where can|umbrellas|warranty|reserve|hold)\b"
)

OUR_STORE: Final = (
    r"(?:do|have) (?:you|they|y'all|you guys) (?:have |got |got any )?(?:a|an|any|another|other) "
    r"(?:stores?|shops?|branch(?:es)?|locations?|outlets?)"
)
"""Asks for a store of ours, not for goods."""
_POLITE: Final = r"(?:and|so|hey|hi|hello|um|uh|ok|okay|please|well)"
_WISHES: Final = r"(?:i need|i want|i'd like|i would like|(?:i'm |i am )?looking for|get me|i'm after)"
BOOK: Final = (
    rf"^(?:(?:{_POLITE}|can you|could you|would you|will you|i want to|i need to|i'd like to|i would like to)\W+)*"
    r"book (?:me |us )?(?:a|an|the|one|two|three|four|some|that|this|it)\b"
    r"(?! (?:\w+ )?(?:table(?:$| (?:for|in|at|near|tonight))|(?:flight|hotel|room|ticket|appointment|trip|taxi|cab|"
    r"ride|uber|train|cruise|seat|massage|haircut)s?\b))"
)
"""To book a thing is to reserve it; a table in a restaurant and a flight are none of the shop's."""
_KINDS: Final = "|".join(sorted(STORE_WORDS - {"place", "places", "bar", "bars", "joint", "joints"}))
KIND_OF_PLACE: Final = (
    rf"^(?!.*\bmap\b)(?:{_POLITE}\W+)*"
    rf"(?:{_WISHES}|where(?:'s| is| are)|(?:find|show|get) (?:me|us)|find|(?:is|are) there|"
    rf"do you know|know of|any) (?:(?:a|an|the|any|some) )?(?:\w+ ){{0,2}}(?:{_KINDS})"
    r"(?: (?:in|near|around|close|nearby|at|by|on|for me|please|here|there|somewhere|open) ?.*)?$"
)
"""Asks for a kind of place and says no more than where."""
CUISINE: Final = (
    r"^(?:some |any |good |maybe )?(?!(?:cat|dog|pet|fish|bird|baby|frozen|canned|junk)\b)"
    r"(?:\w+ ){1,2}(?:food|cuisine)$"
)
"""What a kind of restaurant serves, and nothing else."""

PRICE_LIMIT: Final = (
    r"^(?!(?:(?:ok|okay|so|and|what about|how about) )).*"
    r"(?:\b(?:under|below|less than|cheaper than|up to|no more than|at most|over|more than|at least) "
    r"(?:\$ ?\d|(?:[\w-]+ ){1,3}(?:dollars|bucks)\b)|"
    r"\bbetween (?:\$ ?)?[\w-]+ and (?:\$ ?\d|(?:[\w-]+ ){1,3}(?:dollars|bucks)\b))"
)
"""What a thing may cost."""

_INTENTS: Final = tuple(
    (name, score, re.compile(pattern))
    for name, score, pattern in (
        ("store_location", 0.97, r"^(?:(?:and|so|hey|hi|um|uh|ok|okay|please|tell me|do you know|know)\W+)*where\b"),
        # as recognisers mishear it
        ("store_location", 0.95, r"^(?:wear|ware|were) (?:can|could|do|would) (?:i|we|you) (?:get|find|buy|by|bye)\b"),
        ("store_location", 0.9, r"\b(?:which|what) (?:store|shop|restaurant|place|market)s?\b"),
        ("store_location", 0.96, rf"\b{OUR_STORE}\b"),
        ("store_location", 0.92, rf"^(?:{_POLITE}\W+)*{_WISHES} (?:a|an|the|some) (?:\w+ ){{0,2}}(?:{_KINDS})\b"),
        ("store_location", 0.95, KIND_OF_PLACE),
        ("store_location", 0.85, r"^(?:the |some )?(?:best|good|great|top|decent) .+ (?:in|near|around) "),
        (
            "reserve",
            0.9,
            r"\b(?:reserve|set (?:it |one |them |this |that )?aside|put (?:\w+ ){0,6}(?:aside|on hold)|"
            r"hold (?:\w+ ){0,6}for me|(?:can|could) you hold|keep (?:one|it|them) for me)\b",
        ),
        ("reserve", 0.97, BOOK),
        ("navigation.showmappoi", 0.9, r"\b(?:on (?:a|the|my) map|map of|(?:show|open|pull up|see) (?:\w+ )*map)\b"),
        (
            "navigation.geteta",
            0.9,
            r"\b(?:eta|how (?:long|far|many miles|many minutes)\b.*\b(?:to|from|away|drive|walk|get there|is|take)|"
            r"when (?:will|would|do|could) i (?:arrive|get there)|how long (?:to|till|until)|how soon can i)\b",
        ),
        (
            "navigation.startnavigationpoi",
            0.9,
            r"\b(?:take me (?:to|there|home)|navigate|start (?:the )?(?:navigation|route|guidance|gps)|guide me|"
            r"drive me|"
            r"bring me to|lead me to|get me to|route me)\b",
        ),
        (
            "navigation.showdirection",
            0.9,
            r"\b(?:directions?|how (?:do|can|would|should) (?:i|we|you) (?:get|go|drive|walk) (?:to|there|from)|"
            r"(?:the|best|fastest|quickest) (?:way|route) to|which way)\b",
        ),
        (
            "product_info",
            0.9,
            r"\b(?:(?:return|refund|exchange)\b|warrant(?:y|ies)|guarantee[ds]?|specs?|specifications?|how "
            r"(?:do|can|should|to) (?:i |you |we |to )?"
            r"(?:use|set up|setup|install|wash|clean|charge|assemble|pair|connect|reset|care)|what (?:is|are) "
            r"(?:\w+ ){1,5}"
            r"made (?:of|from)|made (?:of|from)|what material|battery life|waterproof|water resistant|machine "
            r"washable|"
            r"dishwasher safe|ingredients|calories|gluten|compatible|"
            r"(?:does|do|will|is|are) (?:\w+ ){1,6}(?:fit|work with|come with|have bluetooth|support)|how "
            r"(?:heavy|big|tall|wide) "
            r"(?:is|are)|tell me (?:more )?about the|details (?:on|about|of)|user manual|instructions)\b",
        ),
        (
            "inventory_check",
            0.9,
            r"\b(?:in[- ]stock|out of stock|sold out|(?:do|did|does) (?:you|they|y'all|ya|u|you guys|the store|\w+) "
            r"(?:still |even |currently |also |actually )?(?:have|sell|carry|stock)\b|have you got|"
            r"you got|got any|(?:any|many|some|one) (?:\w+ ){0,5}left|available|availability|how many (?:\w+ "
            r")+(?:have|left)|"
            r"carry|inventory|do you guys have|(?:if|whether) (?:you|they) (?:still |also )?(?:have|got)|"
            r"is there any|are there any|you (?:carry|stock|sell))\b",
        ),
        (
            "price_check",
            0.9,
            r"\b(?:how much|price|prices|priced|pricing|costs?|going for|on sale|expensive|marked down|"
            r"discounts?|set me back|the damage for|going rate|"
            r"deals? on|how many dollars|worth|charge for)\b",
        ),
        (
            "store_location",
            0.9,
            r"\b(?:where|where's|wheres|nearest|closest|near me|nearby|near|address|phone number|telephone|"
            r"(?:opening|their|its|your|the|store) hours|"
            r"(?:is|are) (?:\w+ ){1,5}open|what time (?:does|do|are|is (?:\w+ ){1,3}open)|(?:stores?|shops?) "
            r"(?:that|which|selling|with|in|near|for)|open (?:late|now|on|until|till|today)|"
            r"find (?:me )?(?:a|an|the|some)|recommend|looking for (?:a|an|the|some)|somewhere|a place (?:to|"
            r"for|that)|"
            r"(?:best|good|top|cheap|highest[- ]rated|top[- ]rated|cheapest|decent|worst|lowest[- ]rated) "
            r"(?:\w+ ){0,4}(?:restaurants?|stores?|shops?|places?|market|cafes?|bakery|pharmacy|bars?|food)|"
            r"restaurants?|hours of|i (?:want|need|feel like) to eat|craving|hungry|in the mood for)\b",
        ),
        ("price_check", 0.9, PRICE_LIMIT),
        ("price_check", 0.75, r"\b(?:cheapest|dearest|lowest price|cheaper|afford)\b"),
        (
            "store_location",
            0.92,
            r"\b(?:feel like (?:having|eating)|(?:i'd like|i would like|i want) (?:some )?(?:\w+ )?food)\b",
        ),
        ("store_location", 0.92, CUISINE),
        ("inventory_check", 0.9, r"^(?:i want|i need|i'd like|i would like) to (?:buy|get|find)\b"),
        ("inventory_check", 0.6, r"^(?:i need|i want|i'd like|i would like|looking for|i'm looking for|got)\b"),
    )
)

_SMALL_TALK: Final = tuple(
    (
        name,
        re.compile(
            r"^(?:(?:oh|well|ok|okay|and|um|uh|hey|great|alright|all right|no thanks|no thank you|no|yes),? )*"
            rf"(?:{pattern})"
            r"(?:[ ,]+(?:nara|there|then|now|please|so much|very much|a lot|again|you|all|today|everyone|man|"
            r"for (?:the|your) (?:help|info|information)|for that|for now|friend|good ?bye|bye|thanks|thank you))*$"
        ),
    )
    for name, pattern in (
        (
            "universal.repeat",
            r"(?:could you |can you |please )*(?:repeat(?: that| it| please| what you said)?|say (?:that|it) "
            r"again|come again|pardon(?: me)?|what did you (?:just )?say|what was that|one more time|"
            r"i (?:didn't|did not|couldn't) (?:hear|catch|get) (?:that|you|it)|excuse me|sorry what|what|huh|"
            r"tell me (?:that )?again|again)",
        ),
        (
            "universal.start_over",
            r"(?:can we |let's |lets |please |i want to )*(?:start (?:over|again|afresh|from the beginning)|"
            r"begin again|reset|restart|from the top|forget everything|clear everything|new conversation)",
        ),
        (
            "universal.cancel",
            r"(?:please |just )*(?:never ?mind(?: that| it)?|forget (?:it|that|about it)|"
            r"cancel(?: that| it| this| (?:my|the) (?:reservation|order|hold))?"
            r"|stop(?: that| it)?|skip (?:it|that)|drop it|leave it|scratch that|don't bother|no matter|quit)",
        ),
        (
            "universal.help",
            r"(?:i need |please |can you )*(?:help(?: me)?(?: out)?|what can (?:you|i) (?:do|ask|say)"
            r"(?: for me| you| here)?|what (?:do|can) you (?:do|know|help with|help me with|offer)|"
            r"how (?:does this|do you|can you) (?:work|help me|help)|"
            r"why(?: (?:do|would|should) (?:you|i) (?:need|want|have) "
            r"(?:to know |to tell you )?(?:that|this|it|to know)|"
            r"(?: (?:do|are) you)? ask(?:ing)?)?|what (?:do you need (?:that|it|this) for|for)|"
            r"what do you mean(?: by that)?|(?:sorry )?i(?:'m| am) (?:lost|confused)|"
            r"(?:sorry )?i (?:don't|do not|dont) (?:understand|get it|follow)"
            r"(?: (?:you|that|this|it|the question|what you mean))?|"
            r"what are my options|options|menu|what else can you do|how can you help(?: me)?)",
        ),
        (
            "universal.goodbye",
            r"(?:good ?bye|bye(?: bye)?|see (?:you|ya)(?: later| soon)?|"
            r"(?:that's|thats|that is|that will be|that'll be) (?:all|everything)(?: i need(?:ed)?)?|"
            r"have a (?:good|nice|great) (?:day|one|evening)|"
            r"i'm done|i am done|we're done|later|catch you later|take care|"
            r"nothing else|(?:thanks|thank you|thx|cheers)(?: so much| very much| a lot| a million| a bunch|"
            r" for (?:\w+ ){1,3}?)?,? "
            r"(?:and )?(?:good ?bye|bye(?: bye)?|see (?:you|ya)(?: later)?|have a (?:good|nice|great) (?:day|one|"
            r"evening))|"
            r"thanks,? that's all|gotta go|good night)",
        ),
        (
            "universal.wait",
            r"(?:please )?(?:wait|hold on|hang on|one (?:moment|second|sec|minute)|just a (?:moment|second|sec|"
            r"minute)"
            r"|give me (?:a|one) (?:moment|second|sec|minute)|wait a (?:moment|second|sec|minute)|hold on a "
            r"(?:moment|second|sec|minute)|let me (?:think|see|check)|bear with me|a moment)",
        ),
        (
            "universal.yes",
            r"(?:yes|yeah|yep|yup|sure|correct|right|exactly|of course|please do|go ahead|absolutely|definitely|"
            r"that's right|that is right|ok|okay|sounds good|yes please|do it|affirmative|uh huh|mhm|fine|"
            r"that's correct|sure thing|why not|y)",
        ),
        (
            "universal.no",
            r"(?:no|nope|nah|no thanks|no thank you|not really|don't|not now|negative|no way|rather not|i don't "
            r"think so|"
            r"not at all|no need|n)",
        ),
        (
            "smalltalk.greeting",
            r"(?:hi|hello|hey|howdy|good (?:morning|afternoon|evening|day)|greetings|hiya|yo|hello hello|hi there)",
        ),
        (
            "smalltalk.thanks",
            r"(?:thanks|thank you|thx|ty|cheers|much appreciated|appreciate it|i appreciate it|thanks a (?:lot|"
            r"bunch|million)"
            r"|great|perfect|awesome|cool|nice|wonderful|excellent|got it|good to know|great thanks)",
        ),
        (
            "smalltalk.how_are_you",
            r"(?:how are (?:you|ya|things)(?: doing)?|how(?:'s| is) it going|how do you do|what's up|whats up|"
            r"how have you been|how's your day(?: going)?|how you doing|you ok|sup)",
        ),
        (
            "smalltalk.who_are_you",
            r"(?:who are you|what are you|what(?:'s| is) your name|are you (?:a |an )?(?:real(?: person)?|robot|"
            r"bot|human|machine|computer|ai|person|real human)|am i (?:talking|speaking) to (?:a |an )?"
            r"(?:robot|bot|machine|human|computer|person|real person)|do you have a name|who made you|"
            r"who am i (?:talking|speaking) (?:to|with))",
        ),
        (
            "smalltalk.praise",
            r"(?:(?:you're|you are|ur|that was|that's|this is) (?:so |very |really |just |super )?(?:great|good|"
            r"helpful|awesome|"
            r"smart|amazing|the best|brilliant|wonderful|fantastic|nice|cool|perfect)|good (?:job|work|bot)|"
            r"well done|i (?:love|like) you|nice work)",
        ),
        (
            "smalltalk.insult",
            r"(?:(?:you're|you are|ur|you|this is|this thing is) (?:so |such a |a |really |just |absolutely |"
            r"totally |an )?"
            r"(?:useless|stupid|dumb|an? idiot|idiot|terrible|awful|bad|worthless|the worst|rubbish|garbage|"
            r"suck|annoying|moron|crap|pathetic)|shut up|screw you|i hate you|stupid bot)",
        ),
    )
)
_PERSON: Final = re.compile(
    r"\b(?:(?:talk|speak|chat|connect|transfer|put|get|pass|switch|hand)\b.*\b(?:person|human|agent|representative|"
    r"rep|someone|somebody|operator|colleague|manager|supervisor|employee|staff|people|human being|advisor)|"
    r"(?:real|actual|live|human) (?:person|human|agent|being|representative|operator|rep|one)|customer "
    r"(?:service|support|care)|"
    r"(?:want|need|like|have|see|is there|(?:get|give|find|bring|call|send) me|gimme) "
    r"(?:to (?:talk|speak|chat) (?:to|with) )?(?:a|an|the|your) "
    r"(?:person|human|agent|representative|operator|manager|supervisor|rep)|"
    r"(?:someone|somebody) (?:real|else|human|who works)|human please|put me (?:through|on) (?:to|with)|"
    r"(?:transfer|escalate) (?:me|this|the call)(?= ?(?:now|please|over|then|already)?$)|"
    r"(?:talk|speak|connect|transfer|switch) (?:\w+ ){0,3}(?:to|with) (?:the |your |a )?"
    r"(?:support|service|sales|front desk|office|help ?desk|team))\b|(?:^|\b(?:to|with|me|for) )(?:a human|a person|a "
    r"human being|a real person)(?: please)?$|"
    r"\b(?:anybody|anyone|somebody|someone|nobody) real\b|human (?:help|assistance|support)\b|"
    r"^(?:is|are) (?:there )?(?:anybody|anyone|somebody|someone|(?:any )?(?:real |actual )?(?:people|humans?))"
    r"(?: (?:there|here|around|available|i can (?:talk|speak) to|to (?:talk|speak) to))+$|"
    r"^(?:please )?(?:can|could|will) (?:someone|somebody|anyone|anybody)(?: please)? (?:help|assist|"
    r"call)(?: me)?(?: please)?$|"
    r"\b(?:don't|dont|do not|rather not) (?:want|like|wanna)?(?: to)? ?(?:talk|talking|speak|speaking|"
    r"chat)(?: anymore)? "
    r"(?:to|with) (?:a |an |this |the |some )?(?:bot|robot|machine|computer|ai|chatbot)\b|"
    r"^(?:please )?connect me(?: please| now)?$|\b(?:get|give|call) me (?:your|the|a) (?:boss|manager|supervisor)\b|"
    r"\b(?:phone )?number (?:for|of) (?:your )?(?:support|customer service|customer support|help ?desk)\b|"
    r"^(?:i give up|enough|forget (?:it|this|the bot)|this is (?:useless|pointless|hopeless)|"
    r"screw this)(?: already)?,? "
    r"(?:get me |give me |i want )?(?:a |an )?(?:person|human|agent|operator|representative)(?: please| now)?$|"
    r"^(?:please )?(?:agent|representative|operator|human|person|representative please|agent please|operator please|"
    r"real person|a person|an agent|a representative|manager)[.! ]*(?:please)?$"
)
_ALSO_WORDS: Final = frozenset(("target", "gap", "ross", "shell", "staples", "subway", "zara", "heb"))
"""Names of chains that are ordinary words too: only where a store is expected."""
_NOT_PERSON: Final = re.compile(
    r"\b(?:(?:person|someone|somebody|anyone) (?:who|that) (?:sells?|fix|rep|mak)|are you|am i (?:talking|speaking)|"
    r"how (?:many|do) )\b"
)

_CHAIN: Final = re.compile(
    rf"\b(?:{'|'.join(sorted((re.escape(one) for one in CHAINS - _ALSO_WORDS), key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"[^\s,;:!?\"()]+")
_BEFORE_GOODS: Final = word_set("a an the some have has sell sells carry carries buy stock")
"""Behind these, a word of the weather begins the name of a product ("snow shovels")."""


def normal(text: str) -> str:
    """Lower case, plain apostrophes, no punctuation at the ends of words."""
    line = text.lower().replace("\u2019", "'").replace("`", "'")
    return " ".join(word.strip('.,;:!?"()[]*…-') or "" for word in line.split()).strip()


class Keywords:
    """Implements `Understander`."""

    def read(self, text: str) -> Reading:
        line = " ".join(normal(text[:2000]).split())
        intents = _intents(line)
        spans: tuple[Span, ...] = ()
        if not intents[0].name.startswith(("smalltalk.", "universal.", "weather.")):
            spans = tuple(_spans(text[:2000]))
        return Reading(text=text, intents=tuple(intents), spans=spans)


def _intents(line: str) -> list[Intent]:
    if special := fixed_phrase(line):
        return [Intent(special, 1.0)]
    found: dict[str, float] = {}
    if weather := _weather(line):
        found[weather] = 0.92
    for name, score, pattern in _INTENTS:
        if pattern.search(line):
            found[name] = max(found.get(name, 0.0), score - 0.02 * len(found))
    if not found:
        return [Intent(NO_MATCH, 0.6)]
    return [Intent(name, score) for name, score in sorted(found.items(), key=lambda one: -one[1])]


def fixed_phrase(line: str) -> str:
    """The universal word or small talk that the whole (normal) line is; empty otherwise."""
    if len(line) > 120:
        return ""
    if _PERSON.search(line) and not _NOT_PERSON.search(line):
        return "universal.person"
    for name, pattern in _SMALL_TALK:
        if pattern.match(line):
            return name
    return ""


def _weather(line: str) -> str:
    if re.search(rf"\b(?:{WEATHER_IDIOM})\b", line):
        return "weather.weather"
    if re.search(rf"\b(?:{WORN_OUTSIDE})", line):
        sun, rain = (re.search(rf"\b{_WORN}{wear}\b", line) for wear in (_SUN_WEAR, _RAIN_WEAR))
        return "weather.sunny" if sun else "weather.rainfall_yes_no" if rain else "weather.temperature_yes_no"
    if _SHOPPING.search(line) and not re.search(
        r"\b(?:weather|forecast|will it|is it (?:going|gonna)|degrees)\b", line
    ):
        return ""
    yes_no = bool(_YES_NO.match(line)) and not re.search(r"\b(?:how much|how many|when|chance|what)\b", line)

    def has(words: str) -> bool:
        return bool(re.search(rf"\b(?:{words})\b", line))

    if has(_SNOW):
        return "weather.snow_yes_no" if yes_no else "weather.snow"
    if has(_RAIN):
        return "weather.rainfall_yes_no" if yes_no else "weather.rainfall"
    if has(_HUMID):
        return "weather.humidity_yes_no" if yes_no else "weather.humidity"
    if has(_SUN):
        return "weather.sunny"
    if has(_CLOUD):
        return "weather.cloudy"
    if has(_TEMPERATURE):
        return "weather.temperature_yes_no" if yes_no else "weather.temperature"
    if has(_WEATHER):
        return "weather.weather"
    return ""


def _spans(text: str) -> list[Span]:
    """What is left of the line when words that name nothing are gone: after `at` a store, else an item or a kind of
    store. Words after `in`, `near` and the like are left to the parser of places."""
    spans: list[Span] = []
    run: list[re.Match[str]] = []
    after = ""

    def close() -> None:
        if run:
            start, end = run[0].start(), run[-1].end()
            words = text[start:end].strip(".'-")
            end = start + len(text[start:end].rstrip(".'-"))
            if words and (label := _label(words, after)):
                spans.append(Span(slot=label, text=text[start:end], start=start, end=end, score=0.7))
        run.clear()

    chains = [(found.start(), found.end()) for found in _CHAIN.finditer(text.replace("\u2019", "'"))]
    for start, end in chains:
        spans.append(Span(slot="store.name", text=text[start:end], start=start, end=end, score=0.9))
    for token in _TOKEN.finditer(text):
        if any(start <= token.start() < end for start, end in chains):
            close()
            after = ""
            continue
        word = token.group().lower().replace("\u2019", "'").strip(".")
        if word in FUNCTION_WORDS and word not in STORE_WORDS:
            close()
            after = word
        elif word in WEATHER_WORDS and not run and after not in _BEFORE_GOODS:
            close()
        else:
            run.append(token)
            if text[token.end() : token.end() + 1] in (",", "?", "!", ";"):
                close()
                after = ""
    close()
    return sorted(spans, key=lambda span: span.start)


def _label(words: str, after: str) -> str:
    lowered = words.lower().replace("\u2019", "'")
    if lowered in CHAINS:
        return "store.name"
    if after in ("in", "near", "around", "downtown"):
        return ""
    last = lowered.split()[-1]
    if last in STORE_WORDS:
        return "store.type"
    if after == "at":
        return "store.name"
    return "item.type"


def plain_store(text: str) -> bool:
    """Whether the words say no more than that a store is meant."""
    return text.lower() in PLAIN_STORES
