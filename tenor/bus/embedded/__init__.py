"""The embedded bus: one SQLite file that several processes of one machine share.

bus         what `open_bus` gives for a sqlite:// address
consumer    followers and members of groups
bus_file    the file: one connection that writes, several that read
records     appending, reading, forgetting
leases      which member of a group holds which partition
schema      the tables, and what SQLite's errors mean
"""
