"""Values of a shop: products, stores, colours, sizes, sort orders."""
