"""Simulated deciders, populations and people of known skill: choices, results and whole games."""
