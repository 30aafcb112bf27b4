"""What a shopper's words mean: places, dates, numbers, choices. `types` has the contract of a parser."""
