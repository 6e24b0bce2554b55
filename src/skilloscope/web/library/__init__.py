"""A player's own games: kept over uploads, fetched by name, trained with, shared; the logic and its pages."""
