"""A channel's audio on its way from the bus to the recogniser.

source.py (page_cache.py)  ->  chunk_reader.py  ->  joiner.py  ->  resampling.py  ->  riva/
the partition                  chunks in order      one signal     a rate it takes
                                                        '->  in_flight.py (loudness.py): sent, not written down
"""
