"""What `skilloscope live` asks: the study, its tables, its figures, its page."""
