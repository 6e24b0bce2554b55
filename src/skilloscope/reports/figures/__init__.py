"""Figures: one file per study, one style."""
