"""PGN: text, games as columns, headers, results."""
