"""DFHR09 and DFH13, reproduced."""
