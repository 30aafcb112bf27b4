"""What pages are made of: theme and formatting, elements, stat cards, tables, filters, navigation and charts/."""
