"""What is kept to learn from: finished calls, labels, turns and audio, in a content-addressed store below `learn.url`.

    archive/N.json      the newest state: of each day the hash of what was said, labelled and recorded on it
    blobs/ab/abcd...    files by the SHA-256 of their content; none is ever changed
    turns/DAY.csv       the assistant's turns of a day, to read
    snapshots/, datasets/       name the same blobs, so that they cost what is new in them
    erasures.jsonl      which blob an erasure put in the place of which

Days are those of UTC. Only blobs, and the day's table of turns, hold words and audio: erasing a call rewrites these.
"""
