"""What is kept: the database, the recordings, and what is made of them."""
