"""PGN: two readers, games as columns, their positions, openings, headers and results."""
