"""What `skilloscope results` asks: the study, its tables, its figures, its page."""
