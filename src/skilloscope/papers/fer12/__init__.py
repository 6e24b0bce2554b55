"""FER12, reproduced."""
