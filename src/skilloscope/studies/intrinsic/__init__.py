"""What `skilloscope intrinsic` asks: the study, its tables, its figures, its page."""
