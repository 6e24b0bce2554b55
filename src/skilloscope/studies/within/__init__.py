"""What `skilloscope within` asks: the study, its tables, its figures, its page."""
