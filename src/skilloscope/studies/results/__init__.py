"""Studies of results: the leaderboard, fits, predictions, and what changed since a date."""
