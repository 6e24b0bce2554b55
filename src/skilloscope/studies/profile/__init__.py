"""What `skilloscope profile` asks: the study, its tables, its figures, its page."""
