"""From evidence to Elo: scales, their fitting, and ratings on one axis."""
