"""The human model: what people of a given strength play, in any position."""
