"""What `skilloscope names` asks: which names of a table may be one person's."""
