"""GLI99, reproduced."""
