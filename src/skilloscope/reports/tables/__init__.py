"""Tables for the terminal: one file per study, one frame."""
