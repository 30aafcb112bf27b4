"""What a line of the shopper means in this conversation: guarded topics, words that always work, repairs, the answer
to the open question, corrections and ellipses, and wishes; in this order."""
