"""What `skilloscope sequence` asks: the study, its tables, its figures, its page."""
