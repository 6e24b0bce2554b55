"""One Elo axis: evidence of several kinds, each believed as far as it was measured, in one posterior."""
