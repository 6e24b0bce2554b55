"""Engines: settings, the UCI reader, processes, pools, clusters."""
