"""What servers of others need before Tenor can use them, in the order in which one installs it."""
