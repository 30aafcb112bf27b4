"""Data of the sample shop, and the script that makes a part of it."""
