"""What `skilloscope compare` asks: the study, its tables, its figures, its page."""
