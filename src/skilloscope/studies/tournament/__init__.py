"""What `skilloscope tournament` asks: the study, its tables, its figures, its page."""
