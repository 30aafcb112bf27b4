"""Archives that cannot be rewritten (`learn.worm`): what a call says is encrypted with a key of its own, which is in
the database. Erasing a call deletes the key, and no file can be read without it.

    keys.py     the keys, by call
    blocks.py   bytes to an AES-GCM block, and back
    tables.py   a table as one block per call
    place.py    the archive's place, with its keys
"""
