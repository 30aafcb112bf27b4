"""What people say of sentences: making a label, which one counts, what to review next, and how far people agree."""
