"""The way to the real providers: which one leads there, and the connections on it."""
