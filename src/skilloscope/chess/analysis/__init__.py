"""Analysis: positions in, answers out, never twice; answers in files; decisions and evaluations from them."""
