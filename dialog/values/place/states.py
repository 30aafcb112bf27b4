"""The states of the United States: names, abbreviations, and what people say for short."""

from __future__ import annotations

from dialog.values.tokens import word_set

NAMES = {
    "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California", "CO": "Colorado",
    "CT": "Connecticut", "DE": "Delaware", "DC": "District of Columbia", "FL": "Florida", "GA": "Georgia",
    "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "IA": "Iowa", "KS": "Kansas", "KY": "Kentucky",
    "LA": "Louisiana", "ME": "Maine", "MD": "Maryland", "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota",
    "MS": "Mississippi", "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada", "NH": "New Hampshire",
    "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York", "NC": "North Carolina", "ND": "North Dakota",
    "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania", "RI": "Rhode Island",
    "SC": "South Carolina", "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VT": "Vermont",
    "VA": "Virginia", "WA": "Washington", "WV": "West Virginia", "WI": "Wisconsin", "WY": "Wyoming",
}  # fmt: skip

SPOKEN = {
    "ala": "AL", "ariz": "AZ", "ark": "AR", "cali": "CA", "calif": "CA", "colo": "CO", "conn": "CT", "d c": "DC",
    "fla": "FL", "ill": "IL", "ind": "IN", "kan": "KS", "kans": "KS", "mass": "MA", "mich": "MI", "minn": "MN",
    "miss": "MS", "mont": "MT", "neb": "NE", "nebr": "NE", "nev": "NV", "n carolina": "NC", "n dakota": "ND",
    "n j": "NJ", "n y": "NY", "okla": "OK", "ore": "OR", "penn": "PA", "penna": "PA", "pennsylvannia": "PA",
    "s carolina": "SC", "s dakota": "SD", "tenn": "TN", "tex": "TX", "virg": "VA", "wash": "WA",
    "washington state": "WA",
    "wis": "WI", "wisc": "WI", "wyo": "WY", "massachusets": "MA", "massachussetts": "MA", "conneticut": "CT",
    "tennesee": "TN", "missisippi": "MS", "new york state": "NY",
}  # fmt: skip

FULL_NAMES = frozenset(name.lower() for name in NAMES.values())
BY_KEY = {code.lower(): code for code in NAMES} | {name.lower(): code for code, name in NAMES.items()} | SPOKEN

# In lower case these are words of every day: they mean a state only at the end of a phrase ("portland or").
WORDS = word_set("al co de hi id in la ma me mo oh ok or pa ill ind miss kan wash ark ore mass ga va md ms mt")
LONGEST = 3
"""Words in the longest name."""
