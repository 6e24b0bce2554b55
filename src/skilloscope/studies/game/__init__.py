"""What `skilloscope game` asks: the study, its tables, its figures, its page."""
