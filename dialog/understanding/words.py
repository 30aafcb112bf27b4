"""The words the rule-based understander goes by."""

from __future__ import annotations

from typing import Final

from dialog.values.tokens import word_set

STORE_WORDS: Final = word_set(
    "store stores shop shops restaurant restaurants pharmacy pharmacies drugstore supermarket supermarkets market "
    "markets mall malls cafe cafes bakery bakeries diner diners bar bars pub gym bank banks hotel hotels station "
    "stations deli grocery pizzeria steakhouse bistro salon barbershop florist bookstore dealership cinema theater "
    "hospital library museum park outlet outlets place places joint joints atm garage laundromat chemist butcher "
    "boutique florists buffet dentist dentists barber barbers vet veterinarian hairdresser optician tailor mechanic "
    "spa clinic doctor plumber locksmith electrician zoo school schools church churches stadium theatre airport "
    "playground arcade aquarium bowling gallery gyms libraries museums parks clinics hospitals vets spas"
)
"""A phrase that ends in one of these names a kind of place."""

PLAIN_STORES: Final = word_set("store stores shop shops restaurant restaurants place places")

_CHAINS: Final = (
    "walmart|target|costco|kroger|safeway|whole foods|trader joe's|trader joes|aldi|publix|best buy|home depot|"
    "the home depot|lowe's|lowes|ikea|walgreens|cvs|rite aid|macy's|macys|nordstrom|kohl's|kohls|sephora|ulta|"
    "starbucks|dunkin|dunkin donuts|mcdonald's|mcdonalds|burger king|wendy's|wendys|chipotle|subway|taco bell|kfc|"
    "chick-fil-a|panera|domino's|dominos|pizza hut|rei|gamestop|petsmart|petco|staples|office depot|michaels|"
    "barnes and noble|dick's sporting goods|foot locker|old navy|gap|h&m|zara|uniqlo|apple store|7-eleven|wawa|"
    "sam's club|meijer|wegmans|heb|h-e-b|shell|exxon|chevron|tj maxx|marshalls|ross|big lots|dollar tree|"
    "dollar general|autozone|ace hardware|bath and body works|crate and barrel|in-n-out|five guys|shake shack|"
    "olive garden|red lobster|ihop|denny's|waffle house"
)
CHAINS: Final = frozenset(_CHAINS.split("|"))
"""Names of stores everybody knows."""

FUNCTION_WORDS: Final = word_set(
    "whether ship shipping under below over per total cheaper "
    "bye after before starving famished highest-rated top-rated best-rated lowest-rated best-reviewed "
    "a an the this that these those it its they them their there here i i'm im i'd i'll me my mine we us our you your "
    "ya yall y'all he she his her who whose what what's whats what're which where where's wheres when how how's why "
    "is isn't are aren't was were be been am do does did don't doesn't have has had having got gotta get getting gets "
    "can could can't will would won't should shall may might must gonna wanna want wants wanted need needs needed like "
    "looking look for to of on in at by with without from near nearby around close closest nearest about into up out "
    "off down over and or but so if then than also too plus as please pls plz thanks thank kindly hi hello hey yo ok "
    "okay um uh uhm er hmm well just actually really maybe perhaps exactly right now any some somewhere something "
    "anything anywhere someone anyone buy buying find finding purchase pick grab order sell sells selling carry "
    "carries stock stocked stocks available availability left inventory sold remaining many much more most less least "
    "few price prices priced pricing cost costs costing charge worth run runs going go goes set back pay paying "
    "dollars sale deal deals discount discounted cheap cheaper cheapest expensive affordable budget low lower lowest "
    "high higher highest best better top good great rated rating ratings worst decent average reviews reviewed tell "
    "show give gimme let lemme know check see help try search searching recommend suggest think say said one ones two "
    "three four five six seven eight nine ten dozen couple pair pairs today tonight tomorrow tmrw tomorow morning "
    "afternoon evening night weekend week month day days monday tuesday wednesday thursday friday saturday sunday "
    "next last later soon currently moment open opens opening closes closing closed hours hour time late early until "
    "till far long miles minutes take takes drive driving walk walking navigate navigation directions direction way "
    "map address phone number telephone reach arrive eta route bring lead guide start head reserve hold put aside "
    "keep book save item items product products thing things kind type sort size sizes color colors colour colours "
    "yes no not nope yeah yep sure wait sorry meant mean instead rather change make still yet already even only again "
    "always usually store's shop's online eat drink food's love ma'am sir folks guys u ur r hows wondering wonder "
    "question quick ask asking possible there's theres i've you've they've we've different other another else new "
    "fresh local appreciate info information specs specifications specification warranty covered cover waterproof "
    "washable use using install wash clean care compare comparison heavy tall wide weigh weight bottle bottles hungry "
    "craving mood feel work works fit fits compatible made material guarantee battery life anymore cause because"
)
"""Words that name no product."""

WEATHER_WORDS: Final = word_set(
    "weather forecast rain rainy raining rains rainfall umbrella snow snowing snowy snows snowfall temperature "
    "temperatures humid humidity muggy sunny sun sunshine cloudy clouds cloud overcast degrees hot cold warm chilly "
    "freezing wind windy storm storms outside fahrenheit celsius"
)
