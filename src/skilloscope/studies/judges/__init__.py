"""What `skilloscope judges` asks: the study, its tables, its figures, its page."""
