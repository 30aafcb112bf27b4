"""Places: the parser, the cities that are known, and how they are misspelt."""
