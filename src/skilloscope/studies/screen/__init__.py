"""What `skilloscope screen` asks: the study, its tables, its figures, its page."""
