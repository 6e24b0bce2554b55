"""Simulated deciders, careers and populations of known skill."""
