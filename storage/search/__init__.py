"""Search over all that a viewer may see: for sentences, and for calls by several of their sentences."""

from storage.search.calls import CallHit, CallPage, call_ids, search_calls, sentence_ids
from storage.search.query import Order, SearchQuery, from_dict, to_dict
from storage.search.sentences import Hit, SearchPage, by_day, search
from storage.search.snippet import Snippet

__all__ = [
    "CallHit",
    "CallPage",
    "Hit",
    "Order",
    "SearchPage",
    "SearchQuery",
    "Snippet",
    "by_day",
    "call_ids",
    "from_dict",
    "search",
    "search_calls",
    "sentence_ids",
    "to_dict",
]
