"""Every reader of other people's bytes, fed what nobody would write.

`corpus` has something good of each kind and the words that broke readers before, `mutation` makes of them what is not
good, `readers` are what reads it, and `test_readers` says what must be true whatever comes.
"""
