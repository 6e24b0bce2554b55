"""What `skilloscope dimensions` asks: the study, its tables, its figures, its page."""
