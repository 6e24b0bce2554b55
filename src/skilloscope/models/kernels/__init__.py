"""Fast twins of the models, compiled by numba; each has a readable twin one folder up."""
