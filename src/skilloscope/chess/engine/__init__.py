"""Engines: settings, the lines of an answer, processes, pools, clusters."""
