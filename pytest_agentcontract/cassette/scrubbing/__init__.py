"""Taking secrets out of an exchange, and searching for what is left."""
