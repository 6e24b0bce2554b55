"""What `skilloscope rate` asks: the study, its tables, its figures, its page."""
