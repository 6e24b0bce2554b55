"""What `skilloscope sensitivity` asks: the study, its tables, its figures, its page."""
