"""Cassettes as files: vcrpy's format, read strictly and written whole."""
