"""From what a user names to decisions, gains and results, once."""
