"""What `skilloscope composites` asks: the study, its tables, its figures, its page."""
