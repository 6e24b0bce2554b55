"""Analysis: positions in, answers out, never twice; answers in files."""
